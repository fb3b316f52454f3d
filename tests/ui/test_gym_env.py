"""The Gymnasium environment: the encounter of `bedside run`, step by step, with a score as its reward."""

from __future__ import annotations

import warnings
from collections.abc import Iterator

import pytest

pytest.importorskip("gymnasium")

from gymnasium.utils.env_checker import check_env

from ontology.errors import BedsideError
from simulator.final_answer import render
from simulator.trace import FinalAnswer, RankedDiagnosis
from ui.gym_env import ConsultationEnv
from ui.wiring import starter_cases


@pytest.fixture
def env() -> Iterator[ConsultationEnv]:
    made = ConsultationEnv(max_turns=3, render_mode="ansi")
    yield made
    made.close()


def test_gymnasiums_own_checker_passes() -> None:
    made = ConsultationEnv(max_turns=3)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(made, skip_render_check=True)
    made.close()


def test_the_right_answer_is_rewarded_and_the_trace_is_sealed(env: ConsultationEnv) -> None:
    case = starter_cases()[0]
    text, info = env.reset(seed=1, options={"case_id": case.case_id})
    assert str(case.patient_facts.age) in text and info["turns_left"] == 3
    assert env.render() == text
    text, reward, over, cut, info = env.step("Do you have a fever?")
    assert text and (reward, over, cut, info["turns_left"]) == (0.0, False, False, 2)
    truth = case.ground_truth.primary
    answer = render(FinalAnswer(ranked=[RankedDiagnosis(name=truth.name, icd10=truth.icd10[0])]))
    _, reward, over, cut, info = env.step(answer)
    assert (reward, over, cut) == (1.0, True, False)
    assert info["trace"].seal_is_intact() and info["scores"].scores["top1"].value in (1, 1.0, True)
    with pytest.raises(BedsideError, match="call reset first"):
        env.step("Hello?")


def test_no_answer_in_time_is_truncated_and_an_undefined_score_says_why(env: ConsultationEnv) -> None:
    env.reset(seed=2)
    steps = [env.step("Do you have a fever?") for _ in range(4)]
    assert [step[2:4] for step in steps] == [(False, False)] * 3 + [(False, True)]
    assert steps[2][4]["must_commit"]
    env.reset(seed=2)
    _, reward, over, _, info = env.step("   ")
    assert (reward, over, info["trace"].termination) == (0.0, True, "examiner_error")
    assert "examiner_error" in info["null_reason"]


def test_equal_seeds_give_equal_encounters(env: ConsultationEnv) -> None:
    seen = []
    for _ in range(2):
        first, _ = env.reset(seed=7)
        seen.append((first, env.step("When did it start?")[0]))
    assert seen[0] == seen[1]


def test_unknown_rewards_and_cases_are_refused_at_once(env: ConsultationEnv) -> None:
    with pytest.raises(BedsideError, match="no score is called 'kindness'"):
        ConsultationEnv(reward="kindness")
    with pytest.raises(BedsideError, match="no case is called"):
        env.reset(options={"case_id": "case-000000000000"})
