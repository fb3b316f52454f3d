"""What answers make likely, and what a question would tell (metrics.md 7.1, 7.2)."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ontology.belief import CAP_BITS, BeliefModel, Vector, age_band, demographic_likelihood, entropy, informative
from ontology.concepts import ConceptRow
from ontology.mentions import Answer
from ontology.profiles import AGE_BANDS, LEAK, DiseaseProfile, Feature, ProfileHeader, ProfileSet, load_profiles
from ontology.vocabulary import Vocabulary

HEADER = ProfileHeader(profile_set="toy", source="invented", license="Apache-2.0")
PRIOR = np.array([0.1, 0.45, 0.45])
"""Giant cell arteritis, migraine, tension-type headache."""


@dataclass(frozen=True)
class Step:
    """A question, its answer, and what came of it."""

    eig: float
    best: float
    realised: float
    tig: float
    belief: Vector


@dataclass(frozen=True)
class Toy:
    """The world of the worked example: class midpoints, leak .02, visual loss implies visual impairment."""

    model: BeliefModel
    ids: dict[str, str]
    dialogues: dict[str, list[tuple[str, Answer]]]

    def play(self, name: str) -> list[Step]:
        belief, steps = PRIOR, []
        for key, answer in self.dialogues[name]:
            concept = self.ids[key]
            gains = self.model.expected_gains(belief)
            after = self.model.update(belief, concept, answer)
            steps.append(
                Step(
                    eig=float(gains[self.model.askable.index(concept)]),
                    best=float(gains.max()),
                    realised=entropy(belief) - entropy(after),
                    tig=float(np.log2(after[0]) - np.log2(belief[0])),
                    belief=after,
                )
            )
            belief = after
        return steps


@pytest.fixture(scope="module")
def toy() -> Toy:
    golden = json.loads((Path(__file__).parents[1] / "data" / "gca_dialogues.json").read_text(encoding="utf-8"))
    ids = {c["key"]: c["id"] for c in golden["concepts"]}
    rows = [
        ConceptRow(id=c["id"], name=c["name"], basis="local", kind="symptom", parents=[ids[p] for p in c["parents"]], generic=c["generic"])
        for c in golden["concepts"]
    ]
    profiles = []
    for disease in golden["diseases"]:
        features = dict(disease["features"])
        if "visual_impairment" in features:
            # What is impaired in this disease is asked for as a loss: the child, which implies the listed parent.
            features["visual_loss"] = features.pop("visual_impairment")
        listed = [Feature.model_validate({"concept": ids[k], "name": k, "frequency_class": c}) for k, c in features.items()]
        profiles.append(DiseaseProfile(disease_id=disease["id"], name=disease["name"], icd10=disease["icd10"], features=listed))
    model = BeliefModel(ProfileSet(HEADER, profiles), Vocabulary(rows, {}, "toy"))
    dialogues = {name: [tuple(q) for turn in d["turns"] for q in turn] for name, d in golden["dialogues"].items()}
    return Toy(model, ids, dialogues)


# -- the worked example -----------------------------------------------------------------------------------------------


def test_the_prior_holds_1_3690_bits() -> None:
    """7.2."""
    assert entropy(PRIOR) == pytest.approx(1.3690, abs=5e-5)


def test_dialogue_a_finds_the_truth(toy: Toy) -> None:
    """7.2, A: jaw claudication EIG .1485, realised .3122, TIG 2.9102, posterior .7517, then .9626 and .9991; TIG sums to the bound."""
    steps = toy.play("A")
    first = steps[0]
    assert (first.eig, first.realised, first.tig) == pytest.approx((0.1485, 0.3122, 2.9102), abs=5e-5)
    assert [float(step.belief[0]) for step in steps[:3]] == pytest.approx([0.7517, 0.9626, 0.9991], abs=5e-5)
    assert sum(step.tig for step in steps) == pytest.approx(3.3219, abs=5e-5)
    assert np.mean([step.eig / step.best for step in steps]) == pytest.approx(0.4867, abs=5e-5)


def test_dialogue_b_converges_on_the_wrong_disease(toy: Toy) -> None:
    """7.2, B: photophobia denied EIG .4708, TIG +.9177; stress EIG .4511, TIG -5.1559; in sum -9.5762 and .9999 sure of the wrong one."""
    steps = toy.play("B")
    assert (steps[0].eig, steps[0].tig) == pytest.approx((0.4708, 0.9177), abs=5e-5)
    stress = steps[[key for key, _ in toy.dialogues["B"]].index("stress")]
    assert (stress.eig, stress.tig) == pytest.approx((0.4511, -5.1559), abs=5e-5)
    assert sum(step.tig for step in steps) == pytest.approx(-9.5762, abs=5e-5)
    assert float(steps[-1].belief[2]) == pytest.approx(0.9999, abs=5e-5)
    assert np.mean([step.eig / step.best for step in steps]) == pytest.approx(0.4892, abs=5e-5)


def test_entropy_alone_cannot_tell_them_apart(toy: Toy) -> None:
    """F8: both dialogues lose about 1.37 bits of entropy; only the truth's own gain separates them."""
    gains = {name: entropy(PRIOR) - entropy(toy.play(name)[-1].belief) for name in ("A", "B")}
    assert gains["A"] == pytest.approx(1.369, abs=5e-4)
    assert gains["B"] == pytest.approx(1.367, abs=5e-4)


def test_a_child_implies_its_parent(toy: Toy) -> None:
    """4.2: who loses sight has impaired sight; not the other way round, and nothing passes a generic concept."""
    model, ids = toy.model, toy.ids
    assert model.probability(ids["visual_loss"], "gca") == 0.545
    assert model.probability(ids["visual_impairment"], "gca") == 0.545
    assert model.probability(ids["visual_loss"], "mig") == LEAK
    assert ids["visual_impairment"] not in model.askable
    assert model.probability(ids["pain"], "gca") == LEAK


# -- properties -------------------------------------------------------------------------------------------------------

ANSWER: st.SearchStrategy[Answer] = st.sampled_from(["affirmed", "denied", "unsure", "unanswered"])


@st.composite
def beliefs(draw: st.DrawFn) -> Vector:
    weights = np.array(draw(st.lists(st.floats(0.0, 1.0), min_size=3, max_size=3))) + 1e-9
    return np.asarray(weights / weights.sum())


@settings(max_examples=200, deadline=None, derandomize=True)
@given(belief=beliefs())
def test_no_question_is_expected_to_lose_information(toy: Toy, belief: Vector) -> None:
    """7.2: EIG is mutual information: never negative, never more than there is to learn, never more than an answer holds."""
    gains = toy.model.expected_gains(belief)
    assert gains.shape == (len(toy.model.askable),)
    assert (gains >= -1e-12).all()
    assert (gains <= entropy(belief) + 1e-12).all()
    assert (gains <= 1 + 1e-12).all()


@settings(max_examples=200, deadline=None, derandomize=True)
@given(belief=beliefs(), answers=st.lists(st.tuples(st.integers(0, 30), ANSWER), max_size=12))
def test_truth_gains_telescope_and_are_bounded(toy: Toy, belief: Vector, answers: list[tuple[int, Answer]]) -> None:
    """7.2: the gains of all questions add up to the gain of the dialogue, and cannot pass -log2 of the prior."""
    concepts = toy.model.concepts
    asked = [(concepts[number % len(concepts)], answer) for number, answer in answers]
    total, here = np.zeros(3), belief
    for concept, answer in asked:
        after = toy.model.update(here, concept, answer)
        assert after.sum() == pytest.approx(1)
        assert (after >= 0).all()
        total += np.log2(after) - np.log2(here)
        here = after
    assert np.allclose(total, np.log2(here) - np.log2(belief))
    assert (total <= -np.log2(belief) + 1e-9).all()
    assert np.allclose(here, toy.model.after(belief, asked))


@settings(max_examples=100, deadline=None, derandomize=True)
@given(belief=beliefs(), number=st.integers(0, 30))
def test_only_yes_and_no_teach(toy: Toy, belief: Vector, number: int) -> None:
    """7.1: unsure and unanswered change nothing; nor does a concept that no profile knows."""
    concept = toy.model.concepts[number % len(toy.model.concepts)]
    for answer in ("unsure", "unanswered"):
        assert np.array_equal(toy.model.update(belief, concept, answer), belief)
    assert np.array_equal(toy.model.update(belief, "X:strange", "affirmed"), belief)


def two(probability: float, other: float, vocabulary: Vocabulary | None = None) -> BeliefModel:
    diseases = [
        DiseaseProfile(disease_id=d, name=d, icd10=["A00"], features=[Feature(concept="X:a", name="A", frequency=p)])
        for d, p in (("one", probability), ("two", other))
    ]
    return BeliefModel(ProfileSet(HEADER, diseases), vocabulary or Vocabulary([], {}, "none"))


def test_one_answer_weighs_at_most_six_bits() -> None:
    """7.1: naive Bayes takes every answer for independent news, so none may decide alone."""
    model = two(0.995, 0.005)
    belief = np.array([0.001, 0.999])
    assert 0.995 / 0.005 > 2**CAP_BITS, "the cap must act for this test to say anything"
    odds = 0.001 / 0.999 * 2**CAP_BITS
    assert np.allclose(model.update(belief, "X:a", "affirmed"), [odds / (1 + odds), 1 / (1 + odds)])
    even = np.array([2**CAP_BITS, 1]) / (2**CAP_BITS + 1)
    assert np.allclose(model.update(np.array([0.5, 0.5]), "X:a", "affirmed"), even), "in both directions"
    assert np.allclose(two(0.9, 0.1).update(np.array([0.5, 0.5]), "X:a", "affirmed"), [0.9, 0.1]), "and only where it is needed"


def test_a_denial_is_the_other_side_of_a_yes() -> None:
    """denied = 1 - f (7.1)."""
    assert np.allclose(two(0.8, 0.3).update(np.array([0.5, 0.5]), "X:a", "denied"), np.array([0.2, 0.7]) / 0.9)


def test_synonymous_ids_are_one_question() -> None:
    """A concept is met by any of its ids."""
    from ontology.hpo import PHENOTYPE_ROOT, HpoTerm

    terms = {
        PHENOTYPE_ROOT: HpoTerm(PHENOTYPE_ROOT, "Root"),
        "HP:0000001": HpoTerm("HP:0000001", "Abc", ["C0000001", "C0000002"], [PHENOTYPE_ROOT]),
    }
    disease = DiseaseProfile(disease_id="d", name="D", icd10=["A00"], features=[Feature(concept="C0000002", name="Abc", frequency=0.7)])
    model = BeliefModel(ProfileSet(HEADER, [disease]), Vocabulary([], terms, "v"))
    assert model.askable == ("C0000001",)
    assert model.probability("C0000002", "d") == model.probability("C0000001", "d") == 0.7


def test_what_is_not_askable_is_known_but_not_asked() -> None:
    """2.3: laboratory values and the like."""
    disease = DiseaseProfile(
        disease_id="d",
        name="D",
        icd10=["A00"],
        features=[Feature(concept="X:esr", name="ESR", frequency=0.9, askable=False), Feature(concept="X:a", name="A", frequency=0.2)],
    )
    model = BeliefModel(ProfileSet(HEADER, [disease]), Vocabulary([], {}, "v"))
    assert model.askable == ("X:a",)
    assert model.probability("X:esr", "d") == 0.9
    assert model.most_frequent(5) == ["X:a"]


# -- age and sex ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("age", "band"), [(0, 0), (1, 0), (2, 1), (7, 1), (8, 2), (17, 2), (18, 3), (44, 4), (45, 5), (75, 7), (120, 7)])
def test_age_bands(age: int, band: int) -> None:
    """By completed years."""
    assert AGE_BANDS == (0, 2, 8, 18, 30, 45, 60, 75)
    assert age_band(age) == band


def test_age_and_sex_shift_the_prior() -> None:
    """7.1: smoothed counts; what was not counted, and what is not known of the patient, says nothing."""
    young = DiseaseProfile(disease_id="young", name="Y", icd10=["A00"], n=10, female=10, ages=[0, 0, 0, 10, 0, 0, 0, 0], features=[])
    old = DiseaseProfile(disease_id="old", name="O", icd10=["A00"], n=10, female=0, ages=[0, 0, 0, 0, 0, 0, 0, 10], features=[])
    model = BeliefModel(ProfileSet(HEADER, [young, old]), Vocabulary([], {}, "v"))
    assert demographic_likelihood(young, None, "F") == pytest.approx(10.5 / 11)
    assert demographic_likelihood(young, None, "M") == pytest.approx(0.5 / 11)
    assert demographic_likelihood(young, 20, None) == pytest.approx(10.5 / (10 + 0.5 * len(AGE_BANDS)))
    assert demographic_likelihood(young, 20, "F") == pytest.approx(10.5 / 11 * 10.5 / 14)
    assert demographic_likelihood(young, None, "other") == 1.0
    assert model.prior(20, "F")[0] > 0.99 > 0.01 > model.prior(80, "M")[0]
    assert np.allclose(model.prior(), [0.5, 0.5])
    assert np.allclose(model.prior(None, "unknown"), [0.5, 0.5])
    assert demographic_likelihood(DiseaseProfile(disease_id="d", name="D", icd10=["A00"], features=[]), 40, "F") == 1.0


# -- choosing ---------------------------------------------------------------------------------------------------------


def test_ties_are_broken_by_id() -> None:
    """The same every time, on every machine."""
    features = [Feature(concept=c, name=c, frequency=0.5) for c in ("X:b", "X:a", "X:c")]
    diseases = [
        DiseaseProfile(disease_id="two", name="2", icd10=["A00"], features=features),
        DiseaseProfile(disease_id="one", name="1", icd10=["A00"], features=[]),
    ]
    model = BeliefModel(ProfileSet(HEADER, diseases), Vocabulary([], {}, "v"))
    belief = np.array([0.5, 0.5])
    assert model.most_frequent(2) == ["X:a", "X:b"]
    assert informative(model, belief, []) == "X:a"
    assert informative(model, belief, ["X:a", "X:b"]) == "X:c"
    assert informative(model, belief, ["X:a", "X:b", "X:c"]) is None
    assert model.ranked(belief) == [("one", 0.5), ("two", 0.5)]
    assert model.ranked(np.array([0.7, 0.3])) == [("two", 0.7), ("one", 0.3)]


def test_the_most_informative_question_is_the_one_with_the_largest_gain(toy: Toy) -> None:
    """The greedy examiner's choice."""
    gains = toy.model.expected_gains(PRIOR)
    assert informative(toy.model, PRIOR, []) == toy.model.askable[int(gains.argmax())]


def test_nobody_asks_the_impossible(vocabulary: Vocabulary) -> None:
    """Questions that make no sense for a sex are known."""
    model = BeliefModel(load_profiles("ddxplus"), vocabulary)
    names = {vocabulary.name(concept) for concept in model.impossible("M")}
    assert "Pregnancy" in names
    assert model.impossible("unknown") == []
    assert set(model.impossible("M")) <= set(model.askable)


def test_the_bundled_profiles_make_a_model(vocabulary: Vocabulary) -> None:
    """Every probability is in range, and uniform belief over 49 diseases holds log2 49 bits."""
    model = BeliefModel(load_profiles("ddxplus"), vocabulary)
    prior = model.prior()
    assert entropy(prior) == pytest.approx(np.log2(49))
    gains = model.expected_gains(prior)
    assert (gains >= -1e-12).all() and gains.max() > 0.3
    assert entropy(np.array([1.0, 0.0])) == 0.0
