"""Does stated confidence mean what it says: Brier, log score, calibration error, AUROC (metrics.md 7.4)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import log
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

BINS = 10
FEWEST_FOR_ECE = 100
"""Below this, even perfect forecasts show a large calibration error (metrics.md 7.4)."""
SMALLEST = 1e-10
SIMULATIONS = 1000


@dataclass(frozen=True)
class Bin:
    """One bar of a reliability diagram."""

    low: float
    high: float
    n: int
    confidence: float
    accuracy: float


@dataclass(frozen=True)
class Calibration:
    """Calibration over many answers. ECE and its null are None for fewer than 100 answers; AUROC without both right and wrong ones."""

    n: int
    brier: float
    log_score: float
    gap: float
    auroc: float | None
    ece: float | None
    ece_low: float | None
    ece_high: float | None
    ece_null: float | None
    bins: tuple[Bin, ...]


def brier(confidence: float, correct: bool) -> float:
    """(confidence - correct)², in 0..1."""
    return (confidence - float(correct)) ** 2


def multiclass_brier(probs: Sequence[float], truth: int | None) -> float:
    """Sum of (p_k - y_k)² over the answers and, for the mass not given away, "other"; in 0..2.

    Args:
        probs: probabilities of the ranked answers; they must not sum to more than 1.
        truth: place of the true one, None if it is not among them.
    """
    rest = max(0.0, 1.0 - sum(probs))
    hits = sum((p - float(place == truth)) ** 2 for place, p in enumerate(probs))
    return hits + (rest - float(truth is None)) ** 2


def log_score(probability: float) -> float:
    """-ln of the probability given to what came true, floored at 1e-10."""
    return -log(max(probability, SMALLEST))


def ece(confidences: Sequence[float], correct: Sequence[bool], bins: int = BINS, equal_mass: bool = False) -> float:
    """Expected calibration error: mean |confidence - accuracy| of the bins, weighted by their size.

    Args:
        confidences: in 0..1.
        correct: whether each was right.
        bins: how many; of width 1/bins, or of equal numbers.
        equal_mass: the latter. Equal confidences may then fall into two bins.
    """
    parts = _by_mass(confidences, correct, bins) if equal_mass else reliability_bins(confidences, correct, bins)
    return sum(part.n * abs(part.confidence - part.accuracy) for part in parts) / len(confidences)


def reliability_bins(confidences: Sequence[float], correct: Sequence[bool], bins: int = BINS) -> tuple[Bin, ...]:
    """Bins of equal width that hold anything; a confidence on a border belongs to the bin above, 1 to the last.

    Raises:
        ValueError: nothing to bin, or lengths that differ.
    """
    import numpy as np

    values, hits = _arrays(confidences, correct)
    # 0.3 * 10 is 3 only to the 15th digit.
    places = np.minimum(np.floor(np.round(values * bins, 9)).astype(int), bins - 1)
    return tuple(_bin(values[places == b], hits[places == b], b / bins, (b + 1) / bins) for b in range(bins) if (places == b).any())


def _by_mass(confidences: Sequence[float], correct: Sequence[bool], bins: int) -> tuple[Bin, ...]:
    import numpy as np

    values, hits = _arrays(confidences, correct)
    order = np.argsort(values, kind="stable")
    parts = [part for part in np.array_split(order, bins) if len(part)]
    return tuple(_bin(values[part], hits[part], float(values[part].min()), float(values[part].max())) for part in parts)


def _bin(values: NDArray[np.float64], hits: NDArray[np.float64], low: float, high: float) -> Bin:
    return Bin(low, high, len(values), float(values.mean()), float(hits.mean()))


def _arrays(confidences: Sequence[float], correct: Sequence[bool]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    import numpy as np

    if not confidences or len(confidences) != len(correct):
        raise ValueError("confidences and outcomes must be as many as each other, and at least one")
    return np.asarray(confidences, dtype=float), np.asarray(correct, dtype=float)


def auroc(confidences: Sequence[float], correct: Sequence[bool]) -> float | None:
    """Probability that a right answer has more confidence than a wrong one, ties half; None without both kinds."""
    import numpy as np

    values, hits = _arrays(confidences, correct)
    right, wrong = values[hits == 1], np.sort(values[hits == 0])
    if not len(right) or not len(wrong):
        return None
    below = np.searchsorted(wrong, right, side="left")
    equal = np.searchsorted(wrong, right, side="right") - below
    return float((below + equal / 2).mean() / len(wrong))


def null_ece(confidences: Sequence[float], seed: int, simulations: int = SIMULATIONS, bins: int = BINS) -> float:
    """Mean calibration error of perfect forecasts with these confidences: what sampling alone would show."""
    import numpy as np

    rng = np.random.default_rng(seed)
    draws = rng.random((simulations, len(confidences))) < np.asarray(confidences)
    return float(np.mean([ece(confidences, list(draw), bins) for draw in draws]))


def calibrate(confidences: Sequence[float], correct: Sequence[bool], seed: int = 0, resamples: int = SIMULATIONS) -> Calibration:
    """All figures over many answers, with a percentile interval of the calibration error where it may be shown.

    Args:
        confidences: stated confidence, in 0..1; answers without one are left out, never set to .5.
        correct: whether each was right.
        seed: of the bootstrap and the simulated null.
        resamples: of both.

    Raises:
        ValueError: nothing given, or lengths that differ.
    """
    import numpy as np

    values, hits = _arrays(confidences, correct)
    n = len(values)
    shown = n >= FEWEST_FOR_ECE
    low = high = None
    if shown:
        rng = np.random.default_rng(seed)
        draws = rng.integers(0, n, (resamples, n))
        errors = [ece(list(values[draw]), list(hits[draw] == 1)) for draw in draws]
        low, high = (float(q) for q in np.quantile(errors, (0.025, 0.975)))
    return Calibration(
        n=n,
        brier=float(((values - hits) ** 2).mean()),
        log_score=sum(log_score(c if hit else 1 - c) for c, hit in zip(confidences, correct, strict=True)) / n,
        gap=float(values.mean() - hits.mean()),
        auroc=auroc(confidences, correct),
        ece=ece(confidences, correct) if shown else None,
        ece_low=low,
        ece_high=high,
        ece_null=null_ece(confidences, seed, resamples) if shown else None,
        bins=reliability_bins(confidences, correct),
    )
