"""`python -m tests.bench.scoring RUN --cases CASES [N]`: how long scoring N stored traces takes (10,000), and how much memory.

The run's traces are copied under new ids until there are enough: a set with the run's own lengths. Prints seconds, and milliseconds of CPU
a trace over all processes, for one process and for one a core, with what a first tenth takes. Nothing here passes or fails.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from ontology.documents import content_hash
from ontology.processes import cores


def copies(run: Path, out: Path, count: int) -> None:
    """So many traces, sealed anew under other ids."""
    lines = (run / "traces.jsonl").read_text(encoding="utf-8").splitlines()
    with out.open("w", encoding="utf-8") as file:
        for number in range(count):
            raw = json.loads(lines[number % len(lines)])
            raw.pop("sealed_sha256")
            raw["trace_id"] = f"copy-{number:06d}"
            raw["sealed_sha256"] = content_hash(raw)
            file.write(json.dumps(raw, sort_keys=True, separators=(",", ":"), ensure_ascii=False) + "\n")


def timed(traces: Path, cases: str, processes: int, out: Path | None) -> tuple[float, float, float]:
    """Seconds on the clock, seconds of CPU, and the largest process in MB."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    began = time.perf_counter()
    command = [sys.executable, "-m", "ui.cli", "score", str(traces), "--cases", cases, "--processes", str(processes), "--quiet"]
    command += ["--out", str(out)] if out is not None else []
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env={**os.environ, "PYTHONPATH": "."})
    wall = time.perf_counter() - began
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, after.ru_maxrss / 1024


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("run", type=Path)
    parser.add_argument("--cases", required=True)
    parser.add_argument("count", nargs="?", type=int, default=10_000)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for count in (options.count // 10, options.count):
            traces = Path(folder) / f"{count}.jsonl"
            copies(options.run, traces, count)
            for processes in (cores(), 1) if count < options.count else (cores(),):
                for out in (None, Path(folder) / "cards.jsonl"):
                    wall, cpu, memory = timed(traces, options.cases, processes, out)
                    what = f"{count:,} traces, {processes} processes, {'with cards' if out else 'summary only'}"
                    print(f"{what}: {wall:.1f} s, {cpu / count * 1000:.1f} ms of CPU a trace, {memory:.0f} MB")


if __name__ == "__main__":
    main()
