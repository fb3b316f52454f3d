"""Ranking from games (metrics.md 13)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from metrics.bradley_terry import Table, bootstrap_strengths, covariance, fit, log_likelihood
from metrics.ranking import ALONE, OUTCOMES, Game, Options, Outcome, Ranking, Standing, matches_needed, rank

RAW = json.loads((Path(__file__).parents[1] / "data" / "arena_games.json").read_text(encoding="utf-8"))["games"]
BY_SCORE: dict[float, Outcome] = {1: "left", 0.5: "tie", 0: "right"}
GAMES = [Game(f"p{left}", f"p{right}", BY_SCORE[score], cluster) for left, right, score, cluster in RAW]
"""p0–p1 7 won, 2 tied, 3 lost; p0–p2 8, 1, 2; p1–p2 6, 0, 4; cluster: running number modulo 10."""


def numbers(ranking: Ranking, name: str) -> list[float]:
    """A number of every player, in order of their names."""
    return [getattr(standing, name) for standing in sorted(ranking.standings, key=lambda standing: standing.player)]


def test_golden_strengths() -> None:
    """13: strengths and ratings, ties half."""
    found = rank(GAMES)
    assert numbers(found, "strength") == pytest.approx([0.634710, -0.094582, -0.540128], abs=1e-6)
    assert numbers(found, "rating") == pytest.approx([1110.26, 983.57, 906.17], abs=5e-3)
    assert [standing.player for standing in found.standings] == ["p0", "p1", "p2"]
    record = found.standings[0]
    assert (record.games, record.wins, record.losses, record.ties, record.n_clusters) == (23, 15, 5, 3, 10)


@pytest.mark.parametrize(
    ("errors", "se"),
    [("model", (0.3113, 0.2979, 0.3195)), ("robust", (0.2890, 0.2893, 0.3132)), ("clustered", (0.2900, 0.1886, 0.4122))],
)
def test_golden_errors(errors: Any, se: tuple[float, ...]) -> None:
    """13: standard errors of the model, robust and clustered."""
    assert numbers(rank(GAMES, Options(errors=errors)), "se") == pytest.approx(se, abs=5e-5)


def test_golden_difference() -> None:
    """13: 0 against 1, and the win probability that goes with it."""
    duel = rank(GAMES).duels[0]
    assert (duel.first, duel.second, duel.games, duel.tie) == ("p0", "p1", 12, None)
    assert duel.difference == pytest.approx(0.7293, abs=5e-5)
    assert duel.se == pytest.approx(0.2635, abs=5e-5)
    assert duel.win == pytest.approx(1 / (1 + np.exp(-0.729292)), abs=1e-6)
    assert duel.low == pytest.approx(1 / (1 + np.exp(-(0.729292 - 1.959964 * 0.263508))), abs=1e-5)
    assert duel.high == pytest.approx(1 / (1 + np.exp(-(0.729292 + 1.959964 * 0.263508))), abs=1e-5)


def test_golden_without_ties() -> None:
    """13: as choix.ilsr_pairwise."""
    found = rank([game for game in GAMES if game.outcome != "tie"])
    assert numbers(found, "strength") == pytest.approx([0.740570, -0.149102, -0.591468], abs=1e-6)
    davidson = rank([game for game in GAMES if game.outcome != "tie"], Options(ties="davidson"))
    assert numbers(davidson, "strength") == pytest.approx(numbers(found, "strength"))
    assert davidson.nu == {}


def test_golden_davidson() -> None:
    """13: ties modelled; the probabilities of a pair sum to 1."""
    found = rank(GAMES, Options(ties="davidson"))
    assert numbers(found, "strength") == pytest.approx([0.7080, -0.1055, -0.6025], abs=5e-5)
    assert found.nu[0] == pytest.approx(0.2218, abs=5e-5)
    duel = found.duels[0]
    assert duel.tie is not None
    e = np.exp(duel.difference / 2)
    assert duel.win == pytest.approx(e / (e + 1 / e + found.nu[0]))
    assert duel.tie == pytest.approx(found.nu[0] / (e + 1 / e + found.nu[0]))


def test_golden_few_clusters_rank_nobody() -> None:
    """13: fewer than 20 clusters are insufficient, for without a ridge their bootstrap is useless."""
    found = rank(GAMES)
    assert all(standing.rank is None for standing in found.standings)
    assert found.standings[0].null_reason == "insufficient: 10 clusters, 20 needed for a rank"
    ranked = rank(GAMES, Options(min_clusters=10))
    assert [(standing.rank, standing.rank_low, standing.rank_high) for standing in ranked.standings] == [(1, 1, 3), (2, 1, 3), (3, 1, 3)]


def test_golden_sample_size() -> None:
    """13: two-sided .05, power .8."""
    assert [matches_needed(rate) for rate in (0.55, 0.60, 0.65)] == [785, 197, 88]
    assert matches_needed(0.45) == 785
    for rate in (0.5, 1.2):
        with pytest.raises(ValueError, match="one half"):
            matches_needed(rate)


def test_as_evalica_and_choix_have_it() -> None:
    """13: Bradley-Terry with ties half, and of decided games."""
    evalica, choix = pytest.importorskip("evalica"), pytest.importorskip("choix")
    winner = {"left": evalica.Winner.X, "right": evalica.Winner.Y, "tie": evalica.Winner.Draw}
    theirs = evalica.bradley_terry(
        [game.left for game in GAMES], [game.right for game in GAMES], [winner[game.outcome] for game in GAMES], tolerance=1e-12
    ).scores
    logs = np.log([theirs[f"p{number}"] for number in range(3)])
    assert numbers(rank(GAMES), "strength") == pytest.approx((logs - logs.mean()).tolist(), abs=1e-5)
    decided = [(left, right) if score == 1 else (right, left) for left, right, score, _ in RAW if score != 0.5]
    plain = rank([game for game in GAMES if game.outcome != "tie"])
    assert numbers(plain, "strength") == pytest.approx(choix.ilsr_pairwise(3, decided).tolist(), abs=1e-6)


# -- who can be compared ----------------------------------------------------------------------------------------------


def games_of(text: str) -> list[Game]:
    """Games such as "a>b a=b": won, tied; each its own cluster."""
    return [
        Game(word[0], word[2], "tie" if word[1] == "=" else "left" if word[1] == ">" else "right", number)
        for number, word in enumerate(text.split())
    ]


def test_unbeaten_players_are_not_compared() -> None:
    """Ford 1957: a has lost to nobody, d has beaten nobody; b and c can be compared."""
    found = rank(games_of("a>b a>c b>c c>b b>d c>d"))
    assert found.components == [["b", "c"], ["a"], ["d"]]
    by_name = {standing.player: standing for standing in found.standings}
    assert by_name["b"].rating == pytest.approx(1000)
    assert (by_name["a"].rating, by_name["a"].null_reason) == (None, ALONE)
    assert (by_name["a"].wins, by_name["a"].games) == (2, 2)
    assert [(duel.first, duel.second) for duel in found.duels] == [("b", "c")]
    assert found.n_between == 4


def test_a_ridge_compares_all_that_played() -> None:
    """With a ridge the unbeaten get a finite rating, in order; those never joined by a game stay apart."""
    found = rank(games_of("a>b a>c b>c c>b b>d c>d x>y y>x"), Options(ridge=1e-3))
    assert found.components == [["a", "b", "c", "d"], ["x", "y"]]
    first = [standing.player for standing in found.standings if standing.component == 0]
    assert first[0] == "a" and first[-1] == "d"
    assert all(standing.rating is not None and abs(standing.rating) < 5000 for standing in found.standings)


def test_a_tie_joins_both_ways() -> None:
    """Ties alone make players comparable, and equal."""
    found = rank(games_of("a=b b=c"))
    assert found.components == [["a", "b", "c"]]
    assert numbers(found, "strength") == pytest.approx([0, 0, 0], abs=1e-9)
    with pytest.raises(ValueError, match="all games are ties"):
        rank(games_of("a=b b=c"), Options(ties="davidson"))


def test_both_bad_rates_as_a_tie_and_is_counted() -> None:
    """13: "both bad" = tie for the rating, counted separately."""
    bad = [replace(game, outcome="both_bad") if game.outcome == "tie" else game for game in GAMES]
    found, plain = rank(bad), rank(GAMES)
    assert numbers(found, "strength") == numbers(plain, "strength")
    assert (found.n_both_bad, plain.n_both_bad) == (3, 0)
    assert numbers(found, "both_bad") == [3, 2, 1]


def test_separation_is_finite_only_with_a_ridge() -> None:
    """One player won everything: no maximum of the likelihood."""
    table = Table(2, np.array([0, 0]), np.array([1, 1]), np.array([1.0, 1.0]), np.ones(2))
    with pytest.raises(ValueError, match="ridge"):
        fit(table)
    assert 2 < fit(table, ridge=1e-3).strengths[0] < 6


def test_weights_and_copies_are_the_same() -> None:
    """k runs weigh 1/k: two games of weight ½ count as one for the strengths."""
    halves = [replace(game, weight=0.5) for game in GAMES for _ in range(2)]
    assert numbers(rank(halves), "strength") == pytest.approx(numbers(rank(GAMES), "strength"))
    assert numbers(rank(halves), "se") == pytest.approx(numbers(rank(GAMES), "se"))


def test_voters_are_clusters_too() -> None:
    """13: two-way clustering. Voters that are the clusters change nothing; voters that agree with themselves widen."""
    same = [replace(game, voter=game.cluster) for game in GAMES]
    assert numbers(rank(same), "se") == pytest.approx(numbers(rank(GAMES), "se"))
    rng = Random(2)
    games = []
    for number in range(400):
        voter = number % 8
        likes_a = rng.random() < (0.9 if voter < 4 else 0.2)
        games.append(Game("a", "b", "left" if likes_a else "right", number, f"v{voter}"))
    wide, narrow = rank(games).standings[0].se, rank([replace(game, voter=None) for game in games]).standings[0].se
    assert wide is not None and narrow is not None and wide > 3 * narrow


def test_bootstrap_and_sandwich_agree() -> None:
    """With 200 clusters they have the same errors; the draws follow the seed."""
    games = simulated([0.8, 0.2, 0.0, -1.0], 200, 7)
    sandwich, drawn = rank(games), rank(games, Options(errors="bootstrap", resamples=400, seed=3))
    assert numbers(drawn, "se") == pytest.approx(numbers(sandwich, "se"), rel=0.15)
    assert drawn == rank(games, Options(errors="bootstrap", resamples=400, seed=3))
    table = Table(2, np.array([0, 0, 1]), np.array([1, 1, 0]), np.array([1.0, 0, 1]), np.ones(3))
    assert np.isfinite(bootstrap_strengths(table, np.arange(3), 50, 1, "davidson")).all()


def simulated(strengths: Sequence[float], cases: int, seed: int) -> list[Game]:
    """Every two players on every case."""
    rng = np.random.default_rng(seed)
    return [
        Game(f"p{i}", f"p{j}", "left" if rng.uniform() < 1 / (1 + np.exp(strengths[j] - strengths[i])) else "right", case)
        for case in range(cases)
        for i in range(len(strengths))
        for j in range(i + 1, len(strengths))
    ]


def test_known_strengths_are_found() -> None:
    """Of 40 simulated boards about 95 % of the intervals hold the true strength."""
    truth = np.array([0.8, 0.2, 0.0, -1.0])
    held = 0
    for seed in range(40):
        found = rank(simulated(truth.tolist(), 60, seed))
        held += sum(abs(b - t) < 1.96 * se for b, t, se in zip(numbers(found, "strength"), truth, numbers(found, "se"), strict=True))
    assert 0.88 <= held / 160 <= 0.99


def test_ranks_have_intervals() -> None:
    """13: 1 + the number of players whose lower bound exceeds my upper bound."""
    found = rank(simulated([2.0, 0.05, 0.0, -2.0], 60, 5))
    assert [standing.rank for standing in found.standings] == [1, 2, 3, 4]
    assert [(standing.rank_low, standing.rank_high) for standing in found.standings] == [(1, 1), (2, 3), (2, 3), (4, 4)]


@pytest.mark.parametrize(
    ("games", "message"),
    [
        ([], "no game"),
        ([Game("a", "a", "left")], "plays itself"),
        ([Game("a", "b", "left", weight=0)], "weight"),
        ([Game("a", "b", "left", 1), Game("a", "b", "left")], "1 of 2 games have no cluster"),
        ([Game("a", "b", "left", 1, "v"), Game("a", "b", "left", 1)], "no voter"),
    ],
)
def test_bad_games_are_refused(games: list[Game], message: str) -> None:
    """In one line."""
    with pytest.raises(ValueError, match=message):
        rank(games)


def test_one_cluster_has_no_error() -> None:
    """All games on one case: strengths, and nothing about how sure they are."""
    found = rank([replace(game, cluster="only") for game in GAMES])
    assert numbers(found, "strength")[0] == pytest.approx(0.634710, abs=1e-6)
    assert numbers(found, "se") == [None, None, None]
    assert found.duels[0].low is None
    table = Table(2, np.array([0, 1]), np.array([1, 0]), np.array([1.0, 1.0]), np.ones(2))
    with pytest.raises(ValueError, match="one cluster"):
        covariance(table, fit(table), [np.zeros(2, dtype=np.int64)])


PLAYED = st.lists(
    st.tuples(st.integers(0, 4), st.integers(1, 4), st.sampled_from(OUTCOMES), st.integers(0, 5)), min_size=1, max_size=25
).map(lambda rows: [Game(f"p{i}", f"p{(i + step) % 5}", outcome, cluster) for i, step, outcome, cluster in rows])
MIRROR: dict[Outcome, Outcome] = {"left": "right", "right": "left", "tie": "tie", "both_bad": "both_bad"}


def as_dict(standings: list[Standing], name: str) -> dict[str, float | None]:
    """A number of every player by name."""
    return {standing.player: getattr(standing, name) for standing in standings}


@settings(max_examples=1000, deadline=None)
@given(games=PLAYED, data=st.data())
def test_invariants(games: list[Game], data: st.DataObject) -> None:
    """Sides and order of games do not matter; strengths of a component sum to 0 and are a maximum; every player stands once."""
    found = rank(games)
    mirrored = [Game(game.right, game.left, MIRROR[game.outcome], game.cluster) for game in data.draw(st.permutations(games))]
    again = rank(mirrored)
    assert sorted(standing.player for standing in found.standings) == sorted({p for game in games for p in (game.left, game.right)})
    assert found.components == again.components
    for name in ("strength", "se"):
        assert as_dict(found.standings, name) == pytest.approx(as_dict(again.standings, name), abs=1e-6)
    for number, members in enumerate(found.components):
        inside = [standing for standing in found.standings if standing.component == number]
        if len(members) > 1:
            assert sum(standing.strength or 0.0 for standing in inside) == pytest.approx(0, abs=1e-6)
    assert sum(standing.wins for standing in found.standings) == sum(game.outcome in ("left", "right") for game in games)
    assert sum(standing.wins for standing in found.standings) == sum(standing.losses for standing in found.standings)
    for standing in found.standings:
        assert standing.wins + standing.losses + standing.ties == standing.games


@settings(max_examples=300, deadline=None)
@given(games=PLAYED, ridge=st.sampled_from([1e-3, 0.1]))
def test_the_fit_is_a_maximum(games: list[Game], ridge: float) -> None:
    """No small step away from it is better."""
    place = {name: number for number, name in enumerate(sorted({p for game in games for p in (game.left, game.right)}))}
    value = {"left": 1.0, "right": -1.0, "tie": 0.0, "both_bad": 0.0}
    table = Table(
        len(place),
        np.array([place[game.left] for game in games]),
        np.array([place[game.right] for game in games]),
        np.array([value[game.outcome] for game in games]),
        np.ones(len(games)),
    )
    best = fit(table, ridge=ridge).strengths

    def goodness(b: np.ndarray[Any, Any]) -> float:
        return log_likelihood(table, b, False) - ridge / 2 * float((b**2).sum())

    for player in range(len(place)):
        for step in (-0.01, 0.01):
            moved = best.copy()
            moved[player] += step
            assert goodness(moved) < goodness(best)
