"""Contraindications from files that a user has, written as a table; see ontology.drug_sources."""

from __future__ import annotations

from pathlib import Path

from ontology.clinical import clinical_tables
from ontology.clinical_rows import Contraindication, Strength, write_rows
from ontology.drug_sources import ImportReport, read_medrt, read_openfda
from ontology.errors import BedsideError
from ontology.vocabulary import default_vocabulary
from simulator.cases_io import atomic_file
from ui.console import say, say_json

STRENGTHS: dict[str, Strength] = {"absolute": "absolute", "relative": "relative"}


def import_medrt_file(file: Path, out: Path, strength: str, as_json: bool) -> int:
    """Write the contraindications of a MED-RT release to a table.

    Raises:
        BedsideError: the file cannot be read, or the strength is unknown.
    """
    if strength not in STRENGTHS:
        raise BedsideError(f"{strength!r} is no strength", "--strength", "give absolute or relative")
    rows, report = read_medrt(file, clinical_tables(), default_vocabulary(), STRENGTHS[strength])
    return _finish(rows, report, out, "associations", as_json)


def import_openfda_files(files: list[Path], out: Path, as_json: bool) -> int:
    """Write the contraindications of openFDA labels to a table.

    Raises:
        BedsideError: a file cannot be read.
    """
    rows, report = read_openfda(files, clinical_tables(), default_vocabulary())
    return _finish(rows, report, out, "labels", as_json)


def _finish(rows: list[Contraindication], report: ImportReport, out: Path, what: str, as_json: bool) -> int:
    """Write the rows and say what was left out; 1 if nothing came of it."""
    with atomic_file(out) as handle:
        handle.write(write_rows(rows, Contraindication).encode())
    named = {row.ingredient for row in rows}
    ingredients, unnamed = len(named), len(named - set(clinical_tables().drugs))
    if as_json:
        counts = {"read": report.read, "release": report.release, "left_out": dict(report.left_out), "examples": report.examples}
        say_json({"out": str(out), "rows": len(rows), "ingredients": ingredients, "unnamed": unnamed, **counts})
    else:
        release = f" of release {report.release}" if report.release else ""
        say(f"{out}: {len(rows):,} contraindications of {ingredients:,} ingredients, from {report.read:,} {what}{release}")
        if unnamed:
            say(f"{unnamed:,} of the ingredients are not in data/clinical/drugs.csv: no text is read as naming them")
        for reason, count in report.left_out.most_common():
            say(f"left out: {count:,} × {reason}, e.g. {'; '.join(report.examples[reason])}")
    return 0 if rows else 1
