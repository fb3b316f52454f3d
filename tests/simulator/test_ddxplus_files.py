"""The files of a DDXPlus release: names, zips, encodings, columns; what is broken is refused in one line with its name."""

from __future__ import annotations

import csv
import io
import json
import zipfile
from collections.abc import Sequence
from pathlib import Path

import pytest

from ontology.errors import BedsideError
from simulator.sources.ddxplus_files import COLUMNS, patient_files, read_patients, read_release, split_of

GOOD = {
    "AGE": "40",
    "DIFFERENTIAL_DIAGNOSIS": "[['Pneumonia', 0.6], ['SLE', 0.4]]",
    "SEX": "F",
    "PATHOLOGY": "Pneumonia",
    "EVIDENCES": "['E_91', 'E_66']",
    "INITIAL_EVIDENCE": "E_91",
}


def csv_text(rows: Sequence[dict[str, str]], columns: Sequence[str] = COLUMNS) -> str:
    out = io.StringIO()
    writer = csv.DictWriter(out, columns, extrasaction="ignore")
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()


@pytest.fixture
def release(tmp_path: Path) -> Path:
    """A release without patients."""
    for name in ("evidences", "conditions"):
        (tmp_path / f"release_{name}.json").write_text(json.dumps({"x": {}}), encoding="utf-8")
    return tmp_path


def error_line(path: Path) -> str:
    with pytest.raises(BedsideError) as raised:
        list(read_patients(path))
    line = raised.value.line()
    assert line.startswith(str(path)) and "\n" not in line
    return line


@pytest.mark.parametrize("missing", COLUMNS)
def test_a_missing_column_is_named(tmp_path: Path, missing: str) -> None:
    path = tmp_path / "release_test_patients.csv"
    path.write_text(csv_text([GOOD], [column for column in COLUMNS if column != missing]))
    assert f"column {missing} missing (found: " in error_line(path)


def test_an_empty_file_has_no_columns(tmp_path: Path) -> None:
    path = tmp_path / "release_test_patients"
    path.write_text("")
    assert "missing (found: nothing)" in error_line(path)


def test_a_file_that_is_not_utf8_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "release_test_patients.csv"
    path.write_bytes(csv_text([{**GOOD, "PATHOLOGY": "Guillain-Barré syndrome"}]).encode("latin-1"))
    assert "not UTF-8 text" in error_line(path)


def test_a_mark_at_the_start_of_the_file_is_no_part_of_the_first_column(tmp_path: Path) -> None:
    path = tmp_path / "release_test_patients.csv"
    path.write_text("\ufeff" + csv_text([GOOD]), encoding="utf-8")
    assert [row for _, row in read_patients(path)] == [GOOD]


def test_a_field_that_never_ends_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "release_test_patients.csv"
    path.write_text(csv_text([]) + '40,"' + "x" * 200_000)
    assert "not a CSV file" in error_line(path)
    path.write_text('"' + "x" * 200_000)
    assert "not a CSV file" in error_line(path)


def zipped(path: Path, **files: str) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return path


def test_a_zip_of_one_file_is_read_and_what_a_mac_adds_is_not(tmp_path: Path) -> None:
    path = zipped(tmp_path / "release_test_patients.zip", **{"release_test_patients": csv_text([GOOD]), "__MACOSX/._x": "x", "folder/": ""})
    assert [row for _, row in read_patients(path)] == [GOOD]


@pytest.mark.parametrize("files", [{}, {"a": "x", "b": "y"}])
def test_a_zip_of_more_or_less_than_one_file_is_refused(tmp_path: Path, files: dict[str, str]) -> None:
    path = zipped(tmp_path / "release_test_patients.zip", **files)
    assert f"holds {len(files)} files, expected one" in error_line(path)


def test_what_only_looks_like_a_zip_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "release_test_patients.zip"
    path.write_text(csv_text([GOOD]))
    assert "not a zip file" in error_line(path)


def test_a_damaged_zip_is_refused_wherever_the_damage_is(tmp_path: Path) -> None:
    path = zipped(tmp_path / "release_test_patients.zip", release_test_patients=csv_text([{**GOOD, "AGE": str(n)} for n in range(100)]))
    whole = path.read_bytes()
    for place in range(len(whole)):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 0xFF]) + whole[place + 1 :])
        try:
            rows = list(read_patients(path))
        except BedsideError as error:
            assert error.line().startswith(str(path))
        else:
            assert len(rows) == 100  # the damage was in a name or a date
    path.write_bytes(whole[: len(whole) // 2])
    assert "not a zip file" in error_line(path)


def test_a_zip_with_a_password_is_refused(tmp_path: Path) -> None:
    path = zipped(tmp_path / "release_test_patients.zip", release_test_patients=csv_text([GOOD]))
    raw = bytearray(path.read_bytes())
    raw[6] |= 1  # the flag in the local header and in the directory
    raw[raw.index(b"PK\x01\x02") + 8] |= 1
    path.write_bytes(raw)
    assert "password" in error_line(path)


def test_patient_files_go_by_the_releases_names(tmp_path: Path) -> None:
    for name in (
        "release_train_patients",
        "release_validate_patients.csv",
        "release_test_patients.zip",
        "release_conditions.json",
        "notes.csv",
    ):
        (tmp_path / name).write_text("")
    (tmp_path / "old_patients").mkdir()
    assert [path.name for path in patient_files(tmp_path)] == [
        "release_test_patients.zip",
        "release_train_patients",
        "release_validate_patients.csv",
    ]


def test_unzipped_is_taken_before_zipped_and_neither_twice(tmp_path: Path) -> None:
    for name in ("release_test_patients.zip", "release_test_patients"):
        (tmp_path / name).write_text("")
    assert [path.name for path in patient_files(tmp_path)] == ["release_test_patients"]


def test_a_folder_without_patients_or_without_a_release_is_refused(tmp_path: Path, release: Path) -> None:
    with pytest.raises(BedsideError, match="no patient file here"):
        patient_files(release)
    with pytest.raises(BedsideError, match="no such folder"):
        read_release(tmp_path / "nowhere")
    (release / "release_conditions.json").unlink()
    with pytest.raises(BedsideError, match="release_conditions.json: file missing"):
        read_release(release)


@pytest.mark.parametrize("text", [b"", b"{", b"[]", b'{"E_1": 3}', b"\xff", b"[" * 100_000])
def test_a_malformed_description_is_one_line(release: Path, text: bytes) -> None:
    (release / "release_evidences.json").write_bytes(text)
    with pytest.raises(BedsideError) as raised:
        read_release(release)
    assert "release_evidences.json" in raised.value.line() and "\n" not in raised.value.line()


@pytest.mark.parametrize(
    ("name", "split"),
    [
        ("release_train_patients", "train"),
        ("release_validate_patients.zip", "validate"),
        ("Release_TEST_patients.csv", "test"),
        ("latest_patients.csv", None),
        ("release_demo_patients.csv", None),
    ],
)
def test_the_split_is_read_off_the_name(name: str, split: str | None) -> None:
    assert split_of(Path(name)) == split
