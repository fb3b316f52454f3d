"""A dialogue as HTML: plain while it is played, with what was understood marked in it afterwards."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from ontology.mentions import Mention
from simulator.trace import Turn
from ui.web.markup import esc

SPEAKERS = {"examiner": "You", "patient": "Patient", "record": "Record"}


@dataclass(frozen=True)
class State:
    """How a mention is shown: a shape, so that colour is never needed to tell, and a word."""

    key: str
    shape: str
    word: str
    meaning: str


STATES = {
    "asked": State("asked", "◇", "asked", "you asked about it"),
    "affirmed": State("present", "●", "present", "the patient has it, or a result is there"),
    "denied": State("absent", "○", "absent", "the patient does not have it"),
    "unsure": State("unsure", "◐", "unsure", "not known, or not available"),
    "volunteered": State("volunteered", "▲", "volunteered", "the patient brought it up"),
    "stated": State("stated", "■", "stated", "you said it yourself; it earns no credit"),
}
"""By dialogue role."""

NOTES = {
    "self_answer": "The message went on to speak for the patient; it was cut there.",
    "thinking_removed": "Hidden reasoning was removed.",
    "unreadable_answer": "This looked like a final answer, but could not be read as one.",
}
TRUNCATED = "More was asked than the patient answers at once."

NameOf = Callable[[str], str]


def segments(turn: Turn) -> list[tuple[str, tuple[Mention, ...]]]:
    """The text of a turn in pieces, each with the mentions that cover it; the pieces joined are the text."""
    edges = sorted({0, len(turn.text), *(m.start for m in turn.mentions), *(m.end for m in turn.mentions)})
    pieces = []
    for start, end in zip(edges, edges[1:], strict=False):
        covering = tuple(m for m in turn.mentions if m.start <= start and end <= m.end)
        pieces.append((turn.text[start:end], covering))
    return pieces


def dialogue_html(turns: Iterable[Turn], thinking: bool = False) -> str:
    """The dialogue while it is played: words only, as the players see them."""
    rows = [_row(turn, esc(turn.text), "") for turn in turns]
    if thinking:
        rows.append(
            '<div class="turn patient thinking"><span class="who">Patient</span>'
            '<div class="words"><span class="dots"><i></i><i></i><i></i></span><span class="sr">is thinking</span></div></div>'
        )
    return f'<div class="dialogue">{"".join(rows)}</div>'


def transcript_html(
    turns: Sequence[Turn],
    name_of: NameOf,
    speakers: Mapping[str, str] = MappingProxyType(SPEAKERS),
    below: Mapping[int, str] = MappingProxyType({}),
) -> str:
    """The dialogue with every mention in a box with its shape, and what it means under the turn.

    Args:
        turns: the turns.
        name_of: the name of a concept.
        speakers: how each role is called.
        below: by turn index, HTML to put under a turn.
    """
    rows = []
    for turn in turns:
        words = "".join(_piece(text, covering, name_of) for text, covering in segments(turn))
        rows.append(_row(turn, words, _findings(turn, name_of) + below.get(turn.idx, ""), speakers))
    return f'<div class="dialogue marked">{"".join(rows)}</div>'


def legend_html() -> str:
    """What the shapes mean."""
    items = "".join(
        f'<li><span class="chip m-{state.key}"><span class="g" aria-hidden="true">{state.shape}</span> {state.word}</span> '
        f"<span>{esc(state.meaning)}</span></li>"
        for state in STATES.values()
    )
    return f'<ul class="legend">{items}</ul>'


def _row(turn: Turn, words: str, below: str, speakers: Mapping[str, str] = MappingProxyType(SPEAKERS)) -> str:
    who = speakers[turn.role]
    notes = [NOTES[note.code] for note in turn.notes if note.code in NOTES]
    if turn.truncated_answer:
        notes.append(TRUNCATED)
    aside = "".join(f'<p class="aside">{esc(note)}</p>' for note in notes)
    return f'<div class="turn {turn.role}"><span class="who">{who}</span><div class="words">{words}</div>{below}{aside}</div>'


def _about(mention: Mention, name_of: NameOf) -> str:
    name = name_of(mention.cui)
    detail = f", {mention.attribute}" if mention.attribute else ""
    other = " (of another person)" if mention.experiencer != "patient" else ""
    return name + detail + other


def _piece(text: str, covering: tuple[Mention, ...], name_of: NameOf) -> str:
    if not covering:
        return f'<span class="t">{esc(text)}</span>'
    states = list(dict.fromkeys(STATES[m.dialogue_role] for m in covering))
    shapes = "".join(state.shape for state in states)
    title = "; ".join(f"{STATES[m.dialogue_role].word}: {_about(m, name_of)}" for m in covering)
    return (
        f'<mark class="m m-{states[0].key}" title="{esc(title)}"><span class="g" aria-hidden="true">{shapes}</span>'
        f'<span class="t">{esc(text)}</span></mark>'
    )


def _findings(turn: Turn, name_of: NameOf) -> str:
    """The concepts of a turn in words, so that nothing hangs on hovering."""
    found = dict.fromkeys((STATES[m.dialogue_role], _about(m, name_of)) for m in turn.mentions)
    chips = "".join(
        f'<li class="chip m-{state.key}"><span class="g" aria-hidden="true">{state.shape}</span> '
        f'<span class="sr">{state.word}: </span>{esc(about)}</li>'
        for state, about in found
    )
    return f'<ul class="found" aria-label="understood as">{chips}</ul>' if chips else ""
