"""A user's mistake is one line on standard error that says what, where and how to mend it; never a traceback, never exit code 0."""

from __future__ import annotations

import gzip
import json
import os
import re
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from simulator.cases_io import write_cases
from ui import cli
from ui.wiring import bundled_cases, starter_cases

ROOT = Path(__file__).parents[2]
FORM = ROOT / "data" / "ddxplus_form"

Mistake = Callable[..., str]


@pytest.fixture
def mistake(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Mistake:
    """Runs a command that must be refused, in a folder of its own; returns the one line that says why."""
    monkeypatch.chdir(tmp_path)
    for name in ("OPENAI_API_KEY", "BEDSIDE_CASES", "BEDSIDE_PROFILES"):
        monkeypatch.delenv(name, raising=False)

    def run(*arguments: str) -> str:
        monkeypatch.setattr(sys, "argv", ["bedside", *arguments])
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            cli.main()
        printed = capsys.readouterr()
        assert ended.value.code == 2, printed
        assert printed.out == ""
        assert printed.err.startswith("bedside: ") and printed.err.endswith("\n") and printed.err.count("\n") == 1, printed.err
        assert "Traceback" not in printed.err
        return printed.err

    return run


class Web:
    """A server on this machine that answers one thing to everything, and counts."""

    def __init__(self, status: int, content_type: str, body: bytes) -> None:
        self.asked = 0
        web = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                self.rfile.read(int(self.headers.get("Content-Length") or 0))
                web.asked += 1
                self.send_response(status)
                self.send_header("Content-Type", content_type)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            do_GET = do_POST

            def log_message(self, format: str, *args: object) -> None:
                """Quiet."""

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.port = self.http.server_address[1]
        threading.Thread(target=self.http.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()


@pytest.fixture
def page() -> Iterator[Web]:
    """A web page where an endpoint should be."""
    web = Web(200, "text/html", b"<!doctype html><html><body>Welcome</body></html>")
    yield web
    web.http.shutdown()
    web.http.server_close()


MODEL = ("run", "--out", "r", "--examiner", "model", "--model", "m")


# -- names and paths -------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        (
            ["cases", "list", "--cases", "starters"],
            ["starters: no such file, folder or bundled set", "bundled sets: starter, ddxplus-form"],
        ),
        (["cases", "list", "--cases", "gone.jsonl"], ["gone.jsonl: no such file"]),
        (["cases", "stats", "--cases", "."], [".: no case files in this folder", ".jsonl"]),
        (["cases", "show", "99"], ["no case '99'", f"from 1 to {len(starter_cases())}"]),
        (["cases", "show", "0"], ["no case '0'"]),
        (["cases", "show", "case-ffffffffffff"], ["no case 'case-ffffffffffff'"]),
        (["cases", "import", "mimic", "x", "--out", "c.jsonl"], ["no source is called 'mimic'", "known: ddxplus"]),
        (["cases", "import", "ddxplus", "gone", "--out", "c.jsonl"], ["gone: no such folder"]),
        (["cases", "import", "ddxplus", ".", "--out", "c.jsonl"], ["release_evidences.json: file missing"]),
        (["cases", "import", "ddxplus", str(FORM), "--split", "test", "--out", "c.jsonl"], ["no patient file of test"]),
        (["cases", "import", "ddxplus", str(FORM), "--out", "c.parquet"], ["c.parquet: cases are written as JSON lines", ".jsonl"]),
        (["cases", "import", "ddxplus", str(FORM), "--out", "/dev/null/c.jsonl"], ["/dev/null/c.jsonl: cannot be written"]),
        (["run", "--out", "r", "--examiner", "houses"], ["no examiner is called 'houses'", "known: hasty, silent, random, checklist"]),
        (["run", "--out", "r", "--examiner", "script:gone.txt"], ["gone.txt: cannot be read (No such file"]),
        (["run", "--out", "r", "--cases", "gone"], ["gone: no such file, folder or bundled set"]),
        (["run", "--out", "/dev/null/r", "--limit", "1"], ["/dev/null/r: cannot be used as a run folder"]),
        (["run", "--out", "r", "--profiles", "gone.jsonl"], ["gone.jsonl: cannot be read", "bedside profiles build"]),
        (["score", "gone"], ["gone: no such file or folder"]),
        (["score", "."], [".: not a run folder"]),
        (["replay", "gone"], ["gone: no such file or folder"]),
        (["schema", "Patient"], ["no document is called 'Patient'", "PatientVector"]),
        (["profiles", "show", "nothing-itis"], ["no disease 'nothing-itis' in curated"]),
        (["profiles", "show", "--profiles", "gone"], ["gone: cannot be read"]),
        (["profiles", "build", "--cases", "starter", "--out", "/dev/null/p.jsonl"], ["/dev/null/p.jsonl: cannot be written"]),
        (["profiles", "build", "--cases", "starter", "--split", "test", "--out", "p.jsonl"], ["no case of split test"]),
        (["language-cost", "--examiner", "model"], ["'model' is not a reference examiner"]),
        (["play", "--case", "120"], ["no case '120'"]),
        (["play", "--case", "1", "--save", "gone/t.jsonl"], ["gone/t.jsonl: cannot be written", "a folder that exists"]),
        (["play", "--case", "1", "--save", "."], [".: cannot be written"]),
    ],
)
def test_what_is_not_there_is_named(mistake: Mistake, arguments: list[str], parts: list[str]) -> None:
    line = mistake(*arguments)
    assert all(part in line for part in parts), line


def test_a_refused_run_leaves_no_folder_behind(mistake: Mistake) -> None:
    mistake("run", "--out", "r", "--examiner", "houses")
    mistake("run", "--out", "r", "--cases", "gone")
    mistake("run", "--out", "r", "--examiner", "model")
    assert not Path("r").exists()


# -- malformed files -------------------------------------------------------------------------------------------------------------------


def case_line() -> str:
    return starter_cases()[0].to_json()


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("{broken\n", "c.jsonl:1: not valid JSON"),
        ("{}\n", "c.jsonl:1: schema_version None of this PatientVector is not known here"),
        ("\n", "c.jsonl: holds no case"),
        ("[]\n", "must be a JSON object"),
    ],
)
@pytest.mark.parametrize(
    "command", [["cases", "list"], ["cases", "stats"], ["run", "--out", "r"], ["play"], ["profiles", "build", "--out", "p.jsonl"]]
)
def test_malformed_cases_are_refused_with_file_and_line(mistake: Mistake, command: list[str], text: str, part: str) -> None:
    Path("c.jsonl").write_text(text)
    assert part in mistake(*command, "--cases", "c.jsonl")


def test_the_line_that_is_wrong_is_named(mistake: Mistake) -> None:
    Path("c.jsonl").write_text(case_line() + "\n\n" + case_line().replace('"sex":"', '"sex":"?') + "\n")
    assert "c.jsonl:3: not a valid PatientVector: patient_facts.sex" in mistake("cases", "list", "--cases", "c.jsonl")


def test_a_broken_gzip_is_refused(mistake: Mistake) -> None:
    whole = gzip.compress((case_line() + "\n").encode() * 20, mtime=0)
    for broken in (
        whole[: len(whole) // 2],
        whole[:-4],
        b"\x1f\x8b" + b"\0" * 40,
        b"plain text",
        whole[:40] + b"\xff\xff\xff" + whole[43:],
    ):
        Path("c.jsonl.gz").write_bytes(broken)
        assert "c.jsonl.gz:" in mistake("cases", "list", "--cases", "c.jsonl.gz")


def test_a_wrong_column_is_named(mistake: Mistake) -> None:
    for name in ("release_evidences.json", "release_conditions.json"):
        Path(name).write_bytes((FORM / name).read_bytes())
    Path("release_test_patients.csv").write_text("AGE,SEX,PATHOLOGY,EVIDENCES\n40,F,GERD,[]\n")
    line = mistake("cases", "import", "ddxplus", ".", "--out", "c.jsonl")
    assert (
        "release_test_patients.csv: column DIFFERENTIAL_DIAGNOSIS, INITIAL_EVIDENCE missing (found: AGE, SEX, PATHOLOGY, EVIDENCES)" in line
    )
    assert not Path("c.jsonl").exists()


def test_malformed_descriptions_profiles_params_and_traces_are_refused(mistake: Mistake) -> None:
    for name in ("release_evidences.json", "bad.json", "bad.toml", "traces.jsonl", "p.jsonl"):
        Path(name).write_text("{broken")
    assert "release_evidences.json" in mistake("cases", "import", "ddxplus", ".", "--out", "c.jsonl")
    assert "p.jsonl:1: not valid JSON" in mistake("profiles", "show", "--profiles", "p.jsonl")
    assert "p.jsonl:1: not valid JSON" in mistake("run", "--out", "r", "--profiles", "p.jsonl")
    for params in ("bad.json", "bad.toml", "gone.toml"):
        assert params in mistake("score", "traces.jsonl", "--params", params)
    Path("traces.jsonl").write_text("{broken\n")
    for command in ("score", "replay"):
        assert "traces.jsonl:1" in mistake(command, "traces.jsonl")


def test_profiles_are_not_counted_over_an_open_world(mistake: Mistake) -> None:
    raw = json.loads(case_line())
    raw["provenance"]["world_assumption"] = "open"
    Path("c.jsonl").write_text(json.dumps(raw) + "\n")
    assert "open-world case" in mistake("profiles", "build", "--cases", "c.jsonl", "--out", "p.jsonl")
    assert not Path("p.jsonl").exists()


# -- endpoints -------------------------------------------------------------------------------------------------------------------------


def test_a_model_needs_an_address_and_a_name(mistake: Mistake) -> None:
    assert "needs --base-url and --model" in mistake("run", "--out", "r", "--examiner", "model")
    assert "needs --base-url and --model" in mistake(*MODEL)
    assert "needs --base-url and --model" in mistake("run", "--out", "r", "--examiner", "model", "--base-url", "http://127.0.0.1:1/v1")


def test_an_endpoint_that_is_not_there_ends_the_run_before_it_begins(mistake: Mistake) -> None:
    assert "it cannot be reached" in mistake(*MODEL, "--base-url", "http://127.0.0.1:1/v1")
    assert not Path("r").exists()


def test_a_web_page_is_no_endpoint(mistake: Mistake, page: Web) -> None:
    line = mistake(*MODEL, "--base-url", f"http://127.0.0.1:{page.port}/v1")
    assert "endpoint m (127.0.0.1)" in line and "<html>" not in line
    assert not Path("r").exists() and page.asked >= 1


@pytest.mark.parametrize(
    ("address", "part"),
    [
        ("localhost:8000/v1", "not an address"),
        ("ftp://localhost/v1", "not an address"),
        ("http://user:secret@localhost/v1", "must not hold a user name or a password"),
        ("http://127.0.0.1:99999/v1", "not an address"),
        ("http://127.0.0.1:1/v1/chat/completions", "end it with /v1"),
    ],
)
def test_a_malformed_address_is_refused_and_no_secret_repeated(mistake: Mistake, address: str, part: str) -> None:
    line = mistake(*MODEL, "--base-url", address)
    assert part in line and "secret" not in line


def test_a_key_is_given_by_the_name_of_a_variable(mistake: Mistake, monkeypatch: pytest.MonkeyPatch, page: Web) -> None:
    there = ("--base-url", f"http://127.0.0.1:{page.port}/v1", "--api-key-env")
    monkeypatch.delenv("MY_KEY", raising=False)
    assert "the environment variable MY_KEY is not set or empty" in mistake(*MODEL, *there, "MY_KEY")
    monkeypatch.setenv("MY_KEY", "  ")
    assert "the environment variable MY_KEY is not set or empty" in mistake(*MODEL, *there, "MY_KEY")
    line = mistake(*MODEL, *there, "sk-abcdef123456")
    assert "not the name of an environment variable" in line and "abcdef" not in line
    assert page.asked == 0


def test_a_case_that_must_not_be_passed_on_is_refused_before_anything_is_sent(mistake: Mistake, page: Web) -> None:
    """0.0.0.0 reaches this machine, but it is no spelling of it that is trusted: so the test can see that nothing arrives."""
    case = bundled_cases()[0]
    closed = case.model_copy(update={"provenance": case.provenance.model_copy(update={"redistributable": False})})
    write_cases("c.jsonl", [bundled_cases()[1], closed])
    there = ("--cases", "c.jsonl", "--base-url", f"http://0.0.0.0:{page.port}/v1")
    line = mistake(*MODEL, *there)
    assert "may not be passed on, and 0.0.0.0 is neither this machine nor marked as trusted" in line
    assert page.asked == 0 and not Path("r").exists()
    mistake(*MODEL, *there, "--trusted-endpoint", "http://elsewhere.example/v1")
    assert page.asked == 0
    mistake(*MODEL, *there, "--trusted-endpoint", f"http://0.0.0.0:{page.port}/v1")  # refused for being a web page only
    assert page.asked > 0


# -- options ---------------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "arguments",
    [
        ["run", "--out", "r", "--force", "False"],
        ["run", "--out", "r", "--quiet", "false"],
        ["run", "--out", "r", "--quiet=False"],
        ["cases", "list", "--json", "no"],
        ["cases", "list", "--json=0"],
        ["replay", "r", "--concepts", "False"],
        ["cases", "show", "1", "--truth=False"],
        ["run"],
        ["run", "--out", "r", "--limit", "0"],
        ["run", "--out", "r", "--repeats", "0"],
        ["run", "--out", "r", "--concurrency", "0"],
        ["run", "--out", "r", "--max-turns", "-1"],
        ["run", "--out", "r", "--seed", "-1"],
        ["run", "--out", "r", "--temperature", "3"],
        ["run", "--out", "r", "--timeout", "0"],
        ["run", "--out", "r", "--no-such-option"],
        ["cases", "list", "--limit", "three"],
        ["no-such-command"],
        ["cases", "no-such-command"],
    ],
)
def test_options_are_checked_and_a_switch_takes_no_word(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path, arguments: list[str]
) -> None:
    """`--flag False` must never mean true."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["bedside", *arguments])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    printed = capsys.readouterr()
    assert ended.value.code == 2 and printed.out == ""
    assert re.fullmatch(r"bedside: .+; see --help\n", printed.err)
    assert not Path("r").exists()


# -- in a process of its own -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "arguments",
    [
        ["cases", "list", "--cases", "gone.jsonl"],
        ["run", "--out", "r", "--examiner", "model", "--model", "m", "--base-url", "http://127.0.0.1:1/v1"],
    ],
)
def test_the_process_ends_with_code_2_and_one_line(tmp_path: Path, arguments: list[str]) -> None:
    command = [sys.executable, "-m", "ui.cli", *arguments]
    done = subprocess.run(command, cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("bedside: ") and done.stderr.count("\n") == 1
