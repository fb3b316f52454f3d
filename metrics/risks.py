"""What speaks against a drug in one patient: true disease, comorbidities, allergies, current drugs, pregnancy, age (metrics.md 6, h1).

All facts of the case count, whether or not the examiner asked for them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from pydantic import JsonValue

from metrics.knowledge import Concepts, Icd
from ontology.clinical import ClinicalTables
from ontology.clinical_rows import CLASS_PREFIX, Contraindication, Strength
from simulator.case import Fact, PatientVector

LINKS = 6
"""Is-a links across which a patient's condition is one of a broader condition."""

PREGNANCY = "X:pregnancy"
PREGNANT_CODES = re.compile(r"O(?:09|[1-6]\d|7[0-7])|Z3[34]")
"""ICD-10 categories of a continuing pregnancy; not O00 to O08, where it ends."""

WEEKS = re.compile(r"\b(\d{1,2})(?:\s*\+\s*\d)?\s*(?:-\s*)?weeks?\b", re.IGNORECASE)
NO_LONGER = re.compile(r"\b(?:finished|stopped|came off|used to|no longer|last (?:month|year)|years ago|months ago)\b", re.IGNORECASE)
Origin = Literal["table", "case", "same_drug"]


@dataclass(frozen=True, slots=True)
class Against:
    """One thing that speaks against a drug: 1 absolutely, .5 relatively.

    `origin`: a row of the tables, the case's own list, or an allergy to the very drug.
    """

    weight: float
    kind: str
    against: str
    reason: str
    origin: Origin

    def json(self) -> dict[str, JsonValue]:
        """For the components of scores."""
        return {"weight": self.weight, "kind": self.kind, "against": self.against, "reason": self.reason, "origin": self.origin}


WEIGHTS: dict[Strength, float] = {"absolute": 1.0, "relative": 0.5}


class PatientRisks:
    """The facts of a case as far as drugs care.

    Args:
        case: the case with its truth.
        tables: the clinical tables.
        concepts: the vocabulary.
        icd: reads the truth's codes.
        listed: weight of a drug on the case's own list, which does not say how strongly it is contraindicated.
        stopped: subjects that the plan stops; nobody takes them with the new drug.
    """

    def __init__(
        self,
        case: PatientVector,
        tables: ClinicalTables,
        concepts: Concepts,
        icd: Icd,
        listed: float = 1.0,
        stopped: frozenset[str] = frozenset(),
    ) -> None:
        self._tables = tables
        self._case = case
        self._listed = listed
        truth = case.ground_truth
        self._own_list = [(name, [mention.subject for mention in tables.find_drug(name)]) for name in truth.contraindicated]
        self._disease = tables.disease(truth.disease_id)
        self._codes = icd.normalise(", ".join(code for dx in (truth.primary, *truth.secondary) for code in dx.icd10)).codes
        facts = [fact for fact in case.patient_facts.facts if fact.status == "present" and fact.status_source != "trap"]
        own = [fact for fact in facts if fact.kind != "family_history"]
        direct = {concepts.canonical(fact.concept.cui) for fact in own if fact.attribute is None}
        self._present = direct | {broader for concept in direct for broader in concepts.ancestors(concept, LINKS)}
        taken = frozenset(self._medicines(own, direct))
        self._taken = frozenset(t for t in taken if not any(self._is_a(t, s) or self._is_a(s, t) for s in stopped))
        self._allergens = frozenset(self._allergic_to(own))
        self._pregnant = PREGNANCY in self._present or any(PREGNANT_CODES.match(code) for code in self._codes)
        weeks = [int(w) for fact in own if fact.concept.cui == PREGNANCY for w in WEEKS.findall(fact.value or "") if int(w) <= 42]
        self._week = weeks[0] if weeks else None

    def against(self, subject: str) -> list[Against]:
        """All that speaks against an ingredient or `class:…`, the strongest first; empty if nothing does or the drug is unknown."""
        found = [
            Against(WEIGHTS[row.strength], row.kind, row.against, row.reason, "table")
            for row in self._tables.contraindications_for(subject)
            if self._holds(row, subject)
        ]
        found += [
            Against(1.0, "allergy", f"allergy to {allergen.removeprefix(CLASS_PREFIX)}", "the patient is allergic to it", "same_drug")
            for allergen in sorted(self._allergens)
            if self._is_a(subject, allergen)
        ]
        found += [
            Against(self._listed, "case", name, "the case lists it as contraindicated", "case")
            for name, subjects in self._own_list
            if (any(self._is_a(subject, own) for own in subjects) if subjects else name.strip().lower() == subject.lower())
        ]
        return sorted(found, key=lambda item: (-item.weight, item.origin, item.kind, item.against))

    def _is_a(self, subject: str, wanted: str) -> bool:
        """Whether a drug is another, or of a class."""
        if subject == wanted:
            return True
        return wanted.startswith(CLASS_PREFIX) and wanted.removeprefix(CLASS_PREFIX) in self._tables.classes_of(subject)

    def _holds(self, row: Contraindication, subject: str) -> bool:
        if row.kind == "age":
            return row.at_age(self._case.patient_facts.age)
        if row.kind == "pregnancy":
            return self._pregnant and row.in_week(self._week)
        if row.kind == "condition":
            diseases = {self._tables.disease(name) for name in row.diseases}
            coded = any(code.startswith(row.icd10) for code in self._codes) if row.icd10 else False
            return coded or self._disease in diseases or not self._present.isdisjoint(row.concepts)
        if row.kind == "allergy":
            return not self._present.isdisjoint(row.concepts) or any(self._is_a(a, drug) for a in self._allergens for drug in row.drugs)
        return any(taken != subject and self._is_a(taken, drug) for taken in self._taken for drug in row.drugs)

    # -- reading the facts ------------------------------------------------------------------------------------------

    def _medicines(self, facts: list[Fact], present: set[str]) -> Iterator[str]:
        """Subjects of what the patient takes: by concepts that mean one drug or class, and by names in the details."""
        for concept in sorted(present):
            yield from self._tables.subjects_of.get(concept, ())
        for fact in facts:
            if fact.kind == "medication" and fact.value and not NO_LONGER.search(fact.value):
                yield from (mention.subject for mention in self._tables.find_drug(fact.value))

    def _allergic_to(self, facts: list[Fact]) -> Iterator[str]:
        for fact in facts:
            if fact.kind == "allergy":
                for text in (fact.concept.name, fact.value or ""):
                    yield from (mention.subject for mention in self._tables.find_drug(text))
