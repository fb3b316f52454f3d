"""The parts of the page that are shown before the commit, as HTML. They see snapshots only, never a truth."""

from __future__ import annotations

from collections.abc import Sequence

from simulator.case import ExaminerView
from simulator.trace import FinalAnswer
from ui.web import words
from ui.web.diagnoses import Reading, Suggestion
from ui.web.markup import esc, listed, percent
from ui.web.session import Snapshot
from ui.web.transcript import dialogue_html

HEADER = (
    '<header class="top"><a class="brand" href="?">'
    '<svg class="mark" viewBox="0 0 26 20" aria-hidden="true"><path d="M2 3v14M2 13h22v4M24 13v-2a3 3 0 0 0-3-3h-9v5M6.5 9.5h.01"/></svg>'
    " Bedside</a>"
    '<p class="disclaimer">Simulated patient. Research and education only; not medical advice.</p></header>'
)
OPENING = '<p class="muted opening" role="status">Opening the consulting room …</p>'
INTRO = (
    '<div class="intro"><h1 id="choose-title" tabindex="-1">Who would you like to see?</h1>'
    "<p>Each patient answers in words, never more than they know. Ask, examine, order tests; "
    "then commit a diagnosis and see how you reached it.</p></div>"
)
EMPTY = '<p class="card muted">There are no cases here yet. Start Bedside with cases: <code>bedside ui --cases FILE</code>.</p>'
HINT = "Ask as you would at the bedside, one thing at a time. Every message takes a turn."
MOST_CASES = 60


def cases_html(views: Sequence[tuple[str, Sequence[ExaminerView]]]) -> str:
    """The cases to choose from, in groups: a card each, with who it is and the opening words."""
    if not any(group for _, group in views):
        return EMPTY
    parts = []
    for heading, group in views:
        cards = "".join(
            f'<li><button type="button" class="case" data-case="{esc(view.case_id)}"><b>{esc(words.case_label(view))}</b>'
            f"<span>“{esc(view.opening_text)}”</span></button></li>"
            for view in group[:MOST_CASES]
        )
        more = f'<p class="muted">The first {MOST_CASES} of {len(group):,}.</p>' if len(group) > MOST_CASES else ""
        if group:
            parts.append(f'<section><h2>{esc(heading)}</h2><ul class="cases">{cards}</ul>{more}</section>')
    return "".join(parts)


def bar_html(shot: Snapshot) -> str:
    """Who it is, and how many turns are used."""
    used = min(shot.asked, shot.max_turns)
    counter = f"Turn {shot.next_turn} of {shot.max_turns}" if used < shot.max_turns else f"All {shot.max_turns} turns used"
    width = 100 * used / shot.max_turns if shot.max_turns else 100
    return (
        f'<div class="bar"><h1 id="play-title" tabindex="-1">{esc(words.case_label(shot.view))}</h1>'
        f'<p class="counter"><span id="turn">{counter}</span>'
        f'<span class="meter" aria-hidden="true"><span style="width:{width:.1f}%"></span></span></p></div>'
    )


def chat_html(shot: Snapshot, thinking: bool = False) -> str:
    """The dialogue; what was said last is read out by screen readers."""
    last = ""
    if not thinking and shot.turns and shot.turns[-1].role != "examiner":
        after = [turn for turn in shot.turns if turn.role == "examiner"]
        new = [turn for turn in shot.turns if not after or turn.idx > after[-1].idx]
        last = " ".join(turn.text for turn in new)
    hint = f'<p class="hint">{HINT}</p>' if not shot.asked else ""
    return f'{dialogue_html(shot.turns, thinking)}{hint}<div class="sr" role="status">{esc(last)}</div>'


def note_html(note: str | None, kind: str = "") -> str:
    """A line to the person; empty if there is nothing to say."""
    return f'<p class="notice {esc(kind)}" role="status">{esc(note)}</p>' if note else ""


def turn_note(shot: Snapshot) -> str | None:
    """What the person should know of the turns that are left."""
    if shot.phase == "must_commit":
        return "All turns are used. Commit your diagnosis now."
    left = shot.max_turns - shot.asked
    if shot.phase == "asking" and 0 < left <= 3 and shot.asked:
        return "One turn left." if left == 1 else f"{left} turns left."
    return None


def reading_html(row: int, text: str, reading: Reading | None, suggestions: Sequence[Suggestion]) -> str:
    """Below a diagnosis field: how it is read, and the names its list offers."""
    options = "".join(f'<option value="{esc(item.name)}">{esc(item.code)}</option>' for item in suggestions)
    line = ""
    if reading is not None and text.strip():
        line = f'<p class="reading {"ok" if reading.recognised else "unclear"}" role="status">{esc(reading.line())}</p>'
    return f'{line}<datalist id="names-{row}">{options}</datalist>'


def review_html(answer: FinalAnswer) -> str:
    """What is about to be committed."""
    ranked = "".join(
        f"<li><b>{esc(item.name)}</b> "
        + (f'<span class="code">{esc(item.icd10)}</span>' if item.icd10 else '<span class="unclear">not recognised as a diagnosis</span>')
        + (f" · {percent(item.prob)}" if item.prob is not None else "")
        + "</li>"
        for item in answer.ranked
    )
    rows = []
    if answer.triage_level is not None:
        rows.append(("How urgent", esc(words.TRIAGE[answer.triage_level])))
    for name, items in (("Tests", answer.tests), ("Treatment", answer.treatments), ("Advice", answer.advice)):
        if items:
            rows.append((name, listed([esc(item) for item in items])))
    if answer.change_mind:
        rows.append(("Would change your mind", esc(answer.change_mind)))
    body = "".join(f"<dt>{name}</dt><dd>{value}</dd>" for name, value in rows)
    return (
        '<div class="card review"><h2 id="review-title" tabindex="-1">This is what you commit</h2>'
        f'<ol class="ranked">{ranked}</ol><dl>{body}</dl>'
        "<p>Committing ends the consultation. There is no way back.</p></div>"
    )


BROKEN = (
    '<div class="card"><h1 id="over-title" tabindex="-1">This consultation has broken off</h1>'
    "<p>The simulated patient could not answer. That was not your doing, and nothing was scored.</p></div>"
)
"""Shown where an encounter ended by a fault."""
