"""The transcript as HTML: every word escaped, every mention in its place, every state with a shape, a word and a legible colour."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ontology.mentions import Mention
from simulator.trace import ProtocolNote, Turn
from ui.web.markup import esc
from ui.web.theme import asset, palette
from ui.web.transcript import STATES, dialogue_html, legend_html, segments, transcript_html

ATTACKS = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    '"><svg onload=alert(1)>',
    "' onmouseover='alert(1)",
    "${alert(1)} {{alert(1)}} `x`",
    "&lt;b&gt; & <!-- -->",
    "</mark></span></div><h1>",
    "javascript:alert(1)",
]


class Reader(HTMLParser):
    """Takes HTML apart: its elements with their attributes, and the text in those of class `t`."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self.text = ""
        self._in_words = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self._in_words = ("class", "t") in attrs
        if self._in_words:
            self.words.append("")

    def handle_endtag(self, tag: str) -> None:
        self._in_words = False

    def handle_data(self, data: str) -> None:
        self.text += data
        if self._in_words:
            self.words[-1] += data


def read(html: str) -> Reader:
    reader = Reader()
    reader.feed(html)
    reader.close()
    return reader


def mention(turn: int, number: int, text: str, start: int, end: int, role: str = "affirmed", cui: str = "C0018681") -> Mention:
    polarity = {"asked": "queried", "denied": "absent", "unsure": "unknown"}
    return Mention.model_validate(
        {
            "mention_id": f"t{turn}m{number}",
            "start": start,
            "end": end,
            "surface": text[start:end],
            "cui": cui,
            "matcher": "human",
            "polarity": polarity.get(role, "present"),
            "dialogue_role": role,
        }
    )


def name_of(cui: str) -> str:
    return {"C0018681": "Headache", "C0015967": "Fever"}.get(cui, cui)


@pytest.mark.parametrize("attack", ATTACKS)
@pytest.mark.parametrize("role", ["examiner", "patient", "record"])
def test_words_never_become_elements_or_instructions(attack: str, role: str) -> None:
    turn = Turn.model_validate({"idx": 0, "role": role, "text": attack, "mentions": []})
    own = Turn(idx=0, role="examiner", text=attack, mentions=[mention(0, 0, attack, 0, len(attack), "asked", "X:evil")])
    for html in (dialogue_html([turn]), transcript_html([turn], name_of), transcript_html([own], lambda _: attack)):
        found = read(html)
        assert {tag for tag, _ in found.tags} <= {"div", "span", "mark", "ul", "li", "p"}
        assert all(set(attributes) <= {"class", "title", "aria-hidden", "aria-label"} for _, attributes in found.tags)
        assert attack in found.text
        for mark in ("${", "{{", "`"):
            assert mark not in html


@given(st.text())
def test_escaping_loses_nothing(text: str) -> None:
    clean = text.replace("\r", "").replace("\x00", "")
    assert read(f"<span class='t'>{esc(clean)}</span>").text == clean


def test_spans_count_code_points_so_that_emoji_do_not_shift_them() -> None:
    text = "🙂👩‍⚕️ a headache 🤕 and fever 🌡️"
    head, fever = text.index("headache"), text.index("fever")
    turn = Turn(
        idx=0,
        role="patient",
        text=text,
        mentions=[mention(0, 0, text, head, head + 8), mention(0, 1, text, fever, fever + 5, "denied", "C0015967")],
    )
    assert [piece for piece, covering in segments(turn) if covering] == ["headache", "fever"]
    found = read(transcript_html([turn], name_of))
    assert "".join(found.words) == text
    marks = [attributes for tag, attributes in found.tags if tag == "mark"]
    assert [mark["title"] for mark in marks] == ["present: Headache", "absent: Fever"]


@given(st.data())
def test_the_pieces_of_a_turn_are_its_text_whatever_overlaps(data: st.DataObject) -> None:
    text = data.draw(st.text(min_size=1, max_size=30))
    bounds = st.tuples(st.integers(0, len(text)), st.integers(0, len(text))).map(sorted)
    spans = data.draw(st.lists(bounds, max_size=5))
    turn = Turn(idx=0, role="patient", text=text, mentions=[mention(0, n, text, a, b) for n, (a, b) in enumerate(spans)])
    pieces = segments(turn)
    assert "".join(piece for piece, _ in pieces) == text
    at = 0
    for piece, covering in pieces:
        inside = {m.mention_id for m in turn.mentions if m.start <= at and at + len(piece) <= m.end}
        assert {m.mention_id for m in covering} == inside
        at += len(piece)


def test_two_findings_in_the_same_words_are_one_mark_that_names_both() -> None:
    text = "I was sick and feverish"
    turn = Turn(
        idx=0,
        role="patient",
        text=text,
        mentions=[mention(0, 0, text, 0, len(text), "volunteered"), mention(0, 1, text, 0, len(text), "volunteered", "C0015967")],
    )
    marks = [attributes for tag, attributes in read(transcript_html([turn], name_of)).tags if tag == "mark"]
    assert [mark["title"] for mark in marks] == ["volunteered: Headache; volunteered: Fever"]


def test_every_state_has_its_own_shape_and_word() -> None:
    assert {role: state.shape for role, state in STATES.items()} == {
        "asked": "◇",
        "affirmed": "●",
        "denied": "○",
        "unsure": "◐",
        "volunteered": "▲",
        "stated": "■",
    }
    legend = read(legend_html()).text
    for state in STATES.values():
        assert state.shape in legend and state.word in legend


def test_what_a_mark_means_can_be_read_without_hovering() -> None:
    text = "Any headache?"
    turn = Turn(idx=0, role="examiner", text=text, mentions=[mention(0, 0, text, 4, 12, "asked")])
    html = transcript_html([turn], name_of)
    assert re.search(r'<li class="chip m-asked">.*asked: </span>Headache</li>', html)


def test_a_capped_answer_and_a_cut_message_say_so() -> None:
    turns = [
        Turn(idx=0, role="examiner", text="Any fever?", notes=[ProtocolNote(code="self_answer")]),
        Turn(idx=1, role="patient", text="No.", truncated_answer=True),
    ]
    text = read(transcript_html(turns, name_of)).text
    assert "speak for the patient" in text
    assert "More was asked" in text


# -- colours --------------------------------------------------------------------------------------------------------

PAIRS = [
    *((f"{state.key}", f"{state.key}-soft") for state in STATES.values()),
    *(("ink", f"{state.key}-soft") for state in STATES.values()),
    *(("ink", ground) for ground in ("paper", "surface", "accent-soft", "warn-soft", "poor-soft")),
    *(("muted", ground) for ground in ("paper", "surface")),
    *((colour, "surface") for colour in ("accent", "good", "poor", "warn", "volunteered")),
    *((colour, "paper") for colour in ("accent", "good", "poor", "warn")),
    ("accent", "accent-soft"),
    ("on-accent", "accent"),
    ("on-accent", "accent-strong"),
]


def luminance(colour: str) -> float:
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("mode", ["light", "dark"])
@pytest.mark.parametrize(("text", "ground"), PAIRS)
def test_text_stands_out_from_its_ground_as_wcag_aa_asks(mode: str, text: str, ground: str) -> None:
    colours = palette(asset("bedside.css"))[mode]
    assert contrast(colours[text], colours[ground]) >= 4.5


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_the_borders_of_fields_and_the_focus_ring_stand_out_as_wcag_aa_asks(mode: str) -> None:
    colours = palette(asset("bedside.css"))[mode]
    for line in ("edge", "accent"):
        for ground in ("paper", "surface"):
            assert contrast(colours[line], colours[ground]) >= 3


def test_black_on_white_has_the_contrast_of_21() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
