"""What the answers so far make likely: naive Bayes over a profile set, and what a question would tell (metrics.md 7.1, 7.2)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ontology.mentions import Answer
from ontology.profiles import AGE_BANDS, CLAMP, LEAK, DiseaseProfile, ProfileSet

Vector = NDArray[np.float64]

TINY = 1e-300
IMPOSSIBLE = 1e-9
"""In place of zero, which no evidence could ever raise."""
CAP_BITS = 6.0
"""Largest weight of one answer, since naive Bayes ignores that symptoms hang together (metrics.md 7.1)."""


class Terms(Protocol):
    """What the model needs of a vocabulary."""

    def canonical(self, concept: str) -> str:
        """The one id of a concept's meaning."""
        ...

    def ancestors(self, concept: str, hmax: int = ...) -> Mapping[str, int]:
        """Broader concepts and their distance; generic ones stop the climb."""
        ...

    def generic(self, concept: str) -> bool:
        """Whether a concept is too general to say anything."""
        ...

    def impossible(self, concept: str, sex: str) -> bool:
        """Whether a concept cannot be so in this sex."""
        ...


class BeliefModel:
    """P(disease | answers) over one profile set. Immutable; beliefs are vectors in the order of `diseases`."""

    def __init__(self, profiles: ProfileSet, vocabulary: Terms) -> None:
        """Tabulate P(affirmed | disease) for every feature and what it implies.

        Args:
            profiles: the knowledge base.
            vocabulary: for canonical ids and is-a links; a child's presence implies its parent's.
        """
        self.profiles = profiles
        self.diseases: tuple[str, ...] = tuple(profiles.profiles)
        self._vocabulary = vocabulary
        self._row: dict[str, int] = {}
        columns: list[dict[str, float]] = []
        askable: set[str] = set()
        for profile in profiles.profiles.values():
            column: dict[str, float] = {}
            for feature in profile.features:
                concept = vocabulary.canonical(feature.concept)
                if feature.askable:
                    askable.add(concept)
                for implied in (concept, *vocabulary.ancestors(concept)):
                    column[implied] = max(column.get(implied, 0.0), feature.probability)
            columns.append(column)
        self.concepts: tuple[str, ...] = tuple(sorted({c for column in columns for c in column}))
        self.askable: tuple[str, ...] = tuple(sorted(askable))
        self._row = {concept: index for index, concept in enumerate(self.concepts)}
        table = np.full((len(self.concepts), len(self.diseases)), LEAK)
        for number, column in enumerate(columns):
            for concept, value in column.items():
                table[self._row[concept], number] = value
        self._table: Vector = np.clip(table, *CLAMP)
        self._askable_rows = np.array([self._row[c] for c in self.askable], dtype=np.intp)
        self._askable_table = self._table[self._askable_rows]
        self._noise = _binary_entropy(self._table)
        self._askable_noise = self._noise[self._askable_rows]
        self._askable_at = {concept: place for place, concept in enumerate(self.askable)}
        self._by_id = np.array(sorted(range(len(self.diseases)), key=lambda place: self.diseases[place]), dtype=np.intp)
        self._priors: dict[tuple[int | None, str | None], Vector] = {}
        self._impossible: dict[str, list[str]] = {}
        self._listed = np.array([[concept in column for column in columns] for concept in self.concepts]).reshape(table.shape)
        self._near: dict[str, int | None] = {}

    def canonical(self, concept: str) -> str:
        """The one id of a concept's meaning."""
        return self._vocabulary.canonical(concept)

    def probability(self, concept: str, disease: str) -> float:
        """P(affirmed | disease)."""
        row = self._row_of(concept)
        return LEAK if row is None else float(self._table[row, self.diseases.index(disease)])

    def frequencies(self, concept: str) -> Vector | None:
        """How often each disease has a concept by its profile: 0 where it is not listed, no leak; None if no profile speaks of it."""
        row = self._row_of(concept)
        return None if row is None else np.where(self._listed[row], self._table[row], 0.0)

    def likelihood(self, concept: str, answer: Answer) -> Vector | None:
        """P(answer | disease) of a definite answer; None if the answer or the concept tells nothing."""
        row = self._row_of(concept)
        if row is None or answer not in ("affirmed", "denied"):
            return None
        return self._table[row] if answer == "affirmed" else np.asarray(1 - self._table[row])

    def _row_of(self, concept: str) -> int | None:
        """The row of a concept, or of the nearest broader one where no profile lists it: visual loss speaks for visual impairment (7.1)."""
        concept = self._vocabulary.canonical(concept)
        row = self._row.get(concept)
        if row is None:
            if concept not in self._near:
                above = {} if self._vocabulary.generic(concept) else self._vocabulary.ancestors(concept)
                listed = [(links, name) for name, links in above.items() if name in self._row]
                self._near[concept] = self._row[min(listed)[1]] if listed else None
            row = self._near[concept]
        return row

    def impossible(self, sex: str) -> list[str]:
        """Askable concepts that cannot be so in this sex; nobody asks for them."""
        if sex not in self._impossible:
            self._impossible[sex] = [concept for concept in self.askable if self._vocabulary.impossible(concept, sex)]
        return list(self._impossible[sex])

    def prior(self, age: int | None = None, sex: str | None = None) -> Vector:
        """Uniform over diseases, times how age and sex are distributed in each where that was counted."""
        found = self._priors.get((age, sex))
        if found is None:
            weights = np.array([demographic_likelihood(self.profiles[disease], age, sex) for disease in self.diseases])
            found = self._priors[age, sex] = np.asarray(weights / weights.sum())
        return found.copy()

    def update(self, belief: Vector, concept: str, answer: Answer) -> Vector:
        """The belief after an answer; unsure and unanswered change nothing, nor does an unknown concept."""
        likelihood = self.likelihood(concept, answer)
        if likelihood is None:
            return belief
        mean = float(belief @ likelihood)
        others = np.maximum(mean - belief * likelihood, TINY) / np.maximum(1 - belief, TINY)
        factor = np.clip(likelihood / others, 2.0**-CAP_BITS, 2.0**CAP_BITS)
        odds = belief / np.maximum(1 - belief, TINY) * factor
        posterior = odds / (1 + odds)
        return np.asarray(posterior / posterior.sum())

    def after(self, belief: Vector, answers: Iterable[tuple[str, Answer]]) -> Vector:
        """The belief after several answers."""
        for concept, answer in answers:
            belief = self.update(belief, concept, answer)
        return belief

    def expected_gains(self, belief: Vector) -> Vector:
        """Expected information gain in bits of asking each askable concept, in the order of `askable`."""
        # Mutual information, the other way round: uncertainty of the answer less what is left of it once the disease is known.
        # einsum, not @: the same digits whatever number of threads a linear algebra library would take.
        p_yes, noise = (np.einsum("qd,d->q", table, belief) for table in (self._askable_table, self._askable_noise))
        return np.asarray(np.maximum(_binary_entropy(p_yes) - noise, 0.0))

    def best_gain(self, belief: Vector, excluded: Collection[str]) -> tuple[float, str | None]:
        """The largest expected gain among the askable concepts that are not excluded, and its concept: what a greedy oracle asks."""
        open_to = np.ones(len(self.askable), dtype=bool)
        open_to[[self._askable_at[concept] for concept in excluded if concept in self._askable_at]] = False
        if not open_to.any():
            return 0.0, None
        gains = np.where(open_to, self.expected_gains(belief), -1.0)
        at = int(gains.argmax())
        return float(gains[at]), self.askable[at]

    def expected_gain(self, belief: Vector, concept: str) -> float:
        """Expected information gain in bits of asking one concept; 0 for one that no profile speaks of."""
        row = self._row_of(concept)
        if row is None:
            return 0.0
        yes = self._table[row]
        return max(0.0, float(_binary_entropy(np.array([yes @ belief]))[0] - self._noise[row] @ belief))

    def most_frequent(self, count: int) -> list[str]:
        """The askable concepts that are most frequent over all diseases alike; ties by id."""
        sums = self._table[self._askable_rows].sum(axis=1)
        order = sorted(range(len(self.askable)), key=lambda index: (-round(float(sums[index]), 12), self.askable[index]))
        return [self.askable[index] for index in order[:count]]

    def ranked(self, belief: Vector) -> list[tuple[str, float]]:
        """Diseases by probability; equal ones by id."""
        order = self._by_id[np.argsort(-belief[self._by_id], kind="stable")]
        return [(self.diseases[place], float(belief[place])) for place in order.tolist()]


def demographic_likelihood(profile: DiseaseProfile, age: int | None, sex: str | None) -> float:
    """How well age and sex fit a disease, from smoothed counts; 1 where nothing was counted."""
    value = 1.0
    if profile.only_sex is not None and sex in ("F", "M") and sex != profile.only_sex:
        value *= IMPOSSIBLE
    if profile.min_age is not None and age is not None and age < profile.min_age:
        value *= LEAK
    if profile.max_age is not None and age is not None and age > profile.max_age:
        value *= LEAK
    if profile.n and profile.female is not None and sex in ("F", "M"):
        share = (profile.female + 0.5) / (profile.n + 1)
        value *= share if sex == "F" else 1 - share
    if profile.n and profile.ages and age is not None:
        band = age_band(age)
        value *= (profile.ages[band] + 0.5) / (profile.n + 0.5 * len(AGE_BANDS))
    return value


def age_band(age: int) -> int:
    """The index of an age's band in AGE_BANDS."""
    return max(index for index, lower in enumerate(AGE_BANDS) if age >= lower)


def entropy(belief: Vector) -> float:
    """Entropy in bits."""
    return float(_entropy_rows(belief[None, :])[0])


def _binary_entropy(p: Vector) -> Vector:
    """Entropy in bits of a yes that has probability p; p is never 0 or 1 here, but for rounding."""
    p = np.clip(p, TINY, 1 - 1e-16)
    return np.asarray(-(p * np.log2(p) + (1 - p) * np.log2(1 - p)))


def _entropy_rows(rows: Vector) -> Vector:
    safe = np.where(rows > 0, rows, 1.0)
    return np.asarray(-(safe * np.log2(safe)).sum(axis=1))


def informative(model: BeliefModel, belief: Vector, done: Sequence[str]) -> str | None:
    """The askable concept with the largest expected gain that is not done yet; ties by id."""
    gains = model.expected_gains(belief)
    order = sorted(range(len(model.askable)), key=lambda index: (-round(float(gains[index]), 12), model.askable[index]))
    finished = set(done)
    return next((model.askable[i] for i in order if model.askable[i] not in finished), None)
