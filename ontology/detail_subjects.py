"""What a question for a detail is about, where its own words are also a finding's: "does moving make the pain worse?"."""

from __future__ import annotations

import re
from dataclasses import replace

from ontology import cues
from ontology.attributes import asks_presence
from ontology.concepts import Attribute
from ontology.vocabulary import Match, Vocabulary

AGENTS = frozenset({"medication", "social", "exposure", "demographic"})
"""Kinds that bring on, ease or suffer from a complaint: "does ibuprofen help it?", "does it affect your work?"."""

PAIN = "C0030193"
PAIN_HMAX = 6
ACTED_ON = frozenset({"aggravating", "relieving"})
SAID_OF_IT = re.compile(
    r"\b(?:it|them|they|this|that|these|those)\b(?! (?:medicine|medication|tablet|drug|time|week|month|year|morning)s?\b)", re.IGNORECASE
)
RELIEF = re.compile(r"\brelief\b", re.IGNORECASE)
PRESSING = re.compile(r"\b(?:press|touch|brush|push)\w*", re.IGNORECASE)
MOVES = re.compile(r"\b(?:travel\w*|run(?:s|ning)? down|radiat\w+ (?:to|into|down)|mov(?:es?|ed|ing)|migrat\w+|shoot\w*)", re.IGNORECASE)
MOVING_THING = re.compile(
    r"\b(?:it|this|that|they|pain|ache|x{3,}|(?:the|your|this|that) \w+(?: \w+)?)\s+(?:ever |also |just )?$", re.IGNORECASE
)
LOOSE_END = re.compile(r"(?:\s+(?:anywhere|somewhere|elsewhere|else|at all))+$", re.IGNORECASE)
WITH_AGENTS = frozenset({"severity", *ACTED_ON})


def trimmed(match: Match, text: str, start: int, vocabulary: Vocabulary) -> Match | None:
    """A match without "anywhere else" at its end; None where its words say that a complaint moves, not that the patient travels."""
    words = text[match.start - start : match.end - start]
    moves = MOVES.match(words)
    if moves and (vocabulary.kind(match.concept) != "symptom" or words.lower().startswith("run")):
        before = text[max(0, match.start - start - cues.REACH) : match.start - start]
        if MOVING_THING.search(before) and not cues.SECOND_PERSON.search(before.split()[-1] if before.split() else ""):
            return None
    loose = LOOSE_END.search(words)
    return replace(match, end=match.end - len(loose.group())) if loose and loose.start() > 0 else match


def is_definite(match: Match, text: str, start: int) -> bool:
    """Whether "the", "your" or the like stands before a finding."""
    return cues.DEFINITE.search(text[max(0, match.start - start - cues.REACH) : match.start - start]) is not None


def resolved(matches: list[Match], text: str, start: int, vocabulary: Vocabulary) -> tuple[list[Match], list[Match]]:
    """Splits what names a finding from what only asks for a detail of one.

    Args:
        matches: the findings of a clause.
        text: the clause; it begins at `start` in the turn.
        start: see `text`.
        vocabulary: the concepts.

    Returns:
        the findings, of which those named inside a longer phrase keep that phrase's concept as an alternative ("the pain worse when you
        move" is the pain); findings that are details of what was spoken of before ("is it worse when you move").
    """
    found: list[Match] = []
    details: list[Match] = []
    for match in matches:
        inner = _named_within(match, text, start, vocabulary)
        if inner is not None:
            found.append(inner)
        elif vocabulary.detail(match.concept):
            if all(match.concept != other.concept for other in details):
                details.append(match)
        else:
            found.append(match)
    if not details:
        return found, []
    named = [m for m in found if vocabulary.kind(m.concept) == "symptom" and is_definite(m, text, start)]
    if named:
        owner = named[-1]
        with_details = replace(owner, alternatives=(*owner.alternatives, *(m.concept for m in details)))
        return [with_details if m is owner else m for m in found], []
    if found or asks_presence(text) and not SAID_OF_IT.search(text):
        return sorted([*found, *details], key=lambda m: m.start), []
    return [], details


def _named_within(match: Match, text: str, start: int, vocabulary: Vocabulary) -> Match | None:
    """The known finding inside a longer phrase whose other words ask for a detail of it."""
    kind = vocabulary.kind(match.concept)
    words = text[match.start - start : match.end - start]
    if kind not in ("symptom", "medication") or " " not in words or len(words) > cues.REACH * 2:
        return None
    first, last = words.index(" ") + 1, words.rindex(" ")
    for begin, part in ((first, words[first:]), (0, words[:last])):
        for inner in vocabulary.find(part):
            here = replace(inner, start=match.start + begin + inner.start, end=match.start + begin + inner.end)
            if inner.concept == match.concept or vocabulary.kind(inner.concept) != "symptom" or vocabulary.detail(inner.concept):
                continue
            before = text[max(0, here.start - start - cues.REACH) : here.start - start]
            if cues.KNOWN_SUBJECT.search(before) and _asks_within(match, vocabulary):
                return replace(here, alternatives=(*inner.alternatives, match.concept))
    return None


def _asks_within(outer: Match, vocabulary: Vocabulary) -> bool:
    """Whether the other words of the longer phrase ask for a detail."""
    return vocabulary.detail(outer.concept) is not None or vocabulary.kind(outer.concept) == "medication"


def hinders(match: Match, text: str, start: int, vocabulary: Vocabulary) -> bool:
    """Whether a match is what a complaint interferes with: work, sleep, daily life."""
    words = text[match.start - start : match.end - start]
    return vocabulary.kind(match.concept) in AGENTS or cues.IMPEDED.search(words) is not None


def _is_predicate(match: Match, text: str, start: int, vocabulary: Vocabulary) -> bool:
    """Whether a finding is all that a question says of a part of the body: "are your shoulders stiff when you get up?"; but not pain."""
    before, after = text[: match.start - start], text[match.end - start :]
    if not cues.OF_A_PART.match(before) or not cues.ADJUNCT.match(after):
        return False
    whole = " " in text[match.start - start : match.end - start] or cues.KNOWN_SUBJECT.search(before[-cues.REACH :]) is None
    return whole and PAIN not in vocabulary.ancestors(match.concept, PAIN_HMAX, through_generic=True)


def bearers(
    front: list[Match], attribute: Attribute | None, asks_at: int, text: str, start: int, vocabulary: Vocabulary
) -> tuple[list[Match], Attribute | None]:
    """The findings of a question whose detail is asked, without what brings them on or eases them; and the detail.

    Of "do bright lights make the headache worse?" it is the headache; of "does ibuprofen help?" whatever was spoken of before.

    Args:
        front: the findings that the clause asks for.
        attribute: the detail that its words ask for.
        asks_at: where they do.
        text: the clause; it begins at `start` in the turn.
        start: see `text`.
        vocabulary: the concepts.
    """
    if not front or attribute is None:
        return front, attribute
    if any(_is_predicate(m, text, start, vocabulary) for m in front):
        return front, None
    new = asks_presence(text) and RELIEF.search(text) is None
    named = [m for m in front if vocabulary.kind(m.concept) not in AGENTS and is_definite(m, text, start)]
    if not named and not cues.ASKS_OUTRIGHT.search(text) and all(vocabulary.kind(m.concept) != "symptom" for m in front):
        if attribute not in ACTED_ON or new:
            return front, None
    if attribute not in WITH_AGENTS or new:
        return front, attribute
    pressed = [m for m in front if m not in named and PRESSING.search(text[m.start - start : m.end - start])]
    if pressed:  # "does pressing on your chest bring on the pain?" asks for tenderness
        return pressed, None
    if named:
        return named, attribute
    if attribute == "severity":
        return front, attribute
    if SAID_OF_IT.search(text):
        kept = [m for m in front if vocabulary.kind(m.concept) not in AGENTS and m.end - start > asks_at]
        return (kept, None) if kept else ([], attribute)
    return [m for m in front if vocabulary.kind(m.concept) not in AGENTS], attribute
