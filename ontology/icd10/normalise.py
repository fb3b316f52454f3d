"""From what a person, a model or a data set wrote to ICD-10-CM codes (metrics.md 3.2, rules 1-5, 7 and 8).

Only codes are read here; names are the business of `resolve`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from typing import Literal

from ontology.icd10.table import WhoTable, load_who_table
from ontology.icd10.tree import CATEGORY_DEPTH, IcdTree, icd_tree

Status = Literal["exact", "truncated", "who_truncated", "who_mapped", "unresolved", "not_a_code"]
"""How an item was read.

`exact`: valid, an extension aside. `truncated`: cut to a valid prefix. `who_truncated`: cut, and valid in the
WHO edition. `who_mapped`: a WHO block or chapter, mapped to the lowest node that covers it. `unresolved`:
written like a code, but nothing of it is valid. `not_a_code`: a name or nothing.
"""

_SEPARATORS = re.compile(r"[,;/\n]")
_MARKS = re.compile(r"[†‡*+!#]")
_DASHES = re.compile(r"[‐‑‒–—−]")
_HEADER = re.compile(r"\.?-$|\.$")
_CLEANING = (
    (_MARKS, "", "mark dropped"),
    (_DASHES, "-", "dash unified"),
    (_HEADER, "", "header sign dropped"),
)
_SHAPE = re.compile(r"(?=.[0-9]|.[A-Z][0-9])[A-Z][0-9A-Z]{2}(?:\.?[0-9A-Z]{1,5})?")
_SPAN = re.compile(r"([A-Z][0-9A-Z]{2})-([A-Z][0-9A-Z]{2})")
_ROMAN = {"I": 1, "V": 5, "X": 10}
_MANIFESTATION = re.compile(r"\b(?:in|due to|with) .*\bclassified elsewhere\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class CodeItem:
    """One item of a list of codes, and how it was read."""

    raw: str
    code: str | None
    status: Status
    extension: str = ""
    manifestation: bool = False
    steps: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class NormalisedCodes:
    """A set of codes in normal form; iterating gives the codes.

    A diagnosis may be a set (a list, or etiology and manifestation); distances take the best pair.
    """

    raw: str
    items: tuple[CodeItem, ...]

    def __iter__(self) -> Iterator[str]:
        """The codes."""
        return iter(self.codes)

    @property
    def codes(self) -> tuple[str, ...]:
        """The codes in the order written, each once."""
        return tuple(dict.fromkeys(item.code for item in self.items if item.code is not None))

    @property
    def statuses(self) -> dict[str, Status]:
        """How each code was read; of one written twice, the first reading."""
        found: dict[str, Status] = {}
        for item in self.items:
            if item.code is not None:
                found.setdefault(item.code, item.status)
        return found

    @property
    def extensions(self) -> dict[str, str]:
        """The 7th characters that were taken off, by code."""
        return {item.code: item.extension for item in self.items if item.code is not None and item.extension}

    @property
    def manifestation_only(self) -> bool:
        """Whether there is nothing but manifestations (asterisk codes), the underlying disease missing."""
        readable = [item for item in self.items if item.code is not None]
        return bool(readable) and all(item.manifestation for item in readable)

    @property
    def unresolved(self) -> tuple[str, ...]:
        """The items that gave no code, as written."""
        return tuple(item.raw for item in self.items if item.code is None)

    @property
    def steps(self) -> tuple[str, ...]:
        """What was done to get from the text to the codes."""
        split = (f"split into {len(self.items)} items",) if len(self.items) > 1 else ()
        return split + tuple(f"{item.raw}: {step}" for item in self.items for step in item.steps)


@cache
def who_table() -> WhoTable:
    """The WHO table, loaded at the first code that ICD-10-CM does not know."""
    return load_who_table()


@lru_cache(maxsize=65536)
def normalise(raw: str, keep_extension: bool = False) -> NormalisedCodes:
    """Read codes.

    Args:
        raw: a code or a list of codes, in any case, with or without dots, blanks and marks.
        keep_extension: keep 7th characters as nodes of their own below the leaves (some carry meaning: open
            fracture, stage of glaucoma).
    """
    parts = [part.strip() for part in _SEPARATORS.split(raw)]
    parts = [part for part in parts if part] or [raw.strip()]
    items: list[CodeItem] = []
    for part in parts:
        items.extend(_read(part, len(parts) == 1))
    if not keep_extension:
        items = [_without_extension(item) for item in items]
    return NormalisedCodes(raw, tuple(items))


def is_code_shaped(text: str) -> bool:
    """Whether a text is written like a single code ("S22.3", "e119", but not "stroke")."""
    return _SHAPE.fullmatch(text.strip().upper()) is not None


def is_manifestation(code: str) -> bool:
    """Whether a code, or one above it, is titled as a manifestation of what is "classified elsewhere"."""
    return any(_MANIFESTATION.search(node.title) for node in icd_tree().lineage(code)[CATEGORY_DEPTH - 1 :])


def _read(part: str, alone: bool) -> list[CodeItem]:
    """Read one item; several come back when blanks separate whole codes."""
    tree = icd_tree()
    text, steps = _clean(part)
    code = _valid(tree, text)
    if code is not None and (alone or not code.isdigit()):
        if code != text:
            steps = (*steps, "dot inserted")
        return [_item(part, code, "exact", steps)]
    words = part.split()
    if len(words) > 1 and all(is_code_shaped(word.strip("†‡*+!#")) for word in words):
        return [item for word in words for item in _read(word, False)]
    return [_read_invalid(tree, part, text, steps, alone)]


def _clean(part: str) -> tuple[str, tuple[str, ...]]:
    """Rule 1: upper case; blanks, marks and the header sign ".-" dropped."""
    steps = []
    text = "".join(part.split())
    if text != part:
        steps.append("blanks dropped")
    if text != text.upper():
        text = text.upper()
        steps.append("upper-cased")
    for pattern, by, step in _CLEANING:
        changed = pattern.sub(by, text)
        if changed != text:
            text = changed
            steps.append(step)
    return text, tuple(steps)


def _valid(tree: IcdTree, text: str) -> str | None:
    """Rule 3: the text as a valid code, with its dot."""
    for code in (text, f"{text[:3]}.{text[3:]}"):
        if code in tree or tree.split_extension(code) is not None:
            return code
    return None


def _read_invalid(tree: IcdTree, part: str, text: str, steps: tuple[str, ...], alone: bool) -> CodeItem:
    """Rule 5, and the mapping of WHO blocks and chapters: what ICD-10-CM does not know as it stands."""
    who = who_table().titles
    span = _SPAN.fullmatch(text)
    if span:
        covering = tree.common(tree.categories_between(span[1], span[2]))
        if covering is not None:
            status: Status = "who_mapped" if text in who else "truncated"
            return _item(part, covering.code, status, (*steps, f"covered by {covering.id}"))
        return CodeItem(part, None, "unresolved", steps=steps)
    if alone and text in who and set(text) <= set(_ROMAN):
        return _item(part, str(_roman(text)), "who_mapped", (*steps, "WHO chapter"))
    if not _SHAPE.fullmatch(text):
        return CodeItem(part, None, "not_a_code", steps=steps)
    dotted = text if "." in text or len(text) == CATEGORY_DEPTH else f"{text[:3]}.{text[3:]}"
    for end in range(len(dotted) - 1, CATEGORY_DEPTH - 1, -1):
        code = dotted[:end].rstrip(".")
        if code in tree or tree.split_extension(code) is not None:
            status = "who_truncated" if dotted in who else "truncated"
            return _item(part, code, status, (*steps, f"cut to {code}"))
    return CodeItem(part, None, "unresolved", steps=steps)


def _item(part: str, code: str, status: Status, steps: tuple[str, ...]) -> CodeItem:
    return CodeItem(part, code, status, manifestation="*" in part or is_manifestation(code), steps=steps)


def _without_extension(item: CodeItem) -> CodeItem:
    """Rule 4: the code that an extended code extends, its 7th character kept aside."""
    split = icd_tree().split_extension(item.code) if item.code is not None else None
    if split is None:
        return item
    steps = (*item.steps, f"extension {split[1]} taken off")
    return replace(item, code=split[0], extension=split[1], steps=steps)


def _roman(text: str) -> int:
    values = [_ROMAN[letter] for letter in text]
    return sum(-here if here < after else here for here, after in zip(values, [*values[1:], 0], strict=True))
