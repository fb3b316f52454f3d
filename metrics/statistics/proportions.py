"""Intervals of a proportion (metrics.md 11.2)."""

from __future__ import annotations

from math import sqrt
from statistics import NormalDist
from typing import Literal

from .basic import CONFIDENCE, Interval

Sides = Literal["both", "lower", "upper"]


def wilson(successes: int, n: int, confidence: float = CONFIDENCE) -> Interval:
    """Wilson's score interval of a proportion.

    Args:
        successes: number of successes.
        n: number of independent trials, at least 1.
        confidence: coverage, say .95.

    Raises:
        ValueError: no trials, or more successes than trials.
    """
    _check(successes, n)
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    share = successes / n
    centre = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    # At 0 and n the exact ends are 0 and 1; rounding must not push them past.
    return Interval(0.0 if successes == 0 else max(0.0, centre - half), 1.0 if successes == n else min(1.0, centre + half))


def clopper_pearson(successes: int, n: int, confidence: float = CONFIDENCE, sides: Sides = "both") -> Interval:
    """The exact interval of a proportion (Clopper and Pearson 1934): it never covers less than `confidence`.

    Args:
        successes: number of successes.
        n: number of independent trials, at least 1.
        confidence: coverage, say .95.
        sides: both, or all the error on one side ("upper": only the upper end says something; the lower is 0). The rule of three is
            the upper end for no events in n: about 3/n at 95 %.

    Raises:
        ValueError: no trials, or more successes than trials.
    """
    from scipy.stats import beta

    _check(successes, n)
    tail = (1 - confidence) / (2 if sides == "both" else 1)
    low, high = 0.0, 1.0
    if successes > 0 and sides != "upper":
        low = float(beta.ppf(tail, successes, n - successes + 1))
    if successes < n and sides != "lower":
        high = float(beta.ppf(1 - tail, successes + 1, n - successes))
    return Interval(low, high)


def _check(successes: int, n: int) -> None:
    if n < 1 or not 0 <= successes <= n:
        raise ValueError(f"{successes} successes of {n} trials")
