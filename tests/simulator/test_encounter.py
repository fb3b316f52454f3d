"""The encounter loop: budgets, commits, what is cut and noted, how it ends, and that equal seeds give equal traces."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any

import pytest

from simulator.build import Bed, Ward, leak_guard, make_bed
from simulator.case import PatientVector
from simulator.encounter import Clock, run_encounter
from simulator.examiners.live import LiveExaminer, MoveQueue
from simulator.final_answer import render
from simulator.patients import EmbeddedPatient
from simulator.protocols import (
    Abandoned,
    ExaminerFailure,
    InfrastructureFailure,
    Move,
    PatientFailure,
    Reading,
    Reply,
    Situation,
)
from simulator.trace import Budget, DialogueTrace, FinalAnswer, Player, ProtocolNote, RankedDiagnosis, Turn, Usage
from ui.wiring import Bookshelf, form_cases

ANSWER = render(
    FinalAnswer(ranked=[RankedDiagnosis(name="Influenza", icd10="J11.1", prob=0.8)], triage_level=3, treatments=["rest"], advice=["drink"])
)


@dataclass
class Says:
    """Says the given messages or moves; the last one again and again. Keeps what it saw."""

    moves: Sequence[str | Move | Exception]
    seen: list[Situation] = field(default_factory=list)

    @property
    def player(self) -> Player:
        return Player(kind="scripted", id="says")

    async def move(self, situation: Situation) -> Move:
        self.seen.append(situation)
        move = self.moves[min(len(self.seen), len(self.moves)) - 1]
        if isinstance(move, Exception):
            raise move
        return move if isinstance(move, Move) else Move(move)


@pytest.fixture
def case() -> PatientVector:
    return form_cases()[0]


def bed(case: PatientVector, ward: Ward, examiner: Any, max_turns: int = 5, seed: int = 1, cap: int = 3) -> Bed:
    return make_bed(case, examiner, ward, Bookshelf().profiles(case), Budget(max_turns=max_turns, max_concepts_per_turn=cap), seed)


@pytest.fixture
def play(case: PatientVector, ward: Ward) -> Callable[..., DialogueTrace]:
    """Plays messages, or an examiner, against the pneumonia case."""

    def run(*moves: Any, max_turns: int = 5, seed: int = 1, **more: Any) -> DialogueTrace:
        examiner = moves[0] if hasattr(moves[0], "move") else Says(moves)
        return asyncio.run(bed(case, ward, examiner, max_turns, seed).run(**more))

    return run


Play = Callable[..., DialogueTrace]


def roles(trace: DialogueTrace) -> str:
    return "".join(turn.role[0] for turn in trace.turns)


def notes(turn: Turn) -> list[str]:
    return [note.code for note in turn.notes]


# -- the budget ------------------------------------------------------------------------------------------------------------------------


def test_the_patient_opens_and_a_commit_ends_it(play: Play) -> None:
    trace = play("Do you have a fever?", ANSWER)
    assert roles(trace) == "pepe"
    assert (trace.termination, trace.termination_detail, trace.forced_commit) == ("examiner_committed", None, False)
    assert trace.outcome is not None and trace.outcome.ranked[0].icd10 == "J11.1"
    assert trace.seal_is_intact()


def test_a_budget_of_zero_asks_for_the_answer_at_once(play: Play) -> None:
    examiner = Says([ANSWER])
    trace = play(examiner, max_turns=0)
    assert roles(trace) == "pe"
    assert [(s.must_commit, s.turns_left) for s in examiner.seen] == [(True, 0)]
    assert (trace.termination, trace.forced_commit) == ("examiner_committed", True)


def test_a_budget_of_one_allows_one_question(play: Play) -> None:
    examiner = Says(["Do you have a fever?", ANSWER])
    trace = play(examiner, max_turns=1)
    assert roles(trace) == "pepe"
    assert [(s.must_commit, s.turns_left) for s in examiner.seen] == [(False, 1), (True, 0)]
    assert (trace.termination, trace.forced_commit) == ("examiner_committed", True)


@pytest.mark.parametrize("max_turns", [0, 1, 4])
def test_an_examiner_that_never_commits_is_stopped_by_the_budget(play: Play, max_turns: int) -> None:
    examiner = Says(["Do you have a fever?"])
    trace = play(examiner, max_turns=max_turns)
    assert (trace.termination, trace.outcome, trace.forced_commit) == ("budget", None, False)
    assert trace.termination_detail == "no final answer when the budget ended"
    assert len(examiner.seen) == max_turns + 1
    assert roles(trace) == "p" + "ep" * max_turns + "e"
    assert [s.turns_left for s in examiner.seen] == list(range(max_turns, -1, -1))


def test_a_broken_answer_when_the_answer_is_due_ends_it_with_a_note(play: Play) -> None:
    trace = play('{"diagnoses": []}', max_turns=0)
    assert trace.termination == "budget" and notes(trace.turns[-1]) == ["unreadable_answer"]


def test_a_broken_answer_before_is_a_turn_like_any_other(play: Play) -> None:
    trace = play('{"diagnoses": []}', ANSWER)
    assert roles(trace) == "pepe" and notes(trace.turns[1]) == ["unreadable_answer"]
    assert trace.termination == "examiner_committed"


def test_the_examiner_sees_words_of_the_dialogue_and_nothing_else(play: Play, case: PatientVector) -> None:
    examiner = Says(["Do you have a fever?", "Check the blood pressure.", ANSWER])
    trace = play(examiner)
    last = examiner.seen[-1]
    assert last.view == case.examiner_view()
    assert [(line.role, line.text) for line in last.lines] == [(turn.role, turn.text) for turn in trace.turns[:-1]]
    assert not any(hasattr(line, "mentions") for line in last.lines)
    assert "pneumonia" not in repr(examiner.seen).lower()


# -- what an examiner must not do ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("message", ["", "   ", "\n", "<think>It is GCA.</think>", "<think>It is GCA.", "Patient: Yes, I do."])
def test_a_message_without_words_of_its_own_ends_the_encounter(play: Play, message: str) -> None:
    trace = play(message)
    assert (trace.termination, trace.termination_detail) == ("examiner_error", "empty message")
    assert roles(trace) == "pe" and trace.turns[1].text == ""


@pytest.mark.parametrize("tag", ["Patient:", "**Patient:**", "[Patient]:", "PATIENT :", "Record:", "User:", "Answer:"])
def test_words_put_into_the_other_sides_mouth_are_cut(play: Play, tag: str) -> None:
    trace = play(f"Do you have a fever?\n{tag} Yes, I do, and a cough.\nAny headache?", ANSWER)
    assert trace.turns[1].text == "Do you have a fever?"
    assert notes(trace.turns[1]) == ["self_answer"]
    assert [mention.cui for mention in trace.turns[1].mentions] == ["C0015967"]


def test_a_patient_in_the_middle_of_a_sentence_is_no_self_answer(play: Play) -> None:
    trace = play("As a patient: do you have a fever? Tell me, patient, please.", ANSWER)
    assert notes(trace.turns[1]) == []


def test_reasoning_is_removed_before_anybody_sees_it(play: Play) -> None:
    trace = play("<think>It is the flu.</think>Do you have a fever?", ANSWER)
    assert (trace.turns[1].text, notes(trace.turns[1])) == ("Do you have a fever?", ["thinking_removed"])
    assert "flu" not in trace.turns[1].model_dump_json()


def test_an_answer_in_the_reasoning_is_no_commit(play: Play) -> None:
    trace = play(f"<think>{ANSWER}</think>Do you have a fever?", ANSWER)
    assert roles(trace) == "pepe"


def test_a_question_beside_the_answer_gets_no_reply(play: Play) -> None:
    trace = play(f"Do you have a fever?\n{ANSWER}")
    last = trace.turns[-1]
    assert roles(trace) == "pe" and trace.termination == "examiner_committed"
    assert (last.text, notes(last)) == ("Do you have a fever?", ["question_with_answer"])
    assert last.mentions == [] and [act.type for act in last.acts] == ["diagnose", "triage", "treat", "advise"]


def test_a_bare_answer_is_put_into_words(play: Play) -> None:
    last = play(ANSWER).turns[-1]
    assert last.text == "My diagnosis: Influenza (J11.1)."
    assert last.acts[0].payload == {"final": True, "name": "Influenza", "icd10": "J11.1"}
    assert notes(last) == []


def test_half_a_character_does_not_break_the_trace(play: Play) -> None:
    trace = play("Do you have a fever? \ud83e", ANSWER.replace("Influenza", "Influ\ud83enza"))
    trace.to_json().encode()
    assert trace.turns[1].text.endswith("\ufffd") and trace.termination == "examiner_committed"


def test_notes_usage_and_snapshots_of_a_move_are_kept_and_snapshots_never_shown(play: Play) -> None:
    thought = RankedDiagnosis(name="Sarcoidosis", prob=0.4)
    note = ProtocolNote(code="reask", detail="empty")
    first = Move("Do you have a fever?", Usage(prompt_tokens=10, completion_tokens=2, requests=1), (note,), (thought,))
    examiner = Says([first, Move("Any cough?", Usage(prompt_tokens=5, requests=2)), ANSWER])
    trace = play(examiner)
    assert trace.turns[1].notes == [note] and trace.turns[1].usage == first.usage
    assert [(s.after_turn, s.items, s.source) for s in trace.snapshots] == [(0, [thought], "inline")]
    assert trace.usage == Usage(prompt_tokens=15, completion_tokens=2, requests=3)
    assert not any("Sarcoidosis" in line.text for situation in examiner.seen for line in situation.lines)
    assert not any("Sarcoidosis" in turn.model_dump_json() for turn in trace.turns)


# -- how it ends -----------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("failure", "termination", "detail"),
    [
        (ExaminerFailure("refusal"), "examiner_error", "refusal"),
        (InfrastructureFailure("endpoint m: 503"), "infrastructure_error", "endpoint m: 503"),
        (Abandoned("left"), "abandoned", "left"),
        (Abandoned(), "abandoned", None),
    ],
)
@pytest.mark.parametrize("turn", [0, 1])
def test_an_examiner_that_fails_ends_it_with_a_sealed_trace(
    play: Play, failure: Exception, termination: str, detail: str | None, turn: int
) -> None:
    trace = play(*["Do you have a fever?"] * turn, failure)
    assert (trace.termination, trace.termination_detail, trace.outcome) == (termination, detail, None)
    assert roles(trace) == "p" + "ep" * turn
    assert trace.seal_is_intact()


class Breaks:
    """A patient that fails to answer."""

    def __init__(self, failure: Exception) -> None:
        self.failure = failure
        self.player = Player(kind="scripted", id="breaks")

    def read(self, text: str, turns: Sequence[Turn]) -> Reading:
        return Reading()

    async def reply(self, turn: Turn, turns: Sequence[Turn], rng: Random) -> list[tuple[str, Reply]]:
        raise self.failure


@pytest.mark.parametrize(
    ("failure", "termination"),
    [(PatientFailure("no words"), "patient_error"), (InfrastructureFailure("endpoint p: 503"), "infrastructure_error")],
)
def test_a_patient_that_fails_is_not_the_examiners_fault(case: PatientVector, ward: Ward, failure: Exception, termination: str) -> None:
    made = bed(case, ward, Says(["Do you have a fever?"]))
    guard = leak_guard(case, ward.vocabulary)
    trace = asyncio.run(run_encounter(case, made.examiner, Breaks(failure), made.setting, ward.vocabulary, guard))
    assert (trace.termination, trace.termination_detail) == (termination, str(failure))
    assert roles(trace) == "pe"


def test_a_person_plays_through_a_queue_and_may_leave(case: PatientVector, ward: Ward) -> None:
    async def visit(*moves: Move | Exception) -> DialogueTrace:
        queue = MoveQueue()
        for move in moves:
            queue.put(move)
        return await bed(case, ward, LiveExaminer("visitor", queue.ask)).run()

    committed = asyncio.run(visit(Move("Do you have a fever?"), Move(ANSWER)))
    assert (committed.termination, committed.examiner.kind, committed.examiner.id) == ("examiner_committed", "human", "visitor")
    left = asyncio.run(visit(Move("Do you have a fever?"), Abandoned("closed the page")))
    assert (left.termination, roles(left)) == ("abandoned", "pep")


# -- the observer, the clock, the seed -------------------------------------------------------------------------------------------------


@dataclass
class Watches:
    turns: list[Turn] = field(default_factory=list)

    def on_turn(self, turn: Turn) -> None:
        self.turns.append(turn)


@pytest.mark.parametrize("moves", [("Do you have a fever? Check the blood pressure.", ANSWER), ("", ""), (InfrastructureFailure("x"),)])
def test_an_observer_is_told_every_turn_once_and_in_order(play: Play, moves: tuple[Any, ...]) -> None:
    watches = Watches()
    trace = play(*moves, observer=watches)
    assert watches.turns == trace.turns
    assert [turn.idx for turn in watches.turns] == list(range(len(trace.turns)))


def test_an_observer_is_told_as_it_happens(case: PatientVector, ward: Ward) -> None:
    watches = Watches()
    heard: list[int] = []

    class Listens(Says):
        async def move(self, situation: Situation) -> Move:
            heard.append(len(watches.turns) - len(situation.lines))
            return await super().move(situation)

    asyncio.run(bed(case, ward, Listens(["Do you have a fever?", "Any cough?", ANSWER])).run(watches))
    assert heard == [0, 0, 0]


def ticking() -> Clock:
    start = datetime(2026, 3, 1, 12, tzinfo=UTC)
    ticks = iter(range(10_000))
    return Clock(lambda: start + timedelta(seconds=next(ticks)), lambda: next(ticks) / 1000)


def test_the_clock_is_the_one_that_is_given(play: Play) -> None:
    trace = play("Do you have a fever?", ANSWER, clock=ticking())
    assert trace.started_at == "2026-03-01T12:00:00.000+00:00"
    assert trace.finished_at > trace.started_at
    assert [turn.latency_ms for turn in trace.turns] == [None, 1, 1, 1]
    again = play("Do you have a fever?", ANSWER, clock=ticking())
    assert again == trace and again.sealed_sha256 == trace.sealed_sha256


QUESTIONS = ("Do you have a fever?", "Any cough or headache?", "Where is the pain?", "Hello.", "Anything else?", "Do you smoke?", ANSWER)


def test_equal_seeds_give_equal_traces_but_for_the_clock(play: Play) -> None:
    one, other = (play(*QUESTIONS, max_turns=20, seed=7) for _ in range(2))
    assert one.without_clock() == other.without_clock()
    assert one.trace_id == other.trace_id


def test_another_seed_changes_words_and_not_what_is_so(play: Play) -> None:
    traces = [play(*QUESTIONS, max_turns=20, seed=seed) for seed in range(5)]
    told = {tuple((m.cui, m.dialogue_role) for turn in trace.turns for m in turn.mentions) for trace in traces}
    words = {tuple(turn.text for turn in trace.turns if turn.role == "patient") for trace in traces}
    assert len(told) == 1 and len(words) == 5
    assert len({trace.trace_id for trace in traces}) == 5


def test_the_trace_id_is_known_before_and_depends_on_what_matters(case: PatientVector, ward: Ward) -> None:
    made = bed(case, ward, Says([ANSWER]))
    assert asyncio.run(made.run()).trace_id == made.trace_id
    others = [
        bed(case, ward, Says([ANSWER]), seed=2),
        bed(case, ward, Says([ANSWER]), max_turns=6),
        bed(case, ward, Says([ANSWER]), cap=2),
        bed(form_cases()[1], ward, Says([ANSWER])),
        bed(case, ward, LiveExaminer("x", MoveQueue().ask)),
    ]
    assert len({made.trace_id, *(other.trace_id for other in others)}) == 6


def test_one_bed_may_be_played_twice_and_many_at_once(case: PatientVector, ward: Ward) -> None:
    async def both() -> list[DialogueTrace]:
        beds = [bed(other, ward, Says(list(QUESTIONS)), 20) for other in form_cases()]
        return await asyncio.gather(*(made.run() for made in beds))

    together = asyncio.run(both())
    alone = [asyncio.run(bed(other, ward, Says(list(QUESTIONS)), 20).run()) for other in form_cases()]
    assert [trace.without_clock() for trace in together] == [trace.without_clock() for trace in alone]


# -- what the trace holds of the case --------------------------------------------------------------------------------------------------


def test_the_opening_marks_the_chief_complaint_as_volunteered(play: Play, case: PatientVector) -> None:
    opening = play(ANSWER).turns[0]
    assert opening.text == case.presentation.opening_text
    assert [(m.fact_id, m.dialogue_role) for m in opening.mentions] == [(case.presentation.chief_complaint[0], "volunteered")]
    assert opening.acts[0].type == "volunteer" and opening.acts[0].mentions == ["t0m0"]


def test_a_complaint_whose_words_are_not_recognised_spans_the_whole_opening(case: PatientVector, ward: Ward) -> None:
    raw = case.model_dump(mode="json")
    raw["presentation"]["opening_text"] = "Something is off."
    trace = asyncio.run(bed(PatientVector.from_raw(raw), ward, Says([ANSWER])).run())
    assert trace.turns[0].mentions[0].surface == "Something is off."


def test_the_trace_names_players_pool_knowledge_and_the_case_it_was(play: Play, case: PatientVector, ward: Ward) -> None:
    trace = play(ANSWER)
    assert trace.case_sha256 == case.sha256() and trace.case_id == case.case_id
    assert (trace.pool_id, trace.pool_sha256) == (ward.pool_id, ward.pool_sha256)
    assert trace.kb_version == ward.kb_version(Bookshelf().profiles(case))
    assert (trace.patient.kind, trace.patient.model) == ("embedded", None)
    assert isinstance(bed(case, ward, Says([ANSWER])).patient, EmbeddedPatient)
    assert case.ground_truth.primary.name not in trace.turns[0].model_dump_json()
