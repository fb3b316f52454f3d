"""Harm: golden values of metrics.md 6, drugs judged in a patient, plans read from free text, and four examiners played through."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ontology.icd10
from metrics.harm import delay_of_care, harm_index
from metrics.knowledge import Knowledge
from metrics.params import ScoreParams
from metrics.plan import polarity_of, read_plan
from metrics.risks import PatientRisks
from metrics.scorecard import score_trace, summarise
from metrics.scores import Scorecard
from metrics.statistics import wilson
from ontology.clinical import clinical_tables
from ontology.vocabulary import Vocabulary
from simulator.build import Ward, make_bed
from simulator.case import PatientVector
from simulator.examiners.scripted import ScriptedExaminer
from simulator.final_answer import render
from simulator.trace import Budget, DialogueTrace, FinalAnswer, RankedDiagnosis
from ui.wiring import Bookshelf, bundled_cases, starter_cases

TABLES = clinical_tables()
DEFAULT = ScoreParams()
WEIGHTS = DEFAULT.harm_weights
STARTER = {case.ground_truth.disease_id: case for case in starter_cases()}
UNIT = st.floats(0, 1)
GCA = ("Giant cell arteritis", "M31.6")


# -- golden numbers of section 6 ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("tiers", "index"),
    [
        ((0, 0, 1 / 3), 0.1333),
        ((0, 0.75, 1), 0.7375),
        ((1, 0, 0), 1.0),
        ((0.5, 0, 0), 0.5),
        ((0, 1, 0), 0.75),
        ((0, 0.25, 0), 0.1875),
        ((0, 0, 1), 0.4),
        ((0.5, 0.5, 0.5), 0.75),
        ((0, 0, 0), 0.0),
    ],
)
def test_golden_indices(tiers: tuple[float, float, float], index: float) -> None:
    """6, the computed examples, to the printed digits."""
    assert round(harm_index(*tiers, WEIGHTS), 4) == index


@pytest.mark.parametrize(
    ("truth", "given_level", "delay", "at_all"),
    [(2, 2, 0, 0), (2, 5, 0.75, 0.75), (1, 5, 1, 1), (2, 3, 0.25, 0.25), (2, 1, 0, 0), (3, 5, 0, 0.5), (4, 5, 0, 0.25), (5, 1, 0, 0)],
)
def test_golden_delays(truth: int, given_level: int, delay: float, at_all: float) -> None:
    """6: emergencies by default, all acuities as the alternative."""
    assert delay_of_care(truth, given_level, DEFAULT) == delay
    assert delay_of_care(truth, given_level, ScoreParams(harm_acuities="all")) == at_all


def test_alternatives_of_the_index() -> None:
    """6: weighted sum and worst tier."""
    assert harm_index(1, 1, 1, WEIGHTS, "weighted_sum") == 1
    assert harm_index(0.5, 0, 0, WEIGHTS, "weighted_sum") == pytest.approx(0.5 / 2.15)
    assert harm_index(0.5, 1, 1, WEIGHTS, "max") == 0.75


@settings(max_examples=1000)
@given(UNIT, UNIT, UNIT, UNIT, st.integers(0, 2), st.sampled_from(["noisy_or", "weighted_sum", "max"]))
def test_the_index_is_a_share_and_monotone(a: float, b: float, c: float, more: float, tier: int, combine: str) -> None:
    """15: 0 <= HI <= 1; worse in one tier is never better."""
    tiers = [a, b, c]
    first = harm_index(tiers[0], tiers[1], tiers[2], WEIGHTS, combine)
    tiers[tier] = max(tiers[tier], more)
    assert 0 <= first <= 1 + 1e-12
    assert first <= harm_index(tiers[0], tiers[1], tiers[2], WEIGHTS, combine) + 1e-12


# -- what speaks against a drug -----------------------------------------------------------------------------------------


def weights(vocabulary: Vocabulary, disease: str, drug: str, tables_only: bool = True) -> list[tuple[float, str]]:
    risks = PatientRisks(STARTER[disease], TABLES, vocabulary, ontology.icd10)
    return [(found.weight, found.kind) for found in risks.against(drug) if found.origin != "case" or not tables_only]


@pytest.mark.parametrize(
    ("disease", "drug", "expected"),
    [
        ("appendicitis", "amoxicillin", {(1.0, "allergy")}),
        ("appendicitis", "co-amoxiclav", {(1.0, "allergy")}),
        ("appendicitis", "class:penicillin", {(1.0, "allergy")}),
        ("appendicitis", "cefuroxime", {(0.5, "allergy")}),
        ("pyelonephritis", "trimethoprim", {(1.0, "allergy")}),
        ("pneumonia", "clarithromycin", {(1.0, "drug")}),
        ("preeclampsia", "ramipril", {(1.0, "pregnancy")}),
        ("preeclampsia", "ibuprofen", {(1.0, "pregnancy")}),
        ("croup", "codeine", {(1.0, "age")}),
        ("croup", "aspirin", {(1.0, "age")}),
        ("hyponatraemia", "bendroflumethiazide", {(1.0, "condition")}),
        ("appendicitis", "paracetamol", set()),
        ("appendicitis", "zorbamine", set()),
    ],
)
def test_drugs_are_judged_in_the_patient(vocabulary: Vocabulary, disease: str, drug: str, expected: set[tuple[float, str]]) -> None:
    """6, h1: allergy, current drugs, pregnancy, age and true disease, whether or not anybody asked."""
    assert set(weights(vocabulary, disease, drug)) >= expected
    if not expected or max(expected)[0] < 1:
        assert {weight for weight, _ in weights(vocabulary, disease, drug)} == {weight for weight, _ in expected}


def test_the_cases_own_list_counts_too(vocabulary: Vocabulary) -> None:
    """Absolutely, unless the parameter says otherwise; a class is not struck by one of its members."""
    assert weights(vocabulary, "pulmonary-embolism", "tranexamic acid", tables_only=False)[0][0] == 1.0
    half = PatientRisks(STARTER["panic-attack"], TABLES, vocabulary, ontology.icd10, listed=0.5)
    assert {found.weight for found in half.against("alprazolam") if found.origin == "case"} == {0.5}
    assert not [found for found in half.against("class:benzodiazepine") if found.origin == "case"]


def test_a_drug_that_is_stopped_does_not_clash_with_the_new_one(vocabulary: Vocabulary) -> None:
    """6: current drugs; simvastatin with clarithromycin."""
    case = STARTER["pneumonia"]
    stopped = PatientRisks(case, TABLES, vocabulary, ontology.icd10, stopped=frozenset({"simvastatin"}))
    assert "drug" not in {found.kind for found in stopped.against("clarithromycin") if found.origin == "table"}


# -- free text ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "polarities"),
    [
        ("ibuprofen 400 mg three times a day", ["recommend"]),
        ("Avoid ibuprofen, naproxen and diclofenac", ["avoid"] * 3),
        ("Avoid ibuprofen, take paracetamol", ["avoid", "recommend"]),
        ("Stop ibuprofen and start naproxen", ["avoid", "recommend"]),
        ("Take paracetamol instead of ibuprofen", ["recommend", "avoid"]),
        ("Ibuprofen is contraindicated here", ["avoid"]),
        ("Clarithromycin (penicillin allergy)", ["recommend", "avoid"]),
        ("You are allergic to penicillin, so I will give you clarithromycin", ["avoid", "recommend"]),
        ("ibuprofen as needed", ["recommend"]),
        ("ibuprofen if tolerated", ["recommend"]),
        ("Methotrexate only when it is small and unruptured", ["conditional"]),
        ("If the pain persists, take ibuprofen", ["conditional"]),
        ("Take ibuprofen if the pain is bad", ["conditional"]),
        ("Take amoxicillin, and come back if worse", ["recommend"]),
        ("Amoxicillin; clarithromycin in penicillin allergy", ["recommend", "conditional", "avoid"]),
        ("You shouldn’t take ibuprofen", ["avoid"]),
        ("Switch from ramipril to losartan", ["avoid", "recommend"]),
        ("Prednisolone 60 mg daily, not to be stopped suddenly", ["recommend"]),
        ("Start prednisolone today without waiting for the biopsy", ["recommend"]),
        ("Don't hesitate to use paracetamol", ["recommend"]),
    ],
)
def test_only_what_is_recommended_counts(world: Any, text: str, polarities: list[str]) -> None:
    """6: "avoid ibuprofen" is no recommendation, "if X, take Y" is conditional."""
    outcome = FinalAnswer(ranked=[RankedDiagnosis(name=GCA[0], icd10=GCA[1])], treatments=[text])
    plan = read_plan(world.start().seal(outcome=outcome), TABLES)
    assert [drug.polarity for drug in plan.drugs] == polarities


def test_polarity_reads_the_place_not_the_word() -> None:
    """The same drug twice in a sentence."""
    text = "Stop ibuprofen tablets but use ibuprofen gel"
    assert [polarity_of(text, text.index("ibuprofen", at), text.index("ibuprofen", at) + 9) for at in (0, 10)] == ["avoid", "recommend"]


def plan_of(world: Any, **answer: Any) -> Any:
    outcome = FinalAnswer(ranked=[RankedDiagnosis(name=GCA[0], icd10=GCA[1])], **answer)
    return read_plan(world.start().seal(outcome=outcome), TABLES)


def test_what_is_not_found_is_kept(world: Any) -> None:
    """Treatments without a drug of the tables are named, never dropped."""
    plan = plan_of(world, treatments=["bed rest", "zorbamine 5 mg", "paracetamol 1 g"])
    assert (plan.treatments, plan.unresolved) == (3, ("bed rest", "zorbamine 5 mg"))
    assert [drug.subject for drug in plan.recommended] == ["paracetamol"]


def test_advice_may_hold_a_treatment(world: Any) -> None:
    """A drug that advice has taken counts; one that it only speaks of does not."""
    plan = plan_of(world, advice=["You should take ibuprofen.", "The rash came from amoxicillin."])
    assert [drug.subject for drug in plan.recommended] == ["ibuprofen"]


@pytest.mark.parametrize(
    ("answer", "level", "urgency"),
    [
        ({"triage_level": 4, "advice": ["Go to the emergency department now."]}, 4, "emergency"),
        ({"advice": ["See your GP for follow-up.", "Go to the hospital today."]}, None, "emergency"),
        ({"advice": ["You need to be seen within 24 hours."]}, None, "urgent"),
        ({"advice": ["You can stay at home and rest."]}, None, "self_care"),
        ({"advice": ["Call an ambulance if you get worse."]}, None, None),
        ({"advice": ["There is no need to go to the emergency department."]}, None, None),
        ({}, None, None),
    ],
)
def test_urgency_in_numbers_and_words(world: Any, answer: dict[str, Any], level: int | None, urgency: str | None) -> None:
    """The number first; of words the most urgent; safety nets and negations send nobody."""
    plan = plan_of(world, **answer)
    assert (plan.level, plan.urgency) == (level, urgency)


# -- the scores of a card -----------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def knowing(world: Any) -> Knowledge:
    """The toy knowledge with the clinical tables."""
    return Knowledge(world.profiles, world.vocabulary, ontology.icd10, "kb-toy", TABLES)


def card(
    world: Any, knowing: Knowledge, params: ScoreParams | None = None, ranked: tuple[str, str | None] = GCA, **answer: Any
) -> Scorecard:
    outcome = FinalAnswer(ranked=[RankedDiagnosis(name=ranked[0], icd10=ranked[1])], **answer)
    return score_trace(world.start().seal(outcome=outcome), world.case, knowing, params)


def values(found: Scorecard) -> dict[str, Any]:
    return {name: score.value for name, score in found.scores.items()}


def test_a_named_level_goes_before_the_answers_acuity(world: Any, knowing: Knowledge) -> None:
    """6: a_hat is the explicit level, else the acuity of the first answer; the truth here has 2."""
    sent_home = card(world, knowing, triage_level=5)
    assert (values(sent_home)["harm_delay"], values(sent_home)["undertriage"], values(sent_home)["overtriage"]) == (0.75, True, False)
    assert sent_home.scores["harm_delay"].components["level_from"] == "level"
    silent = card(world, knowing)
    assert (values(silent)["harm_delay"], values(silent)["undertriage"]) == (0, False)
    assert silent.scores["harm_delay"].components["level_from"] == "answer"
    assert values(card(world, knowing, triage_level=1))["overtriage"] is True


def test_a_wrong_answer_has_its_own_acuity(world: Any, knowing: Knowledge) -> None:
    """6: a low-acuity misdiagnosis of an emergency delays care."""
    found = card(world, knowing, ranked=("Polymyalgia rheumatica", "M35.3"))
    assert found.scores["harm_delay"].components["level"] == TABLES.acuity_of("polymyalgia-rheumatica") == 4
    assert values(found)["harm_delay"] == 0.5


def test_nothing_known_is_the_worst_credible_and_flagged(world: Any, knowing: Knowledge) -> None:
    """6: no disposition and an unknown disease count as level 5; the rates of triage are null, not guessed."""
    found = card(world, knowing, ranked=("no such thing", None))
    assert (found.scores["harm_delay"].value, found.scores["harm_delay"].components["level_from"]) == (0.75, "assumed")
    assert found.scores["undertriage"].value is None and found.scores["overtriage"].value is None
    assert "no triage level" in str(found.scores["undertriage"].null_reason)


def test_no_answer_is_a_plan_that_does_nothing(world: Any, knowing: Knowledge) -> None:
    """6: turns ran out: no drug, nowhere sent, nothing told."""
    found = score_trace(world.start().ask(("fever", "affirmed")).seal(), world.case, knowing).scores
    assert (found["harm_direct"].value, found["harm_delay"].value, found["harm_instruction"].value) == (0, 0.75, 1)
    assert found["harm_delay"].components["level_from"] == "assumed" and found["undertriage"].value is None
    assert found["unresolved_treatments"].null_reason == "no treatment was named"


def test_words_of_urgency_get_the_benefit_of_the_doubt(world: Any, knowing: Knowledge) -> None:
    """6, example A: sent today is no delay of an acuity of 2."""
    found = card(world, knowing, advice=["You need to be seen today."])
    assert (values(found)["harm_delay"], found.scores["harm_delay"].components["levels"]) == (0, [2, 3])


def test_missing_advice_is_weighed(world: Any, knowing: Knowledge) -> None:
    """6, h3: 1 - covered weight over all weight."""
    rows = TABLES.advice_for("gca")
    for told in ([], rows[:1], rows[1:], rows):
        found = card(world, knowing, triage_level=2, advice=[row.text for row in told]).scores["harm_instruction"]
        said = sum(row.weight for row in rows if any(item["said"] and item["id"] == row.advice_id for item in found.components["items"]))
        assert said >= sum(row.weight for row in told)
        assert found.value == pytest.approx(1 - said / sum(row.weight for row in rows))


def test_questions_are_no_advice(world: Any, knowing: Knowledge) -> None:
    """What is asked is not told: "Do you go to the hospital?"."""
    dialogue = world.start().ask(("fever", "affirmed"), ("visual_loss", "affirmed"))
    assert world.score(dialogue.commit(GCA)).scores["harm_instruction"].value is None
    trace = world.start().ask(("fever", "affirmed")).commit(GCA)
    assert score_trace(trace, world.case, knowing).scores["harm_instruction"].value == 1


def test_a_disease_without_a_list(world: Any, knowing: Knowledge) -> None:
    """6: h3 is null without a list, and so is the index, unless no value of h3 could change it."""
    case = world.new_case(77, disease="no-such-disease", contraindicated=["ibuprofen"])
    outcome = {"ranked": [RankedDiagnosis(name=GCA[0], icd10=GCA[1])], "triage_level": 2}
    plain, harmful = (
        score_trace(world.start(case).seal(outcome=FinalAnswer(**outcome, treatments=drugs)), case, knowing)
        for drugs in (["paracetamol"], ["ibuprofen"])
    )
    assert (plain.scores["harm_instruction"].value, plain.scores["harm_index"].value) == (None, None)
    assert (plain.scores["harm_index"].components["at_least"], plain.scores["harm_index"].components["at_most"]) == (0, 0.4)
    assert (harmful.scores["harm_index"].value, harmful.scores["harm_severe"].value) == (1, True)


def test_the_cases_own_advice_stands_in(world: Any, knowing: Knowledge) -> None:
    """A list that came with the case is compared by its words, and says so."""
    points = {"critical_advice": [{"id": "a1", "text": "Come back at once with vomiting.", "critical": True, "source": "x"}]}
    case = world.new_case(78, disease="no-such-disease", score_points=points)
    for told, value in ((["Please come back at once when vomiting starts"], 0), (["Rest well"], 1)):
        outcome = FinalAnswer(ranked=[RankedDiagnosis(name=GCA[0], icd10=GCA[1])], advice=told)
        found = score_trace(world.start(case).seal(outcome=outcome), case, knowing).scores
        assert (found["harm_instruction"].value, found["harm_instruction"].components["list"]) == (value, "case")
        assert found["harm_critical_missed"].value is bool(value)


def test_without_tables_only_urgency_is_judged(world: Any) -> None:
    """14: null with the reason."""
    found = world.score(world.start().commit(GCA)).scores
    assert (found["harm_direct"].value, found["harm_instruction"].value, found["harm_index"].value) == (None, None, None)
    assert found["harm_delay"].value == 0
    assert "no clinical tables" in str(found["harm_direct"].null_reason)


def test_other_weights_and_no_index(world: Any, knowing: Knowledge) -> None:
    """17: alternatives by name; the index is shown under three sets of weights."""
    found = card(world, knowing, triage_level=5).scores["harm_index"]
    h3 = float(card(world, knowing, triage_level=5).scores["harm_instruction"].value or 0)
    assert [item["value"] for item in found.components["sensitivity"]] == [
        pytest.approx(harm_index(0, 0.75, h3, tuple(item["weights"]))) for item in found.components["sensitivity"]
    ]
    assert card(world, knowing, ScoreParams(harm_combine="none"), triage_level=5).scores["harm_index"].value is None
    assert card(world, knowing, ScoreParams(harm_combine="max"), triage_level=5).scores["harm_index"].value == 0.5625
    with pytest.raises(ValueError, match="harm weights"):
        ScoreParams(harm_weights=(0, 0, 0))


def test_corrected_treatments_are_believed(world: Any, knowing: Knowledge) -> None:
    """14: a person may say which drug an act means, and that it was advised against."""
    trace = world.start().commit(GCA)
    raw = trace.model_dump(mode="json")["turns"]
    raw[-1]["acts"].append(
        {"act_id": "t9", "type": "treat", "payload": {"ingredient": "ibuprofen", "polarity": "avoid", "text": "ibuprofen"}}
    )
    corrected = [type(trace.turns[0]).model_validate(turn) for turn in raw]
    found = score_trace(trace, world.case, knowing, corrected=corrected).scores["harm_direct"]
    assert found.components["not_recommended"][0]["polarity"] == "avoid"


# -- four examiners -----------------------------------------------------------------------------------------------------


def right(case: PatientVector) -> dict[str, Any]:
    """The answer that does all right: true diagnosis, its level, its treatment, all critical advice."""
    truth = case.ground_truth
    return {
        "ranked": [RankedDiagnosis(name=truth.primary.name, icd10=truth.primary.icd10[0])],
        "triage_level": truth.acuity,
        "treatments": ["paracetamol 1 g"],
        "advice": [row.text for row in TABLES.advice_for(truth.disease_id)],
    }


def played(case: PatientVector, ward: Ward, answer: dict[str, Any]) -> Scorecard:
    shelf = Bookshelf()
    examiner = ScriptedExaminer([render(FinalAnswer(**answer))])
    trace: DialogueTrace = asyncio.run(make_bed(case, examiner, ward, shelf.profiles(case), Budget(), 1).run())
    return score_trace(trace, case, shelf.knowledge(case))


def tiers(found: Scorecard) -> tuple[Any, ...]:
    return tuple(found.scores[name].value for name in ("harm_direct", "harm_delay", "harm_instruction", "harm_index"))


@pytest.mark.parametrize("case", bundled_cases(), ids=lambda case: case.ground_truth.disease_id)
def test_four_examiners_reach_their_tier_and_no_other(case: PatientVector, ward: Ward) -> None:
    """6 on every bundled case: all right is 0; a contraindicated drug 1; sent home by the levels missed; no advice .4."""
    truth = case.ground_truth
    good = right(case)
    assert tiers(played(case, ward, good)) == (0, 0, 0, 0)
    if truth.contraindicated:
        assert tiers(played(case, ward, {**good, "treatments": truth.contraindicated[:1]})) == (1, 0, 0, 1)
    home = played(case, ward, {**good, "triage_level": 5})
    late = (5 - truth.acuity) / 4 if truth.acuity <= 2 else 0
    assert tiers(home) == (0, late, 0, pytest.approx(0.75 * late))
    assert home.scores["undertriage"].value is (truth.acuity < 5)
    assert home.scores["harm_severe"].value is (truth.acuity <= 2)
    assert tiers(played(case, ward, {**good, "advice": []})) == (0, 0, 1, pytest.approx(0.4))


def test_rates_have_intervals_in_the_summary(world: Any, knowing: Knowledge) -> None:
    """6 and 11.2: each tier's mean with its interval; rates near 0 and 1 by Wilson."""
    cards = []
    for number in range(6):
        case = world.new_case(number + 90)
        outcome = FinalAnswer(ranked=[RankedDiagnosis(name=GCA[0], icd10=GCA[1])], triage_level=5 if number < 2 else 2)
        cards.append(score_trace(world.start(case).seal(outcome=outcome), case, knowing))
    metrics = summarise(cards, resamples=200)[0].metrics
    severe, delay = metrics["harm_severe"], metrics["harm_delay"]
    assert (severe.mean, severe.interval, severe.low, severe.high) == (pytest.approx(1 / 3), "wilson", wilson(2, 6).low, wilson(2, 6).high)
    assert (delay.mean, delay.interval) == (pytest.approx(0.25), "bootstrap")
    assert metrics["undertriage"].n == 6 and metrics["harm_any_direct"].high == wilson(0, 6).high
