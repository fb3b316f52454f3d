"""A change of any score of a fixed trace needs a new SCORER_VERSION.

After raising it on purpose, write the file again: `BEDSIDE_WRITE_GOLDEN=1 pytest tests/metrics/test_golden_scorecard.py`.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from metrics.scores import SCORER_VERSION

GOLDEN = Path(__file__).parents[1] / "data" / "golden_scorecards.json"
GCA = ("Giant cell arteritis", "M31.6")
DIGITS = 10
KEPT = ("value", "null_reason", "params")


def traces(world: Any) -> dict[str, tuple[Any, Any]]:
    """Fixed traces that touch every score: (trace, case) by name."""
    differential = [
        {"dx": {"name": "Giant cell arteritis", "icd10": ["M31.6"]}, "prob": 0.6},
        {"dx": {"name": "Migraine", "icd10": ["G43"]}, "prob": 0.4},
    ]
    rich = world.new_case(
        60,
        differential=differential,
        secondary=[{"name": "Heart failure", "icd10": ["I50.9"]}],
        sine_qua_non=[world.id("headache"), world.id("jaw_claudication")],
    )
    mixed = (
        world.start(rich)
        .open_question("fatigue")
        .ask(("headache", "affirmed", "onset"), ("abn_vision", "affirmed"), ("smoking", "denied"), ("fever", None))
        .ask(("fatigue", "affirmed"), ("fever", "affirmed"), ("visual_loss", "denied"))
        .state("nausea", confirmed=True)
        .order("esr")
        .ask(("jaw_claudication", "unsure"), ("X:junk-1", "denied"))
    )
    return {
        "A": (world.golden_dialogue("A").commit((*GCA, 0.85), ("Migraine", "G43.909", 0.1)), world.case),
        "B": (world.golden_dialogue("B").commit(("Tension-type headache", "G44.209")), world.case),
        "shotgun_capped": (world.golden_dialogue("shotgun_capped").commit(GCA, forced_commit=True), world.case),
        "mixed": (mixed.commit(("Heart failure", None, 0.5), ("odd", None, 0.2), ("GCA with PMR", "M31.5", 0.2)), rich),
        "exhausted": (world.start(rich).ask(("fever", "affirmed")).seal(), rich),
        "failed": (world.start().seal(termination="patient_error"), world.case),
    }


def rounded(value: Any) -> Any:
    """Numbers to ten digits: other processors may differ in the last."""
    if isinstance(value, float):
        return round(value, DIGITS)
    if isinstance(value, list):
        return [rounded(item) for item in value]
    return {key: rounded(item) for key, item in value.items()} if isinstance(value, dict) else value


def current(world: Any) -> dict[str, Any]:
    found = {}
    for name, (trace, case) in traces(world).items():
        scores = world.score(trace, case).model_dump(mode="json")["scores"]
        found[name] = {metric: rounded({key: score[key] for key in KEPT}) for metric, score in scores.items()}
    return found


def test_scores_change_only_with_the_scorer_version(world: Any) -> None:
    """Old leaderboards must not change in silence."""
    found = current(world)
    stored = json.loads(GOLDEN.read_text(encoding="utf-8")) if GOLDEN.exists() else {"scorer_version": None, "cards": {}}
    different = sorted(
        f"{name}.{metric}"
        for name in found.keys() | stored["cards"].keys()
        for metric in found.get(name, {}).keys() | stored["cards"].get(name, {}).keys()
        if found.get(name, {}).get(metric) != stored["cards"].get(name, {}).get(metric)
    )
    same_version = stored["scorer_version"] == SCORER_VERSION
    assert not (different and same_version), f"scores changed, so raise SCORER_VERSION in metrics/scores.py: {different}"
    if os.environ.get("BEDSIDE_WRITE_GOLDEN") and not same_version:
        lines = [json.dumps(name) + ": " + json.dumps(card, ensure_ascii=False) for name, card in found.items()]
        text = f'{{"scorer_version": {json.dumps(SCORER_VERSION)},\n"cards": {{\n' + ",\n".join(lines) + "\n}}\n"
        GOLDEN.write_text(text, encoding="utf-8")
        return
    assert same_version, "SCORER_VERSION was raised: write the golden scorecards again (see the top of this file)"


def test_every_score_is_told_in_words(world: Any) -> None:
    """14: concepts in components come with their names, so that a reader needs no table."""

    def nameless(value: Any) -> bool:
        if isinstance(value, dict):
            return ("concept" in value and "name" not in value) or any(nameless(item) for item in value.values())
        return isinstance(value, list) and any(nameless(item) for item in value)

    for name, (trace, case) in traces(world).items():
        for metric, score in world.score(trace, case).scores.items():
            assert not nameless(score.components), f"{name}.{metric}"
