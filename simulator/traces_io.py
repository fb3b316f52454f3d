"""Files of sealed traces, one a line: verified reading, durable appending, and setting aside what a crash cut short."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TypeVar, cast, get_args

from ontology.errors import BedsideError
from simulator.cases_io import parse_json
from simulator.trace import DialogueTrace, TerminationReason

T = TypeVar("T")

UNFINISHED_REASONS: frozenset[str] = frozenset({"infrastructure_error", "patient_error"})
"""Endings that are nobody's play (metrics.md 0b D4): kept apart in errors.jsonl, and the encounter is due again."""

TORN_STARTS = (b"{", b"\0")
"""How a record that a crash cut short begins: like a record, or, after a power cut on some file systems, with zeros."""

RUN_FILE, TRACES = "run.json", "traces.jsonl"

# Quotes inside a JSON string are escaped, so no text of a dialogue can match these. A free-form object (sampling) before the seal could,
# but then the hash does not fit and the models decide; between the seal and the turns there are none.
SEAL = re.compile(rb'"schema_version":"(?P<version>[^"\\]*)",(?P<seal>"sealed_sha256":"(?P<hex>[0-9a-f]{64})",)')
NAMES = re.compile(
    rb'"termination":"(?P<ending>' + "|".join(get_args(TerminationReason)).encode() + rb')",'
    rb'"termination_detail":(?:null|"(?:[^"\\]|\\.)*"),"trace_id":"(?P<id>[^"\\]+)","turns":\['
)


class TraceReader:
    """Sealed traces of a file, streamed; can be iterated again. See `read_traces`."""

    def __init__(self, path: Path, tolerant: bool = False) -> None:
        self.path = path
        self.tolerant = tolerant
        self.warnings: list[str] = []
        """what the last iteration met: a torn last line, a second trace with an id already seen"""
        self.faults: list[BedsideError] = []
        """lines that are no trace or whose seal is broken, of the last iteration, if tolerant: left out, never silently"""
        self.where = str(path)
        """file and line of the trace that was yielded last"""

    def __iter__(self) -> Iterator[DialogueTrace]:
        return self.through(lambda found: ((record, partial(parsed, record)) for record in found))

    def through(self, made: Callable[[Iterator[TraceRecord]], Iterable[tuple[TraceRecord, Callable[[], T]]]]) -> Iterator[T]:
        """What is made of each trace, in order; what is no trace, or one already seen, is left out as in iterating.

        Args:
            made: takes the records of the file and gives them back in order, each with what makes something of it, or raises BedsideError
                where it is no trace. That is not called for a record that is left out, and records may be read ahead.
        """
        self.warnings, self.faults = [], []
        seen: set[str] = set()
        for record, make in made(records(self.path, self.faults if self.tolerant else None)):
            if record.torn:
                self.warnings.append(f"{record.where}: the last record is cut short and was left out ({len(record.line)} bytes)")
            elif record.finished and record.trace_id in seen:
                self.warnings.append(f"{record.where}: a second trace {record.trace_id} was left out")
            else:
                self.where = record.where
                try:
                    value = make()
                except BedsideError as error:
                    if not self.tolerant:
                        raise
                    self.faults.append(error)
                    continue
                seen.add(record.trace_id)
                yield value


def parsed(record: TraceRecord) -> DialogueTrace:
    """The trace of a record.

    Raises:
        BedsideError: it is none, with `file:line`.
    """
    return DialogueTrace.from_raw(parse_json(record.line, record.where), record.where)


def read_traces(path: str | Path, tolerant: bool = False) -> TraceReader:
    """Read sealed traces without the lock, also while a run is under way.

    Args:
        path: a run folder, or a file such as its traces.jsonl.
        tolerant: whether a broken seal or a line that is no trace is kept in `faults` and left out instead of ending the reading.

    Returns:
        an iterable of traces, each verified against its seal when its turn comes, with `warnings` for what was left out.
        Iterating raises BedsideError, with `file:line`, at a broken seal or a line that is no trace, unless `tolerant`.

    Raises:
        BedsideError: there is no such file, or the folder is no run folder.
    """
    source = Path(path)
    if source.is_dir():
        if not (source / TRACES).exists() and not (source / RUN_FILE).exists():
            raise BedsideError(f"not a run folder: no {TRACES}", str(source), f"give a run folder or a {TRACES} file")
        return TraceReader(source / TRACES, tolerant)
    if not source.exists():
        raise BedsideError("no such file or folder", str(source), f"give a run folder or a {TRACES} file")
    return TraceReader(source, tolerant)


def sealed_line(trace: DialogueTrace) -> bytes:
    """The line of a trace: the very text its seal is the hash of, with the seal put in, so that a reader can check it on the bytes.

    Raises:
        ValueError: not sealed, changed since, or JSON cannot carry a value (NaN).
    """
    if not trace.seal_is_intact():
        raise ValueError(f"trace {trace.trace_id} is not sealed, or was changed since")
    raw = trace.model_dump(mode="json")
    return json.dumps(raw, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False).encode() + b"\n"


@dataclass(frozen=True)
class TraceRecord:
    """A line at byte `start`: a verified trace, or, if `torn`, a piece of one at the end of the file."""

    where: str
    start: int
    line: bytes
    trace_id: str = ""
    termination: TerminationReason | None = None

    @property
    def torn(self) -> bool:
        """Whether a crash cut it short."""
        return self.termination is None

    @property
    def finished(self) -> bool:
        """Whether its encounter need not be played again."""
        return self.termination is not None and self.termination not in UNFINISHED_REASONS


def records(path: Path, faults: list[BedsideError] | None = None, start: int = 0, lines_before: int = 0) -> Iterator[TraceRecord]:
    """The lines of a file of traces, each verified when its turn comes; none if there is no such file.

    Args:
        path: the file.
        faults: takes the lines that are no trace or whose seal is broken; None: the first of them is raised.
        start: byte to begin at, the start of a line.
        lines_before: lines that end before it.

    Raises:
        BedsideError: with `file:line`, a line that is no trace or whose seal is broken.
    """
    if not path.exists():
        return
    try:
        with path.open("rb") as file:
            file.seek(start)
            for number, line in enumerate(file, lines_before + 1):
                where = f"{path}:{number}"
                if line.strip():
                    torn = not line.endswith(b"\n") and line.startswith(TORN_STARTS) and not _is_json(line, where)
                    try:
                        record = TraceRecord(where, start, line) if torn else _verified(line, str(path), number, start)
                    except BedsideError as error:
                        if faults is None:
                            raise
                        faults.append(error)
                    else:
                        yield record
                start += len(line)
    except OSError as error:
        raise BedsideError(f"cannot be read ({error.strerror})", str(path)) from None


def _is_json(line: bytes, where: str) -> bool:
    """Whether an unended last line is whole: no proper beginning of a JSON object is itself JSON."""
    try:
        parse_json(line, where)
    except BedsideError:
        return False
    return True


def _verified(line: bytes, file: str, number: int, start: int) -> TraceRecord:
    where = f"{file}:{number}"
    found = SEAL.search(line)
    if found is not None and found["version"].decode() in DialogueTrace.versions and _seal_holds(line, found):
        names = NAMES.search(line, found.end())
        if names is not None:
            return TraceRecord(where, start, line, names["id"].decode(), cast(TerminationReason, names["ending"].decode()))
    # written by another hand (another order of keys) or by a release that knew fewer fields: the models decide
    trace = DialogueTrace.from_raw(parse_json(line, file, number), where)
    if trace.sealed_sha256 is None:
        raise BedsideError(f"trace {trace.trace_id} was never sealed", where, "score sealed traces only")
    if not trace.seal_is_intact():
        mend = "restore the line from a copy, or take it out of the file to have its encounter played again"
        raise BedsideError(f"the seal of trace {trace.trace_id} is broken: it was changed after its encounter ended", where, mend)
    return TraceRecord(where, start, line, trace.trace_id, trace.termination)


def _seal_holds(line: bytes, found: re.Match[bytes]) -> bool:
    digest = hashlib.sha256(line[: found.start("seal")])
    digest.update(line[found.end("seal") :].rstrip(b"\r\n"))
    return digest.hexdigest().encode() == found["hex"]


class Appender:
    """Appends whole lines durably, one system call each."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o666)
        size = os.fstat(self._handle).st_size
        if size and os.pread(self._handle, 1, size - 1) != b"\n":
            os.write(self._handle, b"\n")  # the last record is whole but for its end of line

    def append(self, line: bytes) -> None:
        """Write one line, with its end; on return it has survived a power cut.

        Raises:
            BedsideError: it could not be written; the file is as it was before.
        """
        before = os.fstat(self._handle).st_size
        try:
            written = os.write(self._handle, line)
            reason = "only a part fitted"
            if written == len(line):
                os.fsync(self._handle)
                return
        except OSError as error:
            reason = error.strerror or str(error)
        os.ftruncate(self._handle, before)  # never leave half a line for the next one to be glued to
        raise BedsideError(f"a trace could not be written ({reason})", str(self._path), "make room on the disk and start again")

    def close(self) -> None:
        """Let the file go."""
        os.close(self._handle)


def move_aside(path: Path, record: TraceRecord) -> int:
    """Move a piece at the end of the file to `*.torn`; returns its length in bytes."""
    with path.with_suffix(".torn").open("ab") as aside:
        aside.write(record.line + b"\n")
        aside.flush()
        os.fsync(aside.fileno())
    with path.open("r+b") as file:
        file.truncate(record.start)
        os.fsync(file.fileno())
    return len(record.line)


def unended_tail(path: Path) -> TraceRecord | None:
    """The piece that a crash left at the end of the file, without verifying the lines before it."""
    if not path.exists():
        return None
    end, line = 0, b"\n"
    with path.open("rb") as file:
        for line in file:
            end += len(line)
    whole = line.endswith(b"\n") or _is_json(line, str(path))
    return None if whole else TraceRecord(str(path), end - len(line), line)
