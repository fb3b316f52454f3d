"""Questioning policies over concepts: what to ask next, and what to conclude (metrics.md 0b D3).

A policy knows nothing of words. `simulator.examiners.reference` puts it into text; `simulator.examiners.direct` plays it on concept ids,
so that the difference between the two is the cost of language understanding.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from ontology.belief import BeliefModel, Vector, informative
from ontology.mentions import Answer
from simulator.trace import FinalAnswer, RankedDiagnosis

RANKED = 5
CHECKLIST_LENGTH = 15
COMMIT_AT = 0.9


@dataclass(frozen=True)
class History:
    """What a policy knows: age, sex, what was told unasked, and what was asked and answered, in order."""

    age: int
    sex: str
    volunteered: Sequence[tuple[str, bool]]
    answers: Sequence[tuple[str, Answer]]

    def concepts(self) -> list[str]:
        """Everything that was spoken of."""
        return [concept for concept, _ in self.volunteered] + [concept for concept, _ in self.answers]


class Policy(Protocol):
    """Decides on concepts. Pure: equal histories give equal decisions."""

    @property
    def name(self) -> str:
        """How the examiner is called."""
        ...

    @property
    def model(self) -> BeliefModel:
        """What it knows about diseases."""
        ...

    def next_concept(self, history: History) -> str | None:
        """The concept to ask about, or None to commit."""
        ...


def belief_after(model: BeliefModel, history: History) -> Vector:
    """The belief after all that is known."""
    belief = model.prior(history.age, history.sex)
    for concept, present in history.volunteered:
        belief = model.update(belief, concept, "affirmed" if present else "denied")
    return model.after(belief, history.answers)


def conclude(model: BeliefModel, history: History) -> FinalAnswer:
    """The most probable diseases as a final answer; the urgency is the leader's acuity where the knowledge base gives one."""
    ranked = model.ranked(belief_after(model, history))[:RANKED]
    profiles = [model.profiles[disease] for disease, _ in ranked]
    items = [
        RankedDiagnosis(name=profile.name, icd10=", ".join(profile.icd10) or None, prob=round(probability, 6))
        for profile, (_, probability) in zip(profiles, ranked, strict=True)
    ]
    return FinalAnswer(ranked=items, confidence=items[0].prob, triage_level=profiles[0].acuity)


@dataclass(frozen=True)
class Hasty:
    """Commits after the opening."""

    model: BeliefModel
    name: str = "hasty"

    def next_concept(self, history: History) -> str | None:
        """Nothing is asked."""
        return None


@dataclass(frozen=True)
class Checklist:
    """The same fifteen questions for everyone: the features that are most frequent over all diseases, one a turn."""

    model: BeliefModel
    name: str = "checklist"

    def next_concept(self, history: History) -> str | None:
        """The next question of the list that the patient has not answered by opening with it."""
        done = {*history.concepts(), *self.model.impossible(history.sex)}
        return next((concept for concept in self.model.most_frequent(CHECKLIST_LENGTH) if concept not in done), None)


@dataclass(frozen=True)
class InfogainFast:
    """Asks what tells most, and commits as soon as one disease has a posterior of .9."""

    model: BeliefModel
    name: str = "infogain-fast"
    commit_at: float = COMMIT_AT

    def next_concept(self, history: History) -> str | None:
        """The greedy choice."""
        belief = belief_after(self.model, history)
        if float(belief.max()) >= self.commit_at:
            return None
        return informative(self.model, belief, [*history.concepts(), *self.model.impossible(history.sex)])
