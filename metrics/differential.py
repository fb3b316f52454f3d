"""The whole list of answers against the case's differential, and the confidence stated with it (metrics.md 7.3 and 7.4).

Names and definitions of the differential metrics are DDXPlus' (Fansi Tchango et al., NeurIPS 2022).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from math import log

from pydantic import JsonValue

from metrics.answers import Answered, Outcome, is_primary, truth_codes
from metrics.basis import Basis
from metrics.calibration import brier, log_score, multiclass_brier
from metrics.knowledge import Knowledge
from metrics.scores import Score
from metrics.shares import f_beta
from simulator.trace import DialogueTrace

SMOOTHING = 1e-10
SEVERE = 2
"""Acuity up to which a disease is severe; DDXPlus counts its severities 1 and 2 as severe."""
NO_GOLD = "the case has no differential"
NO_ANSWER = "no diagnosis was given"
NO_CONFIDENCE = "no confidence was stated"
DDX = ("ddx_threshold",)
SETS = ("ddr", "ddp", "ddf1", "dsr", "dsp", "dsf1", "ddx_kl")


def differential_scores(here: Basis, outcome: Outcome) -> dict[str, Score]:
    """DDR, DDP, DDF1; the same on severe diseases; KL from the gold differential; and GTPA@k."""
    gold = gold_differential(here)
    given = _by_key((disease_key(here.knowledge, a.name, a.codes), a.prob) for a in outcome.answers)
    scores = _gtpa(here, outcome)
    if not gold:
        return scores | {name: here.stamp.null(NO_GOLD, uses=DDX) for name in SETS}
    least = here.stamp.params.ddx_threshold
    wanted = {key for key, p in gold.items() if p is not None and p > least}
    listed = {key for key, p in given.items() if p is None or p > least}
    scores |= _overlap(here, ("ddr", "ddp", "ddf1"), wanted, listed, "the differential has nothing above the threshold")
    severe = {key for key in wanted | listed if _severe(here.knowledge, key)}
    scores |= _overlap(here, ("dsr", "dsp", "dsf1"), wanted & severe, listed & severe, "the differential names no severe disease")
    return scores | {"ddx_kl": _kl(here, gold, given)}


def gold_differential(here: Basis) -> dict[str, float | None]:
    """Probabilities of the case's differential by disease."""
    items = here.case.ground_truth.differential
    return _by_key((disease_key(here.knowledge, item.dx.name, truth_codes(item.dx, here.knowledge.icd)), item.prob) for item in items)


def disease_key(knowledge: Knowledge, name: str, codes: tuple[str, ...]) -> str:
    """One id for a diagnosis: its profile's, else its codes, else its name."""
    profile = knowledge.profile_of(name, codes)
    if profile is not None:
        return profile.disease_id
    return "|".join(sorted(codes)) or knowledge.icd.fold_name(name)


def _by_key(pairs: Iterable[tuple[str, float | None]]) -> dict[str, float | None]:
    found: dict[str, float | None] = {}
    for key, prob in pairs:
        if key in found and prob is not None:
            found[key] = (found[key] or 0.0) + prob
        else:
            found.setdefault(key, prob)
    return found


def overlap_scores(wanted: Collection[str], given: Collection[str]) -> tuple[float, float, float]:
    """Recall |G & P| / |G|, precision |G & P| / |P| (0 if nothing is given) and F1. `wanted` must not be empty."""
    both = len(set(wanted) & set(given))
    recall, precision = both / len(set(wanted)), both / len(set(given)) if given else 0.0
    return recall, precision, f_beta(precision, recall)


def kl_divergence(gold: Mapping[str, float], given: Mapping[str, float]) -> float:
    """KL(gold || given) in nats; both are smoothed by 1e-10 and scaled to 1 over all that either names."""
    keys = sorted(set(gold) | set(given))
    g, p = ([side.get(key, 0.0) + SMOOTHING for key in keys] for side in (gold, given))
    return sum(a / sum(g) * log((a / sum(g)) / (b / sum(p))) for a, b in zip(g, p, strict=True))


def _overlap(here: Basis, names: tuple[str, str, str], wanted: set[str], listed: set[str], nothing: str) -> dict[str, Score]:
    if not wanted:
        return {name: here.stamp.null(nothing, uses=DDX) for name in names}
    told: dict[str, JsonValue] = {
        "both": [*sorted(wanted & listed)],
        "missed": [*sorted(wanted - listed)],
        "beyond": [*sorted(listed - wanted)],
    }
    values = overlap_scores(wanted, listed)
    return {name: here.stamp.score(value, told, DDX) for name, value in zip(names, values, strict=True)}


def _severe(knowledge: Knowledge, key: str) -> bool:
    profile = knowledge.profiles.get(key)
    return profile is not None and profile.acuity is not None and profile.acuity <= SEVERE


def _kl(here: Basis, gold: Mapping[str, float | None], given: Mapping[str, float | None]) -> Score:
    stated = {key: prob for key, prob in given.items() if prob is not None}
    if not stated:
        return here.stamp.null("no probabilities were given", uses=DDX)
    known = {key: prob for key, prob in gold.items() if prob is not None}
    return here.stamp.score(kl_divergence(known, stated), {"diseases": len(set(known) | set(stated))}, DDX)


def _gtpa(here: Basis, outcome: Outcome) -> dict[str, Score]:
    """GTPA@k: the truth is among the first k answers, with a probability above the threshold (unstated ones pass)."""
    least, ks = here.stamp.params.ddx_threshold, here.stamp.params.top_k
    passing = [a.prob is None or a.prob > least for a in outcome.answers]
    hits = [
        rank
        for rank, answer in enumerate(outcome.answers, start=1)
        if passing[rank - 1] and is_primary(answer, outcome, here.knowledge.icd)
    ]
    told: dict[str, JsonValue] = {"rank": hits[0] if hits else None}
    return {f"gtpa{k}": here.stamp.score(bool(hits) and hits[0] <= k, told, ("top_k", *DDX)) for k in ks}


# -- confidence -----------------------------------------------------------------------------------------------------


def confidence_scores(here: Basis, outcome: Outcome, trace: DialogueTrace) -> dict[str, Score]:
    """Brier, log score and signed gap of the stated confidence in the first answer, and the Brier score over all answers.

    The confidence is the one stated with the answer, else the first answer's probability. Without either there is no score.
    """
    stamp, first = here.stamp, outcome.first
    names = ("confidence", "brier", "log_score", "confidence_gap", "brier_multiclass")
    if first is None or trace.outcome is None:
        return {name: stamp.null(NO_ANSWER) for name in names}
    stated = trace.outcome.confidence
    value = first.prob if stated is None else stated
    correct = is_primary(first, outcome, here.knowledge.icd)
    told: dict[str, JsonValue] = {"confidence": value, "correct": correct, "from": "probability" if stated is None else "confidence"}
    scores = {"brier_multiclass": _multiclass(here, outcome)}
    if value is None:
        return scores | {name: stamp.null(NO_CONFIDENCE) for name in names[:4]}
    value = min(1.0, value)
    return scores | {
        "confidence": stamp.score(value, told),
        "brier": stamp.score(brier(value, correct), told),
        "log_score": stamp.score(log_score(value if correct else 1 - value), told),
        "confidence_gap": stamp.score(value - float(correct), told),
    }


def _multiclass(here: Basis, outcome: Outcome) -> Score:
    answers: tuple[Answered, ...] = outcome.answers
    if all(answer.prob is None for answer in answers):
        return here.stamp.null("no probabilities were given")
    probs = [answer.prob or 0.0 for answer in answers]
    mass = sum(probs)
    if mass > 1:
        probs = [p / mass for p in probs]
    place = next((n for n, answer in enumerate(answers) if is_primary(answer, outcome, here.knowledge.icd)), None)
    told: dict[str, JsonValue] = {"probs": list(probs), "truth_at": place, "mass": mass}
    return here.stamp.score(multiclass_brier(probs, place), told)
