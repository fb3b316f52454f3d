"""What scoring knows beside the trace and the case: profiles, concepts, and the classification of diseases."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, Protocol

import ontology.icd10
from ontology.icd10 import Codes, Comparison, NormalisedCodes, Resolution
from ontology.profiles import DiseaseProfile, ProfileSet
from ontology.versions import kb_version
from ontology.vocabulary import Vocabulary


class IsA(Protocol):
    """Broader and narrower concepts: all that crediting needs (metrics.md 4.2)."""

    def ancestors(self, concept: str, hmax: int = ...) -> Mapping[str, int]:
        """Broader concepts within `hmax` links and their distance; generic ones stop the climb."""
        ...

    def generic(self, concept: str) -> bool:
        """Whether a concept is too general to earn credit for another."""
        ...


class Concepts(IsA, Protocol):
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

    @classmethod
    def of(cls, profiles: ProfileSet, vocabulary: Vocabulary) -> Knowledge:
        """Knowledge over the installed ICD-10-CM release, versioned by its three parts.

        Args:
            profiles: the disease profiles.
            vocabulary: the concepts.
        """
        return cls(profiles, vocabulary, ontology.icd10, kb_version(profiles, vocabulary))

    @cached_property
    def profile_codes(self) -> dict[str, tuple[str, ...]]:
        """Normal codes of every profile."""
        return {key: self.icd.normalise(", ".join(profile.icd10)).codes for key, profile in self.profiles.profiles.items()}

    @cached_property
    def _profile_names(self) -> dict[str, str]:
        return {self.icd.fold_name(profile.name): key for key, profile in self.profiles.profiles.items()}

    @cached_property
    def feature_concepts(self) -> frozenset[str]:
        """Canonical concepts that any profile lists."""
        every = (feature.concept for profile in self.profiles.profiles.values() for feature in profile.features)
        return frozenset(self.vocabulary.canonical(concept) for concept in every)

    def profile_of(self, name: str, codes: Sequence[str]) -> DiseaseProfile | None:
        """The profile of a diagnosis: by name, else the nearest whose codes the diagnosis meets.

        Args:
            name: its name.
            codes: its codes in normal form.
        """
        named = self._profile_names.get(self.icd.fold_name(name))
        if named is not None and (not codes or self.icd.sdd(codes, self.profile_codes[named]) == 0):
            return self.profiles[named]
        fitting = [key for key, own in self.profile_codes.items() if codes and own and self.icd.is_same_or_descendant(codes, own)]
        best = min(fitting, key=lambda key: (self.icd.sdd_sym(codes, self.profile_codes[key]), key), default=None)
        return None if best is None else self.profiles[best]
