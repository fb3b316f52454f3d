"""Whatever is typed, pasted or generated: no exception, spans that slice to their surface, ids that are unique, and no runaway time."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ontology.annotation import Annotation
from ontology.annotation_cache import packed, unpacked
from ontology.annotator import annotate_examiner
from ontology.dialogue import DialogueTurn, PastTurn, TurnReader
from ontology.vocabulary import Vocabulary

PIECES = (
    "chest pain|a hedache|blood in your stools or vomit|joint pain or swelling|your mother had diabetes|do you have|any|and|or|, |. |? |"
    "How long|When did it start|no|yes|I don't know|but|if|it|the rash|itchy|arm or leg weakness|on the arm|take ibuprofen|history of|"
    "check your blood pressure|not only|'|’|-|(|)|/|:|;|\n|\r\n|\t|\x00|\u200b|\u00ad|\ufeff|\u2028|\x0b|e\u0301\u0302\u0303|\u0301|🙂|"
    "👩\u200d👩\u200d👧|\U0001f1e9\U0001f1ea|\u202e|\u202c|\u200f|שלום|مرحبا|ﬁ|ß|İ|ı|ſ|Å|"
    "ａｃｈｅ|½|²|Ⅷ|１２|你好|0.5|1e309|e.g.|Dr. |\ufffd|\uffff|\U0010ffff"
).split("|")
TEXTS = st.one_of(st.text(max_size=80), st.lists(st.one_of(st.sampled_from(PIECES), st.text(max_size=4)), max_size=30).map(" ".join))
GLUED = st.lists(st.sampled_from(PIECES), max_size=25).map("".join)
ANY = st.one_of(TEXTS, GLUED)
MANY = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def sound(annotation: Annotation, text: str) -> None:
    ids = [mention.mention_id for mention in annotation.mentions]
    assert len(set(ids)) == len(ids)
    for mention in annotation.mentions:
        assert 0 <= mention.start < mention.end <= len(text)
        assert text[mention.start : mention.end] == mention.surface
        assert mention.cui not in mention.alt_cuis
    spans = [(m.start, m.end, m.dialogue_role) for m in annotation.mentions]
    assert len(set(spans)) == len(spans), "one span credits one concept"
    act_ids = [act.act_id for act in annotation.acts]
    assert len(set(act_ids)) == len(act_ids)
    assert {mention_id for act in annotation.acts for mention_id in act.mentions} <= set(ids)
    assert unpacked(packed(annotation), text) == annotation


@MANY
@given(text=ANY, for_child=st.booleans(), focus=st.sampled_from([None, "C0018681", "C9999999"]))
def test_examiner_turns(vocabulary: Vocabulary, text: str, for_child: bool, focus: str | None) -> None:
    sound(annotate_examiner(text, vocabulary, 3, focus, for_child), text)


@pytest.mark.parametrize(
    "text",
    [
        "Do you have a personal or family history of any kidney or urinary tract issues?",
        "Do you have a personal or family history of breast or ovarian cancer?",
        "Have you or a family member ever been diagnosed with any psychological or behavioral disorder?",
    ],
)
def test_shared_words_of_two_people_and_two_findings(vocabulary: Vocabulary, text: str) -> None:
    """Seen in recorded dialogues: four mentions that end at one word."""
    found = annotate_examiner(text, vocabulary)
    sound(found, text)
    assert [m.experiencer for m in found.mentions] == ["patient", "family"] * 2


@MANY
@given(text=ANY, question=ANY, for_child=st.booleans())
def test_patient_turns_with_the_question_before(vocabulary: Vocabulary, text: str, question: str, for_child: bool) -> None:
    past = (PastTurn("examiner", question),)
    asked = {m.mention_id for m in TurnReader(vocabulary).context(past, for_child).asked}
    found = TurnReader(vocabulary).read(DialogueTurn(text, "patient", past, for_child))
    assert {m.links_to for m in found.mentions} <= {None, *asked}
    assert {m.dialogue_role for m in found.mentions} <= {"affirmed", "denied", "unsure", "volunteered"}
    for mention in found.mentions:
        assert text[mention.start : mention.end] == mention.surface
    assert unpacked(packed(found), text) == found


@MANY
@given(text=ANY)
def test_two_readings_are_one(vocabulary: Vocabulary, text: str) -> None:
    assert annotate_examiner(text, vocabulary) == annotate_examiner(text, vocabulary)


SHAPES = (
    "chest pain, |pain, or |if you have pain |no fever |your mother had diabetes and |Do you have a hedache? |in the |how long how bad |"
    "qzxvkw |x|any |' |(|1.|..|\n|\x00|🙂|e\u0301|\u202eabc |you or your family |when it when |yes, |I don't know "
).split("|")
LONG = 100_000
READERS: dict[str, Callable[[str, Vocabulary], Annotation]] = {
    "examiner": annotate_examiner,
    "patient": lambda text, vocabulary: TurnReader(vocabulary).read(DialogueTurn(text, "patient", (PastTurn("examiner", "Any fever?"),))),
}


@pytest.mark.parametrize("side", READERS)
@pytest.mark.parametrize("shape", SHAPES)
def test_a_line_of_100_kb(vocabulary: Vocabulary, side: str, shape: str) -> None:
    text = (shape * (LONG // len(shape) + 1))[:LONG]
    for mention in READERS[side](text, vocabulary).mentions:
        assert text[mention.start : mention.end] == mention.surface


def calls(work: Callable[[], object]) -> int:
    """How many functions, of ours and built-in ones, a piece of work calls."""
    count = 0

    def profile(_frame: FrameType, event: str, _arg: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(profile)
    try:
        work()
    finally:
        sys.setprofile(before)
    return count


@pytest.mark.parametrize("side", READERS)
@pytest.mark.parametrize("shape", SHAPES)
def test_the_work_grows_with_the_length(vocabulary: Vocabulary, side: str, shape: str) -> None:
    """Eight times the text, at most sixteen times the calls; time inside patterns is not seen here, see tests/bench/annotator_growth.py."""
    short, long = (shape * (size // len(shape)) for size in (2_000, 16_000))
    READERS[side](short, vocabulary)  # words are put into normal form once
    few, many = (calls(lambda text=text: READERS[side](text, vocabulary)) for text in (short, long))  # type: ignore[misc]
    assert many <= 16 * few
