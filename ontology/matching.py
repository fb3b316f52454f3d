"""Finds concepts in a text beyond its plain phrases: mistyped words, other word orders, and what "or" and "and" leave out.

"Joint pain or swelling" asks for joint swelling too, "arm or leg weakness" for weakness of the arm, "blood in your stools or vomit" for
blood in the vomit.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

from ontology.icd10.spelling import SHORTEST_TYPO, Speller
from ontology.text import Token, normal_form, plain_form, tokens
from ontology.vocabulary import Match, Vocabulary

CONJUNCTIONS = frozenset({"or", "and", "nor"})
PREPOSITIONS = frozenset({"in", "of", "on", "at", "with", "around", "to"})
JOINING = CONJUNCTIONS | PREPOSITIONS
DEGREES = frozenset(
    normal_form(word) for word in "significant severe recent unusual unexplained much more slight bad mild little new sudden".split()
)
"""Words that may stand inside a phrase without changing what it means."""
LEADING_NO = re.compile(r"\W*no\s*,", re.IGNORECASE)
"""A "no" that answers is no part of a phrase such as "no appetite"."""
LONGEST_TAIL = 3
"""Words that may stand for the rest of a phrase after a conjunction."""
SITES = frozenset(
    normal_form(word)
    for word in (
        "joint head neck back chest breast abdomen abdominal stomach tummy belly arm leg hand foot ankle knee hip shoulder elbow wrist "
        "finger toe face facial eye ear nose nasal throat mouth tongue gum jaw muscle skin rectal vaginal genital testicular groin pelvic "
        "flank limb bone scalp eyelid lip calf thigh buttock rib spine spinal nail hair lymph node gland bladder urinary menstrual weight "
        "night"
    ).split()
)
"""Words before a finding that its neighbour after "or" shares: "joint pain or swelling", "weight loss or gain"."""
SENSATIONS = frozenset(
    normal_form(word)
    for word in (
        "pain ache aches soreness swelling stiffness weakness numbness tingling tenderness redness discomfort bleeding bruising loss gain "
        "trauma injury sweats itching inflammation cramps spasm rash discharge infection"
    ).split()
)
"""Last words of a finding at a place, whose neighbour after "or" is at the same place."""
_BETWEEN = re.compile(r"\s*(?:,\s*(?:or|and)?|/|\bor\b|\band\b)\s*", re.IGNORECASE)
_LETTERS = re.compile(r"[^\W\d_]+$")


def matches_in(text: str, vocabulary: Vocabulary) -> list[Match]:
    """All concepts of a text, in order of their beginning.

    Args:
        text: one sentence.
        vocabulary: the concepts and their phrases.

    Returns:
        the longest phrases from the left, which never overlap, and what coordination adds to them: an added match begins or ends with the
        one whose words it shares, and no two have the same span.
    """
    answered = LEADING_NO.match(text)
    words = _corrected([word for word in tokens(text) if answered is None or word.start >= answered.end()], vocabulary)
    found = _reordered(words, vocabulary.find(text, words), vocabulary)
    return _coordinated(text, words, found, vocabulary)


def _entry(words: Sequence[Token], vocabulary: Vocabulary) -> Match | None:
    """What exactly these words mean, in the order given."""
    length, entry = vocabulary.longest_at(list(words), 0)
    if entry is None or length != len(words):
        return None
    start, end = min(word.start for word in words), max(word.end for word in words)
    return Match(start, end, entry.concept, entry.alternatives, -1, -1)


# -- word order -------------------------------------------------------------------------------------------------------


def _reordered(words: list[Token], found: list[Match], vocabulary: Vocabulary) -> list[Match]:
    """Such as "pain in the elbow" and "swollen joints", under the order that the vocabulary has."""
    for position, word in enumerate(words):
        if word.norm in DEGREES and 0 < position < len(words) - 1:
            found = _bridged(words, position, found, vocabulary)
        if word.norm in PREPOSITIONS and 0 < position < len(words) - 1:
            for before in (2, 1):
                for after in (2, 1):
                    first, last = position - before, position + after
                    if first >= 0 and last < len(words):
                        found = _swapped(words, first, position, position + 1, last, found, vocabulary)
        either_or = position + 2 < len(words) and words[position + 2].norm in CONJUNCTIONS  # "is the cough dry or chesty?"
        if position + 1 < len(words) and not either_or:
            found = _swapped(words, position, position + 1, position + 1, position + 1, found, vocabulary)
    return found


def _bridged(words: list[Token], position: int, found: list[Match], vocabulary: Vocabulary) -> list[Match]:
    """A phrase around a word of degree: "lost significant weight"."""
    for before in (2, 1):
        for after in (2, 1):
            first, last = position - before, position + after
            if first < 0 or last >= len(words):
                continue
            match = _entry([*words[first:position], *words[position + 1 : last + 1]], vocabulary)
            touched = [m for m in found if m.last_token >= first and m.first_token <= last]
            if match is not None and all(m.last_token - m.first_token < before + after - 1 for m in touched):
                kept = [m for m in found if m not in touched]
                return sorted([*kept, replace(match, first_token=first, last_token=last)], key=lambda m: (m.start, m.end))
    return found


def _swapped(
    words: list[Token], first: int, first_end: int, second: int, last: int, found: list[Match], vocabulary: Vocabulary
) -> list[Match]:
    """With the words first..first_end-1 put behind second..last, if that is a phrase and nothing longer is found there."""
    order = [*words[second : last + 1], *words[first:first_end]]
    if any(word.norm in JOINING for word in order):
        return found
    match = _entry(order, vocabulary)
    if match is None:
        return found
    span = range(first, last + 1)
    touched = [m for m in found if m.first_token in span or m.last_token in span or m.first_token < first <= m.last_token]
    if any(m.first_token not in span or m.last_token not in span or m.last_token - m.first_token + 1 >= len(span) for m in touched):
        return found
    if sum(m.last_token - m.first_token + 1 for m in touched) >= len(order):
        return found  # each half is a finding already
    if second - first_end == 0 and not touched:
        return found
    match = replace(match, first_token=first, last_token=last)
    kept = [m for m in found if m not in touched]
    return sorted([*kept, match], key=lambda m: (m.start, m.end))


# -- coordination -----------------------------------------------------------------------------------------------------


def _coordinated(text: str, words: list[Token], found: list[Match], vocabulary: Vocabulary) -> list[Match]:
    result = list(found)
    for match in found:
        result = _heads(words, match, result, vocabulary)
        result = _tails(text, words, match, result, vocabulary)
    unique: dict[tuple[int, int], Match] = {}
    for match in result:
        unique.setdefault((match.start, match.end), match)
    return sorted(unique.values(), key=lambda m: (m.start, m.end))


def _tails(text: str, words: list[Token], match: Match, found: list[Match], vocabulary: Vocabulary) -> list[Match]:
    """Findings after a conjunction that share the first words of a match: "blood in stools or vomit, or urine"."""
    here = match.last_token
    own = words[match.first_token : match.last_token + 1]
    while True:
        begin = _next_item(text, words, here)
        if begin is None:
            return found
        added = None
        for length in range(min(LONGEST_TAIL, len(words) - begin), 0, -1):
            tail = words[begin : begin + length]
            for kept in range(len(own) - 1, 0, -1):
                added = _shared(own[:kept], tail, begin, found, vocabulary, own[-1].norm in SENSATIONS)
                if added is not None:
                    break
            if added is not None:
                break
        if added is None:
            return found
        whole = replace(added, start=match.start, first_token=match.first_token)
        taken = [m for m in found if m.first_token >= begin and m.last_token <= added.last_token and m is not match]
        found = [m for m in found if m not in taken]
        if added.concept != match.concept:
            found.append(whole)
        here = added.last_token


def _shared(head: list[Token], tail: list[Token], begin: int, found: list[Match], vocabulary: Vocabulary, sensation: bool) -> Match | None:
    match = _entry([*head, *tail], vocabulary)
    if match is None or any(word.norm in JOINING for word in tail):
        return None
    alone = next((m for m in found if m.first_token == begin), None)
    if alone is not None:
        if alone.last_token - begin + 1 > len(tail):
            return None  # the words after the conjunction are a longer phrase of their own
        if len(head) == 1 and not (head[0].norm in SITES and sensation):
            return None
    elif len(head) == 1 and head[0].norm not in SITES and len(tail) == 1 and len(tail[0].norm) < 4:
        return None
    return replace(match, last_token=begin + len(tail) - 1)


def _next_item(text: str, words: list[Token], last: int) -> int | None:
    """Index of the word after a comma, a slash, "or" or "and" that follows a word; None if something else follows."""
    following = last + 1
    if following < len(words) and words[following].norm in CONJUNCTIONS:
        following += 1
    if following >= len(words):
        return None
    between = text[words[last].end : words[following].start]
    between = re.sub(r"\b(?:the|your|any|a|an|in|his|her|some)\b", " ", between, flags=re.IGNORECASE)
    return following if _BETWEEN.fullmatch(between) else None


def _heads(words: list[Token], match: Match, found: list[Match], vocabulary: Vocabulary) -> list[Match]:
    """A finding before a conjunction that shares the last words of a match: "neck or back pain", "red or swollen joints"."""
    joint = match.first_token - 1
    if joint < 1 or words[joint].norm not in CONJUNCTIONS:
        return found
    own = words[match.first_token : match.last_token + 1]
    for length in (2, 1):
        first = joint - length
        if first < 0 or any(m.last_token >= first and m.first_token < joint for m in found):
            continue
        head = words[first:joint]
        if any(word.norm in JOINING for word in head):
            continue
        for dropped in range(1, len(own)):
            added = _entry([*head, *own[dropped:]], vocabulary)
            if added is not None and added.concept != match.concept:
                return [*found, replace(added, first_token=first, last_token=match.last_token)]
    return found


# -- typing errors ----------------------------------------------------------------------------------------------------


def _corrected(words: list[Token], vocabulary: Vocabulary) -> list[Token]:
    """The words with those that are no English words read as the known word they are nearest to."""
    return [_corrected_word(word, vocabulary) for word in words]


def _corrected_word(word: Token, vocabulary: Vocabulary) -> Token:
    if word.end - word.start < SHORTEST_TYPO or word.plain in vocabulary.words:
        return word
    if not _LETTERS.match(word.plain) or word.plain in _dictionary():
        return word
    meant = _meant(vocabulary.speller, word.plain)
    return word._replace(norm=normal_form(meant), plain=plain_form(meant)) if meant else word


@lru_cache(maxsize=16384)
def _meant(speller: Speller, word: str) -> str | None:
    """The one known word nearest to a mistyped one; None if none is near, or two are equally."""
    near = speller.nearest(word)
    if not near or len(near) > 1 and near[1][1] == near[0][1] and normal_form(near[0][0]) != normal_form(near[1][0]):
        return None
    return near[0][0]


@lru_cache(maxsize=1)
def _dictionary() -> frozenset[str]:
    """Words of general English, which are no typing errors of medical ones: "horse" is not "hoarse"."""
    from spellchecker import SpellChecker

    return frozenset(SpellChecker(language="en", distance=1).word_frequency.words())
