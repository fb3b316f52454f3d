"""Two examiners compared (metrics.md 11.2): paired, corrected, by stratum; and ranks under other parameters (17)."""

from __future__ import annotations

from typing import Any

import pytest

from metrics.comparison import Comparison, Paired, Side, by_examiner, compare
from metrics.params import ScoreParams
from metrics.scores import Score, Scorecard
from metrics.sensitivity import Variant, lower_is_better, sensitivity, standings, variants
from metrics.statistics import benjamini_hochberg, holm
from metrics.strata import STRATA, strata_of
from ontology.errors import BedsideError

REFERENCE = ScoreParams()


def card(examiner: str, case: int, seed: int = 1, base: int | None = None, params: ScoreParams = REFERENCE, **values: Any) -> Scorecard:
    """A card of plain values; a null has a reason."""
    scores = {
        name: Score(
            value=value,
            null_reason="none" if value is None else None,
            params=params.only(("tau",)) if name == "reliability" else {},
            params_hash="p",
            kb_version="kb",
        )
        for name, value in values.items()
    }
    return Scorecard(
        trace_id=f"trace-{examiner}-{case}-{seed}",
        trace_sha256="0",
        case_id=f"case-{case}",
        base_case_id=f"case-{case if base is None else base}",
        examiner_id=examiner,
        disease_id="d",
        seed=seed,
        termination="examiner_committed",
        kb_version="kb",
        params_hash=params.sha,
        scores=scores,
    )


def sides(first: list[dict[str, Any]], second: list[dict[str, Any]]) -> tuple[Side, Side]:
    return Side("a", [card("a", n, **v) for n, v in enumerate(first)]), Side("b", [card("b", n, **v) for n, v in enumerate(second)])


def one(found: Comparison, metric: str) -> Paired:
    return next(item for item in [*found.confirmatory, *found.exploratory] if item.metric == metric)


def test_mcnemar_of_the_document() -> None:
    """11.2: 18 cases only the first has right, 7 only the second: exact p .0433, mid-p .0290."""
    pytest.importorskip("scipy")
    right = [(True, False)] * 18 + [(False, True)] * 7 + [(True, True)] * 5
    found = one(compare(*sides([{"acc_truth": a} for a, _ in right], [{"acc_truth": b} for _, b in right]), resamples=500), "acc_truth")
    assert (found.test, found.only_first, found.only_second) == ("mcnemar_exact", 18, 7)
    assert found.p == pytest.approx(0.0433, abs=5e-5) and found.mid_p == pytest.approx(0.0290, abs=5e-5)
    assert found.difference == pytest.approx(11 / 30)
    assert found.effect == pytest.approx(18.5 / 7.5) and found.effect_name == "matched odds ratio"
    assert found.low is not None and found.high is not None and 0 < found.low < 11 / 30 < found.high


def test_differences_of_numbers() -> None:
    """Sign flip, exact for few cases: all eight gaps positive, so p = 2 / 2^8; d_z is the mean over the spread of the gaps."""
    gaps = [0.1, 0.2, 0.3, 0.4, 0.1, 0.2, 0.3, 0.4]
    found = one(compare(*sides([{"ses": 0.5 + gap} for gap in gaps], [{"ses": 0.5}] * 8), resamples=1000), "ses")
    assert found.test == "sign_flip" and found.p == pytest.approx(2 / 2**8)
    assert found.difference == pytest.approx(0.25)
    assert found.effect == pytest.approx(0.25 / (sum((gap - 0.25) ** 2 for gap in gaps) / 7) ** 0.5)


def test_a_case_is_one_pair_however_often_it_was_played() -> None:
    """Runs and variants of one base case are averaged first; two runs of a yes-or-no score are no longer one."""
    first = Side("a", [card("a", 0, seed=1, acc_truth=True), card("a", 0, seed=2, acc_truth=False), card("a", 1, base=0, acc_truth=True)])
    second = Side("b", [card("b", 0, acc_truth=False), card("b", 2, acc_truth=False)])
    found = compare(first, Side("b", [*second.cards, card("b", 5, acc_truth=True)]), resamples=100)
    assert (found.n_cases, found.n_first_only, found.n_second_only) == (1, 0, 2)
    item = one(found, "acc_truth")
    assert item.first == pytest.approx(2 / 3) and item.n == 1 and item.test is None and item.p is None and item.low is None
    more = Side("a", [*first.cards, card("a", 2, acc_truth=True)])
    assert one(compare(more, second, resamples=100), "acc_truth").test == "sign_flip"


def test_nulls_are_left_out_and_counted() -> None:
    """Never taken for 0."""
    found = one(
        compare(*sides([{"ses": 0.5}, {"ses": None}, {"ses": 0.7}], [{"ses": 0.1}, {"ses": 0.9}, {"ses": 0.7}]), resamples=100), "ses"
    )
    assert (found.n, found.n_null) == (2, 1) and found.difference == pytest.approx(0.2)


def test_swapping_the_sides_turns_the_signs() -> None:
    pytest.importorskip("scipy")
    a, b = sides(
        [{"ses": x / 10, "acc_truth": x > 3} for x in range(9)], [{"ses": (x * 7 % 9) / 10, "acc_truth": x % 2 == 0} for x in range(9)]
    )
    there, back = compare(a, b, resamples=500), compare(b, a, resamples=500)
    for metric in ("ses", "acc_truth"):
        one_way, other = one(there, metric), one(back, metric)
        assert one_way.difference == pytest.approx(-(other.difference or 0)) and one_way.p == pytest.approx(other.p)


def test_corrections_go_over_their_family() -> None:
    """Holm over the headline metrics, Benjamini and Hochberg over the others; scores of any name take part, labels do not."""
    pytest.importorskip("scipy")
    first = [{"ses": x / 10, "sdd": x / 20, "new_score": x / 9, "other": x % 2 == 0, "cell": "reliable"} for x in range(10)]
    second = [{"ses": 0.1, "sdd": 0.2, "new_score": 0.6, "other": True, "cell": "reliable"} for _ in range(10)]
    found = compare(*sides(first, second), resamples=500)
    assert [item.metric for item in found.confirmatory] == ["sdd", "ses"]
    assert {item.metric for item in found.exploratory} == {"new_score", "other"}
    assert [i.p_corrected for i in found.confirmatory] == holm([i.p for i in found.confirmatory if i.p is not None])
    assert [i.p_corrected for i in found.exploratory] == benjamini_hochberg([i.p for i in found.exploratory if i.p is not None])
    assert {i.correction for i in found.confirmatory} == {"holm"}
    chosen = compare(*sides(first, second), metrics=["new_score"], resamples=100)
    assert [item.metric for item in chosen.confirmatory] == ["new_score"]
    with pytest.raises(BedsideError, match="no score 'cell' that could be compared"):
        compare(*sides(first, second), metrics=["cell"])


def test_strata_part_the_cases() -> None:
    """Each group's difference is that of its own cases; a stratum with one group is not shown."""
    pytest.importorskip("scipy")
    first = [{"ses": 0.9 if x < 5 else 0.2} for x in range(10)]
    second = [{"ses": 0.3} for _ in range(10)]
    strata = {f"case-{x}": {"sex": "F" if x < 5 else "M", "source": "one"} for x in range(10)}
    found = compare(*sides(first, second), strata, resamples=100)
    assert [(item.stratum, item.group, item.n) for item in found.strata] == [("sex", "F", 5), ("sex", "M", 5)]
    assert [item.difference for item in found.strata] == [pytest.approx(0.6), pytest.approx(-0.1)]
    assert {item.correction for item in found.strata} == {"benjamini_hochberg"}


def test_what_cannot_be_compared_is_refused() -> None:
    a, b = sides([{"ses": 0.5}] * 3, [{"ses": 0.5}] * 3)
    with pytest.raises(BedsideError, match="met no case in common"):
        compare(a, Side("b", [card("b", 9, ses=0.5)]))
    with pytest.raises(BedsideError, match="the same encounter"):
        compare(a, a)
    with pytest.raises(BedsideError, match="cannot be compared"):
        compare(a, Side("b", [card("b", 0, params=ScoreParams(tau=0.4), ses=0.5)]))
    with pytest.raises(BedsideError, match="holds no scorecard"):
        compare(a, Side("b", []))


def test_examiners_are_told_apart() -> None:
    found = by_examiner([card("z", 1, ses=0.1), card("a", 1, ses=0.2), card("z", 2, ses=0.3)])
    assert {name: len(side.cards) for name, side in found.items()} == {"a": 1, "z": 2}


def test_every_case_has_a_group_in_every_stratum(world: Any) -> None:
    groups = strata_of(world.case, world.knowledge)
    assert tuple(groups) == STRATA
    assert (groups["source"], groups["acuity"], groups["age"], groups["sex"]) == ("toy", "2 (curated)", "65 and over", "F")
    assert (groups["trap"], groups["twin"], groups["frequency"]) == ("no trap", "base case", "not counted")
    twin = world.new_case(5, derived_from=world.case.case_id)
    assert strata_of(twin, world.knowledge)["twin"] == "variant"
    raw = world.case.model_dump(mode="json")
    raw["patient_facts"]["facts"][-1]["distractor"] = True
    assert strata_of(type(world.case).model_validate(raw), world.knowledge)["trap"] == "trap"


# -- sensitivity ----------------------------------------------------------------------------------------------------


def test_ranks_share_places_and_know_what_is_better() -> None:
    cards = [
        card("a", 1, ses=0.5, sdd=0.5),
        card("b", 1, ses=0.5, sdd=0.1),
        card("c", 1, ses=0.9, sdd=0.9),
        card("d", 1, ses=None, sdd=0.9),
    ]
    assert [(s.examiner_id, s.rank, s.n_null) for s in standings(cards, "ses")] == [("c", 1, 0), ("a", 2, 0), ("b", 2, 0), ("d", None, 1)]
    assert [(s.examiner_id, s.rank) for s in standings(cards, "sdd")] == [("b", 1), ("a", 2), ("c", 3), ("d", 3)]
    assert lower_is_better("premature_closure_0.3") and lower_is_better("harm_index") and not lower_is_better("acc_truth")


def test_runs_of_a_case_are_averaged_first() -> None:
    cards = [card("a", 1, seed=1, ses=0.0), card("a", 1, seed=2, ses=1.0), card("a", 2, ses=1.0)]
    assert standings(cards, "ses")[0].mean == pytest.approx(0.75)


def test_only_scores_that_depend_on_the_parameter_are_ranked_again() -> None:
    """A score says by its params what it depends on; a rank lost is negative."""
    before = [card("a", 1, reliability=1.0, ses=0.5), card("b", 1, reliability=0.0, ses=0.6)]
    other = ScoreParams(tau=0.5)
    after = [card("a", 1, params=other, reliability=0.0, ses=0.5), card("b", 1, params=other, reliability=1.0, ses=0.6)]
    found = sensitivity(before, [(Variant("tau", 0.3, REFERENCE), before), (Variant("tau", 0.5, other), after)])
    assert [(item.metric, item.value, item.is_reference, item.moved) for item in found.settings] == [
        ("reliability", 0.3, True, 0),
        ("reliability", 0.5, False, 2),
    ]
    assert {s.examiner_id: s.change for s in found.settings[1].standings} == {"a": -1, "b": 1}
    assert found.metrics_untouched == 1
    with pytest.raises(BedsideError, match="other traces were scored"):
        sensitivity(before, [(Variant("tau", 0.5, other), after[:1])])


def test_the_grid_of_the_register() -> None:
    """17: tau 0 to 1, theta .3/.5/.7, beta .5/1/2; one parameter at a time."""
    found = variants(REFERENCE)
    assert [v.value for v in found if v.parameter == "tau"] == [0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0]
    assert [v.value for v in found if v.parameter == "theta"] == [0.3, 0.5, 0.7]
    assert [v.value for v in found if v.parameter == "beta"] == [0.5, 1.0, 2.0]
    for variant in found:
        changed = {k for k, v in variant.params.model_dump().items() if v != REFERENCE.model_dump()[k]}
        assert changed <= {variant.parameter}
    with pytest.raises(BedsideError, match="unknown score parameter 'taux'"):
        variants(REFERENCE, {"taux": (1,)})
    with pytest.raises(BedsideError, match="not a valid value of tau"):
        variants(REFERENCE, {"tau": (2,)})


def test_real_scores_move_with_their_thresholds(world: Any) -> None:
    """4.6: A has SES .6614: reliable up to tau .6, not from .7 on."""
    trace = world.golden_dialogue("A").commit(("Giant cell arteritis", "M31.6"))
    grid = variants(REFERENCE, {"tau": (0.6, 0.7)})
    found = sensitivity([world.score(trace)], [(v, [world.score(trace, params=v.params)]) for v in grid])
    by_value = {item.value: item.standings[0].mean for item in found.settings if item.metric == "reliability"}
    assert by_value == {0.6: 1.0, 0.7: 0.0}
