"""The `bedside` command. Every command is a thin layer over a public function; heavy modules are imported where they are used."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(
    name="bedside",
    help="Interactive multi-turn diagnostic simulator and arena. Simulated patients; research and education only, not medical advice.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
cases_app = typer.Typer(help="Import cases and look at them.", no_args_is_help=True, rich_markup_mode=None)
profiles_app = typer.Typer(help="Disease profiles: how often each feature occurs.", no_args_is_help=True, rich_markup_mode=None)
vocab_app = typer.Typer(
    help="Vocabularies: build one from a UMLS release, look phrases up, compare.", no_args_is_help=True, rich_markup_mode=None
)
app.add_typer(cases_app, name="cases")
app.add_typer(profiles_app, name="profiles")
app.add_typer(vocab_app, name="vocab")

CasesOption = Annotated[str, typer.Option("--cases", help="starter, ddxplus-form, or a file or folder of cases", envvar="BEDSIDE_CASES")]
ProfilesOption = Annotated[
    str, typer.Option("--profiles", help="auto (by source), ddxplus, curated, or a file of `profiles build`", envvar="BEDSIDE_PROFILES")
]
SeedOption = Annotated[int, typer.Option("--seed", min=0, help="the only source of chance")]
LimitOption = Annotated[int | None, typer.Option("--limit", min=1, help="at most so many cases")]
TurnsOption = Annotated[int, typer.Option("--max-turns", min=0, help="examiner turns before the final answer is due")]
VocabOption = Annotated[
    str | None, typer.Option("--vocab", help="name or folder of a built vocabulary; default: the bundled one", envvar="BEDSIDE_VOCAB")
]
JsonOption = Annotated[bool, typer.Option("--json", help="machine-readable output")]


@app.command()
def version() -> None:
    """Print the versions that determine results."""
    from ui.commands import show_version

    show_version()


@app.command()
def schema(
    name: Annotated[str | None, typer.Argument(help="a document's name; without one, all are listed")] = None,
) -> None:
    """Print the JSON Schema of a stored document."""
    from ui.commands import show_schema

    show_schema(name)


@app.command()
def demo() -> None:
    """Run the reference examiners over the bundled cases and print the scores."""
    from ui.runs import demo as run_demo

    raise typer.Exit(run_demo())


@app.command()
def run(
    out: Annotated[Path, typer.Option("--out", help="run folder; started again, it goes on")],
    cases: CasesOption = "starter",
    examiner: Annotated[
        list[str] | None, typer.Option("--examiner", help="hasty, checklist, infogain-fast, script:FILE or model; repeatable")
    ] = None,
    profiles: ProfilesOption = "auto",
    seed: SeedOption = 1,
    repeats: Annotated[int, typer.Option("--repeats", min=1, help="seeds per case: seed, seed+1, …")] = 1,
    limit: LimitOption = None,
    max_turns: TurnsOption = 20,
    concurrency: Annotated[int, typer.Option("--concurrency", min=1, help="encounters under way at once")] = 8,
    base_url: Annotated[str | None, typer.Option("--base-url", help="OpenAI-compatible endpoint, e.g. http://localhost:8000/v1")] = None,
    model: Annotated[str | None, typer.Option("--model", help="the model's name at that endpoint")] = None,
    api_key_env: Annotated[str | None, typer.Option("--api-key-env", help="NAME of the variable that holds the key")] = None,
    trusted_endpoint: Annotated[
        list[str] | None, typer.Option("--trusted-endpoint", help="base URL that may get cases that must not be passed on; repeatable")
    ] = None,
    temperature: Annotated[float | None, typer.Option("--temperature", min=0, max=2)] = None,
    timeout: Annotated[float, typer.Option("--timeout", min=0.1, help="seconds for one request")] = 120.0,
    max_retries: Annotated[int, typer.Option("--max-retries", min=0, help="further tries after a fault of the endpoint")] = 5,
    force: Annotated[bool, typer.Option("--force", help="go on in a folder made with other settings")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="no progress")] = False,
    as_json: JsonOption = False,
) -> None:
    """Play cases with examiners. Interrupt it and start it again: finished encounters are kept, none is repeated."""
    from ui.runs import EndpointOptions, RunOptions, run_cases

    endpoint = EndpointOptions(base_url, model, api_key_env, tuple(trusted_endpoint or ()), temperature, timeout, max_retries)
    names = tuple(examiner or ("infogain-fast",))
    options = RunOptions(out, cases, names, profiles, seed, repeats, limit, max_turns, concurrency, endpoint, force, quiet, as_json)
    raise typer.Exit(run_cases(options))


@app.command()
def score(
    traces: Annotated[Path, typer.Argument(help="run folder or traces.jsonl")],
    cases: Annotated[str | None, typer.Option("--cases", help="where the cases are; bundled ones are found by themselves")] = None,
    profiles: ProfilesOption = "auto",
    params: Annotated[Path | None, typer.Option("--params", help="TOML or JSON file of scoring parameters")] = None,
    out: Annotated[Path | None, typer.Option("--out", help="write one scorecard a line")] = None,
    as_json: JsonOption = False,
) -> None:
    """Score traces: recomputed from the traces alone, as often as you like."""
    from ui.scoring import score_traces

    raise typer.Exit(score_traces(traces, cases, profiles, params, out, as_json))


@app.command()
def play(
    cases: CasesOption = "starter",
    case: Annotated[str | None, typer.Option("--case", help="number in the list, or case id; without it, chosen by the seed")] = None,
    seed: SeedOption = 1,
    max_turns: TurnsOption = 20,
    save: Annotated[Path | None, typer.Option("--save", help="append the trace to this file")] = None,
    name: Annotated[str, typer.Option("--name", help="how the trace names you; a pseudonym, please")] = "player",
) -> None:
    """Be the examiner, here in the terminal."""
    from ui.play import play_case

    raise typer.Exit(play_case(cases, case, seed, max_turns, save, name))


@app.command()
def replay(
    traces: Annotated[Path, typer.Argument(help="run folder or traces.jsonl")],
    trace: Annotated[str | None, typer.Option("--trace", help="trace id (or its beginning) or number; without it, the first")] = None,
    concepts: Annotated[bool, typer.Option("--concepts/--no-concepts", help="show what each turn was understood to mean")] = True,
) -> None:
    """Print a recorded dialogue, with the concepts found in it."""
    from ui.play import replay_trace

    raise typer.Exit(replay_trace(traces, trace, concepts))


@app.command()
def ui(
    host: Annotated[str, typer.Option("--host", help="address to listen on", envvar="BEDSIDE_HOST")] = "127.0.0.1",
    port: Annotated[int | None, typer.Option("--port", min=1, max=65535, help="default: 7860 or the next free one")] = None,
    cases: Annotated[str | None, typer.Option("--cases", help="cases to offer beside the bundled ones")] = None,
    save: Annotated[Path | None, typer.Option("--save", help="folder for finished traces", envvar="BEDSIDE_SAVE")] = None,
    auth_file: Annotated[
        Path | None, typer.Option("--auth-file", help="lines user:password; required when not on loopback", envvar="BEDSIDE_AUTH_FILE")
    ] = None,
) -> None:
    """Open the web app: play a case against the simulated patient in the browser."""
    from ui.web.launch import launch_page

    launch_page(host, port, cases, save, auth_file)


@app.command("language-cost")
def language_cost(
    cases: CasesOption = "ddxplus-form",
    examiner: Annotated[str, typer.Option("--examiner", help="a reference examiner")] = "infogain-fast",
    profiles: ProfilesOption = "auto",
    seed: SeedOption = 1,
    limit: LimitOption = None,
    max_turns: TurnsOption = 20,
    as_json: JsonOption = False,
) -> None:
    """Play an examiner in words and on concept ids: the difference is what language understanding costs."""
    from ui.language_cost import measure

    raise typer.Exit(measure(cases, examiner, profiles, seed, limit, max_turns, as_json))


@cases_app.command("import")
def cases_import(
    source: Annotated[str, typer.Argument(help="ddxplus")],
    folder: Annotated[Path, typer.Argument(help="folder of the release")],
    out: Annotated[Path, typer.Option("--out", help="cases.jsonl or cases.jsonl.gz")],
    split: Annotated[list[str] | None, typer.Option("--split", help="train, validate or test; repeatable; default all")] = None,
    limit: Annotated[int | None, typer.Option("--limit", min=1, help="at most so many rows a file")] = None,
    quiet: Annotated[bool, typer.Option("--quiet", help="no progress")] = False,
) -> None:
    """Import cases. Broken rows are reported with file, line and reason, and kept out; the exit code says so."""
    from ui.cases import import_cases

    raise typer.Exit(import_cases(source, folder, out, tuple(split or ()), limit, quiet))


@cases_app.command("list")
def cases_list(cases: CasesOption = "starter", limit: LimitOption = None, as_json: JsonOption = False) -> None:
    """List cases, without their diagnoses."""
    from ui.cases import list_cases

    list_cases(cases, limit, as_json)


@cases_app.command("show")
def cases_show(
    case: Annotated[str, typer.Argument(help="number in the list, or case id")],
    cases: CasesOption = "starter",
    truth: Annotated[bool, typer.Option("--truth", help="show the diagnosis too")] = False,
    as_json: JsonOption = False,
) -> None:
    """Show one case; the truth only when asked for."""
    from ui.cases import show_case

    show_case(cases, case, truth, as_json)


@cases_app.command("stats")
def cases_stats(cases: CasesOption = "starter", as_json: JsonOption = False) -> None:
    """Count cases by source, diagnosis, age, sex and facts."""
    from ui.cases import count_cases

    count_cases(cases, as_json)


@profiles_app.command("build")
def profiles_build(
    cases: Annotated[str, typer.Option("--cases", help="closed-world cases to count over")],
    out: Annotated[Path, typer.Option("--out", help="profile file to write (.jsonl)")],
    name: Annotated[str, typer.Option("--name", help="the set's name")] = "counted",
    split: Annotated[list[str] | None, typer.Option("--split", help="count these splits only; repeatable")] = None,
) -> None:
    """Count features over cases. Never over those you will score."""
    from ui.cases import build_profile_file

    build_profile_file(cases, out, name, tuple(split or ()))


@profiles_app.command("show")
def profiles_show(
    disease: Annotated[str | None, typer.Argument(help="disease id; without one, all are listed")] = None,
    profiles: Annotated[str, typer.Option("--profiles", help="ddxplus, curated, or a file")] = "curated",
) -> None:
    """Show a disease's features with their weights and sources."""
    from ui.cases import show_profiles

    show_profiles(profiles, disease)


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


def main() -> None:
    """Entry point: a user's mistake is one line on stderr and exit code 2; an interrupt is 130."""
    from ontology.errors import BedsideError

    try:
        app()
    except BedsideError as error:
        sys.stderr.write(f"bedside: {error.line()}\n")
        sys.exit(2)
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(141)
    except KeyboardInterrupt:
        sys.stderr.write("bedside: interrupted\n")
        sys.exit(130)


if __name__ == "__main__":
    main()
