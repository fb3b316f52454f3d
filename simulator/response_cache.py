"""Answers of models kept on disk, by everything that a model was asked and how: the same question costs once."""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ontology.documents import content_hash
from ontology.errors import BedsideError
from simulator.chat_request import Message
from simulator.endpoint import Endpoint

FORMAT = 1
BUSY_S = 30.0


@dataclass(frozen=True)
class Kept:
    """An answer as it came."""

    text: str
    finish_reason: str
    prompt_tokens: int | None
    completion_tokens: int | None
    model: str
    refused: bool
    dropped: tuple[str, ...]


def request_key(
    endpoint: Endpoint, messages: Sequence[Message], json_schema: Mapping[str, Any] | None, seed: int | None, revision: str | None
) -> str:
    """The hash of what was wished for, whether the endpoint takes it or not.

    The seed counts also where the endpoint takes none: encounters that differ by it alone are repetitions, and must not share an answer.
    """
    return content_hash(
        [
            FORMAT,
            endpoint.base_url,
            endpoint.model,
            revision,
            endpoint.temperature,
            endpoint.top_p,
            endpoint.max_tokens,
            endpoint.seed if endpoint.seed is not None else seed,
            [[message.role, message.content.encode("utf-8", "replace").decode()] for message in messages],
            None if json_schema is None else dict(json_schema),
        ]
    )


class ResponseCache:
    """A SQLite file of answers; several processes may share it. Its words are those of the cases, so it is its owner's alone to read."""

    def __init__(self, path: Path) -> None:
        """Open or make the file.

        Raises:
            BedsideError: it cannot be opened, or is no cache.
        """
        self.path = path
        self.hits = 0
        self.misses = 0
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
            self._file = sqlite3.connect(path, timeout=BUSY_S, isolation_level=None)
            self._file.execute("PRAGMA journal_mode=WAL")
            self._file.execute("PRAGMA synchronous=NORMAL")
            self._file.execute("CREATE TABLE IF NOT EXISTS answers (key TEXT PRIMARY KEY, answer TEXT NOT NULL) WITHOUT ROWID")
        except OSError as error:
            raise BedsideError(f"cannot be opened ({error.strerror})", str(path)) from None
        except sqlite3.Error as error:
            raise BedsideError(f"cannot be used as a cache of answers ({error})", str(path), "name a new file") from None

    def close(self) -> None:
        """Let the file go."""
        self._file.close()

    def get(self, key: str) -> Kept | None:
        """The answer to a request, if it is known.

        Raises:
            BedsideError: the file cannot be read.
        """
        try:
            row = self._file.execute("SELECT answer FROM answers WHERE key = ?", (key,)).fetchone()
            raw = None if row is None else json.loads(row[0])
        except (sqlite3.Error, ValueError) as error:
            raise BedsideError(f"cannot be read ({error})", str(self.path), "delete it, or go without --cache") from None
        if raw is None:
            self.misses += 1
            return None
        self.hits += 1
        return Kept(**{**raw, "dropped": tuple(raw["dropped"])})

    def put(self, key: str, kept: Kept) -> None:
        """Keep an answer; the first one stays.

        Raises:
            BedsideError: the file cannot be written.
        """
        try:
            self._file.execute("INSERT OR IGNORE INTO answers VALUES (?, ?)", (key, json.dumps(vars(kept))))
        except sqlite3.Error as error:
            raise BedsideError(f"cannot be written ({error})", str(self.path), "make room on the disk, or go without --cache") from None
