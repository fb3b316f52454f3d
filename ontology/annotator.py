"""Reads turns: what an examiner asks, states and orders, and whether a patient's answer affirms or denies.

A phrase dictionary over HPO's names and synonyms and our own lay phrases finds the concepts; word patterns find what the sentence does
with them.
"""

from __future__ import annotations

from dataclasses import replace

from ontology import cues
from ontology.annotation import Annotation, AnnotationBuilder, Focus, shifted
from ontology.concepts import RECORD_KINDS
from ontology.matching import matches_in
from ontology.mentions import Answer
from ontology.patient_turns import annotate_patient
from ontology.plans import plans_of
from ontology.questions import PRESENTING_COMPLAINT, QuestionReader, distinct_findings, hedged, pleasantry
from ontology.remarks import is_explanation, is_remark, is_safety_net
from ontology.text import sentences
from ontology.vocabulary import Match, Vocabulary

__all__ = ["PRESENTING_COMPLAINT", "Annotation", "annotate_examiner", "findings", "read_answer"]


ALCOHOL, FLUIDS = "X:heavy-alcohol-use", "X:oral-intake"
DRUGS = "X:recreational-drug-use"
HABITS = frozenset({ALCOHOL, DRUGS, "X:current-smoker"})
OF_FLUIDS = frozenset({FLUIDS, "X:feeding", "C0042963", "C0011991", "C0027497", "C0011175", "C0232462", "C0085602", "C0232466"})
"""What makes "how much are you drinking?" mean fluids: intake, feeding, vomiting, diarrhea, nausea, dehydration, appetite, thirst."""


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
    builder = AnnotationBuilder(text, turn, cues.NOT_THE_CHILD if for_child else cues.NOT_PATIENT)
    plain = _plain(text)
    spoken_of = Focus(vocabulary.canonical(focus) if focus else None)
    for start, end in sentences(text):
        spoken_of = _sentence(builder, vocabulary, plain[start:end], start, spoken_of)
    for place, act in enumerate(builder.out.acts):
        act.act_id = f"t{turn}a{place}"
    return builder.out


def _plain(text: str) -> str:
    """The text with straight apostrophes, which the patterns know; no code point moves."""
    return text.replace("’", "'")


def _sentence(builder: AnnotationBuilder, vocabulary: Vocabulary, text: str, start: int, focus: Focus) -> Focus:
    courtesy = [found.span() for found in cues.COURTESY.finditer(text)]
    found = matches_in(text, vocabulary)
    matches = [shifted(match, start) for match in found if not any(a <= match.start < b for a, b in courtesy)]
    matches = _habits(builder, vocabulary, matches, text, start, focus)
    asks = text.rstrip().endswith("?")
    if is_safety_net(text) or cues.HYPOTHETICAL.search(text) and not asks:
        builder.act("advise", safety_net="yes")
        return focus
    if asks and cues.AGREED_TAG.search(text) and not cues.QUESTION_START.search(text):
        asks = False
    question = asks or cues.QUESTION_START.search(text) is not None
    if not question and _explains(text, start, matches, vocabulary):
        builder.act("meta", topic="remark")
        return focus
    ordering = cues.ORDER.search(text) is not None or cues.ORDER_START.search(text) is not None
    if ordering and not asks:
        matches = [replace(match, concept=vocabulary.as_ordered(match.concept)) for match in matches]
    on_record = [m for m in matches if vocabulary.kind(m.concept) in RECORD_KINDS]
    if on_record and (question or ordering or not cues.FINITE.search(text)):
        on_record = distinct_findings(on_record, vocabulary)
        builder.act("order_test", [builder.mention(m, "asked") for m in on_record])
        matches = [m for m in matches if vocabulary.kind(m.concept) not in RECORD_KINDS] if question else []
        if not matches:
            return focus
    if question:
        for m in on_record:  # its words ask for no detail of a finding: the "pressure" of a blood pressure
            text = text[: m.start - start] + "x" * (m.end - m.start) + text[m.end - start :]
        return QuestionReader(builder, vocabulary, text, start, bool(on_record)).read(matches, focus)
    return _statement(builder, vocabulary, matches, text, start, focus)


def _habits(builder: AnnotationBuilder, vocabulary: Vocabulary, matches: list[Match], text: str, start: int, focus: Focus) -> list[Match]:
    """Habits named by half: drugs beside tobacco or alcohol; drinking, which is fluids where they, the stomach or a child are spoken of."""
    if any(m.concept in HABITS for m in matches):  # "do you smoke, drink or use drugs?"
        matches = [replace(m, concept=m.alternatives[0], alternatives=(m.concept,)) if DRUGS in m.alternatives[:1] else m for m in matches]
    found = cues.DRINKS.search(text)
    if found is None or cues.BEVERAGE.search(text) or not {ALCOHOL, FLUIDS} <= vocabulary.rows.keys():
        return matches
    begin, end = start + found.start(), start + found.end()
    over = [m for m in matches if m.start < end and begin < m.end]
    if any(m.concept != FLUIDS for m in over):
        return matches
    fluids = focus.concept in OF_FLUIDS or builder.others is cues.NOT_THE_CHILD or cues.THIRD_PERSON.search(found.group()) is not None
    meant, else_ = (FLUIDS, ALCOHOL) if fluids and focus.concept != ALCOHOL else (ALCOHOL, FLUIDS)
    return sorted([*(m for m in matches if m not in over), Match(begin, end, meant, (else_,), -1, -1)], key=lambda m: m.start)


def _explains(text: str, start: int, matches: list[Match], vocabulary: Vocabulary) -> bool:
    """Whether a statement says how things are in general or what comes next, which neither asks, states nor orders anything."""
    masked = text
    for match in matches:
        if vocabulary.kind(match.concept) in RECORD_KINDS:
            masked = masked[: match.start - start] + "x" * (match.end - match.start) + masked[match.end - start :]
    return (is_explanation(text, masked) or is_remark(text)) and not plans_of(text) and not cues.GIVEN_TO_PATIENT.search(text)


def _statement(builder: AnnotationBuilder, vocabulary: Vocabulary, matches: list[Match], text: str, start: int, focus: Focus) -> Focus:
    plans = plans_of(text, [vocabulary.name(m.concept) for m in matches if vocabulary.kind(m.concept) == "medication"])
    planned = any(kind in ("treat", "triage", "advise") for kind, _ in plans)
    known = [] if planned else [m for m in matches if not hedged(text, m.start - start)]
    if known:
        ids = builder.stated(known, text, start)
        builder.act("state", ids)
        focus = Focus(known[-1].concept, ids[-1])
    elif matches and not planned:
        focus = Focus(matches[-1].concept)
    for kind, payload in plans:
        builder.act(kind, plan=payload)
    if known or plans:
        return focus
    if matches:
        builder.act("state", topic="thought")
    elif cues.ORDER.search(text) and not pleasantry(text):
        builder.act("order_test", unrecognised="yes")
    else:
        builder.act("empathy" if not pleasantry(text) else "meta", topic=pleasantry(text) or "remark")
    return focus


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
    found: dict[str, bool] = {}
    for mention in annotate_patient(text, vocabulary).mentions:
        found.setdefault(mention.cui, mention.polarity == "present")
    return list(found.items())
