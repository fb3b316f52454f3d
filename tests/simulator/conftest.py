"""A local server that speaks the OpenAI protocol from a script, for the tests of this folder."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from simulator.chat import ChatClient, Completion, Endpoint, Message
from simulator.protocols import InfrastructureFailure

NOW = datetime(2026, 3, 1, 12, 0, 0, tzinfo=UTC)
HELLO = (Message("system", "You are a doctor."), Message("user", "My head hurts."))


@dataclass(frozen=True)
class Seen:
    """A request as it arrived; header names in lower case, `body` parsed where it is JSON."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: Any


@dataclass(frozen=True)
class Scripted:
    """An answer to give."""

    status: int
    headers: Mapping[str, str]
    body: bytes
    delay_s: float = 0.0
    hang_up: bool = False
    drip_s: float = 0.0


@dataclass(repr=False)
class FakeOpenAI:
    """Answers requests from `script`, in order; when it is used up, the last one again.

    Example: `openai_server.refuses(429, "slow down", {"Retry-After": "2"}); openai_server.says("Do you have a fever?")`.
    """

    host: str = "127.0.0.1"
    script: list[Scripted] = field(default_factory=list)
    requests: list[Seen] = field(default_factory=list)
    slept: list[float] = field(default_factory=list)
    """what the clients made here were to wait between tries"""

    def __post_init__(self) -> None:
        self._lock = threading.Lock()
        self._over = threading.Event()
        self._position = 0
        self._http = ThreadingHTTPServer((self.host, 0), self._handler())
        self._http.daemon_threads = True
        self._thread = threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        self._thread.start()

    @property
    def port(self) -> int:
        return int(self._http.server_address[1])

    @property
    def base_url(self) -> str:
        """Address up to and including /v1."""
        return f"http://{self.host}:{self.port}/v1"

    @property
    def bodies(self) -> list[Any]:
        """The parsed bodies of the requests so far."""
        return [seen.body for seen in self.requests]

    def says(self, text: str | None, finish_reason: str = "stop", *, usage: tuple[int, int] | None = (10, 5), **message: Any) -> FakeOpenAI:
        """Add a completion; `message` adds fields to the message, e.g. refusal="…"."""
        raw: dict[str, Any] = {
            "id": "chatcmpl-1",
            "object": "chat.completion",
            "created": 0,
            "model": "fake-model-2",
            "choices": [{"index": 0, "finish_reason": finish_reason, "message": {"role": "assistant", "content": text, **message}}],
        }
        if usage is not None:
            raw["usage"] = {"prompt_tokens": usage[0], "completion_tokens": usage[1], "total_tokens": sum(usage)}
        return self.answers(200, raw)

    def refuses(self, status: int, message: str, headers: Mapping[str, str] | None = None, **error: Any) -> FakeOpenAI:
        """Add an error in OpenAI's form; `error` adds fields, e.g. param="seed", code="…"."""
        return self.answers(status, {"error": {"message": message, **error}}, headers)

    def answers(
        self,
        status: int,
        body: Any,
        headers: Mapping[str, str] | None = None,
        *,
        delay_s: float = 0.0,
        drip_s: float = 0.0,
        content_type: str = "application/json",
    ) -> FakeOpenAI:
        """Add any answer; a body that is not text is sent as JSON; `drip_s` is the time between its bytes."""
        text = body if isinstance(body, str) else json.dumps(body)
        self.script.append(Scripted(status, {"Content-Type": content_type, **(headers or {})}, text.encode(), delay_s, drip_s=drip_s))
        return self

    def hangs_up(self) -> FakeOpenAI:
        """Add a broken connection: closed without an answer."""
        self.script.append(Scripted(0, {}, b"", hang_up=True))
        return self

    def endpoint(self, **settings: Any) -> Endpoint:
        """Settings of this server, called `fake`; two retries unless told otherwise."""
        raw = {"name": "fake", "base_url": self.base_url, "model": "fake-model", "timeout_s": 20.0, "max_retries": 2}
        return Endpoint.of(**{**raw, **settings})

    def client(self, **settings: Any) -> ChatClient:
        """A client of this server whose clock stands still at 1 March 2026, noon, and which waits for nothing (see `slept`)."""
        return ChatClient(self.endpoint(**settings), sleep=self.sleep, jitter=lambda: 0.0, now=lambda: NOW)

    async def sleep(self, seconds: float) -> None:
        """Note that it was to be waited, and wait not."""
        self.slept.append(seconds)

    @staticmethod
    def complete(chat: ChatClient, *messages: Message, redistributable: bool = True, **options: Any) -> Completion:
        """One completion of the given messages (by default of `HELLO`)."""

        async def run() -> Completion:
            try:
                return await chat.complete(messages or HELLO, redistributable=redistributable, **options)
            finally:
                await chat.aclose()

        return asyncio.run(run())

    @classmethod
    def failure(cls, chat: ChatClient, **options: Any) -> str:
        """The one line with which a completion fails because of the endpoint."""
        with pytest.raises(InfrastructureFailure) as raised:
            cls.complete(chat, **options)
        text = str(raised.value)
        assert "\n" not in text
        assert text.startswith("endpoint fake (127.0.0.1): ")
        return text

    def close(self) -> None:
        """Stop; answers that are still delayed are given up."""
        self._over.set()
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()

    def _next(self, seen: Seen) -> Scripted:
        with self._lock:
            self.requests.append(seen)
            if not self.script:
                return Scripted(500, {"Content-Type": "application/json"}, b'{"error": {"message": "nothing scripted"}}')
            answer = self.script[min(self._position, len(self.script) - 1)]
            self._position += 1
            return answer

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        fake = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            # One write for headers and body: two small ones wait 40 ms for each other.
            wbufsize = -1

            def do_POST(self) -> None:
                raw = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                try:
                    body = json.loads(raw)
                except ValueError:
                    body = raw
                headers = {name.lower(): value for name, value in self.headers.items()}
                self._give(fake._next(Seen(self.command, self.path, headers, body)))

            do_GET = do_CONNECT = do_POST

            def _give(self, answer: Scripted) -> None:
                if answer.delay_s and fake._over.wait(answer.delay_s):
                    return
                if answer.hang_up:
                    self.close_connection = True
                    return
                try:
                    self.send_response(answer.status)
                    for name, value in {**answer.headers, "Content-Length": str(len(answer.body))}.items():
                        self.send_header(name, value)
                    self.end_headers()
                    if not answer.drip_s:
                        self.wfile.write(answer.body)
                        return
                    for byte in answer.body:
                        self.wfile.write(bytes([byte]))
                        self.wfile.flush()
                        if fake._over.wait(answer.drip_s):
                            return
                except OSError:
                    self.close_connection = True

            def log_message(self, format: str, *args: Any) -> None:
                """Keep the tests' output quiet."""

        return Handler


@pytest.fixture
def openai_server() -> Iterator[FakeOpenAI]:
    """A scripted OpenAI-compatible server on 127.0.0.1."""
    server = FakeOpenAI()
    yield server
    server.close()


@pytest.fixture
def other_openai_server() -> Iterator[FakeOpenAI]:
    """A second one, for what must not be reached: proxies, redirects."""
    server = FakeOpenAI()
    yield server
    server.close()
