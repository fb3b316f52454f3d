"""Intervals and means (metrics.md 11)."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom, binomtest, permutation_test
from scipy.stats import bootstrap as scipy_bootstrap

import metrics.statistics.bootstrap
import metrics.statistics.significance
from metrics.statistics import (
    Interval,
    benjamini_hochberg,
    between_run_sd,
    bootstrap_mean,
    clopper_pearson,
    clustered_se,
    holm,
    macro_mean,
    mcnemar,
    mcnemar_of,
    mean_of,
    paired_bootstrap,
    relative_change,
    seed_subsample_ttest,
    sign_flip,
    unpaired_bootstrap,
    weighted_mean,
    wilson,
)

DATA = Path(__file__).parents[1] / "data"


@pytest.fixture(scope="module")
def dyreme() -> dict[str, Any]:
    """The paper's tables."""
    found: dict[str, Any] = json.loads((DATA / "dyreme_tables.json").read_text(encoding="utf-8"))
    return found


@pytest.mark.parametrize(("successes", "n", "low"), [(20, 20, 0.839), (5, 5, 0.566), (1, 1, 0.207)])
def test_golden_wilson(successes: int, n: int, low: float) -> None:
    """2.1: the lower bounds that make n/n no proof of "always"."""
    assert wilson(successes, n).low == pytest.approx(low, abs=5e-4)


@given(n=st.integers(1, 500), data=st.data())
def test_wilson_holds_the_share(n: int, data: st.DataObject) -> None:
    """The interval lies in 0..1, holds the share, and mirrors for the failures."""
    successes = data.draw(st.integers(0, n))
    found, mirrored = wilson(successes, n), wilson(n - successes, n)
    assert 0 <= found.low <= successes / n <= found.high <= 1
    assert found.low == pytest.approx(1 - mirrored.high)


@pytest.mark.parametrize(("successes", "n"), [(0, 0), (3, 2), (-1, 2)])
def test_wilson_refuses_nonsense(successes: int, n: int) -> None:
    """No trials, no interval."""
    with pytest.raises(ValueError, match="of"):
        wilson(successes, n)


def test_null_is_never_zero() -> None:
    """11.2: nulls are counted apart."""
    found = mean_of([1.0, None, 0.5, None])
    assert (found.value, found.n, found.n_null) == (0.75, 2, 2)
    assert mean_of([None, None]).value is None
    assert mean_of([]).value is None


def test_bootstrap_is_seeded() -> None:
    """Equal seeds give equal intervals, other seeds others."""
    rng = Random(2)
    values = [rng.random() for _ in range(40)]
    assert bootstrap_mean(values, seed=3) == bootstrap_mean(values, seed=3)
    assert bootstrap_mean(values, seed=3) != bootstrap_mean(values, seed=4)


def test_bootstrap_agrees_with_the_analytic_error() -> None:
    """11.2: half the width is about 1.96 standard errors, with clusters and without."""
    rng = Random(5)
    values, clusters = [], []
    for cluster in range(80):
        level = rng.gauss(0, 1)
        for _ in range(3):
            values.append(level + rng.gauss(0, 0.3))
            clusters.append(cluster)
    mean = sum(values) / len(values)
    for labels in (None, clusters):
        found, error = bootstrap_mean(values, 7, labels), clustered_se(values, labels)
        assert found is not None and error is not None
        assert found.low < mean < found.high
        assert (found.high - found.low) / 2 == pytest.approx(1.96 * error, rel=0.06)
    apart, together = clustered_se(values), clustered_se(values, clusters)
    assert apart is not None and together is not None
    assert together > 1.5 * apart


def test_bootstrap_chunks_do_not_change_the_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    """However little memory is used at once, the result is the same."""
    rng = Random(8)
    values = [rng.gauss(0, 1) for _ in range(33)]
    whole = bootstrap_mean(values, 9, resamples=500)
    monkeypatch.setattr(metrics.statistics.bootstrap, "_CHUNK", 100)
    assert bootstrap_mean(values, 9, resamples=500) == whole


def test_one_cluster_says_nothing() -> None:
    """An interval from one case would be a point, and a lie."""
    assert bootstrap_mean([0.4], 1) is None
    assert bootstrap_mean([0.4, 0.6], 1, clusters=["a", "a"]) is None
    assert bootstrap_mean([], 1) is None
    assert clustered_se([0.4]) is None


def test_macro_mean_weighs_groups_equally() -> None:
    """4.5: over diseases, then over cases."""
    assert macro_mean([1.0, 1.0, 1.0, 0.0], ["a", "a", "a", "b"]) == 0.5
    assert macro_mean([], []) is None


# -- several means ---------------------------------------------------------------------------------------------------


def test_golden_table_1_of_the_seed(dyreme: dict[str, Any]) -> None:
    """15, F11: the static averages are weighted means, and the changes are relative to them. Qwen3's printed average is not weighted."""
    for row in dyreme["table1"]:
        average = weighted_mean(row["static"], dyreme["weights"])
        assert average is not None
        printed = row["printed_average"] if row["model"] != "Qwen3-32B" else 69.659
        assert average == pytest.approx(printed, abs=0.0065)
        changes = [100 * relative_change(value, average) for value in row["dynamic"]]
        assert changes == pytest.approx(row["printed_deltas"], abs=0.02)
    qwen = next(row for row in dyreme["table1"] if row["model"] == "Qwen3-32B")
    assert weighted_mean(qwen["static"], [1, 1, 1]) == pytest.approx(qwen["printed_average"], abs=0.005)


def test_golden_table_2_averages_standard_deviations(dyreme: dict[str, Any]) -> None:
    """15: its last column is the mean of four standard deviations, not the standard deviation of the mean."""
    assert len(dyreme["table2"]) == 12
    for row in dyreme["table2"]:
        assert mean_of(row["sd"][:4]).value == pytest.approx(row["sd"][4], abs=6e-5)


def test_weights_decide() -> None:
    """No weight, no mean; weights of 0 leave out."""
    assert weighted_mean([], []) is None
    assert weighted_mean([1, 2], [0, 0]) is None
    assert weighted_mean([1, 2], [0, 3]) == 2
    with pytest.raises(ValueError, match="negative"):
        weighted_mean([1, 2], [-1, 3])
    with pytest.raises(ValueError, match="argument"):
        weighted_mean([1, 2], [1])


def test_runs_of_one_case_have_a_spread_of_their_own() -> None:
    """11.2: between-run sd, pooled within cases; a case run once says nothing of it."""
    assert between_run_sd([1, 3, 10, 10, 5], ["a", "a", "b", "b", "c"]) == pytest.approx(1.0)
    assert between_run_sd([1, 2], ["a", "b"]) is None


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_no_number_no_mean(value: float) -> None:
    """A NaN would otherwise run through everything."""
    with pytest.raises(ValueError, match="finite"):
        clustered_se([1.0, value])
    with pytest.raises(ValueError, match="finite"):
        bootstrap_mean([1.0, value], 1)


# -- proportions ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [100, 300, 3000])
def test_golden_rule_of_three(n: int) -> None:
    """11.2: no event in n leaves a 95 % upper bound of about 3/n; both sides at 95 % leave about 3.7/n."""
    assert clopper_pearson(0, n, sides="upper").high == pytest.approx(3 / n, rel=0.03)
    assert clopper_pearson(0, n, sides="upper").high == pytest.approx(1 - 0.05 ** (1 / n))
    assert clopper_pearson(0, n).high == pytest.approx(1 - 0.025 ** (1 / n))
    assert clopper_pearson(0, n).low == 0


@settings(max_examples=1000, deadline=None)
@given(n=st.integers(1, 400), data=st.data())
def test_clopper_pearson_is_exact(n: int, data: st.DataObject) -> None:
    """Its ends are where the binomial tail is 2.5 %; it holds the share, and is never inside Wilson's by much."""
    successes = data.draw(st.integers(0, n))
    found, mirrored = clopper_pearson(successes, n), clopper_pearson(n - successes, n)
    assert 0 <= found.low <= successes / n <= found.high <= 1
    assert found.low == pytest.approx(1 - mirrored.high, abs=1e-9)
    if successes > 0:
        assert binom.sf(successes - 1, n, found.low) == pytest.approx(0.025, rel=1e-6)
    if successes < n:
        assert binom.cdf(successes, n, found.high) == pytest.approx(0.025, rel=1e-6)


# -- bootstrap --------------------------------------------------------------------------------------------------------


def test_bca_agrees_with_scipy() -> None:
    """Without clusters scipy has the same interval; skewed values tell it from the percentiles."""
    rng = np.random.default_rng(4)
    values = rng.lognormal(0, 1, size=60)
    ours = bootstrap_mean(values.tolist(), 1, method="bca")
    theirs = scipy_bootstrap((values,), np.mean, n_resamples=10_000, method="BCa", rng=np.random.default_rng(2)).confidence_interval
    plain = bootstrap_mean(values.tolist(), 1)
    assert ours is not None and plain is not None
    assert (ours.low, ours.high) == pytest.approx((theirs.low, theirs.high), rel=0.02)
    assert ours.high - plain.high > 3 * abs(ours.high - theirs.high)


def test_bca_leaves_constants_alone() -> None:
    """No spread, no correction, no NaN."""
    assert bootstrap_mean([0.5] * 8, 1, method="bca") == Interval(0.5, 0.5)


GROUPS = st.lists(st.tuples(st.floats(-5, 5), st.floats(-5, 5), st.integers(0, 6)), min_size=2, max_size=30)  # first, second, cluster


@settings(max_examples=1000, deadline=None)
@given(rows=GROUPS, shift=st.floats(-3, 3))
def test_paired_differences_behave(rows: list[tuple[float, float, int]], shift: float) -> None:
    """Swapping the systems mirrors the difference; a constant added to both changes nothing; the interval holds most resamples."""
    first, second, clusters = (list(part) for part in zip(*rows, strict=True))
    found = paired_bootstrap(first, second, 3, clusters, resamples=50)
    mirrored = paired_bootstrap(second, first, 3, clusters, resamples=50)
    moved = paired_bootstrap([x + shift for x in first], [x + shift for x in second], 3, clusters, resamples=50)
    assert found.value == pytest.approx(sum(first) / len(first) - sum(second) / len(second), abs=1e-9)
    assert (found.n, found.n_null, found.n_clusters) == (len(rows), 0, len(set(clusters)))
    if found.n_clusters < 2:
        assert (found.low, found.p) == (None, None)
        return
    assert found.low is not None and found.high is not None and mirrored.low is not None and mirrored.high is not None
    assert found.low <= found.high
    assert (found.low, found.high) == pytest.approx((-mirrored.high, -mirrored.low), abs=1e-9)
    assert found.p == mirrored.p
    assert (moved.value, moved.low, moved.high) == pytest.approx((found.value, found.low, found.high), abs=1e-9)


def test_a_null_is_no_pair() -> None:
    """11.2: a pair with a null is left out and counted, never 0."""
    found = paired_bootstrap([1.0, None, 0.5, 0.2, None], [0.0, 1.0, None, 0.1, None], 1)
    assert (found.value, found.n, found.n_null) == (pytest.approx(0.55), 2, 3)
    empty = paired_bootstrap([None], [1.0], 1)
    assert (empty.value, empty.p, empty.n) == (None, None, 0)
    with pytest.raises(ValueError, match="argument"):
        paired_bootstrap([1.0], [1.0, 2.0], 1)


def test_unpaired_samples_have_clusters_of_their_own() -> None:
    """11.2: other base cases, other draws; the interval is about ±1.96 analytic errors, and clusters widen it."""
    rng = np.random.default_rng(6)
    one, two = rng.normal(1, 1, 120), rng.normal(0.5, 2, 90)
    found = unpaired_bootstrap(one.tolist(), [*two.tolist(), None], 5)
    assert found.value == pytest.approx(one.mean() - two.mean())
    assert (found.n, found.n_null, found.n_clusters) == (210, 1, 210)
    assert found.low is not None and found.high is not None and found.se is not None
    assert (found.high - found.low) / 2 == pytest.approx(1.96 * found.se, rel=0.05)
    blocks = [i // 10 for i in range(120)]
    level = [float(v) + 2 * (block % 3) for v, block in zip(one, blocks, strict=True)]
    apart, together = unpaired_bootstrap(level, two.tolist(), 5), unpaired_bootstrap(level, two.tolist(), 5, first_clusters=blocks)
    assert apart.se is not None and together.se is not None
    assert together.se > 1.5 * apart.se
    assert unpaired_bootstrap([1.0], [2.0, 3.0], 5).low is None


# -- tests ------------------------------------------------------------------------------------------------------------


def test_golden_mcnemar() -> None:
    """11.2: b = 18, c = 7."""
    found = mcnemar(18, 7)
    assert found.p == pytest.approx(0.0433, abs=5e-5)
    assert found.mid_p == pytest.approx(0.0290, abs=5e-5)


@settings(max_examples=1000, deadline=None)
@given(b=st.integers(0, 200), c=st.integers(0, 200))
def test_mcnemar_is_the_binomial_test(b: int, c: int) -> None:
    """Exact p as scipy's binomial test gives it; symmetric; the mid-p is never larger."""
    found = mcnemar(b, c)
    assert found.p == pytest.approx(mcnemar(c, b).p)
    assert 0 < found.mid_p <= found.p <= 1
    if b + c:
        assert found.p == pytest.approx(binomtest(b, b + c).pvalue)


def test_mcnemar_counts_pairs_and_nulls() -> None:
    """Concordant pairs carry no weight, nulls are no pairs."""
    found = mcnemar_of([True, True, False, False, None], [False, True, True, False, True])
    assert (found.b, found.c, found.n, found.n_null, found.p) == (1, 1, 4, 1, 1.0)
    with pytest.raises(ValueError, match="discordant"):
        mcnemar(-1, 2)


def test_sign_flip_by_hand() -> None:
    """Three differences of one sign: 2 of 8 patterns are as extreme, 1 of 8 on one side."""
    found = sign_flip([1.0, 2.0, 3.0], 1)
    assert found is not None
    assert (found.mean, found.p, found.exact) == (2.0, 0.25, True)
    one_sided = sign_flip([1.0, 2.0, 3.0], 1, alternative="greater")
    other = sign_flip([1.0, 2.0, 3.0], 1, alternative="less")
    assert one_sided is not None and other is not None
    assert (one_sided.p, other.p) == (0.125, 1.0)
    clustered = sign_flip([1.0, 2.0, 3.0], 1, clusters=["a", "a", "b"])
    assert clustered is not None
    assert (clustered.p, clustered.n_clusters) == (0.5, 2)
    assert sign_flip([], 1) is None


def test_random_sign_flips_come_near_the_exact_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    """16 differences: all 65,536 patterns against 10,000 random ones, however they are cut up."""
    rng = Random(3)
    gaps = [rng.gauss(0.3, 1) for _ in range(16)]
    exact, drawn = sign_flip(gaps, 1, resamples=70_000), sign_flip(gaps, 1)
    assert exact is not None and drawn is not None
    assert exact.exact and not drawn.exact
    assert drawn.p == pytest.approx(exact.p, abs=0.015)
    theirs = permutation_test((np.array(gaps),), np.mean, permutation_type="samples", n_resamples=2**16)
    assert exact.p == pytest.approx(theirs.pvalue)
    monkeypatch.setattr(metrics.statistics.significance, "_CHUNK", 1000)
    assert sign_flip(gaps, 1, resamples=70_000) == exact


def test_golden_corrections() -> None:
    """Holm 1979 and Benjamini-Hochberg 1995 by hand: the p values 0.01, 0.04, 0.03, 0.005, in any order."""
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert benjamini_hochberg([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.02, 0.04, 0.04, 0.02])
    assert holm([]) == [] and benjamini_hochberg([]) == []
    for correct in (holm, benjamini_hochberg):
        with pytest.raises(ValueError, match="between 0 and 1"):
            correct([0.5, 1.2])


@settings(max_examples=1000, deadline=None)
@given(p=st.lists(st.floats(0, 1), min_size=1, max_size=20), data=st.data())
def test_corrections_are_orderly(p: list[float], data: st.DataObject) -> None:
    """p ≤ Benjamini-Hochberg ≤ Holm ≤ Bonferroni; the order of p is kept; the order of the list does not matter."""
    by_holm, by_bh = holm(p), benjamini_hochberg(p)
    for raw, fdr, fwer in zip(p, by_bh, by_holm, strict=True):
        assert raw <= fdr + 1e-12 and fdr <= fwer + 1e-12 and fwer <= min(1, raw * len(p)) + 1e-12
    order = sorted(range(len(p)), key=lambda i: p[i])
    for found in (by_holm, by_bh):
        assert all(found[i] <= found[j] + 1e-12 for i, j in pairwise(order))
    shuffled = data.draw(st.permutations(range(len(p))))
    assert holm([p[i] for i in shuffled]) == pytest.approx([by_holm[i] for i in shuffled])


# -- the seed's test --------------------------------------------------------------------------------------------------


def _null_results(seed: int, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Two systems of equal skill on the same cases, some of which are hard."""
    rng = np.random.default_rng(seed)
    difficulty = rng.uniform(size=n)
    return (rng.uniform(size=n) < difficulty).astype(float), (rng.uniform(size=n) < difficulty).astype(float)


@pytest.mark.parametrize(("subsamples", "paired", "rate"), [("independent", False, 0.380), ("same", False, 0.378), ("same", True, 0.390)])
def test_golden_the_seed_test_rejects_what_is_true(subsamples: Any, paired: bool, rate: float) -> None:
    """11.1, F9: under a true null hypothesis, n = 1552, it rejects at .05 in 38–39 % of runs (p < .001 in 26.8 %)."""
    found = [seed_subsample_ttest(*_null_results(run, 1552), seed=run, subsamples=subsamples, paired=paired).p for run in range(400)]  # type: ignore[misc]
    assert np.mean(np.array(found) < 0.05) == pytest.approx(rate, abs=0.07)
    assert np.mean(np.array(found) < 0.001) == pytest.approx(0.268, abs=0.08)


def test_golden_valid_tests_do_not() -> None:
    """11.1: paired bootstrap 5.2 %, exact McNemar 5.0 % of true null hypotheses."""
    bootstrap, exact, flips = [], [], []
    for run in range(300):
        first, second = _null_results(run, 150)
        bootstrap.append(paired_bootstrap(first.tolist(), second.tolist(), run, resamples=400).p)
        exact.append(mcnemar_of((first > 0).tolist(), (second > 0).tolist()).p)
        found = sign_flip((first - second).tolist(), run, resamples=400)
        flips.append(found.p if found else 1.0)
    for p, most in ((bootstrap, 0.09), (exact, 0.07), (flips, 0.08)):
        assert 0.01 <= np.mean(np.array(p, dtype=float) < 0.05) <= most


def test_golden_spread_of_subsample_means() -> None:
    """11.1: without replacement they vary by half the standard error: .442 points for n = 3200 and p = .5, where Table 2 prints .31–.54."""
    values = [1.0, 0.0] * 1600
    found = seed_subsample_ttest(values, values, seed=1, draws=2000)
    assert 100 * found.first_sd == pytest.approx(0.442, abs=0.03)
    assert found.label == "replication only"
    with_replacement = seed_subsample_ttest(values, values, seed=1, draws=2000, mode="with")
    assert 100 * with_replacement.first_sd == pytest.approx(0.988, abs=0.06)


def test_the_seed_test_needs_something_to_draw() -> None:
    """Sizes that do not fit are refused; constants give no NaN."""
    with pytest.raises(ValueError, match="cannot share"):
        seed_subsample_ttest([1.0] * 5, [1.0] * 6, 1, subsamples="same")
    with pytest.raises(ValueError, match="at least"):
        seed_subsample_ttest([], [], 1)
    with pytest.raises(ValueError, match="same subsamples"):
        seed_subsample_ttest([1.0] * 5, [1.0] * 5, 1, paired=True)
    assert seed_subsample_ttest([1.0] * 5, [1.0] * 5, 1).p == 0.5
    assert seed_subsample_ttest([1.0] * 5, [0.0] * 5, 1).p == 0.0
