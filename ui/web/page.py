"""What the page does: events of its components to calls of the session, and back. Imported with Gradio only when the page is served."""

from __future__ import annotations

from typing import Any

import gradio as gr

from ontology.errors import BedsideError
from simulator.trace import FinalAnswer
from ui.web import debrief, play_html
from ui.web.diagnoses import DiagnosisReader
from ui.web.form import ROWS, CommitForm
from ui.web.layout import VITALS, Layout
from ui.web.session import MAX_NOTES, PlaySession, SessionRegistry

Update = dict[Any, Any]

TYPING_MARK_S = 0.4
"""A reply that takes longer is announced by a typing mark."""

ASK = "#ask textarea, #ask input"
SOURCES = {"starter": "Cases written for Bedside", "ddxplus": "Short cases in the form of DDXPlus"}
OTHER_SOURCE = "Other cases"
GONE = "Your earlier consultation is no longer open here."


def focus_js(selector: str) -> str:
    """JavaScript that puts the keyboard on an element once it is there."""
    return f"() => window.bedside.focus({selector!r})"


class Page:
    """One page for all visitors; what is theirs is in the registry, under the token that their browser holds."""

    def __init__(self, registry: SessionRegistry, reader: DiagnosisReader) -> None:
        self._registry = registry
        self._reader = reader
        self._names = registry.room.ward.vocabulary.name

    def build(self) -> gr.Blocks:
        """The Blocks."""
        blocks: gr.Blocks
        with gr.Blocks(title="Bedside", analytics_enabled=False, fill_width=True) as blocks:
            self.c = Layout(self._groups())
            self._wire_play()
            self._wire_commit()
            c = self.c
            blocks.load(self.resume, [c.stored], self._all(), js=None, **QUIET)
        return blocks

    def _groups(self) -> list[tuple[str, list[Any]]]:
        groups: dict[str, list[Any]] = {}
        for case in self._registry.room.cases.values():
            groups.setdefault(SOURCES.get(case.provenance.source, OTHER_SOURCE), []).append(case.examiner_view())
        return list(groups.items())

    def _all(self) -> list[Any]:
        c = self.c
        parts = [c.token, c.stored, c.opening, *c.screens.values(), c.choose_note, c.bar, c.chat, c.note, c.ask, *c.askers, c.notes]
        parts += [c.leaving, c.form, c.confirm, c.form_note, c.summary, c.found, c.transcript, c.after, c.add, *c.fields]
        return parts + [part for row in c.rows for part in (row.row, row.reading)]

    def _wire_play(self) -> None:
        c = self.c
        c.cards.select(self.begin, None, self._all(), **QUIET).then(None, js=focus_js(ASK))
        talk = [c.ask, *c.askers, c.note, c.chat, c.bar, c.play, c.over]
        for said in (
            gr.on([c.ask.submit, c.send.click], self.send, [c.token, c.ask], talk, trigger_mode="once", **QUIET),
            c.vitals.click(self.send_vitals, [c.token, c.ask], talk, trigger_mode="once", **QUIET),
        ):
            said.then(None, js=focus_js(ASK))
            said.then(self.hear, [c.token], talk, **QUIET)
        for button, words in ((c.examine, "Examine the "), (c.order, "Order a test: ")):
            button.click(None, None, c.ask, js=f"() => {words!r}", **QUIET).then(None, js=focus_js(ASK))
        c.notes.change(self.write_notes, [c.token, c.notes], None, trigger_mode="always_last", **QUIET)
        c.leave.click(lambda: gr.Column(visible=True), None, c.leaving, **QUIET).then(None, js=focus_js("#leave-no"))
        c.leave_no.click(lambda: gr.Column(visible=False), None, c.leaving, **QUIET).then(None, js=focus_js(ASK))
        for button in (c.leave_yes, c.next, c.over_next):
            button.click(self.leave, [c.token], self._all(), **QUIET).then(None, js=focus_js("#choose-title"))

    def _wire_commit(self) -> None:
        c = self.c
        c.to_commit.click(self.open_form, [c.token], self._all(), **QUIET).then(None, js=focus_js("#dx-0 input"))
        c.back.click(self.close_form, [c.token], self._all(), **QUIET).then(None, js=focus_js(ASK))
        c.add.click(self.add_row, [row.name for row in c.rows], [*(row.row for row in c.rows), c.add], **QUIET).then(
            None, js="() => window.bedside.focusLast('.dx-row input[type=text]')"
        )
        for number, row in enumerate(c.rows):
            row.name.change(self._reader_of(number), [row.name], [row.reading, c.form_note], trigger_mode="always_last", **QUIET)
        gr.on([field.change for field in c.fields], self.keep_draft, [c.token, *c.fields], None, trigger_mode="always_last", **QUIET)
        shown = [c.form, c.confirm, c.summary, c.form_note]
        c.review.click(self.review, [c.token, *c.fields], shown, **QUIET).then(None, js=focus_js("#review-title"))
        c.edit.click(self.edit, None, shown, **QUIET).then(None, js=focus_js("#dx-0 input"))
        c.final.click(self.commit, [c.token, *c.fields], self._all(), trigger_mode="once", **QUIET).then(None, js=focus_js("#truth"))

    # -- screens ----------------------------------------------------------------------------------------------------

    def _show(self, screen: str) -> Update:
        c = self.c
        visible = {column: gr.Column(visible=name == screen) for name, column in c.screens.items()}
        return {c.opening: gr.HTML(visible=False), **visible}

    def _choosing(self, note: str | None = None) -> Update:
        c = self.c
        return {c.token: "", c.stored: "", c.choose_note: play_html.note_html(note), **self._show("choose")}

    def _talk(self, session: PlaySession, note: str | None = None, thinking: bool = False) -> Update:
        """The consultation as it stands."""
        c, shot = self.c, session.snapshot()
        if shot.phase == "broken":
            return {c.play: gr.Column(visible=False), c.over: gr.Column(visible=True)}
        asking = shot.phase in ("asking", "thinking")
        return {
            c.bar: play_html.bar_html(shot),
            c.chat: play_html.chat_html(shot, thinking),
            c.note: play_html.note_html(note or shot.note or play_html.turn_note(shot)),
            c.ask: gr.Textbox(interactive=asking),
            **{button: gr.Button(interactive=asking) for button in c.askers},
        }

    def _playing(self, token: str, session: PlaySession, note: str | None = None) -> Update:
        c = self.c
        return {
            c.token: token,
            c.stored: token,
            c.notes: session.snapshot().notes,
            c.leaving: gr.Column(visible=False),
            **self._show("play"),
            **self._talk(session, note),
            **self._restored(session),
        }

    def _restored(self, session: PlaySession) -> Update:
        """The commit form as it was left, or empty."""
        c = self.c
        values = session.draft or (None,) * len(c.fields)
        found: Update = {field: value for field, value in zip(c.fields, values, strict=True)}
        for text in (*(row.name for row in c.rows), c.tests, c.treatments, c.advice, c.change_mind):
            found[text] = found[text] or ""
        filled = max((number for number, row in enumerate(c.rows) if found[row.name]), default=0)
        for number, row in enumerate(c.rows):
            found[row.row] = gr.Row(visible=number <= filled)
            found[row.reading] = self._reading(number, found[row.name])
        found[c.add] = gr.Button(visible=filled < ROWS - 1)
        return found | {c.form: gr.Column(visible=True), c.confirm: gr.Column(visible=False), c.form_note: "", c.summary: ""}

    def _debriefed(self, token: str, session: PlaySession) -> Update:
        c, found = self.c, session.debrief()
        if found is None:
            return self._show("over")
        return {
            c.token: token,
            c.stored: token,
            c.found: debrief.debrief_html(found),
            c.transcript: debrief.transcript_section(found, self._names),
            c.after: debrief.footer_html(found),
            c.summary: "",
            **self._show("debrief"),
        }

    def _session(self, token: str, request: gr.Request) -> PlaySession | None:
        return self._registry.get(token, request.username) if isinstance(token, str) and token else None

    # -- events: choosing and playing -------------------------------------------------------------------------------

    async def resume(self, stored: str, request: gr.Request) -> Update:
        """The page was loaded: go on where this browser was."""
        session = self._session(stored, request)
        if session is None or session.phase == "left":
            return self._choosing(GONE if stored else None)
        if session.phase == "committed":
            return self._debriefed(stored, session)
        await session.wait()
        if session.phase == "broken":
            return self._show("over")
        return self._playing(stored, session, f"Welcome back: turn {session.snapshot().next_turn}.")

    async def begin(self, event: gr.EventData, request: gr.Request) -> Update:
        """A case was chosen."""
        try:
            token, session = await self._registry.open(str(event.case), request.username)
        except BedsideError as error:
            return self._choosing(f"That did not work: {error.what}.")
        return self._playing(token, session)

    async def send(self, token: str, text: str, request: gr.Request) -> Update:
        """Words were sent."""
        return await self._send(token, text, "", request)

    async def send_vitals(self, token: str, draft: str, request: gr.Request) -> Update:
        """The vital signs were asked for; what is being typed stays."""
        return await self._send(token, VITALS, draft, request)

    async def _send(self, token: str, text: str, left: str, request: gr.Request) -> Update:
        c, session = self.c, self._session(token, request)
        if session is None:
            return {c.note: play_html.note_html(GONE + " Load the page again.", "warn")}
        sent = session.send(text)
        if not sent.accepted:
            return self._talk(session, sent.note)
        replied = await session.wait(TYPING_MARK_S)
        update = self._talk(session, thinking=not replied)
        update[c.ask] = gr.Textbox(value=left, interactive=session.phase != "must_commit")
        return update

    async def hear(self, token: str, request: gr.Request) -> Update:
        """The second half of `send`: the reply of a patient who takes time to think."""
        session = self._session(token, request)
        if session is None or session.phase != "thinking":
            return {self.c.note: gr.skip()}
        await session.wait()
        return self._talk(session)

    def write_notes(self, token: str, text: str, request: gr.Request) -> None:
        """The notes were changed."""
        session = self._session(token, request)
        if session is not None:
            session.write_notes(text)

    async def leave(self, token: str, request: gr.Request) -> Update:
        """Away from this case, to the choice."""
        if isinstance(token, str):
            self._registry.forget(token, request.username)
        return self._choosing()

    # -- events: committing -----------------------------------------------------------------------------------------

    def open_form(self, token: str, request: gr.Request) -> Update:
        """To the commit form."""
        session = self._session(token, request)
        if session is None or session.phase not in ("asking", "must_commit"):
            return {self.c.note: play_html.note_html("Wait for the patient's answer first.")}
        return self._show("commit")

    def close_form(self, token: str, request: gr.Request) -> Update:
        """Back to the patient; what was typed stays."""
        session = self._session(token, request)
        return self._choosing(GONE) if session is None else {**self._show("play"), **self._talk(session)}

    def add_row(self, *names: str) -> Update:
        """One more diagnosis."""
        c = self.c
        filled = max((number for number, name in enumerate(names) if name), default=0)
        shown = min(filled + 2, ROWS)
        visible = {row.row: gr.Row(visible=number < shown) for number, row in enumerate(c.rows)}
        return {**visible, c.add: gr.Button(visible=shown < ROWS)}

    def _reader_of(self, number: int) -> Any:
        return lambda text: (self._reading(number, text), "")

    def _reading(self, number: int, text: str) -> str:
        words = " ".join(str(text or "").split())
        reading = self._reader.read(words) if words else None
        return play_html.reading_html(number, words, reading, self._reader.suggest(words))

    def keep_draft(self, request: gr.Request, token: str, *values: Any) -> None:
        """The form was changed: keep it for a page that is loaded again."""
        session = self._session(token, request)
        if session is not None:
            session.draft = tuple(value[:MAX_NOTES] if isinstance(value, str) else value for value in values)

    def _answer(self, values: tuple[Any, ...]) -> FinalAnswer | str:
        names, probs, rest = values[:ROWS], values[ROWS : 2 * ROWS], values[2 * ROWS :]
        return CommitForm([str(name or "") for name in names], probs, rest[0], *(str(text or "") for text in rest[1:])).answer(self._reader)

    def review(self, token: str, *values: Any) -> Update:
        """Show what would be committed, or what is missing."""
        c, answer = self.c, self._answer(values)
        if isinstance(answer, str):
            return {c.form_note: play_html.note_html(answer, "warn")}
        return {
            c.form: gr.Column(visible=False),
            c.confirm: gr.Column(visible=True),
            c.summary: play_html.review_html(answer),
            c.form_note: "",
        }

    def edit(self) -> Update:
        """Back from the summary to the form."""
        c = self.c
        return {c.form: gr.Column(visible=True), c.confirm: gr.Column(visible=False), c.form_note: ""}

    async def commit(self, request: gr.Request, token: str, *values: Any) -> Update:
        """Commit: the consultation ends, and the debrief is shown."""
        c, session, answer = self.c, self._session(token, request), self._answer(values)
        if session is None:
            return self._choosing(GONE)
        problem = answer if isinstance(answer, str) else session.commit(answer)
        if problem is not None and session.phase != "committed":
            return {**self.edit(), c.form_note: play_html.note_html(problem, "warn")}
        await session.wait()
        return self._debriefed(token, session)


QUIET: dict[str, Any] = {"show_progress": "hidden", "api_visibility": "private", "queue": False}
"""Events show no spinner of their own, are no public interface, and are plain requests: when many events met, the queue's stream of
answers was seen to lose one, and then the page waits for ever."""
