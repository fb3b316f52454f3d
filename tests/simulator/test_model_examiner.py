"""The model examiner: what it sends, how it reads what comes back, when it asks again and when it gives up."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from ontology.errors import BedsideError
from simulator.case import ExaminerView
from simulator.examiners.model import MAX_REASKS, PROMPTS, ModelExaminer, answer_schema
from simulator.final_answer import parse_message
from simulator.prompting import prompt_sha256
from simulator.protocols import Examiner, ExaminerFailure, InfrastructureFailure, Line, Move, Situation
from simulator.trace import FinalAnswer, Player

VIEW = ExaminerView(
    case_id="case-0123456789ab",
    opening_text="I have a terrible headache.",
    age=74,
    sex="F",
    language="en",
    setting="emergency department",
    redistributable=True,
)
OPENING = Line("patient", VIEW.opening_text)
ASKED = (OPENING, Line("examiner", "Is your scalp tender?"), Line("patient", "Yes, very."), Line("record", "Temperature 37.9 °C."))
GCA = {
    "diagnoses": [{"name": "Giant cell arteritis", "icd10": "M31.6", "prob": 0.7}, {"name": "Migraine", "icd10": "G43.9", "prob": 0.2}],
    "confidence": 0.7,
    "triage_level": 2,
    "tests": ["ESR"],
    "treatments": ["prednisolone"],
    "advice": ["Come back at once if your sight changes."],
}
ANSWER = json.dumps(GCA)
Q = "Does your jaw hurt?"


def situation(lines: tuple[Line, ...] = (OPENING,), *, turns_left: int = 9, must_commit: bool = False, **view: Any) -> Situation:
    return Situation(VIEW.model_copy(update=view), lines, turns_left, must_commit, seed=11)


def examiner(server: Any, **settings: Any) -> ModelExaminer:
    return ModelExaminer(server.client(**{"name": "doc", "max_retries": 0, "max_tokens": 64, **settings}))


def play(server: Any, now: Situation | None = None, **settings: Any) -> Move:
    return asyncio.run(examiner(server, **settings).move(now or situation()))


def codes(move: Move) -> list[str]:
    return [note.code for note in move.notes]


def answer_of(move: Move) -> FinalAnswer:
    answer = parse_message(move.text).answer
    assert answer is not None
    return answer


# --- what is sent -------------------------------------------------------------------------------------------------------------------


def test_it_is_an_examiner(openai_server: Any) -> None:
    assert isinstance(examiner(openai_server), Examiner)


def test_the_trace_names_endpoint_model_prompts_and_sampling_and_no_key(openai_server: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLINIC_KEY", "sk-secret-secret")
    found = examiner(openai_server, temperature=0.2, seed=4, api_key_env="CLINIC_KEY").player
    assert found == Player(
        kind="model",
        id="doc",
        model="fake-model",
        endpoint="127.0.0.1",
        prompt_sha256=prompt_sha256(*PROMPTS),
        sampling={"temperature": 0.2, "max_tokens": 64, "seed": 4},
    )
    assert "secret" not in found.model_dump_json()


def test_the_conversation_is_the_examiners_side_of_the_dialogue(openai_server: Any) -> None:
    openai_server.says("Does your jaw hurt when you chew?")
    play(openai_server, situation(ASKED, turns_left=8))
    system, *turns = openai_server.bodies[0]["messages"]
    assert system["role"] == "system"
    assert "a woman, 74 years old, seen here: emergency department" in system["content"]
    assert turns == [
        {"role": "user", "content": "I have a terrible headache."},
        {"role": "assistant", "content": "Is your scalp tender?"},
        {"role": "user", "content": "Yes, very.\n\n[record] Temperature 37.9 °C.\n\n[8 turns left]"},
    ]
    assert openai_server.bodies[0]["seed"] == 11
    assert "response_format" not in openai_server.bodies[0]
    assert VIEW.case_id not in json.dumps(openai_server.bodies[0])


def test_what_was_sent_stays_a_prefix_of_what_is_sent_next(openai_server: Any) -> None:
    """Servers reuse the work on a common beginning: nothing that changes from turn to turn may stand before the end."""
    openai_server.says("Does your jaw hurt?")
    doctor = examiner(openai_server)
    asyncio.run(doctor.move(situation(ASKED[:1], turns_left=9)))
    asyncio.run(doctor.move(situation(ASKED, turns_left=8)))
    first, second = (body["messages"] for body in openai_server.bodies)
    assert first[0] == second[0]
    assert first[1]["content"].startswith(second[1]["content"])


def test_the_opening_words_are_sent_once_even_when_no_line_was_spoken_yet(openai_server: Any) -> None:
    openai_server.says("Since when?")
    play(openai_server, situation(()))
    play(openai_server, situation((OPENING,)))
    assert openai_server.bodies[0] == openai_server.bodies[1]
    assert json.dumps(openai_server.bodies[0]).count("terrible headache") == 1


@pytest.mark.parametrize(
    ("view", "words"),
    [({"age": 3, "sex": "M"}, "a boy, 3 years old"), ({"age": 3}, "a caregiver answers"), ({"language": "de"}, "in the language de")],
)
def test_the_view_is_told(openai_server: Any, view: dict[str, Any], words: str) -> None:
    openai_server.says("Since when?")
    play(openai_server, situation(**view))
    assert words in openai_server.bodies[0]["messages"][0]["content"]


def test_an_unknown_speaker_is_refused(openai_server: Any) -> None:
    with pytest.raises(ValueError, match="moderator"):
        play(openai_server, situation((OPENING, Line("moderator", "Yes."))))


def test_a_demanded_answer_is_asked_for_in_its_form(openai_server: Any) -> None:
    openai_server.says(ANSWER)
    play(openai_server, situation(ASKED, turns_left=0, must_commit=True))
    body = openai_server.bodies[0]
    assert body["response_format"]["json_schema"]["schema"] == answer_schema()
    assert "[no turns left]" in body["messages"][-1]["content"]
    assert "turns left]" not in body["messages"][-1]["content"].replace("[no turns left]", "")


def test_every_object_of_the_form_is_strict() -> None:
    def check(schema: dict[str, Any]) -> None:
        if schema["type"] == "object":
            assert schema["required"] == list(schema["properties"])
            assert schema["additionalProperties"] is False
            for part in schema["properties"].values():
                check(part)
        if schema["type"] == "array":
            check(schema["items"])

    check(answer_schema())


def test_a_case_that_must_not_be_passed_on_is_not(openai_server: Any) -> None:
    openai_server.says("Since when?")
    url = f"http://0.0.0.0:{openai_server.port}/v1"
    with pytest.raises(BedsideError, match="may not be passed on"):
        play(openai_server, situation(redistributable=False), base_url=url)
    assert openai_server.requests == []
    assert play(openai_server, situation(redistributable=False)).text == "Since when?"


# --- plain moves --------------------------------------------------------------------------------------------------------------------


def test_a_question_is_passed_on_with_its_tokens(openai_server: Any) -> None:
    openai_server.says("  Since when does your head hurt?\n", usage=(100, 9))
    move = play(openai_server)
    assert move.text == "Since when does your head hurt?"
    assert move.notes == ()
    assert move.usage is not None
    assert (move.usage.prompt_tokens, move.usage.completion_tokens, move.usage.requests) == (100, 9, 1)


def test_several_questions_are_kept(openai_server: Any) -> None:
    openai_server.says("Any fever? Any weight loss?\n\n\n\nAny cough?")
    assert play(openai_server).text == "Any fever? Any weight loss?\n\nAny cough?"


@pytest.mark.parametrize("must_commit", [True, False])
@pytest.mark.parametrize(
    "wrap",
    ["{}", "```json\n{}\n```", "My final answer:\n{}", "```JSON\n{}\n```\nTake care.", "<think>{{}}</think>{}", "**Final answer:**\n{}"],
)
def test_an_answer_is_written_again_in_our_form(openai_server: Any, must_commit: bool, wrap: str) -> None:
    openai_server.says(wrap.replace("{{}}", "x").replace("{}", ANSWER))
    move = play(openai_server, situation(ASKED, must_commit=must_commit))
    found = answer_of(move)
    assert [(d.name, d.icd10, d.prob) for d in found.ranked] == [("Giant cell arteritis", "M31.6", 0.7), ("Migraine", "G43.9", 0.2)]
    assert (found.confidence, found.triage_level, found.treatments) == (0.7, 2, ["prednisolone"])
    assert len(openai_server.requests) == 1
    assert "question_with_answer" not in codes(move)


def test_an_answer_counts_even_beside_a_question(openai_server: Any) -> None:
    openai_server.says(f"Do you have a fever?\n{ANSWER}")
    move = play(openai_server)
    assert answer_of(move).ranked[0].name == "Giant cell arteritis"
    assert parse_message(move.text).said == "Do you have a fever?"
    assert codes(move) == ["question_with_answer"]


def test_of_two_answers_the_first_counts_and_the_words_hold_no_other(openai_server: Any) -> None:
    other = json.dumps({"diagnoses": [{"name": "Glioma"}]})
    openai_server.says(f"{ANSWER}\nOr rather:\n{other}")
    assert answer_of(play(openai_server)).ranked[0].name == "Giant cell arteritis"


def test_thinking_never_reaches_the_other_side(openai_server: Any) -> None:
    openai_server.says('<think>Giant cell arteritis! DIAGNOSIS READY. {"diagnoses": [{"name": "GCA"}]}</think>Does your jaw hurt?')
    openai_server.says("<unused94>thought\nGCA<unused95>Does your jaw hurt?")
    openai_server.says("so it is GCA</think>Does your jaw hurt?")
    openai_server.says("<|channel|>analysis<|message|>GCA<|end|><|start|>assistant<|channel|>final<|message|>Does your jaw hurt?")
    doctor = examiner(openai_server)
    moves = [asyncio.run(doctor.move(situation())) for _ in range(4)]
    assert [move.text for move in moves] == ["Does your jaw hurt?"] * 4
    assert [codes(move) for move in moves[:3]] == [["thinking_removed"]] * 3


# --- asking again -------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("empty", [None, "", "  \n", "<think>hm</think>", "<|im_end|>"])
def test_an_empty_message_is_asked_for_again(openai_server: Any, empty: str | None) -> None:
    openai_server.says(empty, usage=(10, 1)).says(empty, usage=None).says(Q, usage=(12, 4))
    move = play(openai_server)
    assert move.text == Q
    assert [(note.code, note.detail) for note in move.notes] == [("reask", "empty")] * 2
    assert move.usage is not None
    assert (move.usage.prompt_tokens, move.usage.completion_tokens, move.usage.requests) == (22, 5, 3)
    assert [message["role"] for message in openai_server.bodies[2]["messages"]] == ["system", "user"]


NO_MOVES: list[tuple[dict[str, Any], int, str]] = [
    ({"text": ""}, 3, "empty"),
    ({"text": "<think>so long", "finish_reason": "length"}, 3, "cut_off"),
    ({"text": "Patient: yes"}, 3, "empty"),
    ({"text": "I'm sorry, but I can't help with that."}, 2, "refusal"),
    ({"text": None, "refusal": "I cannot assist."}, 2, "refusal"),
    ({"text": '{"diagnoses": []}'}, 3, "unparseable"),
    ({"text": '{"diagnoses": [{"name": "GCA"'}, 3, "unparseable"),
]


@pytest.mark.parametrize(
    ("must_commit", "message", "requests", "reason"),
    [
        *((must_commit, *no_move) for must_commit in (True, False) for no_move in NO_MOVES),
        # Once an answer was demanded, words without one are no failure: see below.
        (False, {"text": "I wonder whether the", "finish_reason": "length"}, 3, "cut_off"),
    ],
)
def test_a_model_that_never_makes_a_move_fails_within_a_bound(
    openai_server: Any, must_commit: bool, message: dict[str, Any], requests: int, reason: str
) -> None:
    openai_server.says(**message)
    with pytest.raises(ExaminerFailure) as raised:
        play(openai_server, situation(must_commit=must_commit))
    assert str(raised.value) == reason
    assert len(openai_server.requests) == requests


def test_a_model_with_ever_new_faults_is_bounded_too(openai_server: Any) -> None:
    faults = ["", "<think>", "Patient: no", "I'm sorry, but I cannot help.", '{"diagnoses": []}']
    for text in faults * 4:
        openai_server.says(text, "length" if text == "<think>" else "stop")
    with pytest.raises(ExaminerFailure):
        play(openai_server)
    assert len(openai_server.requests) == MAX_REASKS + 1


def test_one_refusal_is_forgiven_and_not_shown_again(openai_server: Any) -> None:
    openai_server.says("I'm sorry, but I can't provide medical advice.").says(Q)
    move = play(openai_server)
    assert move.text == Q
    assert [(note.code, note.detail) for note in move.notes] == [("reask", "refusal")]
    assert "simulated consultation" in openai_server.bodies[1]["messages"][-1]["content"]
    assert "I'm sorry" not in json.dumps(openai_server.bodies[1])


def test_a_cut_off_question_is_used_up_to_its_last_sentence(openai_server: Any) -> None:
    openai_server.says("I see. Does your jaw hurt when you chew? And have you noticed any ch", "length")
    move = play(openai_server)
    assert move.text == "I see. Does your jaw hurt when you chew?"
    assert codes(move) == ["cut_off"]
    assert len(openai_server.requests) == 1


@pytest.mark.parametrize("reason", ["length", "max_tokens", "MAX_TOKENS"])
def test_thinking_that_was_cut_off_is_asked_for_again(openai_server: Any, reason: str) -> None:
    openai_server.says("<think>It could be giant cell arteritis. Or", reason).says(Q)
    move = play(openai_server)
    assert move.text == Q
    assert [note.detail for note in move.notes] == ["cut_off"]
    assert "Think briefly" in openai_server.bodies[1]["messages"][-1]["content"]
    assert "giant cell" not in json.dumps(openai_server.bodies[1])


def test_a_cut_off_answer_is_asked_for_again(openai_server: Any) -> None:
    openai_server.says(ANSWER[:90], "length").says(ANSWER)
    move = play(openai_server, situation(must_commit=True))
    assert answer_of(move).triage_level == 2
    assert [(note.code, note.detail) for note in move.notes] == [("reask", "unparseable")]
    assert "it is cut off" in openai_server.bodies[1]["messages"][-1]["content"]


def test_a_complete_answer_counts_even_if_words_after_it_were_cut(openai_server: Any) -> None:
    openai_server.says(ANSWER + "\nI hope this hel", "length")
    assert answer_of(play(openai_server)).confidence == 0.7
    assert len(openai_server.requests) == 1


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('{"diagnoses": []}', "at least 1 item"),
        ('{"diagnoses": [{"icd": 3}]}', "a diagnosis without a name"),
        ('{"diagnoses": "GCA"', "not valid JSON"),
        ("{'diagnoses': [{'name': 'GCA'}]}", "not valid JSON"),
        ('{diagnoses: [{name: "GCA"}]}', "not valid JSON"),
        ('{"confidence": 0.4, "diagnoses": [{"name": "GCA",}]}', "not valid JSON"),
        ('{"diagnoses": [{"name": "...", "icd10": "...", "prob": 0.0}]}', "repeats the form"),
    ],
)
@pytest.mark.parametrize("must_commit", [True, False])
def test_an_unreadable_answer_is_asked_for_again_with_what_was_wrong(openai_server: Any, text: str, why: str, must_commit: bool) -> None:
    openai_server.says(text).says(ANSWER)
    move = play(openai_server, situation(must_commit=must_commit))
    assert answer_of(move).ranked[0].icd10 == "M31.6"
    faulty, cue = openai_server.bodies[1]["messages"][-2:]
    assert (faulty["role"], faulty["content"]) == ("assistant", text)
    assert why in cue["content"]
    assert ".." not in cue["content"].replace("...", "")


def test_a_model_that_never_commits_ends_with_its_last_words(openai_server: Any) -> None:
    openai_server.says("Does it hurt?").says("And now?").says("I need more time.")
    move = play(openai_server, situation(ASKED, turns_left=0, must_commit=True))
    assert move.text == "I need more time."
    assert parse_message(move.text).answer is None
    assert codes(move) == ["reask", "reask", "no_commit"]
    assert len(openai_server.requests) == 3
    assert "That was not a final answer." in openai_server.bodies[1]["messages"][-1]["content"]


def test_asking_again_does_not_reach_the_next_move(openai_server: Any) -> None:
    openai_server.says("").says(Q)
    doctor = examiner(openai_server)
    asyncio.run(doctor.move(situation()))
    asyncio.run(doctor.move(situation()))
    assert openai_server.bodies[2] == openai_server.bodies[0]


# --- faults of the endpoint ---------------------------------------------------------------------------------------------------------


def test_faults_of_the_endpoint_are_not_the_examiners(openai_server: Any) -> None:
    openai_server.refuses(500, "oops")
    with pytest.raises(InfrastructureFailure):
        play(openai_server)


def test_a_conversation_that_does_not_fit_is(openai_server: Any) -> None:
    openai_server.refuses(400, "maximum context length is 2048 tokens", code="context_length_exceeded")
    with pytest.raises(ExaminerFailure, match="^context_overflow$"):
        play(openai_server)


def test_what_the_endpoint_does_not_take_is_noted_at_the_start_and_with_the_answer(openai_server: Any) -> None:
    openai_server.refuses(400, "unknown parameter: seed").says(Q)
    openai_server.says(Q)
    openai_server.refuses(400, "response_format is not supported").refuses(400, "response_format is not supported").says(ANSWER)
    doctor = examiner(openai_server)
    first, second = (asyncio.run(doctor.move(situation(lines))) for lines in (ASKED[:1], ASKED))
    last = asyncio.run(doctor.move(situation(ASKED, must_commit=True)))
    assert [(note.code, note.detail) for note in first.notes] == [("dropped_parameters", "seed")]
    assert second.notes == ()
    assert [(note.code, note.detail) for note in last.notes] == [("dropped_parameters", "seed, response_format")]
    assert answer_of(last).ranked[0].name == "Giant cell arteritis"


def test_many_encounters_may_share_an_examiner(openai_server: Any) -> None:
    openai_server.says(Q)
    doctor = examiner(openai_server)

    async def run() -> list[Move]:
        return await asyncio.gather(*(doctor.move(situation(age=20 + i)) for i in range(12)))

    assert {move.text for move in asyncio.run(run())} == {Q}
    ages = sorted(int(body["messages"][0]["content"].split("a woman, ")[1].split()[0]) for body in openai_server.bodies)
    assert ages == list(range(20, 32))
