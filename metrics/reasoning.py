"""Right for a reason, and not too soon: reliability and premature closure (metrics.md 5.1 and 5.4)."""

from __future__ import annotations

from pydantic import JsonValue

from metrics.crediting import CREDIT_PARAMS, cover, feature_list
from metrics.elicitation import SES_PARAMS, Basis
from metrics.events import ANSWER_OF
from metrics.scores import Score, Stamp
from simulator.trace import DialogueTrace

CURVE = tuple(step / 10 for step in range(11))
"""Thresholds of the reliability curve."""

NO_COMMIT = "not applicable: no diagnosis was given"
FIRST_TURNS = 2
CORE_PARAMS = ("core_weight", "missing_weight", *CREDIT_PARAMS)


def reliability_scores(correct: bool, ses: Score, stamp: Stamp) -> dict[str, Score]:
    """R of 5.1: correct, and SES strictly above tau.

    Hard vetoes are not part of it yet; the components say so.

    Args:
        correct: acc_truth.
        ses: the score of elicitation.
        stamp: parameters and versions.
    """
    uses = ("tau", *SES_PARAMS)
    names = ("reliability", "reliability_graded", "reliability_curve", "cell")
    if not isinstance(ses.value, float):
        return {name: stamp.null(f"no SES: {ses.null_reason}", uses=uses) for name in names}
    value, tau = ses.value, stamp.params.tau
    sound = value > tau
    reliable = correct and sound
    told: dict[str, JsonValue] = {"correct": correct, "ses": value, "ses_above_tau": sound, "tau": tau, "veto": "not evaluated"}
    curve = [(threshold, correct and value > threshold) for threshold in CURVE]
    points: list[JsonValue] = [[threshold, hit] for threshold, hit in curve]
    return {
        "reliability": stamp.score(reliable, told, uses),
        "reliability_graded": stamp.score(value if reliable else 0.0, told, uses),
        "reliability_curve": stamp.score(sum(hit for _, hit in curve) / len(curve), {"curve": points, **told}, SES_PARAMS),
        "cell": stamp.score(cell(correct, sound), told, uses),
    }


def cell(correct: bool, sound: bool) -> str:
    """The cell of the 2x2 of answer and questioning."""
    if correct:
        return "reliable" if sound else "lucky_guess"
    return "reasoned_miss" if sound else "unreasoned_miss"


def closure_scores(here: Basis, trace: DialogueTrace) -> dict[str, Score]:
    """Premature closure (5.4): was enough of the core known, however it came out, when the diagnosis was committed?

    A commit that the budget forced is never premature; without a commit there is nothing to judge.
    """
    stamp, params, interview = here.stamp, here.stamp.params, here.interview
    others = [theta for theta in dict.fromkeys(params.thetas) if theta != params.theta]
    scores = _timing_scores(here, trace)
    names = ("core_coverage", "premature_closure", "closure_deficit", *(f"premature_closure_{theta:g}" for theta in others))
    core = tuple(item for item in here.relevant if item.weight >= params.core_weight)
    if interview.commit_turn is None or not core:
        reason = NO_COMMIT if interview.commit_turn is None else ("no core feature" if here.relevant else here.missing)
        return scores | {name: stamp.null(reason, uses=CORE_PARAMS) for name in names}
    known = interview.known_before(interview.commit_turn)
    coverage = cover([(concept, ANSWER_OF[finding.status]) for concept, finding in known.items()], core, here.crediting)
    share = coverage.recall()
    told: dict[str, JsonValue] = {
        "core_coverage": share,
        "commit_turn": interview.commit_number,
        "forced_by_budget": trace.forced_commit,
    }
    features: dict[str, JsonValue] = {
        "known": feature_list(coverage, here.concepts, missed=False),
        "missed": feature_list(coverage, here.concepts, missed=True),
    }
    deficit = max(0.0, params.theta - share) / params.theta
    scores["core_coverage"] = stamp.score(share, {**told, **features}, CORE_PARAMS)
    scores["closure_deficit"] = stamp.score(deficit, told, ("theta", *CORE_PARAMS))
    scores["premature_closure"] = _premature(here, share, params.theta, trace, {**told, **features})
    for theta in others:
        scores[f"premature_closure_{theta:g}"] = _premature(here, share, theta, trace, told)
    return scores


def _premature(here: Basis, share: float, theta: float, trace: DialogueTrace, told: dict[str, JsonValue]) -> Score:
    uses = ("theta" if theta == here.stamp.params.theta else "thetas", *CORE_PARAMS)
    components = {**told, "theta": theta, "deficit": max(0.0, theta - share) / theta}
    return here.stamp.score(share < theta and not trace.forced_commit, components, uses)


def _timing_scores(here: Basis, trace: DialogueTrace) -> dict[str, Score]:
    """When the diagnosis was committed, in the examiner's turns from 1."""
    stamp, number = here.stamp, here.interview.commit_number
    if number is None:
        return {"commit_fraction": stamp.null(NO_COMMIT), "commit_in_first_2": stamp.null(NO_COMMIT)}
    told: dict[str, JsonValue] = {"commit_turn": number, "max_turns": trace.budget.max_turns, "forced_by_budget": trace.forced_commit}
    early = stamp.score(number <= FIRST_TURNS, told)
    if trace.budget.max_turns == 0:
        return {"commit_fraction": stamp.null("the budget had no turns", told), "commit_in_first_2": early}
    return {"commit_fraction": stamp.score(min(1.0, number / trace.budget.max_turns), told), "commit_in_first_2": early}
