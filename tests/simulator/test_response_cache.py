"""Answers kept on disk: asked once, told apart by every generation parameter, never a way around the rule on cases."""

from __future__ import annotations

import asyncio
import stat
from pathlib import Path
from typing import Any

import pytest

from ontology.errors import BedsideError
from simulator.chat import ChatClient, Completion, Message
from simulator.endpoint import Endpoint
from simulator.protocols import InfrastructureFailure
from simulator.response_cache import Kept, ResponseCache, request_key

ASK = [Message("system", "You are a doctor."), Message("user", "My head hurts.")]
BASE: dict[str, Any] = {"name": "n", "base_url": "http://localhost:1/v1", "model": "m", "temperature": 0.5, "top_p": 0.9, "max_tokens": 100}


def ask(client: ChatClient, seed: int = 1, redistributable: bool = True) -> Completion:
    async def run() -> Completion:
        try:
            return await client.complete(ASK, redistributable=redistributable, seed=seed)
        finally:
            await client.aclose()

    return asyncio.run(run())


def test_what_was_asked_before_is_not_asked_again_in_another_process_either(openai_server: Any, tmp_path: Path) -> None:
    openai_server.says("Since when?").says("Where?")
    first = ResponseCache(tmp_path / "c.sqlite3")
    one = ask(ChatClient(openai_server.endpoint(), cache=first))
    first.close()
    again = ResponseCache(tmp_path / "c.sqlite3")
    two = ask(ChatClient(openai_server.endpoint(), cache=again))
    assert (one.text, two.text, len(openai_server.requests)) == ("Since when?", "Since when?", 1)
    assert (one.from_cache, two.from_cache, one.usage.requests, two.usage.requests) == (False, True, 1, 0)
    assert two.usage.prompt_tokens == one.usage.prompt_tokens and two.finish_reason == one.finish_reason
    assert ask(ChatClient(openai_server.endpoint(), cache=again), seed=2).text == "Where?"
    assert (again.hits, again.misses) == (1, 1)


@pytest.mark.parametrize(
    "change",
    [{"base_url": "http://localhost:2/v1"}, {"model": "o"}, {"temperature": 0.6}, {"top_p": None}, {"max_tokens": 101}, {"seed": 7}],
)
def test_every_generation_parameter_makes_another_request(change: dict[str, Any]) -> None:
    def key(**settings: Any) -> str:
        return request_key(Endpoint.of(**{**BASE, **settings}), ASK, None, 1, None)

    assert key(**change) != key()
    assert key(name="o", timeout_s=1.0, max_retries=0, api_key_env="KEY", trusted=True) == key(), "how it is reached does not matter"


def test_messages_form_seed_and_revision_make_another_request() -> None:
    endpoint = Endpoint.of(**BASE)
    keys = [
        request_key(endpoint, ASK, None, 1, None),
        request_key(endpoint, ASK[::-1], None, 1, None),
        request_key(endpoint, [Message("user", ASK[0].content), ASK[1]], None, 1, None),
        request_key(endpoint, ASK, {"type": "object"}, 1, None),
        request_key(endpoint, ASK, None, 2, None),
        request_key(endpoint, ASK, None, None, None),
        request_key(endpoint, ASK, None, 1, "abc"),
    ]
    assert len(set(keys)) == len(keys)
    fixed = Endpoint.of(**BASE, seed=9)
    assert request_key(fixed, ASK, None, 1, None) == request_key(fixed, ASK, None, 2, None), "a fixed seed goes before the encounter's"


def test_a_seed_that_the_endpoint_does_not_take_still_keeps_repetitions_apart(openai_server: Any, tmp_path: Path) -> None:
    openai_server.refuses(400, "seed is not supported", param="seed").says("One.").says("Two.")
    client = ChatClient(openai_server.endpoint(), cache=ResponseCache(tmp_path / "c"))
    assert [ask(client, seed=1).text, ask(client, seed=2).text, ask(client, seed=1).text] == ["One.", "Two.", "One."]
    assert "seed" not in openai_server.bodies[-1]


def test_a_failure_is_not_kept(openai_server: Any, tmp_path: Path) -> None:
    openai_server.refuses(500, "down").says("Yes.")
    client = ChatClient(openai_server.endpoint(max_retries=0), sleep=openai_server.sleep, cache=ResponseCache(tmp_path / "c"))
    with pytest.raises(InfrastructureFailure):
        ask(client)
    assert ask(client).text == "Yes."


def test_a_case_that_must_not_be_passed_on_is_refused_though_its_answer_is_known(tmp_path: Path) -> None:
    cache = ResponseCache(tmp_path / "c")
    away = Endpoint.of(**{**BASE, "base_url": "https://host.example/v1"})
    cache.put(request_key(away, ASK, None, 1, None), Kept("Yes.", "stop", 1, 1, "m", False, ()))
    assert ask(ChatClient(away, cache=cache)).from_cache
    with pytest.raises(BedsideError, match="may not be passed on"):
        ask(ChatClient(away, cache=cache), redistributable=False)


def test_the_file_is_its_owners_and_another_kind_of_file_is_refused(tmp_path: Path) -> None:
    ResponseCache(tmp_path / "c").close()
    assert stat.S_IMODE((tmp_path / "c").stat().st_mode) == 0o600
    (tmp_path / "text").write_text("no database, but long enough to be taken for one " * 50, encoding="utf-8")
    with pytest.raises(BedsideError, match="cannot be used as a cache"):
        ResponseCache(tmp_path / "text")
    with pytest.raises(BedsideError, match="cannot be opened"):
        ResponseCache(tmp_path)
