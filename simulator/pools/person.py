"""Who speaks of whom: filling the typed slots of an utterance."""

from __future__ import annotations

import re
from dataclasses import dataclass

from simulator.case import Sex
from simulator.utterances import SLOT

_PRONOUNS = {
    "F": {"he": "she", "him": "her", "his": "her", "has": "has", "is": "is", "does": "does", "was": "was"},
    "M": {"he": "he", "him": "him", "his": "his", "has": "has", "is": "is", "does": "does", "was": "was"},
}
_THEY = {"he": "they", "him": "them", "his": "their", "has": "have", "is": "are", "does": "do", "was": "were"}
_SEX_WORDS = {"F": ("woman", "girl"), "M": ("man", "boy")}
_THEY_VERB = re.compile(r"\b([Tt]hey) (?!(?:always|sometimes|perhaps|as|this)\b)([a-z]+)(?<!s)s\b")
ADULT_AGE = 18


@dataclass(frozen=True)
class Person:
    """The patient, as far as grammar needs to know."""

    age: int
    sex: Sex

    def slots(self) -> dict[str, str]:
        """Values of the person slots."""
        words = dict(_PRONOUNS.get(self.sex, _THEY))
        words["He"] = words["he"].capitalize()
        words["His"] = words["his"].capitalize()
        adult, child = _SEX_WORDS.get(self.sex, ("person", "child"))
        words["sex_word"] = adult if self.age >= ADULT_AGE else child
        words["age"] = age_in_words(self.age)
        return words


def age_in_words(age: int) -> str:
    """An age as people say it."""
    return "not one yet" if age == 0 else f"{age}"


def fill(text: str, person: Person, **values: str) -> str:
    """The text with every slot filled; verbs after a plural pronoun are mended ("they's had" → "they've had", "they says" → "they say").

    Raises:
        KeyError: a slot without a value.
    """
    slots = {**person.slots(), **values}
    filled = SLOT.sub(lambda match: slots[match.group(1)], text)
    if slots["he"] == "they":
        for wrong, right in (("hey's had", "hey've had"), ("hey's been", "hey've been"), ("hey's got", "hey've got"), ("hey's", "hey're")):
            filled = filled.replace(wrong, right)
        filled = _THEY_VERB.sub(r"\1 \2", filled)
    return filled[:1].upper() + filled[1:]
