"""The labelled examiner questions (shared data, questions/dev.jsonl): a little under what the annotator reaches on them.

The rules of the figures are those of the set's README: a concept counts by its HPO term, a span by half its characters.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ontology.annotator import annotate_examiner
from ontology.attributes import STANDARD
from ontology.mentions import Mention
from ontology.vocabulary import Vocabulary, bundled_vocabulary

Question = dict[str, Any]


@pytest.fixture(scope="module")
def read(real_data: Path) -> list[tuple[Question, list[Mention]]]:
    vocabulary = bundled_vocabulary()
    lines = (real_data / "questions" / "dev.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines if line.strip()]
    return [(row, annotate_examiner(row["question"], vocabulary).mentions) for row in rows]


def closeness(mention: Mention, text: str, surface: str) -> float:
    """Intersection over union of a mention with the nearest place of a surface."""
    best, start = 0.0, text.find(surface)
    while start >= 0:
        common = min(mention.end, start + len(surface)) - max(mention.start, start)
        if common > 0:
            best = max(best, common / (max(mention.end, start + len(surface)) - min(mention.start, start)))
        start = text.find(surface, start + 1)
    return best


def test_concepts_asked(read: list[tuple[Question, list[Mention]]]) -> None:
    """F1 of concepts that have a CUI; no credit for neighbours, so a little below the official figure."""
    vocabulary: Vocabulary = bundled_vocabulary()
    hit = gold_count = guessed = 0
    for row, mentions in read:
        gold = {vocabulary.canonical(g["cui"]) for g in row["asked"] if g["cui"]}
        asked = [m for m in mentions if m.dialogue_role == "asked" and m.cui.startswith("C")]
        neutral = [g["surface"] for g in row["asked"] if not g["cui"]]
        found = {m.cui for m in asked if m.cui in gold or not any(closeness(m, row["question"], s) > 0 for s in neutral)}
        hit += len(gold & found)
        gold_count += len(gold)
        guessed += len(found)
    assert 2 * hit / (gold_count + guessed) >= 0.85


def test_spans_and_roles(read: list[tuple[Question, list[Mention]]]) -> None:
    """What is asked is found where it stands; asked and stated are told apart."""
    hit = gold_count = guessed = right = judged = 0
    for row, mentions in read:
        free = [m for m in mentions if m.dialogue_role == "asked"]
        guessed += len(free)
        for gold in row["asked"]:
            gold_count += 1
            best = max(free, key=lambda m: closeness(m, row["question"], gold["surface"]), default=None)
            if best is not None and closeness(best, row["question"], gold["surface"]) >= 0.5:
                hit += 1
                free.remove(best)
        for role in ("asked", "stated"):
            for gold in row[role]:
                near = [m for m in mentions if closeness(m, row["question"], gold["surface"]) >= 0.5]
                judged += bool(near)
                right += bool(near) and all(m.dialogue_role == role for m in near)
    assert 2 * hit / (gold_count + guessed) >= 0.80
    assert right / judged >= 0.95


def test_details_and_silence(read: list[tuple[Question, list[Mention]]]) -> None:
    """One detail, the right one; nothing asked where nothing clinical is."""
    details = [(row["attribute"], mentions) for row, mentions in read if row["attribute"] not in (None, "associated")]
    right = sum({STANDARD.get(m.attribute, m.attribute) for m in mentions if m.attribute} == {wanted} for wanted, mentions in details)
    assert right / len(details) >= 0.80
    silent = [not any(m.dialogue_role == "asked" for m in mentions) for row, mentions in read if row["kind"] == ["nonclinical"]]
    assert sum(silent) / len(silent) >= 0.92
