"""Options that several commands share; see ui.cli."""

from __future__ import annotations

from typing import Annotated

import typer

CasesOption = Annotated[str, typer.Option("--cases", help="starter, ddxplus-form, or a file or folder of cases", envvar="BEDSIDE_CASES")]
ProfilesOption = Annotated[
    str, typer.Option("--profiles", help="auto (by source), ddxplus, curated, or a file of `profiles build`", envvar="BEDSIDE_PROFILES")
]
SeedOption = Annotated[int, typer.Option("--seed", min=0, help="the only source of chance")]
LimitOption = Annotated[int | None, typer.Option("--limit", min=1, help="at most so many cases")]
TurnsOption = Annotated[int, typer.Option("--max-turns", min=0, help="examiner turns before the final answer is due")]
JsonOption = Annotated[bool, typer.Option("--json", help="machine-readable output")]
