"""Utterances and pools: what one may be, how it is keyed, chosen and filled, and that the bundled pool is fit to be spoken."""

from __future__ import annotations

import re
from collections import defaultdict
from random import Random
from typing import Any

import pytest
from pydantic import ValidationError

from ontology.errors import BedsideError
from simulator.build import Ward
from simulator.patients.embedded import META_ACTS, OTHER_ACTS
from simulator.pools.bundled import bundled_pool, utterance_from_line
from simulator.pools.index import PoolIndex, choose
from simulator.pools.person import Person, fill
from simulator.utterances import MAX_WORDS, SLOT, Utterance, UtterancePool

FEVER, PAIN = "C0015967", "C0030193"


def utterance(**changes: Any) -> Utterance:
    raw = {"utt_id": "u1", "concept": FEVER, "polarity": "affirm", "form": "direct", "text": "Yes, I'm hot."}
    return Utterance.model_validate({**raw, **changes})


def pool(*utterances: Utterance) -> UtterancePool:
    return UtterancePool(pool_id="p", license="x", source="x", utterances=list(utterances))


# -- what an utterance may be -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"act": "greet"}, "by a concept or by an act, not both"),
        ({"concept": None}, "by a concept or by an act, not both"),
        ({"polarity": None}, "needs a polarity"),
        ({"polarity": "maybe"}, "polarity"),
        ({"form": "shouted"}, "form"),
        ({"concept": "fever"}, "concept"),
        ({"text": ""}, "text"),
        ({"text": "word " * (MAX_WORDS + 1)}, "more than 60 words"),
        ({"text": "I have {diagnosis}."}, "unknown slots"),
        ({"text": "I have {}."}, "unknown slots"),
        ({"remark": "x"}, "remark"),
    ],
)
def test_an_utterance_that_cannot_be_spoken_or_keyed_is_refused(changes: dict[str, Any], why: str) -> None:
    with pytest.raises(ValidationError, match=re.escape(why)):
        utterance(**changes)
    assert utterance(text=("word " * MAX_WORDS).strip()).text


def test_a_pool_has_each_id_once() -> None:
    with pytest.raises(ValidationError, match="not unique"):
        pool(utterance(), utterance(text="Yes."))


@pytest.mark.parametrize("raw", [[], "x", {"text": "Yes."}, {"act": "greet", "form": "direct", "text": "Hi {you}."}])
def test_a_broken_line_of_a_pool_is_one_line_with_its_place(raw: Any) -> None:
    with pytest.raises(BedsideError) as raised:
        utterance_from_line(raw, "pool.jsonl:7")
    assert raised.value.line().startswith("pool.jsonl:7: ") and "\n" not in raised.value.line()


# -- keys and choice --------------------------------------------------------------------------------------------------------------------


def test_presence_and_details_and_polarities_are_kept_apart() -> None:
    plain = utterance()
    denied = utterance(utt_id="u2", polarity="deny", text="No.")
    severe = utterance(utt_id="u3", concept=PAIN, attribute="severity", value_class="high", text="It's awful: {value}.")
    any_value = utterance(utt_id="u4", concept=PAIN, attribute="severity", value_class="any", text="I'd say {value}.")
    index = PoolIndex([pool(plain, denied, severe, any_value)])
    assert index.of_concept(FEVER, "affirm") == [plain] and index.of_concept(FEVER, "deny") == [denied]
    assert index.of_concept(PAIN, "affirm") == []
    assert index.of_concept(PAIN, "affirm", "severity", "high") == [severe, any_value]
    assert index.of_concept(PAIN, "affirm", "severity", "low") == [any_value]
    assert index.of_concept(PAIN, "affirm", "onset", "high") == []


def test_the_right_voice_is_chosen_a_fresh_one_first_and_by_the_seed_alone() -> None:
    own = [utterance(utt_id=f"u{n}", text=f"Yes {n}.") for n in range(5)]
    carer = utterance(utt_id="c", form="third_party", text="{He} {has}.")
    assert choose([*own, carer], True, (), Random(1)) == carer
    assert choose([carer], False, (), Random(1)) is None and choose([], True, (), Random(1)) is None
    assert choose(own, False, {"u0", "u1", "u2", "u3"}, Random(1)) == own[4]
    assert choose(own, False, {u.utt_id for u in own}, Random(1)) in own
    assert choose(own, False, (), Random(3)) == choose(list(reversed(own)), False, (), Random(3))


# -- filling ----------------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sex", "expected"),
    [
        ("F", "She has a cough, it is her first, her mum says she was ill."),
        ("M", "He has a cough, it is his first, his mum says he was ill."),
        ("unknown", "They have a cough, it is their first, their mum says they were ill."),
        ("other", "They have a cough, it is their first, their mum says they were ill."),
    ],
)
def test_pronouns_are_those_of_the_patient(sex: Any, expected: str) -> None:
    text = "{He} {has} a cough, it is {his} first, {his} mum says {he} {was} ill."
    assert fill(text, Person(4, sex)) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{He}'s been ill.", "They've been ill."),
        ("{He}'s got a rash.", "They've got a rash."),
        ("Yes, {he}'s had it.", "Yes, they've had it."),
        ("{he}'s ill, ask {him}.", "They're ill, ask them."),
        ("{He} {does}n't, {he} {is}n't, {he} {has}n't.", "They don't, they aren't, they haven't."),
    ],
)
def test_they_takes_the_right_verb(text: str, expected: str) -> None:
    assert fill(text, Person(4, "unknown")) == expected


@pytest.mark.parametrize(
    ("age", "sex", "word"),
    [(4, "F", "girl"), (17, "M", "boy"), (18, "M", "man"), (80, "F", "woman"), (5, "unknown", "child"), (50, "other", "person")],
)
def test_the_word_for_sex_fits_the_age(age: int, sex: Any, word: str) -> None:
    assert fill("I'm a {sex_word}.", Person(age, sex)) == f"I'm a {word}."


def test_a_value_is_put_in_as_it_is_even_if_it_looks_like_a_slot() -> None:
    assert fill("it is {value}.", Person(40, "F"), value="{name} \\1") == "It is {name} \\1."


def test_a_slot_without_a_value_is_an_error_and_not_spoken() -> None:
    with pytest.raises(KeyError):
        fill("It is {value}.", Person(40, "F"))


# -- the bundled pool -------------------------------------------------------------------------------------------------------------------

ARTEFACTS = re.compile(
    r"as an ai|language model|chatgpt|openai|lorem|todo|xxx|doctor:|patient:|assistant|\b(?:cui|hpo|umls|ddxplus)\b"
    r"|[<>|_*#\[\]]|\s{2}|\.[a-z]|\?\?|,,|\.\.",
    re.IGNORECASE,
)


def test_the_bundled_pool_is_fit_to_be_spoken() -> None:
    for spoken in bundled_pool().utterances:
        text = SLOT.sub("x", spoken.text)
        assert not ARTEFACTS.search(text), spoken.text
        assert text == text.strip() and text[-1] in ".!?" and "{" not in text and "}" not in text, spoken.text


def test_every_concept_that_is_asked_has_words_for_yes_and_no_in_both_voices() -> None:
    voices: dict[tuple[str, str], set[bool]] = defaultdict(set)
    for spoken in bundled_pool().utterances:
        if spoken.concept and spoken.attribute is None:
            voices[spoken.concept, spoken.polarity or ""].add(spoken.form == "third_party")
    keys = {concept for concept, _ in voices}
    assert len(keys) > 200
    for concept in keys:
        for polarity in ("affirm", "deny"):
            assert voices[concept, polarity] == {True, False}, (concept, polarity)


def test_every_act_has_words_in_both_voices(ward: Ward) -> None:
    acts = {
        *(META_ACTS - {"age"}),
        "identity_age",
        *OTHER_ACTS.values(),
        "no_attribute",
        "nothing_else",
        "not_understood",
        "advice_ack",
        "detail_other",
    }
    for act in acts:
        assert {u.form == "third_party" for u in ward.pool.of_act(act)} == {True, False}, act


def test_a_caregivers_words_never_speak_in_the_patients_person() -> None:
    for spoken in bundled_pool().utterances:
        person_slots = {slot.lower() for slot in SLOT.findall(spoken.text)} - {"value", "name", "age", "sex_word"}
        if spoken.form != "third_party":
            assert not person_slots, spoken.text
