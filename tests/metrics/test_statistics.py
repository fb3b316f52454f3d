"""Intervals and means (metrics.md 11)."""

from __future__ import annotations

import ast
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

import metrics.statistics
from metrics.statistics import bootstrap_mean, clustered_se, macro_mean, mean_of, wilson


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
    monkeypatch.setattr(metrics.statistics, "_CHUNK", 100)
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


def test_it_imports_nothing_of_ours() -> None:
    """Architecture: every package may use it."""
    tree = ast.parse(Path(metrics.statistics.__file__).read_text(encoding="utf-8"))
    found = {node.module.split(".")[0] for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module}
    found |= {name.name.split(".")[0] for node in ast.walk(tree) if isinstance(node, ast.Import) for name in node.names}
    assert not found & {"data", "prompts", "ontology", "simulator", "metrics", "ui"}
