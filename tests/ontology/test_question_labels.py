"""Questions of our own, written and labelled for B2: 100 turns that ask nothing clinical, 108 that ask a detail.

The attribute questions were read while the rules were written, so their figure is an upper bound; of the non-clinical ones 93 of 100 were
silent before any rule had been made for them.
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

from ontology.annotator import annotate_examiner
from ontology.attributes import STANDARD
from ontology.vocabulary import Vocabulary

DATA = Path(__file__).parents[1] / "data"
SILENT = 0.95
RIGHT = 0.88


def rows(name: str) -> list[dict[str, str]]:
    return [json.loads(line) for line in (DATA / name).read_text(encoding="utf-8").splitlines()]


def test_what_is_not_clinical_asks_nothing(vocabulary: Vocabulary) -> None:
    """E9: courtesy, consent, arrangements and safety-netting."""
    turns = rows("questions_nonclinical.jsonl")
    loud = [
        row["question"] for row in turns if any(m.dialogue_role == "asked" for m in annotate_examiner(row["question"], vocabulary).mentions)
    ]
    assert len({row["question"] for row in turns}) == 100
    assert len(loud) <= (1 - SILENT) * len(turns), loud


def test_the_detail_that_is_asked(vocabulary: Vocabulary) -> None:
    """One detail a question, and no other."""
    wrong = []
    turns = rows("questions_attributes.jsonl")
    for row in turns:
        found = annotate_examiner(row["question"], vocabulary)
        details = {STANDARD.get(m.attribute, m.attribute) for m in found.mentions if m.attribute}
        if details != {row["attribute"]}:
            wrong.append(f"{row['question']} {row['attribute']}: {sorted(details)}")
    assert len(turns) >= 100
    assert min(Counter(row["attribute"] for row in turns).values()) >= 7
    assert len(wrong) <= (1 - RIGHT) * len(turns), "\n".join(wrong)
