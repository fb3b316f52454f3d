"""Calibration and differential: golden numbers of metrics.md 7.3 and 7.4, and what a card says of confidence."""

from __future__ import annotations

from math import log
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from metrics.calibration import (
    auroc,
    brier,
    calibrate,
    ece,
    log_score,
    multiclass_brier,
    null_ece,
    reliability_bins,
)
from metrics.differential import kl_divergence, overlap_scores

GCA = ("Giant cell arteritis", "M31.6")
CONFIDENCE = [0.95, 0.9, 0.85, 0.8, 0.8, 0.7, 0.6, 0.6, 0.55, 0.3]
CORRECT = [True, True, True, False, True, True, False, True, False, False]
NULL_ECE = {20: 0.154, 50: 0.096, 100: 0.070, 300: 0.041, 1000: 0.023}


def test_golden_calibration() -> None:
    """7.4: the toy forecasts."""
    assert sum(brier(c, hit) for c, hit in zip(CONFIDENCE, CORRECT, strict=True)) / 10 == pytest.approx(0.17175)
    assert ece(CONFIDENCE, CORRECT) == pytest.approx(0.195)
    assert ece(CONFIDENCE, CORRECT, 5, equal_mass=True) == pytest.approx(0.205)
    assert multiclass_brier([0.6, 0.3, 0.1], 1) == pytest.approx(0.86)


def test_calibration_over_many() -> None:
    """7.4: the error is shown from 100 answers on, with an interval and what chance would show."""
    few = calibrate(CONFIDENCE, CORRECT)
    assert (few.n, few.ece, few.ece_null) == (10, None, None)
    assert few.brier == pytest.approx(0.17175)
    assert few.gap == pytest.approx(0.705 - 0.6)
    assert few.auroc == auroc(CONFIDENCE, CORRECT)
    many = calibrate(CONFIDENCE * 10, CORRECT * 10, seed=1, resamples=200)
    assert many.ece == pytest.approx(0.195)
    assert many.ece_low is not None and many.ece_high is not None and many.ece_low < many.ece_high
    assert many == calibrate(CONFIDENCE * 10, CORRECT * 10, seed=1, resamples=200)
    with pytest.raises(ValueError, match="at least one"):
        calibrate([], [])


@pytest.mark.parametrize(("n", "expected"), NULL_ECE.items())
def test_perfect_forecasts_show_an_error(n: int, expected: float) -> None:
    """7.4: calibration error is biased up in small samples; here with confidences spread evenly over .5 to 1 (tolerance .02)."""
    confidences = list(np.linspace(0.5, 1, n))
    assert null_ece(confidences, seed=1, simulations=300) == pytest.approx(expected, abs=0.03)


def test_auroc() -> None:
    """7.4: by counting pairs."""
    pairs = [
        (a, b) for a, hit in zip(CONFIDENCE, CORRECT, strict=True) if hit for b, other in zip(CONFIDENCE, CORRECT, strict=True) if not other
    ]
    assert auroc(CONFIDENCE, CORRECT) == pytest.approx(sum((a > b) + (a == b) / 2 for a, b in pairs) / len(pairs))
    assert auroc([0.5, 0.6], [True, True]) is None


FORECASTS = st.lists(st.tuples(st.floats(0, 1), st.booleans()), min_size=1, max_size=40)


@given(forecasts=FORECASTS)
@settings(max_examples=1000, deadline=None)
def test_calibration_in_range(forecasts: list[tuple[float, bool]]) -> None:
    """7.4: bins hold everything once; errors lie in 0..1."""
    values, hits = [c for c, _ in forecasts], [hit for _, hit in forecasts]
    bins = reliability_bins(values, hits)
    assert sum(one.n for one in bins) == len(values)
    for one in bins:
        assert one.low - 1e-8 <= one.confidence <= one.high + 1e-8
    assert 0 <= ece(values, hits) <= 1 and 0 <= ece(values, hits, 5, equal_mass=True) <= 1


@given(weights=st.lists(st.floats(0.001, 1), min_size=1, max_size=6), mass=st.floats(0, 1), place=st.none() | st.integers(0, 5))
@settings(max_examples=1000, deadline=None)
def test_multiclass_brier_in_range(weights: list[float], mass: float, place: int | None) -> None:
    """7.4: in 0..2; 0 only for certainty in the truth."""
    probs = [mass * weight / sum(weights) for weight in weights]
    place = None if place is None or place >= len(probs) else place
    assert 0 <= multiclass_brier(probs, place) <= 2 + 1e-9


def test_confidence_of_a_card(world: Any) -> None:
    """7.4: stated confidence, else the first probability, else null and never .5."""
    stated = world.score(world.start().commit((*GCA, 0.6), ("Migraine", "G43", 0.3), ("Influenza", "J11", 0.1))).scores
    assert (stated["confidence"].value, stated["brier"].value) == (0.6, pytest.approx(0.16))
    assert stated["confidence"].components["from"] == "probability"
    assert stated["log_score"].value == pytest.approx(-log(0.6))
    assert stated["confidence_gap"].value == pytest.approx(-0.4)
    assert stated["brier_multiclass"].value == pytest.approx(0.16 + 0.09 + 0.01)
    wrong = world.values(world.start().commit(("Migraine", "G43", 0.6), (*GCA, 0.3), ("Influenza", "J11", 0.1)))
    assert wrong["brier_multiclass"] == pytest.approx(0.86)
    silent = world.score(world.start().commit(GCA)).scores
    assert {silent[name].null_reason for name in ("confidence", "brier", "log_score")} == {"no confidence was stated"}
    assert silent["brier_multiclass"].null_reason == "no probabilities were given"
    assert log_score(0) == pytest.approx(-log(1e-10))


def test_golden_differential() -> None:
    """7.3: G = {a, b, c}, P = {b, a, e}."""
    assert overlap_scores({"a", "b", "c"}, {"b", "a", "e"}) == pytest.approx((2 / 3, 2 / 3, 2 / 3))
    assert kl_divergence({"a": 0.5, "b": 0.5}, {"a": 0.5, "b": 0.5}) == pytest.approx(0)
    assert kl_divergence({"a": 1.0}, {"b": 1.0}) > 20


def test_differential_of_a_card(world: Any) -> None:
    """7.3: against the case's differential, by disease; GTPA needs a probability above the threshold."""
    differential = [
        {"dx": {"name": "Giant cell arteritis", "icd10": ["M31.6"]}, "prob": 0.5},
        {"dx": {"name": "Migraine", "icd10": ["G43"]}, "prob": 0.3},
        {"dx": {"name": "Influenza", "icd10": ["J11"]}, "prob": 0.19},
        {"dx": {"name": "Tension-type headache", "icd10": ["G44.2"]}, "prob": 0.01},
    ]
    case = world.new_case(41, differential=differential)
    trace = world.start(case).commit(("Migraine", "G43.909", 0.5), (*GCA, 0.4), ("Pneumonia", "J18", 0.1))
    scores = world.score(trace, case).scores
    assert [scores[name].value for name in ("ddr", "ddp", "ddf1")] == pytest.approx([2 / 3, 2 / 3, 2 / 3])
    assert (scores["gtpa1"].value, scores["gtpa3"].value) == (False, True)
    assert scores["ddx_kl"].value > 0
    assert scores["dsr"].null_reason == "the differential names no severe disease"
    doubtful = world.values(world.start(case).commit(("Migraine", "G43.909", 0.9), (*GCA, 0.01)), case)
    assert doubtful["gtpa3"] is False and doubtful["top3"] is True
    plain = world.score(world.start().commit(GCA)).scores
    assert plain["ddf1"].null_reason == "the case has no differential"
