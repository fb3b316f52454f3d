"""The batch engine: each encounter once in the record, whatever interrupts it."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random

import pytest

from ontology.errors import BedsideError
from simulator.batch import BatchResult, Job, fingerprint, run_batch
from simulator.protocols import TurnObserver
from simulator.store import RunFolder, read_traces
from simulator.trace import Budget, DialogueTrace, FinalAnswer, Player, RankedDiagnosis, TerminationReason, Turn

ROOT = Path(__file__).resolve().parents[2]
Ending = Callable[[int], TerminationReason]


def trace_id(number: int) -> str:
    return f"trace-{number:016x}"


def make_trace(number: int, termination: TerminationReason = "examiner_committed", turns: int = 1) -> DialogueTrace:
    return DialogueTrace(
        trace_id=trace_id(number),
        case_id="case-000000000001",
        case_sha256="0" * 64,
        pool_id="pool",
        pool_sha256="0" * 64,
        examiner=Player(kind="scripted", id="fake"),
        patient=Player(kind="embedded", id="patient"),
        budget=Budget(),
        seed=number,
        kb_version="1",
        software_version="1",
        started_at="2026-01-01T00:00:00.000+00:00",
        finished_at="2026-01-01T00:01:00.000+00:00",
        turns=[Turn(idx=n, role="patient", text="ouch") for n in range(turns)],
        outcome=FinalAnswer(ranked=[RankedDiagnosis(name="Migraine")]) if termination == "examiner_committed" else None,
        termination=termination,
        termination_detail=None if termination == "examiner_committed" else "because",
    ).sealed()


def committed(_: int) -> TerminationReason:
    return "examiner_committed"


class Table:
    """Fake encounters: counts what is played and how many at once."""

    def __init__(self, ending: Ending = committed, turns: int = 2) -> None:
        self.ending = ending
        self.turns = turns
        self.played: list[int] = []
        self.now = 0
        self.most = 0

    def job(self, number: int, label: str = "fake") -> Job:
        async def play(observer: TurnObserver) -> DialogueTrace:
            self.played.append(number)
            self.now += 1
            self.most = max(self.most, self.now)
            try:
                trace = make_trace(number, self.ending(number), self.turns)
                for turn in trace.turns:
                    observer.on_turn(turn)
                    await asyncio.sleep(0)
                return trace
            finally:
                self.now -= 1

        return Job(trace_id(number), label, play)

    def jobs(self, count: int) -> Iterator[Job]:
        return (self.job(number) for number in range(count))


def run(path: Path, jobs: Iterator[Job], concurrency: int = 3, breaker: int = 5) -> BatchResult:
    with RunFolder(path) as folder:
        folder.open({"a": 1})
        return asyncio.run(run_batch(jobs, folder, concurrency, breaker=breaker))


def seeds(path: Path) -> list[int]:
    return sorted(trace.seed for trace in read_traces(path))


def journals(path: Path) -> list[str]:
    return [file.name for file in (path / "journal").iterdir()]


def balance(result: BatchResult) -> int:
    return result.done_before + result.done_now + len(result.failures) + result.skipped.total() + result.cut_short


@pytest.mark.parametrize("done", range(6))
def test_what_is_done_is_not_played_again_and_the_rest_is(tmp_path: Path, done: int) -> None:
    run(tmp_path / "run", Table().jobs(done))
    table = Table()
    result = run(tmp_path / "run", table.jobs(5))
    assert table.played == list(range(done, 5))
    assert (result.planned, result.done_before, result.done_now) == (5, min(done, 5), max(0, 5 - done))
    assert result.complete and not result.interrupted
    assert seeds(tmp_path / "run") == list(range(5))
    assert journals(tmp_path / "run") == []


@pytest.mark.parametrize("concurrency", [1, 2, 7, 40])
def test_no_more_than_asked_are_under_way_and_jobs_are_taken_when_a_place_is_free(tmp_path: Path, concurrency: int) -> None:
    table = Table()
    ahead = []

    def jobs() -> Iterator[Job]:
        for number in range(30):
            ahead.append(number - len(table.played))
            yield table.job(number)

    run(tmp_path / "run", jobs(), concurrency)
    assert table.most == min(concurrency, 30)
    assert max(ahead) <= 1
    assert seeds(tmp_path / "run") == list(range(30))


def test_an_empty_batch_is_complete(tmp_path: Path) -> None:
    result = run(tmp_path / "run", iter(()))
    assert result.complete and result.planned == 0


def test_the_same_encounter_twice_is_played_once_and_counted(tmp_path: Path) -> None:
    table = Table()
    result = run(tmp_path / "run", iter([table.job(1), table.job(2), table.job(1), table.job(1)]))
    assert sorted(table.played) == [1, 2]
    assert (result.planned, result.repeated, result.complete) == (2, 2, True)


def test_turns_reach_the_journal_while_the_encounter_is_under_way(tmp_path: Path) -> None:
    seen = []

    async def play(observer: TurnObserver) -> DialogueTrace:
        for turn in make_trace(1, turns=3).turns:
            observer.on_turn(turn)
            seen.append(len((tmp_path / "run" / "journal" / f"{trace_id(1)}.jsonl").read_bytes().splitlines()))
            await asyncio.sleep(0)
        return make_trace(1, turns=3)

    run(tmp_path / "run", iter([Job(trace_id(1), "fake", play)]))
    assert seen == [1, 2, 3]


@pytest.mark.parametrize("reason", ["infrastructure_error", "patient_error"])
def test_what_the_machinery_broke_is_counted_kept_apart_and_played_again(tmp_path: Path, reason: TerminationReason) -> None:
    path = tmp_path / "run"
    result = run(path, Table(lambda n: reason if n % 2 else "budget").jobs(6))
    assert (result.done_now, len(result.failures), result.complete) == (3, 3, False)
    assert result.by_termination == {"budget": 3, reason: 3}
    assert [(f.trace_id, f.termination, f.detail) for f in result.failures] == [(trace_id(n), reason, "because") for n in (1, 3, 5)]
    assert seeds(path) == [0, 2, 4]
    assert seeds(path / "errors.jsonl") == [1, 3, 5]

    table = Table()
    again = run(path, table.jobs(6))
    assert table.played == [1, 3, 5]
    assert again.complete and again.done_before == 3
    assert seeds(path) == list(range(6))
    assert seeds(path / "errors.jsonl") == [1, 3, 5], "what failed once stays on record"


def test_an_examiner_whose_endpoint_is_down_is_left_out_and_the_others_go_on(tmp_path: Path) -> None:
    events: list[tuple[str, str]] = []
    table = Table(lambda n: "infrastructure_error" if n % 2 and n > 10 else "examiner_committed")
    jobs = (table.job(n, "down" if n % 2 else "up") for n in range(100))
    with RunFolder(tmp_path / "run") as folder:
        folder.open({"a": 1})
        result = asyncio.run(run_batch(jobs, folder, 1, lambda event, label, _: events.append((event, label)), breaker=4))
    assert [n for n in table.played if n % 2] == [1, 3, 5, 7, 9, 11, 13, 15, 17]
    assert [n for n in table.played if not n % 2] == list(range(0, 100, 2))
    assert result.skipped == {"down": 41}
    assert (result.planned, balance(result), result.complete) == (100, 100, False)
    assert events.count(("endpoint_down", "down")) == 1
    assert Counter(events)[("skipped", "down")] == 41
    assert run(tmp_path / "run", Table().jobs(100)).complete


@pytest.mark.parametrize("between", ["examiner_committed", "examiner_error", "patient_error"])
def test_errors_that_are_not_in_a_row_do_not_mean_that_the_endpoint_is_down(tmp_path: Path, between: TerminationReason) -> None:
    result = run(tmp_path / "run", Table(lambda n: between if n % 3 == 2 else "infrastructure_error").jobs(30), 1, breaker=3)
    assert not result.skipped
    assert result.by_termination == {between: 10, "infrastructure_error": 20}


def test_progress_tells_every_event_with_the_counts_at_that_time(tmp_path: Path) -> None:
    run(tmp_path / "run", Table().jobs(1))
    told: list[tuple[str, int, int]] = []
    table = Table(lambda n: "patient_error" if n == 2 else "budget")
    with RunFolder(tmp_path / "run") as folder:
        folder.open({"a": 1})
        jobs = iter([table.job(n) for n in (0, 1, 1, 2)])
        asyncio.run(run_batch(jobs, folder, 1, lambda event, _, counts: told.append((event, counts.planned, balance(counts)))))
    assert told == [
        ("done_before", 1, 1),
        ("started", 2, 1),
        ("finished", 2, 2),
        ("repeated", 2, 2),
        ("started", 3, 2),
        ("failed", 3, 3),
    ]


def test_a_programming_error_is_raised_after_the_others_finished(tmp_path: Path) -> None:
    path = tmp_path / "run"
    table = Table(turns=20)

    async def broken(observer: TurnObserver) -> DialogueTrace:
        raise ZeroDivisionError("a bug")

    jobs = iter([table.job(0), table.job(1), Job(trace_id(2), "fake", broken), *(table.job(n) for n in range(3, 50))])
    with pytest.raises(ZeroDivisionError, match="a bug"):
        run(path, jobs, 3)
    assert table.played == [0, 1], "none is begun after the error"
    assert seeds(path) == [0, 1], "those under way were finished"
    assert journals(path) == []
    assert run(path, Table().jobs(50)).complete
    assert seeds(path) == list(range(50))


def test_all_errors_are_told(tmp_path: Path) -> None:
    def job(number: int) -> Job:
        async def broken(observer: TurnObserver) -> DialogueTrace:
            await asyncio.sleep(0)
            raise KeyError(number)

        return Job(trace_id(number), "fake", broken)

    with pytest.raises(KeyError) as caught:
        run(tmp_path / "run", iter([job(1), job(2)]))
    assert caught.value.args == (1,)
    assert caught.value.__notes__ == ["and in another encounter: KeyError: 2"]


def test_a_broken_case_in_the_iterator_ends_the_batch_with_its_line(tmp_path: Path) -> None:
    table = Table(turns=9)

    def jobs() -> Iterator[Job]:
        yield from table.jobs(2)
        raise BedsideError("not valid JSON", "cases.jsonl:3")

    with pytest.raises(BedsideError, match=r"cases\.jsonl:3"):
        run(tmp_path / "run", jobs(), 4)
    assert seeds(tmp_path / "run") == [0, 1]


def test_the_trace_of_another_encounter_is_not_taken(tmp_path: Path) -> None:
    async def play(observer: TurnObserver) -> DialogueTrace:
        return make_trace(2)

    with pytest.raises(ValueError, match="returned"):
        run(tmp_path / "run", iter([Job(trace_id(1), "fake", play)]))
    assert seeds(tmp_path / "run") == []


def test_an_encounter_that_cancels_itself_is_an_error_not_an_interruption(tmp_path: Path) -> None:
    async def play(observer: TurnObserver) -> DialogueTrace:
        raise asyncio.CancelledError

    with pytest.raises(RuntimeError, match="cancelled itself"):
        run(tmp_path / "run", iter([Job(trace_id(1), "fake", play)]))


@pytest.mark.parametrize("option", [{"concurrency": 0}, {"breaker": 0}])
def test_options_below_one_are_refused(tmp_path: Path, option: dict[str, int]) -> None:
    with pytest.raises(ValueError, match="at least 1"):
        run(tmp_path / "run", Table().jobs(1), **option)


def stopping_after(count: int, path: Path, total: int = 20) -> tuple[BatchResult, Table]:
    """A batch whose stop event is set when `count` encounters are done; others hang until they are cancelled."""
    table = Table()

    async def hang(observer: TurnObserver) -> DialogueTrace:
        observer.on_turn(make_trace(0).turns[0])
        await asyncio.Event().wait()
        raise AssertionError

    async def main() -> BatchResult:
        stop = asyncio.Event()

        def progress(event: str, label: str, counts: BatchResult) -> None:
            if counts.done_now >= count:
                stop.set()

        jobs = (table.job(n) if n < count else Job(trace_id(n), "hanging", hang) for n in range(total))
        with RunFolder(path) as folder:
            folder.open({"a": 1})
            result = await run_batch(jobs, folder, 4, progress, stop)
        assert asyncio.all_tasks() == {asyncio.current_task()}
        return result

    return asyncio.run(main()), table


@pytest.mark.parametrize("count", [0, 1, 6])
def test_an_interrupted_batch_cancels_what_is_under_way_and_says_so(tmp_path: Path, count: int) -> None:
    path = tmp_path / "run"
    result, table = stopping_after(count, path)
    assert result.interrupted and not result.complete
    assert result.done_now == count
    assert result.planned == balance(result) <= count + 4
    assert seeds(path) == sorted(table.played) == list(range(count))
    assert journals(path) == []
    again = run(path, Table().jobs(20))
    assert (again.complete, again.done_before) == (True, count)


def test_a_stop_when_all_is_done_is_no_interruption(tmp_path: Path) -> None:
    result, _ = stopping_after(5, tmp_path / "run", total=5)
    assert result.complete and not result.interrupted


def test_an_encounter_that_ends_in_spite_of_the_stop_is_kept(tmp_path: Path) -> None:
    async def stubborn(observer: TurnObserver) -> DialogueTrace:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            pass
        return make_trace(1)

    async def main() -> BatchResult:
        stop = asyncio.Event()
        with RunFolder(tmp_path / "run") as folder:
            folder.open({"a": 1})
            return await run_batch(
                iter([Job(trace_id(1), "fake", stubborn)]), folder, 1, lambda event, _, __: stop.set() if event == "started" else None, stop
            )

    assert asyncio.run(main()).done_now == 1
    assert seeds(tmp_path / "run") == [1]


def test_cancelling_the_batch_itself_leaves_no_task_and_no_journal(tmp_path: Path) -> None:
    """What asyncio does on Ctrl-C when nobody handles the signal."""
    began = []

    async def hang(observer: TurnObserver) -> DialogueTrace:
        began.append(1)
        await asyncio.Event().wait()
        raise AssertionError

    async def main() -> None:
        with RunFolder(tmp_path / "run") as folder:
            folder.open({"a": 1})
            batch = asyncio.create_task(run_batch((Job(trace_id(n), "fake", hang) for n in range(9)), folder, 3))
            while len(began) < 3:
                await asyncio.sleep(0)
            batch.cancel()
            with pytest.raises(asyncio.CancelledError):
                await batch
            assert asyncio.all_tasks() == {asyncio.current_task()}
            assert journals(tmp_path / "run") == []

    asyncio.run(main())
    assert len(began) == 3


PROGRAM = """
import asyncio, sys
import test_batch as fake
from simulator.batch import Job, run_batch
from simulator.store import RunFolder

def job(number):
    async def play(observer):
        trace = fake.make_trace(number, turns=4)
        for turn in trace.turns:
            observer.on_turn(turn)
            await asyncio.sleep(0.001)
        return trace
    return Job(fake.trace_id(number), "fake", play)

with RunFolder(sys.argv[1]) as folder:
    folder.open({"a": 1})
    result = asyncio.run(run_batch((job(n) for n in range(int(sys.argv[2]))), folder, 4))
    assert result.complete
"""


def test_killed_at_ten_random_moments_every_encounter_is_in_the_record_once(tmp_path: Path) -> None:
    total, kills = 500, 10
    path = tmp_path / "run"
    file = path / "traces.jsonl"
    program = tmp_path / "program.py"
    program.write_text(PROGRAM, encoding="utf-8")
    command = [sys.executable, str(program), str(path), str(total)]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT), str(Path(__file__).parent)])}
    rng = Random(7)
    left_journals = 0
    for _ in range(kills):
        size = file.stat().st_size if file.exists() else 0
        enough = size + rng.randint(1, 20_000)
        process = subprocess.Popen(command, env=environment)
        while process.poll() is None and (not file.exists() or file.stat().st_size < enough):
            time.sleep(0.0005)
        time.sleep(rng.uniform(0, 0.004))
        process.send_signal(signal.SIGKILL)
        assert process.wait() == -signal.SIGKILL, "it ended before it could be killed"
        left_journals += len(journals(path))
        found = seeds(path)
        assert len(found) == len(set(found)) < total
    assert left_journals > 0, "no kill met an encounter under way"
    assert subprocess.run(command, env=environment, check=False).returncode == 0
    assert seeds(path) == list(range(total))
    reader = read_traces(path)
    assert all(trace.seal_is_intact() for trace in reader) and not reader.warnings
    assert journals(path) == []
    assert sorted(entry.name for entry in path.iterdir() if not entry.name.endswith(".torn")) == [
        "errors.jsonl",
        "journal",
        "lock",
        "run.json",
        "traces.jsonl",
    ]


def test_the_fingerprint_does_not_depend_on_the_order_of_its_parts_but_on_every_part() -> None:
    one, two = (Player(kind="reference", id=name) for name in ("infogain", "hasty"))

    def made(**change: object) -> dict[str, object]:
        parts: dict[str, object] = {
            "software_version": "1",
            "case_hashes": iter(["a", "b"]),
            "pool_sha256": "p",
            "kb_version": "k",
            "examiners": [one, two],
            "patients": [Player(kind="embedded", id="patient")],
            "budget": Budget(),
            "seeds": [0, 1],
        }
        return dict(fingerprint(**(parts | change)))  # type: ignore[arg-type]

    assert made() == made(case_hashes=["b", "a"], examiners=(two, one), seeds=(1, 0))
    changes: list[dict[str, object]] = [
        {"software_version": "2"},
        {"case_hashes": ["a", "c"]},
        {"case_hashes": ["a", "b", "b"]},
        {"pool_sha256": "q"},
        {"kb_version": "l"},
        {"examiners": [one]},
        {"examiners": [one, two.model_copy(update={"model": "m"})]},
        {"patients": [Player(kind="model", id="patient")]},
        {"budget": Budget(max_turns=3)},
        {"seeds": [0]},
    ]
    assert all(made(**change) != made() for change in changes)


def test_a_run_folder_takes_the_fingerprint(tmp_path: Path) -> None:
    made = fingerprint(
        software_version="1",
        case_hashes=["a"],
        pool_sha256="p",
        kb_version="k",
        examiners=[Player(kind="model", id="m", sampling={"temperature": 0.7, "stop": ["x"]})],
        patients=[Player(kind="embedded", id="patient")],
        budget=Budget(),
        seeds=range(3),
    )
    for _ in range(2):
        with RunFolder(tmp_path / "run") as folder:
            folder.open(made)
    with pytest.raises(BedsideError, match=r"seeds \(was \[0, 1, 2\], now \[0, 1\]\)"):
        RunFolder(tmp_path / "run").open(made | {"seeds": [0, 1]})
