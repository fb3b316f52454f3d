"""The `bedside vocab` commands; see ui.cli."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

vocab_app = typer.Typer(
    help="Vocabularies: build one from a UMLS release, look phrases up, compare.", no_args_is_help=True, rich_markup_mode=None
)
VocabOption = Annotated[
    str | None, typer.Option("--vocab", help="name or folder of a built vocabulary; default: the bundled one", envvar="BEDSIDE_VOCAB")
]
JsonOption = Annotated[bool, typer.Option("--json", help="machine-readable output")]
ProfilesOption = Annotated[
    str, typer.Option("--profiles", help="auto (by source), ddxplus, curated, or a file of `profiles build`", envvar="BEDSIDE_PROFILES")
]


@vocab_app.command("build")
def vocab_build(
    umls: Annotated[
        Path | None, typer.Option("--umls", help="folder of a licensed UMLS release: MRCONSO, MRSTY, MRREL; plain or .gz")
    ] = None,
    language: Annotated[
        list[str] | None, typer.Option("--language", help="LAT of the release; repeatable; default ENG; all: every one")
    ] = None,
    source: Annotated[
        list[str] | None, typer.Option("--source", help="SAB of the release, e.g. SNOMEDCT_US; repeatable; default all")
    ] = None,
    semtype: Annotated[
        list[str] | None,
        typer.Option("--semtype", help="TUI, e.g. T184; repeatable; default: findings, diseases, drugs, procedures; all: every one"),
    ] = None,
    ontology: Annotated[
        list[Path] | None, typer.Option("--ontology", help="file of Mondo, Disease Ontology, … (.obo, .sssom.tsv, .tsv); repeatable")
    ] = None,
    name: Annotated[str | None, typer.Option("--name", help="name to build under; default umls, or open without --umls")] = None,
    quickumls: Annotated[
        bool | None, typer.Option("--quickumls/--no-quickumls", help="write a QuickUMLS index; default: if the extra is installed")
    ] = None,
    strict: Annotated[bool, typer.Option("--strict", help="stop at the first broken row instead of counting it")] = False,
    force: Annotated[bool, typer.Option("--force", help="build even if nothing changed")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="no progress")] = False,
    as_json: JsonOption = False,
) -> None:
    """Build a vocabulary in the cache; BEDSIDE_VOCAB=NAME selects it. Broken rows are counted and kept out; the exit code says so."""
    from ui.vocab import BuildOptions, build

    options = BuildOptions(
        umls, tuple(language or ()), tuple(source or ()), tuple(semtype or ()), tuple(ontology or ()), name, quickumls, strict, force, quiet
    )
    raise typer.Exit(build(options, as_json))


@vocab_app.command("list")
def vocab_list(as_json: JsonOption = False) -> None:
    """List the vocabularies that were built, with their versions and sources."""
    from ui.vocab import list_built

    list_built(as_json)


@vocab_app.command("lookup")
def vocab_lookup(
    phrase: Annotated[str, typer.Argument(help="a phrase or a sentence")],
    vocab: VocabOption = None,
    as_json: JsonOption = False,
) -> None:
    """Explain what a phrase means, why, and what else it could mean."""
    from ui.vocab import look_up

    raise typer.Exit(look_up(phrase, vocab, as_json))


@vocab_app.command("diff")
def vocab_diff(
    old: Annotated[str, typer.Argument(help="name or folder of a built vocabulary; NAME~1: the build before; bundled: as installed")],
    new: Annotated[str, typer.Argument(help="the same")],
    cases: Annotated[str | None, typer.Option("--cases", help="say which of these cases would change")] = None,
    traces: Annotated[Path | None, typer.Option("--traces", help="say which scores of this run would change")] = None,
    profiles: ProfilesOption = "auto",
    limit: Annotated[int, typer.Option("--limit", min=0, help="show so many of each kind")] = 20,
    as_json: JsonOption = False,
) -> None:
    """List what another vocabulary changes: concepts, ids, phrases, and stored cases and scores."""
    from ui.vocab_diff import show_diff

    raise typer.Exit(show_diff(old, new, cases, traces, profiles, limit, as_json))
