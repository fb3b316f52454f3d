"""Stored documents and the one family of errors: every problem is one line that says where and what to do."""

from __future__ import annotations

from typing import ClassVar, Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import Field

from ontology.documents import Document, content_hash
from ontology.errors import BedsideError


class Note(Document):
    """A document for these tests."""

    versions: ClassVar[tuple[str, ...]] = ("1.0", "1.1")
    schema_version: Literal["1.0", "1.1"] = "1.0"
    text: str
    sizes: list[int] = Field(default_factory=list)


def test_a_few_problems_are_all_told() -> None:
    """Three, and no word of any more."""
    with pytest.raises(BedsideError) as caught:
        Note.from_json('{"schema_version":"1.0","text":"a","sizes":["b","c","d"]}')
    assert str(caught.value).count("sizes.") == 3
    assert "more" not in str(caught.value)


def test_a_document_comes_back_from_its_json() -> None:
    """One line, in declared order, with non-ASCII kept."""
    note = Note(text="naïve 🤒", sizes=[1])
    assert note.to_json() == '{"schema_version":"1.0","text":"naïve 🤒","sizes":[1]}'
    assert Note.from_json(note.to_json()) == note
    assert Note.from_json(note.to_json().encode()) == note


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("{", "not valid JSON"),
        ("", "not valid JSON"),
        ("[" * 100_000, "not valid JSON"),
        ("null", "must be a JSON object, not NoneType"),
        ("[]", "must be a JSON object, not list"),
        ('{"text":"a"}', "schema_version None of this Note is not known here (known: 1.0, 1.1)"),
        ('{"schema_version":"2.0","text":"a"}', "schema_version '2.0'"),
        ('{"schema_version":"1.0"}', "text: Field required"),
        ('{"schema_version":"1.0","text":"a","more":1}', "more: Extra inputs are not permitted"),
        ('{"schema_version":"1.0","text":"a","sizes":["b","c","d","e","f"]}', "and 2 more"),
    ],
)
def test_what_is_wrong_is_one_line(text: str, problem: str) -> None:
    """With the place; never a traceback of ours."""
    with pytest.raises(BedsideError) as caught:
        Note.from_json(text, "notes.jsonl:7")
    line = str(caught.value)
    assert line.startswith("notes.jsonl:7: ")
    assert problem in line
    assert "\n" not in line


@pytest.mark.parametrize(
    ("what", "where", "mend", "line"),
    [
        ("it broke", None, None, "it broke"),
        ("it broke", "a.json", None, "a.json: it broke"),
        ("it broke", None, "mend it", "it broke; mend it"),
        ("it\nbroke  twice", "a.json", "mend\tit", "a.json: it broke twice; mend it"),
    ],
)
def test_errors_are_one_line(what: str, where: str | None, mend: str | None, line: str) -> None:
    """where: what; mend."""
    error = BedsideError(what, where, mend)
    assert str(error) == error.line() == line
    assert (error.what, error.where, error.mend) == (what, where, mend)


def test_hashes_follow_content_and_not_order() -> None:
    """Of keys; the order of a list is content."""
    assert content_hash({"a": 1, "b": [1, 2]}) == content_hash({"b": [1, 2], "a": 1})
    assert content_hash([1, 2]) != content_hash([2, 1])
    assert Note(text="a").sha256() != Note(text="b").sha256()
    assert len(Note(text="a").sha256()) == 64
    assert content_hash("a") == "ac8d8342bbb2362d13f0a559a3621bb407011368895164b628a54f7fc33fc43c"


@settings(max_examples=100, deadline=None, derandomize=True)
@given(st.text(alphabet=st.characters(codec="utf-8"), max_size=60), st.lists(st.integers(), max_size=4))
def test_any_document_survives_the_round(text: str, sizes: list[int]) -> None:
    """And keeps its hash."""
    note = Note(text=text, sizes=sizes)
    assert Note.from_json(note.to_json()).sha256() == note.sha256()
