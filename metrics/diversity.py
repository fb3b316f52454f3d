"""How varied a set of texts, styles or diagnoses is (metrics.md 8, after DyReMe). Imports nothing of ours."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import comb, exp, log, log2
from random import Random

MAX_ORDER = 4
EPSILON = 0.1
"""What an order without any match counts as, so that one of them does not make the score 0 (Chen and Cherry 2014, method 1)."""

STYLE_AXES = 3
"""Knowledge, clarity, style: each with three levels."""

Ngrams = Counter[tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class GroupDiversity:
    """1 − Self-BLEU of groups of k texts. Groups of another size are not comparable: more references, more matches."""

    k: int
    value: float
    n_groups: int
    exact: bool
    """whether all groups of that size were taken"""


def entropy_bits(counts: Iterable[int]) -> float:
    """Shannon entropy in bits of the shares of some counts; 0 if there is nothing to count.

    Raises:
        ValueError: a negative count.
    """
    found = list(counts)
    if any(count < 0 for count in found):
        raise ValueError("a count is negative")
    total = sum(found)
    return sum(-count / total * log2(count / total) for count in found if count)


def expression_diversity(axes: Sequence[Mapping[Hashable, int]]) -> float:
    """D_exp: the mean over the axes (knowledge, clarity, style) of the entropy of their level distributions, in 0..log2 3.

    Args:
        axes: for each axis, how often each level occurs.

    Raises:
        ValueError: no axis, or a negative count.
    """
    if not axes:
        raise ValueError("no axis")
    return sum(entropy_bits(levels.values()) for levels in axes) / len(axes)


def diagnosis_diversity(diagnoses: Iterable[Hashable]) -> int:
    """D_diag: the number of different diagnoses; normalise them first."""
    return len(set(diagnoses))


def tokens(text: str) -> list[str]:
    """Lower-case words between blanks. Languages without blanks need a tokenizer of their own."""
    return text.lower().split()


def bleu(hypothesis: Sequence[str], references: Sequence[Sequence[str]], smooth: bool = True) -> float:
    """Sentence BLEU-4 with equal weights (Papineni et al. 2002).

    Args:
        hypothesis: tokens.
        references: tokens of each reference, at least one.
        smooth: count EPSILON where an order has no match; else such a text scores 0.

    Raises:
        ValueError: no reference.
    """
    return _bleu(_all_ngrams(hypothesis), [_all_ngrams(reference) for reference in references], smooth)


def self_bleu(texts: Sequence[Sequence[str]], smooth: bool = True) -> float:
    """Mean BLEU-4 of each text with all others as its references (Zhu et al. 2018).

    Raises:
        ValueError: fewer than two texts.
    """
    if len(texts) < 2:
        raise ValueError("Self-BLEU needs at least two texts")
    grams = [_all_ngrams(text) for text in texts]
    return sum(_bleu(grams[i], grams[:i] + grams[i + 1 :], smooth) for i in range(len(grams))) / len(grams)


def diversity_by_size(
    texts: Sequence[Sequence[str]], sizes: Sequence[int], seed: int, groups: int = 100, smooth: bool = True
) -> list[GroupDiversity]:
    """1 − Self-BLEU over the group size k: the mean over random groups of k of the texts, or over all groups if there are no more.

    Args:
        texts: tokens of each text.
        sizes: the group sizes.
        seed: of the draws.
        groups: at most so many groups a size.
        smooth: see `bleu`.

    Raises:
        ValueError: a size below 2 or above the number of texts.
    """
    from itertools import combinations

    grams = [_all_ngrams(text) for text in texts]
    found = []
    for k in sizes:
        if not 2 <= k <= len(texts):
            raise ValueError(f"groups of {k} of {len(texts)} texts")
        rng = Random(f"{seed}/{k}")
        exact = comb(len(texts), k) <= groups
        chosen: Iterable[Sequence[int]] = (
            combinations(range(len(texts)), k) if exact else (rng.sample(range(len(texts)), k) for _ in range(groups))
        )
        scores = []
        for group in chosen:
            there = [grams[i] for i in group]
            scores.append(sum(_bleu(there[i], there[:i] + there[i + 1 :], smooth) for i in range(k)) / k)
        found.append(GroupDiversity(k, 1 - sum(scores) / len(scores), len(scores), exact))
    return found


def _all_ngrams(text: Sequence[str]) -> list[Ngrams]:
    return [Counter(tuple(text[i : i + n]) for i in range(len(text) - n + 1)) for n in range(1, MAX_ORDER + 1)]


def _bleu(hypothesis: list[Ngrams], references: list[list[Ngrams]], smooth: bool) -> float:
    if not references:
        raise ValueError("BLEU needs a reference")
    length = hypothesis[0].total()
    total = 0.0
    for n in range(MAX_ORDER):
        matches = 0
        for gram, count in hypothesis[n].items():
            matches += min(count, max(reference[n][gram] for reference in references))
        if matches == 0 and (n == 0 or not smooth):
            return 0.0
        total += log((matches or EPSILON) / max(1, hypothesis[n].total())) / MAX_ORDER
    closest = min((reference[0].total() for reference in references), key=lambda other: (abs(other - length), other))
    return exp(total) * (1.0 if length > closest else exp(1 - closest / length))
