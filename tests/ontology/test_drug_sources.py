"""Importers of contraindications: MED-RT's XML and openFDA's labels, on invented content in their true layout."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from ontology.clinical import clinical_tables, read_contraindications
from ontology.clinical_rows import Contraindication
from ontology.drug_sources import ImportReport, read_medrt, read_openfda
from ontology.errors import BedsideError
from ontology.vocabulary import Vocabulary
from ui.cli_kb_import import add_import_commands

FOLDER = Path(__file__).parents[1] / "data" / "drug_sources"
MEDRT, OPENFDA = FOLDER / "medrt.xml", FOLDER / "openfda_label.json"
TABLES = clinical_tables()


def told(rows: list[Contraindication]) -> list[tuple[str, str, str]]:
    return [(row.ingredient, row.kind, row.against) for row in rows]


@pytest.fixture(scope="module")
def medrt(vocabulary: Vocabulary) -> tuple[list[Contraindication], ImportReport]:
    return read_medrt(MEDRT, TABLES, vocabulary)


@pytest.fixture(scope="module")
def openfda(vocabulary: Vocabulary) -> tuple[list[Contraindication], ImportReport]:
    return read_openfda([OPENFDA], TABLES, vocabulary)


def test_medrt_becomes_rows(medrt: tuple[list[Contraindication], ImportReport]) -> None:
    """Our names of ingredients; MeSH's inverted names are read; allergy and pregnancy are kinds of their own."""
    rows, _ = medrt
    assert told(rows) == [
        ("ibuprofen", "condition", "peptic ulcer"),
        ("paracetamol", "allergy", "paracetamol allergy"),
        ("zorbamine", "condition", "hypertension, pulmonary"),
        ("warfarin", "pregnancy", "pregnancy"),
    ]
    ulcer, allergy, pressure, pregnancy = rows
    assert ulcer.concepts == ("C0030920",) and "K27" in ulcer.icd10
    assert allergy.drugs == ("paracetamol",)
    assert pressure.icd10 == ("I27.2",)
    assert pregnancy.in_week(None) and pregnancy.in_week(5)
    assert {row.strength for row in rows} == {"absolute"}
    assert ulcer.source == "MED-RT 2020.01.06: CI_with, RxNorm 5640 to Peptic Ulcer"


def test_medrt_counts_what_it_leaves_out(medrt: tuple[list[Contraindication], ImportReport]) -> None:
    """Rows and what is left out add up to the associations read; other associations are none of ours."""
    rows, report = medrt
    assert (report.read, report.release) == (6, "2020.01.06")
    assert report.left_out == {"disease without a concept or code of ours": 1, "not from an ingredient of RxNorm": 1}
    assert report.examples["disease without a concept or code of ours"] == ["Zorbing Intemperance"]
    assert len(rows) + report.left_out.total() == report.read


def test_medrt_of_another_strength(vocabulary: Vocabulary) -> None:
    """MED-RT does not grade; the user says what its rows are."""
    rows, _ = read_medrt(MEDRT, TABLES, vocabulary, "relative")
    assert {row.strength for row in rows} == {"relative"}


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("", "not well-formed XML"),
        ("<terminology><association>", "not well-formed XML"),
        ("<html/>", "root element is <html>"),
        ("<terminology/>", "no association is called CI_with"),
    ],
)
def test_what_is_no_medrt_is_refused(tmp_path: Path, vocabulary: Vocabulary, text: str, wrong: str) -> None:
    """In one line that names the file."""
    path = tmp_path / "release.xml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(BedsideError, match=wrong) as caught:
        read_medrt(path, TABLES, vocabulary)
    assert caught.value.where == str(path)


def test_openfda_becomes_rows(openfda: tuple[list[Contraindication], ImportReport]) -> None:
    """Sentences and bullets of the section; "do not use" is a contraindication there, "not contraindicated" is none."""
    rows, _ = openfda
    assert told(rows) == [
        ("sumatriptan", "condition", "stroke"),
        ("sumatriptan", "condition", "transient ischemic attack"),
        ("sumatriptan", "condition", "peripheral vascular disease"),
        ("sumatriptan", "condition", "high blood pressure"),
        ("sumatriptan", "drug", "ergotamine"),
        ("sumatriptan", "drug", "maoi"),
        ("sumatriptan", "allergy", "sumatriptan allergy"),
        ("codeine", "age", "under 12 years"),
        ("codeine", "pregnancy", "pregnancy"),
        ("codeine", "allergy", "codeine allergy"),
        ("codeine", "allergy", "opioid allergy"),
    ]
    young = next(row for row in rows if row.kind == "age")
    assert young.at_age(11) and not young.at_age(12)
    assert young.reason == "Do not use in children under 12 years."
    assert {row.license for row in rows} == {"CC0-1.0"}
    assert "set" not in rows[0].source and rows[0].source.startswith("openFDA drug label 10000000-")


def test_openfda_counts_what_it_leaves_out(openfda: tuple[list[Contraindication], ImportReport]) -> None:
    """Labels without the section, of several or unknown ingredients, and sentences in which nothing was recognised."""
    _, report = openfda
    assert report.read == 5
    assert report.left_out == {
        "sentence in which nothing new was recognised": 3,
        "label without a section of contraindications": 1,
        "label of several ingredients": 1,
        "label of an ingredient that drugs.csv does not name": 1,
    }
    assert "It is not contraindicated in asthma." in report.examples["sentence in which nothing new was recognised"]


@pytest.mark.parametrize("text", ["", "{", "[]", '{"error": {"code": "NOT_FOUND"}}', '{"results": [1]}'])
def test_what_is_no_openfda_is_refused(tmp_path: Path, vocabulary: Vocabulary, text: str) -> None:
    """An error page is not an empty list of labels."""
    path = tmp_path / "label.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(BedsideError) as caught:
        read_openfda([path], TABLES, vocabulary)
    assert caught.value.where == str(path)


def test_odd_labels_do_not_stop_an_import(tmp_path: Path, vocabulary: Vocabulary) -> None:
    """Fields of another type than documented are counted as missing."""
    labels = [{}, {"openfda": []}, {"contraindications": "none"}, {"contraindications": [None, ""], "openfda": {"generic_name": "X"}}]
    path = tmp_path / "label.json"
    path.write_text(json.dumps({"results": labels}), encoding="utf-8")
    rows, report = read_openfda([path], TABLES, vocabulary)
    assert rows == [] and report.read == 4 == report.left_out.total()


@pytest.mark.parametrize(("command", "source"), [("import-medrt", MEDRT), ("import-openfda", OPENFDA)])
def test_the_commands_write_a_table(tmp_path: Path, command: str, source: Path) -> None:
    """In the form of data/clinical/contraindications.csv; with --json one object."""
    app = typer.Typer()
    add_import_commands(app)
    out = tmp_path / "mine.csv"
    done = CliRunner().invoke(app, [command, str(source), "--out", str(out)])
    assert done.exit_code == 0, done.output
    assert "left out: 1 × " in done.output
    rows = read_contraindications(out.read_text(encoding="utf-8"), str(out))
    assert rows and TABLES.with_contraindications(rows).contraindications_for(rows[0].ingredient)[-1].source == rows[0].source
    done = CliRunner().invoke(app, [command, str(source), "--out", str(out), "--json"])
    summary = json.loads(done.output)
    assert summary["rows"] == len(rows) and summary["left_out"]


def test_the_commands_refuse_what_is_wrong(tmp_path: Path) -> None:
    """Nothing is written then."""
    app = typer.Typer()
    add_import_commands(app)
    out = tmp_path / "mine.csv"
    for words in (
        ["import-medrt", str(MEDRT), "--strength", "mild"],
        ["import-medrt", str(tmp_path / "none.xml")],
        ["import-openfda", str(MEDRT)],
    ):
        done = CliRunner().invoke(app, [*words, "--out", str(out)])
        assert isinstance(done.exception, BedsideError)
        assert not out.exists()
