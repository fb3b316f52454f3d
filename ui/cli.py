"""The `bedside` command. Every command is a thin layer over a public function; heavy modules are imported where they are used."""

from __future__ import annotations

import atexit
import gc
import io
import sys
from pathlib import Path
from typing import Annotated

import typer

from ui.cli_annotate import annotate
from ui.cli_kb import kb_app
from ui.cli_options import CasesOption, JsonOption, LimitOption, ProfilesOption, SeedOption, TurnsOption
from ui.cli_run import run
from ui.cli_runs import runs_app
from ui.cli_scores import add_score_commands
from ui.cli_statistics import agreement, rank
from ui.cli_vocab import vocab_app

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
icd_app = typer.Typer(help="ICD-10-CM: codes, names, and how far diagnoses are apart.", no_args_is_help=True, rich_markup_mode=None)
app.add_typer(cases_app, name="cases")
app.add_typer(profiles_app, name="profiles")
app.add_typer(icd_app, name="icd")
app.add_typer(vocab_app, name="vocab")
app.add_typer(kb_app, name="kb")
app.add_typer(runs_app, name="runs")
app.command()(annotate)
add_score_commands(app)
app.command()(agreement)
app.command()(rank)

USAGE_ERROR: type[Exception] = typer.BadParameter.__mro__[2]
"""What Typer raises for a wrong option or command; it carries its own copy of Click and names this class nowhere in public."""


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


app.command()(run)


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
def ask(
    case: Annotated[str, typer.Argument(help="case id, or number in the list")],
    questions: Annotated[list[str], typer.Argument(help="one turn each, in order")],
    cases: CasesOption = "starter",
    seed: SeedOption = 1,
    as_json: JsonOption = False,
) -> None:
    """Put questions to a patient and see what was understood, and which facts answer."""
    from ui.ask import ask_case

    raise typer.Exit(ask_case(cases, case, questions, seed, as_json))


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


@icd_app.command("show")
def icd_show(
    code: Annotated[str, typer.Argument(help="a code in any spelling, e.g. i2102; also a block or chapter")],
    as_json: JsonOption = False,
) -> None:
    """Show a code with what lies above and below it."""
    from ui.icd import show_code

    raise typer.Exit(show_code(code, as_json))


@icd_app.command("search")
def icd_search(
    name: Annotated[str, typer.Argument(help="a name, its beginning, an abbreviation, or the beginning of a code")],
    limit: Annotated[int, typer.Option("--limit", min=1, help="at most so many")] = 10,
    as_json: JsonOption = False,
) -> None:
    """Find codes by name. Typing errors, word order, plural and British spelling do not matter."""
    from ui.icd import search_names

    raise typer.Exit(search_names(name, limit, as_json))


@icd_app.command("normalise")
def icd_normalise(
    text: Annotated[str, typer.Argument(help="a diagnosis: codes, a name, or both")],
    as_json: JsonOption = False,
) -> None:
    """Read a diagnosis as scoring reads it, and tell how. Exit code 1: it could not be resolved."""
    from ui.icd import normalise_text

    raise typer.Exit(normalise_text(text, as_json))


@icd_app.command("distance")
def icd_distance(
    prediction: Annotated[str, typer.Argument(help="what was answered: a code or a name")],
    truth: Annotated[str, typer.Argument(help="what is true: a code or a name")],
    as_json: JsonOption = False,
) -> None:
    """Measure how far an answer is from the truth."""
    from ui.icd import measure_distance

    raise typer.Exit(measure_distance(prediction, truth, as_json))


def main() -> None:
    """Entry point: a user's mistake is one line on stderr and exit code 2; an interrupt is 130."""
    from ontology.errors import BedsideError

    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal that knows no "↓" gets a question mark, not a traceback
    atexit.register(gc.freeze)  # at its end a process would look through all that was ever loaded, for a quarter of a second
    try:
        code = app(standalone_mode=False)
        sys.exit(code if isinstance(code, int) else 0)
    except USAGE_ERROR as error:
        message = error.format_message()  # type: ignore[attr-defined]
        helping = message.startswith("Usage:")
        sys.stderr.write(f"{message}\n" if helping else f"bedside: {' '.join(message.split()).rstrip('.')}; see --help\n")
        sys.exit(2)
    except BedsideError as error:
        sys.stderr.write(f"bedside: {error.line()}\n")
        sys.exit(2)
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(141)
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        sys.stderr.write(f"bedside: {where}{error.strerror or error}\n")
        sys.exit(2)
    except KeyboardInterrupt:
        sys.stderr.write("bedside: interrupted\n")
        sys.exit(130)


if __name__ == "__main__":
    main()
