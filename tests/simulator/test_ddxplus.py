"""The DDXPlus importer: every dirty spot of a release, on small files in its form."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from simulator.build import Ward
from simulator.case import Fact, PatientVector
from simulator.sources.ddxplus import DdxplusImporter, ImportReport
from simulator.sources.ddxplus_files import COLUMNS, patient_files, read_release
from simulator.sources.ddxplus_tables import ddxplus_tables

CHEST_PAIN, PAIN, FEVER, TRAVEL = "C0008031", "C0030193", "C0015967", "X:recent-foreign-travel"
SCALE = [*range(11)]
ADDITIVE = re.compile(r"\b(?:also|too|as well|another|besides)\b|^(?:oh, )?and\b", re.IGNORECASE)


def evidence(
    name: str, data_type: str = "B", values: Sequence[Any] = (), code: str | None = None, antecedent: bool = False
) -> dict[str, Any]:
    meaning = {} if data_type == "B" or 0 in values else {str(value): {"fr": "", "en": "a value"} for value in values}
    return {
        "name": name,
        "code_question": code or name,
        "question_fr": "",
        "question_en": "?",
        "is_antecedent": antecedent,
        "default_value": "V_10" if name == "E_204" else 0,
        "value_meaning": meaning,
        "possible-values": list(values),
        "data_type": data_type,
    }


EVIDENCES = {
    item["name"]: item
    for item in (
        evidence("E_53"),
        evidence("E_54", "M", ["V_11", "V_179"], "E_53"),
        evidence("E_55", "M", ["V_123", "V_29", "V_25"], "E_53"),
        evidence("E_56", "C", SCALE, "E_53"),
        evidence("E_59", "C", SCALE, "E_53"),
        evidence("E_66"),
        evidence("E_77"),
        evidence("E_79", antecedent=True),
        evidence("E_91"),
        evidence("E_129"),
        evidence("E_131", "C", ["V_10", "V_12"], "E_129"),
        evidence("E_204", "C", ["V_10", "V_0", "V_6"], antecedent=True),
        evidence("E_900"),
        evidence("E_901", antecedent=True),
        evidence("E_902", "C", ["V_1"]),
    )
}


def condition(name: str, code: str, severity: Any = 3) -> dict[str, Any]:
    return {
        "condition_name": name,
        "cond-name-fr": name,
        "cond-name-eng": name,
        "icd10-id": code,
        "symptoms": {"E_91": {}},
        "antecedents": {},
        "severity": severity,
    }


CONDITIONS = {
    name: condition(name, code)
    for name, code in (
        ("Pneumonia", "j17, j18"),
        ("SLE", "M34"),
        ("Cluster headache", "g44.009"),
        ("Panic attack", "f41"),
        ("Guillain-Barré syndrome", "G61.0"),
        ("Swamp Fever (new)", "a 79.9"),
        ("Nameless", "none"),
    )
}
GOOD = {
    "AGE": "40",
    "DIFFERENTIAL_DIAGNOSIS": "[['Pneumonia', 0.6], ['SLE', 0.4]]",
    "SEX": "F",
    "PATHOLOGY": "Pneumonia",
    "EVIDENCES": "['E_91', 'E_66', 'E_77', 'E_204_@_V_10']",
    "INITIAL_EVIDENCE": "E_91",
}


def csv_text(rows: Sequence[dict[str, str]], columns: Sequence[str] = COLUMNS) -> str:
    out = io.StringIO()
    writer = csv.DictWriter(out, columns, extrasaction="ignore")
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()


@pytest.fixture
def release(tmp_path: Path) -> Path:
    """A release without patients."""
    (tmp_path / "release_evidences.json").write_text(json.dumps(EVIDENCES), encoding="utf-8")
    (tmp_path / "release_conditions.json").write_text(json.dumps(CONDITIONS, ensure_ascii=False), encoding="utf-8")
    return tmp_path


Import = Callable[..., tuple[list[PatientVector], ImportReport]]


@pytest.fixture
def imported(release: Path, ward: Ward) -> Import:
    """Imports rows, each given by what differs from a good one."""

    def run(
        *changes: dict[str, str], name: str = "release_test_patients.csv", limit: int | None = None
    ) -> tuple[list[PatientVector], ImportReport]:
        path = release / name
        path.write_text(csv_text([{**GOOD, **change} for change in changes]), encoding="utf-8")
        importer = DdxplusImporter(read_release(release), ddxplus_tables(), ward.pool, ward.vocabulary)
        report = ImportReport()
        return list(importer.cases(path, report, limit)), report

    return run


def only(found: tuple[list[PatientVector], ImportReport]) -> PatientVector:
    cases, report = found
    assert report.broken == [] and len(cases) == 1
    return cases[0]


def problem(found: tuple[list[PatientVector], ImportReport]) -> str:
    cases, report = found
    assert cases == [] and report.read == len(report.broken) == 1 and report.imported == 0
    assert report.broken[0].startswith("release_test_patients.csv:2: ") and "\n" not in report.broken[0]
    return report.broken[0]


def fact(case: PatientVector, concept: str, attribute: str | None = None) -> Fact:
    return next(f for f in case.patient_facts.facts if f.concept.cui == concept and f.attribute == attribute)


# -- a good row ------------------------------------------------------------------------------------------------------------------------


def test_a_row_becomes_a_case_with_its_tokens_as_sources(imported: Import) -> None:
    case = only(imported({}))
    assert [f.source_ref for f in case.patient_facts.facts] == ["E_91", "E_66", "E_77", "E_204_@_V_10"]
    assert (case.patient_facts.age, case.patient_facts.sex) == (40, "F")
    assert case.provenance.world_assumption == "closed" and case.provenance.split == "test"
    assert case.provenance.license == "CC BY 4.0" and case.provenance.redistributable
    assert case.ground_truth.acuity == 3 and case.ground_truth.acuity_scale == "ddxplus_severity"
    assert [(item.dx.name, item.prob) for item in case.ground_truth.differential] == [
        ("Pneumonia", 0.6),
        ("Systemic lupus erythematosus", 0.4),
    ]


def test_only_the_initial_evidence_opens_the_rest_of_the_symptoms_is_volunteered(imported: Import) -> None:
    case = only(imported({"EVIDENCES": "['E_91', 'E_66', 'E_79']"}))
    assert case.presentation.chief_complaint == [fact(case, FEVER).fact_id]
    assert {f.source_ref: f.disclosure for f in case.patient_facts.facts} == {"E_91": "opening", "E_66": "volunteer", "E_79": "on_ask"}


def test_equal_rows_are_equal_cases_and_the_id_is_opaque(imported: Import) -> None:
    one, other = only(imported({})), only(imported({}))
    assert one.to_json() == other.to_json()
    assert only(imported({"AGE": "41"})).case_id != one.case_id
    assert "neumonia" not in one.case_id


def test_the_world_is_closed_whatever_the_default_values_say(imported: Import) -> None:
    case = only(imported({"EVIDENCES": "['E_91']"}))
    assert [f.source_ref for f in case.patient_facts.facts] == ["E_91"]


# -- broken rows are counted, with file, line and reason -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"EVIDENCES": "['E_91', 'E_4711']"}, "evidence 'E_4711' is not in release_evidences.json"),
        ({"EVIDENCES": "['E_91', 'E_53', 'E_55_@_V_77']"}, "value 'V_77' of E_55 is not among its possible values"),
        ({"EVIDENCES": "['E_91', 'E_56_@_11']"}, "value '11' of E_56 is not among its possible values"),
        ({"EVIDENCES": "['E_91', 'E_56_@_²']"}, "value '²' of E_56 is not among its possible values"),
        ({"EVIDENCES": "['E_91', 'E_56_@_07']"}, "value '07' of E_56 is not among its possible values"),
        ({"EVIDENCES": "['E_91', 'E_56_@_high']"}, "value 'high' of E_56 is not among its possible values"),
        ({"EVIDENCES": "['E_91', 'E_66', 'E_91']"}, "EVIDENCES names a token twice"),
        ({"EVIDENCES": "['E_91'"}, "EVIDENCES is not a Python literal"),
        ({"EVIDENCES": ""}, "EVIDENCES is not a Python literal"),
        ({"EVIDENCES": "{[]: 1}"}, "EVIDENCES is not a Python literal"),
        ({"EVIDENCES": "__import__('os').getcwd()"}, "EVIDENCES is not a Python literal"),
        ({"EVIDENCES": "(" * 5000}, "EVIDENCES is not a Python literal"),
        ({"EVIDENCES": "['E_91\0']"}, "EVIDENCES is not a Python literal"),
        ({"EVIDENCES": "'E_91'"}, "EVIDENCES is not a list of tokens"),
        ({"EVIDENCES": "['E_91', 3]"}, "EVIDENCES is not a list of tokens"),
        ({"EVIDENCES": "[]"}, "INITIAL_EVIDENCE 'E_91' is not among the evidences"),
        ({"INITIAL_EVIDENCE": "E_53"}, "INITIAL_EVIDENCE 'E_53' is not among the evidences"),
        ({"INITIAL_EVIDENCE": ""}, "INITIAL_EVIDENCE '' is not among the evidences"),
        ({"INITIAL_EVIDENCE": "E_204"}, "INITIAL_EVIDENCE 'E_204' is not among the evidences"),
        ({"PATHOLOGY": "Plague"}, "PATHOLOGY 'Plague' is not in release_conditions.json"),
        ({"PATHOLOGY": "pneumonia"}, "PATHOLOGY 'pneumonia' is not in release_conditions.json"),
        ({"PATHOLOGY": "Nameless"}, "ICD-10 code 'none' of 'Nameless' is not a code"),
        ({"DIFFERENTIAL_DIAGNOSIS": "[['Plague', 1.0]]"}, "PATHOLOGY 'Plague' is not in release_conditions.json"),
        ({"DIFFERENTIAL_DIAGNOSIS": "[['SLE']]"}, "DIFFERENTIAL_DIAGNOSIS is not a list of [name, probability]"),
        ({"DIFFERENTIAL_DIAGNOSIS": "[['SLE', '0.4']]"}, "DIFFERENTIAL_DIAGNOSIS is not a list of [name, probability]"),
        ({"DIFFERENTIAL_DIAGNOSIS": "{'SLE': 1}"}, "DIFFERENTIAL_DIAGNOSIS is not a list"),
        ({"DIFFERENTIAL_DIAGNOSIS": "[['SLE', 0.4"}, "DIFFERENTIAL_DIAGNOSIS is not a Python literal"),
        ({"DIFFERENTIAL_DIAGNOSIS": "[['SLE', 1.4]]"}, "prob: Input should be less than or equal to 1"),
        ({"AGE": "-1"}, "AGE '-1' is not an age"),
        ({"AGE": "4.5"}, "AGE '4.5' is not an age"),
        ({"AGE": "²"}, "AGE '²' is not an age"),
        ({"AGE": "121"}, "AGE '121' is not an age"),
        ({"AGE": "9" * 5000}, "is not an age"),
        ({"AGE": ""}, "AGE '' is not an age"),
        ({"SEX": "female"}, "SEX 'female' is neither M nor F"),
        ({"EVIDENCES": "['E_79']", "INITIAL_EVIDENCE": "E_79"}, "no askable present symptom"),
    ],
)
def test_a_broken_row_is_kept_out_with_its_reason(imported: Import, change: dict[str, str], reason: str) -> None:
    assert reason in problem(imported(change))


@pytest.mark.parametrize("severity", [None, 0, 6, "3", 2.5])
def test_a_severity_that_is_none_is_refused(imported: Import, release: Path, severity: Any) -> None:
    raw = {**CONDITIONS, "Pneumonia": condition("Pneumonia", "j18", severity)}
    (release / "release_conditions.json").write_text(json.dumps(raw), encoding="utf-8")
    assert f"severity {severity!r} of 'Pneumonia' is not 1 to 5" in problem(imported({}))


def test_a_broken_row_does_not_stop_the_others_and_lines_are_those_of_the_file(imported: Import) -> None:
    cases, report = imported({}, {"AGE": "x"}, {"AGE": "50"}, {"SEX": "?"}, {"AGE": "60"})
    assert [case.patient_facts.age for case in cases] == [40, 50, 60]
    assert (report.read, report.imported, len(report.broken)) == (5, 3, 2)
    assert [line.split(":")[1] for line in report.broken] == ["3", "5"]


@pytest.mark.parametrize("row", ["40,[],F,Pneumonia,['E_91']", "40,[],F,Pneumonia,['E_91'],E_91,extra", "40"])
def test_a_ragged_row_is_kept_out(release: Path, ward: Ward, row: str) -> None:
    path = release / "release_test_patients.csv"
    path.write_text(",".join(COLUMNS) + "\n" + row + "\n", encoding="utf-8")
    importer = DdxplusImporter(read_release(release), ddxplus_tables(), ward.pool, ward.vocabulary)
    report = ImportReport()
    assert list(importer.cases(path, report)) == []
    assert report.broken == ["release_test_patients.csv:2: wrong number of columns"]


def test_a_limit_is_exact_and_counts_for_each_file(imported: Import, release: Path, ward: Ward) -> None:
    cases, report = imported({}, {"AGE": "x"}, {"AGE": "50"}, {"AGE": "60"}, limit=3)
    assert (report.read, len(cases)) == (3, 2)
    (release / "release_train_patients").write_text((release / "release_test_patients.csv").read_text())
    importer = DdxplusImporter(read_release(release), ddxplus_tables(), ward.pool, ward.vocabulary)
    report = ImportReport()
    found = [case for path in patient_files(release) for case in importer.cases(path, report, 3)]
    assert (report.read, len(found)) == (6, 4)


# -- values ----------------------------------------------------------------------------------------------------------------------------


def test_no_travel_is_an_absent_fact_though_it_is_listed(imported: Import) -> None:
    found = fact(only(imported({})), TRAVEL)
    assert (found.status, found.status_source, found.source_ref) == ("absent", "stated", "E_204_@_V_10")


def test_travel_is_a_present_fact_with_its_region(imported: Import) -> None:
    case = only(imported({"EVIDENCES": "['E_91', 'E_204_@_V_6']"}))
    assert fact(case, TRAVEL).status == "present"
    region = fact(case, TRAVEL, "destination")
    assert (region.status, region.value, region.source_ref) == ("present", "Asia", "E_204_@_V_6")


@pytest.mark.parametrize(("number", "grade"), [(0, "none"), (1, "low"), (3, "low"), (4, "mid"), (6, "mid"), (7, "high"), (10, "high")])
def test_scales_from_0_to_10_have_grades(imported: Import, number: int, grade: str) -> None:
    case = only(imported({"EVIDENCES": f"['E_91', 'E_53', 'E_56_@_{number}', 'E_59_@_{number}']"}))
    severity, onset = fact(case, PAIN, "severity"), fact(case, PAIN, "onset")
    assert (severity.value, severity.value_class) == (str(number), grade)
    assert (onset.value, onset.value_class) == (str(number), grade)


def test_special_values_have_classes_of_their_own(imported: Import) -> None:
    tokens = "['E_91', 'E_53', 'E_54_@_V_11', 'E_55_@_V_123', 'E_129', 'E_131_@_V_10']"
    case = only(imported({"EVIDENCES": tokens}))
    assert fact(case, PAIN, "location").value_class == "none"
    assert fact(case, PAIN, "character").value_class == "none"
    assert fact(case, "C0015230", "peeling").value_class == "no"
    yes = only(imported({"EVIDENCES": tokens.replace("E_131_@_V_10", "E_131_@_V_12")}))
    assert fact(yes, "C0015230", "peeling").value_class == "yes"


def test_pain_in_the_chest_is_chest_pain(imported: Import) -> None:
    case = only(imported({"EVIDENCES": "['E_91', 'E_53', 'E_55_@_V_29', 'E_55_@_V_25']"}))
    chest = fact(case, CHEST_PAIN)
    assert (chest.status, chest.status_source, chest.source_ref) == ("present", "inferred", None)
    assert fact(case, "C0018681").status_source == "inferred"
    assert fact(case, PAIN).status_source == "stated"
    nowhere = only(imported({"EVIDENCES": "['E_91', 'E_53', 'E_55_@_V_123']"}))
    assert {f.concept.cui for f in nowhere.patient_facts.facts if f.attribute is None} == {FEVER, PAIN}


def test_evidences_without_a_row_of_ours_are_kept_as_local_concepts_and_reported(imported: Import) -> None:
    cases, report = imported({"EVIDENCES": "['E_91', 'E_900', 'E_901', 'E_902_@_V_1']"}, {"EVIDENCES": "['E_91', 'E_900']"})
    assert report.unmapped == {"E_900": 2, "E_901": 1, "E_902_@_V_1": 1}
    found = {f.source_ref: (f.concept.cui, f.kind) for f in cases[0].patient_facts.facts[1:]}
    assert found == {
        "E_900": ("X:ddx-e-900", "symptom"),
        "E_901": ("X:ddx-e-901", "history"),
        "E_902_@_V_1": ("X:ddx-e-902", "symptom"),
    }


# -- diagnoses -------------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("pathology", "codes"),
    [
        ("Pneumonia", ["J17", "J18"]),
        ("SLE", ["M32"]),
        ("Panic attack", ["F41.0"]),
        ("Cluster headache", ["G44.009"]),
        ("Guillain-Barré syndrome", ["G61.0"]),
        ("Swamp Fever (new)", ["A79.9"]),
    ],
)
def test_codes_are_normalised_split_and_the_wrong_ones_replaced(imported: Import, pathology: str, codes: list[str]) -> None:
    assert only(imported({"PATHOLOGY": pathology})).ground_truth.primary.icd10 == codes


def test_a_replaced_code_says_why(imported: Import) -> None:
    note = only(imported({"PATHOLOGY": "SLE"})).ground_truth.code_note
    assert note is not None and "M34" in note and "M32" in note
    assert only(imported({})).ground_truth.code_note is None


def test_a_condition_new_to_us_gets_an_id_of_its_own(imported: Import) -> None:
    truth = only(imported({"PATHOLOGY": "Swamp Fever (new)"})).ground_truth
    assert (truth.disease_id, truth.primary.name) == ("ddx-swamp-fever-new", "Swamp Fever (new)")


# -- opening words ---------------------------------------------------------------------------------------------------------------------


def test_openings_are_never_additive_and_never_answers(imported: Import) -> None:
    """Nobody begins with "I also have a cough" or "Yes, I do"."""
    for initial in ("E_91", "E_66", "E_77", "E_53", "E_129"):
        cases, report = imported(
            *({"AGE": str(age), "EVIDENCES": f"['{initial}']", "INITIAL_EVIDENCE": initial} for age in range(0, 60, 3))
        )
        assert len(cases) == 20 and not report.broken
        for case in cases:
            opening = case.presentation.opening_text
            assert not ADDITIVE.search(opening), opening
            assert not opening.lower().startswith(("yes", "yeah", "no,")), opening
            assert "{" not in opening and opening[0].isupper() and opening.endswith(".")


@pytest.mark.parametrize("age", [0, 3, 7, 8, 40])
def test_a_caregiver_opens_for_a_child_under_eight(imported: Import, age: int) -> None:
    case = only(imported({"AGE": str(age), "SEX": "M"}))
    words = set(case.presentation.opening_text.replace("'", " ").lower().split())
    assert bool(words & {"he", "his", "him"}) is (age < 8), case.presentation.opening_text
    assert case.patient_side().caregiver_speaks is (age < 8)


def test_an_opening_says_what_the_initial_evidence_means(imported: Import, ward: Ward) -> None:
    for initial, concept in (("E_91", FEVER), ("E_66", "C0013404"), ("E_77", "X:productive-cough")):
        case = only(imported({"INITIAL_EVIDENCE": initial}))
        assert concept in {match.concept for match in ward.vocabulary.find(case.presentation.opening_text)}
