"""The parts of a report: tables and charts of one group of encounters. Scores of any name show."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

from metrics.frames import score_names
from metrics.scorecard import CELLS, ExaminerSummary, MetricSummary
from metrics.sensitivity import lower_is_better
from ui.report.collect import Encounter, Fidelity, Group, mean_by_place
from ui.report.svg import Line, Span, histogram, intervals, line_chart, stacked
from ui.scoring import HEADLINES
from ui.web.markup import esc
from ui.web.words import CELLS as CELL_WORDS
from ui.web.words import RELATIONS

HARM_WORDS = ("harm", "triage", "severe", "contraindicat", "advice")
"""A score whose name holds one of these belongs to the harm rates."""
DISTRIBUTIONS = (
    "ses",
    "precision",
    "recall",
    "sdd",
    "core_coverage",
    "ndcg",
    "s_dise",
    "harm_index",
    "tig",
    "anchoring_index",
    "questions",
)
ECE_FROM = 100
"""Fewer answers than this make an expected calibration error that says nothing (metrics.md 7.4)."""
BINS = 10
FEW = 0.25
"""A timeline is drawn as long as this share of an examiner's dialogues goes on; a mean over the last few says little."""
RELATION_ORDER = tuple(RELATIONS)


def table_html(caption: str, head: Sequence[str], rows: Sequence[Sequence[str]], numeric_from: int = 1) -> str:
    """A table that scrolls sideways in its own box; cells are HTML already."""
    columns = "".join(f'<th scope="col"{_right(n, numeric_from)}>{name}</th>' for n, name in enumerate(head))
    body = "".join(
        "<tr>"
        + "".join(f'<th scope="row">{cell}</th>' if n == 0 else f"<td{_right(n, numeric_from)}>{cell}</td>" for n, cell in enumerate(row))
        + "</tr>"
        for row in rows
    )
    return (
        f'<p class="caption">{esc(caption)}</p><div class="scroll" tabindex="0" role="region" aria-label="{esc(caption)}">'
        f'<table aria-label="{esc(caption)}"><thead><tr>{columns}</tr></thead><tbody>{body}</tbody></table></div>'
    )


def _right(number: int, numeric_from: int) -> str:
    return ' class="n"' if number >= numeric_from else ""


def figure(title: str, chart: str, note: str = "", more: str = "") -> str:
    """A chart with its title, a remark, and its numbers folded away."""
    remark = f'<p class="muted">{esc(note)}</p>' if note else ""
    numbers = f"<details><summary>The numbers</summary>{more}</details>" if more else ""
    return f"<figure><figcaption>{esc(title)}</figcaption>{chart}{remark}{numbers}</figure>"


def metric_cell(metric: MetricSummary | None) -> str:
    """Mean, interval, n and nulls of a metric."""
    if metric is None or metric.mean is None:
        return f'<span class="muted">none ({metric.n_null} null)</span>' if metric is not None else '<span class="muted">–</span>'
    around = f" [{metric.low:.2f}, {metric.high:.2f}]" if metric.low is not None and metric.high is not None else ""
    nulls = f", {metric.n_null} null" if metric.n_null else ""
    return f'{metric.mean:.3f}<span class="ci">{around}</span> <span class="muted">n {metric.n}{nulls}</span>'


def headline_section(summaries: Sequence[ExaminerSummary]) -> str:
    """The headline scores side by side, and how encounters ended."""
    known = [(name, label) for name, label in HEADLINES if any(name in summary.metrics for summary in summaries)]
    harm = [("harm_index", "harm ↓")] if any("harm_index" in summary.metrics for summary in summaries) else []
    shown = [*known, *harm]
    rows = [
        [esc(s.examiner_id), f"{s.n_scored} of {s.n_traces}", str(s.n_cases), *(metric_cell(s.metrics.get(name)) for name, _ in shown)]
        for s in summaries
    ]
    head = ["examiner", "scored", "cases", *(f"{esc(label)}" for _, label in shown)]
    ends = [
        [esc(s.examiner_id), esc(", ".join(f"{name} {count}" for name, count in s.terminations.items())), str(s.forced_commits)]
        for s in summaries
    ]
    return (
        table_html("Headline scores: mean over base cases with 95 % interval", head, rows)
        + '<p class="muted">They pull apart: a short interview can be right, a long one wrong. No one of them ranks.</p>'
        + table_html("How encounters ended", ["examiner", "ended", "answers forced by the budget"], ends, 2)
    )


def cells_section(summaries: Sequence[ExaminerSummary]) -> str:
    """The 2x2 of answer and questioning, and how far answers are from the truth."""
    squares = []
    for summary in summaries:
        share = summary.cell_rates

        def cell(name: str, counts: dict[str, int] = summary.cells, share: dict[str, float] = share) -> str:
            return f"<td><b>{counts.get(name, 0)}</b> ({100 * share.get(name, 0.0):.0f} %)<br>{esc(CELL_WORDS[name][0])}</td>"

        squares.append(
            f'<table class="square"><caption>{esc(summary.examiner_id)}</caption><thead><tr><td></td><th scope="col">history sound</th>'
            f'<th scope="col">history thin</th></tr></thead><tbody><tr><th scope="row">right</th>{cell(CELLS[0])}{cell(CELLS[1])}</tr>'
            f'<tr><th scope="row">wrong</th>{cell(CELLS[2])}{cell(CELLS[3])}</tr></tbody></table>'
        )
    rows = []
    for summary in summaries:
        order = sorted(summary.relations, key=lambda name: RELATION_ORDER.index(name) if name in RELATION_ORDER else len(RELATION_ORDER))
        rows.append((summary.examiner_id, [(RELATIONS.get(name, name), summary.relations[name]) for name in order]))
    chart = stacked("How answers stand to the truth in ICD-10", rows)
    numbers = table_html(
        "answers", ["examiner", "relation", "answers"], [[esc(e), esc(r), str(c)] for e, parts in rows for r, c in parts], 2
    )
    return f'<div class="squares">{"".join(squares)}</div>' + figure(
        "How answers stand to the truth in ICD-10", chart, "Distance in ICD-10 is not clinical closeness.", numbers
    )


def curve_section(group: Group) -> str:
    """Reliability by its threshold."""
    lines = []
    for examiner in group.examiners():
        curves = [item.curve for item in group.encounters if item.examiner_id == examiner and item.curve]
        taus = [tau for tau, _ in curves[0]] if curves else []
        lines.append(Line(examiner, [(tau, sum(dict(curve).get(tau, False) for curve in curves) / len(curves)) for tau in taus]))
    if not any(line.points for line in lines):
        return missing("reliability curve", "no encounter has one")
    title = "Share of encounters that are right with a history above the threshold"
    chart = line_chart(title, lines, "threshold tau of SES", "reliable", (0, 1))
    return figure("Reliability curve", chart, "At 0 any history with a relevant question counts.", _numbers(lines, "tau"))


def _numbers(lines: Sequence[Line], x_name: str) -> str:
    places = sorted({x for line in lines for x, _ in line.points})
    rows = []
    for x in places:
        at = [dict(line.points).get(x) for line in lines]
        rows.append([f"{x:g}", *("–" if value is None else f"{value:.3f}" for value in at)])
    return table_html(x_name, [esc(x_name), *(esc(line.name) for line in lines)], rows)


def timeline_section(group: Group) -> str:
    """Belief in the truth, and questions that fit the anchor, question by question."""
    parts = [
        _timeline(
            group,
            "Belief in the true disease",
            "What the knowledge base would believe after each question; 0 is after the opening. "
            "Means over the dialogues that got so far; drawn while a quarter of them does.",
            "P(truth)",
            lambda item: item.belief,
        ),
        _timeline(
            group,
            "Anchoring: how far each question fits the first favourite alone",
            "Share of the question that the anchor accounts for among the candidates; high to the end is restricted questioning.",
            "share of the anchor",
            lambda item: item.anchor,
        ),
    ]
    return "".join(parts)


def _timeline(group: Group, title: str, note: str, y_label: str, series: Callable[[Encounter], Sequence[float | None]]) -> str:
    lines, rows = [], []
    for examiner in group.examiners():
        found = mean_by_place(series(item) for item in group.encounters if item.examiner_id == examiner and series(item))
        least = max(1, round(FEW * max((n for _, _, n in found), default=0)))
        lines.append(Line(examiner, [(place, mean) for place, mean, n in found if n >= least]))
        rows += [[esc(examiner), str(place), f"{mean:.3f}", str(n)] for place, mean, n in found]
    if not rows:
        return missing(title, "these scorecards hold no such series")
    last = max(place for line in lines for place, _ in line.points)
    chart = line_chart(title, lines, "question", y_label, (0, max(1, last)))
    return figure(title, chart, note, table_html(title, ["examiner", "question", "mean", "dialogues"], rows))


def distribution_section(group: Group) -> str:
    """Histograms of the numbers behind the means."""
    names = [name for name in DISTRIBUTIONS if name in score_names(group.cards)]
    parts = []
    for name in names:
        charts = []
        every = [value for examiner in group.examiners() for value in _numbers_of(group, name, examiner)]
        if not every:
            continue
        low, high = (0.0, 1.0) if min(every) >= 0 and max(every) <= 1 else (min(0.0, min(every)), max(every))
        for examiner in group.examiners():
            values = _numbers_of(group, name, examiner)
            nulls = sum(card.examiner_id == examiner for card in group.cards) - len(values)
            title = f"{name}, {examiner}: {len(values)} values, {nulls} null"
            charts.append(f'<div><p class="small">{esc(title)}</p>{histogram(title, values, low, high)}</div>')
        better = "less is better" if lower_is_better(name) else "more is better"
        parts.append(f"<details><summary>{esc(name)} ({better})</summary><div class='charts'>{''.join(charts)}</div></details>")
    return "".join(parts) or missing("distributions", "no numbers")


def _numbers_of(group: Group, name: str, examiner: str) -> list[float]:
    scores = [card.scores[name].value for card in group.cards if card.examiner_id == examiner and name in card.scores]
    return [float(value) for value in scores if value is not None and not isinstance(value, str)]


def harm_section(summaries: Sequence[ExaminerSummary]) -> str:
    """Every score of harm, triage and advice, each tier for itself."""
    names = [name for name in dict.fromkeys(n for s in summaries for n in s.metrics) if any(word in name for word in HARM_WORDS)]
    if not names:
        return missing("harm", "these scorecards hold no score of harm")
    parts = []
    for name in names:
        spans = []
        for summary in summaries:
            metric = summary.metrics.get(name)
            if metric is not None:
                note = f"n {metric.n}" + (f", {metric.n_null} null" if metric.n_null else "")
                spans.append(Span(summary.examiner_id, metric.mean, metric.low, metric.high, note))
        top = max([1.0, *(span.high or span.value or 0.0 for span in spans)])
        parts.append(figure(name.replace("_", " "), intervals(name, spans, 0.0, top)))
    note = "Omissions are most of the harm elsewhere in medicine: look at missing advice by itself, not only at an index."
    return f'<div class="charts">{"".join(parts)}</div><p class="muted">{note}</p>'


def calibration_section(group: Group) -> str:
    """Stated confidence against being right (metrics.md 7.4)."""
    lines, rows, bins = [], [], []
    for examiner in group.examiners():
        ours = [item for item in group.encounters if item.examiner_id == examiner]
        pairs = [(item.confidence, item.correct) for item in ours if item.confidence is not None and item.correct is not None]
        silent = len(ours) - len(pairs)
        if not pairs:
            rows.append([esc(examiner), "0", str(silent), "–", "–", "–", "–", "–"])
            continue
        confidence = sum(p for p, _ in pairs) / len(pairs)
        right = sum(c for _, c in pairs) / len(pairs)
        brier = sum((p - c) ** 2 for p, c in pairs) / len(pairs)
        found = calibration_bins(pairs)
        error = sum(n * abs(p - c) for p, c, n in found) / len(pairs)
        ece = f"{error:.3f}" if len(pairs) >= ECE_FROM else f"n below {ECE_FROM}"
        rows.append(
            [
                esc(examiner),
                str(len(pairs)),
                str(silent),
                f"{confidence:.3f}",
                f"{right:.3f}",
                f"{confidence - right:+.3f}",
                f"{brier:.3f}",
                ece,
            ]
        )
        lines.append(Line(examiner, [(p, c) for p, c, _ in found]))
        bins += [[esc(examiner), f"{p:.3f}", f"{c:.3f}", str(n)] for p, c, n in found]
    head = ["examiner", "stated", "not stated", "mean confidence", "right", "gap", "Brier", "ECE"]
    table = table_html("Confidence of the first answer; not stated is not 0.5", head, rows)
    if not lines:
        return table
    chart = line_chart("Confidence and being right", lines, "stated confidence", "right", (0, 1), diagonal=True, dots=True)
    numbers = table_html("tenths of confidence", ["examiner", "mean confidence", "right", "answers"], bins)
    return table + figure("Calibration", chart, "Each mark is a tenth of the scale; on the line, confidence is deserved.", numbers)


def calibration_bins(pairs: Sequence[tuple[float, bool]]) -> list[tuple[float, float, int]]:
    """(mean confidence, share right, n) of each tenth of the scale that has answers."""
    found: dict[int, list[tuple[float, bool]]] = {}
    for p, correct in pairs:
        found.setdefault(min(int(p * BINS), BINS - 1), []).append((p, correct))
    return [(sum(p for p, _ in xs) / len(xs), sum(c for _, c in xs) / len(xs), len(xs)) for _, xs in sorted(found.items())]


def fidelity_section(fidelity: dict[str, Fidelity]) -> str:
    """What the patient did: true to its facts, and silent about the truth."""
    rows = []
    for name, found in sorted(fidelity.items()):
        leaks = ", ".join(f"{kind} {count}" for kind, count in sorted(found.leaks.items())) or "none"
        notes = ", ".join(f"{code} {count}" for code, count in sorted(found.notes.items())) or "none"
        rows.append(
            [
                esc(name),
                str(found.encounters),
                f"{found.answered} of {found.asked}",
                str(found.capped_turns),
                f"{found.against_fact} of {found.from_fact}",
                str(found.without_fact),
                f"{found.volunteered_without_fact} of {found.volunteered}",
                str(found.utterances),
                esc(leaks),
                str(found.patient_errors),
                esc(notes),
            ]
        )
    head = [
        "patient",
        "encounters",
        "questions answered",
        "turns cut by the cap",
        "answers against a fact",
        "answers without a fact",
        "volunteered without a fact",
        "pool utterances",
        "words of the truth",
        "patient errors",
        "notes",
    ]
    note = (
        "In a closed world what is no fact is denied, so answers without a fact are rightly there. Words of the truth: history, record and "
        "trap are licensed; unlicensed must be 0."
    )
    return table_html("Patient fidelity", head, rows) + f'<p class="muted">{esc(note)}</p>'


def all_scores_section(summaries: Sequence[ExaminerSummary]) -> str:
    """Every score, whatever its name, with n and nulls; and why scores are null."""
    names = list(dict.fromkeys(name for summary in summaries for name in summary.metrics))
    rows = [[esc(name), *(metric_cell(summary.metrics.get(name)) for summary in summaries)] for name in names]
    reasons: Counter[tuple[str, str, str]] = Counter()
    for summary in summaries:
        for name, metric in summary.metrics.items():
            for reason, count in metric.null_reasons.items():
                reasons[summary.examiner_id, reason, name] += count
    told = [[esc(examiner), esc(reason), esc(name), str(count)] for (examiner, reason, name), count in sorted(reasons.items())]
    table = table_html("All scores: mean over base cases", ["score", *(esc(summary.examiner_id) for summary in summaries)], rows)
    why = table_html("Why scores are null", ["examiner", "reason", "score", "encounters"], told, 3) if told else ""
    return f"<details><summary>All {len(names)} scores</summary>{table}</details>" + (
        f"<details><summary>Nulls, with their reasons</summary>{why}</details>" if why else ""
    )


def missing(what: str, why: str) -> str:
    """A part that cannot be shown says so."""
    return f'<p class="muted">{esc(what)}: {esc(why)}.</p>'
