"""Where output goes: tables for people, plain lines when not a terminal, JSON for machines."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, TypeVar

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

T = TypeVar("T")

PROGRESS_EVERY = 1000

LINE_ENDS = {ord(mark): f"\\u{ord(mark):04x}" for mark in "\x85\u2028\u2029"}
"""Characters that JSON leaves as they are, but at which many programs end a line."""


def console() -> Console:
    """Standard output; not a terminal, it is wide enough that tables are not cut."""
    if sys.stdout.isatty():
        return Console(highlight=False)
    return Console(highlight=False, width=200, color_system=None)


def note(text: str) -> None:
    """A line on standard error, so that standard output stays clean."""
    sys.stderr.write(text + "\n")


def counted(items: Iterable[T], done: str, quiet: bool = False) -> Iterator[T]:
    """The items; a line on standard error after every thousand, so that long work is seen to go on."""
    for number, item in enumerate(items, 1):
        yield item
        if number % PROGRESS_EVERY == 0 and not quiet:
            note(f"{number:,} {done}")


def say(text: str = "") -> None:
    """A line on standard output, as it is."""
    sys.stdout.write(text + "\n")


def say_json(value: Any) -> None:
    """One JSON value on one line, whatever a reader takes for the end of one."""
    say(json.dumps(value, ensure_ascii=False).translate(LINE_ENDS))


def table(title: str, columns: Sequence[str], rows: Sequence[Sequence[str]], numeric_from: int = 1) -> None:
    """A table; columns from `numeric_from` on are right-aligned."""
    made = Table(title=title, title_justify="left", title_style="bold", box=SIMPLE_HEAD if sys.stdout.isatty() else None)
    for number, column in enumerate(columns):
        made.add_column(column, justify="right" if number >= numeric_from else "left", overflow="fold")
    for row in rows:
        made.add_row(*row)
    console().print(made)
