"""The batch engine: `python tests/bench/engine.py [mock|many|stream|http|all]`. Prints figures; nothing passes or fails.

Wall times need cores of one's own; CPU time is given beside them. An exchange is an examiner's question with the patient's reply. The mock
examiner waits 0.2 s, as a model would, and then asks; the patient is the embedded one. Journal, sealed traces and annotation are on.
"""

from __future__ import annotations

import asyncio
import gc
import multiprocessing
import os
import resource
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2]))

from simulator.batch import BatchResult, Job, Lane, run_lanes
from simulator.build import default_ward, make_bed
from simulator.case import PatientVector
from simulator.protocols import Move, Situation, TurnObserver
from simulator.store import RunFolder
from simulator.trace import Budget, DialogueTrace, Player, Usage
from tests.chaos import QUESTIONS, ChaosServer
from ui.wiring import Bookshelf, ExaminerFactory, ExaminerSpec, bundled_cases

REPEATS = int(os.environ.get("BENCH_REPEATS", "3"))
LATENCY_S = 0.2
PADDING = "Thank you for telling me that, it helps me to understand you better, so let me go on with the next thing:"


@dataclass(frozen=True)
class Mock:
    """Waits, and asks one of a few questions in about 25 words."""

    latency_s: float
    fresh: int = 0
    """a number of its own for each run in which no message is to be one understood before; 0: messages recur"""

    @property
    def player(self) -> Player:
        return Player(kind="scripted", id="mock")

    async def move(self, situation: Situation) -> Move:
        await asyncio.sleep(self.latency_s)
        if situation.must_commit:
            return Move('{"diagnoses": [{"name": "Migraine", "icd10": "G43.909", "prob": 0.5}], "confidence": 0.5}')
        question = Random(f"{situation.seed}:{situation.turns_left}").choice(QUESTIONS)
        mark = f" ({self.fresh}-{situation.seed}-{situation.turns_left})" if self.fresh else ""
        return Move(f"{PADDING}{mark} {question}", Usage(prompt_tokens=100, completion_tokens=25, requests=1))


def cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def resident_mb() -> float:
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


def jobs(cases: Sequence[PatientVector], count: int, turns: int, latency_s: float, fresh: int = 0) -> Iterator[Job]:
    """So many encounters over the bundled cases, each with a seed of its own."""
    ward, shelf, mock = default_ward(), Bookshelf(), Mock(latency_s, fresh)
    for number in range(count):
        case = cases[number % len(cases)]
        bed = make_bed(case, mock, ward, shelf.profiles(case), Budget(max_turns=turns), number)

        async def play(observer: TurnObserver, bed: Any = bed) -> DialogueTrace:
            return await bed.run(observer)

        yield Job(bed.trace_id, "mock", play)


def batch(
    count: int, turns: int, concurrency: int, latency_s: float, progress: Any = None, fresh: int = 0
) -> tuple[float, float, BatchResult]:
    """(wall, CPU, result) of a run into a temporary folder."""
    folder = Path(tempfile.mkdtemp(prefix="bedside-bench-"))
    try:
        began, used = time.perf_counter(), cpu()
        with RunFolder(folder / "run") as run:
            run.open({"a": 1})
            result = asyncio.run(
                run_lanes([Lane("mock", jobs(bundled_cases(), count, turns, latency_s, fresh), concurrency)], run, None, progress)
            )
        return time.perf_counter() - began, cpu() - used, result
    finally:
        shutil.rmtree(folder)


def mock(count: int, concurrency: int, turns: int = 20) -> None:
    ideal = -(-count // concurrency) * (turns + 1) * LATENCY_S
    batch(count, turns, concurrency, 0.0)  # warm
    gc.collect()
    gc.freeze()  # as `bedside run` does
    for fresh in [0] * REPEATS + list(range(1, REPEATS + 1)):
        wall, used, result = batch(count, turns, concurrency, LATENCY_S, fresh=fresh)
        assert result.complete and result.done_now == count
        print(
            f"{'no message twice' if fresh else 'messages recur'}: {count} cases x {turns} turns, {concurrency}-way, {LATENCY_S} s a call:"
            f" wall {wall:.2f} s = {wall / ideal:.2f} x ideal ({ideal:.1f} s);"
            f" CPU {1000 * used / (count * turns):.2f} ms an exchange; load {os.getloadavg()[0]:.1f}"
        )


def stream(count: int = 10_000, turns: int = 4) -> None:
    began = time.perf_counter()

    def progress(event: str, label: str, result: BatchResult) -> None:
        if event == "finished" and result.done_now % (count // 10) == 0:
            print(f"{result.done_now} encounters: {resident_mb():.0f} MB resident, {time.perf_counter() - began:.0f} s", flush=True)

    _, used, _ = batch(count, turns, 64, 0.0, progress)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000
    print(f"{count} encounters of {turns} turns: peak {peak:.0f} MB, {1000 * used / count:.1f} ms of CPU each")


def serve(port: Any, stop: Any) -> None:
    with ChaosServer(share=0.0, latency_s=float(os.environ.get("BENCH_HTTP_LATENCY", "0.5")), shortest=10) as server:
        port.put(server.port)
        stop.wait()


async def bare(base_url: str, bodies: Sequence[list[dict[str, str]]], concurrency: int) -> float:
    """Seconds for the same requests through the `openai` package as it comes, without anything of ours."""
    import openai

    client = openai.AsyncOpenAI(base_url=base_url, api_key="x", max_retries=0)

    async def send(messages: list[dict[str, str]]) -> None:
        raw = await client.chat.completions.with_raw_response.create(model="chaos", messages=messages, max_tokens=2048)  # type: ignore[arg-type]
        assert raw.http_response.status_code == 200

    try:
        return await _loop(send, bodies, concurrency)
    finally:
        await client.close()


async def ours(base_url: str, bodies: Sequence[list[dict[str, str]]], concurrency: int) -> float:
    """Seconds for the same requests through our client alone: no encounters, no journal, no traces."""
    from simulator.chat import ChatClient, Endpoint, Message
    from simulator.throttle import Throttle

    client = ChatClient(Endpoint.of(name="chaos", base_url=base_url, model="chaos"), throttle=Throttle(concurrency))

    async def send(messages: list[dict[str, str]]) -> None:
        await client.complete([Message(**message) for message in messages], redistributable=True)  # type: ignore[arg-type]

    try:
        return await _loop(send, bodies, concurrency)
    finally:
        await client.aclose()


async def _loop(send: Any, bodies: Sequence[list[dict[str, str]]], concurrency: int) -> float:
    left = iter(bodies)

    async def worker() -> None:
        for messages in left:
            await send(messages)

    began = time.perf_counter()
    await asyncio.gather(*(worker() for _ in range(concurrency)))
    return time.perf_counter() - began


def http(concurrency: int = 256, count: int = 512) -> None:
    from simulator.endpoint import Endpoint
    from simulator.examiners.model import conversation
    from ui.wiring import RunPlan

    context = multiprocessing.get_context("spawn")
    port, stop = context.Queue(), context.Event()
    server = context.Process(target=serve, args=(port, stop), daemon=True)
    server.start()
    base_url = f"http://127.0.0.1:{port.get()}/v1"
    cases = bundled_cases()
    shelf = Bookshelf()
    seeds = range(-(-count // len(cases)))
    try:
        for _ in range(REPEATS):
            endpoint = Endpoint.of(name="chaos", base_url=base_url, model="chaos")
            factory = ExaminerFactory(shelf)
            spec = ExaminerSpec("m", endpoint, "chaos", concurrency)
            plan = RunPlan(cases, [spec], list(seeds), Budget(max_turns=20), shelf, factory)
            folder = Path(tempfile.mkdtemp(prefix="bedside-bench-"))

            async def main(plan: RunPlan = plan, folder: Path = folder) -> BatchResult:
                with RunFolder(folder / "run") as run:
                    run.open({"a": 1})
                    try:
                        return await run_lanes(plan.lanes(), run)
                    finally:
                        await plan.factory.aclose()

            began, used = time.perf_counter(), cpu()
            result = asyncio.run(main())
            wall, used = time.perf_counter() - began, cpu() - used
            assert result.complete, result.failures[:1]
            calls = sum(tally.requests for tally in result.tallies.values())
            bodies = []
            for trace in _some(folder / "run", 40):
                case = next(c for c in cases if c.case_id == trace.case_id)
                bodies += _bodies(trace, case, conversation)
            shutil.rmtree(folder)
            bodies = (bodies * (calls // len(bodies) + 1))[:calls]
            line = [f"engine {calls / wall:.0f} calls/s, {1000 * used / calls:.2f} ms of CPU a call"]
            for name, loop in (("our client alone", ours), ("the package alone", bare)):
                before = cpu()
                took = asyncio.run(loop(base_url, bodies, concurrency))
                line.append(f"{name} {calls / took:.0f} and {1000 * (cpu() - before) / calls:.2f} (engine {took / wall:.2f} of it)")
            print(f"local HTTP, {concurrency}-way, {calls} calls: " + "; ".join(line), flush=True)
    finally:
        stop.set()
        server.join(5)


def _some(folder: Path, count: int) -> list[DialogueTrace]:
    from itertools import islice

    from simulator.traces_io import read_traces

    return list(islice(iter(read_traces(folder)), count))


def _bodies(trace: DialogueTrace, case: PatientVector, conversation: Any) -> list[list[dict[str, str]]]:
    from simulator.chat_request import alternating
    from simulator.protocols import Line

    out = []
    for turn in trace.turns:
        if turn.role == "examiner":
            lines = tuple(Line(before.role, before.text) for before in trace.turns[: turn.idx])
            situation = Situation(case.examiner_view(), lines, 5, False, trace.seed)
            out.append([{"role": m.role, "content": m.content} for m in alternating(conversation(situation), True)])
    return out


def main() -> None:
    chosen = sys.argv[1:] or ["all"]
    everything = "all" in chosen
    if everything or "mock" in chosen:
        mock(100, 100)
    if everything or "many" in chosen:
        mock(600, 300)
    if everything or "http" in chosen:
        http()
    if everything or "stream" in chosen:
        stream()


if __name__ == "__main__":
    main()
