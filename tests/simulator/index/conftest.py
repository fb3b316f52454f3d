"""Empty databases for tests, and a PostgreSQL server for them: on a free port, in a temporary folder, as a user who is not root."""

from __future__ import annotations

import importlib.util
import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from simulator.store import RunFolder
from simulator.trace import Budget, DialogueTrace, FinalAnswer, Player, RankedDiagnosis, TerminationReason, Turn, Usage

WAIT_S = 60.0
REQUIRED = "BEDSIDE_REQUIRE_POSTGRES"


def programs() -> Path | None:
    """The folder of the server's programs, the newest version first."""
    debian = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: int(path.parent.name), reverse=True)
    found = shutil.which("initdb")
    return next((path for path in [*debian, *([Path(found).parent] if found else [])] if (path / "initdb").exists()), None)


def missing() -> str | None:
    """Why no server can be started here; None if one can."""
    if programs() is None:
        return "PostgreSQL is not installed (Debian package postgresql)"
    if importlib.util.find_spec("psycopg") is None:
        return "psycopg is not installed"
    return None


def _owner() -> str | None:
    """The server refuses to run as root; Debian's package brings a user for it."""
    if os.geteuid() != 0:
        return None
    names = {entry.pw_name for entry in pwd.getpwall()}
    return "postgres" if "postgres" in names else "nobody"


def _free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


@contextmanager
def postgres_server() -> Iterator[str]:
    """Start one; yields its URL without a database name, and ends it."""
    bin_folder, user, port = programs(), _owner(), _free_port()
    assert bin_folder is not None
    # Another user may have no way into the temporary folder of this one.
    folder = Path(tempfile.mkdtemp(prefix="bedside-pg-", dir=None if user is None else "/tmp"))
    if user is not None:
        shutil.chown(folder, user)
    server = None
    try:
        init = [bin_folder / "initdb", "-D", folder / "data", "-U", "bedside", "-A", "trust", "-E", "UTF8", "--no-sync"]
        subprocess.run(init, check=True, user=user, cwd=folder, capture_output=True)
        start = [bin_folder / "postgres", "-D", folder / "data", "-p", str(port), "-k", folder, "-c", "listen_addresses=127.0.0.1"]
        log = (folder / "log").open("wb")
        server = subprocess.Popen(start, user=user, cwd=folder, stdout=log, stderr=log)
        url = f"postgresql://bedside@127.0.0.1:{port}"
        _wait(url, server, folder / "log")
        yield url
    finally:
        if server is not None:
            server.send_signal(signal.SIGINT)  # a SIGTERM would wait for open connections
            try:
                server.wait(WAIT_S)
            except subprocess.TimeoutExpired:
                server.kill()
                server.wait()
        shutil.rmtree(folder, ignore_errors=True)


def _wait(url: str, server: subprocess.Popen[bytes], log: Path) -> None:
    import psycopg

    until = time.monotonic() + WAIT_S
    while True:
        try:
            psycopg.connect(f"{url}/postgres").close()
            return
        except psycopg.OperationalError:
            if server.poll() is not None or time.monotonic() > until:
                raise RuntimeError(log.read_text(errors="replace")[-2000:]) from None
            time.sleep(0.1)


def new_database(url: str, name: str) -> str:
    """An empty database on the server; returns its URL."""
    import psycopg

    with psycopg.connect(f"{url}/postgres", autocommit=True) as connection:
        connection.execute(f'CREATE DATABASE "{name}"')
    return f"{url}/{name}"


@pytest.fixture(scope="session")
def server() -> Iterator[str]:
    reason = missing()
    if reason and os.environ.get(REQUIRED) == "1":
        pytest.fail(f"{REQUIRED}=1, but {reason}")
    if reason:
        pytest.skip(reason)
    with postgres_server() as url:
        yield url


@pytest.fixture(params=["sqlite", "postgresql"])
def database(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """An empty database: every test of this folder runs on both."""
    if request.param == "sqlite":
        return str(tmp_path / "index.sqlite3")
    return new_database(request.getfixturevalue("server"), f"t{uuid.uuid4().hex}")


def _make_trace(number: int, termination: TerminationReason = "examiner_committed", **changes: Any) -> DialogueTrace:
    values: dict[str, Any] = {
        "trace_id": f"trace-{number:016x}",
        "case_id": f"case-{number % 3}",
        "case_sha256": "0" * 64,
        "pool_id": "pool",
        "pool_sha256": "0" * 64,
        "examiner": Player(kind="scripted", id=f"examiner-{number % 2}"),
        "patient": Player(kind="embedded", id="patient"),
        "budget": Budget(),
        "seed": number,
        "kb_version": "1",
        "software_version": "1",
        "started_at": "2026-01-01T00:00:00.000+00:00",
        "finished_at": "2026-01-01T00:01:00.000+00:00",
        "turns": [Turn(idx=0, role="patient", text="頭が痛い"), Turn(idx=1, role="examiner", text="Since when?")],
        "outcome": FinalAnswer(ranked=[RankedDiagnosis(name="Migraine\0", icd10="G43.9", prob=1)]),
        "termination": termination,
        "usage": Usage(prompt_tokens=10, completion_tokens=number, requests=1),
    }
    return DialogueTrace(**{**values, **changes}).sealed()


@pytest.fixture(scope="session")
def make_trace() -> Callable[..., DialogueTrace]:
    return _make_trace


@pytest.fixture(scope="session")
def fill() -> Callable[..., Path]:
    """Append traces to a run folder, which is made if need be."""

    def fill(path: Path, traces: Iterable[DialogueTrace], fingerprint: Mapping[str, Any] | None = None) -> Path:
        with RunFolder(path) as folder:
            folder.open(fingerprint or {"software_version": "1"})
            for trace in traces:
                folder.append(trace)
        return path

    return fill
