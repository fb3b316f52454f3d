"""Annotates many turns: in order, in several processes if wanted, each turn once.

    with AnnotationCache(AnnotationStore()) as cache:
        for annotation in annotate_many(turns, "bundled", workers=4, cache=cache):
            ...

Processes are spawned, not forked: a script that asks for several must keep its own work under `if __name__ == "__main__":`.
"""

from __future__ import annotations

import hashlib
import json
import os
import signal
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache as kept
from functools import lru_cache
from importlib import metadata
from itertools import chain, islice
from multiprocessing.connection import Connection
from pathlib import Path

from ontology.annotation import Annotation
from ontology.annotation_cache import AnnotationCache, packed, unpacked
from ontology.dialogue import DialogueTurn, TurnReader
from ontology.errors import BedsideError
from ontology.vocab.index import BUNDLED_NAMES, load_vocabulary
from ontology.vocabulary import VOCABULARY_VARIABLE, Vocabulary, bundled_vocabulary, default_vocabulary

ANNOTATOR_VERSION = "3"
"""Raised when the rules change what is found in any text; the vocabulary has a version of its own."""

CHUNK = 64
"""Turns that one process gets at once."""

AHEAD = 3
"""Chunks under way for each process: enough that none waits, few enough that memory stays bounded."""


@kept
def rules_version() -> str:
    """Changes with the code that reads turns, so that a cache made by other rules is never read, whatever `ANNOTATOR_VERSION` says."""
    folder = Path(__file__).parent
    sources = [hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(folder.glob("*.py"))]
    libraries = [metadata.version(name) for name in ("snowballstemmer", "pyspellchecker")]
    return hashlib.sha256(json.dumps([ANNOTATOR_VERSION, sources, libraries]).encode()).hexdigest()


def turn_key(turn: DialogueTurn, vocabulary_version: str) -> bytes:
    """Where the annotation of a turn is cached: it follows from the texts, the roles, the vocabulary and the rules."""
    previous = [[past.role, past.text] for past in turn.previous]
    parts = [rules_version(), vocabulary_version, turn.role, turn.for_child, turn.text, previous]
    return hashlib.sha256(json.dumps(parts).encode("ascii")).digest()


def annotate_many(
    turns: Iterable[DialogueTurn],
    vocabulary: Vocabulary | str | None = None,
    workers: int = 1,
    cache: AnnotationCache | None = None,
) -> Iterator[Annotation]:
    """The annotations of turns, one for each, in order, as they come: nothing is read far ahead.

    Args:
        turns: the turns.
        vocabulary: a vocabulary, or the name of a built one (`bundled` for ours); None: the one that `BEDSIDE_VOCAB` selects.
        workers: processes; each loads the vocabulary once. With 1 all is done here, and each turn is annotated as soon as it is given.
        cache: annotations that were made before, and where new ones are kept.

    Raises:
        BedsideError: the vocabulary cannot be used, several workers are wanted for a vocabulary without a name, a worker died, or a turn is
            no text.
    """
    if workers < 1:
        raise BedsideError(f"{workers} is no number of processes", "workers", "give 1 or more")
    words, name = _chosen(vocabulary)
    stream = iter(turns)
    if workers > 1:
        first = list(islice(stream, CHUNK))
        rest = list(islice(stream, 1)) if len(first) == CHUNK else []
        stream = chain(first, rest, stream)
        if rest:  # else it is not worth the start of a process
            if name is None:
                raise BedsideError(
                    "several processes need a vocabulary's name", "workers", "give the name of a built vocabulary, or 1 worker"
                )
            return _spread(stream, words, name, workers, cache)
    return _here(stream, TurnReader(words), cache)


def _chosen(vocabulary: Vocabulary | str | None) -> tuple[Vocabulary, str | None]:
    """The vocabulary, and the name by which another process gets the same."""
    if isinstance(vocabulary, str):
        return load_vocabulary(vocabulary), vocabulary
    if vocabulary is None:
        return default_vocabulary(), os.environ.get(VOCABULARY_VARIABLE) or BUNDLED_NAMES[1]
    return vocabulary, BUNDLED_NAMES[1] if vocabulary is bundled_vocabulary() else None


def _here(turns: Iterator[DialogueTurn], reader: TurnReader, cache: AnnotationCache | None) -> Iterator[Annotation]:
    for turn in turns:
        if cache is None:
            yield reader.read(turn)
            continue
        key = turn_key(turn, reader.vocabulary.version)
        annotation = _cached(cache.get([key]).get(key), turn)
        if annotation is None:
            annotation = reader.read(turn)
            cache.put({key: packed(annotation)})
        yield annotation


def _cached(data: bytes | None, turn: DialogueTurn) -> Annotation | None:
    try:
        return None if data is None else unpacked(data, turn.text)
    except ValueError:  # a damaged entry is made again
        return None


# -- several processes ------------------------------------------------------------------------------------------------


@dataclass
class _Chunk:
    """Turns under way: what the cache knew of them, and the rest, which a process reads."""

    turns: list[DialogueTurn]
    keys: list[bytes]
    known: list[Annotation | None]
    missing: dict[bytes, DialogueTurn]
    answer: Future[list[bytes]] | None = None


def _spread(
    turns: Iterator[DialogueTurn], words: Vocabulary, name: str, workers: int, cache: AnnotationCache | None
) -> Iterator[Annotation]:
    import multiprocessing

    spawn = multiprocessing.get_context("spawn")
    lifeline, own_end = spawn.Pipe(duplex=False)
    pool = ProcessPoolExecutor(workers, spawn, _begin_worker, (lifeline,))
    under_way: deque[_Chunk] = deque()
    try:
        while True:
            while len(under_way) < AHEAD * workers and (batch := list(islice(turns, CHUNK))):
                chunk = _prepare(batch, words.version, cache)
                if chunk.missing:
                    with _interrupts_held():
                        chunk.answer = pool.submit(_read_chunk, list(chunk.missing.values()), name, words.version)
                under_way.append(chunk)
            if not under_way:
                return
            yield from _finish(under_way.popleft(), cache)
    except BrokenProcessPool:
        raise BedsideError("a process that annotates died", "workers", "use fewer, each needs about 400 MB") from None
    finally:
        own_end.close()  # ends the processes at once, whatever they are at
        pool.shutdown(cancel_futures=True)
        lifeline.close()


def _prepare(turns: list[DialogueTurn], version: str, cache: AnnotationCache | None) -> _Chunk:
    keys = [turn_key(turn, version) for turn in turns]
    stored = cache.get(keys) if cache is not None else {}
    known = [_cached(stored.get(key), turn) for key, turn in zip(keys, turns, strict=True)]
    missing = {key: turn for key, turn, annotation in zip(keys, turns, known, strict=True) if annotation is None}
    return _Chunk(turns, keys, known, missing)


def _finish(chunk: _Chunk, cache: AnnotationCache | None) -> Iterator[Annotation]:
    """The annotations of a chunk; equal turns get one each, since they can be changed."""
    made = dict(zip(chunk.missing, chunk.answer.result() if chunk.answer is not None else [], strict=True))
    if cache is not None:
        cache.put(made)
    for key, turn, annotation in zip(chunk.keys, chunk.turns, chunk.known, strict=True):
        yield annotation if annotation is not None else unpacked(made[key], turn.text)


@lru_cache(maxsize=1)
def _reader(name: str, version: str) -> TurnReader:
    """A worker's reader. The parent has checked the files already."""
    reader = TurnReader(load_vocabulary(name, verify=False))
    if reader.vocabulary.version != version:
        raise BedsideError("the vocabulary was built again meanwhile", name, "start again")
    return reader


def _read_chunk(turns: list[DialogueTurn], name: str, version: str) -> list[bytes]:
    reader = _reader(name, version)
    return [packed(reader.read(turn)) for turn in turns]


def _begin_worker(lifeline: Connection) -> None:
    """Leave interrupts to the parent, and end when it lets go of the other end of the lifeline, be it by its own end."""
    import threading

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with, args=(lifeline,), daemon=True).start()


def _end_with(lifeline: Connection) -> None:
    with suppress(EOFError, OSError):
        lifeline.recv_bytes()
    os._exit(0)


@contextmanager
def _interrupts_held() -> Iterator[None]:
    """Hold Ctrl-C back while a process starts: it would die of it, with a traceback, before it could say that it does not mind."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
