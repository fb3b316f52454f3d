"""The model examiner: a language model behind an OpenAI-compatible endpoint plays the doctor."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from pydantic import JsonValue

from simulator.case import CAREGIVER_BELOW_AGE, ExaminerView
from simulator.chat import ChatClient, Completion, Message
from simulator.examiners.judging import Judged, Trouble, judge
from simulator.prompting import prompt_sha256, render, render_own
from simulator.protocols import ExaminerFailure, Line, Move, Situation
from simulator.trace import Player, ProtocolNote, Usage

MAX_DIAGNOSES = 5
MAX_LISTED = 10
PROMPTS = ("examiner_system", "examiner_answer", "examiner_turn", "examiner_final", "examiner_reask")

REASKS: Mapping[Trouble, int] = {"empty": 2, "self_answer": 2, "cut_off": 2, "refusal": 1, "unparseable": 2, "no_commit": 2}
"""How often one move is asked for again, by what was wrong; together never more than `MAX_REASKS`."""
MAX_REASKS = 4
SHOWN_BACK = 4000
"""Characters of a faulty message that the model is shown again."""
SHOWN: frozenset[Trouble] = frozenset({"unparseable", "no_commit"})
"""What the model must see to mend it; a refusal or a self-answer shown again would only be continued."""


def answer_schema() -> dict[str, Any]:
    """JSON schema of the final answer as a model writes it; every field required and none extra, as strict modes demand."""
    number = {"type": "number"}
    phrases = {"type": "array", "items": {"type": "string"}, "maxItems": MAX_LISTED}
    diagnosis = _strict_object({"name": {"type": "string"}, "icd10": {"type": ["string", "null"]}, "prob": number})
    return _strict_object(
        {
            "diagnoses": {"type": "array", "items": diagnosis, "maxItems": MAX_DIAGNOSES},
            "confidence": number,
            "triage_level": {"type": "integer", "enum": [1, 2, 3, 4, 5]},
            "tests": phrases,
            "treatments": phrases,
            "advice": phrases,
        }
    )


def _strict_object(properties: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


class ModelExaminer:
    """Plays the examiner with a chat model. Keeps no state of an encounter: one instance may play many at once."""

    def __init__(self, client: ChatClient, system_prompt: str | None = None, revision: str | None = None) -> None:
        """Make an examiner of a client.

        Args:
            client: the endpoint to talk to; shared, not closed here.
            system_prompt: a template in place of the bundled `examiner_system`, with the same variables.
            revision: of the model's weights, as the user knows it.
        """
        self._client = client
        self._system_prompt = system_prompt
        endpoint = client.endpoint
        sampling: dict[str, JsonValue] = {
            name: value
            for name, value in (
                ("temperature", endpoint.temperature),
                ("top_p", endpoint.top_p),
                ("max_tokens", endpoint.max_tokens),
                ("seed", endpoint.seed),
            )
            if value is not None
        }
        self._player = Player(
            kind="model",
            id=endpoint.name,
            model=endpoint.model,
            revision=revision,
            endpoint=endpoint.host,
            prompt_sha256=prompt_sha256(*PROMPTS, own=None if system_prompt is None else {PROMPTS[0]: system_prompt}),
            sampling=sampling,
        )

    @property
    def player(self) -> Player:
        """How the trace names this examiner."""
        return self._player

    async def move(self, situation: Situation) -> Move:
        """The model's next message, asked for again within bounds when it is none.

        Raises:
            ExaminerFailure: with one of `empty`, `cut_off`, `refusal`, `unparseable`, `context_overflow`, `content_filter`.
            InfrastructureFailure: the endpoint failed.
            BedsideError: the case may not be sent to this endpoint.
        """
        base = conversation(situation, self._system_prompt)
        extra: list[Message] = []
        asked: Counter[Trouble] = Counter()
        notes: list[ProtocolNote] = []
        usage = Usage()
        while True:
            completion = await self._client.complete(
                [*base, *extra],
                redistributable=situation.view.redistributable,
                json_schema=answer_schema() if situation.must_commit else None,
                seed=situation.seed,
            )
            usage = _added(usage, completion.usage)
            found = judge(completion.text, cut_off=completion.cut_off, refused=completion.refused, must_commit=situation.must_commit)
            trouble = found.trouble
            if trouble is None:
                return Move(found.text, usage, (*notes, *found.notes, *_remarks(completion, situation)))
            if asked[trouble] >= REASKS[trouble] or asked.total() >= MAX_REASKS:
                return _given_up(found, usage, notes)
            asked[trouble] += 1
            notes.append(ProtocolNote(code="reask", detail=trouble))
            extra = _asked_again(found, completion, situation)


def conversation(situation: Situation, system_prompt: str | None = None) -> list[Message]:
    """The encounter as the examiner's model sees it; by a user's own system prompt if there is one.

    The patient's opening words are the first message; the record's results carry `[record]`. The number of turns left stands after the last
    message and not in the system prompt, so that all before it stays the same from turn to turn (prefix caching).

    Raises:
        ValueError: a line of an unknown speaker.
        BedsideError: the user's own prompt cannot be filled in.
    """
    system = system_message(situation.view, system_prompt)
    lines = list(situation.lines)
    if not lines or lines[0].role != "patient":
        lines.insert(0, Line("patient", situation.view.opening_text))
    if situation.must_commit:
        cue = render("examiner_final", max_diagnoses=MAX_DIAGNOSES)
    else:
        cue = render("examiner_turn", turns_left=situation.turns_left)
    return [Message("system", system), *(_message(line) for line in lines), Message("user", cue)]


def system_message(view: ExaminerView, system_prompt: str | None = None) -> str:
    """The system prompt of an encounter.

    Raises:
        BedsideError: the user's own prompt cannot be filled in.
    """
    values = {
        "age": view.age,
        "sex": view.sex,
        "setting": view.setting,
        "language": view.language,
        "caregiver": view.age < CAREGIVER_BELOW_AGE,
        "max_diagnoses": MAX_DIAGNOSES,
    }
    if system_prompt is None:
        return render("examiner_system", **values)
    return render_own(system_prompt, "system_prompt", **values)


def _message(line: Line) -> Message:
    if line.role == "examiner":
        return Message("assistant", line.text)
    if line.role == "patient":
        return Message("user", line.text)
    if line.role == "record":
        return Message("user", f"[record] {line.text}")
    raise ValueError(f"unknown speaker {line.role!r}")


def _asked_again(found: Judged, completion: Completion, situation: Situation) -> list[Message]:
    cue = render("examiner_reask", kind=found.trouble, detail=found.detail, must_commit=situation.must_commit)
    shown = found.text if found.trouble in SHOWN else ""
    if found.trouble == "unparseable" and not shown:
        shown = completion.text.strip()
    back = [Message("assistant", shown[:SHOWN_BACK])] if shown else []
    return [*back, Message("user", cue)]


def _given_up(found: Judged, usage: Usage, notes: list[ProtocolNote]) -> Move:
    if found.trouble == "no_commit":
        note = ProtocolNote(code="no_commit", detail="a final answer was demanded and none came")
        return Move(found.text, usage, (*notes, *found.notes, note))
    raise ExaminerFailure("empty" if found.trouble == "self_answer" else found.trouble)


def _remarks(completion: Completion, situation: Situation) -> tuple[ProtocolNote, ...]:
    # Once an encounter is enough, and once more with the answer, whose form is asked for only then.
    cached = (ProtocolNote(code="answer_from_cache"),) if completion.from_cache else ()
    first = not any(line.role == "examiner" for line in situation.lines)
    if completion.dropped and (first or situation.must_commit):
        return (*cached, ProtocolNote(code="dropped_parameters", detail=", ".join(completion.dropped)))
    return cached


def _added(one: Usage, other: Usage) -> Usage:
    return Usage(
        prompt_tokens=_sum(one.prompt_tokens, other.prompt_tokens),
        completion_tokens=_sum(one.completion_tokens, other.completion_tokens),
        requests=one.requests + other.requests,
    )


def _sum(one: int | None, other: int | None) -> int | None:
    return other if one is None else one if other is None else one + other
