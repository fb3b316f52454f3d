"""The final answer as text: how it is written into a message and found in one.

Every examiner commits in words, reference examiners and people too, so that all pass the same door. The block is a JSON object with a
`diagnoses` list, usually fenced; models wrap it in prose, fence it twice or write two, and all of that is read here.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from ontology.documents import problems
from simulator.trace import FinalAnswer, RankedDiagnosis

MAX_RANKED = 10
RANKED_KEYS = ("diagnoses", "ranked", "differential", "final_diagnosis", "diagnosis")
THINKING = re.compile(r"<(think|thinking|thought|reasoning)>.*?</\1>", re.DOTALL | re.IGNORECASE)
OPEN_THINKING = re.compile(r"<(think|thinking|thought|reasoning)>.*\Z", re.DOTALL | re.IGNORECASE)
CLOSE_ONLY_THINKING = re.compile(r"\A.*(?:</(?:think|thinking|thought|reasoning)>|<unused95>)", re.DOTALL | re.IGNORECASE)
GEMMA_THINKING = re.compile(r"<unused94>.*?(<unused95>|\Z)", re.DOTALL)
LONE_SURROGATE = re.compile("[\ud800-\udfff]")
"""Half a character: models and JSON escapes make them, and no file and no endpoint takes them."""
FENCE = re.compile(r"```[a-zA-Z0-9_-]*[ \t]*\n?|```")
TRIAGE_WORDS = {
    "immediate": 1,
    "emergency": 1,
    "emergent": 2,
    "very urgent": 2,
    "urgent": 3,
    "less urgent": 4,
    "standard": 4,
    "non-urgent": 5,
    "routine": 5,
}


@dataclass(frozen=True)
class ParsedMessage:
    """A message taken apart: the words said, and the answer or why the answer could not be read."""

    said: str
    answer: FinalAnswer | None = None
    problem: str | None = None
    had_thinking: bool = False


def render(answer: FinalAnswer, said: str = "") -> str:
    """Write an answer as a message that `parse_message` reads back exactly."""
    raw = answer.model_dump(mode="json")
    raw["diagnoses"] = raw.pop("ranked")
    text = json.dumps(raw, ensure_ascii=False).replace("<", "\\u003c")  # a typed "<think>" must not hide the answer from its reader
    block = "```json\n" + text + "\n```"
    return f"{said}\n{block}" if said else block


def strip_thinking(text: str) -> tuple[str, bool]:
    """Remove reasoning that was never meant for the other side; says whether there was any.

    An unclosed tag hides all that follows; a closing tag without an opening one hides all before it (chat templates that open the tag
    themselves). `<unused94>…<unused95>` is MedGemma's form.
    """
    out = GEMMA_THINKING.sub("", text)
    out = THINKING.sub("", out)
    out = CLOSE_ONLY_THINKING.sub("", out)
    out = OPEN_THINKING.sub("", out)
    return out.strip(), out != text


def parse_message(text: str) -> ParsedMessage:
    """Take a message apart; never raises.

    Returns:
        the words without thinking and without the answer block; the first object that is a valid answer, or else what was wrong with
        the first object that tried to be one.
    """
    visible, thought = strip_thinking(_whole(text))
    problem: str | None = None
    for start, end, raw in _objects(visible):
        answer, why = _to_answer(raw)
        said = FENCE.sub("", visible[:start]).strip()
        after = FENCE.sub("", visible[end:]).strip()
        if answer is not None:
            return ParsedMessage("\n".join(part for part in (said, after) if part), answer, None, thought)
        problem = problem or why
    return ParsedMessage(visible, None, problem, thought)


def _objects(text: str) -> Iterator[tuple[int, int, dict[str, Any]]]:
    """Objects that try to be an answer, each with the span of the outermost object it lies in."""
    decoder = json.JSONDecoder()
    position = text.find("{")
    while position != -1:
        try:
            raw, end = decoder.raw_decode(text, position)
        except (ValueError, RecursionError):
            position = text.find("{", position + 1)
            continue
        for inner in _trying(raw):
            yield position, end, inner
        position = text.find("{", end)


def _trying(raw: Any) -> Iterator[dict[str, Any]]:
    """The object itself, or those inside it: models wrap their answer, `{"final_answer": {"diagnoses": …}}`."""
    waiting = [raw]
    while waiting:
        here = waiting.pop(0)
        if isinstance(here, dict) and any(key in here for key in RANKED_KEYS):
            yield here
        elif isinstance(here, dict | list):
            waiting += here.values() if isinstance(here, dict) else here


def _to_answer(raw: dict[str, Any]) -> tuple[FinalAnswer | None, str | None]:
    items = next(raw[key] for key in RANKED_KEYS if key in raw)
    if isinstance(items, str | dict):
        items = [items]
    if not isinstance(items, list):
        return None, "the diagnoses are not a list"
    try:
        ranked = [_to_ranked(item) for item in items[:MAX_RANKED]]
        return (
            FinalAnswer(
                ranked=[item for item in ranked if item is not None],
                confidence=probability(raw.get("confidence")),
                triage_level=_triage(raw.get("triage_level", raw.get("triage"))),
                tests=_strings(raw.get("tests")),
                treatments=_strings(raw.get("treatments", raw.get("treatment"))),
                advice=_strings(raw.get("advice")),
                change_mind=_text(raw.get("change_mind")),
            ),
            None,
        )
    except ValidationError as error:
        return None, problems(error)
    except ValueError as error:
        return None, str(error)


def _to_ranked(item: Any) -> RankedDiagnosis | None:
    if isinstance(item, str):
        return RankedDiagnosis(name=_whole(item.strip())) if item.strip() else None
    if not isinstance(item, dict):
        raise ValueError("a diagnosis is neither a name nor an object")
    name = _text(item.get("name") or item.get("diagnosis") or item.get("disease"))
    code = _text(item.get("icd10") or item.get("icd10_code") or item.get("icd_10") or item.get("code"))
    if name is None and code is None:
        raise ValueError("a diagnosis without a name")
    return RankedDiagnosis(name=name or code or "", icd10=code, prob=probability(item.get("prob", item.get("probability"))))


def probability(value: Any) -> float | None:
    """A probability from .85, "0.85", 85 or "85%"; missing or unreadable is None, never .5 (metrics.md 7.4)."""
    if isinstance(value, bool) or value is None:
        return None
    percent = False
    if isinstance(value, str):
        text = value.strip()
        percent = text.endswith("%")
        try:
            value = float(text.rstrip("%").strip())
        except ValueError:
            return None
    number = _number(value)
    if number is None:
        return None
    if percent or 1 < number <= 100:
        number /= 100
    return number if 0 <= number <= 1 else None


def _triage(value: Any) -> int | None:
    if isinstance(value, bool) or value is None:
        return None
    number = _number(value)
    if number is not None:
        return int(number) if number in (1, 2, 3, 4, 5) else None
    if isinstance(value, str):
        text = value.strip().lower()
        if text in TRIAGE_WORDS:
            return TRIAGE_WORDS[text]
        digits = re.search(r"\b([1-5])\b", text)
        return int(digits.group(1)) if digits else None
    return None


def _number(value: Any) -> float | None:
    """A finite number as it is; an integer of hundreds of digits is none."""
    if not isinstance(value, int | float):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None


def _strings(value: Any) -> list[str]:
    if value is None:
        return []
    if isinstance(value, str):
        return [_whole(value)] if value.strip() else []
    if isinstance(value, list):
        return [_whole(item if isinstance(item, str) else json.dumps(item, ensure_ascii=False)) for item in value if item]
    return [_whole(json.dumps(value, ensure_ascii=False))]


def _text(value: Any) -> str | None:
    return _whole(value.strip()) if isinstance(value, str) and value.strip() else None


def _whole(text: str) -> str:
    return LONE_SURROGATE.sub("\ufffd", text)
