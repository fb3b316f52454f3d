"""From lines of sealed traces to rows of the index."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import Connection, insert, select

from ontology.errors import BedsideError
from simulator.cases_io import parse_json
from simulator.encounter_row import encounter_row
from simulator.index.models import EncounterRow
from simulator.traces_io import SEAL, TraceRecord, records

CHUNK = 500
"""Rows sent to the database at once."""


@dataclass
class Progress:
    """How far a file of traces has been read, and what came of it."""

    byte: int = 0
    lines: int = 0
    added: int = 0
    repeated: int = 0
    """finished traces with an id that the run has already"""


def index_file(connection: Connection, run_id: int, file: Path, progress: Progress) -> Progress:
    """Add the encounters of a file from where the last reading ended; a record still being written is left for the next one.

    Raises:
        BedsideError: a line that is no trace, or whose seal is broken.
    """
    waiting: list[TraceRecord] = []
    for record in records(file, start=progress.byte, lines_before=progress.lines):
        if record.torn:
            break
        waiting.append(record)
        progress.byte = record.start + len(record.line)
        progress.lines = int(record.where.rpartition(":")[2])
        if len(waiting) == CHUNK:
            _add(connection, run_id, file.name, waiting, progress)
            waiting = []
    _add(connection, run_id, file.name, waiting, progress)
    return progress


def seal_at(file: Path, start: int) -> str | None:
    """The seal that the line at byte `start` carries, if it is a trace with one."""
    try:
        with file.open("rb") as handle:
            handle.seek(start)
            line = handle.readline()
    except OSError:
        return None
    found = SEAL.search(line)
    if found is not None:
        return found["hex"].decode()
    try:
        raw = parse_json(line, str(file))
    except BedsideError:
        return None
    return str(raw.get("sealed_sha256")) if isinstance(raw, dict) else None


def _add(connection: Connection, run_id: int, file: str, found: Sequence[TraceRecord], progress: Progress) -> None:
    if not found:
        return
    ids = [record.trace_id for record in found if record.finished]
    query = select(EncounterRow.trace_id).where(EncounterRow.run_id == run_id, EncounterRow.finished, EncounterRow.trace_id.in_(ids))
    seen = set(connection.execute(query).scalars())
    rows = []
    for record in found:
        if record.finished and record.trace_id in seen:
            progress.repeated += 1
            continue
        if record.finished:
            seen.add(record.trace_id)
        rows.append(
            {
                "run_id": run_id,
                "file": file,
                "start": record.start,
                "length": len(record.line),
                "finished": record.finished,
                **encounter_row(parse_json(record.line, record.where)),
            }
        )
    if rows:
        connection.execute(insert(EncounterRow), rows)
    progress.added += len(rows)
