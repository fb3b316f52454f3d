"""`bedside run --config`: what a definition may say, what it refuses, how cases are chosen, and what a dry run tells."""

from __future__ import annotations

import asyncio
import json
import sys
import tomllib
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ontology.errors import BedsideError
from simulator.batch import BatchResult, Failure, Tally
from simulator.cases_io import write_cases
from simulator.store import RunFolder
from simulator.trace import Usage
from simulator.traces_io import read_traces
from ui import cli
from ui.case_choice import AGE_BANDS, CaseFilter, Sample, choose_cases, shares
from ui.run_config import CasesPart, EndpointPart, ExaminerPart, PricePart, RunDefinition, read_definition, setup
from ui.run_forecast import forecast
from ui.run_progress import Meter, Plain, duration
from ui.run_watch import InputWatch
from ui.wiring import ExaminerSpec, Price, bundled_cases

Command = Callable[..., tuple[int, str, str]]

MODEL = """
[[endpoints]]
name = "place"
base_url = "http://127.0.0.1:9/v1"
concurrency = 32
[[examiners]]
name = "doctor"
endpoint = "place"
model = "some/model"
revision = "abc"
temperature = 0.5
price = {prompt = 2.0, completion = 6.0, currency = "EUR"}
"""


@pytest.fixture
def bedside(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Command:
    """Runs the command's entry point in an empty folder."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["bedside", *arguments])
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            cli.main()
        printed = capsys.readouterr()
        return int(ended.value.code or 0), printed.out, printed.err

    return run


def written(text: str, name: str = "run.toml") -> Path:
    path = Path(name)
    path.parent.mkdir(exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


# -- the file ---------------------------------------------------------------------------------------------------------------------------


def test_a_definition_is_played_and_resumed(bedside: Command) -> None:
    written(
        'out = "r"\nseeds = [4, 9]\n[cases]\nsource = "ddxplus-form"\nlimit = 3\n[budget]\nmax_turns = 5\n[[examiners]]\nname = "hasty"\n'
    )
    assert bedside("run", "--config", "run.toml")[:2] == (0, "6 of 6 encounters in r\n")
    found = list(read_traces("r"))
    assert {(t.examiner.id, t.seed, t.budget.max_turns) for t in found} == {("hasty", 4, 5), ("hasty", 9, 5)}
    assert bedside("run", "--config", "run.toml")[:2] == (0, "6 of 6 encounters in r (6 were there already)\n")


def test_other_settings_are_told_field_by_field_and_refused(bedside: Command) -> None:
    text = 'out = "r"\n[cases]\nlimit = 1\n[[examiners]]\nname = "hasty"\n'
    written(text)
    assert bedside("run", "--config", "run.toml")[0] == 0
    written(text + '[[examiners]]\nname = "checklist"\n[budget]\nmax_turns = 7\n')
    code, _, err = bedside("run", "--config", "run.toml")
    assert code == 2 and "budget.max_turns (was 20, now 7), examiners[checklist] (is new)" in err and "--force" in err
    code, out, _ = bedside("run", "--config", "run.toml", "--dry-run")
    assert code == 0 and "other than in r: budget.max_turns (was 20, now 7)" in out
    assert bedside("run", "--config", "run.toml", "--force")[0] == 0


def test_paths_are_relative_to_the_definition(bedside: Command) -> None:
    Path("study").mkdir()
    write_cases("study/cases.jsonl", bundled_cases()[:2])
    Path("study/system.j2").write_text("Patient of {{ age }} years. Say {{ max_diagnoses }} diagnoses.", encoding="utf-8")
    text = 'out = "r"\n[cases]\nsource = "cases.jsonl"\n' + MODEL + 'system_prompt = "system.j2"\n'
    path = written(text, "study/run.toml")
    ready = setup(read_definition(path), path)
    assert ready.out == Path("study/r") and len(ready.plan.cases) == 2
    player = ready.plan.factory.make(ready.plan.examiners[0], ready.plan.cases[0]).player
    assert (player.id, player.model, player.revision, player.sampling["temperature"]) == ("doctor", "some/model", "abc", 0.5)
    plain = written(text.replace('system_prompt = "system.j2"\n', ""), "study/plain.toml")
    other = setup(read_definition(plain), plain)
    assert other.plan.factory.make(other.plan.examiners[0], other.plan.cases[0]).player.prompt_sha256 != player.prompt_sha256


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "examiners: Field required"),
        ('nonsense = 1\n[[examiners]]\nname = "hasty"', "nonsense: Extra inputs are not permitted"),
        ('[[examiners]]\nname = "hasty"\n[[examiners]]\nname = "hasty"', "two examiners are called 'hasty'"),
        ('[[examiners]]\nname = "m"\nmodel = "x"', "endpoint and model belong together"),
        ('[[examiners]]\nname = "m"\nmodel = "x"\nendpoint = "e"', "no [[endpoints]] table is called 'e'"),
        (MODEL.replace('"doctor"', '"hasty"'), "has a reference examiner's name"),
        (MODEL.replace("concurrency = 32", "concurrency = 0"), "endpoints.0.concurrency"),
        (MODEL.replace("concurrency = 32", 'api_key = "sk-very-secret"'), "a key must not be in the file"),
        (MODEL.replace("concurrency = 32", 'api_key_env = "sk-very-secret"'), "not the name of an environment variable"),
        (MODEL.replace("temperature = 0.5", "temperature = 9"), "temperature"),
        (MODEL + 'system_prompt = "gone.j2"', "cannot be read (No such file"),
        ('seeds = [1, 1]\n[[examiners]]\nname = "hasty"', "seeds must be different"),
        ('seeds = [1, 2]\nrepeats = 3\n[[examiners]]\nname = "hasty"', "repeats counts on from one seed"),
        ('[patient]\nkind = "model"\n[[examiners]]\nname = "hasty"', "patient.kind: Input should be 'embedded'"),
        ('[[examiners]]\nname = "nobody"', "no examiner is called 'nobody'"),
        ('[cases]\nsource = "gone.jsonl"\n[[examiners]]\nname = "hasty"', "no such file, folder or bundled set"),
        ('[cases.filter]\nsources = ["nowhere"]\n[[examiners]]\nname = "hasty"', "passes the filter"),
        ('[cases.filter]\nids = ["case-000000000000"]\n[[examiners]]\nname = "hasty"', "no case is called 'case-000000000000'"),
        ('[cases.sample]\nsize = 9999\n[[examiners]]\nname = "hasty"', "a sample of 9999 was asked for"),
        ('[cases.sample]\nby = ["sex"]\n[[examiners]]\nname = "hasty"', "give either size or per_stratum"),
        ('[[examiners]\nname = "hasty"', "not valid TOML"),
    ],
)
def test_a_mistake_is_one_line_and_nothing_begins(bedside: Command, text: str, words: str) -> None:
    written(text)
    code, out, err = bedside("run", "--config", "run.toml", "--out", "r")
    assert code == 2 and out == ""
    assert words in err and err.count("\n") == 1 and "sk-very-secret" not in err
    assert not Path("r/traces.jsonl").exists()


def test_the_definition_in_the_documentation_is_valid_and_names_every_field() -> None:
    text = (Path(__file__).parents[2] / "docs/runs.md").read_text(encoding="utf-8")
    example = text.split("```toml\n")[1].split("```")[0]
    found = RunDefinition.model_validate(tomllib.loads(example))
    assert found.endpoints[0].concurrency == 128 and found.examiners[1].price is not None
    for model in (RunDefinition, CaseFilter, Sample, CasesPart, EndpointPart, ExaminerPart, PricePart):
        assert [name for name in model.model_fields if name not in text] == []


@pytest.mark.parametrize("option", [("--seed", "3"), ("--cases", "starter"), ("--examiner", "hasty"), ("--model", "m")])
def test_options_that_would_contradict_the_definition_are_refused(bedside: Command, option: tuple[str, str]) -> None:
    written('[[examiners]]\nname = "hasty"')
    code, _, err = bedside("run", "--config", "run.toml", "--out", "r", *option)
    assert code == 2 and f"{option[0]} cannot be given beside --config" in err


def test_a_run_folder_must_be_named_somewhere(bedside: Command) -> None:
    written('[[examiners]]\nname = "hasty"')
    assert "no run folder is named" in bedside("run", "--config", "run.toml")[2]
    assert "no run folder is named" in bedside("run")[2]


@pytest.mark.parametrize("prompt", ["{{ nobody }}", "{% if %}", "{{ ''.__class__.__mro__ }}", "{{ 1 / 0 }}"])
def test_a_users_prompt_that_cannot_be_filled_in_or_reaches_out_is_refused(prompt: str) -> None:
    from simulator.examiners.model import system_message

    with pytest.raises(BedsideError, match="cannot be filled in"):
        system_message(bundled_cases()[0].examiner_view(), prompt)


# -- which cases ------------------------------------------------------------------------------------------------------------------------


def test_a_filter_holds_for_every_case_and_leaves_out_no_other() -> None:
    cases = bundled_cases()
    adults = choose_cases(cases, CaseFilter(age_from=18, age_to=64, sex=["F"]), None, "x")
    assert [c.case_id for c in adults] == [c.case_id for c in cases if 18 <= c.patient_facts.age <= 64 and c.patient_facts.sex == "F"]


def test_a_sample_keeps_shares_and_does_not_hang_on_the_order_of_the_file() -> None:
    cases = bundled_cases()
    sample = Sample(size=12, by=["source"], seed=5)
    chosen = choose_cases(cases, CaseFilter(), sample, "x")
    sizes = Counter(c.provenance.source for c in cases)
    counts = Counter(c.provenance.source for c in chosen)
    assert counts.total() == 12 and all(abs(counts[name] - 12 * sizes[name] / len(cases)) < 1 for name in sizes)
    again = choose_cases(cases[::-1], CaseFilter(), sample, "x")
    assert {c.case_id for c in again} == {c.case_id for c in chosen}
    other = choose_cases(cases, CaseFilter(), Sample(size=12, by=["source"], seed=6), "x")
    assert {c.case_id for c in other} != {c.case_id for c in chosen}


def test_so_many_of_each_stratum() -> None:
    chosen = choose_cases(bundled_cases(), CaseFilter(), Sample(per_stratum=1, by=["age"]), "x")
    bands = [sum(c.patient_facts.age >= lower for lower in AGE_BANDS) for c in chosen]
    assert len(bands) == len(set(bands)) == len({sum(c.patient_facts.age >= lower for lower in AGE_BANDS) for c in bundled_cases()})


@given(st.dictionaries(st.tuples(st.text(max_size=3)), st.integers(1, 50), min_size=1, max_size=8), st.data())
def test_shares_add_up_and_are_within_one_of_the_exact_share(sizes: dict[tuple[str, ...], int], data: Any) -> None:
    """Largest remainders satisfy the quota rule (Balinski and Young 1982, Fair Representation)."""
    everything = sum(sizes.values())
    total = data.draw(st.integers(1, everything))
    counts = shares(sizes, total)
    assert sum(counts.values()) == total
    assert all(abs(counts[key] - total * size / everything) < 1 and counts[key] <= size for key, size in sizes.items())


# -- what it takes, and how far it is ---------------------------------------------------------------------------------------------------


def test_a_dry_run_tells_the_matrix_and_where_its_figures_come_from_and_sends_nothing(bedside: Command) -> None:
    written('out = "r"\nrepeats = 3\n[cases]\nlimit = 4\n' + MODEL + '[[examiners]]\nname = "hasty"\n')
    code, out, _ = bedside("run", "--config", "run.toml", "--dry-run", "--json")
    found = json.loads(out)
    assert code == 0 and not Path("r").exists()
    assert (found["cases"], found["seeds"], found["encounters"], found["due"]) == (4, [1, 2, 3], 24, 24)
    model, reference = found["examiners"]
    assert (reference["calls"], reference["cost"], reference["based_on"]) == (0, None, "no model")
    assert model["calls"] >= 12 and "played here" in model["based_on"]
    assert model["cost"] == pytest.approx((model["prompt_tokens"] * 2 + model["completion_tokens"] * 6) / 1e6, rel=1e-3)
    assert found["cost"] == {"EUR": model["cost"]}


def test_the_forecast_rests_on_the_folders_own_encounters_where_there_are_some(bedside: Command) -> None:
    path = written("[cases]\nlimit = 2\n" + MODEL)
    plan = setup(read_definition(path), path).plan
    bed = plan.bed(plan.cases[0], plan.examiners[0], 1)
    move = plan.bed(plan.cases[0], ExaminerSpec("hasty"), 1)
    trace = asyncio.run(move.run())
    used = Usage(requests=4, prompt_tokens=1000, completion_tokens=50)
    mine = trace.model_copy(update={"trace_id": bed.trace_id, "examiner": bed.examiner.player, "usage": used}).sealed()
    with RunFolder("r") as folder:
        folder.open({"a": 1})
        folder.append(mine)
    (found,) = forecast(plan, Path("r"))
    assert (found.encounters, found.due, found.each.basis) == (2, 1, "1 played in this folder")
    assert (found.each.calls, found.each.prompt_tokens, found.each.completion_tokens) == (4, 1000, 50)
    assert found.cost == pytest.approx((1000 * 2 + 50 * 6) / 1e6)


def test_rates_cost_and_the_time_left() -> None:
    clock = iter([0.0] + [10.0] * 20)
    meter = Meter(10, {"m": Price(1.0, 2.0, "USD")}, lambda: next(clock))
    result = BatchResult(planned=6, done_before=2, done_now=4, tallies={"m": Tally(80, 50, 600_000, 200_000)}, under_way=3)
    assert meter.line(result) == "6 of 10 encounters, 3 under way, 8.0 turns/s, 80,000 tokens/s, 1.00 USD, about 10 s left"
    assert duration(5000) == "83 min" and duration(200_000) == "2.3 days"


def test_equal_failures_are_told_once(capsys: pytest.CaptureFixture[str]) -> None:
    show = Plain(Meter(100, {}))
    result = BatchResult()
    for number in range(30):
        result.failures.append(Failure(f"t{number}", "m", "infrastructure_error", "it cannot be reached"))
        show("failed", "m", result)
    show("endpoint_down", "place", result)
    err = capsys.readouterr().err
    assert err == "failed: m: it cannot be reached\nplace: given up; its other encounters are left out\n"


def test_quiet_is_quiet_and_json_counts_turns(bedside: Command) -> None:
    written('out = "r"\n[cases]\nlimit = 2\n[[examiners]]\nname = "hasty"\n')
    code, out, err = bedside("run", "--config", "run.toml", "--json")
    found = json.loads(out)
    assert (code, err, found["done_now"], found["changed_inputs"]) == (0, "", 2, [])
    assert found["examiners"]["hasty"]["turns"] == sum(len(trace.turns) for trace in read_traces("r"))
    assert bedside("run", "--config", "run.toml", "--out", "q", "--quiet")[2] == ""


def test_a_case_file_that_changes_while_the_run_is_under_way_is_named(tmp_path: Path) -> None:
    file, other = tmp_path / "cases.jsonl", tmp_path / "other.jsonl"
    for path in (file, other):
        path.write_text("{}\n", encoding="utf-8")
    watch = InputWatch([file, tmp_path / "starter", tmp_path])
    assert watch.changed() == []
    file.write_text("{} \n", encoding="utf-8")
    other.unlink()
    assert watch.changed() == [str(file), str(other)]
