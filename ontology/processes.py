"""Work spread over processes: in order, spawned, ended with their parent, deaf to Ctrl-C.

Processes are spawned, not forked: a script that asks for several must keep its own work under `if __name__ == "__main__":`.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, suppress
from multiprocessing.connection import Connection
from typing import ParamSpec, TypeVar

from ontology.errors import BedsideError

P = ParamSpec("P")
T = TypeVar("T")

AHEAD = 3
"""Pieces of work under way for each process: enough that none waits, few enough that memory stays bounded."""


class Crew:
    """Processes at work; see `crew`."""

    def __init__(self, pool: ProcessPoolExecutor) -> None:
        self._pool = pool

    def submit(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Give one of them a piece of work; the function and what it is given must be picklable."""
        with _interrupts_held():
            return self._pool.submit(work, *args, **kwargs)


@contextmanager
def crew(workers: int, doing: str, mend: str) -> Iterator[Crew]:
    """Processes that end at once, whatever they are at, when the block is left or this process ends.

    Args:
        workers: how many.
        doing: what they do, for the message: "a process that <doing> died".
        mend: what to do about that.

    Raises:
        BedsideError: one of them died.
    """
    import multiprocessing

    spawn = multiprocessing.get_context("spawn")
    lifeline, own_end = spawn.Pipe(duplex=False)
    pool = ProcessPoolExecutor(workers, spawn, _begin_worker, (lifeline,))
    try:
        yield Crew(pool)
    except BrokenProcessPool:
        raise BedsideError(f"a process that {doing} died", "workers", mend) from None
    finally:
        own_end.close()
        pool.shutdown(cancel_futures=True)
        lifeline.close()


def cores() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _begin_worker(lifeline: Connection) -> None:
    """Leave interrupts to the parent, and end when it lets go of the other end of the lifeline, be it by its own end."""
    import threading

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with, args=(lifeline,), daemon=True).start()


def _end_with(lifeline: Connection) -> None:
    with suppress(EOFError, OSError):
        lifeline.recv_bytes()
    os._exit(0)


@contextmanager
def _interrupts_held() -> Iterator[None]:
    """Hold Ctrl-C back while a process starts: it would die of it, with a traceback, before it could say that it does not mind."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
