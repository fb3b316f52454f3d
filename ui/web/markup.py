"""Small pieces of HTML; every word that goes into a page passes through `esc`."""

from __future__ import annotations

import html

TEMPLATE_MARKS = str.maketrans({"$": "&#36;", "{": "&#123;", "}": "&#125;", "`": "&#96;"})
"""The page's components are templates: these would be read as instructions."""

GAP = "\u00a0"
"""A blank at which no line breaks."""


def esc(text: object) -> str:
    """A text as it may stand in an element or in a quoted attribute."""
    return html.escape(str(text), quote=True).translate(TEMPLATE_MARKS)


def percent(share: float) -> str:
    """A share as a whole percentage; never 0 % or 100 % unless it is."""
    number = round(share * 100)
    if number == 0 and share > 0:
        return f"under 1{GAP}%"
    if number == 100 and share < 1:
        return f"over 99{GAP}%"
    return f"{number}{GAP}%"


def meter(share: float, label: str) -> str:
    """A bar for a share of 0 to 1; `label` is read out."""
    width = max(0.0, min(1.0, share)) * 100
    return f'<span class="meter" role="img" aria-label="{esc(label)}"><span style="width:{width:.1f}%"></span></span>'


def listed(items: list[str], kind: str = "") -> str:
    """A list of pieces of HTML; empty if there are none."""
    rows = "".join(f"<li>{item}</li>" for item in items)
    return f'<ul class="{esc(kind)}">{rows}</ul>' if rows else ""
