"""Anchoring: golden numbers of metrics.md 5.3, its flags, and revision lag."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from metrics.anchoring import Anchor, alternative_coverage, contradictions, find_anchor
from metrics.basis import Basis, basis
from metrics.beliefs import Timeline, candidates, follow
from metrics.events import read_interview
from metrics.params import ScoreParams
from metrics.scores import Stamp

GCA = ("Giant cell arteritis", "M31.6")
TTH = ("Tension-type headache", "G44.209")
MIG = ("Migraine", "G43.909")
PRIOR = (0.1, 0.45, 0.45)
ALL = ("gca", "mig", "tth")


def golden(world: Any, name: str) -> tuple[Basis, Timeline]:
    """A golden dialogue with the prior that the golden numbers were computed with."""
    trace = world.golden_dialogue(name).commit(tuple(world.golden["dialogues"][name]["answer"]))
    here = basis(read_interview(trace, world.case, world.vocabulary), world.case, world.knowledge, Stamp(ScoreParams(), "kb"))
    evidence = [(event.concept, event.presence, event.turn_idx, True) for event in here.interview.events]
    return here, follow(world.knowledge.beliefs, np.array(PRIOR), evidence)


def anchor_of(world: Any, name: str) -> tuple[Basis, Timeline, Anchor]:
    here, timeline = golden(world, name)
    found = find_anchor(here, timeline, ALL)
    assert found is not None
    return here, timeline, found


def test_golden_good_dialogue(world: Any) -> None:
    """5.3: A circles round the truth."""
    _, _, found = anchor_of(world, "A")
    assert found.disease == "gca"
    assert found.share == pytest.approx(0.7787, abs=5e-5)
    assert found.concentration == pytest.approx(0.3994, abs=5e-5)
    assert found.restriction == pytest.approx(0.8571, abs=5e-5)
    assert found.altcov == pytest.approx(0.1375, abs=5e-5)
    assert found.index == pytest.approx(0.7393, abs=5e-5)


def test_golden_anchored_dialogue(world: Any) -> None:
    """5.3: B circles round migraine, and goes on after photophobia is denied."""
    here, timeline, found = anchor_of(world, "B")
    assert found.disease == "mig"
    assert found.share == pytest.approx(0.7031, abs=5e-5)
    assert found.concentration == pytest.approx(0.4464, abs=5e-5)
    assert found.restriction == pytest.approx(0.8333, abs=5e-5)
    assert found.altcov == pytest.approx(0.5085, abs=5e-5)
    assert found.index == pytest.approx(0.4096, abs=5e-5)
    first = contradictions(here, timeline, found)[0]
    assert (first.question, first.perseveration) == (0, 1.0)
    assert first.bayes_factor == pytest.approx(0.1225, abs=5e-5)


def test_golden_flags(world: Any) -> None:
    """5.3: A is confirmatory and not biased, B is biased; also from the trace, with the belief of its opening."""
    good = world.score(world.golden_dialogue("A").commit(GCA)).scores
    bad = world.score(world.golden_dialogue("B").commit(TTH)).scores
    assert (good["anchoring_bias"].value, good["confirmatory"].value) == (False, True)
    assert (good["anchoring_bias"].components["F1_restricted"], good["anchoring_bias"].components["F2_perseverates"]) == (True, False)
    assert (bad["anchoring_bias"].value, bad["confirmatory"].value, bad["perseveration"].value) == (True, False, 1.0)
    assert bad["anchoring_bias"].components["anchor"] == "Migraine"
    assert bad["anchoring_bias"].components["contradictions"][0]["name"] == "Photophobia"


def test_adopted_anchor(world: Any) -> None:
    """5.3 F3: the answer is the anchor, and wrong."""
    assert world.values(world.golden_dialogue("B").commit(MIG))["adopted_anchor"] is True
    assert world.values(world.golden_dialogue("B").commit(TTH))["adopted_anchor"] is False
    assert world.values(world.golden_dialogue("A").commit(GCA))["adopted_anchor"] is False


def test_restricted_to_a_wrong_candidate(world: Any) -> None:
    """5.3 F1: nothing but migraine was asked for, and it was not migraine."""
    dialogue = world.start()
    for key in ("phonophobia", "nausea", "vomiting", "throbbing"):
        dialogue.ask((key, "affirmed"))
    score = world.score(dialogue.commit(MIG)).scores["anchoring_bias"]
    assert score.value is True
    assert (score.components["F1_restricted"], score.components["F2_perseverates"], score.components["F3_adopted"]) == (True, False, True)


def test_three_questions_are_never_anchored(world: Any) -> None:
    """5.3: n of 4 or more."""
    dialogue = world.start()
    for key in ("phonophobia", "nausea", "vomiting"):
        dialogue.ask((key, "denied"))
    trace = dialogue.commit(MIG)
    assert world.values(trace)["anchoring_bias"] is False
    assert world.values(trace, params=ScoreParams(anchor_questions=3))["anchoring_bias"] is True


def test_perseverating_with_the_truth(world: Any) -> None:
    """5.3: by the letter, staying with the true disease after a denial is a bias, too; by choice it is not."""
    dialogue = world.start().ask(("anorexia", "denied"))
    for key in ("fever", "jaw_claudication", "weight_loss"):
        dialogue.ask((key, "affirmed"))
    trace = dialogue.commit(GCA)
    strict = world.score(trace).scores["anchoring_bias"]
    assert (strict.value, strict.components["anchor_is_truth"], strict.components["F2_perseverates"]) == (True, True, True)
    assert world.values(trace, params=ScoreParams(anchor_flag="wrong"))["anchoring_bias"] is False


def test_without_questions_there_is_no_anchor(world: Any) -> None:
    """16: null, with the reason."""
    scores = world.score(world.start().commit(GCA)).scores
    assert {scores[name].null_reason for name in ("anchoring_index", "anchoring_bias", "perseveration")} == {
        "no clinical question was asked"
    }
    off = world.score(world.start().ask(("X:junk-1", "denied")).commit(GCA)).scores
    assert off["anchoring_index"].null_reason == "no question bears on any candidate"


def test_alternatives_without_features_of_their_own_restrict_nobody(world: Any) -> None:
    """5.3: with one candidate there is nothing else to ask for."""
    here, timeline = golden(world, "A")
    assert alternative_coverage(here, timeline, "gca", ("gca",)) == 1.0


def test_candidates_hold_truth_and_answer_whatever_their_belief(world: Any) -> None:
    """5.3: pi_0 of .01 or more, plus the truth and the answer; at most so many."""
    timeline = Timeline(world.knowledge.beliefs, np.array([0.001, 0.994, 0.005]), ())
    assert candidates(timeline, 0.01, (), 20) == ("mig",)
    assert candidates(timeline, 0.01, ("gca", None, "unheard-of"), 20) == ("gca", "mig")
    assert candidates(timeline, 0.001, ("gca", "tth"), 2) == ("gca", "tth")


def snapshot(after: int, name: str, code: str) -> dict[str, Any]:
    return {"after_turn": after, "items": [{"name": name, "icd10": code}]}


def test_revision_lag(world: Any) -> None:
    """5.3: questions between the first contradiction and the first stated differential that the anchor does not lead."""
    dialogue = world.golden_dialogue("B")
    before = [snapshot(1, *MIG), snapshot(5, *MIG)]
    late = world.score(dialogue.commit(TTH, snapshots=[*before, snapshot(9, *TTH)])).scores["revision_lag"]
    assert (late.value, late.components["to"]) == (4, "Tension-type headache")
    never = world.score(world.golden_dialogue("B").commit(TTH, snapshots=before)).scores["revision_lag"]
    assert never.null_reason == "the anchor was never given up in a stated differential"
    silent = world.score(world.golden_dialogue("B").commit(TTH)).scores["revision_lag"]
    assert silent.null_reason == "the examiner stated no differential"
