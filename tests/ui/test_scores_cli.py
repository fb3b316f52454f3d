"""`bedside score`: tables, explanations, and wrong traces, each named and counted while the others are scored (metrics.md 14)."""

from __future__ import annotations

import csv
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from ontology.documents import content_hash
from simulator.cases_io import write_cases
from ui import cli
from ui.wiring import form_cases

ROOT = Path(cli.__file__).parents[1]


@dataclass(frozen=True)
class Done:
    """How a command ended, and what it printed."""

    code: int
    out: str
    err: str


Bedside = Callable[..., Done]


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run folder of two examiners on four cases."""
    folder = tmp_path_factory.mktemp("played") / "r"
    options = ["--cases", "ddxplus-form", "--examiner", "hasty", "--examiner", "checklist", "--limit", "4", "--quiet"]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", ["bedside", "run", "--out", str(folder), *options])
        with pytest.raises(SystemExit) as ended:
            cli.main()
    assert not ended.value.code
    return folder


@pytest.fixture
def bedside(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path, played: Path) -> Bedside:
    """Runs the command's entry point in a folder that holds the run as `r`."""
    monkeypatch.chdir(tmp_path)
    shutil.copytree(played, "r")

    def run(*arguments: str) -> Done:
        monkeypatch.setattr(sys, "argv", ["bedside", *arguments])
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            cli.main()
        printed = capsys.readouterr()
        assert "Traceback" not in printed.err
        return Done(int(ended.value.code or 0), printed.out, printed.err)

    return run


def lines() -> list[dict[str, Any]]:
    return [json.loads(line) for line in Path("r/traces.jsonl").read_text().splitlines()]


def write(traces: list[Any]) -> None:
    Path("r/traces.jsonl").write_text("".join((t if isinstance(t, str) else json.dumps(t)) + "\n" for t in traces))


def sealed(raw: dict[str, Any]) -> dict[str, Any]:
    """A trace changed by another hand that also made the seal fit."""
    raw = {key: value for key, value in raw.items() if key != "sealed_sha256"}
    return {**raw, "sealed_sha256": content_hash(raw)}


def first_mention(raw: dict[str, Any]) -> dict[str, Any]:
    return next(mention for turn in raw["turns"] for mention in turn["mentions"])


def break_seal(raw: dict[str, Any]) -> Any:
    return {**raw, "seed": 99}


def drop_seal(raw: dict[str, Any]) -> Any:
    return {**raw, "sealed_sha256": None}


def dangle(raw: dict[str, Any]) -> Any:
    first_mention(raw)["links_to"] = "t99m0"
    return sealed(raw)


def shift_span(raw: dict[str, Any]) -> Any:
    first_mention(raw)["start"] += 1
    return sealed(raw)


def other_version(raw: dict[str, Any]) -> Any:
    return sealed({**raw, "schema_version": "9.0"})


def unknown_concept(raw: dict[str, Any]) -> Any:
    first_mention(raw)["cui"] = "C9999999"
    return sealed(raw)


def case_changed(raw: dict[str, Any]) -> Any:
    return sealed({**raw, "case_sha256": "0" * 64})


def no_case(raw: dict[str, Any]) -> Any:
    return sealed({**raw, "case_id": "case-ffffffffffff"})


FAULTS: list[tuple[Callable[[dict[str, Any]], Any], str, str]] = [
    (break_seal, "seal broken", "the seal of trace"),
    (drop_seal, "not sealed", "was never sealed"),
    (dangle, "dangling link", "links to unknown t99m0"),
    (shift_span, "span mismatch", "does not match its span"),
    (other_version, "other schema version", "schema_version '9.0'"),
    (unknown_concept, "unknown concept", "mentions C9999999"),
    (case_changed, "case changed since", "is not the version the trace was played on"),
    (no_case, "unknown case", "the case case-ffffffffffff of a trace is not in"),
    (lambda raw: "{broken", "not a trace", "not valid JSON"),
    (lambda raw: json.dumps([1]), "not a trace", "must be a JSON object"),
]


@pytest.mark.parametrize(("damage", "kind", "words"), FAULTS, ids=[kind + " " + words[:8] for _, kind, words in FAULTS])
def test_a_wrong_trace_is_named_and_does_not_stop_the_others(
    bedside: Bedside, damage: Callable[[dict[str, Any]], Any], kind: str, words: str
) -> None:
    traces: list[Any] = lines()
    traces[2] = damage(traces[2])
    write(traces)
    done = bedside("score", "r", "--json", "--out", "cards.jsonl")
    assert done.code == 4
    named = [line for line in done.err.splitlines() if line.startswith("not scored: ")]
    assert len(named) == 1 and "r/traces.jsonl:3" in named[0] and words in named[0]
    assert done.err.splitlines()[-1] == f"1 of 8 traces could not be scored ({kind} 1)"
    summaries = [json.loads(line) for line in done.out.splitlines()]
    assert sum(summary["n_traces"] for summary in summaries) == 7
    assert all(summary["left_out"] == {kind: 1} for summary in summaries)
    assert len(Path("cards.jsonl").read_text().splitlines()) == 7


def test_all_kinds_of_faults_at_once(bedside: Bedside) -> None:
    traces: list[Any] = lines()
    copies = [sealed(json.loads(json.dumps({**traces[0], "trace_id": f"trace-{number}"}))) for number in range(len(FAULTS))]
    write([damage(copy) for copy, (damage, _, _) in zip(copies, FAULTS, strict=True)] + traces)
    done = bedside("score", "r")
    assert done.code == 4 and f"{len(FAULTS)} of {len(FAULTS) + 8} traces could not be scored" in done.err
    assert "not a trace 2" in done.err and "4 of 4" in done.out


def test_any_number_of_processes_gives_the_same_bytes(bedside: Bedside) -> None:
    """Cards, table, summary and what was left out, under any hash seed: with every fault, a trace that comes twice, and a torn end."""
    traces: list[Any] = lines()
    copies = [sealed(json.loads(json.dumps({**raw, "trace_id": f"trace-{number}"}))) for number, raw in enumerate(traces * 8)]
    wrong = [damage(copy) for copy, (damage, _, _) in zip(copies, FAULTS, strict=False)]
    write([*copies[20:], *wrong, traces[0], *traces])
    with Path("r/traces.jsonl").open("a") as file:
        file.write(json.dumps(traces[0])[:500])
    found = set()
    for processes, seed in (("1", "0"), ("2", "7"), ("3", "0")):
        command = [
            sys.executable,
            "-m",
            "ui.cli",
            "score",
            "r",
            "--processes",
            processes,
            "--out",
            "cards.jsonl",
            "--table",
            "t.csv",
            "--json",
        ]
        environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(ROOT)}
        done = subprocess.run(command, capture_output=True, env=environment, check=False)
        assert done.returncode == 4, done.stderr
        assert len(Path("cards.jsonl").read_text().splitlines()) == 44 + 8
        found.add((Path("cards.jsonl").read_bytes(), Path("t.csv").read_bytes(), done.stdout, done.stderr))
    assert len(found) == 1
    told = found.pop()[3].decode()
    assert "a second trace" in told and "cut short" in told and f"{len(FAULTS)} of {len(FAULTS) + 52} traces" in told


def test_nothing_to_score_is_an_error(bedside: Bedside) -> None:
    write([break_seal(raw) for raw in lines()])
    done = bedside("score", "r", "--out", "cards.jsonl")
    assert done.code == 2 and "the seal of trace" in done.err and "and 7 more traces" in done.err and done.err.count("\n") == 1
    assert not Path("cards.jsonl").exists() and done.out == ""


def test_changed_cases_are_named(bedside: Bedside) -> None:
    """The case file was edited after the run: its traces are left out, those of the other cases are scored."""
    cases = list(form_cases()[:4])
    write_cases("c.jsonl", [cases[0].model_copy(update={"title": "another"}), *cases[1:]])
    done = bedside("score", "r", "--cases", "c.jsonl")
    assert done.code == 4 and "2 of 8 traces could not be scored (case changed since 2)" in done.err


# -- tables ---------------------------------------------------------------------------------------------------------


def test_a_table_has_a_row_a_dialogue(bedside: Bedside) -> None:
    done = bedside("score", "r", "--table", "t.csv", "--json", "--out", "cards.jsonl")
    assert done.code == 0
    table = list(csv.DictReader(Path("t.csv").open(encoding="utf-8", newline="")))
    cards = [json.loads(line) for line in Path("cards.jsonl").read_text().splitlines()]
    assert [row["trace_id"] for row in table] == [card["trace_id"] for card in cards]
    for row, card in zip(table, cards, strict=True):
        for name, score in card["scores"].items():
            assert row[name] == ("" if score["value"] is None else str(score["value"]))
    assert {row["case_source"] for row in table} == {"ddxplus"}


def test_tables_in_two_forms_at_once(bedside: Bedside) -> None:
    pytest.importorskip("pyarrow")
    import pandas as pd

    assert bedside("score", "r", "--table", "t.csv", "--table", "t.parquet").code == 0
    frame = pd.read_parquet("t.parquet")
    assert len(frame) == 8 and frame["ses"].notna().all()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--table", "t.xlsx"], ["t.xlsx", "a table ending in .xlsx is not written", "use .csv or .parquet"]),
        (["--table", "t"], ["a table ending in nothing is not written"]),
        (["--table", "/dev/null/t.csv"], ["/dev/null/t.csv: cannot be written"]),
        (["--explain", "99trace"], ["no trace for '99trace'"]),
        (["--explain", "trace-"], ["8 traces for 'trace-'", "more of the id"]),
        (["--explain", "1", "--cases", "starter"], ["is not in starter"]),
        (["--explain", "1", "--params", "gone.toml"], ["gone.toml: cannot be read"]),
    ],
)
def test_mistakes_are_one_line(bedside: Bedside, options: list[str], words: list[str]) -> None:
    done = bedside("score", "r", *options)
    assert done.code == 2 and done.out == "" and done.err.startswith("bedside: ") and done.err.count("\n") == 1
    for word in words:
        assert word in done.err


def test_parquet_without_pyarrow_is_refused_before_anything_is_scored(bedside: Bedside, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    done = bedside("score", "r", "--table", "t.parquet", "--out", "cards.jsonl")
    assert done.code == 2 and "t.parquet: Parquet needs pyarrow" in done.err and "bedside[parquet]" in done.err
    assert not Path("cards.jsonl").exists()


# -- explaining -----------------------------------------------------------------------------------------------------


def test_a_trace_is_explained_turn_by_turn(bedside: Bedside) -> None:
    wanted = next(raw for raw in lines() if raw["examiner"]["id"] == "checklist")
    done = bedside("score", "r", "--explain", wanted["trace_id"])
    assert done.code == 0 and done.out.startswith(wanted["trace_id"])
    for turn in wanted["turns"]:
        assert f"{turn['idx']:>3} {turn['role']}: " in done.out
    asks = [turn for turn in wanted["turns"] if any(act["type"] == "ask" for act in turn["acts"])]
    assert done.out.count("      so far: ") == len(asks) == 14 and "commits to a diagnosis here" in done.out
    card = bedside("score", "r", "--explain", wanted["trace_id"], "--json")
    raw = json.loads(card.out)
    last = [turn["running"] for turn in raw["turns"] if turn["running"]][-1]
    assert last["ses"] == raw["card"]["scores"]["ses"]["value"]
    assert f"SES {last['ses']:.4f}" in done.out


def test_a_trace_is_explained_although_another_is_wrong(bedside: Bedside) -> None:
    traces: list[Any] = lines()
    wanted = traces[3]["trace_id"]
    write(["{broken", break_seal(traces[0]), *traces[1:]])
    assert bedside("score", "r", "--explain", wanted).code == 0
    done = bedside("score", "r", "--explain", traces[0]["trace_id"])
    assert done.code == 2 and "no readable trace" in done.err and "2 cannot be read" in done.err


def test_the_example_of_the_documentation_runs(bedside: Bedside, capsys: pytest.CaptureFixture[str]) -> None:
    text = (Path(__file__).parents[2] / "docs" / "scoring.md").read_text(encoding="utf-8")
    block = text.split("```python\n")[1].split("```")[0]
    assert bedside("score", "r", "--out", "cards.jsonl").code == 0
    names: dict[str, Any] = {}
    exec(compile(block, "docs/scoring.md", "exec"), names)
    assert "checklist" in capsys.readouterr().out
    assert len(names["frame"]) == 8 and len(names["long"]) > 8 * 40
