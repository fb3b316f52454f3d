"""Details, silence and context in an examiner's turn: wordings of many speakers, and misreadings that were found in use."""

from __future__ import annotations

import pytest

from ontology.annotator import annotate_examiner
from ontology.attributes import STANDARD
from ontology.dialogue import DialogueTurn, PastTurn, TurnReader
from ontology.vocabulary import Vocabulary, bundled_vocabulary

DETAILS: dict[str, tuple[str, ...]] = {
    "onset": (
        "Since when?",
        "From when are you having this fever?",
        "Did it come out of nowhere?",
        "When did the fever set in?",
        "I wonder when it began.",
        "Walk me through how the pain started.",
        "When were you last completely well?",
        "How old were you when it started?",
        "Gradual or sudden?",
    ),
    "duration": (
        "How long?",
        "Since how long are you having fever?",
        "Is it days, weeks or months?",
        "Have you had it long?",
        "Does it last minutes or hours?",
        "How long before it goes away?",
        "Has this been going on for a while?",
    ),
    "location": (
        "Where?",
        "Which side?",
        "Left or right?",
        "Show me where it hurts.",
        "Is it all over or in one spot?",
        "Which joints are affected?",
    ),
    "severity": (
        "Out of ten?",
        "Rate your pain for me.",
        "How bad does it get?",
        "Is it bearable?",
        "Does the pain keep you awake?",
        "To what extent does it limit you?",
    ),
    "character": ("What's it like?", "Sharp or dull?", "Does it throb?", "Put it into words for me.", "What does the rash look like?"),
    "radiation": (
        "And does it move anywhere?",
        "Does the pain travel down your leg?",
        "Where does it go from there?",
        "Do you feel it anywhere else?",
    ),
    "aggravating": (
        "Worse on exertion?",
        "Any triggers?",
        "Is it worse when you breathe in?",
        "Does moving make the pain worse?",
        "Do bright lights make the headache worse?",
        "In what situations does it get worse?",
        "Does it come on when you climb stairs?",
    ),
    "relieving": (
        "What helps?",
        "Does ibuprofen help?",
        "Is it better when you sit up?",
        "Does it go away on its own?",
        "Does rest ease the chest pain?",
    ),
    "frequency": (
        "How often?",
        "When does it happen?",
        "Is it worse at night?",
        "Does it come in waves?",
        "How is he between the attacks?",
        "Daily?",
    ),
    "progression": (
        "Any better?",
        "Is it getting more severe?",
        "How has it been since then?",
        "Is the cough on the mend?",
        "Has the lump grown?",
    ),
}

SILENT = (
    "I'll get you some water.",
    "Shall we book you in for Tuesday?",
    "Let me explain what the scan will show.",
    "Is now a good time?",
    "Would you like a chaperone?",
    "Would you like to take a break?",
    "What time works best for you?",
    "How was your journey?",
    "Sorry to keep you waiting.",
    "Do you need a sick note?",
    "Are you happy with that plan?",
    "Have I got that right?",
    "Is the line clear?",
    "Do you have any questions for me?",
    "Who brought you in today?",
    "Don't hesitate to come back.",
    "If the fever comes back, call us.",
    "Return to the emergency department for chest pain.",
    "Any numbness and you go to hospital, all right?",
    "Watch out for vomiting.",
    "If you can't breathe, call an ambulance.",
    "Antibiotics won't help with a virus.",
    "Chest pain can have lots of different causes.",
    "Let me know if this hurts.",
    "Did you find us all right?",
    "It's bitterly cold out there today, isn't it?",
)


@pytest.fixture(scope="module")
def vocabulary() -> Vocabulary:
    return bundled_vocabulary()


@pytest.mark.parametrize(("detail", "text"), [(detail, text) for detail, texts in DETAILS.items() for text in texts])
def test_details_in_the_words_of_many_speakers(vocabulary: Vocabulary, detail: str, text: str) -> None:
    """E6: fragments, imperatives, indirect questions and other Englishes ask for the same detail."""
    found = annotate_examiner(text, vocabulary).mentions
    assert {STANDARD.get(m.attribute, m.attribute) for m in found if m.attribute} == {detail}


def test_two_details_in_one_sentence(vocabulary: Vocabulary) -> None:
    """Each clause asks its own."""
    found = annotate_examiner("When did it start and how has it changed?", vocabulary).mentions
    assert [m.attribute for m in found] == ["onset", "progression"]


@pytest.mark.parametrize("text", SILENT)
def test_remarks_ask_nothing(vocabulary: Vocabulary, text: str) -> None:
    """E9: offers, arrangements, explanations, small talk and safety-netting neither ask nor state."""
    assert annotate_examiner(text, vocabulary).mentions == []


@pytest.mark.parametrize(
    "text",
    [
        "Are you under the weather?",
        "Any pain in the neck?",
        "Do you need a drink to get through the day?",
        "Tell me if you have had a fever.",
    ],
)
def test_what_only_sounds_like_a_remark_asks(vocabulary: Vocabulary, text: str) -> None:
    """Patterns of remarks must not swallow questions."""
    assert any(m.dialogue_role == "asked" for m in annotate_examiner(text, vocabulary).mentions)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Do you feel weak?", ["Asthenia"]),
        ("Have you fallen or hit your head?", ["Falls", "History of head injury"]),
        ("Do you drink?", ["Drinking alcohol heavily"]),
        ("How much is he drinking?", ["Oral intake"]),
        ("Smoking, alcohol, drugs?", ["Current cigarette smoker", "Drinking alcohol heavily", "Recreational drug use"]),
        ("Do you hesitate?", []),
        ("Is it associated with nausea?", ["Nausea"]),
    ],
)
def test_misreadings(vocabulary: Vocabulary, text: str, names: list[str]) -> None:
    """Found by reading dialogues."""
    asked = [m for m in annotate_examiner(text, vocabulary).mentions if m.dialogue_role == "asked"]
    assert [vocabulary.name(m.cui) for m in asked] == names


def test_drinking_is_what_was_spoken_of(vocabulary: Vocabulary) -> None:
    """Fluids after vomiting, else alcohol; no question for how bad anything is."""
    for focus, concept in (("C0042963", "X:oral-intake"), (None, "X:heavy-alcohol-use")):
        found = annotate_examiner("How much are you drinking?", vocabulary, focus=focus).mentions
        assert [(m.cui, m.attribute) for m in found] == [(concept, None)]


def test_a_considered_diagnosis_with_its_reason(vocabulary: Vocabulary) -> None:
    """What is only considered is not stated; its reason is."""
    found = annotate_examiner("It could be migraine, as you have lost weight.", vocabulary)
    assert [(vocabulary.name(m.cui), m.dialogue_role) for m in found.mentions] == [("Weight loss", "stated")]
    assert [act.payload.get("name") for act in found.acts if act.type == "diagnose"] == ["migraine"]


@pytest.mark.parametrize(
    ("question", "answer", "role"),
    [
        ("Does anyone in your family have diabetes?", "My father does.", "affirmed"),
        ("Does anyone in your family have diabetes?", "My father doesn't.", "denied"),
        ("Does anyone in your family have diabetes?", "No one does.", "denied"),
        ("Does anyone in your family have asthma?", "My sister has it.", "affirmed"),
    ],
)
def test_an_answer_about_relatives_that_names_no_disease(vocabulary: Vocabulary, question: str, answer: str, role: str) -> None:
    """E8: it answers the question for the family."""
    turn = DialogueTurn(answer, "patient", (PastTurn("examiner", question),))
    found = TurnReader(vocabulary).read(turn).mentions
    assert [(m.dialogue_role, m.experiencer) for m in found] == [(role, "family")]


def test_when_they_come_is_how_often(vocabulary: Vocabulary) -> None:
    """Of what the patient has told."""
    before = (PastTurn("examiner", "Any headaches?"), PastTurn("patient", "Yes, I get headaches."))
    found = TurnReader(vocabulary).read(DialogueTurn("When do they come?", "examiner", before)).mentions
    assert [(vocabulary.name(m.cui), m.attribute) for m in found] == [("Headache", "frequency")]
