"""What was asked, answered and known when: question events from a sealed trace (metrics.md 1, rules E1 to E9).

The scores of elicitation look at what the examiner asked; those of reasoning at what was known, however it came out.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from metrics.knowledge import Concepts
from ontology.concepts import RECORD_KINDS
from ontology.mentions import Answer, Mention
from simulator.case import PatientVector
from simulator.trace import DialogueTrace, Turn

Excluded = Literal["chief_complaint", "record", "demographic", "other_person"]
"""Why a question is neither credited nor counted: a detail of the complaint, a matter of the record (labs, signs), age and the like (E9),
or somebody else's health."""

Status = Literal["present", "absent", "unsure"]
Source = Literal["chief_complaint", "volunteered", "answered", "record"]

STATUS_OF: dict[str, Status] = {
    "affirmed": "present",
    "denied": "absent",
    "unsure": "unsure",
    "present": "present",
    "absent": "absent",
    "unknown": "unsure",
}
ANSWER_OF: dict[Status, Answer] = {"present": "affirmed", "absent": "denied", "unsure": "unsure"}
BEST_FIRST: tuple[Answer, ...] = ("affirmed", "denied", "unsure", "unanswered")


@dataclass(frozen=True, slots=True)
class QuestionEvent:
    """A distinct question (E3): one concept, or one detail of a concept, in one turn.

    `answer` is the answer as given; `presence` what it says of the concept itself: that a pain does not spread does not deny the pain.
    """

    concept: str
    attribute: str | None
    turn_idx: int
    start: int
    mention_id: str
    answer: Answer
    presence: Answer


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that came to be known in a turn."""

    concept: str
    status: Status
    turn_idx: int
    source: Source


@dataclass(frozen=True)
class Interview:
    """A trace as a sequence of questions and findings; all concepts are canonical.

    Attributes:
        events: distinct clinical questions, ordered by (turn, position in the text).
        repeats: questions whose answer was known already (E5, E6).
        excluded: questions that no score of elicitation counts, each with the reason.
        findings: what became known, in order; turn 0 holds the chief complaint.
        chief_complaint: its concepts.
        ask_turns: indexes of the examiner turns with at least one ask act.
        turn_concepts: for each of them, the distinct clinical concepts asked, repeats and the complaint included.
        examiner_turns: number of examiner turns, the commit included.
        commit_turn: index of the turn of the first committed diagnosis.
        commit_number: the same turn counted among the examiner's, from 1.
        leading: concepts that the examiner stated and the patient then confirmed or denied.
    """

    events: tuple[QuestionEvent, ...]
    repeats: tuple[QuestionEvent, ...]
    excluded: tuple[tuple[QuestionEvent, Excluded], ...]
    findings: tuple[Finding, ...]
    chief_complaint: tuple[str, ...]
    ask_turns: tuple[int, ...]
    turn_concepts: tuple[tuple[str, ...], ...]
    examiner_turns: int
    commit_turn: int | None
    commit_number: int | None
    leading: tuple[str, ...]

    @property
    def asked(self) -> tuple[str, ...]:
        """Distinct clinical concepts asked, unanswered ones included: N of metrics.md 4.3."""
        return distinct(event.concept for event in self.events)

    @property
    def answered(self) -> tuple[str, ...]:
        """Distinct clinical concepts asked and answered: affirmed, denied or unsure."""
        return distinct(event.concept for event in self.events if event.answer != "unanswered")

    def known_before(self, turn_idx: int | None) -> dict[str, Finding]:
        """What is known before a turn (None: at the end). A definite finding stands; it replaces an unsure one only."""
        known: dict[str, Finding] = {}
        for finding in self.findings:
            if turn_idx is not None and finding.turn_idx >= turn_idx:
                break
            if finding.concept not in known or known[finding.concept].status == "unsure":
                known[finding.concept] = finding
        return known


def distinct(items: Iterable[str]) -> tuple[str, ...]:
    """Items without repetition, in order of first appearance."""
    return tuple(dict.fromkeys(items))


def read_interview(trace: DialogueTrace, case: PatientVector, concepts: Concepts) -> Interview:
    """Read the questions, answers and findings off a trace.

    Args:
        trace: the trace.
        case: its case: the chief complaint, and which facts are details of a finding.
        concepts: the vocabulary, for canonical ids and kinds.
    """
    reader = _Reader(trace, case, concepts)
    for turn in trace.turns:
        if turn.role == "examiner":
            reader.ask(turn)
        else:
            reader.hear(turn)
    return reader.interview()


class _Reader:
    """Goes through the turns of one trace in order."""

    def __init__(self, trace: DialogueTrace, case: PatientVector, concepts: Concepts) -> None:
        self._concepts = concepts
        facts = {fact.fact_id: fact for fact in case.patient_facts.facts}
        self._detail_facts = {fact_id for fact_id, fact in facts.items() if fact.attribute is not None}
        complaint = (concepts.canonical(facts[fact_id].concept.cui) for fact_id in case.presentation.chief_complaint)
        self._complaint = distinct(complaint)
        self._answers: dict[str, list[Mention]] = defaultdict(list)
        for turn in trace.turns:
            for mention in turn.mentions:
                if turn.role != "examiner" and mention.links_to is not None:
                    self._answers[mention.links_to].append(mention)
        self._asked_mentions: dict[str, Mention] = {}
        self._stated: set[str] = set()
        self._settled: set[tuple[str, str | None]] = {(concept, None) for concept in self._complaint}
        self._findings = [Finding(concept, "present", 0, "chief_complaint") for concept in self._complaint]
        self._events: list[QuestionEvent] = []
        self._repeats: list[QuestionEvent] = []
        self._excluded: list[tuple[QuestionEvent, Excluded]] = []
        self._turn_concepts: dict[int, tuple[str, ...]] = {}
        self._leading: list[str] = []
        self._examiner_turns = 0
        self._last_turn = 0
        self._commit: tuple[int, int] | None = None
        self._has_outcome = trace.outcome is not None

    # -- the examiner's turns ---------------------------------------------------------------------------------------

    def ask(self, turn: Turn) -> None:
        """An examiner's turn: only ask acts make events (E1); negation on them is ignored (E2)."""
        self._examiner_turns += 1
        if self._commit is None and any(act.type == "diagnose" and act.payload.get("final") is True for act in turn.acts):
            self._commit = (turn.idx, self._examiner_turns)
        self._last_turn = turn.idx
        self._stated |= {mention.mention_id for mention in turn.mentions if mention.dialogue_role == "stated"}
        asks = [act for act in turn.acts if act.type == "ask"]
        if not asks:
            return
        wanted = {mention_id for act in asks for mention_id in act.mentions}
        mentions = [m for m in turn.mentions if m.mention_id in wanted and m.dialogue_role == "asked"]
        groups: dict[tuple[str, str | None, bool], list[Mention]] = defaultdict(list)
        for mention in sorted(mentions, key=lambda m: (m.start, m.end)):
            self._asked_mentions[mention.mention_id] = mention
            key = (self._concepts.canonical(mention.cui), mention.attribute, mention.experiencer == "patient")
            groups[key].append(mention)
        clinical: list[str] = []
        for (concept, _, of_patient), same in groups.items():
            event = self._event(concept, turn.idx, same)
            reason = self._exclusion(concept) if of_patient else "other_person"
            if reason is None:
                clinical.append(concept)
            self._file(event, reason)
        self._turn_concepts[turn.idx] = distinct(clinical)

    def _event(self, concept: str, turn_idx: int, same: list[Mention]) -> QuestionEvent:
        """One event of all mentions in a turn that ask the same; the most definite answer counts."""
        first = same[0]
        answers: list[Answer] = ["unanswered"]
        presences: list[Answer] = ["unanswered"]
        for mention in same:
            for reply in self._answers[mention.mention_id]:
                answer = _answer(reply)
                if answer is not None:
                    answers.append(answer)
                    presences.append(self._presence(reply, answer, mention.attribute))
        best, presence = min(answers, key=BEST_FIRST.index), min(presences, key=BEST_FIRST.index)
        return QuestionEvent(concept, first.attribute, turn_idx, first.start, first.mention_id, best, presence)

    def _presence(self, reply: Mention, answer: Answer, attribute: str | None) -> Answer:
        if attribute is not None and answer == "denied" and reply.fact_id in self._detail_facts:
            return "unsure"
        return answer

    def _exclusion(self, concept: str) -> Literal["record", "demographic"] | None:
        kind = self._concepts.kind(concept)
        if kind in RECORD_KINDS:
            return "record"
        return "demographic" if kind == "demographic" else None

    def _file(self, event: QuestionEvent, reason: Excluded | None) -> None:
        if reason is not None:
            self._excluded.append((event, reason))
        elif (event.concept, event.attribute) in self._settled:
            self._repeats.append(event)
        elif event.concept in self._complaint:
            self._excluded.append((event, "chief_complaint"))
        else:
            self._events.append(event)

    # -- the other side's turns -------------------------------------------------------------------------------------

    def hear(self, turn: Turn) -> None:
        """A turn of the patient or the record: what it settles, and what it makes known."""
        for mention in turn.mentions:
            if mention.experiencer != "patient" or mention.temporality == "hypothetical" or mention.polarity == "queried":
                continue
            asked = self._asked_mentions.get(mention.links_to or "")
            concept = self._concepts.canonical(mention.cui)
            if turn.role == "record":
                self._know(concept, STATUS_OF[mention.polarity], turn.idx, "record")
            elif asked is None:
                self._volunteered(mention, concept, turn.idx)
            elif asked.experiencer == "patient":
                self._answered(mention, asked, concept, turn.idx)

    def _volunteered(self, mention: Mention, concept: str, turn_idx: int) -> None:
        """Told unasked (E7), or agreed to after the examiner stated it."""
        status = STATUS_OF.get(mention.dialogue_role, STATUS_OF[mention.polarity])
        if mention.links_to in self._stated:
            self._leading.append(concept)
        if status != "unsure" and mention.attribute is not None:
            self._settled.add((concept, mention.attribute))
        if mention.attribute is not None and status == "absent":
            return
        if status != "unsure":
            self._settled.add((concept, None))
        self._know(concept, status, turn_idx, "volunteered")

    def _answered(self, mention: Mention, asked: Mention, concept: str, turn_idx: int) -> None:
        answer = _answer(mention)
        if answer is None:
            self._volunteered(mention, concept, turn_idx)
            return
        about = self._concepts.canonical(asked.cui)
        presence = self._presence(mention, answer, asked.attribute)
        if answer in ("affirmed", "denied"):
            self._settled.add((about, asked.attribute))
        if presence in ("affirmed", "denied"):
            self._settled.add((about, None))
        for found in distinct((about, concept)):
            self._know(found, STATUS_OF[presence], turn_idx, "answered")

    def _know(self, concept: str, status: Status, turn_idx: int, source: Source) -> None:
        self._findings.append(Finding(concept, status, turn_idx, source))

    # -- the whole --------------------------------------------------------------------------------------------------

    def interview(self) -> Interview:
        """What was read."""
        commit = self._commit
        if commit is None and self._has_outcome and self._examiner_turns:
            commit = (self._last_turn, self._examiner_turns)
        return Interview(
            events=tuple(self._events),
            repeats=tuple(self._repeats),
            excluded=tuple(self._excluded),
            findings=tuple(self._findings),
            chief_complaint=self._complaint,
            ask_turns=tuple(self._turn_concepts),
            turn_concepts=tuple(self._turn_concepts.values()),
            examiner_turns=self._examiner_turns,
            commit_turn=commit[0] if commit else None,
            commit_number=commit[1] if commit else None,
            leading=distinct(self._leading),
        )


def _answer(reply: Mention) -> Answer | None:
    """The answer a mention gives; None if it is not an answer."""
    role = reply.dialogue_role
    return role if role in ("affirmed", "denied", "unsure") else None
