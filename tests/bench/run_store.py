"""`python tests/bench/run_store.py [N]`: resuming, indexing and showing a run of N (10,000) sealed encounters; nothing passes or fails.

The traces are those of the checklist examiner over the bundled cases, again and again under other seeds, each sealed anew.
"""

from __future__ import annotations

import asyncio
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from itertools import cycle, islice
from pathlib import Path
from typing import Any

from simulator.build import default_ward, make_bed
from simulator.index.runs import RunIndex
from simulator.run_folders import merge
from simulator.store import RunFolder
from simulator.trace import Budget, DialogueTrace
from simulator.traces_io import sealed_line
from ui.wiring import Bookshelf, ExaminerFactory, ExaminerSpec, bundled_cases

ROOT = Path(__file__).resolve().parents[2]
FINGERPRINT: dict[str, Any] = {"software_version": "bench"}
SHOWN = 5
GOALS = {"resume": 2.0, "show": 1.0}
"""Seconds for 10,000 encounters."""


def played() -> list[DialogueTrace]:
    ward, shelf = default_ward(), Bookshelf()
    factory = ExaminerFactory(shelf)
    cases = bundled_cases()
    beds = [make_bed(c, factory.make(ExaminerSpec("checklist"), c), ward, shelf.profiles(c), Budget(), 1) for c in cases]
    return [asyncio.run(bed.run()) for bed in beds]


def replicated(count: int) -> Iterator[bytes]:
    for number, trace in enumerate(islice(cycle(played()), count)):
        yield sealed_line(trace.model_copy(update={"trace_id": f"trace-{number:016x}", "seed": number}).sealed())


def timed(what: str, work: Callable[[], Any], goal: float | None = None) -> None:
    began, used = time.perf_counter(), cpu()
    work()
    spent = time.perf_counter() - began
    print(
        f"{what}: {spent:.2f} s, of them {cpu() - used:.2f} s of CPU"
        + (f"; {spent / goal:.2f} of the goal of {goal:.0f} s" if goal else "")
    )


def cpu() -> float:
    """CPU seconds of this process and of those it waited for; on a busy machine the wall clock says less."""
    return sum(
        used.ru_utime + used.ru_stime for used in (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    )


def main(count: int) -> None:
    with tempfile.TemporaryDirectory() as scratch:
        run, database = Path(scratch) / "run", str(Path(scratch) / "index.sqlite3")
        with RunFolder(run) as folder:
            folder.open(FINGERPRINT)
        with (run / "traces.jsonl").open("wb") as out:
            out.writelines(replicated(count))
        size = (run / "traces.jsonl").stat().st_size
        print(f"{count:,} encounters, {size / 1e6:.0f} MB, {size / count / 1e3:.1f} kB each")

        def resume() -> None:
            with RunFolder(run) as folder:
                folder.open(FINGERPRINT)

        timed("resume scan, every seal verified", resume, GOALS["resume"])
        index = RunIndex(database)
        timed("first indexing", lambda: index.refresh(run))
        timed("indexing again, nothing new", lambda: index.refresh(run))
        timed("reindex", lambda: index.reindex([run]))
        index.close()
        env = {**os.environ, "BEDSIDE_DB": database, "PYTHONPATH": str(ROOT)}
        show = [sys.executable, "-m", "ui.cli", "runs", "show", str(run)]
        for number in range(SHOWN):
            timed(
                f"`bedside runs show`, process {number + 1}",
                lambda: subprocess.run(show, env=env, check=True, capture_output=True),
                GOALS["show"],
            )
        second = Path(scratch) / "second"
        second.mkdir()
        for name in ("run.json", "traces.jsonl"):
            (second / name).write_bytes((run / name).read_bytes())
        timed("merge with a copy of itself", lambda: merge([run, second], Path(scratch) / "both"))


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 10_000)
