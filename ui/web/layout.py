"""The page's components and where they stand. Imported with Gradio only when the page is served."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import gradio as gr

from simulator.case import ExaminerView
from ui.web import play_html, words
from ui.web.form import MAX_NAME, ROWS
from ui.web.session import MAX_NOTES

VITALS = "Check the vital signs."
CARDS_JS = """
element.addEventListener('click', (event) => {
  const card = event.target.closest('[data-case]');
  if (card) trigger('select', { case: card.dataset.case });
});
"""
SCROLL_JS = """
const down = () => { const box = element.querySelector('.dialogue'); if (box) box.scrollTop = box.scrollHeight; };
watch('value', down);
down();
"""
URGENCY: list[Any] = [(f"{level}  {word}", level) for level, word in words.TRIAGE.items()]
STORE = "bedside-consultation"


@dataclass
class DiagnosisRow:
    """One line of the ranked list."""

    row: gr.Row
    name: gr.Textbox
    prob: gr.Number
    reading: gr.HTML


class Layout:
    """All components; made within `gr.Blocks`."""

    def __init__(self, groups: list[tuple[str, list[ExaminerView]]]) -> None:
        self.token = gr.State("")
        # what is stored is a token that cannot be guessed; a secret of the server's would only make it unreadable after a restart
        self.stored = gr.BrowserState("", storage_key=STORE, secret=STORE)
        gr.HTML(play_html.HEADER, elem_id="header")
        self.opening = gr.HTML(play_html.OPENING)
        self._choose(groups)
        self._play()
        self._commit()
        self._debrief()
        with gr.Column(visible=False, elem_id="over") as self.over:
            gr.HTML(play_html.BROKEN)
            self.over_next = gr.Button("Choose another case", variant="primary", elem_id="over-next")

    def _choose(self, groups: list[tuple[str, list[ExaminerView]]]) -> None:
        with gr.Column(visible=False, elem_id="choose") as self.choose:
            gr.HTML(play_html.INTRO)
            self.choose_note = gr.HTML("")
            self.cards = gr.HTML(play_html.cases_html(groups), js_on_load=CARDS_JS, elem_id="cards")

    def _play(self) -> None:
        with gr.Column(visible=False, elem_id="play") as self.play:
            self.bar = gr.HTML("", elem_id="bar")
            with gr.Row(elem_id="room"):
                with gr.Column(scale=7, min_width=300, elem_id="talk"):
                    self.chat = gr.HTML("", js_on_load=SCROLL_JS, elem_id="chat")
                    self.note = gr.HTML("", elem_id="note")
                    with gr.Row(elem_id="asking", equal_height=True):
                        self.ask = gr.Textbox(
                            value="",
                            label="Ask the patient, examine or order",
                            placeholder="Ask the patient …",
                            lines=1,
                            max_lines=4,
                            scale=6,
                            min_width=180,
                            container=False,
                            elem_id="ask",
                            html_attributes=gr.InputHTMLAttributes(autocomplete="off", enterkeyhint="send"),
                        )
                        self.send = gr.Button("Send", variant="primary", scale=1, min_width=80, elem_id="send")
                    with gr.Row(elem_id="quick"):
                        self.vitals = gr.Button("Vital signs", size="sm", min_width=90, elem_id="vitals")
                        self.examine = gr.Button("Examine …", size="sm", min_width=90, elem_id="examine")
                        self.order = gr.Button("Order a test …", size="sm", min_width=90, elem_id="order")
                with gr.Column(scale=4, min_width=260, elem_id="side"):
                    self.to_commit = gr.Button("Commit a diagnosis", variant="primary", elem_id="to-commit")
                    self.notes = gr.Textbox(
                        value="",
                        label="Your notes",
                        info="Only for you.",
                        lines=9,
                        max_lines=24,
                        max_length=MAX_NOTES,
                        elem_id="notes",
                    )
                    self.leave = gr.Button("Leave this case", size="sm", elem_id="leave")
                    with gr.Column(visible=False, elem_id="leaving") as self.leaving:
                        gr.HTML('<p class="notice">Leave without a diagnosis? Nothing is scored.</p>')
                        with gr.Row():
                            self.leave_yes = gr.Button("Leave", variant="stop", size="sm", min_width=80, elem_id="leave-yes")
                            self.leave_no = gr.Button("Stay", size="sm", min_width=80, elem_id="leave-no")

    def _commit(self) -> None:
        with gr.Column(visible=False, elem_id="commit") as self.commit:
            with gr.Column(elem_id="form") as self.form:
                gr.HTML(
                    '<h1 id="commit-title" tabindex="-1">Your diagnosis</h1>'
                    '<p class="muted">The most likely first: a name or an ICD-10 code. Probabilities may stay empty.</p>'
                )
                self.rows = [self._diagnosis(row) for row in range(ROWS)]
                self.add = gr.Button("Add another diagnosis", size="sm", elem_id="add")
                self.triage = gr.Radio(URGENCY, label="How urgent is it?", elem_id="triage")
                with gr.Row(elem_id="plan"):
                    self.tests, self.treatments, self.advice = (
                        gr.Textbox(value="", label=label, info="One a line.", lines=3, min_width=220, elem_id=name)
                        for name, label in (("tests", "Tests"), ("treatments", "Treatment"), ("advice", "Advice to the patient"))
                    )
                self.change_mind = gr.Textbox(
                    value="", label="What would change your mind?", info="Kept for teaching.", lines=2, elem_id="change-mind"
                )
                self.form_note = gr.HTML("", elem_id="form-note")
                with gr.Row(elem_id="form-buttons"):
                    self.back = gr.Button("Back to the patient", min_width=140, elem_id="back")
                    self.review = gr.Button("Review and commit", variant="primary", min_width=140, elem_id="review")
            with gr.Column(visible=False, elem_id="confirm") as self.confirm:
                self.summary = gr.HTML("", elem_id="summary")
                with gr.Row(elem_id="confirm-buttons"):
                    self.edit = gr.Button("Change something", min_width=140, elem_id="edit")
                    self.final = gr.Button("Commit", variant="primary", min_width=140, elem_id="final")

    def _diagnosis(self, row: int) -> DiagnosisRow:
        with gr.Row(visible=row == 0, elem_classes=["dx-row"]) as line:
            with gr.Column(scale=5, min_width=200, elem_classes=["dx-cell"]):
                name = gr.Textbox(
                    value="",
                    label=f"{words.ORDINALS[row]} diagnosis",
                    max_lines=1,
                    max_length=MAX_NAME,
                    elem_id=f"dx-{row}",
                    html_attributes=gr.InputHTMLAttributes(autocomplete="off", spellcheck=False),
                )
                reading = gr.HTML(play_html.reading_html(row, "", None, ()), elem_id=f"reading-{row}")
            prob = gr.Number(label="Probability, %", value=None, scale=1, min_width=132, elem_id=f"prob-{row}")
        return DiagnosisRow(line, name, prob, reading)

    def _debrief(self) -> None:
        with gr.Column(visible=False, elem_id="debrief") as self.debrief:
            self.found = gr.HTML("")
            self.transcript = gr.HTML("")
            self.after = gr.HTML("")
            self.next = gr.Button("Next case", variant="primary", elem_id="next")

    @property
    def askers(self) -> list[gr.Button]:
        """The buttons that take a turn, or begin one."""
        return [self.send, self.vitals, self.examine, self.order]

    @property
    def screens(self) -> dict[str, Any]:
        """The screens, of which one is shown at a time."""
        return {"choose": self.choose, "play": self.play, "commit": self.commit, "debrief": self.debrief, "over": self.over}

    @property
    def fields(self) -> list[Any]:
        """The commit form's fields, in the order in which `read_form` gets them."""
        return [
            *(row.name for row in self.rows),
            *(row.prob for row in self.rows),
            self.triage,
            self.tests,
            self.treatments,
            self.advice,
            self.change_mind,
        ]
