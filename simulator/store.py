"""Run folders: the canonical record of encounters, one sealed trace a line, safe against being killed at any moment.

- run.json: what determines the run (the fingerprint) and when it began
- lock: held by the one process that writes here
- journal/<trace id>.jsonl: encounters under way, one turn a line
- traces.jsonl: sealed traces of finished encounters, the canonical record
- errors.jsonl: sealed traces of encounters that an endpoint or the patient's side broke; they are played again
- scorecards.jsonl: scores of the traces, if they were written here (`bedside score --out`); can be made again
- traces.torn, errors.torn: pieces of lines that a crash cut short
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from types import MappingProxyType, TracebackType
from typing import Literal, Self

from pydantic import Field, JsonValue

from ontology.documents import Document, Strict
from ontology.errors import BedsideError
from simulator.cases_io import atomic_file, parse_json, sync_folder
from simulator.trace import DialogueTrace, TerminationReason, Turn
from simulator.traces_io import (
    RUN_FILE,
    TRACES,
    UNFINISHED_REASONS,
    Appender,
    move_aside,
    read_traces,
    records,
    sealed_line,
    unended_tail,
)

__all__ = ["JournalObserver", "OpenReport", "RunFolder", "RunRecord", "read_traces"]

LOCK_FILE, JOURNAL, ERRORS = "lock", "journal", "errors.jsonl"
SCORECARDS = "scorecards.jsonl"
TRACE_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
MAX_DIFFERENCES_SHOWN = 8
MAX_VALUE_SHOWN = 24


class EarlierFingerprint(Strict):
    """A fingerprint that was replaced by force: traces made under it may be in the folder."""

    until: str
    fingerprint: dict[str, JsonValue]


class RunRecord(Document):
    """run.json."""

    schema_version: Literal["1.0"] = "1.0"
    created: str
    fingerprint: dict[str, JsonValue]
    earlier: list[EarlierFingerprint] = Field(default_factory=list)


@dataclass
class OpenReport:
    """What opening a run folder found and mended."""

    created: bool
    finished: int = 0
    torn_bytes: int = 0
    """bytes of a record cut short, moved to `traces.torn` or `errors.torn`"""
    journals_removed: int = 0
    """encounters that were under way when the last process died"""
    duplicates: list[str] = field(default_factory=list)
    """places (`file:line`) of further traces with an id already seen"""
    replaced: list[str] = field(default_factory=list)
    """settings that differ from the folder's and were taken over by force"""

    def notes(self) -> list[str]:
        """What a person should be told, a sentence each; empty when there was nothing to mend."""
        out = []
        if self.torn_bytes:
            out.append(f"a record cut short by a crash ({self.torn_bytes} bytes) was moved aside; its encounter is due again")
        if self.journals_removed:
            out.append(f"{self.journals_removed} encounters were under way when the last process ended; they start again")
        out += [f"{place}: a second trace with an id already seen; only the first counts" for place in self.duplicates]
        if self.replaced:
            out.append("other settings than this folder's were forced: " + ", ".join(self.replaced))
        return out


class JournalObserver:
    """Writes every turn of an encounter under way to its journal; a `simulator.protocols.TurnObserver`.

    As a context manager it removes the journal at the end: by then the encounter is in the record, or is to be played again.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            self._file = path.open("wb", buffering=0)  # unbuffered: every turn is with the system at once
        except OSError as error:
            raise BedsideError(f"cannot be written ({error.strerror})", str(path)) from None

    def on_turn(self, turn: Turn) -> None:
        """Append one turn as a line of JSON."""
        try:
            self._file.write(turn.model_dump_json().encode() + b"\n")
        except OSError as error:
            raise BedsideError(f"cannot be written ({error.strerror})", str(self.path), "make room on the disk and start again") from None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._file.close()
        self.path.unlink(missing_ok=True)


class RunFolder:
    """A folder of encounters with one writing process; every method is for one thread.

    Args:
        path: the folder; made by `open` if need be.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self._lock: int | None = None
        self._files: dict[str, Appender] = {}
        self._finished: dict[str, TerminationReason] = {}

    def open(self, fingerprint: Mapping[str, JsonValue], force: bool = False) -> OpenReport:
        """Create or reopen the folder for writing, verify every sealed trace, and mend what a crash left.

        Args:
            fingerprint: all that determines the run (see `simulator.batch.fingerprint`).
            force: take a folder with another fingerprint over; the old one is kept in run.json.

        Returns:
            what was found and mended; print its `notes()`.

        Raises:
            BedsideError: in use by another process, made with other settings, not a run folder, or a trace with a broken seal.
        """
        if self._lock is not None:
            raise ValueError("this run folder is open already")
        try:
            self._refuse_foreign_folder(force)
            (self.path / JOURNAL).mkdir(parents=True, exist_ok=True)
            self._lock = _lock(self.path / LOCK_FILE)
            report = self._settle_fingerprint(_plain(fingerprint), force)
            self._mend(report)
            self._files = {name: Appender(self.path / name) for name in (TRACES, ERRORS)}
            sync_folder(self.path)
        except OSError as error:
            self.close()
            raise BedsideError(f"cannot be used as a run folder ({error.strerror})", str(self.path)) from None
        except BaseException:
            self.close()
            raise
        return report

    def close(self) -> None:
        """Let the folder go; nothing is lost if a process dies without this."""
        for file in self._files.values():
            file.close()
        self._files = {}
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def finished(self) -> Mapping[str, TerminationReason]:
        """Trace id → how its encounter ended, for encounters that need not be played again; a live view."""
        return MappingProxyType(self._finished)

    def journal(self, trace_id: str) -> JournalObserver:
        """The journal of an encounter that begins now; use it in a `with` block around playing and appending."""
        if not TRACE_ID.fullmatch(trace_id):
            raise ValueError(f"trace id {trace_id!r} cannot name a file")
        return JournalObserver(self.path / JOURNAL / f"{trace_id}.jsonl")

    def append(self, trace: DialogueTrace) -> bool:
        """Make a sealed trace durable: on return it has survived a power cut.

        It does not await, so that an encounter that is cancelled is either in the record or not.

        Returns:
            whether its encounter is finished; if not (`UNFINISHED_REASONS`) the trace went to errors.jsonl.

        Raises:
            BedsideError: it could not be written; the file is as it was before.
            ValueError: not sealed, or its encounter is finished already.
        """
        if not self._files:
            raise ValueError("the run folder is not open")
        line = sealed_line(trace)
        if trace.trace_id in self._finished:
            raise ValueError(f"trace {trace.trace_id} is in the run folder already")
        done = trace.termination not in UNFINISHED_REASONS
        self._files[TRACES if done else ERRORS].append(line)
        if done:
            self._finished[trace.trace_id] = trace.termination
        return done

    def traces(self) -> Iterator[DialogueTrace]:
        """The sealed traces, in the order they were finished, one at a time."""
        return iter(read_traces(self.path))

    def _refuse_foreign_folder(self, force: bool) -> None:
        if force or not self.path.exists() or (self.path / RUN_FILE).exists():
            return
        ours = {LOCK_FILE, JOURNAL}  # all there is if the process that made the folder died at once
        strangers = sorted(e.name for e in self.path.iterdir() if e.name not in ours and not e.name.startswith(f".{RUN_FILE}."))
        if strangers:
            what = f"not a run folder: it holds {strangers[0]!r} but no {RUN_FILE}"
            raise BedsideError(what, str(self.path), "name a new or empty folder")

    def _settle_fingerprint(self, fingerprint: dict[str, JsonValue], force: bool) -> OpenReport:
        file = self.path / RUN_FILE
        now = datetime.now(UTC).isoformat(timespec="seconds")
        if not file.exists():
            write_record(file, RunRecord(created=now, fingerprint=fingerprint))
            return OpenReport(created=True)
        record = read_record(self.path)
        found = list(_differences(record.fingerprint, fingerprint))
        if not found:
            return OpenReport(created=False)
        if not force:
            what = f"this run folder was made with other settings: {_first_of(found)}"
            raise BedsideError(what, str(self.path), "use another folder, or --force")
        record.earlier.append(EarlierFingerprint(until=now, fingerprint=record.fingerprint))
        record.fingerprint = fingerprint
        write_record(file, record)
        return OpenReport(created=False, replaced=found)

    def _mend(self, report: OpenReport) -> None:
        for journal in (self.path / JOURNAL).glob("*.jsonl"):
            journal.unlink()
            report.journals_removed += 1
        self._finished = {}
        for record in records(self.path / TRACES):
            if record.termination is None:
                report.torn_bytes += move_aside(self.path / TRACES, record)
            elif record.finished and record.trace_id in self._finished:
                report.duplicates.append(record.where)
            elif record.finished:
                self._finished[record.trace_id] = record.termination
        report.finished = len(self._finished)
        errors = self.path / ERRORS
        tail = unended_tail(errors)
        if tail is not None:
            report.torn_bytes += move_aside(errors, tail)


def read_record(path: Path) -> RunRecord:
    """The run.json of a run folder, read without the lock.

    Raises:
        BedsideError: no run folder, or a broken run.json.
    """
    file = path / RUN_FILE
    try:
        raw = file.read_bytes()
    except FileNotFoundError:
        raise BedsideError(f"not a run folder: no {RUN_FILE}", str(path), "give a folder that `bedside run --out` made") from None
    except OSError as error:
        raise BedsideError(f"cannot be read ({error.strerror})", str(file)) from None
    return RunRecord.from_raw(parse_json(raw, str(file)), str(file))


def _lock(path: Path) -> int:
    try:
        import fcntl  # not on Windows, where traces can still be read
    except ImportError:
        raise BedsideError("run folders can be written on Linux and macOS only", str(path.parent)) from None
    handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        holder = os.pread(handle, 32, 0).decode("ascii", "replace").strip()
        os.close(handle)
        who = f"process {holder}" if holder else "another process"
        raise BedsideError(f"run folder is in use by {who}", str(path.parent), "wait for it, or use another folder") from None
    except OSError:
        os.close(handle)
        raise
    os.ftruncate(handle, 0)
    os.pwrite(handle, f"{os.getpid()}\n".encode(), 0)
    return handle


@contextmanager
def held(path: Path) -> Iterator[None]:
    """Hold a run folder against other processes.

    Raises:
        BedsideError: another one has it.
    """
    handle = _lock(path / LOCK_FILE)
    try:
        yield
    finally:
        os.close(handle)


def write_record(file: Path, record: RunRecord) -> None:
    """Write a run.json; a reader sees the old one or the whole new one."""
    with atomic_file(file) as out:
        out.write(record.model_dump_json(indent=2).encode() + b"\n")


def _plain(fingerprint: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    """The fingerprint as it will be read back (a float that JSON writes as it is, no tuples)."""
    return RunRecord.from_json(RunRecord(created="", fingerprint=dict(fingerprint)).to_json()).fingerprint


def differences(old: Mapping[str, JsonValue], new: Mapping[str, JsonValue]) -> str:
    """How two fingerprints differ, in words; empty if they do not."""
    return _first_of(list(_differences(dict(old), dict(new))))


def each_difference(old: Mapping[str, JsonValue], new: Mapping[str, JsonValue]) -> list[str]:
    """How two fingerprints differ, field by field."""
    return list(_differences(dict(old), _plain(new)))


def _first_of(found: list[str]) -> str:
    more = len(found) - MAX_DIFFERENCES_SHOWN
    return ", ".join(found[:MAX_DIFFERENCES_SHOWN]) + (f", and {more} more" if more > 0 else "")


def _differences(old: JsonValue, new: JsonValue, path: str = "") -> Iterator[str]:
    if isinstance(old, dict) and isinstance(new, dict):
        for key in sorted(old.keys() | new.keys()):
            yield from _differences(old.get(key), new.get(key), f"{path}.{key}" if path else key)
    elif isinstance(old, list) and isinstance(new, list) and _named(old) and _named(new):
        before, now = _by_id(old), _by_id(new)
        for name in sorted(before.keys() | now.keys()):
            if name in before and name in now:
                yield from _differences(before[name], now[name], f"{path}[{name}]")
            else:
                yield f"{path}[{name}] ({'is gone' if name in before else 'is new'})"
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for position, (one, other) in enumerate(zip(old, new, strict=True)):
            yield from _differences(one, other, f"{path}[{position}]")
    elif old != new:
        yield f"{path} (was {_short(old)}, now {_short(new)})"


def _named(items: list[JsonValue]) -> bool:
    """Whether these are players, each with an id."""
    return bool(items) and all(isinstance(item, dict) and "id" in item for item in items)


def _by_id(items: list[JsonValue]) -> dict[str, JsonValue]:
    """Players by id; a second one of an id (a policy with other knowledge) gets a number."""
    found: dict[str, JsonValue] = {}
    for item in items:
        name = str(item["id"]) if isinstance(item, dict) else ""
        number = 1 + sum(key.split("#")[0] == name for key in found)
        found[name if number == 1 else f"{name}#{number}"] = item
    return found


def _short(value: JsonValue) -> str:
    text = repr(value)
    return text if len(text) <= MAX_VALUE_SHOWN else text[: MAX_VALUE_SHOWN - 1] + "…"
