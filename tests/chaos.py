"""A local server in OpenAI's format whose doctor is a function of the conversation, and which fails on a share of its calls."""

from __future__ import annotations

import asyncio
import hashlib
import json
import threading
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any

from simulator.final_answer import render
from simulator.trace import FinalAnswer, RankedDiagnosis

QUESTIONS = (
    "Do you have a fever?",
    "When did it start?",
    "Does it hurt when you breathe in?",
    "Do you have a cough?",
    "Do you smoke?",
    "Have you lost weight?",
    "Do you feel sick?",
    "Are you short of breath?",
    "Is there pain in your chest?",
    "Do you have a headache?",
)
DIAGNOSES = (("Pneumonia", "J18.9"), ("Migraine", "G43.909"), ("Acute pharyngitis", "J02.9"), ("GERD", "K21.9"))
FAULTS = ("drop", "delay", "429", "500", "truncate", "html", "no_choices", "cut_json")


@dataclass
class ChaosServer:
    """Serves in a thread of its own; a context manager.

    Attributes:
        share: of calls that fail; a trial message (one token) never does.
        delay_s: how long a delayed call takes; more than the client waits.
        latency_s: how long a call takes that goes well.
    """

    share: float = 0.2
    seed: int = 1
    delay_s: float = 1.5
    latency_s: float = 0.0
    shortest: int = 4
    """questions before the final answer, at least"""
    calls: Counter[str] = field(default_factory=Counter)
    """kind of answer → how often"""
    bodies: Counter[str] = field(default_factory=Counter)
    """hash of a request → how often it came"""
    port: int = 0
    failed: int = 0
    """calls; which is when, is random, and which fault it is goes round, so that a short run meets all"""

    def __enter__(self) -> ChaosServer:
        self._rng = Random(self.seed)
        self._ready = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve()), daemon=True)
        self._thread.start()
        self._ready.wait()
        return self

    def __exit__(self, *exception: object) -> None:
        self._loop.call_soon_threadsafe(self._over.set)
        self._thread.join()

    @property
    def base_url(self) -> str:
        """Up to and including /v1."""
        return f"http://127.0.0.1:{self.port}/v1"

    async def _serve(self) -> None:
        self._loop, self._over = asyncio.get_running_loop(), asyncio.Event()
        server = await asyncio.start_server(self._talk, "127.0.0.1", self.port, backlog=1024)
        self.port = server.sockets[0].getsockname()[1]
        self._ready.set()
        await self._over.wait()
        server.close()
        for task in asyncio.all_tasks() - {asyncio.current_task()}:
            task.cancel()

    async def _talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                length = next(int(line.split(b":")[1]) for line in head.lower().split(b"\r\n") if line.startswith(b"content-length"))
                body = json.loads(await reader.readexactly(length))
                if not await self._answer(body, writer):
                    break
        except (asyncio.IncompleteReadError, ConnectionError, asyncio.CancelledError):
            pass
        finally:
            writer.close()

    async def _answer(self, body: dict[str, Any], writer: asyncio.StreamWriter) -> bool:
        """Whether the connection stays."""
        trial = body.get("max_tokens") == 1
        self.bodies[hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()] += not trial
        fault = FAULTS[self.failed % len(FAULTS)] if not trial and self._rng.random() < self.share else "fine"
        self.failed += fault != "fine"
        self.calls["trial" if trial else fault] += 1
        good = json.dumps(completion("Yes." if trial else reply(body["messages"], "response_format" in body, self.shortest))).encode()
        if fault == "drop":
            return False
        if fault in ("429", "500"):
            refusal = json.dumps({"error": {"message": "not now"}}).encode()
            more = b"Retry-After: 0.05\r\n" if fault == "429" else b""
            return await _send(writer, int(fault), refusal, more=more)
        if fault == "truncate":
            await _send(writer, 200, good[: len(good) // 2], length=len(good))
            return False
        rubbish = {"html": b"<html>Bad gateway</html>", "no_choices": b'{"choices": []}', "cut_json": good[:40]}
        await asyncio.sleep(self.delay_s if fault == "delay" else self.latency_s)
        return await _send(writer, 200, rubbish.get(fault, good))


async def _send(writer: asyncio.StreamWriter, status: int, body: bytes, length: int | None = None, more: bytes = b"") -> bool:
    size = len(body) if length is None else length
    writer.write(b"HTTP/1.1 %d X\r\nContent-Type: application/json\r\n%sContent-Length: %d\r\n\r\n" % (status, more, size) + body)
    await writer.drain()
    return True


def reply(messages: Sequence[dict[str, str]], due: bool, shortest: int = 4) -> str:
    """The doctor's words: a function of the conversation alone."""
    said = [message["content"] for message in messages]
    number = int(hashlib.sha256("\n".join(said).encode()).hexdigest(), 16)
    asked = sum(message["role"] == "assistant" for message in messages)
    opening = int(hashlib.sha256("\n".join(said[:2]).split("turns")[0].encode()).hexdigest(), 16)
    if not due and asked < shortest + opening % 4:
        return QUESTIONS[number % len(QUESTIONS)]
    name, code = DIAGNOSES[number % len(DIAGNOSES)]
    return render(FinalAnswer(ranked=[RankedDiagnosis(name=name, icd10=code, prob=0.5)], confidence=0.5))


def completion(text: str) -> dict[str, Any]:
    """A chat completion."""
    return {
        "id": "x",
        "object": "chat.completion",
        "created": 0,
        "model": "chaos",
        "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": text}}],
        "usage": {"prompt_tokens": 10, "completion_tokens": len(text) // 4, "total_tokens": 10 + len(text) // 4},
    }
