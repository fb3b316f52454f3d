"""From a licensed UMLS release or open ontology files to a built vocabulary."""

from __future__ import annotations

import heapq
import sqlite3
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from ontology.documents import content_hash
from ontology.errors import BedsideError
from ontology.resources import bundled_text
from ontology.sources import Sources, bundled_sources
from ontology.vocab import quickumls
from ontology.vocab.index import FORMAT, Index, Manifest, SourceRecord, Totals, build_index, checked_name, normaliser_version
from ontology.vocab.open_sources import Rows, bundled_rows, read_ontology
from ontology.vocab.rrf import (
    Choice,
    Progress,
    Report,
    find_file,
    no_progress,
    read_names,
    read_relations,
    read_semantic_types,
    release_version,
    source_versions,
)
from ontology.vocab.store import Counts, StoreBuilder
from ontology.vocabulary import bundled_vocabulary

DEFAULT_TYPES = frozenset(quickumls.ACCEPTED)
UMLS_LICENSE = "UMLS Metathesaurus License; not redistributable"
BUNDLED_LICENSE = "Apache-2.0 and the HPO licence"
NO_NAMES = "no name is left in the chosen languages, sources and semantic types"


@dataclass(frozen=True)
class BuildPlan:
    """What to build.

    Attributes:
        name: under which name.
        umls: folder of a licensed release with MRCONSO.RRF, MRSTY.RRF and, if is-a links are wanted, MRREL.RRF; plain or .gz.
        choice: languages, sources and semantic types of the release.
        ontologies: files of Mondo, the Disease Ontology and the like.
        with_quickumls: also write a QuickUMLS index.
        strict: make the first broken row an error instead of counting it.
    """

    name: str
    umls: Path | None = None
    choice: Choice = Choice(semantic_types=DEFAULT_TYPES)
    ontologies: tuple[Path, ...] = ()
    with_quickumls: bool = False
    strict: bool = False

    def files(self) -> list[Path]:
        """All files that are read.

        Raises:
            BedsideError: the release has no MRCONSO or no MRSTY, or a file is missing.
        """
        found = list(self.ontologies)
        if self.umls is not None:
            for name in ("MRCONSO.RRF", "MRSTY.RRF", "MRREL.RRF"):
                file = find_file(self.umls, name)
                if file is not None:
                    found.append(file)
                elif name != "MRREL.RRF":
                    raise BedsideError(f"{name} is not there", str(self.umls), "give the folder of a UMLS release (or its META folder)")
        for file in found:
            if not file.is_file():
                raise BedsideError("no such file", str(file))
        return found

    def inputs(self) -> str:
        """Changes with anything that the build depends on."""
        files = [(file.name, file.stat().st_size, file.stat().st_mtime_ns) for file in self.files()]
        chosen = [sorted(part) for part in (self.choice.languages, self.choice.sources, self.choice.semantic_types)]
        return content_hash([FORMAT, normaliser_version(), bundled_vocabulary().version, chosen, files, self.with_quickumls, self.strict])


def build_vocabulary(plan: BuildPlan, progress: Progress = no_progress, force: bool = False, temporary_allowed: bool = False) -> Index:
    """Build a vocabulary, or take the one that is there if nothing changed; see `index.build_index` for several processes at once.

    Args:
        plan: what to build.
        progress: told of the stages.
        force: build even if nothing changed.
        temporary_allowed: where the cache cannot be written, build for this process only.

    Raises:
        BedsideError: a file cannot be read or nothing is left of it, the cache cannot be written, QuickUMLS is wanted but not installed.
    """
    checked_name(plan.name)
    if plan.with_quickumls and not quickumls.available():
        raise BedsideError("QuickUMLS is not installed", "extra quickumls", "pip install 'bedside[quickumls]'")
    return build_index(plan.name, plan.inputs(), lambda folder: _Filler(plan, progress).fill(folder), force, temporary_allowed)


def quickumls_index(progress: Progress = no_progress) -> Path:
    """The QuickUMLS folder over the bundled concepts: built at the first use, once, also when several processes start together.

    Args:
        progress: told of the stages, if it has to be built.

    Raises:
        BedsideError: the extra is not installed.
    """
    return build_vocabulary(BuildPlan("open", with_quickumls=True), progress, temporary_allowed=True).folder / quickumls.FOLDER


class _Filler:
    """One build."""

    def __init__(self, plan: BuildPlan, progress: Progress) -> None:
        self._plan = plan
        self._progress = progress
        self._bundled = bundled_sources()
        self._vocabulary = bundled_vocabulary()
        self._records = [SourceRecord(name="Bedside and HPO", version=self._bundled.hpo_version, license=BUNDLED_LICENSE)]

    def fill(self, folder: Path) -> Manifest:
        """Write all files of the build."""
        counts: Counts | None = None
        terms: int | None = None
        try:
            if self._plan.umls is None and not self._plan.ontologies:
                if self._plan.with_quickumls:
                    terms = self._quickumls(folder, iter(()))
            else:
                builder = StoreBuilder(folder, self._plan.choice.semantic_types, _blocked(self._bundled))
                self._feed(builder)
                counts = builder.finish(self._progress)
                if self._plan.with_quickumls:
                    terms = self._quickumls(folder, builder.surfaces())
                builder.close()
        except sqlite3.Error as error:
            raise BedsideError(f"cannot be written ({error})", str(folder), "make room on the disk and build again") from None
        if counts is not None and not counts.names:
            raise BedsideError(NO_NAMES, str(self._plan.umls or self._plan.ontologies[0]), "choose others, or see what the files hold")
        return self._manifest(counts, terms)

    def _manifest(self, counts: Counts | None, terms: int | None) -> Manifest:
        plan = self._plan
        content = counts.content_sha256 if counts else None
        parts = [FORMAT, normaliser_version(), self._vocabulary.version, content, terms is not None]
        totals = Totals(quickumls_terms=terms)
        if counts:
            shown = {name: value for name, value in vars(counts).items() if name in Totals.model_fields}
            totals = Totals(**shown, quickumls_terms=terms)
        return Manifest(
            format=FORMAT,
            name=plan.name,
            kb_version=content_hash(parts)[:16],
            inputs=plan.inputs(),
            normaliser=normaliser_version(),
            bundled_version=self._vocabulary.version,
            content=content,
            languages=sorted(plan.choice.languages) if plan.umls else [],
            source_filter=sorted(plan.choice.sources) if plan.umls else [],
            semantic_types=sorted(plan.choice.semantic_types) if content else [],
            sources=self._records,
            totals=totals,
            files={},
            software=_software(),
            built_at=datetime.now(UTC).isoformat(timespec="seconds"),
        )

    def _feed(self, builder: StoreBuilder) -> None:
        """Types first, then names, then links, of all sources."""
        files = [(path, read_ontology(path)) for path in self._plan.ontologies]
        release = self._plan.umls
        for _, rows in files:
            builder.add_types(rows.types)
        if release is not None:
            self._take(release, "MRSTY.RRF", lambda path, report: builder.add_types(read_semantic_types(path, report, self._progress)))
            choice = self._plan.choice
            self._take(release, "MRCONSO.RRF", lambda path, report: builder.add_names(read_names(path, choice, report, self._progress)))
        for _, rows in files:
            builder.add_names(rows.names)
        if release is not None:
            choice = self._plan.choice
            self._take(
                release, "MRREL.RRF", lambda path, report: builder.add_relations(read_relations(path, choice, report, self._progress))
            )
        for path, rows in files:
            builder.add_relations(rows.links)
            self._records.append(_record(path, rows))

    def _take(self, release: Path, name: str, take: Callable[[Path, Report], None]) -> None:
        path = find_file(release, name)
        if path is None:
            return
        report = Report(self._plan.strict)
        take(path, report)
        versions = source_versions(release)
        chosen = sorted(self._plan.choice.sources)
        shown = f" ({', '.join(versions.get(source, source) for source in chosen)})" if chosen else ""
        self._records.append(
            SourceRecord(
                name=f"UMLS {name}",
                version=release_version(release) + shown,
                file=path.name,
                license=UMLS_LICENSE,
                rows=report.rows,
                kept=report.kept,
                suppressed=report.suppressed,
                broken=report.broken,
                broken_at=report.places,
            )
        )

    def _quickumls(self, folder: Path, more: Iterator[quickumls.Surface]) -> int:
        rows = bundled_rows(self._bundled, self._vocabulary)
        ours = quickumls.surfaces_of(rows.names, rows.types)
        self._progress("QuickUMLS", 0, 0)
        return quickumls.build_quickumls(folder / quickumls.FOLDER, heapq.merge(ours, more))


def _blocked(sources: Sources) -> list[str]:
    everyday = bundled_text("lexicon/everyday.txt").splitlines()
    return [*sources.blocked, *(line for line in everyday if line and not line.startswith("#"))]


def _record(path: Path, rows: Rows) -> SourceRecord:
    names = sorted({name.source for name in rows.names})
    return SourceRecord(name=", ".join(names), version=rows.version, file=path.name, rows=len(rows.names), kept=len(rows.names))


def _software() -> str:
    try:
        return f"bedside {version('bedside')}"
    except PackageNotFoundError:
        return "bedside 0+unknown"
