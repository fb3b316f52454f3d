"""What a run will take, before it is begun: `bedside run --dry-run`."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from simulator.case import PatientVector
from simulator.traces_io import TRACES, records
from ui.console import say, say_json, table
from ui.wiring import ExaminerSpec, RunPlan

CHARACTERS_A_TOKEN = 4
"""A rule of thumb for English; tokenizers differ."""
REHEARSALS = 5
REHEARSING = "checklist"
MOST_READ = 2000


@dataclass(frozen=True)
class Averages:
    """Of one encounter with one examiner."""

    calls: float = 0.0
    prompt_tokens: float = 0.0
    completion_tokens: float = 0.0
    basis: str = "no model"


@dataclass(frozen=True)
class Forecast:
    """Of one examiner's part of a run."""

    examiner: str
    lane: str
    model: str | None
    encounters: int
    due: int
    each: Averages
    cost: float | None
    currency: str | None

    def as_row(self) -> dict[str, Any]:
        """For `--json`."""
        return {
            "examiner": self.examiner,
            "endpoint": self.lane,
            "model": self.model,
            "encounters": self.encounters,
            "due": self.due,
            "calls": round(self.due * self.each.calls),
            "prompt_tokens": round(self.due * self.each.prompt_tokens),
            "completion_tokens": round(self.due * self.each.completion_tokens),
            "cost": self.cost,
            "currency": self.currency,
            "based_on": self.each.basis,
        }


def forecast(plan: RunPlan, out: Path) -> list[Forecast]:
    """What each examiner's part will take: by the average of its encounters in the folder, or else by a rehearsal.

    The rehearsal plays a reference examiner on some of the cases, here and without a model, and counts the characters of the messages that
    the model would have been sent.
    """
    finished, measured = _in_folder(out)
    rehearsed: dict[str | None, Averages] = {}
    found: list[Forecast] = []
    for spec in plan.examiners:
        due = _due(plan, spec, finished)
        each = Averages()
        if spec.endpoint is not None:
            if spec.label in measured:
                each = measured[spec.label]
            else:
                if spec.system_prompt not in rehearsed:
                    rehearsed[spec.system_prompt] = rehearse(plan, spec.system_prompt)
                each = rehearsed[spec.system_prompt]
        cost = None if spec.price is None else due * spec.price.of(each.prompt_tokens, each.completion_tokens)
        found.append(
            Forecast(
                spec.label,
                spec.lane,
                spec.endpoint.model if spec.endpoint else None,
                len(plan.cases) * len(plan.seeds),
                due,
                each,
                cost,
                spec.price.currency if spec.price else None,
            )
        )
    return found


def _due(plan: RunPlan, spec: ExaminerSpec, finished: set[str]) -> int:
    if not finished:
        return len(plan.cases) * len(plan.seeds)
    return sum(plan.bed(case, spec, seed).trace_id not in finished for case in plan.cases for seed in plan.seeds)


def _in_folder(out: Path) -> tuple[set[str], dict[str, Averages]]:
    """Ids of the finished encounters in a run folder, and the averages of those whose tokens were counted."""
    finished: set[str] = set()
    sums: dict[str, Counter[str]] = {}
    for record in records(out / TRACES):
        if record.torn:
            continue
        if record.finished:
            finished.add(record.trace_id)
        if len(finished) <= MOST_READ:
            raw = json.loads(record.line)
            usage = raw["usage"]
            if usage["prompt_tokens"] is not None:
                sums.setdefault(raw["examiner"]["id"], Counter()).update(
                    n=1, calls=usage["requests"], prompt=usage["prompt_tokens"], completion=usage["completion_tokens"] or 0
                )
    return finished, {
        name: Averages(c["calls"] / c["n"], c["prompt"] / c["n"], c["completion"] / c["n"], f"{c['n']} played in this folder")
        for name, c in sums.items()
    }


def rehearse(plan: RunPlan, system_prompt: str | None = None) -> Averages:
    """Averages over encounters of a reference examiner, tokens guessed from the characters of the messages it would take."""
    from simulator.examiners.model import conversation
    from simulator.final_answer import render
    from simulator.protocols import Line, Situation

    calls = prompt = completion = 0
    chosen = _spread(plan.cases, REHEARSALS)
    for case in chosen:
        trace = asyncio.run(plan.bed(case, ExaminerSpec(REHEARSING), plan.seeds[0]).run())
        asked = 0
        for turn in trace.turns:
            if turn.role != "examiner":
                continue
            lines = tuple(Line(before.role, before.text) for before in trace.turns[: turn.idx])
            last = turn.idx == len(trace.turns) - 1
            situation = Situation(case.examiner_view(), lines, plan.budget.max_turns - asked, last, plan.seeds[0])
            calls += 1
            asked += 1
            prompt += sum(len(message.content) for message in conversation(situation, system_prompt))
            completion += len(render(trace.outcome)) if last and trace.outcome else len(turn.text)
    count = len(chosen)
    basis = f"{count} encounters of {REHEARSING!r} played here, {CHARACTERS_A_TOKEN} characters a token, no reasoning"
    return Averages(calls / count, prompt / count / CHARACTERS_A_TOKEN, completion / count / CHARACTERS_A_TOKEN, basis)


def _spread(cases: Sequence[PatientVector], count: int) -> list[PatientVector]:
    step = max(1, len(cases) // count)
    return list(islice(cases[::step], count))


def show_forecast(plan: RunPlan, out: Path, found: Sequence[Forecast], differences: Sequence[str], as_json: bool) -> None:
    """Print the matrix and what it takes; `differences` are those of the settings to the folder's."""
    total, due = sum(part.encounters for part in found), sum(part.due for part in found)
    costs: Counter[str] = Counter()
    for part in found:
        if part.cost is not None and part.currency is not None:
            costs[part.currency] += part.cost  # type: ignore[assignment]
    if as_json:
        say_json(
            {
                "out": str(out),
                "cases": len(plan.cases),
                "examiners": [part.as_row() for part in found],
                "seeds": list(plan.seeds),
                "encounters": total,
                "due": due,
                "cost": dict(costs),
                "other_settings_than_the_folder": list(differences),
            }
        )
        return
    there = f", {total - due} of them in {out} already" if due != total else ""
    say(f"{len(plan.cases)} cases × {len(plan.examiners)} examiners × {len(plan.seeds)} seeds = {total} encounters{there}")
    rows = [
        [
            part.examiner,
            part.lane,
            f"{part.due:,}",
            *(f"{part.due * value:,.0f}" for value in (part.each.calls, part.each.prompt_tokens, part.each.completion_tokens)),
            "–" if part.cost is None else f"{part.cost:,.2f} {part.currency}",
        ]
        for part in found
    ]
    table("to be played", ["examiner", "endpoint", "encounters", "calls", "prompt tokens", "completion tokens", "cost"], rows, 2)
    for basis in dict.fromkeys(part.each.basis for part in found if part.model is not None):
        say(f"calls and tokens expected by the average of {basis}")
    for difference in differences:
        say(f"other than in {out}: {difference}")
