"""The ICD-10-CM tree without 7th-character extensions (metrics.md 3.2 and 3.3).

Virtual root at depth 0, chapter 1, block 2, category 3, subcategories from 4. A node id carries the level
("block:C7A", "category:C7A"), because 39 blocks share the name of their only category; a bare code means the
category.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, cached_property
from typing import Literal

from ontology.errors import BedsideError
from ontology.icd10.information import IcMethod, sanchez, seco
from ontology.icd10.table import CmTable, load_cm_table

Level = Literal["chapter", "block", "category", "subcategory", "extended"]

LEVELS: tuple[Level, ...] = ("chapter", "block", "category", "subcategory")
CATEGORY_DEPTH = 3
_SEVENTH = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"


@dataclass(frozen=True, slots=True)
class Node:
    """A node of the tree.

    `leaf` disregards 7th-character extensions; a code with one is an `extended` node below its leaf.
    """

    id: str
    code: str
    level: Level
    depth: int
    title: str
    leaf: bool


class IcdTree:
    """Lookups over the cached table; all of them are dictionary or list accesses after the first."""

    def __init__(self, table: CmTable) -> None:
        """Index a table.

        Args:
            table: the table, in preorder.
        """
        self.table = table
        self._position = {code: position for position, code in enumerate(table.codes)}
        self._paths: dict[str, tuple[int, ...]] = {}

    def __len__(self) -> int:
        """Number of nodes, virtual root and extensions left out."""
        return len(self.table.codes)

    def __contains__(self, code: object) -> bool:
        """Whether a code is a node of the stripped tree, written as the library writes it."""
        return code in self._position

    @cached_property
    def depths(self) -> list[int]:
        """Depth by position; chapters have 1."""
        depths: list[int] = []
        for parent in self.table.parents:
            depths.append(depths[parent] + 1 if parent >= 0 else 1)
        return depths

    @cached_property
    def sizes(self) -> list[int]:
        """Descendants by position, the node itself included."""
        sizes = [1] * len(self)
        for position in range(len(self) - 1, -1, -1):
            parent = self.table.parents[position]
            if parent >= 0:
                sizes[parent] += sizes[position]
        return sizes

    @cached_property
    def leaves(self) -> list[int]:
        """Leaves of the stripped tree below each position; a leaf counts itself."""
        leaves = [int(size == 1) for size in self.sizes]
        for position in range(len(self) - 1, -1, -1):
            parent = self.table.parents[position]
            if parent >= 0:
                leaves[parent] += leaves[position]
        return leaves

    @cached_property
    def _information(self) -> dict[IcMethod, list[float]]:
        return {"seco": seco(self.sizes), "sanchez": sanchez(self.leaves, self.depths)}

    def path(self, code: str) -> tuple[int, ...]:
        """Ancestors-or-self from the chapter down, as opaque numbers; its length is the depth.

        Raises:
            BedsideError: the code is not in ICD-10-CM, or not written in its normal form.
        """
        found = self._paths.get(code)
        if found is None:
            found = self._paths[code] = self._find_path(code)
        return found

    def _find_path(self, code: str) -> tuple[int, ...]:
        position = self._position.get(code)
        tail: tuple[int, ...] = ()
        if position is None:
            split = self.split_extension(code)
            if split is None:
                raise BedsideError("not an ICD-10-CM code", repr(code), "normalise it first")
            position = self._position[split[0]]
            tail = (len(self) + position * len(_SEVENTH) + _SEVENTH.index(split[1]),)
        way = []
        while position >= 0:
            way.append(position)
            position = self.table.parents[position]
        return (*reversed(way), *tail)

    def split_extension(self, code: str) -> tuple[str, str] | None:
        """(code without extension, 7th character) of an extended code such as S22.9XXA, else None."""
        if len(code) != 8 or code in self._position:
            return None
        stem, seventh = code[:-1], code[-1]
        while len(stem) >= CATEGORY_DEPTH:
            position = self._position.get(stem)
            if position is not None:
                return (stem, seventh) if seventh in self.table.extensions[position] else None
            if stem[-1] not in "X.":
                return None
            stem = stem[:-1]
        return None

    def node(self, code: str, level: Level | None = None) -> Node:
        """The node of a code.

        Args:
            code: a code, block or chapter number in normal form.
            level: needed only for a block that shares its name with a category.

        Raises:
            BedsideError: there is no such node.
        """
        for node in reversed(self.lineage(code)):
            if node.code == code and level in (None, node.level):
                return node
        raise BedsideError(f"no {level} of that name in ICD-10-CM", repr(code))

    def lineage(self, code: str) -> tuple[Node, ...]:
        """Ancestors-or-self of a code as nodes, from the chapter down."""
        return tuple(self._node(number) for number in self.path(code))

    def _node(self, number: int) -> Node:
        extended, seventh = divmod(number - len(self), len(_SEVENTH))
        if extended >= 0:
            stem = self.table.codes[extended]
            code = f"{stem + '.' if len(stem) == CATEGORY_DEPTH else stem:X<7}{_SEVENTH[seventh]}"
            depth, title = self.depths[extended] + 1, self.table.titles[extended]
            return Node(f"extended:{code}", code, "extended", depth, title, True)
        code, depth, title = self.table.codes[number], self.depths[number], self.table.titles[number]
        level = LEVELS[min(depth, len(LEVELS)) - 1]
        return Node(f"{level}:{code}", code, level, depth, title, self.sizes[number] == 1)

    def title(self, code: str) -> str:
        """The title of a code; of an extended code, that of the code it extends."""
        return self._node(self.path(code)[-1]).title

    def children(self, code: str, level: Level | None = None) -> tuple[str, ...]:
        """Codes one level down, extensions left out."""
        node = self.node(code, level)
        if node.level == "extended":
            return ()
        position = self.path(code)[node.depth - 1]
        below = range(position + 1, position + self.sizes[position])
        return tuple(self.table.codes[child] for child in below if self.table.parents[child] == position)

    def common(self, codes: list[str]) -> Node | None:
        """The lowest node that is an ancestor-or-self of all codes; None if their chapters differ."""
        shared: Node | None = None
        for numbers in zip(*(self.path(code) for code in codes), strict=False):
            if len(set(numbers)) > 1:
                break
            shared = self._node(numbers[0])
        return shared

    def categories_between(self, first: str, last: str) -> list[str]:
        """Three-character categories from `first` to `last`, both included, in alphabetical order."""
        return [
            code for code, depth in zip(self.table.codes, self.depths, strict=True) if depth == CATEGORY_DEPTH and first <= code <= last
        ]

    def information(self, code: str, method: IcMethod = "seco") -> float:
        """Intrinsic information content of a code in 0..1, taken on the stripped tree.

        An extension adds none: the letter of the encounter is administrative.
        """
        return self.information_at(self.path(code), method)

    def information_at(self, path: tuple[int, ...], method: IcMethod = "seco") -> float:
        """Information content of the last node of a path; that of the virtual root (no path) is 0."""
        if not path:
            return 0.0
        values = self._information[method]
        return values[path[-1]] if path[-1] < len(values) else values[path[-2]]


@cache
def icd_tree() -> IcdTree:
    """The tree of the installed ICD-10-CM release, loaded at the first call."""
    return IcdTree(load_cm_table())
