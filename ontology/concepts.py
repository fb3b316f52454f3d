"""Concepts: the one vocabulary in which questions, answers, facts and profiles are compared."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from ontology.documents import Strict

CONCEPT_PATTERN = r"^(C\d{7}|X:[a-z0-9_\-]+)$"

ConceptId = Annotated[str, StringConstraints(pattern=CONCEPT_PATTERN)]
"""A UMLS CUI, or a local id `X:…` where no open vocabulary has one."""

Kind = Literal[
    "symptom",
    "sign",
    "history",
    "family_history",
    "medication",
    "allergy",
    "exposure",
    "social",
    "demographic",
    "vital",
    "lab",
    "imaging",
    "procedure",
]

RECORD_KINDS: frozenset[str] = frozenset({"sign", "vital", "lab", "imaging", "procedure"})
"""Kinds that the record answers, not the patient (metrics.md 0b D6)."""

Attribute = Literal[
    "onset",
    "duration",
    "location",
    "severity",
    "character",
    "radiation",
    "aggravating",
    "relieving",
    "frequency",
    "progression",
    "associated",
    "localisation",
    "color",
    "size",
    "peeling",
    "swelling",
    "itching",
    "painfulness",
    "destination",
    "detail",
]
"""What can be asked of a finding beyond its presence."""


class ConceptRef(Strict):
    """A concept as a fact or a profile names it."""

    cui: ConceptId
    name: str
    hpo_id: Annotated[str, StringConstraints(pattern=r"^HP:\d{7}$")] | None = None


class ConceptRow(Strict):
    """One row of the bundled concept tables (data/concepts)."""

    id: ConceptId
    name: str
    hpo: Annotated[str, StringConstraints(pattern=r"^HP:\d{7}$")] | None = None
    basis: Literal["hpo-name", "hpo-synonym", "hpo-mapped", "local"]
    kind: Kind
    parents: list[ConceptId] = Field(default_factory=list)
    generic: bool = False
    detail: Attribute | None = Field(default=None, description="the detail of a complaint that this finding is: worse on exertion")
    only_sex: Literal["F", "M"] | None = Field(default=None, description="cannot be so in the other sex")
    lay: list[str] = Field(default_factory=list, description="phrases by which the concept is recognised")
    ask: list[str] = Field(default_factory=list, description="ways in which an examiner asks for it")
    source: str = "Bedside"
    license: str = "Apache-2.0"
    reviewed_by: str | None = None

    def ref(self) -> ConceptRef:
        """The reference that facts and profiles store."""
        return ConceptRef(cui=self.id, name=self.name, hpo_id=self.hpo)
