"""Ranking players from games: ratings, win probabilities and ranks with intervals (metrics.md 13).

A board says which differences the games support: without 20 clusters nobody gets a rank, and players that no chain of wins joins both
ways are never put on one scale (Ford 1957).
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from math import ceil, exp, log, sqrt
from statistics import NormalDist
from typing import Literal, get_args

import numpy as np

from metrics.bradley_terry import RIDGE, Fit, Indices, Matrix, Table, Ties, bootstrap_strengths, covariance, fit, probabilities
from metrics.statistics import CONFIDENCE

Outcome = Literal["left", "right", "tie", "both_bad"]
Errors = Literal["model", "robust", "clustered", "bootstrap"]
"""From the model alone; sandwich with every game, or every cluster, on its own; cluster bootstrap."""
ERRORS: tuple[Errors, ...] = get_args(Errors)
OUTCOMES: tuple[Outcome, ...] = get_args(Outcome)
MIN_CLUSTERS = 20
BASE_RATING = 1000.0
SCALE = 400 / log(10)
"""Rating points for one unit of strength: 400 points are odds of 10 to 1."""

ALONE = "no chain of wins (a tie counts both ways) leads both to and from another player: not comparable"


@dataclass(frozen=True, slots=True)
class Game:
    """One comparison of two players on one case."""

    left: str
    right: str
    outcome: Outcome
    cluster: Hashable = None
    """the case; None: the game is a cluster of its own"""
    voter: Hashable = None
    """who judged, where people judge repeatedly; None in all games: not used"""
    weight: float = 1.0
    """k runs of one player on one case weigh 1/k each"""


@dataclass(frozen=True, slots=True)
class Standing:
    """One player. Numbers that the games do not support are None, with the reason."""

    player: str
    component: int
    games: int
    wins: int
    losses: int
    ties: int
    """both bad included"""
    both_bad: int
    n_clusters: int
    strength: float | None
    """Bradley-Terry b; they sum to 0 within a component"""
    se: float | None
    rating: float | None
    """1000 + 400/ln 10 · strength"""
    low: float | None
    high: float | None
    rank: int | None
    rank_low: int | None
    """best rank: 1 + the number of players whose lower bound exceeds this one's upper bound"""
    rank_high: int | None
    """worst rank: the number of ranked players less those whose upper bound lies below this one's lower bound"""
    null_reason: str | None


@dataclass(frozen=True, slots=True)
class Duel:
    """Two players of one component: how often the first would win."""

    first: str
    second: str
    games: int
    difference: float
    """of strengths"""
    se: float | None
    win: float
    """of games without a tie under `half`; with `davidson` P(first wins), ties apart"""
    low: float | None
    high: float | None
    tie: float | None
    """P(tie) under `davidson`"""


@dataclass(frozen=True)
class Options:
    """How `rank` goes about it."""

    ties: Ties = "half"
    errors: Errors = "clustered"
    ridge: float = 0.0
    """λ/2 Σ b². 0: the maximum of the likelihood, per strongly connected component. Above 0 all players joined by games are rated together,
    those without losses too; how far they are then ahead is set by the ridge more than by the games."""
    confidence: float = CONFIDENCE
    min_clusters: int = MIN_CLUSTERS
    resamples: int = 1000
    seed: int = 0


@dataclass(frozen=True)
class Ranking:
    """A board."""

    standings: list[Standing]
    """best rating first, component by component, the largest first"""
    duels: list[Duel]
    components: list[list[str]]
    nu: dict[int, float]
    """Davidson's ν by component"""
    options: Options
    n_games: int
    n_clusters: int
    n_both_bad: int
    n_between: int
    """games between components: they count for the record of wins, not for ratings"""


def rank(games: Sequence[Game], options: Options | None = None) -> Ranking:
    """Rank players.

    Args:
        games: the games; "both bad" is a tie for the rating and is counted apart.
        options: None: ties half, sandwich errors over clusters.

    Raises:
        ValueError: no games, a player against itself, a weight that is not above 0, or some games with a cluster and some without.
    """
    chosen = options or Options()
    _check(games)
    board = _Board.of(games)
    label = _components(board, joint=chosen.ridge > 0)
    standings: list[Standing] = []
    duels: list[Duel] = []
    nu: dict[int, float] = {}
    names: list[list[str]] = []
    for number in range(int(np.max(label)) + 1):
        members = np.flatnonzero(label == number)
        names.append([board.players[member] for member in members])
        if len(members) == 1:
            standings.append(_standing(board, int(members[0]), number, None, chosen))
            continue
        found, variance = _fitted(board, members, chosen)
        if found.log_nu is not None:
            nu[number] = exp(found.log_nu)
        standings += _ranked([_standing(board, int(m), number, (found, variance, k), chosen) for k, m in enumerate(members)])
        duels += _duels(board, members, found, variance, chosen)
    between = int((label[board.table.left] != label[board.table.right]).sum())
    n_clusters = int(np.max(board.clusters)) + 1
    return Ranking(standings, duels, names, nu, chosen, len(games), n_clusters, int(board.both_bad.sum()), between)


def matches_needed(win_rate: float, alpha: float = 0.05, power: float = 0.8) -> int:
    """Games needed to tell a win rate from one half in a two-sided test: (z_{1−α/2} + z_power)² · ¼ / (rate − ½)².

    Raises:
        ValueError: a rate of one half, or one outside 0..1.
    """
    if not 0 <= win_rate <= 1 or win_rate == 0.5:
        raise ValueError(f"a win rate of {win_rate} cannot be told from one half")
    normal = NormalDist()
    return ceil((normal.inv_cdf(1 - alpha / 2) + normal.inv_cdf(power)) ** 2 * 0.25 / (win_rate - 0.5) ** 2)


@dataclass(frozen=True)
class _Board:
    """The games as arrays."""

    players: list[str]
    table: Table
    both_bad: Indices
    clusters: Indices
    voters: Indices | None

    @classmethod
    def of(cls, games: Sequence[Game]) -> _Board:
        players = sorted({game.left for game in games} | {game.right for game in games})
        index = {player: number for number, player in enumerate(players)}
        value = {"left": 1.0, "right": -1.0, "tie": 0.0, "both_bad": 0.0}
        table = Table(
            len(players),
            np.array([index[game.left] for game in games], dtype=np.int64),
            np.array([index[game.right] for game in games], dtype=np.int64),
            np.array([value[game.outcome] for game in games], dtype=np.float64),
            np.array([game.weight for game in games], dtype=np.float64),
        )
        bad = np.array([game.outcome == "both_bad" for game in games], dtype=np.int64)
        own = games[0].cluster is None
        clusters = _numbered([number if own else game.cluster for number, game in enumerate(games)])
        voters = None if games[0].voter is None else _numbered([game.voter for game in games])
        return cls(players, table, bad, clusters, voters)


def _check(games: Sequence[Game]) -> None:
    if not games:
        raise ValueError("no game was played")
    for number, game in enumerate(games, start=1):
        if game.left == game.right:
            raise ValueError(f"game {number}: {game.left} plays itself")
        if not 0 < game.weight < float("inf"):
            raise ValueError(f"game {number}: a weight of {game.weight}")
    for name in ("cluster", "voter"):
        missing = sum(getattr(game, name) is None for game in games)
        if 0 < missing < len(games):
            raise ValueError(f"{missing} of {len(games)} games have no {name}")


def _numbered(labels: Sequence[Hashable]) -> Indices:
    index: dict[Hashable, int] = {}
    return np.array([index.setdefault(label, len(index)) for label in labels], dtype=np.int64)


def _components(board: _Board, joint: bool) -> Indices:
    """The component of each player, the largest first. Strong: wins lead both ways; joint: any game joins."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    table, n = board.table, board.table.n_players
    down, up = table.outcome >= 0, table.outcome <= 0
    winner = np.concatenate([table.left[down], table.right[up]])
    loser = np.concatenate([table.right[down], table.left[up]])
    graph = coo_array((np.ones(len(winner)), (winner, loser)), shape=(n, n))
    _, label = connected_components(graph, directed=True, connection="weak" if joint else "strong")
    sizes = np.bincount(label)
    first = [int(np.flatnonzero(label == number)[0]) for number in range(len(sizes))]
    order = sorted(range(len(sizes)), key=lambda number: (-sizes[number], first[number]))
    place = np.empty(len(sizes), dtype=np.int64)
    place[order] = np.arange(len(sizes))
    return np.asarray(place[label], dtype=np.int64)


def _within(board: _Board, members: Indices) -> tuple[Table, np.ndarray[tuple[int], np.dtype[np.bool_]]]:
    """The games among some players, renumbered, and which of all games they are."""
    table = board.table
    place = np.full(table.n_players, -1, dtype=np.int64)
    place[members] = np.arange(len(members))
    here = (place[table.left] >= 0) & (place[table.right] >= 0)
    return Table(len(members), place[table.left[here]], place[table.right[here]], table.outcome[here], table.weight[here]), here


def _fitted(board: _Board, members: Indices, options: Options) -> tuple[Fit, Matrix | None]:
    """The fit of one component and the covariance of its strengths; None where a single cluster says nothing of it."""
    table, here = _within(board, members)
    found = fit(table, options.ties, options.ridge)
    if options.errors == "model":
        return found, covariance(table, found, None, options.ridge)
    clusters = np.arange(len(table.left)) if options.errors == "robust" else _numbered(board.clusters[here].tolist())
    if int(np.max(clusters)) < 1:
        return found, None
    if options.errors == "bootstrap":
        drawn = bootstrap_strengths(table, clusters, options.resamples, options.seed, options.ties, options.ridge or RIDGE)
        return found, np.cov(drawn, rowvar=False)
    ways = [clusters]
    if board.voters is not None and options.errors == "clustered":
        voters = _numbered(board.voters[here].tolist())
        ways += [voters] if int(np.max(voters)) > 0 else []
    return found, covariance(table, found, ways, options.ridge)


def _standing(board: _Board, player: int, component: int, fitted: tuple[Fit, Matrix | None, int] | None, options: Options) -> Standing:
    """A player's record and, with the fit of its component and its place in it, its rating; no rank yet."""
    table = board.table
    left, right = table.left == player, table.right == player
    mine = left | right
    tied = mine & (table.outcome == 0)
    wins = int((left & (table.outcome == 1)).sum() + (right & (table.outcome == -1)).sum())
    n_clusters = len(np.unique(board.clusters[mine]))
    strength = se = rating = low = high = None
    reason: str | None = ALONE
    if fitted is not None:
        reason = None
        found, variance, place = fitted
        strength = float(found.strengths[place])
        rating = BASE_RATING + SCALE * strength
        if variance is not None:
            se = sqrt(max(0.0, float(variance[place, place])))
            half = NormalDist().inv_cdf((1 + options.confidence) / 2) * SCALE * se
            low, high = rating - half, rating + half
        if n_clusters < options.min_clusters:
            reason = f"insufficient: {n_clusters} cluster{'s' * (n_clusters > 1)}, {options.min_clusters} needed for a rank"
    return Standing(
        board.players[player], component, int(mine.sum()), wins, int(mine.sum() - tied.sum()) - wins, int(tied.sum()),
        int(board.both_bad[mine].sum()), n_clusters, strength, se, rating, low, high, None, None, None, reason,
    )  # fmt: skip


def _ranked(standings: list[Standing]) -> list[Standing]:
    """Best first; those with clusters enough get a rank and the interval of it."""
    ordered = sorted(standings, key=lambda standing: (-(standing.rating or 0.0), standing.player))
    fit_to_rank = [standing for standing in ordered if standing.null_reason is None]
    lows = np.array([standing.low for standing in fit_to_rank], dtype=np.float64)
    highs = np.array([standing.high for standing in fit_to_rank], dtype=np.float64)
    found = []
    for standing in ordered:
        if standing.null_reason is None and standing.low is not None and standing.high is not None:
            better, worse = int((lows > standing.high).sum()), int((highs < standing.low).sum())
            place = 1 + sum((other.rating or 0.0) > (standing.rating or 0.0) for other in fit_to_rank)
            standing = replace(standing, rank=place, rank_low=1 + better, rank_high=len(fit_to_rank) - worse)
        found.append(standing)
    return found


def _duels(board: _Board, members: Indices, found: Fit, variance: Matrix | None, options: Options) -> list[Duel]:
    """Every two players of a component, the stronger first."""
    table, _ = _within(board, members)
    n = len(members)
    played = np.bincount(table.left * n + table.right, minlength=n * n).reshape(n, n)
    order = sorted(range(n), key=lambda k: (-found.strengths[k], k))
    z = NormalDist().inv_cdf((1 + options.confidence) / 2)
    duels = []
    for place, one in enumerate(order):
        for two in order[place + 1 :]:
            gap = float(found.strengths[one] - found.strengths[two])
            se = None
            if variance is not None:
                se = sqrt(max(0.0, float(variance[one, one] + variance[two, two] - 2 * variance[one, two])))
            reach = z * se if se is not None else 0.0
            win, tie, _ = probabilities(np.array([gap, gap - reach, gap + reach]), found.log_nu)
            names = board.players[int(members[one])], board.players[int(members[two])]
            duels.append(
                Duel(
                    *names, int(played[one, two] + played[two, one]), gap, se, float(win[0]),
                    None if se is None else float(win[1]), None if se is None else float(win[2]),
                    float(tie[0]) if found.log_nu is not None else None,
                )
            )  # fmt: skip
    return duels
