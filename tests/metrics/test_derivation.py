"""The way to a score, turn by turn, ends at the score (metrics.md 4.2 to 4.6, 14)."""

from __future__ import annotations

from typing import Any

import pytest

from metrics.derivation import Derivation, QuestionStep, derive
from metrics.scores import Score
from ui.explain import in_words

GCA = ("Giant cell arteritis", "M31.6")


def derived(world: Any, trace: Any) -> Derivation:
    return derive(trace, world.case, world.knowledge, world.score(trace))


def questions(found: Derivation) -> list[QuestionStep]:
    return [question for turn in found.turns for question in turn.questions]


@pytest.mark.parametrize("name", ["A", "B", "shotgun", "shotgun_capped"])
def test_the_last_running_scores_are_the_scores(world: Any, name: str) -> None:
    """The golden dialogues of 4.6: what is told turn by turn adds up to what is on the card."""
    found = derived(world, world.golden_dialogue(name).commit(GCA))
    last = [turn.running for turn in found.turns if turn.running is not None][-1]
    scores = {key: score.value for key, score in found.card.scores.items()}
    assert (last.precision, last.recall, last.ses) == (scores["precision"], scores["recall"], scores["ses"])
    assert sum(question.recall or 0 for question in questions(found)) == pytest.approx(scores["recall"])
    gains = found.card.scores["ndcg"].components["gains"]
    assert [question.gain for question in questions(found) if question.gain is not None] == gains


def test_dialogue_a_in_numbers(world: Any) -> None:
    """4.6: gains .5 .25 .75 .5 .75 .75 0; visual loss earns its credit for visual impairment."""
    found = derived(world, world.golden_dialogue("A").commit(GCA))
    assert [question.gain for question in questions(found)] == [0.5, 0.25, 0.75, 0.5, 0.75, 0.75, 0]
    visual = next(question for question in questions(found) if question.name == world.name("visual_loss"))
    assert (visual.credit, visual.serves) == (1.0, world.name("visual_impairment"))
    assert found.total_weight == 6.5
    assert [turn.idx for turn in found.turns if turn.commits] == [found.turns[-1].idx]


def test_what_earns_nothing_says_why(world: Any) -> None:
    """E2, E5, E6, E9: repeats, details of the complaint, matters of the record, unanswered and irrelevant questions."""
    dialogue = world.start().ask(("fever", "affirmed")).ask(("fever", "affirmed")).ask(("photophobia", "denied"), ("diplopia", None))
    trace = dialogue.ask(("esr", "affirmed")).ask(("age", "affirmed")).commit(GCA)
    found = derived(world, trace)
    assert [question.standing for question in questions(found)] == ["counted", "repeat", "counted", "counted", "record", "demographic"]
    text = "\n".join(in_words(found))
    for words in ("a repeat", "no feature of this disease", "left unanswered", "a matter for the record", "age and the like"):
        assert words in text
    assert "Headache: present (chief complaint); known, but not asked" in text


def test_a_disease_without_a_profile_is_explained(world: Any) -> None:
    case = world.new_case(77, disease="unknown-itis")
    trace = world.golden_dialogue_on(case, "A").commit(GCA)
    found = derive(trace, case, world.knowledge, world.score(trace, case))
    text = "\n".join(in_words(found))
    assert found.missing == "no profile of unknown-itis" and "questions cannot be credited: no profile of unknown-itis" in text
    assert "ses: none, because no profile of unknown-itis" in text


def test_every_score_is_told_whatever_it_is(world: Any) -> None:
    """A score nobody knew of shows with its value and parts, and its rows appear in the turns they name."""
    trace = world.golden_dialogue("A").commit(GCA)
    card = world.score(trace)
    rows = [{"turn": 1, "name": "Jaw claudication", "belief_in_truth": 0.75}, {"turn": 3, "name": "Fever", "belief_in_truth": 0.9}]
    new = Score(value=2.5, components={"questions": rows}, params_hash="x", kb_version="kb-toy")  # type: ignore[dict-item]
    card = card.model_copy(update={"scores": {**card.scores, "new_score": new}})
    found = derive(trace, world.case, world.knowledge, card)
    lines = list(in_words(found))
    assert "  new_score = 2.5" in lines
    assert "      new_score: Jaw claudication (turn 1, belief in truth 0.75)" in lines
    for name in card.scores:
        assert any(line.startswith((f"  {name} =", f"  {name}: none")) for line in lines), name
