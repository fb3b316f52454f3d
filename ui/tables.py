"""Tables of scores as files: CSV and Parquet, one row a dialogue, with what is known of the case beside the scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from metrics.frames import SUFFIXES, require_pyarrow, to_csv, to_parquet
from metrics.scores import Scorecard, Value
from ontology.errors import BedsideError
from simulator.cases_io import atomic_file
from ui.scored import Scored


def check_table_names(paths: Sequence[Path]) -> None:
    """Refuse a table that could not be written, before anything is scored.

    Raises:
        BedsideError: a name that ends in neither .csv nor .parquet, or Parquet without pyarrow.
    """
    for path in paths:
        if path.suffix.lower() not in SUFFIXES:
            raise BedsideError(f"a table ending in {path.suffix or 'nothing'} is not written", str(path), f"use {' or '.join(SUFFIXES)}")
        if path.suffix.lower() == ".parquet":
            require_pyarrow(str(path))


def write_tables(paths: Sequence[Path], cards: Sequence[Scorecard], columns: Mapping[str, Mapping[str, Value]]) -> None:
    """Write the table of scores to every file named.

    Args:
        paths: files ending in .csv or .parquet.
        cards: one row each.
        columns: further columns by trace id.
    """
    for path in paths:
        data = to_parquet(cards, columns) if path.suffix.lower() == ".parquet" else to_csv(cards, columns)
        with atomic_file(path) as handle:
            handle.write(data)


def case_columns(scored: Scored) -> dict[str, Value]:
    """What a table says of the case and the encounter; nothing that a score says."""
    case, outcome = scored.case, scored.trace.outcome
    return {
        "case_source": case.provenance.source,
        "case_split": case.provenance.split,
        "case_diagnosis": case.ground_truth.primary.name,
        "case_acuity": case.ground_truth.acuity,
        "case_acuity_scale": case.ground_truth.acuity_scale,
        "case_age": case.patient_facts.age,
        "case_sex": case.patient_facts.sex,
        "answer_first": outcome.ranked[0].name if outcome else None,
        "answer_confidence": outcome.confidence if outcome else None,
    }
