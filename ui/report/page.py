"""A run as one HTML file: no script, no request to anywhere, everything escaped. See `bedside report --help`."""

from __future__ import annotations

import re
from importlib.resources import files
from pathlib import Path

from metrics.scorecard import summarise
from ontology.errors import BedsideError
from simulator.build import software_version
from simulator.cases_io import atomic_file
from ui.console import say
from ui.report.cases import list_section, worst_section
from ui.report.collect import Group, collect
from ui.report.sections import (
    all_scores_section,
    calibration_section,
    cells_section,
    curve_section,
    distribution_section,
    fidelity_section,
    harm_section,
    headline_section,
    timeline_section,
)
from ui.scored import FAULTS_SHOWN, ScoredRun, open_run
from ui.scoring import EXIT_INCOMPLETE
from ui.web.markup import esc
from ui.web.theme import asset

POLICY = "default-src 'none'; style-src 'unsafe-inline'"
"""The page may load nothing and run nothing, whatever words it holds."""
DARK = re.compile(r"^\.dark \{(?P<colours>.*?)^\}", re.MULTILINE | re.DOTALL)


def write_report(traces: Path, out: Path, cases: str | None, profiles: str, params_file: Path | None, worst: int) -> int:
    """Score a run and write its report. Returns the exit code: 0, or 4 if traces were left out because they are wrong.

    Raises:
        BedsideError: a file that is missing, malformed or cannot be written; nothing that can be scored.
    """
    if out.suffix.lower() not in (".html", ".htm"):
        raise BedsideError("a report is an HTML file", str(out), "name it .html")
    run = open_run(traces, cases, profiles, params_file)
    groups = collect(run, worst)
    run.tell_faults()
    data = page_html(run, groups).encode("utf-8", "replace")
    with atomic_file(out) as handle:
        handle.write(data)
    say(f"{out}: {run.n} encounters, {len(data) / 1e6:.1f} MB")
    return EXIT_INCOMPLETE if run.faults else 0


def page_html(run: ScoredRun, groups: list[Group]) -> str:
    """The whole page; equal runs give equal pages."""
    name = run.source.resolve().name if run.source.is_dir() else run.source.name
    title = f"Bedside report: {name}"
    body = "".join(group_html(group, run) for group in groups)
    links = "".join(f'<a href="#{esc(group.version)}">{esc(group.profile_set)} profiles</a>' for group in groups)
    nav = f'<nav aria-label="parts">{links}</nav>' if len(groups) > 1 else ""
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1"><meta name="referrer" content="no-referrer">'
        f"<title>{esc(title)}</title><style>{style()}</style></head>"
        f"<body><header class='page'><h1>{esc(title)}</h1>{about_html(run, groups)}{nav}</header><main>{body}</main>"
        "<footer>Simulated patients; research and education only, not medical advice. "
        "Nothing clinical in here was validated by a clinician.</footer></body></html>\n"
    )


def style() -> str:
    """The web app's style sheet with its dark colours by the reader's preference, and the report's own."""
    app = asset("bedside.css")
    dark = DARK.search(app)
    night = f"@media (prefers-color-scheme: dark) {{ :root {{{dark['colours']}}} }}" if dark is not None else ""
    own = files(__package__ or "ui.report").joinpath("report.css").read_text(encoding="utf-8")
    return f"{app}\n{night}\n{own}"


def about_html(run: ScoredRun, groups: list[Group]) -> str:
    """What was scored, with which versions, and what was left out."""
    cards = [card for group in groups for card in group.cards]
    first = cards[0]
    examiners, bases = {card.examiner_id for card in cards}, {card.base_case_id for card in cards}
    facts = [
        f"{len(cards)} encounters of {len(examiners)} examiners on {len(bases)} cases",
        f"scorer {first.scorer_version}, parameters {first.params_hash}, layer {first.layer}, bedside {software_version()}",
    ]
    lines = "".join(f"<p>{esc(fact)}</p>" for fact in facts)
    if run.faults:
        counted = ", ".join(f"{kind} {count}" for kind, count in run.fault_counts().items())
        named = "".join(f"<li>{esc(fault.line())}</li>" for fault in run.faults[:FAULTS_SHOWN])
        lines += (
            f'<div class="notice warn"><p>{len(run.faults)} traces could not be scored and are left out: {esc(counted)}.</p>'
            f"<details><summary>The first of them</summary><ul>{named}</ul></details></div>"
        )
    return lines + "".join(f'<p class="notice warn">{esc(line)}</p>' for line in run.warnings[:FAULTS_SHOWN])


def group_html(group: Group, run: ScoredRun) -> str:
    """Everything about the encounters scored by one knowledge base."""
    summaries = summarise(group.cards)
    parts = [
        ("Headlines", headline_section(summaries)),
        ("Answer and questioning", cells_section(summaries)),
        ("Reliability", curve_section(group)),
        ("Belief and anchoring", timeline_section(group)),
        ("Harm", harm_section(summaries)),
        ("Calibration", calibration_section(group)),
        ("Patient fidelity", fidelity_section(group.fidelity)),
        ("Distributions", distribution_section(group)),
        ("All scores", all_scores_section(summaries)),
        ("Worst encounters", worst_section(group, run.params)),
        ("Encounters", list_section(group.cards)),
    ]
    body = "".join(f"<section class='card'><h3>{name}</h3>{html}</section>" for name, html in parts)
    return (
        f'<section id="{esc(group.version)}"><h2>{esc(group.profile_set)} profiles '
        f'<span class="muted">knowledge {esc(group.version)}</span></h2>{body}</section>'
    )
