"""Scorecards as tables (metrics.md 11.2, 14): one row a dialogue, a null stays a null and keeps its reason."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

import pytest

from metrics.frames import IDENTITY, REASONS, rows, to_csv, to_frame, to_long_frame, to_parquet
from metrics.scores import Score, Scorecard
from ontology.errors import BedsideError

GCA = ("Giant cell arteritis", "M31.6")


@pytest.fixture(scope="module")
def cards(world: Any) -> list[Scorecard]:
    """A scored encounter, one without questions, and one that failed."""
    good = world.score(world.golden_dialogue("A").commit(GCA, examiner="good"))
    silent = world.score(world.start().commit(GCA, examiner="silent"))
    failed = world.score(world.golden_dialogue("B").seal(examiner="failed", termination="patient_error"))
    return [good, silent, failed]


def with_score(card: Scorecard, name: str, value: Any) -> Scorecard:
    like = next(iter(card.scores.values()))
    score = Score(value=value, params_hash=like.params_hash, kb_version=like.kb_version)
    return card.model_copy(update={"scores": {**card.scores, name: score}})


def test_a_frame_has_the_values_of_the_cards(cards: list[Scorecard]) -> None:
    """Every score is a column of its own type; what is no number is never turned into one."""
    frame = to_frame(cards)
    assert list(frame["trace_id"]) == [card.trace_id for card in cards]
    assert set(frame.columns) == {*IDENTITY, REASONS, *cards[0].scores}
    assert frame["ses"][0] == pytest.approx(0.6614, abs=5e-5)  # metrics.md 4.6
    assert str(frame["ses"].dtype) == "Float64"
    assert str(frame["acc_truth"].dtype) == "boolean"
    assert str(frame["questions"].dtype) == "Int64"
    assert frame["cell"][0] == "reliable"


def test_nulls_are_not_zeros(cards: list[Scorecard]) -> None:
    """Means leave them out; the reason is in the row."""
    frame = to_frame(cards)
    assert bool(frame["ses"].isna()[2]) and frame["ses"].mean() == pytest.approx(frame["ses"][0] / 2)
    assert frame["ses"][1] == 0
    reasons = json.loads(frame[REASONS][2])
    assert reasons["ses"] == "not scored: patient_error" and set(reasons) == set(cards[0].scores)
    assert "ses" not in json.loads(frame[REASONS][0] or "{}")


def test_scores_that_only_some_cards_hold(cards: list[Scorecard]) -> None:
    """New scores of any name and type show without a change here; where one is missing it says so."""
    more = [with_score(cards[0], "brand_new", 0.25), cards[1], with_score(cards[2], "verdict", "severe")]
    frame = to_frame(more)
    assert frame["brand_new"][0] == 0.25 and bool(frame["brand_new"].isna()[1])
    assert json.loads(frame[REASONS][1])["brand_new"] == "not on this card"
    assert frame["verdict"][2] == "severe"


def test_csv_says_the_same(cards: list[Scorecard]) -> None:
    """An empty field is a null; numbers come back to the last digit; text with marks survives."""
    odd = 'comma, "quote"\nline'
    table = list(csv.DictReader(io.StringIO(to_csv(cards, {cards[0].trace_id: {"case_title": odd}}).decode())))
    assert len(table) == 3
    assert float(table[0]["ses"]) == cards[0].scores["ses"].value
    assert table[0]["case_title"] == odd and table[1]["case_title"] == ""
    assert table[2]["ses"] == "" and table[1]["ses"] == "0.0"


def test_columns_never_hide_one_another(cards: list[Scorecard]) -> None:
    with pytest.raises(BedsideError, match="two columns would be called 'ses'"):
        rows(cards, {cards[0].trace_id: {"ses": 1}})
    with pytest.raises(BedsideError, match="'seed'"):
        rows([with_score(cards[0], "seed", 1)])


def test_the_long_frame_has_a_row_a_score(cards: list[Scorecard]) -> None:
    frame = to_long_frame(cards)
    assert len(frame) == sum(len(card.scores) for card in cards)
    first = frame[frame["trace_id"] == cards[0].trace_id].set_index("score")
    assert first.loc["acc_truth", "value"] == 1 and first.loc["cell", "label"] == "reliable"
    assert bool(first["value"].isna()["cell"])


def test_no_cards_make_an_empty_table() -> None:
    assert to_frame([]).shape == (0, len(IDENTITY) + 1)
    assert to_csv([]).decode().strip() == ",".join([*IDENTITY, REASONS])


def test_parquet_keeps_types_and_nulls(cards: list[Scorecard]) -> None:
    pytest.importorskip("pyarrow")
    import pandas as pd

    back = pd.read_parquet(io.BytesIO(to_parquet(cards)), dtype_backend="numpy_nullable")
    assert back.equals(to_frame(cards).astype(back.dtypes.to_dict()))
    assert bool(back["ses"].isna()[2]) and back["acc_truth"][0]


def test_parquet_without_pyarrow_says_what_to_do(cards: list[Scorecard], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    with pytest.raises(BedsideError, match=r"needs pyarrow.*install bedside\[parquet\], or write \.csv"):
        to_parquet(cards)
