"""Questions of our own, written and labelled for B2: 300 turns that ask nothing clinical, 308 that ask a detail, 60 that ask findings.

Records and labelling rules are those of the shared set (questions/README.md there), by one reader, no clinician. `src` tells three parts:
`bedside:first` was read while the rules were written, so its figures are upper bounds (93 of 100 were silent and 78 of 108 details right
before any rule had been made for them); `bedside:second` and `bedside:third` were labelled before the annotator had seen them, and whoever
writes rules does not read the third. A question of the third part may have `previous`, the turns before it (`role`, `text`); what "it"
means there is labelled as the concept itself, not as the presenting complaint. `tests/bench/questions.py` scores each part.
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from ontology.annotator import annotate_examiner
from ontology.attributes import STANDARD
from ontology.hpo import hpo_folder, read_obo
from ontology.vocabulary import Vocabulary

DATA = Path(__file__).parents[1] / "data"
NONCLINICAL = "questions_nonclinical.jsonl"
ATTRIBUTES = "questions_attributes.jsonl"
ASKED = "questions_asked.jsonl"
FIRST, SECOND, THIRD = "bedside:first", "bedside:second", "bedside:third"
SILENT = 0.95
RIGHT = 0.88
RECORD = {"id", "src", "turn", "question", "kind", "asked", "stated", "attribute", "needs_context", "compound"}
CONCEPT = {"name", "cui", "hpo_id", "surface", "experiencer", "temporality"}
DETAILS = {
    "onset",
    "duration",
    "location",
    "severity",
    "character",
    "radiation",
    "aggravating",
    "relieving",
    "frequency",
    "progression",
}

Row = dict[str, Any]


def rows(name: str, src: str | None = None) -> list[Row]:
    found: list[Row] = [json.loads(line) for line in (DATA / name).read_text(encoding="utf-8").splitlines()]
    return [row for row in found if src in (None, row["src"])]


@pytest.mark.parametrize("name", [NONCLINICAL, ATTRIBUTES, ASKED])
def test_records_have_the_form_of_the_shared_set(name: str) -> None:
    """Ids and questions are unique, surfaces stand in their question, `compound` is two or more concepts asked."""
    found = rows(name)
    assert len({row["id"] for row in found}) == len(found)
    assert len({row["question"].casefold() for row in found}) == len(found)
    for row in found:
        assert set(row) - {"previous"} == RECORD, row["id"]
        assert row["src"] in (FIRST, SECOND, THIRD)
        assert "previous" not in row or row["src"] == THIRD, row["id"]
        assert all(set(past) == {"role", "text"} and past["role"] in ("examiner", "patient") for past in row.get("previous", [])), row["id"]
        assert row["compound"] == (len(row["asked"]) >= 2), row["id"]
        for concept in row["asked"] + row["stated"]:
            more = {"polarity"} if concept in row["stated"] else set()
            assert set(concept) == CONCEPT | more, row["id"]
            assert concept["surface"] and concept["surface"] in row["question"], row["id"]
            assert concept["experiencer"] in ("patient", "family", "other"), row["id"]
            assert concept["temporality"] in ("current", "historical"), row["id"]
            assert concept.get("polarity", "present") in ("present", "absent"), row["id"]


@pytest.mark.parametrize("name", [NONCLINICAL, ATTRIBUTES, ASKED])
def test_concepts_are_those_of_hpo(name: str) -> None:
    """A CUI is one that HPO gives for the term, a name is HPO's, and a term without CUI has none in HPO."""
    _, terms = read_obo((hpo_folder() / "hp.obo").open(encoding="utf-8"))
    for row in rows(name):
        for concept in row["asked"] + row["stated"]:
            if concept["hpo_id"] is None:
                assert concept["cui"] is None, row["id"]
                continue
            term = terms[concept["hpo_id"]]
            assert concept["name"] == term.name, row["id"]
            assert concept["cui"] in term.cuis if term.cuis else concept["cui"] is None, row["id"]


def test_the_parts() -> None:
    """What the sets are made of."""
    for src in (FIRST, SECOND, THIRD):
        turns = rows(NONCLINICAL, src)
        assert len(turns) == 100
        assert all(row["kind"] == ["nonclinical"] and not row["asked"] and row["attribute"] is None for row in turns)
        details = rows(ATTRIBUTES, src)
        assert len(details) >= 100
        assert all(row["kind"] == ["attribute"] and len(row["asked"]) == 1 for row in details)
        count = Counter(row["attribute"] for row in details)
        assert set(count) == DETAILS
        assert min(count.values()) >= 7
    for src in (SECOND, THIRD):
        unseen = rows(ATTRIBUTES, src)
        assert 40 <= sum(row["needs_context"] for row in unseen) <= 60
        assert sum(" or " in row["question"] for row in unseen) >= 10
    assert sum("previous" in row for row in rows(ATTRIBUTES, THIRD)) >= 15
    findings = rows(ASKED)
    assert len(findings) == 60
    assert all(row["src"] == THIRD and 1 <= len(row["asked"]) <= 3 for row in findings)
    assert all(row["attribute"] in (None, "associated") and "nonclinical" not in row["kind"] for row in findings)


def test_what_is_not_clinical_asks_nothing(vocabulary: Vocabulary) -> None:
    """E9: courtesy, consent, arrangements and safety-netting."""
    turns = rows(NONCLINICAL, FIRST)
    loud = [
        row["question"] for row in turns if any(m.dialogue_role == "asked" for m in annotate_examiner(row["question"], vocabulary).mentions)
    ]
    assert len(loud) <= (1 - SILENT) * len(turns), loud


def test_the_detail_that_is_asked(vocabulary: Vocabulary) -> None:
    """One detail a question, and no other."""
    wrong = []
    turns = rows(ATTRIBUTES, FIRST)
    for row in turns:
        found = annotate_examiner(row["question"], vocabulary)
        details = {STANDARD.get(m.attribute, m.attribute) for m in found.mentions if m.attribute}
        if details != {row["attribute"]}:
            wrong.append(f"{row['question']} {row['attribute']}: {sorted(details)}")
    assert len(wrong) <= (1 - RIGHT) * len(turns), "\n".join(wrong)
