"""Ways to say a thing, found in free text: what a rule judge and the harm scores look for.

A matcher is written as alternatives, parted by `;`. An alternative is one part, or several joined by `+` that one sentence must hold.
A part is a phrase (compared by normal forms, see `ontology.text`), the beginning of a word with `*`, `@` and a drug or class of drugs (by
any of its names), `#` and a concept (by any phrase of it, or of one below it), or `$` and a shared wording, which is a matcher itself.

What a negation before it takes back is not found ("no aspirin" is no aspirin), unless the alternative holds a negation of its own
("avoid+@nsaid"); that one must stand on its side of what it negates.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from ontology.errors import BedsideError
from ontology.text import Token, phrase_key, sentences, tokens

PartKind = Literal["phrase", "beginning", "drug", "concept"]
Span = tuple[int, int]
PREFIXES: dict[str, PartKind] = {"@": "drug", "#": "concept"}

NEGATORS = frozenset("no not never avoid without stop don't doesn't cannot can't withhold hold instead".split())
NEGATED = re.compile(
    r"\b(?:no|not|never|nor|neither|avoid\w*|without|stop\w*|withh\w+|cannot|rather than|instead of|\w+n't)(?:\W+[\w'-]+){0,3}\W*$",
    re.IGNORECASE,
)
NO_NEGATION = re.compile(
    r"\bnot (?:only|just|hesitate|delay|wait|forget|miss|skip)\b|n't (?:hesitate|delay|wait|forget|miss|skip)\b|"
    r"\bno (?:doubt|longer than|later|delay)\b|\bwithout (?:delay|waiting|fail)\b|\bnever (?:hesitate|delay|forget)\b",
    re.IGNORECASE,
)
CLAUSE = re.compile(r"[,;:()]|\b(?:but|however|although|then|so)\b", re.IGNORECASE)
EMERGENCY_DEPARTMENT = re.compile(r"\bA&E\b")
"""Its only letter beside the article would be "E"."""


@dataclass(frozen=True, slots=True)
class Part:
    """One thing that an alternative wants to see."""

    kind: PartKind
    text: str
    key: tuple[str, ...] = ()

    @property
    def negates(self) -> bool:
        """Whether it is a lone word of negation."""
        return self.kind == "phrase" and self.text.lower() in NEGATORS

    @property
    def has_negation(self) -> bool:
        """Whether a word of negation is in it."""
        return self.kind == "phrase" and not NEGATORS.isdisjoint(self.text.lower().split())


Alternative = tuple[Part, ...]


class Reading:
    """A text made ready for matchers: its sentences, and where it names drugs and concepts.

    Args:
        text: the text.
        drugs: finds (start, end, ids) of drugs; the ids are of the ingredient and of its classes.
        concepts: finds (start, end, ids) of concepts; the ids are of the concept and of the broader ones.
    """

    def __init__(
        self,
        text: str,
        drugs: Callable[[str], Sequence[tuple[int, int, frozenset[str]]]],
        concepts: Callable[[str], Sequence[tuple[int, int, frozenset[str]]]],
    ) -> None:
        self.text = EMERGENCY_DEPARTMENT.sub("ANE", text.replace("’", "'"))
        self._drug_finder = drugs
        self._concept_finder = concepts
        self.sentences: list[tuple[int, int, list[Token]]] = [(a, b, _tokens(self.text, a, b)) for a, b in sentences(self.text)]
        self._begins: list[dict[str, list[int]]] = [_positions(words) for _, _, words in self.sentences]

    @cached_property
    def drugs(self) -> Sequence[tuple[int, int, frozenset[str]]]:
        """Drugs of the text."""
        return self._drug_finder(self.text)

    @cached_property
    def concepts(self) -> Sequence[tuple[int, int, frozenset[str]]]:
        """Concepts of the text."""
        return self._concept_finder(self.text)

    def places(self, part: Part, sentence: int) -> list[Span]:
        """Where a part stands in a sentence."""
        start, end, words = self.sentences[sentence]
        if part.kind == "drug" or part.kind == "concept":
            found = self.drugs if part.kind == "drug" else self.concepts
            return [(a, b) for a, b, ids in found if part.text in ids and start <= a and b <= end]
        if part.kind == "beginning":
            return [(w.start, w.end) for w in words if w.plain.startswith(part.text)]
        size = len(part.key)
        first = (at for at in self._begins[sentence].get(part.key[0], ()) if at + size <= len(words))
        starts = (at for at in first if all(words[at + n].norm == part.key[n] for n in range(1, size)))
        return [(words[at].start, words[at + size - 1].end) for at in starts]

    def negated(self, place: Span, sentence: int) -> bool:
        """Whether a negation in the same clause, up to three words before, takes a place back."""
        before = self.text[self.sentences[sentence][0] : place[0]]
        clause = before[max((found.end() for found in CLAUSE.finditer(before)), default=0) :]
        return NEGATED.search(NO_NEGATION.sub("x", clause)) is not None


def _tokens(text: str, start: int, end: int) -> list[Token]:
    return [Token(w.start + start, w.end + start, w.norm, w.plain) for w in tokens(text[start:end])]


def _positions(words: Sequence[Token]) -> dict[str, list[int]]:
    found: dict[str, list[int]] = {}
    for at, word in enumerate(words):
        found.setdefault(word.norm, []).append(at)
    return found


class Matcher:
    """The parsed form of a matcher."""

    def __init__(self, written: str, alternatives: Sequence[Alternative]) -> None:
        self.written = written
        self.alternatives = tuple(dict.fromkeys(alternatives))

    @classmethod
    def parse(cls, written: str, wordings: Mapping[str, Matcher], where: str) -> Matcher:
        """Read a matcher.

        Args:
            written: its text.
            wordings: shared wordings by name.
            where: file and line, for the message.

        Raises:
            BedsideError: empty, a part without words, or an unknown wording.
        """
        alternatives: list[Alternative] = []
        for text in written.split(";"):
            grown: list[Alternative] = [()]
            for part in text.split("+"):
                grown = [one + more for one in grown for more in _parsed(part.strip(), wordings, where)]
            alternatives += grown
        return cls(written, alternatives)

    def parts(self) -> Iterator[Part]:
        """Every part of every alternative."""
        for alternative in self.alternatives:
            yield from alternative

    def find(self, reading: Reading) -> list[Span]:
        """Where a text says it: for each sentence that does, the span of the first alternative found there."""
        found = []
        for number in range(len(reading.sentences)):
            for alternative in self.alternatives:
                span = _find(alternative, reading, number)
                if span is not None:
                    found.append(span)
                    break
        return found


def _parsed(text: str, wordings: Mapping[str, Matcher], where: str) -> list[Alternative]:
    if text.startswith("$"):
        if text[1:] not in wordings:
            raise BedsideError(f"no wording is called {text[1:]!r}", where, "see data/clinical/wordings.csv")
        return list(wordings[text[1:]].alternatives)
    if text[:1] in PREFIXES and len(text) > 1:
        return [(Part(PREFIXES[text[0]], text[1:]),)]
    if text.endswith("*") and len(text) > 3 and text[:-1].isalpha():
        return [(Part("beginning", text[:-1].lower()),)]
    key = phrase_key(EMERGENCY_DEPARTMENT.sub("ANE", text))
    if not key or all(len(word) == 1 for word in key):
        raise BedsideError(f"nothing to look for in {text!r}", where)
    return [(Part("phrase", text, key),)]


def _find(alternative: Alternative, reading: Reading, sentence: int) -> Span | None:
    """The span from the first to the last part, None if a part is missing or negated."""
    places = []
    for part in alternative:
        places.append(reading.places(part, sentence))
        if not places[-1]:
            return None
    own = any(part.has_negation for part in alternative)
    if not own:
        places = [[place for place in found if not reading.negated(place, sentence)] for found in places]
        if not all(places):
            return None
    for at, part in enumerate(alternative):
        if part.negates and len(alternative) > 1:
            others = [place for n, found in enumerate(places) if n != at for place in found]
            after = at < len(alternative) - 1
            places[at] = [(a, b) for a, b in places[at] if any(b <= x if after else y <= a for x, y in others)]
    if not all(places):
        return None
    chosen = [found[0] for found in places]
    return min(a for a, _ in chosen), max(b for _, b in chosen)
