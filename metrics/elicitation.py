"""How well the history was taken: precision, recall, SES, order, turn cost (metrics.md 4)."""

from __future__ import annotations

from collections.abc import Iterable

from pydantic import JsonValue

from metrics.basis import NO_FEATURES, NO_QUESTIONS, SET_PARAMS, Basis, Candidates, basis, with_candidates
from metrics.case_level import case_scores
from metrics.crediting import (
    ANTECEDENT_KINDS,
    CREDIT_PARAMS,
    SYMPTOM_KINDS,
    Coverage,
    Relevant,
    asked_pairs,
    cover,
    feature_list,
    named,
)
from metrics.events import QuestionEvent
from metrics.order import order_scores
from metrics.params import ScoreParams
from metrics.scores import Score
from metrics.shares import f_beta
from ontology.profiles import DiseaseProfile

__all__ = ["NO_FEATURES", "NO_QUESTIONS", "SES_PARAMS", "SET_PARAMS", "Basis", "Candidates", "basis", "elicitation_scores", "f_beta"]

SES_PARAMS = ("beta", "precision", *SET_PARAMS)


def elicitation_scores(here: Basis, predicted: DiseaseProfile | None = None, candidates: Candidates | None = None) -> dict[str, Score]:
    """All scores of the history.

    Args:
        here: the interview, the case and the relevance set.
        predicted: the profile of the first answer, for `self_coherence`.
        candidates: the differential, for the scores of `ddx`.
    """
    scores = {**_ses_scores(here), **_part_scores(here), **_candidate_scores(here, predicted, candidates or Candidates())}
    return {**scores, **order_scores(here), **case_scores(here), **_question_scores(here)}


# -- P, R and SES ---------------------------------------------------------------------------------------------------


def _precision(coverage: Coverage, params: ScoreParams) -> float:
    return coverage.precision(params.precision == "answered")


def _ses_scores(here: Basis) -> dict[str, Score]:
    stamp, params = here.stamp, here.stamp.params
    names = ("precision", "precision_answered", "recall", "recall_unweighted", "ses", "ses_f05", "ses_f2")
    if not here.relevant:
        return {name: stamp.null(here.missing) for name in names}
    coverage = cover(asked_pairs(here.interview.events), here.relevant, here.crediting)
    precision, recall = _precision(coverage, params), coverage.recall()
    questions = _question_parts(here, coverage)
    features: dict[str, JsonValue] = {
        "covered": feature_list(coverage, here.concepts, missed=False),
        "missed": feature_list(coverage, here.concepts, missed=True),
    }
    counts: dict[str, JsonValue] = {
        "features": len(here.relevant),
        "covered": sum(value > 0 for value, _ in coverage.covered.values()),
        "asked": len(coverage.matched),
        "answered": len(coverage.answered),
    }
    numbers: dict[str, JsonValue] = {"precision": precision, "recall": recall, "no_questions": not coverage.matched}
    whole = {**numbers, "without_missing_frequency": _without_missing(here), **features, "irrelevant": questions["irrelevant"]}
    return {
        "precision": stamp.score(coverage.precision(), questions, SET_PARAMS),
        "precision_answered": stamp.score(coverage.precision(True), counts, SET_PARAMS),
        "recall": stamp.score(recall, features, SET_PARAMS),
        "recall_unweighted": stamp.score(coverage.recall(weighted=False), counts, SET_PARAMS),
        "ses": stamp.score(f_beta(precision, recall, params.beta), whole, SES_PARAMS),
        "ses_f05": stamp.score(f_beta(precision, recall, 0.5), numbers, ("precision", *SET_PARAMS)),
        "ses_f2": stamp.score(f_beta(precision, recall, 2.0), numbers, ("precision", *SET_PARAMS)),
    }


def _question_parts(here: Basis, coverage: Coverage) -> dict[str, JsonValue]:
    """The questions by what they were good for."""
    relevant: list[JsonValue] = []
    for concept, (value, item) in coverage.matched.items():
        if item is not None:
            relevant.append(
                {"concept": concept, "name": here.concepts.name(concept), "credit": value, "for": item.concept, "for_name": item.name}
            )
    pointless = [c for c, (value, _) in coverage.matched.items() if value == 0 and c in coverage.answered]
    unanswered = [c for c in coverage.matched if c not in coverage.answered]
    return {
        "asked": len(coverage.matched),
        "answered": len(coverage.answered),
        "no_questions": not coverage.matched,
        "relevant": relevant,
        "irrelevant": named(pointless, here.concepts),
        "unanswered": named(unanswered, here.concepts),
    }


def _without_missing(here: Basis) -> float | None:
    """SES without the features that have no frequency (2.1); None if nothing is left."""
    known = tuple(item for item in here.relevant if not item.frequency_missing)
    if not known:
        return None
    coverage = cover(asked_pairs(here.interview.events), known, here.crediting)
    return f_beta(_precision(coverage, here.stamp.params), coverage.recall(), here.stamp.params.beta)


def _part_scores(here: Basis) -> dict[str, Score]:
    """SES of symptoms alone and of antecedents alone (0b D1): both the questions and the features of that kind."""
    scores = {}
    for name, kinds in (("ses_symptoms", SYMPTOM_KINDS), ("ses_antecedents", ANTECEDENT_KINDS)):
        part = tuple(item for item in here.relevant if here.concepts.kind(item.concept) in kinds)
        events = [event for event in here.interview.events if here.concepts.kind(event.concept) in kinds]
        if part:
            scores[name] = _ses_of(here, part, events)
        else:
            scores[name] = here.stamp.null(f"no {name.removeprefix('ses_')} in the relevance set" if here.relevant else here.missing)
    return scores


def _ses_of(
    here: Basis, relevant: tuple[Relevant, ...], events: Iterable[QuestionEvent], precise: tuple[Relevant, ...] | None = None
) -> Score:
    """SES over a relevance set; `precise` is another one for the precision alone."""
    pairs = asked_pairs(events)
    coverage = cover(pairs, relevant, here.crediting)
    precision = _precision(coverage if precise is None else cover(pairs, precise, here.crediting), here.stamp.params)
    recall = coverage.recall()
    components: dict[str, JsonValue] = {
        "precision": precision,
        "recall": recall,
        "no_questions": not coverage.matched,
        "covered": named((c for c, (value, _) in coverage.covered.items() if value > 0), here.concepts),
        "missed": named((c for c, (value, _) in coverage.covered.items() if value == 0), here.concepts),
    }
    return here.stamp.score(f_beta(precision, recall, here.stamp.params.beta), components, SES_PARAMS)


def _candidate_scores(here: Basis, predicted: DiseaseProfile | None, candidates: Candidates) -> dict[str, Score]:
    """Precision and SES over all candidates (0b D1), and SES against the disease that was concluded (4.1)."""
    stamp, events = here.stamp, here.interview.events
    uses = (*SET_PARAMS, "ddx_threshold")
    scores: dict[str, Score] = {}
    if not here.relevant or not candidates.profiles:
        reason = "no disease of the profile set is a candidate" if here.relevant else here.missing
        scores = {"precision_ddx": stamp.null(reason, uses=uses), "ses_ddx": stamp.null(reason, uses=uses)}
    else:
        wide = with_candidates(here, candidates)
        coverage = cover(asked_pairs(events), wide, here.crediting)
        who: dict[str, JsonValue] = {"candidates": [profile.name for profile in candidates.profiles], "from": candidates.source}
        scores["precision_ddx"] = stamp.score(coverage.precision(), {**who, **_question_parts(here, coverage)}, uses)
        ses = _ses_of(here, here.relevant, events, wide)
        scores["ses_ddx"] = stamp.score(ses.value or 0.0, {**ses.components, **who}, ("beta", "precision", *uses))
    own = () if predicted is None else here.relevance(predicted)
    if predicted is None or not own:
        scores["self_coherence"] = stamp.null("the answer is not a disease of the profile set" if predicted is None else NO_FEATURES)
    else:
        ses = _ses_of(here, own, events)
        scores["self_coherence"] = ses.model_copy(update={"components": {"disease": predicted.name, **ses.components}})
    return scores


# -- how the questions were put -------------------------------------------------------------------------------------


def _question_scores(here: Basis) -> dict[str, Score]:
    interview, stamp = here.interview, here.stamp
    asked = interview.asked
    repeats = named((event.concept for event in interview.repeats), here.concepts)
    total = len(asked) + len(interview.repeats)
    counts = [len(found) for found in interview.turn_concepts]
    listed: list[JsonValue] = list(counts)
    by_turn: dict[str, JsonValue] = {"ask_turns": len(counts), "concepts_by_turn": listed}
    again: dict[str, JsonValue] = {"repeats": repeats, "repeat_count": len(interview.repeats), "asked": len(asked)}
    scores = {"redundancy": stamp.score(len(interview.repeats) / total, again) if total else stamp.null(NO_QUESTIONS)}
    names = ("compound_rate", "concepts_per_turn", "concepts_per_turn_max")
    if counts:
        values = (sum(count >= 2 for count in counts) / len(counts), sum(counts) / len(counts), max(counts))
        scores |= {name: stamp.score(value, by_turn) for name, value in zip(names, values, strict=True)}
    else:
        scores |= {name: stamp.null(NO_QUESTIONS) for name in names}
    if not asked:
        scores["off_kb_rate"] = stamp.null(NO_QUESTIONS, uses=CREDIT_PARAMS)
        return scores
    listed_concepts = here.knowledge.feature_concepts
    off = [c for c in asked if c not in listed_concepts and not here.crediting.related(c, listed_concepts)]
    scores["off_kb_rate"] = stamp.score(len(off) / len(asked), {"off_kb": named(off, here.concepts), "asked": len(asked)}, CREDIT_PARAMS)
    return scores
