"""Our tables against the DDXPlus release itself: nothing of it is left unmapped."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ontology.annotation import family_concept_of
from ontology.annotator import annotate_examiner
from ontology.icd10 import normalise
from ontology.profiles import load_profiles
from ontology.text import folded
from simulator.build import Ward
from simulator.profile_builder import build_profiles
from simulator.sources.ddxplus import DdxplusImporter, ImportReport
from simulator.sources.ddxplus_files import patient_files, read_release, split_of
from simulator.sources.ddxplus_tables import ddxplus_tables, value_of
from simulator.utterances import Polarity

TABLES = ddxplus_tables()
SHARE_OF_QUESTIONS = 0.95


@pytest.fixture(scope="module")
def release(real_data: Path) -> dict[str, Any]:
    """Evidences and conditions of the English release."""
    folder = real_data / "ddxplus"
    return {name: json.loads((folder / f"release_{name}.json").read_text(encoding="utf-8")) for name in ("evidences", "conditions")}


def test_every_evidence_is_mapped(release: dict[str, Any]) -> None:
    """223 evidences: 208 binary ones have concepts, valued ones are details; the parents they hang on have concepts too."""
    evidences = release["evidences"]
    assert len(evidences) == 223
    binary = {name for name, row in evidences.items() if row["data_type"] == "B"}
    assert len(binary) == 208
    assert not binary - set(TABLES.evidences)
    assert not set(evidences) - binary - set(TABLES.details)
    assert not (set(TABLES.evidences) | set(TABLES.details)) - set(evidences), "mapped, but not in the release"
    for name, detail in TABLES.details.items():
        assert detail.parent == evidences[name]["code_question"], name


def test_every_value_is_mapped(release: dict[str, Any]) -> None:
    """764 value tokens, scales among them, each with a phrase and a class."""
    evidences = release["evidences"]
    tokens = [(name, str(value)) for name, row in evidences.items() for value in row["possible-values"]]
    assert len(tokens) == 764
    unmapped = [f"{name}_@_{value}" for name, value in tokens if value_of(TABLES.details[name], value, TABLES.values) is None]
    assert not unmapped
    named = {value for row in evidences.values() for value in row["value_meaning"]}
    assert not set(TABLES.values) - named, "mapped, but not in the release"


def test_antecedents_are_those_of_the_release(release: dict[str, Any]) -> None:
    """The flag is the source's, whatever we take the finding for."""
    wrong = [name for name, row in TABLES.evidences.items() if row.antecedent != bool(release["evidences"][name]["is_antecedent"])]
    assert not wrong


def test_every_detail_of_the_release_can_be_told(release: dict[str, Any], ward: Ward) -> None:
    """With words for every class of its values, in both voices."""
    dumb = set()
    for name, detail in TABLES.details.items():
        concept = TABLES.evidences[detail.parent].concepts[0]
        for value in release["evidences"][name]["possible-values"]:
            _, value_class = value_of(detail, str(value), TABLES.values) or ("", "any")
            if detail.scale == "region":
                if value_class in ("no", "none"):
                    continue
                value_class = "any"
            polarity: Polarity = "deny" if value_class in ("none", "no") else "affirm"
            voices = {u.form == "third_party" for u in ward.pool.of_concept(concept, polarity, detail.attribute, value_class)}
            if voices != {True, False}:
                dumb.add((concept, detail.attribute, value_class))
    assert not dumb


def test_every_gold_code_is_a_code(release: dict[str, Any]) -> None:
    """49 conditions: the source's code is kept as it was, normalised, and replaced only with a reason (metrics.md F5)."""
    conditions = release["conditions"]
    assert set(conditions) == set(TABLES.conditions)
    assert len(conditions) == 49
    overridden = set()
    for name, raw in conditions.items():
        row = TABLES.conditions[name]
        assert row.raw_icd10 == raw["icd10-id"], name
        assert normalise(row.raw_icd10).codes, name
        assert tuple(normalise(",".join(row.icd10)).codes) == row.icd10, name
        if tuple(normalise(row.raw_icd10).codes) != row.icd10:
            assert row.override_reason, f"{name}: {row.raw_icd10} became {row.icd10}"
            overridden.add(name)
        else:
            assert row.override_reason is None, name
    assert "SLE" in overridden
    assert TABLES.conditions["SLE"].icd10 == ("M32",)


def test_the_names_of_a_condition_are_known_to_its_guard(release: dict[str, Any]) -> None:
    """Both the release's name and its English name lead to words that the leak check knows."""
    for name, raw in release["conditions"].items():
        row = TABLES.conditions[name]
        known = [folded(text) for text in (row.name, *row.aliases)]
        for theirs in (name, raw["cond-name-eng"]):
            words = folded(theirs)
            assert any(term in words or words in term for term in known), f"{theirs}: {known}"


def test_the_release_s_own_questions_are_understood(release: dict[str, Any], ward: Ward) -> None:
    """Nobody wrote them with our phrases in mind: 95 of 100 ask for a concept that we map the evidence to."""
    missed = []
    for name, row in TABLES.evidences.items():
        question = release["evidences"][name]["question_en"]
        mentions = [m for m in annotate_examiner(question, ward.vocabulary).mentions if m.dialogue_role == "asked"]
        asked = {family_concept_of(m, ward.vocabulary) or m.cui for m in mentions}
        if not asked & set(row.concepts):
            missed.append(f"{name} {[ward.vocabulary.name(c) for c in row.concepts]}: asked {[ward.vocabulary.name(c) for c in asked]}")
    assert len(missed) <= (1 - SHARE_OF_QUESTIONS) * len(TABLES.evidences), "\n".join(missed)


def test_the_bundled_profiles_are_the_counts_of_train_and_validate(real_data: Path, ward: Ward) -> None:
    """Counted again from the release, every number is as shipped; none of the test split was counted (D12)."""
    folder = real_data / "ddxplus"
    importer = DdxplusImporter(read_release(folder), TABLES, ward.pool, ward.vocabulary)
    report = ImportReport()
    cases = {
        split: [case for path in patient_files(folder) if split_of(path) == split for case in importer.cases(path, report)]
        for split in ("train", "validate", "test")
    }
    assert report.broken == []
    counted = build_profiles([*cases["train"], *cases["validate"]], ward.vocabulary, "ddxplus")
    bundled = load_profiles("ddxplus")
    assert counted.profiles == bundled.profiles
    assert counted.header.counted_cases == bundled.header.counted_cases
    assert bundled.overlap(case.case_id for case in cases["test"]) == []
    assert len(cases["test"]) > 1000
