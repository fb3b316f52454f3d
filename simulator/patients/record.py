"""The record: answers orders of tests and examinations from the case, or says that nothing is available (metrics.md 0b D6)."""

from __future__ import annotations

from collections.abc import Sequence

from ontology.mentions import Act, Mention
from ontology.vocabulary import Vocabulary
from simulator.case import Fact, PatientSide, is_record_fact
from simulator.protocols import Reply

NOT_AVAILABLE = "not available"
NOTHING_RECOGNISED = "The record has no entry by that name."


class Record:
    """The results of one case."""

    def __init__(self, side: PatientSide, vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary
        self._facts: dict[str, list[Fact]] = {}
        for fact in side.facts:
            if is_record_fact(fact):
                self._facts.setdefault(vocabulary.canonical(fact.concept.cui), []).append(fact)

    def holds(self, concept: str) -> bool:
        """Whether the record has a result for this concept or one under it."""
        return bool(self._entries(concept))

    def _entries(self, concept: str) -> list[Fact]:
        found = list(self._facts.get(concept, ()))
        for other, facts in self._facts.items():
            if concept in self._vocabulary.ancestors(other):
                found += facts
        return found

    def reply(self, turn_idx: int, asked: Sequence[Mention]) -> Reply:
        """One line a result; `turn_idx` is the index of the record's own turn."""
        text = ""
        mentions: list[Mention] = []
        told: set[str] = set()
        for mention in asked:
            entries: list[Fact | None] = [fact for fact in self._entries(mention.cui) if fact.fact_id not in told]
            for fact in entries or [None]:
                line = self._line(fact, mention.cui)
                start = len(text) + (1 if text else 0)
                text = f"{text}\n{line}" if text else line
                if fact is not None:
                    told.add(fact.fact_id)
                mentions.append(self._mention(turn_idx, len(mentions), start, line, fact, mention))
        if not text:
            text = NOTHING_RECOGNISED
        acts = (Act(act_id=f"t{turn_idx}a0", type="answer", mentions=[m.mention_id for m in mentions]),)
        return Reply(text, acts, tuple(mentions))

    def _line(self, fact: Fact | None, concept: str) -> str:
        if fact is None:
            return f"{self._vocabulary.name(concept)}: {NOT_AVAILABLE}."
        value = (fact.value or {"present": "present", "absent": "absent"}.get(fact.status, NOT_AVAILABLE)).rstrip(".")
        return f"{fact.concept.name}: {value}."

    def _mention(self, turn_idx: int, number: int, start: int, line: str, fact: Fact | None, asked: Mention) -> Mention:
        known = fact is not None and fact.status != "unknown"
        absent = fact is not None and fact.status == "absent"
        return Mention(
            mention_id=f"t{turn_idx}m{number}",
            start=start,
            end=start + len(line),
            surface=line,
            cui=self._vocabulary.canonical(fact.concept.cui) if fact else asked.cui,
            matcher="pool",
            polarity="unknown" if not known else "absent" if absent else "present",
            dialogue_role="unsure" if not known else "denied" if absent else "affirmed",
            links_to=asked.mention_id,
            fact_id=fact.fact_id if fact else None,
        )
