"""Reading a model's message as an examiner's: role headers, words for the other side, refusals."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from simulator.case import ExaminerView
from simulator.examiners.judging import Judged, judge
from simulator.examiners.model import ModelExaminer
from simulator.protocols import Line, Move, Situation

ANSWER = json.dumps({"diagnoses": [{"name": "Giant cell arteritis", "icd10": "M31.6", "prob": 0.7}], "confidence": 0.7, "triage_level": 2})
Q = "Does your jaw hurt?"


def play(server: Any) -> Move:
    opening = "I have a terrible headache."
    view = ExaminerView(case_id="case-0123456789ab", opening_text=opening, age=74, sex="F", language="en", redistributable=True)
    return asyncio.run(ModelExaminer(server.client()).move(Situation(view, (Line("patient", opening),), 9, False, seed=11)))


def codes(move: Move) -> list[str]:
    return [note.code for note in move.notes]


@pytest.mark.parametrize(
    "text",
    [
        f"{Q}\nPatient: Yes, it does.\nDoctor: I see.",
        f"{Q}\n**Patient:** Yes.",
        f"{Q}\n\n> Patient (74F): Yes.",
        f"{Q}\n[Patient]: Yes.",
        f"{Q} [record] Temperature 37 °C.",
        f"{Q}\n[record] Temperature 37 °C.",
        f"{Q}\nrecord: normal",
        f"{Q}\n### Patient\nYes.",
        f"{Q}\nThe patient's answer: Yes.",
        f"{Q}\nUser: Yes.\nAssistant: Then it is GCA.",
        f"{Q}\nHuman: Yes.",
        f"{Q}<|im_end|>\n<|im_start|>user\nYes.",
        f"{Q}</s>[INST] Yes [/INST]",
        f"{Q}<end_of_turn>\n<start_of_turn>user\nYes",
        f"Doctor: {Q}\nPatient: Yes.",
        f"{Q}\nPatient: Yes.\nDoctor: Then\n{ANSWER}",
    ],
)
def test_words_for_the_other_side_are_cut(openai_server: Any, text: str) -> None:
    openai_server.says(text)
    move = play(openai_server)
    assert move.text == Q
    assert codes(move) == ["self_answer"]
    assert len(openai_server.requests) == 1


@pytest.mark.parametrize(
    "text",
    [
        f"Doctor: {Q}",
        f"**Doctor:** {Q}",
        f"[Examiner]: {Q}",
        f"Dr. Smith: {Q}",
        f"<|im_start|>assistant\n{Q}<|im_end|>",
        f"<|start_header_id|>assistant<|end_header_id|>\n\n{Q}<|eot_id|>",
        f"<start_of_turn>model\n{Q}<end_of_turn>",
        f"{Q}</s>",
        f"[8 turns left] {Q}",
        f"{Q}\n[your last turn before the final answer]",
    ],
)
def test_its_own_header_and_marks_of_the_template_are_taken_off_without_a_note(openai_server: Any, text: str) -> None:
    openai_server.says(text)
    move = play(openai_server)
    assert (move.text, codes(move)) == (Q, [])


@pytest.mark.parametrize(
    "text",
    [
        "Is the patient's mother well?",
        "Patient history first: any operations?",
        "What did your doctor: say?",
        "How do you record your sleep?",
    ],
)
def test_words_that_only_look_like_headers_stay(text: str) -> None:
    found = judge(text, cut_off=False, refused=False, must_commit=False)
    assert (found.text, found.trouble) == (text, None)


@pytest.mark.parametrize("must_commit", [True, False])
def test_a_summary_of_the_patient_before_the_answer_is_no_self_answer(must_commit: bool) -> None:
    found = judge(f"Summary.\nPatient: woman of 74 with headache.\n{ANSWER}", cut_off=False, refused=False, must_commit=must_commit)
    assert found.answer is not None
    assert found.trouble is None


def test_only_the_other_sides_words_are_asked_for_again(openai_server: Any) -> None:
    openai_server.says("Patient: Yes, my jaw hurts.").says(Q)
    move = play(openai_server)
    assert move.text == Q
    assert [(note.code, note.detail) for note in move.notes] == [("reask", "self_answer")]
    again = openai_server.bodies[1]["messages"][-1]["content"]
    assert "not yours to write" in again
    assert "Yes, my jaw" not in json.dumps(openai_server.bodies[1])


@pytest.mark.parametrize(
    ("text", "refusal"),
    [
        ("I'm sorry, but I can't assist with that request.", True),
        ("I’m sorry, I cannot help with medical questions. Please consult a doctor.", True),
        ("As an AI language model, I am unable to diagnose patients.", True),
        ("I cannot provide medical advice. Is there anything else I can help you with?", True),
        ("I am not able to give you a diagnosis. Please seek care at once.", True),
        ("I will not participate in this.", True),
        ("I'm sorry to hear that. Where does it hurt?", False),
        ("I'm sorry you are unwell. Tell me more about the pain.", False),
        ("I cannot give you a diagnosis yet. Does it hurt when you chew?", False),
        ("I can't answer that before I know more. Please describe the pain.", False),
        ("I would like a chest X-ray.", False),
        ("You say you cannot help yourself at home.", False),
    ],
)
def test_what_counts_as_a_refusal(text: str, refusal: bool) -> None:
    assert (judge(text, cut_off=False, refused=False, must_commit=False).trouble == "refusal") is refusal


@pytest.mark.parametrize(
    "text", ["{" * 5000, "Patient" * 3000, "[" * 5000 + '{"diagnoses":', "<think>" * 2000, "i am sorry " * 2000, "\n#" * 4000 + "?"]
)
@pytest.mark.parametrize("must_commit", [True, False])
def test_any_message_is_read_without_an_exception(text: str, must_commit: bool) -> None:
    assert isinstance(judge(text, cut_off=False, refused=False, must_commit=must_commit), Judged)
