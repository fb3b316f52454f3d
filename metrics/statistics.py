"""Intervals and means (metrics.md 11). Imports nothing of ours."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from math import sqrt
from statistics import NormalDist

import numpy as np

RESAMPLES = 10_000
CONFIDENCE = 0.95
_CHUNK = 2_000_000
"""Draws held in memory at once."""


@dataclass(frozen=True, slots=True)
class Interval:
    """Lower and upper end."""

    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Mean:
    """A mean over the values that there are; None if there are none. Nulls are counted, never taken for 0."""

    value: float | None
    n: int
    n_null: int


def mean_of(values: Sequence[float | None]) -> Mean:
    """The mean with the numbers of values and of nulls."""
    there = [value for value in values if value is not None]
    return Mean(sum(there) / len(there) if there else None, len(there), len(values) - len(there))


def wilson(successes: int, n: int, confidence: float = CONFIDENCE) -> Interval:
    """Wilson's score interval of a proportion.

    Args:
        successes: number of successes.
        n: number of independent trials, at least 1.
        confidence: coverage, say .95.

    Raises:
        ValueError: no trials, or more successes than trials.
    """
    if n < 1 or not 0 <= successes <= n:
        raise ValueError(f"{successes} successes of {n} trials")
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    share = successes / n
    centre = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    # At 0 and n the exact ends are 0 and 1; rounding must not push them past.
    return Interval(0.0 if successes == 0 else max(0.0, centre - half), 1.0 if successes == n else min(1.0, centre + half))


def bootstrap_mean(
    values: Sequence[float],
    seed: int,
    clusters: Sequence[Hashable] | None = None,
    resamples: int = RESAMPLES,
    confidence: float = CONFIDENCE,
) -> Interval | None:
    """Percentile bootstrap interval of a mean; whole clusters are drawn.

    Args:
        values: the values.
        seed: of the draws; equal seeds give equal intervals.
        clusters: the cluster of each value (None: each value is its own).
        resamples: number of bootstrap samples.
        confidence: coverage, say .95.

    Returns:
        the interval; None with fewer than two clusters, where nothing can be said.
    """
    sums, sizes = _by_cluster(values, clusters)
    count = len(sums)
    if count < 2:
        return None
    rng = np.random.default_rng(seed)
    means = np.empty(resamples)
    step = max(1, _CHUNK // count)
    for start in range(0, resamples, step):
        stop = min(start + step, resamples)
        drawn = rng.integers(0, count, size=(stop - start, count))
        means[start:stop] = sums[drawn].sum(axis=1) / sizes[drawn].sum(axis=1)
    tail = (1 - confidence) / 2
    low, high = np.quantile(means, [tail, 1 - tail])
    return Interval(float(low), float(high))


def clustered_se(values: Sequence[float], clusters: Sequence[Hashable] | None = None) -> float | None:
    """Analytic standard error of a mean over clusters (11.2), the cross-check of the bootstrap; None with fewer than two clusters."""
    sums, sizes = _by_cluster(values, clusters)
    if len(sums) < 2:
        return None
    n = float(sizes.sum())
    mean = float(sums.sum()) / n
    return float(np.sqrt(((sums - mean * sizes) ** 2).sum()) / n)


def macro_mean(values: Sequence[float], groups: Sequence[Hashable]) -> float | None:
    """The mean of the groups' means; None if there are no values."""
    sums, sizes = _by_cluster(values, groups)
    return float((sums / sizes).mean()) if len(sums) else None


def _by_cluster(
    values: Sequence[float], clusters: Sequence[Hashable] | None
) -> tuple[np.ndarray[tuple[int], np.dtype[np.float64]], np.ndarray[tuple[int], np.dtype[np.float64]]]:
    """Sum and size of every cluster, in order of first appearance."""
    labels: Sequence[Hashable] = range(len(values)) if clusters is None else clusters
    found: dict[Hashable, list[float]] = defaultdict(list)
    for value, label in zip(values, labels, strict=True):
        found[label].append(value)
    sums = np.array([sum(items) for items in found.values()], dtype=np.float64)
    sizes = np.array([len(items) for items in found.values()], dtype=np.float64)
    return sums, sizes
