"""A table of phrases that lies on the disk: millions of them cost no memory but the pages that are looked at.

The table holds the 64-bit hashes of all phrases and of all their beginnings, sorted, so that a reader goes on word by word and stops at the
first beginning that no phrase has. A hash is a rolling one over the words' own hashes, so one more word costs one multiplication; two
phrases of a release share one with a chance of about 1e-7, and the caller compares the words of what it finds.
"""

from __future__ import annotations

import mmap
from array import array
from bisect import bisect_left
from collections.abc import Sequence
from functools import lru_cache
from hashlib import blake2b
from pathlib import Path
from types import TracebackType
from typing import Self

from ontology.errors import BedsideError

MAGIC = b"BEDSPHR1"
HEADER = 24
MULTIPLIER = 0x9E3779B97F4A7C15
MASK = (1 << 64) - 1
ONLY_A_BEGINNING = 0
PER_BUCKET = 4


@lru_cache(maxsize=65536)
def word_hash(word: str) -> int:
    """64 bits that stand for a word."""
    return int.from_bytes(blake2b(word.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little")


def extended(so_far: int, word: str) -> int:
    """The hash of a phrase with one more word; the empty phrase has 0."""
    return (so_far * MULTIPLIER + word_hash(word)) & MASK


class PhraseTableWriter:
    """Collects phrases in the order of their words and writes the table."""

    def __init__(self) -> None:
        self._hashes = array("Q")
        self._values = array("L") if array("L").itemsize == 4 else array("I")
        self._before: list[str] = []
        self._path: list[int] = []

    def add(self, words: Sequence[str], entry: int) -> None:
        """Add a phrase.

        Args:
            words: its words in normal form, at least one; phrases come sorted by the words joined with blanks, each once.
            entry: its number, 1 or more.
        """
        shared = 0
        while shared < min(len(words) - 1, len(self._before)) and words[shared] == self._before[shared]:
            shared += 1
        del self._path[shared:]
        for place in range(shared, len(words)):
            self._path.append(extended(self._path[-1] if self._path else 0, words[place]))
            self._hashes.append(self._path[-1])
            self._values.append(entry if place == len(words) - 1 else ONLY_A_BEGINNING)
        self._before = list(words)

    def write(self, path: Path) -> int:
        """Write the table; returns how many phrases and beginnings it holds."""
        import numpy as np

        hashes = np.frombuffer(self._hashes, dtype=np.uint64) if self._hashes else np.empty(0, np.uint64)
        values = np.frombuffer(self._values, dtype=np.uint32) if self._values else np.empty(0, np.uint32)
        order = np.argsort(hashes, kind="stable")
        hashes, values = hashes[order], values[order]
        bits = max(1, (len(hashes) // PER_BUCKET).bit_length())
        edges = np.arange(1 << bits, dtype=np.uint64) << np.uint64(64 - bits)
        starts = np.append(np.searchsorted(hashes, edges), len(hashes)).astype(np.uint64)
        with path.open("wb") as out:
            out.write(MAGIC + len(hashes).to_bytes(8, "little") + bits.to_bytes(8, "little"))
            for part in (starts, hashes, values):
                out.write(part.astype(part.dtype.newbyteorder("<")).tobytes())
        return len(hashes)


class PhraseTable:
    """A written table, mapped into memory: safe to share between threads and across a fork."""

    def __init__(self, path: Path) -> None:
        """Map a table.

        Raises:
            BedsideError: the file cannot be read or is no such table.
        """
        try:
            with path.open("rb") as file:
                self._map = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        except (OSError, ValueError) as error:
            raise BedsideError(f"cannot be read ({error})", str(path), "build the vocabulary again") from None
        head = self._map[:HEADER]
        size, self._bits = int.from_bytes(head[8:16], "little"), int.from_bytes(head[16:24], "little")
        buckets = (1 << min(self._bits, 40)) + 1
        if head[:8] != MAGIC or len(self._map) != HEADER + 8 * buckets + 12 * size:
            self._map.close()
            raise BedsideError("is no table of phrases, or is cut short", str(path), "build the vocabulary again")
        whole = memoryview(self._map)
        self._starts = whole[HEADER : HEADER + 8 * buckets].cast("Q")
        self._hashes = whole[HEADER + 8 * buckets : HEADER + 8 * (buckets + size)].cast("Q")
        self._values = whole[HEADER + 8 * (buckets + size) :].cast("I")
        self._whole = whole

    def __len__(self) -> int:
        return len(self._values)

    def value(self, hashed: int) -> int | None:
        """The entry of a hash: a phrase's number, 0 for a mere beginning, None for neither."""
        bucket = hashed >> (64 - self._bits)
        end = self._starts[bucket + 1]
        place = bisect_left(self._hashes, hashed, self._starts[bucket], end)
        return self._values[place] if place < end and self._hashes[place] == hashed else None

    def entry(self, words: Sequence[str]) -> int | None:
        """The number of exactly this phrase."""
        hashed = 0
        for word in words:
            hashed = extended(hashed, word)
        return (self.value(hashed) or None) if words else None

    def walk(self, words: Sequence[str], start: int) -> list[tuple[int, int]]:
        """(length, number) of every phrase that begins at a word, shortest first."""
        found = []
        hashed = 0
        for place in range(start, len(words)):
            hashed = extended(hashed, words[place])
            value = self.value(hashed)
            if value is None:
                break
            if value != ONLY_A_BEGINNING:
                found.append((place + 1 - start, value))
        return found

    def close(self) -> None:
        """Let the file go."""
        for view in (self._starts, self._hashes, self._values, self._whole):
            view.release()
        self._map.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()
