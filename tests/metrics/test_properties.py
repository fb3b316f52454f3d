"""What always holds of the scores (metrics.md 15), on made-up interviews, a thousand of each."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from metrics.answers import Answered, Outcome
from metrics.basis import Basis, Candidates, basis
from metrics.diagnosis import diagnosis_scores
from metrics.elicitation import elicitation_scores
from metrics.events import Finding, Interview, QuestionEvent, distinct
from metrics.params import ScoreParams
from metrics.scores import Stamp

ANSWERS = st.sampled_from(["affirmed", "denied", "unsure", "unanswered"])
KEYS = (
    "weight_loss fever anorexia fatigue joint_stiffness impaired_mastication jaw_claudication visual_impairment visual_loss "
    "scalp_tenderness diplopia myalgia amaurosis_fugax photophobia nausea abn_vision pain phonophobia vomiting stress pressing "
    "neck_stiffness smoking X:junk-1 X:junk-2"
).split()
QUESTIONS = st.lists(st.tuples(st.sampled_from(KEYS), ANSWERS), max_size=14, unique_by=lambda question: question[0])
SIZES = st.lists(st.integers(1, 4), max_size=8)
IRRELEVANT = st.tuples(st.sampled_from(["nausea", "phonophobia", "stress", "X:junk-3", "smoking"]), ANSWERS)
RELEVANT = st.sampled_from(["fever", "jaw_claudication", "visual_loss", "diplopia", "abn_vision"])
PARAMS = st.builds(
    ScoreParams,
    beta=st.sampled_from([0.5, 1.0, 2.0]),
    precision=st.sampled_from(["effort", "answered"]),
    credit=st.sampled_from(["truepath", "exact"]),
    ndcg_discount=st.sampled_from(["event", "turn", "exponential"]),
    s_dise_cost=st.sampled_from(["symmetric", "one_sided", "exponential"]),
    s_dise_relevance=st.sampled_from(["credit", "weighted"]),
    ndcg_k=st.integers(1, 15),
)
THOUSAND = settings(max_examples=1000, deadline=None)
STATUS = {"affirmed": "present", "denied": "absent", "unsure": "unsure"}
Questions = list[tuple[str, Any]]


def here_of(world: Any, questions: Questions, sizes: list[int] | None = None, params: ScoreParams | None = None) -> Basis:
    """The basis of scores after some questions, a turn each or several a turn."""
    events, findings, cuts, turn, left = [], [], list(sizes or []), 1, 0
    turns: dict[int, list[str]] = {}
    for start, (key, answer) in enumerate(questions):
        if left == 0:
            turn, left = turn + 2, cuts.pop(0) if cuts else 1
        left -= 1
        concept = world.id(key)
        events.append(QuestionEvent(concept, None, turn, start, f"m{start}", answer, answer))
        turns.setdefault(turn, []).append(concept)
        if answer in STATUS:
            findings.append(Finding(concept, STATUS[answer], turn + 1, "answered"))  # type: ignore[arg-type]
    interview = Interview(
        events=tuple(events),
        repeats=(),
        excluded=(),
        findings=tuple(findings),
        chief_complaint=(world.id("headache"),),
        ask_turns=tuple(turns),
        turn_concepts=tuple(distinct(found) for found in turns.values()),
        examiner_turns=len(turns) + 1,
        commit_turn=turn + 2,
        commit_number=len(turns) + 1,
        leading=(),
    )
    return basis(interview, world.case, world.knowledge, Stamp(params or ScoreParams(), "kb"), 15)


def values(here: Basis) -> dict[str, Any]:
    live = Candidates(tuple(here.knowledge.profiles.profiles.values()), "belief")
    return {name: score.value for name, score in elicitation_scores(here, here.profile, live).items()}


COUNTS = ("concepts_per_turn", "concepts_per_turn_max")


@given(questions=QUESTIONS, sizes=SIZES, params=PARAMS)
@THOUSAND
def test_every_share_lies_in_range(world: Any, questions: Questions, sizes: list[int], params: ScoreParams) -> None:
    """15: 0 <= P, R, F, nDCG <= 1, under all alternatives."""
    for name, value in values(here_of(world, questions, sizes, params)).items():
        if name not in COUNTS:
            assert value is None or 0 <= value <= 1 + 1e-12, name


@given(questions=QUESTIONS, random=st.randoms(use_true_random=False))
@THOUSAND
def test_order_changes_ndcg_only(world: Any, questions: Questions, random: Any) -> None:
    """15: precision and recall do not see the order."""
    shuffled = list(questions)
    random.shuffle(shuffled)
    one, other = values(here_of(world, questions)), values(here_of(world, shuffled))
    for name in one.keys() - {"ndcg"}:
        assert one[name] == pytest.approx(other[name]), name


@given(questions=QUESTIONS, extra=IRRELEVANT, at=st.integers(0, 14), params=PARAMS)
@THOUSAND
def test_an_irrelevant_question_never_helps(world: Any, questions: Questions, extra: tuple[str, Any], at: int, params: ScoreParams) -> None:
    """15: it never raises P or SES, and leaves the recall; unanswered under answered-only precision it changes nothing."""
    without = [question for question in questions if question[0] != extra[0]]
    more = [*without[:at], extra, *without[at:]]
    before, after = values(here_of(world, without, params=params)), values(here_of(world, more, params=params))
    for name in ("precision", "precision_answered", "ses", "ses_f05", "ses_f2"):
        assert after[name] <= before[name] + 1e-12, name
    assert after["recall"] == pytest.approx(before["recall"])


@given(questions=QUESTIONS, extra=RELEVANT, answer=ANSWERS, params=PARAMS)
@THOUSAND
def test_a_relevant_question_never_lowers_recall(world: Any, questions: Questions, extra: str, answer: Any, params: ScoreParams) -> None:
    """15: it raises R or leaves it, weighted or not, also against the patient's own findings."""
    without = [question for question in questions if question[0] != extra]
    before, after = values(here_of(world, without, params=params)), values(here_of(world, [*without, (extra, answer)], params=params))
    for name in ("recall", "recall_unweighted", "psr", "per"):
        assert after[name] >= before[name] - 1e-12, name


@given(questions=QUESTIONS)
@THOUSAND
def test_an_answer_never_lowers_precision(world: Any, questions: Questions) -> None:
    """4.3: an unanswered question is worth no more than the same one answered."""
    answered = [(key, "affirmed" if answer == "unanswered" else answer) for key, answer in questions]
    before, after = values(here_of(world, questions)), values(here_of(world, answered))
    for name in ("precision", "recall", "psp"):
        assert after[name] >= before[name] - 1e-12, name


@given(questions=QUESTIONS, sizes=SIZES)
@THOUSAND
def test_more_in_a_turn_never_raises_effort_precision(world: Any, questions: Questions, sizes: list[int]) -> None:
    """4.3: P and R look at concepts, not at turns."""
    one, other = values(here_of(world, questions)), values(here_of(world, questions, sizes))
    for name in ("precision", "recall", "ses", "ndcg"):
        assert one[name] == other[name], name


CODES = "I21.02 I21.0 I21 I21.01 I21.4 I22.0 I20.0 I26.99 J18.9 M31.6 M31.5 G43.909 G44.209 G44.2 G43 D50.9 E11.311".split()
ANSWER = st.tuples(st.sampled_from([*CODES, None]), st.none() | st.floats(0, 0.4))


@given(answers=st.lists(ANSWER, max_size=5, unique_by=lambda a: a[0]), truth=st.sampled_from(CODES), params=st.builds(
    ScoreParams,
    sdd_headline=st.sampled_from(["descendant", "symmetric", "jaccard", "ic", "directional"]),
    ic_method=st.sampled_from(["seco", "sanchez"]),
    lambda_sec=st.floats(0, 1),
))  # fmt: skip
@THOUSAND
def test_answers(world: Any, answers: list[tuple[str | None, float | None]], truth: str, params: ScoreParams) -> None:
    """3: shares and distances lie in 0..1; hits grow and distances shrink with k; an exact answer is right at every level."""
    listed = tuple(Answered(code or "unheard of", code, prob, (code,) if code else (), "code", (), ()) for code, prob in answers)
    outcome = Outcome((truth,), (("other", ("I50.9",)),), listed)
    scores = {name: score.value for name, score in diagnosis_scores(outcome, world.knowledge, Stamp(params, "kb")).items()}
    for name, value in scores.items():
        if isinstance(value, float):
            assert 0 <= value <= 1, name
    assert scores["top1"] <= scores["top3"] <= scores["top5"]
    assert scores["sdd"] >= scores["sdd_best_of_3"] >= scores["sdd_best_of_5"]
    assert scores["sdd_case"] <= scores["sdd"]
    if scores["acc_exact"]:
        assert all(scores[name] for name in ("acc_truth", "acc_cat3")) and scores["sdd"] == 0
    if scores["acc_truth"] and params.sdd_headline == "descendant":
        assert scores["sdd"] == 0
    if listed and not listed[0].codes:
        assert scores["sdd"] == 1 and scores["unresolved"] is True and scores["sdd_resolved"] is None


def test_monotone_specificity(world: Any) -> None:
    """15: on the way down to the truth, each level said brings the answer nearer; below it, nothing is lost."""
    way = ["9", "I20-I25", "I21", "I21.0", "I21.02"]
    stamp = Stamp(ScoreParams(), "kb")
    found = []
    for code in way:
        outcome = Outcome(("I21.02",), (), (Answered(code, code, None, (code,), "code", (), ()),))
        found.append(diagnosis_scores(outcome, world.knowledge, stamp)["sdd"].value)
    assert all(isinstance(value, float) for value in found)
    assert found == sorted(found, reverse=True) and len(set(found)) == len(found)  # type: ignore[type-var]
    broad = Outcome(("I21",), (), (Answered("x", "I21.02", None, ("I21.02",), "code", (), ()),))
    assert diagnosis_scores(broad, world.knowledge, stamp)["sdd"].value == 0
    assert diagnosis_scores(replace(broad, answers=()), world.knowledge, stamp)["sdd"].value == 1
