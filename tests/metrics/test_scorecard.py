"""Scorecards and summaries: what is refused, what is null, what is averaged (metrics.md 0b D4, D8, D12; 11; 14)."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from metrics.scorecard import score_trace, summarise
from metrics.scores import SCORER_VERSION, Score, Scorecard
from metrics.statistics import wilson
from ontology.errors import BedsideError
from ontology.profiles import ProfileHeader, ProfileSet

GCA = ("Giant cell arteritis", "M31.6")
TTH = ("Tension-type headache", "G44.209")


def test_a_card_says_what_it_is_of(world: Any) -> None:
    """14: trace, case, versions, parameters; and it survives being stored."""
    trace = world.golden_dialogue("A").commit(GCA, seed=7)
    card = world.score(trace)
    assert (card.trace_id, card.trace_sha256, card.case_id) == (trace.trace_id, trace.sealed_sha256, world.case.case_id)
    assert (card.examiner_id, card.disease_id, card.seed, card.layer) == ("examiner-1", "gca", 7, "machine")
    assert (card.kb_version, card.scorer_version, card.params_hash) == ("kb-toy", SCORER_VERSION, world.params.sha)
    again = Scorecard.from_json(card.to_json())
    assert again == card
    assert [type(score.value) for score in again.scores.values()] == [type(score.value) for score in card.scores.values()]


def test_scoring_twice_gives_the_same(world: Any) -> None:
    """14: a pure function, and nothing it was given is changed."""
    trace = world.golden_dialogue("A").commit(GCA)
    before = trace.to_json()
    assert world.score(trace).to_json() == world.score(trace).to_json()
    assert trace.to_json() == before


def test_knowledge_is_not_consumed(world: Any) -> None:
    """14: the order in which traces are scored does not matter."""
    traces = [world.golden_dialogue(name).commit(GCA, seed=number) for number, name in enumerate(("A", "B", "shotgun"))]
    forward = {trace.trace_id: score_trace(trace, world.case, world.knowing(world.profiles)) for trace in traces}
    assert {trace.trace_id: world.score(trace) for trace in reversed(traces)} == forward


def test_broken_or_missing_seal_is_refused(world: Any) -> None:
    """D8: only what the encounter wrote is scored."""
    trace = world.golden_dialogue("A").commit(GCA)
    with pytest.raises(BedsideError, match="changed after it was sealed"):
        world.score(trace.model_copy(update={"forced_commit": True}))
    with pytest.raises(BedsideError, match="not sealed"):
        world.score(trace.model_copy(update={"sealed_sha256": None}))


def test_another_case_is_refused(world: Any) -> None:
    """14: by id, and by content."""
    trace = world.golden_dialogue("A").commit(GCA)
    with pytest.raises(BedsideError, match="is of case-"):
        world.score(trace, world.new_case(2))
    edited = world.case.model_copy(update={"title": "another title"})
    with pytest.raises(BedsideError, match="not the version the trace was played on"):
        world.score(trace, edited)


def counted_on(world: Any, cases: list[str], splits: list[str]) -> Any:
    header = ProfileHeader(
        profile_set="counted", source="tests", license="x", counted_cases=cases, counted_splits=splits, counted_sources=["toy"]
    )
    return world.knowing(ProfileSet(header, world.profiles.profiles.values()))


def test_profiles_counted_on_the_case_are_refused(world: Any) -> None:
    """D12: the case itself, the case it is a variant of, any case of a split they were counted on."""
    base = world.new_case(20)
    variant = world.new_case(21, derived_from=base.case_id)
    test_split = world.new_case(22, split="test")
    knowledge = counted_on(world, [base.case_id], ["train"])
    for case in (base, variant):
        with pytest.raises(BedsideError, match="were counted on case-"):
            score_trace(world.start(case).commit(GCA), case, knowledge)
    trace = world.start(test_split).commit(GCA)
    assert score_trace(trace, test_split, knowledge).scores["ses"].value == 0
    for counted in ([], [base.case_id]):
        with pytest.raises(BedsideError, match="or on its split"):
            score_trace(trace, test_split, counted_on(world, counted, ["test", "train"]))


@pytest.mark.parametrize("reason", ["examiner_error", "patient_error", "infrastructure_error", "abandoned"])
def test_failed_encounters_are_not_scored(world: Any, reason: str) -> None:
    """D4: every score is null with the reason; the names are those of any other card."""
    card = world.score(world.golden_dialogue("A").seal(termination=reason))
    assert {score.value for score in card.scores.values()} == {None}
    assert {score.null_reason for score in card.scores.values()} == {f"not scored: {reason}"}
    assert card.scores.keys() == world.score(world.golden_dialogue("A").commit(GCA)).scores.keys()
    assert card.termination == reason


def test_corrected_mentions_are_another_layer(world: Any) -> None:
    """D8, 14: people's corrections are scored beside the machine's, from the same sealed words."""
    trace = world.start().ask(("fever", "affirmed")).commit(GCA)
    raw = [turn.model_dump(mode="json") for turn in trace.turns]
    raw[1]["mentions"][0]["cui"] = raw[2]["mentions"][0]["cui"] = world.id("nausea")
    turns = [type(trace.turns[0]).model_validate(turn) for turn in raw]
    card = score_trace(trace, world.case, world.knowledge, corrected=turns)
    assert card.layer == "adjudicated"
    assert {score.layer for score in card.scores.values()} == {"adjudicated"}
    assert card.trace_sha256 == trace.sealed_sha256
    assert (card.scores["ses"].value, world.values(trace)["ses"] > 0) == (0, True)
    other = [*turns[:-1], turns[-1].model_copy(update={"text": "other words"})]
    with pytest.raises(BedsideError, match="do not have the trace's words"):
        score_trace(trace, world.case, world.knowledge, corrected=other)


def test_null_needs_a_reason() -> None:
    """14: no null without one, no reason without null."""
    common: dict[str, Any] = {"params_hash": "x", "kb_version": "y"}
    with pytest.raises(ValidationError):
        Score(value=None, **common)
    with pytest.raises(ValidationError):
        Score(value=0.0, null_reason="why", **common)


# -- summaries ------------------------------------------------------------------------------------------------------


def cards(world: Any) -> list[Scorecard]:
    """Two examiners on four cases; one encounter failed, one ran out of turns."""
    found = []
    for number in range(4):
        case = world.new_case(number + 30, disease="gca" if number < 3 else "mig", icd10=("M31.6",) if number < 3 else ("G43",))
        dialogue = world.golden_dialogue_on(case, "A")
        if number == 0:
            trace = dialogue.seal(examiner="good", termination="infrastructure_error")
        elif number == 1:
            trace = dialogue.seal(examiner="good")
        else:
            trace = dialogue.commit(GCA, examiner="good")
        found.append(world.score(trace, case))
        found.append(world.score(world.start(case).commit(TTH, examiner="hasty"), case))
    return found


def test_summary_counts(world: Any) -> None:
    """11.2: every table shows n and n_null; encounters are counted by how they ended."""
    good, hasty = summarise(cards(world), resamples=200)
    assert (good.examiner_id, hasty.examiner_id) == ("good", "hasty")
    assert (good.n_traces, good.n_scored, good.n_cases) == (4, 3, 4)
    assert good.terminations == {"budget": 1, "examiner_committed": 2, "infrastructure_error": 1}
    accuracy = good.metrics["acc_truth"]
    assert (accuracy.n, accuracy.n_null, accuracy.mean) == (3, 1, pytest.approx(1 / 3))
    assert accuracy.null_reasons == {"not scored: infrastructure_error": 1}
    assert good.relations == {"different_chapter": 1, "exact": 1}
    assert good.cells == {"reliable": 1, "lucky_guess": 0, "reasoned_miss": 1, "unreasoned_miss": 1}
    assert sum(good.cell_rates.values()) == pytest.approx(1)
    assert hasty.cell_rates["unreasoned_miss"] == 1
    assert "relation" not in good.metrics and "cell" not in good.metrics


def test_null_is_left_out_of_means(world: Any) -> None:
    """11.2: never 0: premature closure of the encounter without a commit is not counted as "no"."""
    good, _ = summarise(cards(world), resamples=200)
    closure = good.metrics["premature_closure"]
    assert (closure.n, closure.n_null) == (2, 2)
    assert closure.mean == 0.5


def test_macro_mean_is_over_diseases(world: Any) -> None:
    """4.5: three cases of one disease and one of another weigh one half each."""
    good, _ = summarise(cards(world), resamples=200)
    accuracy = good.metrics["acc_truth"]
    assert accuracy.macro_mean == pytest.approx((0.5 + 0.0) / 2)


def test_intervals(world: Any) -> None:
    """11.2: Wilson for what is yes or no, a seeded bootstrap over cases for the rest."""
    first, again, other = (summarise(cards(world), seed=seed, resamples=300)[0] for seed in (1, 1, 2))
    assert first == again
    accuracy, ses = first.metrics["acc_truth"], first.metrics["ses"]
    assert (accuracy.interval, ses.interval) == ("wilson", "bootstrap")
    assert (accuracy.low, accuracy.high) == (wilson(1, 3).low, wilson(1, 3).high)
    assert ses.low is not None and ses.high is not None and ses.mean is not None
    assert ses.low <= ses.mean <= ses.high
    assert (other.seed, other.metrics["acc_truth"]) == (2, accuracy)


def test_runs_of_a_case_are_averaged_first(world: Any) -> None:
    """11.2: ten runs of one case are one case; yes or no becomes a share, and Wilson no longer fits."""
    found = []
    for number, runs in ((40, 4), (41, 1)):
        case = world.new_case(number)
        variants = [case, *(world.new_case(number * 10 + i, derived_from=case.case_id) for i in range(1, runs))]
        for variant in variants:
            answer = GCA if number == 41 or variant is case else TTH
            found.append(world.score(world.start(variant).commit(answer), variant))
    accuracy = summarise(found, resamples=200)[0].metrics["acc_truth"]
    assert (accuracy.n, accuracy.n_cases) == (5, 2)
    assert accuracy.mean == pytest.approx((0.25 + 1.0) / 2)
    assert accuracy.interval == "bootstrap"


def test_unresolved_rate(world: Any) -> None:
    """3.2 rule 7: shown beside both averages."""
    found = []
    for number, answer in enumerate([GCA, ("no such thing", None)]):
        case = world.new_case(number + 50)
        found.append(world.score(world.start(case).commit(answer), case))
    (summary,) = summarise(found, resamples=200)
    assert summary.unresolved_rate == 0.5
    assert (summary.metrics["sdd"].mean, summary.metrics["sdd_resolved"].mean) == (0.5, 0)


def test_cards_that_cannot_be_compared_are_refused(world: Any) -> None:
    """11: other parameters, knowledge, scorer or layer, or one encounter twice."""
    one, two = (world.score(world.start().commit(GCA, seed=seed)) for seed in (1, 2))
    for change in ({"params_hash": "other"}, {"kb_version": "other"}, {"scorer_version": "0.1"}, {"layer": "adjudicated"}):
        with pytest.raises(BedsideError, match="cannot be compared"):
            summarise([one, two.model_copy(update=change)])
    with pytest.raises(BedsideError, match="two scorecards of one encounter"):
        summarise([one, one])
    assert summarise([]) == []
