"""The batch engine: many encounters at once into one run folder, resumed by being started again."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field
from typing import Literal

from pydantic import JsonValue

from ontology.documents import content_hash
from simulator.protocols import TurnObserver
from simulator.store import RunFolder
from simulator.trace import Budget, DialogueTrace, Player, TerminationReason

DEFAULT_BREAKER = 5
"""Consecutive infrastructure errors of one examiner after which its endpoint counts as down."""

ProgressEvent = Literal["started", "finished", "failed", "done_before", "repeated", "endpoint_down", "skipped"]
"""`failed` will be played again at the next start; `endpoint_down` comes once for a label, `skipped` for each job left out after it."""


@dataclass(frozen=True)
class Job:
    """One encounter to be played.

    Args:
        trace_id: the id its trace will have (`simulator.encounter.trace_id_of`).
        label: the examiner's name: in progress messages, and for telling whose endpoint is down.
        play: plays it and returns the sealed trace; told whom to tell of every turn.
    """

    trace_id: str
    label: str
    play: Callable[[TurnObserver], Awaitable[DialogueTrace]]


@dataclass(frozen=True)
class Failure:
    """An encounter that an endpoint or the patient's side broke; its trace is in errors.jsonl."""

    trace_id: str
    label: str
    termination: TerminationReason
    detail: str | None


@dataclass
class BatchResult:
    """What became of the jobs: planned = done_before + done_now + failures + skipped + cut_short."""

    planned: int = 0
    """different jobs taken from the iterator; all there are, unless interrupted"""
    done_before: int = 0
    done_now: int = 0
    cut_short: int = 0
    """under way when the batch was interrupted; they start again"""
    repeated: int = 0
    """jobs with the id of an earlier job (the same case twice), left out and not in `planned`"""
    by_termination: Counter[TerminationReason] = field(default_factory=Counter)
    """of the encounters played now, failures too"""
    failures: list[Failure] = field(default_factory=list)
    skipped: Counter[str] = field(default_factory=Counter)
    """label → jobs left out because its endpoint is down"""
    interrupted: bool = False

    @property
    def complete(self) -> bool:
        """Whether every encounter is in the record, so that starting again would do nothing."""
        return not self.interrupted and self.planned == self.done_before + self.done_now


Progress = Callable[[ProgressEvent, str, BatchResult], None]
"""Called with the event, the label of the job and the counts so far (live: read, do not keep)."""


async def run_batch(
    jobs: Iterable[Job],
    folder: RunFolder,
    concurrency: int,
    progress: Progress | None = None,
    stop: asyncio.Event | None = None,
    breaker: int = DEFAULT_BREAKER,
) -> BatchResult:
    """Play all jobs that are not in the folder yet.

    Args:
        jobs: taken one at a time as places become free; memory does not grow with their number but for the ids.
        folder: open for writing.
        concurrency: encounters under way at most, at least 1.
        progress: told of every event.
        stop: once set, no job is begun and those under way are cancelled; they start again next time.
        breaker: consecutive infrastructure errors of one label after which its remaining jobs are skipped.

    Returns:
        the counts; see `BatchResult.complete`.

    Raises:
        ValueError: a job returned another encounter's trace, or an option below 1.
        BaseException: the first error that a job, the iterator or the folder raised, after the encounters under way have ended (nothing
            of them is lost); later ones are added to it as notes.
    """
    if concurrency < 1 or breaker < 1:
        raise ValueError("concurrency and breaker must be at least 1")
    batch = _Batch(jobs, folder, progress, stop or asyncio.Event(), breaker)
    workers = [asyncio.create_task(batch.work()) for _ in range(concurrency)]
    watcher = asyncio.create_task(batch.watch(workers))
    try:
        outcomes = await asyncio.gather(*workers, return_exceptions=True)
    finally:
        # also when this very coroutine is cancelled: gather has then cancelled the workers and waited for them
        watcher.cancel()
        await asyncio.gather(watcher, return_exceptions=True)
    _raise_first([outcome for outcome in outcomes if outcome is not None], batch.stopped())
    batch.result.interrupted = batch.left_something()
    return batch.result


def _raise_first(errors: list[BaseException], stopped: bool) -> None:
    real = [error for error in errors if not isinstance(error, asyncio.CancelledError)]
    for other in real[1:]:
        real[0].add_note(f"and in another encounter: {type(other).__name__}: {other}")
    if real:
        raise real[0]
    if errors and not stopped:
        raise RuntimeError("an encounter cancelled itself") from errors[0]


def fingerprint(
    *,
    software_version: str,
    case_hashes: Iterable[str],
    pool_sha256: str,
    kb_version: str,
    examiners: Iterable[Player],
    patients: Iterable[Player],
    budget: Budget,
    seeds: Iterable[int],
) -> dict[str, JsonValue]:
    """All that determines a run, as its run folder stores it; the order of cases, players and seeds does not matter.

    Args:
        software_version: of Bedside.
        case_hashes: `PatientVector.sha256()` of every case; consumed.
        pool_sha256: of the utterances in use.
        kb_version: of the disease profiles.
        examiners: as the traces name them.
        patients: as the traces name them.
        budget: of every encounter.
        seeds: one encounter each, for every case and examiner.
    """
    hashes = sorted(case_hashes)
    return {
        "software_version": software_version,
        "cases": {"count": len(hashes), "sha256": content_hash(hashes)},
        "pool_sha256": pool_sha256,
        "kb_version": kb_version,
        "examiners": _players(examiners),
        "patients": _players(patients),
        "budget": budget.model_dump(mode="json"),
        "seeds": [*sorted(seeds)],
    }


def _players(players: Iterable[Player]) -> list[JsonValue]:
    return [*sorted((player.model_dump(mode="json") for player in players), key=lambda raw: (raw["id"], content_hash(raw)))]


class _Batch:
    """The state that the workers of one batch share."""

    def __init__(self, jobs: Iterable[Job], folder: RunFolder, progress: Progress | None, stop: asyncio.Event, breaker: int) -> None:
        self.result = BatchResult()
        self._jobs = iter(jobs)
        self._folder = folder
        self._progress = progress
        self._stop = stop
        self._breaker = breaker
        self._closed = False
        self._exhausted = False
        self._seen: set[str] = set()
        self._errors_in_a_row: Counter[str] = Counter()
        self._down: set[str] = set()

    async def work(self) -> None:
        """Play job after job until there are no more, the batch is stopped, or an error ended another worker."""
        try:
            while not (self._closed or self._stop.is_set()):
                job = next(self._jobs, None)
                if job is None:
                    self._exhausted = True
                    return
                if self._is_due(job):
                    await self._play(job)
                else:
                    await asyncio.sleep(0)  # passing over thousands of jobs must not hold up the encounters under way
        finally:
            # whatever ended this worker ends the others after their encounter: no more jobs, a stop, or an error (raised on)
            self._closed = True

    async def watch(self, workers: list[asyncio.Task[None]]) -> None:
        """Cancel the encounters under way once the batch is told to stop."""
        await self._stop.wait()
        for worker in workers:
            worker.cancel()

    def stopped(self) -> bool:
        """Whether the batch was told to stop."""
        return self._stop.is_set()

    def left_something(self) -> bool:
        """Whether the stop came before the end: it may also come when the last encounter is done."""
        return self.stopped() and (not self._exhausted or self.result.cut_short > 0)

    def _is_due(self, job: Job) -> bool:
        if job.trace_id in self._seen:
            self.result.repeated += 1
            self._tell("repeated", job)
            return False
        self._seen.add(job.trace_id)
        self.result.planned += 1
        if job.trace_id in self._folder.finished():
            self.result.done_before += 1
            self._tell("done_before", job)
            return False
        if job.label in self._down:
            self.result.skipped[job.label] += 1
            self._tell("skipped", job)
            return False
        return True

    async def _play(self, job: Job) -> None:
        self._tell("started", job)
        with self._folder.journal(job.trace_id) as journal:
            try:
                trace = await job.play(journal)
            except asyncio.CancelledError:
                self.result.cut_short += 1
                raise
            if trace.trace_id != job.trace_id:
                raise ValueError(f"the job for {job.trace_id} returned {trace.trace_id}")
            finished = self._folder.append(trace)
        self._count(job, trace, finished)

    def _count(self, job: Job, trace: DialogueTrace, finished: bool) -> None:
        self.result.by_termination[trace.termination] += 1
        if trace.termination != "infrastructure_error":
            self._errors_in_a_row[job.label] = 0
        if finished:
            self.result.done_now += 1
            self._tell("finished", job)
            return
        self.result.failures.append(Failure(job.trace_id, job.label, trace.termination, trace.termination_detail))
        self._tell("failed", job)
        if trace.termination == "infrastructure_error":
            self._errors_in_a_row[job.label] += 1
            if self._errors_in_a_row[job.label] == self._breaker and job.label not in self._down:
                self._down.add(job.label)
                self._tell("endpoint_down", job)

    def _tell(self, event: ProgressEvent, job: Job) -> None:
        if self._progress is not None:
            self._progress(event, job.label, self.result)
