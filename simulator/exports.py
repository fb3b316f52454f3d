"""Runs for other programs: JSON lines, Parquet, and a dataset folder with a card in the form of the Hugging Face hub.

Nothing leaves that may not be passed on: a trace holds the words of its case, so its case must be known here and redistributable.
"""

from __future__ import annotations

import json
import os
import shutil
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, Literal

from ontology.errors import BedsideError
from simulator.case import PatientVector
from simulator.cases_io import atomic_file, parse_json, sync_folder
from simulator.dataset_card import dataset_card
from simulator.encounter_row import encounter_row
from simulator.store import RunRecord, read_record
from simulator.traces_io import TRACES, TraceRecord, records

Form = Literal["jsonl", "parquet", "hf"]
ROWS_AT_ONCE = 500
INSTALL = "pip install 'bedside[parquet]'"

ENCOUNTERS = {
    "trace_id": "string",
    "trace_sha256": "string",
    "case_id": "string",
    "case_sha256": "string",
    "match_id": "string",
    "examiner_kind": "string",
    "examiner_id": "string",
    "examiner_model": "string",
    "patient_id": "string",
    "seed": "string",
    "termination": "string",
    "forced_commit": "bool",
    "examiner_turns": "int64",
    "leaks": "int64",
    "top_diagnosis": "string",
    "top_icd10": "string",
    "prompt_tokens": "int64",
    "completion_tokens": "int64",
    "requests": "int64",
    "kb_version": "string",
    "software_version": "string",
    "started_at": "string",
    "finished_at": "string",
    "license": "string",
    "trace_json": "string",
}
"""Columns of the table of encounters and their Arrow types; `trace_json` is the sealed line, from which every score can be made again."""

TURNS = {
    "trace_id": "string",
    "idx": "int64",
    "role": "string",
    "text": "string",
    "latency_ms": "int64",
    "acts_json": "string",
    "mentions_json": "string",
}


@dataclass
class Exported:
    """What an export wrote and what it left out."""

    encounters: int = 0
    licenses: Counter[str] = field(default_factory=Counter)
    """licence of the case → encounters"""
    sources: Counter[str] = field(default_factory=Counter)
    left_out: Counter[str] = field(default_factory=Counter)
    """reason → encounters that are not in the export"""


@dataclass(frozen=True)
class Governor:
    """Decides which traces may be passed on.

    Args:
        cases: case id → case.
        leave_out: leave out what may not be passed on, and count it; otherwise the first such trace ends the export.
    """

    cases: Mapping[str, PatientVector]
    leave_out: bool = False

    def license_of(self, raw: Mapping[str, Any], where: str, report: Exported) -> str | None:
        """The licence under which a trace may be passed on; None if it is left out.

        Raises:
            BedsideError: it may not be passed on, or its case is not known.
        """
        problem = self._problem(raw)
        if problem is None:
            provenance = self.cases[raw["case_id"]].provenance
            report.sources[provenance.source] += 1
            report.licenses[provenance.license] += 1
            return provenance.license
        reason, mend = problem
        if not self.leave_out:
            raise BedsideError(f"{reason} (case {raw['case_id']})", where, mend)
        report.left_out[reason] += 1
        return None

    def _problem(self, raw: Mapping[str, Any]) -> tuple[str, str] | None:
        skip = "--only-redistributable leaves such encounters out"
        case = self.cases.get(raw["case_id"])
        if case is None:
            return "its case is not known here, so nobody can say whether it may be passed on", f"give the run's cases with --cases; {skip}"
        if case.sha256() != raw["case_sha256"]:
            return "the case given is not the one that was played", f"give the run's own cases with --cases; {skip}"
        if not case.provenance.redistributable:
            return f"its case may not be passed on (licence {case.provenance.license})", f"share the settings instead; {skip}"
        return None


def export_run(run: Path, out: Path, form: Form, governor: Governor) -> Exported:
    """Write a run's finished encounters; encounters that broke are no results and are not exported.

    Args:
        run: a run folder, also one under way.
        out: a file (jsonl, parquet), or a folder that does not exist yet (hf).
        form: jsonl: the sealed lines as they are; parquet: one row an encounter; hf: a folder with a card and two tables.
        governor: which traces may be passed on.

    Returns:
        the counts.

    Raises:
        BedsideError: something may not be passed on, no encounter is left, the file cannot be written, or pyarrow is missing.
            Then nothing is written.
    """
    record = read_record(run)
    report = Exported()
    if form == "hf":
        _export_folder(run, record, out, governor, report)
        return report
    with atomic_file(out) as file:
        if form == "jsonl":
            for found, _, _ in _allowed(run, governor, report):
                file.write(found.line.rstrip(b"\r\n") + b"\n")
        else:
            with _table(file, ENCOUNTERS) as add:
                for found, raw, license_ in _allowed(run, governor, report):
                    add(_encounter(found, raw, license_))
        _check_not_empty(run, report)
    return report


def _export_folder(run: Path, record: RunRecord, out: Path, governor: Governor, report: Exported) -> None:
    if out.exists():
        raise BedsideError("is there already", str(out), "name a new folder with --out")
    temporary = out.with_name(f".{out.name}.{os.getpid()}.tmp")
    try:
        with ExitStack() as stack:
            files = [stack.enter_context(atomic_file(temporary / "data" / f"{name}.parquet")) for name in ("encounters", "turns")]
            add_encounter = stack.enter_context(_table(files[0], ENCOUNTERS))
            add_turn = stack.enter_context(_table(files[1], TURNS))
            for found, raw, license_ in _allowed(run, governor, report):
                add_encounter(_encounter(found, raw, license_))
                for turn in raw["turns"]:
                    add_turn(_turn(raw["trace_id"], turn))
        _check_not_empty(run, report)
        with atomic_file(temporary / "README.md") as file:
            file.write(dataset_card(out.name, record, report.encounters, report.licenses, report.sources, report.left_out).encode())
        os.rename(temporary, out)
        sync_folder(out.parent)
    except OSError as error:
        raise BedsideError(f"cannot be written ({error.strerror or error})", str(out)) from None
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def _allowed(run: Path, governor: Governor, report: Exported) -> Iterator[tuple[TraceRecord, Mapping[str, Any], str]]:
    """Finished encounters that may be passed on, each with its JSON and licence; counts them and what is left out."""
    seen: set[str] = set()
    for found in records(run / TRACES):
        if found.torn:
            report.left_out["a record cut short"] += 1
        elif not found.finished:
            report.left_out["an encounter that broke"] += 1
        elif found.trace_id in seen:
            report.left_out["a further trace with an id already seen"] += 1
        else:
            seen.add(found.trace_id)
            raw = parse_json(found.line, found.where)
            license_ = governor.license_of(raw, found.where, report)
            if license_ is not None:
                report.encounters += 1
                yield found, raw, license_


def _check_not_empty(run: Path, report: Exported) -> None:
    if report.encounters == 0:
        why = "; ".join(f"{count} left out: {reason}" for reason, count in report.left_out.items())
        raise BedsideError("no encounter to export" + (f" ({why})" if why else ""), str(run))


def _encounter(found: TraceRecord, raw: Mapping[str, Any], license_: str) -> dict[str, Any]:
    return {**encounter_row(raw), "license": license_, "trace_json": found.line.decode().rstrip("\r\n")}


def _turn(trace_id: str, turn: Mapping[str, Any]) -> dict[str, Any]:
    as_is = {name: turn.get(name) for name in ("idx", "role", "text", "latency_ms")}
    parts = {f"{name}_json": json.dumps(turn.get(name) or [], ensure_ascii=False) for name in ("acts", "mentions")}
    return {"trace_id": trace_id, **as_is, **parts}


class _table(AbstractContextManager[Callable[[dict[str, Any]], None]]):  # noqa: N801
    """A Parquet file written some rows at a time; the context gives the function that adds a row."""

    def __init__(self, file: BinaryIO, columns: Mapping[str, str]) -> None:
        try:
            import pyarrow
            import pyarrow.parquet
        except ImportError as error:
            raise BedsideError(f"Parquet needs pyarrow ({error})", "--format", f"{INSTALL}, or use --format jsonl") from None
        self._arrow: Any = pyarrow  # partly typed only
        self._schema = self._arrow.schema([(name, self._arrow.type_for_alias(kind)) for name, kind in columns.items()])
        self._writer = self._arrow.parquet.ParquetWriter(file, self._schema, compression="zstd")
        self._rows: list[dict[str, Any]] = []

    def __enter__(self) -> Callable[[dict[str, Any]], None]:
        return self._add

    def __exit__(self, *exception: object) -> None:
        if self._rows and exception[0] is None:
            self._flush()
        self._writer.close()

    def _add(self, row: dict[str, Any]) -> None:
        self._rows.append(row)
        if len(self._rows) >= ROWS_AT_ONCE:
            self._flush()

    def _flush(self) -> None:
        self._writer.write_table(self._arrow.Table.from_pylist(self._rows, schema=self._schema))
        self._rows = []
