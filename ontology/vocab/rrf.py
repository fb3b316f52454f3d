"""Streams of UMLS' Rich Release Format: MRCONSO (names), MRSTY (semantic types), MRREL (relations), plain or gzip.

The column orders are those of the UMLS Reference Manual, chapter 3. Every line ends with a bar, so a line of n columns has n + 1 parts.
"""

from __future__ import annotations

import gzip
import re
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO, cast

from ontology.errors import BedsideError

CUI = re.compile(r"C\d{7}|X:[a-z0-9_\-]+")
"""A concept id; local ones occur in files that Bedside wrote itself."""
TUI = re.compile(r"T\d{3}")
MRCONSO_COLUMNS, MRSTY_COLUMNS, MRREL_COLUMNS, MRSAB_COLUMNS = 18, 6, 16, 25
PLACES_KEPT = 20
NOT_SUPPRESSED = "N"

PREFERRED_ATOM = {("P", "PF", "Y"): 0, ("P", "PF", "N"): 1, ("P", "VO", "Y"): 2}
"""(TS, STT, ISPREF) of the atoms that name a concept best; lower is better."""

Progress = Callable[[str, int, int], None]
"""Called now and then with the stage, what is done and what there is to do (bytes or rows); the latter is 0 where it is not known."""


def no_progress(_stage: str, _done: int, _total: int) -> None:
    """Progress that nobody watches."""


@dataclass(frozen=True, slots=True)
class Name:
    """An atom: one name of a concept. `preference` is 0 for the name the concept goes by."""

    cui: str
    text: str
    source: str
    language: str = "ENG"
    term_type: str = "PT"
    code: str = ""
    preference: int = 3


@dataclass(frozen=True, slots=True)
class SemanticType:
    """A concept's semantic type, e.g. T184."""

    cui: str
    tui: str


@dataclass(frozen=True, slots=True)
class IsA:
    """A narrower concept and a broader one."""

    child: str
    parent: str
    source: str = ""


@dataclass(frozen=True, slots=True)
class Same:
    """Two concepts that a source calls synonymous (REL = SY)."""

    first: str
    second: str
    source: str = ""


@dataclass
class Report:
    """What was read: rows in all, rows kept, rows left out as suppressed, and broken ones with their places."""

    strict: bool = False
    rows: int = 0
    kept: int = 0
    suppressed: int = 0
    broken: int = 0
    places: list[str] = field(default_factory=list)

    def note(self, what: str, where: str) -> None:
        """Count a broken row.

        Raises:
            BedsideError: always, if the report is strict.
        """
        error = BedsideError(what, where, "unpack or download the file again")
        if self.strict:
            raise error
        self.broken += 1
        if len(self.places) < PLACES_KEPT:
            self.places.append(error.line())


@dataclass(frozen=True)
class Choice:
    """Which rows of a release are wanted; an empty set means all.

    Attributes:
        languages: LAT, e.g. ENG.
        sources: SAB, e.g. SNOMEDCT_US.
        semantic_types: TUI, e.g. T184. A concept without any semantic type in MRSTY is kept.
    """

    languages: frozenset[str] = frozenset({"ENG"})
    sources: frozenset[str] = frozenset()
    semantic_types: frozenset[str] = frozenset()


def find_file(folder: Path, name: str) -> Path | None:
    """`MRCONSO.RRF` or `MRCONSO.RRF.gz` of a release: in the folder, in its META, or in the META of its one release.

    Args:
        folder: what the user calls the release.
        name: e.g. `MRCONSO.RRF`.
    """
    for place in (folder, folder / "META", *sorted(folder.glob("*/META"))):
        for file in (place / name, place / f"{name}.gz"):
            if file.is_file():
                return file
    return None


def release_version(folder: Path) -> str:
    """The release's name (e.g. 2026AA), from release.dat, else from the folder's name; `unknown` if neither tells."""
    file = find_file(folder, "release.dat")
    if file is not None and file.suffix == ".dat":
        found = re.search(r"^umls\.release\.name\s*=\s*(\S+)", file.read_text(encoding="utf-8", errors="replace"), re.MULTILINE)
        if found:
            return found.group(1)
    names = [part.group() for part in (re.search(r"\d{4}A[AB]", path.name) for path in (folder, *folder.glob("*/"))) if part]
    return names[0] if names else "unknown"


def source_versions(folder: Path) -> dict[str, str]:
    """Versioned names of a release's sources by their root names, from MRSAB; empty without that file."""
    file = find_file(folder, "MRSAB.RRF")
    found: dict[str, str] = {}
    for _, parts in _rows(file, MRSAB_COLUMNS, Report()) if file else ():
        if parts[21] == "Y":
            found[parts[3]] = parts[2]
    return found


def read_semantic_types(path: Path, report: Report, progress: Progress = no_progress) -> Iterator[SemanticType]:
    """Rows of MRSTY.

    Args:
        path: MRSTY.RRF or MRSTY.RRF.gz.
        report: filled while iterating; a strict one makes the first broken row an error.
        progress: told of the bytes read.

    Raises:
        BedsideError: with `file:line`, the file cannot be read on, or a row is broken and the report is strict.
    """
    for where, parts in _rows(path, MRSTY_COLUMNS, report, progress):
        if CUI.fullmatch(parts[0]) and TUI.fullmatch(parts[1]):
            report.kept += 1
            yield SemanticType(parts[0], parts[1])
        else:
            report.note("not a concept id and a semantic type", where)


def read_names(path: Path, choice: Choice, report: Report, progress: Progress = no_progress) -> Iterator[Name]:
    """Rows of MRCONSO in the chosen languages and sources, suppressed ones (SUPPRESS other than N) left out.

    Args:
        path: MRCONSO.RRF or MRCONSO.RRF.gz.
        choice: what is wanted; semantic types are not this file's.
        report: filled while iterating.
        progress: told of the bytes read.

    Raises:
        BedsideError: as for `read_semantic_types`.
    """
    languages, sources = choice.languages, choice.sources
    for where, parts in _rows(path, MRCONSO_COLUMNS, report, progress):
        if languages and parts[1] not in languages or sources and parts[11] not in sources:
            continue
        if parts[16] != NOT_SUPPRESSED:
            report.suppressed += 1
        elif not CUI.fullmatch(parts[0]) or not parts[14].strip():
            report.note("no concept id, or no name", where)
        else:
            report.kept += 1
            preference = PREFERRED_ATOM.get((parts[2], parts[4], parts[6]), 3)
            yield Name(parts[0], parts[14].strip(), parts[11], parts[1], parts[12], parts[13], preference)


def read_relations(path: Path, choice: Choice, report: Report, progress: Progress = no_progress) -> Iterator[IsA | Same]:
    """Rows of MRREL that say is-a or same-as, each is-a turned so that the narrower concept comes first.

    REL says what the second concept is to the first: PAR and RB a broader one, CHD and RN a narrower one, SY the same. Broader and narrower
    count where the source calls them is-a, parent and child also where it does not say more: part-of and the like are left out.

    Args:
        path: MRREL.RRF or MRREL.RRF.gz.
        choice: the sources that are wanted.
        report: filled while iterating.
        progress: told of the bytes read.

    Raises:
        BedsideError: as for `read_semantic_types`.
    """
    sources = choice.sources
    for where, parts in _rows(path, MRREL_COLUMNS, report, progress):
        relation = parts[3]
        if relation not in RELATIONS or sources and parts[10] not in sources:
            continue
        first, second = parts[0], parts[4]
        if parts[14] != NOT_SUPPRESSED:
            report.suppressed += 1
        elif not (CUI.fullmatch(first) and CUI.fullmatch(second)):
            report.note("not two concept ids", where)
        elif first != second:
            if relation == "SY":
                report.kept += 1
                yield Same(min(first, second), max(first, second), parts[10])
            elif parts[7] in ("isa", "inverse_isa") or not parts[7] and relation in ("PAR", "CHD"):
                report.kept += 1
                yield IsA(first, second, parts[10]) if relation in ("PAR", "RB") else IsA(second, first, parts[10])


RELATIONS = frozenset({"PAR", "CHD", "RB", "RN", "SY"})


def _rows(path: Path, columns: int, report: Report, progress: Progress = no_progress) -> Iterator[tuple[str, list[str]]]:
    """(file:line, parts) of every row with the right number of columns; the others are noted."""
    number = 0
    try:
        with path.open("rb") as plain:
            total = path.stat().st_size
            data = cast(BinaryIO, gzip.open(plain)) if path.suffix == ".gz" else plain
            for number, line in enumerate(data, 1):
                if not number & 0x3FFF:
                    progress(path.name, plain.tell(), total)
                report.rows += 1
                try:
                    parts = line.decode("utf-8").rstrip("\r\n").split("|")
                except UnicodeDecodeError:
                    report.note("not UTF-8 text", f"{path}:{number}")
                    continue
                if len(parts) == columns + 1 and not parts[-1]:
                    yield f"{path}:{number}", parts
                elif parts != [""]:
                    found = len(parts) - (not parts[-1])
                    what = "no bar at its end" if found == columns else f"{found} columns where {columns} belong"
                    what += "" if line.endswith(b"\n") else ": the file is cut short"
                    report.note(what, f"{path}:{number}")
            progress(path.name, total, total)
    except (EOFError, zlib.error, OSError) as error:
        reason = "the gzip file is truncated" if isinstance(error, EOFError) else getattr(error, "strerror", None) or str(error)
        raise BedsideError(f"cannot be read on ({reason})", f"{path}:{number + 1}", "unpack or download the file again") from None


def consolidated_row(name: Name, number: int) -> str:
    """A name as a line of MRCONSO, with ids of our own for atom, string and term."""
    atom = f"{number:08d}"
    ts, stt, ispref = ("P", "PF", "Y") if name.preference == 0 else ("S", "PF", "N")
    parts = [name.cui, name.language, ts, f"L{atom}", stt, f"S{atom}", ispref, f"A{atom}", "", "", "", name.source, name.term_type]
    text = name.text.replace("|", " ").replace("\n", " ")
    return "|".join([*parts, name.code or "NOCODE", text, "0", NOT_SUPPRESSED, ""]) + "|\n"


def semantic_row(row: SemanticType, number: int) -> str:
    """A semantic type as a line of MRSTY."""
    return f"{row.cui}|{row.tui}|||AT{number:08d}||\n"


def relation_row(row: IsA | Same, number: int) -> str:
    """A link as a line of MRREL."""
    if isinstance(row, Same):
        first, relation, second, label = row.first, "SY", row.second, ""
    else:
        first, relation, second, label = row.child, "PAR", row.parent, "inverse_isa"
    return f"{first}||CUI|{relation}|{second}||CUI|{label}|R{number:08d}||{row.source}|{row.source}|||{NOT_SUPPRESSED}||\n"
