"""`bedside runs`: list, show, reindex, merge, delete and export on real runs of the bundled cases."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from simulator.cases_io import write_cases
from simulator.trace import DialogueTrace
from simulator.traces_io import read_traces
from ui import cli
from ui.wiring import starter_cases


@dataclass(frozen=True)
class Done:
    """How a command ended, and what it printed."""

    code: int
    out: str
    err: str


Bedside = Callable[..., Done]


@pytest.fixture
def bedside(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Bedside:
    """Runs the command's entry point in an empty working folder, with an index of its own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("BEDSIDE_DB", str(tmp_path / "index.sqlite3"))

    def run(*arguments: str) -> Done:
        monkeypatch.setattr(sys, "argv", ["bedside", *arguments])
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            cli.main()
        printed = capsys.readouterr()
        assert "Traceback" not in printed.err
        return Done(int(ended.value.code or 0), printed.out, printed.err)

    return run


def played(bedside: Bedside, name: str, *options: str) -> Path:
    assert bedside("run", "--out", name, "--examiner", "hasty", "--limit", "3", "--quiet", *options).code == 0
    return Path(name)


def closed_cases() -> list:
    """Two cases that may be passed on and one that may not."""
    one, two, three = starter_cases()[:3]
    provenance = three.provenance.model_copy(update={"redistributable": False, "license": "PhysioNet Credentialed"})
    return [one, two, three.model_copy(update={"provenance": provenance})]


def test_runs_are_listed_with_their_counts(bedside: Bedside) -> None:
    assert "runs" in bedside("runs", "list").out
    played(bedside, "one")
    played(bedside, "deeper/two", "--repeats", "2")
    lines = [json.loads(line) for line in bedside("runs", "list", "--json").out.splitlines()]
    assert [
        (Path(line["path"]).name, line["finished"], line["cases"], line["present"])
        for line in sorted(lines, key=lambda line: str(line["finished"]))
    ] == [
        ("one", 3, 3, True),
        ("two", 6, 3, True),
    ]
    assert "two" in bedside("runs", "list", "one").out  # the index remembers


def test_a_run_is_shown_with_its_scores(bedside: Bedside) -> None:
    played(bedside, "run")
    shown = bedside("runs", "show", "run")
    assert shown.code == 0 and "hasty" in shown.out and "mean scores" not in shown.out
    assert bedside("score", "run", "--out", "run/scorecards.jsonl", "--json").code == 0
    scored = json.loads(bedside("score", "run", "--json").out.splitlines()[0])
    found = json.loads(bedside("runs", "show", "run", "--json").out)
    assert sum(row["encounters"] for row in found["endings"]) == 3
    means = {row["name"]: row["mean"] for row in found["scores"]}
    for name in ("acc_truth", "recall", "premature_closure"):
        assert means[name] == pytest.approx(scored["metrics"][name]["mean"])


def test_reindex_finds_runs_and_forgets_those_that_are_gone(bedside: Bedside) -> None:
    played(bedside, "one")
    played(bedside, "two")
    assert "2 runs indexed" in bedside("runs", "reindex", ".").out
    Path("two/run.json").unlink()
    done = bedside("runs", "reindex")
    assert "gone" in done.out and "1 runs indexed" in done.out
    assert bedside("runs", "reindex", "two").code == 2


def test_merge_names_duplicates(bedside: Bedside) -> None:
    played(bedside, "one")
    played(bedside, "two")
    done = bedside("runs", "merge", "one", "two", "--out", "both")
    # the clock differs, so these are other traces of the same encounters
    assert (done.code, done.err.count("is there already, left out")) == (4, 3)
    assert len(list(read_traces("both"))) == 3
    assert bedside("runs", "merge", "one", "./one", "--out", "x").code == 2


def test_delete_asks(bedside: Bedside, monkeypatch: pytest.MonkeyPatch) -> None:
    played(bedside, "run")
    bedside("runs", "list")
    monkeypatch.setattr("sys.stdin", io.StringIO("y\n"))
    refused = bedside("runs", "delete", "run")
    assert refused.code == 2 and "--yes" in refused.err and Path("run/traces.jsonl").exists()
    for answer, code in (("n", 1), ("", 1), ("yes", 0)):
        terminal = io.StringIO(answer + "\n")
        terminal.isatty = lambda: True  # type: ignore[method-assign]
        monkeypatch.setattr("sys.stdin", terminal)
        assert bedside("runs", "delete", "run").code == code
    assert not Path("run").exists()
    assert bedside("runs", "list", "--json").out == ""


def test_jsonl_export_is_read_back_with_seals(bedside: Bedside) -> None:
    played(bedside, "run")
    assert bedside("runs", "export", "run", "--out", "x.jsonl").code == 0
    assert list(read_traces("x.jsonl")) == list(read_traces("run"))


def test_parquet_and_dataset_folder_hold_the_run(bedside: Bedside) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    played(bedside, "run")
    assert bedside("runs", "export", "run", "--out", "x.parquet", "--format", "parquet").code == 0
    assert bedside("runs", "export", "run", "--out", "set", "--format", "hf").code == 0
    traces = list(read_traces("run"))
    for file in ("x.parquet", "set/data/encounters.parquet"):
        rows = parquet.read_table(file).to_pylist()
        assert [DialogueTrace.from_json(row["trace_json"]) for row in rows] == traces
        assert {row["license"] for row in rows} == {case.provenance.license for case in starter_cases()[:3]}
    turns = parquet.read_table("set/data/turns.parquet").to_pylist()
    assert [turn["text"] for turn in turns] == [turn.text for trace in traces for turn in trace.turns]
    assert sorted(path.name for path in Path("set").iterdir()) == ["README.md", "data"]
    card = Path("set/README.md").read_text(encoding="utf-8")
    assert card.startswith("---\n") and "split: test" in card and "3 diagnostic interviews" in card
    again = bedside("runs", "export", "run", "--out", "set", "--format", "hf")
    assert again.code == 2 and "is there already" in again.err


@pytest.mark.parametrize("form", ["jsonl", "parquet", "hf"])
def test_what_may_not_be_passed_on_is_refused(bedside: Bedside, form: str) -> None:
    """metrics.md 14: traces of cases with redistributable=false are not exported."""
    if form != "jsonl":
        pytest.importorskip("pyarrow")
    write_cases("cases.jsonl", closed_cases())
    played(bedside, "run", "--cases", "cases.jsonl")
    done = bedside("runs", "export", "run", "--out", "x", "--format", form, "--cases", "cases.jsonl")
    assert done.code == 2 and "may not be passed on (licence PhysioNet Credentialed)" in done.err and "--only-redistributable" in done.err
    assert [path.name for path in Path().iterdir() if "x" in path.name and path.name != "index.sqlite3"] == []
    # the bundled case of that name was another one: it may be passed on, but it is not what was played
    unlike = bedside("runs", "export", "run", "--out", "x", "--format", form)
    assert unlike.code == 2 and "not the one that was played" in unlike.err
    part = bedside("runs", "export", "run", "--out", "x", "--format", form, "--cases", "cases.jsonl", "--only-redistributable", "--json")
    report = json.loads(part.out)
    assert (part.code, report["encounters"], sum(report["left_out"].values())) == (0, 2, 1)


def test_traces_of_unknown_cases_are_refused(bedside: Bedside) -> None:
    write_cases("cases.jsonl", starter_cases()[:1])
    played(bedside, "run")
    done = bedside("runs", "export", "run", "--out", "x.jsonl", "--cases", "cases.jsonl")
    assert done.code == 2 and "not known here" in done.err and not Path("x.jsonl").exists()


@pytest.mark.parametrize(
    "arguments",
    [
        ("runs", "show", "."),
        ("runs", "list", "nowhere"),
        ("runs", "delete", ".", "--yes"),
        ("runs", "list", "--db", "mysql://h/x"),
        ("runs", "export", ".", "--out", "x", "--format", "csv"),
    ],
)
def test_mistakes_are_one_line(bedside: Bedside, arguments: tuple[str, ...]) -> None:
    done = bedside(*arguments)
    assert done.code == 2 and done.err.count("\n") == 1
