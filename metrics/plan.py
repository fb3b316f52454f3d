"""What an examiner's plan holds: drugs and whether they are to be taken, how urgent it is, what the patient is told (metrics.md 6).

Plans come as the lists of a final answer and as sentences said on the way; both are free text. Drugs are found by the names of the clinical
tables, urgency and advice by the words that the annotator knows. What none of them finds is kept, so that it can be shown.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, get_args

from pydantic import JsonValue

from ontology import cues
from ontology.clinical import ClinicalTables, DrugMention
from ontology.plans import AVOID, CONDITION, TreatmentPolarity, plans_of
from ontology.text import sentences
from simulator.trace import DialogueTrace, Turn

Part = Literal["treat", "advise", "triage", "said"]
"""Where a text stood: among the treatments, the advice or the dispositions, or in the words around the final answer."""

POLARITIES: tuple[str, ...] = get_args(TreatmentPolarity)
_ANY_CASE = re.IGNORECASE
NOT_TAKEN = re.compile(
    rf"{AVOID.pattern}|\b(?:no|not|never|without|withh\w+|hold|rather than|switch\w* from|contraindicated|allerg\w+|intoleran\w+)\b",
    _ANY_CASE,
)
TAKEN_AFTER_ALL = re.compile(
    r"(?:[,;:–]|\b(?:and|but|then|so|instead|therefore)\b)\s*(?:\w+\s+){0,2}?"
    r"(?:tak(?:e|ing)|us(?:e|ing)|giv(?:e|ing)|start\w*|prescri\w+|continu\w+|try|switch\w* to|begin|add|offer)\b|"
    r"\b(?:but|so|therefore)\b(?! (?:avoid|do not|don't|no|not|never))",
    _ANY_CASE,
)
"""After one of these what was said against another drug does not hold for the next one."""

REFUSED_AFTER = re.compile(
    r"^[\s)]*(?:\w+\s+)?(?:allerg|intoleran|hypersensitiv)|"
    r"^(?:(?!\b(?:and|but)\b)[^.,;]){0,40}?\b(?:contraindicated|(?<!not )(?<!not to )(?:is|are|be|being) (?:best )?"
    r"(?:avoided|stopped|withheld)|(?:should|must|can)(?: ?not|n't)|not (?:be )?(?:recommended|advised|used|given|taken|safe|suitable))\b",
    _ANY_CASE,
)
SWITCHED_TO = re.compile(r"\b(?:switch|chang)\w* (?:\w+ )?from\b.*\bto\s+(?:\w+\s+)?$", _ANY_CASE)
LIMITED = re.compile(r"\bonly (?:when|where|after)\b|\bin (?:case of )?(?:\w+ )?(?:allergy|intolerance)\b", _ANY_CASE)
"""Conditions that the annotator's words for them lack."""

AS_NEEDED = re.compile(r"\b(?:if|when|as) (?:needed|required|necessary|tolerated)\b", _ANY_CASE)
"""How often to take what is ordered; no condition on ordering it."""

NO_NEED = re.compile(r"\b(?:no need|no reason|not (?:need|necess|have to)|(?:n't|not) (?:need|have) to|n't need|unnecessary)", _ANY_CASE)
CLAUSE_END = re.compile(r"[.,;:)]|\b(?:and|but)\b", _ANY_CASE)

URGENCY: dict[str, tuple[int, int]] = {
    "emergency": (1, 2),
    "urgent": (2, 3),
    "specialist": (3, 4),
    "primary_care": (4, 5),
    "self_care": (5, 5),
}
"""Levels that the annotator's words of urgency leave open, most urgent first; "urgent" includes "today"."""


@dataclass(frozen=True, slots=True)
class PlannedDrug:
    """A drug or class of drugs in a plan; `subject` is what contraindications are looked up by."""

    subject: str
    surface: str
    polarity: TreatmentPolarity
    text: str

    def json(self) -> dict[str, JsonValue]:
        """For the components of scores."""
        return {"drug": self.subject, "surface": self.surface, "polarity": self.polarity, "text": self.text}


@dataclass(frozen=True)
class Plan:
    """All that an examiner planned and told.

    Attributes:
        drugs: drugs of treatments, and of advice that has them taken or left.
        treatments: number of treatments named.
        unresolved: treatments in which no drug was found: other measures, or names that the tables lack.
        told: the texts that may hold advice, each once.
        level: the triage level if one was given, 1 to 5.
        urgency: the most urgent words of disposition without a condition, a key of URGENCY.
    """

    drugs: tuple[PlannedDrug, ...]
    treatments: int
    unresolved: tuple[str, ...]
    told: tuple[str, ...]
    level: int | None
    urgency: str | None

    @property
    def recommended(self) -> tuple[PlannedDrug, ...]:
        """The drugs that are to be taken, each subject once."""
        return tuple({drug.subject: drug for drug in reversed(self.drugs) if drug.polarity == "recommend"}.values())[::-1]

    @property
    def avoided(self) -> frozenset[str]:
        """Subjects of drugs that are to be left or stopped, and nowhere recommended."""
        return frozenset(d.subject for d in self.drugs if d.polarity == "avoid") - {d.subject for d in self.recommended}


@dataclass(frozen=True, slots=True)
class _Item:
    part: Part
    text: str
    ingredient: str | None = None
    polarity: TreatmentPolarity | None = None


def read_plan(trace: DialogueTrace, tables: ClinicalTables) -> Plan:
    """Read the plan off a trace: acts of treatment, advice and triage, the final answer's lists, and the words around that answer.

    Args:
        trace: the trace.
        tables: names of drugs.
    """
    items = {(item.part, item.text, item.ingredient): item for item in _items(trace, tables)}
    drugs: list[PlannedDrug] = []
    unresolved: list[str] = []
    urgencies: list[str] = []
    treatments = 0
    for item in items.values():
        found = _drugs(item, tables)
        drugs += found
        if item.part == "treat":
            treatments += 1
            unresolved += [] if found else [item.text]
        urgencies += _urgencies(item)
    return Plan(
        drugs=tuple(dict.fromkeys(drugs)),
        treatments=treatments,
        unresolved=tuple(unresolved),
        told=tuple(dict.fromkeys(item.text for item in items.values() if item.text)),
        level=stated_level(trace),
        urgency=min(urgencies, key=list(URGENCY).index, default=None),
    )


def polarity_of(text: str, start: int, end: int) -> TreatmentPolarity:
    """Whether a sentence has a drug taken, left, or taken only under a condition.

    "If X, take Y" is conditional; "as needed" says how often. Where wording is unclear the drug counts as left: nothing is charged on a
    doubt.

    Args:
        text: the sentence.
        start: where the drug begins in it.
        end: where it ends.
    """
    text = text.replace("’", "'")
    before, after = text[:start], text[end:]
    cue = None if SWITCHED_TO.search(before) else max((found.end() for found in NOT_TAKEN.finditer(before)), default=None)
    if cue is not None and TAKEN_AFTER_ALL.search(before, cue) is None or REFUSED_AFTER.match(after):
        return "avoid"
    stop = CLAUSE_END.search(after)
    clause = before + " … " + (after[: stop.start()] if stop else after)
    bound = CONDITION.search(AS_NEEDED.sub("", clause)) or LIMITED.search(clause)
    return "conditional" if bound else "recommend"


# -- collecting -----------------------------------------------------------------------------------------------------


def _items(trace: DialogueTrace, tables: ClinicalTables) -> Iterator[_Item]:
    for turn in trace.turns:
        if turn.role == "examiner":
            yield from _of_turn(turn, tables)
    if trace.outcome is not None:
        yield from (_Item("treat", text) for text in trace.outcome.treatments)
        yield from (_Item("advise", text) for text in trace.outcome.advice)


def _of_turn(turn: Turn, tables: ClinicalTables) -> Iterator[_Item]:
    final = any(act.type == "diagnose" and act.payload.get("final") is True for act in turn.acts)
    for act in turn.acts:
        if act.type not in ("treat", "advise", "triage"):
            continue
        text, ingredient, polarity = act.payload.get("text"), act.payload.get("ingredient"), act.payload.get("polarity")
        if isinstance(ingredient, str) or final and polarity is not None:
            # The annotator writes neither: a person did, and is believed.
            known = polarity if polarity in POLARITIES else None
            yield _Item(act.type, text if isinstance(text, str) else "", ingredient if isinstance(ingredient, str) else None, known)  # type: ignore[arg-type]
        elif isinstance(text, str):
            yield _Item(act.type, text)
        elif act.payload.get("safety_net"):
            yield from (_Item("advise", said) for said in _sentences(turn.text) if cues.HYPOTHETICAL.search(said))
    if final:
        for said in _sentences(turn.text):
            medicines = [found.surface for found in tables.find_drug(said)]
            plans = any(kind != "diagnose" for kind, _ in plans_of(said, medicines))
            if not said.endswith("?") and (plans or cues.HYPOTHETICAL.search(said)):
                yield _Item("said", said)


def _sentences(text: str) -> list[str]:
    plain = text.replace("’", "'")
    return [part for a, b in sentences(plain) if (part := plain[a:b].strip())]


def _drugs(item: _Item, tables: ClinicalTables) -> list[PlannedDrug]:
    if item.ingredient is not None:
        found = tables.find_drug(item.ingredient)
        subject = found[0].subject if found else item.ingredient
        return [PlannedDrug(subject, item.ingredient, item.polarity or "recommend", item.text)]
    planned = []
    for sentence in _sentences(item.text):
        mentions = tables.find_drug(sentence)
        if mentions and (item.part == "treat" or _treats(sentence, mentions)):
            for mention in mentions:
                polarity = item.polarity or polarity_of(sentence, mention.start, mention.end)
                planned.append(PlannedDrug(mention.subject, mention.surface, polarity, item.text))
    return planned


def _treats(sentence: str, mentions: tuple[DrugMention, ...]) -> bool:
    """Whether a sentence of advice has its drugs taken or left; one that only speaks of them does not."""
    return any(kind == "treat" for kind, _ in plans_of(sentence, [mention.surface for mention in mentions]))


def _urgencies(item: _Item) -> Iterator[str]:
    for sentence in _sentences(item.text):
        if CONDITION.search(sentence) or cues.HYPOTHETICAL.search(sentence) or NO_NEED.search(sentence):
            continue
        for kind, payload in plans_of(sentence):
            if kind == "triage":
                yield str(payload["urgency"])


def stated_level(trace: DialogueTrace) -> int | None:
    """The triage level of the last act that gives one, else that of the final answer."""
    levels = [act.payload.get("level") for turn in trace.turns if turn.role == "examiner" for act in turn.acts if act.type == "triage"]
    for level in reversed(levels):
        if isinstance(level, int) and not isinstance(level, bool) and 1 <= level <= 5:
            return level
    return trace.outcome.triage_level if trace.outcome is not None else None
