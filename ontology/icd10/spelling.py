"""Words of names and their nearest neighbours: plurals, Roman numbers, typing errors."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable
from functools import lru_cache

from ontology.icd10.names import fold_name

FILLERS = frozenset("a an the of in on at".split())
"""Words that two names may differ in and still be one."""

SHORTEST_TYPO = 5
"""Letters from which a word counts as mistyped rather than unknown."""

_SAME_BEGINNING = 2
_ROMAN = {"ii": "2", "iii": "3", "iv": "4"}
_NUMBERED = frozenset("type grade stage class".split())
_LETTERED = frozenset("hepatitis influenza vitamin hemophilia".split())
_WORD = re.compile(r"[a-z]+$")


@lru_cache(maxsize=65536)
def stem(word: str) -> str:
    """A folded word without its plural s (not -ss, -us, -is)."""
    if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-3] + "y" if word.endswith("ies") and len(word) > 4 else word[:-1]
    return word


def stems(name: str) -> tuple[str, ...]:
    """The words of a name that tell it from others, in order.

    Args:
        name: a name, folded or not.
    """
    return stems_of_folded(fold_name(name))


def stems_of_folded(key: str) -> tuple[str, ...]:
    """As `stems`, for a name that is folded already: folding is most of the work."""
    found: list[str] = []
    words = key.split()
    for place, word in enumerate(words, start=1):
        if word in FILLERS and not (word == "a" and place > 1 and (place == len(words) or words[place - 2] in _LETTERED)):
            continue
        if word == "i" and found and found[-1] in _NUMBERED:
            word = "1"
        found.append(_ROMAN.get(word, stem(word)))
    return tuple(found)


def likeness(one: str, other: str) -> float:
    """Twice the longest common subsequence over the letters of both, in 0..1."""
    if not one or not other:
        return float(one == other)
    row = [0] * (len(other) + 1)
    for letter in one:
        before = 0
        for place, match in enumerate(other, start=1):
            here = before + 1 if letter == match else max(row[place], row[place - 1])
            before, row[place] = row[place], here
    return 2.0 * row[-1] / (len(one) + len(other))


def slips(one: str, other: str, most: int) -> int | None:
    """Letters changed, added, dropped or exchanged with their neighbour; None if more than `most`."""
    if abs(len(one) - len(other)) > most:
        return None
    last: list[int] = []
    row = list(range(len(other) + 1))
    for i, letter in enumerate(one, start=1):
        now = [i]
        for j, match in enumerate(other, start=1):
            cost = min(row[j] + 1, now[j - 1] + 1, row[j - 1] + (letter != match))
            if i > 1 and j > 1 and letter == other[j - 2] and one[i - 2] == match:
                cost = min(cost, last[j - 2] + 1)
            now.append(cost)
        if min(now) > most:
            return None
        last, row = row, now
    return row[-1] if row[-1] <= most else None


class Speller:
    """Known words and, for unknown ones, the known words that may have been meant."""

    def __init__(self, words: Iterable[str]) -> None:
        """Index words by their groups of three letters.

        Args:
            words: the vocabulary, each word once.
        """
        self._words = [word for word in words if len(word) >= SHORTEST_TYPO - 1 and _WORD.match(word)]
        self._grams: defaultdict[str, list[int]] = defaultdict(list)
        for number, word in enumerate(self._words):
            for gram in _grams(word):
                self._grams[gram].append(number)

    def nearest(self, word: str, limit: int = 4) -> list[tuple[str, int]]:
        """(known word, slips) for a mistyped word, nearest first; none for short words and those with digits.

        Args:
            word: a word that is not known.
            limit: at most so many.
        """
        if len(word) < SHORTEST_TYPO or not _WORD.match(word):
            return []
        most = 1 if len(word) < 8 else 2
        shared = Counter(number for gram in _grams(word) for number in self._grams.get(gram, ()))
        least = max(_SAME_BEGINNING, len(word) + 2 - 3 * most - 1)
        found: list[tuple[int, str]] = []
        for number, count in shared.items():
            if count >= min(least, len(word) - 1) or (most == 1 and count >= _SAME_BEGINNING):
                distance = slips(word, self._words[number], most)
                if distance is not None:
                    found.append((distance, self._words[number]))
        return [(other, distance) for distance, other in sorted(found)[:limit]]


def _grams(word: str) -> set[str]:
    padded = f"^{word}$"
    return {padded[start : start + 3] for start in range(len(padded) - 2)}
