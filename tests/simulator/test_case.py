"""PatientVector: the minimum anchors, the three views, and the stored form (metrics.md 0b D7 and 14)."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from ontology.documents import Document
from ontology.errors import BedsideError
from ontology.text import folded
from simulator.case import (
    CAREGIVER_BELOW_AGE,
    ExaminerView,
    Fact,
    GroundTruth,
    PatientSide,
    PatientVector,
    Sealed,
    is_record_fact,
    opaque_case_id,
)
from ui.wiring import bundled_cases

STARTER = sorted((Path(__file__).parents[2] / "data/cases/starter").glob("*.json"))


@pytest.fixture
def raw() -> dict[str, Any]:
    """A starter case as its file has it; a test may change it."""
    return json.loads(STARTER[0].read_text(encoding="utf-8"))


def refusal(raw: dict[str, Any]) -> str:
    with pytest.raises(BedsideError) as raised:
        PatientVector.from_raw(raw, "case.json:1")
    line = raised.value.line()
    assert line.startswith("case.json:1: ") and "\n" not in line
    return line


def facts_of(raw: dict[str, Any]) -> list[dict[str, Any]]:
    return raw["patient_facts"]["facts"]


# -- minimum anchors -------------------------------------------------------------------------------------------------------------------


def test_a_complaint_that_is_no_fact_of_the_case_is_refused(raw: dict[str, Any]) -> None:
    raw["presentation"]["chief_complaint"] = ["f-nowhere"]
    assert "chief complaint 'f-nowhere' is not a present fact" in refusal(raw)


@pytest.mark.parametrize("status", ["absent", "unknown"])
def test_a_complaint_that_is_not_so_is_refused(raw: dict[str, Any], status: str) -> None:
    complaint = raw["presentation"]["chief_complaint"][0]
    next(f for f in facts_of(raw) if f["fact_id"] == complaint)["status"] = status
    assert "is not a present fact" in refusal(raw)


def test_a_case_without_a_complaint_is_refused(raw: dict[str, Any]) -> None:
    raw["presentation"]["chief_complaint"] = []
    assert "presentation.chief_complaint" in refusal(raw)


def test_a_case_without_an_askable_present_symptom_is_refused(raw: dict[str, Any]) -> None:
    for fact in facts_of(raw):
        fact["askable"] = False
    assert "no askable present symptom" in refusal(raw)


def test_a_history_fact_does_not_stand_in_for_the_symptom(raw: dict[str, Any]) -> None:
    for fact in facts_of(raw):
        if fact["kind"] == "symptom":
            fact["kind"] = "history"
    assert "no askable present symptom" in refusal(raw)


def test_a_diagnosis_without_a_code_is_refused(raw: dict[str, Any]) -> None:
    raw["ground_truth"]["primary"]["icd10"] = []
    assert "no ICD-10 code" in refusal(raw)


def test_two_facts_with_one_id_are_refused(raw: dict[str, Any]) -> None:
    facts = facts_of(raw)
    facts[1]["fact_id"] = facts[0]["fact_id"]
    assert "fact ids are not unique" in refusal(raw)


def test_a_present_detail_needs_a_value() -> None:
    fact = {"fact_id": "f1", "concept": {"cui": "C0030193", "name": "Pain"}, "kind": "symptom", "attribute": "severity"}
    with pytest.raises(ValidationError, match="attribute severity without a value"):
        Fact.model_validate({**fact, "status": "present"})
    assert Fact.model_validate({**fact, "status": "unknown"}).value is None


@pytest.mark.parametrize("case_id", ["gca-001", "case-GCA", "case-0123456789", "case-0123456789abc"])
def test_a_case_id_that_could_speak_of_the_diagnosis_is_refused(raw: dict[str, Any], case_id: str) -> None:
    assert "case_id" in refusal({**raw, "case_id": case_id})


def test_opaque_ids_are_stable_differ_and_fit_the_schema(raw: dict[str, Any]) -> None:
    ids = {opaque_case_id(source, number) for source in ("ddxplus", "starter") for number in ("1", "2", "12")}
    assert len(ids) == 6
    assert opaque_case_id("ddxplus", "1") == opaque_case_id("ddxplus", "1")
    assert all(PatientVector.from_raw({**raw, "case_id": i}).case_id == i for i in ids)


@pytest.mark.parametrize(("age", "fits"), [(-1, False), (0, True), (120, True), (121, False)])
def test_ages_are_completed_years_of_a_life(raw: dict[str, Any], age: int, fits: bool) -> None:
    raw["patient_facts"]["age"] = age
    if fits:
        assert PatientVector.from_raw(raw).patient_facts.age == age
    else:
        assert "patient_facts.age" in refusal(raw)


# -- the stored form -------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("version", ["2.0", "", None, 1, ["1.0"]])
def test_an_unknown_schema_version_is_refused_by_name(raw: dict[str, Any], version: Any) -> None:
    line = refusal({**raw, "schema_version": version})
    assert f"schema_version {version!r} of this PatientVector is not known here (known: 1.0)" in line


def test_a_missing_schema_version_is_refused(raw: dict[str, Any]) -> None:
    del raw["schema_version"]
    assert "schema_version None" in refusal(raw)


@pytest.mark.parametrize(
    "where", [(), ("provenance",), ("ground_truth",), ("ground_truth", "primary"), ("patient_facts",), ("presentation",)]
)
def test_a_field_nobody_knows_is_refused_at_every_level(raw: dict[str, Any], where: tuple[str, ...]) -> None:
    block = raw
    for name in where:
        block = block[name]
    block["remark"] = "x"
    assert ".".join((*where, "remark")) in refusal(raw)


def test_a_field_nobody_knows_in_a_fact_is_refused(raw: dict[str, Any]) -> None:
    facts_of(raw)[2]["remark"] = "x"
    assert "patient_facts.facts.2.remark" in refusal(raw)


@pytest.mark.parametrize("text", ["", "[]", '"x"', "3", "null", "{", "[" * 100_000])
def test_text_that_is_no_case_is_one_line(text: str) -> None:
    with pytest.raises(BedsideError) as raised:
        PatientVector.from_json(text, "c.json:3")
    assert raised.value.line().startswith("c.json:3: ")


def test_bundled_cases_come_back_from_json_as_they_were() -> None:
    for case in bundled_cases():
        text = case.to_json()
        again = PatientVector.from_json(text)
        assert again == case
        assert again.to_json() == text
        assert again.sha256() == case.sha256()


JSON_TEXT = st.text(st.characters(exclude_categories=("Cs",)), max_size=40)


@settings(deadline=None, max_examples=60)
@given(title=st.none() | JSON_TEXT, tags=st.lists(JSON_TEXT, max_size=4), opening=JSON_TEXT.filter(bool), value=JSON_TEXT)
def test_any_text_survives_the_stored_form(title: str | None, tags: list[str], opening: str, value: str) -> None:
    case = bundled_cases()[3]
    raw = {**case.model_dump(mode="json"), "title": title, "tags": tags}
    raw["presentation"]["opening_text"] = opening
    raw["patient_facts"]["facts"][0]["value"] = value
    made = PatientVector.from_raw(raw)
    assert PatientVector.from_json(made.to_json()) == made
    assert "\n" not in made.to_json()


def test_the_hash_depends_on_content_and_not_on_the_order_of_keys(raw: dict[str, Any]) -> None:
    turned = dict(reversed(list(raw.items())))
    assert PatientVector.from_raw(turned).sha256() == PatientVector.from_raw(raw).sha256()
    other = {**raw, "language": "de"}
    assert PatientVector.from_raw(other).sha256() != PatientVector.from_raw(raw).sha256()


def test_a_case_is_a_versioned_document() -> None:
    assert issubclass(PatientVector, Document)
    assert PatientVector.model_json_schema()["additionalProperties"] is False


# -- views -----------------------------------------------------------------------------------------------------------------------------


def strings_in(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        return [text for item in value.values() for text in strings_in(item)]
    return [text for item in value for text in strings_in(item)] if isinstance(value, list) else []


def names_of_truth(truth: GroundTruth) -> list[str]:
    return [truth.disease_id, truth.primary.name, *truth.primary.icd10, *truth.primary.aliases]


def test_no_view_of_the_players_has_a_field_of_the_truth() -> None:
    for view in (PatientSide, ExaminerView):
        assert "ground_truth" not in view.model_fields
        assert not set(GroundTruth.model_fields) & set(view.model_fields)
        assert not {"provenance", "title", "tags", "difficulty"} & set(view.model_fields)


def test_the_truth_is_in_no_text_of_the_examiners_view() -> None:
    for case in bundled_cases():
        text = folded(case.examiner_view().model_dump_json())
        for name in names_of_truth(case.ground_truth):
            assert not re.search(rf"\b{re.escape(folded(name))}\b", text), (case.case_id, name)


def test_the_truth_is_in_no_text_of_the_patients_side_but_licensed_history() -> None:
    for case in bundled_cases():
        side = case.patient_side()
        licensed = {"history", "family_history", "exposure", "medication", "social", "allergy"}
        raw = side.model_dump(mode="json")
        raw["facts"] = [fact.model_dump(mode="json") for fact in side.facts if fact.kind not in licensed and not is_record_fact(fact)]
        for fact in raw["facts"]:
            fact.pop("fact_id")  # a number: "f32" is no leak of a depression's code
        text = " | ".join(folded(text) for text in strings_in(raw))
        for name in names_of_truth(case.ground_truth):
            assert not re.search(rf"\b{re.escape(folded(name))}\b", text), (case.case_id, name)


def test_a_marker_in_every_field_of_the_truth_reaches_neither_player(raw: dict[str, Any]) -> None:
    truth = raw["ground_truth"]
    truth["disease_id"] = truth["primary"]["name"] = truth["code_note"] = "ZEBRA"
    truth["primary"]["aliases"] = truth["contraindicated"] = ["ZEBRA"]
    truth["secondary"] = [{"name": "ZEBRA"}]
    truth["differential"] = [{"dx": {"name": "ZEBRA"}, "prob": 0.5}]
    truth["score_points"] = {"treatment": [{"id": "ZEBRA", "text": "ZEBRA", "source": "ZEBRA"}]}
    raw["title"] = raw["difficulty"] = None
    raw["tags"] = ["ZEBRA"]
    for field in ("source_id", "source_version", "license", "icd_release", "pipeline_version"):
        raw["provenance"][field] = "ZEBRA"
    case = PatientVector.from_raw(raw)
    assert "ZEBRA" not in case.patient_side().model_dump_json()
    assert "ZEBRA" not in case.examiner_view().model_dump_json()
    assert case.sealed().model_dump_json().count("ZEBRA") >= 10


def test_the_examiner_knows_opening_age_sex_language_and_setting_only(raw: dict[str, Any]) -> None:
    view = PatientVector.from_raw(raw).examiner_view()
    assert set(view.model_dump()) == {"case_id", "opening_text", "age", "sex", "language", "setting", "redistributable"}
    assert view.opening_text == raw["presentation"]["opening_text"]


def test_views_refuse_what_does_not_belong_to_them(raw: dict[str, Any]) -> None:
    case = PatientVector.from_raw(raw)
    for view in (case.patient_side(), case.examiner_view(), case.sealed()):
        with pytest.raises(ValidationError, match="remark"):
            type(view).model_validate({**view.model_dump(), "remark": "x"})
    assert isinstance(case.sealed(), Sealed)


@pytest.mark.parametrize(("age", "caregiver"), [(0, True), (CAREGIVER_BELOW_AGE - 1, True), (CAREGIVER_BELOW_AGE, False), (80, False)])
def test_a_caregiver_speaks_for_children_under_eight(raw: dict[str, Any], age: int, caregiver: bool) -> None:
    raw["patient_facts"]["age"] = age
    assert PatientVector.from_raw(raw).patient_side().caregiver_speaks is caregiver
