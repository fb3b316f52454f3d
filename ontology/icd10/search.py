"""Search in the names of ICD-10-CM and our synonyms: for typed diagnoses and for autocomplete.

Exact names come first, then synonyms, names that begin with the text, names with all its words, and names with nearly its words
(typing errors). Spelling, plural and word order do not matter. A code, or the beginning of one, finds codes.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from heapq import nsmallest
from itertools import islice, product
from typing import Literal, NamedTuple

from ontology.icd10.names import KINDS, Kind, fold_name, is_borrowed, name_variants
from ontology.icd10.spelling import Speller, likeness, stems, stems_of_folded
from ontology.icd10.synonyms import synonym_table
from ontology.icd10.tree import IcdTree, icd_tree

HitPath = Literal["code", "exact", "synonym", "prefix", "words", "fuzzy"]

SCORES: dict[HitPath, float] = {"code": 1.0, "exact": 1.0, "synonym": 0.98, "prefix": 0.9, "words": 0.8, "fuzzy": 0.7}
"""Score of a hit by its path; a fuzzy one's is multiplied by the likeness of the corrected text."""

LONGEST = 160
"""Characters beyond which a text is no name; search and nearest find nothing."""

MOST_WORDS = 16
_BLOCK_DEPTH = 2
_TRIALS = 24
_CODE = re.compile(r"[A-Z]\d[0-9A-Z]{0,2}(?:\.[0-9A-Z]{0,4})?|[A-Z]\d[0-9A-Z]\d[0-9A-Z]{0,3}")
_DIFFERENT_ORDER = 0.97
_SAME_LETTERS = 0.98


@dataclass(frozen=True, slots=True)
class Hit:
    """A code that was found; `matched` is the name it was found by, as written in its source."""

    code: str
    title: str
    matched: str
    score: float
    path: HitPath
    kind: Kind | Literal["synonym", "code"]


@dataclass(frozen=True, slots=True)
class Nearest:
    """The codes whose names are most like a text; several where they are equally like it."""

    codes: tuple[str, ...]
    matched: str
    score: float


class _Entry(NamedTuple):
    key: str
    text: str
    code: str
    kind: Kind | Literal["synonym"]


class SearchIndex:
    """An inverted index over folded words; entries are numbered in order of preference."""

    def __init__(self, tree: IcdTree) -> None:
        """Index all names and synonyms (about a second).

        Args:
            tree: the tree.
        """
        self._tree = tree
        self._entries = sorted(set(_entries(tree)), key=_preference)
        self._by_key: defaultdict[str, list[int]] = defaultdict(list)
        self._by_words: defaultdict[tuple[str, ...], list[int]] = defaultdict(list)
        self._by_letters: defaultdict[str, list[int]] = defaultdict(list)
        self._holding: defaultdict[str, list[int]] = defaultdict(list)
        for number, entry in enumerate(self._entries):
            words = stems_of_folded(entry.key)
            self._by_key[entry.key].append(number)
            self._by_words[tuple(sorted(words))].append(number)
            self._by_letters["".join(words)].append(number)
            for word in set(words):
                self._holding[word].append(number)
        self._keys = sorted(self._by_key)
        self._words = sorted(self._holding)
        # The same few unknown words come back in every text of a run.
        self._nearest_words = lru_cache(maxsize=8192)(Speller(self._words).nearest)

    def __contains__(self, word: object) -> bool:
        """Whether a stem occurs in any name."""
        return word in self._holding

    def search(self, query: str, limit: int = 10) -> list[Hit]:
        """The best hits, one per code.

        Args:
            query: what was typed: a name, the beginning of one, or of a code.
            limit: at most so many.
        """
        if len(query) > LONGEST or limit < 1:
            return []
        found = self._codes(query, limit)
        key = fold_name(query)
        words = stems_of_folded(key)[:MOST_WORDS]
        if not words:
            return list(found.values())[:limit]
        for number in self._by_key.get(key, ()):
            self._add(found, number, "exact")
        if len(found) < limit:
            for number in nsmallest(4 * limit, self._beginning(key)):
                self._add(found, number, "prefix")
        if len(found) < limit:
            for number in nsmallest(4 * limit, self._with_all(words)):
                self._add(found, number, "words")
        if len(found) < limit:
            for trial, like in self._corrections(words):
                for number in nsmallest(limit, self._with_all(trial)):
                    self._add(found, number, "fuzzy", like)
        return sorted(found.values(), key=lambda hit: -hit.score)[:limit]

    def nearest(self, text: str) -> Nearest | None:
        """The name that a text is, but for word order, filling words, plural, blanks and typing errors.

        A word that occurs in any name counts as meant ("arteritis" is no misspelt "arthritis"); only unknown words are corrected. The score
        is the likeness of the folded texts, at most .97 where the order differs.

        Args:
            text: a name.
        """
        words = stems(text)
        if not words or len(text) > LONGEST or len(words) > MOST_WORDS:
            return None
        same = self._by_letters.get("".join(words))
        if same:
            return self._verdict(same, _SAME_LETTERS)
        same = self._by_words.get(tuple(sorted(words)))
        if same:
            return self._verdict(same, _DIFFERENT_ORDER)
        best: list[tuple[float, list[int]]] = []
        for trial, like in self._corrections(words):
            same = self._by_words.get(tuple(sorted(trial)))
            if same:
                best.append((like, same))
        if not best:
            return None
        top = max(like for like, _ in best)
        return self._verdict([number for like, numbers in best if like > top - 0.03 for number in numbers], top)

    def holding(self, words: Iterable[str]) -> set[str]:
        """Codes with a name that holds all of some stems."""
        return {self._entries[number].code for number in self._with_words(tuple(words))}

    def _with_words(self, words: tuple[str, ...]) -> set[int]:
        lists = sorted((self._holding.get(word, []) for word in words), key=len)
        found = set(lists[0]) if lists else set()
        for other in lists[1:]:
            found.intersection_update(other)
        return found

    def _verdict(self, numbers: list[int], score: float) -> Nearest:
        """Of equal names the better kind wins; codes below one another become the upper one."""
        entries = [self._entries[number] for number in sorted(numbers)]
        best = [entry for entry in entries if entry.kind == entries[0].kind]
        codes = list(dict.fromkeys(entry.code for entry in best))
        others = [entry.code for entry in entries]
        common = self._tree.common(others if score < _DIFFERENT_ORDER else codes)
        if common is not None and common.code in codes:
            return Nearest((common.code,), best[0].text, score)
        shown = others if score < _DIFFERENT_ORDER else codes
        return Nearest(tuple(dict.fromkeys(shown)), best[0].text, score)

    def _add(self, found: dict[str, Hit], number: int, path: HitPath, like: float = 1.0) -> None:
        entry = self._entries[number]
        if path == "exact" and entry.kind == "synonym":
            path = "synonym"
        if entry.code not in found:
            title = self._tree.title(entry.code)
            found[entry.code] = Hit(entry.code, title, entry.text, round(SCORES[path] * like, 4), path, entry.kind)

    def _codes(self, query: str, limit: int) -> dict[str, Hit]:
        text = query.strip().upper()
        if not _CODE.fullmatch(text):
            return {}
        dotted = text if "." in text or len(text) <= 3 else f"{text[:3]}.{text[3:]}"
        codes = (code for code in self._tree.table.codes if code.startswith(dotted) and "-" not in code)
        titles = ((code, self._tree.title(code)) for code in islice(codes, limit))
        return {code: Hit(code, title, title, SCORES["code"], "code", "code") for code, title in titles}

    def _beginning(self, key: str) -> Iterator[int]:
        for place in range(bisect_left(self._keys, key), len(self._keys)):
            if not self._keys[place].startswith(key):
                return
            yield from self._by_key[self._keys[place]]

    def _with_all(self, words: tuple[str, ...]) -> set[int]:
        """Entries with a word for each of these, or one that begins with it."""
        sets: list[set[int]] = []
        for place_in_text, word in enumerate(words, start=1):
            known = self._holding.get(word)
            if len(word) == 1 or (known is not None and place_in_text < len(words)):
                sets.append(set(known or ()))
                continue
            holding: set[int] = set()
            for place in range(bisect_left(self._words, word), len(self._words)):
                if not self._words[place].startswith(word):
                    break
                holding.update(self._holding[self._words[place]])
            sets.append(holding)
        return set.intersection(*sets)

    def _corrections(self, words: tuple[str, ...]) -> list[tuple[tuple[str, ...], float]]:
        """The words with unknown ones replaced by known ones, and how like the result is; most like first."""
        choices: list[list[str]] = []
        for word in words:
            choices.append([word] if word in self._holding else [other for other, _ in self._nearest_words(word)])
        if not all(choices) or all(word in self._holding for word in words):
            return []
        text = "".join(words)
        trials = [(trial, likeness(text, "".join(trial))) for trial in islice(product(*choices), _TRIALS)]
        return sorted(trials, key=lambda item: (-item[1], item[0]))


def _entries(tree: IcdTree) -> Iterator[_Entry]:
    table = tree.table
    for position, code in enumerate(table.codes):
        if tree.depths[position] < _BLOCK_DEPTH:
            continue
        own: list[tuple[Kind, str]] = [("title", table.titles[position])]
        if tree.depths[position] > _BLOCK_DEPTH:
            own += [("inclusion_term", name) for name in table.inclusions.get(position, ())]
            own += [("includes", name) for name in table.includes.get(position, ())]
        for kind, name in own:
            if is_borrowed(table.titles[position], kind, name):
                continue
            key = fold_name(name)
            yield _Entry(key, name, code, kind)
            for variant in name_variants(name, key):
                yield _Entry(variant, name, code, "variant")
    for key, row in synonym_table().items():
        yield _Entry(key, row.name, row.code, "synonym")


def _preference(entry: _Entry) -> tuple[bool, int, int, int, str, str]:
    """Diseases before external causes and encounters, short names first; of one length, the better kind and the upper code."""
    rank = 1 if entry.kind == "synonym" else KINDS.index(entry.kind) * 2
    return (entry.code[0] in "VWXYZ", len(entry.key), rank, len(entry.code), entry.code, entry.text)


@cache
def search_index() -> SearchIndex:
    """The index of the installed ICD-10-CM release and the bundled synonyms, built at the first search."""
    return SearchIndex(icd_tree())


def search(query: str, limit: int = 10) -> list[Hit]:
    """Find codes by name or by the beginning of a code; the best first, one hit per code, always in the same order.

    Args:
        query: what was typed.
        limit: at most so many.
    """
    return search_index().search(query, limit)
