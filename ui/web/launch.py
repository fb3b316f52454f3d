"""Serves the page: address, port, log-in and the folder for finished traces; every mistake is one line."""

from __future__ import annotations

import ipaddress
import socket
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from ontology.errors import BedsideError

if TYPE_CHECKING:
    from simulator.case import PatientVector
    from simulator.trace import Budget
    from ui.wiring import Bookshelf

DEFAULT_PORT = 7860
PORTS_TRIED = 50


def launch_page(host: str, port: int | None, cases: str | None, save: Path | None, auth_file: Path | None) -> None:
    """Serve the bundled cases and, beside them, those of a file or folder, until interrupted: `bedside ui`.

    Args:
        host: address to listen on.
        port: port; None: 7860 or the next free one.
        cases: further cases.
        save: folder for finished traces; None: the user's data folder.
        auth_file: lines `user:password`.

    Raises:
        BedsideError: the address cannot be served, or a file is not as it should be.
    """
    auth = read_auth(auth_file) if auth_file is not None else None
    check_host(host, auth is not None)
    from ui.wiring import Bookshelf, bundled_cases, load_cases

    offered = {case.case_id: case for case in [*bundled_cases(), *(load_cases(cases) if cases else [])]}
    launch(host, port, list(offered.values()), Bookshelf(), save or played_folder(), auth)


def launch(
    host: str,
    port: int | None,
    cases: Sequence[PatientVector],
    shelf: Bookshelf,
    save: Path | None,
    auth: Sequence[tuple[str, str]] | None = None,
    budget: Budget | None = None,
) -> None:
    """Serve cases until interrupted.

    Args:
        host: address to listen on.
        port: port; None: 7860 or the next free one.
        cases: the cases on offer.
        shelf: profiles and knowledge of each.
        save: folder for finished traces; None: they are not kept.
        auth: who may log in; required when the address is not a loopback one.
        budget: turns for each consultation.

    Raises:
        BedsideError: the address cannot be served, the folder not be written to, or a case not be scored with its profiles.
    """
    check_host(host, bool(auth))
    shelf.check(cases)
    listening = bind(host, port)
    try:
        _serve(listening, host, cases, shelf, save, auth, budget)
    finally:
        listening.close()


def _serve(
    listening: socket.socket,
    host: str,
    cases: Sequence[PatientVector],
    shelf: Bookshelf,
    save: Path | None,
    auth: Sequence[tuple[str, str]] | None,
    budget: Budget | None,
) -> None:
    from ui.web.app import create_app, quiet_gradio

    quiet_gradio()
    import uvicorn

    from metrics.scorecard import score_trace
    from simulator.build import default_ward
    from simulator.trace import Budget
    from ui.web.diagnoses import DiagnosisReader
    from ui.web.saving import TraceKeeper
    from ui.web.session import Room

    keeper = TraceKeeper(save) if save is not None else None
    knowledge = {id(known): known for known in map(shelf.knowledge, cases)}
    room = Room(
        cases={case.case_id: case for case in cases},
        ward=default_ward(),
        profiles=shelf.profiles,
        score=lambda trace, case: score_trace(trace, case, shelf.knowledge(case)),
        budget=budget or Budget(),
        keep=keeper.keep if keeper is not None else None,
    )
    app = create_app(room, DiagnosisReader(cases, knowledge.values()), auth, loopback_only=not auth)
    config = uvicorn.Config(app, log_level="warning", access_log=False, timeout_graceful_shutdown=3)
    if keeper is not None:
        sys.stderr.write(f"Finished consultations are kept in {keeper.file}\n")
    sys.stdout.write(f"Bedside: {address(host, listening.getsockname()[1])} (Ctrl+C ends it)\n")
    sys.stdout.flush()
    with suppress(KeyboardInterrupt):  # the ordinary way to end it; by now all consultations are closed and kept
        uvicorn.Server(config).run(sockets=[listening])


def played_folder() -> Path:
    """Where finished traces are kept by default."""
    from platformdirs import user_data_dir

    return Path(user_data_dir("bedside")) / "played"


def is_loopback(host: str) -> bool:
    """Whether an address is reached from this machine only."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def check_host(host: str, with_auth: bool) -> None:
    """Refuse an address that others can reach, unless they have to log in.

    Raises:
        BedsideError: they need not.
    """
    if not with_auth and not is_loopback(host):
        what = "other machines can reach this address, and nobody would have to log in"
        raise BedsideError(what, host, "give --auth-file with lines user:password")


def read_auth(path: Path) -> list[tuple[str, str]]:
    """Users and passwords: lines `user:password`; blank lines and those that begin with # are left out.

    Raises:
        BedsideError: the file cannot be read, a line is malformed (passwords are never shown), a user is there twice, or there is none.
    """
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not UTF-8 text"
        raise BedsideError(f"cannot be read ({reason})", str(path)) from None
    found: dict[str, str] = {}
    for number, line in enumerate(lines, start=1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        user, colon, password = line.partition(":")
        if not colon or not user.strip() or not password:
            raise BedsideError("not a line user:password", f"{path}:{number}")
        if user.strip() in found:
            raise BedsideError(f"the user {user.strip()!r} is there twice", f"{path}:{number}")
        found[user.strip()] = password
    if not found:
        raise BedsideError("names no user", str(path), "write lines user:password")
    return list(found.items())


def bind(host: str, port: int | None) -> socket.socket:
    """A listening socket on a port, or on the first free one from 7860.

    Raises:
        BedsideError: the port is busy, the address is not one of this machine's, or no port is free.
    """
    wanted = [port] if port is not None else range(DEFAULT_PORT, DEFAULT_PORT + PORTS_TRIED)
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    for candidate in wanted:
        listening = socket.socket(family, socket.SOCK_STREAM)
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listening.bind((host, candidate))
            listening.listen(128)
        except OSError as error:
            listening.close()
            reason = error.strerror or str(error)
            if port is not None:
                raise BedsideError(f"cannot be listened on ({reason})", address(host, port), "give another --port, or none") from None
            if not _is_busy(error):
                raise BedsideError(f"cannot be listened on ({reason})", host, "give an address of this machine with --host") from None
        else:
            return listening
    raise BedsideError(f"ports {DEFAULT_PORT} to {DEFAULT_PORT + PORTS_TRIED - 1} are all busy", host, "give a free one with --port")


def _is_busy(error: OSError) -> bool:
    import errno

    return error.errno in (errno.EADDRINUSE, errno.EACCES)


def address(host: str, port: int) -> str:
    """The page's address."""
    return f"http://{f'[{host}]' if ':' in host else host}:{port}/"
