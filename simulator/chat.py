"""The one client for models: anything that speaks the OpenAI chat protocol is a base URL and a model name.

Requests are counted and bounded here (the `openai` package's own retries are off), what an endpoint does not take is left out and
remembered, and a case that must not be passed on is sent only to this machine or to a trusted endpoint. This is the one place where that
rule is enforced.
"""

from __future__ import annotations

import asyncio
import itertools
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from random import SystemRandom
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from ontology.errors import BedsideError
from simulator.chat_errors import (
    NAMING_CHARACTERS,
    OVERRUN,
    PARAMETER_STATUSES,
    REFUSALS,
    RETRIED,
    RUBBISH,
    TOLD_WAIT_S,
    Answer,
    Problem,
    Silence,
    describe,
    json_of,
    problem_of,
    scrubbed,
    wait_before_retry,
)
from simulator.chat_request import Body, Capabilities, Message, adapt, adapt_system_role, build_body
from simulator.endpoint import Endpoint
from simulator.protocols import ExaminerFailure, InfrastructureFailure
from simulator.response_cache import Kept, ResponseCache, request_key
from simulator.throttle import Throttle
from simulator.trace import Usage

if TYPE_CHECKING:
    from openai import AsyncOpenAI

LOG = logging.getLogger(__name__)

CONNECT_TIMEOUT_S = 10.0
CONNECTIONS_A_POOL = 32
MOST_POOLS = 16
PREFLIGHT_TOKENS = 1
PREFLIGHT_RETRIES = 1
CUT_REASONS = frozenset({"length", "max_tokens"})
RAW_HEADER = "x-stainless-raw-response"
"""By this header on its own request the package knows that the plain HTTP answer is wanted."""
SENT_HEADERS = frozenset(
    {RAW_HEADER, "host", "accept", "accept-encoding", "connection", "content-type", "content-length", "transfer-encoding", "user-agent"}
)
"""All other headers are taken off: the package adds some from OPENAI_* variables, and those are not meant for every endpoint."""


@dataclass(frozen=True)
class Completion:
    """What a model said.

    `refused` is the endpoint's own mark of a refusal. `dropped` names what was asked for but left out because the endpoint does not take
    it: temperature, top_p, seed, max_tokens, json_schema (a plain JSON object was asked for), response_format, system_role (folded into the
    first user message).
    """

    text: str
    finish_reason: str
    usage: Usage
    model: str
    refused: bool = False
    dropped: tuple[str, ...] = ()
    from_cache: bool = False

    @property
    def cut_off(self) -> bool:
        """Whether the token limit ended the message."""
        return self.finish_reason in CUT_REASONS


class ChatClient:
    """Talks to one endpoint; may serve many encounters at once, and several event loops one after the other."""

    def __init__(
        self,
        endpoint: Endpoint,
        *,
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
        jitter: Callable[[], float] | None = None,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
        throttle: Throttle | None = None,
        tell: Callable[[str], None] | None = None,
        cache: ResponseCache | None = None,
        revision: str | None = None,
    ) -> None:
        """Read the key; connects to nothing yet.

        Args:
            endpoint: where and how.
            sleep: waits between tries.
            jitter: a number in [0, 1) for spreading tries; from the system by default, as it must differ between processes and touches
                no result.
            now: the time, against which a Retry-After date is counted.
            throttle: of the endpoint, shared by all who send there; None sends at once.
            tell: given a line for the user when the endpoint asks for a long wait, once for each such wait and not once a request.
            cache: answers to requests made before; not closed here.
            revision: of the model's weights, as the user knows it; counts for the cache.

        Raises:
            BedsideError: the key's environment variable is not set or unusable.
        """
        self.endpoint = endpoint
        self.capabilities = Capabilities()
        self._key = endpoint.read_key()
        self._sleep = sleep
        self._jitter = jitter or SystemRandom().random
        self._now = now
        self._throttle = throttle
        self._cache = cache
        self._revision = revision
        self._tell = tell
        self._told_until: datetime | None = None
        self._has_answered = False
        # A connection belongs to the event loop that opened it. A pool looks through all its connections at every request, and keeps a
        # hundred of them open at most: many requests at once are spread over several.
        self._clients: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[int, AsyncOpenAI]] = WeakKeyDictionary()
        self._pools = 1 if throttle is None else min(MOST_POOLS, -(-throttle.most // CONNECTIONS_A_POOL))
        self._turn = itertools.count()

    def __repr__(self) -> str:
        return f"ChatClient({self.endpoint.name!r}, host={self.endpoint.host!r}, model={self.endpoint.model!r})"

    async def aclose(self) -> None:
        """Close the connections of the running event loop; the client can be used again."""
        for client in self._clients.pop(asyncio.get_running_loop(), {}).values():
            await client.close()

    async def complete(
        self,
        messages: Sequence[Message],
        *,
        redistributable: bool,
        json_schema: Mapping[str, Any] | None = None,
        seed: int | None = None,
    ) -> Completion:
        """The model's next message.

        Args:
            messages: the conversation so far.
            redistributable: whether the case it is about may be sent to anyone.
            json_schema: the form the message must have, where the endpoint can hold a model to one (see `Completion.dropped`).
            seed: sent when the endpoint's settings fix none.

        Raises:
            BedsideError: the case may not be sent to this endpoint; nothing was sent.
            ExaminerFailure: `context_overflow` or `content_filter`.
            InfrastructureFailure: the endpoint failed, after a bounded number of tries.
        """
        self.endpoint.check_may_receive(redistributable=redistributable)
        if self._cache is None:
            return await self._asked(messages, json_schema, seed)
        key = request_key(self.endpoint, messages, json_schema, seed, self._revision)
        kept = self._cache.get(key)
        if kept is not None:
            usage = Usage(prompt_tokens=kept.prompt_tokens, completion_tokens=kept.completion_tokens)
            return Completion(kept.text, kept.finish_reason, usage, kept.model, kept.refused, kept.dropped, from_cache=True)
        new = await self._asked(messages, json_schema, seed)
        tokens = (new.usage.prompt_tokens, new.usage.completion_tokens)
        self._cache.put(key, Kept(new.text, new.finish_reason, *tokens, new.model, new.refused, new.dropped))
        return new

    async def _asked(self, messages: Sequence[Message], json_schema: Mapping[str, Any] | None, seed: int | None) -> Completion:
        sent = retries = 0
        limit_tokens = True
        while True:
            body = build_body(self.endpoint, messages, self.capabilities, json_schema, seed, limit_tokens)
            sent += 1
            found = await self._try(body, sent)
            if isinstance(found, Completion):
                self._has_answered = True
                return found
            if found.cause == "content_filter":
                raise ExaminerFailure("content_filter")
            if found.blames_limit and limit_tokens:
                limit_tokens = False
            elif found.cause == "overflow":
                raise ExaminerFailure("context_overflow")
            elif not self._learns(found, body):
                passes = found.cause in RETRIED or (found.cause in RUBBISH and self._has_answered)
                if not passes or retries >= self.endpoint.max_retries:
                    raise InfrastructureFailure(self._line(found, sent))
                await self._wait(found, retries)
                retries += 1

    async def _try(self, body: Body, sent: int) -> Completion | Problem:
        if self._throttle is None:
            return self._understood(await self._send(body), body, sent)
        with await self._throttle.place() as place:
            found = self._understood(await self._send(body), body, sent)
            if isinstance(found, Completion):
                self._throttle.went_well()
            elif found.cause in OVERRUN:
                self._throttle.overrun(place.number)
            return found

    def _understood(self, outcome: Answer | Silence, body: Body, sent: int) -> Completion | Problem:
        problem = problem_of(outcome, self._now)
        if problem is None and isinstance(outcome, Answer):
            return _completion(json_of(outcome.text), body, sent, self.endpoint.model)
        if problem is None or problem.cause == "cut_short":
            # Reasoning used up the limit: OpenAI refuses then, where others answer with finish_reason length.
            return Completion("", "length", Usage(requests=sent), self.endpoint.model, False, body.dropped)
        return problem

    def _learns(self, problem: Problem, body: Body) -> bool:
        if problem.status in PARAMETER_STATUSES and problem.cause == "parameter":
            return adapt(self.capabilities, body.fields, problem.message[:NAMING_CHARACTERS], problem.named)
        return problem.status in REFUSALS and adapt_system_role(self.capabilities, body.fields, problem.message[:NAMING_CHARACTERS])

    async def _wait(self, problem: Problem, retries: int) -> None:
        seconds = wait_before_retry(problem, retries, self._jitter())
        LOG.info(
            "endpoint %s: %s (HTTP %s), try %d of %d in %.1f s",
            self.endpoint.name,
            problem.cause,
            problem.status,
            retries + 2,
            self.endpoint.max_retries + 1,
            seconds,
        )
        self._tell_of(problem, seconds)
        await self._sleep(seconds)

    def _tell_of(self, problem: Problem, seconds: float) -> None:
        if self._tell is None or problem.asked_s is None or problem.asked_s < TOLD_WAIT_S:
            return
        now = self._now()
        if self._told_until is None or now >= self._told_until:
            self._told_until = now + timedelta(seconds=seconds)
            cut = "" if problem.asked_s <= seconds else f"; the next try is in {seconds:.0f} s all the same"
            where = f"endpoint {self.endpoint.name} ({self.endpoint.host})"
            self._tell(f"{where}: asks to wait {problem.asked_s:.0f} s (HTTP {problem.status}){cut}")

    def _line(self, problem: Problem, tries: int) -> str:
        what = describe(problem, self.endpoint.model, self.endpoint.api_key_env, tries)
        key = self._key.get_secret_value() if self._key else None
        return scrubbed(f"endpoint {self.endpoint.name} ({self.endpoint.host}): {what}", key)

    async def _send(self, body: Body) -> Answer | Silence:
        """One request. No exception of the package gets out: those hold the request, and with it the key."""
        import openai

        try:
            async with asyncio.timeout(self.endpoint.timeout_s):
                client = self._client()
                # As an extra body the messages are sent as they are: the package would first go through each of them, for 2 ms a request.
                raw = await client.chat.completions.with_raw_response.create(model=self.endpoint.model, messages=[], extra_body=body.fields)
                response = raw.http_response
                return Answer(response.status_code, dict(response.headers), response.text)
        except (TimeoutError, openai.APITimeoutError):
            return Silence("timeout", f"no answer within {self.endpoint.timeout_s:g} s")
        except openai.APIStatusError as error:
            return Answer(error.status_code, dict(error.response.headers), error.response.text)
        except openai.OpenAIError as error:
            reason = error.__cause__ or error
            return Silence("unreachable", f"{type(reason).__name__}: {reason}")

    def _client(self) -> AsyncOpenAI:
        ours = self._clients.setdefault(asyncio.get_running_loop(), {})
        pool = next(self._turn) % self._pools
        if pool not in ours:
            ours[pool] = self._new_client()
        return ours[pool]

    def _new_client(self) -> AsyncOpenAI:
        import openai

        key = self._key

        async def only_our_headers(request: Any) -> None:
            for name in [name for name in request.headers if name.lower() not in SENT_HEADERS]:
                del request.headers[name]
            if key is not None:
                request.headers["Authorization"] = f"Bearer {key.get_secret_value()}"

        timeout = openai.Timeout(self.endpoint.timeout_s, connect=min(CONNECT_TIMEOUT_S, self.endpoint.timeout_s))
        http_client = openai.DefaultAsyncHttpxClient(
            timeout=timeout,
            # A redirect could carry a case to a host that was never checked.
            follow_redirects=False,
            # A proxy named in the environment would see what is meant to stay on this machine.
            trust_env=not self.endpoint.is_loopback,
            event_hooks={"request": [only_our_headers]},
        )
        return openai.AsyncOpenAI(
            base_url=self.endpoint.base_url, api_key="unused", max_retries=0, timeout=timeout, http_client=http_client
        )


def _completion(raw: Any, body: Body, sent: int, model: str) -> Completion | Problem:
    choices = raw.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices else None
    message = choice.get("message") if isinstance(choice, dict) else None
    if not isinstance(choice, dict) or not isinstance(message, dict):
        return Problem("no_choices", "its answer holds no message (choices are missing or empty)", 200)
    reason = str(choice.get("finish_reason") or "stop").lower()
    if reason == "content_filter":
        return Problem("content_filter", "finish_reason content_filter", 200)
    if reason == "error" or choice.get("error"):
        return Problem("fault", f"the answer was broken off: {choice.get('error')}", 200)
    refusal = message.get("refusal")
    text = _text(message.get("content"))
    if isinstance(refusal, str) and refusal.strip():
        text = text or refusal
    counted = raw.get("usage")
    counted = counted if isinstance(counted, dict) else {}
    usage = Usage(
        prompt_tokens=_count(counted.get("prompt_tokens")), completion_tokens=_count(counted.get("completion_tokens")), requests=sent
    )
    named = raw.get("model")
    return Completion(
        text, reason, usage, named if isinstance(named, str) and named else model, bool(refusal) or reason == "refusal", body.dropped
    )


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        parts = [part for part in content if isinstance(part, dict) and part.get("type") in (None, "text", "output_text")]
        return "".join(part["text"] for part in parts if isinstance(part.get("text"), str))
    return ""


def _count(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


async def preflight(endpoint: Endpoint, *, sleep: Callable[[float], Awaitable[object]] = asyncio.sleep) -> None:
    """Ask the endpoint for one token, before any encounter is begun.

    Raises:
        BedsideError: it cannot be reached, refuses the key, does not know the model, or does not speak the protocol; in one line.
    """
    short = endpoint.model_copy(update={"max_tokens": PREFLIGHT_TOKENS, "max_retries": min(PREFLIGHT_RETRIES, endpoint.max_retries)})
    client = ChatClient(short, sleep=sleep)
    failure: str | None = None
    try:
        # No case is sent, so the rule on cases does not apply.
        await client.complete([Message("user", "Say yes.")], redistributable=True)
    except InfrastructureFailure as error:
        failure = str(error)
    except ExaminerFailure:
        LOG.debug("endpoint %s answers, though not to the trial message", endpoint.name)
    finally:
        await client.aclose()
    if failure is not None:
        raise BedsideError(failure)


__all__ = ["Capabilities", "ChatClient", "Completion", "Endpoint", "Message", "preflight"]
