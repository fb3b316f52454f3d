"""DialogueTrace: spans, links, acts, and the seal that shows whether anything was changed afterwards."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from ontology.errors import BedsideError
from ontology.mentions import Mention
from simulator.trace import SCORED_REASONS, Budget, DialogueTrace, Player, RankedDiagnosis, Turn

QUESTION = "Do you have a fever?"
ANSWER = "Yes, since Monday."


def mention(mention_id: str, text: str, surface: str, role: str, links_to: str | None = None, **more: Any) -> dict[str, Any]:
    start = text.index(surface)
    polarity = {"asked": "queried", "denied": "absent", "unsure": "unknown"}.get(role, "present")
    return {
        "mention_id": mention_id,
        "start": start,
        "end": start + len(surface),
        "surface": surface,
        "cui": "C0015967",
        "matcher": "lexicon",
        "polarity": polarity,
        "dialogue_role": role,
        "links_to": links_to,
        **more,
    }


def turns() -> list[dict[str, Any]]:
    """Opening, a question, its answer."""
    return [
        {"idx": 0, "role": "patient", "text": "I feel ill."},
        {
            "idx": 1,
            "role": "examiner",
            "text": QUESTION,
            "acts": [{"act_id": "t1a0", "type": "ask", "mentions": ["t1m0"]}],
            "mentions": [mention("t1m0", QUESTION, "fever", "asked")],
            "latency_ms": 7,
        },
        {
            "idx": 2,
            "role": "patient",
            "text": ANSWER,
            "acts": [{"act_id": "t2a0", "type": "answer", "mentions": ["t2m0"]}],
            "mentions": [mention("t2m0", ANSWER, ANSWER, "affirmed", "t1m0", fact_id="f01", utt_id="u-1")],
        },
    ]


def raw_trace(**changes: Any) -> dict[str, Any]:
    return {
        "schema_version": "1.0",
        "trace_id": "trace-1",
        "case_id": "case-000000000000",
        "case_sha256": "0" * 64,
        "pool_id": "pool",
        "pool_sha256": "1" * 64,
        "examiner": {"kind": "scripted", "id": "script"},
        "patient": {"kind": "embedded", "id": "embedded"},
        "budget": {},
        "seed": 1,
        "kb_version": "kb",
        "software_version": "0",
        "started_at": "2026-03-01T12:00:00.000+00:00",
        "finished_at": "2026-03-01T12:00:01.000+00:00",
        "turns": turns(),
        "termination": "abandoned",
        **changes,
    }


def trace(**changes: Any) -> DialogueTrace:
    return DialogueTrace.from_raw(raw_trace(**changes), "traces.jsonl:4")


def refusal(**changes: Any) -> str:
    with pytest.raises(BedsideError) as raised:
        trace(**changes)
    assert raised.value.line().startswith("traces.jsonl:4: ")
    return raised.value.line()


def changed_turns(turn: int, **changes: Any) -> list[dict[str, Any]]:
    made = turns()
    made[turn].update(changes)
    return made


# -- spans -----------------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("start", "end"), [(14, 20), (15, 19), (0, 5), (15, 99), (20, 15)])
def test_a_mention_that_is_not_what_its_span_says_is_refused(start: int, end: int) -> None:
    bad = {**mention("t1m0", QUESTION, "fever", "asked"), "start": start, "end": end}
    assert "turn 1: mention t1m0 does not match its span" in refusal(turns=changed_turns(1, mentions=[bad]))


def test_a_span_that_runs_backwards_is_refused_even_when_nothing_is_in_it() -> None:
    bad = {**mention("t1m0", QUESTION, "fever", "asked"), "start": 5, "end": 3, "surface": ""}
    assert "does not match its span" in refusal(turns=changed_turns(1, mentions=[bad]))


def test_a_negative_offset_is_refused() -> None:
    with pytest.raises(ValidationError, match="start"):
        Mention.model_validate({**mention("m", QUESTION, "fever", "asked"), "start": -1})


def test_spans_count_code_points_not_bytes_or_utf16() -> None:
    text = "🤒 Fièvre – fever?"
    turn = Turn.model_validate({"idx": 0, "role": "examiner", "text": text, "mentions": [mention("m", text, "fever", "asked")]})
    found = turn.mentions[0]
    assert (found.start, text[found.start : found.end]) == (11, "fever")
    assert len(text.encode("utf-16-le")) // 2 != len(text)


@settings(deadline=None, max_examples=80)
@given(text=st.text(min_size=1, max_size=30), data=st.data())
def test_exactly_the_true_span_is_accepted(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    surface = data.draw(st.just(text[start:end]) | st.text(max_size=30))
    raw = {**mention("m", QUESTION, "fever", "asked"), "start": start, "end": end, "surface": surface}
    made = {"idx": 0, "role": "examiner", "text": text, "mentions": [raw]}
    if surface == text[start:end]:
        assert Turn.model_validate(made).mentions[0].surface == surface
    else:
        with pytest.raises(ValidationError, match="does not match its span"):
            Turn.model_validate(made)


# -- who may do what, and what refers to what ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("role", ["asked", "stated"])
@pytest.mark.parametrize("speaker", ["patient", "record"])
def test_only_an_examiner_asks_or_states(role: str, speaker: str) -> None:
    bad = changed_turns(2, role=speaker, mentions=[mention("t2m0", ANSWER, ANSWER, role)], acts=[])
    assert "turn 2: only an examiner asks or states" in refusal(turns=bad)


def test_an_act_names_mentions_of_its_own_turn_only() -> None:
    bad = changed_turns(2, acts=[{"act_id": "t2a0", "type": "answer", "mentions": ["t1m0"]}])
    assert "turn 2: act t2a0 names a mention of another turn" in refusal(turns=bad)


def test_an_answer_links_back_to_a_question_that_was_asked() -> None:
    dangling = changed_turns(2, mentions=[mention("t2m0", ANSWER, ANSWER, "affirmed", "t9m9")])
    assert "mention t2m0 links to unknown t9m9" in refusal(turns=dangling)
    forward = changed_turns(1, mentions=[mention("t1m0", QUESTION, "fever", "asked", "t2m0")])
    assert "mention t1m0 links to unknown t2m0" in refusal(turns=forward)
    itself = changed_turns(2, mentions=[mention("t2m0", ANSWER, ANSWER, "affirmed", "t2m0")])
    assert "mention t2m0 links to unknown t2m0" in refusal(turns=itself)


def test_mention_ids_are_unique_in_the_trace() -> None:
    twice = changed_turns(2, mentions=[mention("t1m0", ANSWER, ANSWER, "affirmed")], acts=[])
    assert "mention id t1m0 is used twice" in refusal(turns=twice)


@pytest.mark.parametrize("idx", [1, 5])
def test_turns_are_numbered_in_order(idx: int) -> None:
    assert f"turn 2 carries index {idx}" in refusal(turns=changed_turns(2, idx=idx))


@pytest.mark.parametrize("role", ["doctor", "system", "Patient", ""])
def test_an_unknown_speaker_is_refused_not_taken_for_another(role: str) -> None:
    assert "turns.2.role" in refusal(turns=changed_turns(2, role=role))


def test_a_commit_needs_an_answer() -> None:
    assert "committed without a final answer" in refusal(termination="examiner_committed")
    answered = trace(termination="examiner_committed", outcome={"ranked": [{"name": "Influenza"}]})
    assert answered.outcome is not None and answered.outcome.ranked[0].name == "Influenza"


def test_an_answer_without_a_diagnosis_is_refused() -> None:
    assert "outcome.ranked" in refusal(termination="examiner_committed", outcome={"ranked": []})


@pytest.mark.parametrize("reason", ["timeout", "", None, "Budget"])
def test_every_encounter_says_why_it_ended_in_known_words(reason: Any) -> None:
    assert "termination" in refusal(termination=reason)


def test_only_what_an_examiner_did_is_scored() -> None:
    assert frozenset({"examiner_committed", "budget"}) == SCORED_REASONS


@pytest.mark.parametrize("prob", [-0.1, 1.1, "often"])
def test_a_probability_outside_0_to_1_is_refused(prob: Any) -> None:
    with pytest.raises(ValidationError, match="prob"):
        RankedDiagnosis(name="x", prob=prob)


def test_a_budget_may_be_zero_turns_but_not_zero_concepts() -> None:
    assert Budget(max_turns=0).max_turns == 0
    for bad in ({"max_turns": -1}, {"max_concepts_per_turn": 0}):
        with pytest.raises(ValidationError):
            Budget(**bad)


def test_an_unknown_schema_version_and_unknown_fields_are_refused() -> None:
    assert "schema_version '0.9' of this DialogueTrace is not known here" in refusal(schema_version="0.9")
    assert "score" in refusal(score=1.0)
    assert "turns.1.score" in refusal(turns=changed_turns(1, score=1.0))


def test_a_player_has_no_place_for_a_key() -> None:
    assert "api_key" in refusal(examiner={"kind": "model", "id": "m", "api_key": "secret"})
    assert not [name for name in Player.model_fields if "key" in name]


# -- the seal --------------------------------------------------------------------------------------------------------------------------


def test_a_seal_holds_for_the_trace_it_was_made_for() -> None:
    bare = trace()
    assert not bare.seal_is_intact()
    sealed = bare.sealed()
    assert sealed.seal_is_intact() and not bare.seal_is_intact()
    assert sealed.sealed().sealed_sha256 == sealed.sealed_sha256
    again = DialogueTrace.from_json(sealed.to_json())
    assert again == sealed and again.seal_is_intact()


def leaves(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    if isinstance(value, dict):
        return [found for key, item in value.items() for found in leaves(item, (*path, key))]
    if isinstance(value, list):
        return [found for place, item in enumerate(value) for found in leaves(item, (*path, place))]
    return [path]


def test_whatever_is_changed_afterwards_breaks_the_seal() -> None:
    sealed = trace(termination="examiner_committed", outcome={"ranked": [{"name": "Influenza", "prob": 0.5}]}).sealed()
    raw = json.loads(sealed.to_json())
    checked = 0
    for path in leaves(raw):
        if path in (("sealed_sha256",), ("schema_version",)):
            continue
        tampered = json.loads(sealed.to_json())
        place = tampered
        for key in path[:-1]:
            place = place[key]
        old = place[path[-1]]
        place[path[-1]] = (not old) if isinstance(old, bool) else old + 1 if isinstance(old, int | float) else f"{old}x"
        try:
            made = DialogueTrace.model_validate(tampered)
        except ValidationError:
            continue  # does not even fit the schema
        assert not made.seal_is_intact(), path
        checked += 1
    assert checked >= 25


def test_a_dropped_or_added_turn_breaks_the_seal() -> None:
    raw = json.loads(trace().sealed().to_json())
    shorter = DialogueTrace.model_validate({**raw, "turns": raw["turns"][:-1]})
    longer = DialogueTrace.model_validate({**raw, "turns": [*raw["turns"], {"idx": 3, "role": "patient", "text": "And I cough."}]})
    assert not shorter.seal_is_intact() and not longer.seal_is_intact()


def test_a_foreign_seal_does_not_hold() -> None:
    other = trace(seed=2).sealed().sealed_sha256
    assert not trace(sealed_sha256=other).seal_is_intact()
    assert not trace(sealed_sha256="").seal_is_intact()


def test_without_clock_leaves_out_times_and_nothing_else() -> None:
    early = trace(started_at="2026-01-01T00:00:00.000+00:00")
    slow = turns()
    slow[1]["latency_ms"] = 9000
    late = trace(turns=slow).sealed()
    assert early.without_clock() == late.without_clock()
    gone = {path[-1] for path in leaves(json.loads(late.to_json())) if path not in leaves(late.without_clock())}
    assert gone == {"started_at", "finished_at", "sealed_sha256", "latency_ms"}
    assert trace(seed=2).without_clock() != early.without_clock()
