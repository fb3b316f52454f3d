"""Diagnoses in the words of a report: hedges, qualifiers, causes, alternatives. Only the form of the text is read here."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

Kind = Literal["alternatives", "cause", "company", "brackets", "negated"]

_HEDGES = re.compile(
    r"^\s*(?:\?|(?:the\s+)?(?:most\s+likely|most\s+probabl[ey]|likely|probabl[ey]|possibl[ey]|suspected|suspicion\s+(?:of|for)|suspicious\s+for"
    r"|presumed|presumptive|presumably|query|rule\s+out|r/o|concern(?:ing)?\s+for|consistent\s+with|compatible\s+with|suggestive\s+of"
    r"|clinical\s+diagnosis|final\s+diagnosis|primary\s+diagnosis|working\s+diagnosis|diagnosis)\b(?:\s+(?:of|is))?)\s*[:\-–—]?\s*",
    re.IGNORECASE,
)
_LEFT_OVER = re.compile(r"^(?:an?|the)\s+", re.IGNORECASE)
_NEGATED = re.compile(
    r"\b(?:no|not|without|never|ruled\s+out|excluded|denies|absence\s+of|history\s+of|h/o|family\s+history|s/p|status\s+post"
    r"|risk\s+of|screening\s+for|exposure\s+to|fear\s+of|prevention\s+of|prophylaxis)\b",
    re.IGNORECASE,
)
_ALTERNATIVES = re.compile(r"\s+(?:vs\.?|versus|or|and/or)\s+|\s*/\s*|\s*;\s*|\s*\n\s*", re.IGNORECASE)
_COMPANY = re.compile(
    r"\s+(?:and|with|without|plus|complicated\s+by|complicating|superimposed\s+on|on\s+top\s+of)\s+|\s*[+&]\s*", re.IGNORECASE
)
_CAUSE = re.compile(
    r"\s+(?:secondary\s+to|due\s+to|caused\s+by|resulting\s+from|as\s+a\s+result\s+of|because\s+of|attributable\s+to)\s+", re.IGNORECASE
)
_BRACKETS = re.compile(r"\s*[(\[]([^()\[\]]+)[)\]]\s*")

COURSE = frozenset("acute subacute chronic recurrent relapsing persistent active progressive".split())
GRADES = frozenset("severe mild moderate".split())
STAGE = frozenset("early advanced symptomatic uncomplicated classic classical typical".split())
SIDE = frozenset("left right bilateral unilateral left-sided right-sided".split())
AGE = frozenset("pediatric paediatric".split())
OPPOSITE = {"acute": ("chronic",), "subacute": ("chronic",), "chronic": ("acute", "subacute"), "mild": ("severe",), "severe": ("mild",)}

_QUALIFIER = re.compile(
    rf"^(?P<word>{'|'.join(sorted(COURSE | GRADES | STAGE | SIDE | AGE, key=len, reverse=True))})\s+(?P<rest>\S.*)$", re.IGNORECASE
)
_TRAILING = re.compile(rf"^(?P<rest>.*\S)\s*,\s*(?P<word>{'|'.join(sorted(COURSE | GRADES | STAGE | SIDE))})$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Parts:
    """A compound text in its parts, in order; of a cause, the disease comes before what caused it."""

    kind: Kind
    parts: tuple[str, ...]


def without_hedge(text: str) -> tuple[str, str]:
    """(text without "possible", "suspected", "diagnosis:", …; the words taken off)."""
    rest, taken = text, []
    while True:
        match = _HEDGES.match(rest)
        if match is None or match.end() == 0 or match.end() == len(rest):
            break
        taken.append(match[0].strip(" :-–—"))
        rest = rest[match.end() :]
    rest = rest.strip().removesuffix("?").rstrip() or text
    if taken or rest != text:
        rest = _LEFT_OVER.sub("", rest)
    return rest, " ".join(taken) or ("?" if text.rstrip().endswith("?") and rest != text else "")


def without_qualifier(text: str) -> tuple[str, str] | None:
    """(text without one word of course, severity or side; that word in lower case), or None."""
    match = _QUALIFIER.match(text.strip()) or _TRAILING.match(text.strip())
    return (match["rest"], match["word"].lower()) if match else None


def compound(text: str) -> Parts | None:
    """How a text is put together, or None if it is one name.

    What a text denies, or tells of the past or of others, is `negated`: it names no present diagnosis.
    """
    if _NEGATED.search(text):
        return Parts("negated", (text,))
    brackets = _BRACKETS.search(text)
    if brackets:
        outside = f"{text[: brackets.start()]} {text[brackets.end() :]}".strip()
        return Parts("brackets", (outside, brackets[1].strip())) if outside else None
    kinds: tuple[tuple[Kind, re.Pattern[str]], ...] = (("alternatives", _ALTERNATIVES), ("cause", _CAUSE), ("company", _COMPANY))
    for kind, pattern in kinds:
        found = [part for part in pattern.split(text.strip()) if part.strip()]
        if len(found) > 1:
            return Parts(kind, tuple(part.strip() for part in found))
    return None


def is_short_for(short: str, name: str) -> bool:
    """Whether an abbreviation in capitals is made of letters of a name, its first letter included ("PML")."""
    letters = [letter for letter in short if letter.isalnum()]
    if not 2 <= len(letters) <= 7 or sum(letter.isupper() for letter in letters) < 2:
        return False
    rest = iter(letter.lower() for letter in name if letter.isalnum())
    return name[:1].lower() == letters[0].lower() and all(letter.lower() in rest for letter in letters)
