"""Whole run folders: finding, joining and removing them."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ontology.errors import BedsideError
from simulator.cases_io import atomic_file
from simulator.store import ERRORS, JOURNAL, LOCK_FILE, SCORECARDS, RunRecord, differences, held, read_record, write_record
from simulator.traces_io import RUN_FILE, SEAL, TRACES, TraceRecord, records

MAX_DEPTH = 4
OURS = (RUN_FILE, TRACES, ERRORS, SCORECARDS, "traces.torn", "errors.torn", LOCK_FILE)


def find_run_folders(root: Path) -> Iterator[Path]:
    """Run folders at or below a folder, in the order of their names; hidden folders and links are not entered, nor more than 4 levels."""
    if (root / RUN_FILE).is_file():
        yield root
        return
    yield from _below(root, MAX_DEPTH)


def _below(root: Path, depth: int) -> Iterator[Path]:
    try:
        folders = sorted(entry.name for entry in os.scandir(root) if entry.is_dir(follow_symlinks=False) and not entry.name.startswith("."))
    except OSError:
        return
    for name in folders:
        if (root / name / RUN_FILE).is_file():
            yield root / name
        elif depth > 1:
            yield from _below(root / name, depth - 1)


@dataclass
class MergeReport:
    """What joining run folders did."""

    finished: int = 0
    broken: int = 0
    """traces in errors.jsonl of the new folder: encounters that no source finished"""
    same: list[str] = field(default_factory=list)
    """`file:line` of traces that are there already, with the same content"""
    differing: list[str] = field(default_factory=list)
    """`file:line` of traces with an id that is there already, but other content; the first counts"""
    torn: list[str] = field(default_factory=list)
    """`file:line` of records cut short, left out"""


def merge(sources: Sequence[Path], out: Path) -> MergeReport:
    """Join run folders of one fingerprint into a new one; the sources stay as they are and may be under way.

    Args:
        sources: two folders or more; where two hold the same trace id, the first counts.
        out: a folder that does not exist yet, or is empty.

    Raises:
        BedsideError: other settings, a folder in the way, a broken seal. Then there is no new run folder.
    """
    found = [read_record(path) for path in sources]
    for path, record in zip(sources[1:], found[1:], strict=True):
        unlike = differences(found[0].fingerprint, record.fingerprint)
        if unlike:
            mend = "only runs of the same settings can be merged; score them apart"
            raise BedsideError(f"made with other settings than {sources[0]}: {unlike}", str(path), mend)
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise BedsideError("is there already", str(out), "name a new folder with --out")
    report = MergeReport()
    seals: dict[str, str] = {}
    try:
        with atomic_file(out / TRACES) as file:
            for line in _lines(sources, TRACES, report):
                if _is_new(line, seals, report):
                    file.write(line.line.rstrip(b"\r\n") + b"\n")
                    report.finished += 1
        with atomic_file(out / ERRORS) as file:
            for line in _lines(sources, ERRORS, report):
                if line.trace_id not in seals:
                    file.write(line.line.rstrip(b"\r\n") + b"\n")
                    report.broken += 1
        earlier = [item for record in found for item in record.earlier]
        created = min(record.created for record in found)
        # run.json last: without it the folder is no run folder, and a reader meets the whole or nothing
        write_record(out / RUN_FILE, RunRecord(created=created, fingerprint=found[0].fingerprint, earlier=earlier))
    except BaseException:
        if not (out / RUN_FILE).exists():
            for name in (TRACES, ERRORS):
                (out / name).unlink(missing_ok=True)
        raise
    return report


def remove(path: Path) -> list[str]:
    """Delete a run folder that no process is writing to.

    Returns:
        names of files that are not ours; they stay, and so does the folder.

    Raises:
        BedsideError: no run folder, in use, or not to be deleted.
    """
    read_record(path)
    try:
        with held(path):
            # run.json first: a folder half deleted is no run folder any more
            for name in OURS[:-1]:
                (path / name).unlink(missing_ok=True)
            shutil.rmtree(path / JOURNAL, ignore_errors=True)
        (path / LOCK_FILE).unlink(missing_ok=True)
        left = sorted(entry.name for entry in path.iterdir())
        if not left:
            path.rmdir()
    except OSError as error:
        raise BedsideError(f"cannot be deleted ({error.strerror})", str(path)) from None
    return left


def _lines(sources: Sequence[Path], name: str, report: MergeReport) -> Iterator[TraceRecord]:
    for path in sources:
        for record in records(path / name):
            if record.torn:
                report.torn.append(record.where)
            else:
                yield record


def _is_new(record: TraceRecord, seals: dict[str, str], report: MergeReport) -> bool:
    found = SEAL.search(record.line)
    seal = found["hex"].decode() if found else ""
    if record.trace_id not in seals:
        seals[record.trace_id] = seal
        return True
    (report.same if seal and seals[record.trace_id] == seal else report.differing).append(record.where)
    return False
