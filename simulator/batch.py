"""The batch engine: many encounters at once into one run folder, resumed by being started again."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence

from simulator.batch_types import (
    DEFAULT_BREAKER,
    BatchResult,
    Failure,
    Job,
    Lane,
    Policy,
    Progress,
    ProgressEvent,
    Tally,
)
from simulator.fingerprint import fingerprint
from simulator.lanes import Attempt, LaneState
from simulator.protocols import TurnObserver
from simulator.store import RunFolder
from simulator.trace import DialogueTrace, Turn

__all__ = [
    "DEFAULT_BREAKER",
    "BatchResult",
    "Failure",
    "Job",
    "Lane",
    "Policy",
    "Progress",
    "ProgressEvent",
    "Tally",
    "fingerprint",
    "run_batch",
    "run_lanes",
]

Sleep = Callable[[float], Awaitable[object]]


async def run_batch(
    jobs: Iterable[Job],
    folder: RunFolder,
    concurrency: int,
    progress: Progress | None = None,
    stop: asyncio.Event | None = None,
    breaker: int = DEFAULT_BREAKER,
) -> BatchResult:
    """Play all jobs that are not in the folder yet, in one lane and without a second try; see `run_lanes`.

    Raises:
        ValueError: a job returned another encounter's trace, or an option below 1.
    """
    return await run_lanes([Lane("", jobs, concurrency)], folder, Policy(breaker), progress, stop)


async def run_lanes(
    lanes: Sequence[Lane],
    folder: RunFolder,
    policy: Policy | None = None,
    progress: Progress | None = None,
    stop: asyncio.Event | None = None,
    sleep: Sleep = asyncio.sleep,
) -> BatchResult:
    """Play all jobs that are not in the folder yet, all lanes side by side.

    A lane that fails time and again is paused and tried now and then; if it does not come back, the rest of it is left out, and the other
    lanes go on. Memory does not grow with the number of jobs but for the ids and for those that are to be played again.

    Args:
        lanes: where jobs come from.
        folder: open for writing.
        policy: what is done about failing endpoints.
        progress: told of every event.
        stop: once set, no job is begun and those under way are cancelled; they start again next time.
        sleep: waits while a lane is paused.

    Returns:
        the counts; see `BatchResult.complete`.

    Raises:
        ValueError: a job returned another encounter's trace, or an option below 1.
        BaseException: the first error that a job, an iterator or the folder raised, after the encounters under way have ended (nothing
            of them is lost); later ones are added to it as notes.
    """
    policy = policy or Policy()
    if policy.breaker < 1 or any(lane.concurrency < 1 for lane in lanes):
        raise ValueError("concurrency and breaker must be at least 1")
    batch = _Batch(folder, policy, progress, stop or asyncio.Event(), sleep)
    states = [LaneState(lane) for lane in lanes]
    workers = [asyncio.create_task(batch.work(state)) for state in states for _ in range(state.lane.concurrency)]
    watcher = asyncio.create_task(batch.watch(workers))
    try:
        outcomes = await asyncio.gather(*workers, return_exceptions=True)
    finally:
        # also when this very coroutine is cancelled: gather has then cancelled the workers and waited for them
        watcher.cancel()
        await asyncio.gather(watcher, return_exceptions=True)
    _raise_first([outcome for outcome in outcomes if outcome is not None], batch.stopped())
    # the stop may also come when the last encounter is done
    batch.result.interrupted = batch.stopped() and (batch.cut_off or any(state.has_more() for state in states))
    return batch.result


def _raise_first(errors: list[BaseException], stopped: bool) -> None:
    real = [error for error in errors if not isinstance(error, asyncio.CancelledError)]
    for other in real[1:]:
        real[0].add_note(f"and in another encounter: {type(other).__name__}: {other}")
    if real:
        raise real[0]
    if errors and not stopped:
        raise RuntimeError("an encounter cancelled itself") from errors[0]


class _Counting:
    """Counts turns on their way to the journal."""

    def __init__(self, journal: TurnObserver, tally: Tally) -> None:
        self._journal = journal
        self._tally = tally

    def on_turn(self, turn: Turn) -> None:
        self._tally.count(turn)
        self._journal.on_turn(turn)


class _Batch:
    """The state that the workers of all lanes share."""

    def __init__(self, folder: RunFolder, policy: Policy, progress: Progress | None, stop: asyncio.Event, sleep: Sleep) -> None:
        self.result = BatchResult()
        self._folder = folder
        self._policy = policy
        self._progress = progress
        self._stop = stop
        self._sleep = sleep
        self.cut_off = False
        """whether the stop met an encounter under way"""
        self._ending = asyncio.Event()
        self._seen: set[str] = set()
        self._failed: dict[str, Failure] = {}

    async def work(self, lane: LaneState) -> None:
        """Play job after job of a lane until there are no more, the batch is stopped, or an error ended another worker."""
        try:
            while not (self._ending.is_set() or self._stop.is_set()):
                if not lane.open.is_set():
                    await lane.open.wait()
                    continue
                attempt = lane.take()
                if attempt is None:
                    return
                if self._is_due(lane, attempt):
                    await self._play(lane, attempt)
                    if lane.should_pause(self._policy.breaker):
                        await self._pause(lane, attempt)
                else:
                    await asyncio.sleep(0)  # passing over thousands of jobs must not hold up the encounters under way
        except BaseException:
            # an error ends the others after their encounter; a cancellation comes from the stop, which ends them all
            self._ending.set()
            raise

    async def watch(self, workers: list[asyncio.Task[None]]) -> None:
        """Cancel the encounters under way once the batch is told to stop."""
        await self._stop.wait()
        for worker in workers:
            worker.cancel()

    def stopped(self) -> bool:
        """Whether the batch was told to stop."""
        return self._stop.is_set()

    def _is_due(self, lane: LaneState, attempt: Attempt) -> bool:
        job = attempt.job
        if attempt.number > 0:
            return not lane.is_down(job.label)  # else it stays among the failures
        if job.trace_id in self._seen:
            self.result.repeated += 1
            self._tell("repeated", job.label)
            return False
        self._seen.add(job.trace_id)
        self.result.planned += 1
        if job.trace_id in self._folder.finished():
            self.result.done_before += 1
            self._tell("done_before", job.label)
            return False
        if lane.is_down(job.label):
            self.result.skipped[job.label] += 1
            self._tell("skipped", job.label)
            return False
        return True

    async def _play(self, lane: LaneState, attempt: Attempt) -> None:
        job = attempt.job
        self.result.under_way += 1
        self._tell("started", job.label)
        tally = self.result.tallies.setdefault(job.label, Tally())
        try:
            with self._folder.journal(job.trace_id) as journal:
                try:
                    trace = await job.play(_Counting(journal, tally))
                except asyncio.CancelledError:
                    self.cut_off = True
                    self.result.cut_short += job.trace_id not in self._failed  # one that broke before counts as broken
                    raise
                if trace.trace_id != job.trace_id:
                    raise ValueError(f"the job for {job.trace_id} returned {trace.trace_id}")
                finished = self._folder.append(trace)
        finally:
            self.result.under_way -= 1
        self._count(lane, attempt, trace, finished)

    def _count(self, lane: LaneState, attempt: Attempt, trace: DialogueTrace, finished: bool) -> None:
        job = attempt.job
        broke_before = self._failed.pop(job.trace_id, None)
        if broke_before is not None:
            self.result.failures.remove(broke_before)
            self.result.by_termination[broke_before.termination] -= 1
            if not self.result.by_termination[broke_before.termination]:
                del self.result.by_termination[broke_before.termination]
        self.result.by_termination[trace.termination] += 1
        if finished:
            self.result.done_now += 1
            self.result.mended += broke_before is not None
            self._tell("finished", job.label)
        else:
            failure = Failure(job.trace_id, job.label, trace.termination, trace.termination_detail)
            self._failed[job.trace_id] = failure
            self.result.failures.append(failure)
            self._tell("failed", job.label)
        if trace.termination != "infrastructure_error":
            if lane.went_well(job.label):
                self._tell("endpoint_back", lane.name_for(job.label))
            return
        lane.broke(attempt, self._policy.rounds)
        if not lane.should_pause(self._policy.breaker) and lane.gives_up(job.label, self._policy.breaker):
            self._tell("endpoint_down", job.label)

    async def _pause(self, lane: LaneState, attempt: Attempt) -> None:
        """Hold the lane, and play the encounter that broke last again after longer and longer waits, until it gets through."""
        lane.close()
        name = lane.name_for(attempt.job.label)
        left = self._policy.patience_s
        if left > 0:
            self._tell("endpoint_paused", name)
        wait = lane.FIRST_WAIT_S
        try:
            while left > 0 and not lane.open.is_set():
                await self._rest(min(wait, left))
                if self._ending.is_set():
                    return
                left -= wait
                wait = min(wait * 2, lane.LONGEST_WAIT_S)
                if not lane.open.is_set():
                    lane.claim(attempt)
                    await self._play(lane, attempt)
            if not lane.open.is_set():
                lane.give_up()
                self._tell("endpoint_down", name)
        finally:
            lane.open.set()  # whatever happened, nobody is left waiting

    async def _rest(self, seconds: float) -> None:
        """Sleep, but not on when an error ends the batch."""
        sleeping = asyncio.ensure_future(self._sleep(seconds))
        ending = asyncio.ensure_future(self._ending.wait())
        try:
            await asyncio.wait({sleeping, ending}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            sleeping.cancel()
            ending.cancel()
            await asyncio.gather(sleeping, ending, return_exceptions=True)

    def _tell(self, event: ProgressEvent, label: str) -> None:
        if self._progress is not None:
            self._progress(event, label, self.result)
