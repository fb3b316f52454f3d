"""The DDXPlus samples as published: 1,992 patients, none lost, nothing made up."""

from __future__ import annotations

import ast
import json
import re
from collections import Counter
from pathlib import Path

import pytest

from ontology.icd10 import icd_tree, normalise
from simulator.build import Ward, leak_guard
from simulator.case import PatientVector
from simulator.encounter import opening_turn
from simulator.leaks import LeakGuard
from simulator.sources.ddxplus import DdxplusImporter, ImportReport
from simulator.sources.ddxplus_files import patient_files, read_patients, read_release
from simulator.sources.ddxplus_tables import ddxplus_tables

ADDITIVE = re.compile(r"\b(?:also|too|as well|another|besides)\b|^(?:oh, )?and\b", re.IGNORECASE)
PATIENTS = {"test": 1306, "validate": 588, "train": 98}


@pytest.fixture(scope="module")
def folder(real_data: Path) -> Path:
    """The release with its three samples."""
    found = real_data / "ddxplus"
    if not found.is_dir():
        pytest.skip(f"no {found}")
    return found


@pytest.fixture(scope="module")
def rows(folder: Path) -> list[dict[str, str]]:
    """All rows, in the order of the import."""
    return [row for path in patient_files(folder) for _, row in read_patients(path)]


@pytest.fixture(scope="module")
def report() -> ImportReport:
    """What became of the rows; filled by `cases`."""
    return ImportReport()


@pytest.fixture(scope="module")
def cases(folder: Path, ward: Ward, report: ImportReport) -> list[PatientVector]:
    """All rows as cases."""
    importer = DdxplusImporter(read_release(folder), ddxplus_tables(), ward.pool, ward.vocabulary)
    return [case for path in patient_files(folder) for case in importer.cases(path, report)]


def test_every_patient_is_imported(cases: list[PatientVector], rows: list[dict[str, str]], report: ImportReport) -> None:
    assert (len(rows), len(cases), report.read, report.imported) == (1992, 1992, 1992, 1992)
    assert report.broken == [] and report.unmapped == {}
    assert len({case.case_id for case in cases}) == 1992
    splits = Counter(case.provenance.split for case in cases)
    assert sum(splits.values()) == 1992 and set(splits) == set(PATIENTS)
    assert sorted(splits.values()) == sorted(PATIENTS.values())


def test_every_token_becomes_a_fact_and_no_fact_comes_from_nowhere(cases: list[PatientVector], rows: list[dict[str, str]]) -> None:
    for case, row in zip(cases, rows, strict=True):
        tokens = ast.literal_eval(row["EVIDENCES"])
        stated = [fact for fact in case.patient_facts.facts if fact.status_source == "stated"]
        assert {fact.source_ref for fact in stated} == set(tokens)
        inferred = [fact for fact in case.patient_facts.facts if fact.status_source != "stated"]
        assert all(fact.status_source == "inferred" for fact in inferred)
        # What is inferred is a pain at the place that was pointed at, or the other half of an "A or B", of which nobody knows.
        assert all((fact.status == "unknown") == (fact.source_ref is not None) for fact in inferred)
        assert {fact.status for fact in stated} <= {"present", "absent"}


def test_demographics_truth_and_differential_are_the_rows(cases: list[PatientVector], rows: list[dict[str, str]]) -> None:
    tables = ddxplus_tables()
    for case, row in zip(cases, rows, strict=True):
        assert (case.patient_facts.age, case.patient_facts.sex) == (int(row["AGE"]), row["SEX"])
        assert case.ground_truth.primary.name == tables.conditions[row["PATHOLOGY"]].name
        gold = ast.literal_eval(row["DIFFERENTIAL_DIAGNOSIS"])
        found = [(item.dx.name, item.prob) for item in case.ground_truth.differential]
        assert found == [(tables.conditions[name].name, prob) for name, prob in gold]


def test_the_chief_complaint_is_the_initial_evidence(cases: list[PatientVector], rows: list[dict[str, str]]) -> None:
    for case, row in zip(cases, rows, strict=True):
        facts = {fact.fact_id: fact for fact in case.patient_facts.facts}
        (complaint,) = case.presentation.chief_complaint
        assert facts[complaint].source_ref == row["INITIAL_EVIDENCE"]
        assert [f.fact_id for f in facts.values() if f.disclosure == "opening"] == [complaint]


def test_every_gold_code_is_a_code_in_normal_form(cases: list[PatientVector], folder: Path) -> None:
    diagnoses = [case.ground_truth.primary for case in cases]
    diagnoses += [item.dx for case in cases for item in case.ground_truth.differential]
    codes = {code for diagnosis in diagnoses for code in diagnosis.icd10}
    assert all(diagnosis.icd10 for diagnosis in diagnoses)
    assert all(code in icd_tree() and normalise(code).codes == (code,) for code in codes)
    for name, raw in json.loads((folder / "release_conditions.json").read_text(encoding="utf-8")).items():
        row = ddxplus_tables().conditions[name]
        assert row.override_reason or tuple(normalise(raw["icd10-id"]).codes) == row.icd10, name
        assert row.raw_icd10 == raw["icd10-id"]


def test_the_wrong_codes_of_the_release_are_replaced_with_a_reason(cases: list[PatientVector]) -> None:
    noted = {case.ground_truth.disease_id: case.ground_truth for case in cases if case.ground_truth.code_note}
    assert noted["ddx-sle"].primary.icd10 == ["M32"]
    assert noted["ddx-panic-attack"].primary.icd10 == ["F41.0"]
    assert set(noted) == {"ddx-sle", "ddx-panic-attack"}


def test_every_case_comes_back_from_json_exactly(cases: list[PatientVector]) -> None:
    for case in cases:
        text = case.to_json()
        again = PatientVector.from_json(text)
        assert again == case and again.to_json() == text


def test_no_travel_is_absent_and_listed_regions_are_not(cases: list[PatientVector]) -> None:
    for case in cases:
        for fact in case.patient_facts.facts:
            if fact.source_ref == "E_204_@_V_10":
                assert fact.status == "absent"
            elif fact.source_ref and fact.source_ref.startswith("E_204"):
                assert fact.status == "present"


def test_openings_are_said_by_the_right_person_and_are_not_additive(cases: list[PatientVector]) -> None:
    children = [case for case in cases if case.patient_side().caregiver_speaks]
    assert len(children) == 169
    for case in cases:
        opening = case.presentation.opening_text
        assert not ADDITIVE.search(opening) and "{" not in opening, opening
        first = opening.replace("'", " ").lower().split()
        if case.patient_side().caregiver_speaks:
            assert "my" not in first[:3] and first[0] != "i" or "her" in first or "him" in first, opening
        else:
            assert not {"he", "she", "his", "him"} & set(first), opening


def test_no_opening_gives_the_truth_away(cases: list[PatientVector], ward: Ward) -> None:
    guards: dict[str, LeakGuard] = {}
    for case in cases:
        guard = guards.setdefault(case.ground_truth.disease_id, leak_guard(case, ward.vocabulary))
        assert guard.check(opening_turn(case, ward.vocabulary)) == []
