"""Holding on to one candidate: the anchoring index, its flags, perseveration and revision lag (metrics.md 5.3)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from math import log

from pydantic import JsonValue

from metrics.basis import NO_QUESTIONS, Basis
from metrics.beliefs import Step, Timeline, candidates
from metrics.crediting import CREDIT_PARAMS
from metrics.scores import Score
from ontology.belief import BeliefModel, Vector
from simulator.trace import Snapshot

ANCHOR_PARAMS = ("ddx_threshold", "anchor_candidates", "anchor_feature", *CREDIT_PARAMS)
FLAG_PARAMS = (
    *ANCHOR_PARAMS,
    "anchor_restricted",
    "anchor_altcov",
    "anchor_perseveration",
    "anchor_window",
    "anchor_bf",
    "anchor_questions",
    "anchor_flag",
)
SCORES = (
    "anchoring_index",
    "anchoring_concentration",
    "anchoring_share",
    "anchoring_restriction",
    "anchoring_altcov",
    "perseveration",
    "anchoring_bias",
    "confirmatory",
    "adopted_anchor",
)


@dataclass(frozen=True)
class Anchor:
    """The disease that the questions circle round, and how closely.

    Attributes:
        disease: the anchor h.
        shares: A(d) of every candidate.
        by_question: a_j of the anchor for every question; None for a question that bears on no candidate.
        restriction: share of questions that the anchor's profile lists.
        altcov: how much of the other candidates' own features was asked for.
    """

    disease: str
    shares: dict[str, float]
    by_question: tuple[float | None, ...]
    restriction: float
    altcov: float

    @property
    def index(self) -> float:
        """Restr (1 - altcov)."""
        return self.restriction * (1 - self.altcov)

    @property
    def share(self) -> float:
        """A(h)."""
        return self.shares[self.disease]

    @property
    def concentration(self) -> float:
        """1 - H(A) / log |C|; descriptive only."""
        spread = -sum(a * log(a) for a in self.shares.values() if a > 0)
        return 1 - spread / log(len(self.shares)) if len(self.shares) > 1 else 1.0


@dataclass(frozen=True)
class Contradiction:
    """An answer that speaks against the anchor."""

    question: int
    bayes_factor: float
    perseveration: float | None


def find_anchor(here: Basis, timeline: Timeline, live: Sequence[str]) -> Anchor | None:
    """The anchor among some candidates; None if no question bears on any of them (ties go to the first candidate)."""
    model, steps = timeline.model, timeline.questions
    places = [model.diseases.index(disease) for disease in live]
    rows: list[Vector | None] = []
    for step in steps:
        found = model.frequencies(step.concept)
        own = None if found is None else found[places]
        rows.append(None if own is None or own.sum() <= 0 else own)
    telling = [row / row.sum() for row in rows if row is not None]
    if not telling:
        return None
    mean = sum(telling[1:], start=telling[0]) / len(telling)
    at = int(mean.argmax())
    least = here.stamp.params.anchor_feature
    own_share = tuple(None if row is None else float(row[at] / row.sum()) for row in rows)
    restriction = sum(row is not None and float(row[at]) >= least for row in rows) / len(rows)
    shares = {disease: float(value) for disease, value in zip(live, mean, strict=True)}
    return Anchor(live[at], shares, own_share, restriction, alternative_coverage(here, timeline, live[at], live))


def alternative_coverage(here: Basis, timeline: Timeline, anchor: str, live: Sequence[str]) -> float:
    """How far the questions went into what only the others have, each weighted by its belief at the opening; 1 without others."""
    model, least = timeline.model, here.stamp.params.anchor_feature
    questions = _Questions(here, timeline.questions)
    total = covered = 0.0
    for disease in live:
        if disease == anchor:
            continue
        own = _own_features(here, disease, model.diseases.index(disease), model.diseases.index(anchor), least)
        if not own:
            continue
        belief = float(timeline.prior[model.diseases.index(disease)])
        asked = sum(f * questions.how_far(concept) for concept, f in own.items())
        total += belief
        covered += belief * asked / sum(own.values())
    return covered / total if total else 1.0


def _own_features(here: Basis, disease: str, place: int, anchor: int, least: float) -> dict[str, float]:
    """Askable features of a disease that the anchor does not have, with their frequency; without the chief complaint."""
    complaint = here.interview.chief_complaint
    return {
        concept: float(row[place])
        for concept, row in here.knowledge.own_features[disease]
        if row[place] >= least and row[anchor] < least and concept not in complaint
    }


class _Questions:
    """How far features were asked for, whatever the answer: what matters here is whether the examiner thought of it."""

    def __init__(self, here: Basis, questions: Sequence[Step]) -> None:
        self._crediting = here.crediting
        self._at: dict[str, list[Step]] = defaultdict(list)
        self._below: dict[str, list[Step]] = defaultdict(list)
        for step in questions:
            self._at[step.concept].append(step)
            for broader in self._crediting.near(step.concept):
                self._below[broader].append(step)

    def how_far(self, feature: str) -> float:
        """The best credit that a question earns for a feature, 0..1."""
        near = [*self._at.get(feature, ()), *self._below.get(feature, ())]
        for broader in self._crediting.near(feature):
            near += self._at.get(broader, ())
        return max(
            (self._crediting.credit(s.concept, feature, "unsure" if s.answer == "unanswered" else s.answer) for s in near), default=0.0
        )


def bayes_factor(model: BeliefModel, step: Step, place: int) -> float | None:
    """P(answer | disease) over P(answer | any other), the others weighted by the belief before; None where the answer tells nothing."""
    likelihood = model.likelihood(step.concept, step.answer)
    others = 1.0 - float(step.before[place])
    if likelihood is None or others <= 0:
        return None
    rest = (float(step.before @ likelihood) - float(step.before[place] * likelihood[place])) / others
    return float(likelihood[place]) / rest if rest > 0 else None


def contradictions(here: Basis, timeline: Timeline, anchor: Anchor) -> list[Contradiction]:
    """Answers that speak against the anchor, each with the share of the next W questions that stay with it (a_j(h) of .5 or more)."""
    params, place = here.stamp.params, timeline.model.diseases.index(anchor.disease)
    found = []
    for number, step in enumerate(timeline.questions):
        factor = bayes_factor(timeline.model, step, place)
        if factor is None or factor > params.anchor_bf:
            continue
        following = anchor.by_question[number + 1 : number + 1 + params.anchor_window]
        stayed = sum(share is not None and share >= 0.5 for share in following) / len(following) if following else None
        found.append(Contradiction(number, factor, stayed))
    return found


def anchoring_scores(here: Basis, timeline: Timeline, predicted: str | None, snapshots: Sequence[Snapshot] = ()) -> dict[str, Score]:
    """All scores of anchoring.

    Args:
        here: interview, case, knowledge.
        timeline: the beliefs.
        predicted: disease id of the first answer, None if the knowledge base does not know it.
        snapshots: differentials that the examiner stated before the commit.
    """
    stamp, params, truth = here.stamp, here.stamp.params, here.case.ground_truth.disease_id
    names = (*SCORES, "revision_lag")
    if here.profile is None:
        return {name: stamp.null(here.missing, uses=FLAG_PARAMS) for name in names}
    if not timeline.questions:
        return {name: stamp.null(NO_QUESTIONS, uses=FLAG_PARAMS) for name in names}
    live = candidates(timeline, params.ddx_threshold, (truth, predicted), params.anchor_candidates)
    anchor = find_anchor(here, timeline, live)
    if anchor is None:
        return {name: stamp.null("no question bears on any candidate", uses=FLAG_PARAMS) for name in names}
    against = contradictions(here, timeline, anchor)
    told = _told(here, timeline, anchor, against)
    stayed = [item.perseveration for item in against if item.perseveration is not None]
    worst = max(stayed, default=0.0)
    restricted = anchor.restriction >= params.anchor_restricted and anchor.altcov <= params.anchor_altcov
    perseverates = worst >= params.anchor_perseveration and bool(stayed)
    adopted = predicted == anchor.disease and anchor.disease != truth
    enough = len(timeline.questions) >= params.anchor_questions
    wrong = anchor.disease != truth
    bias = enough and ((restricted and wrong) or (perseverates and (wrong or params.anchor_flag == "any")))
    flags: dict[str, JsonValue] = {"F1_restricted": restricted, "F2_perseverates": perseverates, "F3_adopted": adopted, "enough": enough}
    who: dict[str, JsonValue] = {"anchor": timeline.model.profiles[anchor.disease].name, "anchor_is_truth": anchor.disease == truth}
    return {
        "anchoring_index": stamp.score(anchor.index, told, ANCHOR_PARAMS),
        "anchoring_concentration": stamp.score(anchor.concentration, {**who, "candidates": len(live)}, ANCHOR_PARAMS),
        "anchoring_share": stamp.score(anchor.share, who, ANCHOR_PARAMS),
        "anchoring_restriction": stamp.score(anchor.restriction, who, ANCHOR_PARAMS),
        "anchoring_altcov": stamp.score(anchor.altcov, who, ANCHOR_PARAMS),
        "perseveration": stamp.score(worst, {**who, "contradictions": told["contradictions"]}, FLAG_PARAMS),
        "anchoring_bias": stamp.score(bias, {**flags, **told}, FLAG_PARAMS),
        "confirmatory": stamp.score(restricted and anchor.disease == truth, {**flags, **who}, FLAG_PARAMS),
        "adopted_anchor": stamp.score(adopted, {**flags, **who}, ANCHOR_PARAMS),
        "revision_lag": _revision_lag(here, timeline, anchor, against, snapshots),
    }


def _told(here: Basis, timeline: Timeline, anchor: Anchor, against: Sequence[Contradiction]) -> dict[str, JsonValue]:
    steps, model = timeline.questions, timeline.model
    listed: list[JsonValue] = [
        {
            "question": item.question + 1,
            "concept": steps[item.question].concept,
            "name": here.concepts.name(steps[item.question].concept),
            "answer": steps[item.question].answer,
            "bayes_factor": item.bayes_factor,
            "next_questions_with_anchor": item.perseveration,
        }
        for item in against
    ]
    return {
        "anchor": model.profiles[anchor.disease].name,
        "anchor_id": anchor.disease,
        "anchor_is_truth": anchor.disease == here.case.ground_truth.disease_id,
        "restriction": anchor.restriction,
        "altcov": anchor.altcov,
        "shares": [{"disease": model.profiles[disease].name, "share": share} for disease, share in anchor.shares.items()],
        "by_question": [
            {"turn": step.turn_idx, "concept": step.concept, "name": here.concepts.name(step.concept), "share_of_anchor": share}
            for step, share in zip(steps, anchor.by_question, strict=True)
        ],
        "contradictions": listed,
    }


def _revision_lag(
    here: Basis, timeline: Timeline, anchor: Anchor, against: Sequence[Contradiction], snapshots: Sequence[Snapshot]
) -> Score:
    """Questions from the first contradiction to the first stated differential that the anchor does not lead."""
    stamp = here.stamp
    if not snapshots:
        return stamp.null("the examiner stated no differential", uses=FLAG_PARAMS)
    if not against:
        return stamp.null("no answer spoke against the anchor", uses=FLAG_PARAMS)
    first = against[0].question
    began = timeline.questions[first].turn_idx
    for snapshot in sorted(snapshots, key=lambda item: item.after_turn):
        if snapshot.after_turn <= began or not snapshot.items:
            continue
        top = snapshot.items[0]
        codes = here.knowledge.icd.normalise(top.icd10).codes if top.icd10 else ()
        profile = here.knowledge.profile_of(top.name, codes)
        if profile is None or profile.disease_id != anchor.disease:
            lag = sum(began < step.turn_idx < snapshot.after_turn for step in timeline.questions)
            told: dict[str, JsonValue] = {"contradicted_by_question": first + 1, "revised_after_turn": snapshot.after_turn, "to": top.name}
            return stamp.score(lag, told, FLAG_PARAMS)
    return stamp.null("the anchor was never given up in a stated differential", uses=FLAG_PARAMS)
