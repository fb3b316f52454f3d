"""Relevance sets, and what a question is worth for a feature (metrics.md 4.1 and 4.2)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from pydantic import JsonValue

from metrics.events import QuestionEvent, distinct
from metrics.knowledge import UNASKED_KINDS, Concepts, IsA, Links
from metrics.params import ScoreParams
from ontology.mentions import Answer
from ontology.profiles import DiseaseProfile, Feature

SYMPTOM_KINDS: frozenset[str] = frozenset({"symptom"})
ANTECEDENT_KINDS: frozenset[str] = frozenset({"history", "family_history", "medication", "allergy", "exposure", "social"})

CREDIT_PARAMS = ("credit", "credit_delta", "hmax")


@dataclass(frozen=True, slots=True)
class Relevant:
    """A feature worth asking for, with its weight."""

    concept: str
    name: str
    kind: str
    weight: float
    frequency_missing: bool = False


def relevance_set(profile: DiseaseProfile, complaint: Iterable[str], concepts: Concepts, params: ScoreParams) -> tuple[Relevant, ...]:
    """R_d: askable features of positive weight, symptoms and antecedents, without the chief complaint (0b D1, 4.1).

    Features that mean the same count once, with the larger weight. Heaviest first, then by id.
    """
    known = set(complaint)
    return tuple(item for item in features_of(profile, concepts, params) if item.concept not in known)


def features_of(profile: DiseaseProfile, concepts: Concepts, params: ScoreParams) -> tuple[Relevant, ...]:
    """The relevance set as it is before the chief complaint is taken out: the same for every case of a disease."""
    found: dict[str, Relevant] = {}
    for feature in profile.features:
        concept = concepts.canonical(feature.concept)
        unasked = feature.kind in UNASKED_KINDS or concepts.kind(concept) in UNASKED_KINDS
        if (not feature.askable and params.askable == "askable") or unasked:
            continue
        missing = feature.fraction is None and feature.frequency_class is None
        weight = weight_of(feature, params)
        if weight > 0 and (concept not in found or found[concept].weight < weight):
            found[concept] = Relevant(concept, feature.name, feature.kind, weight, missing)
    return tuple(sorted(found.values(), key=lambda item: (-item.weight, item.concept)))


def weight_of(feature: Feature, params: ScoreParams) -> float:
    """A feature's weight; the parameters say what one without a frequency weighs."""
    if feature.fraction is None and feature.frequency_class is None:
        return params.missing_weight
    return feature.weight


class Crediting:
    """The credit function of metrics.md 4.2 over one vocabulary; remembers is-a links it has looked up."""

    def __init__(self, isa: IsA, params: ScoreParams, links: Links | None = None) -> None:
        """Credit over a vocabulary.

        Args:
            isa: the vocabulary.
            params: how credit is given.
            links: is-a links of the same vocabulary, as far as they were looked up before.
        """
        self._params = params
        self._links = Links(isa, params.hmax) if links is None else links
        self._reaches: dict[int, tuple[Sequence[Relevant], Reach]] = {}
        self._exact = params.credit == "exact"

    def credit(self, asked: str, wanted: str, answer: Answer) -> float:
        """What asking one concept and getting this answer is worth for another, in 0..1."""
        if answer == "unanswered":
            return 0.0
        if asked == wanted:
            return 1.0
        if self._exact:
            return 0.0
        links = self._links.above(asked).get(wanted)
        if links is not None:
            return 1.0 if answer == "affirmed" else float(self._params.credit_delta**links)
        links = self._links.above(wanted).get(asked)
        if links is not None:
            return 1.0 if answer == "denied" else float(self._params.credit_delta**links)
        return 0.0

    def near(self, concept: str) -> Mapping[str, int]:
        """Broader concepts that credit reaches, with their distance; none under exact credit."""
        return {} if self._exact else self._links.above(concept)

    def below(self, concept: str) -> Collection[str]:
        """Narrower concepts that credit reaches, among those looked up; none under exact credit."""
        return () if self._exact else self._links.below(concept)

    def reach(self, relevant: Sequence[Relevant]) -> Reach:
        """Which features of a set what question can earn credit for; one set is used by many scores."""
        found = self._reaches.get(id(relevant))
        if found is None:  # the set is kept beside, so that its id stays its own
            found = self._reaches[id(relevant)] = (relevant, Reach(relevant, self))
        return found[1]

    def related(self, asked: str, wanted: Iterable[str]) -> bool:
        """Whether any of some concepts is the asked one, or a broader or narrower one that credit could come from."""
        return any(self.credit(asked, other, "affirmed") > 0 for other in wanted)


class Reach:
    """Which features of a set a question can earn credit for at all; most pairs have nothing to do with one another."""

    def __init__(self, relevant: Sequence[Relevant], crediting: Crediting) -> None:
        self._crediting = crediting
        self._relevant = relevant
        self._at: dict[str, list[int]] = {}
        self._found: dict[str, list[Relevant]] = {}
        for place, item in enumerate(relevant):
            self._at.setdefault(item.concept, []).append(place)
            crediting.near(item.concept)  # so that it is known below its broader ones

    def of(self, asked: str) -> list[Relevant]:
        """Features within reach of a concept, in the order of the set."""
        found = self._found.get(asked)
        if found is None:
            reached = {asked, *self._crediting.near(asked), *self._crediting.below(asked)}
            places = sorted(place for concept in reached & self._at.keys() for place in self._at[concept])
            found = self._found[asked] = [self._relevant[place] for place in places]
        return found


@dataclass(frozen=True)
class Coverage:
    """How far questions cover a relevance set.

    `matched` holds m(q) for every distinct concept asked, in order, with the feature it serves best; `covered` holds c(s) for every
    feature, with the concept that earned it. Several questions never add up for one feature: the best counts.
    """

    relevant: tuple[Relevant, ...]
    matched: dict[str, tuple[float, Relevant | None]]
    answered: frozenset[str]
    covered: dict[str, tuple[float, str | None]]

    def precision(self, answered_only: bool = False) -> float:
        """Sum of m(q) over the concepts asked, or over those answered; 0 if there are none."""
        count = len(self.answered) if answered_only else len(self.matched)
        return sum(value for value, _ in self.matched.values()) / count if count else 0.0

    def recall(self, weighted: bool = True) -> float:
        """Sum of w c(s) over the sum of w, or with all weights 1. The relevance set must not be empty."""
        weights = {item.concept: item.weight if weighted else 1.0 for item in self.relevant}
        return sum(weights[c] * value for c, (value, _) in self.covered.items()) / sum(weights.values())


def cover(asked: Iterable[tuple[str, Answer]], relevant: tuple[Relevant, ...], crediting: Crediting) -> Coverage:
    """Credit questions (or findings) against a relevance set.

    Args:
        asked: concepts with the answer as it bears on their presence; a concept may come several times.
        relevant: the relevance set.
        crediting: the credit function.
    """
    matched: dict[str, tuple[float, Relevant | None]] = {}
    covered: dict[str, tuple[float, str | None]] = {item.concept: (0.0, None) for item in relevant}
    answered = set()
    reach = crediting.reach(relevant)
    for concept, answer in asked:
        best, feature = matched.get(concept, (0.0, None))
        for item in reach.of(concept):
            credit = crediting.credit(concept, item.concept, answer)
            if credit > best:
                best, feature = credit, item
            if credit > covered[item.concept][0]:
                covered[item.concept] = (credit, concept)
        matched[concept] = (best, feature)
        if answer != "unanswered":
            answered.add(concept)
    return Coverage(relevant, matched, frozenset(answered), covered)


def asked_pairs(events: Iterable[QuestionEvent]) -> list[tuple[str, Answer]]:
    """Events as `cover` takes them."""
    return [(event.concept, event.presence) for event in events]


# -- words for the components of scores -----------------------------------------------------------------------------


def named(ids: Iterable[str], concepts: Concepts) -> list[JsonValue]:
    """Concepts as {concept, name}, each once."""
    return [{"concept": concept, "name": concepts.name(concept)} for concept in distinct(ids)]


def feature_list(coverage: Coverage, concepts: Concepts, missed: bool) -> list[JsonValue]:
    """Features that were covered (with credit and the concept that earned it), or those that were not at all."""
    found: list[JsonValue] = []
    for item in coverage.relevant:
        value, by = coverage.covered[item.concept]
        if missed and value == 0:
            found.append({"concept": item.concept, "name": item.name, "weight": item.weight})
        elif not missed and by is not None:
            found.append(
                {"concept": item.concept, "name": item.name, "weight": item.weight, "credit": value, "by": by, "by_name": concepts.name(by)}
            )
    return found
