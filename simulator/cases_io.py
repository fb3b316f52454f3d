"""Cases as files: JSON lines (plain or gzip), one JSON document, or a folder of them. Reading streams; writing is atomic."""

from __future__ import annotations

import gzip
import json
import os
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO, NoReturn, cast

from ontology.errors import BedsideError
from simulator.case import PatientVector

LINES = (".jsonl", ".jsonl.gz")
SINGLE = (".json", ".json.gz")
GZIP_MAGIC = b"\x1f\x8b"
EXPECTED = "give a .jsonl, .jsonl.gz or .json file, or a folder of such files"

Found = tuple[str, PatientVector | BedsideError]
"""A place (`file:line`) and the case found there, or what is wrong with it."""


def read_cases(path: str | Path) -> Iterator[PatientVector]:
    """Read cases, one at a time; the first broken record ends the reading.

    Args:
        path: a `.jsonl` or `.jsonl.gz` file (one case a line, blank lines skipped), a `.json` file (one case, on any number of lines),
            or a folder of such files (read in the order of their names, subfolders not entered).

    Raises:
        BedsideError: at once if there is no such file or it is of another kind; while iterating, at the first broken record,
            with its `file:line`.
    """
    return (_case_or_raise(found) for _, found in scan_cases(path))


def scan_cases(path: str | Path) -> Iterator[Found]:
    """Read cases and go on after a broken record, so that it can be counted and kept out.

    Args:
        path: as for `read_cases`.

    Returns:
        pairs of the place (`file:line`) and the case, or the error with that place. A file that cannot be read on (a truncated gzip)
        gives one error at the line it broke at.

    Raises:
        BedsideError: at once if there is no such file or it is of another kind.
    """
    files = _files(Path(path))
    return (found for file in files for found in _scan_file(file))


def write_cases(path: str | Path, cases: Iterable[PatientVector]) -> int:
    """Write cases as JSON lines; a reader sees the old file or the whole new one, never a part.

    Args:
        path: a `.jsonl` or `.jsonl.gz` file; its folder is made if need be. Equal cases give equal bytes, compressed too.
        cases: consumed one at a time; they may come from the very file that is replaced.

    Returns:
        the number of cases written.

    Raises:
        BedsideError: another ending, or the file cannot be written. What `cases` raises is passed on, and the old file stays.
    """
    target = Path(path)
    if not target.name.endswith(LINES):
        raise BedsideError("cases are written as JSON lines", str(target), "name the file .jsonl or .jsonl.gz")
    count = 0
    with atomic_file(target) as plain, _maybe_compressed(plain, target.name.endswith(".gz")) as out:
        for case in cases:
            out.write(case.to_json().encode() + b"\n")
            count += 1
    return count


@contextmanager
def atomic_file(path: Path) -> Iterator[BinaryIO]:
    """A binary file that takes the place of `path` when the block ends well, and vanishes when it does not.

    Raises:
        BedsideError: the file cannot be written.
    """
    target = Path(os.path.realpath(path))
    temporary = target.with_name(f".{target.name}.{os.getpid()}.tmp")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with temporary.open("wb") as out:
            yield out
            out.flush()
            os.fsync(out.fileno())
        os.replace(temporary, target)
        sync_folder(target.parent)
    except OSError as error:
        raise BedsideError(f"cannot be written ({error.strerror or error})", str(path)) from None
    finally:
        with suppress(OSError):  # it is gone when all went well, and its folder may be no folder
            temporary.unlink()


def sync_folder(folder: Path) -> None:
    """Make the names in a folder durable: without this a new file can be missing after a power cut."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def parse_json(data: bytes, file: str, line: int = 1) -> Any:
    """Parse strict JSON (UTF-8, no NaN) whose first line is line `line` of `file`.

    Raises:
        BedsideError: with the `file:line` where the text goes wrong.
    """
    where = f"{file}:{line}"
    try:
        return json.loads(data.decode("utf-8-sig").rstrip(), parse_constant=_refuse_constant)
    except UnicodeDecodeError:
        raise BedsideError("not UTF-8 text", where) from None
    except json.JSONDecodeError as error:
        place = f"{file}:{line + error.lineno - 1}"
        raise BedsideError(f"not valid JSON ({error.msg} at column {error.colno})", place) from None
    except (ValueError, RecursionError) as error:
        raise BedsideError(f"not valid JSON ({error})", where) from None


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a number in JSON")


def _case_or_raise(found: PatientVector | BedsideError) -> PatientVector:
    if isinstance(found, BedsideError):
        raise found
    return found


def _files(path: Path) -> list[Path]:
    if path.is_dir():
        try:
            entries = sorted(path.iterdir())
        except OSError as error:
            raise BedsideError(f"cannot be read ({error.strerror})", str(path)) from None
        files = [e for e in entries if e.name.endswith(LINES + SINGLE) and not e.name.startswith(".") and e.is_file()]
        if not files:
            raise BedsideError("no case files in this folder", str(path), EXPECTED)
        return files
    if not path.exists():
        raise BedsideError("no such file", str(path), EXPECTED)
    if not path.name.endswith(LINES + SINGLE):
        raise BedsideError("not a file of cases, by its name", str(path), EXPECTED)
    return [path]


def _scan_file(path: Path) -> Iterator[Found]:
    line = 1
    try:
        with path.open("rb") as plain:
            magic = plain.read(len(GZIP_MAGIC))
            plain.seek(0)
            if path.name.endswith(".gz") and magic and magic != GZIP_MAGIC:
                raise gzip.BadGzipFile("not gzip, in spite of its name")
            with gzip.open(plain) if magic == GZIP_MAGIC else plain as data:
                if path.name.endswith(SINGLE):
                    yield _case_at(data.read(), path, 1)
                    return
                for record in data:
                    if record.strip():
                        yield _case_at(record, path, line)
                    line += 1
    except (EOFError, zlib.error, OSError) as error:
        place = f"{path}:{line}"
        yield place, BedsideError(f"cannot be read on ({_reason(error)})", place, "copy or download the file again")


def _reason(error: Exception) -> str:
    if isinstance(error, EOFError):
        return "the gzip file is truncated"
    if isinstance(error, gzip.BadGzipFile | zlib.error):
        return f"damaged gzip: {error}"
    return (error.strerror if isinstance(error, OSError) else None) or str(error)


def _case_at(data: bytes, path: Path, line: int) -> Found:
    place = f"{path}:{line}"
    try:
        return place, PatientVector.from_raw(parse_json(data, str(path), line), place)
    except BedsideError as error:
        return error.where or place, _with_hint(error, data, path)


def _with_hint(error: BedsideError, data: bytes, path: Path) -> BedsideError:
    """The two files people mix up: a pretty-printed case called .jsonl, and JSON lines called .json."""
    if path.name.endswith(LINES) and data.strip() in (b"{", b"["):
        return BedsideError(error.what, error.where, "each line must hold a whole case; a case over many lines belongs in a .json file")
    if path.name.endswith(SINGLE) and "Extra data" in error.what:
        return BedsideError(error.what, error.where, "a file with one case a line must be named .jsonl")
    return error


@contextmanager
def _maybe_compressed(plain: BinaryIO, compress: bool) -> Iterator[BinaryIO]:
    if not compress:
        yield plain
        return
    # no name and no time in the header, so that equal cases give equal bytes
    with gzip.GzipFile(filename="", mode="wb", fileobj=plain, mtime=0) as out:
        yield cast(BinaryIO, out)
