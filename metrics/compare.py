"""Two examiners on the same cases, metric by metric and stratum by stratum (metrics.md 11.2): a pure function of scorecards."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from statistics import fmean, stdev
from typing import Literal

from pydantic import Field

from metrics.scores import Score, Scorecard
from metrics.statistics import CONFIDENCE, RESAMPLES, benjamini_hochberg, holm, mcnemar, paired_bootstrap, sign_flip
from ontology.documents import Document, Strict
from ontology.errors import BedsideError
from simulator.case import PatientVector

PairBy = Literal["case", "base_case"]
ALL = "all"
AGE_BANDS = ((0, "0-17"), (18, "18-39"), (40, "40-64"), (65, "65 and over"))


class Contrast(Strict):
    """One metric of two sides over the cases of one level of one stratum. Differences are first − second."""

    metric: str
    stratum: str = Field(description="all, or what the cases were divided by")
    level: str
    n: int = Field(description="cases with a value on both sides; runs of a case are averaged first")
    n_null: int = Field(description="cases of both sides without a value on one")
    n_clusters: int = Field(description="base cases, the unit of all intervals and tests")
    first_mean: float | None
    second_mean: float | None
    difference: float | None
    low: float | None = Field(description="paired cluster bootstrap")
    high: float | None
    se: float | None = Field(description="analytic, clustered")
    test: Literal["mcnemar", "sign_flip"] | None = Field(description="McNemar for right or wrong with one run a base case")
    p: float | None = Field(description="exact or by permutation, two-sided, uncorrected")
    mid_p: float | None = Field(default=None, description="of McNemar's test")
    p_holm: float | None = Field(default=None, description="over the pairs of examiners compared, within the metric; all cases only")
    p_bh: float | None = Field(
        default=None, description="Benjamini-Hochberg: over the metrics for all cases, over metrics × levels for strata"
    )
    first_only: int | None = Field(default=None, description="cases only the first has right, for McNemar's test")
    second_only: int | None = None
    d_z: float | None = Field(default=None, description="effect size: mean difference over the standard deviation of differences")
    superiority: float | None = Field(default=None, description="effect size: share of cases on which the first has more; ties count half")


class Comparison(Document):
    """All contrasts of two sides."""

    schema_version: Literal["1.0"] = "1.0"
    first: str
    second: str
    pair_by: PairBy
    n_both: int = Field(description="cases of both sides")
    only_first: int = Field(description="cases the second side has not; left out")
    only_second: int
    labels: list[str] = Field(description="scores whose values are words; not compared")
    contrasts: list[Contrast]
    n_pairs_corrected: int = Field(default=1, description="pairs of examiners that p_holm allows for")
    seed: int
    resamples: int
    confidence: float


@dataclass(frozen=True)
class CompareOptions:
    """How cards are compared.

    `strata` gives, by name, the level of each case, by the id that pairs are made by; see `case_strata`. A case without a level is left out
    of that stratum only.
    """

    metrics: tuple[str, ...] | None = None
    strata: Mapping[str, Mapping[str, str]] | None = None
    pair_by: PairBy = "case"
    """base_case: plain against trapped or twin cases, which share a base case"""
    seed: int = 0
    resamples: int = RESAMPLES
    confidence: float = CONFIDENCE


def compare(
    first: Iterable[Scorecard], second: Iterable[Scorecard], options: CompareOptions | None = None, names: tuple[str, str] | None = None
) -> Comparison:
    """Compare two sides on the cases that both have.

    Args:
        first: cards of one examiner (or of its plain cases).
        second: cards of the other (or of the trapped ones).
        options: None: all metrics, all cases.
        names: of the sides; None: the examiners' ids.

    Raises:
        BedsideError: a side without cards or with several examiners, one encounter twice, no case in common, an unknown metric, or scores
            made with other parameters, knowledge or formulas.
    """
    chosen = options or CompareOptions()
    sides = _Side.of(first, "the first side", chosen.pair_by), _Side.of(second, "the second side", chosen.pair_by)
    both = [case for case in sides[0].cards if case in sides[1].cards]
    if not both:
        raise BedsideError("the two sides have no case in common", mend="compare runs over the same cases")
    metrics, labels = _metrics(sides, both, chosen.metrics)
    contrasts = []
    for metric in metrics:
        _refuse_other_formulas(metric, sides, both)
        contrasts.append(_contrast(metric, ALL, ALL, both, sides, chosen))
        for stratum, levels in (chosen.strata or {}).items():
            for level in sorted({levels[case] for case in both if case in levels}):
                there = [case for case in both if levels.get(case) == level]
                contrasts.append(_contrast(metric, stratum, level, there, sides, chosen))
    return Comparison(
        first=names[0] if names else sides[0].examiner,
        second=names[1] if names else sides[1].examiner,
        pair_by=chosen.pair_by,
        n_both=len(both),
        only_first=len(sides[0].cards) - len(both),
        only_second=len(sides[1].cards) - len(both),
        labels=labels,
        contrasts=_corrected(contrasts),
        seed=chosen.seed,
        resamples=chosen.resamples,
        confidence=chosen.confidence,
    )


def compare_all(cards: Iterable[Scorecard], options: CompareOptions | None = None) -> list[Comparison]:
    """Compare every two examiners, in order of their ids; p_holm allows for all pairs that have a p for the metric.

    Raises:
        BedsideError: see `compare`; or fewer than two examiners.
    """
    by_examiner: dict[str, list[Scorecard]] = defaultdict(list)
    for card in cards:
        by_examiner[card.examiner_id].append(card)
    if len(by_examiner) < 2:
        raise BedsideError("there are not two examiners to compare", mend="give the scorecards of two or more")
    found = [compare(by_examiner[one], by_examiner[two], options) for one, two in combinations(sorted(by_examiner), 2)]
    family: dict[str, list[float]] = defaultdict(list)
    for comparison in found:
        for contrast in comparison.contrasts:
            if contrast.stratum == ALL and contrast.p is not None:
                family[contrast.metric].append(contrast.p)
    adjusted = {metric: iter(holm(values)) for metric, values in family.items()}
    return [
        comparison.model_copy(
            update={
                "n_pairs_corrected": len(found),
                "contrasts": [
                    contrast.model_copy(update={"p_holm": next(adjusted[contrast.metric])})
                    if contrast.stratum == ALL and contrast.p is not None
                    else contrast
                    for contrast in comparison.contrasts
                ],
            }
        )
        for comparison in found
    ]


def case_strata(cases: Iterable[PatientVector], pair_by: PairBy = "case") -> dict[str, dict[str, str]]:
    """What a case itself can be divided by: source, acuity, difficulty, sex, age, style, whether it has a trap, whether it is a variant.

    Args:
        cases: the cases.
        pair_by: the id that levels are given for.

    Returns:
        by stratum, the level of each case.
    """
    found: dict[str, dict[str, str]] = defaultdict(dict)
    for case in cases:
        key = case.case_id if pair_by == "case" else case.provenance.derived_from or case.case_id
        style = case.presentation.style
        levels = {
            "source": case.provenance.source,
            "acuity": str(case.ground_truth.acuity),
            "difficulty": case.difficulty,
            "sex": case.patient_facts.sex,
            "age": next(name for least, name in reversed(AGE_BANDS) if case.patient_facts.age >= least),
            "style": f"{style.medical_knowledge}/{style.clarity}/{style.communication}" if style else None,
            "trap": "yes" if any(fact.status_source == "trap" for fact in case.patient_facts.facts) else "no",
            "variant": "no" if case.provenance.derived_from is None else "yes",
        }
        for stratum, level in levels.items():
            if level is not None:
                found[stratum][key] = level
    return dict(found)


@dataclass(frozen=True)
class _Side:
    """The cards of one side by the id that pairs are made by, and the base case of each."""

    examiner: str
    cards: dict[str, list[Scorecard]]
    base: dict[str, str]

    @classmethod
    def of(cls, cards: Iterable[Scorecard], what: str, pair_by: PairBy) -> _Side:
        found: dict[str, list[Scorecard]] = defaultdict(list)
        base: dict[str, str] = {}
        seen: set[str] = set()
        examiners: set[str] = set()
        for card in cards:
            if card.trace_id in seen:
                raise BedsideError("two scorecards of one encounter", card.trace_id, "leave one out")
            seen.add(card.trace_id)
            examiners.add(card.examiner_id)
            key = card.case_id if pair_by == "case" else card.base_case_id
            found[key].append(card)
            base[key] = card.base_case_id
        if not found:
            raise BedsideError(f"{what} has no scorecard")
        if len(examiners) > 1:
            raise BedsideError(f"{what} has cards of several examiners: {', '.join(sorted(examiners))}", mend="give those of one")
        return cls(examiners.pop(), dict(found), base)

    def scores(self, case: str, metric: str) -> list[Score]:
        """Of all runs of a case."""
        return [card.scores[metric] for card in self.cards[case] if metric in card.scores]

    def value(self, case: str, metric: str) -> bool | float | None:
        """The mean over the runs that have a value; of a single run the value itself."""
        there = [score.value for score in self.scores(case, metric) if score.value is not None]
        if len(there) == 1 and isinstance(there[0], bool) and len(self.cards[case]) == 1:
            return there[0]
        return fmean(float(value) for value in there) if there else None


def _metrics(sides: tuple[_Side, _Side], cases: Sequence[str], asked: tuple[str, ...] | None) -> tuple[list[str], list[str]]:
    """The metrics to compare, and those whose values are words."""
    names: dict[str, None] = {}
    words: dict[str, None] = {}
    for side in sides:
        for case in cases:
            for card in side.cards[case]:
                for name, score in card.scores.items():
                    names.setdefault(name)
                    if isinstance(score.value, str):
                        words.setdefault(name)
    unknown = [name for name in asked or () if name not in names]
    if unknown:
        raise BedsideError(f"no score is called {unknown[0]!r}", mend=f"known: {', '.join(names)}")
    chosen = names if asked is None else dict.fromkeys(asked)
    return [name for name in chosen if name not in words], [name for name in chosen if name in words]


def _refuse_other_formulas(metric: str, sides: tuple[_Side, _Side], cases: Sequence[str]) -> None:
    """Values of one case must come from one formula; cases may have different knowledge."""
    for case in cases:
        kinds = {
            (score.scorer_version, score.kb_version, score.params_hash, score.layer)
            for side in sides
            for score in side.scores(case, metric)
        }
        if len(kinds) > 1:
            names = "; ".join(" ".join(kind) for kind in sorted(kinds))
            what = f"values of {metric} that cannot be compared (scorer, knowledge, parameters, layer): {names}"
            raise BedsideError(what, case, "score all traces again")


def _contrast(metric: str, stratum: str, level: str, cases: Sequence[str], sides: tuple[_Side, _Side], options: CompareOptions) -> Contrast:
    values = [(sides[0].value(case, metric), sides[1].value(case, metric), sides[0].base[case]) for case in cases]
    pairs = [(one, two, base) for one, two, base in values if one is not None and two is not None]
    ones, twos, bases = [float(one) for one, _, _ in pairs], [float(two) for _, two, _ in pairs], [base for _, _, base in pairs]
    found = paired_bootstrap(ones, twos, options.seed, bases, options.resamples, options.confidence)
    gaps = [one - two for one, two in zip(ones, twos, strict=True)]
    made = Contrast(
        metric=metric,
        stratum=stratum,
        level=level,
        n=len(pairs),
        n_null=len(values) - len(pairs),
        n_clusters=found.n_clusters,
        first_mean=fmean(ones) if ones else None,
        second_mean=fmean(twos) if twos else None,
        difference=found.value,
        low=found.low,
        high=found.high,
        se=found.se,
        test=None,
        p=None,
    )
    if not pairs:
        return made
    spread = stdev(gaps) if len(gaps) > 1 else 0.0
    effect = {
        "d_z": fmean(gaps) / spread if spread > 1e-12 else None,
        "superiority": fmean(1.0 if gap > 0 else 0.5 if gap == 0 else 0.0 for gap in gaps),
    }
    if len(set(bases)) == len(bases) and all(isinstance(one, bool) and isinstance(two, bool) for one, two, _ in pairs):
        first_only, second_only = sum(gap > 0 for gap in gaps), sum(gap < 0 for gap in gaps)
        exact = mcnemar(first_only, second_only)
        test = {"test": "mcnemar", "p": exact.p, "mid_p": exact.mid_p, "first_only": first_only, "second_only": second_only}
        return made.model_copy(update={**effect, **test})
    flipped = sign_flip(gaps, options.seed, bases, options.resamples) if found.n_clusters > 1 else None
    if flipped is None:
        return made.model_copy(update=effect)
    return made.model_copy(update={**effect, "test": "sign_flip", "p": flipped.p})


def _corrected(contrasts: Sequence[Contrast]) -> list[Contrast]:
    """With p_bh, over all cases and over strata each by themselves, and p_holm for a single pair of examiners."""
    found = list(contrasts)
    for whole in (True, False):
        places = [place for place, each in enumerate(found) if (each.stratum == ALL) == whole and each.p is not None]
        for place, value in zip(places, benjamini_hochberg([found[place].p or 0.0 for place in places]), strict=True):
            update = {"p_bh": value, "p_holm": found[place].p} if whole else {"p_bh": value}
            found[place] = found[place].model_copy(update=update)
    return found
