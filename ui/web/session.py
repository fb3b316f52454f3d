"""A consultation played from a page: one encounter as a task, and the register of those under way. Knows nothing of the page itself."""

from __future__ import annotations

import asyncio
import logging
import re
import secrets
import time
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from metrics.scores import Scorecard
from ontology.errors import BedsideError
from ontology.profiles import ProfileSet
from simulator.build import Ward, make_bed
from simulator.case import ExaminerView, PatientVector
from simulator.encounter import SELF_ANSWER
from simulator.examiners.live import LiveExaminer, MoveQueue
from simulator.final_answer import parse_message, render
from simulator.protocols import Abandoned, Move, Situation
from simulator.trace import SCORED_REASONS, Budget, DialogueTrace, FinalAnswer, Turn

LOG = logging.getLogger(__name__)

MAX_CHARS = 2000
"""Longest message; what goes beyond is cut, with a note."""
MAX_NOTES = 20_000
DOUBLE_CLICK_S = 1.0
"""The same words again within this time are one message sent twice, not two turns."""
CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u200b\u2028-\u202e\u2066-\u2069\ufeff]")
IDLE_S = 4 * 3600.0
"""A consultation nobody touched for so long is closed."""
MAX_SESSIONS = 1000

Phase = Literal["asking", "thinking", "must_commit", "committed", "left", "broken"]
"""asking: the person's turn; thinking: the patient's; must_commit: the turns are used up; the others are ends."""
OVER: frozenset[str] = frozenset({"committed", "left", "broken"})
ENDS: dict[str, Phase] = {"examiner_committed": "committed", "abandoned": "left"}


@dataclass(frozen=True)
class Room:
    """What all consultations of one server share.

    Attributes:
        cases: the cases on offer, by id.
        ward: vocabulary and pool.
        profiles: the profile set of a case.
        score: the scorecard of a finished trace.
        budget: turns for each consultation.
        seed: a new seed for each consultation; the trace records it.
        keep: stores a finished trace; None: nothing is stored.
        now: the time in seconds.
    """

    cases: Mapping[str, PatientVector]
    ward: Ward
    profiles: Callable[[PatientVector], ProfileSet]
    score: Callable[[DialogueTrace, PatientVector], Scorecard]
    budget: Budget = field(default_factory=Budget)
    seed: Callable[[], int] = lambda: secrets.randbelow(2**31)
    keep: Callable[[DialogueTrace], None] | None = None
    now: Callable[[], float] = time.monotonic


@dataclass(frozen=True)
class Snapshot:
    """A consultation as the page may show it before the commit: nothing of the truth."""

    phase: Phase
    view: ExaminerView
    turns: tuple[Turn, ...]
    asked: int
    max_turns: int
    notes: str
    note: str | None = None
    """what is to be said of the last message"""

    @property
    def next_turn(self) -> int:
        """Number of the turn the person is about to take, from 1."""
        return min(self.asked + 1, self.max_turns)


@dataclass(frozen=True)
class Sent:
    """What became of a message: whether it was sent, and a note for the person if there is something to say."""

    accepted: bool
    note: str | None = None


@dataclass(frozen=True)
class Debrief:
    """All that is shown after the commit; `card` is None if the trace could not be scored, `problem` says why."""

    case: PatientVector
    trace: DialogueTrace
    card: Scorecard | None
    problem: str | None
    notes: str


class PlaySession:
    """One person, one case, one encounter. Made and used within one running event loop."""

    def __init__(self, case: PatientVector, room: Room, player: str) -> None:
        """Begin the consultation; `wait` returns once the opening has been said.

        Args:
            case: the case.
            room: what all consultations share.
            player: a pseudonym, for the trace.
        """
        self._case = case
        self._room = room
        self._view = case.examiner_view()
        self._queue = MoveQueue()
        self._turns: list[Turn] = []
        self._situation: Situation | None = None
        self._settled = asyncio.Event()
        self._trace: DialogueTrace | None = None
        self._card: Scorecard | None = None
        self._problem: str | None = None
        self._notes = ""
        self._note: str | None = None
        self._last: tuple[str, float] = ("", -DOUBLE_CLICK_S)
        self.draft: tuple[Any, ...] = ()
        """what the commit form holds so far, for a page that is loaded again"""
        bed = make_bed(case, LiveExaminer(player, self._ask), room.ward, room.profiles(case), room.budget, room.seed())
        self._task = asyncio.create_task(self._play(bed.run(self)))
        self._task.add_done_callback(self._ended)

    # -- what the encounter calls -----------------------------------------------------------------------------------

    def on_turn(self, turn: Turn) -> None:
        """Collect a turn; see `simulator.protocols.TurnObserver`."""
        self._turns.append(turn)

    async def _ask(self, situation: Situation) -> Move:
        self._situation = situation
        self._settled.set()
        return await self._queue.ask(situation)

    async def _play(self, run: Coroutine[None, None, DialogueTrace]) -> None:
        trace = await run
        problems: list[str] = []
        try:
            if self._room.keep is not None:
                await asyncio.to_thread(self._room.keep, trace)
        except BedsideError as error:
            problems.append(f"This consultation could not be saved: {error.line()}")
        try:
            if trace.termination in SCORED_REASONS:
                self._card = await asyncio.to_thread(self._room.score, trace, self._case)
        except BedsideError as error:
            problems.append(f"This consultation could not be scored: {error.line()}")
        self._problem = " ".join(problems) or None
        self._trace = trace

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._situation = None
        self._settled.set()
        error = None if task.cancelled() else task.exception()
        if error is not None:
            LOG.error("a consultation broke off", exc_info=error)

    # -- what the page calls ----------------------------------------------------------------------------------------

    @property
    def phase(self) -> Phase:
        """Whose turn it is, or how the consultation ended."""
        if self._task.done():
            if self._trace is None:
                return "left" if self._task.cancelled() else "broken"
            return ENDS.get(self._trace.termination, "broken")
        if not self._settled.is_set() or self._situation is None:
            return "thinking"
        return "must_commit" if self._situation.must_commit else "asking"

    def snapshot(self) -> Snapshot:
        """The consultation as it stands."""
        asked = sum(turn.role == "examiner" for turn in self._turns)
        return Snapshot(self.phase, self._view, tuple(self._turns), asked, self._room.budget.max_turns, self._notes, self._note)

    def write_notes(self, text: str) -> None:
        """Keep the person's notes; they are theirs alone and never part of the trace."""
        self._notes = text.encode("utf-8", "replace").decode("utf-8")[:MAX_NOTES]

    def send(self, text: str) -> Sent:
        """Say something to the patient or order something; then `wait` for what comes back.

        Args:
            text: the words; more than MAX_CHARS are cut.
        """
        words, now = cleaned(text), self._room.now()
        cut = len(words) > MAX_CHARS
        words = words[:MAX_CHARS].rstrip()
        if words and words == self._last[0] and now - self._last[1] < DOUBLE_CLICK_S:
            return Sent(True)
        refusal = self._not_now() or _unfit(words)
        if refusal is not None:
            return Sent(False, refusal)
        self._last = (words, now)
        self._move(Move(words))
        self._note = f"Only the first {MAX_CHARS:,} characters were sent." if cut else None
        return Sent(True, self._note)

    def _not_now(self) -> str | None:
        if self.phase in OVER:
            return "This consultation has ended."
        if self.phase == "must_commit":
            return "All turns are used. Commit your diagnosis now."
        return "The patient is still answering." if self.phase == "thinking" else None

    def commit(self, answer: FinalAnswer) -> str | None:
        """Commit the final answer: there is no way back.

        Returns:
            why it was not accepted; None: it was, and `wait` returns when it has been scored.
        """
        if self.phase not in ("asking", "must_commit"):
            return "This consultation has ended." if self.phase in OVER else "Wait for the patient's answer first."
        words = render(answer)
        if parse_message(words).answer != answer:
            return "The answer holds something that cannot be recorded. Write it in plain words."
        self._move(Move(words))
        return None

    def abandon(self, why: str = "left by the person") -> None:
        """End the consultation without a diagnosis; it is kept as abandoned, and not scored."""
        if self.phase not in OVER:
            self._settled.clear()
            self._queue.put(Abandoned(why))

    async def wait(self, seconds: float | None = None) -> bool:
        """Wait until the person is due again or the consultation is over.

        Args:
            seconds: at most so long; None: however long it takes.

        Returns:
            whether that is so now.
        """
        if self._settled.is_set():
            return True
        try:
            await asyncio.wait_for(self._settled.wait(), seconds)
        except TimeoutError:
            return False
        return True

    async def finish(self) -> None:
        """Wait until the encounter is over and kept."""
        await asyncio.wait({self._task})

    def debrief(self) -> Debrief | None:
        """The truth and the scores: after the commit, None before."""
        if self.phase != "committed" or self._trace is None:
            return None
        return Debrief(self._case, self._trace, self._card, self._problem, self._notes)

    def _move(self, move: Move) -> None:
        self._settled.clear()
        self._queue.put(move)


def cleaned(text: str) -> str:
    """Typed text without what no file and no other side should get: lone surrogates, control characters, runs of blanks."""
    whole = text.encode("utf-8", "replace").decode("utf-8")
    lines = (" ".join(CONTROL.sub(" ", line).split()) for line in whole.splitlines())
    return "\n".join(line for line in lines if line)


def _unfit(words: str) -> str | None:
    """Why words cannot be sent: the encounter would read them as nothing, or as a final answer."""
    if not words:
        return "Type a question first."
    parsed = parse_message(words)
    if parsed.answer is not None:
        return "That reads as a final answer. Use “Commit a diagnosis” for it."
    if not SELF_ANSWER.split(parsed.said)[0].strip():
        return "Write it as your own question or order."
    return None


class SessionRegistry:
    """Consultations by token. A token is all that a browser keeps, and it cannot be guessed."""

    def __init__(self, room: Room, idle_s: float = IDLE_S, limit: int = MAX_SESSIONS) -> None:
        """Make an empty register.

        Args:
            room: what all consultations share.
            idle_s: seconds after which an untouched consultation is closed.
            limit: consultations at once.
        """
        self.room = room
        self._idle_s = idle_s
        self._limit = limit
        self._now = room.now
        self._sessions: dict[str, PlaySession] = {}
        self._touched: dict[str, float] = {}
        self._owners: dict[str, str | None] = {}
        self._closing: set[PlaySession] = set()

    def __len__(self) -> int:
        return len(self._sessions)

    async def open(self, case_id: str, owner: str | None = None) -> tuple[str, PlaySession]:
        """Begin a consultation.

        Args:
            case_id: one of the room's cases.
            owner: the name of who logged in, if anybody had to.

        Raises:
            BedsideError: no such case, or too many consultations under way.
        """
        self.expire()
        if len(self._sessions) >= self._limit:
            raise BedsideError("too many consultations are under way here", mend="try again later")
        if case_id not in self.room.cases:
            raise BedsideError("this case is not on offer", case_id)
        token = secrets.token_urlsafe(24)
        session = PlaySession(self.room.cases[case_id], self.room, owner or f"visitor-{secrets.token_hex(3)}")
        self._sessions[token] = session
        self._touched[token] = self._now()
        self._owners[token] = owner
        await session.wait()
        return token, session

    def get(self, token: str, owner: str | None = None) -> PlaySession | None:
        """The consultation of a token, None if there is none (any more) or it is somebody else's."""
        self.expire()
        session = self._sessions.get(token)
        if session is None or self._owners[token] != owner:
            return None
        self._touched[token] = self._now()
        return session

    def forget(self, token: str, owner: str | None = None) -> None:
        """Let a consultation go; one that is still under way is abandoned."""
        if self.get(token, owner) is not None:
            self._drop(token, "left by the person")

    def expire(self) -> None:
        """Close what has been idle for too long."""
        before = self._now() - self._idle_s
        for token in [token for token, touched in self._touched.items() if touched < before]:
            self._drop(token, "idle for too long")

    async def close(self) -> None:
        """Abandon all that is under way and wait until it is kept; called when the server stops."""
        for token in list(self._sessions):
            self._drop(token, "the server was stopped")
        for session in list(self._closing):
            await session.finish()

    def _drop(self, token: str, why: str) -> None:
        session = self._sessions.pop(token)
        del self._touched[token], self._owners[token]
        if session.phase not in OVER:
            session.abandon(why)
            self._closing.add(session)
        self._closing = {closing for closing in self._closing if closing.phase not in OVER}
