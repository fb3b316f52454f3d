"""Reads a patient's turn that was recorded elsewhere: what it answers, how, and what it tells unasked (metrics.md 1, E8)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from ontology import cues
from ontology.annotation import Annotation, disease_of
from ontology.context import Assertion, SentenceContext
from ontology.matching import matches_in
from ontology.mentions import Act, Answer, DialogueRole, Mention
from ontology.text import sentences
from ontology.vocabulary import HMAX, Match, Vocabulary

SOFT_YES = re.compile(
    r"^\W*(?:a (?:bit|little)|kind of|sort of|sometimes|occasionally|often|always|sure|correct|right|that's (?:right|correct|true)|exactly|"
    r"indeed|i (?:do|have|am|did|was|had)(?! not|n't)|uh[- ]?huh|mm+(?:[- ]hmm)?|of course|definitely|very much|quite a (?:lot|bit)|"
    r"(?:it|he|she|they) (?:does|is|has|did|do|are|have)(?=\s*[.,;!]|\s*$| and | but ))(?!\w)",
    re.IGNORECASE,
)
SOFT_NO = re.compile(
    r"^\W*(?:not (?:really|at all|that i know|as far as|yet|particularly|much)|i (?:don't|do not|haven't|have not|didn't|did not|'m not|"
    r"am not|wasn't|can't say)|"
    r"i'm not|it (?:doesn't|isn't|hasn't|didn't|does not|is not)|(?:he|she|they) (?:doesn't|isn't|hasn't|didn't|don't|haven't|aren't)|"
    r"nothing (?:like that|else)|"
    r"none of (?:that|those|these))\b",
    re.IGNORECASE,
)
PLAIN_NO = re.compile(
    r"^\W*(?:no|nope|nah|never|none|neither|nothing)(?=\W*$|\s*[,.;!:—–-]|\s+(?:i|it|he|she|they|we|not|there|my|nothing|but|thanks?|"
    r"sir|doctor|really|of)\b)",
    re.IGNORECASE,
)
"""A "no" that answers; that of "no fever" only denies the fever."""
NOBODY = re.compile(r"\b(?:no ?one|nobody|none of (?:them|us))(?: \w+){0,3}", re.IGNORECASE)
OF_RELATIVE = re.compile(
    r"\b(?:does|did|do|has|had|have|is|was|were|are|yes|got|gets|suffers?|died)(?P<no>n't| not| never)?(?: (?:it|that|one|them|too))?\b",
    re.IGNORECASE,
)
LONGEST_LIST = 8
"""Words of an answer that only lists relatives."""
PARTICLES: tuple[tuple[Answer, re.Pattern[str]], ...] = (
    ("unsure", cues.NO_IDEA),
    ("affirmed", cues.YES),
    ("affirmed", SOFT_YES),
    ("denied", PLAIN_NO),
    ("unsure", cues.UNSURE),
    ("denied", SOFT_NO),
)
"""The first that fits counts."""
ROLE_OF: dict[Answer, DialogueRole] = {"affirmed": "affirmed", "denied": "denied", "unsure": "unsure"}
POLARITY_OF = {"affirmed": "present", "denied": "absent", "unsure": "unknown"}


@dataclass(frozen=True, slots=True)
class _Told:
    """A finding of the turn, with what is said of it."""

    match: Match
    says: Assertion


def annotate_patient(
    text: str, vocabulary: Vocabulary, turn: int = 0, asked: Sequence[Mention] = (), for_child: bool = False
) -> Annotation:
    """Acts and mentions of a patient's turn.

    Args:
        text: the turn.
        vocabulary: the concepts.
        turn: its index, for the ids.
        asked: what the examiner has asked and nobody has answered: the mentions with role `asked` of the turn before.
        for_child: a parent speaks for the patient.

    Returns:
        an answer act with a mention for each question that is answered, linked to it: affirmed, denied or unsure. A finding that is one
        asked for, or next to it (two is-a links), answers it; a bare yes or no answers all that no words of the turn answer, and its
        mention is that word. Everything else is volunteered. What the turn leaves open is not answered.
    """
    plain = text.replace("’", "'")
    reader = _Reader(text, vocabulary, turn, [m for m in asked if m.dialogue_role == "asked"])
    for start, end in sentences(plain):
        context = SentenceContext(plain[start:end], for_child)
        for match in matches_in(plain[start:end], vocabulary):
            here = Match(match.start + start, match.end + start, match.concept, match.alternatives, 0, 0)
            says = context.of(match.start, match.end)
            if vocabulary.kind(match.concept) == "family_history":  # "my mother has asthma": the disease, and whose it is
                here, says = disease_of(here, plain, vocabulary), replace(says, experiencer="family")
            reader.hear(_Told(here, says))
    reader.bare_answer(plain)
    return reader.annotation()


class _Reader:
    """Collects what a turn answers and volunteers."""

    def __init__(self, text: str, vocabulary: Vocabulary, turn: int, asked: list[Mention]) -> None:
        self._text = text
        self._vocabulary = vocabulary
        self._turn = turn
        self._asked = asked
        self._open = list(asked)
        self._mentions: list[Mention] = []
        self._answers: list[str] = []
        self._volunteered: list[str] = []

    def hear(self, told: _Told) -> None:
        """A finding: an answer to what asked for it, else volunteered."""
        question = self._question_of(told)
        if question is None:
            self._add(told.match, told.match.concept, "volunteered", told.says, None)
            return
        answer: Answer = "denied" if told.says.polarity == "absent" else "unsure" if told.says.certainty == "uncertain" else "affirmed"
        if question in self._open:
            self._open.remove(question)
        self._add(told.match, told.match.concept, ROLE_OF[answer], told.says, question)

    def _question_of(self, told: _Told) -> Mention | None:
        if told.says.temporality == "hypothetical" or told.says.experiencer == "other":
            return None
        concept = self._vocabulary.canonical(told.match.concept)
        close: Mention | None = None
        for question in (*self._open, *self._asked):
            if (question.experiencer == "patient") != (told.says.experiencer == "patient"):
                continue
            wanted = self._vocabulary.canonical(question.cui)
            if wanted == concept or wanted in told.match.alternatives or concept in question.alt_cuis:
                return question
            if close is None and (
                wanted in self._vocabulary.ancestors(concept, HMAX, through_generic=True)
                or concept in self._vocabulary.ancestors(wanted, HMAX)
            ):
                close = question
        return close

    def bare_answer(self, plain: str) -> None:
        """Yes, no or no idea: for every question that no finding of the turn has answered; what else is said gives a detail asked for."""
        answer, span = _particle(plain)
        named = len(self._open) < len(self._asked)
        for question in list(self._open):
            if question.attribute is not None and answer != "unsure" and (answer is None or len(plain.split()) > 3):
                begin, end = _extent(plain)
                if end > begin and answer != "denied":
                    self._answer(question, "affirmed", begin, end)
                    continue
            of_relative = relative_answer(plain) if question.experiencer == "family" and answer in (None, "denied") else None
            if of_relative is not None:
                said, begin, end = of_relative
                self._answer(question, said, begin, end)
                continue
            if answer is None or named and answer == "affirmed":
                continue
            self._answer(question, answer, *span, vague=answer == "affirmed" and len(self._asked) > 1)

    def _answer(self, question: Mention, answer: Answer, start: int, end: int, vague: bool = False) -> None:
        self._open.remove(question)
        says = Assertion("absent" if answer == "denied" else "present", "uncertain" if vague or answer == "unsure" else "certain")
        self._add(Match(start, end, question.cui, (), 0, 0), question.cui, ROLE_OF[answer], says, question)

    def _add(self, match: Match, concept: str, role: DialogueRole, says: Assertion, question: Mention | None) -> None:
        family = question is not None and question.experiencer == "family"
        mention = Mention(
            mention_id=f"t{self._turn}m{len(self._mentions)}",
            start=match.start,
            end=match.end,
            surface=self._text[match.start : match.end],
            cui=concept,
            alt_cuis=list(match.alternatives),
            matcher="lexicon",
            attribute=question.attribute if question is not None else None,
            polarity="unknown" if role == "unsure" else says.polarity,
            certainty=says.certainty,
            temporality=says.temporality,
            experiencer="family" if family else says.experiencer,
            dialogue_role=role,
            links_to=question.mention_id if question is not None else None,
        )
        self._mentions.append(mention)
        (self._answers if question is not None else self._volunteered).append(mention.mention_id)

    def annotation(self) -> Annotation:
        """What was heard; a turn that says nothing of any finding is a remark."""
        acts: list[Act] = []
        if self._answers:
            acts.append(Act(act_id=f"t{self._turn}a0", type="answer", mentions=self._answers))
        if self._volunteered:
            acts.append(Act(act_id=f"t{self._turn}a{len(acts)}", type="volunteer", mentions=self._volunteered))
        if not acts and any(letter.isalnum() for letter in self._text):
            acts.append(Act(act_id=f"t{self._turn}a0", type="meta", payload={"topic": "remark"}))
        return Annotation(acts=acts, mentions=self._mentions)


def relative_answer(text: str) -> tuple[Answer, int, int] | None:
    """An answer about relatives that names no disease: "my father does", "nobody has"; with the place of its words."""
    first = text.split(".")[0]
    nobody = NOBODY.search(first)
    relative = cues.NOT_PATIENT.search(first)
    if nobody is not None:
        return "denied", nobody.start(), nobody.end()
    if relative is None:
        return None
    verb = OF_RELATIVE.search(first, relative.end())
    if verb is None and len(first.split()) > LONGEST_LIST:
        return None
    end = verb.end() if verb is not None else len(first.rstrip(" ,;!?"))
    return ("denied" if verb is not None and verb.group("no") else "affirmed"), relative.start(), end


def _particle(text: str) -> tuple[Answer | None, tuple[int, int]]:
    """A leading yes, no or no idea, and the words that say it."""
    first = text.split(".")[0]
    for answer, pattern in PARTICLES:
        found = pattern.search(first)
        if found is None:
            continue
        if answer == "affirmed" and cues.UNSURE.search(first):
            answer = "unsure"
        begin, end = found.span()
        while begin < end and not text[begin].isalnum():
            begin += 1
        return answer, (begin, end)
    return None, (0, 0)


def _extent(text: str) -> tuple[int, int]:
    begin, end = len(text) - len(text.lstrip()), len(text.rstrip())
    return begin, end
