"""The files of a DDXPlus release: its two descriptions, and its patients as a stream, plain or zipped."""

from __future__ import annotations

import csv
import io
import json
import re
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

from ontology.errors import BedsideError

ENCRYPTED = 0x1
"""The flag of a zip entry."""
COLUMNS = ("AGE", "DIFFERENTIAL_DIAGNOSIS", "SEX", "PATHOLOGY", "EVIDENCES", "INITIAL_EVIDENCE")
ENCODING = "utf-8-sig"
"""UTF-8, with or without the mark that spreadsheets put in front."""
SPLIT = re.compile(r"(?<![a-z])(train|validate|test)(?![a-z])", re.IGNORECASE)


@dataclass(frozen=True)
class Release:
    """The two description files of a release."""

    folder: Path
    evidences: dict[str, Any]
    conditions: dict[str, Any]


def read_release(folder: Path) -> Release:
    """Read release_evidences.json and release_conditions.json.

    Raises:
        BedsideError: a file is missing or malformed.
    """
    if not folder.is_dir():
        raise BedsideError("no such folder", str(folder), "give the folder with release_evidences.json and the patient files")
    return Release(folder, _read_json(folder / "release_evidences.json"), _read_json(folder / "release_conditions.json"))


def _read_json(path: Path) -> dict[str, Any]:
    try:
        raw = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise BedsideError("file missing", str(path), "download the English DDXPlus release (figshare 22687585)") from None
    except (ValueError, OSError, RecursionError) as error:
        raise BedsideError(f"cannot be read as JSON ({error})", str(path)) from None
    if not isinstance(raw, dict) or not all(isinstance(value, dict) for value in raw.values()):
        raise BedsideError("must be a JSON object of objects", str(path))
    return raw


def patient_files(folder: Path) -> list[Path]:
    """Patient files of a release: CSV, the release's files without extension, or their zips; sorted.

    Where a file lies both zipped and unzipped, the unzipped one is taken.

    Raises:
        BedsideError: there is none.
    """
    found: dict[str, Path] = {}
    for path in sorted(folder.iterdir()):
        stem = path.name.removesuffix(".zip").removesuffix(".csv")
        is_patients = path.is_file() and "patients" in path.name and path.suffix in ("", ".csv", ".zip")
        if is_patients and (stem not in found or found[stem].suffix == ".zip"):
            found[stem] = path
    if not found:
        raise BedsideError("no patient file here", str(folder), "expected release_train_patients or the like (plain, .csv or .zip)")
    return list(found.values())


@contextmanager
def _opened(path: Path) -> Iterator[TextIO]:
    try:
        if path.suffix == ".zip":
            with zipfile.ZipFile(path) as archive:
                inner = [name for name in archive.namelist() if not name.endswith("/") and "__MACOSX" not in name]
                if len(inner) != 1:
                    raise BedsideError(f"holds {len(inner)} files, expected one", str(path))
                if archive.getinfo(inner[0]).flag_bits & ENCRYPTED:
                    raise BedsideError("the zip file needs a password", str(path), "unzip it first")
                with archive.open(inner[0]) as raw, io.TextIOWrapper(raw, encoding=ENCODING, newline="") as text:
                    yield text
        else:
            with path.open(encoding=ENCODING, newline="") as text:
                yield text
    except zipfile.BadZipFile:
        raise BedsideError("not a zip file", str(path), "download it again") from None
    except (zlib.error, EOFError, NotImplementedError):
        raise BedsideError("a damaged zip file, or of a kind not known here", str(path), "download it again, or unzip it first") from None
    except UnicodeDecodeError as error:
        raise BedsideError(f"not UTF-8 text ({error.reason} at byte {error.start})", str(path)) from None
    except OSError as error:
        raise BedsideError(f"cannot be read ({error.strerror})", str(path)) from None


def read_patients(path: Path) -> Iterator[tuple[int, dict[str, str]]]:
    """(line number, row) of a patient file, as a stream.

    Raises:
        BedsideError: a column is missing.
    """
    with _opened(path) as handle:
        reader = csv.DictReader(handle)
        try:
            missing = [column for column in COLUMNS if column not in (reader.fieldnames or [])]
            if missing:
                raise BedsideError(
                    f"column {', '.join(missing)} missing (found: {', '.join(reader.fieldnames or ['nothing'])})",
                    str(path),
                    "is this a DDXPlus patient file?",
                )
            for row in reader:
                yield reader.line_num, row
        except csv.Error as error:
            raise BedsideError(f"not a CSV file ({error})", f"{path}:{reader.line_num}") from None


def split_of(path: Path) -> str | None:
    """train, validate or test, from the file's name."""
    found = SPLIT.search(path.name)
    return found.group(1).lower() if found else None
