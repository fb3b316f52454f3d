"""`bedside run` and `bedside demo`: cases × examiners into a run folder."""

from __future__ import annotations

import asyncio
import gc
import os
import signal
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ontology.errors import BedsideError
from simulator.batch import BatchResult, Policy, fingerprint, run_lanes
from simulator.build import default_ward, make_bed, software_version
from simulator.case import PatientVector
from simulator.endpoint import Endpoint
from simulator.store import RunFolder
from simulator.trace import Budget
from ui.console import note, say, say_json
from ui.run_progress import Meter, shown
from ui.run_watch import InputWatch
from ui.wiring import DEFAULT_CONCURRENCY, Bookshelf, ExaminerFactory, ExaminerSpec, RunPlan, bundled_cases, load_cases

EXIT_INCOMPLETE = 4
EXIT_INTERRUPTED = 130
DEMO_EXAMINERS = ("hasty", "checklist", "infogain-fast")
FAILURES_SHOWN = 10
DEFAULT_PATIENCE_S = 600.0


@dataclass(frozen=True)
class Manner:
    """How a run is carried out; nothing here changes a result."""

    force: bool = False
    quiet: bool = False
    as_json: bool = False
    dry_run: bool = False
    start_anyway: bool = False
    cache: Path | None = None
    policy: Policy = field(default_factory=lambda: Policy(patience_s=DEFAULT_PATIENCE_S, rounds=1))


@dataclass(frozen=True)
class EndpointOptions:
    """How a model examiner is reached."""

    base_url: str | None = None
    model: str | None = None
    api_key_env: str | None = None
    trusted: tuple[str, ...] = ()
    temperature: float | None = None
    timeout_s: float = 120.0
    max_retries: int = 5

    def endpoint(self) -> Endpoint:
        """The endpoint.

        Raises:
            BedsideError: an option is missing or out of range.
        """
        if not self.base_url or not self.model:
            raise BedsideError("a model examiner needs --base-url and --model", "--examiner model")
        return Endpoint.of(
            name=self.model,
            base_url=self.base_url,
            model=self.model,
            api_key_env=self.api_key_env,
            timeout_s=self.timeout_s,
            max_retries=self.max_retries,
            temperature=self.temperature,
            trusted=any(address.rstrip("/") == self.base_url.rstrip("/") for address in self.trusted),
        )


@dataclass(frozen=True)
class RunOptions:
    """The options of `bedside run` without a definition."""

    out: Path
    cases: str = "starter"
    examiners: tuple[str, ...] = ("infogain-fast",)
    profiles: str = "auto"
    seed: int = 1
    repeats: int = 1
    limit: int | None = None
    max_turns: int = 20
    concurrency: int = DEFAULT_CONCURRENCY
    endpoint: EndpointOptions = EndpointOptions()
    force: bool = False
    quiet: bool = False
    as_json: bool = False
    manner: Manner | None = None


def run_cases(options: RunOptions, cases: list[PatientVector] | None = None) -> int:
    """Run; see `bedside run --help`. Returns the exit code: 0 all done, 4 something failed, 130 interrupted."""
    plan = make_plan(options, load_cases(options.cases) if cases is None else cases)
    manner = options.manner or Manner(options.force, options.quiet, options.as_json)
    return carry_out(plan, options.out, manner, [options.cases, options.profiles])


def run_config(path: Path, out: Path | None, manner: Manner) -> int:
    """Run what a definition describes; `out` goes before the definition's. Returns the exit code, as `run_cases`.

    Raises:
        BedsideError: the definition is not valid, or nobody names a run folder.
    """
    from ui.run_config import read_definition, setup

    ready = setup(read_definition(path), path)
    where = out or ready.out
    if where is None:
        raise BedsideError("no run folder is named", str(path), 'give --out, or out = "…" in the file')
    return carry_out(ready.plan, where, manner, [*ready.sources, ready.plan.shelf.choice])


def make_plan(options: RunOptions, cases: list[PatientVector]) -> RunPlan:
    """The run that the options describe."""
    shelf = Bookshelf(options.profiles)
    chosen = cases[: options.limit]
    shelf.check(chosen)
    specs = [_spec(name, options) for name in dict.fromkeys(options.examiners)]
    seeds = [options.seed + number for number in range(options.repeats)]
    return RunPlan(chosen, specs, seeds, Budget(max_turns=options.max_turns), shelf, ExaminerFactory(shelf, note))


def _spec(name: str, options: RunOptions) -> ExaminerSpec:
    if name != "model":
        return ExaminerSpec(name, concurrency=options.concurrency)
    endpoint = options.endpoint.endpoint()
    return ExaminerSpec(name, endpoint, endpoint.name, options.concurrency)


def carry_out(plan: RunPlan, out: Path, manner: Manner, inputs: Sequence[str | Path] = ()) -> int:
    """Play a plan into a folder, or tell what that would take. Returns the exit code.

    Args:
        plan: the run.
        out: its folder.
        manner: how.
        inputs: files and folders that it was read from, watched for changes.
    """
    _check_governance(plan)
    if manner.dry_run:
        _forecast(plan, out, manner.as_json)
        return 0
    if manner.cache is not None:
        from simulator.response_cache import ResponseCache

        plan.factory.cache = ResponseCache(manner.cache)
    meter = Meter(plan.size(), {spec.label: spec.price for spec in plan.examiners if spec.price is not None})
    watch = InputWatch([*inputs, *_vocabulary_files()])
    result = asyncio.run(_run(plan, RunFolder(out), manner, meter))
    changed = watch.changed()
    for name in changed:
        note(f"{name}: changed while the run was under way; its encounters rest on what was there at the start")
    return _report(result, meter, plan, out, manner, changed)


def _vocabulary_files() -> list[Path]:
    from ontology.vocabulary import VOCABULARY_VARIABLE

    chosen = os.environ.get(VOCABULARY_VARIABLE, "")
    if not chosen:
        return []
    from ontology.vocab.index import open_index

    return [open_index(chosen, verify=False).folder]


def _forecast(plan: RunPlan, out: Path, as_json: bool) -> None:
    from simulator.store import each_difference, read_record
    from simulator.traces_io import RUN_FILE
    from ui.run_forecast import forecast, show_forecast

    other = each_difference(read_record(out).fingerprint, run_fingerprint(plan)) if (out / RUN_FILE).exists() else []
    show_forecast(plan, out, forecast(plan, out), other, as_json)


def _check_governance(plan: RunPlan) -> None:
    for spec in plan.examiners:
        if spec.endpoint is not None:
            for case in plan.cases:
                spec.endpoint.check_may_receive(redistributable=case.provenance.redistributable)


async def _preflight(plan: RunPlan, start_anyway: bool) -> None:
    """Ask every model for a token.

    Raises:
        BedsideError: one does not answer, and the run is not to start anyway; or none does.
    """
    from simulator.chat import preflight

    asked = [spec.endpoint for spec in plan.examiners if spec.endpoint is not None]
    found = await asyncio.gather(*(preflight(endpoint) for endpoint in asked), return_exceptions=True)
    errors = [error for error in found if error is not None]
    for error in errors:
        if not isinstance(error, BedsideError):
            raise error
    all_down = len(errors) == len(plan.examiners)
    if errors and (all_down or not start_anyway):
        for error in errors[1:]:
            note(f"bedside: {error.line()}" if isinstance(error, BedsideError) else str(error))
        raise errors[0]
    for error in errors:
        note(f"{error}; the run starts all the same")


async def _run(plan: RunPlan, folder: RunFolder, manner: Manner, meter: Meter) -> BatchResult:
    await _preflight(plan, manner.start_anyway)
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGINT, stop.set)
    loop.add_signal_handler(signal.SIGTERM, stop.set)
    try:
        with folder:
            for line in folder.open(run_fingerprint(plan), manner.force).notes():
                note(line)
            gc.collect()
            gc.freeze()  # vocabulary, pool and cases stay to the end: looking through them time and again costs a sixth of a run's CPU
            with shown(meter, manner.quiet or manner.as_json) as progress:
                return await run_lanes(plan.lanes(), folder, manner.policy, progress, stop)
    finally:
        loop.remove_signal_handler(signal.SIGINT)
        loop.remove_signal_handler(signal.SIGTERM)
        await plan.factory.aclose()


def run_fingerprint(plan: RunPlan) -> dict[str, Any]:
    """All that determines the run's results."""
    ward = default_ward()
    kb = sorted({ward.kb_version(plan.shelf.profiles(case)) for case in plan.cases})
    players = {}
    for case in plan.cases:
        for spec in plan.examiners:
            player = plan.factory.make(spec, case).player
            players[player.model_dump_json()] = player
    first = plan.cases[0]
    patient = make_bed(
        first, plan.factory.make(plan.examiners[0], first), ward, plan.shelf.profiles(first), plan.budget, plan.seeds[0]
    ).patient
    return fingerprint(
        software_version=software_version(),
        case_hashes=[case.sha256() for case in plan.cases],
        pool_sha256=ward.pool_sha256,
        kb_version=", ".join(kb),
        examiners=players.values(),
        patients=[patient.player],
        budget=plan.budget,
        seeds=plan.seeds,
    )


def _report(result: BatchResult, meter: Meter, plan: RunPlan, out: Path, manner: Manner, changed: list[str]) -> int:
    failures = [f"{f.label} {f.trace_id}: {f.termination}: {f.detail}" for f in result.failures]
    if manner.as_json:
        say_json(_summary(result, meter, plan, failures) | {"changed_inputs": changed})
    else:
        for line in failures[:FAILURES_SHOWN]:
            note(f"failed: {line}")
        if len(failures) > FAILURES_SHOWN:
            note(f"and {len(failures) - FAILURES_SHOWN} more failed; errors.jsonl in the run folder has them all")
        for label, count in result.skipped.items():
            note(f"{label}: endpoint down, {count} encounters left out; start again to play them")
        before = f" ({result.done_before} were there already)" if result.done_before else ""
        planned = plan.size() - result.repeated if result.interrupted else result.planned
        say(f"{result.done_before + result.done_now} of {planned} encounters in {out}{before}")
    if result.interrupted:
        note("interrupted: start the same command again to go on")
        return EXIT_INTERRUPTED
    return 0 if result.complete else EXIT_INCOMPLETE


def _summary(result: BatchResult, meter: Meter, plan: RunPlan, failures: list[str]) -> dict[str, Any]:
    return {
        "planned": result.planned,
        "done_before": result.done_before,
        "done_now": result.done_now,
        "mended": result.mended,
        "by_termination": dict(result.by_termination),
        "failures": failures,
        "skipped": dict(result.skipped),
        "interrupted": result.interrupted,
        "seconds": round(meter.seconds(), 3),
        "examiners": {label: vars(tally) for label, tally in result.tallies.items()},
        "cost": meter.cost(result),
        "answers_from_cache": 0 if plan.factory.cache is None else plan.factory.cache.hits,
        "endpoints": {
            name: {"concurrency": throttle.most, "lowest_concurrency": throttle.lowest} for name, throttle in plan.factory.throttles.items()
        },
    }


def demo() -> int:
    """The main job, small: reference examiners over every bundled case, then the score table."""
    from ui.scoring import score_traces

    cases = bundled_cases()
    folder = Path(tempfile.mkdtemp(prefix="bedside-demo-"))
    options = RunOptions(out=folder / "run", examiners=DEMO_EXAMINERS, cases="bundled")
    say(f"{len(cases)} bundled cases × {len(DEMO_EXAMINERS)} reference examiners")
    code = run_cases(options, cases)
    if code != 0:
        return code
    code = score_traces(options.out, None, "auto", None, folder / "scorecards.jsonl", False)
    say(f"traces: {options.out}/traces.jsonl   scorecards: {folder}/scorecards.jsonl")
    say("next: bedside play, bedside ui, bedside run --help")
    return code
