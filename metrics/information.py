"""What the questions told, and whether it led towards the truth (metrics.md 7.2)."""

from __future__ import annotations

from dataclasses import dataclass
from math import log2

from pydantic import JsonValue

from metrics.basis import NO_QUESTIONS, Basis
from metrics.beliefs import Step, Timeline
from metrics.scores import Score
from ontology.belief import BeliefModel, Vector, entropy

TOP = 3
"""Diseases shown at each point of the timeline."""
NEGLIGIBLE = 1e-9
"""Bits below which even the best question tells nothing."""

QUESTION_SCORES = ("tig", "tig_per_question", "information_gain", "expected_information_gain", "question_efficiency", "regret")
BELIEF_SCORES = ("tig_total", "belief_in_truth", "belief_entropy")


def truth_gain(step: Step, truth: int) -> float:
    """Truth information gain of one step in bits: log2 of the factor by which belief in the truth grew."""
    return log2(float(step.after[truth])) - log2(float(step.before[truth]))


def information_scores(here: Basis, timeline: Timeline) -> dict[str, Score]:
    """All scores of the information family; null where the knowledge base does not know the true disease.

    `tig` is the headline: the sum over the questions. `tig_total` also counts what was told unasked and telescopes to
    log2 of the final over the first belief in the truth, so it never passes minus log2 of the first.
    """
    stamp, case = here.stamp, here.case
    truth = timeline.index(case.ground_truth.disease_id)
    if truth is None:
        reason = f"no profile of {case.ground_truth.disease_id}"
        return {name: stamp.null(reason) for name in (*QUESTION_SCORES, *BELIEF_SCORES)}
    first, last = float(timeline.prior[truth]), float(timeline.final[truth])
    told: dict[str, JsonValue] = {
        "belief_in_truth_at_opening": first,
        "belief_in_truth_at_end": last,
        "bound": -log2(first),
        "top_at_opening": leaders(timeline.model, timeline.prior),
        "top_at_end": leaders(timeline.model, timeline.final),
    }
    by_telling = sum(truth_gain(step, truth) for step in timeline.steps if not step.asked)
    scores = {
        "tig_total": stamp.score(log2(last) - log2(first), {**told, "by_what_was_told": by_telling}),
        "belief_in_truth": stamp.score(last, told),
        "belief_entropy": stamp.score(entropy(timeline.final), {"at_opening": entropy(timeline.prior)}),
    }
    return scores | _question_scores(here, timeline, truth, told)


def _question_scores(here: Basis, timeline: Timeline, truth: int, told: dict[str, JsonValue]) -> dict[str, Score]:
    stamp, steps = here.stamp, timeline.questions
    if not steps:
        return {"tig": stamp.score(0.0, {**told, "no_questions": True})} | {
            name: stamp.null(NO_QUESTIONS) for name in QUESTION_SCORES if name != "tig"
        }
    impossible = frozenset(timeline.model.impossible(here.case.patient_facts.sex))
    worth = [worth_of(timeline.model, step, impossible) for step in steps]
    listed: list[JsonValue] = [question_row(here, timeline.model, step, it, truth) for step, it in zip(steps, worth, strict=True)]
    tig = [truth_gain(step, truth) for step in steps]
    realised = [entropy(step.before) - entropy(step.after) for step in steps]
    expected = [it.gain for it in worth]
    efficiencies = [it.efficiency for it in worth]
    efficient = [value for value in efficiencies if value is not None]
    scores = {
        "tig": stamp.score(sum(tig), {**told, "questions": listed}),
        "tig_per_question": stamp.score(sum(tig) / len(tig), {"questions": len(tig)}),
        "information_gain": stamp.score(sum(realised), {"by_question": list(realised)}),
        "expected_information_gain": stamp.score(sum(expected) / len(expected), {"by_question": list(expected)}),
    }
    if not efficient:
        none_left = "no question could have told anything"
        return scores | {name: stamp.null(none_left) for name in ("question_efficiency", "regret")}
    mean = sum(efficient) / len(efficient)
    counted: dict[str, JsonValue] = {"by_question": list(efficiencies), "counted": len(efficient)}
    return scores | {"question_efficiency": stamp.score(mean, counted), "regret": stamp.score(1 - mean, counted)}


@dataclass(frozen=True)
class Worth:
    """What a question could be expected to tell, and what the best one could, in bits."""

    gain: float
    best: float
    best_concept: str | None

    @property
    def efficiency(self) -> float | None:
        """The share of the best gain; None where no question could tell anything."""
        return self.gain / self.best if self.best > NEGLIGIBLE else None


def worth_of(model: BeliefModel, step: Step, impossible: frozenset[str] = frozenset()) -> Worth:
    """Compare a question with the greedy oracle's at the same point."""
    gain = model.expected_gain(step.before, step.concept)
    best, concept = model.best_gain(step.before, step.known | impossible)
    return Worth(gain, max(best, gain), concept)


def question_row(here: Basis, model: BeliefModel, step: Step, worth: Worth, truth: int) -> JsonValue:
    """One question of the belief timeline, for the reader."""
    return {
        "turn": step.turn_idx,
        "concept": step.concept,
        "name": here.concepts.name(step.concept),
        "answer": step.answer,
        "eig": worth.gain,
        "efficiency": worth.efficiency,
        "best": None if worth.best_concept is None else here.concepts.name(worth.best_concept),
        "best_eig": worth.best,
        "ig": entropy(step.before) - entropy(step.after),
        "tig": truth_gain(step, truth),
        "belief_in_truth": float(step.after[truth]),
        "top": leaders(model, step.after),
    }


def leaders(model: BeliefModel, belief: Vector) -> list[JsonValue]:
    """The most probable diseases of a belief."""
    return [{"disease": model.profiles[disease].name, "prob": round(p, 6)} for disease, p in model.ranked(belief)[:TOP]]
