"""How the order of examiners depends on the parameters: every score again under other thresholds and weights (metrics.md 17)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from pydantic import Field, JsonValue, ValidationError

from metrics.frames import score_names
from metrics.params import ScoreParams
from metrics.scores import Scorecard
from ontology.documents import Document, Strict, problems
from ontology.errors import BedsideError

TAUS = tuple(step / 10 for step in range(11))
THETAS = (0.3, 0.5, 0.7)
BETAS = (0.5, 1.0, 2.0)
DEFAULT_GRID: dict[str, tuple[JsonValue, ...]] = {"tau": TAUS, "theta": THETAS, "beta": BETAS}

LOWER_IS_BETTER = (
    "sdd",
    "premature",
    "closure_deficit",
    "redundancy",
    "compound_rate",
    "concepts_per_turn",
    "off_kb_rate",
    "unresolved",
    "harm",
    "h1",
    "h2",
    "h3",
    "severe",
    "undertriage",
    "overtriage",
    "too_short",
    "too_long",
    "exhausted",
    "regret",
    "anchoring",
    "perseveration",
    "brier",
    "ece",
)
"""Beginnings of the names of scores where less is better; the order of the others goes by more."""


class Standing(Strict):
    """One examiner's place by one metric."""

    examiner_id: str
    mean: float | None = Field(description="over base cases, runs of one case averaged first")
    n: int
    n_null: int
    rank: int | None = Field(description="from 1; equal means share a place; None without a mean")
    change: int | None = Field(default=None, description="places gained (+) or lost (-) against the reference parameters")


class Setting(Strict):
    """The examiners' order by one metric with one parameter changed."""

    metric: str
    parameter: str
    value: JsonValue
    is_reference: bool
    standings: list[Standing]

    @property
    def moved(self) -> int:
        """How many examiners have another rank than under the reference."""
        return sum(bool(standing.change) for standing in self.standings)


class Sensitivity(Document):
    """Ranks under other parameters."""

    schema_version: Literal["1.0"] = "1.0"
    settings: list[Setting]
    scorer_version: str
    params_hash: str = Field(description="of the reference parameters")
    n_traces: int
    metrics_untouched: int = Field(description="scores that depend on none of the parameters that were varied")


@dataclass(frozen=True)
class Variant:
    """A set of parameters that differs from the reference in one."""

    parameter: str
    value: JsonValue
    params: ScoreParams


def variants(reference: ScoreParams, grid: Mapping[str, Sequence[JsonValue]] | None = None) -> list[Variant]:
    """The parameter sets of a grid, one parameter changed at a time.

    Args:
        reference: what the others differ from.
        grid: values by parameter; None: see `default_grid`.

    Raises:
        BedsideError: an unknown parameter, or a value out of range.
    """
    found = []
    for name, values in (default_grid() if grid is None else grid).items():
        if name not in ScoreParams.model_fields:
            raise BedsideError(f"unknown score parameter {name!r}", "--vary", f"use one of {', '.join(ScoreParams.model_fields)}")
        for value in values:
            try:
                params = ScoreParams.model_validate({**reference.model_dump(), name: value})
            except ValidationError as error:
                raise BedsideError(f"not a valid value of {name}: {problems(error)}", "--vary") from None
            found.append(Variant(name, value, params))
    return found


def default_grid() -> dict[str, tuple[JsonValue, ...]]:
    """The grid of metrics.md 17: tau, theta, beta, and every parameter that comes with a list of its values to show (`shown_NAME`)."""
    grid = dict(DEFAULT_GRID)
    for name in ScoreParams.model_fields:
        shown = ScoreParams.model_fields.get(f"shown_{name}")
        if shown is not None:
            grid[name] = tuple(list(value) if isinstance(value, tuple) else value for value in shown.default)
    return grid


def sensitivity(reference: Sequence[Scorecard], varied: Iterable[tuple[Variant, Sequence[Scorecard]]]) -> Sensitivity:
    """Ranks of the examiners by every metric that a changed parameter bears on.

    Args:
        reference: cards by the reference parameters.
        varied: for each variant, the cards of the same traces.

    Raises:
        BedsideError: no cards, or a variant that scored other traces.
    """
    if not reference:
        raise BedsideError("holds no scorecard")
    names, touched, settings = score_names(reference), set(), []
    traces = {card.trace_id for card in reference}
    for variant, cards in varied:
        if {card.trace_id for card in cards} != traces:
            raise BedsideError(f"other traces were scored under {variant.parameter} = {variant.value}", "sensitivity")
        for metric in names:
            if not _depends(metric, variant.parameter, cards):
                continue
            touched.add(metric)
            before = {item.examiner_id: item.rank for item in standings(reference, metric)}
            after = [
                item.model_copy(update={"change": _change(before.get(item.examiner_id), item.rank)}) for item in standings(cards, metric)
            ]
            is_reference = variant.params.sha == reference[0].params_hash
            settings.append(
                Setting(metric=metric, parameter=variant.parameter, value=variant.value, is_reference=is_reference, standings=after)
            )
    order = {name: number for number, name in enumerate(names)}
    settings.sort(key=lambda item: (order[item.metric], item.parameter))
    return Sensitivity(
        settings=settings,
        scorer_version=reference[0].scorer_version,
        params_hash=reference[0].params_hash,
        n_traces=len(reference),
        metrics_untouched=len(names) - len(touched),
    )


def _depends(metric: str, parameter: str, cards: Iterable[Scorecard]) -> bool:
    """Whether a score says that it depends on a parameter, and has numbers."""
    scores = [card.scores[metric] for card in cards if metric in card.scores]
    return any(parameter in score.params for score in scores) and not any(isinstance(score.value, str) for score in scores)


def _change(before: int | None, after: int | None) -> int | None:
    return None if before is None or after is None else before - after


def lower_is_better(metric: str) -> bool:
    """Whether less is better."""
    return metric.startswith(LOWER_IS_BETTER)


def standings(cards: Iterable[Scorecard], metric: str) -> list[Standing]:
    """The examiners in order of a metric, the best first; those without a value last."""
    by_case: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    nulls: dict[str, int] = defaultdict(int)
    for card in cards:
        score = card.scores.get(metric)
        if score is None or score.value is None or isinstance(score.value, str):
            nulls[card.examiner_id] += 1
            by_case[card.examiner_id]  # noqa: B018 - an examiner without a value is listed, too
        else:
            by_case[card.examiner_id][card.base_case_id].append(float(score.value))
    found = []
    for examiner, cases in by_case.items():
        means = [sum(values) / len(values) for values in cases.values()]
        # rounded, so that the order of summation cannot break a tie
        mean = round(sum(means) / len(means), 12) if means else None
        n = sum(len(values) for values in cases.values())
        found.append(Standing(examiner_id=examiner, mean=mean, n=n, n_null=nulls[examiner], rank=None))
    sign = 1 if lower_is_better(metric) else -1
    found.sort(key=lambda item: (item.mean is None, sign * (item.mean or 0.0), item.examiner_id))
    ranked: list[Standing] = []
    for place, item in enumerate(found, start=1):
        tied = ranked and ranked[-1].mean == item.mean
        rank = None if item.mean is None else (ranked[-1].rank if tied else place)
        ranked.append(item.model_copy(update={"rank": rank}))
    return ranked
