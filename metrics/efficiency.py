"""How long it took (metrics.md 5.5)."""

from __future__ import annotations

from pydantic import JsonValue

from metrics.basis import Basis
from metrics.crediting import named
from metrics.order import elicitable, turn_cost
from metrics.scores import Score


def efficiency_scores(here: Basis) -> dict[str, Score]:
    """Turns, questions, and whether they were too few or too many. A turn here is an examiner turn that asks something."""
    stamp, interview = here.stamp, here.interview
    turns = len(interview.ask_turns)
    excluded: dict[str, int] = {}
    for _, reason in interview.excluded:
        excluded[reason] = excluded.get(reason, 0) + 1
    counted: dict[str, JsonValue] = {
        "events": len(interview.events),
        "repeats": len(interview.repeats),
        "excluded": dict(excluded.items()),
        "leading": named(interview.leading, here.concepts),
    }
    told: dict[str, JsonValue] = {"turns": turns, "examiner_turns": interview.examiner_turns, "t_max": stamp.params.t_max}
    expected = elicitable(here.case, interview.chief_complaint, here.concepts)
    lengths: dict[str, JsonValue] = {"turns": turns, "expected_turns": len(expected), "cost": turn_cost(turns, len(expected))}
    return {
        "turns": stamp.score(turns, told),
        "questions": stamp.score(len(interview.asked), counted),
        "turn_ratio": stamp.score(turns / len(expected), lengths)
        if expected
        else stamp.null("the case has no finding to elicit beyond the chief complaint"),
        "too_short": _too_short(here, turns),
        "too_long": stamp.score(turns > stamp.params.t_max, told, ("t_max",)),
        "exhausted": stamp.score(interview.commit_turn is None, {"examiner_turns": interview.examiner_turns}),
    }


def _too_short(here: Basis, turns: int) -> Score:
    """Fewer ask turns than indispensable findings that were still unknown at the opening."""
    needed = [here.concepts.canonical(concept) for concept in here.case.ground_truth.sine_qua_non]
    if not needed:
        return here.stamp.null("the case has no sine-qua-non list")
    implied: set[str] = set()
    for concept, finding in here.interview.known_before(1).items():
        implied.add(concept)
        if finding.status == "present":
            implied |= set(here.concepts.ancestors(concept, here.stamp.params.hmax))
    unknown = [concept for concept in dict.fromkeys(needed) if concept not in implied]
    components: dict[str, JsonValue] = {
        "turns": turns,
        "unknown_at_opening": named(unknown, here.concepts),
        "needed": named(needed, here.concepts),
    }
    return here.stamp.score(turns < len(unknown), components, ("hmax",))
