"""Reads a sentence that asks, clause by clause: which findings, which detail of them, and whose they are."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import cast

from ontology import cues
from ontology.annotation import AnnotationBuilder, Focus, disease_of
from ontology.attributes import attribute_asked, without_descriptions
from ontology.concepts import Attribute
from ontology.detail_subjects import bearers, hinders, is_definite, resolved, trimmed
from ontology.remarks import is_remark
from ontology.text import lower_in_place
from ontology.vocabulary import Match, Vocabulary

PRESENTING_COMPLAINT = "X:presenting-complaint"
"""What "it" means where nothing was named before: the complaint for which the patient has come."""

ANY_FAMILY_HISTORY = "X:family-history-any"
"""What is asked by "anything in the family?"; beside a disease the family is only whose it is."""

NOT_OF_HABITS = frozenset({"severity", "character", "location", "radiation", "progression"})
"""Details that a symptom has and a habit, an exposure or a medicine has not: "what is your diet like?" asks for the diet."""

LONGEST_PREDICATE = 40
"""Characters that a mention of a detail goes on behind the words that ask for it."""

GENERIC_HMAX = 6
"""How far above a specific finding a generic one may lie that is the same question: "is the pain worse when you move?"."""


def hedged(text: str, at: int) -> bool:
    """Whether a statement only considers a finding: "I suspect", "to rule out"."""
    before = text[:at]
    hedge = max((match.end() for match in cues.HEDGED.finditer(before)), default=-1)
    return hedge >= 0 and not cues.GIVEN.search(before, hedge)


class QuestionReader:
    """Reads one sentence that asks, clause by clause."""

    def __init__(self, builder: AnnotationBuilder, vocabulary: Vocabulary, text: str, start: int, ordered: bool) -> None:
        self._ordered = ordered
        self._builder = builder
        self._vocabulary = vocabulary
        self._text = text
        self._start = start
        self._asked: set[tuple[str, str | None]] = set()
        self._acts = 0

    def read(self, matches: list[Match], focus: Focus) -> Focus:
        """Act for act; what the sentence speaks of last."""
        starts = (m.end() for m in cues.CLAUSE_START.finditer(self._text))
        whole = [s for s in starts if not any(m.start - self._start < s < m.end - self._start for m in matches)]
        borders = [0, *whole, len(self._text)]
        clauses = [(a, b) for a, b in pairwise(borders) if any(c.isalnum() for c in self._text[a:b])]
        if len(clauses) > 1 and cues.SCALE.search(self._text[slice(*clauses[0])]) and cues.SCALE_FIRST.search(self._text):
            clauses = [(clauses[0][0], clauses[1][1]), *clauses[2:]]
        if len(clauses) > 1 and cues.SUBORDINATE.search(self._text[slice(*clauses[0])]):
            later = [m for m in matches if m.start - self._start >= clauses[0][1] and not self._vocabulary.generic(m.concept)]
            clauses = clauses if later else [(clauses[0][0], clauses[-1][1])]
        for index, (begin, end) in enumerate(clauses):
            text = self._text[begin:end]
            within = [m for m in matches if begin <= m.start - self._start < end]
            leads = index == 0 and len(clauses) > 1 and (not cues.QUESTION_START.search(text) or cues.SUBORDINATE.search(text) is not None)
            if leads and (within or not pleasantry(text)):
                focus = self._lead(text, begin, within, focus)
            else:
                focus = self._clause(text, self._start + begin, within, focus, last=index == len(clauses) - 1)
        return focus

    def _lead(self, text: str, begin: int, matches: list[Match], focus: Focus) -> Focus:
        """What comes before the first question: "as you have a fever, …"; a mere topic is what "it" then means."""
        if cues.SUBORDINATE.search(text):
            self._stated(matches, text, self._start + begin)
            return Focus(matches[-1].concept) if matches else focus
        known = [m for m in matches if not hedged(text, m.start - self._start - begin)]
        if not known:
            return focus
        ids = self._builder.stated(known, text, self._start + begin)
        self._builder.act("state", ids)
        return Focus(known[-1].concept, ids[-1])

    def _clause(self, text: str, start: int, matches: list[Match], focus: Focus, last: bool) -> Focus:
        if cues.OFFER.search(lower_in_place(text)) or is_remark(text):
            self._builder.act("meta", topic=pleasantry(text) or "remark")
            return focus
        consequence = cues.CONSEQUENCE.search(text)
        if consequence is not None and consequence.start() > 0:
            named = [m for m in matches if m.start - start < consequence.start()]
            reasons = [m for m in matches if m not in named] if named else []
            matches = named or matches
            self._stated(reasons, text, start)
            text = text[: consequence.start()] if reasons else text
        if len(matches) > 1:
            matches = [m for m in matches if m.concept != ANY_FAMILY_HISTORY]
        kept = [trimmed(m, text, start, self._vocabulary) for m in matches]
        matches, details = resolved([m for m in kept if m is not None], text, start, self._vocabulary)
        if details:
            return self._quality(details, text, start, focus)
        hindered = cues.HINDERS.search(text)
        if hindered is not None:  # "does it keep you awake at night?" asks how bad it is
            matches = [m for m in matches if m.start - start < hindered.start("verb") or not hinders(m, text, start, self._vocabulary)]
        describing, masked = without_descriptions(text, [(m.start - start, m.end - start) for m in matches])
        described = [m for i, m in enumerate(matches) if i in describing]
        plain = [m for i, m in enumerate(matches) if i not in describing]
        front, scene = self._foreground(plain, text, start)
        open_ended = cues.OPEN_QUESTION.search(text) is not None
        new = not all(self._vocabulary.kind(m.concept) == "symptom" and is_definite(m, text, start) for m in plain)
        attribute, span = attribute_asked(text, masked, bool(matches) and new)
        front, attribute = bearers(front, attribute, span[0] if span else 0, text, start, self._vocabulary)
        of_it = attribute not in (None, "associated") and _subject(text) is not None
        if not front and not described and not open_ended and not of_it:
            known = [m for m in scene if self._is_known(m, text, start)]
            front, scene = [m for m in scene if m not in known], known
        if described:
            self._stated(plain, text, start)
            return self._descriptions(described, focus)
        asked = [m for m in distinct_findings(front, self._vocabulary, text, start) if (m.concept, attribute) not in self._asked]
        if front:
            self._stated(scene, text, start)
            habits = all(self._vocabulary.kind(m.concept) in ("social", "exposure", "medication") for m in front)
            if attribute == "associated" or habits and attribute in NOT_OF_HABITS:
                attribute = None
            return self._ask(asked, front, attribute, text, start, open_ended)
        return self._without_finding(text, start, attribute, span, open_ended, scene, focus, last)

    def _quality(self, details: list[Match], text: str, start: int, focus: Focus) -> Focus:
        """A detail that is a finding of its own: "is it worse when you move?" speaks of what "it" is, and goes on meaning it."""
        own = self._vocabulary.detail(details[0].concept)
        attribute = attribute_asked(text, text, False)[0]
        if attribute not in ("aggravating", "relieving", "radiation", "frequency"):
            attribute = own
        self._ask(details, details, attribute, text, start, open_ended=False)
        return focus

    def _foreground(self, matches: list[Match], text: str, start: int) -> tuple[list[Match], list[Match]]:
        """Findings that are asked for, and those that only set the scene: "any mucus with the cough?"."""
        front: list[Match] = []
        scene: list[Match] = []
        for match in matches:
            before = text[max(0, match.start - start - cues.REACH) : match.start - start]
            indication = (front or self._ordered) and cues.INDICATION.search(before)
            goes_on = scene and _joined(text[scene[-1].end - start : match.start - start])
            sets = goes_on or indication or cues.ALONGSIDE.search(before) or self._is_known(match, text, start)
            (scene if sets else front).append(match)
        return front, scene

    def _is_known(self, match: Match, text: str, start: int) -> bool:
        """Whether a finding is spoken of as known: "is this rash accompanied by", "along with the dizziness"."""
        before = text[max(0, match.start - start - cues.REACH) : match.start - start]
        if cues.KNOWN_BESIDE.search(before):
            return True
        return cues.SUBJECT_OF.search(text[match.end - start :]) is not None and cues.DEFINITE.search(before) is not None

    def _stated(self, matches: list[Match], text: str, start: int) -> None:
        """Of findings that set the scene, those that both sides know of: "with the cough", "for your diabetes"."""
        known: list[Match] = []
        for match in matches:
            goes_on = known and _joined(text[known[-1].end - start : match.start - start])
            if goes_on or cues.DEFINITE.search(text[max(0, match.start - start - cues.REACH) : match.start - start]):
                known.append(match)
        known = [m for m in known if self._vocabulary.kind(m.concept) != "family_history"]
        if known:
            self._builder.act("state", [self._builder.mention(m, "stated") for m in known])

    def _descriptions(self, matches: list[Match], focus: Focus) -> Focus:
        """Qualities of a finding that are findings themselves: "is the rash itchy or painful?"."""
        ids = []
        for match in matches:
            word = match_text(self._builder.text, match).lower()
            attribute = next((name for stem, name in cues.DESCRIPTION_ATTRIBUTE if stem in word), "character")
            ids.append(self._builder.mention(match, "asked", cast(Attribute, attribute)))
        self._builder.act("ask", ids, attribute="character")
        return focus

    def _ask(self, asked: list[Match], front: list[Match], attribute: Attribute | None, text: str, start: int, open_ended: bool) -> Focus:
        historical = cues.HISTORICAL.search(text) is not None
        ids = []
        for match in asked:
            self._asked.add((match.concept, attribute))
            for whose, found in self._experiencers(match, text, start):
                ids.append(
                    self._builder.mention(found, "asked", attribute, family=whose == "family", historical=historical or whose == "family")
                )
        if ids:
            self._builder.act("ask", ids, open_ended=open_ended, plan={"attribute": attribute} if attribute else None)
        return Focus(front[-1].concept)

    def _experiencers(self, match: Match, text: str, start: int) -> list[tuple[str, Match]]:
        """Whose the finding is: the patient's, a relative's, or both."""
        if self._vocabulary.kind(match.concept) == "family_history":
            return [("family", disease_of(match, self._builder.text, self._vocabulary))]
        relative = self._builder.others.search(text)
        if relative is None or self._vocabulary.kind(match.concept) in ("social", "exposure"):
            return [("patient", match)]
        at = match.start - start
        if cues.OBSERVES.search(text, min(relative.end(), at), max(relative.end(), at)):
            return [("patient", match)]
        if cues.BOTH.search(text):
            cue = replace(match, start=start + relative.start())
            return [("patient", match), ("family", cue)] if relative.end() <= at else [("patient", match)]
        if relative.end() <= at:
            of_patient = cues.SECOND_PERSON.search(text[relative.end() : at])
            return [("patient" if of_patient else "family", match)]
        return [("family" if cues.TRAILING_FAMILY.search(text, at) else "patient", match)]

    def _without_finding(
        self,
        text: str,
        start: int,
        attribute: Attribute | None,
        span: tuple[int, int] | None,
        open_ended: bool,
        scene: list[Match],
        focus: Focus,
        last: bool,
    ) -> Focus:
        topic = pleasantry(text)
        if topic is not None:
            self._builder.act("meta", topic=topic)
            return focus
        if open_ended:
            self._stated(scene, text, start)
            self._builder.act("ask", open_ended=True)
            return Focus(scene[-1].concept) if scene else focus
        if attribute not in (None, "associated") and span is not None and (focus.concept or _about_complaint(text)):
            return self._detail(text, start, attribute, span, focus)
        if last and not self._ordered:
            self._builder.act("ask", unrecognised="yes")
        return focus

    def _detail(self, text: str, start: int, attribute: Attribute, span: tuple[int, int], focus: Focus) -> Focus:
        """A detail of what was spoken of last, or of the complaint: "when did it start?"."""
        concept = focus.concept or PRESENTING_COMPLAINT
        if (concept, None) in self._asked and self._vocabulary.kind(concept) != "symptom" and cues.YES_NO.match(text):
            return focus  # "tell me about breastfeeding, was it for more than nine months?" asks one thing
        if (concept, attribute) in self._asked or (concept, attribute) in self._builder.details:
            return focus
        self._builder.details.add((concept, attribute))
        mention = self._builder.asked_again(focus.stated, attribute) if focus.stated else None
        if mention is None:
            begin, end = detail_extent(text, span)
            mention = self._builder.mention(Match(start + begin, start + end, concept, (), -1, -1), "asked", attribute)
        self._builder.act("ask", [mention], attribute=attribute)
        return Focus(focus.concept)


def _joined(between: str, need: bool = False) -> bool:
    """Whether what stands between two findings only joins them; with `need`, whether a comma, "and" or "or" does."""
    found = cues.JOINT.fullmatch(between)
    return found is not None and (not need or bool(found.group("joint")))


def _about_complaint(text: str) -> bool:
    """Whether a question for a detail can be one of the complaint: it speaks of "it" or of "symptoms", not of an appointment."""
    if cues.NOT_ABOUT_ILLNESS.search(text):
        return False
    return _subject(text) is not None or cues.SECOND_PERSON.search(text) is None or cues.BODY_SENSE.search(text) is not None


def _subject(text: str) -> tuple[int, int] | None:
    """The words that stand for the complaint."""
    found = cues.COMPLAINT.search(text) or cues.PRONOUN.search(text)
    return found.span() if found else None


def detail_extent(text: str, span: tuple[int, int]) -> tuple[int, int]:
    """The words of a question for a detail of "it": from the subject or the cue to the end of the predicate.

    Args:
        text: the clause.
        span: where it asks for the detail.
    """
    noun = cues.COMPLAINT.search(text)
    if noun is not None:
        return noun.span()
    subject = cues.SUBJECT_WORD.search(text)
    begin, end = span
    if subject is not None:
        begin, end = min(begin, subject.start()), max(end, subject.end())
    front = cues.AUXILIARY.match(text, begin, end)
    if front is not None and front.end() < end:
        begin = front.end()
    if cues.YES_NO.match(text):
        stop = cues.PREDICATE_END.search(text, end)
        end = min(stop.start() if stop else len(text.rstrip()), end + LONGEST_PREDICATE)
    elif subject is not None and subject.end() == end:
        verb = cues.VERB_AFTER.match(text, end)
        end = verb.end() if verb is not None else end
    while end < len(text) and text[end].isalnum() and text[end - 1].isalnum():
        end += 1
    return begin, end


def match_text(text: str, match: Match) -> str:
    """The words of a match."""
    return text[match.start : match.end]


def distinct_findings(matches: list[Match], vocabulary: Vocabulary, text: str = "", start: int = 0) -> list[Match]:
    """Each concept once; a generic one not beside a specific one: "is the pain worse when you move?" asks one thing.

    It stays where it is an item of its own ("skin conditions or cancer") or is explained by examples ("skin conditions like eczema").
    """
    kept: dict[str, Match] = {}
    for place, match in enumerate(matches):
        if vocabulary.generic(match.concept) and not cues.EXAMPLES.match(text[match.end - start :]):
            specific = [m for m in matches if not vocabulary.generic(m.concept)]
            neighbours = [m for m in (*matches[max(0, place - 1) : place], *matches[place + 1 : place + 2]) if m in specific]
            listed = any(_joined(text[min(match.end, m.end) - start : max(match.start, m.start) - start], need=True) for m in neighbours)
            if specific and (not listed or any(_below(m.concept, match.concept, vocabulary) for m in specific)):
                continue
        kept.setdefault(match.concept, match)
    return list(kept.values())


def _below(concept: str, general: str, vocabulary: Vocabulary) -> bool:
    return general in vocabulary.ancestors(concept, GENERIC_HMAX, through_generic=True)


def pleasantry(text: str) -> str | None:
    """The topic of a question or remark that is not clinical: the name, consent, a greeting (E9); None if it is none."""
    for topic, pattern in cues.PLEASANTRIES:
        if pattern.search(text):
            return topic
    return None
