"""Was the diagnosis right, and if not, how far off (metrics.md 3)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal

from pydantic import JsonValue

from metrics.answers import Outcome, is_primary, is_true, read_outcome, resolve_answer, synonyms, truth_codes
from metrics.knowledge import Icd, Knowledge
from metrics.params import ScoreParams
from metrics.scores import Score, Stamp
from ontology.icd10 import Codes, Comparison

__all__ = ["Outcome", "diagnosis_scores", "headline", "read_outcome", "resolve_answer", "synonyms", "truth_codes"]

EXHAUSTED = "no diagnosis was given"
NO_CODE = "the answer has no ICD-10 code"
LEVELS: tuple[tuple[str, Literal["category", "block", "chapter"]], ...] = (
    ("acc_cat3", "category"),
    ("acc_block", "block"),
    ("acc_chapter", "chapter"),
)
PLAIN = ("sdd_sym", "sdd_jaccard", "sdd_directional")
INFORMED = ("sdd_ic", "sdd_jaccard_ic", "sdd_resnik")
DISTANCES = ("sdd", *PLAIN, *INFORMED)
FAR = ("unresolved_distance",)
HEADLINE = ("sdd_headline", "ic_method")


def diagnosis_scores(outcome: Outcome, knowledge: Knowledge, stamp: Stamp) -> dict[str, Score]:
    """All scores of the answer. Without one, accuracies are false and distances as far as can be."""
    return {
        **_accuracy_scores(outcome, knowledge.icd, stamp),
        **_rank_scores(outcome, knowledge.icd, stamp),
        **_distance_scores(outcome, knowledge.icd, stamp),
        **_secondary_scores(outcome, knowledge.icd, stamp),
    }


def _told(outcome: Outcome, whole: bool = False) -> dict[str, JsonValue]:
    """Truth and first answer; `whole` adds how the answer became a code."""
    first = outcome.first
    answer: JsonValue = None
    if first is not None:
        answer = first.json() if whole else {"name": first.name, "codes": list(first.codes), "flags": list(first.flags)}
    return {"truth": list(outcome.truth), "answer": answer, "exhausted": first is None}


def _accuracy_scores(outcome: Outcome, icd: Icd, stamp: Stamp) -> dict[str, Score]:
    told, first = _told(outcome), outcome.first
    relation = icd.compare(first.codes, outcome.truth).relation if first else None
    scores = {
        "acc_exact": stamp.score(relation == "exact", told),
        "acc_truth": stamp.score(first is not None and is_primary(first, outcome, icd), _told(outcome, whole=True)),
        "relation": stamp.null(EXHAUSTED, told) if relation is None else stamp.score(relation, told),
        "unresolved": stamp.null(EXHAUSTED, told) if first is None else stamp.score(not first.codes, told),
    }
    resolved = first is not None and bool(first.codes)
    reason = EXHAUSTED if first is None else NO_CODE
    scores["acc_truth_resolved"] = stamp.score(is_primary(first, outcome, icd), told) if first and resolved else stamp.null(reason, told)
    for name, level in LEVELS:
        scores[name] = stamp.score(first is not None and icd.same_at(level, first.codes, outcome.truth), told)
    return scores


def _rank_scores(outcome: Outcome, icd: Icd, stamp: Stamp) -> dict[str, Score]:
    hits = [rank for rank, answer in enumerate(outcome.answers, start=1) if is_primary(answer, outcome, icd)]
    told: dict[str, JsonValue] = {
        "rank": hits[0] if hits else None,
        "answers": [{"name": answer.name, "codes": list(answer.codes), "prob": answer.prob} for answer in outcome.answers],
        "truth": list(outcome.truth),
        "exhausted": not outcome.answers,
    }
    found = {k: bool(hits) and hits[0] <= k for k in stamp.params.top_k}
    scores = {f"top{k}": stamp.score(hit, told, ("top_k",)) for k, hit in found.items()}
    shares: dict[str, JsonValue] = {f"top{k}": hit for k, hit in found.items()}
    scores["challenge"] = stamp.score(sum(found.values()) / len(found), shares, ("top_k",))
    return scores


def headline(icd: Icd, params: ScoreParams) -> Callable[[Codes, Codes], float]:
    """The distance that the parameters call sdd, and that ranked and secondary answers are measured by."""
    if params.sdd_headline == "ic":
        return lambda pred, truth: icd.d_lin(pred, truth, params.ic_method)
    if params.sdd_headline == "descendant":
        return icd.sdd
    if params.sdd_headline == "symmetric":
        return icd.sdd_sym
    field = {"jaccard": "sdd_jaccard", "directional": "sdd_directional"}[params.sdd_headline]
    return lambda pred, truth: float(getattr(icd.compare(pred, truth), field))


def _distance_scores(outcome: Outcome, icd: Icd, stamp: Stamp) -> dict[str, Score]:
    told, first = _told(outcome), outcome.first
    far, method = stamp.params.unresolved_distance, stamp.params.ic_method
    codes = first.codes if first is not None else ()
    between = icd.compare(codes, outcome.truth) if codes else None
    told |= _between(between)
    measure = headline(icd, stamp.params)
    values: dict[str, float | None] = dict.fromkeys(DISTANCES)
    if between is not None:
        values |= {name: float(getattr(between, name)) for name in PLAIN}
        values["sdd"] = measure(codes, outcome.truth)
        values["sdd_ic"] = icd.d_lin(codes, outcome.truth, method)
        values["sdd_jaccard_ic"] = icd.d_jaccard_ic(codes, outcome.truth, method)
        values["sdd_resnik"] = icd.d_resnik(codes, outcome.truth, method)
    scores = {name: stamp.score(far if value is None else value, told, _uses(name)) for name, value in values.items()}
    nothing = EXHAUSTED if first is None else NO_CODE
    resolved = {"sdd_resolved": values["sdd"], "sdd_path": None if between is None else between.path}
    for name, value in resolved.items():
        uses = HEADLINE if name == "sdd_resolved" else ()
        scores[name] = stamp.null(nothing, told, uses) if value is None else stamp.score(value, told, uses)
    each = [measure(answer.codes, outcome.truth) if answer.codes else far for answer in outcome.answers]
    return scores | _ranked_distances(outcome, each, stamp)


def _uses(name: str) -> tuple[str, ...]:
    if name == "sdd":
        return (*HEADLINE, *FAR)
    return ("ic_method", *FAR) if name in INFORMED else FAR


def _ranked_distances(outcome: Outcome, each: Sequence[float], stamp: Stamp) -> dict[str, Score]:
    """Best of the first k answers, and the expected distance."""
    far = stamp.params.unresolved_distance
    listed: list[JsonValue] = [
        {"name": answer.name, "codes": list(answer.codes), "prob": answer.prob, "sdd": value}
        for answer, value in zip(outcome.answers, each, strict=True)
    ]
    ranks: dict[str, JsonValue] = {"answers": listed, "truth": list(outcome.truth), "exhausted": not outcome.answers}
    uses = ("top_k", *HEADLINE, *FAR)
    best = {f"sdd_best_of_{k}": min(each[:k], default=far) for k in stamp.params.top_k if k > 1}
    scores = {name: stamp.score(value, ranks, uses) for name, value in best.items()}
    return scores | {"sdd_expected": _expected(outcome, each, ranks, stamp)}


def _between(between: Comparison | None) -> dict[str, JsonValue]:
    """Where prediction and truth part, for the reader."""
    if between is None or between.pair is None or between.overlap is None:
        return {"relation": "unresolved"}
    shared, extra, missed = between.overlap
    return {
        "relation": between.relation,
        "nearest_pair": list(between.pair),
        "shared_levels": shared,
        "levels_beyond": extra,
        "levels_missed": missed,
    }


def _expected(outcome: Outcome, each: Sequence[float], ranks: dict[str, JsonValue], stamp: Stamp) -> Score:
    """Expected distance under the stated probabilities; what they leave over counts as farthest, more than 1 is scaled down (3.3)."""
    far, uses = stamp.params.unresolved_distance, (*HEADLINE, *FAR)
    if not outcome.answers:
        return stamp.score(far, ranks, uses)
    probs = [answer.prob for answer in outcome.answers]
    if all(prob is None for prob in probs):
        return stamp.null("no probabilities were given", ranks, uses)
    mass = sum(prob or 0.0 for prob in probs)
    scale = 1 / mass if mass > 1 else 1.0
    value = sum((prob or 0.0) * scale * distance for prob, distance in zip(probs, each, strict=True))
    left = max(0.0, 1.0 - mass)
    # The weights need not add up to 1 in the last digit.
    return stamp.score(min(value + left * far, 1.0), {**ranks, "mass": mass, "scaled": mass > 1}, uses)


def _secondary_scores(outcome: Outcome, icd: Icd, stamp: Stamp) -> dict[str, Score]:
    """The case's other diagnoses: a hit is consistent, never primary; the distance carries a penalty (3.1, 3.3)."""
    told, first = _told(outcome), outcome.first
    far, penalty = stamp.params.unresolved_distance, stamp.params.lambda_sec
    uses, measure = ("lambda_sec", *HEADLINE, *FAR), headline(icd, stamp.params)
    others = [(name, codes) for name, codes in outcome.secondary if codes]
    told |= {"secondary": [{"name": name, "codes": list(codes)} for name, codes in others]}
    if first is None or not first.codes:
        case_score = stamp.score(far, told, uses)
    else:
        value, via = measure(first.codes, outcome.truth), "primary"
        for name, codes in others:
            distance = penalty + (1 - penalty) * measure(first.codes, codes)
            if distance < value:
                value, via = distance, name
        case_score = stamp.score(value, {**told, "via": via}, uses)
    if not others:
        return {"sdd_case": case_score, "secondary_hit": stamp.null("the case has no secondary diagnosis", told)}
    hit = first is not None and any(is_true(first, codes, icd) for _, codes in others)
    return {"sdd_case": case_score, "secondary_hit": stamp.score(hit, told)}
