"""PatientVector, the one schema of a case, and its three views (metrics.md 0b D7 and 14)."""

from __future__ import annotations

import re
from typing import Literal, Self

from pydantic import Field, model_validator

from ontology.concepts import RECORD_KINDS, Attribute, ConceptId, ConceptRef, Kind
from ontology.documents import Document, Strict, content_hash

ValueClass = Literal["any", "none", "low", "mid", "high", "yes", "no"]
Sex = Literal["F", "M", "other", "unknown"]
ICD_SHAPE = re.compile(r"[A-Z][0-9][0-9A-Z](?:\.[0-9A-Z]{1,4})?")
CAREGIVER_BELOW_AGE = 8
"""Patients younger than this speak through a caregiver (metrics.md 0b D11)."""


class Provenance(Strict):
    """Where a case comes from and what may be done with it."""

    source: str = Field(description="ddxplus, starter, mimic_ed, mimic_hosp, case_report, dxbench, …")
    source_id: str
    source_version: str
    split: str | None = None
    license: str
    redistributable: bool
    world_assumption: Literal["closed", "open"]
    umls_release: str | None = None
    hpo_release: str | None = None
    icd_release: str
    pipeline_version: str
    references: list[str] = Field(default_factory=list)
    reviewed_by: str | None = None
    derived_from: str | None = None
    seed: int | None = None


class Diagnosis(Strict):
    """A diagnosis with one or more ICD-10 codes (several: an etiology–manifestation pair or a list)."""

    name: str
    icd10: list[str] = Field(default_factory=list)
    icd_system: Literal["icd10cm", "icd10who"] = "icd10cm"
    cui: ConceptId | None = None
    aliases: list[str] = Field(default_factory=list, description="other names; used by the leak check")


class WeightedDiagnosis(Strict):
    """An entry of a differential."""

    dx: Diagnosis
    prob: float = Field(ge=0, le=1)


class ScorePoint(Strict):
    """Something a good answer says."""

    id: str
    text: str
    weight: float = 1.0
    critical: bool = False
    source: str


class GroundTruth(Strict):
    """What only scoring and the debrief may see."""

    disease_id: str = Field(description="key into the disease profiles")
    primary: Diagnosis
    secondary: list[Diagnosis] = Field(default_factory=list)
    differential: list[WeightedDiagnosis] = Field(default_factory=list)
    acuity: int = Field(ge=1, le=5)
    acuity_scale: Literal["esi", "ddxplus_severity", "curated"]
    code_note: str | None = Field(default=None, description="why the source's code was replaced")
    notes: str | None = Field(default=None, description="what makes the case hard, for the debrief")
    sine_qua_non: list[ConceptId] = Field(default_factory=list)
    pathognomonic: list[ConceptId] = Field(default_factory=list)
    score_points: dict[Literal["evidence", "treatment", "lifestyle", "critical_advice"], list[ScorePoint]] = Field(default_factory=dict)
    contraindicated: list[str] = Field(default_factory=list)


class Fact(Strict):
    """One thing that is so, is not so, or is unknown in this patient.

    A finding and each detail of it are facts of their own: `attribute` is None for presence, and names the detail otherwise.
    """

    fact_id: str
    concept: ConceptRef
    kind: Kind
    status: Literal["present", "absent", "unknown"]
    status_source: Literal["stated", "closed_world", "inferred", "trap"] = "stated"
    attribute: Attribute | None = None
    value: str | None = Field(default=None, description="the detail in the patient's words, or a result")
    value_class: ValueClass | None = None
    source_ref: str | None = Field(default=None, description="the source's own token, e.g. E_54_@_V_161")
    disclosure: Literal["opening", "volunteer", "on_ask", "on_specific_ask", "never"] = "on_ask"
    askable: bool = True
    distractor: bool = False

    @model_validator(mode="after")
    def _detail_has_value(self) -> Self:
        if self.attribute is not None and self.status == "present" and self.value is None:
            raise ValueError(f"fact {self.fact_id}: attribute {self.attribute} without a value")
        return self


class PatientFacts(Strict):
    """Demographics and facts."""

    age: int = Field(ge=0, le=120, description="completed years")
    sex: Sex
    facts: list[Fact]


class Style(Strict):
    """One of the 27 patient styles."""

    medical_knowledge: Literal["low", "medium", "high"]
    clarity: Literal["low", "medium", "high"]
    communication: Literal["indirect", "neutral", "straightforward"]


class CasePresentation(Strict):
    """How the case opens."""

    chief_complaint: list[str] = Field(min_length=1, description="fact ids")
    opening_text: str = Field(min_length=1)
    temporality: str | None = None
    locality: str | None = None
    characterisation: str | None = None
    style: Style | None = None


class ExaminerView(Strict):
    """All an examiner may know before asking. `redistributable` governs sending and is never put into words."""

    case_id: str
    opening_text: str
    age: int
    sex: Sex
    language: str
    setting: str | None = None
    redistributable: bool


class PatientSide(Strict):
    """What the patient's side knows: everything but the truth."""

    case_id: str
    age: int
    sex: Sex
    language: str
    world_assumption: Literal["closed", "open"]
    facts: list[Fact]
    presentation: CasePresentation

    @property
    def caregiver_speaks(self) -> bool:
        """Whether a caregiver answers for the patient (D11)."""
        return self.age < CAREGIVER_BELOW_AGE


class Sealed(Strict):
    """What scoring opens after the commit."""

    case_id: str
    provenance: Provenance
    ground_truth: GroundTruth


class PatientVector(Document):
    """A case. Invariant (minimum anchors): chief complaint, an askable present symptom, a coded primary diagnosis."""

    schema_version: Literal["1.0"] = "1.0"
    case_id: str = Field(pattern=r"^case-[0-9a-f]{12}$", description="opaque: says nothing of the diagnosis")
    title: str | None = Field(default=None, description="neutral label for lists; must not give the truth away")
    language: str = "en"
    setting: str | None = None
    difficulty: Literal["easy", "medium", "hard"] | None = None
    tags: list[str] = Field(default_factory=list)
    provenance: Provenance
    ground_truth: GroundTruth
    patient_facts: PatientFacts
    presentation: CasePresentation

    @model_validator(mode="after")
    def _minimum_anchors(self) -> Self:
        facts = {fact.fact_id: fact for fact in self.patient_facts.facts}
        if len(facts) != len(self.patient_facts.facts):
            raise ValueError("fact ids are not unique")
        for fact_id in self.presentation.chief_complaint:
            if fact_id not in facts or facts[fact_id].status != "present":
                raise ValueError(f"chief complaint {fact_id!r} is not a present fact of this case")
        if not any(f.kind == "symptom" and f.askable and f.status == "present" and f.attribute is None for f in facts.values()):
            raise ValueError("no askable present symptom")
        codes = self.ground_truth.primary.icd10
        if not codes:
            raise ValueError("the primary diagnosis has no ICD-10 code")
        if not all(ICD_SHAPE.fullmatch(code) for code in codes):
            raise ValueError(f"not an ICD-10 code: {', '.join(map(repr, codes))}")
        return self

    def examiner_view(self) -> ExaminerView:
        """The view an examiner gets."""
        return ExaminerView(
            case_id=self.case_id,
            opening_text=self.presentation.opening_text,
            age=self.patient_facts.age,
            sex=self.patient_facts.sex,
            language=self.language,
            setting=self.setting,
            redistributable=self.provenance.redistributable,
        )

    def patient_side(self) -> PatientSide:
        """The view the patient's side gets."""
        return PatientSide(
            case_id=self.case_id,
            age=self.patient_facts.age,
            sex=self.patient_facts.sex,
            language=self.language,
            world_assumption=self.provenance.world_assumption,
            facts=self.patient_facts.facts,
            presentation=self.presentation,
        )

    def sealed(self) -> Sealed:
        """The view scoring gets beside the facts."""
        return Sealed(case_id=self.case_id, provenance=self.provenance, ground_truth=self.ground_truth)


def opaque_case_id(source: str, source_id: str) -> str:
    """A stable id that says nothing of the case (metrics.md 0b D5)."""
    return "case-" + content_hash([source, source_id])[:12]


def is_record_fact(fact: Fact) -> bool:
    """Whether the record, not the patient, answers for this fact (D6)."""
    return fact.kind in RECORD_KINDS
