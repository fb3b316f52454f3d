"""Turns of a dialogue that was recorded elsewhere: each read with what was said before it."""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from ontology.annotation import Annotation
from ontology.annotator import annotate_examiner, read_answer
from ontology.errors import BedsideError
from ontology.mentions import Mention
from ontology.patient_turns import annotate_patient
from ontology.questions import PRESENTING_COMPLAINT
from ontology.vocabulary import Vocabulary

Side = Literal["examiner", "patient"]

LONE_SURROGATE = re.compile("[\ud800-\udfff]")
CONTEXTS_KEPT = 256
STEPS_BACK = 4
"""A dialogue's next turn is read with one or two turns more before it than the last one was."""


@dataclass(frozen=True, slots=True)
class PastTurn:
    """A turn that was said before."""

    role: Side
    text: str


@dataclass(frozen=True, slots=True)
class DialogueTurn:
    """A turn to be read.

    Attributes:
        text: what is said.
        role: who says it.
        previous: all turns before it, the first one first; what "it" means and what an answer answers follow from them.
        for_child: the patient's side is a parent, so that "your daughter" is the patient.
    """

    text: str
    role: Side = "examiner"
    previous: tuple[PastTurn, ...] = ()
    for_child: bool = False


@dataclass(frozen=True, slots=True)
class Context:
    """What earlier turns leave behind.

    Attributes:
        it: the concept that "it" means now.
        before: the one that "it" meant before the question that is being answered; it comes back if the answer is no.
        asked: what the examiner has asked and nobody has answered yet.
    """

    it: str | None = None
    before: str | None = None
    asked: tuple[Mention, ...] = ()


class TurnReader:
    """Reads turns with one vocabulary. Not for several threads at once."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self.vocabulary = vocabulary
        self._contexts: OrderedDict[tuple[bool, tuple[PastTurn, ...]], Context] = OrderedDict()

    def read(self, turn: DialogueTurn) -> Annotation:
        """The acts and mentions of a turn; ids carry its place in the dialogue, `len(turn.previous)`.

        Raises:
            BedsideError: the text holds half of a surrogate pair, which no stored document can.
        """
        if not turn.text.strip():
            return Annotation()
        for text in (turn.text, *(past.text for past in turn.previous)):
            if not text.isascii() and LONE_SURROGATE.search(text):
                raise BedsideError("a turn holds a lone surrogate, which is no character", mend="replace it by U+FFFD")
        context = self.context(turn.previous, turn.for_child)
        return self._annotate(PastTurn(turn.role, turn.text), context, len(turn.previous), turn.for_child)

    def context(self, previous: Sequence[PastTurn], for_child: bool = False) -> Context:
        """What earlier turns leave behind. Remembered, so that a dialogue read turn by turn costs each turn twice, not n times."""
        turns = tuple(previous)
        known = len(turns)
        context = Context()
        while known and len(turns) - known < STEPS_BACK:
            found = self._contexts.get((for_child, turns[:known]))
            if found is not None:
                context = found
                break
            known -= 1
        else:
            known = 0
        for number in range(known, len(turns)):
            context = self._after(turns[number], context, number, for_child)
        if turns:
            self._contexts[for_child, turns] = context
            if len(self._contexts) > CONTEXTS_KEPT:
                self._contexts.popitem(last=False)
        return context

    def _annotate(self, turn: PastTurn, context: Context, number: int, for_child: bool) -> Annotation:
        if turn.role == "examiner":
            return annotate_examiner(turn.text, self.vocabulary, number, context.it, for_child)
        return annotate_patient(turn.text, self.vocabulary, number, context.asked, for_child)

    def _after(self, turn: PastTurn, context: Context, number: int, for_child: bool) -> Context:
        found = self._annotate(turn, context, number, for_child).mentions
        topical = [m for m in found if m.cui != PRESENTING_COMPLAINT and not self.vocabulary.detail(m.cui)]
        of_patient = [m for m in topical if m.experiencer == "patient"]
        if turn.role == "examiner":
            asked = tuple(m for m in found if m.dialogue_role == "asked")
            topics = [m.cui for m in of_patient if m.polarity != "absent"]
            return Context(topics[-1] if topics else context.it, context.before if context.asked else context.it, (*context.asked, *asked))
        told = [m.cui for m in of_patient if m.dialogue_role in ("affirmed", "volunteered") and m.polarity == "present"]
        if told:
            return Context(told[-1])
        denied = any(m.cui == context.it for m in found) or not found and read_answer(turn.text) == "denied"
        detail = any(m.attribute is not None for m in context.asked)
        if context.asked and denied and not detail:
            return Context(context.before)
        return replace(context, before=None, asked=())
