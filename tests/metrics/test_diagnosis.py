"""The answer: accuracy, distance, and how a text became a code (metrics.md 3)."""

from __future__ import annotations

from typing import Any

import pytest

from metrics.params import ScoreParams
from ontology.errors import BedsideError
from simulator.trace import RankedDiagnosis


def scores_of(world: Any, *ranked: Any, icd10: tuple[str, ...] = ("M31.6",), params: ScoreParams | None = None, **truth: Any) -> Any:
    case = world.new_case(9, icd10=icd10, **truth)
    items = [item if isinstance(item, (tuple, RankedDiagnosis)) else ("?", item) for item in ranked]
    return world.score(world.start(case).commit(*items), case, params=params).scores


def values_of(world: Any, *ranked: Any, **more: Any) -> dict[str, Any]:
    return {name: score.value for name, score in scores_of(world, *ranked, **more).items()}


@pytest.mark.parametrize(
    ("answer", "exact", "truth", "category", "block", "chapter", "sdd", "sym", "relation"),
    [
        ("I21.02", True, True, True, True, True, 0.0, 0.0, "exact"),
        ("i2102", True, True, True, True, True, 0.0, 0.0, "exact"),
        ("I21.0", False, False, True, True, True, 0.1111, 0.1111, "under_specified"),
        ("I21", False, False, True, True, True, 0.25, 0.25, "under_specified"),
        ("I21.4", False, False, True, True, True, 0.3333, 0.3333, "same_category"),
        ("I20.0", False, False, False, True, True, 0.5556, 0.5556, "same_block"),
        ("I26.99", False, False, False, False, True, 0.8, 0.8, "same_chapter"),
        ("J18.9", False, False, False, False, False, 1.0, 1.0, "different_chapter"),
    ],
)
def test_one_answer(
    world: Any, answer: str, exact: bool, truth: bool, category: bool, block: bool, chapter: bool, sdd: float, sym: float, relation: str
) -> None:
    """3.1, 3.4: the worked pairs against I21.02."""
    values = values_of(world, answer, icd10=("I21.02",))
    assert (values["acc_exact"], values["acc_truth"], values["acc_cat3"], values["acc_block"], values["acc_chapter"]) == (
        exact,
        truth,
        category,
        block,
        chapter,
    )
    assert (values["sdd"], values["sdd_sym"]) == (pytest.approx(sdd, abs=5e-5), pytest.approx(sym, abs=5e-5))
    assert values["relation"] == relation


def test_a_finer_answer_satisfies_a_header(world: Any) -> None:
    """3.3: the truth is often a header; exactness and the symmetric distance still see the difference."""
    values = values_of(world, "I21.02", icd10=("I21.0",))
    assert (values["acc_truth"], values["acc_exact"], values["sdd"]) == (True, False, 0)
    assert values["sdd_sym"] == pytest.approx(0.1111, abs=5e-5)
    assert values["relation"] == "over_specified"


def test_sets_of_codes(world: Any) -> None:
    """3.2: a list as the truth, an etiology with its manifestation as the answer."""
    listed = values_of(world, "J18.9", icd10=("J17", "J18"))
    assert (listed["sdd"], listed["acc_truth"]) == (0, True)
    assert listed["sdd_sym"] == pytest.approx(0.1429, abs=5e-5)
    pair = values_of(world, "E11.3, H36.0*", icd10=("E11.311",))
    assert pair["sdd"] == pytest.approx(0.2, abs=5e-5)


def test_a_list_of_unrelated_codes_is_no_way_to_hedge(world: Any) -> None:
    """3.2: only the first of them counts, and the flag says so."""
    scores = scores_of(world, "J18.9, M31.6, G43.909")
    assert scores["acc_truth"].value is False
    assert scores["acc_truth"].components["answer"]["codes"] == ["J18.9"]
    assert scores["acc_truth"].components["answer"]["flags"] == ["several_codes"]
    assert values_of(world, "M31.6; J18.9")["acc_truth"] is True
    # A disease that the knowledge base itself gives two codes keeps both.
    both = scores_of(world, ("Giant cell arteritis", "M31.5, M31.6"), icd10=("M31.5", "M31.6"))["acc_truth"].components["answer"]
    assert (both["codes"], both["flags"]) == (["M31.5", "M31.6"], [])


@pytest.mark.parametrize(
    ("name", "code", "route", "correct"),
    [
        ("whatever", "M31.6", "code:code", True),
        ("Giant cell arteritis", None, "name:synonym", True),
        ("TEMPORAL arteritis", None, "name:synonym", True),
        ("Tension type headache", None, "name:synonym", False),
        ("Other giant cell arteritis", None, "name:title", True),
        ("Giant cell arteritis (M31.6)", "", "name:embedded_code", True),
        ("Giant cell arteritis", "none", "name:synonym", True),
        ("Giant cell arteritis", "ZZZ", "name:synonym", True),
    ],
)
def test_the_way_from_words_to_a_code(world: Any, name: str, code: str | None, route: str, correct: bool) -> None:
    """3.2: by the code if it can be read, else by the name: the case's and the profiles' names first, then the classification's."""
    score = scores_of(world, (name, code))["acc_truth"]
    assert score.value is correct
    assert score.components["answer"]["route"] == route


def test_code_and_name_that_disagree(world: Any) -> None:
    """3.2: the code counts and the disagreement is on record; a finer code than the name's is no disagreement."""
    score = scores_of(world, ("Giant cell arteritis", "G43.909"))["acc_truth"]
    assert score.value is False
    assert score.components["answer"]["flags"] == ["name_disagrees"]
    assert scores_of(world, ("Migraine", "G43.909"))["acc_truth"].components["answer"]["flags"] == []


def test_unresolved_answer(world: Any) -> None:
    """3.2 rule 7: as far as can be, and wrong; counted, and left out of the average of the resolved."""
    scores = scores_of(world, ("something with the head", None))
    assert scores["unresolved"].value is True
    assert (scores["sdd"].value, scores["sdd_sym"].value, scores["acc_truth"].value) == (1, 1, False)
    assert scores["relation"].value == "unresolved"
    assert scores["sdd_resolved"].value is None
    assert scores_of(world, ("Migraine", None))["sdd_resolved"].value == 1
    assert scores_of(world, ("something", None), params=ScoreParams(unresolved_distance=0.9))["sdd"].value == 0.9


def test_no_answer(world: Any) -> None:
    """16: the budget ended without a diagnosis: wrong, and farthest; there is no relation to speak of."""
    scores = world.score(world.start().ask(("fever", "affirmed")).seal()).scores
    for name in ("acc_exact", "acc_truth", "acc_cat3", "acc_block", "acc_chapter", "top1", "top3", "top5"):
        assert scores[name].value is False, name
    for name in "sdd sdd_sym sdd_jaccard sdd_ic sdd_directional sdd_case sdd_best_of_3 sdd_best_of_5 sdd_expected".split():
        assert scores[name].value == 1, name
    assert scores["sdd"].components["exhausted"] is True
    assert scores["relation"].value is None
    assert scores["unresolved"].value is None
    assert scores["exhausted"].value is True


def test_ranks(world: Any) -> None:
    """3.1: hits by rank after equal codes are merged; fewer answers than ranks are allowed."""
    values = values_of(world, "G43.909", "g43909", "J18.9", "M31.6")
    assert (values["top1"], values["top3"], values["top5"]) == (False, True, True)
    assert values["challenge"] == pytest.approx(2 / 3)
    assert values["sdd_best_of_3"] == 0
    assert values["sdd"] == 1
    assert values_of(world, "M31.6")["challenge"] == 1


def test_equal_unresolved_answers_are_merged_by_name(world: Any) -> None:
    """3.1: the same words twice take one rank."""
    score = scores_of(world, ("Odd thing", None, 0.2), ("odd  THING", None, 0.3), ("Other thing", None))["top3"]
    assert [answer["name"] for answer in score.components["answers"]] == ["Odd thing", "Other thing"]
    assert score.components["answers"][0]["prob"] == 0.5


def test_expected_distance(world: Any) -> None:
    """3.3: the worked answer; mass that is not given away counts as farthest; none given, none computed."""
    ranked = [("a", "I21.4", 0.6), ("b", "I20.0", 0.3), ("c", "J18.9", 0.1)]
    values = values_of(world, *ranked, icd10=("I21.02",))
    assert values["sdd_expected"] == pytest.approx(0.4667, abs=5e-5)
    assert (values["sdd"], values["sdd_best_of_3"]) == (pytest.approx(1 / 3), pytest.approx(1 / 3))
    assert values_of(world, ("a", "M31.6", 0.7))["sdd_expected"] == pytest.approx(0.3)
    assert values_of(world, ("a", "M31.6", 0.9), ("b", "J18.9", 0.9))["sdd_expected"] == pytest.approx(0.5)
    assert scores_of(world, "M31.6")["sdd_expected"].null_reason == "no probabilities were given"


@pytest.mark.parametrize(
    ("answer", "value", "hit"),
    [("I50.9", 0.25, True), ("I50.22", 0.25, True), ("I50.2", 0.25, True), ("I21.4", 0.3333, False), ("I21.02", 0.0, False)],
)
def test_secondary_diagnosis(world: Any, answer: str, value: float, hit: bool) -> None:
    """3.3: a secondary diagnosis counts at a penalty and is never a hit."""
    more = {"icd10": ("I21.02",), "secondary": [{"name": "Heart failure", "icd10": ["I50"]}]}
    values = values_of(world, answer, **more)
    assert values["sdd_case"] == pytest.approx(value, abs=5e-5)
    assert values["secondary_hit"] is hit
    assert values["acc_truth"] is (answer == "I21.02")


def test_golden_secondary_diagnosis(world: Any) -> None:
    """3.3: t0 = I21.02, T2 = {I50.9}, with and without the penalty."""
    more = {"icd10": ("I21.02",), "secondary": [{"name": "Heart failure", "icd10": ["I50.9"]}]}
    for answer, strict, full in (("I50.9", 0.25, 0.0), ("I50.22", 0.5, 0.3333), ("I21.4", 0.3333, 0.3333)):
        assert values_of(world, answer, **more)["sdd_case"] == pytest.approx(strict, abs=5e-5)
        assert values_of(world, answer, params=ScoreParams(lambda_sec=0), **more)["sdd_case"] == pytest.approx(full, abs=5e-5)
    assert scores_of(world, "I21.4")["secondary_hit"].null_reason == "the case has no secondary diagnosis"


def test_truth_without_a_code_is_refused(world: Any) -> None:
    """3.2: a case whose truth cannot be read is an error of the case, not a miss of the examiner."""
    with pytest.raises(BedsideError, match="true diagnosis has no readable ICD-10 code"):
        values_of(world, "M31.6", icd10=("U99",))
