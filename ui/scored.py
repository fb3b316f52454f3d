"""The traces of a run, scored one after the other; a wrong one is named, counted, and does not stop the others."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from metrics.knowledge import Knowledge
from metrics.params import ScoreParams, load_params
from metrics.scorecard import score_trace
from metrics.scores import Score, Scorecard
from ontology.errors import BedsideError
from simulator.case import PatientVector
from simulator.trace import DialogueTrace
from simulator.traces_io import TraceReader, read_traces
from ui.console import note
from ui.wiring import Bookshelf, bundled_cases, load_cases

T = TypeVar("T")

FAULTS_SHOWN = 10

FAULT_KINDS: tuple[tuple[str, str], ...] = (
    ("the seal of trace", "seal broken"),
    ("was changed after it was sealed", "seal broken"),
    ("was never sealed", "not sealed"),
    ("links to unknown", "dangling link"),
    ("names a mention of another turn", "dangling link"),
    ("does not match its span", "span mismatch"),
    ("schema_version", "other schema version"),
    ("is not the version the trace was played on", "case changed since"),
    ("of a trace is not in", "unknown case"),
    ("the vocabulary does not know", "unknown concept"),
    ("were counted on", "profiles counted on the case"),
    ("has no readable ICD-10 code", "case without a readable code"),
)
"""Words of a message, and what the fault is called when faults are counted."""
OTHER_FAULT = "not a trace"


@dataclass(frozen=True)
class Scored:
    """A trace with its case, the knowledge it was scored by, and its scores."""

    trace: DialogueTrace
    case: PatientVector
    knowledge: Knowledge
    card: Scorecard


@dataclass
class ScoredRun:
    """The traces of a file or run folder, scored as they are read; can be iterated again.

    Attributes:
        source: run folder or traces.jsonl.
        cases: where the cases are; None: the bundled ones.
        profiles: the choice of profile sets.
        params: parameters of the scores.
        faults: traces that could not be scored, of the last iteration.
        warnings: what the reader left out, of the last iteration.
        n: traces scored, of the last iteration.
    """

    source: Path
    cases: str | None = None
    profiles: str = "auto"
    params: ScoreParams = field(default_factory=ScoreParams)
    faults: list[BedsideError] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    n: int = 0

    def __post_init__(self) -> None:
        self._cases = {case.case_id: case for case in (load_cases(self.cases) if self.cases else bundled_cases())}
        self._shelf = Bookshelf(self.profiles)
        self._reader = read_traces(self.source, tolerant=True)

    def __iter__(self) -> Iterator[Scored]:
        """Score trace by trace.

        Raises:
            BedsideError: the file cannot be read, holds no trace, or none of its traces can be scored.
        """
        return self.counted(self._attempt(trace) for trace in self._reader)

    def counted(self, results: Iterable[T | BedsideError]) -> Iterator[T]:
        """What was made of the traces, in the order of the reader, without the faults, which are kept.

        Args:
            results: from `reader`, as they come.

        Raises:
            BedsideError: the file cannot be read, holds no trace, or none of its traces can be scored.
        """
        self.faults, self.n = [], 0
        for result in results:
            if isinstance(result, BedsideError):
                self.faults.append(BedsideError(result.line(), self._reader.where))
            else:
                self.n += 1
                yield result
        self.faults = sorted([*self.faults, *self._reader.faults], key=_line_number)
        self.warnings = self._reader.warnings
        if self.n == 0:
            raise self._nothing()

    @property
    def reader(self) -> TraceReader:
        """The file of traces."""
        return self._reader

    def knowledge(self, case: PatientVector) -> Knowledge:
        """What scores of a case rest on."""
        return self._shelf.knowledge(case)

    def case_of(self, trace: DialogueTrace) -> PatientVector:
        """The case a trace was played on.

        Raises:
            BedsideError: it is not among the cases.
        """
        if trace.case_id not in self._cases:
            what = f"the case {trace.case_id} of a trace is not in {self.cases or 'the bundled cases'}"
            raise BedsideError(what, "--cases", "give the cases of that run")
        return self._cases[trace.case_id]

    def score(self, trace: DialogueTrace, params: ScoreParams) -> Scorecard:
        """Score a trace of this run with other parameters."""
        case = self.case_of(trace)
        return score_trace(trace, case, self.knowledge(case), params)

    def _attempt(self, trace: DialogueTrace) -> Scored | BedsideError:
        try:
            return self.scored(trace)
        except BedsideError as error:
            return error

    def scored(self, trace: DialogueTrace) -> Scored:
        """Score a trace of this run.

        Raises:
            BedsideError: it is wrong.
        """
        case = self.case_of(trace)
        knowledge = self.knowledge(case)
        card = score_trace(trace, case, knowledge, self.params)
        refuse_unknown_concepts(trace, knowledge)
        return Scored(trace, case, knowledge, card)

    def _nothing(self) -> BedsideError:
        if not self.faults:
            return BedsideError("holds no trace", str(self.source))
        first, more = self.faults[0], len(self.faults) - 1
        return BedsideError(first.what, first.where, "; ".join(filter(None, [first.mend, f"and {more} more traces" if more else None])))

    # -- what was wrong ---------------------------------------------------------------------------------------------

    def fault_counts(self) -> dict[str, int]:
        """How many traces had which fault."""
        return dict(sorted(Counter(fault_kind(fault) for fault in self.faults).items()))

    def tell_faults(self) -> None:
        """Name what was left out on standard error."""
        for line in self.warnings:
            note(line)
        for fault in self.faults[:FAULTS_SHOWN]:
            note(f"not scored: {fault.line()}")
        if len(self.faults) > FAULTS_SHOWN:
            note(f"not scored: {len(self.faults) - FAULTS_SHOWN} more")
        if self.faults:
            counted = ", ".join(f"{kind} {count}" for kind, count in self.fault_counts().items())
            note(f"{len(self.faults)} of {self.n + len(self.faults)} traces could not be scored ({counted})")


def _line_number(fault: BedsideError) -> int:
    """Of the line of the file that a fault lies in; 0 if it names none."""
    number = (fault.where or "").rpartition(":")[2]
    return int(number) if number.isdecimal() else 0


def open_run(source: Path, cases: str | None, profiles: str, params_file: Path | None) -> ScoredRun:
    """A run as the options of a command name it.

    Raises:
        BedsideError: a file that is missing or malformed.
    """
    params = load_params(params_file) if params_file else ScoreParams()
    return ScoredRun(source, cases, profiles, params)


def fault_kind(fault: BedsideError) -> str:
    """What a fault is called when faults are counted."""
    return next((kind for words, kind in FAULT_KINDS if words in fault.line()), OTHER_FAULT)


def refuse_unknown_concepts(trace: DialogueTrace, knowledge: Knowledge) -> None:
    """Refuse a trace that speaks of a concept the vocabulary has never heard of: no credit could be given for it.

    Raises:
        BedsideError: with the turn and the concept.
    """
    vocabulary = knowledge.vocabulary
    for turn in trace.turns:
        for mention in turn.mentions:
            if vocabulary.name(mention.cui) == mention.cui:
                what = f"turn {turn.idx} mentions {mention.cui} ({mention.surface!r}), which the vocabulary does not know"
                raise BedsideError(what, trace.trace_id, "score it with the vocabulary it was annotated with")


@dataclass(frozen=True)
class PackedCard:
    """A lean card on its way: its fields, its scores by number, and those that this process sends for the first time."""

    sender: int
    fields: dict[str, Any]
    names: tuple[str, ...]
    numbers: tuple[int, ...]
    new: tuple[Score, ...]


class LeanCards:
    """Scorecards without what explains them, so that many fit in memory: equal scores are one object."""

    def __init__(self) -> None:
        self._scores: dict[tuple[object, ...], Score] = {}
        self._numbers: dict[tuple[object, ...], int] = {}
        self._sent: dict[int, list[Score]] = {}

    def lean(self, card: Scorecard) -> Scorecard:
        """A card with the same values and reasons, and no components."""
        return card.model_copy(update={"scores": {name: self._shared(score) for name, score in card.scores.items()}})

    def pack(self, card: Scorecard) -> PackedCard:
        """A lean card as another process can take it: every distinct score is sent once."""
        fields = {name: getattr(card, name) for name in type(card).model_fields if name != "scores"}
        new: list[Score] = []
        numbers = []
        for score in card.scores.values():
            key = self._key(score)
            if key not in self._numbers:
                self._numbers[key] = len(self._numbers)
                new.append(self._shared(score))
            numbers.append(self._numbers[key])
        return PackedCard(os.getpid(), fields, tuple(card.scores), tuple(numbers), tuple(new))

    def unpack(self, packed: PackedCard) -> Scorecard:
        """The lean card; cards of one process come in the order in which they were packed."""
        known = self._sent.setdefault(packed.sender, [])
        known.extend(self._shared(score) for score in packed.new)
        scores = {name: known[number] for name, number in zip(packed.names, packed.numbers, strict=True)}
        return Scorecard.model_construct(**packed.fields, scores=scores)

    @staticmethod
    def _key(score: Score) -> tuple[object, ...]:
        return (type(score.value), score.value, score.null_reason, score.params_hash, score.kb_version, score.layer)

    def _shared(self, score: Score) -> Score:
        key = self._key(score)
        if key not in self._scores:
            self._scores[key] = score.model_copy(update={"components": {}})
        return self._scores[key]
