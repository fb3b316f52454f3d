"""Cases as files: what is read, how mistakes are named, and that writing is atomic and reproducible."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from ontology.concepts import ConceptRef
from ontology.errors import BedsideError
from simulator.case import CasePresentation, Diagnosis, Fact, GroundTruth, PatientFacts, PatientVector, Provenance
from simulator.cases_io import read_cases, scan_cases, write_cases


def make_case(number: int = 1, opening: str = "My head hurts.") -> PatientVector:
    return PatientVector(
        case_id=f"case-{number:012x}",
        provenance=Provenance(
            source="test",
            source_id=str(number),
            source_version="1",
            license="Apache-2.0",
            redistributable=True,
            world_assumption="closed",
            icd_release="2026",
            pipeline_version="1",
        ),
        ground_truth=GroundTruth(
            disease_id="migraine", primary=Diagnosis(name="Migraine", icd10=["G43.909"]), acuity=4, acuity_scale="curated"
        ),
        patient_facts=PatientFacts(
            age=40,
            sex="F",
            facts=[Fact(fact_id="f1", concept=ConceptRef(cui="C0018681", name="Headache"), kind="symptom", status="present")],
        ),
        presentation=CasePresentation(chief_complaint=["f1"], opening_text=opening),
    )


CASES = [
    make_case(n, text) for n, text in enumerate(["My head hurts.", "J'ai mal à la tête\u2028vraiment", "頭が痛い 🤕", 'He said "ow".'])
]


def error_of(path: Path) -> BedsideError:
    with pytest.raises(BedsideError) as caught:
        list(read_cases(path))
    assert "\n" not in caught.value.line()
    return caught.value


@pytest.mark.parametrize("name", ["cases.jsonl", "cases.jsonl.gz", "made/on/the/way/cases.jsonl.gz"])
def test_what_is_written_is_read_back(tmp_path: Path, name: str) -> None:
    assert write_cases(tmp_path / name, iter(CASES)) == 4
    assert list(read_cases(tmp_path / name)) == CASES
    assert [place for place, _ in scan_cases(tmp_path / name)] == [f"{tmp_path / name}:{n}" for n in (1, 2, 3, 4)]


@pytest.mark.parametrize("indent", [None, 2])
def test_a_single_document_is_one_case(tmp_path: Path, indent: int | None) -> None:
    file = tmp_path / "case.json"
    file.write_text(CASES[2].model_dump_json(indent=indent), encoding="utf-8")
    assert list(read_cases(file)) == [CASES[2]]


def test_a_folder_is_read_in_the_order_of_names_without_hidden_and_other_files(tmp_path: Path) -> None:
    for name, case in (("b.json", CASES[1]), ("a.json", CASES[0])):
        (tmp_path / name).write_text(case.model_dump_json(indent=2), encoding="utf-8")
    write_cases(tmp_path / "c.jsonl.gz", CASES[2:])
    (tmp_path / ".d.json").write_text("x", encoding="utf-8")
    (tmp_path / "README.md").write_text("x", encoding="utf-8")
    (tmp_path / "sub.json").mkdir()
    assert list(read_cases(tmp_path)) == CASES


def test_blank_lines_a_byte_order_mark_and_a_missing_last_line_end_do_no_harm(tmp_path: Path) -> None:
    file = tmp_path / "cases.jsonl"
    file.write_bytes(b"\xef\xbb\xbf" + CASES[0].to_json().encode() + b"\r\n\n  \n" + CASES[1].to_json().encode())
    assert list(read_cases(file)) == CASES[:2]


def test_gzip_is_told_by_its_content_not_by_its_name(tmp_path: Path) -> None:
    write_cases(tmp_path / "cases.jsonl.gz", CASES)
    renamed = (tmp_path / "cases.jsonl.gz").rename(tmp_path / "cases.jsonl")
    assert list(read_cases(renamed)) == CASES


BROKEN = {
    b"{": "whole case",
    b"not json": "not valid JSON",
    b"[1]": "must be a JSON object",
    b'{"schema_version": "7.3"}': "'7.3' of this PatientVector is not known",
    b'{"schema_version": "1.0"}': "case_id",
    b"\xff\xfe{}": "not UTF-8",
    b'{"schema_version": NaN}': "NaN",
    b"[" * 100_000: "not valid JSON",
    b'{"a": ' + b"9" * 5000 + b"}": "not valid JSON",
    CASES[0].to_json().replace("My head", "\\ud83d").encode(): "opening_text",
    CASES[0].to_json().replace('"age":40', '"age":400').encode(): "patient_facts.age",
    CASES[0].to_json().encode()[:-1]: "not valid JSON",
}


@pytest.mark.parametrize("record", BROKEN, ids=[str(n) for n in range(len(BROKEN))])
def test_a_broken_record_is_named_by_file_and_line_and_can_be_kept_out(tmp_path: Path, record: bytes) -> None:
    file = tmp_path / "cases.jsonl"
    file.write_bytes(CASES[0].to_json().encode() + b"\n\n" + record + b"\n" + CASES[1].to_json().encode() + b"\n")
    error = error_of(file)
    assert error.where == f"{file}:3"
    assert BROKEN[record] in error.line()
    found = list(scan_cases(file))
    assert [case for _, case in found if isinstance(case, PatientVector)] == CASES[:2]
    assert [place for place, case in found if isinstance(case, BedsideError)] == [f"{file}:3"]


def test_strict_reading_gives_the_cases_before_the_broken_one(tmp_path: Path) -> None:
    file = tmp_path / "cases.jsonl"
    file.write_bytes(CASES[0].to_json().encode() + b"\nbroken\n")
    reading = read_cases(file)
    assert next(reading) == CASES[0]
    with pytest.raises(BedsideError):
        next(reading)


def test_a_pretty_document_is_broken_at_the_line_where_it_goes_wrong(tmp_path: Path) -> None:
    file = tmp_path / "case.json"
    lines = CASES[0].model_dump_json(indent=2).splitlines()
    lines[6] = lines[6] + " oops"
    file.write_text("\n".join(lines), encoding="utf-8")
    assert error_of(file).where == f"{file}:7"


def test_json_lines_called_json_say_how_to_name_them(tmp_path: Path) -> None:
    file = tmp_path / "cases.json"
    file.write_bytes(b"".join(case.to_json().encode() + b"\n" for case in CASES))
    assert "named .jsonl" in error_of(file).line()


@pytest.mark.parametrize("cut", [1, 2, 9, 15, -400, -9, -1])
def test_a_truncated_gzip_is_one_clear_line_after_what_could_be_read(tmp_path: Path, cut: int) -> None:
    file = tmp_path / "cases.jsonl.gz"
    write_cases(file, [make_case(n, f"{n * 7919 % 1009} {n}") for n in range(200)])
    file.write_bytes(file.read_bytes()[:cut])
    assert "gzip" in error_of(file).line()
    *whole, (place, last) = scan_cases(file)
    assert isinstance(last, BedsideError) and place == f"{file}:{len(whole) + 1}"
    assert all(isinstance(case, PatientVector) for _, case in whole)


@pytest.mark.parametrize("position", [2, 10, 300, -6, -1])
def test_a_damaged_gzip_is_one_clear_line(tmp_path: Path, position: int) -> None:
    """Where the damage only changed letters, a record may look broken first; the checksum at the end tells."""
    file = tmp_path / "cases.jsonl.gz"
    write_cases(file, CASES)
    data = bytearray(file.read_bytes())
    data[position] ^= 0xFF
    file.write_bytes(data)
    assert error_of(file)
    *_, (_, last) = scan_cases(file)
    assert isinstance(last, BedsideError) and "damaged gzip" in last.line()


def test_gzip_in_name_only_is_one_clear_line(tmp_path: Path) -> None:
    file = tmp_path / "cases.jsonl.gz"
    file.write_bytes(CASES[0].to_json().encode())
    assert "not gzip" in error_of(file).line()


@pytest.mark.parametrize(("name", "says"), [("missing.jsonl", "no such file"), ("table.csv", "not a file of cases"), ("", "no case files")])
def test_the_wrong_path_is_refused_at_once(tmp_path: Path, name: str, says: str) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "table.csv").write_text("AGE,SEX\n", encoding="utf-8")
    for read in (read_cases, scan_cases):
        with pytest.raises(BedsideError, match=says):
            read(folder / name)


def test_an_unreadable_file_of_a_folder_does_not_hide_the_others(tmp_path: Path) -> None:
    write_cases(tmp_path / "a.jsonl.gz", CASES[:2])
    (tmp_path / "a.jsonl.gz").write_bytes((tmp_path / "a.jsonl.gz").read_bytes()[:30])
    write_cases(tmp_path / "b.jsonl", CASES[2:])
    found = list(scan_cases(tmp_path))
    assert [case for _, case in found if isinstance(case, PatientVector)] == CASES[2:]
    assert sum(isinstance(case, BedsideError) for _, case in found) == 1


def test_equal_cases_give_equal_bytes_under_any_name(tmp_path: Path) -> None:
    write_cases(tmp_path / "a.jsonl.gz", CASES)
    write_cases(tmp_path / "b.jsonl.gz", CASES)
    data = (tmp_path / "a.jsonl.gz").read_bytes()
    assert data == (tmp_path / "b.jsonl.gz").read_bytes()
    assert data[3] == 0 and data[4:8] == b"\0\0\0\0", "a name or a time in the gzip header"
    assert [json.loads(line)["case_id"] for line in gzip.decompress(data).splitlines()] == [case.case_id for case in CASES]


@pytest.mark.parametrize("name", ["cases.jsonl", "cases.jsonl.gz"])
def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path: Path, name: str) -> None:
    def failing() -> Iterator[PatientVector]:
        yield CASES[1]
        raise BedsideError("broken", "elsewhere:3")

    write_cases(tmp_path / name, CASES)
    before = (tmp_path / name).read_bytes()
    with pytest.raises(BedsideError, match="elsewhere:3: broken"):
        write_cases(tmp_path / name, failing())
    assert (tmp_path / name).read_bytes() == before
    assert [entry.name for entry in tmp_path.iterdir()] == [name]


def test_a_file_can_be_rewritten_from_itself(tmp_path: Path) -> None:
    file = tmp_path / "cases.jsonl"
    write_cases(file, CASES)
    assert write_cases(file, (case for case in read_cases(file) if case != CASES[0])) == 3
    assert list(read_cases(file)) == CASES[1:]


def test_a_link_is_written_through(tmp_path: Path) -> None:
    write_cases(tmp_path / "real.jsonl", CASES)
    (tmp_path / "link.jsonl").symlink_to(tmp_path / "real.jsonl")
    write_cases(tmp_path / "link.jsonl", CASES[:1])
    assert (tmp_path / "link.jsonl").is_symlink()
    assert list(read_cases(tmp_path / "real.jsonl")) == CASES[:1]


@pytest.mark.parametrize("name", ["cases.json", "cases.csv", "blocked/cases.jsonl", "folder.jsonl"])
def test_what_cannot_be_written_is_one_clear_line(tmp_path: Path, name: str) -> None:
    (tmp_path / "blocked").write_text("a file, not a folder", encoding="utf-8")
    (tmp_path / "folder.jsonl").mkdir()
    with pytest.raises(BedsideError) as caught:
        write_cases(tmp_path / name, CASES)
    assert "written" in caught.value.line()
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["blocked", "folder.jsonl"]
