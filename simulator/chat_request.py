"""The body of a chat request: turns that alternate, only parameters the endpoint takes, and learning which those are."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from simulator.endpoint import Endpoint

Role = Literal["system", "user", "assistant"]

OPENER = "Hello."
"""Said for the user when a conversation would begin with the assistant, which many chat templates refuse."""

LARGEST_SEED = 2**31
SCHEMA_NAME = "answer"

FORMAT_STEPS: Mapping[str, str] = {"json_schema": "json_object", "json_object": "none"}
LIMIT_STEPS: Mapping[str, str] = {"max_tokens": "max_completion_tokens", "max_completion_tokens": "none"}
PLAIN_PARAMETERS = ("temperature", "top_p", "seed")
NAMES: Mapping[str, re.Pattern[str]] = {
    "response_format": re.compile(r"response_?format|json_schema|json_object|structured[ _]outputs?|guided[ _]", re.IGNORECASE),
    **{name: re.compile(rf"(?<![\w]){name}(?![\w])", re.IGNORECASE) for name in (*PLAIN_PARAMETERS, *LIMIT_STEPS)},
}

NO_SYSTEM_ROLE = re.compile(
    r"system (?:role|message|prompt|instruction)s?\b.{0,40}\bnot (?:supported|allowed|enabled|permitted)"
    r"|(?:not|n't) support.{0,30}\bsystem (?:role|message|prompt|instruction)|developer instruction is not enabled"
    r"|only .{0,20}\buser\b.{0,20}\bassistant\b.{0,30}\broles?\b|roles must alternate"
    r"|unexpected role.{0,5}system|system.{0,20}unexpected role",
    re.IGNORECASE | re.DOTALL,
)


@dataclass(frozen=True)
class Message:
    """One message of a conversation."""

    role: Role
    content: str


@dataclass
class Capabilities:
    """What an endpoint has been found to accept; starts from the best assumption and only ever narrows."""

    unsupported: set[str] = field(default_factory=set)
    response_format: str = "json_schema"
    token_limit: str = "max_tokens"
    system_role: bool = True


@dataclass(frozen=True)
class Body:
    """A request body, and what was wished for but left out because the endpoint does not take it."""

    fields: dict[str, Any]
    dropped: tuple[str, ...]


def build_body(
    endpoint: Endpoint,
    messages: Sequence[Message],
    able: Capabilities,
    json_schema: Mapping[str, Any] | None = None,
    seed: int | None = None,
    limit_tokens: bool = True,
) -> Body:
    """The body of a chat completion request.

    Args:
        endpoint: the settings.
        messages: the conversation; need not alternate.
        able: what the endpoint takes.
        json_schema: the form the answer must have, if any.
        seed: used when the endpoint's settings fix none.
        limit_tokens: False leaves the limit out for once (what is left of the context then limits).
    """
    prepared = alternating(messages, able.system_role)
    fields: dict[str, Any] = {"model": endpoint.model, "messages": [{"role": m.role, "content": m.content} for m in prepared]}
    dropped: list[str] = []
    wished = {"temperature": endpoint.temperature, "top_p": endpoint.top_p, "seed": _seed(endpoint, seed)}
    for name, value in wished.items():
        if value is not None and name in able.unsupported:
            dropped.append(name)
        elif value is not None:
            fields[name] = value
    if endpoint.max_tokens is not None and limit_tokens:
        if able.token_limit == "none":
            dropped.append("max_tokens")
        else:
            fields[able.token_limit] = endpoint.max_tokens
    if json_schema is not None:
        dropped += _add_format(fields, able, json_schema)
    if not able.system_role and any(m.role == "system" for m in messages):
        dropped.append("system_role")
    return Body(fields, tuple(dropped))


def _seed(endpoint: Endpoint, seed: int | None) -> int | None:
    chosen = endpoint.seed if endpoint.seed is not None else seed
    return None if chosen is None else chosen % LARGEST_SEED


def _add_format(fields: dict[str, Any], able: Capabilities, json_schema: Mapping[str, Any]) -> list[str]:
    if able.response_format == "json_schema":
        schema = {"name": SCHEMA_NAME, "strict": True, "schema": dict(json_schema)}
        fields["response_format"] = {"type": "json_schema", "json_schema": schema}
        return []
    if able.response_format == "json_object":
        fields["response_format"] = {"type": "json_object"}
        return ["json_schema"]
    return ["response_format"]


def alternating(messages: Sequence[Message], system_role: bool) -> list[Message]:
    """The conversation as strict chat templates want it.

    One system message at most, and first (later ones become the user's words, in their place); then user and assistant in turn, the user
    first; messages of the same role in a row are joined by an empty line. Without a system role its text opens the first user message.
    """
    system = "\n\n".join(_sendable(m.content) for m in _leading_system(messages))
    rest = list(messages[len(_leading_system(messages)) :])
    turns: list[Message] = []
    for message in rest:
        role: Role = "assistant" if message.role == "assistant" else "user"
        content = _sendable(message.content)
        if turns and turns[-1].role == role:
            turns[-1] = Message(role, "\n\n".join(part for part in (turns[-1].content, content) if part))
        else:
            turns.append(Message(role, content))
    if not turns or turns[0].role == "assistant":
        turns.insert(0, Message("user", OPENER))
    if not system:
        return turns
    if system_role:
        return [Message("system", system), *turns]
    return [Message("user", f"{system}\n\n{turns[0].content}"), *turns[1:]]


def _leading_system(messages: Sequence[Message]) -> Sequence[Message]:
    end = next((i for i, message in enumerate(messages) if message.role != "system"), len(messages))
    return messages[:end]


def _sendable(text: str) -> str:
    # A lone surrogate (half an emoji, cut by a tokenizer) cannot be written as UTF-8.
    return text.encode("utf-8", "replace").decode("utf-8")


def adapt(able: Capabilities, sent: Mapping[str, Any], message: str, named: Sequence[str]) -> bool:
    """Learn from a refusal what the endpoint does not take.

    Args:
        able: narrowed in place.
        sent: the body that was refused; only what it held can be to blame, which bounds the number of tries.
        message: the words of the refusal.
        named: parameters that the refusal names in a field of its own.

    Returns:
        whether a changed request is worth a try.
    """
    if adapt_system_role(able, sent, message):
        return True
    present = [name for name in NAMES if name in sent]
    blamed = [name for name in present if any(part == name or part.startswith(f"{name}.") for part in named)]
    if not blamed:
        blamed = [name for name in present if NAMES[name].search(message)]
    for name in blamed:
        if name == "response_format":
            kind = str(sent[name]["type"])
            if able.response_format == kind:
                able.response_format = FORMAT_STEPS[kind]
        elif name in LIMIT_STEPS:
            if able.token_limit == name:
                able.token_limit = LIMIT_STEPS[name]
        else:
            able.unsupported.add(name)
    return bool(blamed)


def adapt_system_role(able: Capabilities, sent: Mapping[str, Any], message: str) -> bool:
    """Learn that the system role is refused; some servers say so with a status that otherwise means a fault of theirs."""
    has_system = any(turn["role"] == "system" for turn in sent["messages"])
    if has_system and NO_SYSTEM_ROLE.search(message):
        able.system_role = False
        return True
    return False
