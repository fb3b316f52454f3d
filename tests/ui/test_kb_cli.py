"""`bedside kb`: what a curator and a clinician see."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from ontology.errors import BedsideError
from ontology.kb_check import KbReport
from ui import kb
from ui.cli import app


def run(*args: str) -> tuple[int, str]:
    result = CliRunner().invoke(app, ["kb", *args], catch_exceptions=False)
    return result.exit_code, result.stdout


def test_check_reports_and_is_content() -> None:
    code, out = run("check")
    assert code == 0
    assert "Rows without source: 0" in out and "Contradictions: 0" in out and "Nothing must be mended." in out
    assert "with a UMLS CUI" in out and "Not reviewed by a clinician" in out


def test_check_for_machines() -> None:
    code, out = run("check", "--json")
    body = json.loads(out)
    assert code == 0 and body["sound"] and body["counts"]["curated diseases"] >= 60


@pytest.mark.parametrize("field", ["unsourced", "contradictions"])
@pytest.mark.parametrize("options", [(), ("--json",)])
def test_check_fails_where_something_must_be_mended(monkeypatch: pytest.MonkeyPatch, field: str, options: tuple[str, ...]) -> None:
    """Exit code 1, and each problem is shown."""
    broken = KbReport(counts={"curated diseases": 1}, **{field: ["data/profiles/curated.csv:7"]})  # type: ignore[arg-type]
    monkeypatch.setattr(kb, "check_knowledge", lambda vocabulary: broken)
    code, out = run("check", *options)
    assert code == 1 and "data/profiles/curated.csv:7" in out


def test_a_long_list_is_cut_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kb, "check_knowledge", lambda vocabulary: KbReport(contradictions=[f"problem {n}" for n in range(50)]))
    assert "and 20 more (--json lists all)" in run("check")[1]


def test_show_reads_like_a_profile() -> None:
    """Codes with titles, prior, features by frequency, antecedents apart, a source a row, and that nobody reviewed it."""
    code, out = run("show", "pulmonary-embolism")
    assert code == 0
    assert "I26 Pulmonary embolism" in out and "Prior" in out and "ddx-pulmonary-embolism" in out
    symptoms, antecedents = out.split("Antecedents, exposures and medicines")
    assert "Dyspnea" in symptoms and "Past deep vein thrombosis" in antecedents
    assert "PIOPED II" in out and "Not reviewed by a clinician." in out
    assert symptoms.index("(30-79 %)") < symptoms.index("(5-29 %)")


def test_show_for_machines() -> None:
    body = json.loads(run("show", "heart failure", "--json")[1])
    assert body["disease_id"] == "heart-failure" and body["origin"] == "curated"
    assert body["icd10_titles"] == {"I50": "Heart failure"}
    assert {"red_flags", "sine_qua_non", "pathognomonic"} <= set(body)


def test_counted_and_rare_profiles_are_shown_too() -> None:
    counted = run("show", "ddx-pneumonia")[1]
    assert "over 14 patients" in counted and "/14)" in counted
    rare = run("show", "ORPHA:905")[1]
    assert "Wilson disease" in rare and "HPO ORPHA:905 2025-01-16" in rare


def test_an_unknown_disease_is_one_line() -> None:
    with pytest.raises(BedsideError, match="did you mean"):
        run("show", "pneumo")


@pytest.mark.parametrize(
    ("asked", "offered"),
    [
        ("heart attack", "acute-coronary-syndrome|painless-myocardial-infarction|ddx-possible-nstemi-stemi"),
        ("giant cell artritis", "gca \\(Giant cell arteritis\\)"),
        ("pnuemonia", "pneumonia \\(Community-acquired pneumonia\\)"),
        ("lung embolism", "pulmonary-embolism"),
    ],
)
def test_a_lay_or_misspelt_name_is_answered_with_diseases_near_it(asked: str, offered: str) -> None:
    with pytest.raises(BedsideError, match=f"did you mean .*({offered})"):
        run("show", asked)


def test_a_name_near_none_says_what_is_known() -> None:
    with pytest.raises(BedsideError, match="names in English"):
        run("show", "zzzz")
