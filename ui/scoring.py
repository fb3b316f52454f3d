"""`bedside score`: scorecards from traces, and the table of what each examiner reached."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

from metrics.params import load_params
from metrics.scorecard import ExaminerSummary, score_trace, summarise
from metrics.scores import Scorecard
from ontology.errors import BedsideError
from simulator.case import PatientVector
from simulator.cases_io import atomic_file
from simulator.traces_io import read_traces
from ui.console import note, say_json, table
from ui.wiring import Bookshelf, bundled_cases, load_cases

HEADLINES: tuple[tuple[str, str], ...] = (
    ("acc_truth", "accuracy"),
    ("top5", "top 5"),
    ("sdd", "distance ↓"),
    ("ses", "elicitation"),
    ("reliability", "reliable"),
    ("premature_closure", "premature ↓"),
    ("questions", "questions"),
)
"""A few of many, side by side: they pull apart, so no single one ranks (metrics.md 0b D2)."""


def score_traces(traces: Path, spec: str | None, profiles: str, params_file: Path | None, out: Path | None, as_json: bool) -> int:
    """Score a run; see `bedside score --help`. Returns the exit code."""
    params = load_params(params_file) if params_file else None
    cases = {case.case_id: case for case in (load_cases(spec) if spec else bundled_cases())}
    shelf = Bookshelf(profiles)
    cards: list[Scorecard] = []
    reader = read_traces(traces)
    sets: dict[str, str] = {}
    for trace in reader:
        case = _case_of(trace.case_id, cases, spec)
        knowledge = shelf.knowledge(case)
        sets[knowledge.version] = knowledge.profiles.header.profile_set
        cards.append(score_trace(trace, case, knowledge, params))
    for line in reader.warnings:
        note(line)
    if not cards:
        raise BedsideError("holds no trace", str(traces))
    if out is not None:
        with atomic_file(out) as handle:
            for card in cards:
                handle.write(card.to_json().encode("utf-8") + b"\n")
    groups: dict[str, list[Scorecard]] = defaultdict(list)
    for card in cards:
        groups[card.kb_version].append(card)
    for version, group in groups.items():
        _show(summarise(group), sets[version], version, as_json)
    return 0


def _case_of(case_id: str, cases: dict[str, PatientVector], spec: str | None) -> PatientVector:
    if case_id not in cases:
        raise BedsideError(
            f"the case {case_id} of a trace is not in {spec or 'the bundled cases'}", "--cases", "give the cases of that run"
        )
    return cases[case_id]


def _show(summaries: list[ExaminerSummary], profile_set: str, version: str, as_json: bool) -> None:
    if as_json:
        for summary in summaries:
            say_json({"profiles": profile_set, **summary.model_dump(mode="json")})
        return
    rows = []
    for summary in sorted(summaries, key=lambda item: item.examiner_id):
        row = [summary.examiner_id, f"{summary.n_scored} of {summary.n_traces}"]
        for name, _ in HEADLINES:
            metric = summary.metrics.get(name)
            if metric is None or metric.mean is None:
                row.append("–")
                continue
            low_high = f" [{metric.low:.2f}, {metric.high:.2f}]" if metric.low is not None and metric.high is not None else ""
            nulls = f" ({metric.n_null} null)" if metric.n_null else ""
            row.append(f"{metric.mean:.2f}{low_high}{nulls}")
        rows.append(row)
    title = f"scores with the {profile_set} profiles (knowledge {version}); means with 95 % intervals; no one of them ranks"
    table(title, ["examiner", "scored", *(label for _, label in HEADLINES)], rows)


def in_words(card: Scorecard) -> list[str]:
    """The chief scores of one encounter in plain words."""
    from ui.web.words import CELLS, RELATIONS

    value = {name: score.value for name, score in card.scores.items()}
    lines = []
    if value.get("relation") is not None:
        lines.append(f"your diagnosis: {RELATIONS[str(value['relation'])]}")
    if value.get("cell") is not None:
        lines.append(f"{CELLS[str(value['cell'])][0]}: {CELLS[str(value['cell'])][1]}")
    for name, label in (
        ("ses", "history"),
        ("recall", "share of the relevant history that was asked"),
        ("precision", "share of questions to the point"),
    ):
        if value.get(name) is not None:
            lines.append(f"{label}: {float(value[name] or 0):.2f}")
    if value.get("premature_closure"):
        lines.append("closed early: too little of the core history was known when you committed")
    lines.append(f"questions asked: {value.get('questions')}")
    return lines
