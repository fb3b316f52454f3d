"""The debrief as HTML: the truth, what the answer and the history were worth, and why."""

from __future__ import annotations

import base64
from collections.abc import Callable
from typing import Any

from metrics.scores import Score, Scorecard
from simulator.case import GroundTruth
from simulator.trace import DialogueTrace, FinalAnswer
from ui.web import words
from ui.web.markup import esc, listed, meter, percent
from ui.web.session import Debrief
from ui.web.transcript import legend_html, transcript_html

SHOWN = 12
"""Entries of a list before the rest is folded away."""
SCALES = {"esi": "ESI", "curated": "Bedside's own scale", "ddxplus_severity": "DDXPlus' severity, which is no triage level"}


def debrief_html(found: Debrief) -> str:
    """Everything above the transcript."""
    truth, answer = found.case.ground_truth, found.trace.outcome
    parts = [_headline(found.case.ground_truth, found.card, answer)]
    if found.problem:
        parts.append(f'<p class="notice warn" role="status">{esc(found.problem)}</p>')
    if found.card is not None:
        parts += [_tiles(found.card), _history(found.card, found.trace)]
    parts.append(f'<div class="pair">{_square(found.card) if found.card is not None else ""}{_truth(truth)}</div>')
    if answer is not None:
        parts.append(_answer(answer, truth))
    if found.notes.strip():
        parts.append(f'<section class="card"><h3>Your notes</h3><p class="pre">{esc(found.notes)}</p></section>')
    return f'<div class="debrief">{"".join(parts)}</div>'


def transcript_section(found: Debrief, name_of: Callable[[str], str]) -> str:
    """The dialogue with marks, and what they mean."""
    return (
        '<section class="card transcript"><h3>The consultation, as it was understood</h3>'
        f"{legend_html()}{transcript_html(found.trace.turns, name_of)}</section>"
    )


def footer_html(found: Debrief) -> str:
    """The trace to take along, all scores, and who stands behind them."""
    reviewed = found.case.provenance.reviewed_by
    by = f"Case reviewed by {esc(reviewed)}." if reviewed else "No clinician has reviewed this case or the way it is scored."
    sources = listed([esc(reference) for reference in found.case.provenance.references])
    folded = f"<details><summary>Sources of this case</summary>{sources}</details>" if sources else ""
    table = _table(found.card) if found.card is not None else ""
    return f'<div class="card after">{_download(found.trace)}{table}{folded}<p class="muted">{by}</p></div>'


def _download(trace: DialogueTrace) -> str:
    # the file travels in the page: no copy on the server that anybody else could fetch
    data = base64.b64encode(trace.to_json().encode()).decode()
    return (
        f'<a class="button" id="download" download="{esc(trace.trace_id)}.json" href="data:application/json;base64,{data}">'
        "Download the trace (JSON)</a>"
    )


def _headline(truth: GroundTruth, card: Scorecard | None, answer: FinalAnswer | None) -> str:
    codes = ", ".join(truth.primary.icd10)
    _, sentence = words.verdict(card) if card is not None else ("", "")
    yours = ""
    if answer is not None:
        first = answer.ranked[0]
        prob = f", {percent(first.prob)} sure" if first.prob is not None else ""
        yours = f'<p class="yours">You committed: <b>{esc(first.name)}</b>{esc(prob)}. {esc(sentence)}</p>'
    return (
        '<header class="truth"><p class="kicker">The diagnosis</p>'
        f'<h2 tabindex="-1" id="truth">{esc(truth.primary.name)} <span class="code">{esc(codes)}</span></h2>{yours}</header>'
    )


def _tiles(card: Scorecard) -> str:
    tiles = [
        ("Diagnosis", words.verdict(card), _mood(words.value_of(card, "acc_truth"))),
        ("History", words.history(card), ""),
        ("History carries the diagnosis", words.reliable(card), _mood(words.value_of(card, "reliability"))),
        ("Closed early", words.closure(card), _mood(words.value_of(card, "premature_closure"), good=False)),
    ]
    boxes = []
    for name, (short, long), mood in tiles:
        bar = ""
        if name == "History" and isinstance(words.value_of(card, "ses"), float):
            bar = meter(words.value_of(card, "ses"), f"history {short}")
        boxes.append(f'<div class="tile {mood}"><h3>{name}</h3><p class="big">{esc(short)}</p>{bar}<p>{esc(long)}</p></div>')
    return f'<div class="tiles">{"".join(boxes)}</div>'


def _mood(value: Any, good: bool = True) -> str:
    return "" if not isinstance(value, bool) else ("good" if value is good else "poor")


def _square(card: Scorecard) -> str:
    """The 2x2 of answer and questioning."""
    own = words.value_of(card, "cell")
    if own not in words.CELLS:
        return ""

    def cell(key: str) -> str:
        short = words.CELLS[key][0]
        here = '<span class="here">You are here</span>' if key == own else ""
        return f'<td class="{"own " + key if key == own else ""}"><b>{esc(short)}</b>{here}</td>'

    tau = round(float(words.parts_of(card, "cell").get("tau", 0.3)) * 100)
    return (
        '<section class="card"><h3>Answer and history together</h3><table class="square">'
        '<thead><tr><td></td><th scope="col">History sound</th><th scope="col">History thin</th></tr></thead><tbody>'
        f'<tr><th scope="row">Diagnosis right</th>{cell("reliable")}{cell("lucky_guess")}</tr>'
        f'<tr><th scope="row">Diagnosis wrong</th>{cell("reasoned_miss")}{cell("unreasoned_miss")}</tr></tbody></table>'
        f'<p class="muted">A history is sound from more than {tau} of 100 points.</p></section>'
    )


def _history(card: Scorecard, trace: DialogueTrace) -> str:
    """What was asked and what never was."""
    parts = words.parts_of(card, "ses")
    if not parts:
        return ""
    asked = []
    for item in parts.get("covered", []):
        part = "" if item["credit"] == 1 else f", counted for {percent(item['credit'])}"
        via = f' <span class="muted">through {esc(item["by_name"])}{part}</span>' if item["by"] != item["concept"] else ""
        asked.append(f'<span class="g yes" aria-hidden="true">✓</span> {esc(item["name"])}{via} {_often(item)}')
    brought = {mention.cui for turn in trace.turns for mention in turn.mentions if mention.dialogue_role == "volunteered"}
    unanswered = {item["concept"] for item in words.parts_of(card, "precision").get("unanswered", [])}
    missed = []
    for item in parts.get("missed", []):
        told = ' <span class="brought">▲ the patient brought it up</span>' if item["concept"] in brought else ""
        told = ' <span class="brought">◇ asked, but left unanswered</span>' if item["concept"] in unanswered else told
        missed.append(f'<span class="g no" aria-hidden="true">○</span> {esc(item["name"])} {_often(item)}{told}')
    beside = [f'<span class="g" aria-hidden="true">·</span> {esc(item["name"])}' for item in parts.get("irrelevant", [])]
    columns = [
        ("Asked, and it matters here", asked, "Nothing of what matters in this disease was asked."),
        ("Missing from your history", missed, "Nothing: you covered all of it."),
        ("Asked, but not part of this disease", beside, "Nothing."),
    ]
    body = "".join(
        f'<div><h4>{head} <span class="count">{len(items)}</span></h4>{_folded(items) or f"<p class=muted>{none}</p>"}</div>'
        for head, items, none in columns
    )
    remarks = listed([esc(remark) for remark in words.conduct(card)], "remarks")
    note = "Asking what speaks against other diseases is good practice too; this score looks at the true disease only."
    return (
        '<section class="card"><h3>Your history, question by question</h3>'
        f'<div class="columns">{body}</div>{remarks}<p class="muted">{note}</p></section>'
    )


def _often(item: dict[str, Any]) -> str:
    return f'<span class="often">{words.how_often(float(item["weight"]))}</span>'


def _folded(items: list[str]) -> str:
    if len(items) <= SHOWN:
        return listed(items, "findings")
    rest = len(items) - SHOWN
    return f"{listed(items[:SHOWN], 'findings')}<details><summary>{rest} more</summary>{listed(items[SHOWN:], 'findings')}</details>"


def _answer(answer: FinalAnswer, truth: GroundTruth) -> str:
    """The rest of what was committed, beside what the case's sources ask for; none of it is scored yet."""
    ranked = "".join(
        f"<li>{esc(item.name)}{f' <span class=code>{esc(item.icd10)}</span>' if item.icd10 else ''}"
        f"{f' · {percent(item.prob)}' if item.prob is not None else ''}</li>"
        for item in answer.ranked
    )
    rows = [("Your list", f"<ol>{ranked}</ol>")]
    if answer.triage_level is not None:
        rows.append(("How urgent, you", esc(words.TRIAGE[answer.triage_level])))
    scale = f'<span class="muted">({esc(SCALES[truth.acuity_scale])})</span>'
    rows.append(("How urgent, this case", f"{esc(words.TRIAGE[truth.acuity])} {scale}"))
    for name, items in (("Tests", answer.tests), ("Treatment", answer.treatments), ("Advice", answer.advice)):
        if items:
            rows.append((name, listed([esc(item) for item in items])))
    if answer.change_mind:
        rows.append(("Would change your mind", esc(answer.change_mind)))
    wanted = [esc(point.text) for points in truth.score_points.values() for point in points]
    if wanted:
        rows.append(("What the sources ask for", listed(wanted)))
    if truth.contraindicated:
        rows.append(("To be avoided here", esc(", ".join(truth.contraindicated))))
    body = "".join(f"<dt>{name}</dt><dd>{value}</dd>" for name, value in rows)
    return (
        f'<section class="card"><h3>Your answer</h3><dl>{body}</dl>'
        '<p class="muted">Urgency, tests, treatment and advice are shown for comparison; they are not scored yet.</p></section>'
    )


def _truth(truth: GroundTruth) -> str:
    if not truth.differential:
        return ""
    rows = "".join(
        f'<li><span class="name">{esc(item.dx.name)}</span>{meter(item.prob, percent(item.prob))}'
        f'<span class="share">{percent(item.prob)}</span></li>'
        for item in sorted(truth.differential, key=lambda item: -item.prob)
    )
    return f'<section class="card"><h3>What else it could have been</h3><ul class="differential">{rows}</ul></section>'


def _table(card: Scorecard) -> str:
    rows = "".join(f"<tr><th scope=row>{esc(name)}</th><td>{_value(score)}</td></tr>" for name, score in card.scores.items())
    return (
        "<details><summary>All scores, by their technical names</summary>"
        f'<table class="scores"><tbody>{rows}</tbody></table>'
        f'<p class="muted">Scorer {esc(card.scorer_version)}, knowledge {esc(card.kb_version)}, '
        f"parameters {esc(card.params_hash)}.</p></details>"
    )


def _value(score: Score) -> str:
    if score.value is None:
        return f'<span class="muted">none ({esc(score.null_reason or "")})</span>'
    return esc(f"{score.value:.3f}" if isinstance(score.value, float) else score.value)
