"""Keeps finished encounters: one sealed trace a line, never half a line, also when two servers share a folder."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ontology.errors import BedsideError
from simulator.trace import DialogueTrace
from simulator.traces_io import TRACES, Appender, move_aside, sealed_line, unended_tail

LOCK = ".lock"


class TraceKeeper:
    """Appends traces to `traces.jsonl` in a folder, which `simulator.traces_io.read_traces` reads."""

    def __init__(self, folder: Path) -> None:
        """Make the folder if need be.

        Raises:
            BedsideError: it cannot be made or written to.
        """
        self.file = folder / TRACES
        try:
            folder.mkdir(parents=True, exist_ok=True)
            (folder / LOCK).touch()
        except OSError as error:
            raise BedsideError(f"cannot be written ({error.strerror or error})", str(folder), "choose another folder with --save") from None

    def keep(self, trace: DialogueTrace) -> None:
        """Write one trace; on return it is on the disk.

        Raises:
            BedsideError: it could not be written; the file is as it was before.
        """
        try:
            with _locked(self.file.with_name(LOCK)):
                torn = unended_tail(self.file)
                if torn is not None:
                    move_aside(self.file, torn)
                appender = Appender(self.file)
                try:
                    appender.append(sealed_line(trace))
                finally:
                    appender.close()
        except OSError as error:
            raise BedsideError(f"cannot be written ({error.strerror or error})", str(self.file)) from None


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Hold the folder's lock, waiting for it."""
    handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
    try:
        try:
            import fcntl  # not on Windows, where one server a folder has to do
        except ImportError:
            yield
            return
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)  # closing lets the lock go
