"""Agreement between raters (metrics.md 12), against the papers' tables, published examples and irrCAC's numbers."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from metrics.agreement import CERTAIN, NO_PAIR, Agreement, Ratings, brennan_prediger, cohen, fleiss, gwet, krippendorff, pairwise
from metrics.agreement_weights import WEIGHTINGS, Weighting, agreement_weights
from metrics.statistics import Interval

TABLES = json.loads((Path(__file__).parents[1] / "data" / "dyreme_tables.json").read_text(encoding="utf-8"))
SCALE = (1, 2, 3, 4, 5)
QUALITY = Ratings.of(TABLES["table3"], SCALE)
AGREES = Ratings.of(TABLES["table4"], (0, 1))
GAPS = Ratings.of(
    [
        [1, 1, None, 1],
        [2, 2, 3, 2],
        [3, 3, 3, 3],
        [3, 3, 3, 3],
        [2, 2, 2, 2],
        [1, 2, 3, 4],
        [4, 4, 4, 4],
        [1, 1, 2, 1],
        [2, 2, 2, 2],
        [None, 5, 5, 5],
        [None, None, 1, 1],
        [None, None, 3, None],
    ],
    SCALE,
)
"""Krippendorff's example with four observers and missing ratings (2011, section C)."""


def binarised(least: int) -> Ratings:
    """Table 3 as yes (at least so much) or no."""
    return Ratings.of([[int(value >= least) for value in row] for row in TABLES["table3"]], (0, 1))


def value_of(found: Agreement) -> float:
    """The value, which must be there."""
    assert found.value is not None and found.null_reason is None
    return found.value


def test_golden_counts_of_the_seed() -> None:
    """15: Table 3 and Table 4."""
    rows = np.array(TABLES["table3"])
    assert (rows.size, int(rows.sum()), round(float(rows.mean()), 4)) == (90, 350, 3.8889)
    assert rows.mean(axis=0).round(4).tolist() == [4.7333, 3.7667, 3.1667]
    assert np.bincount(rows.reshape(-1)).tolist() == [0, 0, 11, 14, 39, 26]
    agrees = np.array(TABLES["table4"])
    assert agrees.sum(axis=0).tolist() == [29, 27, 29]
    assert int((agrees.sum(axis=1) == 3).sum()) == 25
    assert (np.flatnonzero(agrees.sum(axis=1) < 3) + 1).tolist() == [4, 8, 10, 11, 22]
    assert agrees.sum(axis=1).min() == 2


@pytest.mark.parametrize(
    ("weighting", "pa", "ac", "bp"),
    [
        ("nominal", 0.1889, 0.0199, -0.0139),
        ("linear", 0.7, 0.3786, 0.25),
        ("ordinal", 0.8311, 0.5548, 0.3968),
        ("quadratic", 0.8639, 0.6149, 0.4556),
        ("radical", 0.5187, 0.2118, 0.1222),
    ],
)
def test_golden_table_3(weighting: Weighting, pa: float, ac: float, bp: float) -> None:
    """12, first two rows: q = 5, though nobody gave a 1."""
    found = gwet(QUALITY, weighting)
    assert found.pa == pytest.approx(pa, abs=5e-5)
    assert found.value == pytest.approx(ac, abs=5e-5)
    assert brennan_prediger(QUALITY, weighting).value == pytest.approx(bp, abs=5e-5)
    if weighting == "nominal":
        assert found.pe == pytest.approx(0.1724, abs=5e-5)
        assert found.coefficient == "AC1" and gwet(QUALITY, "linear").coefficient == "AC2"


@pytest.mark.parametrize(("weighting", "mean"), [("nominal", 0.0333), ("linear", 0.4104), ("ordinal", 0.5829), ("quadratic", 0.6393)])
def test_golden_pairwise_means(weighting: Weighting, mean: float) -> None:
    """12: the mean of three pairs is not the coefficient of three raters."""
    found = pairwise(QUALITY, partial(gwet, weighting=weighting))
    assert found.mean == pytest.approx(mean, abs=5e-5)
    if weighting == "quadratic":
        assert [value for value in found.pairs.values()] == pytest.approx([0.7652, 0.3405, 0.8123], abs=5e-5)
        assert list(found.pairs) == [("1", "2"), ("1", "3"), ("2", "3")]


def test_golden_binarised() -> None:
    """12: Table 3 at least 3, 4, 5."""
    three, four, five = binarised(3), binarised(4), binarised(5)
    found = gwet(three)
    assert (found.pa, found.pe, found.value) == pytest.approx((0.8, 0.2146, 0.7454), abs=5e-5)
    assert found.interval is not None
    assert (found.interval.low, found.interval.high) == pytest.approx((0.562, 0.928), abs=5e-4)
    assert pairwise(three, gwet).mean == pytest.approx(0.7365, abs=5e-5)
    assert [brennan_prediger(each).value for each in (three, four, five)] == pytest.approx([0.6, 0.0667, -0.0667], abs=5e-5)
    assert [gwet(each).value for each in (four, five)] == pytest.approx([0.2206, 0.0947], abs=5e-5)
    assert [gwet(each).pa for each in (four, five)] == pytest.approx([0.5333, 0.4667], abs=5e-5)


def test_golden_table_4() -> None:
    """12: agreement of the three experts; DyReMe's 0.8889 comes with pe fixed at one half."""
    found = gwet(AGREES)
    assert (found.pa, found.pe, found.value) == pytest.approx((0.8889, 0.1049, 0.8759), abs=5e-5)
    assert found.interval is not None
    assert (found.interval.low, found.interval.high) == pytest.approx((0.759, 0.993), abs=5e-4)
    assert brennan_prediger(AGREES).value == pytest.approx(0.7778, abs=5e-5)
    pooled = np.array(TABLES["table4"]).mean()
    assert pooled == pytest.approx(0.9444, abs=5e-5)
    assert (pooled - 0.5) / 0.5 == pytest.approx(0.8889, abs=5e-5)
    per_expert = [2 * share - 1 for share in np.array(TABLES["table4"]).mean(axis=0)]
    assert per_expert == pytest.approx([0.9333, 0.8, 0.9333], abs=5e-5)
    assert np.mean(per_expert) == pytest.approx(0.8889, abs=5e-5)
    rater_pairs = pairwise(AGREES, lambda two: Agreement("pa", "", gwet(two).pa, None, None, None))
    assert rater_pairs.mean == pytest.approx(0.8889, abs=5e-5)


def test_golden_the_seeds_ac1_is_brennan_prediger() -> None:
    """12, F10: the mean of two BP is the paper's 0.6889; of the two true AC1, .8106."""
    assert (value_of(brennan_prediger(binarised(3))) + value_of(brennan_prediger(AGREES))) / 2 == pytest.approx(0.6889, abs=5e-5)
    assert (value_of(gwet(binarised(3))) + value_of(gwet(AGREES))) / 2 == pytest.approx(0.8106, abs=5e-5)


@pytest.mark.parametrize(("share", "ac1"), [(0.4, 0.8932), (0.3, 0.9042), (0.2, 0.9183)])
def test_golden_true_ac1_of_the_choices(share: float, ac1: float) -> None:
    """12: DyReMe against the experts, 85 of 90 alike, if response A is chosen with that probability; the raw choices are not published."""
    alike, total = 85, 90
    one, other = round((share * 2 * total - 5) / 2), alike - round((share * 2 * total - 5) / 2)
    rows = [[0, 0]] * one + [[1, 1]] * other + [[0, 1]] * (total - alike)
    assert gwet(Ratings.of(rows, (0, 1))).value == pytest.approx(ac1, abs=2e-3)
    pe = 2 * share * (1 - share)
    assert (85 / 90 - pe) / (1 - pe) == pytest.approx(ac1, abs=5e-5)


def test_golden_kappa_paradox() -> None:
    """12: Fleiss' kappa of the same tables."""
    assert [fleiss(each).value for each in (AGREES, binarised(3), QUALITY)] == pytest.approx([-0.0588, 0.0679, -0.1762], abs=5e-5)


def test_golden_unused_categories_count() -> None:
    """12: q = 4 instead of 5 changes AC2 from .6149 to .2796."""
    assert gwet(Ratings.of(TABLES["table3"], (2, 3, 4, 5)), "quadratic").value == pytest.approx(0.2796, abs=5e-5)


@pytest.mark.parametrize(
    ("weighting", "ac", "bp", "kappa"),
    [
        ("nominal", (0.775444, 0.142950), (0.772727, 0.144717), (0.761169, 0.153019)),
        ("linear", (0.858739, 0.117329), (0.848485, 0.123356), (0.817945, 0.148504)),
        ("ordinal", (0.898940, 0.106904), (0.886364, 0.113906), (0.850206, 0.147036)),
        ("quadratic", (0.914001, 0.103962), (0.901515, 0.110894), (0.864935, 0.146034)),
        ("radical", (0.819812, 0.128356), (0.812627, 0.132779), (0.789924, 0.150036)),
    ],
)
def test_missing_ratings_as_irrcac_has_them(weighting: Weighting, ac: Any, bp: Any, kappa: Any) -> None:
    """Values and standard errors of irrCAC 0.4.4 for ratings with gaps, one subject with a single rating among them."""
    for found, expected in ((gwet, ac), (brennan_prediger, bp), (fleiss, kappa)):
        here = found(GAPS, weighting)
        assert (here.value, here.se) == pytest.approx(expected, abs=1e-6)
        assert (here.n, here.n_pairable) == (12, 11)
    low = gwet(GAPS).interval
    assert low is not None
    assert (low.low, low.high) == pytest.approx((0.460813, 1.0), abs=1e-6)


@pytest.mark.parametrize(("metric", "alpha"), [("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849)])
def test_krippendorffs_own_example(metric: Any, alpha: float) -> None:
    """Krippendorff 2011, section C."""
    found = krippendorff(GAPS, metric, resamples=500)
    assert found.value == pytest.approx(alpha, abs=5e-4)
    assert (found.n, found.n_pairable) == (12, 11)
    assert found.bootstrap is not None and found.bootstrap.low < alpha < found.bootstrap.high
    assert found.pa is not None and found.pe is not None
    assert found.value == pytest.approx((found.pa - found.pe) / (1 - found.pe))


def test_cohens_textbook_table() -> None:
    """A 2 × 2 table 20, 5, 10, 15: po = .7, pe = .5, kappa .4."""
    rows = [["yes", "yes"]] * 20 + [["yes", "no"]] * 5 + [["no", "yes"]] * 10 + [["no", "no"]] * 15
    found = cohen(Ratings.of(rows, ("yes", "no")), resamples=2000)
    assert (found.pa, found.pe, found.value) == pytest.approx((0.7, 0.5, 0.4))
    # The large-sample error of kappa (Fleiss, Cohen and Everitt 1969) of this table is .1265.
    assert found.se == pytest.approx(0.1265, rel=0.05)
    assert found.bootstrap is not None
    assert (found.bootstrap.high - found.bootstrap.low) / 2 == pytest.approx(1.96 * 0.1265, rel=0.1)
    with pytest.raises(ValueError, match="two raters"):
        cohen(QUALITY)


def test_weights_by_hand() -> None:
    """Four numbers, not evenly spaced: linear and quadratic follow the distance, ordinal the place."""
    scale = (0, 1, 2, 10)
    assert agreement_weights(scale, "linear")[0].tolist() == pytest.approx([1, 0.9, 0.8, 0])
    assert agreement_weights(scale, "quadratic")[0].tolist() == pytest.approx([1, 0.99, 0.96, 0])
    assert agreement_weights(scale, "radical")[0].tolist() == pytest.approx([1, 1 - 0.1**0.5, 1 - 0.2**0.5, 0])
    assert agreement_weights(scale, "ordinal")[0].tolist() == pytest.approx([1, 5 / 6, 1 / 2, 0])
    assert agreement_weights(scale, "nominal")[0].tolist() == [1, 0, 0, 0]
    assert agreement_weights(("none", "mild", "severe"), "linear")[0].tolist() == pytest.approx([1, 0.5, 0])


def test_what_cannot_be_said_has_a_reason() -> None:
    """One rating each; one category only; one subject."""
    alone = Ratings.of([[1, None], [None, 2]], SCALE)
    for each in (gwet, brennan_prediger, fleiss, cohen, krippendorff):
        assert each(alone).value is None
        assert each(alone).null_reason == NO_PAIR
    same = Ratings.of([[1, 1], [1, 1]], SCALE)
    assert gwet(same).value == brennan_prediger(same).value == 1
    for each in (fleiss, cohen, krippendorff):
        assert (each(same).value, each(same).null_reason) == (None, CERTAIN)
    one = gwet(Ratings.of([[1, 2]], SCALE), resamples=100)
    assert value_of(one) < 0
    assert (one.se, one.interval, one.bootstrap) == (None, None, None)


@pytest.mark.parametrize(
    ("rows", "categories", "message"),
    [
        ([], (1, 2), "no subject"),
        ([[1, 2], [1]], (1, 2), "more ratings"),
        ([[1, 3]], (1, 2), "3 is not one of"),
        ([[1, 1]], (1,), "two different"),
        ([[1, 1]], (1, 1), "two different"),
    ],
)
def test_bad_ratings_are_refused(rows: Any, categories: Any, message: str) -> None:
    """Never guessed at."""
    with pytest.raises(ValueError, match=message):
        Ratings.of(rows, categories)


def test_the_bootstrap_is_seeded_and_near_the_error() -> None:
    """Equal seeds, equal intervals; with 30 subjects it is about as wide as the analytic one."""
    found, again, other = (gwet(binarised(3), resamples=4000, seed=seed) for seed in (1, 1, 2))
    assert found.bootstrap == again.bootstrap != other.bootstrap
    assert found.bootstrap is not None and found.interval is not None
    wide = found.interval.high - found.interval.low
    assert found.bootstrap.high - found.bootstrap.low == pytest.approx(wide, rel=0.15)
    assert isinstance(found.bootstrap, Interval)


TABLE = st.integers(2, 4).flatmap(
    lambda raters: st.lists(st.lists(st.one_of(st.none(), st.integers(1, 4)), min_size=raters, max_size=raters), min_size=1, max_size=8)
)
COEFFICIENTS = (gwet, brennan_prediger, fleiss)


@settings(max_examples=1000, deadline=None)
@given(rows=TABLE, weighting=st.sampled_from(WEIGHTINGS), data=st.data())
def test_invariants(rows: list[list[int | None]], weighting: Weighting, data: st.DataObject) -> None:
    """Subjects and raters have no order; a subject nobody rated changes nothing; no value is above 1, and 1 means all agree."""
    ratings = Ratings.of(rows, (1, 2, 3, 4))
    order = data.draw(st.permutations(range(len(rows))))
    turned = data.draw(st.permutations(range(len(rows[0]))))
    other = Ratings.of([[rows[i][k] for k in turned] for i in order] + [[None] * len(rows[0])], (1, 2, 3, 4))
    for coefficient in COEFFICIENTS:
        found, again = coefficient(ratings, weighting), coefficient(other, weighting)
        assert found.value == pytest.approx(again.value)
        assert found.se == pytest.approx(again.se)
        if found.value is None:
            continue
        assert found.value <= 1 + 1e-12
        unanimous = all(len({value for value in row if value is not None}) <= 1 for row in rows)
        assert (found.value == pytest.approx(1)) == unanimous
    plain, chance = gwet(ratings), brennan_prediger(ratings)
    if plain.value is not None:
        assert plain.pe is not None and chance.pe is not None and chance.value is not None
        assert plain.pe <= chance.pe + 1e-12  # AC1 is never below Brennan-Prediger
        assert plain.value >= chance.value - 1e-12


@settings(max_examples=1000, deadline=None)
@given(rows=st.lists(st.lists(st.integers(1, 4), min_size=2, max_size=2), min_size=2, max_size=12))
def test_two_raters_and_whole_tables(rows: list[list[int]]) -> None:
    """Krippendorff's nominal alpha is Fleiss' kappa with a small-sample correction: 1 − α = (1 − κ)(1 − 1/N), N ratings."""
    ratings = Ratings.of(rows, (1, 2, 3, 4))
    alpha, kappa = krippendorff(ratings), fleiss(ratings)
    assert (alpha.value is None) == (kappa.value is None)
    if alpha.value is not None and kappa.value is not None:
        n = 2 * len(rows)
        assert 1 - alpha.value == pytest.approx((1 - kappa.value) * (n - 1) / n)
        assert value_of(krippendorff(ratings, "interval")) <= 1 + 1e-12
    both = cohen(ratings)
    if both.value is not None:
        mirrored = cohen(Ratings.of([row[::-1] for row in rows], (1, 2, 3, 4)))
        assert both.value == pytest.approx(mirrored.value)
