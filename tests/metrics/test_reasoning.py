"""Reliability, premature closure and length (metrics.md 5.1, 5.4, 5.5)."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from metrics.params import ScoreParams

GCA = ("Giant cell arteritis", "M31.6")
TTH = ("Tension-type headache", "G44.209")


def test_golden_reliability(world: Any) -> None:
    """5.1: A is reliable, B is not; the right name at the first turn is a lucky guess."""
    good, bad = world.values(world.golden_dialogue("A").commit(GCA)), world.values(world.golden_dialogue("B").commit(TTH))
    lucky = world.values(world.start().commit(GCA))
    missed = world.values(world.golden_dialogue("A").commit(TTH))
    assert (good["reliability"], good["cell"], good["reliability_graded"]) == (True, "reliable", good["ses"])
    assert (bad["reliability"], bad["cell"], bad["reliability_graded"]) == (False, "unreasoned_miss", 0)
    assert (lucky["reliability"], lucky["cell"], lucky["acc_truth"]) == (False, "lucky_guess", True)
    assert (missed["reliability"], missed["cell"]) == (False, "reasoned_miss")


def test_reliability_curve(world: Any) -> None:
    """5.1: R at every tau from 0 to 1, and its mean."""
    score = world.score(world.golden_dialogue("A").commit(GCA)).scores["reliability_curve"]
    assert [hit for _, hit in score.components["curve"]] == [True] * 7 + [False] * 4
    assert score.value == pytest.approx(7 / 11)
    assert world.values(world.start().commit(GCA))["reliability_curve"] == 0


def test_tau_is_strict(world: Any) -> None:
    """5.1: SES equal to tau is not enough."""
    trace = world.start().ask(("fever", "affirmed")).commit(GCA)
    ses = world.values(trace)["ses"]
    assert world.values(trace, params=ScoreParams(tau=ses))["reliability"] is False
    assert world.values(trace, params=ScoreParams(tau=ses - 1e-9))["reliability"] is True
    nothing = world.start().commit(GCA)
    assert world.values(nothing, params=ScoreParams(tau=0))["reliability"] is False


def test_reliability_may_be_judged_by_s_dise(world: Any) -> None:
    """5.1 ALT: MDDial's own score in place of SES."""
    values = world.values(world.golden_dialogue("A").commit(GCA), params=ScoreParams(reliability_score="s_dise", tau=0.665))
    assert (values["reliability"], values["reliability_graded"]) == (True, pytest.approx(values["s_dise"]))
    assert world.values(world.golden_dialogue("A").commit(GCA), params=ScoreParams(tau=0.665))["reliability"] is False


def test_closure_has_alternatives(world: Any) -> None:
    """5.4 ALT: over all features, over the core of all candidates, or by the belief in the leader."""
    trace = world.golden_dialogue("A").commit(GCA)
    coverage = {
        closure: world.score(trace, params=ScoreParams(closure=closure)).scores["premature_closure"].components
        for closure in ("core", "all", "ddx", "belief")
    }
    assert coverage["core"]["coverage"] == pytest.approx(0.5909, abs=5e-5)
    assert coverage["all"]["coverage"] == pytest.approx(0.5385, abs=5e-5)
    assert coverage["ddx"]["coverage"] < coverage["core"]["coverage"]
    assert coverage["belief"]["belief_in_leader"] > 0.99
    assert all(found["core_coverage"] == coverage["core"]["core_coverage"] for found in coverage.values())


KEYS = "fever weight_loss fatigue jaw_claudication visual_loss nausea stress anorexia joint_stiffness impaired_mastication".split()


@given(asked=st.lists(st.sampled_from(KEYS), unique=True), correct=st.booleans(), tau=st.floats(0, 1))
@settings(max_examples=60, deadline=None)
def test_reliable_implies_every_part(world: Any, asked: list[str], correct: bool, tau: float) -> None:
    """The whole is never passed with a part failed."""
    dialogue = world.start()
    for key in asked:
        dialogue.ask((key, "affirmed"))
    values = world.values(dialogue.commit(GCA if correct else TTH), params=ScoreParams(tau=tau))
    if values["reliability"]:
        assert values["acc_truth"] is True
        assert values["ses"] > tau
        assert values["questions"] > 0
        assert values["exhausted"] is False
    assert values["reliability"] == (values["cell"] == "reliable")
    assert (values["reliability_graded"] > 0) == values["reliability"]


# -- premature closure ----------------------------------------------------------------------------------------------


def test_golden_premature_closure(world: Any) -> None:
    """5.4: A knows .5909 of the core when it commits, B nothing."""
    good, bad = world.values(world.golden_dialogue("A").commit(GCA)), world.values(world.golden_dialogue("B").commit(TTH))
    assert (good["premature_closure_0.3"], good["premature_closure"], good["premature_closure_0.7"]) == (False, False, True)
    assert good["closure_deficit"] == 0
    assert (bad["premature_closure_0.3"], bad["premature_closure"], bad["premature_closure_0.7"]) == (True, True, True)
    assert bad["closure_deficit"] == 1
    strict = world.score(world.golden_dialogue("A").commit(GCA)).scores["premature_closure_0.7"]
    assert strict.components["deficit"] == pytest.approx((0.7 - 0.5909) / 0.7, abs=1e-4)


def test_hasty_examiner_is_premature(world: Any) -> None:
    """5.4: who commits after the opening closes early, even if right."""
    values = world.values(world.start().commit(GCA))
    assert (values["premature_closure"], values["commit_in_first_2"], values["commit_fraction"]) == (True, True, pytest.approx(1 / 15))


def test_volunteered_findings_count_as_known(world: Any) -> None:
    """1: coverage looks at what is known, elicitation at what was asked."""
    core = ["weight_loss", "fever", "anorexia", "fatigue", "joint_stiffness", "impaired_mastication", "jaw_claudication", "visual_loss"]
    values = world.values(world.start().open_question(*core).commit(GCA))
    assert values["core_coverage"] == 1
    assert values["ses"] == 0


def test_denied_core_findings_are_known(world: Any) -> None:
    """5.4: a "no" is knowledge; no answer is none."""
    denied = world.values(world.start().ask(("fever", "denied")).commit(GCA))
    silent = world.values(world.start().ask(("fever", None)).commit(GCA))
    assert denied["core_coverage"] == pytest.approx(0.75 / 5.5)
    assert silent["core_coverage"] == 0


def test_forced_commit_is_not_premature(world: Any) -> None:
    """5.4: the budget closed the encounter, not the examiner."""
    score = world.score(world.start().commit(GCA, forced_commit=True)).scores["premature_closure"]
    assert score.value is False
    assert score.components["forced_by_budget"] is True
    assert score.components["deficit"] == 1


def test_without_a_commit_closure_is_not_applicable(world: Any) -> None:
    """16: null, not 0."""
    scores = world.score(world.start().ask(("fever", "affirmed")).seal()).scores
    for name in ("premature_closure", "premature_closure_0.3", "core_coverage", "closure_deficit", "commit_fraction", "commit_in_first_2"):
        assert scores[name].value is None, name
        assert "not applicable" in (scores[name].null_reason or "")


def test_commit_after_the_budget_is_no_more_than_all_of_it(world: Any) -> None:
    """5.4: the fraction of the budget stays in 0..1."""
    trace = world.start().ask(("fever", "affirmed")).commit(GCA, forced_commit=True, budget={"max_turns": 1})
    assert world.values(trace)["commit_fraction"] == 1
    assert world.values(world.start().commit(GCA, budget={"max_turns": 0}))["commit_fraction"] is None


# -- length ---------------------------------------------------------------------------------------------------------


def test_length(world: Any) -> None:
    """5.5: ask turns, distinct questions, their ratio to the findings there are."""
    scores = world.score(world.golden_dialogue("A").remark().commit(GCA)).scores
    assert (scores["turns"].value, scores["questions"].value) == (5, 7)
    assert scores["turn_ratio"].value == pytest.approx(5 / 6)
    assert scores["turns"].components["examiner_turns"] == 7
    assert scores["exhausted"].value is False


def test_too_long(world: Any) -> None:
    """5.5: more ask turns than T_max."""
    dialogue = world.start()
    for number in range(15):
        dialogue.ask((f"X:junk-{number}", "denied"))
    assert world.values(dialogue.commit(GCA))["too_long"] is False
    dialogue.turns.pop()
    assert world.values(dialogue.ask(("fever", "affirmed")).commit(GCA))["too_long"] is True


def test_too_short(world: Any) -> None:
    """5.5: fewer ask turns than indispensable findings that the opening did not tell; without a list it cannot be said."""
    needed = [world.id(key) for key in ("headache", "jaw_claudication", "visual_impairment")]
    case = world.new_case(4, sine_qua_non=needed)
    one = world.start(case).ask(("jaw_claudication", "affirmed"), ("visual_impairment", "affirmed")).commit(GCA)
    two = world.start(case).ask(("jaw_claudication", "affirmed")).ask(("visual_impairment", "affirmed")).commit(GCA)
    short = world.score(one, case).scores["too_short"]
    assert short.value is True
    assert [row["name"] for row in short.components["unknown_at_opening"]] == ["Jaw claudication", "Visual impairment"]
    assert world.values(two, case)["too_short"] is False
    assert world.score(world.start().commit(GCA)).scores["too_short"].null_reason == "the case has no sine-qua-non list"


def test_a_narrower_opening_finding_settles_the_broader_one(world: Any) -> None:
    """4.2: lost sight in the opening words is impaired sight."""
    case = world.new_case(5, sine_qua_non=[world.id("visual_impairment")])
    dialogue = world.start(case)
    dialogue.turns.clear()
    assert world.values(dialogue.opening("headache", "visual_loss").commit(GCA), case)["too_short"] is False
    assert world.values(world.start(case).commit(GCA), case)["too_short"] is True


def test_no_finding_to_elicit(world: Any) -> None:
    """4.5: without T* there is no S_dise and no ratio."""
    case = world.new_case(6, findings=())
    scores = world.score(world.start(case).ask(("fever", "affirmed")).commit(GCA), case).scores
    assert scores["s_dise"].value is None
    assert scores["turn_ratio"].value is None
    assert scores["ses"].value is not None
