"""Run folders in the index: reading what is new, making it again from scratch, and asking what is there."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, Executable, delete, func, insert, select, update

from ontology.documents import content_hash
from ontology.errors import BedsideError
from simulator.index.database import READ, open_engine
from simulator.index.encounters import CHUNK, Progress, index_file, seal_at
from simulator.index.models import EncounterRow, Run, ScoreValue
from simulator.store import ERRORS, SCORECARDS, read_record
from simulator.traces_io import RUN_FILE, TRACES


@dataclass(frozen=True)
class ScoreRow:
    """One score as plain values; the index knows nothing of how it was made."""

    trace_sha256: str
    name: str
    number: float | None
    label: str | None
    null_reason: str | None
    layer: str
    params_hash: str
    kb_version: str
    scorer_version: str


ScoreReader = Callable[[Path], Iterable[ScoreRow]]
"""Reads a file of scorecards; handed in, since scores are made above this layer."""


@dataclass(frozen=True)
class Refreshed:
    """What bringing a run up to date did."""

    run_id: int
    new: int
    """encounters indexed now, broken ones too"""
    rebuilt: bool
    """whether rows were thrown away because the files are not those that were read"""


@dataclass(frozen=True)
class RunLine:
    """A run in a list."""

    run_id: int
    path: str
    created_at: str
    fingerprint_sha256: str
    finished: int
    broken: int
    examiners: int
    cases: int


class RunIndex:
    """The index of run folders; safe with several processes and threads.

    Args:
        place: a SQLite file or a database URL.
        scores: reads the scorecards of a run folder; without it they are left out.

    Raises:
        BedsideError: the database cannot be used.
    """

    def __init__(self, place: str, scores: ScoreReader | None = None) -> None:
        self.engine: Engine = open_engine(place)
        self._scores = scores

    def close(self) -> None:
        """Let the database go."""
        self.engine.dispose()

    def refresh(self, folder: Path, anew: bool = False) -> Refreshed:
        """Read what a run folder holds beyond what is indexed; nothing is read if its files are as they were.

        Args:
            folder: a run folder, also one under way.
            anew: forget what is indexed of it and read everything.

        Raises:
            BedsideError: no run folder, or a trace with a broken seal (then the index stays as it was).
        """
        path = folder.resolve()
        record = read_record(path)
        stats = {name: _stat(path / name) for name in (TRACES, ERRORS, SCORECARDS)}
        values = {"created_at": record.created, "fingerprint": record.fingerprint, "fingerprint_sha256": content_hash(record.fingerprint)}
        if not anew:
            with self.engine.connect().execution_options(**READ) as connection:
                known = connection.execute(select(Run.id, Run.stamp, Run.fingerprint_sha256).where(Run.path == str(path))).first()
                if known is not None and known.fingerprint_sha256 == values["fingerprint_sha256"] and _unchanged(known.stamp, stats):
                    return Refreshed(known.id, 0, rebuilt=False)
        with self.engine.begin() as connection:
            run = self._locked_run(connection, str(path), values)
            return self._read_new(connection, path, run, stats, anew)

    def reindex(self, folders: Sequence[Path]) -> tuple[list[Refreshed], list[str]]:
        """Make the rows of these run folders again, and drop those of folders that are gone.

        Returns:
            what was read, folder by folder, and the paths dropped.
        """
        gone = [line.path for line in self.runs() if not (Path(line.path) / RUN_FILE).exists()]
        for path in gone:
            self.forget(Path(path))
        return [self.refresh(folder, anew=True) for folder in folders], gone

    def forget(self, folder: Path) -> bool:
        """Drop a run's rows; annotations and votes on its traces stay. Returns whether there were any."""
        with self.engine.begin() as connection:
            return connection.execute(delete(Run).where(Run.path == str(folder.resolve()))).rowcount > 0

    def runs(self) -> list[RunLine]:
        """All runs, the oldest first."""
        counts = (
            select(
                EncounterRow.run_id,
                func.count().filter(EncounterRow.finished).label("finished"),
                func.count().filter(~EncounterRow.finished).label("broken"),
                func.count(EncounterRow.examiner_id.distinct()).label("examiners"),
                func.count(EncounterRow.case_id.distinct()).label("cases"),
            )
            .group_by(EncounterRow.run_id)
            .subquery()
        )
        query = (
            select(Run.id, Run.path, Run.created_at, Run.fingerprint_sha256, *[func.coalesce(counts.c[name], 0) for name in COUNTS])
            .join(counts, counts.c.run_id == Run.id, isouter=True)
            .order_by(Run.created_at, Run.path)
        )
        return [RunLine(*row) for row in self._rows(query)]

    def run(self, run_id: int) -> dict[str, Any]:
        """The row of a run as a dictionary."""
        query = select(Run.path, Run.created_at, Run.fingerprint, Run.fingerprint_sha256, Run.indexed_at, Run.duplicates)
        return dict(self._rows(query.where(Run.id == run_id))[0]._mapping)

    def endings(self, run_id: int) -> list[dict[str, Any]]:
        """Encounters by examiner and ending, with mean examiner turns and the sums of leaks, tokens and requests."""
        row = EncounterRow
        sums = [func.sum(column).label(column.key) for column in (row.leaks, row.prompt_tokens, row.completion_tokens, row.requests)]
        query = select(
            row.examiner_id, row.termination, func.count().label("encounters"), func.avg(row.examiner_turns).label("turns"), *sums
        )
        query = query.where(row.run_id == run_id).group_by(row.examiner_id, row.termination).order_by(row.examiner_id, row.termination)
        return [
            {
                key: float(value) if key == "turns" else int(value) if key in WHOLE and value is not None else value
                for key, value in found.items()
            }
            for found in (dict(each._mapping) for each in self._rows(query))
        ]

    def still_due(self, run_id: int) -> int:
        """Encounters that broke and were not finished since."""
        done = select(EncounterRow.trace_id).where(EncounterRow.run_id == run_id, EncounterRow.finished)
        query = select(func.count(EncounterRow.trace_id.distinct())).where(
            EncounterRow.run_id == run_id, ~EncounterRow.finished, EncounterRow.trace_id.not_in(done)
        )
        return int(self._rows(query)[0][0])

    def score_means(self, run_id: int) -> list[dict[str, Any]]:
        """Mean of each numeric score by examiner, with the counts of values and nulls; other knowledge or parameters, another row."""
        trace = (
            select(EncounterRow.trace_sha256, EncounterRow.examiner_id)
            .where(EncounterRow.run_id == run_id, EncounterRow.finished)
            .subquery()
        )
        stamp = (ScoreValue.name, ScoreValue.layer, ScoreValue.kb_version, ScoreValue.params_hash, ScoreValue.scorer_version)
        numbers = func.count(ScoreValue.number)
        query = (
            select(trace.c.examiner_id, *stamp, func.avg(ScoreValue.number).label("mean"), numbers.label("n"))
            .add_columns(func.count(ScoreValue.null_reason).label("nulls"))
            .join(trace, trace.c.trace_sha256 == ScoreValue.trace_sha256)
            .where(ScoreValue.run_id == run_id)
            .group_by(trace.c.examiner_id, *stamp)
            .having(numbers > 0)
            .order_by(trace.c.examiner_id, *stamp)
        )
        return [dict(row._mapping) for row in self._rows(query)]

    def contents(self) -> dict[str, list[dict[str, Any]]]:
        """All derived rows without their keys and times of indexing, in a fixed order: equal for equal run folders."""
        run = {row.id: row.path for row in self._rows(select(Run.id, Run.path))}
        out: dict[str, list[dict[str, Any]]] = {}
        for model, left_out in ((Run, {"id", "indexed_at"}), (EncounterRow, {"id", "run_id"}), (ScoreValue, {"id", "run_id"})):
            table = model.__table__
            rows = [dict(row._mapping) for row in self._rows(select(table))]
            named = [{k: v for k, v in row.items() if k not in left_out} | {"run": run[row.get("run_id", row["id"])]} for row in rows]
            out[model.__tablename__] = sorted(named, key=content_hash)
        return out

    def _rows(self, query: Executable) -> Sequence[Any]:
        with self.engine.connect().execution_options(**READ) as connection:
            return connection.execute(query).all()

    def _locked_run(self, connection: Connection, path: str, values: dict[str, Any]) -> Any:
        """The run's row, made if need be, held against other processes until the transaction ends."""
        if connection.dialect.name == "postgresql":
            from sqlalchemy.dialects.postgresql import insert as upsert  # loads the dialects of three drivers, so only if need be
        else:
            from sqlalchemy.dialects.sqlite import insert as upsert  # type: ignore[assignment]
        fresh = {"path": path, "indexed_at": "", "stamp": {}, "duplicates": 0, **values}
        connection.execute(upsert(Run).values(**fresh).on_conflict_do_nothing(index_elements=["path"]))
        run = connection.execute(select(Run.id, Run.stamp, Run.created_at, Run.duplicates).where(Run.path == path).with_for_update()).one()
        connection.execute(update(Run).where(Run.id == run.id).values(**values))
        return run._replace(stamp={}) if run.created_at != values["created_at"] else run

    def _read_new(self, connection: Connection, path: Path, run: Any, stats: dict[str, list[int]], anew: bool) -> Refreshed:
        stamp: dict[str, Any] = {} if anew else dict(run.stamp)
        seals = select(EncounterRow.file, EncounterRow.start, EncounterRow.trace_sha256).where(EncounterRow.run_id == run.id)
        rebuilt = anew
        for name in (TRACES, ERRORS):
            last = connection.execute(seals.where(EncounterRow.file == name).order_by(EncounterRow.start.desc()).limit(1)).first()
            if last is not None and not (_goes_on(stamp.get(name), stats[name]) and seal_at(path / name, last.start) == last.trace_sha256):
                rebuilt = True
        if rebuilt:
            connection.execute(delete(EncounterRow).where(EncounterRow.run_id == run.id))
            stamp = {}
        new, duplicates = 0, 0 if rebuilt else run.duplicates
        for name in (TRACES, ERRORS):
            progress = index_file(connection, run.id, path / name, Progress(**stamp[name]["read"]) if name in stamp else Progress())
            new += progress.added
            duplicates += progress.repeated
            stamp[name] = {"read": {"byte": progress.byte, "lines": progress.lines}, "stat": stats[name]}
        if rebuilt or stamp.get(SCORECARDS) != {"stat": stats[SCORECARDS]}:
            self._index_scores(connection, run.id, path / SCORECARDS)
            stamp[SCORECARDS] = {"stat": stats[SCORECARDS]}
        now = datetime.now(UTC).isoformat(timespec="seconds")
        connection.execute(update(Run).where(Run.id == run.id).values(stamp=stamp, indexed_at=now, duplicates=duplicates))
        return Refreshed(run.id, new, rebuilt)

    def _index_scores(self, connection: Connection, run_id: int, file: Path) -> None:
        connection.execute(delete(ScoreValue).where(ScoreValue.run_id == run_id))
        if self._scores is None or not file.exists():
            return
        rows: list[dict[str, Any]] = []
        for score in self._scores(file):
            rows.append({"run_id": run_id, **vars(score)})
            if len(rows) == CHUNK:
                connection.execute(insert(ScoreValue), rows)
                rows = []
        if rows:
            connection.execute(insert(ScoreValue), rows)


COUNTS = ("finished", "broken", "examiners", "cases")
WHOLE = ("leaks", "prompt_tokens", "completion_tokens", "requests")


def _stat(file: Path) -> list[int]:
    """Size in bytes and time of the last change in nanoseconds; [] without the file."""
    try:
        found = file.stat()
    except FileNotFoundError:
        return []
    except OSError as error:
        raise BedsideError(f"cannot be read ({error.strerror})", str(file)) from None
    return [found.st_size, found.st_mtime_ns]


def _unchanged(stamp: dict[str, Any], stats: dict[str, list[int]]) -> bool:
    return all(stamp.get(name, {}).get("stat", []) == stat for name, stat in stats.items())


def _goes_on(stamp: dict[str, Any] | None, stat: list[int]) -> bool:
    """Whether a file can be what was read and more: unchanged, or grown since. Another time with the same size means other contents."""
    if stamp is None or not stat:
        return False
    return bool(stamp["stat"] == stat or (stat[0] >= stamp["read"]["byte"] and stat[0] != stamp["stat"][0]))
