"""Finding, joining and removing run folders."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from ontology.errors import BedsideError
from simulator.run_folders import find_run_folders, merge, remove
from simulator.store import RunFolder, read_record
from simulator.trace import Budget, DialogueTrace, FinalAnswer, Player, RankedDiagnosis, TerminationReason
from simulator.traces_io import read_traces

SETTINGS: dict[str, Any] = {"software_version": "1", "seeds": [0, 1]}


def trace(number: int, termination: TerminationReason = "examiner_committed", kb_version: str = "1") -> DialogueTrace:
    return DialogueTrace(
        trace_id=f"trace-{number}",
        case_id="case",
        case_sha256="0" * 64,
        pool_id="pool",
        pool_sha256="0" * 64,
        examiner=Player(kind="scripted", id="fake"),
        patient=Player(kind="embedded", id="patient"),
        budget=Budget(),
        seed=number,
        kb_version=kb_version,
        software_version="1",
        started_at="2026-01-01T00:00:00+00:00",
        finished_at="2026-01-01T00:01:00+00:00",
        turns=[],
        outcome=FinalAnswer(ranked=[RankedDiagnosis(name="Migraine")]),
        termination=termination,
    ).sealed()


def filled(path: Path, traces: Iterable[DialogueTrace], settings: dict[str, Any] = SETTINGS) -> Path:
    with RunFolder(path) as folder:
        folder.open(settings)
        for each in traces:
            folder.append(each)
    return path


def ids(path: Path) -> list[str]:
    return [each.trace_id for each in read_traces(path)]


def test_run_folders_are_found_where_they_lie(tmp_path: Path) -> None:
    for name in ("b/run", "a", "c/d/e/run", ".hidden/run", "a/inside"):
        filled(tmp_path / name, [])
    (tmp_path / "link").symlink_to(tmp_path / "a")
    assert [path.relative_to(tmp_path).as_posix() for path in find_run_folders(tmp_path)] == ["a", "b/run", "c/d/e/run"]
    assert list(find_run_folders(tmp_path / "a")) == [tmp_path / "a"]


def test_merged_runs_hold_each_encounter_once_and_name_the_rest(tmp_path: Path) -> None:
    one = filled(tmp_path / "one", [trace(0), trace(1), trace(5, "infrastructure_error")])
    two = filled(tmp_path / "two", [trace(1), trace(0, kb_version="2"), trace(2), trace(3, "patient_error"), trace(5)])
    with (two / "traces.jsonl").open("ab") as out:
        out.write(b'{"torn')
    report = merge([one, two], tmp_path / "both")
    assert ids(tmp_path / "both") == ["trace-0", "trace-1", "trace-2", "trace-5"]
    assert (report.finished, report.broken) == (4, 1)  # trace-5 broke in one and was finished in the other
    assert report.same == [f"{two}/traces.jsonl:1"]
    assert report.differing == [f"{two}/traces.jsonl:2"]
    assert report.torn == [f"{two}/traces.jsonl:5"]
    assert [each.kb_version for each in read_traces(tmp_path / "both")][0] == "1"
    with RunFolder(tmp_path / "both") as folder:  # and it can be gone on with
        assert folder.open(SETTINGS).finished == 4
        folder.append(trace(3))


def test_runs_of_other_settings_are_not_merged(tmp_path: Path) -> None:
    one = filled(tmp_path / "one", [trace(0)])
    two = filled(tmp_path / "two", [trace(1)], {**SETTINGS, "seeds": [0, 2]})
    with pytest.raises(BedsideError, match=r"other settings than .*one: seeds\[1\] \(was 1, now 2\)"):
        merge([one, two], tmp_path / "both")
    assert not (tmp_path / "both").exists()


def test_merging_overwrites_nothing_and_leaves_nothing_half_done(tmp_path: Path) -> None:
    one, two = filled(tmp_path / "one", [trace(0)]), filled(tmp_path / "two", [trace(1)])
    with pytest.raises(BedsideError, match="is there already"):
        merge([one, two], one)
    file = two / "traces.jsonl"
    file.write_bytes(file.read_bytes().replace(b"Migraine", b"Migraime"))
    with pytest.raises(BedsideError, match="seal"):
        merge([one, two], tmp_path / "both")
    assert list((tmp_path / "both").iterdir()) == []


def test_a_removed_run_leaves_only_what_is_not_ours(tmp_path: Path) -> None:
    one, two = filled(tmp_path / "one", [trace(0)]), filled(tmp_path / "two", [trace(0)])
    (two / "notes.txt").write_text("mine")
    assert (remove(one), one.exists()) == ([], False)
    assert remove(two) == ["notes.txt"]
    assert [path.name for path in two.iterdir()] == ["notes.txt"]
    with pytest.raises(BedsideError, match="not a run folder"):
        remove(two)


def test_a_run_in_use_is_not_removed(tmp_path: Path) -> None:
    with RunFolder(tmp_path / "run") as folder:
        folder.open(SETTINGS)
        folder.append(trace(0))
        with pytest.raises(BedsideError, match="in use by process"):
            remove(tmp_path / "run")
    assert ids(tmp_path / "run") == ["trace-0"]
    assert read_record(tmp_path / "run").fingerprint == SETTINGS
