"""A run whose endpoint fails on a fifth of its calls, which is killed, or whose disk is full, ends like an undisturbed one."""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest

from simulator.batch import Policy
from simulator.endpoint import Endpoint
from simulator.traces_io import read_traces
from tests.chaos import FAULTS, ChaosServer
from ui import cli
from ui.runs import EndpointOptions, Manner, RunOptions, carry_out, make_plan, run_cases
from ui.wiring import form_cases

ROOT = Path(__file__).parents[2]
WAIT_S = 120.0
MOST_STARTS = 25
CASES, RETRIES = 12, 2


def options(server: ChaosServer, out: Path, concurrency: int = 16) -> RunOptions:
    endpoint = EndpointOptions(server.base_url, "chaos", timeout_s=0.6, max_retries=RETRIES)
    manner = Manner(quiet=True, policy=Policy(patience_s=0, rounds=1))
    return RunOptions(out, "ddxplus-form", ("model",), limit=CASES, max_turns=12, concurrency=concurrency, endpoint=endpoint, manner=manner)


def content(folder: Path) -> dict[str, Any]:
    """The finished encounters by id, but for the clock and for how many requests they took, which faults change."""
    reader = read_traces(folder)
    found: dict[str, Any] = {}
    for trace in reader:
        raw = trace.without_clock()
        for part in (raw, *raw["turns"]):
            if part.get("usage"):
                part["usage"].pop("requests")
        assert trace.trace_id not in found, "a second trace of one encounter"
        found[trace.trace_id] = raw
    assert reader.warnings == []
    return found


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[ChaosServer, dict[str, Any]]]:
    """A server, and what a run against it comes to while it behaves. Its address is part of no trace but for the host."""
    with ChaosServer(share=0.0) as server:
        folder = tmp_path_factory.mktemp("chaos") / "well"
        assert run_cases(options(server, folder)) == 0
        assert len(content(folder)) == CASES
        yield server, content(folder)
        server.share = 0.0


def test_a_fifth_of_the_calls_failing_in_every_way_changes_no_encounter(
    tmp_path: Path, undisturbed: tuple[ChaosServer, dict[str, Any]], capsys: pytest.CaptureFixture[str]
) -> None:
    expected = undisturbed[1]
    with ChaosServer(share=0.2, seed=3, delay_s=0.9) as server:
        starts = 1
        while (code := run_cases(options(server, tmp_path / "run"))) != 0:
            assert code == 4 and starts < MOST_STARTS
            starts += 1
    assert {fault for fault in FAULTS if server.calls[fault]} == set(FAULTS), "every kind of fault came"
    assert content(tmp_path / "run") == expected
    assert list((tmp_path / "run/journal").iterdir()) == []
    errors = list(read_traces(tmp_path / "run/errors.jsonl")) if (tmp_path / "run/errors.jsonl").stat().st_size else []
    assert {trace.termination for trace in errors} <= {"infrastructure_error"}
    assert max(server.bodies.values()) <= starts * 2 * (1 + RETRIES), "every call is bounded"
    assert "Traceback" not in capsys.readouterr().err


def command(server: ChaosServer, out: Path) -> list[str]:
    how = ["--limit", str(CASES), "--max-turns", "12", "--concurrency", "3", "--timeout", "0.6", "--max-retries", str(RETRIES)]
    where = ["--examiner", "model", "--model", "chaos", "--base-url", server.base_url, "--patience", "0", "--quiet"]
    return ["bedside", "run", "--out", str(out), "--cases", "ddxplus-form", *how, *where]


def forked(line: list[str], said: Path, before: Callable[[], None] = lambda: None) -> int:
    """The command in a process of its own, which starts at once since all is loaded; returns its id. Standard error goes to a file."""
    child = os.fork()
    if child:
        return child
    code = 99
    try:
        before()
        sys.argv, sys.stdout, sys.stderr = line, open(os.devnull, "w"), said.open("w", buffering=1)
        cli.main()
    except SystemExit as ended:
        code = int(ended.code or 0)
    finally:
        os._exit(code)


def ended(child: int) -> int:
    """How a process ended: its exit code, or minus the signal."""
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def test_killed_at_random_moments_it_goes_on_and_ends_the_same(tmp_path: Path, undisturbed: tuple[ChaosServer, dict[str, Any]]) -> None:
    server, expected = undisturbed
    rng = Random(11)
    folder = tmp_path / "run"
    server.latency_s = 0.02
    left = []
    for _ in range(5):
        wanted = sum(server.calls.values()) + rng.randint(4, 24)
        child = forked(command(server, folder), tmp_path / "said")
        end = time.monotonic() + WAIT_S
        while sum(server.calls.values()) < wanted and time.monotonic() < end:
            time.sleep(0.002)
        os.kill(child, signal.SIGKILL)
        assert ended(child) == -signal.SIGKILL, "it ended before it could be killed"
        left.append(len(list((folder / "journal").iterdir())))
        assert content(folder).items() <= expected.items()
    server.latency_s = 0.0
    assert max(left) > 0, "no kill met an encounter under way"
    assert ended(forked(command(server, folder), tmp_path / "said")) == 0, (tmp_path / "said").read_text()
    assert content(folder) == expected
    assert list((folder / "journal").iterdir()) == []


def test_a_full_disk_ends_the_run_in_one_line_and_the_next_start_completes_it(
    tmp_path: Path, undisturbed: tuple[ChaosServer, dict[str, Any]]
) -> None:
    server, expected = undisturbed
    said = tmp_path / "said"
    child = forked(command(server, tmp_path / "run"), said, lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (40_000, 40_000)))
    assert ended(child) == 2
    line = said.read_text()
    assert "could not be written" in line and "make room on the disk" in line
    assert "Traceback" not in line and line.count("\n") == 1
    assert 0 < len(content(tmp_path / "run")) < CASES
    assert run_cases(options(server, tmp_path / "run")) == 0
    assert content(tmp_path / "run") == expected


def test_a_home_that_cannot_be_written_does_not_matter(tmp_path: Path) -> None:
    """Under /proc nothing can be made, not even by root. A cache that cannot be written either is tried in tests/bench/chaos_kills.py."""
    nowhere = "/proc/self/nowhere"
    homes = {"HOME": nowhere, "XDG_CACHE_HOME": nowhere, "XDG_DATA_HOME": nowhere}
    where = {**os.environ, "PYTHONPATH": str(ROOT), **homes}
    line = [sys.executable, "-m", "ui.cli", "run", "--out", str(tmp_path / "run"), "--limit", "1", "--examiner", "hasty", "--json"]
    done = subprocess.run(line, env=where, capture_output=True, text=True, timeout=WAIT_S, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["done_now"] == 1


def test_a_run_over_known_answers_asks_nothing_and_marks_them(tmp_path: Path) -> None:
    calls: list[int] = []
    with ChaosServer(share=0.0) as server:
        for name in ("one", "two"):
            manner = Manner(quiet=True, cache=tmp_path / "answers.sqlite3")
            assert run_cases(replace(options(server, tmp_path / name), limit=3, manner=manner)) == 0
            calls.append(server.calls["fine"])
    assert calls[0] == calls[1] > 0
    one, two = (list(read_traces(tmp_path / name)) for name in ("one", "two"))
    assert {t.trace_id: [turn.text for turn in t.turns] for t in one} == {t.trace_id: [turn.text for turn in t.turns] for t in two}
    marks = [[note.code for turn in t.turns for note in turn.notes].count("answer_from_cache") for t in two]
    assert marks == [sum(turn.role == "examiner" for turn in t.turns) for t in two] and all(t.usage.requests == 0 for t in two)


def test_one_dead_endpoint_of_two_leaves_the_others_encounters_complete(
    tmp_path: Path, undisturbed: tuple[ChaosServer, dict[str, Any]]
) -> None:
    server, expected = undisturbed
    plan = make_plan(options(server, tmp_path / "run"), list(form_cases()))
    dead = Endpoint.of(name="dead", base_url="http://127.0.0.1:9/v1", model="m", max_retries=0)
    both = [plan.examiners[0], type(plan.examiners[0])("model2", dead, "dead", 4)]
    plan = type(plan)(plan.cases, both, plan.seeds, plan.budget, plan.shelf, plan.factory)
    assert carry_out(plan, tmp_path / "run", Manner(quiet=True, start_anyway=True, policy=Policy(rounds=1))) == 4
    assert content(tmp_path / "run") == expected
