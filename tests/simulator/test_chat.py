"""The chat client, through the real openai package, against a scripted server on loopback."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from simulator.chat import ChatClient, Completion, Message
from simulator.chat_request import alternating

HELLO = [Message("system", "You are a doctor."), Message("user", "My head hurts.")]
SCHEMA = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"], "additionalProperties": False}


# --- an ordinary completion ---------------------------------------------------------------------------------------------------------


def test_a_completion_carries_words_reason_tokens_and_the_model_that_answered(openai_server: Any) -> None:
    openai_server.says("Where does it hurt?", usage=(21, 6))
    found = openai_server.complete(openai_server.client())
    assert (found.text, found.finish_reason, found.model, found.refused, found.dropped) == (
        "Where does it hurt?",
        "stop",
        "fake-model-2",
        False,
        (),
    )
    assert (found.usage.prompt_tokens, found.usage.completion_tokens, found.usage.requests) == (21, 6, 1)
    assert not found.cut_off


def test_only_settings_that_are_set_are_sent(openai_server: Any) -> None:
    openai_server.says("Yes.")
    openai_server.complete(openai_server.client(max_tokens=None))
    assert openai_server.bodies == [
        {
            "model": "fake-model",
            "messages": [{"role": "system", "content": "You are a doctor."}, {"role": "user", "content": "My head hurts."}],
        }
    ]
    openai_server.complete(openai_server.client(max_tokens=64, temperature=0.0, top_p=0.9, seed=3))
    rest = {name: value for name, value in openai_server.bodies[1].items() if name not in ("model", "messages")}
    assert rest == {"max_tokens": 64, "temperature": 0.0, "top_p": 0.9, "seed": 3}
    assert openai_server.requests[1].path == "/v1/chat/completions"


def test_the_seed_of_the_encounter_is_sent_unless_the_settings_fix_one(openai_server: Any) -> None:
    openai_server.says("Yes.")
    openai_server.complete(openai_server.client(), seed=2**31 + 7)
    openai_server.complete(openai_server.client(seed=3), seed=2**31 + 7)
    assert [body["seed"] for body in openai_server.bodies] == [7, 3]


def test_a_schema_is_asked_for_as_response_format(openai_server: Any) -> None:
    openai_server.says('{"a": "b"}')
    found = openai_server.complete(openai_server.client(), json_schema=SCHEMA)
    assert openai_server.bodies[0]["response_format"] == {
        "type": "json_schema",
        "json_schema": {"name": "answer", "strict": True, "schema": SCHEMA},
    }
    assert found.dropped == ()


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (None, ""),
        ([{"type": "text", "text": "One. "}, {"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "Two."}], "One. Two."),
        (7, ""),
    ],
)
def test_content_may_be_missing_or_in_parts(openai_server: Any, content: Any, text: str) -> None:
    openai_server.says(content, usage=None)
    found = openai_server.complete(openai_server.client())
    assert found.text == text
    assert (found.usage.prompt_tokens, found.usage.requests) == (None, 1)


def test_a_refusal_is_marked(openai_server: Any) -> None:
    openai_server.says(None, refusal="I cannot do that.")
    found = openai_server.complete(openai_server.client())
    assert found.refused
    assert found.text == "I cannot do that."


def test_half_an_emoji_does_not_stop_a_request(openai_server: Any) -> None:
    openai_server.says("Yes.")
    openai_server.complete(openai_server.client(), Message("user", "ouch \ud83d"))
    assert openai_server.bodies[0]["messages"][0]["content"] == "ouch ?"


def test_a_client_serves_several_event_loops_one_after_the_other(openai_server: Any) -> None:
    openai_server.says("Yes.")
    chat = openai_server.client()
    for _ in range(3):
        asyncio.run(chat.complete(HELLO, redistributable=True))
    assert len(openai_server.requests) == 3


def test_many_encounters_share_a_client(openai_server: Any) -> None:
    openai_server.says("Yes.")
    chat: ChatClient = openai_server.client()

    async def run() -> list[Completion]:
        return list(await asyncio.gather(*(chat.complete(HELLO, redistributable=True) for _ in range(20))))

    assert [found.text for found in asyncio.run(run())] == ["Yes."] * 20


# --- what an endpoint does not take -------------------------------------------------------------------------------------------------

WISHES = {"temperature": 0.2, "top_p": 0.9, "seed": 3}


@pytest.mark.parametrize("name", ["temperature", "top_p", "seed"])
@pytest.mark.parametrize(
    "refuse",
    [
        lambda server, name: server.refuses(400, f"Unsupported parameter: '{name}' is not supported with this model.", param=name),
        lambda server, name: server.refuses(400, f"Unrecognized request argument supplied: {name}"),
        lambda server, name: server.refuses(400, "Unsupported value", param=name, code="unsupported_value"),
        lambda server, name: server.answers(
            422, {"detail": [{"loc": ["body", name], "msg": "Extra inputs are not permitted", "input": 1}]}
        ),
        lambda server, name: server.answers(400, {"object": "error", "message": f"{name} is not supported", "code": 400}),
        lambda server, name: server.answers(400, {"error": f"unknown field {name}"}),
        lambda server, name: server.answers(422, f"unknown field `{name}`", content_type="text/plain"),
    ],
)
def test_a_refused_parameter_is_left_out_at_once_and_remembered(openai_server: Any, name: str, refuse: Callable[[Any, str], Any]) -> None:
    refuse(openai_server, name)
    openai_server.says("Yes.")
    chat = openai_server.client(**WISHES)
    found = openai_server.complete(chat)
    assert found.dropped == (name,)
    assert found.usage.requests == 2
    assert openai_server.slept == []
    assert name in openai_server.bodies[0]
    assert openai_server.bodies[1] == {key: value for key, value in openai_server.bodies[0].items() if key != name}
    again = openai_server.complete(chat)
    assert again.usage.requests == 1
    assert again.dropped == (name,)
    # Equal settings stay equal: what was learned belongs to the client.
    assert chat.endpoint == openai_server.endpoint(**WISHES)
    assert openai_server.complete(openai_server.client(**WISHES)).dropped == ()


def test_several_parameters_may_be_refused_one_after_the_other(openai_server: Any) -> None:
    for name in ("seed", "top_p", "temperature"):
        openai_server.refuses(400, f"unknown parameter {name}")
    openai_server.says("Yes.")
    found = openai_server.complete(openai_server.client(**WISHES))
    assert sorted(found.dropped) == ["seed", "temperature", "top_p"]
    assert found.usage.requests == 4


def test_an_endpoint_that_refuses_for_ever_is_asked_a_bounded_number_of_times(openai_server: Any) -> None:
    openai_server.refuses(400, "temperature top_p seed max_tokens max_completion_tokens response_format system role not supported")
    openai_server.failure(openai_server.client(**WISHES), json_schema=SCHEMA)
    assert len(openai_server.requests) <= 6


def test_a_refusal_that_names_nothing_we_sent_is_final(openai_server: Any) -> None:
    openai_server.refuses(400, "logit_bias is not supported")
    assert "refused the request" in openai_server.failure(openai_server.client(**WISHES))
    assert len(openai_server.requests) == 1


def test_words_of_the_conversation_quoted_far_into_a_refusal_blame_no_parameter(openai_server: Any) -> None:
    openai_server.refuses(400, "Bad request. " + "x" * 700 + " the patient's temperature")
    openai_server.failure(openai_server.client(**WISHES))
    assert len(openai_server.requests) == 1


def test_the_answer_form_falls_back_from_schema_to_json_to_free_text(openai_server: Any) -> None:
    openai_server.refuses(400, "'response_format' of type 'json_schema' is not supported with this model", param="response_format")
    openai_server.says("{}")
    chat = openai_server.client()
    assert openai_server.complete(chat, json_schema=SCHEMA).dropped == ("json_schema",)
    assert openai_server.bodies[1]["response_format"] == {"type": "json_object"}
    openai_server.refuses(422, "response_format is unavailable").says("{}")
    assert openai_server.complete(chat, json_schema=SCHEMA).dropped == ("response_format",)
    assert "response_format" not in openai_server.bodies[-1]
    assert openai_server.complete(chat).dropped == ()


def test_the_token_limit_has_two_names(openai_server: Any) -> None:
    text = "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."
    openai_server.refuses(400, text, param="max_tokens", code="unsupported_parameter").says("Yes.")
    chat = openai_server.client(max_tokens=64)
    assert openai_server.complete(chat).dropped == ()
    assert openai_server.bodies[1]["max_completion_tokens"] == 64
    assert "max_tokens" not in openai_server.bodies[1]
    openai_server.refuses(400, "unknown field max_completion_tokens").says("Yes.")
    assert openai_server.complete(chat).dropped == ("max_tokens",)


@pytest.mark.parametrize(
    ("status", "text"),
    [
        (400, "System role not supported"),
        (500, "System role not supported (in template)"),
        (400, "Only user and assistant roles are supported!"),
        (400, "Conversation roles must alternate user/assistant/user/assistant/..."),
        (400, "Developer instruction is not enabled for models/gemma-3-27b-it"),
        (422, "This model doesn't support system messages."),
    ],
)
def test_without_a_system_role_its_text_opens_the_first_user_message(openai_server: Any, status: int, text: str) -> None:
    openai_server.refuses(status, text).says("Yes.")
    chat = openai_server.client(max_tokens=None)
    found = openai_server.complete(chat)
    assert found.dropped == ("system_role",)
    assert openai_server.bodies[1] == {
        "model": "fake-model",
        "messages": [{"role": "user", "content": "You are a doctor.\n\nMy head hurts."}],
    }
    assert openai_server.complete(chat).usage.requests == 1


def test_turns_alternate_and_the_user_begins() -> None:
    talk = [
        Message("system", "S1"),
        Message("system", "S2"),
        Message("assistant", "Q1"),
        Message("user", "A1"),
        Message("user", ""),
        Message("system", "note"),
        Message("assistant", "Q2"),
        Message("assistant", "Q3"),
    ]
    turns = [("user", "Hello."), ("assistant", "Q1"), ("user", "A1\n\nnote"), ("assistant", "Q2\n\nQ3")]
    assert [(m.role, m.content) for m in alternating(talk, True)] == [("system", "S1\n\nS2"), *turns]
    assert [(m.role, m.content) for m in alternating(talk, False)] == [("user", "S1\n\nS2\n\nHello."), *turns[1:]]
    assert [m.role for m in alternating([Message("system", "S")], True)] == ["system", "user"]
