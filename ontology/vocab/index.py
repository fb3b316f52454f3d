"""Built vocabularies on the disk: one folder each in the user's cache, made whole or not at all, checked when opened.

    vocab/
      umls.json               the name's current build: {"folder": "umls-3f2a…"}
      umls-3f2a…/             manifest.json, concepts.sqlite, phrases.bin, bundled.json.gz, quickumls/
      .umls.lock              held by the one process that builds

A build goes to a folder of its own and is renamed into place, so a reader never sees a part of it; the build before it is kept for `diff`.
"""

from __future__ import annotations

import atexit
import gzip
import hashlib
import json
import logging
import os
import re
import secrets
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Literal

from pydantic import Field

import ontology.text
from ontology.concepts import ConceptRow
from ontology.documents import Document, Strict, content_hash
from ontology.errors import BedsideError
from ontology.hpo import HpoTerm
from ontology.icd10 import cache_folder
from ontology.sources import Sources, bundled_sources
from ontology.vocab.groups import Merge
from ontology.vocab.layered import LayeredVocabulary
from ontology.vocab.quickumls import FOLDER as QUICKUMLS
from ontology.vocab.store import Store
from ontology.vocabulary import Vocabulary, bundled_vocabulary

FORMAT = 1
"""Version of the files' layout; a build of another one is not opened."""

MANIFEST, SNAPSHOT = "manifest.json", "bundled.json.gz"
NAME = re.compile(r"[a-z0-9][a-z0-9_.-]{0,40}")
BUNDLED_NAMES = ("open", "bundled")
BUILDS_KEPT = 2
_log = logging.getLogger(__name__)


class SourceRecord(Strict):
    """A source of a build: its name, its release, its file's name, and what of it was taken."""

    name: str
    version: str
    file: str | None = None
    license: str | None = None
    rows: int = Field(default=0, ge=0, description="rows read")
    kept: int = Field(default=0, ge=0, description="rows taken")
    suppressed: int = Field(default=0, ge=0, description="rows left out because the release suppresses them")
    broken: int = Field(default=0, ge=0, description="rows left out because they cannot be read")
    broken_at: list[str] = Field(default_factory=list, description="the first few of them, with file and line")


class FileRecord(Strict):
    """A file of a build, for checking."""

    size: int = Field(ge=0)
    sha256: str


class Totals(Strict):
    """What a build holds beside the bundled concepts."""

    concepts: int = 0
    names: int = 0
    phrases: int = 0
    links: int = 0
    groups: int = 0
    quickumls_terms: int | None = Field(default=None, description="null: no QuickUMLS index")


class Manifest(Document):
    """What a build is made of. `kb_version` follows from the content, not from the time or the place of building."""

    schema_version: Literal["1.0"] = "1.0"
    format: int
    name: str
    kb_version: str
    inputs: str = Field(description="hash of everything that the build was asked to be made of")
    normaliser: str = Field(description="hash of the rules by which words are compared")
    bundled_version: str = Field(description="version of our own concepts and HPO at the time of building")
    content: str | None = Field(default=None, description="hash of the concepts and phrases beside the bundled ones; null: none")
    languages: list[str] = Field(default_factory=list)
    source_filter: list[str] = Field(default_factory=list)
    semantic_types: list[str] = Field(default_factory=list)
    sources: list[SourceRecord]
    totals: Totals
    files: dict[str, FileRecord]
    software: str
    built_at: str = Field(description="UTC")


@dataclass(frozen=True)
class Index:
    """A build that was checked when it was opened."""

    folder: Path
    manifest: Manifest
    temporary: bool = False


Fill = Callable[[Path], Manifest]
"""Writes all files of a build but the manifest and the snapshot into an empty folder, and says what it wrote (`files` is filled in)."""


@cache
def normaliser_version() -> str:
    """Changes when the rules change by which words are compared: a phrase table made with other rules finds nothing."""
    rules = Path(str(ontology.text.__file__)).read_bytes()
    return content_hash([hashlib.sha256(rules).hexdigest(), metadata.version("snowballstemmer")])[:16]


def vocabulary_folder() -> Path:
    """Where built vocabularies lie."""
    return cache_folder() / "vocab"


def checked_name(name: str) -> str:
    """A name under which a vocabulary can be built.

    Raises:
        BedsideError: it cannot be one.
    """
    if not NAME.fullmatch(name) or name == BUNDLED_NAMES[1]:
        raise BedsideError(f"{name!r} cannot be the name of a vocabulary", "--name", "use small letters, digits, dots and dashes")
    return name


def open_index(spec: str | Path, verify: bool = True, but: str | None = None) -> Index:
    """Open a build.

    Args:
        spec: its name, its name with `~1` for the build before the current one, or its folder.
        verify: compare the hashes of all files with the manifest, not only their sizes.
        but: a folder of the build whose files' hashes are not compared.

    Raises:
        BedsideError: there is no such build, it is damaged, or it was made with another layout or other rules for words.
    """
    folder = _folder_of(spec)
    path = folder / MANIFEST
    try:
        manifest = Manifest.from_json(path.read_bytes(), str(path))
    except OSError as error:
        raise BedsideError(f"cannot be read ({error.strerror})", str(path), "build the vocabulary again") from None
    again = f"build it again: bedside vocab build --name {manifest.name} --force …"
    if manifest.format != FORMAT or manifest.normaliser != normaliser_version():
        raise BedsideError("this vocabulary was built by a release that compares words in another way", str(folder), again)
    for name, record in manifest.files.items():
        file = folder / name
        hashed = verify and not (but and name.startswith(f"{but}/"))
        if not file.is_file() or file.stat().st_size != record.size or hashed and _sha256(file) != record.sha256:
            raise BedsideError("this file of a built vocabulary is missing or damaged", str(file), again)
    return Index(folder, manifest)


def _folder_of(spec: str | Path) -> Path:
    if isinstance(spec, Path) or "/" in spec or (Path(spec) / MANIFEST).is_file():
        return Path(spec)
    name, back, _ = spec.partition("~1")
    builds = builds_of(name)
    current = (builds[-2] if back and len(builds) > 1 else None) if back else _current(vocabulary_folder(), name)
    if current is None:
        known = ", ".join(["open", *built_names()])
        raise BedsideError(f"no vocabulary {spec!r} was built", str(vocabulary_folder()), f"known: {known}; see bedside vocab build --help")
    return current


def built_names() -> list[str]:
    """Names of the built vocabularies."""
    return sorted(file.stem for file in vocabulary_folder().glob("*.json") if NAME.fullmatch(file.stem))


def builds_of(name: str) -> list[Path]:
    """Folders of a name's builds that are still there, the current one last."""
    current = _current(vocabulary_folder(), name)
    others = sorted(_builds(vocabulary_folder(), name), key=lambda folder: folder.stat().st_mtime)
    return [*(folder for folder in others if folder != current), *([current] if current else [])]


def _builds(root: Path, name: str) -> list[Path]:
    return [folder for folder in root.glob(f"{name}-*") if re.fullmatch(re.escape(name) + r"-[0-9a-f]{16}", folder.name)]


def _current(root: Path, name: str) -> Path | None:
    try:
        folder = json.loads((root / f"{name}.json").read_text(encoding="utf-8"))["folder"]
        return root / folder if isinstance(folder, str) and "/" not in folder else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def load_vocabulary(spec: str, verify: bool = True) -> Vocabulary:
    """A vocabulary by the name or folder of its build; `open` is the bundled one.

    Args:
        spec: what `BEDSIDE_VOCAB` or `--vocab` says.
        verify: compare the hashes of the files with the manifest; not those of the QuickUMLS part, which only its matcher reads.

    Raises:
        BedsideError: as for `open_index`.
    """
    if spec in BUNDLED_NAMES and _current(vocabulary_folder(), spec) is None:
        return bundled_vocabulary()
    return vocabulary_of(open_index(spec, verify, but=QUICKUMLS), None)


def vocabulary_of(index: Index, sources: Sources | None) -> Vocabulary:
    """The vocabulary of a build.

    Args:
        index: the build.
        sources: the concepts that lie over it; None: those that are installed now. `snapshot` gives those of the time of building.
    """
    if index.manifest.content is None:
        if sources is None:
            return bundled_vocabulary()
        return Vocabulary(sources.rows, sources.hpo, sources.hpo_version, sources.blocked, sources.merges, sources.cut, sources.order_twins)
    return LayeredVocabulary(sources or bundled_sources(), Store(index.folder), index.manifest.content)


def snapshot(index: Index) -> Sources:
    """Our own concepts and HPO as they were when a build was made."""
    path = index.folder / SNAPSHOT
    try:
        raw = json.loads(gzip.decompress(path.read_bytes()))
        return Sources(
            tuple(ConceptRow.model_validate(row) for row in raw["rows"]),
            {term["hpo_id"]: _term(term) for term in raw["hpo"]},
            raw["hpo_version"],
            tuple(raw["blocked"]),
            tuple(Merge(**merge) for merge in raw["merges"]),
            tuple((child, parent) for child, parent in raw["cut"]),
            dict(raw["order_twins"]),
        )
    except (OSError, EOFError, ValueError, KeyError, TypeError) as error:
        raise BedsideError(f"cannot be read ({error})", str(path), "build the vocabulary again") from None


def _term(raw: dict[str, object]) -> HpoTerm:
    synonyms = [(str(text), str(scope), bool(lay)) for text, scope, lay in raw.pop("synonyms")]  # type: ignore[attr-defined]
    return HpoTerm(**raw, synonyms=synonyms)  # type: ignore[arg-type]


def _write_snapshot(path: Path, sources: Sources) -> None:
    raw = {
        "hpo_version": sources.hpo_version,
        "rows": [row.model_dump(mode="json") for row in sources.rows],
        "hpo": [vars(term) for term in sources.hpo.values()],
        "blocked": sources.blocked,
        "merges": [vars(merge) for merge in sources.merges],
        "cut": sources.cut,
        "order_twins": dict(sources.order_twins),
    }
    path.write_bytes(gzip.compress(json.dumps(raw, separators=(",", ":")).encode("utf-8", "surrogatepass"), 6, mtime=0))


def build_index(name: str, inputs: str, fill: Fill, force: bool = False, temporary_allowed: bool = False) -> Index:
    """Build a vocabulary, or take the one that is there if it was made of the same things.

    Several processes may call this at once: one builds, the others wait for it and take what it built.

    Args:
        name: the name to build under.
        inputs: hash of all that the build depends on.
        fill: does the work.
        force: build even if nothing changed.
        temporary_allowed: where the cache cannot be written, build in a temporary folder that goes away with this process.

    Raises:
        BedsideError: the cache cannot be written and that is not allowed, or `fill` fails.
    """
    root = vocabulary_folder()
    try:
        with _lock(root, name):
            found = None if force else _usable(root, name, inputs)
            return found or _build(root, name, fill)
    except OSError as error:
        reason = f"cannot be written ({error.strerror or error})"
        if not temporary_allowed:
            raise BedsideError(reason, str(root), "make room or give another folder in BEDSIDE_CACHE_DIR") from None
        _log.warning("the cache %s %s: building a vocabulary that lasts for this process only", root, reason)
        place = Path(tempfile.mkdtemp(prefix="bedside-vocab-"))
        atexit.register(shutil.rmtree, place, ignore_errors=True)
        built = _build(place, name, fill)
        return Index(built.folder, built.manifest, temporary=True)


def _usable(root: Path, name: str, inputs: str) -> Index | None:
    current = _current(root, name)
    if current is None:
        return None
    try:
        index = open_index(current)
    except BedsideError as error:
        _log.warning("%s; building it again", error.what)
        return None
    return index if index.manifest.inputs == inputs else None


def _build(root: Path, name: str, fill: Fill) -> Index:
    before = _current(root, name)
    temporary = root / f".{name}.{os.getpid()}-{secrets.token_hex(4)}.tmp"
    temporary.mkdir(parents=True)
    try:
        manifest = fill(temporary)
        _write_snapshot(temporary / SNAPSHOT, bundled_sources())
        files = {file.relative_to(temporary).as_posix(): file for file in sorted(temporary.rglob("*")) if file.is_file()}
        records = {part: FileRecord(size=file.stat().st_size, sha256=_sha256(file)) for part, file in files.items()}
        manifest = manifest.model_copy(update={"files": records})
        (temporary / MANIFEST).write_text(manifest.to_json() + "\n", encoding="utf-8")
        for file in (*files.values(), temporary / MANIFEST):
            _sync(file)
        folder = root / f"{name}-{manifest.kb_version}"
        if folder.exists():  # damaged, or built again by force: what is open in another process stays readable there
            aside = temporary.with_suffix(".old")
            os.rename(folder, aside)
            shutil.rmtree(aside, ignore_errors=True)
        os.rename(temporary, folder)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
    _point(root, name, folder)
    _tidy(root, name, [folder, *([before] if before else [])])
    return Index(folder, manifest)


def _point(root: Path, name: str, folder: Path) -> None:
    temporary = root / f".{name}.json.{os.getpid()}.tmp"
    temporary.write_text(json.dumps({"folder": folder.name}) + "\n", encoding="utf-8")
    _sync(temporary)
    os.replace(temporary, root / f"{name}.json")


def _tidy(root: Path, name: str, kept: list[Path]) -> None:
    """Remove all but the last two builds, and what killed builders left behind; only the holder of the lock does this."""
    others = sorted((folder for folder in _builds(root, name) if folder not in kept), key=lambda folder: folder.stat().st_mtime)
    spare = BUILDS_KEPT - len(set(kept))
    for folder in (*others[: len(others) - max(spare, 0)], *root.glob(f".{name}.*.tmp"), *root.glob(f".{name}.*.old")):
        shutil.rmtree(folder, ignore_errors=True)


def _sync(file: Path) -> None:
    with file.open("rb") as handle:
        os.fsync(handle.fileno())


@contextmanager
def _lock(root: Path, name: str) -> Iterator[None]:
    """Hold the lock of a name, waiting for it if need be.

    Raises:
        OSError: the folder cannot be written.
    """
    root.mkdir(parents=True, exist_ok=True)
    handle = os.open(root / f".{name}.lock", os.O_RDWR | os.O_CREAT, 0o666)
    try:
        with suppress(ImportError):  # not on Windows: there two builders both build, and the last one's is kept
            import fcntl

            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                _log.info("another process is building the vocabulary %r; waiting for it", name)
                fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)
