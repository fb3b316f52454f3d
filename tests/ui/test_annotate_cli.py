"""`bedside annotate`: turns in, one result a line out."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

import ontology
from ui import cli
from ui.cli import app

ROOT = Path(ontology.__file__).parents[1]
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


def test_lines_correspond_whatever_they_hold(tmp_path: Path) -> None:
    """Only a line feed ends a line; byte order mark and carriage return are no part of it."""
    file = tmp_path / "turns.txt"
    file.write_bytes("\ufeffAny fever?\r\n\r\n \t\nAny\u2028cough?\x0b\x00\nAny pain?".encode())
    found = lines(str(file))
    assert [(row["line"], row["text"]) for row in found] == [
        (1, "Any fever?"), (2, ""), (3, " \t"), (4, "Any\u2028cough?\x0b\x00"), (5, "Any pain?"),
    ]  # fmt: skip
    assert [len(row["mentions"]) for row in found] == [1, 0, 0, 1, 1]  # type: ignore[arg-type]
    assert lines(str(tmp_path / "turns.txt"), "--format", "text") == found
    assert lines("-", given="") == []


def test_a_line_can_carry_its_role_its_id_and_whose_turn_was_which(tmp_path: Path) -> None:
    """Strings in `previous` alternate, the last one being the other side's; objects say it themselves."""
    previous = [{"role": "patient", "text": "I have a rash."}, {"role": "examiner", "text": "Any fever?"}]
    given = [
        {"id": "a", "text": "No.", "role": "patient", "previous": previous},
        {"id": 7, "text": "Where is it?", "previous": [*previous, "No."]},
        {"text": "Does your daughter have a fever?", "for_child": True},
    ]
    first, second, third = lines("-", given="".join(json.dumps(row) + "\n" for row in given))
    assert (first["id"], second["id"], "id" in third) == ("a", 7, False)
    (denied,) = first["mentions"]  # type: ignore[misc]
    assert (denied["name"], denied["role"], denied["links_to"]) == ("Fever", "denied", "t1m0")
    (where,) = second["mentions"]  # type: ignore[misc]
    assert (where["name"], where["attribute"]) == ("Skin rash", "location")
    assert [m["experiencer"] for m in third["mentions"]] == ["patient"]  # type: ignore[attr-defined]


def test_a_table_for_people() -> None:
    """The turn, its acts, and under each act what is meant."""
    result = RUN.invoke(app, ["annotate", "-", "--no-cache"], input="Any fever?\n\nDoes your mother have asthma?\n")
    shown = result.stdout.splitlines()
    assert shown[:3] == ["   1  Any fever?", "      ask", "        ◇ fever = Fever (C0015967; asked)"]
    assert shown[3] == "   2  " and "asthma = Asthma (C0004096; asked, historical, family)" in shown[6]


def started(tmp_path: Path, *arguments: str, **more: object) -> subprocess.Popen[bytes]:
    env = {**os.environ, "PYTHONPATH": str(ROOT), "BEDSIDE_CACHE_DIR": str(tmp_path / "cache")}
    command = [sys.executable, "-m", "ui.cli", "annotate", *arguments]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.Popen(command, env=env, cwd=tmp_path, start_new_session=True, **{**pipes, **more})  # type: ignore[call-overload,no-any-return]


def test_of_a_file_all_lines_are_checked_first_and_of_a_stream_whole_lines_are_written(tmp_path: Path) -> None:
    """Never a result that belongs to no line, never half a one."""
    content = b'{"text": "Any fever?"}\n{"text": 3}\n{"text": "Any cough?"}\n'
    (tmp_path / "turns.jsonl").write_bytes(content)
    out, errors = started(tmp_path, "turns.jsonl", "--json").communicate()
    assert out == b"" and errors.startswith(b"bedside: turns.jsonl:2: not a turn: text:") and errors.count(b"\n") == 1
    process = started(tmp_path, "-", "--json")
    out, errors = process.communicate(content)
    assert [json.loads(line)["line"] for line in out.splitlines()] == [1]
    assert process.returncode == 2 and errors.startswith(b"bedside: standard input:2: not a turn")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"Any fever?\n\xff\n", b"turns:2: not UTF-8 (byte 1 of the line)"),
        (b'{"text": "a"}\n[1]\n', b"turns:2: a line must be a JSON object with text, not list"),
        (b'{"text": "a", "previos": []}\n', b"turns:1: not a turn: previos: Extra inputs are not permitted; known fields: text, previous"),
        (b'{"text": "a", "previous": [{"role": "nurse", "text": ""}]}\n', b"turns:1: not a turn"),
        (b'{"text": "half \\ud83d"}\n', b"turns:1: not a turn: text"),
    ],
)
def test_every_broken_line_is_named(content: bytes, said: bytes, tmp_path: Path) -> None:
    """With its number, what is wrong, and nothing written."""
    (tmp_path / "turns").write_bytes(content)
    process = started(tmp_path, "turns", "--json")
    out, errors = process.communicate()
    assert (process.returncode, out) == (2, b"") and said in errors and errors.count(b"\n") == 1


def test_several_processes_write_the_same(tmp_path: Path) -> None:
    """And the cache makes no difference, nor does a cache that cannot be written, which is said once."""
    (tmp_path / "turns.txt").write_text("".join(f"Any pain in the last {n} days?\n\n" for n in range(100)), encoding="utf-8")
    plain = started(tmp_path, "turns.txt", "--json", "--no-cache").communicate()
    assert len(plain[0].splitlines()) == 200 and not (tmp_path / "cache" / "annotations-1.sqlite").exists()
    for _ in range(2):
        assert started(tmp_path, "turns.txt", "--json", "--workers", "2").communicate() == plain
    (tmp_path / "cache" / "annotations-1.sqlite").write_bytes(b"no database" * 100)
    out, errors = started(tmp_path, "turns.txt", "--json").communicate()
    assert out == plain[0] and errors.startswith(b"annotations are not cached: ") and errors.count(b"\n") == 1


@pytest.mark.parametrize("workers", ["1", "2"])
def test_a_reader_that_leaves_and_an_interrupt_are_quiet(workers: str, tmp_path: Path) -> None:
    """No traceback from any process, and none is left behind: the pipe of standard error ends only with the last of them."""
    (tmp_path / "turns.txt").write_text("".join(f"Any pain in the last {n} days?\n" for n in range(20_000)), encoding="utf-8")
    leaving = started(tmp_path, "turns.txt", "--no-cache", "--quiet", "--workers", workers)
    assert leaving.stdout is not None and leaving.stderr is not None
    leaving.stdout.readline()
    leaving.stdout.close()
    assert leaving.stderr.read() == b"" and leaving.wait() != 0
    interrupted = started(tmp_path, "turns.txt", "--no-cache", "--quiet", "--workers", workers)
    assert interrupted.stdout is not None and interrupted.stderr is not None
    interrupted.stdout.readline()
    os.killpg(interrupted.pid, signal.SIGINT)
    interrupted.stdout.read()
    assert interrupted.stderr.read() in (b"", b"bedside: interrupted\n") and interrupted.wait() == 130


def test_a_turn_is_answered_as_soon_as_it_is_given(tmp_path: Path) -> None:
    """Another program can ask line by line."""
    process = started(tmp_path, "-", "--json", "--no-cache")
    assert process.stdin is not None and process.stdout is not None
    for text in (b"Any fever?\n", b"\n", b"Any cough?\n"):
        process.stdin.write(text)
        process.stdin.flush()
        assert json.loads(process.stdout.readline())["text"] == text.decode().strip()
    process.communicate()


def test_the_documentation_shows_what_is_printed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The example of docs/design/annotator.md, executed."""
    page = (ROOT / "docs" / "design" / "annotator.md").read_text(encoding="utf-8")
    block = page.split("    $ bedside annotate turns.txt\n")[1].split("\n\n")[0]
    shown = [line[4:] for line in block.splitlines()]
    (tmp_path / "turns.txt").write_text(shown[0].strip().removeprefix("1").strip() + "\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert RUN.invoke(app, ["annotate", "turns.txt", "--no-cache"]).stdout.splitlines() == shown
