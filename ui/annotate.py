"""`bedside annotate`: turns in, what they mean out, line by line."""

from __future__ import annotations

import json
import os
import sys
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Literal, cast

from pydantic import ValidationError

from ontology.annotation import Annotation
from ontology.annotation_cache import AnnotationCache, AnnotationStore
from ontology.attributes import STANDARD
from ontology.batch import annotate_many
from ontology.dialogue import LONE_SURROGATE, DialogueTurn, PastTurn, Side
from ontology.documents import Strict, problems
from ontology.errors import BedsideError
from ontology.mentions import Mention
from ontology.vocab.index import BUNDLED_NAMES, load_vocabulary
from ontology.vocabulary import Vocabulary
from ui.console import note, say, say_json
from ui.play import MARKS

SIDES: tuple[Side, ...] = ("examiner", "patient")
FORMS = ("auto", "text", "jsonl")
STANDARD_INPUT = "-"
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
PROGRESS_EVERY = 5_000


@dataclass(frozen=True)
class AnnotateOptions:
    """What the command line says; see `bedside annotate --help`."""

    file: str = STANDARD_INPUT
    role: str = "examiner"
    form: str = "auto"
    for_child: bool = False
    vocab: str | None = None
    workers: int = 1
    cached: bool = True
    quiet: bool = False
    as_json: bool = False


class _Past(Strict):
    role: Literal["examiner", "patient"]
    text: str


class _Line(Strict):
    """A line of JSON input."""

    text: str
    previous: list[str | _Past] = []
    role: Literal["examiner", "patient"] | None = None
    for_child: bool | None = None
    id: str | int | None = None


@dataclass(frozen=True)
class _Read:
    """A line of input: its number, the id it carries, and its turn, an empty one for a blank line."""

    number: int
    id: str | int | None
    turn: DialogueTurn


def annotate_file(options: AnnotateOptions) -> int:
    """Annotate a file or standard input; see `bedside annotate --help`. Returns the exit code.

    Raises:
        BedsideError: an option is wrong, the file cannot be read, or a line is no turn. Of a regular file all lines are checked before
            anything is written; of a stream, the whole lines before the broken one are written.
    """
    if options.role not in SIDES:
        raise BedsideError(f"{options.role!r} is no role", "--role", f"one of {', '.join(SIDES)}")
    if options.form not in FORMS:
        raise BedsideError(f"{options.form!r} is no format", "--format", f"one of {', '.join(FORMS)}")
    name = options.vocab or BUNDLED_NAMES[1]
    with ExitStack() as stack:
        source = _open(options.file, stack)
        where = "standard input" if options.file == STANDARD_INPUT else options.file
        reader = _LineReader(options, where)
        if source.seekable():
            begin = source.tell()
            for _ in reader.read(source):
                pass
            source.seek(begin)
        vocabulary = load_vocabulary(name)
        cache = stack.enter_context(AnnotationCache(AnnotationStore())) if options.cached else None
        written = _Written(options, vocabulary, at_once=not source.seekable())
        _annotate(reader.read(source), written, name if options.workers > 1 else vocabulary, options.workers, cache)
    return 0


def _open(file: str, stack: ExitStack) -> BinaryIO:
    if file == STANDARD_INPUT:
        return cast(BinaryIO, sys.stdin.buffer)
    if os.path.isdir(file):
        raise BedsideError("this is a folder", file, "give a file of turns")
    return stack.enter_context(Path(file).open("rb"))


def _annotate(lines: Iterable[_Read], written: _Written, vocabulary: Vocabulary | str, workers: int, cache: AnnotationCache | None) -> None:
    """Write one result for each line; the lines that are being read wait in a queue that stays short."""
    waiting: deque[_Read] = deque()

    def turns() -> Iterator[DialogueTurn]:
        for line in lines:
            waiting.append(line)
            yield line.turn

    for annotation in annotate_many(turns(), vocabulary, workers, cache):
        written.line(waiting.popleft(), annotation)
    sys.stdout.flush()


# -- in ---------------------------------------------------------------------------------------------------------------


class _LineReader:
    """Turns lines of input into turns."""

    def __init__(self, options: AnnotateOptions, where: str) -> None:
        self._options = options
        self._where = where
        self._role = cast(Side, options.role)
        self._form = options.form

    def read(self, source: BinaryIO) -> Iterator[_Read]:
        """Every line, blank ones too; only a line feed ends one, as for other tools that read lines."""
        for number, raw in enumerate(source, start=1):
            if number == 1:
                raw = raw.removeprefix(BYTE_ORDER_MARK)
            where = f"{self._where}:{number}"
            try:
                text = raw.removesuffix(b"\n").removesuffix(b"\r").decode("utf-8")
            except UnicodeDecodeError as error:
                raise BedsideError(f"not UTF-8 (byte {error.start + 1} of the line)", where, "convert the file to UTF-8") from None
            if not text.strip():
                yield _Read(number, None, DialogueTurn(text, self._role))
                continue
            if self._form == "auto":
                self._form = "jsonl" if text.lstrip().startswith("{") else "text"
            if self._form == "text":
                yield _Read(number, None, DialogueTurn(text, self._role, (), self._options.for_child))
            else:
                yield self._parsed(text, number, where)

    def _parsed(self, text: str, number: int, where: str) -> _Read:
        try:
            raw = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise BedsideError(f"not valid JSON ({error})", where, "or say --format text") from None
        if not isinstance(raw, dict):
            raise BedsideError(f"a line must be a JSON object with text, not {type(raw).__name__}", where)
        try:
            line = _Line.model_validate(raw)
        except ValidationError as error:
            known = ", ".join(_Line.model_fields)
            raise BedsideError(f"not a turn: {problems(error)}", where, f"known fields: {known}") from None
        role = line.role or self._role
        for_child = self._options.for_child if line.for_child is None else line.for_child
        turn = DialogueTurn(line.text, role, past_turns(line.previous, role), for_child)
        if any(LONE_SURROGATE.search(said) for said in (turn.text, *(past.text for past in turn.previous))):
            raise BedsideError("not a turn: text: holds half of a surrogate pair", where, "replace it by U+FFFD")
        return _Read(number, line.id, turn)


def past_turns(previous: list[str | _Past], role: Side) -> tuple[PastTurn, ...]:
    """The turns before a turn of a role; plain strings alternate between the two sides, the last one being the other's."""
    other: Side = "patient" if role == "examiner" else "examiner"
    turns = []
    for back, item in enumerate(reversed(previous)):
        if isinstance(item, str):
            turns.append(PastTurn(other if back % 2 == 0 else role, item))
        else:
            turns.append(PastTurn(item.role, item.text))
    return tuple(reversed(turns))


# -- out --------------------------------------------------------------------------------------------------------------


class _Written:
    """Writes results, and says on standard error how far it is where nobody sees them go by."""

    def __init__(self, options: AnnotateOptions, vocabulary: Vocabulary, at_once: bool) -> None:
        self._options = options
        self._vocabulary = vocabulary
        self._at_once = at_once
        self._progress = not options.quiet and not sys.stdout.isatty()

    def line(self, line: _Read, annotation: Annotation) -> None:
        """Write one result."""
        if self._options.as_json:
            carried = {} if line.id is None else {"id": line.id}
            say_json({"line": line.number, **carried, "text": line.turn.text, **as_json(annotation, self._vocabulary)})
        else:
            for shown in in_words(f"{line.number:>4}  {line.turn.text}", annotation, self._vocabulary):
                say(shown)
        if self._at_once:
            sys.stdout.flush()
        if self._progress and line.number % PROGRESS_EVERY == 0:
            note(f"{line.number:,} lines")


def as_json(annotation: Annotation, vocabulary: Vocabulary) -> dict[str, Any]:
    """An annotation as the JSON that `bedside annotate --json` prints.

    The alternatives of a mention are what the same words could also mean, the likelier first; they match the words as well as the mention
    does, so its score is theirs.
    """
    return {
        "acts": [act.model_dump(mode="json") for act in annotation.acts],
        "mentions": [_mention(mention, vocabulary) for mention in annotation.mentions],
    }


def _mention(mention: Mention, vocabulary: Vocabulary) -> dict[str, Any]:
    alternatives = [{"cui": cui, "name": vocabulary.name(cui), "score": mention.score} for cui in mention.alt_cuis]
    return {
        "mention_id": mention.mention_id,
        "start": mention.start,
        "end": mention.end,
        "surface": mention.surface,
        "cui": mention.cui,
        "name": vocabulary.name(mention.cui),
        "score": mention.score,
        "alternatives": alternatives,
        "role": mention.dialogue_role,
        "attribute": STANDARD.get(mention.attribute, mention.attribute) if mention.attribute else None,
        "detail": mention.attribute if mention.attribute in STANDARD else None,
        "polarity": mention.polarity,
        "certainty": mention.certainty,
        "temporality": mention.temporality,
        "experiencer": mention.experiencer,
        "links_to": mention.links_to,
    }


def in_words(head: str, annotation: Annotation, vocabulary: Vocabulary) -> Iterator[str]:
    """An annotation for people: the turn, its acts, and under each act what is meant."""
    yield head
    by_id = {mention.mention_id: mention for mention in annotation.mentions}
    for act in annotation.acts:
        notes = [*(["open"] if act.open_ended else []), *(f"{key} {value}" for key, value in act.payload.items())]
        yield f"      {act.type}" + (f" ({', '.join(notes)})" if notes else "")
        for mention_id in act.mentions:
            yield "        " + _described(by_id.pop(mention_id), vocabulary) if mention_id in by_id else f"        see {mention_id}"
    for mention in by_id.values():
        yield "      " + _described(mention, vocabulary)


def _described(mention: Mention, vocabulary: Vocabulary) -> str:
    usual = {"present", "queried", "certain", "current", "patient"}
    more = [mention.polarity, mention.certainty, mention.temporality, mention.experiencer]
    notes = [mention.dialogue_role, *([mention.attribute] if mention.attribute else []), *(word for word in more if word not in usual)]
    surface = " ".join(mention.surface.split())
    return f"{MARKS[mention.dialogue_role]} {surface} = {vocabulary.name(mention.cui)} ({mention.cui}; {', '.join(notes)})"
