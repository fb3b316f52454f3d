"""`bedside run` and `bedside demo`: cases × examiners into a run folder."""

from __future__ import annotations

import asyncio
import signal
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ontology.errors import BedsideError
from simulator.batch import BatchResult, ProgressEvent, fingerprint, run_batch
from simulator.build import default_ward, make_bed, software_version
from simulator.case import PatientVector
from simulator.endpoint import Endpoint
from simulator.store import RunFolder
from simulator.trace import Budget
from ui.console import note, say, say_json
from ui.wiring import Bookshelf, ExaminerFactory, ExaminerSpec, RunPlan, bundled_cases, load_cases

EXIT_INCOMPLETE = 4
EXIT_INTERRUPTED = 130
DEMO_EXAMINERS = ("hasty", "checklist", "infogain-fast")
FAILURES_SHOWN = 10
PLAIN_PROGRESS_EVERY = 50


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
    """The options of `bedside run`."""

    out: Path
    cases: str = "starter"
    examiners: tuple[str, ...] = ("infogain-fast",)
    profiles: str = "auto"
    seed: int = 1
    repeats: int = 1
    limit: int | None = None
    max_turns: int = 20
    concurrency: int = 8
    endpoint: EndpointOptions = EndpointOptions()
    force: bool = False
    quiet: bool = False
    as_json: bool = False


def run_cases(options: RunOptions, cases: list[PatientVector] | None = None) -> int:
    """Run; see `bedside run --help`. Returns the exit code: 0 all done, 4 something failed, 130 interrupted."""
    plan = make_plan(options, load_cases(options.cases) if cases is None else cases)
    _check_governance(plan)
    folder = RunFolder(options.out)
    result = asyncio.run(_run(plan, folder, options))
    return _report(result, plan.size(), options)


def make_plan(options: RunOptions, cases: list[PatientVector]) -> RunPlan:
    """The run that the options describe."""
    shelf = Bookshelf(options.profiles)
    chosen = cases[: options.limit]
    shelf.check(chosen)
    specs = [ExaminerSpec(name, options.endpoint.endpoint() if name == "model" else None) for name in dict.fromkeys(options.examiners)]
    seeds = [options.seed + number for number in range(options.repeats)]
    return RunPlan(chosen, specs, seeds, Budget(max_turns=options.max_turns), shelf, ExaminerFactory(shelf))


def _check_governance(plan: RunPlan) -> None:
    for spec in plan.examiners:
        if spec.endpoint is not None:
            for case in plan.cases:
                spec.endpoint.check_may_receive(redistributable=case.provenance.redistributable)


async def _run(plan: RunPlan, folder: RunFolder, options: RunOptions) -> BatchResult:
    from simulator.chat import preflight

    for spec in plan.examiners:
        if spec.endpoint is not None:
            await preflight(spec.endpoint)
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGINT, stop.set)
    loop.add_signal_handler(signal.SIGTERM, stop.set)
    try:
        with folder:
            for line in folder.open(run_fingerprint(plan), options.force).notes():
                note(line)
            with progress_of(plan.size(), options.quiet or options.as_json) as progress:
                return await run_batch(plan.jobs(), folder, options.concurrency, progress, stop)
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


class progress_of:  # noqa: N801
    """A progress bar on a terminal, a plain line now and then elsewhere, nothing when quiet. Goes to standard error."""

    def __init__(self, total: int, quiet: bool) -> None:
        self._total = total
        self._quiet = quiet
        self._bar: Any = None

    def __enter__(self) -> Callable[[ProgressEvent, str, BatchResult], None]:
        if self._quiet:
            return lambda event, label, result: None
        if sys.stderr.isatty():
            return self._with_bar()
        return self._plain

    def _with_bar(self) -> Callable[[ProgressEvent, str, BatchResult], None]:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

        self._bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TimeRemainingColumn(),
            console=Console(stderr=True),
        )
        self._bar.start()
        task = self._bar.add_task("encounters", total=self._total)

        def show(event: ProgressEvent, label: str, result: BatchResult) -> None:
            failed = len(result.failures)
            self._bar.update(task, completed=result.done_before + result.done_now + failed, description=f"encounters ({failed} failed)")

        return show

    def _plain(self, event: ProgressEvent, label: str, result: BatchResult) -> None:
        done = result.done_before + result.done_now
        if event in ("failed", "endpoint_down"):
            last = result.failures[-1] if result.failures else None
            note(f"{event}: {label}" + (f": {last.detail}" if last and event == "failed" else ""))
        elif event == "finished" and (done % PLAIN_PROGRESS_EVERY == 0 or done == self._total):
            note(f"{done} of {self._total} encounters")

    def __exit__(self, *exception: object) -> None:
        if self._bar is not None:
            self._bar.stop()


def _report(result: BatchResult, size: int, options: RunOptions) -> int:
    failures = [f"{f.label} {f.trace_id}: {f.termination}: {f.detail}" for f in result.failures]
    if options.as_json:
        say_json(
            {
                "planned": result.planned,
                "done_before": result.done_before,
                "done_now": result.done_now,
                "by_termination": dict(result.by_termination),
                "failures": failures,
                "skipped": dict(result.skipped),
                "interrupted": result.interrupted,
            }
        )
    else:
        for line in failures[:FAILURES_SHOWN]:
            note(f"failed: {line}")
        for label, count in result.skipped.items():
            note(f"{label}: endpoint down, {count} encounters left out; start again to play them")
        before = f" ({result.done_before} were there already)" if result.done_before else ""
        planned = size - result.repeated if result.interrupted else result.planned
        say(f"{result.done_before + result.done_now} of {planned} encounters in {options.out}{before}")
    if result.interrupted:
        note("interrupted: start the same command again to go on")
        return EXIT_INTERRUPTED
    return 0 if result.complete else EXIT_INCOMPLETE


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
