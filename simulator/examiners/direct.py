"""A policy played on concept ids, without a word: the yardstick for what language understanding costs."""

from __future__ import annotations

from dataclasses import dataclass

from ontology.mentions import Answer
from ontology.vocabulary import Vocabulary
from simulator.case import PatientVector
from simulator.examiners.policies import History, Policy
from simulator.patients.facts import FactIndex
from simulator.trace import FinalAnswer

ANSWERS: dict[str, Answer] = {"present": "affirmed", "absent": "denied", "unknown": "unsure"}


@dataclass(frozen=True)
class DirectResult:
    """What a policy concluded when it was handed the facts."""

    answer: FinalAnswer
    asked: tuple[tuple[str, Answer], ...]


def play_direct(case: PatientVector, policy: Policy, vocabulary: Vocabulary, max_turns: int) -> DirectResult:
    """Play a policy against the facts of a case.

    Args:
        case: the case; the policy gets the chief complaint's concepts, age and sex, then one answer a question.
        policy: what to ask.
        vocabulary: for what facts imply.
        max_turns: the budget.
    """
    facts = FactIndex(case.patient_side(), vocabulary)
    by_id = {fact.fact_id: fact for fact in case.patient_facts.facts}
    opening = [(vocabulary.canonical(by_id[i].concept.cui), True) for i in case.presentation.chief_complaint]
    answers: list[tuple[str, Answer]] = []
    while True:
        history = History(case.patient_facts.age, case.patient_facts.sex, opening, answers)
        concept = policy.next_concept(history) if len(answers) < max_turns else None
        if concept is None:
            return DirectResult(policy.answer(history), tuple(answers))
        answers = [*answers, (concept, ANSWERS[facts.presence(concept).status])]
