"""A reference examiner over real patients: it finds most diagnoses, nothing breaks, nobody leaks."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from metrics.knowledge import Knowledge
from metrics.scorecard import score_trace
from ontology.belief import BeliefModel
from ontology.profiles import ProfileSet, bundled_ddxplus_profiles
from simulator.build import Ward, make_bed
from simulator.case import PatientVector
from simulator.examiners.policies import InfogainFast
from simulator.examiners.reference import ReferenceExaminer
from simulator.profile_builder import build_profiles
from simulator.sources.ddxplus import DdxplusImporter, ImportReport
from simulator.sources.ddxplus_files import patient_files, read_release, split_of
from simulator.sources.ddxplus_tables import ddxplus_tables
from simulator.trace import Budget, DialogueTrace

PLAYED = 40
SEED = 1


@pytest.fixture(scope="module")
def splits(real_data: Path, ward: Ward) -> dict[str, list[PatientVector]]:
    """The samples by split."""
    folder = real_data / "ddxplus"
    if not folder.is_dir():
        pytest.skip(f"no {folder}")
    importer = DdxplusImporter(read_release(folder), ddxplus_tables(), ward.pool, ward.vocabulary)
    report = ImportReport()
    return {split_of(path) or "": list(importer.cases(path, report)) for path in patient_files(folder)}


@pytest.fixture(scope="module")
def profiles(splits: dict[str, list[PatientVector]], ward: Ward) -> ProfileSet:
    """Counted over train and validate, never over test (D12)."""
    return build_profiles([*splits["train"], *splits["validate"]], ward.vocabulary)


@pytest.fixture(scope="module")
def played(splits: dict[str, list[PatientVector]], profiles: ProfileSet, ward: Ward) -> list[tuple[PatientVector, DialogueTrace]]:
    """Forty test patients, evenly over the file, each with its trace."""
    cases = splits["test"]
    chosen = [cases[number * len(cases) // PLAYED] for number in range(PLAYED)]
    examiner = ReferenceExaminer(InfogainFast(BeliefModel(profiles, ward.vocabulary)), ward.vocabulary)
    return [(case, asyncio.run(make_bed(case, examiner, ward, profiles, Budget(), SEED).run())) for case in chosen]


def test_the_profiles_know_every_disease_and_none_of_the_test_patients(
    splits: dict[str, list[PatientVector]], profiles: ProfileSet
) -> None:
    assert profiles.header.counted_splits == ["train", "validate"]
    assert profiles.overlap(case.case_id for case in splits["test"]) == []
    assert len(profiles.overlap(case.case_id for case in splits["train"])) == len(splits["train"])
    assert {case.ground_truth.disease_id for case in splits["test"]} <= set(profiles.profiles)
    assert len(profiles) == 49


def test_the_bundled_profiles_were_counted_on_the_same_patients(profiles: ProfileSet) -> None:
    bundled = bundled_ddxplus_profiles()
    assert set(bundled.profiles) == set(profiles.profiles)
    assert sorted(bundled.header.counted_cases) == sorted(profiles.header.counted_cases)
    for disease, profile in profiles.profiles.items():
        assert (bundled[disease].n, bundled[disease].female, bundled[disease].ages) == (profile.n, profile.female, profile.ages)


def test_every_encounter_ends_with_a_commit_and_a_sealed_trace(played: list[tuple[PatientVector, DialogueTrace]]) -> None:
    assert len(played) == PLAYED
    for case, trace in played:
        assert trace.termination == "examiner_committed" and trace.seal_is_intact()
        assert trace.case_id == case.case_id
        assert DialogueTrace.from_json(trace.to_json()) == trace


def test_nobody_leaks_the_truth_unlicensed(played: list[tuple[PatientVector, DialogueTrace]]) -> None:
    assert [leak for _, trace in played for leak in trace.leaks if leak.leak_class == "unlicensed"] == []


def test_every_question_is_understood_and_answered(played: list[tuple[PatientVector, DialogueTrace]]) -> None:
    for _, trace in played:
        for turn in trace.turns[1:-1]:
            assert turn.notes == [] and not turn.truncated_answer
            assert turn.mentions, turn.text


def test_more_than_four_in_five_are_diagnosed(played: list[tuple[PatientVector, DialogueTrace]], profiles: ProfileSet, ward: Ward) -> None:
    knowledge = Knowledge.of(profiles, ward.vocabulary)
    cards = [score_trace(trace, case, knowledge) for case, trace in played]
    right = sum(card.scores["acc_truth"].value is True for card in cards)
    assert right / PLAYED > 0.8
    questions = [sum(turn.role == "examiner" for turn in trace.turns) - 1 for _, trace in played]
    assert 4 < sum(questions) / PLAYED < 12
