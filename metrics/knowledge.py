"""What scoring knows beside the trace and the case: profiles, concepts, and the classification of diseases."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, Protocol, TypeVar

import ontology.icd10
from ontology.belief import BeliefModel, Vector
from ontology.clinical import ClinicalTables, Phrases, clinical_tables
from ontology.concepts import RECORD_KINDS
from ontology.icd10 import Codes, Comparison, IcMethod, NormalisedCodes, Resolution
from ontology.profiles import DiseaseProfile, ProfileSet
from ontology.versions import kb_version
from ontology.vocabulary import PhraseEntry, Vocabulary

T = TypeVar("T")

UNASKED_KINDS: frozenset[str] = RECORD_KINDS | {"demographic"}
"""Kinds that are never elicited from the patient."""


class IsA(Protocol):
    """Broader and narrower concepts: all that crediting needs (metrics.md 4.2)."""

    def ancestors(self, concept: str, hmax: int = ...) -> Mapping[str, int]:
        """Broader concepts within `hmax` links and their distance; generic ones stop the climb."""
        ...

    def generic(self, concept: str) -> bool:
        """Whether a concept is too general to earn credit for another."""
        ...


class Links:
    """Is-a links that credit follows, up to some steps and both ways; remembers those it has looked up."""

    def __init__(self, isa: IsA, hmax: int) -> None:
        self._isa = isa
        self._hmax = hmax
        self._above: dict[str, dict[str, int]] = {}
        self._below: dict[str, set[str]] = {}

    def above(self, concept: str) -> dict[str, int]:
        """Broader concepts with their distance. A generic one neither earns credit for what is narrower nor gives it to what is broader."""
        found = self._above.get(concept)
        if found is None:
            above = {} if self._isa.generic(concept) else self._isa.ancestors(concept, self._hmax)
            found = self._above[concept] = {c: h for c, h in above.items() if not self._isa.generic(c)}
            for broader in found:
                self._below.setdefault(broader, set()).add(concept)
        return found

    def below(self, concept: str) -> Collection[str]:
        """Narrower concepts, of those that `above` was asked for."""
        return self._below.get(concept, ())


class Concepts(IsA, Phrases, Protocol):
    """The vocabulary, as far as scores use it."""

    def canonical(self, concept: str) -> str:
        """The one id of a concept's meaning."""
        ...

    def name(self, concept: str) -> str:
        """A concept's name."""
        ...

    def kind(self, concept: str) -> str:
        """A concept's kind."""
        ...

    def impossible(self, concept: str, sex: str) -> bool:
        """Whether a concept cannot be so in this sex."""
        ...

    def lookup(self, phrase: str) -> PhraseEntry | None:
        """The concept that a whole phrase means."""
        ...


class Icd(Protocol):
    """The functions of `ontology.icd10` that scores use; the module itself fits."""

    def normalise(self, raw: str) -> NormalisedCodes:
        """Read codes."""
        ...

    def resolve(self, text: str, synonyms: Mapping[str, str] | None = None) -> Resolution:
        """Find the codes of a diagnosis."""
        ...

    def fold_name(self, text: str) -> str:
        """A name in the form in which synonyms are looked up."""
        ...

    def is_manifestation(self, code: str) -> bool:
        """Whether a code is one that goes with an etiology."""
        ...

    def compare(self, pred: Codes, truth: Codes) -> Comparison:
        """All distances of a prediction from a truth."""
        ...

    def sdd(self, pred: Codes, truth: Codes) -> float:
        """The headline distance."""
        ...

    def sdd_sym(self, pred: Codes, truth: Codes) -> float:
        """The symmetric distance."""
        ...

    def d_path(self, pred: Codes, truth: Codes) -> int | None:
        """Edges between two diagnoses; None if one is unresolved."""
        ...

    def d_lin(self, pred: Codes, truth: Codes, method: IcMethod = ...) -> float:
        """1 - Lin."""
        ...

    def d_jaccard_ic(self, pred: Codes, truth: Codes, method: IcMethod = ...) -> float:
        """1 - Jaccard over information content."""
        ...

    def d_resnik(self, pred: Codes, truth: Codes, method: IcMethod = ...) -> float:
        """1 - information content of the lowest common ancestor."""
        ...

    def is_same_or_descendant(self, pred: Codes, truth: Codes) -> bool:
        """Whether a predicted code is a code of the truth or below it."""
        ...

    def same_at(self, level: Literal["chapter", "block", "category"], pred: Codes, truth: Codes) -> bool:
        """Whether two diagnoses have the same ancestor-or-self at a level."""
        ...


@dataclass(frozen=True)
class Knowledge:
    """The knowledge base that a card of scores names by its version."""

    profiles: ProfileSet
    vocabulary: Concepts
    icd: Icd
    version: str
    clinical: ClinicalTables | None = None

    @classmethod
    def of(cls, profiles: ProfileSet, vocabulary: Vocabulary) -> Knowledge:
        """Knowledge over the installed ICD-10-CM release, versioned by its three parts.

        Args:
            profiles: the disease profiles.
            vocabulary: the concepts.
        """
        return cls(profiles, vocabulary, ontology.icd10, kb_version(profiles, vocabulary), clinical_tables())

    @cached_property
    def profile_codes(self) -> dict[str, tuple[str, ...]]:
        """Normal codes of every profile."""
        return {key: self.icd.normalise(", ".join(profile.icd10)).codes for key, profile in self.profiles.profiles.items()}

    @cached_property
    def beliefs(self) -> BeliefModel:
        """What answers make likely, over the profiles."""
        return BeliefModel(self.profiles, self.vocabulary)

    @cached_property
    def own_features(self) -> dict[str, tuple[tuple[str, Vector], ...]]:
        """Of every disease, the concepts that a patient can be asked for, with how often each disease of the set has them."""
        found = {}
        for key, profile in self.profiles.profiles.items():
            asked = [f.concept for f in profile.features if f.askable and f.kind not in UNASKED_KINDS]
            rows = ((concept, self.beliefs.frequencies(concept)) for concept in dict.fromkeys(map(self.vocabulary.canonical, asked)))
            found[key] = tuple((concept, row) for concept, row in rows if row is not None)
        return found

    @cached_property
    def clinical_codes(self) -> dict[str, tuple[str, ...]]:
        """Normal codes of every disease of the clinical tables; none without the tables."""
        rows = self.clinical.diseases if self.clinical is not None else {}
        return {key: self.icd.normalise(", ".join(row.icd10)).codes for key, row in rows.items()}

    @cached_property
    def _profile_names(self) -> dict[str, str]:
        return {self.icd.fold_name(profile.name): key for key, profile in self.profiles.profiles.items()}

    @cached_property
    def feature_concepts(self) -> frozenset[str]:
        """Canonical concepts that any profile lists."""
        every = (feature.concept for profile in self.profiles.profiles.values() for feature in profile.features)
        return frozenset(self.vocabulary.canonical(concept) for concept in every)

    @cached_property
    def profile_synonyms(self) -> dict[str, str]:
        """Names of the profiles, folded, that stand for their codes."""
        fold = self.icd.fold_name
        return {fold(p.name): ", ".join(p.icd10) for p in self.profiles.profiles.values() if p.icd10 and fold(p.name)}

    def links(self, hmax: int) -> Links:
        """The is-a links that credit follows."""
        return self.derived(("links", hmax), self.vocabulary, lambda: Links(self.vocabulary, hmax))

    @cached_property
    def _derived(self) -> dict[Hashable, tuple[object, Any]]:
        return {}

    def derived(self, key: Hashable, of: object, make: Callable[[], T]) -> T:
        """What follows from the knowledge alone, made once and kept.

        Args:
            key: what it is.
            of: the part of the knowledge it is made of; kept only as long as that is the same object.
            make: makes it.
        """
        found = self._derived.get(key)
        if found is None or found[0] is not of:
            found = self._derived[key] = (of, make())
        made: T = found[1]
        return made

    @cached_property
    def _profile_found(self) -> dict[tuple[str, tuple[str, ...]], DiseaseProfile | None]:
        return {}

    def profile_of(self, name: str, codes: Sequence[str]) -> DiseaseProfile | None:
        """The profile of a diagnosis: by name, else the nearest whose codes the diagnosis meets.

        Args:
            name: its name.
            codes: its codes in normal form.
        """
        key = (name, tuple(codes))
        if key not in self._profile_found:  # the same few diagnoses come back in every trace of a run
            self._profile_found[key] = self._find_profile(name, codes)
        return self._profile_found[key]

    def _find_profile(self, name: str, codes: Sequence[str]) -> DiseaseProfile | None:
        named = self._profile_names.get(self.icd.fold_name(name))
        if named is not None and (not codes or self.icd.sdd(codes, self.profile_codes[named]) == 0):
            return self.profiles[named]
        fitting = [key for key, own in self.profile_codes.items() if codes and own and self.icd.is_same_or_descendant(codes, own)]
        best = min(fitting, key=lambda key: (self.icd.sdd_sym(codes, self.profile_codes[key]), key), default=None)
        return None if best is None else self.profiles[best]
