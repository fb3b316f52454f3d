"""What a cold reading found wrong, kept wrong no longer."""

from __future__ import annotations

import asyncio

import pytest

from ontology.annotator import annotate_examiner
from ontology.profiles import curated_profiles
from ontology.vocabulary import Vocabulary
from simulator.build import Ward, make_bed
from simulator.case import PatientVector
from simulator.examiners.scripted import ScriptedExaminer
from simulator.trace import Budget, DialogueTrace
from ui.wiring import starter_cases


def played(ward: Ward, case: PatientVector, *messages: str, max_turns: int = 20) -> DialogueTrace:
    bed = make_bed(case, ScriptedExaminer(list(messages)), ward, curated_profiles(), Budget(max_turns=max_turns), 1)
    return asyncio.run(bed.run())


def case_of(disease: str) -> PatientVector:
    return next(case for case in starter_cases() if case.ground_truth.disease_id == disease)


@pytest.mark.parametrize(
    ("child", "parent"),
    [
        ("C0028754", "C0043094"),
        ("C0018824", "C0018798"),
        ("C0018932", "C0011991"),
        ("C0025222", "C0011991"),
        ("C0030252", "C0003811"),
        ("X:coloured-nasal-discharge", "X:rhinorrhea"),
    ],
)
def test_a_finding_implies_only_what_follows(vocabulary: Vocabulary, child: str, parent: str) -> None:
    """Obesity is no recent weight gain, blood in the stool no diarrhoea: such links of HPO are cut."""
    assert parent not in vocabulary.ancestors(child)
    assert "C0010200" in vocabulary.ancestors("C0019079"), "coughing up blood still is a cough"


@pytest.mark.parametrize(("disease", "name"), [("appendicitis", "appendicitis"), ("pulmonary-embolism", "a pulmonary embolism")])
def test_nobody_denies_the_disease_they_have(ward: Ward, disease: str, name: str) -> None:
    trace = played(ward, case_of(disease), f"Do you have {name}?")
    roles = {m.dialogue_role for m in trace.turns[2].mentions}
    assert roles <= {"unsure"} and trace.leaks == []


def test_a_headache_is_pain(ward: Ward) -> None:
    """A generic concept earns nothing, but to deny it would be a lie."""
    answer = played(ward, case_of("gca"), "Are you in any pain?").turns[2]
    assert [m.dialogue_role for m in answer.mentions] == ["affirmed"]


@pytest.mark.parametrize("order", ["Please take the temperature.", "Let's check the temperature.", "Please measure your temperature."])
def test_a_temperature_is_ordered_and_a_fever_asked(vocabulary: Vocabulary, order: str) -> None:
    ordered = annotate_examiner(order, vocabulary)
    assert [(m.cui, a.type) for a in ordered.acts for m in ordered.mentions] == [("X:vital-temperature", "order_test")]
    asked = annotate_examiner("Have you had a temperature?", vocabulary)
    assert [(m.cui, m.dialogue_role) for m in asked.mentions] == [("C0015967", "asked")]


def test_a_bare_list_of_tests_is_an_order(ward: Ward) -> None:
    turn = played(ward, case_of("gca"), "ESR, CRP please").turns[2]
    assert turn.role == "record" and len(turn.mentions) == 2


def test_a_question_in_place_of_the_due_answer_is_no_question_event(ward: Ward) -> None:
    trace = played(ward, case_of("gca"), "Any fever?", "Any cough?", max_turns=1)
    assert trace.termination in ("budget", "abandoned")
    assert all(not turn.mentions for turn in trace.turns[3:])


def test_an_ectopic_pregnancy_is_not_in_a_mans_differential() -> None:
    from ontology.belief import BeliefModel
    from ontology.vocabulary import default_vocabulary

    model = BeliefModel(curated_profiles(), default_vocabulary())
    belief = dict(zip(model.diseases, model.prior(19, "M"), strict=True))
    assert belief["ectopic-pregnancy"] < 1e-6 < belief["testicular-torsion"]


def test_whoever_takes_something_now_and_then_says_what(ward: Ward) -> None:
    said = played(ward, case_of("appendicitis"), "Which medicines do you take?").turns[2].text
    assert "paracetamol" in said


def test_a_detail_that_is_not_so_is_denied(ward: Ward) -> None:
    """The case says that the pain spreads nowhere; "I don't know" would be less than it knows."""
    answer = played(ward, case_of("gca"), "Does it spread anywhere?").turns[2]
    assert [m.dialogue_role for m in answer.mentions] == ["denied"]


def test_a_parents_daughter_is_the_patient_and_a_patients_daughter_is_not(vocabulary: Vocabulary) -> None:
    asked = "Does your daughter have a fever?"
    assert [m.experiencer for m in annotate_examiner(asked, vocabulary, for_child=True).mentions] == ["patient"]
    assert [m.experiencer for m in annotate_examiner(asked, vocabulary).mentions] == ["family"]
    husband = annotate_examiner("Does your husband have a cough?", vocabulary)
    assert [m.experiencer for m in husband.mentions] == ["family"]


def test_an_endless_message_is_cut_and_says_so(ward: Ward) -> None:
    trace = played(ward, case_of("gca"), "Do you have a fever? " * 50_000)
    assert len(trace.turns[1].text) <= 20_000
    assert "message_cut" in {note.code for note in trace.turns[1].notes}
