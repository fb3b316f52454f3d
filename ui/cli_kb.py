"""The `bedside kb` commands; see ui.cli."""

from __future__ import annotations

from typing import Annotated

import typer

from ui.cli_kb_import import add_import_commands
from ui.cli_vocab import JsonOption

kb_app = typer.Typer(
    help="The bundled knowledge: check it, read a disease's profile, import drug tables.", no_args_is_help=True, rich_markup_mode=None
)


@kb_app.command("check")
def kb_check(
    hpo: Annotated[bool, typer.Option("--hpo", help="read and count every row of HPO's annotation file, too (seconds)")] = False,
    as_json: JsonOption = False,
) -> None:
    """Say what the knowledge covers, what has no source, what contradicts itself and what nobody reviewed. Exit code 1: mend it."""
    from ui.kb import check

    raise typer.Exit(check(hpo, as_json))


@kb_app.command("show")
def kb_show(
    disease: Annotated[str, typer.Argument(help="a disease's id or name; OMIM and ORPHA ids are read from HPO, e.g. ORPHA:397")],
    as_json: JsonOption = False,
) -> None:
    """Show a disease as a clinician would read it: features by frequency with their sources, red flags, prior, codes."""
    from ui.kb import show

    show(disease, as_json)


add_import_commands(kb_app)
