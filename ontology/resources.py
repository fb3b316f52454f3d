"""Access to the bundled `data` and `prompts` packages, wherever they are installed."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from importlib import resources
from importlib.resources.abc import Traversable
from typing import Any

from ontology.errors import BedsideError


def bundled(path: str, package: str = "data") -> Traversable:
    """A file or folder of a bundled package, e.g. `bundled("pools")`.

    Raises:
        BedsideError: it is not there (a broken installation).
    """
    found = resources.files(package)
    for part in path.split("/"):
        found = found.joinpath(part)
    if not (found.is_file() or found.is_dir()):
        raise BedsideError("a bundled file is missing", f"{package}/{path}", "install Bedside again")
    return found


def bundled_text(path: str, package: str = "data") -> str:
    """The text of a bundled file."""
    return bundled(path, package).read_text(encoding="utf-8")


def bundled_files(folder: str, suffix: str) -> list[Traversable]:
    """Bundled files of a folder with a suffix, sorted by name."""
    return sorted((f for f in bundled(folder).iterdir() if f.name.endswith(suffix)), key=lambda f: f.name)


def bundled_rows(path: str) -> list[dict[str, str]]:
    """Rows of a bundled CSV file with a header."""
    return list(csv.DictReader(io.StringIO(bundled_text(path))))


def json_lines(text: str, where: str) -> Iterator[tuple[str, Any]]:
    """(place, value) for every non-empty line of JSON lines text.

    Raises:
        BedsideError: a line is not JSON.
    """
    for number, line in enumerate(text.splitlines(), start=1):
        if line.strip():
            place = f"{where}:{number}"
            try:
                yield place, json.loads(line)
            except ValueError as error:
                raise BedsideError(f"not valid JSON ({error})", place) from None
