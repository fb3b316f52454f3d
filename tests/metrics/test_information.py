"""Belief and information: golden numbers of metrics.md 7.2, and what always holds."""

from __future__ import annotations

from math import log2
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from metrics.beliefs import follow
from metrics.information import truth_gain, worth_of
from ontology.belief import entropy

GCA = ("Giant cell arteritis", "M31.6")
TTH = ("Tension-type headache", "G44.209")
PRIOR = np.array([0.1, 0.45, 0.45])
TRUTH = 0


def golden_timeline(world: Any, name: str) -> Any:
    turns = world.golden["dialogues"][name]["turns"]
    evidence = [(world.id(key), answer, number, True) for number, turn in enumerate(turns) for key, answer in turn]
    return follow(world.knowledge.beliefs, PRIOR, evidence)


def test_golden_entropy_of_the_prior(world: Any) -> None:
    """7.2: H0."""
    assert entropy(PRIOR) == pytest.approx(1.3690, abs=5e-5)


def test_golden_good_dialogue(world: Any) -> None:
    """7.2 and F8: jaw claudication alone all but settles it."""
    timeline = golden_timeline(world, "A")
    first = timeline.steps[0]
    assert worth_of(timeline.model, first).gain == pytest.approx(0.1485, abs=5e-5)
    assert entropy(first.before) - entropy(first.after) == pytest.approx(0.3122, abs=5e-5)
    assert truth_gain(first, TRUTH) == pytest.approx(2.9102, abs=5e-5)
    assert [float(step.after[TRUTH]) for step in timeline.steps[:3]] == pytest.approx([0.7517, 0.9626, 0.9991], abs=5e-5)
    assert sum(truth_gain(step, TRUTH) for step in timeline.steps) == pytest.approx(3.3219, abs=5e-5)
    assert sum(entropy(s.before) - entropy(s.after) for s in timeline.steps) == pytest.approx(1.369, abs=5e-4)
    efficiencies = [worth_of(timeline.model, step).efficiency for step in timeline.steps]
    assert sum(e for e in efficiencies if e is not None) / 7 == pytest.approx(0.4867, abs=5e-5)


def test_golden_confident_wrong_dialogue(world: Any) -> None:
    """7.2 and F8: B gains as much entropy, and loses nine bits of the truth."""
    timeline = golden_timeline(world, "B")
    photophobia, stress = timeline.steps[0], timeline.steps[4]
    assert worth_of(timeline.model, photophobia).gain == pytest.approx(0.4708, abs=5e-5)
    assert truth_gain(photophobia, TRUTH) == pytest.approx(0.9177, abs=5e-5)
    assert worth_of(timeline.model, stress).gain == pytest.approx(0.4511, abs=5e-5)
    assert truth_gain(stress, TRUTH) == pytest.approx(-5.1559, abs=5e-5)
    assert sum(truth_gain(step, TRUTH) for step in timeline.steps) == pytest.approx(-9.5762, abs=5e-5)
    assert sum(entropy(s.before) - entropy(s.after) for s in timeline.steps) == pytest.approx(1.367, abs=5e-4)
    assert timeline.final[2] == pytest.approx(0.9999, abs=5e-5)
    efficiencies = [worth_of(timeline.model, step).efficiency or 0.0 for step in timeline.steps]
    assert sum(efficiencies) / 6 == pytest.approx(0.4892, abs=5e-5)


def test_scores_of_a_trace(world: Any) -> None:
    """7.2: the card's numbers are those of its timeline; the opening is in the prior, not in the gain."""
    score = world.score(world.golden_dialogue("A").commit(GCA)).scores
    rows = score["tig"].components["questions"]
    assert len(rows) == 7
    assert score["tig"].value == pytest.approx(sum(row["tig"] for row in rows))
    assert score["tig_per_question"].value == pytest.approx(score["tig"].value / 7)
    assert score["tig_total"].value == pytest.approx(score["tig"].value)
    assert score["belief_in_truth"].value == pytest.approx(rows[-1]["belief_in_truth"])
    assert score["question_efficiency"].value + score["regret"].value == pytest.approx(1)
    wrong = world.values(world.golden_dialogue("B").commit(TTH))
    assert wrong["tig"] < 0 < wrong["information_gain"]


def test_what_is_told_unasked_moves_the_belief_but_is_no_question(world: Any) -> None:
    """7.2: volunteered findings count in the total, never as the examiner's gain."""
    values = world.values(world.start().open_question("jaw_claudication").ask(("fever", "affirmed")).commit(GCA))
    asked = world.values(world.start().ask(("jaw_claudication", "affirmed")).ask(("fever", "affirmed")).commit(GCA))
    assert values["tig_total"] == pytest.approx(asked["tig_total"])
    assert values["tig"] < asked["tig"]


def test_no_answer_no_gain(world: Any) -> None:
    """7.1: unsure and unanswered change nothing; they are still questions."""
    values = world.values(world.start().ask(("fever", "unsure")).ask(("fatigue", None)).commit(GCA))
    assert (values["tig"], values["information_gain"]) == (0, 0)
    assert values["expected_information_gain"] > 0
    nothing = world.score(world.start().commit(GCA)).scores
    assert nothing["tig"].value == 0 and nothing["tig_per_question"].value is None


def test_a_narrower_concept_speaks_for_the_broader_one(world: Any) -> None:
    """7.1 with 4.2: visual loss is listed nowhere; visual impairment is, with giant cell arteritis."""
    model = world.knowledge.beliefs
    loss, impairment = world.id("visual_loss"), world.id("visual_impairment")
    assert list(model.update(PRIOR, loss, "affirmed")) == list(model.update(PRIOR, impairment, "affirmed"))
    assert model.expected_gain(PRIOR, "X:junk-1") == 0


def test_unknown_truth_is_null(world: Any) -> None:
    """16: without a profile of the truth there is nothing to gain on."""
    case = world.new_case(31, disease="unheard-of")
    scores = world.score(world.start(case).ask(("fever", "affirmed")).commit(GCA), case).scores
    assert scores["tig"].null_reason == "no profile of unheard-of"


KEYS = "weight_loss fever fatigue jaw_claudication visual_loss photophobia nausea stress pressing neck_stiffness X:junk-1".split()
EVIDENCE = st.lists(st.tuples(st.sampled_from(KEYS), st.sampled_from(["affirmed", "denied", "unsure", "unanswered"])), max_size=10)
PRIORS = st.tuples(*[st.floats(0.01, 1)] * 3)


@given(evidence=EVIDENCE, prior=PRIORS)
@settings(max_examples=1000, deadline=None)
def test_truth_gain_telescopes_and_is_bounded(world: Any, evidence: list[tuple[str, Any]], prior: tuple[float, ...]) -> None:
    """15: TIG telescopes, and never passes -log2 of the first belief; beliefs stay distributions."""
    first = np.array(prior) / sum(prior)
    timeline = follow(world.knowledge.beliefs, first, [(world.id(key), answer, n, True) for n, (key, answer) in enumerate(evidence)])
    total = sum(truth_gain(step, TRUTH) for step in timeline.steps)
    assert total == pytest.approx(log2(timeline.final[TRUTH]) - log2(first[TRUTH]), abs=1e-9)
    assert total <= -log2(first[TRUTH]) + 1e-9
    for step in timeline.steps:
        assert step.after.sum() == pytest.approx(1) and (step.after > 0).all()


@given(evidence=EVIDENCE, prior=PRIORS)
@settings(max_examples=1000, deadline=None)
def test_expected_gain_is_never_negative_and_the_oracle_never_worse(world: Any, evidence: list[tuple[str, Any]], prior: Any) -> None:
    """15: EIG is mutual information; efficiency lies in 0..1."""
    first = np.array(prior) / sum(prior)
    timeline = follow(world.knowledge.beliefs, first, [(world.id(key), answer, n, True) for n, (key, answer) in enumerate(evidence)])
    for step in timeline.steps:
        worth = worth_of(timeline.model, step)
        assert worth.gain >= 0 and worth.best >= worth.gain
        assert worth.efficiency is None or 0 <= worth.efficiency <= 1
        assert (timeline.model.expected_gains(step.before) >= 0).all()
