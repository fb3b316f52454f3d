"""Charts as inline SVG, drawn for a phone's width and for reading aloud: each has a title and says its numbers in words.

All text passes through `esc`; colours come from the page's style sheet, and no chart needs colour to be told apart.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ui.web.markup import esc

WIDTH, HEIGHT = 360, 230
LEFT, RIGHT, TOP, BOTTOM = 46, 12, 12, 40
NAME_SHOWN = 26
"""Letters of a name that fit into a chart; the text alternative has them all."""
DASHES = ("", "6 3", "2 3", "8 3 2 3", "4 4", "1 4", "10 4", "6 2 2 2 2 2")
MARKS = "●■▲◆▼★✚✖"
SHADES = 8
"""Numbered colours of the style sheet: s0 to s7."""
BAR, GAP = 20, 8


@dataclass(frozen=True)
class Line:
    """A line of a chart."""

    name: str
    points: Sequence[tuple[float, float]]


@dataclass(frozen=True)
class Span:
    """A mean with its interval, or none."""

    name: str
    value: float | None
    low: float | None = None
    high: float | None = None
    note: str = ""


def line_chart(
    title: str, lines: Sequence[Line], x_label: str, y_label: str, x_range: tuple[float, float], diagonal: bool = False, dots: bool = False
) -> str:
    """Lines over x, with y from 0 to 1. `diagonal` draws the line of agreement, `dots` leaves the points unjoined."""
    low, high = x_range
    wide = (high - low) or 1.0

    def at(x: float, y: float) -> tuple[float, float]:
        inner = WIDTH - LEFT - RIGHT
        return round(LEFT + inner * (x - low) / wide, 1), round(TOP + (HEIGHT - TOP - BOTTOM) * (1 - y), 1)

    parts = _frame(x_label, y_label, [(at(0 if low == 0 else low, y)[1], f"{y:g}") for y in (0, 0.25, 0.5, 0.75, 1)])
    for tick in _ticks(low, high):
        x = at(tick, 0)[0]
        parts.append(f'<text class="tick" x="{x}" y="{HEIGHT - BOTTOM + 15}" text-anchor="middle">{tick:g}</text>')
    if diagonal:
        (x1, y1), (x2, y2) = at(low, 0), at(high, 1)
        parts.append(f'<line class="guide" x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}"/>')
    for number, line in enumerate(lines):
        places = [at(x, min(1.0, max(0.0, y))) for x, y in line.points]
        style = f'class="line s{number % SHADES}" stroke-dasharray="{DASHES[number % len(DASHES)]}"'
        if not dots and len(places) > 1:
            joined = " ".join(f"{x},{y}" for x, y in places)
            parts.append(f'<polyline {style} points="{joined}"/>')
        mark = MARKS[number % len(MARKS)]
        shown = places if dots or len(places) == 1 else places[:: max(1, len(places) // 6)]
        parts += [
            f'<text class="mark t{number % SHADES}" x="{x}" y="{round(y + 3.5, 1)}" text-anchor="middle">{mark}</text>' for x, y in shown
        ]
    said = "; ".join(f"{line.name}: " + ", ".join(f"{x:g} → {y:.2f}" for x, y in line.points) for line in lines)
    return _svg(title, said, parts, HEIGHT) + key([line.name for line in lines])


def histogram(title: str, values: Sequence[float], low: float, high: float, bins: int = 10) -> str:
    """How values are spread; those at the upper end count in the last bin."""
    counts = spread(values, low, high, bins)
    most = max(counts, default=0) or 1
    inner = (WIDTH - LEFT - RIGHT) / bins
    parts = _frame("", "", [])
    for number, count in enumerate(counts):
        tall = round((HEIGHT - TOP - BOTTOM) * count / most, 1)
        x, y = round(LEFT + inner * number, 1), round(HEIGHT - BOTTOM - tall, 1)
        parts.append(f'<rect class="bar" x="{x}" y="{y}" width="{round(inner - 2, 1)}" height="{tall}"/>')
        if count:
            parts.append(f'<text class="tick" x="{round(x + inner / 2 - 1, 1)}" y="{round(y - 3, 1)}" text-anchor="middle">{count}</text>')
    for share, anchor in ((0.0, "start"), (0.5, "middle"), (1.0, "end")):
        x = round(LEFT + (WIDTH - LEFT - RIGHT) * share, 1)
        parts.append(
            f'<text class="tick" x="{x}" y="{HEIGHT - BOTTOM + 15}" text-anchor="{anchor}">{low + (high - low) * share:.3g}</text>'
        )
    said = ", ".join(f"{low + (high - low) * n / bins:.3g} to {low + (high - low) * (n + 1) / bins:.3g}: {c}" for n, c in enumerate(counts))
    return _svg(title, said, parts, HEIGHT)


def spread(values: Sequence[float], low: float, high: float, bins: int) -> list[int]:
    """Counts of values in bins of equal width."""
    counts = [0] * bins
    for value in values:
        place = int((value - low) / ((high - low) or 1.0) * bins)
        counts[min(max(place, 0), bins - 1)] += 1
    return counts


def stacked(title: str, rows: Sequence[tuple[str, Sequence[tuple[str, int]]]]) -> str:
    """Shares of labels, one bar a row."""
    names = list(dict.fromkeys(name for _, parts in rows for name, _ in parts))
    height = TOP + len(rows) * (BAR + GAP + 14)
    drawn, said = [], []
    for number, (label, parts) in enumerate(rows):
        y, x, total = TOP + number * (BAR + GAP + 14), 2.0, sum(count for _, count in parts) or 1
        drawn.append(f'<text class="label" x="2" y="{y + 9}">{esc(short(label))}</text>')
        for name, count in parts:
            wide = (WIDTH - 4) * count / total
            place = names.index(name)
            drawn.append(
                f'<rect class="seg f{place % SHADES}" x="{round(x, 1)}" y="{y + 13}" width="{round(wide, 1)}" height="{BAR}">'
                f"<title>{esc(label)}, {esc(name)}: {count}</title></rect>"
            )
            if wide > 16:
                drawn.append(
                    f'<text class="on g{place % SHADES}" x="{round(x + wide / 2, 1)}" y="{y + 27}" text-anchor="middle">{place + 1}</text>'
                )
            x += wide
        said.append(f"{label}: " + ", ".join(f"{name} {count}" for name, count in parts))
    legend = "".join(f'<li><span class="swatch b{n % SHADES}">{n + 1}</span> {esc(name)}</li>' for n, name in enumerate(names))
    return _svg(title, "; ".join(said), drawn, height) + f'<ul class="key">{legend}</ul>'


def intervals(title: str, rows: Sequence[Span], low: float = 0.0, high: float = 1.0) -> str:
    """Means with their intervals, one a row."""
    height, inner = TOP + len(rows) * 34 + 20, WIDTH - 20
    parts, said = [], []

    def at(value: float) -> float:
        return round(10 + inner * (min(high, max(low, value)) - low) / ((high - low) or 1.0), 1)

    for number, row in enumerate(rows):
        y = TOP + number * 34
        told = "none" if row.value is None else f"{row.value:.3f}"
        if row.value is not None and row.low is not None and row.high is not None:
            told += f" [{row.low:.3f}, {row.high:.3f}]"
            parts.append(f'<line class="whisker" x1="{at(row.low)}" x2="{at(row.high)}" y1="{y + 20}" y2="{y + 20}"/>')
        note = f" {row.note}" if row.note else ""
        parts.append(f'<text class="label" x="2" y="{y + 10}">{esc(short(row.name))}: {told}{esc(note)}</text>')
        if row.value is not None:
            parts.append(f'<circle class="dot" cx="{at(row.value)}" cy="{y + 20}" r="4"/>')
        said.append(f"{row.name} {told}{note}")
    base = height - 16
    parts.append(f'<line class="axis" x1="10" x2="{WIDTH - 10}" y1="{base}" y2="{base}"/>')
    parts.append(f'<text class="tick" x="10" y="{base + 12}">{low:g}</text>')
    parts.append(f'<text class="tick" x="{WIDTH - 10}" y="{base + 12}" text-anchor="end">{high:g}</text>')
    return _svg(title, "; ".join(said), parts, height)


def key(names: Sequence[str]) -> str:
    """Which mark and dash is which line."""
    items = "".join(
        f'<li><svg class="keyline" viewBox="0 0 36 12" width="36" height="12" aria-hidden="true">'
        f'<line class="line s{n % SHADES}" stroke-dasharray="{DASHES[n % len(DASHES)]}" x1="0" y1="6" x2="36" y2="6"/>'
        f'<text class="mark t{n % SHADES}" x="18" y="10" text-anchor="middle">{MARKS[n % len(MARKS)]}</text></svg> {esc(name)}</li>'
        for n, name in enumerate(names)
    )
    return f'<ul class="key">{items}</ul>'


def short(name: str) -> str:
    """A name as long as a chart has room for."""
    return name if len(name) <= NAME_SHOWN else name[: NAME_SHOWN - 1] + "…"


def _svg(title: str, said: str, parts: Sequence[str], height: float) -> str:
    return (
        f'<svg class="chart" role="img" viewBox="0 0 {WIDTH} {height}" aria-label="{esc(title)}. {esc(said)}">'
        f"<title>{esc(title)}</title>{''.join(parts)}</svg>"
    )


def _frame(x_label: str, y_label: str, levels: Sequence[tuple[float, str]]) -> list[str]:
    base = HEIGHT - BOTTOM
    parts = [f'<line class="axis" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{base}" y2="{base}"/>']
    for y, name in levels:
        parts.append(f'<line class="grid" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y}" y2="{y}"/>')
        parts.append(f'<text class="tick" x="{LEFT - 4}" y="{y + 4}" text-anchor="end">{name}</text>')
    if x_label:
        parts.append(f'<text class="label" x="{(WIDTH + LEFT) / 2}" y="{HEIGHT - 5}" text-anchor="middle">{esc(x_label)}</text>')
    if y_label:
        middle = (HEIGHT - BOTTOM) / 2
        turned = f'transform="rotate(-90 10 {middle})"'
        parts.append(f'<text class="label" x="10" y="{middle}" text-anchor="middle" {turned}>{esc(y_label)}</text>')
    return parts


def _ticks(low: float, high: float) -> list[float]:
    if high - low <= 1:
        return [low + (high - low) * n / 4 for n in range(5)]
    step = max(1, round((high - low) / 5))
    return [float(low + step * n) for n in range(int((high - low) / step) + 1)]
