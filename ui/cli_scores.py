"""The commands that score traces and compare scores; see ui.cli."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ui.cli_vocab import JsonOption

TracesArgument = Annotated[Path, typer.Argument(help="run folder or traces.jsonl")]
CasesOption = Annotated[str | None, typer.Option("--cases", help="where the cases are; bundled ones are found by themselves")]
ProfilesOption = Annotated[
    str, typer.Option("--profiles", help="auto (by source), ddxplus, curated, or a file of `profiles build`", envvar="BEDSIDE_PROFILES")
]
ParamsOption = Annotated[Path | None, typer.Option("--params", help="TOML or JSON file of scoring parameters")]


def score(
    traces: TracesArgument,
    cases: CasesOption = None,
    profiles: ProfilesOption = "auto",
    params: ParamsOption = None,
    out: Annotated[Path | None, typer.Option("--out", help="write one scorecard a line")] = None,
    table: Annotated[
        list[Path] | None, typer.Option("--table", help="write a table, one row a dialogue: .csv or .parquet; repeatable")
    ] = None,
    explain: Annotated[
        str | None, typer.Option("--explain", help="trace id (or its beginning) or number: how its scores came about, turn by turn")
    ] = None,
    processes: Annotated[int | None, typer.Option("--processes", min=1, help="default: one a core, but one for a short run")] = None,
    quiet: Annotated[bool, typer.Option("--quiet", help="no progress")] = False,
    as_json: JsonOption = False,
) -> None:
    """Score traces: recomputed from the traces alone, as often as you like. A wrong trace is named and left out: exit code 4."""
    from ui.scoring import score_traces

    raise typer.Exit(score_traces(traces, cases, profiles, params, out, as_json, tuple(table or ()), explain, processes, quiet))


def compare(
    a: Annotated[Path, typer.Argument(help="run folder or traces.jsonl", metavar="A")],
    b: Annotated[Path, typer.Argument(help="another, or the same with another examiner", metavar="B")],
    examiner_a: Annotated[str | None, typer.Option("--examiner-a", help="which examiner of A, if it holds several")] = None,
    examiner_b: Annotated[str | None, typer.Option("--examiner-b", help="which examiner of B")] = None,
    cases: CasesOption = None,
    profiles: ProfilesOption = "auto",
    params: ParamsOption = None,
    metric: Annotated[
        list[str] | None, typer.Option("--metric", help="test these, corrected by Holm; repeatable; default: the headline scores")
    ] = None,
    by: Annotated[list[str] | None, typer.Option("--by", help="only these strata; repeatable; see docs/scoring.md")] = None,
    seed: Annotated[int, typer.Option("--seed", min=0, help="of bootstrap and permutations")] = 0,
    everything: Annotated[bool, typer.Option("--all", help="show all metrics")] = False,
    as_json: JsonOption = False,
) -> None:
    """Compare two examiners on the same cases: paired differences with intervals, tests, effect sizes, corrected p values, by stratum."""
    from ui.compare import CompareOptions, compare_runs

    metrics, strata = tuple(metric or ()), tuple(by or ())
    options = CompareOptions(a, b, examiner_a, examiner_b, cases, profiles, params, metrics, strata, seed, everything, as_json)
    raise typer.Exit(compare_runs(options))


def sensitivity(
    traces: TracesArgument,
    cases: CasesOption = None,
    profiles: ProfilesOption = "auto",
    params: ParamsOption = None,
    vary: Annotated[
        list[str] | None,
        typer.Option("--vary", help="NAME=VALUE,VALUE: other values of a parameter; repeatable; default: tau, theta, beta"),
    ] = None,
    everything: Annotated[bool, typer.Option("--all", help="show settings that change no rank, too")] = False,
    as_json: JsonOption = False,
) -> None:
    """Rank the examiners of a run under other thresholds and weights, and say which ranks change."""
    from ui.compare import show_sensitivity

    raise typer.Exit(show_sensitivity(traces, cases, profiles, params, tuple(vary or ()), everything, as_json))


def report(
    traces: TracesArgument,
    out: Annotated[Path, typer.Option("--out", help="HTML file to write")],
    cases: CasesOption = None,
    profiles: ProfilesOption = "auto",
    params: ParamsOption = None,
    worst: Annotated[int, typer.Option("--worst", min=0, help="show so many of each examiner's worst encounters in full")] = 3,
) -> None:
    """Write a run as one HTML file that needs no network: tables, charts, worst encounters with their transcripts."""
    from ui.report.page import write_report

    raise typer.Exit(write_report(traces, out, cases, profiles, params, worst))


def add_score_commands(app: typer.Typer) -> None:
    """Put the commands on the main command."""
    for command in (score, compare, sensitivity, report):
        app.command()(command)
