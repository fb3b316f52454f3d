"""Run folders: one writer, sealed records, and nothing lost but what was cut short."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from ontology.documents import content_hash
from ontology.errors import BedsideError
from simulator.protocols import TurnObserver
from simulator.store import RunFolder, read_traces
from simulator.trace import Budget, DialogueTrace, FinalAnswer, Player, RankedDiagnosis, TerminationReason, Turn

ROOT = Path(__file__).resolve().parents[2]
FINGERPRINT: dict[str, Any] = {"software_version": "1", "budget": {"max_turns": 20}, "seeds": [0, 1], "temperature": 0.7}


def make_trace(number: int, termination: TerminationReason = "examiner_committed", words: str = "頭が痛い, ouch") -> DialogueTrace:
    return DialogueTrace(
        trace_id=f"trace-{number:016x}",
        case_id="case-000000000001",
        case_sha256="0" * 64,
        pool_id="pool",
        pool_sha256="0" * 64,
        examiner=Player(kind="scripted", id="fake", sampling={"temperature": 0.1 + 0.2, "top_p": 1}),
        patient=Player(kind="embedded", id="patient"),
        budget=Budget(),
        seed=number,
        kb_version="1",
        software_version="1",
        started_at="2026-01-01T00:00:00.000+00:00",
        finished_at="2026-01-01T00:01:00.000+00:00",
        turns=[Turn(idx=0, role="patient", text=words, latency_ms=number)],
        outcome=FinalAnswer(ranked=[RankedDiagnosis(name="Migraine", prob=1)]) if termination == "examiner_committed" else None,
        termination=termination,
    ).sealed()


def ids(folder: Path) -> list[int]:
    return [trace.seed for trace in read_traces(folder)]


def filled(path: Path, count: int = 3) -> Path:
    with RunFolder(path) as folder:
        folder.open(FINGERPRINT)
        for number in range(count):
            folder.append(make_trace(number))
    return path


def test_traces_come_back_as_they_were_in_their_order(tmp_path: Path) -> None:
    path = filled(tmp_path / "made" / "run")
    assert list(read_traces(path)) == list(read_traces(path / "traces.jsonl")) == [make_trace(n) for n in range(3)]
    with RunFolder(path) as folder:
        report = folder.open(FINGERPRINT)
        assert (report.created, report.finished, report.notes()) == (False, 3, [])
        assert dict(folder.finished()) == {make_trace(n).trace_id: "examiner_committed" for n in range(3)}
        folder.append(make_trace(3, "budget"))
        assert [trace.seed for trace in folder.traces()] == [0, 1, 2, 3]


def test_a_new_folder_is_told_apart_from_one_reopened(tmp_path: Path) -> None:
    with RunFolder(tmp_path / "run") as folder:
        assert folder.open(FINGERPRINT).created
        assert not folder.finished()
    assert list(read_traces(tmp_path / "run")) == []
    record = json.loads((tmp_path / "run" / "run.json").read_text(encoding="utf-8"))
    assert record["fingerprint"] == FINGERPRINT
    assert record["created"].endswith("+00:00")


def test_cut_at_every_byte_of_the_last_record_only_that_record_is_lost(tmp_path: Path) -> None:
    """The line end alone is no loss: a record whose seal is intact is whole."""
    path = filled(tmp_path / "run")
    file = path / "traces.jsonl"
    whole = file.read_bytes()
    last = whole.rindex(b"\n", 0, -1) + 1
    for cut in range(last, len(whole)):
        file.write_bytes(whole[:cut])
        (path / "traces.torn").unlink(missing_ok=True)
        kept = [0, 1, 2] if cut == len(whole) - 1 else [0, 1]
        torn = whole[last:cut] if len(kept) == 2 else b""
        reader = read_traces(path)
        assert [trace.seed for trace in reader] == kept
        assert len(reader.warnings) == bool(torn)
        with RunFolder(path) as folder:
            report = folder.open(FINGERPRINT)
            assert (report.finished, report.torn_bytes, len(report.notes())) == (len(kept), len(torn), bool(torn))
            folder.append(make_trace(7))
        assert ids(path) == [*kept, 7]
        if torn:
            assert (path / "traces.torn").read_bytes() == torn + b"\n"


def test_a_torn_error_record_does_not_spoil_the_next_one(tmp_path: Path) -> None:
    path = filled(tmp_path / "run", 1)
    errors = path / "errors.jsonl"
    with RunFolder(path) as folder:
        folder.open(FINGERPRINT)
        assert not folder.append(make_trace(5, "infrastructure_error"))
    errors.write_bytes(errors.read_bytes() + b'{"schema_ver')
    with RunFolder(path) as folder:
        assert folder.open(FINGERPRINT).torn_bytes == 12
        folder.append(make_trace(5, "patient_error"))
    assert [trace.termination for trace in read_traces(errors)] == ["infrastructure_error", "patient_error"]


@pytest.mark.parametrize("termination", ["infrastructure_error", "patient_error"])
def test_what_the_machinery_broke_is_kept_apart_and_stays_due(tmp_path: Path, termination: TerminationReason) -> None:
    path = tmp_path / "run"
    with RunFolder(path) as folder:
        folder.open(FINGERPRINT)
        for _ in range(2):
            assert not folder.append(make_trace(1, termination))
        assert not folder.finished()
        assert folder.append(make_trace(1))
        assert folder.finished()
    assert ids(path) == [1]
    assert [trace.termination for trace in read_traces(path / "errors.jsonl")] == [termination] * 2


@pytest.mark.parametrize("termination", ["examiner_error", "abandoned", "budget"])
def test_what_a_player_ended_is_finished(tmp_path: Path, termination: TerminationReason) -> None:
    with RunFolder(tmp_path / "run") as folder:
        folder.open(FINGERPRINT)
        assert folder.append(make_trace(1, termination))
        assert dict(folder.finished()) == {make_trace(1).trace_id: termination}


@pytest.mark.parametrize("line", [0, 1, 2])
@pytest.mark.parametrize(
    "change",
    [(b"ouch", b"fine"), (b'"seed":', b'"seed":1'), (b'"prob":1.0', b'"prob":0.9'), (b'"forced_commit":false', b'"forced_commit":true')],
)
def test_a_changed_record_is_refused_by_its_line_and_never_dropped(tmp_path: Path, line: int, change: tuple[bytes, bytes]) -> None:
    path = filled(tmp_path / "run")
    file = path / "traces.jsonl"
    lines = file.read_bytes().splitlines(keepends=True)
    lines[line] = lines[line].replace(*change)
    file.write_bytes(b"".join(lines))
    before = file.read_bytes()
    for attempt in (lambda: RunFolder(path).open(FINGERPRINT), lambda: list(read_traces(path))):
        with pytest.raises(BedsideError, match="seal.*broken") as caught:
            attempt()
        assert caught.value.where == f"{file}:{line + 1}"
    assert file.read_bytes() == before


def test_a_whole_last_record_without_line_end_is_still_verified(tmp_path: Path) -> None:
    """Else a changed record would pass for a torn one."""
    file = filled(tmp_path / "run") / "traces.jsonl"
    file.write_bytes(file.read_bytes().replace(b"ouch", b"fine")[:-1])
    with pytest.raises(BedsideError, match="seal.*broken"):
        RunFolder(tmp_path / "run").open(FINGERPRINT)


@pytest.mark.parametrize("line", [b"\0\0\0\n", b"[]\n", b'{"schema_version":"9"}\n', b'{"schema_version":"1.0","trace_id":"x"}\n'])
def test_a_line_that_is_no_trace_is_named(tmp_path: Path, line: bytes) -> None:
    file = filled(tmp_path / "run") / "traces.jsonl"
    file.write_bytes(file.read_bytes() + line)
    for attempt in (lambda: RunFolder(tmp_path / "run").open(FINGERPRINT), lambda: list(read_traces(tmp_path / "run"))):
        with pytest.raises(BedsideError) as caught:
            attempt()
        assert caught.value.where == f"{file}:4"


def test_a_record_of_a_release_without_a_later_field_is_still_intact(tmp_path: Path) -> None:
    """The seal covers the values, and a field left out has its default."""
    file = filled(tmp_path / "run", 1) / "traces.jsonl"
    raw = json.loads(file.read_bytes())
    del raw["forced_commit"]
    file.write_text(json.dumps(raw) + "\n", encoding="utf-8")
    assert ids(tmp_path / "run") == [0]


def test_an_unsealed_trace_is_neither_written_nor_read(tmp_path: Path) -> None:
    bare = make_trace(1).model_copy(update={"sealed_sha256": None})
    path = filled(tmp_path / "run", 0)
    with RunFolder(path) as folder:
        folder.open(FINGERPRINT)
        for trace in (bare, make_trace(1).model_copy(update={"seed": 2})):
            with pytest.raises(ValueError, match="not sealed"):
                folder.append(trace)
    (path / "traces.jsonl").write_text(bare.to_json() + "\n", encoding="utf-8")
    with pytest.raises(BedsideError, match="never sealed"):
        list(read_traces(path))


def test_a_trace_that_json_cannot_carry_is_refused_before_it_is_written(tmp_path: Path) -> None:
    """NaN is written as null, so its seal would be broken for every reader."""
    player = Player(kind="scripted", id="fake", sampling={"temperature": float("nan")})
    trace = make_trace(1).model_copy(update={"examiner": player}).sealed()
    with RunFolder(tmp_path / "run") as folder:
        folder.open(FINGERPRINT)
        with pytest.raises(ValueError, match="JSON"):
            folder.append(trace)
    assert ids(tmp_path / "run") == []


def test_a_second_trace_of_an_id_is_reported_and_the_first_counts(tmp_path: Path) -> None:
    path = filled(tmp_path / "run")
    with (path / "traces.jsonl").open("ab") as file:
        file.write(make_trace(1, "budget").to_json().encode() + b"\n")
    reader = read_traces(path)
    assert [(trace.seed, trace.termination) for trace in reader][1] == (1, "examiner_committed")
    assert len(reader.warnings) == 1 and "traces.jsonl:4" in reader.warnings[0]
    with RunFolder(path) as folder:
        report = folder.open(FINGERPRINT)
        assert report.duplicates == [f"{path / 'traces.jsonl'}:4"]
        assert len(report.notes()) == 1
        assert report.finished == 3
        with pytest.raises(ValueError, match="already"):
            folder.append(make_trace(2))


def test_another_fingerprint_is_refused_with_the_differences(tmp_path: Path) -> None:
    path = filled(tmp_path / "run")
    other = FINGERPRINT | {"budget": {"max_turns": 10}, "seeds": [0, 1, 2], "pool": "x"}
    with pytest.raises(BedsideError) as caught:
        RunFolder(path).open(other)
    line = caught.value.line()
    assert "budget.max_turns (was 20, now 10), pool (was None, now 'x'), seeds (was [0, 1], now [0, 1, 2])" in line
    assert "--force" in line and "temperature" not in line and "software" not in line
    with RunFolder(path) as folder:
        folder.open(dict(reversed(FINGERPRINT.items())))


def test_force_takes_the_folder_over_and_keeps_the_old_fingerprint(tmp_path: Path) -> None:
    path = filled(tmp_path / "run")
    with RunFolder(path) as folder:
        report = folder.open(FINGERPRINT | {"software_version": "2"}, force=True)
        assert report.replaced == ["software_version (was '1', now '2')"] and report.notes()
        assert len(folder.finished()) == 3
    record = json.loads((path / "run.json").read_text(encoding="utf-8"))
    assert record["fingerprint"]["software_version"] == "2"
    assert [earlier["fingerprint"] for earlier in record["earlier"]] == [FINGERPRINT]
    with RunFolder(path) as folder:
        assert folder.open(FINGERPRINT | {"software_version": "2"}).notes() == []


def test_a_folder_of_other_things_is_not_taken(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("x", encoding="utf-8")
    with pytest.raises(BedsideError, match="thesis.tex"):
        RunFolder(tmp_path).open(FINGERPRINT)
    assert [entry.name for entry in tmp_path.iterdir()] == ["thesis.tex"]
    with pytest.raises(BedsideError):
        RunFolder(tmp_path / "thesis.tex").open(FINGERPRINT)
    with pytest.raises(BedsideError, match="not a run folder"):
        read_traces(tmp_path)
    with pytest.raises(BedsideError, match="no such"):
        read_traces(tmp_path / "nowhere")
    with pytest.raises(BedsideError, match="thesis.tex:1"):
        list(read_traces(tmp_path / "thesis.tex"))


def test_a_folder_whose_maker_died_at_once_is_taken(tmp_path: Path) -> None:
    (tmp_path / "journal").mkdir()
    (tmp_path / "lock").write_text("1\n", encoding="utf-8")
    (tmp_path / ".run.json.1.tmp").write_text("{", encoding="utf-8")
    with RunFolder(tmp_path) as folder:
        assert folder.open(FINGERPRINT).created


def test_a_spoilt_run_file_is_named(tmp_path: Path) -> None:
    (filled(tmp_path / "run") / "run.json").write_text('{"schema_version": "1.0",\n oops', encoding="utf-8")
    with pytest.raises(BedsideError, match=r"run\.json:2"):
        RunFolder(tmp_path / "run").open(FINGERPRINT)


def test_the_journal_holds_each_turn_at_once_and_goes_with_the_encounter(tmp_path: Path) -> None:
    turns = [Turn(idx=0, role="patient", text="ouch\nouch"), Turn(idx=1, role="examiner", text="where?")]
    with RunFolder(tmp_path / "run") as folder:
        folder.open(FINGERPRINT)
        with folder.journal("trace-1") as journal:
            observer: TurnObserver = journal
            file = tmp_path / "run" / "journal" / "trace-1.jsonl"
            for count, turn in enumerate(turns, 1):
                observer.on_turn(turn)
                assert [Turn.model_validate_json(line) for line in file.read_bytes().splitlines()] == turns[:count]
        assert not file.exists()
        for evil in ("../x", "", ".x", "a/b", "a\n"):
            with pytest.raises(ValueError, match="cannot name a file"):
                folder.journal(evil)


def test_journals_of_a_dead_process_are_removed_and_said(tmp_path: Path) -> None:
    path = filled(tmp_path / "run")
    (path / "journal" / "trace-1.jsonl").write_text("{}\n", encoding="utf-8")
    with RunFolder(path) as folder:
        report = folder.open(FINGERPRINT)
        assert report.journals_removed == len(report.notes()) == 1
    assert not list((path / "journal").iterdir())


def test_two_openings_in_one_process_exclude_each_other(tmp_path: Path) -> None:
    path = filled(tmp_path / "run")
    first, second = RunFolder(path), RunFolder(path)
    first.open(FINGERPRINT)
    with pytest.raises(BedsideError, match=f"in use by process {os.getpid()}"):
        second.open(FINGERPRINT)
    assert first.append(make_trace(3))
    assert ids(path) == [0, 1, 2, 3], "reading needs no lock"
    first.close()
    second.open(FINGERPRINT)
    with pytest.raises(ValueError, match="open already"):
        second.open(FINGERPRINT)
    second.close()
    with pytest.raises(ValueError, match="not open"):
        second.append(make_trace(4))


HOLDER = """
import sys
from simulator.store import RunFolder
RunFolder(sys.argv[1]).open({"a": 1})
print("ready", flush=True)
sys.stdin.read()
"""


def test_a_second_process_is_refused_until_the_first_is_dead(tmp_path: Path) -> None:
    program = tmp_path / "holder.py"
    program.write_text(HOLDER, encoding="utf-8")
    run = [sys.executable, str(program), str(tmp_path / "run")]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    holder = subprocess.Popen(run, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment)
    assert holder.stdin is not None and holder.stdout is not None
    try:
        assert holder.stdout.readline() == b"ready\n"
        with pytest.raises(BedsideError, match=f"in use by process {holder.pid};"):
            RunFolder(tmp_path / "run").open({"a": 1})
        second = subprocess.run(run, stdin=subprocess.DEVNULL, capture_output=True, env=environment, check=False)
        assert second.returncode == 1 and f"in use by process {holder.pid}".encode() in second.stderr
    finally:
        holder.send_signal(signal.SIGKILL)
        holder.wait()
        holder.stdin.close()
        holder.stdout.close()
    with RunFolder(tmp_path / "run") as folder:
        folder.open({"a": 1})


FULL_DISK = """
import resource, sys
from ontology.errors import BedsideError
from simulator.store import RunFolder
from simulator.trace import DialogueTrace
path, text, limit = sys.argv[1:]
trace = DialogueTrace.from_json(text)
with RunFolder(path) as folder:
    folder.open({"a": 1})
    resource.setrlimit(resource.RLIMIT_FSIZE, (int(limit), resource.RLIM_INFINITY))
    try:
        folder.append(trace)
    except BedsideError as error:
        assert trace.trace_id not in folder.finished()
        sys.exit(error.line())
"""


@pytest.mark.skipif(sys.platform == "win32", reason="run folders are for Linux and macOS")
def test_a_record_that_did_not_fit_leaves_no_piece_behind(tmp_path: Path) -> None:
    program = tmp_path / "full.py"
    program.write_text(FULL_DISK, encoding="utf-8")
    path = tmp_path / "run"
    with RunFolder(path) as folder:
        folder.open({"a": 1})
        folder.append(make_trace(0))
    size = (path / "traces.jsonl").stat().st_size
    for room in (0, 1, size - 1):
        run = [sys.executable, str(program), str(path), make_trace(1).to_json(), str(size + room)]
        done = subprocess.run(run, capture_output=True, text=True, env=os.environ | {"PYTHONPATH": str(ROOT)}, check=False)
        assert done.returncode == 1 and "could not be written" in done.stderr, done.stderr
        assert done.stderr.count("\n") == 1
        assert (path / "traces.jsonl").stat().st_size == size
    assert ids(path) == [0]


def test_the_check_on_the_bytes_and_the_check_on_the_values_agree(tmp_path: Path) -> None:
    """A line that another program wrote, in another order, is as good as ours; the seal is the hash of all else."""
    file = filled(tmp_path / "run", 1) / "traces.jsonl"
    raw = json.loads(file.read_bytes())
    assert raw["sealed_sha256"] == content_hash({k: v for k, v in raw.items() if k != "sealed_sha256"}) == make_trace(0).content_sha256()
    for text in (make_trace(0).to_json(), json.dumps(raw, indent=None), json.dumps(dict(reversed(raw.items())))):
        file.write_text(text + "\n", encoding="utf-8")
        assert list(read_traces(file)) == [make_trace(0)]


WORDS = '"sealed_sha256":"' + "0" * 64 + '","termination":"budget","termination_detail":null,"trace_id":"x","turns":['


@pytest.mark.parametrize(
    "sampling",
    [
        {"schema_version": "1.0", "sealed_sha256": "0" * 64, "seed": 1},
        {"termination": "abandoned", "termination_detail": None, "trace_id": "x", "turns": []},
    ],
)
def test_values_that_look_like_the_record_do_not_confuse_it(tmp_path: Path, sampling: dict[str, Any]) -> None:
    trace = make_trace(1, words=WORDS).model_copy(
        update={"examiner": Player(kind="scripted", id=WORDS, sampling=sampling), "termination_detail": '\\" ' + WORDS}
    )
    with RunFolder(tmp_path / "run") as folder:
        folder.open(FINGERPRINT)
        folder.append(make_trace(0, words=WORDS))
        folder.append(trace.sealed())
    with RunFolder(tmp_path / "run") as folder:
        folder.open(FINGERPRINT)
        assert dict(folder.finished()) == {make_trace(0).trace_id: "examiner_committed", trace.trace_id: "examiner_committed"}
    assert list(read_traces(tmp_path / "run")) == [make_trace(0, words=WORDS), trace.sealed()]
