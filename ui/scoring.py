"""`bedside score`: scorecards from traces, and the table of what each examiner reached."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from metrics.scorecard import ExaminerSummary, summarise
from metrics.scores import Scorecard, Value
from simulator.cases_io import atomic_file
from ui.console import say_json, table
from ui.scored import ScoredRun, open_run

EXIT_INCOMPLETE = 4
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

HARM: tuple[tuple[str, str], ...] = (
    ("harm_severe", "severe"),
    ("harm_direct", "direct"),
    ("harm_delay", "delay"),
    ("harm_instruction", "advice missing"),
    ("undertriage", "undertriage"),
    ("overtriage", "overtriage"),
    ("harm_index", "index"),
)
"""The tiers beside the index, so that none hides in a sum (metrics.md 6); lower is better."""


def score_traces(
    traces: Path,
    spec: str | None,
    profiles: str,
    params_file: Path | None,
    out: Path | None,
    as_json: bool,
    tables: Sequence[Path] = (),
    explain: str | None = None,
    processes: int | None = None,
    quiet: bool = False,
) -> int:
    """Score a run; see `bedside score --help`. Returns the exit code: 0, or 4 if traces were left out because they are wrong.

    Raises:
        BedsideError: a file that is missing or malformed, a table of an unknown kind, or no trace that can be scored.
    """
    from ui.tables import check_table_names, write_tables

    check_table_names(tables)
    run = open_run(traces, spec, profiles, params_file)
    if explain is not None:
        from ui.explain import explain_trace

        return explain_trace(run, explain, as_json)
    cards, sets, columns = _score_all(run, out, bool(tables), processes, quiet)
    run.tell_faults()
    write_tables(tables, cards, columns)
    groups: dict[str, list[Scorecard]] = defaultdict(list)
    for card in cards:
        groups[card.kb_version].append(card)
    for version, group in groups.items():
        _show(summarise(group), sets[version], version, run.fault_counts(), as_json)
    return EXIT_INCOMPLETE if run.faults else 0


def _score_all(
    run: ScoredRun, out: Path | None, with_columns: bool, processes: int | None, quiet: bool
) -> tuple[list[Scorecard], dict[str, str], dict[str, dict[str, Value]]]:
    """Score every trace; whole cards go to the file, lean ones stay in memory."""
    from ui.console import counted
    from ui.scored_many import Wanted, score_many

    cards: list[Scorecard] = []
    sets: dict[str, str] = {}
    columns: dict[str, dict[str, Value]] = {}
    with ExitStack() as stack:
        handle = stack.enter_context(atomic_file(out)) if out is not None else None
        found = score_many(run, Wanted(whole=handle is not None, columns=with_columns), processes)
        for scored in counted(found, "scored", quiet):
            if handle is not None and scored.line is not None:
                handle.write(scored.line)
            cards.append(scored.card)
            sets[scored.card.kb_version] = scored.profile_set
            if scored.columns is not None:
                columns[scored.card.trace_id] = scored.columns
    return cards, sets, columns


def _show(summaries: list[ExaminerSummary], profile_set: str, version: str, left_out: dict[str, int], as_json: bool) -> None:
    if as_json:
        for summary in summaries:
            say_json({"profiles": profile_set, "left_out": left_out, **summary.model_dump(mode="json")})
        return
    title = f"scores with the {profile_set} profiles (knowledge {version}); means with 95 % intervals; no one of them ranks"
    table(title, ["examiner", "scored", *(label for _, label in HEADLINES)], _rows(summaries, HEADLINES))
    table(
        "harm ↓ by curated tables that no clinician has reviewed",
        ["examiner", "scored", *(label for _, label in HARM)],
        _rows(summaries, HARM),
    )


def _rows(summaries: list[ExaminerSummary], columns: tuple[tuple[str, str], ...]) -> list[list[str]]:
    rows = []
    for summary in sorted(summaries, key=lambda item: item.examiner_id):
        row = [summary.examiner_id, f"{summary.n_scored} of {summary.n_traces}"]
        for name, _ in columns:
            metric = summary.metrics.get(name)
            if metric is None or metric.mean is None:
                row.append("–")
                continue
            low_high = f" [{metric.low:.2f}, {metric.high:.2f}]" if metric.low is not None and metric.high is not None else ""
            nulls = f" ({metric.n_null} null)" if metric.n_null else ""
            row.append(f"{metric.mean:.2f}{low_high}{nulls}")
        rows.append(row)
    return rows


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
