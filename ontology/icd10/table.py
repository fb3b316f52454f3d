"""Compact tables of ICD-10-CM and of WHO ICD-10, built once from their libraries and cached as one file each.

Importing `simple_icd_10_cm` parses 10 MB of XML; the cached table holds what the tree needs and loads in a
fraction of a second. A damaged file is built again, an unwritable folder only costs the build at every start,
and processes that build at the same time replace each other's whole file.
"""

from __future__ import annotations

import importlib
import json
import logging
import os
import re
import secrets
import warnings
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any, Generic, TypeVar

import platformdirs

FORMAT = 1
"""Version of the file layout; a new one gets a new file name."""

CACHE_VARIABLE = "BEDSIDE_CACHE_DIR"

_RANGE = re.compile(r"\s*\([A-Z][0-9A-Z]{2}(?:-[A-Z][0-9A-Z]{2})?\)$")
_log = logging.getLogger(__name__)

Columns = dict[str, Any]
T = TypeVar("T")


@dataclass(frozen=True)
class CmTable:
    """ICD-10-CM without 7th-character extensions, in preorder: a subtree is a run of positions.

    All lists have one entry per node. A chapter has the parent -1; `extensions` holds the 7th characters that
    a node takes ("" if none).
    """

    version: str
    codes: list[str]
    parents: list[int]
    titles: list[str]
    extensions: list[str]
    inclusions: dict[int, list[str]]
    includes: dict[int, list[str]]


@dataclass(frozen=True)
class WhoTable:
    """Titles of WHO ICD-10 by code (chapters are Roman numerals, blocks nest)."""

    version: str
    titles: dict[str, str]


@dataclass(frozen=True)
class _Source(Generic[T]):
    """Where a table comes from and how its columns become an object."""

    stem: str
    library: str
    build: Callable[[], Columns]
    parse: Callable[[str, Columns], T]


def cache_folder() -> Path:
    """The folder of cached tables: `BEDSIDE_CACHE_DIR`, else the user's cache folder."""
    chosen = os.environ.get(CACHE_VARIABLE)
    return Path(chosen).expanduser() if chosen else Path(platformdirs.user_cache_dir("bedside"))


def load_cm_table(folder: Path | None = None) -> CmTable:
    """The table of ICD-10-CM, from the cache if it is there.

    Args:
        folder: the cache folder; by default `cache_folder()`.
    """
    return _load(_Source("icd10-cm", "simple-icd-10-cm", _build_cm, _parse_cm), folder)


def load_who_table(folder: Path | None = None) -> WhoTable:
    """The table of WHO ICD-10, from the cache if it is there.

    Args:
        folder: the cache folder; by default `cache_folder()`.
    """
    return _load(_Source("icd10-who", "simple-icd-10", _build_who, _parse_who), folder)


def _load(source: _Source[T], folder: Path | None) -> T:
    version = metadata.version(source.library)
    path = (folder or cache_folder()) / f"{source.stem}-{version}-f{FORMAT}.json.z"
    header = {"format": FORMAT, "library": source.library, "version": version}
    found = _read(path, header, source)
    if found is not None:
        return found
    _log.info("building the table of %s %s once; this takes some seconds", source.library, version)
    columns = source.build()
    _write(path, zlib.compress(json.dumps({**header, "columns": columns}, separators=(",", ":")).encode(), 6))
    return source.parse(version, columns)


def _read(path: Path, header: dict[str, Any], source: _Source[T]) -> T | None:
    """The cached table, or None where there is none that can be used."""
    try:
        raw = path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        _log.warning("cannot read the cached table %s (%s)", path, error)
        return None
    try:
        stored = json.loads(zlib.decompress(raw))
        if {key: stored[key] for key in header} != header:
            raise ValueError("another header")
        return source.parse(header["version"], stored["columns"])
    except (zlib.error, ValueError, KeyError, TypeError, AttributeError) as error:
        _log.warning("the cached table %s is damaged (%s); building it again", path, error)
        return None


def _write(path: Path, raw: bytes) -> None:
    """Put the file in place as a whole; a failure costs only the next start."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}-{secrets.token_hex(4)}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            with temporary.open("xb") as file:
                file.write(raw)
            os.replace(temporary, path)
        finally:
            temporary.unlink(missing_ok=True)
    except OSError as error:
        _log.warning("cannot cache the table as %s (%s); it is kept in memory only", path, error)


def _import(name: str) -> Any:
    """A library without annotations; both read their XML in a way that Python calls deprecated."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        return importlib.import_module(name)


def _build_cm() -> Columns:
    library = _import("simple_icd_10_cm")
    columns: Columns = {name: [] for name in ("codes", "parents", "titles", "extensions")}
    columns |= {"inclusions": {}, "includes": {}}
    for code in library.get_all_codes():
        if library.is_chapter(code):
            _add_cm(library, columns, code, -1, 1)
    return columns


def _add_cm(library: Any, columns: Columns, code: str, parent: int, depth: int) -> None:
    """Add a node and those below it; blocks without children are phantoms of the library and left out.

    A block of a single category has that category's name, so the level decides which of the two the library
    is asked for.
    """
    block = depth == 2
    children = library.get_children(code, prioritize_blocks=block)
    if block and not children:
        return
    position = len(columns["codes"])
    columns["codes"].append(code)
    columns["parents"].append(parent)
    columns["titles"].append(_RANGE.sub("", library.get_description(code, prioritize_blocks=block)))
    extended = [child for child in children if library.is_extended_subcategory(child)]
    columns["extensions"].append("".join(child[-1] for child in extended))
    for key, terms in (("inclusions", library.get_inclusion_term), ("includes", library.get_includes)):
        found = terms(code, prioritize_blocks=block)
        if found:
            columns[key][str(position)] = found
    if not extended:
        for child in children:
            _add_cm(library, columns, child, position, depth + 1)


def _parse_cm(version: str, columns: Columns) -> CmTable:
    codes, parents = columns["codes"], columns["parents"]
    lists = [codes, parents, columns["titles"], columns["extensions"]]
    if not codes or any(len(column) != len(codes) for column in lists):
        raise ValueError("columns of unequal length")
    if any(parent >= position for position, parent in enumerate(parents)):
        raise ValueError("a parent after its child")
    terms = [{int(key): value for key, value in columns[name].items()} for name in ("inclusions", "includes")]
    return CmTable(version, *lists, *terms)


def _build_who() -> Columns:
    library = _import("simple_icd_10")
    codes = library.get_all_codes()
    return {"codes": codes, "titles": [library.get_description(code) for code in codes]}


def _parse_who(version: str, columns: Columns) -> WhoTable:
    titles = dict(zip(columns["codes"], columns["titles"], strict=True))
    if not titles:
        raise ValueError("no codes")
    return WhoTable(version, titles)
