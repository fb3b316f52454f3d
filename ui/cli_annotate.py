"""The `bedside annotate` command; see ui.cli."""

from __future__ import annotations

from typing import Annotated

import typer

from ui.cli_vocab import JsonOption, VocabOption


def annotate(
    file: Annotated[str, typer.Argument(help="file of turns, one a line; -: standard input", metavar="[FILE|-]")] = "-",
    role: Annotated[str, typer.Option("--role", help="who speaks: examiner or patient")] = "examiner",
    form: Annotated[
        str, typer.Option("--format", help="text, jsonl (objects with text and previous), or auto: jsonl if the first line begins with {")
    ] = "auto",
    for_child: Annotated[bool, typer.Option("--for-child", help="a parent speaks for the patient: 'your daughter' is the patient")] = False,
    vocab: VocabOption = None,
    workers: Annotated[int, typer.Option("--workers", min=1, help="processes, each with its own copy of the vocabulary")] = 1,
    no_cache: Annotated[bool, typer.Option("--no-cache", help="neither read nor keep annotations in the user's cache")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="no progress")] = False,
    as_json: JsonOption = False,
) -> None:
    """Say what turns ask, state and answer: one result a line of input, in order, an empty one for a blank line."""
    from ui.annotate import AnnotateOptions, annotate_file

    raise typer.Exit(annotate_file(AnnotateOptions(file, role, form, for_child, vocab, workers, not no_cache, quiet, as_json)))
