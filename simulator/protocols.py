"""The plug points of an encounter. Only text passes between the players."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any, Protocol, runtime_checkable

from ontology.mentions import Act, Mention
from simulator.case import ExaminerView, PatientVector
from simulator.trace import DialogueTrace, Player, ProtocolNote, RankedDiagnosis, Turn, Usage


@dataclass(frozen=True)
class Line:
    """What a player sees of a past turn: who spoke, and the words."""

    role: str
    text: str


@dataclass(frozen=True)
class Move:
    """An examiner's message: the words, and nothing else that the other side could use.

    `text` may end in the final-answer block of `simulator.final_answer`; the encounter parses it from the words.
    """

    text: str
    usage: Usage | None = None
    notes: tuple[ProtocolNote, ...] = ()
    snapshot: tuple[RankedDiagnosis, ...] = ()
    """the examiner's working differential, if it keeps one; recorded, never shown to the other side"""


@dataclass(frozen=True)
class Situation:
    """What an examiner knows when it is its turn."""

    view: ExaminerView
    lines: Sequence[Line]
    turns_left: int
    must_commit: bool
    seed: int


class ExaminerFailure(Exception):
    """The examiner could not make a valid move (empty, refusal, unparseable, context overflow)."""


class InfrastructureFailure(Exception):
    """The endpoint failed: not the examiner's fault, never scored."""


class PatientFailure(Exception):
    """The patient's orchestrator failed: not the examiner's fault, never scored."""


class Abandoned(Exception):
    """A person left the encounter."""


@runtime_checkable
class Examiner(Protocol):
    """Asks, and finally answers. One instance may play many encounters at once: all state is in the situation."""

    @property
    def player(self) -> Player:
        """How the trace names this examiner."""
        ...

    async def move(self, situation: Situation) -> Move:
        """The next message.

        Raises:
            ExaminerFailure: no valid move could be made.
            InfrastructureFailure: the endpoint failed.
            Abandoned: a person left.
        """
        ...


@dataclass(frozen=True)
class Reply:
    """An answer of the patient or the record, with what was said about which fact."""

    text: str
    acts: tuple[Act, ...] = ()
    mentions: tuple[Mention, ...] = ()
    truncated_answer: bool = False
    usage: Usage | None = None


@dataclass(frozen=True)
class Reading:
    """How the patient's side understood an examiner turn: acts and mentions on that turn."""

    acts: tuple[Act, ...] = ()
    mentions: tuple[Mention, ...] = ()


class Patient(Protocol):
    """Answers from the pool. Bound to one case."""

    @property
    def player(self) -> Player:
        """How the trace names this patient."""
        ...

    def read(self, text: str, turns: Sequence[Turn]) -> Reading:
        """Understand an examiner turn; `turns` are those before it."""
        ...

    async def reply(self, turn: Turn, turns: Sequence[Turn], rng: Random) -> list[tuple[str, Reply]]:
        """Answer: (role, reply) pairs, role being `patient` or `record`, in order of speaking."""
        ...


class TurnObserver(Protocol):
    """Is told of every turn as it is made: the journal, a progress bar, a page."""

    def on_turn(self, turn: Turn) -> None:
        """Called once for every turn, in order."""
        ...


class Scorer(Protocol):
    """Handed to code below metrics that needs a score (import rule of the architecture)."""

    def __call__(self, trace: DialogueTrace, case: PatientVector) -> Mapping[str, Any]:
        """Scores by name."""
        ...
