"""The encounter loop: one examiner, one patient, one case, a budget, a seed. Pure but for the clock it is given."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from random import Random

from ontology.documents import content_hash
from ontology.mentions import Act, Mention
from ontology.vocabulary import Vocabulary
from simulator.case import PatientVector
from simulator.final_answer import parse_message
from simulator.leaks import LeakGuard
from simulator.protocols import (
    Abandoned,
    Examiner,
    ExaminerFailure,
    InfrastructureFailure,
    Line,
    Move,
    Patient,
    PatientFailure,
    Reading,
    Reply,
    Situation,
    TurnObserver,
)
from simulator.trace import (
    Budget,
    DialogueTrace,
    FinalAnswer,
    LeakRecord,
    ProtocolNote,
    Snapshot,
    TerminationReason,
    Turn,
    Usage,
)

LONGEST_MESSAGE = 20_000
"""Characters of a message that count; nobody reads more, and no model should stall a run with it."""

SELF_ANSWER = re.compile(r"^\s*(?:\*\*)?\[?(?:patient|record|user|answer)\]?(?:\*\*)?\s*:", re.IGNORECASE | re.MULTILINE)


@dataclass(frozen=True)
class Clock:
    """Where the time comes from; tests give a still one."""

    now: Callable[[], datetime] = lambda: datetime.now(UTC)
    monotonic: Callable[[], float] = time.monotonic


@dataclass(frozen=True)
class Setting:
    """All that determines an encounter beside the players: what its trace must record."""

    budget: Budget
    seed: int
    kb_version: str
    pool_id: str
    pool_sha256: str
    software_version: str
    match_id: str | None = None


@dataclass
class _State:
    turns: list[Turn]
    snapshots: list[Snapshot]
    leaks: list[LeakRecord]
    lines: list[Line] = field(default_factory=list)
    asked: int = 0
    answer: FinalAnswer | None = None
    forced: bool = False


def trace_id_of(case: PatientVector, examiner: Examiner, patient: Patient, setting: Setting, case_sha256: str | None = None) -> str:
    """The id of the trace this encounter will have: equal for equal players, case, setting and seed.

    Args:
        case: the case.
        examiner: asks.
        patient: answers.
        setting: budget, seed and versions.
        case_sha256: the case's hash, if it is at hand.
    """
    parts = [
        case_sha256 or case.sha256(),
        examiner.player.model_dump(mode="json"),
        patient.player.model_dump(mode="json"),
        setting.budget.model_dump(mode="json"),
        setting.seed,
        setting.pool_sha256,
        setting.kb_version,
    ]
    return "trace-" + content_hash(parts)[:16]


async def run_encounter(
    case: PatientVector,
    examiner: Examiner,
    patient: Patient,
    setting: Setting,
    vocabulary: Vocabulary,
    guard: LeakGuard,
    observer: TurnObserver | None = None,
    clock: Clock | None = None,
) -> DialogueTrace:
    """Play one encounter to its end.

    Args:
        case: the case; the examiner gets its ExaminerView only.
        examiner: asks and commits.
        patient: answers.
        setting: budget, seed and versions.
        vocabulary: the concepts, for the opening's mentions.
        guard: finds words of the truth in what the examiner reads.
        observer: told of every turn as it is made.
        clock: the time.

    Returns:
        the sealed trace; also when a player failed, with the reason in `termination`.
    """
    clock = clock or Clock()
    case_sha256 = case.sha256()
    started = clock.now()
    state = _State([], [], [])
    _add(state, opening_turn(case, vocabulary), guard, observer)
    termination, detail = await _play(state, case, examiner, patient, setting, guard, observer, clock)
    trace = DialogueTrace(
        trace_id=trace_id_of(case, examiner, patient, setting, case_sha256),
        case_id=case.case_id,
        case_sha256=case_sha256,
        pool_id=setting.pool_id,
        pool_sha256=setting.pool_sha256,
        match_id=setting.match_id,
        examiner=examiner.player,
        patient=patient.player,
        budget=setting.budget,
        seed=setting.seed,
        kb_version=setting.kb_version,
        software_version=setting.software_version,
        started_at=started.isoformat(timespec="milliseconds"),
        finished_at=clock.now().isoformat(timespec="milliseconds"),
        turns=state.turns,
        snapshots=state.snapshots,
        outcome=state.answer,
        forced_commit=state.forced,
        termination=termination,
        termination_detail=detail,
        leaks=state.leaks,
        usage=_total(state.turns),
    )
    return trace.sealed()


async def _play(
    state: _State,
    case: PatientVector,
    examiner: Examiner,
    patient: Patient,
    setting: Setting,
    guard: LeakGuard,
    observer: TurnObserver | None,
    clock: Clock,
) -> tuple[TerminationReason, str | None]:
    view = case.examiner_view()
    while True:
        must_commit = state.asked >= setting.budget.max_turns
        situation = Situation(view, tuple(state.lines), setting.budget.max_turns - state.asked, must_commit, setting.seed)
        began = clock.monotonic()
        try:
            move = await examiner.move(situation)
        except ExaminerFailure as failure:
            return "examiner_error", str(failure)
        except InfrastructureFailure as failure:
            return "infrastructure_error", str(failure)
        except Abandoned as left:
            return "abandoned", str(left) or None
        turn = examiner_turn(move, state.turns, patient, round((clock.monotonic() - began) * 1000), must_commit)
        if move.snapshot:
            state.snapshots.append(Snapshot(after_turn=len(state.turns) - 1, items=list(move.snapshot)))
        answer = parse_message(move.text[:LONGEST_MESSAGE]).answer
        _add(state, turn, guard, observer)
        if answer is not None:
            state.answer = answer
            state.forced = must_commit
            return "examiner_committed", None
        if must_commit:
            return "budget", "no final answer when the budget ended"
        if not turn.text.strip():
            return "examiner_error", "empty message"
        state.asked += 1
        rng = Random(f"{setting.seed}:{case.case_id}:{turn.idx}")
        began = clock.monotonic()
        try:
            replies = await patient.reply(turn, tuple(state.turns[:-1]), rng)
        except PatientFailure as failure:
            return "patient_error", str(failure)
        except InfrastructureFailure as failure:
            return "infrastructure_error", str(failure)
        for role, reply in replies:
            spent = round((clock.monotonic() - began) * 1000)
            _add(state, _reply_turn(role, reply, len(state.turns), spent), guard, observer)


def opening_turn(case: PatientVector, vocabulary: Vocabulary) -> Turn:
    """The patient's opening words, with the chief complaint's concepts marked as volunteered."""
    text = case.presentation.opening_text
    found = {match.concept: match for match in vocabulary.find(text)}
    facts = {fact.fact_id: fact for fact in case.patient_facts.facts}
    mentions: list[Mention] = []
    for fact_id in case.presentation.chief_complaint:
        fact = facts[fact_id]
        concept = vocabulary.canonical(fact.concept.cui)
        match = found.get(concept)
        start, end = (match.start, match.end) if match else (0, len(text))
        mentions.append(
            Mention(
                mention_id=f"t0m{len(mentions)}",
                start=start,
                end=end,
                surface=text[start:end],
                cui=concept,
                matcher="pool",
                attribute=fact.attribute,
                polarity="present",
                dialogue_role="volunteered",
                fact_id=fact_id,
            )
        )
    act = Act(act_id="t0a0", type="volunteer", mentions=[m.mention_id for m in mentions])
    return Turn(idx=0, role="patient", text=text, acts=[act], mentions=mentions)


def examiner_turn(move: Move, turns: Sequence[Turn], patient: Patient, latency_ms: int, due: bool = False) -> Turn:
    """An examiner's message as a turn: thinking removed, self-answers cut, acts read off the words.

    Args:
        move: the message.
        turns: those before it.
        patient: reads it.
        latency_ms: how long it took.
        due: the final answer was due.
    """
    parsed = parse_message(move.text[:LONGEST_MESSAGE])
    notes = list(move.notes)
    said = parsed.said
    if len(move.text) > LONGEST_MESSAGE:
        notes.append(ProtocolNote(code="message_cut", detail=f"{len(move.text)} characters; the first {LONGEST_MESSAGE} count"))
    cut = SELF_ANSWER.search(said)
    if cut is not None:
        said = said[: cut.start()].rstrip()
        notes.append(ProtocolNote(code="self_answer", detail="the examiner spoke for the other side; cut there"))
    if parsed.had_thinking:
        notes.append(ProtocolNote(code="thinking_removed"))
    if parsed.problem is not None:
        notes.append(ProtocolNote(code="unreadable_answer", detail=parsed.problem))
    idx = len(turns)
    if parsed.answer is None:
        # A question in place of the answer that was due gets no reply, so it is no question event either.
        reading = Reading() if due else patient.read(said, turns)
        return Turn(
            idx=idx,
            role="examiner",
            text=said,
            acts=list(reading.acts),
            mentions=list(reading.mentions),
            latency_ms=latency_ms,
            usage=move.usage,
            notes=notes,
        )
    if said and not any(note.code == "question_with_answer" for note in notes):
        notes.append(ProtocolNote(code="question_with_answer", detail="the answer counts; the words before it get no reply"))
    answer = parsed.answer
    best = answer.ranked[0]
    text = said or f"My diagnosis: {best.name}" + (f" ({best.icd10})." if best.icd10 else ".")
    acts = [Act(act_id=f"t{idx}a0", type="diagnose", payload={"final": True, "name": best.name, "icd10": best.icd10})]
    if answer.triage_level is not None:
        acts.append(Act(act_id=f"t{idx}a{len(acts)}", type="triage", payload={"level": answer.triage_level}))
    for treatment in answer.treatments:
        acts.append(Act(act_id=f"t{idx}a{len(acts)}", type="treat", payload={"text": treatment}))
    for advice in answer.advice:
        acts.append(Act(act_id=f"t{idx}a{len(acts)}", type="advise", payload={"text": advice}))
    return Turn(idx=idx, role="examiner", text=text, acts=acts, latency_ms=latency_ms, usage=move.usage, notes=notes)


def _reply_turn(role: str, reply: Reply, idx: int, latency_ms: int) -> Turn:
    return Turn.model_validate(
        {
            "idx": idx,
            "role": role,
            "text": reply.text,
            "acts": [act.model_dump() for act in reply.acts],
            "mentions": [mention.model_dump() for mention in reply.mentions],
            "latency_ms": latency_ms,
            "truncated_answer": reply.truncated_answer,
            "usage": reply.usage.model_dump() if reply.usage else None,
        }
    )


def _add(state: _State, turn: Turn, guard: LeakGuard, observer: TurnObserver | None) -> None:
    state.turns.append(turn)
    state.lines.append(Line(turn.role, turn.text))
    state.leaks += guard.check(turn)
    if observer is not None:
        observer.on_turn(turn)


def _total(turns: Sequence[Turn]) -> Usage:
    known = [turn.usage for turn in turns if turn.usage is not None]
    prompt = [u.prompt_tokens for u in known if u.prompt_tokens is not None]
    completion = [u.completion_tokens for u in known if u.completion_tokens is not None]
    return Usage(
        prompt_tokens=sum(prompt) if prompt else None,
        completion_tokens=sum(completion) if completion else None,
        requests=sum(u.requests for u in known),
    )
