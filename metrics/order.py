"""Whether what matters was asked early, and in how many turns: nDCG and S_dise (metrics.md 4.4 and 4.5)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import exp, log2

from pydantic import JsonValue

from metrics.basis import SET_PARAMS, Basis
from metrics.crediting import Crediting, Relevant
from metrics.events import QuestionEvent, distinct
from metrics.knowledge import UNASKED_KINDS, Concepts
from metrics.params import ScoreParams
from metrics.scores import Score
from simulator.case import PatientVector

SDISE_PARAMS = ("s_dise_cost", "s_dise_relevance", *SET_PARAMS)
NDCG_PARAMS = ("ndcg_k", "ndcg_discount", "ndcg_gamma", *SET_PARAMS)
NO_FINDING = "the case has no finding to elicit beyond the chief complaint"


def order_scores(here: Basis) -> dict[str, Score]:
    """Both scores."""
    return {"ndcg": _ndcg_score(here), "s_dise": _s_dise_score(here)}


def gains(events: Iterable[QuestionEvent], relevant: Sequence[Relevant], crediting: Crediting) -> list[float]:
    """g_j of every question: the largest weighted credit it adds to any feature (4.4).

    A detail of a concept that has been answered takes no place of its own: it can add nothing, and asking it is no delay.
    """
    return [gain for gain, _ in gains_by_turn(events, relevant, crediting)]


def gains_by_turn(events: Iterable[QuestionEvent], relevant: Sequence[Relevant], crediting: Crediting) -> list[tuple[float, int]]:
    """The gains with the turn of each question."""
    covered = dict.fromkeys((item.concept for item in relevant), 0.0)
    done: set[str] = set()
    reach = crediting.reach(relevant)
    found: list[tuple[float, int]] = []
    for event in events:
        if event.concept in done:
            continue
        gain = 0.0
        for item in reach.of(event.concept):
            credit = crediting.credit(event.concept, item.concept, event.presence)
            gain = max(gain, item.weight * max(0.0, credit - covered[item.concept]))
            covered[item.concept] = max(covered[item.concept], credit)
        if event.answer != "unanswered":
            done.add(event.concept)
        found.append((gain, event.turn_idx))
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


def discounted(found: Sequence[tuple[float, int]], weights: Iterable[float], k: int, params: ScoreParams) -> float:
    """nDCG@K under the discount that the parameters choose.

    By turn, questions of one turn share its rank; a compound turn could then beat the ideal of one feature a turn, so the value stops at 1.

    Args:
        found: gains with their turns, in order.
        weights: of all features.
        k: the cut.
        params: discount and gamma.
    """
    ideal = sorted(weights, reverse=True)[:k]
    if params.ndcg_discount == "event":
        return ndcg([gain for gain, _ in found], ideal, k)
    if params.ndcg_discount == "exponential":
        best = sum(weight * params.ndcg_gamma**rank for rank, weight in enumerate(ideal))
        return sum(gain * params.ndcg_gamma**rank for rank, (gain, _) in enumerate(found[:k])) / best if best else 0.0
    ranks = {turn: rank for rank, turn in enumerate(dict.fromkeys(turn for _, turn in found), start=1)}
    best = dcg(ideal, k)
    value = sum(gain / log2(ranks[turn] + 1) for gain, turn in found if ranks[turn] <= k)
    return min(1.0, value / best) if best else 0.0


def turn_cost(turns: int, expected: int) -> float:
    """C of 4.5: the shorter of the lengths over the longer; 0 without turns."""
    return min(turns, expected) / max(turns, expected) if max(turns, expected) else 0.0


def one_sided_cost(turns: int, expected: int) -> float:
    """The alternative that forgives haste: min(1, T* / T); 0 without turns."""
    return min(1.0, expected / turns) if turns else 0.0


def exponential_cost(turns: int, expected: int) -> float:
    """The alternative exp(-max(0, T - T*) / T*); 0 without turns. `expected` must be positive."""
    return exp(-max(0, turns - expected) / expected) if turns else 0.0


COSTS = {"symmetric": turn_cost, "one_sided": one_sided_cost, "exponential": exponential_cost}


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


def _ndcg_score(here: Basis) -> Score:
    """nDCG@K with K the least of the parameter, the budget and the number of features."""
    if not here.relevant:
        return here.stamp.null(here.missing, uses=NDCG_PARAMS)
    params = here.stamp.params
    found = gains_by_turn(here.interview.events, here.relevant, here.crediting)
    k = min(params.ndcg_k, len(here.relevant), here.max_turns or params.ndcg_k)
    value = discounted(found, (item.weight for item in here.relevant), k, params)
    components: dict[str, JsonValue] = {
        "gains": [gain for gain, _ in found],
        "ideal": [item.weight for item in here.relevant[:k]],
        "k": k,
        "no_questions": not found,
    }
    return here.stamp.score(value, components, NDCG_PARAMS)


def _s_dise_score(here: Basis) -> Score:
    """S_dise (4.5): mean relevance of the ask turns, times how far their number is from that of the findings there were."""
    params = here.stamp.params
    if not here.relevant:
        return here.stamp.null(here.missing, uses=SDISE_PARAMS)
    expected = elicitable(here.case, here.interview.chief_complaint, here.concepts)
    if not expected:
        return here.stamp.null(NO_FINDING, uses=SDISE_PARAMS)
    turns = here.interview.ask_turns
    relevance = dict.fromkeys(turns, 0.0)
    weighted = dict.fromkeys(turns, 0.0)
    reach = here.crediting.reach(here.relevant)
    for event in here.interview.events:
        for item in reach.of(event.concept):
            credit = here.crediting.credit(event.concept, item.concept, event.presence)
            relevance[event.turn_idx] = max(relevance[event.turn_idx], credit)
            weighted[event.turn_idx] = max(weighted[event.turn_idx], item.weight * credit)
    count = len(turns)
    mean, heavy = (sum(values.values()) / count if count else 0.0 for values in (relevance, weighted))
    costs = {name: cost(count, len(expected)) for name, cost in COSTS.items()}
    components: dict[str, JsonValue] = {
        "turns": count,
        "expected_turns": len(expected),
        "relevance_by_turn": list(relevance.values()),
        "mean_relevance": mean,
        "cost": costs[params.s_dise_cost],
        "one_sided": mean * costs["one_sided"],
        "exponential": mean * costs["exponential"],
        "weighted": heavy * costs["symmetric"],
        "no_questions": not count,
    }
    chosen = heavy if params.s_dise_relevance == "weighted" else mean
    return here.stamp.score(chosen * costs[params.s_dise_cost], components, SDISE_PARAMS)
