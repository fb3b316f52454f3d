"""Tests of differences, and corrections for many of them (metrics.md 11)."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from .basic import RESAMPLES, by_cluster

Alternative = Literal["two-sided", "greater", "less"]
_CHUNK = 2_000_000


@dataclass(frozen=True, slots=True)
class SignFlip:
    """Result of a sign-flip test."""

    mean: float
    p: float
    exact: bool
    """whether all sign patterns were tried"""
    n_clusters: int


@dataclass(frozen=True, slots=True)
class McNemar:
    """McNemar's test of paired yes-or-no results. `b`: only the first right; `c`: only the second."""

    b: int
    c: int
    p: float
    """exact, two-sided"""
    mid_p: float
    n: int | None = None
    """pairs, where known"""
    n_null: int = 0
    """pairs left out because a value is null"""


@dataclass(frozen=True, slots=True)
class SubsampleTest:
    """Result of the papers' test on subsamples. Never evidence: see `seed_subsample_ttest`."""

    label: Literal["replication only"]
    mode: Literal["with", "without"]
    subsamples: Literal["independent", "same"]
    first_means: tuple[float, ...]
    second_means: tuple[float, ...]
    first_sd: float
    second_sd: float
    t: float
    p: float
    """one-sided: the first is greater"""


def sign_flip(
    differences: Sequence[float],
    seed: int,
    clusters: Sequence[Hashable] | None = None,
    resamples: int = RESAMPLES,
    alternative: Alternative = "two-sided",
) -> SignFlip | None:
    """Permutation test of paired differences: under the null hypothesis each cluster's differences may as well have the other sign.

    Args:
        differences: first − second, one a pair.
        seed: of the draws.
        clusters: the cluster of each pair; all differences of a cluster flip together. None: each is its own.
        resamples: number of random sign patterns; if there are no more patterns than that, all are tried and the p is exact.
        alternative: which mean difference counts as extreme.

    Returns:
        the mean difference and p (of random patterns: (1 + as extreme) / (1 + patterns), never 0); None without differences.

    Raises:
        ValueError: a difference is no finite number, or not one cluster a difference.
    """
    sums, sizes = by_cluster(differences, clusters)
    count = len(sums)
    if count == 0:
        return None
    total = float(sums.sum())
    exact = count < 60 and 2**count <= resamples
    patterns = 2**count if exact else resamples
    slack = 1e-12 * float(np.abs(sums).sum())  # sums in another order must not count as less extreme
    rng = np.random.default_rng(seed)
    step = max(1, _CHUNK // count)
    extreme = 0
    for start in range(0, patterns, step):
        rows = min(step, patterns - start)
        if exact:
            bits = (np.arange(start, start + rows)[:, None] >> np.arange(count)) & 1
        else:
            bits = rng.integers(0, 2, size=(rows, count), dtype=np.int8)
        flipped = total - 2 * (bits.astype(np.float64) @ sums)
        if alternative == "two-sided":
            extreme += int((np.abs(flipped) >= abs(total) - slack).sum())
        elif alternative == "greater":
            extreme += int((flipped >= total - slack).sum())
        else:
            extreme += int((flipped <= total + slack).sum())
    p = extreme / patterns if exact else (extreme + 1) / (patterns + 1)
    return SignFlip(total / float(sizes.sum()), p, exact, count)


def mcnemar(b: int, c: int) -> McNemar:
    """Exact and mid-p McNemar test from the discordant pairs (Fagerland, Lydersen and Laake 2013).

    Args:
        b: pairs that only the first has right.
        c: pairs that only the second has right.

    Raises:
        ValueError: a negative count.
    """
    if b < 0 or c < 0:
        raise ValueError(f"discordant pairs {b} and {c}")
    if b == c == 0:
        return McNemar(b, c, 1.0, 1.0)
    from scipy.stats import binom

    fewer = min(b, c)
    p = 2 * float(binom.cdf(fewer, b + c, 0.5))
    return McNemar(b, c, min(1.0, p), min(1.0, p - float(binom.pmf(fewer, b + c, 0.5))))


def mcnemar_of(first: Sequence[bool | None], second: Sequence[bool | None]) -> McNemar:
    """`mcnemar` of two systems' results on the same cases, one pair a case. Pairs with a null are left out and counted.

    Raises:
        ValueError: not as many results in one as in the other.
    """
    pairs = [(x, y) for x, y in zip(first, second, strict=True) if x is not None and y is not None]
    found = mcnemar(sum(x and not y for x, y in pairs), sum(y and not x for x, y in pairs))
    return McNemar(found.b, found.c, found.p, found.mid_p, len(pairs), len(first) - len(pairs))


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm's step-down adjusted p values (1979), in the order given: they hold the chance of any false finding.

    Raises:
        ValueError: a p value outside 0..1.
    """
    p = _checked(p_values)
    order = np.argsort(p, kind="stable")
    steps = np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1))
    adjusted = np.empty(len(p))
    adjusted[order] = np.minimum(steps, 1.0)
    return [float(value) for value in adjusted]


def benjamini_hochberg(p_values: Sequence[float]) -> list[float]:
    """Benjamini and Hochberg's adjusted p values (1995), in the order given: they hold the share of false findings.

    Raises:
        ValueError: a p value outside 0..1.
    """
    p = _checked(p_values)
    if len(p) == 0:
        return []
    from scipy.stats import false_discovery_control

    return [float(value) for value in false_discovery_control(p, method="bh")]


def _checked(p_values: Sequence[float]) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    p = np.array(p_values, dtype=np.float64)
    if not ((p >= 0) & (p <= 1)).all():
        raise ValueError("a p value must lie between 0 and 1")
    return p


def seed_subsample_ttest(
    first: Sequence[float],
    second: Sequence[float],
    seed: int,
    mode: Literal["with", "without"] = "without",
    subsamples: Literal["independent", "same"] = "independent",
    draws: int = 10,
    share: float = 0.8,
    paired: bool = False,
) -> SubsampleTest:
    """DyReMe's test (B.2, B.4): a one-sided t test on the means of 10 subsamples of 80 %. For replication only.

    It is no valid test: means of subsamples depend on each other and vary by half the standard error, so under a true null hypothesis it
    rejects at .05 in 38 % of runs (metrics.md 11.1). Use `paired_bootstrap`, `sign_flip` or `mcnemar`.

    Args:
        first: values of the system said to be better.
        second: values of the other.
        seed: of the draws.
        mode: draw with replacement, or without as the published code does.
        subsamples: each system's own, or the same cases for both (then as many values in one as in the other).
        draws: number of subsamples.
        share: of the values in each.
        paired: a paired t test of the means (with the same subsamples only).

    Raises:
        ValueError: too few values, or two systems of different size with the same subsamples.
    """
    from scipy.stats import ttest_ind, ttest_rel

    one, two = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    if subsamples == "same" and len(one) != len(two):
        raise ValueError(f"{len(one)} and {len(two)} values cannot share subsamples")
    if paired and subsamples != "same":
        raise ValueError("a paired test needs the same subsamples")
    if draws < 2 or min(round(share * len(one)), round(share * len(two))) < 1:
        raise ValueError("at least two subsamples of at least one value")
    rng = np.random.default_rng(seed)

    def pick(count: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
        return rng.choice(count, size=round(share * count), replace=mode == "with")

    means: list[tuple[float, float]] = []
    for _ in range(draws):
        chosen = pick(len(one))
        means.append((float(one[chosen].mean()), float(two[chosen if subsamples == "same" else pick(len(two))].mean())))
    ones, twos = np.array(means).T
    spread = (ones - twos).std() if paired else max(ones.std(), twos.std())
    if spread < 1e-15:  # t is not defined
        gap = float((ones - twos).mean())
        t, p = 0.0, 0.5 if abs(gap) < 1e-15 else float(gap < 0)
    else:
        result = ttest_rel(ones, twos, alternative="greater") if paired else ttest_ind(ones, twos, alternative="greater")
        t, p = float(result.statistic), float(result.pvalue)
    first_sd, second_sd = float(ones.std(ddof=1)), float(twos.std(ddof=1))
    return SubsampleTest("replication only", mode, subsamples, tuple(ones.tolist()), tuple(twos.tolist()), first_sd, second_sd, t, p)
