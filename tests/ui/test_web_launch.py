"""Serving the page: addresses, ports, log-in, the kept traces, and what every response carries."""

from __future__ import annotations

import asyncio
import json
import socket
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from ontology.errors import BedsideError
from simulator.build import default_ward, make_bed
from simulator.examiners.scripted import ScriptedExaminer
from simulator.trace import Budget, DialogueTrace
from simulator.traces_io import read_traces
from ui.web import launch
from ui.web.app import HEADERS, create_app
from ui.web.saving import TraceKeeper
from ui.web.session import Room
from ui.wiring import Bookshelf, starter_cases

GCA = next(case for case in starter_cases() if case.ground_truth.disease_id == "gca")


# -- addresses ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("host", ["127.0.0.1", "127.8.9.1", "::1", "localhost"])
def test_a_loopback_address_needs_no_log_in(host: str) -> None:
    launch.check_host(host, with_auth=False)


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.2", "example.org", ""])
def test_any_other_address_does(host: str) -> None:
    with pytest.raises(BedsideError, match="--auth-file"):
        launch.check_host(host, with_auth=False)
    launch.check_host(host, with_auth=True)


def test_the_refusal_comes_before_anything_is_loaded() -> None:
    with pytest.raises(BedsideError, match="log in"):
        launch.launch_page("0.0.0.0", None, "no such file", None, None)


def test_a_busy_port_is_refused_when_named_and_passed_over_when_not(monkeypatch: pytest.MonkeyPatch) -> None:
    with launch.bind("127.0.0.1", None) as busy:
        taken = busy.getsockname()[1]
        with pytest.raises(BedsideError, match=f"127.0.0.1:{taken}"):
            launch.bind("127.0.0.1", taken)
        monkeypatch.setattr(launch, "DEFAULT_PORT", taken)
        with launch.bind("127.0.0.1", None) as free:
            assert taken < free.getsockname()[1] < taken + launch.PORTS_TRIED
        monkeypatch.setattr(launch, "PORTS_TRIED", 1)
        with pytest.raises(BedsideError, match="all busy"):
            launch.bind("127.0.0.1", None)


def test_an_address_of_another_machine_cannot_be_listened_on() -> None:
    with pytest.raises(BedsideError, match="--host"):
        launch.bind("192.0.2.1", None)


def test_the_printed_address_can_be_opened() -> None:
    assert launch.address("127.0.0.1", 7860) == "http://127.0.0.1:7860/"
    assert launch.address("::1", 7860) == "http://[::1]:7860/"


# -- log-in ---------------------------------------------------------------------------------------------------------


def test_users_are_read_and_a_password_may_hold_colons_and_blanks(tmp_path: Path) -> None:
    file = tmp_path / "users"
    file.write_text("# who may play\n\nanna:one:two three\n bob :x\n", encoding="utf-8")
    assert launch.read_auth(file) == [("anna", "one:two three"), ("bob", "x")]


@pytest.mark.parametrize(
    ("content", "what"),
    [
        ("anna\n", "users:1"),
        ("a:b\n:secretword\n", "users:2"),
        ("anna:\n", "users:1"),
        ("a:secretword\na:other\n", "twice"),
        ("# nobody\n", "no user"),
    ],
)
def test_a_malformed_user_file_is_refused_without_showing_a_password(tmp_path: Path, content: str, what: str) -> None:
    file = tmp_path / "users"
    file.write_text(content, encoding="utf-8")
    with pytest.raises(BedsideError, match=what) as caught:
        launch.read_auth(file)
    assert "secretword" not in caught.value.line()


def test_a_missing_user_file_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(BedsideError, match="cannot be read"):
        launch.read_auth(tmp_path / "nobody")


# -- kept traces ----------------------------------------------------------------------------------------------------


def a_trace(seed: int) -> DialogueTrace:
    shelf = Bookshelf()
    examiner = ScriptedExaminer(["Any fever? 😀", '{"diagnoses": ["Migraine"]}'])
    return asyncio.run(make_bed(GCA, examiner, default_ward(), shelf.profiles(GCA), Budget(), seed).run())


def test_kept_traces_are_read_back_by_everything_else(tmp_path: Path) -> None:
    keeper = TraceKeeper(tmp_path / "new" / "folder")
    traces = [a_trace(seed) for seed in range(3)]
    for trace in traces:
        keeper.keep(trace)
    reader = read_traces(keeper.file.parent)
    assert list(reader) == traces
    assert reader.warnings == []


def test_two_servers_may_share_a_folder(tmp_path: Path) -> None:
    traces = [a_trace(seed) for seed in range(24)]
    keepers = [TraceKeeper(tmp_path), TraceKeeper(tmp_path)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda item: keepers[item[0] % 2].keep(item[1]), enumerate(traces)))
    assert {trace.trace_id for trace in read_traces(tmp_path)} == {trace.trace_id for trace in traces}


def test_a_line_that_a_crash_cut_short_is_set_aside(tmp_path: Path) -> None:
    keeper = TraceKeeper(tmp_path)
    keeper.keep(a_trace(1))
    with keeper.file.open("ab") as file:
        file.write(b'{"schema_version": "1.0", "trace')
    keeper.keep(a_trace(2))
    assert len(list(read_traces(tmp_path))) == 2
    assert (tmp_path / "traces.torn").read_bytes().startswith(b'{"schema_version"')


def test_a_folder_that_cannot_be_made_is_refused_at_once(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(BedsideError, match="--save"):
        TraceKeeper(tmp_path / "file" / "folder")


# -- the application ------------------------------------------------------------------------------------------------


def get(app: Any, path: str, host: str) -> tuple[int, dict[bytes, bytes], bytes]:
    """One request, straight to the application."""
    sent: list[dict[str, Any]] = []

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": "GET",
        "scheme": "http",
        "path": path,
        "raw_path": path.encode(),
        "query_string": b"",
        "root_path": "",
        "headers": [(b"host", host.encode())],
        "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", 80),
    }
    asyncio.run(app(scope, receive, send))
    body = b"".join(message.get("body", b"") for message in sent if message["type"] == "http.response.body")
    return sent[0]["status"], dict(sent[0]["headers"]), body


@pytest.fixture(scope="module")
def room() -> Room:
    shelf = Bookshelf()
    cases = {case.case_id: case for case in starter_cases()}
    return Room(cases, default_ward(), shelf.profiles, lambda trace, case: pytest.fail("nothing is scored here"))


@pytest.fixture(scope="module")
def app(room: Room) -> Any:
    from ui.web.diagnoses import DiagnosisReader

    return create_app(room, DiagnosisReader(room.cases.values(), []))


@pytest.mark.parametrize("host", ["127.0.0.1:7860", "localhost", "[::1]:7860", "LOCALHOST:1"])
def test_a_request_to_this_machine_is_answered_and_bound_to_it(app: Any, host: str) -> None:
    status, headers, body = get(app, "/", host)
    assert status == 200
    assert b"Bedside" in body
    assert headers.items() >= HEADERS.items()
    policy = headers[b"content-security-policy"].decode()
    assert "connect-src 'self'" in policy and "http:" not in policy and "https:" not in policy and "*" not in policy


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example:7860", "", "192.168.1.2"])
def test_a_request_under_another_name_is_not(app: Any, host: str) -> None:
    status, _, body = get(app, "/", host)
    assert status == 421 and b"Bedside" not in body


def test_nothing_that_is_served_before_a_commit_names_a_truth(app: Any, room: Room) -> None:
    served = b"".join(get(app, path, "localhost")[2] for path in ("/", "/config")).decode()
    assert json.loads(get(app, "/config", "localhost")[2])["components"]
    for case in room.cases.values():
        truth = case.ground_truth
        assert truth.primary.name not in served
        for code in truth.primary.icd10:
            assert code not in served


def test_no_event_of_the_page_is_a_public_interface(app: Any) -> None:
    config = json.loads(get(app, "/config", "localhost")[2])
    assert config["dependencies"]
    assert {found["api_visibility"] for found in config["dependencies"]} == {"private"}
    assert config["analytics_enabled"] is False


def test_with_users_the_page_is_closed_to_others(room: Room) -> None:
    from ui.web.diagnoses import DiagnosisReader

    closed = create_app(room, DiagnosisReader([], []), auth=[("anna", "secretword")], loopback_only=False)
    status, _, body = get(closed, "/config", "wherever.example")
    assert status == 401
    assert b"secretword" not in body and GCA.presentation.opening_text.encode() not in body


def test_the_command_says_one_line_when_the_port_is_busy() -> None:
    with socket.create_server(("127.0.0.1", 0)) as busy:
        port = str(busy.getsockname()[1])
        command = [sys.executable, "-c", "from ui.cli import main; main()", "ui", "--port", port]
        ended = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert ended.returncode == 2
    assert len(ended.stderr.strip().splitlines()) == 1 and port in ended.stderr
