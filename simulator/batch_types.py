"""What the batch engine takes and what it tells."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field
from typing import Literal

from simulator.protocols import TurnObserver
from simulator.trace import DialogueTrace, TerminationReason, Turn

DEFAULT_BREAKER = 5
"""Consecutive infrastructure errors after which an endpoint, or one examiner on it, counts as down."""

ProgressEvent = Literal[
    "started", "finished", "failed", "done_before", "repeated", "endpoint_paused", "endpoint_back", "endpoint_down", "skipped"
]
"""`failed` will be played again, at the end of its lane or at the next start; `endpoint_paused`, `endpoint_back` and `endpoint_down` come
once for each change, with the lane's name; `skipped` for each job left out after the latter."""


@dataclass(frozen=True)
class Job:
    """One encounter to be played.

    Args:
        trace_id: the id its trace will have (`simulator.encounter.trace_id_of`).
        label: the examiner's name: in progress messages, and for telling which examiner fails.
        play: plays it and returns the sealed trace; told whom to tell of every turn. May be called again after an infrastructure error.
    """

    trace_id: str
    label: str
    play: Callable[[TurnObserver], Awaitable[DialogueTrace]]


@dataclass(frozen=True)
class Lane:
    """The encounters that one endpoint serves: they wait for each other's places, and for nobody else's.

    Args:
        name: the endpoint's, in messages.
        jobs: taken one at a time as places become free.
        concurrency: encounters under way at most, at least 1.
    """

    name: str
    jobs: Iterable[Job]
    concurrency: int


@dataclass(frozen=True)
class Policy:
    """What is done about failing endpoints.

    Args:
        breaker: consecutive infrastructure errors after which a lane is paused, and one examiner's jobs in it are left out.
        patience_s: how long a paused lane is tried again now and then before the rest of it is left out.
        rounds: how often an encounter that ended by an infrastructure error is played again after all others of its lane.
    """

    breaker: int = DEFAULT_BREAKER
    patience_s: float = 0.0
    rounds: int = 0


@dataclass(frozen=True)
class Failure:
    """An encounter that an endpoint or the patient's side broke; its trace is in errors.jsonl."""

    trace_id: str
    label: str
    termination: TerminationReason
    detail: str | None


@dataclass
class Tally:
    """What was played and used in this process, also by encounters that broke; tokens as far as endpoints count them."""

    turns: int = 0
    requests: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0

    def count(self, turn: Turn) -> None:
        """Count a turn."""
        self.turns += 1
        if turn.usage is not None and turn.usage.requests:  # none: an answer kept from before, which is not paid for again
            self.requests += turn.usage.requests
            self.prompt_tokens += turn.usage.prompt_tokens or 0
            self.completion_tokens += turn.usage.completion_tokens or 0


@dataclass
class BatchResult:
    """What became of the jobs: planned = done_before + done_now + failures + skipped + cut_short."""

    planned: int = 0
    """different jobs taken from the iterators; all there are, unless interrupted"""
    done_before: int = 0
    done_now: int = 0
    cut_short: int = 0
    """under way when the batch was interrupted; they start again"""
    repeated: int = 0
    """jobs with the id of an earlier job (the same case twice), left out and not in `planned`"""
    by_termination: Counter[TerminationReason] = field(default_factory=Counter)
    """of the encounters played now, failures too; how each ended last, if it was played again"""
    failures: list[Failure] = field(default_factory=list)
    mended: int = 0
    """of `done_now`: broke at first and were finished when they were played again"""
    skipped: Counter[str] = field(default_factory=Counter)
    """label → jobs left out because its endpoint is down"""
    under_way: int = 0
    tallies: dict[str, Tally] = field(default_factory=dict)
    """by label"""
    interrupted: bool = False

    @property
    def complete(self) -> bool:
        """Whether every encounter is in the record, so that starting again would do nothing."""
        return not self.interrupted and self.planned == self.done_before + self.done_now


Progress = Callable[[ProgressEvent, str, BatchResult], None]
"""Called with the event, the label of the job (or the lane's name) and the counts so far (live: read, do not keep)."""
