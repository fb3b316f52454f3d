"""The embedded patient: it understands what is asked, answers by the facts of its case, and speaks in utterances of the pool only."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from random import Random
from typing import Any

import pytest

from simulator.build import Ward
from simulator.case import CasePresentation, Fact, PatientSide
from simulator.encounter import examiner_turn
from simulator.patients import EmbeddedPatient
from simulator.pools.index import PoolIndex
from simulator.protocols import Move, PatientFailure
from simulator.trace import Turn

FEVER, COUGH, PHLEGM, HEADACHE, CHEST_PAIN, PAIN = "C0015967", "C0010200", "X:productive-cough", "C0018681", "C0008031", "C0030193"
NAUSEA, DYSPNOEA, ON_EXERTION = "C0027497", "C0013404", "C0231807"


class Bedside:
    """A patient with given facts, and the talk so far."""

    def __init__(self, ward: Ward, facts: Sequence[Fact], *, world: str = "closed", cap: int = 3, **person: Any) -> None:
        first = next(f for f in facts if f.status == "present")
        raw = {"case_id": "case-000000000000", "age": 40, "sex": "F", "language": "en", "world_assumption": world, **person}
        presentation = CasePresentation(chief_complaint=[first.fact_id], opening_text="I feel ill.")
        self.side = PatientSide(**raw, facts=list(facts), presentation=presentation)
        self.patient = EmbeddedPatient(self.side, ward.pool, ward.vocabulary, cap)
        self.turns = [Turn(idx=0, role="patient", text="I feel ill.")]

    def ask(self, text: str) -> list[Turn]:
        """Say something; the turns that answer."""
        turn = examiner_turn(Move(text), self.turns, self.patient, 0)
        replies = asyncio.run(self.patient.reply(turn, tuple(self.turns), Random(f"1:{turn.idx}")))
        self.turns.append(turn)
        made = [
            Turn.model_validate(
                {
                    "idx": turn.idx + 1 + number,
                    "role": role,
                    "text": reply.text,
                    "acts": [act.model_dump() for act in reply.acts],
                    "mentions": [mention.model_dump() for mention in reply.mentions],
                    "truncated_answer": reply.truncated_answer,
                }
            )
            for number, (role, reply) in enumerate(replies)
        ]
        self.turns += made
        return made

    def told(self, text: str) -> list[tuple[str, str]]:
        """(concept, role) of each answer to a message."""
        return [(mention.cui, mention.dialogue_role) for turn in self.ask(text) for mention in turn.mentions]

    def says(self, text: str) -> str:
        """The one turn of the patient that answers."""
        (turn,) = self.ask(text)
        assert turn.role == "patient"
        return turn.text


def so(number: int, concept: str, status: str = "present", kind: str = "symptom", **more: Any) -> Fact:
    return Fact.model_validate(
        {"fact_id": f"f{number:02d}", "concept": {"cui": concept, "name": concept}, "kind": kind, "status": status, **more}
    )


def texts_of_act(ward: Ward, act: str) -> set[str]:
    return {utterance.text for utterance in ward.pool.of_act(act) if utterance.form != "third_party"}


# -- presence: by the fact, by what it implies, by the world ---------------------------------------------------------------------------


@pytest.mark.parametrize(("world", "role"), [("closed", "denied"), ("open", "unsure")])
def test_what_is_not_listed_is_absent_in_a_closed_world_and_unknown_in_an_open_one(ward: Ward, world: str, role: str) -> None:
    assert Bedside(ward, [so(1, FEVER)], world=world).told("Do you have a cough?") == [(COUGH, role)]


@pytest.mark.parametrize("world", ["closed", "open"])
@pytest.mark.parametrize(("status", "role"), [("present", "affirmed"), ("absent", "denied"), ("unknown", "unsure")])
def test_a_stated_fact_decides_in_either_world(ward: Ward, world: str, status: str, role: str) -> None:
    bed = Bedside(ward, [so(1, FEVER), so(2, COUGH, status)], world=world)
    assert bed.told("Do you have a cough?") == [(COUGH, role)]
    answer = bed.turns[-1].mentions[0]
    assert (answer.fact_id, answer.links_to) == ("f02", bed.turns[-2].mentions[0].mention_id)


def test_a_finding_implies_the_broader_one(ward: Ward) -> None:
    bed = Bedside(ward, [so(1, PHLEGM)])
    assert bed.told("Do you have a cough?") == [(PHLEGM, "affirmed")]
    assert bed.turns[-1].mentions[0].fact_id == "f01"


def test_a_denied_finding_denies_the_narrower_one(ward: Ward) -> None:
    bed = Bedside(ward, [so(1, FEVER), so(2, DYSPNOEA, "absent")], world="open")
    assert bed.told("Are you short of breath when you exert yourself?")[0][1] == "denied"
    assert bed.told("Do you have a headache?") == [(HEADACHE, "unsure")]


def test_a_broader_finding_does_not_imply_a_narrower_one(ward: Ward) -> None:
    assert Bedside(ward, [so(1, COUGH)], world="open").told("Do you bring up phlegm?") == [(PHLEGM, "unsure")]


def test_a_man_denies_what_only_women_have_even_in_an_open_world(ward: Ward) -> None:
    for question in ("Are you pregnant?", "Have you had heavy periods?"):
        man, woman = (Bedside(ward, [so(1, FEVER)], world="open", sex=sex) for sex in "MF")
        assert [role for _, role in man.told(question)] == ["denied"]
        assert [role for _, role in woman.told(question)] == ["unsure"]
        assert man.turns[-1].text in texts_of_act(ward, "deny_other")


def test_a_span_of_two_meanings_means_the_one_the_case_speaks_of(ward: Ward) -> None:
    phrase = next(m for m in ward.vocabulary.find("numbness") if m.alternatives)
    other = phrase.alternatives[0]
    bed = Bedside(ward, [so(1, FEVER), so(2, other)])
    assert bed.told("Any numbness?") == [(other, "affirmed")]
    asked = bed.turns[-2].mentions[0]
    assert asked.cui == other and asked.alt_cuis == [phrase.concept]


# -- several questions at once ---------------------------------------------------------------------------------------------------------


def test_a_compound_question_is_answered_part_by_part_in_order(ward: Ward) -> None:
    bed = Bedside(ward, [so(1, FEVER), so(2, NAUSEA)])
    assert bed.told("Have you had a cough, nausea or a fever?") == [(COUGH, "denied"), (NAUSEA, "affirmed"), (FEVER, "affirmed")]
    turn = bed.turns[-1]
    assert not turn.truncated_answer and turn.text == " ".join(mention.surface for mention in turn.mentions)


@pytest.mark.parametrize("cap", [1, 2, 3, 4])
def test_no_more_is_answered_at_once_than_the_cap(ward: Ward, cap: int) -> None:
    bed = Bedside(ward, [so(1, FEVER)], cap=cap)
    assert len(bed.told("Have you had a cough, nausea, a fever or a headache?")) == cap
    assert bed.turns[-1].truncated_answer is (cap < 4)


def test_the_cap_counts_over_all_questions_of_a_message(ward: Ward) -> None:
    bed = Bedside(ward, [so(1, FEVER)], cap=2)
    assert len(bed.told("Have you had a cough? A fever? Any headache?")) == 2
    assert bed.turns[-1].truncated_answer


# -- details ---------------------------------------------------------------------------------------------------------------------------


def pain(**more: Any) -> list[Fact]:
    return [
        so(1, PAIN),
        so(2, PAIN, attribute="severity", value="7", value_class="high"),
        so(3, PAIN, attribute="location", value="in the chest", value_class="any"),
        so(4, PAIN, attribute="location", value="in the left arm", value_class="any"),
        so(5, CHEST_PAIN, status_source="inferred"),
        *([so(6, FEVER)] if more.get("fever") else []),
    ]


def test_a_known_detail_is_given_in_its_words(ward: Ward) -> None:
    bed = Bedside(ward, pain())
    assert "7" in bed.says("How bad is the pain?")
    answer = bed.turns[-1].mentions[0]
    assert (answer.attribute, answer.fact_id, answer.dialogue_role) == ("severity", "f02", "affirmed")


def test_several_values_of_a_detail_are_listed(ward: Ward) -> None:
    assert "in the chest and in the left arm" in Bedside(ward, pain()).says("Where is the pain?")


def test_the_details_of_a_pain_describe_the_pain_at_its_place(ward: Ward) -> None:
    bed = Bedside(ward, pain())
    assert "7" in bed.says("How severe is the chest pain?")
    assert bed.turns[-1].mentions[0].cui == CHEST_PAIN


def test_the_details_of_one_pain_do_not_make_another(ward: Ward) -> None:
    """ "How bad is your headache?" to somebody without one must not be answered with the severity of the chest pain."""
    bed = Bedside(ward, pain())
    assert bed.told("How bad is your headache?") == [(HEADACHE, "denied")]
    assert "7" not in bed.turns[-1].text
    unknown = Bedside(ward, pain(), world="open")
    assert unknown.told("How bad is your headache?") == [(HEADACHE, "unsure")]


def test_a_detail_nobody_noted_is_not_invented(ward: Ward) -> None:
    bed = Bedside(ward, pain(fever=True))
    assert bed.says("How long have you had the fever?") in texts_of_act(ward, "no_attribute")
    answer = bed.turns[-1].mentions[0]
    assert (answer.cui, answer.attribute, answer.dialogue_role, answer.polarity) == (FEVER, "duration", "unsure", "unknown")


def test_a_detail_of_what_is_not_there_is_answered_by_saying_so(ward: Ward) -> None:
    assert Bedside(ward, [so(1, FEVER)]).told("What colour is the rash?")[0][1] == "denied"


def test_a_detail_that_is_none_is_denied(ward: Ward) -> None:
    bed = Bedside(ward, [so(1, PAIN), so(2, PAIN, attribute="radiation", value="nowhere", value_class="none")])
    assert bed.told("Does the pain spread anywhere?") == [(PAIN, "denied")]
    assert bed.turns[-1].mentions[0].fact_id == "f02"


def test_it_means_what_was_last_talked_about(ward: Ward) -> None:
    bed = Bedside(ward, [*pain(), so(7, COUGH), so(8, COUGH, attribute="duration", value="two weeks", value_class="any")])
    bed.ask("Do you have a cough?")
    assert "two weeks" in bed.says("How long have you had it?")
    bed.ask("Do you have any pain?")
    assert "7" in bed.says("How bad is it?")


# -- other people ----------------------------------------------------------------------------------------------------------------------


def test_the_family_is_asked_for_by_concepts_of_its_own(ward: Ward) -> None:
    concept = "X:family-history-asthma"
    assert Bedside(ward, [so(1, FEVER)]).told("Does anyone in your family have asthma?") == [(concept, "denied")]
    bed = Bedside(ward, [so(1, FEVER), so(2, concept, kind="family_history")])
    assert bed.told("Did your sister have asthma?") == [(concept, "affirmed")]


def test_a_relatives_symptom_is_unknown_and_says_nothing_of_the_patient(ward: Ward) -> None:
    for facts in ([so(1, CHEST_PAIN)], [so(1, FEVER)]):
        bed = Bedside(ward, facts)
        assert bed.says("Did your mother have chest pain?") in texts_of_act(ward, "unsure_other")
        answer = bed.turns[-1].mentions[0]
        assert (answer.experiencer, answer.dialogue_role) == ("family", "unsure")


# -- the record ------------------------------------------------------------------------------------------------------------------------


def with_record() -> list[Fact]:
    return [
        so(1, FEVER),
        so(2, "X:vital-blood-pressure", kind="vital", value="148/86 mmHg."),
        so(3, "X:test-cbc", "absent", kind="lab"),
        so(4, "X:exam-abdomen", "unknown", kind="sign"),
    ]


def test_the_record_answers_what_is_ordered(ward: Ward) -> None:
    bed = Bedside(ward, with_record())
    (turn,) = bed.ask("Please check the blood pressure.")
    assert turn.role == "record" and turn.text.endswith(": 148/86 mmHg.")
    assert [(m.dialogue_role, m.fact_id) for m in turn.mentions] == [("affirmed", "f02")]


def test_a_record_of_an_absent_or_unknown_finding_says_so(ward: Ward) -> None:
    bed = Bedside(ward, with_record())
    (absent,) = bed.ask("Order a blood count.")
    assert (absent.text.rpartition(": ")[2], absent.mentions[0].polarity) == ("absent.", "absent")
    (unknown,) = bed.ask("Let me examine your abdomen.")
    assert (unknown.text.rpartition(": ")[2], unknown.mentions[0].dialogue_role) == ("not available.", "unsure")


def test_what_the_record_does_not_hold_is_not_available_not_normal(ward: Ward) -> None:
    bed = Bedside(ward, [so(1, FEVER)])
    (turn,) = bed.ask("Order a chest X-ray.")
    assert (turn.role, turn.text) == ("record", "Chest X-ray: not available.")
    assert (turn.mentions[0].dialogue_role, turn.mentions[0].fact_id) == ("unsure", None)


def test_an_order_nobody_understands_is_answered_by_the_record(ward: Ward) -> None:
    (turn,) = Bedside(ward, with_record()).ask("Order a foobar assay.")
    assert (turn.role, turn.text, turn.mentions) == ("record", "The record has no entry by that name.", [])


def test_a_message_may_ask_the_patient_and_the_record(ward: Ward) -> None:
    bed = Bedside(ward, with_record())
    patient, record = bed.ask("Do you have a cough? Please check the blood pressure.")
    assert (patient.role, record.role) == ("patient", "record")
    assert (patient.mentions[0].cui, record.mentions[0].fact_id) == (COUGH, "f02")


def test_record_facts_are_never_told_by_the_patient(ward: Ward) -> None:
    bed = Bedside(ward, [*with_record(), so(5, "X:test-chest-x-ray", kind="imaging", value="a shadow", disclosure="volunteer")])
    for _ in range(3):
        assert "shadow" not in bed.says("Anything else?")


# -- conversation ----------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "act"),
    [
        ("Hello.", "greet"),
        ("Good morning!", "greet"),
        ("Thank you.", "thanks"),
        ("Goodbye.", "goodbye"),
        ("What is your name?", "name"),
        ("How are you feeling today?", "feelings"),
        ("Is that okay?", "consent"),
        ("I would recommend some rest.", "advice_ack"),
        ("Flurbish the gronk?", "not_understood"),
        ("...", "not_understood"),
    ],
)
def test_small_talk_has_words_of_its_own(ward: Ward, text: str, act: str) -> None:
    bed = Bedside(ward, [so(1, FEVER)])
    assert bed.says(text) in texts_of_act(ward, act)
    assert bed.turns[-1].mentions == [] and [a.type for a in bed.turns[-1].acts] == ["meta"]


def test_age_and_sex_are_told_from_the_case(ward: Ward) -> None:
    assert "67" in Bedside(ward, [so(1, FEVER)], age=67).says("How old are you?")
    assert "woman" in Bedside(ward, [so(1, FEVER)]).says("Are you a man or a woman?")
    assert "boy" in Bedside(ward, [so(1, FEVER)], age=10, sex="M").says("Are you male or female?")
    assert "person" in Bedside(ward, [so(1, FEVER)], sex="unknown").says("What is your sex?")


def test_a_question_beside_a_greeting_is_answered_and_the_greeting_let_go(ward: Ward) -> None:
    bed = Bedside(ward, [so(1, FEVER)])
    assert bed.told("Hello. Do you have a fever?") == [(FEVER, "affirmed")]


def test_an_open_question_brings_one_finding_at_a_time_and_then_nothing_else(ward: Ward) -> None:
    hidden = so(4, HEADACHE)
    facts = [so(1, FEVER, disclosure="opening"), so(2, COUGH, disclosure="volunteer"), so(3, NAUSEA, disclosure="volunteer"), hidden]
    bed = Bedside(ward, facts)
    assert bed.told("Anything else?") == [(COUGH, "volunteered")]
    assert [act.type for act in bed.turns[-1].acts] == ["volunteer"]
    assert bed.told("Do you feel nauseous?") == [(NAUSEA, "affirmed")]
    for _ in range(2):
        assert bed.says("Anything else?") in texts_of_act(ward, "nothing_else")


def test_only_what_is_so_is_volunteered(ward: Ward) -> None:
    facts = [so(1, FEVER), so(2, COUGH, "absent", disclosure="volunteer"), so(3, NAUSEA, "unknown", disclosure="volunteer")]
    assert Bedside(ward, facts).says("Anything else?") in texts_of_act(ward, "nothing_else")


def test_a_caregiver_speaks_of_the_child(ward: Ward) -> None:
    bed = Bedside(ward, [so(1, FEVER), so(2, COUGH)], age=4, sex="M")
    third = {u.utt_id for pool in ward.pool.pools for u in pool.utterances if u.form == "third_party"}
    for text in ("Does he have a fever?", "Has he had a headache?", "Hello.", "How old is he?", "Gronk?", "Any cough?"):
        turn = bed.ask(text)[0]
        used = [m.utt_id for m in turn.mentions] + [a.payload["utt_id"] for a in turn.acts if a.type == "meta"]
        assert used and set(used) <= third, (text, turn.text)


def test_a_pool_without_words_is_a_failure_of_the_patient_and_no_crash(ward: Ward) -> None:
    bed = Bedside(ward, [so(1, FEVER)])
    mute = EmbeddedPatient(bed.side, PoolIndex([]), ward.vocabulary)
    turn = examiner_turn(Move("Do you have a fever?"), bed.turns, mute, 0)
    with pytest.raises(PatientFailure, match="no words"):
        asyncio.run(mute.reply(turn, bed.turns, Random(1)))


# -- no word twice ---------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["Hello.", "Flurbish?", "Thanks.", "Do you have a fever?", "Do you have a cough?", "Anything else?"])
def test_nothing_is_said_twice_while_fresh_words_are_left(ward: Ward, text: str) -> None:
    bed = Bedside(ward, [so(1, FEVER)])
    heard: list[str] = []
    while (said := bed.says(text)) not in heard:
        heard.append(said)
    pools = {
        "Hello.": ward.pool.of_act("greet"),
        "Flurbish?": ward.pool.of_act("not_understood"),
        "Thanks.": ward.pool.of_act("thanks"),
        "Do you have a fever?": ward.pool.of_concept(FEVER, "affirm"),
        "Do you have a cough?": ward.pool.of_concept(COUGH, "deny"),
        "Anything else?": ward.pool.of_act("nothing_else"),
    }
    assert len(heard) == sum(utterance.form != "third_party" for utterance in pools[text]) >= 2
