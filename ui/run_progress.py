"""How far a run is: a bar on a terminal, plain lines elsewhere, nothing when quiet. Goes to standard error."""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import contextmanager
from typing import Any

from simulator.batch import BatchResult, Progress, ProgressEvent
from ui.console import note
from ui.wiring import Price

PLAIN_EVERY = 50
"""encounters"""
PLAIN_EVERY_S = 60.0
MOST_TOLD = 200
"""different failures; all are in errors.jsonl"""
TOLD: Mapping[ProgressEvent, str] = {
    "endpoint_paused": "fails time and again; its encounters wait while one after the other tries it",
    "endpoint_back": "works again",
    "endpoint_down": "given up; its other encounters are left out",
}


class Meter:
    """Rates, cost and the time left, from the counts of a batch."""

    def __init__(self, total: int, prices: Mapping[str, Price], now: Callable[[], float] = time.monotonic) -> None:
        """Start the clock.

        Args:
            total: encounters of the run.
            prices: by examiner.
            now: seconds.
        """
        self.total = total
        self._prices = prices
        self._now = now
        self._began = now()

    def seconds(self) -> float:
        """Since the start."""
        return max(self._now() - self._began, 1e-9)

    def cost(self, result: BatchResult) -> dict[str, float]:
        """By currency, what the tokens so far cost; broken encounters' too."""
        sums: Counter[str] = Counter()
        for label, price in self._prices.items():
            tally = result.tallies.get(label)
            if tally is not None:
                sums[price.currency] += price.of(tally.prompt_tokens, tally.completion_tokens)  # type: ignore[assignment]
        return dict(sums)

    def left_s(self, result: BatchResult) -> float | None:
        """Seconds until all are done, at the pace so far; None before the first."""
        played = result.done_now
        left = self.total - result.done_before - played - result.repeated - result.skipped.total()
        return self.seconds() / played * left if played else None

    def line(self, result: BatchResult) -> str:
        """The counts in one line."""
        done = result.done_before + result.done_now
        parts = [f"{done} of {self.total} encounters"]
        if result.failures:
            parts.append(f"{len(result.failures)} failed")
        if result.skipped:
            parts.append(f"{result.skipped.total()} left out")
        rates = self.rates(result)
        left = self.left_s(result)
        if left is not None and left > 0:
            parts += [f"{result.under_way} under way", *rates, f"about {duration(left)} left"]
        return ", ".join(parts)

    def rates(self, result: BatchResult) -> list[str]:
        """Turns and tokens a second, and the cost, as far as there are any."""
        turns = sum(tally.turns for tally in result.tallies.values())
        tokens = sum(tally.prompt_tokens + tally.completion_tokens for tally in result.tallies.values())
        out = [f"{turns / self.seconds():,.1f} turns/s"]
        if tokens:
            out.append(f"{tokens / self.seconds():,.0f} tokens/s")
        return out + [f"{amount:,.2f} {currency}" for currency, amount in self.cost(result).items()]


def duration(seconds: float) -> str:
    """Seconds as people say them."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    if seconds < 5400:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h" if seconds < 172_800 else f"{seconds / 86_400:.1f} days"


@contextmanager
def shown(meter: Meter, quiet: bool) -> Any:
    """Yields what to call with every event of the batch."""
    if quiet:
        yield lambda event, label, result: None
    elif sys.stderr.isatty():
        with _bar(meter) as show:
            yield show
    else:
        yield Plain(meter)


class Plain:
    """A line now and then, and one for whatever went wrong."""

    def __init__(self, meter: Meter, now: Callable[[], float] = time.monotonic) -> None:
        self._meter = meter
        self._now = now
        self._last = now()
        self._told: set[tuple[str, str | None]] = set()

    def __call__(self, event: ProgressEvent, label: str, result: BatchResult) -> None:
        """See `simulator.batch.Progress`."""
        if event in TOLD:
            note(f"{label}: {TOLD[event]}")
        elif event == "failed":
            detail = result.failures[-1].detail
            if (label, detail) not in self._told and len(self._told) < MOST_TOLD:  # a dead endpoint says the same of each encounter
                self._told.add((label, detail))
                note(f"failed: {label}: {detail}")
        done = result.done_before + result.done_now
        due = event == "finished" and (done % PLAIN_EVERY == 0 or done == self._meter.total)
        if due or self._now() - self._last >= PLAIN_EVERY_S:
            self._last = self._now()
            note(self._meter.line(result))


@contextmanager
def _bar(meter: Meter) -> Any:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn
    from rich.progress import Progress as Bar

    columns = (TextColumn("encounters"), BarColumn(20), MofNCompleteColumn(), TextColumn("{task.fields[more]}"))
    with Bar(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task("encounters", total=meter.total, more="")

        def show(event: ProgressEvent, label: str, result: BatchResult) -> None:
            if event in TOLD:
                bar.console.print(f"{label}: {TOLD[event]}", markup=False, highlight=False)
            more = [f"{result.under_way} under way", f"{len(result.failures)} failed", *meter.rates(result)]
            left = meter.left_s(result)
            if left is not None:
                more.append(f"{duration(left)} left")
            bar.update(task, completed=result.done_before + result.done_now, more=" · ".join(more))

        yield show


__all__ = ["Meter", "Plain", "Progress", "duration", "shown"]
