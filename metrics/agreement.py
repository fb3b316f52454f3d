"""Agreement between raters (metrics.md 12): Gwet AC1 and AC2, Brennan-Prediger, Cohen, Fleiss, Krippendorff, with intervals.

Brennan-Prediger is never called AC1: its chance agreement is fixed, AC1's follows how often each category is used.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import sqrt
from typing import Literal

import numpy as np

from metrics.agreement_weights import Category, Matrix, Weighting, agreement_weights, positions
from metrics.statistics import CONFIDENCE, Interval

Metric = Literal["nominal", "ordinal", "interval"]
Vector = np.ndarray[tuple[int], np.dtype[np.float64]]
Chance = Callable[[Matrix, Matrix], Vector]
"""From the shares of the categories (… × categories) and the weights: agreement by chance."""
Part = Callable[[Matrix, Vector, Matrix], Vector]
"""From each subject's shares, the shares of the categories and the weights: the subject's part in the chance agreement."""

_CHUNK = 2_000_000

NO_PAIR = "no subject has two ratings"
CERTAIN = "all ratings lie in one category, so that chance alone would agree"
"""Why a coefficient has no value."""


@dataclass(frozen=True)
class Ratings:
    """A table subjects × raters of indices into `categories`; −1: not rated."""

    table: np.ndarray[tuple[int, int], np.dtype[np.int64]]
    categories: tuple[Category, ...]
    raters: tuple[str, ...]

    @classmethod
    def of(cls, rows: Sequence[Sequence[Category | None]], categories: Sequence[Category], raters: Sequence[str] | None = None) -> Ratings:
        """Ratings from a table.

        Args:
            rows: one a subject, one value a rater; None: not rated.
            categories: all that were on offer, used or not, in their order. Leaving an unused one out changes every coefficient.
            raters: their names.

        Raises:
            ValueError: no subject, rows of different length, a value that is no category, or fewer than two categories.
        """
        if not rows:
            raise ValueError("no subject was rated")
        if len({len(row) for row in rows}) > 1:
            raise ValueError("a row has more ratings than another")
        if len(set(categories)) < max(2, len(categories)):
            raise ValueError("at least two different categories")
        index: dict[Category | None, int] = {category: number for number, category in enumerate(categories)}
        index[None] = -1
        unknown = next((value for row in rows for value in row if value not in index), None)
        if unknown is not None:
            raise ValueError(f"{unknown!r} is not one of the categories {', '.join(str(category) for category in categories)}")
        table = np.array([[index[value] for value in row] for row in rows], dtype=np.int64).reshape(len(rows), len(rows[0]))
        return cls(table, tuple(categories), tuple(raters or (str(number + 1) for number in range(len(rows[0])))))

    def counts(self) -> Matrix:
        """How many raters put each subject into each category; subjects that nobody rated are left out. Shape: subjects × categories."""
        counts = (self.table[:, :, None] == np.arange(len(self.categories))).sum(axis=1).astype(np.float64)
        rated: Matrix = counts[counts.sum(axis=1) > 0]
        return rated

    def only(self, raters: Sequence[int]) -> Ratings:
        """The ratings of some raters, by number from 0."""
        return Ratings(self.table[:, list(raters)], self.categories, tuple(self.raters[rater] for rater in raters))


@dataclass(frozen=True, slots=True)
class Agreement:
    """A coefficient with what it was made of. Without a value it says why."""

    coefficient: str
    weighting: str
    value: float | None
    null_reason: str | None
    pa: float | None
    """observed agreement"""
    pe: float | None
    """agreement by chance"""
    se: float | None = None
    interval: Interval | None = None
    """value ± t(n − 1) · se, at most 1, as irrCAC gives it"""
    bootstrap: Interval | None = None
    """percentile interval over subjects"""
    n: int = 0
    """subjects with a rating"""
    n_pairable: int = 0
    """subjects with two or more"""
    bootstrap_null: int = 0
    """resamples without a value"""


@dataclass(frozen=True, slots=True)
class Pairwise:
    """A coefficient of every two raters, and the mean over those that have a value."""

    pairs: dict[tuple[str, str], float | None]
    mean: float | None
    n_null: int


def gwet(
    ratings: Ratings, weighting: Weighting = "nominal", resamples: int = 0, seed: int = 0, confidence: float = CONFIDENCE
) -> Agreement:
    """Gwet's AC1 (nominal) or AC2 (any other weighting).

    AC = (pa − pe)/(1 − pe), pe = T_w/(q(q−1)) Σ_k π_k(1−π_k), T_w the sum of the weights (Gwet 2008; 2014, 5). The standard error is that
    of irrCAC: linearised per subject, for subjects drawn from a large population.

    Args:
        ratings: the ratings.
        weighting: see `agreement_weights`.
        resamples: subjects are resampled so often for the second interval; 0: none.
        seed: of those draws.
        confidence: of both intervals.
    """

    def chance(pi: Matrix, weights: Matrix) -> Vector:
        q = len(weights)
        found: Vector = weights.sum() / (q * (q - 1)) * (pi * (1 - pi)).sum(axis=-1)
        return found

    def part(shares: Matrix, pi: Vector, weights: Matrix) -> Vector:
        q = len(weights)
        found: Vector = weights.sum() / (q * (q - 1)) * (shares @ (1 - pi))
        return found

    name = "AC1" if weighting == "nominal" else "AC2"
    return _analysed(name, ratings, weighting, chance, part, resamples, seed, confidence)


def brennan_prediger(
    ratings: Ratings, weighting: Weighting = "nominal", resamples: int = 0, seed: int = 0, confidence: float = CONFIDENCE
) -> Agreement:
    """Brennan and Prediger's coefficient (1981): chance agreement is T_w/q², whatever was rated. Arguments: see `gwet`."""

    def chance(pi: Matrix, weights: Matrix) -> Vector:
        return np.full(pi.shape[:-1], weights.mean())

    return _analysed("Brennan-Prediger", ratings, weighting, chance, None, resamples, seed, confidence)


def fleiss(
    ratings: Ratings, weighting: Weighting = "nominal", resamples: int = 0, seed: int = 0, confidence: float = CONFIDENCE
) -> Agreement:
    """Fleiss' kappa (1971): pe = Σ_kl w_kl π_k π_l. It falls where nearly all ratings are alike (the kappa paradox).

    Arguments: see `gwet`.
    """

    def chance(pi: Matrix, weights: Matrix) -> Vector:
        found: Vector = ((pi @ weights) * pi).sum(axis=-1)
        return found

    def part(shares: Matrix, pi: Vector, weights: Matrix) -> Vector:
        found: Vector = shares @ (weights @ pi)
        return found

    return _analysed("Fleiss", ratings, weighting, chance, part, resamples, seed, confidence)


def _analysed(
    name: str,
    ratings: Ratings,
    weighting: Weighting,
    chance: Chance,
    part: Part | None,
    resamples: int,
    seed: int,
    confidence: float,
) -> Agreement:
    """A coefficient (pa − pe)/(1 − pe) over subjects, with both intervals."""
    counts, weights = ratings.counts(), agreement_weights(ratings.categories, weighting)
    n, raters = len(counts), counts.sum(axis=1)
    pairable = int((raters >= 2).sum())
    if pairable == 0:
        return Agreement(name, weighting, None, NO_PAIR, None, None, n=n)
    agreeing = _agreeing(counts, weights)
    shares: Matrix = counts / raters[:, None]
    pi: Vector = shares.mean(axis=0)
    pa, pe = float(agreeing.sum() / pairable), float(chance(pi[None, :], weights)[0])
    if 1 - pe < 1e-12:
        return Agreement(name, weighting, None, CERTAIN, pa, pe, n=n, n_pairable=pairable)
    value = (pa - pe) / (1 - pe)
    each = n / pairable * (agreeing - pe * (raters >= 2)) / (1 - pe)  # their mean is the value
    if part is not None:
        each = each - 2 * (1 - value) * (part(shares, pi, weights) - pe) / (1 - pe)
    se = sqrt(float(((each - value) ** 2).sum()) / (n * (n - 1))) if n > 1 else None
    interval = _t_interval(value, se, n, confidence) if se is not None else None

    def again(times: Matrix) -> Vector:
        by_chance = chance(times @ shares / n, weights)
        with np.errstate(divide="ignore", invalid="ignore"):
            found: Vector = (times @ agreeing / (times @ (raters >= 2)) - by_chance) / (1 - by_chance)
        return np.where(1 - by_chance < 1e-12, np.nan, found)

    bootstrap, n_null = _resampled(again, n, resamples, seed, confidence)
    return Agreement(name, weighting, value, None, pa, pe, se, interval, bootstrap, n, pairable, n_null)


def cohen(
    ratings: Ratings, weighting: Weighting = "nominal", resamples: int = 0, seed: int = 0, confidence: float = CONFIDENCE
) -> Agreement:
    """Cohen's kappa of two raters (1960; weighted 1968) over the subjects that both rated: pe = Σ_kl w_kl p_k q_l.

    The standard error leaves out one subject each (jackknife). Arguments: see `gwet`.

    Raises:
        ValueError: not two raters; take `pairwise` for more.
    """
    if ratings.table.shape[1] != 2:
        raise ValueError(f"Cohen's kappa is of two raters, not {ratings.table.shape[1]}")
    weights = agreement_weights(ratings.categories, weighting)
    both = ratings.table[(ratings.table >= 0).all(axis=1)]
    q, n_rated = len(weights), len(ratings.counts())
    ones = np.zeros((len(both), q, q))
    ones[np.arange(len(both)), both[:, 0], both[:, 1]] = 1

    def parts(crossed: Matrix) -> tuple[Vector, Vector]:
        joint = crossed / crossed.sum(axis=(-2, -1), keepdims=True)
        chance = joint.sum(axis=-1)[..., :, None] * joint.sum(axis=-2)[..., None, :]
        return (joint * weights).sum(axis=(-2, -1)), (chance * weights).sum(axis=(-2, -1))

    return _from_pairs("Cohen", weighting, ones, n_rated, parts, resamples, seed, confidence)


def krippendorff(
    ratings: Ratings, metric: Metric = "nominal", resamples: int = 0, seed: int = 0, confidence: float = CONFIDENCE
) -> Agreement:
    """Krippendorff's alpha = 1 − D_o/D_e over the coincidences of values within subjects (Krippendorff 2011).

    Ordinal distances count the ratings that lie between two categories, so unused categories do not matter. `pa` and `pe` are
    1 − D_o and 1 − D_e, each over the largest distance.

    Args:
        ratings: the ratings; subjects with one rating take no part.
        metric: nominal, ordinal (order of the list) or interval (numbers, or places in the list).
        resamples: see `gwet`.
        seed: see `gwet`.
        confidence: see `gwet`.
    """
    counts = ratings.counts()
    rated = counts[counts.sum(axis=1) >= 2]
    raters = rated.sum(axis=1)
    pairs = rated[:, :, None] * rated[:, None, :] - np.einsum("ik,kl->ikl", rated, np.eye(rated.shape[1]))
    crossed = pairs / (raters - 1)[:, None, None] if len(rated) else pairs
    places = positions(ratings.categories)

    def parts(total: Matrix) -> tuple[Vector, Vector]:
        used = total.sum(axis=-1)
        n = used.sum(axis=-1)
        distance = _distances(used, places, metric)
        largest = distance.max(axis=(-2, -1))
        largest = np.where(largest > 0, largest, 1)
        observed = (total * distance).sum(axis=(-2, -1)) / n / largest
        expected = (used[..., :, None] * used[..., None, :] * distance).sum(axis=(-2, -1)) / (n * (n - 1)) / largest
        return 1 - observed, 1 - expected

    return _from_pairs("Krippendorff", metric, crossed, len(counts), parts, resamples, seed, confidence)


def _distances(used: Matrix, places: Vector, metric: Metric) -> Matrix:
    """Squared distances of categories, for each table of how often each was used; only of categories in use."""
    q = len(places)
    if metric == "nominal":
        distance = np.broadcast_to(1 - np.eye(q), (*used.shape[:-1], q, q))
    elif metric == "interval":
        distance = np.broadcast_to((places[:, None] - places[None, :]) ** 2, (*used.shape[:-1], q, q))
    else:
        middle = np.cumsum(used, axis=-1) - used / 2
        distance = (middle[..., :, None] - middle[..., None, :]) ** 2
    there = used > 0
    found: Matrix = distance * there[..., :, None] * there[..., None, :]
    return found


def _from_pairs(
    name: str,
    weighting: str,
    crossed: np.ndarray[tuple[int, int, int], np.dtype[np.float64]],
    n_rated: int,
    parts: Callable[[Matrix], tuple[Vector, Vector]],
    resamples: int,
    seed: int,
    confidence: float,
) -> Agreement:
    """A coefficient that depends on the sum of the subjects' category × category tables; the standard error is the jackknife's."""
    n = len(crossed)
    if n == 0:
        return Agreement(name, weighting, None, NO_PAIR, None, None, n=n_rated)
    total = crossed.sum(axis=0)

    def values(tables: Matrix) -> Vector:
        with np.errstate(divide="ignore", invalid="ignore"):
            pa, pe = parts(tables)
            return np.where(1 - pe < 1e-12, np.nan, (pa - pe) / (1 - pe))

    pa, pe = (float(part) for part in parts(total))
    if 1 - pe < 1e-12:
        return Agreement(name, weighting, None, CERTAIN, pa, pe, n=n_rated, n_pairable=n)
    left_out = values(total - crossed) if n > 1 else np.array([np.nan])
    se = None
    if np.isfinite(left_out).all():
        se = sqrt((n - 1) / n * float(((left_out - left_out.mean()) ** 2).sum()))
    value = (pa - pe) / (1 - pe)
    interval = _t_interval(value, se, n, confidence) if se is not None else None
    flat = crossed.reshape(n, -1)
    bootstrap, n_null = _resampled(lambda times: values((times @ flat).reshape(-1, *total.shape)), n, resamples, seed, confidence)
    return Agreement(name, weighting, value, None, pa, pe, se, interval, bootstrap, n_rated, n, n_null)


def pairwise(ratings: Ratings, coefficient: Callable[[Ratings], Agreement]) -> Pairwise:
    """A coefficient for every two raters, over the subjects that both rated.

    Args:
        ratings: the ratings.
        coefficient: say `cohen`, or `lambda two: gwet(two, "quadratic")`.
    """
    found: dict[tuple[str, str], float | None] = {}
    for one, two in combinations(range(len(ratings.raters)), 2):
        here = ratings.only((one, two))
        both = (here.table >= 0).all(axis=1)
        pair = Ratings(here.table[both], here.categories, here.raters)
        found[ratings.raters[one], ratings.raters[two]] = coefficient(pair).value if len(pair.table) else None
    there = [value for value in found.values() if value is not None]
    return Pairwise(found, sum(there) / len(there) if there else None, len(found) - len(there))


def _agreeing(counts: Matrix, weights: Matrix) -> Vector:
    """Share of the pairs of ratings of each subject that agree, weighted; 0 for a subject with one rating."""
    raters = counts.sum(axis=1)
    pairs = (counts * (counts @ weights - 1)).sum(axis=1)
    found: Vector = np.divide(pairs, raters * (raters - 1), out=np.zeros(len(counts)), where=raters >= 2)
    return found


def _t_interval(value: float, se: float, n: int, confidence: float) -> Interval:
    from scipy.stats import t

    half = float(t.ppf((1 + confidence) / 2, n - 1)) * se
    return Interval(value - half, min(1.0, value + half))


def _resampled(values: Callable[[Matrix], Vector], n: int, resamples: int, seed: int, confidence: float) -> tuple[Interval | None, int]:
    """Percentile interval over resampled subjects, and how many resamples had no value.

    Args:
        values: the coefficient of resamples, given how often each subject was drawn (resamples × subjects).
        n: number of subjects.
        resamples: how many; 0: no interval.
        seed: of the draws.
        confidence: of the interval.
    """
    if resamples == 0 or n < 2:
        return None, 0
    rng = np.random.default_rng(seed)
    found = np.empty(resamples)
    step = max(1, _CHUNK // n)
    for start in range(0, resamples, step):
        rows = min(step, resamples - start)
        drawn = rng.integers(0, n, size=(rows, n)) + n * np.arange(rows)[:, None]
        times = np.bincount(drawn.reshape(-1), minlength=rows * n).reshape(rows, n).astype(np.float64)
        found[start : start + rows] = values(times)
    there = found[np.isfinite(found)]
    if len(there) == 0:
        return None, resamples
    tail = (1 - confidence) / 2
    low, high = np.quantile(there, [tail, 1 - tail])
    return Interval(float(low), float(high)), resamples - len(there)
