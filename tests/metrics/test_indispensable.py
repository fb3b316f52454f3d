"""Vetoes and pathognomonic findings (metrics.md 5.2)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from metrics.indispensable import demands_of
from metrics.params import ScoreParams
from metrics.scorecard import score_trace
from ontology.clinical import clinical_tables
from ontology.clinical_rows import Pathognomonic, SineQuaNon

GCA = ("Giant cell arteritis", "M31.6")
MIG = ("Migraine", "G43.909")
ROW = {"source": "test", "license": "test", "reviewed_by": None, "review_date": None, "verdict": None}


@pytest.fixture(scope="module")
def knowledge(world: Any) -> Any:
    """Made-up demands: migraine needs photophobia or phonophobia, and a person under 100; jaw claudication proves arteritis."""

    def demand(disease: str, *keys: str, predicate: str | None = None) -> SineQuaNon:
        raw = {"disease_id": disease, "concepts": tuple(world.id(key) for key in keys), "predicate": predicate, "why": "a test"}
        return SineQuaNon.model_construct(**ROW, **raw)

    rows = (demand("mig", "photophobia", "phonophobia"), demand("mig", predicate="age<100"), demand("gca", predicate="age>=50"))
    proof = Pathognomonic.model_construct(**ROW, disease_id="gca", concept=world.id("jaw_claudication"), why="a test")
    tables = replace(clinical_tables(), sine_qua_non=rows, pathognomonic=(proof,))
    return replace(world.knowledge, clinical=tables)


def scored(world: Any, knowledge: Any, dialogue: Any, answer: tuple[Any, ...], case: Any = None, **params: Any) -> Any:
    return score_trace(dialogue.commit(answer), case or world.case, knowledge, ScoreParams(**params)).scores


def migraine_case(world: Any, **truth: Any) -> Any:
    return world.new_case(51, icd10=("G43",), disease="mig", findings=("photophobia", "nausea", "stress"), **truth)


def asked(world: Any, case: Any, photophobia: str | None, phonophobia: str | None = None) -> Any:
    dialogue = world.start(case)
    for key in ("nausea", "stress", "vomiting", "throbbing", "fatigue"):
        dialogue.ask((key, "affirmed"))
    if photophobia is not None:
        dialogue.ask(("photophobia", photophobia))
    if phonophobia is not None:
        dialogue.ask(("phonophobia", phonophobia))
    return dialogue


def test_omission_is_a_veto(world: Any, knowledge: Any) -> None:
    """5.2: right by name, and neither of what it cannot be without was known."""
    case = migraine_case(world)
    scores = scored(world, knowledge, asked(world, case, None), MIG, case)
    assert (scores["acc_truth"].value, scores["acc_valid"].value, scores["valid"].value) == (True, False, False)
    assert (scores["sqn_omission"].value, scores["sqn_contradiction"].value) == (True, False)
    assert (scores["ses"].value > 0.3, scores["reliability"].value, scores["cell"].value) == (True, False, "reasoned_miss")
    assert [row["standing"] for row in scores["valid"].components["demands"]] == ["omitted", "met"]


@pytest.mark.parametrize(
    ("photophobia", "phonophobia", "omission", "contradiction"),
    [
        ("affirmed", None, False, False),
        ("denied", "affirmed", False, False),
        ("denied", "denied", False, True),
        ("denied", None, True, False),
        ("unsure", None, False, False),
        ("unanswered", None, True, False),
    ],
)
def test_one_of_several_is_enough(
    world: Any, knowledge: Any, photophobia: str, phonophobia: str | None, omission: bool, contradiction: bool
) -> None:
    """5.2: a demand with alternatives is met by any, and contradicted only when all are absent."""
    case = migraine_case(world)
    scores = scored(world, knowledge, asked(world, case, photophobia, phonophobia), MIG, case)
    assert (scores["sqn_omission"].value, scores["sqn_contradiction"].value) == (omission, contradiction)
    assert scores["reliability"].value is not (omission or contradiction)


def test_which_vetoes_count_is_a_choice(world: Any, knowledge: Any) -> None:
    """5.2 ALT: contradiction alone, or report only."""
    case = migraine_case(world)
    omitted, contradicted = (None, None), ("denied", "denied")
    for veto, expected in (("hard", (False, False)), ("contradiction_only", (True, False)), ("soft", (True, True))):
        found = tuple(
            scored(world, knowledge, asked(world, case, *answers), MIG, case, veto=veto)["reliability"].value
            for answers in (omitted, contradicted)
        )
        assert found == expected, veto


def test_age_and_sex_need_no_question(world: Any, knowledge: Any) -> None:
    """5.2: the patient is 74, so arteritis is possible; a predicate that fails contradicts."""
    met = scored(world, knowledge, world.golden_dialogue("A"), GCA)
    assert (met["sqn_contradiction"].value, met["reliability"].value) == (False, True)
    young = demands_of(knowledge, "gca", 30, "F")
    assert [demand.met for demand in young] == [False]


def test_the_answer_is_judged_not_the_truth(world: Any, knowledge: Any) -> None:
    """5.2: SQN of the predicted disease; one without a list cannot be vetoed."""
    wrong = scored(world, knowledge, world.start().ask(("photophobia", "denied"), ("phonophobia", "denied")), MIG)
    assert wrong["sqn_contradiction"].value is True
    listed_nowhere = scored(world, knowledge, world.start(), ("Influenza", "J11"))
    assert listed_nowhere["valid"].null_reason == "no sine-qua-non list of the diagnosis"
    assert listed_nowhere["acc_valid"].value is False


def test_the_case_may_add_to_the_list(world: Any, knowledge: Any) -> None:
    """5.2: what the case's own truth calls indispensable."""
    case = world.new_case(52, sine_qua_non=[world.id("jaw_claudication")])
    omitted = scored(world, knowledge, world.start(case).ask(("fever", "affirmed")), GCA, case)
    known = scored(world, knowledge, world.start(case).ask(("jaw_claudication", "affirmed")), GCA, case)
    assert (omitted["sqn_omission"].value, known["sqn_omission"].value) == (True, False)


def test_narrower_findings_meet_a_demand(world: Any, knowledge: Any) -> None:
    """5.2 with 4.2: visual loss is a visual impairment; no impairment is no loss."""
    case = world.new_case(53, sine_qua_non=[world.id("visual_impairment")])
    below = scored(world, knowledge, world.start(case).ask(("visual_loss", "affirmed")), GCA, case)
    above = scored(world, knowledge, world.start(case).ask(("abn_vision", "denied")), GCA, case)
    assert (below["sqn_omission"].value, below["sqn_contradiction"].value) == (False, False)
    assert (above["sqn_omission"].value, above["sqn_contradiction"].value) == (False, True)


def test_pathognomonic_features(world: Any, knowledge: Any) -> None:
    """5.2: missed if it is there and nothing of it is known; ignored if it was affirmed and the truth is not on the list."""
    missed = scored(world, knowledge, world.start().ask(("fever", "affirmed")), GCA)
    found = scored(world, knowledge, world.start().ask(("jaw_claudication", "affirmed")), GCA)
    ignored = scored(world, knowledge, world.start().ask(("jaw_claudication", "affirmed")), ("Influenza", "J11"))
    assert [s["pathognomonic_miss"].value for s in (missed, found, ignored)] == [True, False, False]
    assert [s["pathognomonic_ignored"].value for s in (missed, found, ignored)] == [False, False, True]
    without = scored(world, knowledge, world.start(world.new_case(54, findings=("fever",))), GCA, world.new_case(54, findings=("fever",)))
    assert without["pathognomonic_miss"].null_reason == "the patient has no listed pathognomonic feature"
    assert missed["acc_valid"].value is True


def test_bundled_demands_are_found_by_profile_and_by_code(world: Any) -> None:
    """5.2: the curated tables know diseases by their own ids, by those of the profiles, and by code."""
    knowledge = replace(world.knowledge, clinical=clinical_tables())
    assert [demand.words for demand in demands_of(knowledge, "gca", 74, "F")] == ["age>=50"]
    from metrics.indispensable import clinical_id

    assert clinical_id(knowledge, None, ("O14.1",)) == "preeclampsia"
    assert clinical_id(knowledge, None, ()) is None
