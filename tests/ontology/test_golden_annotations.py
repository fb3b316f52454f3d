"""What is read in fixed turns with a fixed vocabulary changes only with ANNOTATOR_VERSION: caches and stored traces rest on it.

After raising it on purpose, write the file again: `BEDSIDE_WRITE_GOLDEN=1 pytest tests/ontology/test_golden_annotations.py`. The vocabulary
is the test's own, so that new words and concepts, which have a version of their own, change nothing here.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ontology.annotation_cache import packed
from ontology.batch import ANNOTATOR_VERSION, annotate_many
from ontology.concepts import ConceptRow
from ontology.dialogue import DialogueTurn, PastTurn
from ontology.vocabulary import Vocabulary

GOLDEN = Path(__file__).parents[1] / "data" / "golden_annotations.jsonl"
CONCEPTS: dict[str, tuple[str, ...]] = {
    # kind: names with their phrases after a colon
    "symptom": (
        "Pain:pain", "Chest pain:chest pain", "Headache:headache", "Cough:cough", "Fever:fever", "Skin rash:rash", "Itching:itchy, itching",
        "Nausea:nausea, feel sick", "Vomiting:vomiting", "Blood in stool:blood in your stools", "Blood in vomit:blood in your vomit",
        "Joint pain:joint pain", "Joint swelling:joint swelling, swollen joint", "Shortness of breath:short of breath",
        "Weakness of the leg:leg weakness", "Weakness of the arm:arm weakness", "Weight loss:lost weight, weight loss",
    ),
    "history": ("Diabetes:diabetes", "Asthma:asthma", "Migraine:migraine"),
    "family_history": ("Family history of diabetes:family history of diabetes",),
    "medication": ("Ibuprofen:ibuprofen, taking ibuprofen", "Takes medicines:medications"),
    "allergy": ("Drug allergy:allergies",),
    "social": ("Smoking:smoke, smoking", "Alcohol:drink alcohol"),
    "vital": ("Blood pressure:blood pressure",),
    "imaging": ("Chest X-ray:chest x-ray",),
    "lab": ("Blood test:blood test",),
}  # fmt: skip
EXAMINER = (
    "Do you have chest pain or a cough?",
    "Any blood in your stools or vomit?",
    "Have you had joint pain, swelling or a hedache?",
    "Any pain in the chest? Arm or leg weakness?",
    "Tell me about the headache.",
    "How bad is the chest pain, and does it spread to your arm?",
    "When did it start, and what makes it worse?",
    "Is the rash itchy or painful?",
    "Have you noticed a fever along with the cough?",
    "Do you or your family have diabetes or asthma?",
    "Is there a family history of diabetes?",
    "Do you smoke or drink alcohol? Any allergies?",
    "Are you taking any medications for your asthma?",
    "You have a fever but no cough. I suspect migraine.",
    "Let's check your blood pressure and do a chest x-ray.",
    "I'd recommend ibuprofen. Avoid smoking. If the fever comes back, call us.",
    "Hi, I'm Dr. Smith. How are you feeling today? Anything else?",
    "It could be migraine, as you have lost weight.",
    "Do you feel sick when you are short of breath? 🙂",
    "Ever had nausea last year?",
)
PATIENT = (
    ("Do you have chest pain?", "Yes, since Monday."),
    ("Do you have chest pain or a cough?", "No chest pain, but I do cough."),
    ("Any fever?", "No."),
    ("Any fever?", "I'm not sure, maybe."),
    ("Any fever?", "No, but I have a headache, and my mother had diabetes."),
    ("How bad is the headache?", "About seven out of ten."),
    ("Does anyone in your family have diabetes?", "My father does."),
    ("What brings you in?", "I've had a rash and itching; no nausea or vomiting. I used to have asthma."),
    ("Do you smoke?", "If I smoke, I cough."),
)
DIALOGUE = ("Do you have chest pain?", "Yes.", "Does it spread?", "No.", "Any cough?", "No, but I get headaches.", "When do they come?")


def vocabulary() -> Vocabulary:
    rows = []
    for kind, entries in CONCEPTS.items():
        for entry in entries:
            name, _, lay = entry.partition(":")
            identifier = "X:" + name.lower().replace(" ", "-")
            row = {"id": identifier, "name": name, "basis": "local", "kind": kind, "generic": name == "Pain", "lay": lay.split(", ")}
            rows.append(ConceptRow.model_validate({**row, "parents": ["X:pain"] if name in ("Chest pain", "Joint pain") else []}))
    return Vocabulary(rows, {}, "none")


def turns() -> Iterator[DialogueTurn]:
    for text in EXAMINER:
        yield DialogueTurn(text)
    yield DialogueTurn("Does your daughter have a fever?", for_child=True)
    for question, answer in PATIENT:
        yield DialogueTurn(answer, "patient", (PastTurn("examiner", question),))
    said = [PastTurn("examiner" if place % 2 == 0 else "patient", text) for place, text in enumerate(DIALOGUE)]
    for place, turn in enumerate(said):
        yield DialogueTurn(turn.text, turn.role, tuple(said[:place]))


def current() -> list[dict[str, Any]]:
    given = list(turns())
    found = annotate_many(given, vocabulary())
    return [
        {"role": turn.role, "before": [past.text for past in turn.previous], "text": turn.text, "found": json.loads(packed(annotation))}
        for turn, annotation in zip(given, found, strict=True)
    ]


def test_annotations_change_only_with_the_annotator_version() -> None:
    """A cache made under one version must hold what that version reads."""
    found = current()
    lines = GOLDEN.read_text(encoding="utf-8").splitlines() if GOLDEN.exists() else ['{"annotator_version": null}']
    version, stored = json.loads(lines[0])["annotator_version"], [json.loads(line) for line in lines[1:]]
    different = [row["text"] for row in found if row not in stored] + [f"gone: {row['text']}" for row in stored if row not in found]
    same_version = version == ANNOTATOR_VERSION
    assert not (different and same_version), f"annotations changed, so raise ANNOTATOR_VERSION in ontology/batch.py: {different}"
    if os.environ.get("BEDSIDE_WRITE_GOLDEN") and not same_version:
        rows = [{"annotator_version": ANNOTATOR_VERSION}, *found]
        GOLDEN.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
        return
    assert same_version, "ANNOTATOR_VERSION was raised: write the golden annotations again (see the top of this file)"


def test_the_golden_turns_touch_every_role_and_act() -> None:
    """Else a change of what they miss would go unseen."""
    acts = {act["type"] for row in current() for act in row["found"][0]}
    roles = {mention["dialogue_role"] for row in current() for mention in row["found"][1]}
    assert roles == {"asked", "stated", "affirmed", "denied", "unsure", "volunteered"}
    assert {"ask", "answer", "volunteer", "state", "advise", "treat", "order_test", "meta"} <= acts
