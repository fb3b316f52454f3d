"""Kills at random moments against a failing endpoint, a small disk, a cache that cannot be written.

`python tests/bench/chaos_kills.py`: the checks of tests/ui/test_run_chaos.py at a length that the suite has no time for. Ends with an error
if a set of encounters differs.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from random import Random

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.chaos import ChaosServer
from tests.ui.test_run_chaos import command, content, ended, forked, options
from ui.runs import run_cases

ROOT = Path(__file__).parents[2]
KILLS = int(os.environ.get("BENCH_KILLS", "20"))
MOST_STARTS = 40


def kills(folder: Path, expected: dict[str, object]) -> None:
    rng = Random(5)
    met = killed = 0
    with ChaosServer(share=0.2, seed=9, delay_s=0.9, latency_s=0.02) as server:
        for _ in range(KILLS):
            wanted = sum(server.calls.values()) + rng.randint(2, 12)
            child = forked(command(server, folder), folder.parent / "said")
            while sum(server.calls.values()) < wanted and os.waitpid(child, os.WNOHANG) == (0, 0):
                time.sleep(0.002)
            try:
                os.kill(child, signal.SIGKILL)
            except ProcessLookupError:  # it ended before it could be killed
                continue
            ended(child)
            killed += 1
            met += len(list((folder / "journal").iterdir()))
            assert content(folder).items() <= expected.items()
        starts = 1
        while ended(forked(command(server, folder), folder.parent / "said")) != 0:
            starts += 1
            assert starts < MOST_STARTS
        assert content(folder) == expected and not list((folder / "journal").iterdir())
        failed = sum(count for kind, count in server.calls.items() if kind not in ("fine", "trial"))
        print(f"{killed} kills, {met} encounters under way then, {failed} of {sum(server.calls.values())} calls failed,", end=" ")
        print(f"{starts} starts to the end: the same {len(expected)} encounters")


def small_disk(folder: Path, expected: dict[str, object]) -> None:
    folder.mkdir()
    made = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=96k", "tmpfs", str(folder)], capture_output=True, text=True, check=False)
    if made.returncode != 0:
        print(f"small disk: a tmpfs cannot be mounted here ({made.stderr.strip()}); tests/ui/test_run_chaos.py limits the size of files")
        return
    try:
        with ChaosServer(share=0.0) as server:
            said = folder.parent / "said"
            code = ended(forked(command(server, folder / "run"), said))
            assert code == 2 and "make room on the disk" in said.read_text() and "Traceback" not in said.read_text(), said.read_text()
            before = len(content(folder / "run"))
            subprocess.run(["mount", "-o", "remount,size=8m", str(folder)], check=True)
            assert ended(forked(command(server, folder / "run"), said)) == 0
            assert content(folder / "run") == expected
            print(f"small disk: one line and exit code 2 after {before} of {len(expected)} encounters; with room, the same encounters")
    finally:
        subprocess.run(["umount", str(folder)], check=False)


def no_cache(folder: Path) -> None:
    nowhere = "/proc/self/nowhere"
    homes = {"HOME": nowhere, "BEDSIDE_CACHE_DIR": f"{nowhere}/cache", "XDG_CACHE_HOME": nowhere, "XDG_DATA_HOME": nowhere}
    line = [sys.executable, "-m", "ui.cli", "run", "--out", str(folder), "--limit", "1", "--examiner", "hasty"]
    done = subprocess.run(line, env={**os.environ, "PYTHONPATH": str(ROOT), **homes}, capture_output=True, text=True, check=False)
    assert done.returncode == 0 and "Traceback" not in done.stderr, done.stderr
    print(f"no home and no cache to write to: {done.stdout.strip()}")


def main() -> None:
    folder = Path(tempfile.mkdtemp(prefix="bedside-chaos-"))
    try:
        with ChaosServer(share=0.0) as server:
            assert run_cases(options(server, folder / "well")) == 0
        expected = content(folder / "well")
        kills(folder / "killed", expected)
        small_disk(folder / "small", expected)
        no_cache(folder / "bare")
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
