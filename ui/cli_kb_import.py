"""The importing commands of `bedside kb`; see ui.cli."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ui.cli_vocab import JsonOption

OutOption = Annotated[Path, typer.Option("--out", help="table to write (CSV), in the form of data/clinical/contraindications.csv")]


def add_import_commands(app: typer.Typer) -> None:
    """Add the importing commands to the group `kb`."""
    app.command("import-medrt")(kb_import_medrt)
    app.command("import-openfda")(kb_import_openfda)


def kb_import_medrt(
    file: Annotated[Path, typer.Argument(help="MED-RT's XML release, Core_MEDRT_…_XML.xml")],
    out: OutOption,
    strength: Annotated[
        str, typer.Option("--strength", help="of every row, since MED-RT does not grade: absolute or relative")
    ] = "absolute",
    as_json: JsonOption = False,
) -> None:
    """Turn MED-RT's CI_with associations into a table of contraindications; what is left out is counted. Exit code 1: no row came of it."""
    from ui.kb_import import import_medrt_file

    raise typer.Exit(import_medrt_file(file, out, strength, as_json))


def kb_import_openfda(
    files: Annotated[list[Path], typer.Argument(help="JSON files of openFDA's drug/label endpoint, unpacked")],
    out: OutOption,
    as_json: JsonOption = False,
) -> None:
    """Turn the contraindications of openFDA drug labels into a table; what is left out is counted. Exit code 1: no row came of it."""
    from ui.kb_import import import_openfda_files

    raise typer.Exit(import_openfda_files(files, out, as_json))
