"""From the commit form's fields to a final answer, or to what is missing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from simulator.trace import FinalAnswer
from ui.web.diagnoses import DiagnosisReader
from ui.web.session import cleaned

ROWS = 5
MAX_NAME = 200
MAX_LINE = 500
MAX_LINES = 30
TOLERANCE = 0.5
"""Percentage points by which rounded probabilities may add up to more than 100."""


@dataclass(frozen=True)
class CommitForm:
    """The fields as typed.

    Attributes:
        diagnoses: names or codes, most likely first; empty ones are skipped.
        probabilities: one for each, in percent; None: not given.
        triage: 1 immediate … 5 non-urgent; None: not given.
        tests: one a line.
        treatments: one a line.
        advice: one a line.
        change_mind: what would change the person's mind.
    """

    diagnoses: Sequence[str]
    probabilities: Sequence[float | None]
    triage: int | None = None
    tests: str = ""
    treatments: str = ""
    advice: str = ""
    change_mind: str = ""

    def answer(self, reader: DiagnosisReader) -> FinalAnswer | str:
        """The final answer, or why there is none yet."""
        filled = [
            (cleaned(name.replace("\n", " "))[:MAX_NAME], prob)
            for name, prob in zip(self.diagnoses, self.probabilities, strict=True)
            if cleaned(name)
        ]
        if not filled:
            return "Name at least one diagnosis."
        given = [prob for _, prob in filled if prob is not None]
        if any(not 0 <= prob <= 100 for prob in given):
            return "A probability lies between 0 and 100 %."
        if sum(given) > 100 + TOLERANCE:
            return f"The probabilities add up to {sum(given):g} %; lower one of them."
        ranked = [reader.read(name).ranked(None if prob is None else prob / 100) for name, prob in filled]
        seen: set[str] = set()
        for item in ranked:
            key = item.icd10 or item.name.casefold()
            if key in seen:
                return f"“{item.name}” is on your list twice."
            seen.add(key)
        return FinalAnswer(
            ranked=ranked,
            triage_level=self.triage,
            tests=_lines(self.tests),
            treatments=_lines(self.treatments),
            advice=_lines(self.advice),
            change_mind=" ".join(cleaned(self.change_mind).split())[:MAX_LINE] or None,
        )


def _lines(text: str) -> list[str]:
    return [line[:MAX_LINE] for line in cleaned(text).split("\n") if line][:MAX_LINES]
