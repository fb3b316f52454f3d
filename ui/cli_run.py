"""The `bedside run` command; see ui.cli."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ui.cli_options import CasesOption, JsonOption, LimitOption, ProfilesOption, SeedOption, TurnsOption

OutOption = Annotated[Path | None, typer.Option("--out", help="run folder; started again, it goes on")]
ConfigOption = Annotated[
    Path | None,
    typer.Option("--config", help="run definition (TOML) in place of the options on cases, examiners and models; see docs/runs.md"),
]
ExaminerOption = Annotated[
    list[str] | None, typer.Option("--examiner", help="hasty, checklist, infogain-fast, script:FILE or model; repeatable")
]
BaseUrlOption = Annotated[str | None, typer.Option("--base-url", help="OpenAI-compatible endpoint, e.g. http://localhost:8000/v1")]
KeyOption = Annotated[str | None, typer.Option("--api-key-env", help="NAME of the variable that holds the key")]
TrustedOption = Annotated[
    list[str] | None, typer.Option("--trusted-endpoint", help="base URL that may get cases that must not be passed on; repeatable")
]
TemperatureOption = Annotated[float | None, typer.Option("--temperature", min=0, max=2, help="of sampling; without it, the endpoint's own")]
PatienceOption = Annotated[
    float, typer.Option("--patience", min=0, help="seconds for which an endpoint that fails time and again is tried before it is given up")
]
TriesOption = Annotated[
    int, typer.Option("--second-tries", min=0, help="how often an encounter that an endpoint broke is played again, after all others")
]

WITH_DEFINITION = frozenset({"out", "config", "dry_run", "patience", "second_tries", "start_anyway", "cache", "force", "quiet", "as_json"})
"""Options that say how, not what; the rest would contradict a definition."""


def run(
    context: typer.Context,
    out: OutOption = None,
    config: ConfigOption = None,
    cases: CasesOption = "starter",
    examiner: ExaminerOption = None,
    profiles: ProfilesOption = "auto",
    seed: SeedOption = 1,
    repeats: Annotated[int, typer.Option("--repeats", min=1, help="seeds per case: seed, seed+1, …")] = 1,
    limit: LimitOption = None,
    max_turns: TurnsOption = 20,
    concurrency: Annotated[int, typer.Option("--concurrency", min=1, help="encounters under way at once, for each endpoint")] = 8,
    base_url: BaseUrlOption = None,
    model: Annotated[str | None, typer.Option("--model", help="the model's name at that endpoint")] = None,
    api_key_env: KeyOption = None,
    trusted_endpoint: TrustedOption = None,
    temperature: TemperatureOption = None,
    timeout: Annotated[float, typer.Option("--timeout", min=0.1, help="seconds for one request")] = 120.0,
    max_retries: Annotated[int, typer.Option("--max-retries", min=0, help="further tries after a fault of the endpoint")] = 5,
    patience: PatienceOption = 600.0,
    second_tries: TriesOption = 1,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="only tell the encounters, calls, tokens and cost to be expected")] = False,
    start_anyway: Annotated[bool, typer.Option("--start-anyway", help="start though one of several models does not answer")] = False,
    cache: Annotated[Path | None, typer.Option("--cache", help="file of models' answers: what was asked before is not asked again")] = None,
    force: Annotated[bool, typer.Option("--force", help="go on in a folder made with other settings")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="no progress")] = False,
    as_json: JsonOption = False,
) -> None:
    """Play cases with examiners. Interrupt it and start it again: finished encounters are kept, none is repeated."""
    from simulator.batch import Policy
    from ui.runs import EndpointOptions, Manner, RunOptions, run_cases, run_config

    policy = Policy(patience_s=patience, rounds=second_tries)
    manner = Manner(force, quiet, as_json, dry_run, start_anyway, cache, policy)
    if config is not None:
        _refuse_others(context)
        raise typer.Exit(run_config(config, out, manner))
    if out is None:
        raise typer.BadParameter("no run folder is named: give --out")
    endpoint = EndpointOptions(base_url, model, api_key_env, tuple(trusted_endpoint or ()), temperature, timeout, max_retries)
    names = tuple(examiner or ("infogain-fast",))
    options = RunOptions(out, cases, names, profiles, seed, repeats, limit, max_turns, concurrency, endpoint, manner=manner)
    raise typer.Exit(run_cases(options))


def _refuse_others(context: typer.Context) -> None:
    from ontology.errors import BedsideError

    for parameter in context.command.params:
        name = parameter.name or ""
        source = context.get_parameter_source(name)
        if name not in WITH_DEFINITION and source is not None and source.name == "COMMANDLINE":
            raise BedsideError(f"{parameter.opts[0]} cannot be given beside --config", "bedside run", "write it into the definition")
