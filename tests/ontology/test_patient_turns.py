"""A patient's turn that was recorded elsewhere: what it answers and what it volunteers (metrics.md 1, E1 to E9)."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ontology.annotation import Annotation
from ontology.annotator import annotate_examiner
from ontology.patient_turns import annotate_patient
from ontology.vocabulary import Vocabulary


def heard(question: str, answer: str, vocabulary: Vocabulary) -> tuple[Annotation, list[tuple[str, str, str]]]:
    """The annotation, and (name, role, surface) of each mention in the order of the text."""
    asked = annotate_examiner(question, vocabulary, 1).mentions
    found = annotate_patient(answer, vocabulary, 2, asked)
    ids = {mention.mention_id for mention in found.mentions}
    for mention in found.mentions:
        assert answer[mention.start : mention.end] == mention.surface
        assert (mention.links_to is None) == (mention.dialogue_role == "volunteered")
        assert mention.links_to is None or mention.links_to in {m.mention_id for m in asked}
    for act in found.acts:
        assert set(act.mentions) <= ids
    return found, [(vocabulary.name(m.cui), m.dialogue_role, m.surface) for m in sorted(found.mentions, key=lambda m: m.start)]


@pytest.mark.parametrize(
    ("question", "answer", "expected"),
    [
        # E8: yes, no and no idea answer what was asked
        ("Any fever?", "Yes.", [("Fever", "affirmed", "Yes")]),
        ("Any fever?", "No.", [("Fever", "denied", "No")]),
        ("Any fever?", "Not really.", [("Fever", "denied", "Not really")]),
        ("Any fever?", "I don't think so.", [("Fever", "denied", "I don't")]),
        ("Any fever?", "I'm not sure.", [("Fever", "unsure", "not sure")]),
        ("Any fever?", "No idea.", [("Fever", "unsure", "No idea")]),
        ("Any fever?", "Sometimes.", [("Fever", "affirmed", "Sometimes")]),
        ("Any fever?", "A little.", [("Fever", "affirmed", "A little")]),
        # E2: a negative question is denied by "no"
        ("No chest pain?", "No.", [("Chest pain", "denied", "No")]),
        # an answer in words of its own
        ("Any fever?", "I've had a fever since Monday.", [("Fever", "affirmed", "fever")]),
        ("Any fever?", "I haven't had a fever.", [("Fever", "denied", "fever")]),
        ("Do you have a cough?", "I think I have a cough.", [("Cough", "unsure", "cough")]),
        # E7: what was not asked is volunteered
        ("Any fever?", "No, but I do have a cough.", [("Fever", "denied", "No"), ("Cough", "volunteered", "cough")]),
        ("Any fever?", "Yes, and I'm vomiting.", [("Fever", "affirmed", "Yes"), ("Vomiting", "volunteered", "vomiting")]),
        ("What brings you here?", "I have a headache.", [("Headache", "volunteered", "headache")]),
        # E3: compound questions
        ("Any fever or cough?", "No.", [("Fever", "denied", "No"), ("Cough", "denied", "No")]),
        ("Any fever or cough?", "A cough, but no fever.", [("Cough", "affirmed", "cough"), ("Fever", "denied", "fever")]),
        ("Any fever or cough?", "Yes, the cough.", [("Cough", "affirmed", "cough")]),
        ("Any fever or cough?", "No fever.", [("Fever", "denied", "fever")]),
        # whose it is
        ("Does anyone in your family have asthma?", "My mother has asthma.", [("Asthma", "affirmed", "asthma")]),
        ("Do you have asthma?", "My mother has asthma.", [("Asthma", "volunteered", "asthma")]),
        # nothing is guessed
        ("Any fever?", "It is Tuesday.", []),
        ("Any fever?", "", []),
    ],
)
def test_an_answer_is_linked_to_its_question(
    question: str, answer: str, expected: list[tuple[str, str, str]], vocabulary: Vocabulary
) -> None:
    """Roles, and the words that say so."""
    assert heard(question, answer, vocabulary)[1] == expected


def test_a_detail_is_answered_in_any_words(vocabulary: Vocabulary) -> None:
    """E6: the mention carries the detail that was asked."""
    found, _ = heard("How long have you had the headache?", "For about three days now.", vocabulary)
    assert [(m.dialogue_role, m.attribute, m.surface) for m in found.mentions] == [("affirmed", "duration", "For about three days now.")]


def test_roles_and_polarity_agree(vocabulary: Vocabulary) -> None:
    """0b D9: affirmed is present, denied absent, unsure unknown."""
    for answer, polarity in (("Yes", "present"), ("No", "absent"), ("I don't know", "unknown")):
        found, _ = heard("Any fever?", answer, vocabulary)
        assert [m.polarity for m in found.mentions] == [polarity]


def test_a_yes_to_several_questions_is_uncertain(vocabulary: Vocabulary) -> None:
    """Which of them is meant, the word does not say."""
    found, _ = heard("Any fever or cough?", "Yes.", vocabulary)
    assert {m.certainty for m in found.mentions} == {"uncertain"}


def test_time_and_person_are_kept(vocabulary: Vocabulary) -> None:
    """Of what is volunteered."""
    found, _ = heard("Tell me more.", "I had eczema as a child, and my father has diabetes.", vocabulary)
    assert [(m.temporality, m.experiencer) for m in found.mentions] == [("historical", "patient"), ("current", "family")]


def test_a_remark_is_a_remark(vocabulary: Vocabulary) -> None:
    """No finding, no answer."""
    found, _ = heard("Hello.", "Nice to meet you.", vocabulary)
    assert [(act.type, act.payload) for act in found.acts] == [("meta", {"topic": "remark"})]


PIECES = ["yes ", "no, ", "but ", "fever ", "cough", ". ", "my mother had ", "if ", "\u202eabc ", "e\u0301", "🤒 ", "\x00", "’", "maybe "]


@settings(max_examples=500, deadline=None)
@given(st.lists(st.sampled_from(PIECES), max_size=12).map("".join) | st.text(max_size=80))
def test_any_answer_can_be_read(vocabulary: Vocabulary, answer: str) -> None:
    """Spans slice to their surface; never an exception."""
    heard("Any fever or cough? How long?", answer, vocabulary)
