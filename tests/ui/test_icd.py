"""`bedside icd`: what each command prints, for people and for machines."""

from __future__ import annotations

import json
import sys
from typing import Any

import pytest

from ui import cli


def _run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, *arguments: str) -> tuple[int, str, str]:
    monkeypatch.setattr(sys, "argv", ["bedside", "icd", *arguments])
    capsys.readouterr()
    with pytest.raises(SystemExit) as end:
        cli.main()
    out, err = capsys.readouterr()
    return int(end.value.code or 0), out, err


@pytest.fixture
def icd(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Any:
    """Runs a command of the group: (exit code, output, errors)."""
    return lambda *arguments: _run(capsys, monkeypatch, *arguments)


def test_show(icd: Any) -> None:
    """The ancestors, the steps of reading, and the children."""
    code, out, _ = icd("show", "i2102")
    assert code == 0
    assert "I20-I25  Ischemic heart diseases" in out and "dot inserted" in out
    shown = json.loads(icd("show", "I21", "--json")[1])
    assert (shown["level"], shown["leaf"]) == ("category", False)
    assert [one["code"] for one in shown["ancestors"]] == ["9", "I20-I25"]
    assert "I21.0" in [one["code"] for one in shown["children"]]


def test_show_takes_no_names(icd: Any) -> None:
    """One line that says what to do."""
    code, out, err = icd("show", "pneumonia")
    assert (code, out) == (2, "")
    assert "icd search" in err and err.count("\n") == 1


def test_search(icd: Any) -> None:
    """The best hit first, with the way it was found; nothing like it is no mistake."""
    hits = json.loads(icd("search", "heart attack", "--limit", "3", "--json")[1])
    assert (hits[0]["code"], hits[0]["path"]) == ("I21", "synonym")
    assert len(hits) <= 3
    assert "I21" in icd("search", "heart attack")[1]
    assert icd("search", "xyzzy") == (0, "no name is like 'xyzzy'\n", "")


def test_normalise(icd: Any) -> None:
    """The codes, the path and the steps; unresolved is exit code 1, with what it may mean."""
    code, out, _ = icd("normalise", "possible astma")
    assert code == 0
    assert out.splitlines()[:2] == ["J45  Asthma", "by: lexical:0.91"]
    assert "hedge set aside: possible" in out
    code, out, _ = icd("normalise", "asthma or COPD", "--json")
    read = json.loads(out)
    assert (code, read["codes"], read["path"]) == (1, [], "none")
    assert [one["code"] for one in read["candidates"]] == ["J45", "J44"]


def test_distance(icd: Any) -> None:
    """metrics.md 3.4: names and codes alike; unresolved is as far as can be."""
    measured = json.loads(icd("distance", "I20.0", "i21.02", "--json")[1])
    assert measured["relation"] == "same_block"
    assert round(measured["sdd"], 4) == 0.5556
    assert measured["overlap"] == {"shared": 2, "extra": 2, "missed": 3}
    out = icd("distance", "gibberish", "I21")[1]
    assert "unresolved" in out and "1.0000" in out
    assert "relation: under specified" in icd("distance", "heart attack", "I21.02")[1]
