"""Cluster bootstrap of a mean, of a paired difference and of a difference between two samples (metrics.md 11.2).

Whole clusters (base cases) are drawn with replacement, since variants and runs of one case are no independent evidence.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from math import hypot
from statistics import NormalDist
from typing import Literal

import numpy as np

from .basic import CONFIDENCE, RESAMPLES, Interval, Vector, by_cluster, clustered_se

Method = Literal["percentile", "bca"]
_CHUNK = 2_000_000
"""Draws held in memory at once."""


@dataclass(frozen=True, slots=True)
class Difference:
    """A difference of two means with all that is needed to judge it. What cannot be said is None."""

    value: float | None
    low: float | None
    high: float | None
    se: float | None
    """analytic, clustered"""
    p: float | None
    """two-sided, from the bootstrap"""
    n: int
    """pairs; of two samples, values of both"""
    n_null: int
    """pairs (values) left out because a value is null"""
    n_clusters: int


def bootstrap_mean(
    values: Sequence[float],
    seed: int,
    clusters: Sequence[Hashable] | None = None,
    resamples: int = RESAMPLES,
    confidence: float = CONFIDENCE,
    method: Method = "percentile",
) -> Interval | None:
    """Bootstrap interval of a mean; whole clusters are drawn.

    Args:
        values: the values.
        seed: of the draws; equal seeds give equal intervals.
        clusters: the cluster of each value (None: each value is its own).
        resamples: number of bootstrap samples.
        confidence: coverage, say .95.
        method: percentile, or bca (bias-corrected and accelerated, Efron 1987; the acceleration from leaving out one cluster each).

    Returns:
        the interval; None with fewer than two clusters, where nothing can be said.

    Raises:
        ValueError: a value is no finite number, or not one cluster a value.
    """
    sums, sizes = by_cluster(values, clusters)
    if len(sums) < 2:
        return None
    means = _resampled(sums, sizes, np.random.default_rng(seed), resamples)
    tails = _bca_tails(sums, sizes, means, confidence) if method == "bca" else _tails(confidence)
    low, high = np.quantile(means, tails)
    return Interval(float(low), float(high))


def paired_bootstrap(
    first: Sequence[float | None],
    second: Sequence[float | None],
    seed: int,
    clusters: Sequence[Hashable] | None = None,
    resamples: int = RESAMPLES,
    confidence: float = CONFIDENCE,
) -> Difference:
    """Mean difference first − second of two systems on the same cases, with a percentile interval and a two-sided p.

    Args:
        first: values of one system.
        second: values of the other, pair by pair.
        seed: of the draws.
        clusters: the cluster (base case) of each pair; None: each pair is its own.
        resamples: number of bootstrap samples.
        confidence: coverage, say .95.

    Returns:
        the difference. A pair with a null is left out and counted, never taken for 0.

    Raises:
        ValueError: not as many values in one as in the other.
    """
    labels: Sequence[Hashable] = range(len(first)) if clusters is None else clusters
    there = [(a - b, label) for a, b, label in zip(first, second, labels, strict=True) if a is not None and b is not None]
    gaps, kept = [gap for gap, _ in there], [label for _, label in there]
    n_null = len(first) - len(gaps)
    sums, sizes = by_cluster(gaps, kept)
    if len(sums) < 2:
        return Difference(sum(gaps) / len(gaps) if gaps else None, None, None, None, None, len(gaps), n_null, len(sums))
    drawn = _resampled(sums, sizes, np.random.default_rng(seed), resamples)
    low, high = np.quantile(drawn, _tails(confidence))
    value = float(sums.sum() / sizes.sum())
    return Difference(value, float(low), float(high), clustered_se(gaps, kept), _two_sided(drawn), len(gaps), n_null, len(sums))


def unpaired_bootstrap(
    first: Sequence[float | None],
    second: Sequence[float | None],
    seed: int,
    first_clusters: Sequence[Hashable] | None = None,
    second_clusters: Sequence[Hashable] | None = None,
    resamples: int = RESAMPLES,
    confidence: float = CONFIDENCE,
) -> Difference:
    """Difference of means first − second of two samples of different cases, each with clusters of its own.

    Args, returns and errors are those of `paired_bootstrap`; nulls are left out value by value.
    Nothing but the value can be said with fewer than two clusters in a sample.
    """
    one, one_labels = _without_nulls(first, first_clusters)
    two, two_labels = _without_nulls(second, second_clusters)
    n, n_null = len(one) + len(two), len(first) + len(second) - len(one) - len(two)
    value = sum(one) / len(one) - sum(two) / len(two) if one and two else None
    one_sums, one_sizes = by_cluster(one, one_labels)
    two_sums, two_sizes = by_cluster(two, two_labels)
    n_clusters = len(one_sums) + len(two_sums)
    if min(len(one_sums), len(two_sums)) < 2:
        return Difference(value, None, None, None, None, n, n_null, n_clusters)
    one_rng, two_rng = np.random.default_rng(seed).spawn(2)
    drawn = _resampled(one_sums, one_sizes, one_rng, resamples) - _resampled(two_sums, two_sizes, two_rng, resamples)
    low, high = np.quantile(drawn, _tails(confidence))
    se = hypot(clustered_se(one, one_labels) or 0.0, clustered_se(two, two_labels) or 0.0)
    return Difference(value, float(low), float(high), se, _two_sided(drawn), n, n_null, n_clusters)


def _without_nulls(values: Sequence[float | None], clusters: Sequence[Hashable] | None) -> tuple[list[float], list[Hashable]]:
    labels: Sequence[Hashable] = range(len(values)) if clusters is None else clusters
    there = [(value, label) for value, label in zip(values, labels, strict=True) if value is not None]
    return [value for value, _ in there], [label for _, label in there]


def _resampled(sums: Vector, sizes: Vector, rng: np.random.Generator, resamples: int) -> Vector:
    """Means of `resamples` samples of whole clusters."""
    count = len(sums)
    means = np.empty(resamples)
    step = max(1, _CHUNK // count)
    for start in range(0, resamples, step):
        stop = min(start + step, resamples)
        drawn = rng.integers(0, count, size=(stop - start, count))
        means[start:stop] = sums[drawn].sum(axis=1) / sizes[drawn].sum(axis=1)
    return means


def _tails(confidence: float) -> list[float]:
    tail = (1 - confidence) / 2
    return [tail, 1 - tail]


def _bca_tails(sums: Vector, sizes: Vector, means: Vector, confidence: float) -> list[float]:
    """Which quantiles of the bootstrap means are the ends of the BCa interval."""
    normal = NormalDist()
    value = float(sums.sum() / sizes.sum())
    below = float((means < value).sum() + 0.5 * (means == value).sum())
    bias = normal.inv_cdf((below + 0.5) / (len(means) + 1))  # the half keeps it finite where all means lie on one side
    left_out = (sums.sum() - sums) / (sizes.sum() - sizes)
    gaps = left_out.mean() - left_out
    spread = float((gaps**2).sum()) ** 1.5
    acceleration = float((gaps**3).sum()) / (6 * spread) if spread > 0 else 0.0
    ends = []
    for tail in _tails(confidence):
        shifted = bias + normal.inv_cdf(tail)
        ends.append(normal.cdf(bias + shifted / (1 - acceleration * shifted)))
    return ends


def _two_sided(drawn: Vector) -> float:
    """Twice the smaller share of draws at or beyond 0; one more in both counts, so that it is never 0 (Davison and Hinkley 1997, 4.2)."""
    fewer = min(int((drawn <= 0).sum()), int((drawn >= 0).sum()))
    return min(1.0, 2 * (fewer + 1) / (len(drawn) + 1))
