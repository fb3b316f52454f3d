"""Negation, uncertainty, time and whose: every sentence of tests/data/assertions.jsonl, and any text at all."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ontology.context import SentenceContext, assertion

ROWS = [json.loads(line) for line in (Path(__file__).parents[1] / "data" / "assertions.jsonl").read_text(encoding="utf-8").splitlines()]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row['text']} {row['finding']}")
def test_a_sentence_says_this_of_its_finding(row: dict[str, str]) -> None:
    """ConText's four questions: is it so, is it sure, when, and whose."""
    start = row["text"].index(row["finding"])
    said = assertion(row["text"], start, start + len(row["finding"]))
    wanted = (row["polarity"], row["certainty"], row["temporality"], row["experiencer"])
    assert (said.polarity, said.certainty, said.temporality, said.experiencer) == wanted


def test_the_sentences_are_many_and_of_every_kind() -> None:
    """At least 150, and each value a dozen times at least."""
    assert len({(row["text"], row["finding"]) for row in ROWS}) == len(ROWS) >= 150
    for field in ("polarity", "certainty", "temporality", "experiencer"):
        counts = Counter(row[field] for row in ROWS)
        assert min(counts.values()) >= 6, (field, counts)


@pytest.mark.parametrize(
    ("text", "finding", "whose"),
    [
        ("My daughter has a fever.", "fever", "patient"),
        ("He has had a cough.", "cough", "patient"),
        ("His father has asthma.", "asthma", "family"),
        ("My husband has a cold.", "cold", "other"),
    ],
)
def test_a_parent_speaks_of_the_patient(text: str, finding: str, whose: str) -> None:
    """0b D11: "my daughter" is the patient where a caregiver speaks."""
    start = text.index(finding)
    assert assertion(text, start, start + len(finding), for_child=True).experiencer == whose


@settings(max_examples=1000)
@given(st.text(max_size=200), st.integers(0, 200), st.integers(0, 200))
def test_any_text_can_be_read(text: str, one: int, other: int) -> None:
    """Never an exception, whatever the span."""
    start, end = sorted((min(one, len(text)), min(other, len(text))))
    SentenceContext(text).of(start, end)
