"""Run folders in the index, on SQLite and on a real PostgreSQL: what is read, what is new, and what many processes do at once."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ontology.errors import BedsideError
from simulator.index.runs import RunIndex, ScoreRow
from simulator.trace import DialogueTrace
from simulator.traces_io import sealed_line

ROOT = Path(__file__).resolve().parents[3]
WRITERS, EACH, BATCH = 8, 500, 50

Make = Callable[..., DialogueTrace]
Fill = Callable[..., Path]

WRITER = """
import sys
from pathlib import Path
from simulator.index.runs import RunIndex
database, lines, folder, batch = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]), int(sys.argv[4])
folder.mkdir()
(folder / "run.json").write_text('{"schema_version":"1.0","created":"2026","fingerprint":{},"earlier":[]}')
index = RunIndex(database)
waiting = lines.read_bytes().splitlines(keepends=True)
for start in range(0, len(waiting), batch):
    with (folder / "traces.jsonl").open("ab") as out:
        out.writelines(waiting[start : start + batch])
    index.refresh(folder)
index.close()
"""


def scored(file: Path) -> Iterator[ScoreRow]:
    """Rows from lines `seal number`."""
    for line in file.read_text().splitlines():
        seal, number = line.split()
        yield ScoreRow(seal, "acc", float(number), None, None, "machine", "p", "1", "1.0")


def test_a_run_is_indexed_and_counted(database: str, tmp_path: Path, make_trace: Make, fill: Fill) -> None:
    broken = make_trace(9, "infrastructure_error", outcome=None)
    run = fill(tmp_path / "run", [*(make_trace(n) for n in range(4)), broken])
    index = RunIndex(database)
    assert index.refresh(run).new == 5
    (line,) = index.runs()
    assert (line.path, line.finished, line.broken, line.examiners, line.cases) == (str(run.resolve()), 4, 1, 2, 3)
    endings = {(row["examiner_id"], row["termination"]): row for row in index.endings(line.run_id)}
    assert endings["examiner-1", "examiner_committed"] | {"turns": 1.0} == {
        "examiner_id": "examiner-1",
        "termination": "examiner_committed",
        "encounters": 2,
        "turns": 1.0,
        "leaks": 0,
        "prompt_tokens": 20,
        "completion_tokens": 4,
        "requests": 2,
    }
    assert index.still_due(line.run_id) == 1
    fill(run, [make_trace(9)])  # played again, and finished
    index.refresh(run)
    assert index.still_due(line.run_id) == 0
    assert {row["top_diagnosis"] for row in index.contents()["encounters"] if row["finished"]} == {"Migraine\ufffd"}


def test_only_what_is_new_is_read(database: str, tmp_path: Path, make_trace: Make, fill: Fill, monkeypatch: pytest.MonkeyPatch) -> None:
    run = fill(tmp_path / "run", [make_trace(n) for n in range(3)])
    index = RunIndex(database)
    index.refresh(run)
    fill(run, [make_trace(n) for n in range(3, 5)])
    again = index.refresh(run)
    assert (again.new, again.rebuilt) == (2, False)
    monkeypatch.setattr("simulator.index.runs.index_file", None)  # reading anything now would fail
    assert index.refresh(run).new == 0


def test_a_record_being_written_is_read_when_it_is_whole(database: str, tmp_path: Path, make_trace: Make, fill: Fill) -> None:
    run = fill(tmp_path / "run", [make_trace(0)])
    line = sealed_line(make_trace(1))
    index = RunIndex(database)
    with (run / "traces.jsonl").open("ab") as out:
        out.write(line[:50])
    assert index.refresh(run).new == 1
    with (run / "traces.jsonl").open("ab") as out:
        out.write(line[50:])
    after = index.refresh(run)
    assert (after.new, after.rebuilt) == (1, False)
    assert [row["start"] for row in sorted(index.contents()["encounters"], key=lambda row: row["start"])][1] > 0


@pytest.mark.parametrize("cut", ["shorter", "replaced"])
def test_files_that_are_not_those_that_were_read_are_read_again(
    database: str, tmp_path: Path, make_trace: Make, fill: Fill, cut: str
) -> None:
    run = fill(tmp_path / "run", [make_trace(n) for n in range(3)])
    index = RunIndex(database)
    index.refresh(run)
    numbers = (0,) if cut == "shorter" else (5, 6, 7, 8)
    (run / "traces.jsonl").write_bytes(b"".join(sealed_line(make_trace(n)) for n in numbers))
    assert index.refresh(run).rebuilt
    assert sorted(row["seed"] for row in index.contents()["encounters"]) == [str(n) for n in numbers]


def test_a_second_trace_of_an_encounter_is_counted_and_left_out(database: str, tmp_path: Path, make_trace: Make, fill: Fill) -> None:
    run = fill(tmp_path / "run", [make_trace(0)])
    index = RunIndex(database)
    index.refresh(run)
    with (run / "traces.jsonl").open("ab") as out:
        out.write(sealed_line(make_trace(0, kb_version="2")))
    refreshed = index.refresh(run)
    assert index.run(refreshed.run_id)["duplicates"] == 1
    assert [row["kb_version"] for row in index.contents()["encounters"]] == ["1"]


def test_a_broken_seal_leaves_the_index_as_it_was(database: str, tmp_path: Path, make_trace: Make, fill: Fill) -> None:
    run = fill(tmp_path / "run", [make_trace(0)])
    index = RunIndex(database)
    index.refresh(run)
    before = index.contents()
    with (run / "traces.jsonl").open("ab") as out:
        out.write(sealed_line(make_trace(1)).replace(b"Since", b"Sinks"))
    with pytest.raises(BedsideError, match="traces.jsonl:2: the seal of trace"):
        index.refresh(run)
    assert index.contents() == before


def test_reindex_makes_the_same_rows_again(database: str, tmp_path: Path, make_trace: Make, fill: Fill) -> None:
    """What was indexed piece by piece, with scores, is what one reading of the folders gives; folders that are gone are dropped."""
    one = fill(tmp_path / "one", [make_trace(n) for n in range(3)])
    index = RunIndex(database, scored)
    index.refresh(one)
    fill(one, [make_trace(3), make_trace(4, "patient_error", outcome=None)])
    (one / "scorecards.jsonl").write_text("".join(f"{make_trace(n).sealed_sha256} {n}\n" for n in range(4)))
    index.refresh(one)
    two = fill(tmp_path / "two", [make_trace(n) for n in range(2)])
    index.refresh(two)
    before = index.contents()
    assert [len(before[name]) for name in ("runs", "encounters", "scores")] == [2, 7, 4]
    means = {row["examiner_id"]: (row["mean"], row["n"]) for row in index.score_means(index.refresh(one).run_id)}
    assert means == {"examiner-0": (1.0, 2), "examiner-1": (2.0, 2)}
    done, gone = index.reindex([one, two])
    assert ([each.new for each in done], gone, index.contents() == before) == ([5, 2], [], True)
    (two / "run.json").unlink()
    assert index.reindex([one])[1] == [str(two.resolve())]
    assert [line.path for line in index.runs()] == [str(one.resolve())]


def test_scores_written_anew_take_the_place_of_the_old(database: str, tmp_path: Path, make_trace: Make, fill: Fill) -> None:
    run = fill(tmp_path / "run", [make_trace(0)])
    index = RunIndex(database, scored)
    for number in ("0.25", "0.5"):
        (run / "scorecards.jsonl").write_text(f"{make_trace(0).sealed_sha256} {number}\n")
        index.refresh(run)
        assert [row["number"] for row in index.contents()["scores"]] == [float(number)]


def test_many_processes_write_at_once(database: str, tmp_path: Path, make_trace: Make) -> None:
    """8 processes find an empty database, and each indexes 500 encounters of its own run, 50 at a time."""
    processes = []
    for writer in range(WRITERS):
        lines = tmp_path / f"lines-{writer}"
        lines.write_bytes(b"".join(sealed_line(make_trace(writer * EACH + n)) for n in range(EACH)))
        command = [sys.executable, "-c", WRITER, database, str(lines), str(tmp_path / f"run-{writer}"), str(BATCH)]
        env = {**os.environ, "PYTHONPATH": str(ROOT)}
        processes.append(subprocess.Popen(command, env=env, stderr=subprocess.PIPE, text=True))
    failed = [error for process in processes for error in [process.communicate()[1]] if process.returncode]
    assert not failed, failed[0][-2000:]
    index = RunIndex(database)
    assert [line.finished for line in index.runs()] == [EACH] * WRITERS
    assert len({row["trace_id"] for row in index.contents()["encounters"]}) == WRITERS * EACH


def test_processes_that_index_the_same_run_add_nothing_twice(database: str, tmp_path: Path, make_trace: Make, fill: Fill) -> None:
    run = fill(tmp_path / "run", [make_trace(n) for n in range(20)])
    code = (
        "import sys; from pathlib import Path; from simulator.index.runs import RunIndex; RunIndex(sys.argv[1]).refresh(Path(sys.argv[2]))"
    )
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    processes = [subprocess.Popen([sys.executable, "-c", code, database, str(run)], env=env) for _ in range(4)]
    assert [process.wait() for process in processes] == [0] * 4
    assert [line.finished for line in RunIndex(database).runs()] == [20]
