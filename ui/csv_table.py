"""Tables that a user brings: CSV with a header, read strictly, every mistake with file and line."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from ontology.errors import BedsideError

DELIMITERS = ",;\t"
LARGEST = 1e15
"""Beyond it neighbouring whole numbers are no longer told apart for certain."""


@dataclass(frozen=True)
class CsvTable:
    """Column names and rows as text, trimmed, each row with the line it ends on. A name is looked up in lower case."""

    path: Path
    columns: tuple[str, ...]
    rows: list[tuple[int, tuple[str, ...]]]

    def column(self, names: Iterable[str]) -> int | None:
        """The place of the column that has one of the names.

        Raises:
            BedsideError: several columns have.
        """
        wanted = {name.lower() for name in names}
        found = [place for place, column in enumerate(self.columns) if column.lower().replace(" ", "_") in wanted]
        if len(found) > 1:
            both = " and ".join(self.columns[place] for place in found)
            raise BedsideError(f"the columns {both} could both be meant", str(self.path), "leave one out")
        return found[0] if found else None

    def at(self, line: int) -> str:
        """File and line, for a message."""
        return f"{self.path}:{line}"


def read_csv_table(path: Path) -> CsvTable:
    """Read a table; commas, semicolons or tabs, whichever the header has most of.

    Raises:
        BedsideError: not UTF-8, no header, a name missing or twice, no rows, or a row with more or fewer fields.
        OSError: the file cannot be read.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise BedsideError(f"not UTF-8 (byte {error.start})", str(path), "save it as UTF-8") from None
    first = text.split("\n", 1)[0]
    delimiter = max(DELIMITERS, key=first.count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    rows: list[tuple[int, tuple[str, ...]]] = []
    try:
        for row in reader:
            if row:
                rows.append((reader.line_num, tuple(cell.strip() for cell in row)))
    except csv.Error as error:
        raise BedsideError(f"not valid CSV ({error})", f"{path}:{reader.line_num}") from None
    if not rows:
        raise BedsideError("the file is empty", str(path))
    columns = rows[0][1]
    if not all(columns):
        raise BedsideError(f"column {columns.index('') + 1} has no name", f"{path}:{rows[0][0]}", "the first line names the columns")
    twice = next((name for place, name in enumerate(columns) if name in columns[:place]), None)
    if twice is not None:
        raise BedsideError(f"two columns are called {twice}", f"{path}:{rows[0][0]}")
    for line, cells in rows[1:]:
        if len(cells) != len(columns):
            raise BedsideError(f"{len(cells)} fields, but the header names {len(columns)}", f"{path}:{line}")
    if len(rows) == 1:
        raise BedsideError("there is a header but no row", str(path))
    return CsvTable(path, columns, rows[1:])


def number_of(text: str) -> int | float | None:
    """The number a text stands for, whole ones as int; None if it is none, or one too large to count with."""
    try:
        value = float(text)
    except ValueError:
        return None
    if not abs(value) <= LARGEST:
        return None
    return int(value) if value.is_integer() else value
