"""Fitting the Bradley-Terry and Davidson models to games, and how sure the result is (metrics.md 13)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

Vector = np.ndarray[tuple[int], np.dtype[np.float64]]
Indices = np.ndarray[tuple[int], np.dtype[np.int64]]
Matrix = np.ndarray[tuple[int, int], np.dtype[np.float64]]
Ties = Literal["half", "davidson"]

RIDGE = 1e-3
MAX_STEPS = 200
TOLERANCE = 1e-10
_CHUNK = 4_000_000


@dataclass(frozen=True)
class Table:
    """Games as arrays of one length. `outcome`: 1 left won, 0 tie, −1 right won."""

    n_players: int
    left: Indices
    right: Indices
    outcome: Vector
    weight: Vector


@dataclass(frozen=True)
class Fit:
    """A fitted model. Strengths sum to 0; P(i beats j) = 1/(1 + exp(b_j − b_i)) where no game is tied."""

    strengths: Vector
    log_nu: float | None
    """how common ties are (Davidson's ν, as its logarithm); None: ties counted half, or there are none"""
    log_likelihood: float
    steps: int


def fit(table: Table, ties: Ties = "half", ridge: float = 0.0) -> Fit:
    """Fit by Newton's method.

    Args:
        table: the games.
        ties: half: a tie is half a win for each (Bradley-Terry); davidson: P(tie) ∝ ν √(e^b_i e^b_j) (Davidson 1970).
        ridge: λ in the penalty λ/2 Σ b²; needed where one player won all games or no chain of wins joins two players.

    Returns:
        the fit.

    Raises:
        ValueError: davidson with nothing but ties; or no finite maximum, for want of a ridge.
    """
    with_nu = ties == "davidson" and bool((table.outcome == 0).any())
    if with_nu and (table.outcome == 0).all():
        raise ValueError("all games are ties: how common ties are cannot be told")
    n = table.n_players
    at = np.zeros(n + with_nu)
    objective = _objective(table, at, with_nu, ridge)
    for step in range(1, MAX_STEPS + 1):
        gradient, information = derivatives(table, at, with_nu)
        gradient[:n] -= ridge * at[:n]
        information[:n, :n] += ridge * np.eye(n) + 1 / n  # 1/n: only differences matter, so that the sum is held at 0
        try:
            move = np.linalg.solve(information, gradient)
        except np.linalg.LinAlgError:
            break
        scale = 1.0
        while (new := _objective(table, at + scale * move, with_nu, ridge)) < objective - 1e-12 * abs(objective) and scale > 1e-6:
            scale /= 2
        at, objective = at + scale * move, new
        if np.abs(move).max() < TOLERANCE:
            b = at[:n] - at[:n].mean()
            return Fit(b, float(at[n]) if with_nu else None, log_likelihood(table, at, with_nu), step)
    raise ValueError("the games determine no finite strengths; give a ridge")


def probabilities(difference: Vector, log_nu: float | None) -> tuple[Vector, Vector, Vector]:
    """P(first wins), P(tie), P(second wins) for differences b_first − b_second."""
    utilities = np.stack([difference / 2, np.full_like(difference, -np.inf if log_nu is None else log_nu), -difference / 2])
    shares = np.exp(utilities - utilities.max(axis=0))
    win, tie, loss = shares / shares.sum(axis=0)
    return win, tie, loss


def _sums(places: Indices, values: Vector, count: int) -> Vector:
    """Sum of the values at each place 0 … count−1."""
    found: Vector = np.bincount(places, values, count).astype(np.float64)
    return found


def _difference(table: Table, at: Vector) -> Vector:
    found: Vector = at[table.left] - at[table.right]
    return found


def log_likelihood(table: Table, at: Vector, with_nu: bool) -> float:
    """Σ w log P(outcome); a tie that counts half is half the log of each side's win."""
    half = _difference(table, at) / 2
    log_nu = at[-1] if with_nu else -np.inf
    top = np.logaddexp(np.logaddexp(half, -half), log_nu)
    utility = np.where(table.outcome == 0, log_nu if with_nu else 0.0, table.outcome * half)
    return float((table.weight * (utility - top)).sum())


def _objective(table: Table, at: Vector, with_nu: bool, ridge: float) -> float:
    return log_likelihood(table, at, with_nu) - ridge / 2 * float((at[: table.n_players] ** 2).sum())


def derivatives(table: Table, at: Vector, with_nu: bool) -> tuple[Vector, Matrix]:
    """Gradient and information (minus the second derivatives) of the log likelihood, by strength and, last, by log ν."""
    n = table.n_players
    win, tie, loss = probabilities(_difference(table, at), float(at[-1]) if with_nu else None)
    expected = win - loss
    by_strength = table.weight * (table.outcome - expected) / 2
    gradient: Vector = _sums(table.left, by_strength, n) - _sums(table.right, by_strength, n)
    curve = table.weight * (win + loss - expected**2) / 4
    crossed = _sums(table.left * n + table.right, curve, n * n).reshape(n, n)
    crossed = crossed + crossed.T
    information: Matrix = np.diag(crossed.sum(axis=1)) - crossed
    if not with_nu:
        return gradient, information
    mixed = -table.weight * expected * tie / 2
    edge = _sums(table.left, mixed, n) - _sums(table.right, mixed, n)
    corner = float((table.weight * tie * (1 - tie)).sum())
    information = np.block([[information, edge[:, None]], [edge[None, :], np.array([[corner]])]])
    return np.append(gradient, (table.weight * ((table.outcome == 0) - tie)).sum()), information


def covariance(table: Table, found: Fit, clusters: Sequence[Indices] | None, ridge: float = 0.0) -> Matrix:
    """Covariance of the strengths.

    Args:
        table: the games.
        found: the fit to them.
        clusters: None: from the model alone (the inverse information). One array of numbers 0 … G−1: the sandwich
            H⁺ (Σ_c s_c s_cᵀ) H⁺ · G/(G−1), s_c the sum of the scores of cluster c's games; every game its own cluster: robust. Two
            arrays: both ways (the sum of the two less that of their crossing; Cameron, Gelbach and Miller 2011).
        ridge: the one of the fit.

    Returns:
        players × players.

    Raises:
        ValueError: a single cluster.
    """
    n = table.n_players
    with_nu = found.log_nu is not None
    at = found.strengths if found.log_nu is None else np.append(found.strengths, found.log_nu)
    _, information = derivatives(table, at, with_nu)
    information[:n, :n] += ridge * (np.eye(n) - 1 / n)
    bread: Matrix = np.linalg.pinv(information, hermitian=True)
    if clusters is None:
        return bread[:n, :n]
    ways = list(clusters)
    signs = [1.0] * len(ways)
    if len(ways) == 2:
        _, both = np.unique(np.stack(ways), axis=1, return_inverse=True)
        ways, signs = [*ways, both.reshape(-1)], [1.0, 1.0, -1.0]
    meat = sum((sign * _meat(table, at, with_nu, way) for sign, way in zip(signs, ways, strict=True)), np.zeros_like(bread))
    whole: Matrix = bread @ meat @ bread
    return whole[:n, :n]


def _meat(table: Table, at: Vector, with_nu: bool, clusters: Indices) -> Matrix:
    """Σ_c s_c s_cᵀ · G/(G−1), in blocks of clusters."""
    n, count = table.n_players, int(np.max(clusters)) + 1
    if count < 2:
        raise ValueError("one cluster tells nothing of how clusters differ")
    win, tie, loss = probabilities(_difference(table, at), float(at[-1]) if with_nu else None)
    score = table.weight * (table.outcome - win + loss) / 2
    tied = table.weight * ((table.outcome == 0) - tie)
    total = np.zeros((len(at), len(at)))
    order = np.argsort(clusters, kind="stable")
    block = max(1, _CHUNK // len(at))
    for start in range(0, count, block):
        low, high = np.searchsorted(clusters[order], [start, start + block])
        rows = order[low:high]
        size = min(block, count - start)
        place = (clusters[rows] - start) * n
        sums = _sums(place + table.left[rows], score[rows], size * n) - _sums(place + table.right[rows], score[rows], size * n)
        scores = sums.reshape(size, n)
        if with_nu:
            scores = np.column_stack([scores, _sums(clusters[rows] - start, tied[rows], size)])
        total += scores.T @ scores
    return total * count / (count - 1)


def bootstrap_strengths(table: Table, clusters: Indices, resamples: int, seed: int, ties: Ties = "half", ridge: float = RIDGE) -> Matrix:
    """Strengths of resamples of whole clusters; the ridge keeps those finite in which a player won or lost every game.

    Args:
        table: the games.
        clusters: numbers 0 … G−1, one a game.
        resamples: how many.
        seed: of the draws.
        ties: see `fit`.
        ridge: see `fit`; above 0.

    Returns:
        resamples × players.
    """
    rng = np.random.default_rng(seed)
    count = int(np.max(clusters)) + 1
    kinds, kind = np.unique(np.stack([table.left, table.right, table.outcome.astype(np.int64)]), axis=1, return_inverse=True)
    kind = kind.reshape(-1)
    found = np.empty((resamples, table.n_players))
    for number in range(resamples):
        times = np.bincount(rng.integers(0, count, size=count), minlength=count)
        weight = _sums(kind, table.weight * times[clusters], kinds.shape[1])
        drawn = weight > 0
        again = Table(table.n_players, kinds[0][drawn], kinds[1][drawn], kinds[2][drawn].astype(np.float64), weight[drawn])
        only_ties = bool((again.outcome == 0).all())
        found[number] = fit(again, "half" if only_ties else ties, ridge).strengths
    return found
