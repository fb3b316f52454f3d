"""Diversity of expressions and diagnoses (metrics.md 8)."""

from __future__ import annotations

import warnings
from math import log2
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from metrics.diversity import bleu, diagnosis_diversity, diversity_by_size, entropy_bits, expression_diversity, self_bleu, tokens

SENTENCES = (
    "i have a bad headache and i feel sick",
    "i have a bad headache and i feel very sick",
    "my head hurts a lot when i chew",
)
TEXT = st.lists(st.sampled_from("abcd"), min_size=1, max_size=9)


def test_golden_self_bleu() -> None:
    """8: three sentences."""
    texts = [tokens(sentence) for sentence in SENTENCES]
    assert 1 - self_bleu(texts) == pytest.approx(0.4331, abs=5e-5)
    assert 1 - self_bleu(texts, smooth=False) == pytest.approx(0.4428, abs=5e-5)


def test_golden_expression_diversity() -> None:
    """8: knowledge 10, 20, 30; clarity 60, 0, 0; style 20, 20, 20."""
    axes: list[dict[Any, int]] = [{1: 10, 2: 20, 3: 30}, {1: 60, 2: 0, 3: 0}, {1: 20, 2: 20, 3: 20}]
    assert expression_diversity(axes) == pytest.approx(1.0147, abs=5e-5)
    assert expression_diversity([axes[2]] * 3) == pytest.approx(1.584963, abs=5e-7)
    assert expression_diversity([axes[1]]) == 0
    with pytest.raises(ValueError, match="no axis"):
        expression_diversity([])


def test_diagnoses_are_counted_once() -> None:
    """D_diag."""
    assert diagnosis_diversity(["J18", "J18", "I21"]) == 2
    assert diagnosis_diversity([]) == 0


@settings(max_examples=1000, deadline=None)
@given(counts=st.lists(st.integers(0, 50), max_size=6))
def test_entropy_is_bounded(counts: list[int]) -> None:
    """0 for one level, log2 of the number of levels at most; order does not matter."""
    found = entropy_bits(counts)
    used = sum(count > 0 for count in counts)
    assert 0 <= found <= (log2(used) if used else 0) + 1e-9
    assert found == pytest.approx(entropy_bits(sorted(counts)))


@settings(max_examples=1000, deadline=None)
@given(texts=st.lists(TEXT, min_size=2, max_size=5), smooth=st.booleans())
def test_bleu_as_nltk_has_it(texts: list[list[str]], smooth: bool) -> None:
    """Sentence BLEU-4, unsmoothed or with NLTK's method 1, of any short texts."""
    score = pytest.importorskip("nltk.translate.bleu_score")
    function = score.SmoothingFunction().method1 if smooth else score.SmoothingFunction().method0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # NLTK warns of every order without a match
        theirs = [score.sentence_bleu(texts[:i] + texts[i + 1 :], text, smoothing_function=function) for i, text in enumerate(texts)]
    assert self_bleu(texts, smooth) == pytest.approx(sum(theirs) / len(theirs), abs=1e-9)


@settings(max_examples=1000, deadline=None)
@given(texts=st.lists(TEXT, min_size=2, max_size=6), data=st.data())
def test_self_bleu_behaves(texts: list[list[str]], data: st.DataObject) -> None:
    """In 0..1; order does not matter; equal texts are not diverse; another reference never lowers the matches of equal length."""
    found = self_bleu(texts)
    assert 0 <= found <= 1 + 1e-12
    assert found == pytest.approx(self_bleu(data.draw(st.permutations(texts))))
    long = texts[0] + ["w", "x", "y", "z"]
    assert self_bleu([long, long, long]) == pytest.approx(1)
    others = [["q"] * len(texts[0]), texts[0][::-1]]
    assert bleu(texts[0], others) >= bleu(texts[0], others[:1]) - 1e-12


def test_diversity_falls_with_the_group() -> None:
    """8: only groups of equal size compare. Few groups are all taken, many are drawn by the seed."""
    texts = [tokens(sentence) for sentence in SENTENCES] + [tokens(f"my {word} hurts a lot") for word in ("arm", "leg", "back", "foot")]
    found = diversity_by_size(texts, [2, 3, 5, 7], seed=1, groups=30)
    assert [each.k for each in found] == [2, 3, 5, 7]
    assert [each.exact for each in found] == [True, False, True, True]
    assert [each.n_groups for each in found] == [21, 30, 21, 1]
    assert found[0].value > found[1].value > found[2].value > found[3].value
    assert found[3].value == pytest.approx(1 - self_bleu(texts))
    assert found == diversity_by_size(texts, [2, 3, 5, 7], seed=1, groups=30)
    assert found[1] == diversity_by_size(texts, [3], seed=1, groups=30)[0]


def test_too_few_texts_are_refused() -> None:
    """One text has no others."""
    with pytest.raises(ValueError, match="two texts"):
        self_bleu([["a"]])
    with pytest.raises(ValueError, match="groups of 4 of 2"):
        diversity_by_size([["a"], ["b"]], [4], seed=1)
    with pytest.raises(ValueError, match="reference"):
        bleu(["a"], [])
