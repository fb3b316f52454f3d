"""What is so in a patient: from an asked concept to the fact that answers it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from ontology.concepts import Attribute
from ontology.vocabulary import Vocabulary
from simulator.case import Fact, PatientSide

Status = Literal["present", "absent", "unknown"]

STAND_INS: dict[str, tuple[Attribute, ...]] = {
    "duration": ("onset",),
    "onset": ("duration",),
    "localisation": ("location",),
    "severity": ("detail",),
    "character": ("detail",),
}
"""What answers for a detail that is not known itself: "how long?" by "it began two weeks ago"."""

SYMPTOM_CHAPTER = "R"
GENERIC_HMAX = 6
"""How far up a generic concept may lie above a finding that answers for it."""


@dataclass(frozen=True)
class Finding:
    """The answer to "is it so?": with the fact it rests on, if one says it."""

    concept: str
    status: Status
    fact: Fact | None


class FactIndex:
    """The facts of a case by concept, with what follows from them."""

    def __init__(self, side: PatientSide, vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary
        self._closed = side.world_assumption == "closed"
        self._sex = side.sex
        self._facts: dict[str, list[Fact]] = defaultdict(list)
        self._details: dict[tuple[str, str], list[Fact]] = defaultdict(list)
        self._below: dict[str, list[str]] = defaultdict(list)
        for fact in side.facts:
            if fact.disclosure == "never":
                continue
            concept = vocabulary.canonical(fact.concept.cui)
            if fact.attribute is None:
                self._facts[concept].append(fact)
            else:
                self._details[concept, fact.attribute].append(fact)
        for concept, facts in self._facts.items():
            if any(f.status == "present" for f in facts):
                near = vocabulary.ancestors(concept)
                # A headache is a pain, whatever a question for pain may earn: to deny it would be a lie.
                generic = [c for c in vocabulary.ancestors(concept, GENERIC_HMAX, through_generic=True) if vocabulary.generic(c)]
                for ancestor in dict.fromkeys([*near, *generic]):
                    self._below[ancestor].append(concept)

    def knows(self, concept: str) -> bool:
        """Whether a fact, or one below it, speaks of the concept."""
        return concept in self._facts or concept in self._below

    def best(self, candidates: Sequence[str]) -> str:
        """The candidate the case speaks of, else the first (metrics.md 2.4 rule 3a: only among those that match the span)."""
        return next((c for c in candidates if c in self._facts), next((c for c in candidates if self.knows(c)), candidates[0]))

    def presence(self, concept: str) -> Finding:
        """Present, absent or unknown: by the fact, by what a finding implies, by the world assumption."""
        facts = self._facts.get(concept, [])
        for status in ("present", "absent", "unknown"):
            fact = next((f for f in facts if f.status == status), None)
            if fact is not None:
                return Finding(concept, status, fact)
        for below in self._below.get(concept, ()):
            fact = next(f for f in self._facts[below] if f.status == "present")
            return Finding(below, "present", fact)
        for above in self._vocabulary.ancestors(concept):
            fact = next((f for f in self._facts.get(above, ()) if f.status == "absent"), None)
            if fact is not None:
                return Finding(above, "absent", fact)
        if self._vocabulary.impossible(concept, self._sex):
            return Finding(concept, "absent", None)
        if not self._closed or (concept not in self._vocabulary.rows and names_a_disease(self._vocabulary.name(concept))):
            return Finding(concept, "unknown", None)
        return Finding(concept, "absent", None)

    def details(self, concept: str, attribute: Attribute, near: bool = True) -> list[Fact]:
        """Facts that give this detail of a concept or, with `near`, of one that is broader or narrower."""
        for wanted in (attribute, *STAND_INS.get(attribute, ())):
            found = self._details_of(concept, wanted) if near else self._details.get((concept, wanted), [])
            if found:
                return found
        return []

    def _details_of(self, concept: str, attribute: Attribute) -> list[Fact]:
        found = self._details.get((concept, attribute))
        if found:
            return found
        for near in (*self._vocabulary.ancestors(concept, 4), *self._below.get(concept, ())):
            if self._details.get((near, attribute)):
                return self._details[near, attribute]
        return self._details.get((self._parent_pain(concept), attribute), [])

    def _parent_pain(self, concept: str) -> str:
        # A generic parent such as Pain is not reached through `ancestors`; its details still describe a pain at a place.
        generic = [c for c in self._generic_details() if c in self._vocabulary.ancestors(concept, GENERIC_HMAX, through_generic=True)]
        return generic[0] if generic else concept

    def _generic_details(self) -> Iterable[str]:
        # In the order of the facts: a set's order differs from process to process.
        return dict.fromkeys(concept for concept, _ in self._details if self._vocabulary.generic(concept))


@lru_cache(maxsize=4096)
def names_a_disease(name: str) -> bool:
    """Whether a name is that of a disease in ICD-10, not of a complaint (chapter R).

    Nobody knows offhand whether they have appendicitis; and to deny the very disease one has would be a lie.
    """
    from ontology.icd10 import resolve

    codes = list(resolve(name))
    return bool(codes) and not all(code.startswith(SYMPTOM_CHAPTER) for code in codes)
