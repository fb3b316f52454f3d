"""What a typed diagnosis will be read as (the reading that scoring uses), and names that could be meant."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import ontology.icd10
from metrics.diagnosis import resolve_answer
from metrics.knowledge import Knowledge
from ontology.icd10 import fold_name, icd_tree
from ontology.icd10.tree import CATEGORY_DEPTH
from simulator.case import Diagnosis, PatientVector
from simulator.trace import RankedDiagnosis

SHORTEST = 2
"""Letters from which names are suggested."""
CODE_BEGINS = re.compile(r"^[A-Za-z]\d[0-9A-Za-z]?(?:\.[0-9A-Za-z]*)?$")


@dataclass(frozen=True)
class Reading:
    """A typed diagnosis as it will be recorded and scored; no codes: it was not recognised."""

    typed: str
    codes: tuple[str, ...]
    title: str
    by_code: bool
    several: bool = False

    @property
    def recognised(self) -> bool:
        """Whether it stands for a code."""
        return bool(self.codes)

    def line(self) -> str:
        """What the page says below the field."""
        if not self.recognised:
            return "Not recognised so far: pick a name from the list, or type an ICD-10 code."
        more = ". Only the first of several codes counts" if self.several else ""
        return f"Read as {', '.join(self.codes)}: {self.title}{more}"

    def ranked(self, prob: float | None) -> RankedDiagnosis:
        """The entry of the final answer: the name with the code the person saw."""
        name = self.title if self.by_code else self.typed
        return RankedDiagnosis(name=name, icd10=", ".join(self.codes) or None, prob=prob)


@dataclass(frozen=True)
class Suggestion:
    """A name that could be meant."""

    name: str
    code: str


class DiagnosisReader:
    """Reads typed diagnoses. It knows the names of all cases on offer alike, so what it recognises tells nothing of one of them."""

    def __init__(self, cases: Iterable[PatientVector], knowledge: Iterable[Knowledge]) -> None:
        """Index all names (about a second).

        Args:
            cases: the cases on offer; the names in their differentials are recognised, never suggested.
            knowledge: profile sets whose diseases are recognised and suggested.
        """
        profiles = [(profile.name, ", ".join(profile.icd10)) for known in knowledge for profile in known.profiles.profiles.values()]
        self._synonyms = {fold_name(name): codes for name, codes in (*profiles, *_names(cases)) if fold_name(name)}
        tree = icd_tree()
        self._tree = tree
        listed = {fold_name(name): Suggestion(name, codes.split(",")[0]) for name, codes in profiles}
        deep = [position for position, depth in enumerate(tree.depths) if depth >= CATEGORY_DEPTH]
        self._codes = [tree.table.codes[position] for position in deep]
        for position in deep:
            for name in (tree.table.titles[position], *tree.table.inclusions.get(position, ())):
                listed.setdefault(fold_name(name), Suggestion(name, tree.table.codes[position]))
        self._spelling = {key: suggestion.name for key, suggestion in listed.items()}
        common = {fold_name(name) for name, _ in profiles}
        self._listed = sorted(listed.items(), key=lambda item: (item[0] not in common, len(item[0]), item[0]))

    def read(self, text: str) -> Reading:
        """Read one typed diagnosis."""
        typed = " ".join(text.split())
        typed = self._spelling.get(fold_name(typed), typed)
        found = resolve_answer(RankedDiagnosis(name=typed), self._synonyms, ontology.icd10)
        by_code = found.route == "name:code"
        title = ""
        if found.codes:
            title = typed if len(found.codes) > 1 and not by_code else self._tree.node(found.codes[0]).title
        return Reading(typed, found.codes, title, by_code, "several_codes" in found.flags)

    def suggest(self, text: str, limit: int = 8) -> list[Suggestion]:
        """Names with all words of the text in them; those that begin with it first, then diseases that have a profile, then short names.

        Args:
            text: what has been typed so far.
            limit: at most so many.
        """
        code = text.strip().upper()
        if CODE_BEGINS.match(code):
            codes = (Suggestion(self._tree.node(known).title, known) for known in self._codes if known.startswith(code))
            return sorted(codes, key=lambda found: (len(found.code), found.code))[:limit]
        key = fold_name(text)
        if len(key) < SHORTEST:
            return []
        words = key.split()
        begins: list[Suggestion] = []
        holds: list[Suggestion] = []
        for name, suggestion in self._listed:
            if name.startswith(key):
                begins.append(suggestion)
                if len(begins) == limit:
                    break
            elif len(holds) < limit and all(name.startswith(word) or f" {word}" in name for word in words):
                holds.append(suggestion)
        return (begins + holds)[:limit]


def _names(cases: Iterable[PatientVector]) -> Iterator[tuple[str, str]]:
    seen: set[tuple[str, ...]] = set()  # cases of one disease share their names
    for case in cases:
        truth = case.ground_truth
        for diagnosis in (*(item.dx for item in truth.differential), *truth.secondary, truth.primary):
            key = (diagnosis.name, *diagnosis.icd10, *diagnosis.aliases)
            if key not in seen:
                seen.add(key)
                yield from _named(diagnosis)


def _named(diagnosis: Diagnosis) -> Iterator[tuple[str, str]]:
    codes = ", ".join(diagnosis.icd10)
    if codes:
        for name in (diagnosis.name, *diagnosis.aliases):
            yield name, codes
