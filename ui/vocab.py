"""`bedside vocab`: build a vocabulary, list what is built, look a phrase up."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from ontology.errors import BedsideError
from ontology.vocab.explain import Explanation, explain
from ontology.vocab.index import Index, built_names, load_vocabulary, open_index
from ontology.vocab.rrf import TUI, Choice, Progress, no_progress
from ontology.vocabulary import bundled_vocabulary
from ui.console import note, say, say_json, table

EVERY = "all"


@dataclass(frozen=True)
class BuildOptions:
    """What the command line says; see `bedside vocab build --help`."""

    umls: Path | None
    languages: tuple[str, ...]
    sources: tuple[str, ...]
    semantic_types: tuple[str, ...]
    ontologies: tuple[Path, ...]
    name: str | None
    quickumls: bool | None
    strict: bool
    force: bool
    quiet: bool

    def choice(self) -> Choice:
        """Which rows of a release are wanted.

        Raises:
            BedsideError: something that is no semantic type.
        """
        from ontology.vocab.build import DEFAULT_TYPES

        wrong = [tui for tui in self.semantic_types if tui != EVERY and not TUI.fullmatch(tui)]
        if wrong:
            raise BedsideError(f"{wrong[0]!r} is no semantic type", "--semtype", "give a TUI such as T184, or all")
        languages = frozenset() if EVERY in self.languages else frozenset(self.languages or ("ENG",))
        types = frozenset() if EVERY in self.semantic_types else frozenset(self.semantic_types) or DEFAULT_TYPES
        return Choice(languages, frozenset(self.sources), types)


def build(options: BuildOptions, as_json: bool) -> int:
    """Build a vocabulary and say what it holds; the exit code is 1 if rows were broken."""
    from ontology.vocab.build import BuildPlan, build_vocabulary
    from ontology.vocab.quickumls import available

    name = options.name or ("umls" if options.umls else "open")
    with_quickumls = available() if options.quickumls is None else options.quickumls
    plan = BuildPlan(name, options.umls, options.choice(), options.ontologies, with_quickumls, options.strict)
    with shown_progress(options.quiet) as progress:
        index = build_vocabulary(plan, progress, options.force)
    broken = sum(source.broken for source in index.manifest.sources)
    for source in index.manifest.sources:
        for place in source.broken_at:
            note(f"left out: {place}")
    if as_json:
        say_json({**index.manifest.model_dump(mode="json"), "folder": str(index.folder)})
    else:
        _describe(index)
    return 1 if broken else 0


def _describe(index: Index) -> None:
    manifest = index.manifest
    say(f"vocabulary {manifest.name} {manifest.kb_version}")
    say(f"in {index.folder}")
    rows = [[s.name, s.version, f"{s.rows:,}", f"{s.kept:,}", f"{s.suppressed:,}", f"{s.broken:,}"] for s in manifest.sources]
    table("sources", ["source", "version", "rows", "taken", "suppressed", "broken"], rows, numeric_from=2)
    totals = manifest.totals
    say(f"beside the bundled concepts: {totals.concepts:,} concepts, {totals.phrases:,} phrases, {totals.links:,} is-a links")
    quickumls = "no index" if totals.quickumls_terms is None else f"{totals.quickumls_terms:,} names"
    say(f"QuickUMLS: {quickumls}")
    if manifest.content is not None:
        say(f"select it with BEDSIDE_VOCAB={manifest.name}")


def list_built(as_json: bool) -> None:
    """One line for each built vocabulary."""
    rows = []
    for name in built_names():
        try:
            manifest = open_index(name, verify=False).manifest
        except BedsideError as error:
            note(error.line())
            continue
        if as_json:
            say_json(manifest.model_dump(mode="json", exclude={"files"}))
        sources = "; ".join(f"{source.name} {source.version}" for source in manifest.sources)
        rows.append([name, manifest.kb_version, manifest.built_at[:10], f"{manifest.totals.concepts:,}", sources])
    if not as_json:
        bundled = bundled_vocabulary()
        rows.insert(
            0, ["bundled", bundled.version, "", f"{sum(1 for _ in bundled.concepts()):,}", f"Bedside and HPO {bundled.hpo_version}"]
        )
        table("vocabularies", ["name", "version", "built", "concepts", "sources"], rows, numeric_from=5)


def look_up(phrase: str, vocab: str | None, as_json: bool) -> int:
    """Explain a phrase; the exit code is 1 if nothing is recognised."""
    vocabulary = load_vocabulary(vocab) if vocab else bundled_vocabulary()
    found = explain(phrase, vocabulary)
    for one in found:
        if as_json:
            say_json({**asdict(one), "vocabulary": vocabulary.version})
        else:
            _show(one)
    return 0 if any(one.concept for one in found) else 1


def _show(one: Explanation) -> None:
    say(f'"{one.phrase}"')
    say(f"  looked up as    {one.normal_form}")
    if one.concept is None:
        say("  means           nothing that is known here")
        return
    flags = [one.kind, *(["generic"] if one.generic else []), "askable" if one.askable else "not asked of patients"]
    say(f"  means           {one.concept.name} ({one.concept.id}; {', '.join(flags)})")
    say(f"  because         {one.origin} ({one.source})")
    if one.alternatives:
        say("  could also be   " + "; ".join(f"{other.name} ({other.id})" for other in one.alternatives))
    if one.equal_ids:
        say("  same as         " + ", ".join(one.equal_ids))
    for above, links in one.is_a:
        say(f"  is a            {above.name} ({above.id}), {links} {'link' if links == 1 else 'links'} up")
    if one.lay_names:
        say("  people say      " + ", ".join(one.lay_names))


@contextmanager
def shown_progress(quiet: bool) -> Iterator[Progress]:
    """Progress of a build on standard error: a bar for people, a line a stage elsewhere, nothing if quiet."""
    if quiet:
        yield no_progress
    elif sys.stderr.isatty():
        from rich.console import Console
        from rich.progress import Progress as Bar

        with Bar(console=Console(stderr=True), transient=True) as bar:
            tasks: dict[str, int] = {}

            def move(stage: str, done: int, total: int) -> None:
                if stage not in tasks:
                    tasks[stage] = int(bar.add_task(stage, total=total or None))
                bar.update(tasks[stage], completed=done, total=total or None)  # type: ignore[arg-type]

            yield move
    else:
        seen: set[str] = set()

        def tell(stage: str, _done: int, _total: int) -> None:
            if stage not in seen:
                seen.add(stage)
                note(f"vocabulary: {stage}")

        yield tell
