"""Over every bundled case: whatever is asked, only pool utterances are spoken, and no answer contradicts the facts."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator
from functools import cache
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ontology.concepts import RECORD_KINDS
from ontology.vocabulary import Vocabulary
from simulator.build import Ward, default_ward, leak_guard, safe_pool
from simulator.case import Fact, PatientVector
from simulator.encounter import examiner_turn, opening_turn
from simulator.patients import EmbeddedPatient
from simulator.patients.embedded import listed
from simulator.patients.facts import GENERIC_HMAX
from simulator.patients.record import NOT_AVAILABLE, NOTHING_RECOGNISED
from simulator.pools.person import Person
from simulator.protocols import Move
from simulator.trace import Turn
from simulator.utterances import SLOT, Utterance
from ui.wiring import bundled_cases

CASES = range(15)
SMALL_TALK = (
    "Hello.",
    "How old are you?",
    "What is your name?",
    "Anything else?",
    "Where is the pain?",
    "How bad is it?",
    "Gronk?",
    "Check the blood pressure.",
)


@cache
def wordings() -> list[str]:
    """Every way in which a bundled concept is asked for."""
    return sorted({text for row in default_ward().vocabulary.rows.values() for text in row.ask})


@cache
def utterances() -> dict[str, Utterance]:
    return {u.utt_id: u for pool in default_ward().pool.pools for u in pool.utterances}


def patient_of(case: PatientVector, cap: int = 3) -> EmbeddedPatient:
    ward = default_ward()
    return EmbeddedPatient(case.patient_side(), safe_pool(ward.pool, leak_guard(case, ward.vocabulary)), ward.vocabulary, cap)


def talk(case: PatientVector, texts: list[str]) -> list[Turn]:
    """The turns of a dialogue in which these things are said."""
    patient = patient_of(case)
    turns = [opening_turn(case, default_ward().vocabulary)]
    for text in texts:
        asked = examiner_turn(Move(text), turns, patient, 0)
        replies = asyncio.run(patient.reply(asked, tuple(turns), Random(f"1:{asked.idx}")))
        assert replies
        turns.append(asked)
        for role, reply in replies:
            made = {"idx": len(turns), "role": role, "text": reply.text, "truncated_answer": reply.truncated_answer}
            acts = [act.model_dump() for act in reply.acts]
            turns.append(Turn.model_validate({**made, "acts": acts, "mentions": [m.model_dump() for m in reply.mentions]}))
    return turns


# -- only the pool is spoken -----------------------------------------------------------------------------------------------------------


def spoken_as(utterance: Utterance, case: PatientVector, values: set[str], names: set[str]) -> re.Pattern[str]:
    """What an utterance may become: person slots by who the patient is, value and name from the case and the vocabulary alone."""
    person = Person(case.patient_facts.age, case.patient_facts.sex).slots()

    def fill(match: re.Match[str]) -> str:
        slot = match.group(1)
        allowed = values if slot == "value" else names if slot == "name" else {person[slot]}
        return "(?:" + "|".join(map(re.escape, sorted(allowed, key=len, reverse=True))) + ")"

    pieces = re.split(r"(\{[A-Za-z_]*\})", utterance.text)
    return re.compile("".join(SLOT.sub(fill, p) if p.startswith("{") else re.escape(p) for p in pieces), re.IGNORECASE)


def values_of(case: PatientVector) -> set[str]:
    """Values a case gives, alone and listed as one detail lists them."""
    groups: dict[tuple[str, str | None], list[str]] = {}
    for fact in case.patient_facts.facts:
        if fact.value:
            groups.setdefault((fact.concept.cui, fact.attribute), []).append(fact.value)
    alone = {value for group in groups.values() for value in group}
    return alone | {listed(list(dict.fromkeys(group))) for group in groups.values()} | {""}


def check_words(case: PatientVector, turn: Turn, vocabulary: Vocabulary) -> None:
    """The turn is utterances of the pool, one after the other, and not a letter more."""
    ids = [(m.start, m.end, m.utt_id, m.cui) for m in turn.mentions]
    for start, end, utt_id, cui in ids:
        pattern = spoken_as(utterances()[utt_id or ""], case, values_of(case), {vocabulary.name(cui).lower()})
        assert pattern.fullmatch(turn.text[start:end]), (turn.text[start:end], pattern.pattern)
    rest = list(turn.text)
    for start, end, *_ in ids:
        rest[start:end] = "\0" * (end - start)
    remarks = [utterances()[str(act.payload["utt_id"])] for act in turn.acts if act.type == "meta"]
    pieces = [piece.strip() for piece in "".join(rest).split("\0") if piece.strip()]
    said = " ".join(pieces)
    assert re.fullmatch(" ".join(spoken_as(u, case, set(), set()).pattern for u in remarks), said, re.IGNORECASE), turn.text


# -- no answer contradicts the facts ---------------------------------------------------------------------------------------------------


class Oracle:
    """What must be so, read off the facts without the patient's own index."""

    def __init__(self, case: PatientVector, vocabulary: Vocabulary) -> None:
        self.facts = {fact.fact_id: fact for fact in case.patient_facts.facts}
        self.closed = case.provenance.world_assumption == "closed"
        self.implied: set[str] = set()
        self.stated_unknown: set[str] = set()
        for fact in self.facts.values():
            concept = vocabulary.canonical(fact.concept.cui)
            if fact.attribute is not None:
                continue
            if fact.status == "unknown":
                self.stated_unknown.add(concept)
            if fact.status == "present":
                above = vocabulary.ancestors(concept, GENERIC_HMAX, through_generic=True)
                self.implied |= {concept, *vocabulary.ancestors(concept), *(c for c in above if vocabulary.generic(c))}

    def check(self, turn: Turn) -> None:
        """Every mention of a patient's turn."""
        for mention in turn.mentions:
            fact = self.facts.get(mention.fact_id or "")
            place = (turn.text, mention.cui, mention.dialogue_role)
            if mention.experiencer != "patient":
                assert mention.dialogue_role == "unsure", place
            elif mention.dialogue_role in ("affirmed", "volunteered"):
                assert fact is not None and fact.status == "present", place
                assert mention.cui in self.implied, place
            elif mention.dialogue_role == "denied":
                self._denied(mention.cui, mention.attribute, fact, place)
            elif mention.attribute is None and self.closed:
                assert mention.cui in self.stated_unknown, place

    def _denied(self, concept: str, attribute: str | None, fact: Fact | None, place: tuple[str, str, str]) -> None:
        if attribute is not None and fact is not None and fact.attribute is not None:
            assert fact.value_class in ("none", "no"), place
        else:
            assert concept not in self.implied, place
            # "I'm retired" denies being in work in the words of a detail.
            assert fact is None or fact.status == "absent" or fact.attribute == "detail", place


def check_dialogue(case: PatientVector, turns: list[Turn], vocabulary: Vocabulary) -> None:
    oracle = Oracle(case, vocabulary)
    for turn in turns[1:]:
        if turn.role == "patient":
            check_words(case, turn, vocabulary)
            oracle.check(turn)
        elif turn.role == "record":
            check_record(case, turn, vocabulary)


def check_record(case: PatientVector, turn: Turn, vocabulary: Vocabulary) -> None:
    results = {f.value.rstrip(".") for f in case.patient_facts.facts if f.kind in RECORD_KINDS and f.value} | {
        NOT_AVAILABLE,
        "present",
        "absent",
    }
    for line in [] if turn.text == NOTHING_RECOGNISED else turn.text.split("\n"):
        assert any(line.endswith(f": {result}.") for result in results), line


def rolled(texts: list[str], size: int) -> Iterator[list[str]]:
    for start in range(0, len(texts), size):
        yield texts[start : start + size]


@pytest.mark.parametrize("number", CASES)
def test_whatever_is_asked_the_pool_speaks_and_the_facts_decide(number: int, ward: Ward) -> None:
    case = bundled_cases()[number]
    chosen = Random(number).sample(wordings(), 200)
    for texts in rolled(chosen, 25):
        dialogue = [text for pair in zip(texts, Random(number).choices(SMALL_TALK, k=len(texts)), strict=True) for text in pair]
        check_dialogue(case, talk(case, dialogue), ward.vocabulary)


def test_every_wording_of_every_concept_gets_a_true_answer_from_one_case(ward: Ward) -> None:
    case = bundled_cases()[3]
    for texts in rolled(wordings(), 20):
        check_dialogue(case, talk(case, texts), ward.vocabulary)


@settings(deadline=None, max_examples=60)
@given(number=st.sampled_from(CASES), data=st.data())
def test_joined_questions_are_answered_truly_too(number: int, data: st.DataObject) -> None:
    case = bundled_cases()[number]
    sentence = st.lists(st.sampled_from(wordings()), min_size=2, max_size=5).map(" ".join)
    texts = data.draw(st.lists(sentence, min_size=1, max_size=3))
    turns = talk(case, texts)
    check_dialogue(case, turns, default_ward().vocabulary)
    assert all(sum(m.links_to is not None for m in turn.mentions) <= 3 for turn in turns if turn.role == "patient")


@settings(deadline=None, max_examples=150)
@given(
    number=st.sampled_from(CASES),
    text=st.text(max_size=60)
    | st.lists(
        st.sampled_from(["pain", "?", "no", "your mother", "fever", "where", "it", "\n", "{value}", "{", "check", "🤒"]), max_size=8
    ).map(" ".join),
)
def test_no_text_is_too_strange_to_be_answered(number: int, text: str) -> None:
    case = bundled_cases()[number]
    turns = talk(case, [text])
    check_dialogue(case, turns, default_ward().vocabulary)
    assert turns[1].role == "examiner" and len(turns) >= 3


def test_a_repeated_question_gets_the_same_answer() -> None:
    for case in bundled_cases():
        for texts in (["Do you have a fever?"] * 4, ["Are you short of breath?"] * 4):
            answers = [turn.mentions[0] for turn in talk(case, texts)[2::2]]
            assert len({(m.cui, m.dialogue_role, m.fact_id) for m in answers}) == 1
