"""How the scores of one dialogue came about, turn by turn: what each question was worth, and what the history was worth up to there.

The same functions that make the scores are applied to the questions so far; the last line is the score.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace

from pydantic import JsonValue

from metrics.basis import Basis, basis
from metrics.crediting import asked_pairs, cover
from metrics.events import Finding, QuestionEvent, read_interview
from metrics.knowledge import Knowledge
from metrics.order import gains
from metrics.params import ScoreParams
from metrics.scores import Scorecard, Stamp
from metrics.shares import f_beta
from ontology.mentions import Answer
from simulator.case import PatientVector
from simulator.trace import DialogueTrace


@dataclass(frozen=True)
class QuestionStep:
    """One question: what it was worth for the true disease.

    Attributes:
        name: the concept, in words.
        attribute: the detail that was asked for; None: presence.
        answer: as given.
        standing: counted, repeat, or why it is left out.
        credit: m(q) of metrics.md 4.2, in 0..1; None where the question is not counted or the disease has no profile.
        serves: the feature it earned its credit for.
        weight: that feature's weight.
        recall: what it added to recall, over all features it covers.
        gain: what it added to nDCG's numerator before the discount (4.4).
    """

    name: str
    attribute: str | None
    answer: Answer
    standing: str
    credit: float | None = None
    serves: str | None = None
    weight: float | None = None
    recall: float | None = None
    gain: float | None = None


@dataclass(frozen=True)
class RunningScore:
    """Precision, recall, SES and core coverage over the turns so far."""

    asked: int
    precision: float
    recall: float
    ses: float


@dataclass(frozen=True)
class TurnStep:
    """A turn: its questions, what became known in it, the scores so far, and the rows that scores keep about it."""

    idx: int
    role: str
    text: str
    questions: tuple[QuestionStep, ...]
    learnt: tuple[tuple[str, str, str], ...]
    """(name, present | absent | unsure, source)"""
    running: RunningScore | None
    commits: bool
    details: tuple[tuple[str, dict[str, JsonValue]], ...]
    """(score, row): rows of a score's components that name this turn, e.g. the belief after a question"""


@dataclass(frozen=True)
class Derivation:
    """A dialogue's scores with the way to them."""

    trace_id: str
    card: Scorecard
    total_weight: float
    """sum of the weights of the relevance set; 0 where there is none"""
    missing: str | None
    """why there is no relevance set"""
    turns: tuple[TurnStep, ...]


def derive(
    trace: DialogueTrace, case: PatientVector, knowledge: Knowledge, card: Scorecard, params: ScoreParams | None = None
) -> Derivation:
    """Derive a card's scores again, turn by turn.

    Args:
        trace: the trace that was scored.
        case: its case.
        knowledge: what it was scored by.
        card: its scores.
        params: the parameters it was scored with; None: the defaults.
    """
    interview = read_interview(trace, case, knowledge.vocabulary)
    here = basis(interview, case, knowledge, Stamp(params or ScoreParams(), knowledge.version))
    steps, learnt = _questions(here), _learnt(here)
    running = _running(here)
    details = _rows_by_turn(card)
    turns = tuple(
        TurnStep(
            idx=turn.idx,
            role=turn.role,
            text=turn.text,
            questions=tuple(steps.get(turn.idx, ())),
            learnt=tuple(learnt.get(turn.idx, ())),
            running=running.get(turn.idx),
            commits=turn.idx == interview.commit_turn,
            details=tuple(details.get(turn.idx, ())),
        )
        for turn in trace.turns
    )
    weight = sum(item.weight for item in here.relevant)
    return Derivation(trace.trace_id, card, weight, None if here.relevant else here.missing, turns)


def _questions(here: Basis) -> dict[int, list[QuestionStep]]:
    interview = here.interview
    found: dict[int, list[tuple[int, QuestionStep]]] = defaultdict(list)
    worth, before = _gains_by_event(here), 0.0
    for number, event in enumerate(interview.events, start=1):
        step = _step(here, event, "counted")
        if here.relevant:
            recall = cover(asked_pairs(interview.events[:number]), here.relevant, here.crediting).recall()
            step = replace(_credited(here, event, step), recall=recall - before, gain=worth.get(event.mention_id))
            before = recall
        found[event.turn_idx].append((event.start, step))
    for event in interview.repeats:
        found[event.turn_idx].append((event.start, _step(here, event, "repeat")))
    for event, reason in interview.excluded:
        found[event.turn_idx].append((event.start, _step(here, event, reason)))
    return {turn: [step for _, step in sorted(items, key=lambda item: item[0])] for turn, items in found.items()}


def _step(here: Basis, event: QuestionEvent, standing: str) -> QuestionStep:
    return QuestionStep(here.concepts.name(event.concept), event.attribute, event.answer, standing)


def _credited(here: Basis, event: QuestionEvent, step: QuestionStep) -> QuestionStep:
    credit, feature = cover(asked_pairs([event]), here.relevant, here.crediting).matched[event.concept]
    if feature is None:
        return replace(step, credit=credit)
    return replace(step, credit=credit, serves=feature.name, weight=feature.weight)


def _gains_by_event(here: Basis) -> dict[str, float]:
    """The gain of each question by the id of its mention; details of answered concepts have none, as in `gains`."""
    if not here.relevant:
        return {}
    done: set[str] = set()
    counted = []
    for event in here.interview.events:
        if event.concept in done:
            continue
        if event.answer != "unanswered":
            done.add(event.concept)
        counted.append(event.mention_id)
    return dict(zip(counted, gains(here.interview.events, here.relevant, here.crediting), strict=True))


def _running(here: Basis) -> dict[int, RunningScore]:
    """The scores after each turn with counted questions."""
    if not here.relevant:
        return {}
    params, events = here.stamp.params, here.interview.events
    found = {}
    for turn in dict.fromkeys(event.turn_idx for event in events):
        coverage = cover(asked_pairs(event for event in events if event.turn_idx <= turn), here.relevant, here.crediting)
        precision, recall = coverage.precision(params.precision == "answered"), coverage.recall()
        found[turn] = RunningScore(len(coverage.matched), precision, recall, f_beta(precision, recall, params.beta))
    return found


def _learnt(here: Basis) -> dict[int, list[tuple[str, str, str]]]:
    found: dict[int, dict[tuple[str, str, str], None]] = defaultdict(dict)
    for finding in here.interview.findings:
        if finding.source != "answered":
            found[finding.turn_idx][_told(here, finding)] = None
    return {turn: list(items) for turn, items in found.items()}


def _told(here: Basis, finding: Finding) -> tuple[str, str, str]:
    return here.concepts.name(finding.concept), finding.status, finding.source.replace("_", " ")


def _rows_by_turn(card: Scorecard) -> dict[int, list[tuple[str, dict[str, JsonValue]]]]:
    """Rows in the components of any score that name a turn, whatever the score; equal lists of several scores count once."""
    found: dict[int, list[tuple[str, dict[str, JsonValue]]]] = defaultdict(list)
    seen: list[JsonValue] = []
    for name, score in card.scores.items():
        for part in score.components.values():
            if not isinstance(part, list) or part in seen:
                continue
            listed = [row for row in part if isinstance(row, dict) and isinstance(row.get("turn"), int)]
            if listed:
                seen.append(part)
            for row in listed:
                found[int(str(row["turn"]))].append((name, row))
    return found
