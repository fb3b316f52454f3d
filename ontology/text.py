"""Tokens and their normal forms: what makes two wordings the same phrase."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import NamedTuple

TOKEN = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
SENTENCE = re.compile(
    r"(?:[^.?!;\n]|(?<=\d)\.(?=\d)|(?:(?<=\bDr)|(?<=\bMr)|(?<=\bMrs)|(?<=\bMs))\.(?=\s+[A-Z])|(?<=\be)\.(?=g\b)|(?<=\bi)\.(?=e\b)|"
    r"(?:(?<=\be\.g)|(?<=\bi\.e))\.(?=\W+\w))*(?:[.?!;\n]+|\Z)"
)
"""Up to a closing mark; the point of "38.5", "Dr. Smith" and "e.g." closes nothing."""

LONGEST_SENTENCE = 1000
"""Characters; no sentence that anybody says is longer."""

TYPOGRAPHIC = re.compile("[‘’‛′‐-―−]")
"""Apostrophes and dashes that ASCII lacks: they part words as their plain forms do."""

SKIPPED = frozenset(
    "a an the any some your my his her their our its of this that these those you've i've he's she's um uh er erm uhm".split()
)
"""Words that never tell two phrases apart, and the noises between them."""

KEPT_WHOLE = frozenset(
    {"medical", "medically", "productive", "organic", "operating", "hesitate", "hesitated", "hesitates", "hesitating", "hesitant"}
)
"""Words whose stem is another word's: "medical" is no medication, a "productive" cough no product."""

BRITISH = (
    (re.compile(r"oea"), "ea"),
    (re.compile(r"\boe"), "e"),
    (re.compile(r"aem"), "em"),
    (re.compile(r"aes"), "es"),
    (re.compile(r"paed"), "ped"),
    (re.compile(r"(?<=[a-z])our\b"), "or"),
    (re.compile(r"(?<=[a-z])ise\b"), "ize"),
    (re.compile(r"(?<=[a-z])lyse\b"), "lyze"),
    (re.compile(r"(?<=[a-z])tre\b"), "ter"),
    (re.compile(r"oest"), "est"),
)
IRREGULAR = {
    "threw": "throw",
    "thrown": "throw",
    "felt": "feel",
    "lost": "lose",
    "loss": "lose",
    "swollen": "swell",
    "broken": "break",
    "broke": "break",
    "bled": "bleed",
    "fell": "fall",
    "fallen": "fall",
    "feet": "foot",
    "teeth": "tooth",
    "ate": "eat",
    "eaten": "eat",
    "drank": "drink",
    "drunk": "drink",
    "taken": "take",
    "took": "take",
    "woke": "wake",
    "woken": "wake",
    "shook": "shake",
    "shaken": "shake",
    "slept": "sleep",
    "children": "child",
}


class Token(NamedTuple):
    """A word with its place in the text (code points), its normal form, and its form with only the plural undone."""

    start: int
    end: int
    norm: str
    plain: str


@lru_cache(maxsize=1)
def _stemmer() -> object:
    import snowballstemmer

    return snowballstemmer.stemmer("english")


@lru_cache(maxsize=65536)
def normal_form(word: str) -> str:
    """Lower case, no accents, American spelling, stemmed (Porter 2); words in -itis are kept whole, else "vaginitis" would be "vaginal"."""
    text = _spelling(word)
    if text.endswith("itis") or text in KEPT_WHOLE:
        return text
    return str(_stemmer().stemWord(IRREGULAR.get(text, text)))  # type: ignore[attr-defined]


@lru_cache(maxsize=65536)
def plain_form(word: str) -> str:
    """Lower case, no accents, American spelling, singular."""
    text = _spelling(word)
    if len(text) > 3 and text.endswith("s") and not text.endswith(("ss", "us", "is")):
        if text.endswith(("tches", "shes", "sses", "xes")):
            return text[:-2]
        return text[:-3] + "y" if text.endswith("ies") else text[:-1]
    return text


def _spelling(word: str) -> str:
    text = unicodedata.normalize("NFKD", word).encode("ascii", "ignore").decode().lower()
    if not text:
        return word.lower()
    if text.endswith("'s"):
        text = text[:-2]
    for pattern, replacement in BRITISH:
        text = pattern.sub(replacement, text)
    return text


@lru_cache(maxsize=65536)
def _forms(word: str) -> tuple[str, str] | None:
    """Normal and plain form of a word; None for a skipped one."""
    word = word.replace("’", "'")
    return None if word.lower() in SKIPPED else (normal_form(word), plain_form(word))


def tokens(text: str) -> list[Token]:
    """All words of a text, skipped ones left out."""
    return [Token(*match.span(), *forms) for match in TOKEN.finditer(text) if (forms := _forms(match.group()))]


def phrase_words(phrase: str) -> list[tuple[str, str]]:
    """(normal form, plain form) of each word of a phrase, skipped ones left out: tokens without their places."""
    return [forms for word in TOKEN.findall(phrase) if (forms := _forms(word))]


def phrase_key(phrase: str) -> tuple[str, ...]:
    """The normal form of a whole phrase; empty if nothing but skipped words is in it."""
    return tuple(norm for norm, _ in phrase_words(phrase))


def lower_in_place(text: str) -> str:
    """Lower case, code point for code point: patterns that know only small letters are searched four times as fast."""
    lowered = text.lower()
    if len(lowered) == len(text):
        return lowered
    return "".join(small if len(small := letter.lower()) == 1 else letter for letter in text)


def sentences(text: str) -> list[tuple[int, int]]:
    """Spans of sentences with their closing marks; blank ones left out, endless ones cut, so that reading them takes linear time."""
    spans = []
    for match in SENTENCE.finditer(text):
        start, end = match.span()
        while start < end and text[start].isspace():
            start += 1
        while end - start > LONGEST_SENTENCE:
            blank = max(text.rfind(" ", start, start + LONGEST_SENTENCE), text.rfind(",", start, start + LONGEST_SENTENCE)) + 1
            cut = blank if blank > start else start + LONGEST_SENTENCE
            spans.append((start, cut))
            start = cut
        if text[start:end].strip(" .?!;\n\t"):
            spans.append((start, end))
    return spans


@lru_cache(maxsize=65536)
def folded(text: str) -> str:
    """Lower case without accents, punctuation or runs of blanks; for comparing names."""
    text = unicodedata.normalize("NFKD", TYPOGRAPHIC.sub(" ", text)).encode("ascii", "ignore").decode().lower()
    for pattern, replacement in BRITISH:
        text = pattern.sub(replacement, text)
    return " ".join(re.findall(r"[a-z0-9]+", text))
