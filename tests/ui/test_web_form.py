"""The commit form: what is typed becomes the answer that was shown, or a sentence on what is missing."""

from __future__ import annotations

import pytest

from metrics.diagnosis import resolve_answer, synonyms
from ontology import icd10
from simulator.trace import FinalAnswer
from ui.web.diagnoses import DiagnosisReader
from ui.web.form import MAX_LINE, MAX_LINES, ROWS, CommitForm
from ui.wiring import Bookshelf, bundled_cases

CASES = bundled_cases()
SHELF = Bookshelf()


@pytest.fixture(scope="module")
def reader() -> DiagnosisReader:
    return DiagnosisReader(CASES, {id(known): known for known in map(SHELF.knowledge, CASES)}.values())


def form(*names: str, probs: tuple[float | None, ...] = (), **more: object) -> CommitForm:
    padded = [*names, *[""] * (ROWS - len(names))]
    return CommitForm(padded, [*probs, *[None] * (ROWS - len(probs))], **more)  # type: ignore[arg-type]


def test_names_and_codes_are_recorded_with_the_code_that_was_shown(reader: DiagnosisReader) -> None:
    answer = form("Giant cell arteritis", "", "g43.9", probs=(70, None, 20), triage=2).answer(reader)
    assert isinstance(answer, FinalAnswer)
    assert [(item.name, item.icd10, item.prob) for item in answer.ranked] == [
        ("Giant cell arteritis", "M31.6", 0.7),
        ("Migraine, unspecified", "G43.9", 0.2),
    ]
    assert answer.triage_level == 2


def test_lists_are_one_entry_a_line_without_blank_ones(reader: DiagnosisReader) -> None:
    long = "\n".join(["x" * 9999] * 99)
    answer = form("Migraine", tests=" ESR \n\n CRP\r\n", treatments="", advice=long, change_mind=" a\n b ").answer(reader)
    assert isinstance(answer, FinalAnswer)
    assert answer.tests == ["ESR", "CRP"]
    assert answer.treatments == []
    assert answer.advice == ["x" * MAX_LINE] * MAX_LINES
    assert answer.change_mind == "a b"


@pytest.mark.parametrize(
    ("filled", "problem"),
    [
        (form(), "Name at least one diagnosis."),
        (form("  \u200b "), "Name at least one diagnosis."),
        (form("Migraine", probs=(101,)), "between 0 and 100"),
        (form("Migraine", probs=(-1,)), "between 0 and 100"),
        (form("Migraine", "Croup", probs=(60, 50)), "add up to 110 %"),
        (form("Migraine", "migraine"), "twice"),
        (form("Giant cell arteritis", "M31.6"), "twice"),
        (form("something", "Something"), "twice"),
    ],
)
def test_what_is_missing_or_cannot_be_is_said(reader: DiagnosisReader, filled: CommitForm, problem: str) -> None:
    answer = filled.answer(reader)
    assert isinstance(answer, str) and problem in answer


def test_rounded_probabilities_may_add_up_to_a_little_more(reader: DiagnosisReader) -> None:
    assert isinstance(form("Migraine", "Croup", "Influenza", probs=(33.4, 33.4, 33.4)).answer(reader), FinalAnswer)


@pytest.mark.parametrize(
    "typed",
    [
        "Giant cell arteritis",
        "temporal arteritis",
        "M31.6",
        "m316",
        "GCA (M31.6)",
        "J17, J18",
        "K21.9, J45",
        "heart attack",
        "the vapours",
        "S22.9XXA",
    ],
)
def test_what_the_page_reads_is_what_is_scored_on_every_case(reader: DiagnosisReader, typed: str) -> None:
    shown = reader.read(typed)
    for case in CASES:
        known = synonyms(case, SHELF.knowledge(case))
        scored = resolve_answer(shown.ranked(None), known, icd10)
        assert scored.codes == shown.codes or not shown.recognised


def test_an_unknown_name_is_called_unknown(reader: DiagnosisReader) -> None:
    reading = reader.read("the vapours")
    assert not reading.recognised and "Not recognised" in reading.line()
    assert reading.ranked(0.5).icd10 is None


def test_several_codes_are_read_as_the_first_with_a_warning(reader: DiagnosisReader) -> None:
    reading = reader.read("K21.9, J45")
    assert reading.codes == ("K21.9",) and "Only the first" in reading.line()


def test_names_are_suggested_by_words_and_by_codes(reader: DiagnosisReader) -> None:
    assert reader.suggest("giant cell art")[0].code == "M31.6"
    assert "I26" in {item.code for item in reader.suggest("pulm emb")}
    assert [item.code for item in reader.suggest("m31.")] == [f"M31.{digit}" for digit in range(8)]
    assert reader.suggest("g") == [] and reader.suggest("") == []
    assert reader.suggest("xyzzy") == []
    assert len(reader.suggest("pneumonia")) == 8


def test_the_names_that_only_the_cases_know_are_never_suggested(reader: DiagnosisReader) -> None:
    assert reader.read("Horton disease").recognised
    assert reader.suggest("horton") == DiagnosisReader([], {id(k): k for k in map(SHELF.knowledge, CASES)}.values()).suggest("horton")
