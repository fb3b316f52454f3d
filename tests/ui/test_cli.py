"""The `bedside` command: what every command does with good input; see test_cli_mistakes.py and test_cli_runs.py for the rest."""

from __future__ import annotations

import io
import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
import pytest
import typer.main

from ontology.profiles import load_profiles
from simulator.cases_io import read_cases
from simulator.traces_io import read_traces
from ui import cli
from ui.wiring import bundled_cases, starter_cases

ROOT = Path(__file__).parents[2]
FORM = str(ROOT / "data" / "ddxplus_form")


@dataclass(frozen=True)
class Done:
    """How a command ended, and what it printed."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """Its output as JSON."""
        return json.loads(self.out)

    @property
    def json_lines(self) -> list[Any]:
        return [json.loads(line) for line in self.out.splitlines()]


Bedside = Callable[..., Done]


@pytest.fixture
def bedside(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Bedside:
    """Runs the command's entry point in an empty working folder."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments: str, typed: str = "") -> Done:
        monkeypatch.setattr(sys, "argv", ["bedside", *arguments])
        monkeypatch.setattr(sys, "stdin", io.StringIO(typed))
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            cli.main()
        printed = capsys.readouterr()
        code = ended.value.code
        return Done(code if isinstance(code, int) else 0 if code is None else 1, printed.out, printed.err)

    return run


def good(done: Done) -> Done:
    assert done.code == 0, done.err
    assert "Traceback" not in done.err
    return done


# -- what there is ---------------------------------------------------------------------------------------------------------------------


def test_help_lists_every_command_and_starts_light() -> None:
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "ui.cli", "--help"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0
    for name in ("version", "schema", "demo", "run", "score", "play", "replay", "ui", "language-cost", "cases", "profiles"):
        assert re.search(rf"^\s+{name}\s", done.stdout, re.MULTILINE), name
    assert "not medical advice" in done.stdout
    for heavy in ("gradio", "openai", "numpy"):
        assert f" {heavy}\n" not in done.stderr


@pytest.mark.parametrize(
    "arguments", [["--help"], ["run", "--help"], ["cases", "--help"], ["cases", "import", "--help"], ["profiles", "--help"]]
)
def test_help_is_no_mistake(bedside: Bedside, arguments: list[str]) -> None:
    assert "Usage: " in good(bedside(*arguments)).out


def commands(group: click.Command, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    children = getattr(group, "commands", None)
    if children is None:
        yield path, group
    for name, child in (children or {}).items():
        yield from commands(child, (*path, name))


def test_every_option_and_command_says_what_it_is_for() -> None:
    for path, command in commands(typer.main.get_command(cli.app)):
        assert command.help, path
        for parameter in command.params:
            assert parameter.name == "help" or getattr(parameter, "help", None), (path, parameter.name)


def documented() -> list[str]:
    text = "\n".join(path.read_text(encoding="utf-8") for path in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))])
    return sorted({line.split("#")[0].strip() for line in re.findall(r"^\s*(?:\$ )?(bedside .*)$", text, re.MULTILINE)})


@pytest.mark.parametrize("line", documented())
def test_every_command_in_the_documentation_can_be_parsed(line: str) -> None:
    words = shlex.split(line)[1:]
    command = typer.main.get_command(cli.app)
    context = click.Context(command, info_name="bedside")
    while getattr(command, "commands", None) and words and not words[0].startswith("-"):
        name = words.pop(0)
        assert name in command.commands, line  # type: ignore[attr-defined]
        command = command.commands[name]  # type: ignore[attr-defined]
        context = click.Context(command, info_name=name, parent=context)
    if not getattr(command, "commands", None):
        command.parse_args(context, words)  # raises at an option that does not exist


def test_version_names_all_that_determines_results(bedside: Bedside) -> None:
    out = good(bedside("version")).out
    for what in ("bedside ", "scorer ", "vocabulary ", "HPO 20", "pool bedside-en ", "profiles ddxplus ", "icd-10 "):
        assert what in out
    assert good(bedside("version")).out == out


def test_schemas_are_listed_and_printed(bedside: Bedside) -> None:
    names = good(bedside("schema")).out.split()
    assert {"PatientVector", "DialogueTrace", "Scorecard", "UtterancePool"} <= set(names)
    for name in names:
        printed = good(bedside("schema", name)).json
        assert printed["title"] == name and printed["additionalProperties"] is False


# -- cases -----------------------------------------------------------------------------------------------------------------------------


def truth_words() -> list[str]:
    return [case.ground_truth.primary.name for case in bundled_cases()]


@pytest.mark.parametrize("cases", ["starter", "ddxplus-form"])
@pytest.mark.parametrize("as_json", [[], ["--json"]])
def test_cases_are_listed_without_their_diagnoses(bedside: Bedside, cases: str, as_json: list[str]) -> None:
    out = good(bedside("cases", "list", "--cases", cases, *as_json)).out
    assert len(re.findall(r"case-[0-9a-f]{12}", out)) == (len(starter_cases()) if cases == "starter" else 12)
    assert not any(name.lower() in out.lower() for name in truth_words())


def test_a_limit_limits_the_list(bedside: Bedside) -> None:
    assert len(good(bedside("cases", "list", "--cases", "ddxplus-form", "--limit", "3", "--json")).json_lines) == 3


def test_a_case_is_shown_without_its_truth_unless_asked_for(bedside: Bedside) -> None:
    case = starter_cases()[0]
    name = case.ground_truth.primary.name
    for wanted in ("1", case.case_id):
        assert name not in good(bedside("cases", "show", wanted)).out
        assert f"diagnosis: {name}" in good(bedside("cases", "show", wanted, "--truth")).out
        assert "ground_truth" not in good(bedside("cases", "show", wanted, "--json")).json
        assert good(bedside("cases", "show", wanted, "--truth", "--json")).json == case.model_dump(mode="json")


def test_cases_are_counted(bedside: Bedside) -> None:
    counts = good(bedside("cases", "stats", "--cases", "ddxplus-form", "--json")).json
    assert (counts["cases"], counts["sources"], counts["codes_replaced"], counts["not_redistributable"]) == (12, {"ddxplus": 12}, 2, 0)
    assert sum(counts["diagnoses"].values()) == 12 and counts["truth_first_in_differential"] == 9
    assert f"cases: {len(starter_cases())}\n" in good(bedside("cases", "stats")).out


def test_a_release_is_imported_and_read_back(bedside: Bedside) -> None:
    done = good(bedside("cases", "import", "ddxplus", FORM, "--out", "form.jsonl.gz"))
    assert done.out == "12 cases written to form.jsonl.gz; 12 rows read, 0 left out\n"
    assert done.err == "release_demo_patients.csv: 12 cases\n"
    cases = list(read_cases("form.jsonl.gz"))
    assert [case.ground_truth.primary.name for case in cases] == truth_words()[len(starter_cases()) :]
    quiet = good(bedside("cases", "import", "ddxplus", FORM, "--out", "again.jsonl.gz", "--quiet"))
    assert quiet.err == ""
    assert Path("again.jsonl.gz").read_bytes() == Path("form.jsonl.gz").read_bytes()
    assert len(good(bedside("cases", "list", "--cases", "form.jsonl.gz", "--json")).json_lines) == 12


def test_an_import_may_be_limited(bedside: Bedside) -> None:
    good(bedside("cases", "import", "ddxplus", FORM, "--out", "three.jsonl", "--limit", "3"))
    assert len(list(read_cases("three.jsonl"))) == 3


def test_the_cases_option_may_stand_in_the_environment(bedside: Bedside, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BEDSIDE_CASES", "ddxplus-form")
    assert len(good(bedside("cases", "list", "--json")).json_lines) == 12


# -- profiles --------------------------------------------------------------------------------------------------------------------------


def test_profiles_are_counted_over_cases_and_say_so(bedside: Bedside) -> None:
    good(bedside("cases", "import", "ddxplus", FORM, "--out", "form.jsonl"))
    out = good(bedside("profiles", "build", "--cases", "form.jsonl", "--out", "p.jsonl", "--name", "mine")).out
    assert out.startswith("12 diseases counted over 12 cases, written to p.jsonl (version ")
    profiles = load_profiles("p.jsonl")
    assert profiles.header.profile_set == "mine" and len(profiles.header.counted_cases) == 12
    pneumonia = profiles["ddx-pneumonia"]
    assert {(f.k, f.n) for f in pneumonia.features} == {(1, 1)} and pneumonia.n == 1
    assert "ddx-pneumonia" in good(bedside("profiles", "show", "--profiles", "p.jsonl")).out
    assert "Fever" in good(bedside("profiles", "show", "ddx-pneumonia", "--profiles", "p.jsonl")).out


def test_bundled_profiles_are_shown(bedside: Bedside) -> None:
    assert good(bedside("profiles", "show")).out.startswith("curated: ")
    assert "ddx-ebola" in good(bedside("profiles", "show", "--profiles", "ddxplus")).out


# -- play, replay ----------------------------------------------------------------------------------------------------------------------

APPENDICITIS = str(1 + next(i for i, case in enumerate(starter_cases()) if case.ground_truth.disease_id == "appendicitis"))
VISIT = (
    "Hello.\n/help\n\nDo you feel sick or have you vomited?\n/commit\n\nAcute appendicitis, 80%\nGastroenteritis\n\n2\nsurgery; fluids\n\n"
)


def test_a_case_is_played_from_typed_lines_scored_and_saved(bedside: Bedside) -> None:
    done = good(bedside("play", "--case", APPENDICITIS, "--save", "mine.jsonl", "--name", "ada", typed=VISIT))
    assert "Simulated patient. Research and education only; not medical advice." in done.out
    assert done.out.count("/commit gives your diagnosis") == 2
    assert "The diagnosis: Acute appendicitis (K35" in done.out
    assert done.out.index("patient: ") < done.out.index("The diagnosis: ")
    (trace,) = read_traces("mine.jsonl")
    assert (trace.examiner.kind, trace.examiner.id) == ("human", "ada")
    assert trace.outcome is not None
    assert [(item.name, item.prob) for item in trace.outcome.ranked] == [("Acute appendicitis", 0.8), ("Gastroenteritis", None)]
    assert (trace.outcome.triage_level, trace.outcome.treatments) == (2, ["surgery", "fluids"])


def test_played_traces_are_appended_and_can_be_scored_and_replayed(bedside: Bedside) -> None:
    for seed in "12":
        good(bedside("play", "--case", APPENDICITIS, "--seed", seed, "--save", "mine.jsonl", typed=VISIT))
    assert len(list(read_traces("mine.jsonl"))) == 2
    assert good(bedside("score", "mine.jsonl", "--json")).json["n_traces"] == 2
    assert "examiner Hello." in good(bedside("replay", "mine.jsonl", "--trace", "2")).out


def test_a_file_whose_last_line_has_no_end_is_not_glued_to_the_next_trace(bedside: Bedside) -> None:
    good(bedside("play", "--case", APPENDICITIS, "--save", "mine.jsonl", typed=VISIT))
    Path("mine.jsonl").write_bytes(Path("mine.jsonl").read_bytes().rstrip(b"\n"))
    good(bedside("play", "--case", "2", "--save", "mine.jsonl", typed=VISIT))
    assert len(list(read_traces("mine.jsonl"))) == 2


@pytest.mark.parametrize("typed", ["/quit\n", "", "Hello.\n", "/commit\n"])
def test_leaving_is_no_mistake_and_shows_no_truth(bedside: Bedside, typed: str) -> None:
    done = good(bedside("play", "--case", APPENDICITIS, typed=typed))
    assert "left without a diagnosis; not scored" in done.out
    assert "ppendicitis" not in done.out


def test_input_that_ends_after_a_diagnosis_commits_it(bedside: Bedside) -> None:
    """The rest of the form is optional: nothing that was typed is lost."""
    done = good(bedside("play", "--case", APPENDICITIS, typed="/commit\nFlu\n"))
    assert "not scored" not in done.out and "The diagnosis: Acute appendicitis" in done.out


def test_a_line_that_the_encounter_would_cut_to_nothing_is_asked_for_again(bedside: Bedside) -> None:
    done = good(bedside("play", "--case", APPENDICITIS, typed="Patient: my head hurts.\n<think>hm\nHello.\n/quit\n"))
    assert done.out.count("Write it as your own question or order.") == 2
    assert done.out.count("\npatient: ") + done.out.count("> patient: ") == 2


def test_when_the_turns_are_used_up_the_diagnosis_is_asked_for(bedside: Bedside) -> None:
    done = good(bedside("play", "--case", APPENDICITIS, "--max-turns", "1", typed="Hello.\nK35\n\n\n\n\n"))
    assert "The time for questions is over" in done.out and "The diagnosis: " in done.out


def test_without_a_case_the_seed_chooses(bedside: Bedside) -> None:
    openings = {good(bedside("play", "--seed", str(seed), typed="/quit\n")).out for seed in range(8)}
    assert 3 <= len(openings) <= len(starter_cases())
    assert good(bedside("play", "--seed", "4", typed="/quit\n")).out in openings


# -- language cost ---------------------------------------------------------------------------------------------------------------------


def test_the_cost_of_language_is_measured(bedside: Bedside) -> None:
    measured = good(bedside("language-cost", "--json")).json
    assert (measured["n"], measured["examiner"]) == (12, "infogain-fast")
    assert set(measured["ways"]) == {"words", "concept ids"}
    words, ids = measured["ways"]["words"], measured["ways"]["concept ids"]
    assert words["top1"] >= 10 and words["top5"] >= words["top1"]
    assert measured["cost_top1"] == pytest.approx((ids["top1"] - words["top1"]) / 12)
    assert "points of top-1 accuracy" in good(bedside("language-cost", "--limit", "2", "--examiner", "hasty")).out


def test_output_stays_plain_where_it_is_no_terminal(bedside: Bedside) -> None:
    for arguments in (["cases", "list"], ["profiles", "show"], ["cases", "stats"]):
        assert "\x1b[" not in good(bedside(*arguments)).out


def test_a_reader_that_stops_early_gets_no_traceback() -> None:
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(
        [sys.executable, "-m", "ui.cli", "cases", "list", "--json"], cwd=ROOT, stdout=writer, stderr=subprocess.PIPE, text=True, check=False
    )
    os.close(writer)
    assert "Traceback" not in done.stderr and done.returncode != 0
