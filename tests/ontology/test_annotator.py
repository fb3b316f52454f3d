"""What an examiner's sentence asks, and what a patient's answer says (metrics.md section 1, E1 to E9)."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ontology.annotation import family_concept_of
from ontology.annotator import PRESENTING_COMPLAINT, Annotation, annotate_examiner, findings, read_answer
from ontology.mentions import Mention
from ontology.vocabulary import Vocabulary

PAIN, HEADACHE, RASH = "C0030193", "C0018681", "C0015230"


def asked(annotation: Annotation, vocabulary: Vocabulary) -> list[tuple[str, str | None]]:
    """(name, attribute) of what is asked, in order."""
    return [(vocabulary.name(m.cui), m.attribute) for m in annotation.mentions if m.dialogue_role == "asked"]


def acts(annotation: Annotation) -> list[str]:
    return [act.type for act in annotation.acts]


def check(annotation: Annotation, text: str) -> None:
    """The invariants of mentions and acts (metrics.md 14)."""
    ids = [mention.mention_id for mention in annotation.mentions]
    assert len(set(ids)) == len(ids)
    for mention in annotation.mentions:
        assert text[mention.start : mention.end] == mention.surface
        assert mention.surface
        assert (mention.polarity == "queried") == (mention.dialogue_role == "asked")
    assert len({act.act_id for act in annotation.acts}) == len(annotation.acts)
    for act in annotation.acts:
        assert set(act.mentions) <= set(ids)


# -- E1, E2, E3: questions, statements, negated and compound questions ------------------------------------------------


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Do you have a fever?", ["Fever"]),
        ("do you have a fever", ["Fever"]),
        ("Fever?", ["Fever"]),
        ("Any nausea?", ["Nausea"]),
        ("And have you been coughing?", ["Cough"]),
        ("Okay, so, have you lost any weight?", ["Weight loss"]),
        ("Tell me about any night sweats.", ["Night sweats"]),
        ("I wonder whether you have had any fever.", ["Fever"]),
        ("I'd like to know if you have had chills.", ["Chills"]),
        ("Can you tell me if you have noticed a rash.", ["Skin rash"]),
        ("You have had a fever, haven't you?", ["Fever"]),
        ("Ever had a seizure?", ["Seizure"]),
    ],
)
def test_questions_ask(vocabulary: Vocabulary, text: str, names: list[str]) -> None:
    """With or without a question mark."""
    found = annotate_examiner(text, vocabulary)
    check(found, text)
    assert asked(found, vocabulary) == [(name, None) for name in names]
    assert acts(found) == ["ask"]


@pytest.mark.parametrize(
    "text",
    [
        "You have photophobia.",
        "So you have jaw pain.",
        "You say you've had a headache and a fever.",
        "I think you have pneumonia.",
        "It sounds like asthma.",
        "That would explain the cough.",
        "I am sorry to hear about your chest pain.",
    ],
)
def test_a_statement_is_never_a_question(vocabulary: Vocabulary, text: str) -> None:
    """E1: an examiner who asserts a finding has not asked for it."""
    found = annotate_examiner(text, vocabulary)
    check(found, text)
    assert asked(found, vocabulary) == []
    assert acts(found)[0] == "state" and set(acts(found)) <= {"state", "diagnose"}
    assert {m.dialogue_role for m in found.mentions} == {"stated"}


@pytest.mark.parametrize(
    ("text", "polarities"),
    [
        ("You have a fever and a cough.", ["present", "present"]),
        ("You have no fever, cough or rash.", ["absent", "absent", "absent"]),
        ("You have a cough but no fever.", ["present", "absent"]),
        ("You said there was never any chest pain, and you have a cough.", ["absent", "present"]),
        ("You don't have a rash.", ["absent"]),
        ("I know you have a rash.", ["present"]),
    ],
)
def test_stated_findings_keep_their_polarity(vocabulary: Vocabulary, text: str, polarities: list[str]) -> None:
    """A negation reaches to the end of its clause."""
    assert [m.polarity for m in annotate_examiner(text, vocabulary).mentions] == polarities


@pytest.mark.parametrize(
    "text", ["No chest pain?", "You don't have chest pain, do you?", "You haven’t had any chest pain?", "Not any chest pain?"]
)
def test_a_negated_question_still_asks(vocabulary: Vocabulary, text: str) -> None:
    """E2."""
    found = annotate_examiner(text, vocabulary)
    assert asked(found, vocabulary) == [("Chest pain", None)]
    assert {m.polarity for m in found.mentions} == {"queried"}


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Do you have a fever, cough or sore throat?", ["Fever", "Cough", "Sore throat"]),
        ("Any nausea or vomiting?", ["Nausea", "Vomiting"]),
        ("Have you had fever, chills, night sweats, or weight loss?", ["Fever", "Chills", "Night sweats", "Weight loss"]),
        ("Any cough? Any fever?", ["Cough", "Fever"]),
        ("Any cough, a dry cough?", ["Cough"]),
    ],
)
def test_compound_questions_ask_each_in_text_order(vocabulary: Vocabulary, text: str, names: list[str]) -> None:
    """E3; a concept that is named twice in a sentence is asked once."""
    found = annotate_examiner(text, vocabulary)
    check(found, text)
    assert [name for name, _ in asked(found, vocabulary)] == names
    assert [m.start for m in found.mentions] == sorted(m.start for m in found.mentions)


def test_a_general_word_beside_a_finding_asks_nothing_more(vocabulary: Vocabulary) -> None:
    """ "Is the pain worse when you move?" is one question, for a detail; the finding it also is stays an alternative for the case."""
    found = annotate_examiner("Is the pain worse when you move?", vocabulary)
    assert asked(found, vocabulary) == [("Pain", "aggravating")]
    assert found.mentions[0].alt_cuis == ["X:pain-worse-on-movement"]
    assert [name for name, _ in asked(annotate_examiner("Are you in pain?", vocabulary), vocabulary)] == ["Pain"]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Any mucus with the cough?", ["Cough with coloured or increased sputum"]),
        ("Any phlegm with the cough?", ["Cough with coloured or increased sputum"]),
        ("Apart from the headache, do you have nausea?", ["Nausea"]),
        ("Besides the cough, any fever?", ["Fever"]),
        ("When you have the headache, do you feel sick to your stomach?", ["Nausea"]),
        ("Other than the fever, have you been vomiting?", ["Vomiting"]),
        ("Have you felt dizzy with it?", ["Dizziness"]),
    ],
)
def test_what_only_sets_the_scene_is_not_asked(vocabulary: Vocabulary, text: str, names: list[str]) -> None:
    """The finding after "with the" or "apart from the" is known already."""
    assert [name for name, _ in asked(annotate_examiner(text, vocabulary), vocabulary)] == names


# -- attributes -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "name", "attribute"),
    [
        ("When did the headache start?", "Headache", "onset"),
        ("Did the rash come on suddenly?", "Skin rash", "onset"),
        ("How fast did the pain appear?", "Pain", "onset"),
        ("How long have you had the pain?", "Pain", "duration"),
        ("For how many days have you been coughing?", "Cough", "duration"),
        ("Where is the pain?", "Pain", "location"),
        ("Where does it hurt?", "Pain", "location"),
        ("Is that where the pain is?", "Pain", "location"),
        ("Where exactly is the swelling?", "Edema", "location"),
        ("Does the pain spread anywhere?", "Pain", "radiation"),
        ("Does the pain go anywhere else?", "Pain", "radiation"),
        ("Can you point to the pain with one finger?", "Pain", "localisation"),
        ("How precisely is the pain located?", "Pain", "localisation"),
        ("How bad is the pain on a scale of 1 to 10?", "Pain", "severity"),
        ("How high was the fever?", "Fever", "severity"),
        ("What does the pain feel like?", "Pain", "character"),
        ("Is the pain sharp or dull?", "Pain", "character"),
        ("Describe your headache.", "Headache", "character"),
        ("What makes the headache worse?", "Headache", "aggravating"),
        ("Have you noticed anything that makes your cough better or worse?", "Cough", "aggravating"),
        ("Does anything make your chest pain better?", "Chest pain", "relieving"),
        ("Has anything relieved the headache?", "Headache", "relieving"),
        ("How often do you vomit?", "Vomiting", "frequency"),
        ("Is the headache constant?", "Headache", "frequency"),
        ("Is the cough getting worse?", "Cough", "progression"),
        ("Has the rash gone away?", "Skin rash", "progression"),
        ("What colour is the rash?", "Skin rash", "color"),
        ("What color is the rash?", "Skin rash", "color"),
        ("How big is the rash?", "Skin rash", "size"),
        ("Is the lesion larger than a centimetre?", "Skin rash", "size"),
        ("Does the rash peel?", "Skin rash", "peeling"),
        ("Which countries did you travel to?", "Recent travel abroad", "destination"),
        ("Where did you travel?", "Recent travel abroad", "destination"),
    ],
)
def test_a_detail_is_asked_of_its_finding(vocabulary: Vocabulary, text: str, name: str, attribute: str) -> None:
    """E6: a detail is another question than presence."""
    found = annotate_examiner(text, vocabulary)
    check(found, text)
    assert asked(found, vocabulary) == [(name, attribute)]


@pytest.mark.parametrize(
    ("text", "quality", "attribute"),
    [
        ("Is the rash painful?", "Pain", "painfulness"),
        ("Does the rash hurt?", "Pain", "painfulness"),
        ("Is the rash swollen?", "Edema", "swelling"),
        ("Is the rash itchy or painful?", "Pain", "painfulness"),
    ],
)
def test_a_quality_that_is_a_finding_is_asked_and_the_finding_it_describes_stated(
    vocabulary: Vocabulary, text: str, quality: str, attribute: str
) -> None:
    """The patient makes it a detail of the rash where the case has one."""
    found = annotate_examiner(text, vocabulary)
    check(found, text)
    assert (quality, attribute) in asked(found, vocabulary)
    assert [m.cui for m in found.mentions if m.dialogue_role == "stated"] == [RASH]


@pytest.mark.parametrize(
    "text",
    [
        "Do you have sharp chest pain?",
        "Any severe chest pain?",
        "Are you having stabbing chest pain?",
        "Have you had burning chest pain?",
    ],
)
def test_asking_for_a_kind_of_pain_asks_for_the_pain(vocabulary: Vocabulary, text: str) -> None:
    """The adjective is no second question."""
    assert asked(annotate_examiner(text, vocabulary), vocabulary) == [("Chest pain", None)]


@pytest.mark.parametrize(
    ("text", "attribute"), [("Do you have pain that spreads?", "radiation"), ("Have you had pain that anything relieves?", "relieving")]
)
def test_some_details_are_asked_with_the_presence(vocabulary: Vocabulary, text: str, attribute: str) -> None:
    """ "Pain that spreads": whoever answers has to speak of the spreading."""
    assert [(m.cui, m.attribute) for m in annotate_examiner(text, vocabulary).mentions] == [(PAIN, attribute)]


def test_words_of_a_concept_are_no_detail(vocabulary: Vocabulary) -> None:
    """The "burning" of heartburn's own phrase asks for heartburn."""
    assert asked(annotate_examiner("Do you have burning when you urinate?", vocabulary), vocabulary) == [("Dysuria", None)]
    assert asked(annotate_examiner("Have your eyelids been swollen?", vocabulary), vocabulary)[0][1] is None


# -- "it" -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "attribute"),
    [
        ("How long have you had it?", "duration"),
        ("When did it start?", "onset"),
        ("Does it spread anywhere?", "radiation"),
        ("How bad is it?", "severity"),
        ("Is it constant or does it come and go?", "frequency"),
        ("Does anything make it better?", "relieving"),
        ("And where is it?", "location"),
    ],
)
def test_it_is_what_was_last_spoken_of(vocabulary: Vocabulary, text: str, attribute: str) -> None:
    """The mention's span is the words that ask for the detail."""
    found = annotate_examiner(text, vocabulary, focus=HEADACHE)
    check(found, text)
    assert [(m.cui, m.attribute) for m in found.mentions] == [(HEADACHE, attribute)]


def test_it_follows_the_words_of_the_turn(vocabulary: Vocabulary) -> None:
    """What the examiner has just named goes before what was named earlier, whether it was asked or stated."""
    for text in ("Any rash? When did it start?", "You mentioned a rash. When did it start?", "You told me of a rash; when did it start?"):
        found = annotate_examiner(text, vocabulary, focus=HEADACHE)
        check(found, text)
        assert [(m.cui, m.attribute) for m in found.mentions if m.attribute] == [(RASH, "onset")]


def test_it_without_anything_spoken_of_is_the_complaint(vocabulary: Vocabulary) -> None:
    """No finding is guessed."""
    found = annotate_examiner("When did it start?", vocabulary)
    check(found, "When did it start?")
    assert [(m.cui, m.attribute, m.surface) for m in found.mentions] == [(PRESENTING_COMPLAINT, "onset", "it start")]


def test_a_question_in_which_nothing_is_recognised_asks_all_the_same(vocabulary: Vocabulary) -> None:
    """An ask without mentions."""
    found = annotate_examiner("Do you wubble?", vocabulary)
    assert acts(found) == ["ask"]
    assert found.mentions == []
    assert found.acts[0].payload == {"unrecognised": "yes"}
    assert not found.acts[0].open_ended


# -- E7, E9: open questions, pleasantries, orders, advice -------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "Anything else?",
        "What brings you here today?",
        "Do you have any other symptoms?",
        "How can I help you?",
        "Tell me more.",
        "What seems to be the problem?",
        "What happened?",
        "Any other symptoms with the headache?",
        "What's been bothering you?",
    ],
)
def test_open_questions_ask_for_nothing_in_particular(vocabulary: Vocabulary, text: str) -> None:
    """E7."""
    found = annotate_examiner(text, vocabulary)
    assert [(act.type, act.open_ended, act.mentions) for act in found.acts if act.type != "state"] == [("ask", True, [])]


@pytest.mark.parametrize(
    ("text", "topic"),
    [
        ("Hello, I'm Doctor Miller.", "greet"),
        ("Good morning!", "greet"),
        ("What is your name?", "name"),
        ("What’s your name?", "name"),
        ("How old are you?", "age"),
        ("Are you male or female?", "sex"),
        ("How are you feeling today?", "feelings"),
        ("Do you understand?", "consent"),
        ("Is it okay if I ask you something?", "consent"),
        ("Thank you.", "thanks"),
        ("Goodbye!", "goodbye"),
    ],
)
def test_pleasantries_are_no_questions(vocabulary: Vocabulary, text: str, topic: str) -> None:
    """E9: name, age, consent and courtesy stay out of precision's denominator."""
    found = annotate_examiner(text, vocabulary)
    assert [(act.type, act.payload) for act in found.acts] == [("meta", {"topic": topic})]
    assert found.mentions == []


def test_courtesy_does_not_hide_a_question(vocabulary: Vocabulary) -> None:
    """Sentences are read one by one."""
    text = "Thanks, that helps. Any fever?"
    found = annotate_examiner(text, vocabulary)
    check(found, text)
    assert acts(found) == ["meta", "ask"]
    assert asked(found, vocabulary) == [("Fever", None)]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Let's check your blood pressure.", "Blood pressure"),
        ("I'd like to order an ECG.", "Electrocardiogram"),
        ("I’d like to order an ECG.", "Electrocardiogram"),
        ("Could I get a chest X-ray?", "Chest X-ray"),
        ("Please order a CT scan of the head.", "CT of the head"),
        ("I would like to listen to your lungs.", "Chest examination"),
        ("What are your vital signs?", "Vital signs"),
        ("Let me examine your abdomen.", "Abdominal examination"),
    ],
)
def test_tests_and_examinations_are_ordered_from_the_record(vocabulary: Vocabulary, text: str, name: str) -> None:
    """The record answers, not the patient (0b D6)."""
    found = annotate_examiner(text, vocabulary)
    check(found, text)
    assert acts(found) == ["order_test"]
    assert [vocabulary.name(m.cui) for m in found.mentions] == [name]


def test_an_order_of_something_unknown_is_still_an_order(vocabulary: Vocabulary) -> None:
    """The record then says that it has nothing by that name."""
    found = annotate_examiner("I'd like to run some tests.", vocabulary)
    assert [(act.type, act.payload) for act in found.acts] == [("order_test", {"unrecognised": "yes"})]


def test_a_question_and_an_order_in_one_sentence(vocabulary: Vocabulary) -> None:
    """Each goes to whom it concerns."""
    text = "Do you have a fever, and what was your blood pressure?"
    found = annotate_examiner(text, vocabulary)
    check(found, text)
    by_id = {m.mention_id: vocabulary.name(m.cui) for m in found.mentions}
    assert [(act.type, [by_id[i] for i in act.mentions]) for act in found.acts] == [("order_test", ["Blood pressure"]), ("ask", ["Fever"])]


@pytest.mark.parametrize(
    "text",
    [
        "If you develop chest pain, call 911.",
        "Come back if you get a fever.",
        "If you notice any blood in the stool, come back immediately.",
        "Should you develop a rash, stop the tablets.",
        "Call us if you start vomiting.",
    ],
)
def test_safety_netting_asks_nothing(vocabulary: Vocabulary, text: str) -> None:
    """Findings that may come are neither asked nor stated."""
    found = annotate_examiner(text, vocabulary)
    assert [(act.type, act.payload) for act in found.acts] == [("advise", {"safety_net": "yes"})]
    assert found.mentions == []


def test_a_hypothetical_question_is_a_question(vocabulary: Vocabulary) -> None:
    """The question mark decides."""
    assert asked(annotate_examiner("If you get a headache, do you also get nausea?", vocabulary), vocabulary)


def test_advice_and_empathy(vocabulary: Vocabulary) -> None:
    """Told apart from statements of findings."""
    assert acts(annotate_examiner("You should rest and drink plenty of water.", vocabulary)) == ["advise"]
    assert acts(annotate_examiner("I will prescribe something.", vocabulary)) == ["treat"]
    assert acts(annotate_examiner("That must be hard for you.", vocabulary)) == ["empathy"]
    assert acts(annotate_examiner("I see.", vocabulary)) == ["empathy"]


def test_nothing_said_is_nothing_done(vocabulary: Vocabulary) -> None:
    """No act for blank text."""
    for text in ("", "   ", "\n\n", "...", "?"):
        assert annotate_examiner(text, vocabulary) == Annotation()


# -- who, and when ----------------------------------------------------------------------------------------------------


def test_relatives_are_asked_about_as_such(vocabulary: Vocabulary) -> None:
    """The disease keeps its id; where there is a concept for the family history, it can be had from the mention."""
    for text, name, history in (
        ("Does anyone in your family have asthma?", "Asthma", "Family history of asthma"),
        ("Has your sister been diagnosed with anemia?", "Ever diagnosed with anemia", "Family history of anemia"),
        ("Is there a history of asthma in your family?", "Asthma", "Family history of asthma"),
        ("Did your father have a stroke?", "Stroke", None),
    ):
        (mention,) = annotate_examiner(text, vocabulary).mentions
        assert (vocabulary.name(mention.cui), mention.experiencer) == (name, "family"), text
        concept = family_concept_of(mention, vocabulary)
        assert (vocabulary.name(concept) if concept else None) == history, text


def test_the_patient_and_the_family_in_one_breath_are_two_questions(vocabulary: Vocabulary) -> None:
    """Each with its own span."""
    mentions = annotate_examiner("Have you or anyone in your family had a stroke?", vocabulary).mentions
    assert [(vocabulary.name(m.cui), m.experiencer) for m in mentions] == [("Stroke", "patient"), ("Stroke", "family")]
    assert len({(m.start, m.end) for m in mentions}) == 2


def test_the_past_is_marked(vocabulary: Vocabulary) -> None:
    """Temporality of what is asked."""
    for text, when in (
        ("Have you ever had a seizure?", "historical"),
        ("Any seizures in the past?", "historical"),
        ("Any seizures?", "current"),
    ):
        (mention,) = annotate_examiner(text, vocabulary).mentions
        assert mention.temporality == when


def test_ids_are_those_of_the_turn(vocabulary: Vocabulary) -> None:
    """Unique in the trace."""
    found = annotate_examiner("Any fever or cough? Where is the pain?", vocabulary, turn=7)
    assert [m.mention_id for m in found.mentions] == ["t7m0", "t7m1", "t7m2"]
    assert [a.act_id for a in found.acts] == ["t7a0", "t7a1"]


def test_other_candidates_are_kept(vocabulary: Vocabulary) -> None:
    """2.4 rule 3: the patient's side may choose among those that match the span."""
    (mention,) = annotate_examiner("Any swelling in your legs?", vocabulary).mentions
    assert vocabulary.name(mention.cui) == "Edema"
    assert "Swelling of one leg" in [vocabulary.name(c) for c in mention.alt_cuis]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Do you have hives?", ["Urticaria"]),
        ("Are you hiving off?", []),
        ("Any vaginal bleeding?", ["Vaginal bleeding"]),
        ("Is that all?", []),
        ("What did you order?", []),
        ("Have you heard the news?", []),
    ],
)
def test_no_disease_that_nobody_named(vocabulary: Vocabulary, text: str, names: list[str]) -> None:
    """Hives are not HIV; "vaginal" is not vaginitis."""
    found = [vocabulary.name(m.cui) for m in annotate_examiner(text, vocabulary).mentions]
    assert not {"HIV infection", "Vaginitis"} & set(found)
    assert [name for name in found if name in names] == [name for name in names if name in found]
    if not names:
        assert found == []


# -- any text ---------------------------------------------------------------------------------------------------------

PIECES = [
    "do you have ",
    "chest pain",
    "headache",
    "when did it start",
    "is the rash painful",
    "any ",
    "no ",
    "?",
    ". ",
    "\n",
    ", ",
    "if you develop ",
    "I'd like to order ",
    "an ECG",
    "your mother",
    "\x00",
    "\u0301",
    "e\u0301",
    "🤒",
    "👩\u200d⚕️",
    "\u202e",
    "صداع",
    "כאב ראש",
    "頭痛",
    "ﬁ",
    "İ",
    "ß",
    "’",
    "\r\n",
    "\u2028",
    " ",
]
ANY_TEXT = st.one_of(st.text(max_size=300), st.lists(st.sampled_from(PIECES), max_size=60).map("".join))


@settings(max_examples=250, deadline=None, derandomize=True)
@given(text=ANY_TEXT, focus=st.sampled_from([None, HEADACHE, "X:strange"]))
def test_any_text_is_read_without_an_error(vocabulary: Vocabulary, text: str, focus: str | None) -> None:
    """Spans slice to surfaces, roles and polarities agree, acts refer to mentions; and reading twice gives the same."""
    found = annotate_examiner(text, vocabulary, turn=3, focus=focus)
    check(found, text)
    assert found == annotate_examiner(text, vocabulary, turn=3, focus=focus)
    assert read_answer(text) in ("affirmed", "denied", "unsure", "unanswered")
    for concept, present in findings(text, vocabulary):
        assert vocabulary.canonical(concept) == concept
        assert present in (True, False)


@pytest.mark.parametrize(
    "piece",
    [
        "when did ",
        "how does it ",
        "if you the ",
        "pain ",
        "do you have pain ",
        "a",
        "\u0301",
        "? ",
        "and ",
        "no ",
        "'a",
        "\x00",
        "where ",
        "family history of a ",
    ],
)
def test_long_lines_are_read(vocabulary: Vocabulary, piece: str) -> None:
    """20 kB on one line, of what the patterns look for."""
    text = (piece * (20_000 // len(piece) + 1))[:20_000]
    check(annotate_examiner(text, vocabulary, focus=HEADACHE), text)
    read_answer(text)
    findings(text, vocabulary)


# -- answers ----------------------------------------------------------------------------------------------------------

AFFIRMED = """
Yes. | yes | YES! | Yeah, a bit. | Yep | Yup, since Monday. | Aye, every night. | Oh yes, terribly. | Definitely. |
Absolutely, all the time. | Certainly. | I do. | I have, twice. | Yes, no doubt about it. | Yes, but not at night. |
Yes, I've had a fever. | Yes, I can't sleep for the pain. | I've been coughing a lot. | A little. | Sometimes. |
He has been vomiting. | It hurts when I swallow. | My chest feels tight. | Quite often, I'm afraid. |
Now you mention it, my legs are swollen. | That's right. | Correct. | Sure. | I can hardly breathe. |
Yes. No other trouble, though. | I can't stop coughing.
"""
DENIED = """
No. | no | NO | Nope. | Nah. | Not really. | Not at all. | Never. | No, never. | No, I've had a cough. | No, I haven't. |
I haven't had any fever. | I don't smoke. | I do not smoke. | I have not. | I have no pain. | I have never had one. |
I have nothing like that. | None that I've noticed. | Nothing like that. | Neither of them. | She hasn't been sick. |
Nobody in my family. | I can't say I have. | Can't say that I did. | No, not that I know of. | Not that I've noticed. |
There isn't any blood. | He doesn't cough. | My ankles aren't swollen. | I've never had one. | No, definitely not. |
Definitely not. | Absolutely not. | Certainly not. | Of course not. | Hardly ever. | I haven’t had a fever. | I don’t think so. |
I don't think so. | I wouldn't say so. | No fever. | Without any pain. | I'd say no. | Nothing of the sort. |
I cannot say I have. | I didn't. | It wasn't painful.
"""
UNSURE = """
I'm not sure. | Not sure. | I don't know. | I do not know. | I don’t know. | I really don't know. | No idea. | I have no idea. |
No clue. | Hard to say. | I can't say. | I can't remember. | I don't remember. | I couldn't tell you. | I can't tell. | Maybe. |
Perhaps. | Possibly. | Yes, maybe. | I might have. | I haven't really noticed. | I wouldn't know. | Not that I know. |
Not that I'm aware. | Difficult to say. | I'm unsure. | Not entirely certain. | I think so, but I'm not sure. |
I'm not certain, sorry. | Dunno.
"""
ANSWERS = [
    (" ".join(text.split()), answer)
    for block, answer in ((AFFIRMED, "affirmed"), (DENIED, "denied"), (UNSURE, "unsure"))
    for text in block.split("|")
] + [("", "unanswered"), ("   ", "unanswered"), ("\n\t", "unanswered"), ("...", "unanswered"), ("…?", "unanswered")]


@pytest.mark.parametrize(("text", "answer"), ANSWERS)
def test_answers(text: str, answer: str) -> None:
    """E8: yes, no, cannot say; unsure beats both, and a leading yes or no beats what follows."""
    assert read_answer(text) == answer


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("My head hurts and I have a fever.", [("Headache", True), ("Fever", True)]),
        ("I've had a headache for days, but no fever.", [("Headache", True), ("Fever", False)]),
        ("No fever, but I cough.", [("Fever", False), ("Cough", True)]),
        (
            "I don't have any nausea, vomiting or rash, and my chest hurts.",
            [("Nausea", False), ("Vomiting", False), ("Skin rash", False), ("Chest pain", True)],
        ),
        ("My chest hurts and I have no idea why.", [("Chest pain", True)]),
        ("I've been short of breath since this morning and it hasn't gone off.", [("Dyspnea", True)]),
        ("I haven’t had a cough.", [("Cough", False)]),
        ("No, my appetite hasn't dropped.", [("Poor appetite", False)]),
        ("I'm not only coughing.", [("Cough", True)]),
        ("Hello.", []),
    ],
)
def test_what_a_patient_tells_unasked(vocabulary: Vocabulary, text: str, expected: list[tuple[str, bool]]) -> None:
    """Each finding with whether it is so; a negation reaches to the end of its clause."""
    assert [(vocabulary.name(concept), present) for concept, present in findings(text, vocabulary)] == expected


def test_a_finding_told_twice_is_told_as_at_first(vocabulary: Vocabulary) -> None:
    """Once a concept."""
    assert findings("I have a cough. No cough at night.", vocabulary) == [("C0010200", True)]


def test_mentions_are_found_by_the_lexicon(vocabulary: Vocabulary) -> None:
    """The trace says which matcher found what."""
    (mention,) = annotate_examiner("Any fever?", vocabulary).mentions
    assert isinstance(mention, Mention)
    assert (mention.matcher, mention.score, mention.links_to, mention.fact_id) == ("lexicon", 1.0, None, None)
