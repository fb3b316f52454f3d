"""From a sealed trace to its scorecard, and from scorecards to a summary of each examiner (metrics.md 14 and 11)."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from typing import Literal

from pydantic import Field

from metrics.anchoring import anchoring_scores
from metrics.answers import Outcome, read_outcome, truth_codes
from metrics.basis import Basis, basis
from metrics.beliefs import Timeline, read_timeline
from metrics.diagnosis import diagnosis_scores
from metrics.differential import confidence_scores, differential_scores
from metrics.efficiency import efficiency_scores
from metrics.elicitation import Candidates, elicitation_scores
from metrics.events import read_interview
from metrics.harm import harm_scores
from metrics.indispensable import indispensable_scores, read_veto
from metrics.information import information_scores
from metrics.knowledge import Knowledge
from metrics.params import ScoreParams
from metrics.reasoning import closure_scores, reliability_scores
from metrics.scores import SCORER_VERSION, Layer, Score, Scorecard, Stamp, params_hash
from metrics.statistics import RESAMPLES, Interval, bootstrap_mean, macro_mean, mean_of, wilson
from metrics.sycophancy import sycophancy_scores
from ontology.documents import Document, Strict
from ontology.errors import BedsideError
from ontology.profiles import DiseaseProfile
from simulator.case import PatientVector
from simulator.trace import SCORED_REASONS, DialogueTrace, Turn

__all__ = ["ExaminerSummary", "Knowledge", "MetricSummary", "score_trace", "summarise"]


LABELS = ("relation", "cell")
"""Scores whose values are labels: counted, never averaged."""

CELLS = ("reliable", "lucky_guess", "reasoned_miss", "unreasoned_miss")


def score_trace(
    trace: DialogueTrace,
    case: PatientVector,
    knowledge: Knowledge,
    params: ScoreParams | None = None,
    corrected: Sequence[Turn] | None = None,
) -> Scorecard:
    """Score one trace: a pure function of its arguments.

    Args:
        trace: a sealed trace.
        case: its case, with the truth.
        knowledge: profiles, concepts, classification.
        params: all choices; None: the defaults.
        corrected: the trace's turns with acts and mentions as people corrected them; the card is then of the adjudicated layer.

    Returns:
        the card. A trace that ended through no doing of the examiner's gets one on which every score is null (0b D4).

    Raises:
        BedsideError: the trace is not sealed or was changed since, is of another case or of another version of it, or the profiles were
            counted on the case (0b D12); corrected turns whose words are not the trace's.
    """
    _refuse_wrong_input(trace, case, knowledge)
    layer: Layer = "machine"
    if corrected is not None:
        trace, layer = _with_turns(trace, corrected), "adjudicated"
    stamp = Stamp(params or ScoreParams(), knowledge.version, layer)
    scores = _all_scores(trace, case, knowledge, stamp)
    if trace.termination not in SCORED_REASONS:
        scores = {name: _blank(score, f"not scored: {trace.termination}") for name, score in scores.items()}
    return Scorecard(
        trace_id=trace.trace_id,
        trace_sha256=trace.sealed_sha256 or "",
        case_id=case.case_id,
        base_case_id=case.provenance.derived_from or case.case_id,
        examiner_id=trace.examiner.id,
        disease_id=case.ground_truth.disease_id,
        seed=trace.seed,
        termination=trace.termination,
        forced_commit=trace.forced_commit,
        kb_version=knowledge.version,
        params_hash=params_hash(stamp.params),
        layer=layer,
        scores=scores,
    )


def _with_turns(trace: DialogueTrace, corrected: Sequence[Turn]) -> DialogueTrace:
    if [(turn.role, turn.text) for turn in corrected] != [(turn.role, turn.text) for turn in trace.turns]:
        raise BedsideError("the corrected turns do not have the trace's words", trace.trace_id, "correct acts and mentions only")
    raw = trace.model_dump(mode="json")
    return DialogueTrace.from_raw({**raw, "turns": [turn.model_dump(mode="json") for turn in corrected]}, trace.trace_id)


def _refuse_wrong_input(trace: DialogueTrace, case: PatientVector, knowledge: Knowledge) -> None:
    where = trace.trace_id
    if not trace.seal_is_intact():
        state = "is not sealed" if trace.sealed_sha256 is None else "was changed after it was sealed"
        raise BedsideError(f"the trace {state}", where, "score the trace as the encounter wrote it")
    if trace.case_id != case.case_id:
        raise BedsideError(f"the trace is of {trace.case_id}, not of {case.case_id}", where, "give the case it was played on")
    if trace.case_sha256 != case.sha256():
        raise BedsideError(f"the case {case.case_id} is not the version the trace was played on", where, "give the case file of that run")
    header = knowledge.profiles.header
    ids = [case.case_id, *([case.provenance.derived_from] if case.provenance.derived_from else [])]
    if knowledge.profiles.counted_on(ids, case.provenance.source, case.provenance.split):
        raise BedsideError(
            f"the profiles {header.profile_set!r} were counted on {case.case_id} or on its split",
            where,
            "use profiles counted on other cases",
        )


def _all_scores(trace: DialogueTrace, case: PatientVector, knowledge: Knowledge, stamp: Stamp) -> dict[str, Score]:
    interview = read_interview(trace, case, knowledge.vocabulary)
    outcome = read_outcome(trace, case, knowledge)
    here = basis(interview, case, knowledge, stamp, trace.budget.max_turns)
    timeline = read_timeline(interview, knowledge.beliefs, case.patient_facts.age, case.patient_facts.sex)
    predicted, live = _predicted(outcome, knowledge), _candidates(here, timeline)
    diagnosis = diagnosis_scores(outcome, knowledge, stamp)
    elicitation = elicitation_scores(here, predicted, live)
    veto = read_veto(here, outcome, predicted)
    return {
        **diagnosis,
        **elicitation,
        **reliability_scores(diagnosis["acc_truth"].value is True, elicitation, stamp, veto.vetoed),
        **indispensable_scores(here, outcome, veto),
        **closure_scores(here, trace, live, timeline),
        **anchoring_scores(here, timeline, None if predicted is None else predicted.disease_id, trace.snapshots),
        **sycophancy_scores(here, outcome, trace),
        **efficiency_scores(here),
        **harm_scores(trace, case, outcome, knowledge, stamp),
        **information_scores(here, timeline),
        **differential_scores(here, outcome),
        **confidence_scores(here, outcome, trace),
    }


def _predicted(outcome: Outcome, knowledge: Knowledge) -> DiseaseProfile | None:
    first = outcome.first
    return None if first is None else knowledge.profile_of(first.name, first.codes)


def _candidates(here: Basis, timeline: Timeline) -> Candidates:
    """Profiles of the case's differential, each once; without one, those that the opening makes likely (4.1)."""
    found: dict[str, DiseaseProfile] = {}
    knowledge, least = here.knowledge, here.stamp.params.ddx_threshold
    for item in here.case.ground_truth.differential:
        if item.prob >= least:
            profile = knowledge.profile_of(item.dx.name, truth_codes(item.dx, knowledge.icd))
            if profile is not None:
                found[profile.disease_id] = profile
    if found:
        return Candidates(tuple(found.values()), "differential")
    likely = [disease for disease, p in timeline.model.ranked(timeline.prior) if p >= least]
    return Candidates(tuple(timeline.model.profiles[disease] for disease in likely), "belief")


def _blank(score: Score, reason: str) -> Score:
    return score.model_copy(update={"value": None, "null_reason": reason, "components": {}})


# -- summaries ------------------------------------------------------------------------------------------------------


class MetricSummary(Strict):
    """One metric of one examiner. Runs of one base case are averaged first: the case is the unit (11.2)."""

    mean: float | None
    macro_mean: float | None = Field(description="mean of the diseases' means")
    n: int = Field(description="traces with a value")
    n_null: int = Field(description="traces without one")
    n_cases: int = Field(description="base cases with a value")
    low: float | None = None
    high: float | None = None
    interval: Literal["wilson", "bootstrap"] | None = None
    null_reasons: dict[str, int] = Field(default_factory=dict)


class ExaminerSummary(Document):
    """All metrics of one examiner over its scorecards."""

    schema_version: Literal["1.0"] = "1.0"
    examiner_id: str
    n_traces: int
    n_scored: int = Field(description="traces that the examiner ended or ran out of turns in")
    n_cases: int
    terminations: dict[str, int]
    forced_commits: int
    metrics: dict[str, MetricSummary]
    relations: dict[str, int] = Field(description="how answers stand to the truth in ICD-10")
    cells: dict[str, int] = Field(description="the 2x2 of answer and questioning, counted")
    cell_rates: dict[str, float] = Field(description="the same as shares of the traces that have a cell")
    unresolved_rate: float | None = Field(description="share of answers without an ICD-10 code")
    scorer_version: str = SCORER_VERSION
    kb_version: str
    params_hash: str
    layer: Layer
    seed: int = Field(description="of the bootstrap")
    resamples: int


def summarise(cards: Iterable[Scorecard], seed: int = 0, resamples: int = RESAMPLES) -> list[ExaminerSummary]:
    """Summarise scorecards by examiner, in order of their ids.

    Args:
        cards: the cards; all by one scorer, with one knowledge base, one set of parameters and one layer.
        seed: of the bootstrap.
        resamples: of the bootstrap.

    Raises:
        BedsideError: cards that cannot be compared, or one encounter twice.
    """
    by_examiner: dict[str, list[Scorecard]] = defaultdict(list)
    seen: set[str] = set()
    kinds = set()
    for card in cards:
        if card.trace_id in seen:
            raise BedsideError("two scorecards of one encounter", card.trace_id, "leave one out")
        seen.add(card.trace_id)
        kinds.add((card.scorer_version, card.kb_version, card.params_hash, card.layer))
        by_examiner[card.examiner_id].append(card)
    if len(kinds) > 1:
        names = "; ".join(" ".join(kind) for kind in sorted(kinds))
        what = f"scorecards that cannot be compared (scorer, knowledge, parameters, layer): {names}"
        raise BedsideError(what, mend="score all traces again")
    return [_summary(examiner, by_examiner[examiner], seed, resamples) for examiner in sorted(by_examiner)]


def _summary(examiner: str, cards: Sequence[Scorecard], seed: int, resamples: int) -> ExaminerSummary:
    names = dict.fromkeys(name for card in cards for name in card.scores)
    labels = {name: [card.scores[name].value for card in cards if name in card.scores] for name in LABELS}
    cells = Counter(str(value) for value in labels["cell"] if value is not None)
    metrics = {name: _metric(name, cards, seed, resamples) for name in names if name not in LABELS}
    return ExaminerSummary(
        examiner_id=examiner,
        n_traces=len(cards),
        n_scored=sum(card.termination in SCORED_REASONS for card in cards),
        n_cases=len({card.base_case_id for card in cards}),
        terminations=dict(sorted(Counter(card.termination for card in cards).items())),
        forced_commits=sum(card.forced_commit for card in cards),
        metrics=metrics,
        relations=dict(sorted(Counter(str(value) for value in labels["relation"] if value is not None).items())),
        cells={name: cells[name] for name in CELLS},
        cell_rates={name: cells[name] / cells.total() for name in CELLS} if cells else {},
        unresolved_rate=metrics["unresolved"].mean if "unresolved" in metrics else None,
        scorer_version=cards[0].scorer_version,
        kb_version=cards[0].kb_version,
        params_hash=cards[0].params_hash,
        layer=cards[0].layer,
        seed=seed,
        resamples=resamples,
    )


def _metric(name: str, cards: Sequence[Scorecard], seed: int, resamples: int) -> MetricSummary:
    found = [(card, card.scores[name]) for card in cards if name in card.scores]
    total = mean_of([None if score.value is None else float(score.value) for _, score in found])
    by_case: dict[tuple[str, str], list[float]] = defaultdict(list)
    binary = True
    for card, score in found:
        if score.value is not None:
            by_case[card.base_case_id, card.disease_id].append(float(score.value))
            binary = binary and isinstance(score.value, bool)
    per_case = [sum(values) / len(values) for values in by_case.values()]
    interval: Interval | None = None
    method: Literal["wilson", "bootstrap"] | None = None
    if per_case and binary and all(len(values) == 1 for values in by_case.values()):
        interval, method = wilson(round(sum(per_case)), len(per_case)), "wilson"
    elif per_case:
        interval = bootstrap_mean(per_case, seed, resamples=resamples)
        method = "bootstrap" if interval is not None else None
    return MetricSummary(
        mean=sum(per_case) / len(per_case) if per_case else None,
        macro_mean=macro_mean(per_case, [disease for _, disease in by_case]),
        n=total.n,
        n_null=total.n_null,
        n_cases=len(per_case),
        low=interval.low if interval else None,
        high=interval.high if interval else None,
        interval=method,
        null_reasons=dict(sorted(Counter(score.null_reason for _, score in found if score.null_reason is not None).items())),
    )
