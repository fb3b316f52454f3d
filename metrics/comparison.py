"""Two examiners on the same cases: paired differences with intervals, tests, effect sizes and corrected p values (metrics.md 11.2).

The base case is the unit: variants and repeats of it are averaged first. A case where either has no value is left out and counted.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Literal

from pydantic import Field

from metrics.frames import score_names
from metrics.scores import Scorecard
from metrics.statistics import CONFIDENCE, RESAMPLES, benjamini_hochberg, holm, mcnemar, paired_bootstrap, sign_flip
from ontology.documents import Document, Strict
from ontology.errors import BedsideError

Test = Literal["mcnemar_exact", "sign_flip"]
Correction = Literal["holm", "benjamini_hochberg"]

HEADLINES = ("acc_truth", "top5", "sdd", "ses", "reliability", "premature_closure", "questions")
"""The family whose p values are corrected by Holm, with whatever harm_index there is; all others are exploratory."""
MORE_HEADLINES = ("harm_index", "harm", "tig", "anchoring_bias")


class Paired(Strict):
    """One metric of two examiners over the cases where both have a value."""

    metric: str
    stratum: str | None = None
    group: str | None = None
    first: float | None = Field(description="mean of the first over the pairs")
    second: float | None = Field(description="mean of the second over the pairs")
    difference: float | None = Field(description="first - second")
    low: float | None = Field(description="of the paired cluster bootstrap, 95 %; None with fewer than two cases")
    high: float | None = None
    n: int = Field(description="base cases with a value of both")
    n_null: int = Field(description="base cases of both where one has none")
    test: Test | None = None
    p: float | None = None
    mid_p: float | None = Field(default=None, description="McNemar's mid-p")
    p_corrected: float | None = None
    correction: Correction | None = None
    effect: float | None = Field(default=None, description="see effect_name; None where it is not defined")
    effect_name: Literal["matched odds ratio", "d_z"] | None = None
    only_first: int | None = Field(default=None, description="yes-or-no metrics: cases where only the first is true")
    only_second: int | None = Field(default=None, description="yes-or-no metrics: cases where only the second is true")


class Comparison(Document):
    """Two examiners compared."""

    schema_version: Literal["1.0"] = "1.0"
    first_name: str
    second_name: str
    n_cases: int = Field(description="base cases that both met")
    n_first_only: int
    n_second_only: int
    confirmatory: list[Paired] = Field(description="p corrected by Holm over this list")
    exploratory: list[Paired] = Field(description="all other metrics; p corrected by Benjamini and Hochberg over this list")
    strata: list[Paired] = Field(description="the confirmatory metrics by group; corrected by Benjamini and Hochberg over this list")
    scorer_version: str
    params_hash: str
    layer: str
    seed: int
    resamples: int
    confidence: float = CONFIDENCE


@dataclass(frozen=True)
class Side:
    """One examiner's cards."""

    name: str
    cards: Sequence[Scorecard]


@dataclass(frozen=True)
class _Settings:
    seed: int
    resamples: int


def compare(
    first: Side,
    second: Side,
    strata: Mapping[str, Mapping[str, str]] | None = None,
    metrics: Sequence[str] | None = None,
    seed: int = 0,
    resamples: int = RESAMPLES,
) -> Comparison:
    """Compare two examiners on the cases that both met.

    Args:
        first: one examiner's cards.
        second: the other's.
        strata: by case id, the group of the case in each stratum.
        metrics: the confirmatory ones; None: the headline scores that the cards hold.
        seed: of bootstrap and permutations.
        resamples: of either.

    Raises:
        BedsideError: no case in common, the same encounters twice, cards that cannot be compared, an unknown metric or one of words.
    """
    _refuse(first, second)
    known = [name for name in score_names([*first.cards, *second.cards]) if not _is_label(name, [*first.cards, *second.cards])]
    chosen = _chosen(metrics, known)
    settings = _Settings(seed, resamples)
    mine, yours = _by_case(first.cards), _by_case(second.cards)
    shared = [case for case in mine if case in yours]
    if not shared:
        raise BedsideError(f"{first.name} and {second.name} met no case in common", mend="compare runs on the same cases")
    every = [_paired(name, shared, mine, yours, settings) for name in known]
    confirmatory = _corrected([item for item in every if item.metric in chosen], "holm")
    exploratory = _corrected([item for item in every if item.metric not in chosen], "benjamini_hochberg")
    return Comparison(
        first_name=first.name,
        second_name=second.name,
        n_cases=len(shared),
        n_first_only=len(mine) - len(shared),
        n_second_only=len(yours) - len(shared),
        confirmatory=sorted(confirmatory, key=lambda item: chosen.index(item.metric)),
        exploratory=exploratory,
        strata=_in_strata(first, second, strata or {}, chosen, settings),
        scorer_version=first.cards[0].scorer_version,
        params_hash=first.cards[0].params_hash,
        layer=first.cards[0].layer,
        seed=seed,
        resamples=resamples,
    )


def _refuse(first: Side, second: Side) -> None:
    for side in (first, second):
        if not side.cards:
            raise BedsideError("holds no scorecard", side.name)
    common = {card.trace_id for card in first.cards} & {card.trace_id for card in second.cards}
    if common:
        raise BedsideError(f"both sides hold the same encounter {min(common)}", mend="name two runs, or two examiners of one run")
    kinds: dict[str, set[tuple[str, ...]]] = defaultdict(set)
    for card in (*first.cards, *second.cards):
        kinds[card.base_case_id].add((card.scorer_version, card.kb_version, card.params_hash, card.layer))
    mixed = next((case for case, found in kinds.items() if len(found) > 1), None)
    if mixed is not None or len({(v, p, layer) for found in kinds.values() for v, _, p, layer in found}) > 1:
        raise BedsideError("scores by different scorers, knowledge, parameters or layers cannot be compared", mend="score all traces again")


def _is_label(name: str, cards: Iterable[Scorecard]) -> bool:
    return any(isinstance(card.scores[name].value, str) for card in cards if name in card.scores)


def _chosen(metrics: Sequence[str] | None, known: Sequence[str]) -> list[str]:
    if metrics is None:
        return [name for name in (*HEADLINES, *MORE_HEADLINES) if name in known]
    for name in metrics:
        if name not in known:
            raise BedsideError(f"no score {name!r} that could be compared", "--metric", f"known: {', '.join(known)}")
    return list(dict.fromkeys(metrics))


def _by_case(cards: Iterable[Scorecard]) -> dict[str, list[Scorecard]]:
    found: dict[str, list[Scorecard]] = defaultdict(list)
    for card in sorted(cards, key=lambda card: (card.base_case_id, card.case_id, card.seed, card.trace_id)):
        found[card.base_case_id].append(card)
    return dict(found)


def _values(cards: Iterable[Scorecard], name: str) -> list[bool | int | float]:
    found = [card.scores[name].value for card in cards if name in card.scores]
    return [value for value in found if isinstance(value, bool | int | float)]


def _paired(
    name: str, cases: Sequence[str], mine: Mapping[str, list[Scorecard]], yours: Mapping[str, list[Scorecard]], settings: _Settings
) -> Paired:
    pairs: list[tuple[float, float]] = []
    yes_or_no = True
    for case in cases:
        ours, theirs = _values(mine[case], name), _values(yours[case], name)
        if ours and theirs:
            yes_or_no = yes_or_no and len(ours) == len(theirs) == 1 and isinstance(ours[0], bool) and isinstance(theirs[0], bool)
            pairs.append((sum(ours) / len(ours), sum(theirs) / len(theirs)))
    first, second = [a for a, _ in pairs], [b for _, b in pairs]
    gap = paired_bootstrap(first, second, settings.seed, resamples=settings.resamples)
    found = Paired(
        metric=name,
        first=sum(first) / len(first) if first else None,
        second=sum(second) / len(second) if second else None,
        difference=gap.value,
        low=gap.low,
        high=gap.high,
        n=len(pairs),
        n_null=len(cases) - len(pairs),
    )
    if len(pairs) < 2:
        return found
    return _of_counts(found, pairs) if yes_or_no else _of_differences(found, [a - b for a, b in pairs], settings)


def _of_counts(found: Paired, pairs: Sequence[tuple[float, float]]) -> Paired:
    """Exact McNemar; the matched odds ratio with half a case added to either count, so that it stays finite."""
    only_first, only_second = sum(a > b for a, b in pairs), sum(b > a for a, b in pairs)
    test = mcnemar(only_first, only_second)
    return found.model_copy(
        update={
            "test": "mcnemar_exact",
            "p": test.p,
            "mid_p": test.mid_p,
            "effect": (only_first + 0.5) / (only_second + 0.5),
            "effect_name": "matched odds ratio",
            "only_first": only_first,
            "only_second": only_second,
        }
    )


def _of_differences(found: Paired, gaps: Sequence[float], settings: _Settings) -> Paired:
    """Sign-flip permutation; d_z is the mean difference over the standard deviation of the differences."""
    test = sign_flip(gaps, settings.seed, resamples=settings.resamples)
    mean = sum(gaps) / len(gaps)
    spread = sqrt(sum((gap - mean) ** 2 for gap in gaps) / (len(gaps) - 1))
    effect = mean / spread if spread > 0 else None
    return found.model_copy(update={"test": "sign_flip", "p": test.p if test is not None else None, "effect": effect, "effect_name": "d_z"})


def _corrected(found: Sequence[Paired], correction: Correction) -> list[Paired]:
    tested = [item.p for item in found if item.p is not None]
    adjusted = iter(holm(tested) if correction == "holm" else benjamini_hochberg(tested))
    return [item if item.p is None else item.model_copy(update={"p_corrected": next(adjusted), "correction": correction}) for item in found]


def _in_strata(
    first: Side, second: Side, strata: Mapping[str, Mapping[str, str]], metrics: Sequence[str], settings: _Settings
) -> list[Paired]:
    """Every metric in every group of the strata that divide the cases; a stratum with one group says nothing new."""
    found: list[Paired] = []
    for stratum in dict.fromkeys(name for groups in strata.values() for name in groups):
        sides = [_split(side, strata, stratum) for side in (first, second)]
        groups = sorted({*sides[0], *sides[1]})
        if len(groups) < 2:
            continue
        for group in groups:
            mine, yours = (_by_case(side.get(group, [])) for side in sides)
            shared = [case for case in mine if case in yours]
            for metric in metrics if shared else ():
                item = _paired(metric, shared, mine, yours, settings)
                found.append(item.model_copy(update={"stratum": stratum, "group": group}))
    return _corrected(found, "benjamini_hochberg")


def _split(side: Side, strata: Mapping[str, Mapping[str, str]], stratum: str) -> dict[str, list[Scorecard]]:
    found: dict[str, list[Scorecard]] = defaultdict(list)
    for card in side.cards:
        group = strata.get(card.case_id, {}).get(stratum)
        if group is not None:
            found[group].append(card)
    return dict(found)


def by_examiner(cards: Iterable[Scorecard]) -> dict[str, Side]:
    """Cards by the examiner's id, in order of the ids."""
    found: dict[str, list[Scorecard]] = defaultdict(list)
    for card in cards:
        found[card.examiner_id].append(card)
    return {name: Side(name, found[name]) for name in sorted(found)}
