"""A consultation played from a page, without the page: turns, commit, leaving, and what is kept of it."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Awaitable, Callable
from dataclasses import replace
from random import Random

import pytest

from metrics.scorecard import score_trace
from ontology.errors import BedsideError
from simulator.build import default_ward
from simulator.patients import EmbeddedPatient
from simulator.trace import Budget, DialogueTrace, FinalAnswer, RankedDiagnosis, Turn
from ui.web.session import MAX_CHARS, PlaySession, Room, SessionRegistry
from ui.wiring import Bookshelf, starter_cases

GCA = next(case for case in starter_cases() if case.ground_truth.disease_id == "gca")
BELLY = next(case for case in starter_cases() if case.ground_truth.disease_id == "appendicitis")
ANSWER = FinalAnswer(ranked=[RankedDiagnosis(name="Giant cell arteritis", icd10="M31.6", prob=0.7)], triage_level=2)


class Time:
    """A clock that tests move."""

    def __init__(self) -> None:
        self.at = 0.0

    def __call__(self) -> float:
        self.at += 10.0  # no two messages are a double click unless a test says so
        return self.at


def a_room(kept: list[DialogueTrace] | None = None, max_turns: int = 20, now: Callable[[], float] | None = None) -> Room:
    shelf = Bookshelf()
    seeds = iter(range(1000))
    return Room(
        cases={case.case_id: case for case in (GCA, BELLY)},
        ward=default_ward(),
        profiles=shelf.profiles,
        score=lambda trace, case: score_trace(trace, case, shelf.knowledge(case)),
        budget=Budget(max_turns=max_turns),
        seed=lambda: next(seeds),
        keep=kept.append if kept is not None else None,
        now=now or Time(),
    )


def play(room: Room, script: Callable[[SessionRegistry], Awaitable[None]]) -> None:
    async def whole() -> None:
        registry = SessionRegistry(room)
        await script(registry)
        await registry.close()

    asyncio.run(asyncio.wait_for(whole(), 60))


async def ask(session: PlaySession, *questions: str) -> None:
    for question in questions:
        assert session.send(question).accepted
        await session.wait()


def said(session: PlaySession, role: str) -> list[str]:
    return [turn.text for turn in session.snapshot().turns if turn.role == role]


def test_a_consultation_is_played_to_its_scores_and_kept() -> None:
    kept: list[DialogueTrace] = []

    async def script(registry: SessionRegistry) -> None:
        _, session = await registry.open(GCA.case_id)
        assert session.phase == "asking"
        assert said(session, "patient") == [GCA.presentation.opening_text]
        assert session.snapshot().next_turn == 1
        await ask(session, "Is your scalp tender?", "Does your jaw hurt when you chew?", "Check the vital signs.")
        assert session.snapshot().next_turn == 4
        assert "148/82" in said(session, "record")[0]
        assert session.debrief() is None
        assert session.commit(ANSWER) is None
        await session.wait()
        found = session.debrief()
        assert found is not None and found.card is not None and found.problem is None
        assert found.card.scores["acc_truth"].value is True
        covered = {item["name"] for item in found.card.scores["ses"].components["covered"]}  # type: ignore[index, union-attr]
        assert {"Scalp tenderness", "Jaw claudication"} <= covered
        assert found.trace.outcome == ANSWER
        assert kept == [found.trace]
        assert found.trace.examiner.kind == "human"
        assert found.trace.seal_is_intact()

    play(a_room(kept), script)


def test_after_the_commit_there_is_no_way_back() -> None:
    kept: list[DialogueTrace] = []

    async def script(registry: SessionRegistry) -> None:
        token, session = await registry.open(GCA.case_id)
        session.commit(ANSWER)
        await session.wait()
        before = session.snapshot()
        assert not session.send("Is your scalp tender?").accepted
        assert session.commit(FinalAnswer(ranked=[RankedDiagnosis(name="Migraine")])) is not None
        session.abandon()
        await session.wait()
        assert session.snapshot() == before
        again = registry.get(token)
        assert again is session and session.debrief() is not None
        assert len(kept) == 1

    play(a_room(kept), script)


def test_two_consultations_share_nothing() -> None:
    kept: list[DialogueTrace] = []

    async def script(registry: SessionRegistry) -> None:
        (one_token, one), (two_token, two) = await registry.open(GCA.case_id), await registry.open(BELLY.case_id)
        assert one_token != two_token
        assert one.send("Does your jaw hurt when you chew?").accepted and two.send("Have you been sick?").accepted
        await asyncio.gather(one.wait(), two.wait())
        one.write_notes("of the first")
        await ask(two, "Any fever?")
        assert said(one, "examiner") == ["Does your jaw hurt when you chew?"]
        assert said(two, "examiner") == ["Have you been sick?", "Any fever?"]
        assert two.snapshot().notes == ""
        assert one.snapshot().view.case_id != two.snapshot().view.case_id
        one.commit(ANSWER)
        await one.wait()
        assert two.phase == "asking"

    play(a_room(kept), script)
    assert [trace.termination for trace in kept] == ["examiner_committed", "abandoned"]


def test_the_same_case_twice_gives_two_traces() -> None:
    kept: list[DialogueTrace] = []

    async def script(registry: SessionRegistry) -> None:
        for _ in range(2):
            _, session = await registry.open(GCA.case_id, "anna")
            session.commit(ANSWER)
            await session.wait()

    play(a_room(kept), script)
    assert len({trace.trace_id for trace in kept}) == 2
    assert {trace.examiner.id for trace in kept} == {"anna"}


def test_nothing_of_the_truth_is_in_what_the_page_may_show_before_the_commit() -> None:
    async def script(registry: SessionRegistry) -> None:
        _, session = await registry.open(GCA.case_id)
        await ask(session, "What is wrong with you?")
        shown = repr(session.snapshot()).lower()
        for name in ("arteritis", "m31", "gca", "ground_truth"):
            assert name not in shown

    play(a_room(), script)


@pytest.mark.parametrize(
    "words",
    [
        "",
        "  \n\t ",
        "\u200b",
        "patient: yes, it hurts",
        "<think>hm",
        '{"diagnoses": [{"name": "Migraine"}]}',
    ],
)
def test_words_that_the_encounter_would_not_take_as_a_question_are_refused_and_cost_no_turn(words: str) -> None:
    async def script(registry: SessionRegistry) -> None:
        _, session = await registry.open(GCA.case_id)
        sent = session.send(words)
        assert not sent.accepted and sent.note
        assert await session.wait(0)
        assert session.phase == "asking"
        assert session.snapshot().asked == 0

    play(a_room(), script)


def test_very_long_words_are_cut_with_a_note() -> None:
    async def script(registry: SessionRegistry) -> None:
        _, session = await registry.open(GCA.case_id)
        sent = session.send("Is your scalp tender? " + "😀" * MAX_CHARS)
        assert sent.accepted and sent.note is not None and "2,000" in sent.note
        await session.wait()
        assert len(said(session, "examiner")[0]) == MAX_CHARS
        assert session.snapshot().note == sent.note
        await ask(session, "Any fever?")
        assert session.snapshot().note is None

    play(a_room(), script)


def test_a_double_click_is_one_turn_but_a_later_repetition_is_two() -> None:
    class Still:
        at = 100.0

        def __call__(self) -> float:
            return self.at

    clock = Still()

    async def script(registry: SessionRegistry) -> None:
        _, session = await registry.open(GCA.case_id)
        assert session.send("Any fever?").accepted
        assert session.send("Any fever?").accepted  # while it is answered
        await session.wait()
        assert session.send("Any fever?").accepted  # just after
        await session.wait()
        assert session.snapshot().asked == 1
        clock.at += 5
        await ask(session, "Any fever?")
        assert session.snapshot().asked == 2

    play(a_room(now=clock), script)


def test_when_the_turns_are_used_up_only_a_commit_is_left() -> None:
    async def script(registry: SessionRegistry) -> None:
        _, session = await registry.open(GCA.case_id)
        await ask(session, "Any fever?", "Any cough?")
        assert session.phase == "must_commit"
        refused = session.send("One more?")
        assert not refused.accepted and "used" in (refused.note or "")
        assert session.commit(ANSWER) is None
        await session.wait()
        found = session.debrief()
        assert found is not None and found.trace.forced_commit

    play(a_room(max_turns=2), script)


def test_an_answer_that_looks_like_machinery_is_committed_word_for_word() -> None:
    advice = ["<think>rest</think>", '```{"diagnoses": []}```', "<unused94>"]
    strange = ANSWER.model_copy(update={"advice": advice, "change_mind": "a > b < c"})

    async def script(registry: SessionRegistry) -> None:
        _, session = await registry.open(GCA.case_id)
        assert session.commit(strange) is None
        await session.wait()
        found = session.debrief()
        assert found is not None and found.trace.outcome == strange

    play(a_room(), script)


def test_lone_surrogates_and_control_characters_never_reach_the_trace() -> None:
    kept: list[DialogueTrace] = []

    async def script(registry: SessionRegistry) -> None:
        _, session = await registry.open(GCA.case_id)
        await ask(session, "Any fe\x00ver \ud800?\u202e")
        session.commit(ANSWER)
        await session.wait()
        kept[0].to_json()
        assert said(session, "examiner")[0] == "Any fe ver ??"

    play(a_room(kept), script)


def test_leaving_keeps_the_trace_as_abandoned_and_unscored() -> None:
    kept: list[DialogueTrace] = []

    async def script(registry: SessionRegistry) -> None:
        token, session = await registry.open(GCA.case_id)
        await ask(session, "Any fever?")
        registry.forget(token)
        await session.finish()
        assert session.phase == "left"
        assert session.debrief() is None
        assert registry.get(token) is None and len(registry) == 0

    play(a_room(kept), script)
    assert [(trace.termination, trace.termination_detail) for trace in kept] == [("abandoned", "left by the person")]


def test_idle_consultations_are_closed_and_kept_and_touched_ones_stay() -> None:
    kept: list[DialogueTrace] = []
    clock = Time()

    async def script(_: SessionRegistry) -> None:
        registry = SessionRegistry(a_room(kept, now=clock), idle_s=3600)
        idle, _session = await registry.open(GCA.case_id)
        busy, _session = await registry.open(GCA.case_id)
        clock.at += 3000
        assert registry.get(busy) is not None
        clock.at += 3000
        assert registry.get(idle) is None
        assert registry.get(busy) is not None
        await registry.close()

    play(a_room(), script)
    assert {trace.termination_detail for trace in kept} == {"idle for too long", "the server was stopped"}


def test_a_token_opens_nothing_for_another_user_and_cannot_be_guessed() -> None:
    async def script(registry: SessionRegistry) -> None:
        token, _ = await registry.open(GCA.case_id, "anna")
        assert registry.get(token, "anna") is not None
        assert registry.get(token, "bob") is None
        assert registry.get(token) is None
        registry.forget(token, "bob")
        assert registry.get(token, "anna") is not None
        assert len(token) >= 32
        assert GCA.case_id not in token

    play(a_room(), script)


def test_unknown_cases_and_too_many_consultations_are_refused() -> None:
    async def script(registry: SessionRegistry) -> None:
        with pytest.raises(BedsideError, match="not on offer"):
            await registry.open("case-000000000000")
        small = SessionRegistry(registry.room, limit=1)
        await small.open(GCA.case_id)
        with pytest.raises(BedsideError, match="too many"):
            await small.open(GCA.case_id)
        await small.close()

    play(a_room(), script)


def test_a_patient_that_fails_ends_the_consultation_without_taking_others_along(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = EmbeddedPatient.reply

    async def failing(self: EmbeddedPatient, turn: Turn, turns: tuple[Turn, ...], rng: Random) -> object:
        if "fail" in turn.text:
            raise LookupError("no utterance")
        return await whole(self, turn, turns, rng)

    monkeypatch.setattr(EmbeddedPatient, "reply", failing)

    async def script(registry: SessionRegistry) -> None:
        (_, one), (_, two) = await registry.open(GCA.case_id), await registry.open(GCA.case_id)
        one.send("Please fail?")
        assert await one.wait()
        assert one.phase == "broken"
        assert not one.send("Hello?").accepted
        assert one.commit(ANSWER) is not None
        await ask(two, "Any fever?")
        assert two.phase == "asking"

    play(a_room(), script)


def test_while_the_patient_thinks_nothing_else_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = EmbeddedPatient.reply
    gates: list[asyncio.Event] = []

    async def slow(self: EmbeddedPatient, turn: Turn, turns: tuple[Turn, ...], rng: Random) -> object:
        await gates[0].wait()
        return await whole(self, turn, turns, rng)

    monkeypatch.setattr(EmbeddedPatient, "reply", slow)

    async def script(registry: SessionRegistry) -> None:
        gates.append(asyncio.Event())
        _, session = await registry.open(GCA.case_id)
        session.send("Any fever?")
        assert not await session.wait(0.01)
        assert session.phase == "thinking"
        assert said(session, "examiner") == ["Any fever?"]
        assert not session.send("Any cough?").accepted
        assert session.commit(ANSWER) is not None
        gates[0].set()
        assert await session.wait()
        assert session.snapshot().asked == 1

    play(a_room(), script)


def test_a_trace_that_cannot_be_kept_is_still_scored_and_says_so() -> None:
    def full(_: DialogueTrace) -> None:
        raise BedsideError("no room on the disk", "traces.jsonl")

    async def script(registry: SessionRegistry) -> None:
        _, session = await registry.open(GCA.case_id)
        session.commit(ANSWER)
        await session.wait()
        found = session.debrief()
        assert found is not None and found.card is not None
        assert found.problem is not None and "no room on the disk" in found.problem

    play(replace(a_room(), keep=full), script)


def test_the_session_needs_no_gradio() -> None:
    code = "import ui.web.session, ui.web.debrief, ui.web.launch, sys; sys.exit('gradio' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
