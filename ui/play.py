"""`bedside play` and `bedside replay`: a person as examiner in the terminal, and recorded dialogues."""

from __future__ import annotations

import asyncio
import signal
import sys
from pathlib import Path
from random import Random
from types import FrameType

from ontology.errors import BedsideError
from simulator.build import default_ward, make_bed
from simulator.case import PatientVector
from simulator.encounter import SELF_ANSWER
from simulator.examiners.live import LiveExaminer
from simulator.final_answer import parse_message, probability, render
from simulator.protocols import Abandoned, Move, Situation
from simulator.trace import Budget, DialogueTrace, FinalAnswer, RankedDiagnosis, Turn
from simulator.traces_io import Appender, read_traces, sealed_line
from ui.cases import neutral_title, pick_case
from ui.console import note, say
from ui.wiring import Bookshelf, load_cases

HELP = "Ask in your own words. /commit gives your diagnosis, /quit leaves."
MARKS = {"asked": "◇", "affirmed": "●", "denied": "○", "unsure": "◐", "volunteered": "▲", "stated": "■"}


def play_case(spec: str, wanted: str | None, seed: int, max_turns: int, save: Path | None, name: str) -> int:
    """Play a case in the terminal. Returns the exit code."""
    cases = load_cases(spec)
    case = pick_case(cases, wanted) if wanted else Random(seed).choice(cases)
    shelf = Bookshelf()
    kept = _opened(save) if save is not None else None
    say("Simulated patient. Research and education only; not medical advice.")
    say(f"{neutral_title(case)}" + (f" · {case.setting}" if case.setting else ""))
    say(HELP)
    bed = make_bed(case, LiveExaminer(name, _ask), default_ward(), shelf.profiles(case), Budget(max_turns=max_turns), seed)
    # asyncio's own handler would only cancel, and that waits for the next line to be typed.
    before = signal.signal(signal.SIGINT, _interrupt)
    try:
        trace = asyncio.run(bed.run(_Printer()))
    finally:
        signal.signal(signal.SIGINT, before)
    if kept is not None:
        kept.append(sealed_line(trace))
        kept.close()
        note(f"trace appended to {save}")
    if trace.outcome is None:
        say("left without a diagnosis; not scored")
        return 0
    _debrief(trace, case, shelf)
    return 0


def _opened(save: Path) -> Appender:
    """The file for the trace, before a word is said: an encounter must not be lost to a wrong path."""
    try:
        return Appender(save)
    except OSError as error:
        raise BedsideError(f"cannot be written ({error.strerror})", str(save), "name a file in a folder that exists") from None


def _interrupt(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt


class _Printer:
    def on_turn(self, turn: Turn) -> None:
        if turn.role != "examiner":
            say(f"{turn.role}: {turn.text}")


async def _ask(situation: Situation) -> Move:
    if situation.must_commit:
        say("The time for questions is over: your diagnosis, please.")
        return Move(render(await _commit()))
    while True:
        text = await _line(f"you ({situation.turns_left} turns left)> ")
        if text == "/quit":
            raise Abandoned("left the encounter")
        if text == "/commit":
            return Move(render(await _commit()))
        if text.startswith("/"):
            say(HELP)
        elif text and not _own_words(text):
            say("Write it as your own question or order.")
        elif text:
            return Move(text)


def _own_words(text: str) -> bool:
    """Whether anything is left where the encounter cuts what is put into the other side's mouth; nothing left would end it."""
    parsed = parse_message(text)
    return parsed.answer is not None or bool(SELF_ANSWER.split(parsed.said)[0].strip())


async def _line(prompt: str, optional: bool = False) -> str:
    try:
        return input(prompt).strip()  # nothing else runs meanwhile
    except EOFError:
        if optional:
            return ""
        raise Abandoned("input ended") from None


async def _commit() -> FinalAnswer:
    ranked: list[RankedDiagnosis] = []
    say("Diagnoses, most likely first: a name or an ICD-10 code, with a probability if you like (Migraine, 30%).")
    say("An empty line ends the list.")
    while True:
        text = await _line(f"diagnosis {len(ranked) + 1}> ", optional=bool(ranked))
        if not text:
            if ranked:
                break
            say("At least one, please.")
            continue
        name, _, share = text.rpartition(",")
        prob = probability(share) if name else None
        ranked.append(RankedDiagnosis(name=name.strip() if prob is not None else text, prob=prob))
    level = await _line("how urgent, 1 immediate … 5 non-urgent (empty: none)> ", optional=True)
    treatments = await _line("what would you treat with (several with ;)> ", optional=True)
    advice = await _line("your advice (several with ;)> ", optional=True)
    return FinalAnswer(
        ranked=ranked,
        confidence=ranked[0].prob,
        triage_level=int(level) if level in {"1", "2", "3", "4", "5"} else None,
        treatments=_several(treatments),
        advice=_several(advice),
    )


def _several(text: str) -> list[str]:
    return [part.strip() for part in text.split(";") if part.strip()]


def _debrief(trace: DialogueTrace, case: PatientVector, shelf: Bookshelf) -> None:
    from metrics.scorecard import score_trace
    from ui.scoring import in_words

    card = score_trace(trace, case, shelf.knowledge(case))
    truth = case.ground_truth.primary
    say()
    say(f"The diagnosis: {truth.name} ({', '.join(truth.icd10)})")
    for line in in_words(card):
        say(f"  {line}")


def find_trace(traces: Path, wanted: str | None, tolerant: bool = False) -> DialogueTrace:
    """A trace by number, id or the beginning of an id; `tolerant` passes over lines that are no trace.

    Raises:
        BedsideError: there is none, or several begin so.
    """
    reader = read_traces(traces, tolerant)
    found: list[DialogueTrace] = []
    for number, trace in enumerate(reader, start=1):
        if wanted is None or wanted == str(number) or trace.trace_id == wanted:
            return trace
        if trace.trace_id.removeprefix("trace-").startswith(wanted.removeprefix("trace-")):
            found.append(trace)
    if len(found) != 1:
        what = "no trace" if not found else f"{len(found)} traces"
        if not found and reader.faults:
            raise BedsideError(f"no readable trace for {wanted!r}; {len(reader.faults)} cannot be read, first", reader.faults[0].line())
        raise BedsideError(f"{what} for {wanted or 'the first'!r}", str(traces), "give a number or more of the id")
    return found[0]


def replay_trace(traces: Path, wanted: str | None, concepts: bool) -> int:
    """Print a trace. Returns the exit code."""
    from ontology.vocabulary import default_vocabulary

    trace = find_trace(traces, wanted)
    vocabulary = default_vocabulary()
    say(f"{trace.trace_id}  case {trace.case_id}  examiner {trace.examiner.id}  seed {trace.seed}")
    for turn in trace.turns:
        say(f"{turn.idx:>3} {turn.role:<8} {turn.text}")
        if concepts:
            for mention in turn.mentions:
                detail = f" · {mention.attribute}" if mention.attribute else ""
                say(f"      {MARKS[mention.dialogue_role]} {vocabulary.name(mention.cui)}{detail} ({mention.dialogue_role}, {mention.cui})")
            for remark in turn.notes:
                say(f"      ! {remark.code}" + (f": {remark.detail}" if remark.detail else ""))
        if turn.truncated_answer:
            say("      ! more was asked at once than is answered")
    say(f"ended: {trace.termination}" + (f" ({trace.termination_detail})" if trace.termination_detail else ""))
    if trace.outcome is not None:
        for number, item in enumerate(trace.outcome.ranked, start=1):
            share = f" {item.prob:.0%}" if item.prob is not None else ""
            say(f"  {number}. {item.name}{f' ({item.icd10})' if item.icd10 else ''}{share}")
    sys.stdout.flush()
    return 0
