"""`bedside run` and what follows it: resuming, other settings, broken rows and endpoints, interrupts, scores, replays."""

from __future__ import annotations

import csv
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from simulator.cases_io import write_cases
from simulator.final_answer import render
from simulator.trace import DialogueTrace, FinalAnswer, RankedDiagnosis
from simulator.traces_io import read_traces
from ui import cli
from ui.wiring import form_cases

ROOT = Path(__file__).parents[2]
FORM = ROOT / "data" / "ddxplus_form"
WAIT_S = 60.0


@dataclass(frozen=True)
class Done:
    """How a command ended, and what it printed."""

    code: int
    out: str
    err: str


Bedside = Callable[..., Done]


@pytest.fixture
def bedside(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Bedside:
    """Runs the command's entry point in an empty working folder."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments: str) -> Done:
        monkeypatch.setattr(sys, "argv", ["bedside", *arguments])
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            cli.main()
        printed = capsys.readouterr()
        assert "Traceback" not in printed.err
        return Done(int(ended.value.code or 0), printed.out, printed.err)

    return run


def traces(folder: str = "r") -> list[DialogueTrace]:
    reader = read_traces(folder)
    found = list(reader)
    assert reader.warnings == []
    return found


RUN = ("run", "--out", "r", "--cases", "ddxplus-form", "--examiner", "hasty", "--examiner", "checklist", "--limit", "3")

# -- playing and resuming ---------------------------------------------------------------------------------------------------------------


def test_every_case_meets_every_examiner_with_every_seed(bedside: Bedside) -> None:
    done = bedside(*RUN, "--repeats", "2", "--seed", "5")
    assert (done.code, done.out) == (0, "12 of 12 encounters in r\n")
    cases = [case.case_id for case in form_cases()[:3]]
    expected = {(case, examiner, seed) for case in cases for examiner in ("hasty", "checklist") for seed in (5, 6)}
    assert {(t.case_id, t.examiner.id, t.seed) for t in traces()} == expected
    assert all(t.seal_is_intact() and t.termination == "examiner_committed" for t in traces())


def test_a_finished_run_started_again_does_nothing(bedside: Bedside) -> None:
    bedside(*RUN)
    before = Path("r/traces.jsonl").read_bytes()
    done = bedside(*RUN)
    assert (done.code, done.out) == (0, "6 of 6 encounters in r (6 were there already)\n")
    assert Path("r/traces.jsonl").read_bytes() == before


@pytest.mark.parametrize("kept", range(7))
def test_a_run_goes_on_wherever_it_was_left(bedside: Bedside, kept: int) -> None:
    bedside(*RUN)
    lines = Path("r/traces.jsonl").read_bytes().splitlines(keepends=True)
    Path("r/traces.jsonl").write_bytes(b"".join(lines[:kept]) + (lines[kept][:100] if kept < len(lines) else b""))
    done = bedside(*RUN)
    already = f" ({kept} were there already)" if kept else ""
    assert (done.code, done.out) == (0, f"6 of 6 encounters in r{already}\n")
    assert ("cut short by a crash" in done.err) is (kept < 6)
    assert len({t.trace_id for t in traces()}) == len(traces()) == 6


def test_an_examiner_named_twice_plays_once(bedside: Bedside) -> None:
    assert bedside("run", "--out", "r", "--limit", "2", "--examiner", "hasty", "--examiner", "hasty").out == "2 of 2 encounters in r\n"


@pytest.mark.parametrize(
    ("change", "named"),
    [
        (["--seed", "2"], "seeds[0] (was 1, now 2)"),
        (["--max-turns", "4"], "budget.max_turns (was 20, now 4)"),
        (["--limit", "2"], "cases.count (was 3, now 2)"),
        (["--examiner", "infogain-fast"], "examiners"),
        (["--profiles", "curated"], "kb_version"),
    ],
)
def test_other_settings_are_refused_and_named_unless_forced(bedside: Bedside, change: list[str], named: str) -> None:
    bedside(*RUN)
    before = Path("r/traces.jsonl").read_bytes(), Path("r/run.json").read_bytes()
    done = bedside(*RUN, *change)
    assert done.code == 2 and done.out == "" and done.err.count("\n") == 1
    assert "r: this run folder was made with other settings: " in done.err and named in done.err and "--force" in done.err
    assert (Path("r/traces.jsonl").read_bytes(), Path("r/run.json").read_bytes()) == before
    forced = bedside(*RUN, *change, "--force")
    assert forced.code == 0 and "other settings than this folder's were forced" in forced.err
    assert len(json.loads(Path("r/run.json").read_text())["earlier"]) == 1
    assert bedside(*RUN, *change).code == 0


def test_how_many_play_at_once_is_no_setting_and_changes_nothing(bedside: Bedside) -> None:
    bedside(*RUN, "--concurrency", "1")
    assert bedside(*RUN, "--concurrency", "6").out.endswith("(6 were there already)\n")
    bedside(*RUN[:2], "other", *RUN[3:], "--concurrency", "6")
    one, other = ({t.trace_id: t.without_clock() for t in traces(folder)} for folder in ("r", "other"))
    assert one == other


def test_progress_goes_to_standard_error_and_can_be_silenced(bedside: Bedside) -> None:
    assert bedside(*RUN).err == "6 of 6 encounters\n"
    assert bedside(*RUN[:2], "q", *RUN[3:], "--quiet").err == ""
    done = bedside(*RUN[:2], "j", *RUN[3:], "--json")
    report = json.loads(done.out)
    assert (report["planned"], report["done_now"], report["by_termination"]) == (6, 6, {"examiner_committed": 6})
    assert done.err == ""


def test_an_empty_folder_will_do_and_a_foreign_one_will_not(bedside: Bedside) -> None:
    Path("empty").mkdir()
    assert bedside("run", "--out", "empty", "--limit", "1").code == 0
    Path("mine").mkdir()
    Path("mine/thesis.txt").write_text("x")
    done = bedside("run", "--out", "mine", "--limit", "1")
    assert done.code == 2 and "not a run folder: it holds 'thesis.txt'" in done.err
    assert sorted(p.name for p in Path("mine").iterdir()) == ["thesis.txt"]


def test_a_scripted_examiner_runs(bedside: Bedside) -> None:
    Path("flu.txt").write_text('Do you have a fever?\n{"diagnoses": [{"name": "Influenza", "icd10": "J11"}]}\n')
    assert bedside("run", "--out", "r", "--cases", "ddxplus-form", "--examiner", "script:flu.txt").code == 0
    assert {t.outcome.ranked[0].name for t in traces() if t.outcome} == {"Influenza"}


# -- rows that are broken ---------------------------------------------------------------------------------------------------------------


def test_broken_rows_are_counted_named_and_make_exit_code_3(bedside: Bedside) -> None:
    Path("rel").mkdir()
    for name in ("release_evidences.json", "release_conditions.json"):
        (Path("rel") / name).write_bytes((FORM / name).read_bytes())
    with (FORM / "release_demo_patients.csv").open(encoding="utf-8", newline="") as handle:
        rows = list(csv.reader(handle))
    rows[2][0], rows[5][2] = "old", "?"
    with Path("rel/release_test_patients.csv").open("w", encoding="utf-8", newline="") as handle:
        csv.writer(handle).writerows(rows)
    done = bedside("cases", "import", "ddxplus", "rel", "--out", "c.jsonl", "--quiet")
    assert done.code == 3
    assert done.out == "10 cases written to c.jsonl; 12 rows read, 2 left out\n"
    assert done.err.splitlines() == [
        "left out: release_test_patients.csv:3: AGE 'old' is not an age",
        "left out: release_test_patients.csv:6: SEX '?' is neither M nor F",
    ]
    assert bedside("run", "--out", "r", "--cases", "c.jsonl", "--examiner", "hasty").out == "10 of 10 encounters in r\n"


# -- scoring ----------------------------------------------------------------------------------------------------------------------------


def test_a_run_is_scored_as_often_as_one_likes_with_the_same_result(bedside: Bedside) -> None:
    bedside(*RUN)
    one = bedside("score", "r", "--cases", "ddxplus-form", "--json", "--out", "cards.jsonl")
    assert one.code == 0
    summaries = {raw["examiner_id"]: raw for raw in map(json.loads, one.out.splitlines())}
    assert {name: raw["n_traces"] for name, raw in summaries.items()} == {"hasty": 3, "checklist": 3}
    assert all(raw["profiles"] == "ddxplus" for raw in summaries.values())
    cards = Path("cards.jsonl").read_bytes()
    assert len(cards.splitlines()) == 6
    again = bedside("score", "r/traces.jsonl", "--json", "--out", "cards.jsonl")
    assert again.out == one.out and Path("cards.jsonl").read_bytes() == cards
    table = bedside("score", "r").out
    assert "no one of them ranks" in table and "hasty" in table and "checklist" in table


def test_traces_are_not_scored_with_other_cases_or_after_a_change(bedside: Bedside) -> None:
    bedside(*RUN)
    done = bedside("score", "r", "--cases", "starter")
    assert done.code == 2 and "is not in starter" in done.err and done.err.count("\n") == 1
    text = Path("r/traces.jsonl").read_text()
    Path("r/traces.jsonl").write_text(text.replace('"seed":1', '"seed":2', 1))
    done = bedside("score", "r")
    assert done.code == 4 and "r/traces.jsonl:1: the seal of trace " in done.err  # the others are scored


def test_profiles_counted_on_a_case_do_not_score_it(bedside: Bedside) -> None:
    """Neither to play it, nor to score it afterwards, nor to measure with it."""
    write_cases("fit.jsonl", form_cases()[:3])
    write_cases("rest.jsonl", form_cases()[3:5])
    assert bedside("profiles", "build", "--cases", "fit.jsonl", "--out", "p.jsonl").code == 0
    case = form_cases()[0].case_id
    bedside("run", "--out", "r", "--cases", "fit.jsonl")
    for arguments in (
        ["run", "--out", "x", "--cases", "fit.jsonl", "--profiles", "p.jsonl"],
        ["score", "r", "--cases", "fit.jsonl", "--profiles", "p.jsonl"],
        ["language-cost", "--cases", "fit.jsonl", "--profiles", "p.jsonl"],
    ):
        done = bedside(*arguments)
        assert done.code == 2 and "'counted' were counted on" in done.err and case in done.err, done
    assert not Path("x").exists()
    assert bedside("run", "--out", "y", "--cases", "rest.jsonl", "--profiles", "p.jsonl").code == 0
    assert bedside("score", "y", "--cases", "rest.jsonl", "--profiles", "p.jsonl").code == 0


# -- replaying --------------------------------------------------------------------------------------------------------------------------


def test_a_dialogue_is_replayed_by_number_id_or_beginning(bedside: Bedside) -> None:
    bedside(*RUN)
    found = traces()
    for number, trace in enumerate(found, start=1):
        by_number = bedside("replay", "r", "--trace", str(number))
        assert by_number.code == 0 and by_number.out.startswith(trace.trace_id)
        for wanted in (trace.trace_id, trace.trace_id[:14], trace.trace_id.removeprefix("trace-")[:8]):
            assert bedside("replay", "r", "--trace", wanted).out == by_number.out
        assert all(turn.text in by_number.out for turn in trace.turns)
    assert bedside("replay", "r").out == bedside("replay", "r", "--trace", "1").out
    shown = next(n for n, t in enumerate(found, start=1) if t.examiner.id == "checklist")
    assert "(asked, " in bedside("replay", "r", "--trace", str(shown)).out
    assert "(asked, " not in bedside("replay", "r", "--trace", str(shown), "--no-concepts").out


@pytest.mark.parametrize(
    ("wanted", "part"), [("trace-", "6 traces for"), ("99trace", "no trace for '99trace'"), ("zzz", "no trace for 'zzz'")]
)
def test_a_dialogue_that_is_not_there_or_not_the_only_one_is_refused(bedside: Bedside, wanted: str, part: str) -> None:
    bedside(*RUN)
    done = bedside("replay", "r", "--trace", wanted)
    assert done.code == 2 and part in done.err and done.err.count("\n") == 1


# -- a model behind an endpoint -----------------------------------------------------------------------------------------------------------


class Doctor:
    """An OpenAI-compatible server that gives a final answer, late or never."""

    def __init__(self) -> None:
        self.status = 200
        self.delay_s = 0.0
        self.asked = 0
        self._over = threading.Event()
        doctor = self
        answer = render(FinalAnswer(ranked=[RankedDiagnosis(name="Pneumonia", icd10="J18.9", prob=0.6)]))

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                self.rfile.read(int(self.headers.get("Content-Length") or 0))
                doctor.asked += 1
                late = doctor.delay_s if doctor.asked > 1 else 0  # the first is the check before the run
                if doctor._over.wait(late):
                    return
                message = {"role": "assistant", "content": answer}
                choice = {"index": 0, "finish_reason": "stop", "message": message}
                usage = {"prompt_tokens": 9, "completion_tokens": 3, "total_tokens": 12}
                made = {"id": "x", "object": "chat.completion", "created": 0, "model": "m", "choices": [choice], "usage": usage}
                failed = {"error": {"message": "out of order"}}
                status = doctor.status if doctor.asked > 1 else 200
                self._send(status, made if status == 200 else failed)

            def _send(self, status: int, raw: dict[str, Any]) -> None:
                body = json.dumps(raw).encode()
                try:
                    self.send_response(status)
                    self.send_header("Content-Type", "application/json")
                    self.send_header("Content-Length", str(len(body)))
                    self.end_headers()
                    self.wfile.write(body)
                except OSError:
                    self.close_connection = True

            def log_message(self, format: str, *args: object) -> None:
                """Quiet."""

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.http.daemon_threads = True
        threading.Thread(target=self.http.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()

    @property
    def options(self) -> tuple[str, ...]:
        return ("--examiner", "model", "--model", "m", "--base-url", f"http://127.0.0.1:{self.http.server_address[1]}/v1")

    def close(self) -> None:
        self._over.set()
        self.http.shutdown()
        self.http.server_close()


@pytest.fixture
def doctor() -> Iterator[Doctor]:
    made = Doctor()
    yield made
    made.close()


def test_a_model_plays_and_its_tokens_are_counted(bedside: Bedside, doctor: Doctor) -> None:
    assert bedside("run", "--out", "r", "--limit", "2", *doctor.options).code == 0
    for trace in traces():
        assert (trace.examiner.kind, trace.examiner.model, trace.examiner.endpoint) == ("model", "m", "127.0.0.1")
        assert (trace.usage.prompt_tokens, trace.usage.completion_tokens, trace.usage.requests) == (9, 3, 1)
    assert doctor.asked == 3


def test_an_endpoint_that_fails_makes_exit_code_4_no_scores_and_nothing_lost(bedside: Bedside, doctor: Doctor) -> None:
    doctor.status = 500
    once = ("--max-retries", "0", "--concurrency", "1", "--second-tries", "0")
    command = ("run", "--out", "r", "--cases", "ddxplus-form", "--limit", "3", *once, *doctor.options)
    done = bedside(*command)
    assert done.code == 4 and done.out == "0 of 3 encounters in r\n"
    assert done.err.count("infrastructure_error") == 3 and "out of order" in done.err
    assert traces() == [] and len(Path("r/errors.jsonl").read_text().splitlines()) == 3
    empty = bedside("score", "r")
    assert empty.code == 2 and "holds no trace" in empty.err
    doctor.status = 200
    again = bedside(*command)
    assert (again.code, again.out) == (0, "3 of 3 encounters in r\n")
    assert Counter(t.termination for t in traces()) == {"examiner_committed": 3}


def test_an_endpoint_that_is_down_is_given_up_and_the_rest_left_for_later(bedside: Bedside, doctor: Doctor) -> None:
    doctor.status = 500
    at_once = ("--max-retries", "0", "--concurrency", "1", "--patience", "0")
    done = bedside("run", "--out", "r", "--cases", "ddxplus-form", *at_once, *doctor.options)
    assert done.code == 4 and doctor.asked == 6
    assert "m: endpoint down, 7 encounters left out" in done.err


# -- Ctrl-C -----------------------------------------------------------------------------------------------------------------------------


def started(folder: Path, *arguments: str, **more: Any) -> subprocess.Popen[str]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "ui.cli", *arguments]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, cwd=folder, env=environment, stdout=pipe, stderr=pipe, text=True, **more)


def wait_until(ready: Callable[[], bool], process: subprocess.Popen[str]) -> None:
    end = time.monotonic() + WAIT_S
    while not ready():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < end, "it never got so far"
        time.sleep(0.02)


def interrupted(process: subprocess.Popen[str]) -> tuple[int, str, str]:
    process.send_signal(signal.SIGINT)
    try:
        out, err = process.communicate(timeout=WAIT_S)
    finally:
        process.kill()
    assert "Traceback" not in err
    return process.returncode, out, err


def test_ctrl_c_while_a_model_thinks_leaves_a_folder_that_goes_on(bedside: Bedside, doctor: Doctor, tmp_path: Path) -> None:
    doctor.delay_s = 0.4
    command = ("run", "--out", "r", "--cases", "ddxplus-form", "--concurrency", "2", *doctor.options)
    process = started(tmp_path, *command)
    record = tmp_path / "r/traces.jsonl"
    wait_until(lambda: record.exists() and record.stat().st_size > 0 and doctor.asked >= 6, process)
    code, out, err = interrupted(process)
    assert code == 130 and "interrupted: start the same command again to go on" in err
    finished = len(traces())
    assert 0 < finished < 12 and out == f"{finished} of 12 encounters in r\n"
    doctor.delay_s = 0.0
    done = bedside(*command)
    assert (done.code, done.out) == (0, f"12 of 12 encounters in r ({finished} were there already)\n")
    assert len({t.trace_id for t in traces()}) == len(traces()) == 12
    assert list(Path("r/journal").iterdir()) == []


def test_ctrl_c_is_heard_though_reference_examiners_never_wait(tmp_path: Path) -> None:
    process = started(tmp_path, "run", "--out", "r", "--cases", "ddxplus-form", "--examiner", "checklist", "--repeats", "500")
    record = tmp_path / "r/traces.jsonl"
    wait_until(lambda: record.exists() and record.stat().st_size > 0, process)
    code, out, err = interrupted(process)
    assert code == 130 and "interrupted" in err
    assert 0 < len(list(read_traces(tmp_path / "r"))) < 6000 and " of 6000 encounters in r" in out


def test_ctrl_c_leaves_a_game_at_once(tmp_path: Path) -> None:
    process = started(tmp_path, "play", "--case", "1", stdin=subprocess.PIPE)
    assert process.stdout is not None
    while "patient: " not in (line := process.stdout.readline()):
        assert line, process.communicate()
    time.sleep(0.3)  # into the prompt
    process.send_signal(signal.SIGINT)
    try:
        code = process.wait(timeout=WAIT_S)  # its input is still open: nothing more needs to be typed
        _, err = process.communicate()
    finally:
        process.kill()
    assert code == 130 and "Traceback" not in err
