"""How many requests an endpoint is sent at once: additive increase, multiplicative decrease (Chiu and Jain 1989)."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.chat import ChatClient, Message
from simulator.throttle import Throttle


def test_no_more_than_the_limit_are_under_way_and_all_get_their_turn() -> None:
    throttle = Throttle(3)
    seen: list[int] = []

    async def one(number: int) -> None:
        with await throttle.place():
            assert throttle.under_way <= 3
            await asyncio.sleep(0)
            seen.append(number)

    async def main() -> None:
        await asyncio.gather(*(one(n) for n in range(20)))

    asyncio.run(main())
    assert seen == list(range(20)), "first come, first served"
    assert throttle.under_way == 0


@pytest.mark.parametrize(("most", "expected"), [(1, 1), (8, 4), (9, 4.5)])
def test_requests_that_were_under_way_together_halve_the_limit_once(most: int, expected: float) -> None:
    async def main() -> Throttle:
        throttle = Throttle(most)
        places = [await throttle.place() for _ in range(most)]
        for place in places:
            throttle.overrun(place.number)
            place.__exit__(None, None, None)
        return throttle

    assert asyncio.run(main()).limit == expected


def test_the_limit_comes_back_by_one_for_as_many_answers_as_it_counts() -> None:
    throttle = Throttle(10)
    throttle._begun = 1
    throttle.overrun(1)
    assert throttle.limit == 5
    for _ in range(5):
        throttle.went_well()
    assert 5.9 < throttle.limit <= 6
    for _ in range(200):
        throttle.went_well()
    assert throttle.limit == 10
    assert throttle.lowest == 5


@given(st.integers(1, 12), st.lists(st.sampled_from(["well", "overrun", "cancel"]), max_size=60))
def test_whatever_happens_the_limit_keeps_its_bounds_and_no_place_is_lost(most: int, fates: list[str]) -> None:
    async def main() -> None:
        throttle = Throttle(most)

        async def one(fate: str) -> None:
            with await throttle.place() as place:
                assert throttle.under_way <= most
                await asyncio.sleep(0)
                throttle.went_well() if fate == "well" else throttle.overrun(place.number)
                assert 1 <= throttle.limit <= most

        tasks = [asyncio.create_task(one(fate)) for fate in fates]
        for round_ in range(3):
            await asyncio.sleep(0)
            for task, fate in zip(tasks[round_::3], fates[round_::3], strict=True):
                if fate == "cancel":
                    task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        assert throttle.under_way == 0
        with await throttle.place():
            assert throttle.under_way == 1

    asyncio.run(main())


def test_a_busy_endpoint_halves_it_and_a_fault_does_not(openai_server: Any) -> None:
    for status, limit in ((429, 4.0), (500, 8.0)):
        throttle = Throttle(8)
        openai_server.script.clear()
        openai_server._position = 0
        openai_server.refuses(status, "not now").says("Yes.")
        openai_server.complete(ChatClient(openai_server.endpoint(), sleep=openai_server.sleep, throttle=throttle), Message("user", "Hm?"))
        assert throttle.limit == pytest.approx(min(8.0, limit + (1 / limit)))
        assert throttle.under_way == 0


def test_a_long_wait_is_told_once_and_a_short_one_not_at_all(openai_server: Any) -> None:
    told: list[str] = []
    openai_server.refuses(429, "slow", {"Retry-After": "5"}).refuses(429, "slow", {"Retry-After": "3600"}).says("Yes.")
    chat = ChatClient(openai_server.endpoint(), sleep=openai_server.sleep, tell=told.append)
    openai_server.complete(chat)
    assert told == ["endpoint fake (127.0.0.1): asks to wait 3600 s (HTTP 429); the next try is in 120 s all the same"]
    assert openai_server.slept == [5.0, 120.0]


def test_rubbish_from_an_endpoint_that_answered_before_is_tried_again(openai_server: Any) -> None:
    openai_server.says("Yes.").answers(200, "<html>bad</html>").answers(200, '{"choices": []}').says("No.")
    chat = openai_server.client()

    async def two() -> list[str]:
        try:
            return [(await chat.complete([Message("user", "?")], redistributable=True)).text for _ in range(2)]
        finally:
            await chat.aclose()

    assert asyncio.run(two()) == ["Yes.", "No."]
