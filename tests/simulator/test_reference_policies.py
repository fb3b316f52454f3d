"""The further reference examiners of metrics.md 0b D3: silent, random, shotgun, infogain, anchored, oracle."""

from __future__ import annotations

import asyncio
from functools import cache

import pytest

from ontology.belief import BeliefModel
from ontology.clinical import clinical_tables
from ontology.profiles import bundled_ddxplus_profiles
from ontology.vocabulary import default_vocabulary
from simulator.build import default_ward, make_bed
from simulator.examiners.policies import (
    CHECKLIST_LENGTH,
    CORE_COVERAGE,
    CORE_WEIGHT,
    KNOWING,
    POLICIES,
    SHOTGUN_LENGTH,
    Anchored,
    History,
    RandomQuestions,
    features_of,
    indispensable,
)
from simulator.examiners.reference import ReferenceExaminer
from simulator.trace import Budget, DialogueTrace
from ui.wiring import Bookshelf, ExaminerFactory, ExaminerSpec, form_cases


@cache
def model() -> BeliefModel:
    return BeliefModel(bundled_ddxplus_profiles(), default_vocabulary())


@cache
def played(name: str, number: int = 0, max_turns: int = 20) -> DialogueTrace:
    case = form_cases()[number]
    policy = KNOWING[name](model(), case.ground_truth.disease_id) if name in KNOWING else POLICIES[name](model())
    examiner = ReferenceExaminer(policy, default_vocabulary())
    bed = make_bed(case, examiner, default_ward(), bundled_ddxplus_profiles(), Budget(max_turns=max_turns), 1)
    return asyncio.run(bed.run())


def asked(trace: DialogueTrace) -> list[list[str]]:
    return [[m.cui for m in turn.mentions] for turn in trace.turns if turn.role == "examiner" and turn.mentions]


def test_silent_never_asks_and_never_answers() -> None:
    trace = played("silent", max_turns=4)
    assert (trace.termination, trace.outcome, asked(trace)) == ("budget", None, [])
    assert sum(turn.role == "examiner" for turn in trace.turns) == 5


def test_random_draws_fifteen_by_its_seed() -> None:
    history = History(40, "F", (("C0015967", True),), ())
    draws = [RandomQuestions(model(), seed=seed).next_concept(history) for seed in range(12)]
    assert draws == [RandomQuestions(model(), seed=seed).next_concept(history) for seed in range(12)]
    assert len(set(draws)) > 6
    questions = [concept for turn in asked(played("random")) for concept in turn]
    assert len(set(questions)) == CHECKLIST_LENGTH


def test_shotgun_asks_all_in_one_turn() -> None:
    trace = played("shotgun")
    turns = asked(trace)
    assert len(turns) == 1 and SHOTGUN_LENGTH - 3 <= len(set(turns[0])) <= SHOTGUN_LENGTH
    assert trace.turns[2].truncated_answer and trace.termination == "examiner_committed"


@pytest.mark.parametrize("number", range(3))
def test_infogain_goes_on_until_the_core_is_known(number: int) -> None:
    trace = played("infogain", number)
    assert trace.outcome is not None
    fast = [concept for turn in asked(played("infogain-fast", number)) for concept in turn]
    questions = [concept for turn in asked(trace) for concept in turn]
    assert questions[: len(fast)] == fast
    if not trace.forced_commit:
        leader = next(d for d, p in model().profiles.profiles.items() if p.name == trace.outcome.ranked[0].name)
        known = {*questions, *(m.cui for m in trace.turns[0].mentions)}
        core = features_of(model(), leader, CORE_WEIGHT)
        assert sum(w for c, w in core if c in known) >= CORE_COVERAGE * sum(w for _, w in core)


@pytest.mark.parametrize("number", range(3))
def test_anchored_asks_for_one_wrong_disease_and_names_it(number: int) -> None:
    trace, truth = played("anchored", number), form_cases()[number].ground_truth.disease_id
    assert trace.outcome is not None
    wrong = next(d for d, p in model().profiles.profiles.items() if p.name == trace.outcome.ranked[0].name)
    assert wrong != truth
    listed = {concept for concept, _ in features_of(model(), wrong, 0.0)}
    assert all(concept in listed for turn in asked(trace) for concept in turn)


def test_anchored_ignores_what_it_hears() -> None:
    policy = Anchored(model(), truth="ddx-pneumonia")
    first = policy.next_concept(History(40, "F", (), ()))
    assert first is not None
    answers = [policy.next_concept(History(40, "F", (), ((first, answer),))) for answer in ("affirmed", "denied")]
    assert answers[0] == answers[1]


@pytest.mark.parametrize("number", range(3))
def test_the_oracle_asks_for_the_core_and_is_right(number: int) -> None:
    trace, truth = played("oracle", number), form_cases()[number].ground_truth.disease_id
    assert trace.outcome is not None and trace.outcome.ranked[0].name == model().profiles[truth].name
    known = {concept for turn in asked(trace) for concept in turn} | {m.cui for m in trace.turns[0].mentions}
    if not trace.forced_commit:
        possible = set(model().askable) - set(model().impossible(form_cases()[number].patient_facts.sex))
        assert {concept for concept, _ in features_of(model(), truth, CORE_WEIGHT)} & possible <= known


def test_what_is_indispensable_is_asked_once_per_demand() -> None:
    rows = clinical_tables().sine_qua_non_of("ddx-whooping-cough")
    assert rows and len(indispensable(model(), "ddx-whooping-cough", ())) <= len(rows)
    first = indispensable(model(), "ddx-whooping-cough", ())[0]
    assert indispensable(model(), "ddx-whooping-cough", (first,)) == []


def test_all_of_them_can_be_named_for_a_run() -> None:
    factory = ExaminerFactory(Bookshelf())
    case = form_cases()[0]
    for name in (*POLICIES, *KNOWING):
        assert factory.make(ExaminerSpec(name), case).player.id == name
    assert factory.make(ExaminerSpec("oracle"), case) is factory.make(ExaminerSpec("oracle"), case)
