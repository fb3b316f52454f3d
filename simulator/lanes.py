"""The state of one lane of the batch engine: where its next job comes from, and whether its endpoint is up (a circuit breaker)."""

from __future__ import annotations

import asyncio
from collections import Counter, deque
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from simulator.batch_types import Job, Lane

MOST_KEPT = 10_000
"""Encounters that broke and are kept to be played again; more are left to the next start, so that memory stays bounded."""


@dataclass
class Attempt:
    """A job, and how often it has been played again."""

    job: Job
    number: int = 0


class LaneState:
    """A lane under way.

    Jobs pass while `open` is set. While it is not, one encounter at a time tries the endpoint and the others wait. If that goes on for too
    long, the lane is given up: its jobs are left out.
    """

    FIRST_WAIT_S: ClassVar[float] = 15.0
    LONGEST_WAIT_S: ClassVar[float] = 240.0

    def __init__(self, lane: Lane) -> None:
        self.lane = lane
        self.open = asyncio.Event()
        self.open.set()
        self._at_end = False
        self._jobs: Iterator[Job] = iter(lane.jobs)
        self._again: deque[Attempt] = deque()
        self._given_up = False
        self._labels_down: set[str] = set()
        self._in_a_row = 0
        self._label_in_a_row: Counter[str] = Counter()

    def take(self) -> Attempt | None:
        """The next job: those never played first, then those that broke."""
        if not self._at_end:
            job = next(self._jobs, None)
            if job is not None:
                return Attempt(job)
            self._at_end = True
        return self._again.popleft() if self._again else None

    def has_more(self) -> bool:
        """Whether jobs are left, as far as is known without taking one."""
        return not self._at_end or bool(self._again)

    def name_for(self, label: str) -> str:
        """The lane's name, or else the examiner's."""
        return self.lane.name or label

    def is_down(self, label: str) -> bool:
        """Whether an examiner's jobs are left out."""
        return self._given_up or label in self._labels_down

    def went_well(self, label: str) -> bool:
        """Count an encounter that the endpoint did not break; returns whether that ends a pause."""
        self._in_a_row = 0
        self._label_in_a_row[label] = 0
        if self.open.is_set():
            return False
        self._label_in_a_row.clear()
        self.open.set()
        return True

    def broke(self, attempt: Attempt, rounds: int) -> None:
        """Count an infrastructure error, and keep the encounter for later."""
        self._in_a_row += 1
        self._label_in_a_row[attempt.job.label] += 1
        if attempt.number < rounds and len(self._again) < MOST_KEPT:
            self._again.append(Attempt(attempt.job, attempt.number + 1))

    def claim(self, attempt: Attempt) -> None:
        """Take an encounter that is to be tried now off those kept for later."""
        self._again = deque(kept for kept in self._again if kept.job.trace_id != attempt.job.trace_id)

    def should_pause(self, breaker: int) -> bool:
        """Whether the whole lane has failed so often in a row that it is to be paused now."""
        return self.open.is_set() and not self._given_up and self._in_a_row >= breaker

    def gives_up(self, label: str, breaker: int) -> bool:
        """Whether one examiner has failed so often in a row that its jobs are left out from now on; true once."""
        if self._given_up or not self.open.is_set() or label in self._labels_down or self._label_in_a_row[label] < breaker:
            return False
        self._labels_down.add(label)
        return True

    def close(self) -> None:
        """Hold all workers before their next job."""
        self.open.clear()

    def give_up(self) -> None:
        """Leave the rest out."""
        self._given_up = True
        self.open.set()
