"""Means and their standard errors over clusters (metrics.md 11.2)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np

Vector = np.ndarray[tuple[int], np.dtype[np.float64]]

RESAMPLES = 10_000
CONFIDENCE = 0.95


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


def weighted_mean(values: Sequence[float], weights: Sequence[float]) -> float | None:
    """Σ w x / Σ w, say of several sets' scores by their sizes; None without any weight.

    Raises:
        ValueError: not one weight a value, or a negative one.
    """
    if any(weight < 0 for weight in weights):
        raise ValueError("a weight is negative")
    pairs = list(zip(values, weights, strict=True))
    total = sum(weights)
    return sum(value * weight for value, weight in pairs) / total if total else None


def relative_change(value: float, base: float) -> float:
    """Change from a base as a share of it: value/base − 1.

    Raises:
        ZeroDivisionError: the base is 0.
    """
    return value / base - 1


def macro_mean(values: Sequence[float], groups: Sequence[Hashable]) -> float | None:
    """The mean of the groups' means; None if there are no values."""
    sums, sizes = by_cluster(values, groups)
    return float((sums / sizes).mean()) if len(sums) else None


def clustered_se(values: Sequence[float], clusters: Sequence[Hashable] | None = None) -> float | None:
    """Analytic standard error of a mean over clusters, the cross-check of the bootstrap; None with fewer than two clusters.

    sqrt(Σ_c (Σ_{i∈c} (s_i − mean))²) / n: Miller 2024, arXiv 2411.00640; no small-sample factor.
    """
    sums, sizes = by_cluster(values, clusters)
    if len(sums) < 2:
        return None
    n = float(sizes.sum())
    mean = float(sums.sum()) / n
    return float(np.sqrt(((sums - mean * sizes) ** 2).sum()) / n)


def between_run_sd(values: Sequence[float], cases: Sequence[Hashable]) -> float | None:
    """How much runs of one case differ: the pooled standard deviation within cases.

    Args:
        values: one value a run.
        cases: the case of each run.

    Returns:
        sqrt(Σ_c Σ_{i∈c} (s_i − mean_c)² / Σ_c (n_c − 1)); None if no case was run twice.
    """
    found: dict[Hashable, list[float]] = defaultdict(list)
    for value, case in zip(values, cases, strict=True):
        found[case].append(value)
    freedom = sum(len(runs) - 1 for runs in found.values())
    if freedom == 0:
        return None
    squares = 0.0
    for runs in found.values():
        mean = sum(runs) / len(runs)
        squares += sum((run - mean) ** 2 for run in runs)
    return sqrt(squares / freedom)


def by_cluster(values: Sequence[float], clusters: Sequence[Hashable] | None) -> tuple[Vector, Vector]:
    """Sum and size of every cluster, in order of first appearance; without clusters each value is its own.

    Raises:
        ValueError: not one cluster a value, or a value that is no finite number.
    """
    if not np.isfinite(np.asarray(values, dtype=np.float64)).all():
        raise ValueError("a value is not a finite number")
    labels: Sequence[Hashable] = range(len(values)) if clusters is None else clusters
    found: dict[Hashable, list[float]] = defaultdict(list)
    for value, label in zip(values, labels, strict=True):
        found[label].append(value)
    sums = np.array([sum(items) for items in found.values()], dtype=np.float64)
    sizes = np.array([len(items) for items in found.values()], dtype=np.float64)
    return sums, sizes
