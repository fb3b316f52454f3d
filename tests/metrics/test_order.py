"""Alternatives of nDCG and S_dise, and scores against the patient's own findings (metrics.md 4.1, 4.3 to 4.5)."""

from __future__ import annotations

from math import exp, log2
from typing import Any

import pytest

from metrics.order import discounted, exponential_cost, one_sided_cost
from metrics.params import ScoreParams

GCA = ("Giant cell arteritis", "M31.6")


def test_discounts() -> None:
    """4.4: by event, by turn and exponential; by turn a compound turn is all but free, so the value stops at 1."""
    found, weights = [(0.5, 1), (0.75, 1), (0.25, 3)], [0.75, 0.5, 0.25]
    ideal = 0.75 + 0.5 / log2(3) + 0.25 / 2
    assert discounted(found, weights, 3, ScoreParams()) == pytest.approx((0.5 + 0.75 / log2(3) + 0.25 / 2) / ideal)
    assert discounted(found, weights, 3, ScoreParams(ndcg_discount="turn")) == 1.0
    late = [(0.0, 1), (0.5, 3)]
    assert discounted(late, weights, 3, ScoreParams(ndcg_discount="turn")) == pytest.approx(0.5 / log2(3) / ideal)
    half = ScoreParams(ndcg_discount="exponential", ndcg_gamma=0.5)
    assert discounted(found, weights, 3, half) == pytest.approx((0.5 + 0.375 + 0.0625) / (0.75 + 0.25 + 0.0625))


def test_ndcg_is_cut_at_the_budget(world: Any) -> None:
    """4.4: K is the least of the default 10, the budget and the number of features."""
    plenty = world.score(world.golden_dialogue("A").commit(GCA)).scores["ndcg"]
    tight = world.score(world.golden_dialogue("A").commit(GCA, budget={"max_turns": 6})).scores["ndcg"]
    assert (plenty.components["k"], tight.components["k"]) == (10, 6)
    assert tight.value > plenty.value


def test_costs() -> None:
    """4.5: the alternatives forgive haste."""
    assert [one_sided_cost(turns, 6) for turns in (0, 1, 6, 12)] == [0, 1, 1, 0.5]
    assert [exponential_cost(turns, 6) for turns in (0, 1, 6, 12)] == pytest.approx([0, 1, 1, exp(-1)])


def test_cost_and_relevance_are_choices(world: Any) -> None:
    """4.5: the chosen one is the value; all are in the components."""
    trace = world.golden_dialogue("shotgun").commit(GCA)
    plain = world.score(trace).scores["s_dise"]
    assert plain.value == pytest.approx(1 / 6)
    assert world.score(trace, params=ScoreParams(s_dise_cost="one_sided")).scores["s_dise"].value == plain.components["one_sided"] == 1
    assert world.score(trace, params=ScoreParams(s_dise_cost="exponential")).scores["s_dise"].value == plain.components["exponential"]
    assert world.score(trace, params=ScoreParams(s_dise_relevance="weighted")).scores["s_dise"].value == plain.components["weighted"]
    assert plain.components["weighted"] == pytest.approx(0.75 / 6)


def test_against_the_patients_own_findings(world: Any) -> None:
    """4.3: A asked for all six findings of the patient, and once beside them; B for none."""
    good = world.values(world.golden_dialogue("A").commit(GCA))
    assert (good["psr"], good["psp"], good["per"], good["pep"]) == (1, pytest.approx(6 / 7), 1, pytest.approx(6 / 7))
    assert good["psf1"] == pytest.approx(2 * (6 / 7) / (13 / 7))
    bad = world.values(world.golden_dialogue("B").commit(GCA))
    assert (bad["psr"], bad["psp"], bad["pef1"]) == (0, 0, 0)


def test_symptoms_and_antecedents_of_the_patient(world: Any) -> None:
    """4.3: each against its own kind; null where the patient has none."""
    case = world.new_case(61, findings=("fever", "smoking"))
    values = world.values(world.start(case).ask(("smoking", "affirmed")).ask(("nausea", "denied")).commit(GCA), case)
    assert (values["psr"], values["psp"]) == (0, 0)
    assert (values["par"], values["pap"], values["paf1"]) == (1, 1, 1)
    assert (values["per"], values["pep"]) == (0.5, 0.5)
    plain = world.score(world.golden_dialogue("A").commit(GCA)).scores
    assert plain["par"].null_reason == "the case has no antecedent to elicit beyond the chief complaint"
    nothing = world.new_case(62, findings=())
    alone = world.score(world.start(nothing).commit(GCA), nothing).scores
    assert alone["per"].null_reason == "the case has no finding to elicit beyond the chief complaint"
