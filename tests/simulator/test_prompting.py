"""The prompts: rendered text against golden files, and their hashes.

After a deliberate change of a prompt, write the golden files again: `BEDSIDE_WRITE_GOLDEN=1 pytest tests/simulator/test_prompting.py`.
"""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

import jinja2
import pytest

from ontology.errors import BedsideError
from ontology.resources import bundled_text
from simulator.examiners.judging import TURN_LINE
from simulator.examiners.model import MAX_DIAGNOSES, PROMPTS, REASKS, answer_schema
from simulator.prompting import prompt_sha256, render

GOLDEN = Path(__file__).parent / "golden_prompts"
WOMAN = {"age": 74, "sex": "F", "setting": "emergency department", "language": "en", "caregiver": False, "max_diagnoses": MAX_DIAGNOSES}
CHILD = {**WOMAN, "age": 1, "sex": "M", "setting": None, "language": "de", "caregiver": True}
UNKNOWN = {**WOMAN, "age": 0, "sex": "unknown", "setting": None, "caregiver": True}

RENDERED: list[tuple[str, str, dict[str, Any]]] = [
    ("system_woman", "examiner_system", WOMAN),
    ("system_child", "examiner_system", CHILD),
    ("system_unknown", "examiner_system", UNKNOWN),
    ("turn_many", "examiner_turn", {"turns_left": 12}),
    ("turn_last", "examiner_turn", {"turns_left": 1}),
    ("final", "examiner_final", {"max_diagnoses": MAX_DIAGNOSES}),
    *(
        (f"reask_{kind}", "examiner_reask", {"kind": kind, "detail": "the list is empty", "must_commit": kind == "no_commit"})
        for kind in REASKS
    ),
]


@pytest.mark.parametrize(("golden", "name", "values"), RENDERED, ids=[golden for golden, _, _ in RENDERED])
def test_a_rendered_prompt_is_its_golden_file(golden: str, name: str, values: dict[str, Any]) -> None:
    path = GOLDEN / f"{golden}.txt"
    text = render(name, **values)
    if os.environ.get("BEDSIDE_WRITE_GOLDEN"):
        path.write_text(text + "\n", encoding="utf-8")
    assert text + "\n" == path.read_text(encoding="utf-8")


@pytest.mark.parametrize(("golden", "name", "values"), RENDERED, ids=[golden for golden, _, _ in RENDERED])
def test_a_rendered_prompt_reads_well(golden: str, name: str, values: dict[str, Any]) -> None:
    text = render(name, **values)
    assert not re.search(r"[.?!:;,][A-Z]", text), "sentences run together"
    assert not re.search(r"[ \t]{2}|[ \t]\n|\n{3}", text), "double blanks or loose ends"
    assert not re.search(r" [,.;:]", text)
    assert "{{" not in text
    assert "{%" not in text
    assert "None" not in text
    assert text == text.strip()


def test_every_prompt_file_is_rendered_here() -> None:
    assert {name for _, name, _ in RENDERED} | {"examiner_answer"} == set(PROMPTS)


def test_a_missing_variable_is_an_error() -> None:
    with pytest.raises(jinja2.UndefinedError):
        render("examiner_turn")
    with pytest.raises(jinja2.UndefinedError):
        render("examiner_system", **{name: value for name, value in WOMAN.items() if name != "sex"})


def test_an_unknown_prompt_is_an_error() -> None:
    with pytest.raises(BedsideError, match=r"prompts/examiner_poem\.j2"):
        render("examiner_poem")


def test_values_are_put_in_as_they_are() -> None:
    text = render("examiner_system", **{**WOMAN, "setting": "{{ age }} <b> & 'x'"})
    assert "seen here: {{ age }} <b> & 'x'." in text


def test_the_form_shown_is_the_form_that_is_asked_for() -> None:
    shown = next(line for line in render("examiner_final", max_diagnoses=MAX_DIAGNOSES).splitlines() if line.startswith("{"))
    form, schema = json.loads(shown), answer_schema()
    assert list(form) == list(schema["properties"]) == schema["required"]
    assert list(form["diagnoses"][0]) == list(schema["properties"]["diagnoses"]["items"]["properties"])


def test_the_line_of_turns_left_is_known_to_the_reader_of_messages() -> None:
    for text in (
        render("examiner_turn", turns_left=12),
        render("examiner_turn", turns_left=1),
        render("examiner_final", max_diagnoses=5).splitlines()[0],
    ):
        assert TURN_LINE.fullmatch(text)


def test_the_hash_is_that_of_the_files() -> None:
    one = prompt_sha256("examiner_turn")
    assert re.fullmatch(r"[0-9a-f]{64}", one)
    assert one != prompt_sha256("examiner_final")
    assert prompt_sha256(*PROMPTS) == prompt_sha256(*reversed(PROMPTS))
    assert len({prompt_sha256(*PROMPTS), prompt_sha256(*PROMPTS[1:]), one}) == 3


def test_a_change_in_any_prompt_changes_the_hash(monkeypatch: pytest.MonkeyPatch) -> None:
    before = prompt_sha256(*PROMPTS)
    for changed in PROMPTS:

        def altered(path: str, package: str, changed: str = changed) -> str:
            return bundled_text(path, package) + ("\nBe kind." if path == f"{changed}.j2" else "")

        monkeypatch.setattr("simulator.prompting.bundled_text", altered)
        assert prompt_sha256(*PROMPTS) != before
