"""Traces scored in several processes: the same cards in the same order as in one, without what only a reader of one card needs."""

from __future__ import annotations

import gc
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import chain, islice
from pathlib import Path

from metrics.params import ScoreParams
from metrics.scores import Scorecard, Value
from ontology.errors import BedsideError
from ontology.processes import AHEAD, cores, crew
from simulator.traces_io import TraceRecord, parsed
from ui.scored import LeanCards, PackedCard, Scored, ScoredRun

CHUNK = 25
"""Traces that one process gets at once."""
WORTH_IT = 200
"""Fewer traces are scored sooner here than another process can load the vocabulary."""
MOST_PROCESSES = 8
"""Unless more are asked for: each needs 150 MB and more."""


@dataclass(frozen=True)
class Wanted:
    """What is wanted of every card beside its values."""

    whole: bool = False
    columns: bool = False


@dataclass(frozen=True)
class Card:
    """A lean card, and what was wanted beside it: the line of the whole one, the columns of a table."""

    card: Scorecard
    profile_set: str
    line: bytes | None
    columns: dict[str, Value] | None


@dataclass(frozen=True)
class _Setup:
    """All that decides what a process makes of a trace."""

    source: Path
    cases: str | None
    profiles: str
    params: ScoreParams
    wanted: Wanted


@dataclass(frozen=True)
class _Packed:
    card: PackedCard
    profile_set: str
    line: bytes | None
    columns: dict[str, Value] | None


@dataclass(frozen=True)
class _Fault:
    what: str
    where: str | None
    mend: str | None
    no_trace: bool

    def error(self) -> BedsideError:
        return BedsideError(self.what, self.where, self.mend)


def score_many(run: ScoredRun, wanted: Wanted, processes: int | None = None) -> Iterator[Card]:
    """The cards of a run, in order; its faults and warnings are kept in the run as in iterating over it.

    Args:
        run: the run.
        wanted: what is wanted beside the values.
        processes: how many; None: one for every core, but one for a short run.

    Raises:
        BedsideError: as in iterating over the run; a process died.
    """
    keeper = LeanCards()
    count = min(cores(), MOST_PROCESSES) if processes is None else processes

    def results(found: Iterator[TraceRecord]) -> Iterator[tuple[TraceRecord, Callable[[], Card | BedsideError]]]:
        first = list(islice(found, WORTH_IT if processes is None else 1))
        every = chain(first, found)
        if count == 1 or processes is None and len(first) < WORTH_IT:
            return ((record, partial(_here, run, record, wanted, keeper)) for record in every)
        return _spread(every, _Setup(run.source, run.cases, run.profiles, run.params, wanted), count, keeper)

    return run.counted(run.reader.through(results))


def _here(run: ScoredRun, record: TraceRecord, wanted: Wanted, keeper: LeanCards) -> Card | BedsideError:
    trace = parsed(record)
    try:
        scored = run.scored(trace)
    except BedsideError as error:
        return error
    return Card(keeper.lean(scored.card), *_beside(scored, wanted))


def _beside(scored: Scored, wanted: Wanted) -> tuple[str, bytes | None, dict[str, Value] | None]:
    from ui.tables import case_columns

    line = scored.card.to_json().encode("utf-8") + b"\n" if wanted.whole else None
    return scored.knowledge.profiles.header.profile_set, line, case_columns(scored) if wanted.columns else None


# -- several processes ------------------------------------------------------------------------------------------------


def _spread(
    records: Iterable[TraceRecord], setup: _Setup, processes: int, keeper: LeanCards
) -> Iterator[tuple[TraceRecord, Callable[[], Card | BedsideError]]]:
    stream = iter(records)
    under_way: deque[tuple[list[TraceRecord], Future[list[_Packed | _Fault]]]] = deque()
    with crew(processes, "scores", "use fewer: --processes") as workers:
        while True:
            while len(under_way) < AHEAD * processes and (chunk := list(islice(stream, CHUNK))):
                under_way.append((chunk, workers.submit(_score_chunk, setup, chunk)))
            if not under_way:
                return
            done, answer = under_way.popleft()
            for record, packed in zip(done, answer.result(), strict=True):
                # Unpacked whether it is wanted or not: later cards refer to the scores that came with it.
                card = _unpacked(packed, keeper)
                yield record, partial(_result, card)


def _unpacked(packed: _Packed | _Fault, keeper: LeanCards) -> Card | _Fault:
    if isinstance(packed, _Fault):
        return packed
    return Card(keeper.unpack(packed.card), packed.profile_set, packed.line, packed.columns)


def _result(card: Card | _Fault) -> Card | BedsideError:
    if not isinstance(card, _Fault):
        return card
    if card.no_trace:
        raise card.error()
    return card.error()


@lru_cache(maxsize=1)
def _worker_run(setup: _Setup) -> tuple[ScoredRun, LeanCards]:
    return ScoredRun(setup.source, setup.cases, setup.profiles, setup.params), LeanCards()


@lru_cache(maxsize=1)
def _settle() -> None:
    """Once all is loaded: the collector need not go through the vocabulary again and again."""
    gc.collect()
    gc.freeze()


def _score_chunk(setup: _Setup, chunk: list[TraceRecord]) -> list[_Packed | _Fault]:
    run, keeper = _worker_run(setup)
    made = [_packed(run, record, setup.wanted, keeper) for record in chunk]
    _settle()
    return made


def _packed(run: ScoredRun, record: TraceRecord, wanted: Wanted, keeper: LeanCards) -> _Packed | _Fault:
    if record.torn:
        return _Fault("cut short", record.where, None, True)
    try:
        trace = parsed(record)
    except BedsideError as error:
        return _Fault(error.what, error.where, error.mend, True)
    try:
        scored = run.scored(trace)
    except BedsideError as error:
        return _Fault(error.what, error.where, error.mend, False)
    return _Packed(keeper.pack(scored.card), *_beside(scored, wanted))
