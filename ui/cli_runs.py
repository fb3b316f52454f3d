"""The `bedside runs` commands; see ui.cli."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ui.cli_vocab import JsonOption

runs_app = typer.Typer(
    help="Run folders: list, show, join, export and delete them, and keep their index.", no_args_is_help=True, rich_markup_mode=None
)

FolderArgument = Annotated[Path, typer.Argument(help="run folder")]
DatabaseOption = Annotated[
    str | None,
    typer.Option("--db", help="index: a SQLite file or postgresql://user@host/name; default: in your data folder", envvar="BEDSIDE_DB"),
]


@runs_app.command("list")
def runs_list(
    folders: Annotated[list[Path] | None, typer.Argument(help="where to look for run folders; default: here")] = None,
    db: DatabaseOption = None,
    as_json: JsonOption = False,
) -> None:
    """List the runs at or below the folders, and all others in the index."""
    from ui.run_index import list_runs

    list_runs(folders or [Path()], db, as_json)


@runs_app.command("show")
def runs_show(folder: FolderArgument, db: DatabaseOption = None, as_json: JsonOption = False) -> None:
    """Show a run's settings, what its encounters came to, and its mean scores (from scorecards.jsonl in the run folder)."""
    from ui.run_index import show_run

    show_run(folder, db, as_json)


@runs_app.command("reindex")
def runs_reindex(
    folders: Annotated[list[Path] | None, typer.Argument(help="further folders to look in; those in the index are read anyway")] = None,
    db: DatabaseOption = None,
    as_json: JsonOption = False,
) -> None:
    """Make the index again from the run folders, verifying every seal. Annotations, matches and votes stay."""
    from ui.run_index import reindex

    reindex(folders or [], db, as_json)


@runs_app.command("merge")
def runs_merge(
    folders: Annotated[list[Path], typer.Argument(help="run folders of the same settings")],
    out: Annotated[Path, typer.Option("--out", help="new run folder")],
    as_json: JsonOption = False,
) -> None:
    """Join runs of the same settings into a new folder; encounters that are there twice are named, and the first counts."""
    from ui.run_index import merge_runs

    raise typer.Exit(merge_runs(folders, out, as_json))


@runs_app.command("delete")
def runs_delete(
    folder: FolderArgument,
    yes: Annotated[bool, typer.Option("--yes", help="do not ask")] = False,
    db: DatabaseOption = None,
    as_json: JsonOption = False,
) -> None:
    """Delete a run folder for good, and its rows in the index. Annotations and votes on its traces stay."""
    from ui.run_index import delete_run

    raise typer.Exit(delete_run(folder, db, yes, as_json))


@runs_app.command("export")
def runs_export(
    folder: FolderArgument,
    out: Annotated[Path, typer.Option("--out", help="file, or new folder for hf")],
    form: Annotated[str, typer.Option("--format", help="jsonl, parquet, or hf (a dataset folder with a card)")] = "jsonl",
    cases: Annotated[str | None, typer.Option("--cases", help="where the cases are; bundled ones are found by themselves")] = None,
    only_redistributable: Annotated[
        bool, typer.Option("--only-redistributable", help="leave out what may not be passed on instead of refusing")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Write a run's finished encounters for other programs. What may not be passed on is refused."""
    from ui.run_export import export

    export(folder, out, form, cases, only_redistributable, as_json)
