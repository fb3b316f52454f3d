"""The history: golden numbers of metrics.md 4.2 and 4.6, and what may never happen."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from metrics.crediting import Crediting, cover, relevance_set
from metrics.elicitation import f_beta
from metrics.events import QuestionEvent
from metrics.order import gains, ndcg, turn_cost
from metrics.params import ScoreParams
from metrics.scorecard import score_trace
from ontology.profiles import DiseaseProfile, Feature, ProfileSet

GCA = ("Giant cell arteritis", "M31.6")
DIALOGUES = ("A", "B", "shotgun", "shotgun_capped")


def committed(world: Any, name: str) -> Any:
    answer = world.golden["dialogues"].get(name, {"answer": GCA})["answer"]
    return world.golden_dialogue(name).commit(tuple(answer))


@pytest.mark.parametrize("name", DIALOGUES)
def test_golden_dialogues(world: Any, name: str) -> None:
    """4.6: every number of the table, from a trace."""
    values = world.values(committed(world, name))
    for metric, expected in world.golden["expected"][name].items():
        assert values[metric] == pytest.approx(expected, abs=5e-5), metric


def test_golden_gains(world: Any) -> None:
    """4.6: the gain of every question of A."""
    assert world.score(committed(world, "A")).scores["ndcg"].components["gains"] == world.golden["gains_A"]


@pytest.mark.parametrize("name", DIALOGUES)
def test_golden_one_sided_s_dise(world: Any, name: str) -> None:
    """4.6: without a penalty for haste, one turn with everything in it would be perfect."""
    components = world.score(committed(world, name)).scores["s_dise"].components
    assert components["expected_turns"] == 6
    assert components["one_sided"] == pytest.approx(world.golden["one_sided_s_dise"][name], abs=5e-5)


def test_golden_turn_cost(world: Any) -> None:
    """4.5: C for six findings."""
    for turns, expected in world.golden["turn_cost_of_6"].items():
        assert turn_cost(int(turns), 6) == pytest.approx(expected, abs=5e-5)
    assert turn_cost(0, 6) == 0


def test_golden_credits(world: Any) -> None:
    """4.2: what a question is worth for a broader or narrower feature, by its answer."""
    crediting = Crediting(world.vocabulary, ScoreParams())
    for row in world.golden["credits"]:
        found = crediting.credit(world.id(row["asked"]), world.id(row["for"]), row["answer"])
        assert found == row["credit"], row


def test_exact_credit_ignores_broader_and_narrower(world: Any) -> None:
    """4.2, the alternative: only the same concept counts."""
    crediting = Crediting(world.vocabulary, ScoreParams(credit="exact"))
    assert crediting.credit(world.id("visual_loss"), world.id("visual_impairment"), "affirmed") == 0
    assert crediting.credit(world.id("fever"), world.id("fever"), "denied") == 1


def test_hmax_limits_how_far_credit_reaches(world: Any) -> None:
    """4.2: two links are out of reach with hmax 1."""
    near = Crediting(world.vocabulary, ScoreParams(hmax=1))
    assert near.credit(world.id("abn_vision"), world.id("visual_loss"), "denied") == 0
    assert near.credit(world.id("abn_vision"), world.id("visual_impairment"), "denied") == 1


def test_relevance_set_holds_what_can_be_asked(world: Any) -> None:
    """4.1, 2.3: no chief complaint, no blood value, no demographic, nothing that never occurs; each meaning once."""
    profile = world.profiles["gca"]
    excluded = Feature(concept=world.id("nausea"), name="Nausea", frequency_class="excluded")
    unasked = Feature(concept=world.id("vomiting"), name="Vomiting", frequency_class="frequent", askable=False)
    twice = Feature(concept=world.id("diplopia"), name="Diplopia", frequency_class="frequent")
    wider = profile.model_copy(update={"features": [*profile.features, excluded, unasked, twice]})
    found = relevance_set(wider, [world.id("headache")], world.vocabulary, world.params)
    weights = {item.concept: item.weight for item in found}
    assert set(weights) == {world.id(key) for key in world.golden["diseases"][0]["features"]}
    assert weights[world.id("diplopia")] == 0.5
    assert sum(weights.values()) == 6.75
    assert [item.weight for item in found] == sorted(weights.values(), reverse=True)


def test_feature_without_frequency(world: Any) -> None:
    """2.1: it weighs what the parameters say, and SES is also given without such features."""
    bare = DiseaseProfile(
        disease_id="gca",
        name="x",
        icd10=["M31.6"],
        features=[Feature(concept=world.id("fever"), name="Fever"), Feature(concept=world.id("fatigue"), name="Fatigue", frequency=0.9)],
    )
    knowledge = world.knowing(ProfileSet(world.profiles.header, [bare]))
    trace = world.start().ask(("fever", "affirmed")).commit(GCA)
    for weight in (0.5, 0.25):
        score = score_trace(trace, world.case, knowledge, ScoreParams(missing_weight=weight)).scores["ses"]
        assert score.value == pytest.approx(f_beta(1.0, weight / (weight + 0.75)))
        assert score.components["without_missing_frequency"] == 0


def test_detail_questions_neither_help_nor_harm(world: Any) -> None:
    """4.3, E6: N counts concepts; asking three details of a relevant one is one concept, and delays nothing."""
    plain = world.values(world.start().ask(("fever", "affirmed")).ask(("fatigue", "affirmed")).commit(GCA))
    details = world.start().ask(("fever", "affirmed"), ("fever", "affirmed", "onset"), ("fever", "unsure", "severity"))
    detailed = world.values(details.ask(("fatigue", "affirmed")).commit(GCA))
    for name in ("precision", "recall", "ses", "ndcg", "questions"):
        assert detailed[name] == plain[name], name


def test_asking_again_after_no_answer_takes_a_place(world: Any) -> None:
    """4.4: a question that had to be put twice comes later; N counts its concept once."""
    once = world.values(world.start().ask(("jaw_claudication", "affirmed")).commit(GCA))
    twice = world.values(world.start().ask(("jaw_claudication", None)).ask(("jaw_claudication", "affirmed")).commit(GCA))
    assert twice["questions"] == once["questions"] == 1
    assert twice["precision"] == once["precision"] == 1
    assert twice["ndcg"] < once["ndcg"]
    assert twice["redundancy"] == 0


def test_do_nothing_examiners_score_nothing(world: Any) -> None:
    """4.3: no question, no merit: neither by silence, nor remarks, nor a lucky first guess, nor an open question."""
    silent = world.start().seal()
    chatty = world.start().remark().remark().seal()
    lucky = world.start().commit(GCA)
    lazy = world.start().open_question("fever", "jaw_claudication").commit(GCA)
    for trace in (silent, chatty, lucky, lazy):
        card = world.score(trace)
        for name in ("precision", "recall", "ses", "ses_f2", "ses_f05", "ndcg", "s_dise"):
            assert card.scores[name].value == 0, name
        assert card.scores["ses"].components["no_questions"] is True
        assert card.scores["reliability"].value is False
        assert card.scores["redundancy"].value is None


def test_components_say_which_questions_counted(world: Any) -> None:
    """14: what was asked in vain and what was missed, by id and name."""
    card = world.score(committed(world, "A"))
    ses = card.scores["ses"].components
    assert ses["irrelevant"] == [{"concept": world.id("photophobia"), "name": "Photophobia"}]
    missed = {row["name"]: row["weight"] for row in ses["missed"]}
    assert missed == {
        "Anorexia": 0.75,
        "Joint stiffness": 0.75,
        "Impaired mastication": 0.75,
        "Diplopia": 0.25,
        "Myalgia": 0.25,
        "Amaurosis fugax": 0.25,
    }
    by = {row["name"]: row["by_name"] for row in ses["covered"]}
    assert by["Visual impairment"] == "Visual loss"
    capped = world.score(committed(world, "shotgun_capped")).scores["precision"].components
    assert len(capped["unanswered"]) == 19
    assert capped["irrelevant"] == []


def test_answered_precision_is_a_choice(world: Any) -> None:
    """4.3, the alternative: SES with unanswered questions left out of the precision."""
    trace = committed(world, "shotgun_capped")
    values = world.values(trace, params=ScoreParams(precision="answered"))
    assert values["precision"] == pytest.approx(3 / 22)
    assert values["ses"] == pytest.approx(f_beta(1.0, values["recall"]))


def test_symptoms_and_antecedents_apart(world: Any) -> None:
    """0b D1: questions of one kind are not held against the other."""
    profile = world.profiles["gca"]
    smoking = Feature(concept=world.id("smoking"), name="Smoking", kind="social", frequency_class="frequent")
    wider = ProfileSet(world.profiles.header, [profile.model_copy(update={"features": [*profile.features, smoking]})])
    trace = world.start().ask(("fever", "affirmed")).ask(("smoking", "denied")).commit(GCA)
    scores = score_trace(trace, world.case, world.knowing(wider)).scores
    assert scores["ses_antecedents"].value == 1
    assert scores["ses_symptoms"].components["precision"] == 1
    assert scores["precision"].value == 1
    plain = world.score(trace).scores
    assert plain["ses_antecedents"].null_reason == "no antecedents in the relevance set"
    assert plain["precision"].value == 0.5


def test_candidates_make_questions_fair(world: Any) -> None:
    """0b D1: a question that serves a live candidate is not irrelevant; the recall stays the truth's."""
    differential = [
        {"dx": {"name": "Giant cell arteritis", "icd10": ["M31.6"]}, "prob": 0.5},
        {"dx": {"name": "Migraine", "icd10": ["G43"]}, "prob": 0.4},
        {"dx": {"name": "Tension-type headache", "icd10": ["G44.2"]}, "prob": 0.005},
    ]
    case = world.new_case(2, differential=differential)
    trace = world.start(case).ask(("fever", "affirmed")).ask(("photophobia", "denied")).ask(("pressing", "denied")).commit(GCA)
    scores = world.score(trace, case).scores
    assert scores["precision"].value == pytest.approx(1 / 3)
    assert scores["precision_ddx"].value == pytest.approx(2 / 3)
    assert scores["precision_ddx"].components["candidates"] == ["Giant cell arteritis", "Migraine"]
    assert scores["ses_ddx"].value == pytest.approx(f_beta(2 / 3, scores["recall"].value))
    assert scores["ses_ddx"].components["from"] == "differential"


def test_without_a_differential_the_opening_names_the_candidates(world: Any) -> None:
    """4.1: diseases that the belief after the opening gives .01 or more."""
    trace = world.start().ask(("fever", "affirmed")).ask(("photophobia", "denied")).ask(("X:junk-1", "denied")).commit(GCA)
    scores = world.score(trace).scores
    assert scores["precision_ddx"].components["from"] == "belief"
    assert sorted(scores["precision_ddx"].components["candidates"]) == ["Giant cell arteritis", "Migraine", "Tension-type headache"]
    assert (scores["precision"].value, scores["precision_ddx"].value) == (pytest.approx(1 / 3), pytest.approx(2 / 3))


def test_self_coherence_is_against_what_was_concluded(world: Any) -> None:
    """4.1: B asked as one who believes in tension-type headache."""
    scores = world.score(committed(world, "B")).scores
    assert scores["self_coherence"].components["disease"] == "Tension-type headache"
    assert scores["self_coherence"].value > 0.5 > scores["ses"].value
    elsewhere = world.score(world.start().ask(("fever", "affirmed")).commit(("Measles", "B05.9"))).scores["self_coherence"]
    assert elsewhere.null_reason == "the answer is not a disease of the profile set"


def test_questions_outside_the_knowledge_base_are_counted(world: Any) -> None:
    """16: the knowledge base may lack what was asked; a broader concept of one it has is not foreign."""
    trace = world.start().ask(("X:junk-1", "denied")).ask(("abn_vision", "affirmed")).ask(("fever", "affirmed")).commit(GCA)
    score = world.score(trace).scores["off_kb_rate"]
    assert score.value == pytest.approx(1 / 3)
    assert score.components["off_kb"] == [{"concept": "X:junk-1", "name": "X:junk-1"}]


def test_without_a_profile_there_is_no_score(world: Any) -> None:
    """4.3: null with the reason, not 0; the diagnosis is still judged."""
    case = world.new_case(3, disease="unheard-of")
    scores = world.score(world.start(case).ask(("fever", "affirmed")).commit(GCA), case).scores
    for name in ("precision", "recall", "ses", "ndcg", "s_dise", "reliability", "cell", "premature_closure"):
        assert scores[name].value is None, name
        assert "unheard-of" in (scores[name].null_reason or ""), name
    assert scores["acc_truth"].value is True


def test_compound_questions(world: Any) -> None:
    """4.3: share of ask turns with two concepts or more; two details of one concept are no compound."""
    dialogue = world.start().ask(("fever", "affirmed"), ("fatigue", "affirmed"))
    dialogue.ask(("headache", "affirmed", "onset"), ("headache", "unsure", "severity")).remark()
    values = world.values(dialogue.commit(GCA))
    assert (values["compound_rate"], values["concepts_per_turn"], values["concepts_per_turn_max"]) == (0.5, 1.5, 2)
    assert values["turns"] == 2


# -- properties -----------------------------------------------------------------------------------------------------

ANSWERS = st.sampled_from(["affirmed", "denied", "unsure", "unanswered"])
KEYS = (
    "headache weight_loss fever anorexia fatigue joint_stiffness impaired_mastication jaw_claudication visual_impairment visual_loss "
    "scalp_tenderness diplopia myalgia amaurosis_fugax photophobia nausea abn_vision pain phonophobia vomiting stress pressing "
    "neck_stiffness smoking X:junk-1 X:junk-2"
).split()
QUESTIONS = st.lists(st.tuples(st.sampled_from(KEYS), ANSWERS), max_size=14, unique_by=lambda question: question[0])
IRRELEVANT = st.tuples(st.sampled_from(["nausea", "phonophobia", "stress", "X:junk-3", "smoking"]), ANSWERS)


def dialogue_of(world: Any, questions: list[tuple[str, str]], sizes: list[int] | None = None) -> Any:
    dialogue, rest, cuts = world.start(), list(questions), list(sizes or [])
    while rest:
        size = cuts.pop(0) if cuts else 1
        dialogue.ask(*rest[:size])
        rest = rest[size:]
    return dialogue.commit(GCA)


@given(questions=QUESTIONS, sizes=st.lists(st.integers(1, 4), max_size=6))
@settings(max_examples=80, deadline=None)
def test_scores_stay_in_range(world: Any, questions: list[tuple[str, str]], sizes: list[int]) -> None:
    """15: all shares lie in 0..1, whatever was asked."""
    values = world.values(dialogue_of(world, questions, sizes))
    for name in (
        "precision precision_answered recall recall_unweighted ses ses_f05 ses_f2 ses_symptoms ndcg s_dise redundancy compound_rate "
        "off_kb_rate core_coverage reliability_curve reliability_graded self_coherence closure_deficit"
    ).split():
        assert values[name] is None or 0 <= values[name] <= 1, name


@given(questions=QUESTIONS, seed=st.randoms(use_true_random=False))
@settings(max_examples=60, deadline=None)
def test_order_changes_ndcg_only(world: Any, questions: list[tuple[str, str]], seed: Any) -> None:
    """15: precision and recall do not see the order."""
    shuffled = list(questions)
    seed.shuffle(shuffled)
    one, other = world.values(dialogue_of(world, questions)), world.values(dialogue_of(world, shuffled))
    for name in ("precision", "recall", "recall_unweighted", "ses", "questions", "s_dise"):
        assert one[name] == pytest.approx(other[name]), name


def test_order_does_change_ndcg(world: Any) -> None:
    """15: the same questions, the best first or last."""
    questions = [("nausea", "denied"), ("diplopia", "affirmed"), ("fever", "affirmed")]
    assert world.values(dialogue_of(world, questions))["ndcg"] < world.values(dialogue_of(world, questions[::-1]))["ndcg"]


@given(questions=QUESTIONS, extra=IRRELEVANT, at=st.integers(0, 14))
@settings(max_examples=60, deadline=None)
def test_an_irrelevant_question_never_helps(world: Any, questions: list[tuple[str, str]], extra: tuple[str, str], at: int) -> None:
    """15: it never raises precision or SES, and leaves the recall."""
    without = [question for question in questions if question[0] != extra[0]]
    more = [*without[:at], extra, *without[at:]]
    before, after = world.values(dialogue_of(world, without)), world.values(dialogue_of(world, more))
    for name in ("precision", "ses", "ses_f05", "ses_f2", "ndcg"):
        assert after[name] <= before[name] + 1e-12, name
    assert after["recall"] == pytest.approx(before["recall"])


@given(questions=QUESTIONS, extra=st.sampled_from(["fever", "jaw_claudication", "visual_loss", "diplopia"]), answer=ANSWERS)
@settings(max_examples=60, deadline=None)
def test_a_relevant_question_never_lowers_recall(world: Any, questions: list[tuple[str, str]], extra: str, answer: str) -> None:
    """15: it raises the recall or leaves it."""
    without = [question for question in questions if question[0] != extra]
    before, after = world.values(dialogue_of(world, without)), world.values(dialogue_of(world, [*without, (extra, answer)]))
    assert after["recall"] >= before["recall"] - 1e-12
    assert after["recall_unweighted"] >= before["recall_unweighted"] - 1e-12


@given(questions=QUESTIONS)
@settings(max_examples=40, deadline=None)
def test_answers_never_lower_precision(world: Any, questions: list[tuple[str, str]]) -> None:
    """4.3: an unanswered question is worth no more than the same one answered."""
    answered = [(key, "affirmed" if answer == "unanswered" else answer) for key, answer in questions]
    before, after = world.values(dialogue_of(world, questions)), world.values(dialogue_of(world, answered))
    assert after["precision"] >= before["precision"] - 1e-12
    assert after["recall"] >= before["recall"] - 1e-12


@given(weights=st.lists(st.sampled_from([0.1, 0.25, 0.5, 0.75, 1.0]), min_size=1, max_size=12), data=st.data())
@settings(deadline=None)
def test_ndcg_is_one_for_the_best_order_and_never_more(world: Any, weights: list[float], data: Any) -> None:
    """4.4: gains in any order stay at or below the ideal."""
    found = data.draw(st.permutations(weights))
    assert 0 <= ndcg(found, weights, 10) <= 1 + 1e-12
    assert ndcg(sorted(weights, reverse=True), weights, 10) == pytest.approx(1)


def test_credit_is_the_best_not_the_sum(world: Any) -> None:
    """4.2: two half-right questions are not one right one."""
    relevant = relevance_set(world.profiles["gca"], [], world.vocabulary, world.params)
    crediting = Crediting(world.vocabulary, world.params)
    eye = world.id("visual_impairment")
    found = cover([(world.id("visual_loss"), "denied"), (world.id("abn_vision"), "affirmed")], relevant, crediting)
    assert found.covered[eye] == (0.5, world.id("visual_loss"))
    events = [
        QuestionEvent(world.id("abn_vision"), None, 1, 0, "m1", "affirmed", "affirmed"),
        QuestionEvent(eye, None, 3, 0, "m2", "affirmed", "affirmed"),
    ]
    # abn_vision earns half of visual impairment (.5) or a half of amaurosis fugax (.25); the rest comes with the exact question.
    assert gains(events, relevant, crediting) == [0.25, 0.25]
