"""Concepts and phrases of a release on the disk: built from streams in bounded memory, opened in no time.

Names are collected in a scratch SQLite file, which sorts more than memory holds; what is kept is a table of concepts, one of phrases (both
SQLite) and the mapped table of `ontology.vocab.phrases`, through which nearly all look-ups end without touching SQLite.
"""

from __future__ import annotations

import hashlib
import itertools
import os
import re
import sqlite3
import threading
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from ontology.errors import BedsideError
from ontology.text import tokens
from ontology.vocab.groups import Groups
from ontology.vocab.phrases import PhraseTable, PhraseTableWriter
from ontology.vocab.quickumls import folded
from ontology.vocab.rrf import IsA, Name, Progress, Same, SemanticType, no_progress

CONCEPTS, PHRASES, SCRATCH = "concepts.sqlite", "phrases.bin", "scratch.sqlite"
PREFERRED, SYNONYM, ABBREVIATION = 1, 2, 3
"""Ranks of phrases, as in `ontology.vocabulary`: 0 is left to our own lexicon."""

ABBREVIATIONS = frozenset({"AA", "AB", "ACR", "AS", "SB", "SCN", "SS"})
"""Term types (TTY) of short forms: they lose to full names of other concepts."""

MAX_WORDS = 10
"""Longer names are kept as names of concepts, but nobody says them."""

BATCH = 20_000
TAG = re.compile(r"\s*(?:\((?:disorder|finding|disease|symptom|situation|event|procedure|product|substance|qualifier value)\)|,? NOS)$")

SCHEMA = """
CREATE TABLE concept (id TEXT PRIMARY KEY, name TEXT, source TEXT, types TEXT, parents TEXT, same TEXT) WITHOUT ROWID;
CREATE TABLE phrase (id INTEGER PRIMARY KEY, key TEXT, concept TEXT, rank INTEGER, others TEXT, plain TEXT, text TEXT, source TEXT);
"""
SCRATCH_SCHEMA = """
CREATE TABLE name (cui TEXT, key TEXT, plain TEXT, rank INTEGER, preference INTEGER, text TEXT, source TEXT);
CREATE TABLE isa (child TEXT, parent TEXT, PRIMARY KEY (child, parent)) WITHOUT ROWID;
"""


@dataclass(frozen=True, slots=True)
class StoredConcept:
    """A concept of a release; `same` are the ids that a source calls synonymous, the first one the head."""

    id: str
    name: str
    source: str
    types: tuple[str, ...]
    parents: tuple[str, ...]
    same: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class StoredPhrase:
    """A phrase of a release: its words in normal form, what it means, and an atom that says so."""

    key: str
    concept: str
    rank: int
    others: tuple[str, ...]
    plain: tuple[str, ...]
    text: str
    source: str


@dataclass(frozen=True)
class Counts:
    """How much a store holds."""

    concepts: int
    names: int
    phrases: int
    links: int
    groups: int
    content_sha256: str


def spoken(name: str) -> str:
    """A name without what only vocabularies write: "Dyspnea (finding)", "Otitis media, NOS"."""
    before = ""
    while before != name:
        before, name = name, TAG.sub("", name)
    return name


class StoreBuilder:
    """Builds a store in a folder. Feed semantic types first, then names, then relations, then `finish`."""

    def __init__(self, folder: Path, wanted_types: Iterable[str] = (), blocked: Iterable[str] = ()) -> None:
        """Begin.

        Args:
            folder: an empty folder.
            wanted_types: semantic types that are wanted; none means all. A concept without a type is kept.
            blocked: phrases that are not to be matched.
        """
        self._folder = folder
        self._wanted = frozenset(wanted_types)
        self._blocked = {" ".join(token.norm for token in tokens(text)) for text in blocked}
        self._types: dict[str, tuple[str, ...]] = {}
        self._pool: dict[tuple[str, ...], tuple[str, ...]] = {}
        self._scratch = _fresh(folder / SCRATCH, SCRATCH_SCHEMA)
        self._groups: Groups[str] = Groups()
        self._known: set[str] = set()
        self._names = 0

    def add_types(self, rows: Iterable[SemanticType]) -> None:
        """Take in semantic types."""
        for row in rows:
            types = tuple(sorted({*self._types.get(row.cui, ()), row.tui}))
            self._types[row.cui] = self._pool.setdefault(types, types)

    def wanted(self, cui: str) -> bool:
        """Whether a concept is wanted, by its semantic types."""
        types = self._types.get(cui)
        return not self._wanted or types is None or not self._wanted.isdisjoint(types)

    def add_names(self, names: Iterable[Name]) -> None:
        """Take in names; those of unwanted concepts are left out."""
        for batch in _batches(names):
            wanted = [name for name in batch if self.wanted(name.cui)]
            rows = [(n.cui, *_phrase(n.text, self._blocked), _rank(n), n.preference, n.text, n.source) for n in wanted]
            self._scratch.executemany("INSERT INTO name VALUES (?,?,?,?,?,?,?)", rows)
            self._known.update(name.cui for name in wanted)
            self._names += len(rows)

    def add_relations(self, rows: Iterable[IsA | Same]) -> None:
        """Take in links between concepts that have names here."""
        links: list[tuple[str, str]] = []
        for row in rows:
            if isinstance(row, Same):
                if row.first in self._known and row.second in self._known:
                    self._groups.join(min(row.first, row.second), max(row.first, row.second))
            elif row.child in self._known and row.parent in self._known and row.child != row.parent:
                links.append((row.child, row.parent))
                if len(links) >= BATCH:
                    self._scratch.executemany("INSERT OR IGNORE INTO isa VALUES (?,?)", links)
                    links.clear()
        self._scratch.executemany("INSERT OR IGNORE INTO isa VALUES (?,?)", links)

    def surfaces(self) -> Iterator[tuple[str, str, tuple[str, ...], bool]]:
        """(name, CUI, its semantic types, whether preferred) of every name that is matched, folded and sorted: what QuickUMLS indexes."""
        self._scratch.create_function("folded", 1, lambda text: folded(spoken(text)), deterministic=True)
        query = "SELECT folded(text) AS term, cui, preference FROM name WHERE key <> '' ORDER BY term, cui, preference"
        return ((term, cui, self._types.get(cui, ()), preference == 0) for term, cui, preference in self._scratch.execute(query))

    def finish(self, progress: Progress = no_progress) -> Counts:
        """Write the store; call `close` after it.

        Args:
            progress: told of the concepts and phrases written.
        """
        out = _fresh(self._folder / CONCEPTS, SCHEMA)
        digest = hashlib.sha256()
        try:
            groups = self._groups.sets()
            concepts = self._write_concepts(out, digest, groups, progress)
            phrases = self._write_phrases(out, digest, progress)
            (links,) = self._scratch.execute("SELECT count(*) FROM isa").fetchone()
            out.commit()
        finally:
            out.close()
        return Counts(concepts, self._names, phrases, links, len(groups), digest.hexdigest())

    def close(self) -> None:
        """Drop what was only needed for building."""
        self._scratch.close()
        (self._folder / SCRATCH).unlink(missing_ok=True)

    def _write_concepts(self, out: sqlite3.Connection, digest: hashlib._Hash, groups: dict[str, list[str]], progress: Progress) -> int:
        members: dict[str, str] = {}
        for head, found in groups.items():
            ordered = " ".join([head, *sorted(member for member in found if member != head)])
            members.update(dict.fromkeys(found, ordered))
        links = iter(self._scratch.execute("SELECT child, parent FROM isa ORDER BY child, parent"))
        link = next(links, None)
        rows = []
        number = 0
        names = self._scratch.execute("SELECT cui, text, source FROM name ORDER BY cui, preference, text, source")
        for number, (_, atoms) in enumerate(itertools.groupby(names, key=lambda row: str(row[0])), 1):
            cui, text, source = next(atoms)
            parents: list[str] = []
            while link is not None and link[0] <= cui:
                if link[0] == cui:
                    parents.append(link[1])
                link = next(links, None)
            row = (cui, spoken(text), source, " ".join(self._types.get(cui, ())), " ".join(parents), members.get(cui, ""))
            digest.update("|".join(row).encode("utf-8", "surrogatepass") + b"\n")
            rows.append(row)
            if len(rows) == BATCH:
                out.executemany("INSERT INTO concept VALUES (?,?,?,?,?,?)", rows)
                rows.clear()
                progress("concepts", number, len(self._known))
        out.executemany("INSERT INTO concept VALUES (?,?,?,?,?,?)", rows)
        return number

    def _write_phrases(self, out: sqlite3.Connection, digest: hashlib._Hash, progress: Progress) -> int:
        table = PhraseTableWriter()
        rows = []
        number = 0
        for number, phrase in enumerate(self._ranked(), 1):
            table.add(phrase.key.split(" "), number)
            row = (phrase.key, phrase.concept, phrase.rank, " ".join(phrase.others), " ".join(phrase.plain), phrase.text, phrase.source)
            digest.update("|".join(map(str, row)).encode("utf-8", "surrogatepass") + b"\n")
            rows.append((number, *row))
            if len(rows) == BATCH:
                out.executemany("INSERT INTO phrase VALUES (?,?,?,?,?,?,?,?)", rows)
                rows.clear()
                progress("phrases", number, self._names)
        out.executemany("INSERT INTO phrase VALUES (?,?,?,?,?,?,?,?)", rows)
        table.write(self._folder / PHRASES)
        return number

    def _ranked(self) -> Iterator[StoredPhrase]:
        """Every phrase once, sorted by its words: the best rank wins, then the concept that more atoms call so, then the lower id."""
        query = "SELECT key, cui, rank, plain, text, source FROM name WHERE key <> '' ORDER BY key, cui, rank, text, source"
        for key, atoms in itertools.groupby(self._scratch.execute(query), key=lambda row: str(row[0])):
            claims = []
            plain: set[str] = set()
            for cui, group in itertools.groupby(atoms, key=lambda row: str(row[1])):
                rows = list(group)
                plain.update(row[3] for row in rows if row[3])
                claims.append((rows[0][2], -len(rows), cui, rows[0][4], rows[0][5]))
            claims.sort()
            rank, _, concept, text, source = claims[0]
            others = tuple(claim[2] for claim in claims[1:])
            yield StoredPhrase(key, concept, rank, others, tuple(sorted(plain)), text, source)


def _batches(names: Iterable[Name]) -> Iterator[list[Name]]:
    """What `itertools.batched` does from Python 3.12 on."""
    source = iter(names)
    while batch := list(itertools.islice(source, BATCH)):
        yield batch


def _rank(name: Name) -> int:
    if name.term_type in ABBREVIATIONS:
        return ABBREVIATION
    return PREFERRED if name.preference == 0 else SYNONYM


def _phrase(text: str, blocked: set[str]) -> tuple[str, str]:
    """A name's words in normal form, joined, and the plain form of a single one; empty if it is not to be matched."""
    words = tokens(spoken(text))
    key = " ".join(word.norm for word in words)
    if len(words) > MAX_WORDS or len(key) < 2 or key in blocked or not any(letter.isalpha() for letter in key):
        return "", ""
    return key, words[0].plain if len(words) == 1 else ""


def _fresh(path: Path, schema: str) -> sqlite3.Connection:
    """A database that only its builder sees: no journal, since a broken build is thrown away as a whole."""
    connection = sqlite3.connect(path)
    connection.executescript("PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; PRAGMA cache_size=-100000; PRAGMA temp_store=FILE;")
    connection.executescript(schema)
    return connection


class Store:
    """An opened store. Connections to SQLite are per thread and process; nothing is written."""

    def __init__(self, folder: Path) -> None:
        """Open a store.

        Raises:
            BedsideError: a file is missing or damaged.
        """
        self._path = folder / CONCEPTS
        self.table = PhraseTable(folder / PHRASES)
        self._local = threading.local()
        self.phrase = lru_cache(maxsize=50_000)(self._phrase)
        self.concept = lru_cache(maxsize=50_000)(self._concept)
        self._query("SELECT id FROM concept LIMIT 1")

    def _query(self, query: str, *values: str | int) -> list[tuple[str, ...]]:
        try:
            return self._connection().execute(query, values).fetchall()
        except sqlite3.Error as error:
            raise BedsideError(f"cannot be read ({error})", str(self._path), "build the vocabulary again") from None

    def _connection(self) -> sqlite3.Connection:
        if getattr(self._local, "process", None) != os.getpid():
            uri = f"{self._path.absolute().as_uri()}?mode=ro&immutable=1"
            self._local.connection = sqlite3.connect(uri, uri=True)
            self._local.process = os.getpid()
        connection: sqlite3.Connection = self._local.connection
        return connection

    def _concept(self, cui: str) -> StoredConcept | None:
        """A concept by its id."""
        for row in self._query("SELECT * FROM concept WHERE id = ?", cui):
            return _concept_of(row)
        return None

    def _phrase(self, number: int) -> StoredPhrase:
        """A phrase by its number."""
        query = "SELECT key, concept, rank, others, plain, text, source FROM phrase WHERE id = ?"
        for row in self._query(query, number):
            return _phrase_of(row)
        raise BedsideError(f"the phrase {number} is missing", str(self._path), "build the vocabulary again")

    def longest(self, words: list[str], plain: str, start: int) -> tuple[int, StoredPhrase] | None:
        """The longest phrase that begins at a word.

        Args:
            words: all words in normal form.
            plain: the plain form of the word at `start`: a single word must match in its own form.
            start: the place of that word.
        """
        for length, number in reversed(self.table.walk(words, start)):
            found = self.phrase(number)
            if found.key == " ".join(words[start : start + length]) and (length > 1 or plain in found.plain):
                return length, found
        return None

    def lookup(self, words: list[str]) -> StoredPhrase | None:
        """What exactly these words mean."""
        number = self.table.entry(words)
        found = self.phrase(number) if number else None
        return found if found is not None and found.key == " ".join(words) else None

    def concepts(self) -> Iterator[StoredConcept]:
        """All concepts by id."""
        return (_concept_of(row) for row in self._connection().execute("SELECT * FROM concept ORDER BY id"))

    def phrases(self) -> Iterator[StoredPhrase]:
        """All phrases by their words."""
        query = "SELECT key, concept, rank, others, plain, text, source FROM phrase ORDER BY id"
        return (_phrase_of(row) for row in self._connection().execute(query))


def _concept_of(row: tuple[str, ...]) -> StoredConcept:
    cui, name, source, types, parents, same = row
    return StoredConcept(cui, name, source, tuple(types.split()), tuple(parents.split()), tuple(same.split()))


def _phrase_of(row: tuple[str, ...]) -> StoredPhrase:
    key, concept, rank, others, plain, text, source = row
    return StoredPhrase(key, concept, int(rank), tuple(others.split()), tuple(plain.split()), text, source)
