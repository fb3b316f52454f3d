"""`make bench`: figures for people to read; nothing here passes or fails."""

from __future__ import annotations

import asyncio
import resource
import subprocess
import sys
import time

from ontology.annotator import annotate_examiner
from simulator.build import default_ward, make_bed
from simulator.trace import Budget
from ui.wiring import Bookshelf, ExaminerFactory, ExaminerSpec, bundled_cases

REPEATS = 5


def cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def main() -> None:
    began = time.perf_counter()
    ward = default_ward()
    print(f"vocabulary and pool loaded in {time.perf_counter() - began:.2f} s")
    asks = [ask for row in ward.vocabulary.rows.values() for ask in row.ask]
    began = cpu()
    for ask in asks:
        annotate_examiner(ask, ward.vocabulary)
    per_ask = (cpu() - began) / len(asks)
    print(f"annotating {len(asks)} questions: {1 / per_ask:,.0f} a CPU second")
    shelf = Bookshelf()
    factory = ExaminerFactory(shelf)
    turns = 0
    spent = 0.0
    for case in bundled_cases():
        examiner = factory.make(ExaminerSpec("checklist"), case)
        for seed in range(REPEATS):
            began = cpu()
            bed = make_bed(case, examiner, ward, shelf.profiles(case), Budget(), seed)
            trace = asyncio.run(bed.run())
            spent += cpu() - began
            turns += len(trace.turns)
    print(f"encounters: {1000 * spent / turns:.2f} ms of CPU a turn over {turns} turns, {1000 * per_ask:.3f} of them annotation")
    began = time.perf_counter()
    for _ in range(REPEATS):
        subprocess.run([sys.executable, "-m", "ui.cli", "--help"], check=True, capture_output=True)
    help_time = (time.perf_counter() - began) / REPEATS
    began = time.perf_counter()
    for _ in range(REPEATS):
        code = "from ontology.icd10 import normalise, sdd; sdd(normalise('i21.4'), normalise('I2102'))"
        subprocess.run([sys.executable, "-c", code], check=True)
    print(f"first ICD-10 distance of a process, table cached: {(time.perf_counter() - began) / REPEATS:.2f} s")
    print(f"bedside --help: {help_time:.2f} s")


if __name__ == "__main__":
    main()
