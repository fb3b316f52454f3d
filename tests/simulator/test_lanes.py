"""Lanes of the batch engine: a failing endpoint is paused, tried again and given up; the others go on; what broke is played again."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from simulator.batch import BatchResult, Job, Lane, Policy, run_lanes
from simulator.protocols import TurnObserver
from simulator.store import RunFolder
from simulator.trace import DialogueTrace
from tests.simulator.test_batch import balance, journals, make_trace, seeds, trace_id

Broken = Callable[[int, int], bool]
"""(number of the encounter, how often it was played before) → whether its endpoint fails"""


class Endpoint:
    """Fake encounters of one endpoint."""

    def __init__(self, broken: Broken = lambda number, before: False) -> None:
        self.broken = broken
        self.played: list[int] = []

    def jobs(self, numbers: range, label: Callable[[int], str] = lambda n: "m") -> Iterator[Job]:
        return (self.job(number, label(number)) for number in numbers)

    def job(self, number: int, label: str) -> Job:
        async def play(observer: TurnObserver) -> DialogueTrace:
            before = self.played.count(number)
            self.played.append(number)
            await asyncio.sleep(0)
            trace = make_trace(number, "infrastructure_error" if self.broken(number, before) else "examiner_committed")
            observer.on_turn(trace.turns[0])
            return trace

        return Job(trace_id(number), label, play)


class Run:
    """A run of lanes in a folder, with a sleep that only notes."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.events: list[tuple[str, str]] = []
        self.slept: list[float] = []

    async def _sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        await asyncio.sleep(0)

    def play(self, *lanes: Lane, policy: Policy | None = None, stop_at: str | None = None) -> BatchResult:
        async def main() -> BatchResult:
            stop = asyncio.Event()

            def progress(event: str, label: str, _: BatchResult) -> None:
                self.events.append((event, label))
                if event == stop_at:
                    stop.set()

            with RunFolder(self.path) as folder:
                folder.open({"a": 1})
                return await run_lanes(lanes, folder, policy, progress, stop, self._sleep)

        return asyncio.run(main())


@pytest.fixture
def a_run(tmp_path: Path) -> Run:
    return Run(tmp_path / "run")


def test_a_dead_endpoint_is_given_up_and_the_other_lane_plays_all(a_run: Run) -> None:
    dead, well = Endpoint(lambda n, before: True), Endpoint()
    result = a_run.play(Lane("dead", dead.jobs(range(50)), 3), Lane("well", well.jobs(range(50, 100)), 3))
    assert seeds(a_run.path) == list(range(50, 100))
    assert a_run.events.count(("endpoint_down", "dead")) == 1
    assert 5 <= len(dead.played) <= 5 + 2, "those under way when the fifth broke, and no more"
    assert (result.planned, balance(result), result.complete) == (100, 100, False)
    assert result.skipped.total() == 50 - len(dead.played)


def test_a_slow_lane_takes_no_places_of_another(a_run: Run) -> None:
    """The places of a lane are its own: encounters that wait for one endpoint hold up nobody at another."""
    over = asyncio.Event()
    well = Endpoint()

    async def wait(observer: TurnObserver) -> DialogueTrace:
        await over.wait()
        return make_trace(0)

    def last() -> Iterator[Job]:
        yield from well.jobs(range(1, 30))
        over.set()

    result = a_run.play(Lane("slow", [Job(trace_id(0), "s", wait)], 1), Lane("well", last(), 1))
    assert result.complete and result.done_now == 30


def test_what_broke_is_played_again_after_all_others_and_counts_as_finished(a_run: Run) -> None:
    endpoint = Endpoint(lambda n, before: n % 4 == 1 and before == 0)
    result = a_run.play(Lane("e", endpoint.jobs(range(12)), 1), policy=Policy(rounds=1))
    assert endpoint.played == [*range(12), 1, 5, 9]
    assert (result.done_now, result.mended, result.failures, result.complete) == (12, 3, [], True)
    assert result.by_termination == {"examiner_committed": 12}
    assert seeds(a_run.path) == [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]
    assert seeds(a_run.path / "errors.jsonl") == [1, 5, 9]
    assert result.tallies["m"].turns == 15, "what was played in vain was paid for too"


@pytest.mark.parametrize("rounds", [0, 1, 3])
def test_what_breaks_every_time_is_played_so_many_rounds_and_counted_once(a_run: Run, rounds: int) -> None:
    endpoint = Endpoint(lambda n, before: n == 2)
    result = a_run.play(Lane("e", endpoint.jobs(range(5)), 2), policy=Policy(breaker=5, rounds=rounds))
    assert endpoint.played.count(2) == 1 + rounds
    assert [failure.trace_id for failure in result.failures] == [trace_id(2)]
    assert result.by_termination == {"examiner_committed": 4, "infrastructure_error": 1}
    assert (balance(result), result.complete) == (5, False)


def test_a_lane_that_comes_back_within_its_patience_loses_nothing(a_run: Run) -> None:
    down_until = 9
    endpoint = Endpoint(lambda n, before: len(endpoint.played) <= down_until)
    result = a_run.play(Lane("e", endpoint.jobs(range(20)), 3), policy=Policy(breaker=5, patience_s=600, rounds=1))
    assert result.complete and seeds(a_run.path) == list(range(20))
    assert [event for event in a_run.events if event[0].startswith("endpoint")] == [("endpoint_paused", "e"), ("endpoint_back", "e")]
    assert a_run.slept == sorted(a_run.slept) and a_run.slept[0] == 15.0
    assert 2 <= len(a_run.slept) <= 5, "one encounter tries at a time"


def test_patience_has_an_end(a_run: Run) -> None:
    endpoint = Endpoint(lambda n, before: True)
    result = a_run.play(Lane("e", endpoint.jobs(range(20)), 1), policy=Policy(breaker=3, patience_s=100, rounds=1))
    assert a_run.slept == [15, 30, 55], "15, 30, then what is left of 100"
    assert len(endpoint.played) == 3 + 3
    assert a_run.events.count(("endpoint_down", "e")) == 1
    assert (len(result.failures), result.skipped.total(), balance(result)) == (3, 17, 20)
    assert Run(a_run.path).play(Lane("e", Endpoint().jobs(range(20)), 4)).complete, "the next start goes on"


def test_one_examiner_that_fails_on_an_endpoint_that_works_is_left_out_alone(a_run: Run) -> None:
    endpoint = Endpoint(lambda n, before: n % 2 == 1)
    jobs = endpoint.jobs(range(40), lambda n: "broken" if n % 2 else "fine")
    result = a_run.play(Lane("e", jobs, 1), policy=Policy(breaker=4, patience_s=600))
    assert ("endpoint_down", "broken") in a_run.events and ("endpoint_paused", "e") not in a_run.events
    assert seeds(a_run.path) == list(range(0, 40, 2))
    assert result.skipped == Counter({"broken": 16})


def test_a_stop_ends_a_pause(a_run: Run) -> None:
    result = a_run.play(
        Lane("e", Endpoint(lambda n, before: True).jobs(range(9)), 2), policy=Policy(patience_s=3600, rounds=1), stop_at="endpoint_paused"
    )
    assert result.interrupted
    assert journals(a_run.path) == []


def test_an_error_elsewhere_ends_a_pause_too(a_run: Run) -> None:
    """The sleep of a paused lane must not hold up the error for minutes."""
    paused = asyncio.Event()

    async def broken(observer: TurnObserver) -> DialogueTrace:
        await paused.wait()
        raise ZeroDivisionError("a bug")

    async def main() -> None:
        with RunFolder(a_run.path) as folder:
            folder.open({"a": 1})
            lanes = [
                Lane("dead", Endpoint(lambda n, before: True).jobs(range(9)), 2),
                Lane("other", [Job(trace_id(99), "x", broken)], 1),
            ]
            told = lambda event, label, _: paused.set() if event == "endpoint_paused" else None  # noqa: E731
            await asyncio.wait_for(run_lanes(lanes, folder, Policy(patience_s=3600), told), 20)

    with pytest.raises(ZeroDivisionError):
        asyncio.run(main())


def test_a_second_try_that_is_interrupted_stays_a_failure_and_the_run_says_interrupted(a_run: Run) -> None:
    async def hang_at_second(observer: TurnObserver) -> DialogueTrace:
        tries.append(1)
        if len(tries) > 1:
            a_stop.set()
            await asyncio.Event().wait()
        return make_trace(1, "infrastructure_error")

    tries: list[int] = []
    a_stop = asyncio.Event()

    async def main() -> BatchResult:
        with RunFolder(a_run.path) as folder:
            folder.open({"a": 1})
            return await run_lanes([Lane("e", [Job(trace_id(1), "m", hang_at_second)], 1)], folder, Policy(rounds=1), stop=a_stop)

    result = asyncio.run(main())
    assert (result.interrupted, len(result.failures), result.cut_short, balance(result)) == (True, 1, 0, 1)
