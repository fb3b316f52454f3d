"""Annotates many turns: in order, in several processes if wanted, each turn once.

    with AnnotationCache(AnnotationStore()) as cache:
        for annotation in annotate_many(turns, "bundled", workers=4, cache=cache):
            ...

A script that asks for several must keep its own work under `if __name__ == "__main__":` (see `ontology.processes`).
"""

from __future__ import annotations

import hashlib
import json
import os
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future
from dataclasses import dataclass
from functools import cache as kept
from functools import lru_cache
from importlib import metadata
from itertools import chain, islice
from pathlib import Path

from ontology.annotation import Annotation
from ontology.annotation_cache import AnnotationCache, packed, unpacked
from ontology.dialogue import DialogueTurn, TurnReader
from ontology.errors import BedsideError
from ontology.processes import AHEAD, crew
from ontology.vocab.index import BUNDLED_NAMES, load_vocabulary
from ontology.vocabulary import VOCABULARY_VARIABLE, Vocabulary, bundled_vocabulary, default_vocabulary

ANNOTATOR_VERSION = "3"
"""Raised when the rules change what is found in any text; the vocabulary has a version of its own."""

CHUNK = 64
"""Turns that one process gets at once."""


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
    under_way: deque[_Chunk] = deque()
    with crew(workers, "annotates", "use fewer, each needs about 400 MB") as processes:
        while True:
            while len(under_way) < AHEAD * workers and (batch := list(islice(turns, CHUNK))):
                chunk = _prepare(batch, words.version, cache)
                if chunk.missing:
                    chunk.answer = processes.submit(_read_chunk, list(chunk.missing.values()), name, words.version)
                under_way.append(chunk)
            if not under_way:
                return
            yield from _finish(under_way.popleft(), cache)


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
