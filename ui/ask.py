"""`bedside ask`: questions to a case's patient, and what was understood of each."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from pydantic import JsonValue

from ontology.errors import BedsideError
from ontology.vocabulary import Vocabulary
from simulator.build import default_ward, make_bed
from simulator.examiners.scripted import ScriptedExaminer
from simulator.final_answer import parse_message
from simulator.trace import Budget, DialogueTrace, Turn
from simulator.utterances import Polarity
from ui.cases import pick_case
from ui.console import say, say_json
from ui.wiring import Bookshelf, load_cases

POLARITY: dict[str, Polarity] = {"affirmed": "affirm", "denied": "deny", "unsure": "unsure", "volunteered": "volunteer"}


def ask_case(spec: str, wanted: str, questions: Sequence[str], seed: int, as_json: bool) -> int:
    """Put questions to a patient one after the other, each a turn of one dialogue. Returns the exit code.

    Args:
        spec: where the case is, as for `bedside play`.
        wanted: its id or its number in the list.
        questions: what is asked; an answer may refer to the ones before.
        seed: chooses among the wordings.
        as_json: print an array with one object a turn.

    Raises:
        BedsideError: no such case, a blank question, or one that is a final answer.
    """
    case = pick_case(load_cases(spec), wanted)
    for number, question in enumerate(questions, start=1):
        if not question.strip():
            raise BedsideError("is blank", f"question {number}")
        if parse_message(question).answer is not None:
            raise BedsideError("is a final answer, not a question", f"question {number}", "bedside play takes final answers")
    ward = default_ward()
    budget = Budget(max_turns=len(questions))
    bed = make_bed(case, ScriptedExaminer(list(questions), "ask"), ward, Bookshelf().profiles(case), budget, seed)
    trace = asyncio.run(bed.run())
    rows = turns_of(trace, ward.vocabulary)
    if as_json:
        say_json(rows)
        return 0
    for turn in trace.turns:
        say(f"{turn.role}: {turn.text}")
    return 0


def turns_of(trace: DialogueTrace, vocabulary: Vocabulary) -> list[dict[str, JsonValue]]:
    """For each examiner turn: what was understood, what was not, and what was replied, by whom, on which facts."""
    rows: list[dict[str, JsonValue]] = []
    for turn in trace.turns:
        if turn.role == "examiner":
            rows.append({"question": turn.text, **_understood(turn, vocabulary), "replies": []})
        elif rows:
            replies = rows[-1]["replies"]
            assert isinstance(replies, list)
            replies.append(_reply(turn, vocabulary))
    return rows


def _understood(turn: Turn, vocabulary: Vocabulary) -> dict[str, JsonValue]:
    acts = [act for act in turn.acts if act.type in ("ask", "order_test")]
    asked: list[JsonValue] = [
        {"cui": m.cui, "name": vocabulary.name(m.cui), "attribute": m.attribute, "surface": m.surface, "experiencer": m.experiencer}
        for m in turn.mentions
        if m.dialogue_role == "asked"
    ]
    open_ended = any(act.open_ended for act in acts)
    lost = any(not act.mentions and not act.open_ended for act in acts)
    return {"asked": asked, "open_ended": open_ended, "not_understood": [turn.text] if lost else []}


def _reply(turn: Turn, vocabulary: Vocabulary) -> dict[str, JsonValue]:
    concepts: list[JsonValue] = [
        {
            "cui": m.cui,
            "name": vocabulary.name(m.cui),
            "attribute": m.attribute,
            "role": m.dialogue_role,
            "polarity": POLARITY.get(m.dialogue_role, m.polarity),
            "fact_id": m.fact_id,
        }
        for m in turn.mentions
    ]
    facts: list[JsonValue] = list(dict.fromkeys(m.fact_id for m in turn.mentions if m.fact_id))
    spoken = [m.utt_id for m in turn.mentions if m.utt_id] + [str(a.payload["utt_id"]) for a in turn.acts if a.payload.get("utt_id")]
    utterances: list[JsonValue] = list(dict.fromkeys(spoken))
    return {
        "speaker": turn.role,
        "text": turn.text,
        "facts": facts,
        "concepts": concepts,
        "utterance_ids": utterances,
        "more_asked_than_answered": turn.truncated_answer,
    }
