"""`bedside annotate`: turns in, one result a line out."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from ui import cli
from ui.cli import app

RUN = CliRunner()


def lines(*arguments: str, given: str | None = None) -> list[dict[str, object]]:
    result = RUN.invoke(app, ["annotate", *arguments, "--json", "--no-cache", "--quiet"], input=given)
    assert result.exit_code == 0, result.output
    return [json.loads(line) for line in result.stdout.splitlines()]


def test_one_result_a_line_in_order(tmp_path: Path) -> None:
    """A blank line has an empty result, so that lines correspond."""
    file = tmp_path / "turns.txt"
    file.write_text("Any chest pain?\n\nYou have a cough.\n", encoding="utf-8")
    found = lines(str(file))
    assert [row["text"] for row in found] == ["Any chest pain?", "", "You have a cough."]
    assert found[1]["mentions"] == []
    (mention,) = found[0]["mentions"]  # type: ignore[misc]
    assert {key: mention[key] for key in ("start", "end", "surface", "cui", "name", "role", "attribute")} == {
        "start": 4, "end": 14, "surface": "chest pain", "cui": "C0008031", "name": "Chest pain", "role": "asked", "attribute": None,
    }  # fmt: skip


def test_earlier_turns_say_what_it_means() -> None:
    """JSON lines with `previous`, from standard input."""
    given = json.dumps({"text": "When did it start?", "previous": ["Do you have a rash?", "Yes."]}) + "\n"
    (found,) = lines("-", given=given)
    (mention,) = found["mentions"]  # type: ignore[misc]
    assert (mention["name"], mention["attribute"]) == ("Skin rash", "onset")


def test_a_patient_answers_the_question_before() -> None:
    """Affirmed, denied, unsure, volunteered, and linked."""
    given = json.dumps({"text": "No, but I have a cough.", "previous": ["Any fever?"]}) + "\n"
    (found,) = lines("-", "--role", "patient", given=given)
    assert {(m["name"], m["role"]) for m in found["mentions"]} == {("Fever", "denied"), ("Cough", "volunteered")}  # type: ignore[attr-defined]


def test_the_usual_scheme_of_attributes() -> None:
    """A finer detail of ours comes with the usual one."""
    (found,) = lines("-", given="What colour is the rash?\n")
    (mention,) = found["mentions"]  # type: ignore[misc]
    assert (mention["attribute"], mention["detail"]) == ("character", "color")


@pytest.mark.parametrize(
    ("arguments", "content", "said"),
    [
        (["nowhere.txt"], "", "nowhere.txt"),
        (["turns.txt", "--role", "nurse"], "Hello\n", "nurse"),
        (["turns.txt", "--format", "jsonl"], '{"text": "Any fever?"}\n{"text": \n', "turns.txt:2"),
        (["turns.txt", "--format", "jsonl"], '{"words": "Any fever?"}\n', "text"),
    ],
)
def test_a_mistake_is_one_line_and_exit_2(
    arguments: list[str], content: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """What, where, how to mend; no traceback."""
    (tmp_path / "turns.txt").write_text(content, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["bedside", "annotate", *arguments, "--json", "--no-cache", "--quiet"])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    printed = capsys.readouterr().err
    assert ended.value.code == 2
    assert said in printed and printed.startswith("bedside: ") and printed.count("\n") == 1
