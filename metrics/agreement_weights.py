"""How much two different categories agree: the weights of agreement coefficients (metrics.md 12; Gwet 2014, 3.5)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, get_args

import numpy as np

Weighting = Literal["nominal", "linear", "ordinal", "quadratic", "radical"]
WEIGHTINGS: tuple[Weighting, ...] = get_args(Weighting)
Category = str | int | float
Matrix = np.ndarray[tuple[int, int], np.dtype[np.float64]]


def positions(categories: Sequence[Category]) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Where each category lies on the scale: its number, or if any is a word its place in the list, from 1."""
    if all(isinstance(category, int | float) for category in categories):
        return np.array(categories, dtype=np.float64)
    return np.arange(1, len(categories) + 1, dtype=np.float64)


def agreement_weights(categories: Sequence[Category], weighting: Weighting) -> Matrix:
    """Weights w_kl of categories k and l, 1 on the diagonal, 0 for the two that lie farthest apart.

    With d = |x_k − x_l| and D the largest d: linear 1 − d/D, quadratic 1 − d²/D², radical 1 − √(d/D). Ordinal counts places in the list
    instead of distances: with m places from k to l, both included, 1 − C(m, 2)/C(q, 2). Nominal: 0 off the diagonal.

    Args:
        categories: all that were on offer, used or not, in their order.
        weighting: which of the above.

    Returns:
        a q × q matrix.

    Raises:
        ValueError: fewer than two categories, or one twice.
    """
    q = len(categories)
    if q < 2:
        raise ValueError("agreement needs at least two categories")
    if len(set(categories)) < q:
        raise ValueError("a category is listed twice")
    if weighting == "nominal":
        return np.eye(q)
    x = np.arange(q, dtype=np.float64) if weighting == "ordinal" else positions(categories)
    apart = np.abs(x[:, None] - x[None, :])
    if weighting == "ordinal":
        ordinal: Matrix = 1 - apart * (apart + 1) / (q * (q - 1))
        return ordinal
    share = apart / apart.max()
    power = {"linear": 1.0, "quadratic": 2.0, "radical": 0.5}[weighting]
    weights: Matrix = 1 - share**power
    return weights
