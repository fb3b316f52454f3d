"""Two examiners on the same cases (metrics.md 11.2)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from metrics.compare import CompareOptions, Comparison, Contrast, case_strata, compare, compare_all
from metrics.scores import Score, Scorecard
from metrics.statistics import benjamini_hochberg, holm, mcnemar, paired_bootstrap
from ontology.errors import BedsideError
from ui.wiring import starter_cases

FAST = CompareOptions(resamples=300)
Value = bool | float | str | None


def card(examiner: str, case: str, seed: int = 1, base: str | None = None, kb: str = "kb-1", **values: Value) -> Scorecard:
    """A card with these scores."""
    scores = {
        name: Score(value=value, null_reason="nothing to score" if value is None else None, params_hash="p-1", kb_version=kb)
        for name, value in values.items()
    }
    return Scorecard(
        trace_id=f"{examiner}-{case}-{seed}",
        trace_sha256="0" * 64,
        case_id=case,
        base_case_id=base or case,
        examiner_id=examiner,
        disease_id="flu",
        seed=seed,
        termination="examiner_committed",
        kb_version=kb,
        params_hash="all-1",
        scores=scores,
    )


def side(examiner: str, name: str, values: Sequence[Value]) -> list[Scorecard]:
    """One card a case."""
    return [card(examiner, f"case-{number}", **{name: value}) for number, value in enumerate(values)]


def only(found: Comparison, metric: str, level: str = "all") -> Contrast:
    """The one contrast of that metric and level."""
    (there,) = [each for each in found.contrasts if each.metric == metric and each.level == level]
    return there


def test_golden_right_or_wrong() -> None:
    """11.2: b = 18, c = 7 of 100 cases: exact .0433, mid-p .0290."""
    first = [True] * 18 + [False] * 7 + [True] * 50 + [False] * 25
    second = [False] * 18 + [True] * 7 + [True] * 50 + [False] * 25
    found = only(compare(side("a", "acc", first), side("b", "acc", second), FAST), "acc")
    assert (found.test, found.first_only, found.second_only, found.n) == ("mcnemar", 18, 7, 100)
    assert found.p == pytest.approx(0.0433, abs=5e-5)
    assert found.mid_p == pytest.approx(0.0290, abs=5e-5)
    assert (found.first_mean, found.second_mean, found.difference) == (0.68, 0.57, pytest.approx(0.11))
    assert found.superiority == pytest.approx(0.5 + 0.055)


def test_scores_are_paired_and_nulls_counted() -> None:
    """A null on one side leaves the case out of that metric, and is counted."""
    rng = Random(1)
    first = [rng.random() for _ in range(30)]
    second: list[Value] = [value - 0.1 * rng.random() for value in first]
    second[3] = None
    found = only(compare(side("a", "ses", first), side("b", "ses", second), FAST), "ses")
    plain = paired_bootstrap(first, [None if value is None else float(value) for value in second], 0, resamples=300)
    assert (found.test, found.n, found.n_null, found.n_clusters) == ("sign_flip", 29, 1, 29)
    assert (found.difference, found.low, found.high, found.se) == pytest.approx((plain.value, plain.low, plain.high, plain.se))
    assert found.p is not None and found.p < 0.01
    assert found.superiority == 1.0
    assert found.d_z is not None and found.d_z > 1


def test_runs_are_averaged_and_variants_are_one_cluster() -> None:
    """11.2: several runs of a case are one value; variants of a base case are one cluster. Neither is McNemar's."""
    first = [card("a", "x", seed, acc=seed < 3) for seed in range(1, 5)] + [card("a", "y", acc=True)]
    second = [card("b", "x", acc=True), card("b", "y", acc=False)]
    found = only(compare(first, second, FAST), "acc")
    assert (found.first_mean, found.second_mean, found.n, found.test) == (0.75, 0.5, 2, "sign_flip")
    variants = [[card(who, f"{base}{n}", base=base, acc=who == "a") for base in "xyz" for n in range(4)] for who in "ab"]
    clustered = only(compare(*variants, FAST), "acc")
    assert (clustered.n, clustered.n_clusters, clustered.test, clustered.p) == (12, 3, "sign_flip", 0.25)


def test_plain_against_trapped() -> None:
    """11.2: the cases of one base case, on either side of the same examiner."""
    plain = [card("a", f"c{n}", acc=True) for n in range(8)]
    trapped = [card("a", f"c{n}-trap", base=f"c{n}", acc=n > 5) for n in range(8)]
    options = replace(FAST, pair_by="base_case")
    found = compare(plain, trapped, options, names=("plain", "trapped"))
    contrast = only(found, "acc")
    assert (found.first, found.second, found.n_both) == ("plain", "trapped", 8)
    assert (contrast.difference, contrast.first_only, contrast.p) == (0.75, 6, mcnemar(6, 0).p)
    with pytest.raises(BedsideError, match="no case in common"):
        compare(plain, trapped, FAST)


def test_strata_are_corrected_apart() -> None:
    """Benjamini-Hochberg over metrics for all cases, over metrics × levels for strata; cases without a level are left out there only."""
    rng = Random(4)
    values = {name: [rng.random() < share for _ in range(40)] for name, share in (("a1", 0.9), ("b1", 0.4), ("a2", 0.6), ("b2", 0.5))}
    one = [card("a", f"c{n}", m1=values["a1"][n], m2=values["a2"][n]) for n in range(40)]
    two = [card("b", f"c{n}", m1=values["b1"][n], m2=values["b2"][n]) for n in range(40)]
    strata = {"sex": {f"c{n}": "male" if n % 2 else "female" for n in range(30)}}
    found = compare(one, two, replace(FAST, strata=strata))
    whole = [each for each in found.contrasts if each.stratum == "all"]
    parts = [each for each in found.contrasts if each.stratum == "sex"]
    assert [(each.metric, each.level, each.n) for each in parts] == [
        ("m1", "female", 15),
        ("m1", "male", 15),
        ("m2", "female", 15),
        ("m2", "male", 15),
    ]
    for family in (whole, parts):
        assert [each.p_bh for each in family] == pytest.approx(benjamini_hochberg([each.p or 0.0 for each in family]))
    assert [each.p_holm for each in whole] == [each.p for each in whole]
    assert [each.p_holm for each in parts] == [None] * 4


def test_many_examiners_are_corrected_within_a_metric() -> None:
    """Holm over the three pairs."""
    rng = Random(6)
    cards = [
        card(who, f"c{n}", acc=rng.random() < share, ses=rng.random())
        for who, share in zip("abc", (0.9, 0.5, 0.4), strict=True)
        for n in range(50)
    ]
    found = compare_all(cards, FAST)
    assert [(each.first, each.second, each.n_pairs_corrected) for each in found] == [("a", "b", 3), ("a", "c", 3), ("b", "c", 3)]
    for metric in ("acc", "ses"):
        rows = [only(each, metric) for each in found]
        assert [row.p_holm for row in rows] == pytest.approx(holm([row.p or 0.0 for row in rows]))
    with pytest.raises(BedsideError, match="not two examiners"):
        compare_all(cards[:50])


def test_what_is_left_out_is_counted() -> None:
    """Cases of one side only; scores whose values are words."""
    one = [card("a", f"c{n}", acc=True, relation="same") for n in range(5)]
    two = [card("b", f"c{n}", acc=True, relation="sibling") for n in range(3, 10)]
    found = compare(one, two, FAST)
    assert (found.n_both, found.only_first, found.only_second, found.labels) == (2, 3, 5, ["relation"])
    assert [each.metric for each in found.contrasts] == ["acc"]
    assert (only(found, "acc").p, only(found, "acc").d_z) == (1.0, None)
    assert Comparison.from_json(found.to_json()) == found


def test_a_metric_without_any_value_says_nothing() -> None:
    """Null, never 0."""
    found = only(compare(side("a", "x", [None, None]), side("b", "x", [1.0, 0.5]), FAST), "x")
    assert (found.n, found.n_null, found.difference, found.p, found.p_bh, found.superiority) == (0, 2, None, None, None, None)


@pytest.mark.parametrize(
    ("first", "second", "options", "message"),
    [
        ([], side("b", "x", [1.0]), FAST, "the first side has no scorecard"),
        (side("a", "x", [1.0]), [], FAST, "the second side has no scorecard"),
        (side("a", "x", [1.0]) * 2, side("b", "x", [1.0]), FAST, "two scorecards of one encounter"),
        ([*side("a", "x", [1.0]), card("c", "y", x=1.0)], side("b", "x", [1.0]), FAST, "several examiners: a, c"),
        (side("a", "x", [1.0]), side("b", "x", [1.0]), CompareOptions(metrics=("z",)), "no score is called 'z'; known: x"),
        (side("a", "x", [1.0]), [card("b", "case-0", kb="kb-2", x=1.0)], FAST, "values of x that cannot be compared"),
    ],
)
def test_mistakes(first: list[Scorecard], second: list[Scorecard], options: CompareOptions, message: str) -> None:
    """One line."""
    with pytest.raises(BedsideError, match=message):
        compare(first, second, options)


def test_cases_say_what_they_are_divided_by() -> None:
    """Strata of the bundled cases: a level for each, an age band that holds the age."""
    cases = starter_cases()
    found = case_strata(cases)
    for stratum in ("source", "acuity", "sex", "age", "trap", "variant"):
        assert set(found[stratum]) == {case.case_id for case in cases}
    bands = {"0-17": range(18), "18-39": range(18, 40), "40-64": range(40, 65), "65 and over": range(65, 121)}
    for case in cases:
        assert case.patient_facts.age in bands[found["age"][case.case_id]]
    variant = cases[0].model_copy(update={"provenance": cases[0].provenance.model_copy(update={"derived_from": "case-000000000001"})})
    assert case_strata([variant], "base_case")["variant"] == {"case-000000000001": "yes"}


@settings(max_examples=300, deadline=None)
@given(rows=st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1), st.integers(0, 4)), min_size=1, max_size=12))
def test_swapping_the_sides_mirrors(rows: list[tuple[float, float, int]]) -> None:
    """Differences and effect sizes change sign, p does not."""
    options = CompareOptions(resamples=60)
    one: list[Any] = [card("a", f"c{n}", base=f"b{base}", x=value) for n, (value, _, base) in enumerate(rows)]
    two: list[Any] = [card("b", f"c{n}", base=f"b{base}", x=value) for n, (_, value, base) in enumerate(rows)]
    found, mirrored = only(compare(one, two, options), "x"), only(compare(two, one, options), "x")
    assert found.difference == pytest.approx(-(mirrored.difference or 0.0), abs=1e-12)
    assert found.p == mirrored.p
    assert (found.superiority or 0.0) + (mirrored.superiority or 0.0) == pytest.approx(1)
    if found.low is not None and mirrored.high is not None:
        assert found.low == pytest.approx(-mirrored.high, abs=1e-9)
    assert (found.d_z is None) == (mirrored.d_z is None)
