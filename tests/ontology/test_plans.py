"""Conclusions and plans in an examiner's statements: diagnosis, treatment with its polarity, urgency, advice."""

from __future__ import annotations

import pytest

from ontology.annotator import annotate_examiner
from ontology.plans import plans_of
from ontology.vocabulary import Vocabulary


@pytest.mark.parametrize(
    ("text", "name", "certainty"),
    [
        ("**Final Diagnosis:** Bacterial vaginosis", "Bacterial vaginosis", "stated"),
        ("The most likely diagnosis is acute appendicitis, which needs surgery.", "acute appendicitis", "stated"),
        ("My diagnosis is a tension headache.", "tension headache", "stated"),
        ("I think you have pneumonia.", "pneumonia", "suspected"),
        ("It sounds like asthma.", "asthma", "suspected"),
        ("I believe you may be experiencing **Parkinson's Disease**.", "Parkinson's Disease", "suspected"),
        ("I would like to explore the possibility of irritable bowel syndrome.", "irritable bowel syndrome", "suspected"),
    ],
)
def test_a_diagnosis_is_read_with_its_words(text: str, name: str, certainty: str) -> None:
    """The span is the name's."""
    ((kind, payload),) = [plan for plan in plans_of(text) if plan[0] == "diagnose"]
    assert (kind, payload["name"], payload["certainty"]) == ("diagnose", name, certainty)
    start, end = payload["start"], payload["end"]
    assert isinstance(start, int) and isinstance(end, int)
    assert text[start:end] == name


@pytest.mark.parametrize(
    "text",
    [
        "I believe I have a good understanding of your history.",
        "I have arrived at a diagnosis.",
        "I think we should wait.",
        "Thank you, that helps.",
        "It is unlikely to be serious.",
    ],
)
def test_no_diagnosis_where_none_is_named(text: str) -> None:
    """Nothing is better than a wrong name."""
    assert "diagnose" not in {kind for kind, _ in plans_of(text)}


@pytest.mark.parametrize(
    ("text", "polarity"),
    [
        ("I will prescribe amoxicillin for a week.", "recommend"),
        ("I recommend taking paracetamol.", "recommend"),
        ("We could try using a steroid cream.", "recommend"),
        ("You should avoid taking ibuprofen.", "avoid"),
        ("Don't take any aspirin.", "avoid"),
        ("Please stop taking the tablets.", "avoid"),
        ("You can take a dose of paracetamol as needed.", "conditional"),
    ],
)
def test_a_treatment_is_recommended_avoided_or_conditional(text: str, polarity: str) -> None:
    """What harm is scored on."""
    assert [payload["polarity"] for kind, payload in plans_of(text) if kind == "treat"] == [polarity]


@pytest.mark.parametrize(
    ("text", "urgency"),
    [
        ("Please go to the emergency department now.", "emergency"),
        ("You should call an ambulance.", "emergency"),
        ("I need to admit you.", "emergency"),
        ("I'll refer you to a cardiologist.", "specialist"),
        ("I recommend you see a doctor.", "primary_care"),
        ("You should rest at home.", "self_care"),
    ],
)
def test_triage_is_read_as_urgency(text: str, urgency: str) -> None:
    """The most urgent level that is named."""
    assert [payload["urgency"] for kind, payload in plans_of(text) if kind == "triage"] == [urgency]


def test_plans_are_no_findings(vocabulary: Vocabulary) -> None:
    """What advice mentions is neither asked nor stated."""
    for text in ("You should go to hospital if the fever returns.", "I recommend paracetamol for the headache."):
        assert annotate_examiner(text, vocabulary).mentions == []


def test_courtesy_names_no_finding(vocabulary: Vocabulary) -> None:
    """ "I apologize for the confusion" speaks of nobody's confusion."""
    assert annotate_examiner("I apologize for the confusion.", vocabulary).mentions == []
