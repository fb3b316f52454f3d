"""Annotations that were made before: the last ones in memory and, if wanted, all of them in a file.

The file holds hashes of texts, spans and concept ids, not the words: those are cut from the text again when an entry is read. It is a
SQLite database in write-ahead mode, so several processes read and write it at once; where that cannot be, one line says so and nothing is
kept.
"""

from __future__ import annotations

import json
import logging
import os
import sqlite3
import threading
from collections import OrderedDict
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Self

from pydantic import ValidationError

from ontology.annotation import Annotation
from ontology.icd10 import cache_folder
from ontology.mentions import Act, Mention

FILE = "annotations-1.sqlite"
"""The number is the version of the layout."""

ENTRIES_IN_MEMORY = 65_536
WRITTEN_AT_ONCE = 256
LARGEST_FILE = 512 * 2**20
SCHEMA = "CREATE TABLE IF NOT EXISTS annotation (number INTEGER PRIMARY KEY, key BLOB UNIQUE NOT NULL, value BLOB NOT NULL)"
WAIT_S = 10.0
_log = logging.getLogger(__name__)


def packed(annotation: Annotation) -> bytes:
    """An annotation without the words of its mentions, as compact JSON."""
    acts = [act.model_dump(mode="json", exclude_defaults=True) for act in annotation.acts]
    mentions = [mention.model_dump(mode="json", exclude_defaults=True, exclude={"surface"}) for mention in annotation.mentions]
    return json.dumps([acts, mentions], separators=(",", ":"), ensure_ascii=False).encode("utf-8")


def unpacked(data: bytes, text: str) -> Annotation:
    """The annotation of a text that `packed` wrote.

    Raises:
        ValueError: the bytes are no such annotation.
    """
    try:
        acts, mentions = json.loads(data)
        return Annotation(
            [Act.model_validate(act) for act in acts],
            [Mention.model_validate({**mention, "surface": text[mention["start"] : mention["end"]]}) for mention in mentions],
        )
    except (ValidationError, TypeError, KeyError) as error:
        raise ValueError(f"not a packed annotation ({error})") from None


class AnnotationStore:
    """Packed annotations by key in a file that several processes share. Any fault of it costs the cache, never the annotation."""

    def __init__(self, path: Path | None = None) -> None:
        """Name the file; it is opened when first needed.

        Args:
            path: the file; by default in the user's cache folder.
        """
        self.path = path or cache_folder() / FILE
        self._connection: sqlite3.Connection | None = None
        self._process = 0
        self._broken = False
        self._lock = threading.Lock()

    def get(self, keys: Iterable[bytes]) -> dict[bytes, bytes]:
        """What is stored under these keys."""
        with self._lock:
            try:
                connection = self._open()
                if connection is None:
                    return {}
                query = "SELECT value FROM annotation WHERE key = ?"
                rows = ((key, connection.execute(query, (key,)).fetchone()) for key in keys)
                return {key: bytes(row[0]) for key, row in rows if row is not None}
            except (OSError, sqlite3.Error) as error:
                self._give_up(error)
                return {}

    def put(self, entries: Mapping[bytes, bytes]) -> None:
        """Store entries, all or none of them."""
        with self._lock:
            try:
                connection = self._open()
                if connection is not None and entries:
                    with connection:
                        connection.executemany("INSERT OR REPLACE INTO annotation (key, value) VALUES (?, ?)", entries.items())
            except (OSError, sqlite3.Error) as error:
                self._give_up(error)

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            if self._connection is not None and self._process == os.getpid():
                self._connection.close()
            self._connection = None

    def _open(self) -> sqlite3.Connection | None:
        """The connection of this process: one that came along in a fork must not be used."""
        if self._broken:
            return None
        if self._connection is None or self._process != os.getpid():
            self.path.parent.mkdir(parents=True, exist_ok=True)
            connection = sqlite3.connect(self.path, timeout=WAIT_S, check_same_thread=False)
            self._connection, self._process = connection, os.getpid()
            connection.execute("PRAGMA journal_mode=WAL")
            connection.execute("PRAGMA synchronous=NORMAL")
            with connection:
                connection.execute(SCHEMA)
                connection.execute("INSERT INTO annotation (key, value) VALUES (x'', x'')")  # finds out now whether it can be written
                connection.execute("DELETE FROM annotation WHERE key = x''")
            self._tidy(connection)
        return self._connection

    def _tidy(self, connection: sqlite3.Connection) -> None:
        """Drop the oldest half of a file that has grown too large."""
        pages, free, size = (connection.execute(f"PRAGMA {name}").fetchone()[0] for name in ("page_count", "freelist_count", "page_size"))
        if (pages - free) * size > LARGEST_FILE:
            with connection:
                connection.execute("DELETE FROM annotation WHERE number < (SELECT (min(number) + max(number)) / 2 FROM annotation)")

    def _give_up(self, error: OSError | sqlite3.Error) -> None:
        self._broken = True
        if self._connection is not None:
            self._connection.close()
            self._connection = None
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        _log.warning("annotations are not cached: %s: %s", self.path, reason)


class AnnotationCache:
    """The last annotations in memory, over a store that lasts, if one is given. Use it in a `with` block, so that all is written."""

    def __init__(self, store: AnnotationStore | None = None, entries: int = ENTRIES_IN_MEMORY) -> None:
        """Start empty.

        Args:
            store: where annotations last; None: only in memory.
            entries: how many are kept in memory, those last used.
        """
        self._store = store
        self._entries = entries
        self._memory: OrderedDict[bytes, bytes] = OrderedDict()
        self._unwritten: dict[bytes, bytes] = {}
        self.hits = 0
        self.misses = 0

    def get(self, keys: Iterable[bytes]) -> dict[bytes, bytes]:
        """Packed annotations of those keys that are known."""
        wanted = list(dict.fromkeys(keys))
        found = {key: self._memory[key] for key in wanted if key in self._memory}
        for key in found:
            self._memory.move_to_end(key)
        missing = [key for key in wanted if key not in found]
        if self._store is not None and missing:
            stored = self._store.get(missing)
            for key, value in stored.items():
                self._remember(key, value)
            found.update(stored)
        self.hits += len(found)
        self.misses += len(wanted) - len(found)
        return found

    def put(self, entries: Mapping[bytes, bytes]) -> None:
        """Keep packed annotations."""
        for key, value in entries.items():
            self._remember(key, value)
        if self._store is not None:
            self._unwritten.update(entries)
            if len(self._unwritten) >= WRITTEN_AT_ONCE:
                self.flush()

    def flush(self) -> None:
        """Write what is not in the store yet."""
        if self._store is not None and self._unwritten:
            self._store.put(self._unwritten)
            self._unwritten.clear()

    def _remember(self, key: bytes, value: bytes) -> None:
        self._memory[key] = value
        self._memory.move_to_end(key)
        if len(self._memory) > self._entries:
            self._memory.popitem(last=False)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.flush()
        if self._store is not None:
            self._store.close()
