"""Equal seeds give equal traces in other processes too, whatever order their sets and dictionaries of strings happen to have."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]

PLAY = """
import asyncio, json, sys
from simulator.build import default_ward, make_bed
from simulator.trace import Budget
from ui.wiring import Bookshelf, ExaminerFactory, ExaminerSpec, bundled_cases

cases = bundled_cases()
shelf = Bookshelf()
factory = ExaminerFactory(shelf)
for number in (0, 1, 5, 9):
    case = cases[number]
    examiner = factory.make(ExaminerSpec("infogain-fast"), case)
    bed = make_bed(case, examiner, default_ward(), shelf.profiles(case), Budget(), 3)
    trace = asyncio.run(bed.run())
    sys.stdout.write(json.dumps(trace.without_clock(), sort_keys=False) + "\\n")
"""


def run_with(hash_seed: str) -> bytes:
    environment = {**os.environ, "PYTHONHASHSEED": hash_seed, "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, "-c", PLAY], cwd=ROOT, env=environment, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout


def test_traces_are_equal_byte_for_byte_under_any_hash_seed() -> None:
    one, other = run_with("0"), run_with("1")
    traces = [json.loads(line) for line in one.splitlines()]
    assert len(traces) == 4 and all(len(trace["turns"]) >= 2 for trace in traces)
    assert sum(len(trace["turns"]) for trace in traces) > 20
    assert one == other
