"""`bedside ask`: the patient as a function of the words put to it."""

from __future__ import annotations

import json
import sys
from typing import Any

import pytest
from typer.testing import CliRunner

from ui import cli
from ui.cli import app


def asked(*questions: str, case: str = "1") -> list[dict[str, Any]]:
    result = CliRunner().invoke(app, ["ask", case, *questions, "--json"])
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    assert isinstance(found, list)
    return found


def test_each_question_is_a_turn_of_one_dialogue() -> None:
    """What was understood, who answers, on which fact, in which words; "it" is what was spoken of."""
    first, second = asked("Do you have a headache?", "How long have you had it?")
    assert [(a["name"], a["attribute"]) for a in first["asked"]] == [("Headache", None)]
    assert [a["attribute"] for a in second["asked"]] == ["duration"]
    for turn in (first, second):
        (reply,) = turn["replies"]
        assert reply["speaker"] == "patient" and reply["text"] and reply["utterance_ids"]
        assert turn["not_understood"] == []


def test_the_record_answers_an_order() -> None:
    """0b D6."""
    (turn,) = asked("Please check the blood pressure.")
    assert [reply["speaker"] for reply in turn["replies"]] == ["record"]


def test_what_is_not_understood_is_said() -> None:
    """No finding is guessed."""
    (turn,) = asked("Do you wubble?")
    assert turn["not_understood"] == ["Do you wubble?"] and turn["asked"] == []
    assert turn["replies"][0]["facts"] == []


def test_equal_seeds_give_equal_words() -> None:
    """And the same facts under every seed."""
    assert asked("Any fever?") == asked("Any fever?")


@pytest.mark.parametrize(("arguments", "said"), [(["nobody", "Any fever?"], "nobody"), (["1", " "], "question 1")])
def test_a_mistake_is_one_line(
    arguments: list[str], said: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Exit code 2."""
    monkeypatch.setattr(sys, "argv", ["bedside", "ask", *arguments])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    printed = capsys.readouterr().err
    assert ended.value.code == 2 and said in printed and printed.count("\n") == 1
