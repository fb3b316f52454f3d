"""Which ids mean the same: a union-find over cross-references, curated merges and synonymy (metrics.md 2.4).

HPO gives 1,023 terms several CUIs, and 127 CUIs to several terms. A term's CUIs are one group. A CUI that several terms claim joins the
first of them only: joining the terms as well would make a broader finding and a narrower one the same, and a question for one would be
credited as the other.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

from ontology.errors import BedsideError

T = TypeVar("T", bound=Hashable)
MERGE_COLUMNS = ("alias", "concept", "reason", "source")


class Groups(Generic[T]):
    """Sets of equal ids. The head of a set is the head of the id that was named first when two sets were joined."""

    def __init__(self) -> None:
        self._above: dict[T, T] = {}

    def join(self, head: T, other: T) -> None:
        """Make two ids the same; the first one's head becomes the head of both."""
        top, below = self.find(head), self.find(other)
        if top != below:
            self._above[below] = top

    def find(self, item: T) -> T:
        """The head of an id's set; itself if it was never joined."""
        top = item
        while top in self._above:
            top = self._above[top]
        while item != top:
            self._above[item], item = top, self._above[item]
        return top

    def sets(self) -> dict[T, list[T]]:
        """All sets of at least two, by head, the head first."""
        found: dict[T, list[T]] = {}
        for item in list(self._above):
            head = self.find(item)
            found.setdefault(head, [head]).append(item)
        return found


@dataclass(frozen=True)
class Merge:
    """A curated merge: an id of another source for a concept of ours."""

    alias: str
    concept: str
    reason: str
    source: str


def read_merges(text: str, where: str) -> list[Merge]:
    """Curated merges, a CSV table with the columns alias, concept, reason, source.

    Raises:
        BedsideError: another header, an incomplete row, or an alias of two concepts.
    """
    rows = csv.DictReader(io.StringIO(text))
    if tuple(rows.fieldnames or ()) != MERGE_COLUMNS:
        raise BedsideError(f"the columns must be {', '.join(MERGE_COLUMNS)}", f"{where}:1")
    merges: dict[str, Merge] = {}
    for row in rows:
        place = f"{where}:{rows.line_num}"
        if any(not isinstance(row.get(name), str) or not row[name] for name in MERGE_COLUMNS) or None in row:
            raise BedsideError("a row needs an alias, a concept, a reason and a source", place)
        if row["alias"] in merges:
            raise BedsideError(f"{row['alias']} is merged twice", place)
        merges[row["alias"]] = Merge(**row)
    return list(merges.values())


@dataclass(frozen=True)
class Claims:
    """What cross-references say: the ids of each term, and ids that several terms claim."""

    groups: Groups[str]
    contested: dict[str, tuple[str, ...]]


def claims(cross_references: Mapping[str, Iterable[str]]) -> Claims:
    """Groups from terms with their cross-references; a contested id joins the first term that names it.

    Args:
        cross_references: the ids that each term names, in the order of the ontology.
    """
    groups: Groups[str] = Groups()
    claimed: dict[str, list[str]] = {}
    for term, ids in cross_references.items():
        for cui in dict.fromkeys(ids):
            claimed.setdefault(cui, []).append(term)
            if len(claimed[cui]) == 1:
                groups.join(term, cui)
    return Claims(groups, {cui: tuple(terms) for cui, terms in claimed.items() if len(terms) > 1})


def pairs(merges: Iterable[Merge]) -> Iterator[tuple[str, str]]:
    """(concept, alias) of curated merges."""
    for merge in merges:
        yield merge.concept, merge.alias
