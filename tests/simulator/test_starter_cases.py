"""The cases written by us are worth playing: whatever is so in one can be found out by asking in plain words, and nothing is given away."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from random import Random

import pytest

from ontology.belief import BeliefModel
from ontology.concepts import Attribute
from ontology.profiles import curated_profiles
from simulator.build import Ward, default_ward, leak_guard, make_bed, safe_pool
from simulator.case import Fact, PatientVector, is_record_fact
from simulator.encounter import examiner_turn
from simulator.examiners.policies import InfogainFast
from simulator.examiners.reference import ReferenceExaminer
from simulator.patients import EmbeddedPatient
from simulator.protocols import Move
from simulator.trace import Budget, DialogueTrace, Turn
from ui.wiring import starter_cases

PRESENT, ABSENT = 14, 12
"""Askable facts that a case has at least."""
SEEDS = range(1, 6)
ROLE = {"present": "affirmed", "absent": "denied", "unknown": "unsure"}
WORDINGS = 2
"""How many ways to ask are tried for each fact."""

DETAIL_QUESTIONS: dict[Attribute, tuple[str, ...]] = {
    "onset": ("When did it start?", "When did the {name} start?", "When was your last period?"),
    "duration": ("How long does it last?", "How long have you had it?", "How long did the {name} last?"),
    "location": ("Where is it?", "Where exactly is the {name}?"),
    "severity": (
        "How bad is it?",
        "How bad is the {name}?",
        "How high is the {name}?",
        "How much weight have you lost?",
        "How much weight have you gained?",
    ),
    "character": ("What is it like?", "What is the {name} like?", "Can you describe the {name}?"),
    "radiation": ("Does it spread anywhere?", "Does the {name} spread anywhere?"),
    "aggravating": ("What makes it worse?", "What makes the {name} worse?"),
    "relieving": ("What makes it better?", "What makes the {name} better?"),
    "frequency": ("How often does it come?", "How often do you have {name}?", "How often do you smoke?"),
    "progression": ("Has it been getting worse or better?", "Has the {name} changed since it started?"),
    "color": ("What colour is it?", "What colour is the {name}?"),
    "itching": ("Is the rash itchy?",),
    "destination": ("Where did you travel?",),
    "detail": ("How much weight have you lost?", "What is it like?", "Can you describe the {name}?", "How bad is the {name}?"),
}
"""What a person would ask for a detail, of "it" just after the finding was named, or by the name of the finding."""


class Talk:
    """A case's patient, its facts found in what it says."""

    def __init__(self, case: PatientVector, ward: Ward) -> None:
        self.ward = ward
        self.patient = EmbeddedPatient(case.patient_side(), safe_pool(ward.pool, leak_guard(case, ward.vocabulary)), ward.vocabulary)
        self.turns = [Turn(idx=0, role="patient", text=case.presentation.opening_text)]

    def ask(self, text: str) -> list[Turn]:
        """The turns that answer a message; each is part of the talk from then on."""
        turn = examiner_turn(Move(text), self.turns, self.patient, 0)
        replies = asyncio.run(self.patient.reply(turn, tuple(self.turns), Random(turn.idx)))
        self.turns.append(turn)
        made = [
            Turn(idx=turn.idx + 1 + number, role=role, text=reply.text, acts=list(reply.acts), mentions=list(reply.mentions))
            for number, (role, reply) in enumerate(replies)
        ]
        self.turns += made
        return made


@pytest.fixture(params=starter_cases(), ids=lambda case: case.provenance.source_id)
def case(request: pytest.FixtureRequest) -> PatientVector:
    return request.param  # type: ignore[no-any-return]


@pytest.fixture
def talk(case: PatientVector, ward: Ward) -> Talk:
    return Talk(case, ward)


def facts_of(case: PatientVector, *, record: bool = False, detail: bool = False) -> list[Fact]:
    return [f for f in case.patient_facts.facts if is_record_fact(f) == record and (f.attribute is not None) == detail]


def asks(ward: Ward, concept: str) -> Sequence[str]:
    return ward.vocabulary.rows[ward.vocabulary.canonical(concept)].ask[:WORDINGS]


def answers(turns: Sequence[Turn], fact: Fact) -> bool:
    """Whether a turn says this very fact, or for a history the particulars that go with it."""
    said = [m for turn in turns for m in turn.mentions]
    return len(said) == 1 and said[0].fact_id == fact.fact_id


def test_there_is_enough_to_find_out(case: PatientVector) -> None:
    """A history with as much that is not so as a person would be asked; vital signs, examination and tests."""
    plain = facts_of(case)
    assert sum(fact.status == "present" for fact in plain) >= PRESENT
    assert sum(fact.status == "absent" for fact in plain) >= ABSENT
    kinds = {fact.kind for fact in case.patient_facts.facts}
    assert {"symptom", "history", "medication", "allergy", "social", "vital", "sign", "lab"} <= kinds
    assert case.difficulty is not None and case.setting and case.setting.split()[0] in " ".join(case.tags)


def test_the_truth_is_complete(case: PatientVector) -> None:
    """A differential led by the truth, advice with sources, what to avoid."""
    truth = case.ground_truth
    first, *others = truth.differential
    assert first.dx.name == truth.primary.name and len(others) >= 3
    assert all(item.prob < first.prob for item in others)
    points = [point for group in truth.score_points.values() for point in group]
    assert truth.score_points["critical_advice"] and all(point.source.strip() for point in points)
    assert len({point.id for point in points}) == len(points)
    assert truth.contraindicated


def test_every_fact_is_reached_in_plain_words(case: PatientVector, talk: Talk) -> None:
    """Asked for as the vocabulary words it, the patient says that fact and no other, and says it rightly."""
    wrong = []
    particulars = {f.concept.cui: f for f in facts_of(case, detail=True) if f.attribute == "detail"}
    for fact in facts_of(case):
        told = particulars.get(fact.concept.cui, fact) if fact.kind != "symptom" else fact
        for question in asks(talk.ward, fact.concept.cui):
            turns = talk.ask(question)
            roles = [m.dialogue_role for turn in turns for m in turn.mentions]
            if not answers(turns, told) or roles != [ROLE[fact.status]]:
                wrong.append(f"{fact.fact_id} {fact.concept.name} ({fact.status}): {question!r} → {' '.join(t.text for t in turns)!r}")
    assert not wrong, "\n".join(wrong)


def test_every_result_is_reached_by_ordering_it(case: PatientVector, talk: Talk) -> None:
    """From the record, not from the patient."""
    wrong = []
    for fact in facts_of(case, record=True):
        for question in asks(talk.ward, fact.concept.cui):
            turns = talk.ask(question)
            if [turn.role for turn in turns] != ["record"] or fact.fact_id not in {m.fact_id for m in turns[0].mentions}:
                wrong.append(f"{fact.fact_id} {fact.concept.name}: {question!r} → {[t.text for t in turns]}")
    assert not wrong, "\n".join(wrong)


def test_every_detail_is_told_when_asked(case: PatientVector, talk: Talk) -> None:
    """After its finding was asked for, or by the finding's name."""
    wrong = []
    for fact in facts_of(case, detail=True):
        presence = asks(talk.ward, fact.concept.cui)[0]
        if fact.attribute == "detail" and fact.kind != "symptom":
            tried = [talk.ask(presence)]
        else:
            assert fact.attribute in DETAIL_QUESTIONS, f"no question for {fact.attribute}"
            names = [fact.concept.name.lower(), *talk.ward.vocabulary.lay_names(fact.concept.cui)[:3]]
            talk.ask(presence)
            # A question that names the finding needs no "it", so it is asked in a row with the others.
            tried = [
                talk.ask(text.format(name=name))
                for text in DETAIL_QUESTIONS[fact.attribute]
                for name in (names if "{" in text else names[:1])
            ]
        if not any(answers(turns, fact) for turns in tried):
            wrong.append(f"{fact.fact_id} {fact.concept.name} {fact.attribute}: {[t.text for turns in tried[:3] for t in turns]}")
    assert not wrong, "\n".join(wrong)


def played(case: PatientVector, seed: int) -> DialogueTrace:
    ward, profiles = default_ward(), curated_profiles()
    examiner = ReferenceExaminer(InfogainFast(BeliefModel(profiles, ward.vocabulary)), ward.vocabulary)
    return asyncio.run(make_bed(case, examiner, ward, profiles, Budget(max_turns=20), seed).run())


def test_it_is_solved_by_asking_or_says_why_it_is_hard(case: PatientVector) -> None:
    """By the reference examiner with the curated profiles, in one of five plays; and no play says the truth unlicensed."""
    truth = set(case.ground_truth.primary.icd10)
    solved = 0
    for seed in SEEDS:
        trace = played(case, seed)
        assert [leak for leak in trace.leaks if leak.leak_class == "unlicensed"] == []
        assert trace.outcome is not None
        solved += bool(truth & {code.strip() for code in (trace.outcome.ranked[0].icd10 or "").split(",")})
    assert solved or case.ground_truth.notes, "not solved in five plays, and no note says why"


def test_the_family_is_not_called_healthy_where_an_illness_in_it_is_known(case: PatientVector, talk: Talk) -> None:
    """Asked in general, the patient does not deny what it tells when asked in particular."""
    ill = [f for f in facts_of(case) if f.kind == "family_history" and f.status == "present"]
    if ill:
        (answer,) = talk.ask("Does anything run in the family?")
        assert [m.dialogue_role for m in answer.mentions] == ["affirmed"], answer.text


def test_the_date_of_the_last_period_is_told_at_once(case: PatientVector, talk: Talk) -> None:
    dates = [f for f in facts_of(case, detail=True) if f.concept.cui == "X:regular-periods" and f.attribute == "onset"]
    if dates:
        (answer,) = talk.ask("When was your last period?")
        assert str(dates[0].value) in answer.text


def test_who_had_the_jabs_is_not_said_to_have_missed_them(case: PatientVector, talk: Talk) -> None:
    told = [f for f in facts_of(case, detail=True) if f.concept.cui == "X:vaccinations-up-to-date"]
    if told:
        text = " ".join(turn.text for turn in talk.ask("Are your vaccinations up to date?"))
        had = any(f.concept.cui == told[0].concept.cui and f.status == "present" for f in facts_of(case))
        assert str(told[0].value) in text
        assert had != any(word in text for word in ("not had", "missed", "never"))
