"""Disease names as ICD-10-CM gives them, folded for exact look-up: titles, inclusion terms, includes."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Literal

from ontology.icd10.tree import CATEGORY_DEPTH, IcdTree, icd_tree
from ontology.text import folded

Kind = Literal["title", "inclusion_term", "includes", "variant"]

KINDS: tuple[Kind, ...] = ("title", "inclusion_term", "includes", "variant")
"""In order of preference. A variant leaves out what adds nothing: text in brackets, "NOS", "unspecified"."""

_POSSESSIVE = re.compile(r"['’]s?\b|['’](?=\s|$)")
_BRACKETS = re.compile(r"\[[^\]]*\]|\([^)]*\)")
_BORROWED = re.compile(r"\bin (?:[a-z ]+ )?diseases? classified elsewhere|\bin Lyme disease", re.IGNORECASE)
_REMAINDER = re.compile(r"\bother\b|related disorders$", re.IGNORECASE)
_UNSPECIFIED = re.compile(r"(?:^unspecified )|(?: (?:nos|unspecified)$)")
_GREEK = str.maketrans({"α": " alpha ", "β": " beta ", "γ": " gamma ", "δ": " delta "})
_BRITISH = (
    (re.compile(r"[ao]e"), "e"),
    (re.compile(r"(?<=[a-z]{2})our(?=s$|al$|ed$|ing$|less$|$)"), "or"),
    (re.compile(r"is(?=e[ds]$|ing$|ations?$)"), "iz"),
    (re.compile(r"(?<=[a-z])bre(?=s?$)"), "ber"),
    (re.compile(r"^sulph"), "sulf"),
    (re.compile(r"^leuco"), "leuko"),
)


@dataclass(frozen=True, slots=True)
class NameMatch:
    """Codes that a name stands for; `code` is None where they are too far apart to choose."""

    name: str
    kind: Kind
    code: str | None
    candidates: tuple[str, ...]


@lru_cache(maxsize=65536)
def _fold_word(word: str) -> str:
    """Fold until nothing changes, so that a folded name is its own folded form."""
    parts = folded(word).split()
    for pattern, by in _BRITISH:
        parts = [pattern.sub(by, part) for part in parts]
    again = " ".join(parts)
    return again if again == word else " ".join(_fold_word(part) for part in parts)


def fold_name(text: str) -> str:
    """A name without case, accents, punctuation, possessives and British spelling."""
    words = _POSSESSIVE.sub("", text.translate(_GREEK)).split()
    return " ".join(filter(None, map(_fold_word, words)))


class NameIndex:
    """Codes by folded name."""

    def __init__(self, tree: IcdTree) -> None:
        """Index all names of a tree (half a second).

        Args:
            tree: the tree.
        """
        self._tree = tree
        self._found: defaultdict[str, list[tuple[int, int]]] = defaultdict(list)
        table = tree.table
        sources: list[tuple[Kind, Iterable[tuple[int, list[str]]]]] = [
            ("title", ((position, [title]) for position, title in enumerate(table.titles))),
            ("inclusion_term", table.inclusions.items()),
            ("includes", table.includes.items()),
        ]
        for kind, entries in sources:
            for position, names in entries:
                if kind == "title" or tree.depths[position] >= CATEGORY_DEPTH:
                    for name in names:
                        if not is_borrowed(table.titles[position], kind, name):
                            self._add(name, position, KINDS.index(kind))

    def _add(self, name: str, position: int, rank: int) -> None:
        name_folded = fold_name(name)
        self._found[name_folded].append((rank, position))
        for variant in name_variants(name, name_folded):
            self._found[variant].append((len(KINDS) - 1, position))

    def names(self) -> Iterator[str]:
        """All folded names."""
        return iter(self._found)

    def match(self, name: str) -> NameMatch | None:
        """The code whose name this is.

        Of several codes with the name, the better kind of name wins, then a category or subcategory over a
        block, then the one above all others, then the lowest node above them all if it is at least a
        category.

        Args:
            name: a name, folded or not.
        """
        key = fold_name(name)
        found = self._found.get(key)
        if not found:
            return None
        rank = min(found)[0]
        positions = sorted({position for found_rank, position in found if found_rank == rank})
        deep = [position for position in positions if self._tree.depths[position] >= CATEGORY_DEPTH]
        codes = [self._tree.table.codes[position] for position in deep or positions]
        common = self._tree.common(codes)
        chosen = codes[0] if len(codes) == 1 else None
        if common is not None and common.depth >= CATEGORY_DEPTH:
            chosen = common.code
        return NameMatch(key, KINDS[rank], chosen, tuple(codes))


def is_borrowed(title: str, kind: Kind, name: str) -> bool:
    """Whether a term means its code only under that code's title.

    "Pyelonephritis" is listed under "… in diseases classified elsewhere", "adenomatous polyp" under "benign neoplasm of other … female
    genital organs", "caffeine" under "other stimulant related disorders".
    """
    if kind == "title":
        return False
    if _BORROWED.search(title):
        return True
    return kind == "includes" and bool(_REMAINDER.search(title)) and not set(fold_name(name).split()) & set(fold_name(title).split())


def name_variants(name: str, name_folded: str) -> set[str]:
    """Folded forms of a name without brackets, "NOS" and "unspecified", the name itself left out.

    Args:
        name: the name.
        name_folded: the same, folded.
    """
    bare = fold_name(_BRACKETS.sub(" ", name)) if "(" in name or "[" in name else name_folded
    return {bare, _UNSPECIFIED.sub("", bare), _UNSPECIFIED.sub("", name_folded)} - {name_folded, ""}


@cache
def name_index() -> NameIndex:
    """The names of the installed ICD-10-CM release."""
    return NameIndex(icd_tree())
