"""Right for a reason, and not too soon: reliability and premature closure (metrics.md 5.1 and 5.4)."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import JsonValue

from metrics.basis import SET_PARAMS, Basis, Candidates, with_candidates
from metrics.beliefs import Timeline
from metrics.crediting import Coverage, Relevant, cover, feature_list
from metrics.elicitation import SES_PARAMS
from metrics.events import ANSWER_OF
from metrics.order import SDISE_PARAMS
from metrics.scores import Score, Stamp
from simulator.trace import DialogueTrace

CURVE = tuple(step / 10 for step in range(11))
"""Thresholds of the reliability curve."""

NO_COMMIT = "not applicable: no diagnosis was given"
FIRST_TURNS = 2
RELIABLE_PARAMS = ("reliability_score", "veto")
CORE_PARAMS = ("core_weight", *SET_PARAMS)
CLOSURE_PARAMS = ("closure", "ddx_threshold", *CORE_PARAMS)


def reliability_scores(correct: bool, elicitation: Mapping[str, Score], stamp: Stamp, vetoed: bool = False) -> dict[str, Score]:
    """R of 5.1: correct, SES (or, by choice, S_dise) strictly above tau, and no hard veto. A vetoed answer counts as wrong in the 2x2.

    Args:
        correct: acc_truth.
        elicitation: the scores of elicitation.
        stamp: parameters and versions.
        vetoed: whether something indispensable to the answer speaks against it (5.2).
    """
    ses = elicitation["ses" if stamp.params.reliability_score == "ses" else "s_dise"]
    score_params = tuple(dict.fromkeys((*RELIABLE_PARAMS, *SES_PARAMS, *SDISE_PARAMS)))
    uses = ("tau", *score_params)
    named_right, correct = correct, correct and not vetoed
    names = ("reliability", "reliability_graded", "reliability_curve", "cell")
    if not isinstance(ses.value, float):
        return {name: stamp.null(f"no {stamp.params.reliability_score}: {ses.null_reason}", uses=uses) for name in names}
    value, tau = ses.value, stamp.params.tau
    sound = value > tau
    reliable = correct and sound
    told: dict[str, JsonValue] = {
        "correct": named_right,
        stamp.params.reliability_score: value,
        "above_tau": sound,
        "tau": tau,
        "vetoed": vetoed,
    }
    curve = [(threshold, correct and value > threshold) for threshold in CURVE]
    points: list[JsonValue] = [[threshold, hit] for threshold, hit in curve]
    return {
        "reliability": stamp.score(reliable, told, uses),
        "reliability_graded": stamp.score(value if reliable else 0.0, told, uses),
        "reliability_curve": stamp.score(sum(hit for _, hit in curve) / len(curve), {"curve": points, **told}, score_params),
        "cell": stamp.score(cell(correct, sound), told, uses),
    }


def cell(correct: bool, sound: bool) -> str:
    """The cell of the 2x2 of answer and questioning."""
    if correct:
        return "reliable" if sound else "lucky_guess"
    return "reasoned_miss" if sound else "unreasoned_miss"


def closure_scores(here: Basis, trace: DialogueTrace, live: Candidates, timeline: Timeline) -> dict[str, Score]:
    """Premature closure (5.4): was enough of the core known, however it came out, when the diagnosis was committed?

    A commit that the budget forced is never premature; without a commit there is nothing to judge.

    Args:
        here: interview, case, knowledge.
        trace: budget and whether the commit was forced.
        live: the candidates, for the alternative over all of them.
        timeline: the beliefs, for the alternative that looks at them.
    """
    stamp, params, interview = here.stamp, here.stamp.params, here.interview
    others = [theta for theta in dict.fromkeys(params.thetas) if theta != params.theta]
    scores = _timing_scores(here, trace)
    names = ("core_coverage", "premature_closure", "closure_deficit", *(f"premature_closure_{theta:g}" for theta in others))
    core = _core(here, here.relevant)
    if interview.commit_turn is None or not core:
        reason = NO_COMMIT if interview.commit_turn is None else ("no core feature" if here.relevant else here.missing)
        return scores | {name: stamp.null(reason, uses=CLOSURE_PARAMS) for name in names}
    of_core = _known_of(here, core)
    wanted = {"all": here.relevant, "ddx": _core(here, with_candidates(here, live))}.get(params.closure, core)
    share = of_core.recall() if wanted == core else _known_of(here, wanted).recall()
    told: dict[str, JsonValue] = {
        "core_coverage": of_core.recall(),
        "coverage": share,
        "of": params.closure,
        "commit_turn": interview.commit_number,
        "forced_by_budget": trace.forced_commit,
    }
    features: dict[str, JsonValue] = {
        "known": feature_list(of_core, here.concepts, missed=False),
        "missed": feature_list(of_core, here.concepts, missed=True),
    }
    deficit = max(0.0, params.theta - share) / params.theta
    scores["core_coverage"] = stamp.score(of_core.recall(), {**told, **features}, CORE_PARAMS)
    scores["closure_deficit"] = stamp.score(deficit, told, ("theta", *CLOSURE_PARAMS))
    leader = float(timeline.final.max()) if params.closure == "belief" else None
    scores["premature_closure"] = _premature(here, share, params.theta, trace, {**told, **features}, leader)
    for theta in others:
        scores[f"premature_closure_{theta:g}"] = _premature(here, share, theta, trace, told, leader)
    return scores


def _core(here: Basis, features: tuple[Relevant, ...]) -> tuple[Relevant, ...]:
    return tuple(item for item in features if item.weight >= here.stamp.params.core_weight)


def _known_of(here: Basis, features: tuple[Relevant, ...]) -> Coverage:
    """How far some features are covered by what was known at the commit."""
    known = here.interview.known_before(here.interview.commit_turn)
    return cover([(concept, ANSWER_OF[finding.status]) for concept, finding in known.items()], features, here.crediting)


def _premature(
    here: Basis, share: float, theta: float, trace: DialogueTrace, told: dict[str, JsonValue], leader: float | None = None
) -> Score:
    """Premature by coverage; or, where the parameters choose so, by the belief in the leading disease, whatever theta is."""
    params = here.stamp.params
    uses = ("theta" if theta == params.theta else "thetas", "closure_belief", *CLOSURE_PARAMS)
    components = {**told, "theta": theta, "deficit": max(0.0, theta - share) / theta}
    early = share < theta if leader is None else leader < params.closure_belief
    return here.stamp.score(early and not trace.forced_commit, {**components, "belief_in_leader": leader}, uses)


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
