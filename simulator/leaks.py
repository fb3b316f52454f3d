"""Does a word of the truth reach the examiner before the commit? (metrics.md 0b D5)"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from ontology.text import folded
from simulator.case import Diagnosis, GroundTruth
from simulator.trace import LeakClass, LeakRecord, Turn

LICENSED_KINDS: frozenset[str] = frozenset({"history", "family_history", "exposure", "medication", "social", "allergy"})
"""A truthful fact of the past may name the disease: "have you ever had pneumonia?"."""

QUALIFIERS = re.compile(
    r",.*$|\b(?:unspecified|acute|other|not elsewhere classified|without .*|with .*|due to .*|nos|site|organism|initial encounter)\b"
    r"|\[.*?\]|\(.*?\)",
    re.IGNORECASE,
)
SHORTEST_TERM = 4
TOO_COMMON = frozenset(
    {"pain", "headache", "fever", "cough", "edema", "swelling", "nausea", "other", "disease", "syndrome", "abdominal pain", "chest pain"}
)
"""Titles of ICD-10 that are complaints, not diagnoses."""


def truth_terms(truth: GroundTruth, titles_of: Callable[[Diagnosis], Iterable[str]]) -> dict[str, str]:
    """Everything that would give the truth away: folded term → the term as written.

    Args:
        truth: the sealed truth.
        titles_of: titles of a diagnosis' codes and of their siblings in ICD-10.
    """
    found: dict[str, str] = {}
    primary = truth.primary
    for text in (primary.name, *primary.aliases, *primary.icd10):
        if folded(text):
            found.setdefault(folded(text), text)
    for title in titles_of(primary):
        key = folded(QUALIFIERS.sub(" ", title))
        if len(key) >= SHORTEST_TERM and key not in TOO_COMMON:
            found.setdefault(key, title)
    return found


class LeakGuard:
    """Finds words of one case's truth in texts."""

    def __init__(self, terms: dict[str, str], kind_of: Callable[[str], str]) -> None:
        """Make a guard.

        Args:
            terms: see `truth_terms`.
            kind_of: the kind of a concept.
        """
        self._terms = terms
        self._kind_of = kind_of
        ordered = sorted(terms, key=len, reverse=True)
        self._pattern = re.compile(r"(?<![a-z0-9])(" + "|".join(map(re.escape, ordered)) + r")(?:s|es)?(?![a-z0-9])") if ordered else None

    def hits(self, text: str) -> list[str]:
        """Folded terms of the truth in a text."""
        if self._pattern is None:
            return []
        return [match.group(1) for match in self._pattern.finditer(folded(text))]

    def licensed(self, concept: str | None) -> bool:
        """Whether an utterance about this concept may name the truth."""
        return concept is not None and self._kind_of(concept) in LICENSED_KINDS

    def check(self, turn: Turn) -> list[LeakRecord]:
        """Leaks in a turn of the patient or the record, each with its class."""
        if turn.role == "examiner":
            return []
        if turn.role == "record":
            return self._leaks(turn.idx, "record", turn.text)
        # A licensed sentence licenses itself, not the same word in the sentence beside it.
        found: list[LeakRecord] = []
        here = 0
        for mention in sorted((m for m in turn.mentions if self.licensed(m.cui)), key=lambda m: m.start):
            found += self._leaks(turn.idx, "unlicensed", turn.text[here : mention.start])
            found += self._leaks(turn.idx, "history", turn.text[max(here, mention.start) : mention.end])
            here = max(here, mention.end)
        return found + self._leaks(turn.idx, "unlicensed", turn.text[here:])

    def _leaks(self, turn_idx: int, leak_class: LeakClass, text: str) -> list[LeakRecord]:
        return [LeakRecord(turn_idx=turn_idx, leak_class=leak_class, surface=hit, term=self._terms[hit]) for hit in self.hits(text)]
