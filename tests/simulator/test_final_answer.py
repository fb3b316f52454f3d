"""The final answer in a message: fenced, wrapped, thought aloud before, written twice; all of that is read, or refused in words."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simulator.final_answer import MAX_RANKED, ParsedMessage, parse_message, probability, render, strip_thinking
from simulator.trace import FinalAnswer, RankedDiagnosis

BLOCK = '{"diagnoses": [{"name": "Influenza", "icd10": "J11.1", "prob": 0.7}, {"name": "Pneumonia", "prob": 0.2}]}'


def names(message: str) -> list[str]:
    """The diagnoses found in a message; none if it holds no answer."""
    answer = parse_message(message).answer
    return [item.name for item in answer.ranked] if answer else []


def assert_plain(message: str) -> ParsedMessage:
    parsed = parse_message(message)
    assert parsed.answer is None
    return parsed


# -- how an answer is wrapped ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "message",
    [
        BLOCK,
        f"```json\n{BLOCK}\n```",
        f"```JSON\n{BLOCK}\n```",
        f"```Json {BLOCK}```",
        f"```\n{BLOCK}\n```",
        f"``` json\n{BLOCK}\n```",
        f"```json\n```json\n{BLOCK}\n```\n```",
        f"~~~\n{BLOCK}\n~~~",
        f"Here is my answer:\n{BLOCK}\nI hope this helps {{really}}.",
        f"Based on {{fever}} and {{cough}}: {BLOCK}",
        f'Format: {{"question": "any"}}\n{BLOCK}',
        BLOCK.replace("{", "{\n  ").replace(",", ",\n  "),
        f"\ufeff{BLOCK}",
    ],
)
def test_an_answer_is_found_in_whatever_it_is_wrapped(message: str) -> None:
    assert names(message) == ["Influenza", "Pneumonia"]


@pytest.mark.parametrize(
    "wrap", ['{{"final_answer": {}}}', '{{"result": {{"answer": {}}}}}', '{{"answers": [{}]}}', '{{"tool": "commit", "arguments": {}}}']
)
def test_an_answer_inside_another_object_is_found(wrap: str) -> None:
    parsed = parse_message("I am done. " + wrap.format(BLOCK))
    assert parsed.answer is not None and parsed.answer.ranked[0].name == "Influenza"
    assert parsed.said == "I am done."


def test_the_words_around_the_answer_are_kept_without_it() -> None:
    parsed = parse_message(f"It looks like flu.\n```json\n{BLOCK}\n```\nRest well.")
    assert parsed.said == "It looks like flu.\nRest well."
    assert parsed.problem is None


def test_of_two_answers_the_first_counts() -> None:
    assert names('{"diagnoses": ["Influenza"]} or rather {"diagnoses": ["Pneumonia"]}') == ["Influenza"]


@pytest.mark.parametrize(
    "broken", ['{"diagnoses": [}', '{"diagnoses": ["Pneumonia"', '{"diagnoses": []}', '{"diagnoses": [7]}', '{"diagnoses": 3}']
)
def test_a_broken_answer_before_a_good_one_does_not_hide_it(broken: str) -> None:
    assert names(f"{broken}\n\nCorrection:\n{BLOCK}") == ["Influenza", "Pneumonia"]


@pytest.mark.parametrize(
    ("message", "why"),
    [
        ('{"diagnoses": []}', "ranked"),
        ('{"diagnoses": [7]}', "neither a name nor an object"),
        ('{"diagnoses": [{"prob": 0.5}]}', "without a name"),
        ('{"diagnoses": null}', "not a list"),
        ('{"final_answer": {"diagnoses": []}}', "ranked"),
        ('{"diagnoses": ["", "  "]}', "ranked"),
    ],
)
def test_an_answer_that_cannot_be_read_says_why(message: str, why: str) -> None:
    parsed = assert_plain(message)
    assert parsed.problem is not None and why in parsed.problem
    assert parsed.said == message


def test_of_several_broken_answers_the_first_says_why() -> None:
    problem = assert_plain('{"diagnoses": null} {"diagnoses": []}').problem
    assert problem is not None and "not a list" in problem


@pytest.mark.parametrize(
    "message", ["", "Do you have a fever?", '{"question": "fever?"}', "{", "}{", "[]", "null", "[1, 2]", "I think it is flu."]
)
def test_a_message_without_an_answer_is_only_words(message: str) -> None:
    parsed = assert_plain(message)
    assert parsed == ParsedMessage(message)


@pytest.mark.parametrize("key", ["diagnoses", "ranked", "differential", "final_diagnosis", "diagnosis"])
def test_the_list_goes_by_several_names(key: str) -> None:
    assert names(json.dumps({key: ["Influenza"]})) == ["Influenza"]
    assert names(json.dumps({key: "Influenza"})) == ["Influenza"]
    assert names(json.dumps({key: {"name": "Influenza"}})) == ["Influenza"]


@pytest.mark.parametrize(
    "item", [{"diagnosis": "Flu", "code": "J11.1"}, {"disease": "Flu", "icd_10": "J11.1"}, {"name": "Flu", "icd10_code": "J11.1"}]
)
def test_names_and_codes_go_by_several_names(item: dict[str, str]) -> None:
    answer = parse_message(json.dumps({"diagnoses": [item]})).answer
    assert answer is not None and answer.ranked == [RankedDiagnosis(name="Flu", icd10="J11.1")]


def test_a_code_alone_names_the_diagnosis() -> None:
    assert names('{"diagnoses": [{"icd10": "J11.1"}]}') == ["J11.1"]


def test_no_more_diagnoses_are_kept_than_are_ranked() -> None:
    assert len(names(json.dumps({"diagnoses": [f"d{n}" for n in range(50)]}))) == MAX_RANKED


# -- reasoning is never shown and never a commit ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("tag", ["think", "thinking", "thought", "reasoning", "THINK", "Think"])
def test_reasoning_is_taken_out(tag: str) -> None:
    assert strip_thinking(f"<{tag}>It is GCA.</{tag}>\nAny headache?") == ("Any headache?", True)
    assert strip_thinking(f"Any headache?\n<{tag}>It is GCA.") == ("Any headache?", True)
    assert strip_thinking(f"It is GCA.</{tag}>\nAny headache?") == ("Any headache?", True)
    assert strip_thinking(f"<{tag}>a</{tag}>Any <{tag}>b</{tag}>headache?") == ("Any headache?", True)
    assert strip_thinking(f"<{tag}><{tag}>a</{tag}>It is GCA.</{tag}>Any headache?") == ("Any headache?", True)
    assert strip_thinking(f"It is</{tag}> GCA</{tag}>Any headache?") == ("Any headache?", True)


@pytest.mark.parametrize(
    "text",
    [
        "<unused94>thought\nIt is GCA.<unused95>Any headache?",
        "Any headache?<unused94>thought It is GCA.",
        "thought It is GCA.<unused95>Any headache?",
    ],
)
def test_medgemmas_reasoning_is_taken_out(text: str) -> None:
    assert strip_thinking(text) == ("Any headache?", True)


def test_text_without_reasoning_is_left_alone() -> None:
    text = "Is it < 3 days, or > 5? Do you <think> so"
    assert strip_thinking("Is it < 3 days, or > 5?") == ("Is it < 3 days, or > 5?", False)
    assert strip_thinking(text)[0] == "Is it < 3 days, or > 5? Do you"


@pytest.mark.parametrize("wrap", ["<think>{}</think>", "<think>{}", "{}</think>", "<unused94>{}<unused95>", "<unused94>{}", "{}<unused95>"])
def test_an_answer_thought_aloud_is_no_commit(wrap: str) -> None:
    parsed = assert_plain(wrap.format(BLOCK))
    assert parsed.had_thinking and parsed.said == "" and parsed.problem is None


def test_an_answer_after_the_reasoning_counts_and_not_the_one_within() -> None:
    message = '<think>First {"diagnoses": ["Migraine"]}</think>' + BLOCK
    assert names(message) == ["Influenza", "Pneumonia"]
    assert parse_message(message).had_thinking


# -- numbers and words -----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        (0.85, 0.85),
        ("0.85", 0.85),
        (85, 0.85),
        ("85%", 0.85),
        (" 85 % ", 0.85),
        ("0.5%", 0.005),
        ("1%", 0.01),
        (1, 1.0),
        (0, 0.0),
        (100, 1.0),
        (100.5, None),
        (-0.1, None),
        (True, None),
        (None, None),
        ("likely", None),
        ("", None),
        ("%", None),
        ([0.5], None),
        (float("nan"), None),
        (float("inf"), None),
        ("nan", None),
        ("1e999", None),
        (10**400, None),
    ],
)
def test_probabilities_in_every_form_and_never_a_half_for_an_unknown_one(raw: object, expected: float | None) -> None:
    found = probability(raw)
    assert found == (pytest.approx(expected) if expected is not None else None)


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        (1, 1),
        (5, 5),
        (3.0, 3),
        ("2", 2),
        ("level 4", 4),
        ("ESI 3", 3),
        ("Immediate", 1),
        ("emergency", 1),
        ("very urgent", 2),
        ("URGENT", 3),
        ("less urgent", 4),
        (" non-urgent ", 5),
        ("routine", 5),
        (0, None),
        (6, None),
        (2.5, None),
        ("12", None),
        ("soon", None),
        (True, None),
        (None, None),
        ([1], None),
        (10**400, None),
    ],
)
def test_triage_in_numbers_and_words(raw: object, expected: int | None) -> None:
    for key in ("triage_level", "triage"):
        answer = parse_message(json.dumps({"diagnoses": ["Flu"], key: raw})).answer
        assert answer is not None and answer.triage_level == expected


@pytest.mark.parametrize("literal", ["NaN", "Infinity", "-Infinity", "1e999", "1" * 400, "1" * 5000])
def test_numbers_that_are_none_do_not_lose_the_answer_or_raise(literal: str) -> None:
    parsed = parse_message('{"diagnoses": [{"name": "Flu", "prob": %s}], "triage_level": %s, "confidence": %s}' % ((literal,) * 3))
    if parsed.answer is not None:
        assert parsed.answer.ranked == [RankedDiagnosis(name="Flu")]
        assert parsed.answer.confidence is None and parsed.answer.triage_level is None
    else:
        assert len(literal) == 5000  # Python itself refuses to read so long a number


def test_lists_of_words_may_be_one_word_nothing_or_objects() -> None:
    raw = {
        "diagnoses": ["Flu"],
        "tests": "chest X-ray",
        "treatment": [{"drug": "rest"}, "", None],
        "advice": " ",
        "change_mind": " a rash ",
    }
    answer = parse_message(json.dumps(raw)).answer
    assert answer is not None
    assert (answer.tests, answer.treatments, answer.advice, answer.change_mind) == (["chest X-ray"], ['{"drug": "rest"}'], [], "a rash")


@pytest.mark.parametrize(
    "message",
    ["Any \ud83e fever?", '{"diagnoses": [{"name": "Fl\\ud83eu", "icd10": "\\udc00"}], "advice": ["\\ud800"], "change_mind": "\\ud800"}'],
)
def test_half_characters_become_whole_ones_that_a_file_can_hold(message: str) -> None:
    parsed = parse_message(message)
    parsed.said.encode()
    if parsed.answer is not None:
        assert parsed.answer.ranked[0].name == "Fl\ufffdu"
        parsed.answer.model_dump_json().encode()
    whole = parse_message('{"diagnoses": ["\\ud83e\\udd12"]}').answer
    assert whole is not None and whole.ranked[0].name == "🤒"


# -- properties ------------------------------------------------------------------------------------------------------------------------

PIECES = st.sampled_from(
    [
        BLOCK,
        "{",
        "}",
        "[",
        "]",
        '"',
        "```",
        "```json\n",
        "<think>",
        "</think>",
        "<unused94>",
        "<unused95>",
        '"diagnoses":',
        ":",
        ",",
        "null",
        "1e999",
        "\\ud800",
        "\ud800",
        "\n",
        "Any fever?",
        '{"a": ',
    ]
)


@settings(deadline=None, max_examples=300)
@given(st.lists(PIECES | st.text(max_size=6), max_size=14).map("".join))
def test_parsing_never_raises_and_never_shows_reasoning_or_half_characters(message: str) -> None:
    parsed = parse_message(message)
    parsed.said.encode()
    assert parsed.answer is None or parsed.answer.ranked
    assert not any(tag in parsed.said for tag in ("<think>", "</think>", "<unused94>", "<unused95>"))
    assert parsed.answer is None or parsed.problem is None


@settings(deadline=None, max_examples=100)
@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
        lambda inner: (
            st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["name", "icd10", "prob", "diagnoses", "x"]), inner, max_size=3)
        ),
        max_leaves=12,
    )
)
def test_any_json_value_in_place_of_the_diagnoses_is_read_or_refused(value: object) -> None:
    parsed = parse_message(json.dumps({"diagnoses": value, "tests": value, "confidence": value, "triage": value}))
    assert (parsed.answer is None) != (parsed.problem is None)


@pytest.mark.parametrize("message", ["{" * 20_000, '{"a":' * 20_000, "[" * 20_000, '{"diagnoses":' + "[" * 20_000, "```" * 10_000])
def test_deeply_nested_text_does_not_raise(message: str) -> None:
    assert_plain(message)


WORDS = st.text(st.characters(exclude_categories=("Cs",)), max_size=30)
NAMES = WORDS.map(str.strip).filter(bool)
PROBS = st.none() | st.floats(0, 1)
ANSWERS = st.builds(
    FinalAnswer,
    ranked=st.lists(st.builds(RankedDiagnosis, name=NAMES, icd10=st.none() | NAMES, prob=PROBS), min_size=1, max_size=MAX_RANKED),
    confidence=PROBS,
    triage_level=st.none() | st.integers(1, 5),
    tests=st.lists(NAMES, max_size=3),
    treatments=st.lists(NAMES, max_size=3),
    advice=st.lists(NAMES, max_size=3),
    change_mind=st.none() | NAMES,
)


@settings(deadline=None, max_examples=200)
@given(answer=ANSWERS, said=st.sampled_from(["", "I am sure now.", "Is it so?\nI think so."]))
def test_what_is_rendered_is_read_back_exactly(answer: FinalAnswer, said: str) -> None:
    parsed = parse_message(render(answer, said))
    assert parsed.answer == answer
    assert parsed.said == said
    assert parsed.problem is None and not parsed.had_thinking


def test_typed_tags_and_fences_in_an_answer_hide_nothing() -> None:
    answer = FinalAnswer(ranked=[RankedDiagnosis(name="<think>Flu</think> ```"), RankedDiagnosis(name='<unused94> {"diagnoses": []}')])
    assert parse_message(render(answer)).answer == answer
