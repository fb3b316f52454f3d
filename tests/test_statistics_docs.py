"""The examples of docs/statistics.md, executed."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from ui.cli import app

PAGE = Path(__file__).parents[1] / "docs" / "statistics.md"


def test_python_examples() -> None:
    """Every line after >>> gives what is shown."""
    failed, tried = doctest.testfile(str(PAGE), module_relative=False, encoding="utf-8")
    assert tried > 30
    assert failed == 0


def test_commands_print_what_is_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`cat FILE` shows what the file holds; `bedside …` what it prints."""
    monkeypatch.chdir(tmp_path)
    ran = 0
    for command, shown in re.findall(r"^    \$ (.+)\n((?:    .*\n)+)", PAGE.read_text(encoding="utf-8"), re.MULTILINE):
        lines = [line[4:].rstrip() for line in shown.splitlines()]
        program, *arguments = command.split()
        if program == "cat":
            Path(arguments[0]).write_text("\n".join(lines) + "\n", encoding="utf-8")
            continue
        result = CliRunner().invoke(app, arguments, catch_exceptions=False)
        assert [line.rstrip() for line in result.stdout.splitlines()] == lines, command
        ran += 1
    assert ran == 2
