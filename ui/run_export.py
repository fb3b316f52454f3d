"""`bedside runs export`: a run for other programs, as far as its cases may be passed on."""

from __future__ import annotations

from pathlib import Path
from typing import cast, get_args

from ontology.errors import BedsideError
from ui.console import note, say, say_json
from ui.wiring import bundled_cases, load_cases


def export(run: Path, out: Path, form: str, cases: str | None, only_redistributable: bool, as_json: bool) -> None:
    """Export; see `bedside runs export --help`."""
    from simulator.exports import Form, Governor, export_run

    if form not in get_args(Form):
        raise BedsideError(f"no such format: {form}", "--format", f"known: {', '.join(get_args(Form))}")
    known = {case.case_id: case for case in (load_cases(cases) if cases else bundled_cases())}
    report = export_run(run, out, cast(Form, form), Governor(known, only_redistributable))
    if as_json:
        say_json(vars(report))
        return
    for reason, count in report.left_out.items():
        note(f"{count} left out: {reason}")
    say(f"{report.encounters} encounters in {out}; licences of their cases: {', '.join(sorted(report.licenses))}")
