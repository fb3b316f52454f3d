"""What an endpoint's refusal or silence means: whose fault it is, whether to try again, when, and how to say it on one line."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, Literal
from urllib.parse import quote

LONGEST_WAIT_S = 120.0
"""A longer Retry-After is cut to this: a run must end within a bound that does not depend on the endpoint."""
FIRST_BACKOFF_S = 0.5
LONGEST_BACKOFF_S = 30.0
SHOWN_CHARACTERS = 300
NAMING_CHARACTERS = 600
"""Parameters are looked for only this far into a refusal: some endpoints quote the whole request after it."""

Cause = Literal[
    "overflow",
    "content_filter",
    "cut_short",
    "parameter",
    "refused",
    "key",
    "unknown",
    "quota",
    "busy",
    "fault",
    "timeout",
    "unreachable",
    "redirect",
    "not_json",
    "no_choices",
]

RETRIED: frozenset[Cause] = frozenset({"busy", "fault", "timeout", "unreachable"})
RUBBISH: frozenset[Cause] = frozenset({"not_json", "no_choices"})
"""Mostly a wrong address; from an endpoint that has answered properly before, a fault that may pass."""
OVERRUN: frozenset[Cause] = frozenset({"busy", "timeout"})
"""Signs that an endpoint is sent too much at once."""
TOLD_WAIT_S = 20.0
"""A wait that an endpoint asks for is told to the user from this length on."""
REFUSALS = (400, 413, 422, 424, 500)
"""Statuses under which endpoints report an overflow or a chat template's complaint (llama.cpp: 500, TGI: 422 and 424)."""
PARAMETER_STATUSES = (400, 422)
BUSY_STATUSES = (408, 409, 425, 429)
RATE_LIMITED = 429
TGI_FAULT = 424

OVERFLOW = re.compile(
    r"context[ _](?:length|window|size)|maximum context|maximum (?:prompt|input|sequence) length"
    r"|(?:prompt|inputs?|conversation|messages?|request) (?:is|are) too (?:long|large)|too many (?:input |prompt )?tokens"
    r"|exceeds? .{0,40}\bcontext\b|inputs?\W{1,2}tokens.{0,60}must be <=|input length .{0,40}exceeds",
    re.IGNORECASE,
)
TOO_LONG = re.compile(r"\btoo long\b", re.IGNORECASE)
"""Enough in a refusal; in a fault of the server it may be said of the time."""
RATE = re.compile(r"per minute|per day|\b[TR]P[MD]\b")
LIMIT_TO_BLAME = re.compile(r"max_(?:completion_|new_)?tokens|in the completion|output tokens", re.IGNORECASE)
FILTERED = re.compile(
    r"content[ _](?:filter|policy|management)|ResponsibleAIPolicy|safety system|flagged (?:by|as)|moderation", re.IGNORECASE
)
CUT_SHORT = re.compile(r"could not finish the message", re.IGNORECASE)
QUOTA = re.compile(r"insufficient_quota|exceeded your current quota|billing|credit balance|out of credits", re.IGNORECASE)
SECRETS = re.compile(r"(?i)\bbearer\s+[^\s\"',;]+|\b(?:sk|gsk|hf|xai|pk|rk)[-_][A-Za-z0-9_*.-]{4,}|(?<=api key provided: )\S+")


@dataclass(frozen=True)
class Answer:
    """What came back over HTTP, whatever the status."""

    status: int
    headers: Mapping[str, str]
    text: str


@dataclass(frozen=True)
class Silence:
    """No answer came back."""

    cause: Literal["timeout", "unreachable"]
    detail: str


@dataclass(frozen=True)
class Problem:
    """A failed request, understood."""

    cause: Cause
    message: str
    status: int | None = None
    named: tuple[str, ...] = ()
    wait_s: float | None = None
    """how long to wait before the next try, as far as the endpoint said"""
    asked_s: float | None = None
    """what it asked for, which may be longer"""

    @property
    def blames_limit(self) -> bool:
        """Whether an overflow comes from prompt and answer limit together, so that it may fit without the limit."""
        return self.cause == "overflow" and bool(LIMIT_TO_BLAME.search(self.message))


def problem_of(outcome: Answer | Silence, now: Callable[[], datetime]) -> Problem | None:
    """What is wrong with an outcome; None when it holds a JSON object without an error.

    Args:
        outcome: of one request.
        now: the time (aware), against which a Retry-After date is counted.
    """
    if isinstance(outcome, Silence):
        return Problem(outcome.cause, outcome.detail)
    raw = json_of(outcome.text)
    status = outcome.status
    if 200 <= status < 300:
        if not isinstance(raw, dict):
            return Problem("not_json", _page(outcome.text, raw), status)
        error = raw.get("error")
        if not error:
            return None
        # Some gateways answer 200 and put the upstream's refusal into the body.
        code = error.get("code") if isinstance(error, dict) else None
        status = code if isinstance(code, int) and 400 <= code <= 599 else 502
    elif status < 400:
        return Problem("redirect", f"it redirects (HTTP {status}) to {outcome.headers.get('location', 'an unnamed address')}", status)
    message, named, code_text = _refusal(raw, outcome.text)
    asked = asked_wait(outcome.headers, now)
    return Problem(_cause(status, message, code_text), message, status, named, _cut(asked), asked)


def json_of(text: str) -> Any:
    """The JSON value of a text, None when it is not JSON."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _cause(status: int, message: str, code: str) -> Cause:
    words = f"{code} {message[:NAMING_CHARACTERS]}"
    if status in REFUSALS and CUT_SHORT.search(words):
        return "cut_short"
    overflows = OVERFLOW.search(words) or (status in (400, 413, 422) and TOO_LONG.search(words))
    if status in REFUSALS and overflows and not RATE.search(words):
        return "overflow"
    if status in (*PARAMETER_STATUSES, 403) and FILTERED.search(words):
        return "content_filter"
    if status in (401, 403):
        return "key"
    if status == 404:
        return "unknown"
    if status == 402 or (status == RATE_LIMITED and QUOTA.search(words)):
        return "quota"
    if status in PARAMETER_STATUSES:
        return "parameter"
    if status in BUSY_STATUSES:
        return "busy"
    return "fault" if status >= 500 or status == TGI_FAULT else "refused"


def _refusal(raw: Any, text: str) -> tuple[str, tuple[str, ...], str]:
    """(message, parameters named in fields of their own, code and type) of the several forms in use."""
    if not isinstance(raw, dict):
        return (_page(text, raw) if raw is None else str(raw)), (), ""
    error = raw.get("error", raw)
    if not isinstance(error, dict):
        return str(error), (), ""
    detail = error.get("detail")
    if isinstance(detail, list):
        parts = [part for part in detail if isinstance(part, dict)]
        # FastAPI quotes the refused value as `input`; only the place and the words are used.
        named = tuple(".".join(str(step) for step in _steps(part) if step != "body") for part in parts)
        words = "; ".join(f"{place}: {part.get('msg', '')}" for place, part in zip(named, parts, strict=True))
        return words, named, ""
    message = error.get("message") or detail or json.dumps(error, ensure_ascii=False)
    param = error.get("param")
    inner = error.get("innererror")
    code = " ".join(str(error[key]) for key in ("code", "type") if error.get(key) is not None)
    if isinstance(inner, dict):
        code = f"{code} {inner.get('code', '')}"
    return str(message), ((param,) if isinstance(param, str) and param else ()), code


def _steps(part: Mapping[str, Any]) -> list[Any]:
    place = part.get("loc")
    return place if isinstance(place, list) else []


def _page(text: str, raw: Any) -> str:
    if raw is not None:
        return f"it answers JSON that is no chat completion ({type(raw).__name__})"
    start = text.lstrip()[:200].lower()
    if not start:
        return "it answers with nothing"
    if start.startswith(("<!doctype html", "<html", "<head", "<body")):
        return "it answers with a web page (HTML), not JSON"
    return f"it answers with something that is not JSON: {text.strip()[:80]}"


def retry_after(headers: Mapping[str, str], now: Callable[[], datetime]) -> float | None:
    """How long to wait as the endpoint asks, between 0 and `LONGEST_WAIT_S` seconds; None when it does not say, or not readably."""
    return _cut(asked_wait(headers, now))


def _cut(seconds: float | None) -> float | None:
    return None if seconds is None else min(seconds, LONGEST_WAIT_S)


def asked_wait(headers: Mapping[str, str], now: Callable[[], datetime]) -> float | None:
    """How long the endpoint asks to wait, in seconds, at least 0; None when it does not say, or not readably.

    `Retry-After` holds seconds or an HTTP date (RFC 9110, 10.2.3); `retry-after-ms` is OpenAI's finer form.
    """
    low = {name.lower(): value.strip() for name, value in headers.items()}
    for name, unit in (("retry-after-ms", 1000.0), ("retry-after", 1.0)):
        try:
            seconds = float(low[name]) / unit
        except (KeyError, ValueError):
            continue
        if math.isfinite(seconds):
            return max(seconds, 0.0)
    try:
        until = parsedate_to_datetime(low["retry-after"])
    except (KeyError, ValueError):
        return None
    if until.tzinfo is None:
        until = until.replace(tzinfo=UTC)
    return max((until - now()).total_seconds(), 0.0)


def wait_before_retry(problem: Problem, retries: int, jitter: float) -> float:
    """Seconds to wait before the next try: what the endpoint asked for, else doubling from half a second.

    Args:
        problem: of the last try.
        retries: tries already repeated.
        jitter: in [0, 1); spreads many encounters that failed together over half the wait.
    """
    if problem.wait_s is not None:
        return problem.wait_s
    return float(min(LONGEST_BACKOFF_S, FIRST_BACKOFF_S * 2**retries)) * (0.5 + 0.5 * jitter)


def describe(problem: Problem, model: str, key_variable: str | None, tries: int) -> str:
    """A failure in one line for the user: what happened, and what to do. Not yet scrubbed of secrets."""
    said = " ".join(problem.message.split())
    said = said if len(said) <= SHOWN_CHARACTERS else said[:SHOWN_CHARACTERS] + "…"
    http = f"HTTP {problem.status}"
    after = f", after {tries} tries" if tries > 1 else ""
    name_it = "name the environment variable that holds the key (api_key_env)"
    key_mend = f"set the environment variable {key_variable}" if key_variable else name_it
    lines: dict[Cause, str] = {
        "key": f"the key was refused ({http}: {said}); {key_mend}",
        "unknown": f"the model {model!r} or the path is unknown there ({http}: {said}); check both (addresses mostly end in /v1)",
        "quota": f"the quota or credit is used up ({http}: {said}); waiting does not help",
        "busy": f"too many requests or busy ({http}: {said}){after}; use fewer encounters at once or try later",
        "fault": f"a fault of the server ({http}: {said}){after}",
        "timeout": f"{said}{after}; give it more time (timeout_s) or use fewer encounters at once",
        "unreachable": f"it cannot be reached ({said}){after}; check the address and that the server runs",
        "redirect": f"{said}, which is not followed; give the final address",
        "not_json": f"{said} ({http}); check that the address ends in /v1",
        "no_choices": f"{said} ({http})",
    }
    return lines.get(problem.cause, f"it refused the request ({http}: {said})")


def scrubbed(text: str, key: str | None) -> str:
    """The text on one line, without the key in any form an endpoint may echo it."""
    for form in {key, quote(key, safe=""), json.dumps(key)[1:-1]} if key else ():
        text = text.replace(form, "[key]")
    return " ".join(SECRETS.sub("[key]", text).split())
