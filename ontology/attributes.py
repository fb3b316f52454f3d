"""Which detail of a finding a question asks for: when it began, where it is, how bad, and so on."""

from __future__ import annotations

from ontology.concepts import Attribute
from ontology.cues import DESCRIPTION, PRESENCE_START, REACH, SAID_OF_CONCEPT, STILL_ASKED
from ontology.detail_cues import ATTRIBUTE_CUES
from ontology.text import lower_in_place

PRESENCE_KEEPS: frozenset[str] = frozenset({"radiation", "location", "duration", "onset", "aggravating", "relieving", "progression"})
"""Attributes that a question for presence may still ask: "Do you have pain that spreads?"; "sharp pain" asks for pain."""

STANDARD: dict[Attribute, Attribute] = {
    "localisation": "location",
    "color": "character",
    "size": "severity",
    "peeling": "character",
    "swelling": "character",
    "itching": "character",
    "painfulness": "character",
}
"""The attribute of the usual scheme (onset, duration, location, …) that a finer one of ours belongs to."""


def without_descriptions(words: str, spans: list[tuple[int, int]]) -> tuple[list[int], str]:
    """Findings that only describe the one before them ("is the rash painful?"), and the text with the words of the others masked.

    Args:
        words: the clause.
        spans: (start, end) of its findings, in order.

    Returns:
        indexes of the describing findings; the clause in which each other finding is one word of x, so that "makes the headache worse"
        still reads as "makes the … worse".
    """
    describing: list[int] = []
    masked = list(words)
    for index, (begin, end) in enumerate(spans):
        before = "".join(masked[max(0, begin - REACH) : begin])
        if SAID_OF_CONCEPT.search(before) and DESCRIPTION.fullmatch(words[begin:end]):
            describing.append(index)
        else:
            masked[begin:end] = "x" * (end - begin)
    return describing, "".join(masked)


def asks_presence(text: str) -> bool:
    """Whether a question begins like one for presence: "do you have", "any"."""
    return PRESENCE_START.search(text) is not None


def attribute_asked(text: str, masked: str, has_concept: bool) -> tuple[Attribute | None, tuple[int, int] | None]:
    """The detail a question asks for, and where it says so.

    Args:
        text: the clause.
        masked: the same with the words of its findings masked: they ask for no detail.
        has_concept: whether it names a finding that may be new: "do you have severe pain?" asks for the pain.
    """
    text, masked = lower_in_place(text), lower_in_place(masked)
    for_presence = has_concept and asks_presence(text)
    for attribute, pattern in ATTRIBUTE_CUES:
        # "Where did you travel?" names the concept and the detail in the same words.
        found = pattern.search(text if attribute == "destination" else masked)
        if found is None or not found.group().strip():
            continue
        if for_presence and not (attribute in PRESENCE_KEEPS and STILL_ASKED.search(text, max(0, found.start() - REACH), found.end())):
            continue
        begin, finish = found.span()
        while begin < finish and text[begin].isspace():
            begin += 1
        return attribute, (begin, finish)
    return None, None
