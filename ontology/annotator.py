"""Reads turns: what an examiner asks, states and orders, and whether a patient's answer affirms or denies.

A phrase dictionary over HPO's names and synonyms and our own lay phrases finds the concepts; word patterns find what the sentence does
with them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from ontology import cues
from ontology.concepts import RECORD_KINDS, Attribute
from ontology.mentions import Act, ActType, Answer, DialogueRole, Mention
from ontology.text import sentences
from ontology.vocabulary import Match, Vocabulary

PRESENCE_KEEPS: frozenset[str] = frozenset({"radiation", "location", "duration", "onset", "aggravating", "relieving"})
"""Attributes that a question for presence may still ask: "Do you have pain that spreads?"; "sharp pain" asks for pain."""


@dataclass
class Annotation:
    """The acts and mentions of one turn."""

    acts: list[Act] = field(default_factory=list)
    mentions: list[Mention] = field(default_factory=list)


class _Builder:
    """Collects acts and mentions with ids that are unique in the trace."""

    def __init__(self, text: str, turn: int, others: re.Pattern[str]) -> None:
        self.text = text
        self.others = others
        self.turn = turn
        self.out = Annotation()

    def mention(
        self,
        start: int,
        end: int,
        concept: str,
        role: DialogueRole,
        attribute: Attribute | None = None,
        alternatives: Sequence[str] = (),
        family: bool = False,
        historical: bool = False,
        negated: bool = False,
    ) -> str:
        mention = Mention(
            mention_id=f"t{self.turn}m{len(self.out.mentions)}",
            start=start,
            end=end,
            surface=self.text[start:end],
            cui=concept,
            alt_cuis=list(alternatives),
            matcher="lexicon",
            attribute=attribute,
            polarity="queried" if role == "asked" else "absent" if negated else "present",
            temporality="historical" if historical else "current",
            experiencer="family" if family else "patient",
            dialogue_role=role,
        )
        self.out.mentions.append(mention)
        return mention.mention_id

    def act(self, kind: ActType, mentions: Sequence[str] = (), open_ended: bool = False, **payload: str) -> None:
        self.out.acts.append(
            Act(
                act_id=f"t{self.turn}a{len(self.out.acts)}",
                type=kind,
                mentions=list(mentions),
                open_ended=open_ended,
                payload=dict(payload),
            )
        )


def annotate_examiner(text: str, vocabulary: Vocabulary, turn: int = 0, focus: str | None = None, for_child: bool = False) -> Annotation:
    """Acts and mentions of an examiner's turn.

    Args:
        text: the turn.
        vocabulary: the concepts.
        turn: its index, for the ids.
        focus: the concept last talked about, which "it" means.
        for_child: a parent speaks, so that "your daughter" is the patient.

    Returns:
        ask acts for questions (one mention a concept, `attribute` set if a detail is asked), order_test for tests and examinations, state
        for what is asserted, advise, empathy, meta. A question in which nothing was recognised is an ask act without mentions.
    """
    builder = _Builder(text, turn, cues.NOT_THE_CHILD if for_child else cues.NOT_PATIENT)
    plain = _plain(text)
    for start, end in sentences(text):
        focus = _sentence(builder, vocabulary, plain[start:end], start, focus)
    return builder.out


def _plain(text: str) -> str:
    """The text with straight apostrophes, which the patterns know; no code point moves."""
    return text.replace("’", "'")


def _sentence(builder: _Builder, vocabulary: Vocabulary, text: str, start: int, focus: str | None) -> str | None:
    matches = [_shift(match, start) for match in vocabulary.find(text)]
    if cues.HYPOTHETICAL.search(text) and not text.rstrip().endswith("?"):
        builder.act("advise", safety_net="yes")
        return focus
    asks = text.rstrip().endswith("?")
    question = asks or cues.QUESTION_START.search(text) is not None
    if not asks and (cues.ORDER.search(text) or cues.ORDER_START.search(text)):
        matches = [replace(match, concept=vocabulary.as_ordered(match.concept)) for match in matches]
    on_record = [m for m in matches if vocabulary.kind(m.concept) in RECORD_KINDS]
    if on_record and (question or cues.ORDER.search(text) or cues.ORDER_START.search(text) or not cues.FINITE.search(text)):
        on_record = _distinct(on_record, vocabulary)
        ids = [builder.mention(m.start, m.end, m.concept, "asked", None, m.alternatives) for m in on_record]
        builder.act("order_test", ids)
        matches = [m for m in matches if vocabulary.kind(m.concept) not in RECORD_KINDS] if question else []
        if not matches:
            return focus
    if question:
        return _question(builder, vocabulary, matches, text, start, focus)
    if cues.ADVICE.search(text):
        builder.act("advise")
    elif matches:
        ids = [
            builder.mention(m.start, m.end, m.concept, "stated", None, m.alternatives, negated=_negated(text, m.start - start))
            for m in matches
        ]
        builder.act("state", ids)
        return matches[-1].concept
    elif cues.ORDER.search(text) and not _pleasantry(text):
        builder.act("order_test", unrecognised="yes")
    else:
        builder.act("empathy" if not _pleasantry(text) else "meta", topic=_pleasantry(text) or "remark")
    return focus


def _question(builder: _Builder, vocabulary: Vocabulary, matches: list[Match], text: str, start: int, focus: str | None) -> str | None:
    family = builder.others.search(text) is not None
    historical = cues.HISTORICAL.search(text) is not None
    open_ended = cues.OPEN_QUESTION.search(text) is not None
    matches, masked = _without_descriptions(matches, text, start)
    front = _foreground(matches, text, start)
    asked = _distinct(front or ([] if open_ended else matches), vocabulary)
    attribute, span = _attribute(text, masked, bool(matches))
    topic = _pleasantry(text)
    if not asked:
        if topic is not None:
            builder.act("meta", topic=topic)
            return focus
        if open_ended:
            builder.act("ask", open_ended=True)
            return matches[-1].concept if matches else focus
        if attribute is not None and span is not None and focus is not None:
            mention = builder.mention(start + span[0], start + span[1], focus, "asked", attribute)
            builder.act("ask", [mention])
            return focus
        builder.act("ask", unrecognised="yes")
        return focus
    ids = []
    for match in asked:
        concept = vocabulary.family_concept(match.concept) if family else match.concept
        ids.append(
            builder.mention(
                match.start,
                match.end,
                concept or match.concept,
                "asked",
                attribute,
                match.alternatives,
                family=family and vocabulary.kind(concept or match.concept) != "family_history",
                historical=historical,
            )
        )
    builder.act("ask", ids, open_ended=open_ended)
    return matches[-1].concept


def _foreground(matches: list[Match], text: str, start: int) -> list[Match]:
    """Findings that are asked for, without those that only set the scene: "any mucus with the cough?"."""
    found = []
    for match in matches:
        at = match.start - start
        if not cues.ALONGSIDE.search(text[max(0, at - cues.REACH) : at]):
            found.append(match)
    return found


def _distinct(matches: list[Match], vocabulary: Vocabulary) -> list[Match]:
    """Each concept once; a generic one not beside a specific one: "is the pain worse when you move?" asks one thing."""
    specific = any(not vocabulary.generic(match.concept) for match in matches)
    kept: dict[str, Match] = {}
    for match in matches:
        if not (specific and vocabulary.generic(match.concept)):
            kept.setdefault(match.concept, match)
    return list(kept.values())


def _without_descriptions(matches: list[Match], text: str, start: int) -> tuple[list[Match], str]:
    """Findings without words that only describe the one before ("is the rash painful?"), and the text with their words masked.

    Each finding's words become one word of x, so that "makes the headache worse" still reads as "makes the … worse".
    """
    kept: list[Match] = []
    masked = list(text)
    for match in matches:
        begin, end = match.start - start, match.end - start
        before = "".join(masked[max(0, begin - cues.REACH) : begin])
        if not (cues.SAID_OF_CONCEPT.search(before) and cues.DESCRIPTION.fullmatch(text[begin:end])):
            kept.append(match)
            masked[begin:end] = "x" * (end - begin)
    return kept, "".join(masked)


def _attribute(text: str, masked: str, has_concept: bool) -> tuple[Attribute | None, tuple[int, int] | None]:
    """The detail a question asks for, and where it says so. Words inside a concept's span do not count."""
    for_presence = has_concept and cues.PRESENCE_START.search(text) is not None
    for attribute, pattern in cues.ATTRIBUTE_CUES:
        # "Where did you travel?" names the concept and the detail in the same words.
        found = pattern.search(text if attribute == "destination" else masked)
        if found and found.group().strip() and not (for_presence and attribute not in PRESENCE_KEEPS):
            begin, finish = found.span()
            while begin < finish and text[begin].isspace():
                begin += 1
            return attribute, (begin, finish)
    return None, None


def _pleasantry(text: str) -> str | None:
    for topic, pattern in cues.PLEASANTRIES:
        if pattern.search(text):
            return topic
    return None


def _negated(text: str, at: int) -> bool:
    """Whether a finding that begins at `at` is said not to be so: a negation stands before it in its clause."""
    before = text[max(0, at - cues.CLAUSE_REACH) : at]
    clause = max((match.end() for match in cues.CLAUSE.finditer(before)), default=0)
    return cues.NEGATION.search(before, clause) is not None


def _shift(match: Match, by: int) -> Match:
    return Match(match.start + by, match.end + by, match.concept, match.alternatives, match.first_token, match.last_token)


def read_answer(text: str) -> Answer:
    """Whether a patient's answer to a yes-or-no question affirms, denies or cannot say.

    Unsure beats yes and no ("No idea", "Yes, maybe"); a leading yes or no beats what follows ("No, I've had a cough" denies the question).
    """
    if not any(letter.isalnum() for letter in text):
        return "unanswered"
    text = _plain(text)
    first = text.split(".")[0]
    if cues.NO_IDEA.search(first):
        return "unsure"
    if cues.YES.search(text):
        return "unsure" if cues.UNSURE.search(first) else "affirmed"
    if cues.NO.search(text):
        return "denied"
    if cues.UNSURE.search(text):
        return "unsure"
    if cues.DENY.search(first):
        return "denied"
    return "affirmed"


def findings(text: str, vocabulary: Vocabulary) -> list[tuple[str, bool]]:
    """(concept, present) for what a patient tells unasked, in order; the opening complaint, say."""
    text = _plain(text)
    found: dict[str, bool] = {}
    for start, end in sentences(text):
        sentence = text[start:end]
        denial = cues.PLAIN_NO.search(sentence) is not None
        for match in vocabulary.find(sentence):
            found.setdefault(match.concept, not denial and not _negated(sentence, match.start))
    return list(found.items())
