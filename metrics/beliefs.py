"""What a reader of the transcript could believe after each answer, by the knowledge base (metrics.md 7.1)."""

from __future__ import annotations

from dataclasses import dataclass

from metrics.events import ANSWER_OF, Interview, distinct
from ontology.belief import BeliefModel, Vector
from ontology.mentions import Answer


@dataclass(frozen=True, eq=False)
class Step:
    """One piece of evidence after the opening: the answer to a question (`asked`), or something told unasked or found on the record.

    `before` and `after` are beliefs over the diseases of the model; `known` are the concepts that were settled before.
    """

    concept: str
    answer: Answer
    turn_idx: int
    asked: bool
    before: Vector
    after: Vector
    known: frozenset[str]


@dataclass(frozen=True, eq=False)
class Timeline:
    """The belief after the opening, and every step from there to the commit."""

    model: BeliefModel
    prior: Vector
    steps: tuple[Step, ...]

    @property
    def questions(self) -> tuple[Step, ...]:
        """The steps that questions made."""
        return tuple(step for step in self.steps if step.asked)

    @property
    def final(self) -> Vector:
        """The belief at the end."""
        return self.steps[-1].after if self.steps else self.prior

    def index(self, disease_id: str | None) -> int | None:
        """A disease's place in the beliefs, None if the model does not know it."""
        return self.model.diseases.index(disease_id) if disease_id in self.model.diseases else None


def read_timeline(interview: Interview, model: BeliefModel, age: int, sex: str) -> Timeline:
    """Follow the belief through an interview.

    The belief at the opening holds age, sex, the chief complaint and what the patient said with it. A concept counts once: details of an
    answered concept, and repeats, are no steps.

    Args:
        interview: the questions and findings.
        model: the knowledge base.
        age: completed years.
        sex: as the case gives it.
    """
    told = [(f.turn_idx, f.concept, ANSWER_OF[f.status]) for f in interview.findings if f.source != "answered"]
    opening = dict.fromkeys(interview.chief_complaint, "affirmed") | {c: answer for turn, c, answer in told if turn == 0}
    prior = model.prior(age, sex)
    settled: set[str] = set()
    for concept, answer in opening.items():
        if answer in ("affirmed", "denied") and concept not in settled:
            prior = model.update(prior, concept, "affirmed" if answer == "affirmed" else "denied")
            settled.add(concept)
    evidence = [(e.turn_idx, 0, e.start, e.concept, e.presence) for e in interview.events]
    evidence += [(turn, 1, n, c, answer) for n, (turn, c, answer) in enumerate(told) if turn > 0]
    end = interview.commit_turn
    return follow(
        model,
        prior,
        [(c, a, turn, kind == 0) for turn, kind, _, c, a in sorted(evidence) if end is None or turn < end or kind == 0],
        settled,
    )


def follow(model: BeliefModel, prior: Vector, evidence: list[tuple[str, Answer, int, bool]], settled: set[str] | None = None) -> Timeline:
    """Update a belief step by step.

    Args:
        model: the knowledge base.
        prior: the belief to begin with.
        evidence: (concept, answer, turn, asked) in order.
        settled: concepts that are known already.
    """
    belief, steps, known = prior, [], set(settled or ())
    for concept, answer, turn, asked in evidence:
        if concept in known:
            continue
        after = model.update(belief, concept, answer)
        steps.append(Step(concept, answer, turn, asked, belief, after, frozenset(known)))
        belief = after
        if answer in ("affirmed", "denied"):
            known.add(concept)
    return Timeline(model, prior, tuple(steps))


def candidates(timeline: Timeline, threshold: float, also: tuple[str | None, ...], most: int) -> tuple[str, ...]:
    """Diseases that are live after the opening (5.3): those of `also` that the model knows, then the most probable above a threshold.

    Args:
        timeline: the beliefs.
        threshold: least probability.
        also: diseases that count in any case.
        most: at most so many.
    """
    named = [disease for disease in also if disease is not None and disease in timeline.model.diseases]
    ranked = [disease for disease, p in timeline.model.ranked(timeline.prior) if p >= threshold]
    return distinct([*named, *ranked])[:most]
