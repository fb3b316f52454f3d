"""How well the history was taken: precision, recall, SES, order, turn cost (metrics.md 4)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import log2

from pydantic import JsonValue

from metrics.crediting import (
    ANTECEDENT_KINDS,
    CREDIT_PARAMS,
    SYMPTOM_KINDS,
    UNASKED_KINDS,
    Coverage,
    Crediting,
    Relevant,
    asked_pairs,
    cover,
    feature_list,
    named,
    relevance_set,
)
from metrics.events import Interview, QuestionEvent, distinct
from metrics.knowledge import Concepts, Knowledge
from metrics.params import ScoreParams
from metrics.scores import Score, Stamp
from ontology.profiles import DiseaseProfile
from simulator.case import PatientVector

SET_PARAMS = (*CREDIT_PARAMS, "missing_weight")
SES_PARAMS = ("beta", "precision", *SET_PARAMS)
NO_QUESTIONS = "no clinical question was asked"
NO_FEATURES = "the relevance set is empty"


@dataclass(frozen=True)
class Basis:
    """What all scores of this family start from; `profile` is the truth's, None if the knowledge base has none."""

    interview: Interview
    case: PatientVector
    knowledge: Knowledge
    stamp: Stamp
    crediting: Crediting
    profile: DiseaseProfile | None
    relevant: tuple[Relevant, ...]

    @property
    def concepts(self) -> Concepts:
        """The vocabulary."""
        return self.knowledge.vocabulary

    @property
    def missing(self) -> str:
        """Why there is no relevance set."""
        return f"no profile of {self.case.ground_truth.disease_id}" if self.profile is None else NO_FEATURES


def basis(interview: Interview, case: PatientVector, knowledge: Knowledge, stamp: Stamp) -> Basis:
    """Look up the truth's profile and its relevance set."""
    profile = knowledge.profiles.get(case.ground_truth.disease_id)
    relevant: tuple[Relevant, ...] = ()
    if profile is not None:
        relevant = relevance_set(profile, interview.chief_complaint, knowledge.vocabulary, stamp.params)
    return Basis(interview, case, knowledge, stamp, Crediting(knowledge.vocabulary, stamp.params), profile, relevant)


def elicitation_scores(here: Basis, predicted: DiseaseProfile | None = None, candidates: Sequence[DiseaseProfile] = ()) -> dict[str, Score]:
    """All scores of the history.

    Args:
        here: the interview, the case and the relevance set.
        predicted: the profile of the first answer, for `self_coherence`.
        candidates: profiles of the case's differential, for the scores of `ddx`.
    """
    scores = {**_ses_scores(here), **_part_scores(here), **_candidate_scores(here, predicted, candidates)}
    scores["ndcg"] = _ndcg_score(here)
    scores["s_dise"] = _s_dise_score(here)
    return {**scores, **_question_scores(here)}


def f_beta(precision: float, recall: float, beta: float = 1.0) -> float:
    """(1 + b²) P R / (b² P + R); 0 if both are 0."""
    below = beta * beta * precision + recall
    return (1 + beta * beta) * precision * recall / below if below else 0.0


def gains(events: Iterable[QuestionEvent], relevant: Sequence[Relevant], crediting: Crediting) -> list[float]:
    """g_j of every question: the largest weighted credit it adds to any feature (4.4).

    A detail of a concept that has been answered takes no place of its own: it can add nothing, and asking it is no delay.
    """
    covered = dict.fromkeys((item.concept for item in relevant), 0.0)
    done: set[str] = set()
    found: list[float] = []
    for event in events:
        if event.concept in done:
            continue
        gain = 0.0
        for item in relevant:
            credit = crediting.credit(event.concept, item.concept, event.presence)
            gain = max(gain, item.weight * max(0.0, credit - covered[item.concept]))
            covered[item.concept] = max(covered[item.concept], credit)
        if event.answer != "unanswered":
            done.add(event.concept)
        found.append(gain)
    return found


def dcg(values: Sequence[float], k: int) -> float:
    """Sum of the first k values, each divided by log2(rank + 1)."""
    return sum(value / log2(rank + 1) for rank, value in enumerate(values[:k], start=1))


def ndcg(values: Sequence[float], weights: Iterable[float], k: int) -> float:
    """DCG@K over that of the K largest weights, K being at most the number of weights."""
    ideal = sorted(weights, reverse=True)
    k = min(k, len(ideal))
    best = dcg(ideal, k)
    return dcg(values, k) / best if best else 0.0


def turn_cost(turns: int, expected: int) -> float:
    """C of 4.5: the shorter of the lengths over the longer; 0 without turns."""
    return min(turns, expected) / max(turns, expected) if max(turns, expected) else 0.0


def elicitable(case: PatientVector, complaint: Iterable[str], concepts: Concepts) -> tuple[str, ...]:
    """Present findings that could be asked for: T* counts them (4.5). Traps and the chief complaint are none."""
    known = set(complaint)
    facts = [
        fact
        for fact in case.patient_facts.facts
        if fact.status == "present"
        and fact.attribute is None
        and fact.askable
        and fact.disclosure != "never"
        and fact.kind not in UNASKED_KINDS
        and fact.status_source != "trap"
        and not fact.distractor
    ]
    return tuple(c for c in distinct(concepts.canonical(fact.concept.cui) for fact in facts) if c not in known)


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


def _candidate_scores(here: Basis, predicted: DiseaseProfile | None, candidates: Sequence[DiseaseProfile]) -> dict[str, Score]:
    """Precision and SES over all candidates (0b D1), and SES against the disease that was concluded (4.1)."""
    stamp, params, events = here.stamp, here.stamp.params, here.interview.events
    uses = (*SET_PARAMS, "ddx_threshold")
    scores: dict[str, Score] = {}
    if not here.relevant or not candidates:
        reason = "the case's differential names no disease of the profile set" if here.relevant else here.missing
        scores = {"precision_ddx": stamp.null(reason, uses=uses), "ses_ddx": stamp.null(reason, uses=uses)}
    else:
        wide = _union(here, candidates)
        coverage = cover(asked_pairs(events), wide, here.crediting)
        who: dict[str, JsonValue] = {"candidates": [profile.name for profile in candidates], **_question_parts(here, coverage)}
        scores["precision_ddx"] = stamp.score(coverage.precision(), who, uses)
        ses = _ses_of(here, here.relevant, events, wide)
        scores["ses_ddx"] = stamp.score(ses.value or 0.0, {**ses.components, "candidates": who["candidates"]}, ("beta", "precision", *uses))
    own = () if predicted is None else relevance_set(predicted, here.interview.chief_complaint, here.concepts, params)
    if predicted is None or not own:
        scores["self_coherence"] = stamp.null("the answer is not a disease of the profile set" if predicted is None else NO_FEATURES)
    else:
        ses = _ses_of(here, own, events)
        scores["self_coherence"] = ses.model_copy(update={"components": {"disease": predicted.name, **ses.components}})
    return scores


def _union(here: Basis, candidates: Sequence[DiseaseProfile]) -> tuple[Relevant, ...]:
    found = {item.concept: item for item in here.relevant}
    for profile in candidates:
        for item in relevance_set(profile, here.interview.chief_complaint, here.concepts, here.stamp.params):
            if item.concept not in found or found[item.concept].weight < item.weight:
                found[item.concept] = item
    return tuple(sorted(found.values(), key=lambda item: (-item.weight, item.concept)))


# -- order and length -----------------------------------------------------------------------------------------------


def _ndcg_score(here: Basis) -> Score:
    uses = ("ndcg_k", *SET_PARAMS)
    if not here.relevant:
        return here.stamp.null(here.missing, uses=uses)
    found = gains(here.interview.events, here.relevant, here.crediting)
    k = here.stamp.params.ndcg_k
    value = ndcg(found, (item.weight for item in here.relevant), k)
    components: dict[str, JsonValue] = {
        "gains": list(found),
        "ideal": [item.weight for item in here.relevant[:k]],
        "k": min(k, len(here.relevant)),
        "no_questions": not found,
    }
    return here.stamp.score(value, components, uses)


def _s_dise_score(here: Basis) -> Score:
    """S_dise (4.5): mean relevance of the ask turns, times how far their number is from that of the findings there were."""
    if not here.relevant:
        return here.stamp.null(here.missing, uses=SET_PARAMS)
    expected = elicitable(here.case, here.interview.chief_complaint, here.concepts)
    if not expected:
        return here.stamp.null("the case has no finding to elicit beyond the chief complaint", uses=SET_PARAMS)
    turns = here.interview.ask_turns
    relevance = dict.fromkeys(turns, 0.0)
    weighted = dict.fromkeys(turns, 0.0)
    for event in here.interview.events:
        for item in here.relevant:
            credit = here.crediting.credit(event.concept, item.concept, event.presence)
            relevance[event.turn_idx] = max(relevance[event.turn_idx], credit)
            weighted[event.turn_idx] = max(weighted[event.turn_idx], item.weight * credit)
    count = len(turns)
    mean = sum(relevance.values()) / count if count else 0.0
    cost = turn_cost(count, len(expected))
    components: dict[str, JsonValue] = {
        "turns": count,
        "expected_turns": len(expected),
        "relevance_by_turn": list(relevance.values()),
        "mean_relevance": mean,
        "cost": cost,
        "one_sided": mean * min(1.0, len(expected) / count) if count else 0.0,
        "weighted": sum(weighted.values()) / count * cost if count else 0.0,
        "no_questions": not count,
    }
    return here.stamp.score(mean * cost, components, SET_PARAMS)


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
