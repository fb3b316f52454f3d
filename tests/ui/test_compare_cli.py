"""`bedside compare` and `bedside sensitivity`: what they print, and what they say to wrong input."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from ui import cli

RUN = ["run", "--cases", "ddxplus-form", "--limit", "6", "--quiet"]


def call(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    monkeypatch.setattr("sys.argv", ["bedside", *arguments])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    return int(ended.value.code or 0)


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two run folders: `two` with two examiners, `one` with one."""
    folder = tmp_path_factory.mktemp("played")
    with pytest.MonkeyPatch.context() as patch:
        assert call(patch, *RUN, "--out", str(folder / "two"), "--examiner", "hasty", "--examiner", "checklist") == 0
        assert call(patch, *RUN, "--out", str(folder / "one"), "--examiner", "infogain-fast") == 0
    return folder


@pytest.fixture
def bedside(played: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    monkeypatch.chdir(tmp_path)
    for name in ("one", "two"):
        shutil.copytree(played / name, name)

    def run(*arguments: str) -> tuple[int, str, str]:
        capsys.readouterr()
        code = call(monkeypatch, *arguments)
        printed = capsys.readouterr()
        assert "Traceback" not in printed.err
        return code, printed.out, printed.err

    return run


def test_two_runs_are_compared(bedside: Any) -> None:
    pytest.importorskip("scipy")
    code, out, err = bedside("compare", "two", "one", "--examiner-a", "hasty")
    assert code == 0 and "A = hasty, B = infogain-fast; 6 cases that both met" in out
    assert "McNemar, exact" in out and "p corrected by Holm" in out and "by group" in out
    assert "fewer than 20 cases" in err
    code, text, _ = bedside("compare", "two", "one", "--examiner-a", "hasty", "--json")
    raw = json.loads(text)
    ses = next(item for item in raw["confirmatory"] if item["metric"] == "ses")
    assert ses["first"] == 0 and ses["difference"] == -ses["second"] and ses["n"] == 6
    assert {item["stratum"] for item in raw["strata"]} >= {"sex", "frequency"}
    assert bedside("compare", "two", "one", "--examiner-a", "hasty", "--json")[1] == text


def test_examiners_of_one_run_are_compared_by_chosen_metrics_and_strata(bedside: Any) -> None:
    pytest.importorskip("scipy")
    options = ["--examiner-a", "checklist", "--examiner-b", "hasty", "--metric", "ndcg", "--by", "sex", "--all"]
    code, out, _ = bedside("compare", "two", "two", *options)
    assert code == 0 and "all other metrics, exploratory" in out and "frequency" not in out
    raw = json.loads(bedside("compare", "two", "two", *options, "--json")[1])
    assert [item["metric"] for item in raw["confirmatory"]] == ["ndcg"]
    assert {item["stratum"] for item in raw["strata"]} == {"sex"}


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["compare", "gone", "one"], ["gone: no such file or folder"]),
        (["compare", "two", "one"], ["two: holds several examiners: checklist, hasty", "name one with --examiner-a"]),
        (["compare", "one", "two"], ["name one with --examiner-b"]),
        (["compare", "one", "two", "--examiner-b", "nobody"], ["no encounter of the examiner 'nobody'", "--examiner-b"]),
        (["compare", "one", "one"], ["both sides hold the same encounter trace-"]),
        (["compare", "two", "one", "--examiner-a", "hasty", "--metric", "beauty"], ["--metric: no score 'beauty'", "acc_truth"]),
        (["compare", "two", "one", "--examiner-a", "hasty", "--by", "hair"], ["--by: no stratum 'hair'", "acuity"]),
        (["compare", "one"], ["Missing argument 'B'"]),
        (["sensitivity", "gone"], ["gone: no such file or folder"]),
        (["sensitivity", "one", "--vary", "tau"], ["--vary: 'tau' is not NAME=VALUE,VALUE"]),
        (["sensitivity", "one", "--vary", "tau=2"], ["not a valid value of tau"]),
        (["sensitivity", "one", "--vary", "tauu=1"], ["unknown score parameter 'tauu'"]),
        (["sensitivity", "one", "--params", "gone.toml"], ["gone.toml: cannot be read"]),
    ],
)
def test_mistakes_are_one_line(bedside: Any, arguments: list[str], words: list[str]) -> None:
    code, out, err = bedside(*arguments)
    assert code == 2 and out == "" and err.startswith("bedside: ") and err.count("\n") == 1
    for word in words:
        assert word in err


def test_a_wrong_trace_does_not_stop_a_comparison(bedside: Any) -> None:
    pytest.importorskip("scipy")
    path = Path("two/traces.jsonl")
    text = path.read_text().splitlines()
    path.write_text("\n".join(["{broken", *text[1:]]) + "\n")
    code, out, err = bedside("compare", "two", "one", "--examiner-a", "hasty")
    assert code == 4 and "A = hasty" in out and "two/traces.jsonl:1" in err and "(not a trace 1)" in err
    code, out, err = bedside("sensitivity", "two", "--vary", "beta=2")
    assert code == 4 and "11 traces" in out and "two/traces.jsonl:1" in err


def test_ranks_under_other_parameters(bedside: Any) -> None:
    code, out, _ = bedside("sensitivity", "two", "--vary", "tau=0.3,0.9", "--vary", "precision=answered", "--json")
    raw = json.loads(out)
    assert code == 0 and raw["profiles"] == "ddxplus" and raw["n_traces"] == 12
    assert {(item["parameter"], item["value"]) for item in raw["settings"]} == {("tau", 0.3), ("tau", 0.9), ("precision", "answered")}
    assert {item["metric"] for item in raw["settings"] if item["parameter"] == "tau"} == {"reliability", "reliability_graded"}
    assert all(item["is_reference"] == (item["value"] == 0.3) for item in raw["settings"])
    code, out, _ = bedside("sensitivity", "two", "--vary", "tau=0.3", "--all")
    assert code == 0 and "tau = 0.3 †" in out
    assert "no rank changes; all settings: --all" in bedside("sensitivity", "two", "--vary", "tau=0.3")[1]
