"""Questioning policies over concepts: what to ask next, and what to conclude (metrics.md 0b D3).

A policy knows nothing of words. `simulator.examiners.reference` puts it into text; `simulator.examiners.direct` plays it on concept ids,
so that the difference between the two is the cost of language understanding.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from random import Random
from typing import ClassVar, Protocol

from ontology.belief import BeliefModel, Vector, informative
from ontology.clinical import clinical_tables
from ontology.concepts import RECORD_KINDS
from ontology.mentions import Answer
from simulator.trace import FinalAnswer, RankedDiagnosis

RANKED = 5
CHECKLIST_LENGTH = 15
COMMIT_AT = 0.9
SHOTGUN_LENGTH = 22
CORE_WEIGHT = 0.5
CORE_COVERAGE = 0.5
ANCHORED_WEIGHT = 0.25
SMALLEST_WEIGHT = 0.01
UNSPOKEN_KINDS = RECORD_KINDS | {"demographic"}
"""What no patient is asked for."""


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

    @property
    def per_turn(self) -> int:
        """How many questions it puts into one turn."""
        ...

    @property
    def commits(self) -> bool:
        """Whether it ever gives an answer."""
        ...

    def next_concept(self, history: History) -> str | None:
        """The concept to ask about, or None to commit."""
        ...

    def answer(self, history: History) -> FinalAnswer:
        """What it concludes."""
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
class Believer:
    """What most policies have in common: one question a turn, and the most probable diseases as the answer."""

    model: BeliefModel
    name: str
    per_turn: ClassVar[int] = 1
    commits: ClassVar[bool] = True

    def next_concept(self, history: History) -> str | None:
        """Nothing is asked."""
        return None

    def answer(self, history: History) -> FinalAnswer:
        """The most probable diseases."""
        return conclude(self.model, history)

    def done(self, history: History) -> set[str]:
        """What need not be asked: what was spoken of, and what cannot be so in this sex."""
        return {*history.concepts(), *self.model.impossible(history.sex)}


@dataclass(frozen=True)
class Hasty(Believer):
    """Commits after the opening."""

    name: str = "hasty"


@dataclass(frozen=True)
class Silent(Believer):
    """Listens until the budget ends, asks nothing and never answers."""

    name: str = "silent"
    commits: ClassVar[bool] = False


@dataclass(frozen=True)
class Checklist(Believer):
    """The same fifteen questions for everyone: the features that are most frequent over all diseases, one a turn."""

    name: str = "checklist"

    def next_concept(self, history: History) -> str | None:
        """The next question of the list that the patient has not answered by opening with it."""
        done = self.done(history)
        return next((concept for concept in self.model.most_frequent(CHECKLIST_LENGTH) if concept not in done), None)


@dataclass(frozen=True)
class Shotgun(Believer):
    """The 22 most frequent features in one turn, then an answer."""

    name: str = "shotgun"
    per_turn: ClassVar[int] = SHOTGUN_LENGTH

    def next_concept(self, history: History) -> str | None:
        """The next of the list."""
        done = self.done(history)
        return next((concept for concept in self.model.most_frequent(SHOTGUN_LENGTH) if concept not in done), None)


@dataclass(frozen=True)
class RandomQuestions(Believer):
    """Fifteen askable features drawn at random, one a turn; equal seeds and openings give equal questions."""

    name: str = "random"
    seed: int = 0

    def next_concept(self, history: History) -> str | None:
        """The next of the draw."""
        opening = ",".join(concept for concept, _ in history.volunteered)
        order = list(self.model.askable)
        Random(f"{self.seed}:{history.age}:{history.sex}:{opening}").shuffle(order)
        known = {concept for concept, _ in history.volunteered} | set(self.model.impossible(history.sex))
        asked = {concept for concept, _ in history.answers}
        return next((c for c in [c for c in order if c not in known][:CHECKLIST_LENGTH] if c not in asked), None)


@dataclass(frozen=True)
class InfogainFast(Believer):
    """Asks what tells most, and commits as soon as one disease has a posterior of .9."""

    name: str = "infogain-fast"
    commit_at: float = COMMIT_AT

    def next_concept(self, history: History) -> str | None:
        """The greedy choice."""
        belief = belief_after(self.model, history)
        if float(belief.max()) >= self.commit_at:
            return None
        return informative(self.model, belief, list(self.done(history)))


@dataclass(frozen=True)
class Infogain(Believer):
    """Asks what tells most until one disease has a posterior of .9, then what that disease cannot be without and its core features.

    Commits when the leader's posterior is .9, its sine-qua-non list was asked, and half of its core (by weight) is known.
    """

    name: str = "infogain"
    commit_at: float = COMMIT_AT
    core_coverage: float = CORE_COVERAGE

    def next_concept(self, history: History) -> str | None:
        """The greedy choice, or the leader's next feature."""
        belief = belief_after(self.model, history)
        done = self.done(history)
        if float(belief.max()) < self.commit_at:
            return informative(self.model, belief, list(done))
        leader = self.model.diseases[int(belief.argmax())]
        needed = next((concept for concept in indispensable(self.model, leader, done) if concept not in done), None)
        if needed is not None:
            return needed
        core = features_of(self.model, leader, CORE_WEIGHT)
        spoken = set(history.concepts())
        known = sum(weight for concept, weight in core if concept in spoken)
        total = sum(weight for _, weight in core)
        if not total or known / total >= self.core_coverage:
            return None
        return next((concept for concept, _ in core if concept not in done), None)


def features_of(model: BeliefModel, disease: str, least: float) -> list[tuple[str, float]]:
    """Askable features of a disease from a weight on, heaviest first, then the most frequent; each concept once."""
    askable = set(model.askable)
    found: dict[str, tuple[float, float]] = {}
    for feature in model.profiles[disease].features:
        concept = model.canonical(feature.concept)
        if concept in askable and feature.askable and feature.kind not in UNSPOKEN_KINDS and feature.weight >= max(least, SMALLEST_WEIGHT):
            found[concept] = max(found.get(concept, (0.0, 0.0)), (feature.weight, feature.probability))
    order = sorted(found, key=lambda concept: (-found[concept][0], -found[concept][1], concept))
    return [(concept, found[concept][0]) for concept in order]


def indispensable(model: BeliefModel, disease: str, known: Collection[str]) -> list[str]:
    """What to ask because a disease cannot be without it: of each list of alternatives that nothing is known of, the most frequent one."""
    askable = set(model.askable)
    found = []
    for row in clinical_tables().sine_qua_non_of(disease):
        concepts = [model.canonical(concept) for concept in row.concepts]
        offered = [concept for concept in concepts if concept in askable]
        if offered and not any(concept in known for concept in concepts):
            found.append(max(offered, key=lambda concept: (model.probability(concept, disease), concept)))
    return found


def named_answer(model: BeliefModel, disease: str, history: History) -> FinalAnswer:
    """A given disease first, with the confidence of one who is sure, and the most probable others after it."""
    profile = model.profiles[disease]
    others = [item for item in conclude(model, history).ranked if item.name != profile.name]
    first = RankedDiagnosis(name=profile.name, icd10=", ".join(profile.icd10) or None, prob=COMMIT_AT)
    rest = [item.model_copy(update={"prob": None}) for item in others[: RANKED - 1]]
    return FinalAnswer(ranked=[first, *rest], confidence=COMMIT_AT, triage_level=profile.acuity)


@dataclass(frozen=True)
class Anchored(Believer):
    """Takes the most probable wrong disease after the opening, asks only for its features whatever the answers are, and names it.

    It has to know the truth in order to be wrong: `truth` is a disease id.
    """

    truth: str = ""
    name: str = "anchored"

    def anchor(self, history: History) -> str:
        """The wrong disease it holds on to."""
        opening = History(history.age, history.sex, history.volunteered, ())
        ranked = self.model.ranked(belief_after(self.model, opening))
        return next(disease for disease, _ in ranked if disease != self.truth)

    def next_concept(self, history: History) -> str | None:
        """The next feature of the anchor, fifteen at most."""
        if len(history.answers) >= CHECKLIST_LENGTH:
            return None
        done = self.done(history)
        return next((c for c, _ in features_of(self.model, self.anchor(history), ANCHORED_WEIGHT) if c not in done), None)

    def answer(self, history: History) -> FinalAnswer:
        """The anchor."""
        return named_answer(self.model, self.anchor(history), history)


@dataclass(frozen=True)
class Oracle(Believer):
    """Knows the truth, asks for what it cannot be without and for every core feature, then answers right."""

    truth: str = ""
    name: str = "oracle"
    least_weight: float = CORE_WEIGHT

    def next_concept(self, history: History) -> str | None:
        """The next feature of the truth."""
        done = self.done(history)
        wanted = [*indispensable(self.model, self.truth, done), *(c for c, _ in features_of(self.model, self.truth, self.least_weight))]
        return next((concept for concept in wanted if concept not in done), None)

    def answer(self, history: History) -> FinalAnswer:
        """The truth."""
        return named_answer(self.model, self.truth, history)


POLICIES: dict[str, Callable[[BeliefModel], Policy]] = {
    "hasty": Hasty,
    "silent": Silent,
    "random": RandomQuestions,
    "checklist": Checklist,
    "shotgun": Shotgun,
    "infogain-fast": InfogainFast,
    "infogain": Infogain,
}
"""Policies by name."""
KNOWING: dict[str, Callable[[BeliefModel, str], Policy]] = {
    "anchored": lambda model, truth: Anchored(model, truth=truth),
    "oracle": lambda model, truth: Oracle(model, truth=truth),
}
"""Policies that must be told the true disease: yardsticks that no player can match, or must not."""
