"""What the chat client makes of faults: whose they are, how often it tries again, how long it waits, what it tells the user."""

from __future__ import annotations

import asyncio
import socket
from datetime import UTC, datetime
from typing import Any

import pytest

from ontology.errors import BedsideError
from simulator.chat import ChatClient, Endpoint, preflight
from simulator.chat_errors import LONGEST_WAIT_S, retry_after
from simulator.protocols import ExaminerFailure

KEY = "sk-very-secret-0123456789"
NOW = datetime(2026, 3, 1, 12, 0, 0, tzinfo=UTC)
HTML = "<!DOCTYPE html><html><body>Bad gateway</body></html>"


# --- faults, retries, waiting -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("status", [408, 409, 429, 500, 502, 503, 504, 529])
@pytest.mark.parametrize("max_retries", [0, 1, 3])
def test_max_retries_is_what_it_says(openai_server: Any, status: int, max_retries: int) -> None:
    openai_server.refuses(status, "not now")
    assert f"HTTP {status}" in openai_server.failure(openai_server.client(max_retries=max_retries))
    assert len(openai_server.requests) == max_retries + 1
    assert openai_server.slept == [0.25 * 2**i for i in range(max_retries)]


def test_a_fault_that_passes_costs_only_requests(openai_server: Any) -> None:
    openai_server.refuses(500, "oops").answers(502, HTML, content_type="text/html").hangs_up().says("Yes.")
    found = openai_server.complete(openai_server.client(max_retries=3))
    assert (found.text, found.usage.requests) == ("Yes.", 4)


def test_backing_off_doubles_is_spread_and_has_an_end(openai_server: Any) -> None:
    openai_server.refuses(503, "down")
    chat = ChatClient(openai_server.endpoint(max_retries=9), sleep=openai_server.sleep, jitter=lambda: 0.5)
    openai_server.failure(chat)
    assert openai_server.slept == [0.375, 0.75, 1.5, 3.0, 6.0, 12.0, 22.5, 22.5, 22.5]


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"Retry-After": "7"}, 7.0),
        ({"Retry-After": "0.5"}, 0.5),
        ({"Retry-After": "-3"}, 0.0),
        ({"Retry-After": "86400"}, LONGEST_WAIT_S),
        ({"Retry-After": "Sun, 01 Mar 2026 12:00:20 GMT"}, 20.0),
        ({"Retry-After": "Sun, 01 Mar 2026 11:00:00 GMT"}, 0.0),
        ({"Retry-After": "Mon, 01 Mar 2027 12:00:00 GMT"}, LONGEST_WAIT_S),
        ({"retry-after-ms": "1500", "Retry-After": "9"}, 1.5),
        ({"Retry-After": "soon"}, 0.25),
        ({"Retry-After": "nan"}, 0.25),
        ({"Retry-After": "inf"}, 0.25),
        ({}, 0.25),
    ],
)
def test_the_wait_is_the_one_asked_for_up_to_a_cap(openai_server: Any, headers: dict[str, str], seconds: float) -> None:
    openai_server.refuses(429, "slow down", headers).says("Yes.")
    assert openai_server.complete(openai_server.client()).text == "Yes."
    assert openai_server.slept == [seconds]


def test_a_date_without_a_zone_is_taken_as_utc() -> None:
    assert retry_after({"Retry-After": "Sun, 01 Mar 2026 12:00:20 -0000"}, lambda: NOW) == 20.0


def test_a_used_up_quota_is_not_waited_for(openai_server: Any) -> None:
    openai_server.refuses(429, "You exceeded your current quota, please check your plan.", code="insufficient_quota")
    assert "quota" in openai_server.failure(openai_server.client())
    assert len(openai_server.requests) == 1


def test_a_server_that_is_not_there_ends_within_a_bound(openai_server: Any) -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        free = probe.getsockname()[1]
    gone = Endpoint.of(name="fake", base_url=f"http://127.0.0.1:{free}/v1", model="m", max_retries=4)
    text = openai_server.failure(ChatClient(gone, sleep=openai_server.sleep, jitter=lambda: 0.0))
    assert "cannot be reached" in text
    assert "after 5 tries" in text
    assert len(openai_server.slept) == 4


def test_a_server_that_does_not_answer_in_time_is_given_up(openai_server: Any) -> None:
    openai_server.answers(200, {}, delay_s=60)
    assert "no answer within 0.3 s, after 2 tries" in openai_server.failure(openai_server.client(timeout_s=0.3, max_retries=1))
    assert len(openai_server.requests) == 2


def test_a_server_that_drips_is_given_up_too(openai_server: Any) -> None:
    openai_server.answers(200, {"choices": []}, drip_s=0.1)
    assert "no answer within 0.5 s" in openai_server.failure(openai_server.client(timeout_s=0.5, max_retries=0))


@pytest.mark.parametrize(("status", "param"), [(401, None), (403, None), (401, "temperature")])
def test_a_refused_key_names_the_variable_to_set(
    openai_server: Any, monkeypatch: pytest.MonkeyPatch, status: int, param: str | None
) -> None:
    monkeypatch.setenv("CLINIC_KEY", KEY)
    openai_server.refuses(status, "Invalid Authentication", param=param)
    text = openai_server.failure(openai_server.client(api_key_env="CLINIC_KEY", temperature=0.5))
    assert "key was refused" in text
    assert "set the environment variable CLINIC_KEY" in text
    assert len(openai_server.requests) == 1


def test_a_key_that_is_wanted_but_not_configured_is_explained(openai_server: Any) -> None:
    openai_server.refuses(401, "Missing bearer")
    assert "api_key_env" in openai_server.failure(openai_server.client())


def test_an_unknown_model_or_path_is_named(openai_server: Any) -> None:
    openai_server.refuses(404, "The model `fake-model` does not exist")
    assert "'fake-model' or the path is unknown" in openai_server.failure(openai_server.client())
    assert len(openai_server.requests) == 1


@pytest.mark.parametrize(
    ("status", "body", "kind", "words"),
    [
        (200, HTML, "text/html", "web page (HTML)"),
        (200, HTML, "application/json", "web page (HTML)"),
        (200, "It works!\nReally.", "text/plain", "not JSON: It works! Really."),
        (200, '{"choices": [', "application/json", "not JSON"),
        (200, "[" * 100_000, "application/json", "not JSON"),
        (200, "", "application/json", "answers with nothing"),
        (200, "[]", "application/json", "no chat completion"),
        (200, '"hello"', "application/json", "no chat completion"),
        (200, "{}", "application/json", "choices are missing"),
        (200, '{"choices": []}', "application/json", "choices are missing"),
        (200, '{"choices": null}', "application/json", "choices are missing"),
        (200, '{"choices": [{"text": "hi"}]}', "application/json", "choices are missing"),
        (200, '{"choices": [{"message": null}]}', "application/json", "choices are missing"),
        (404, HTML, "text/html", "unknown there"),
        (200, '{"error": {"message": "no such model", "code": 404}}', "application/json", "unknown there"),
        (418, '{"x": 1}', "application/json", "refused the request (HTTP 418"),
    ],
)
def test_an_answer_that_is_no_completion_is_said_in_one_line_and_not_tried_again(
    openai_server: Any, status: int, body: str, kind: str, words: str
) -> None:
    openai_server.answers(status, body, content_type=kind)
    text = openai_server.failure(openai_server.client())
    assert words in text
    assert len(text) < 600
    assert len(openai_server.requests) == 1


def test_a_fault_reported_with_status_200_is_tried_again(openai_server: Any) -> None:
    openai_server.answers(200, {"error": {"message": "upstream overloaded", "code": 502}})
    openai_server.answers(200, {"choices": [{"finish_reason": "error", "message": {"content": "Do y"}}]})
    openai_server.says("Yes.")
    assert openai_server.complete(openai_server.client()).usage.requests == 3


# --- faults of the examiner ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("status", "text"),
    [
        (400, "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens."),
        (400, "the request exceeds the available context size (4096 tokens)"),
        (500, "context size has been exceeded"),
        (422, "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. Given: 5000 `inputs` tokens"),
        (413, "prompt is too long: 210000 tokens > 200000 maximum"),
        (400, "Your input is too long"),
    ],
)
def test_a_conversation_that_does_not_fit_is_the_examiners_failure(openai_server: Any, status: int, text: str) -> None:
    openai_server.refuses(status, text)
    with pytest.raises(ExaminerFailure) as raised:
        openai_server.complete(openai_server.client(temperature=0.1))
    assert str(raised.value) == "context_overflow"
    assert len(openai_server.requests) <= 2


def test_a_limit_larger_than_what_is_left_of_the_context_is_left_out_once(openai_server: Any) -> None:
    text = "'max_tokens' or 'max_completion_tokens' is too large: 600. This model's maximum context length is 2048, your request has 1800."
    openai_server.refuses(400, text).says("Yes.")
    chat = openai_server.client(max_tokens=600)
    assert openai_server.complete(chat).text == "Yes."
    assert "max_tokens" not in openai_server.bodies[1]
    openai_server.complete(chat)
    assert openai_server.bodies[2]["max_tokens"] == 600


@pytest.mark.parametrize(
    ("status", "text"), [(413, "The request is too large: limit 6000 tokens per minute (TPM)"), (500, "the request took too long")]
)
def test_an_endpoints_own_limits_are_not_the_examiners_failure(openai_server: Any, status: int, text: str) -> None:
    openai_server.refuses(status, text)
    openai_server.failure(openai_server.client())


def test_what_a_refusal_quotes_far_behind_its_beginning_is_not_taken_for_its_reason(openai_server: Any) -> None:
    openai_server.refuses(400, "Bad request. " + "x" * 700 + " the maximum context length of the patient's corridor")
    openai_server.failure(openai_server.client())


def test_filtered_content_is_the_examiners_failure(openai_server: Any) -> None:
    openai_server.says("", "content_filter")
    with pytest.raises(ExaminerFailure, match="^content_filter$"):
        openai_server.complete(openai_server.client())


@pytest.mark.parametrize(
    ("status", "error"),
    [
        (
            400,
            {"message": "The response was filtered due to the prompt triggering the content management policy", "code": "content_filter"},
        ),
        (400, {"message": "Rejected", "code": "x", "innererror": {"code": "ResponsibleAIPolicyViolation"}}),
        (403, {"message": "Your chosen model requires moderation and your input was flagged"}),
    ],
)
def test_a_filtered_request_is_the_examiners_failure(openai_server: Any, status: int, error: dict[str, Any]) -> None:
    openai_server.answers(status, {"error": error})
    with pytest.raises(ExaminerFailure, match="^content_filter$"):
        openai_server.complete(openai_server.client())
    assert len(openai_server.requests) == 1


def test_reasoning_that_used_up_the_limit_is_an_empty_message_that_was_cut(openai_server: Any) -> None:
    openai_server.refuses(400, "Could not finish the message because max_tokens or model output limit was reached.")
    found = openai_server.complete(openai_server.client())
    assert (found.text, found.cut_off, found.usage.requests) == ("", True, 1)


# --- before a run -------------------------------------------------------------------------------------------------------------------


def test_preflight_asks_for_one_token(openai_server: Any) -> None:
    openai_server.says("Y", "length")
    asyncio.run(preflight(openai_server.endpoint()))
    assert [seen.path for seen in openai_server.requests] == ["/v1/chat/completions"]
    assert openai_server.bodies[0]["max_tokens"] == 1


@pytest.mark.parametrize(
    ("status", "body", "words"),
    [
        (401, {"error": {"message": "no"}}, "key was refused"),
        (404, {"error": {"message": "no"}}, "is unknown there"),
        (200, HTML, "web page"),
        (503, {"error": {"message": "loading model"}}, "HTTP 503"),
    ],
)
def test_preflight_says_in_one_line_what_is_wrong(openai_server: Any, status: int, body: Any, words: str) -> None:
    openai_server.answers(status, body)
    with pytest.raises(BedsideError, match=words) as raised:
        asyncio.run(preflight(openai_server.endpoint(max_retries=9), sleep=openai_server.sleep))
    assert "\n" not in raised.value.line()
    assert len(openai_server.requests) <= 2


def test_preflight_of_a_server_that_is_not_there(openai_server: Any) -> None:
    gone = openai_server.endpoint()
    openai_server.close()
    with pytest.raises(BedsideError, match="cannot be reached"):
        asyncio.run(preflight(gone, sleep=openai_server.sleep))


def test_an_endpoint_that_filters_the_trial_message_is_there_all_the_same(openai_server: Any) -> None:
    openai_server.says("", "content_filter")
    asyncio.run(preflight(openai_server.endpoint()))
