"""Scorecards as tables, one row a dialogue: pandas frames, CSV and Parquet. A null stays a null, with its reason beside it."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from metrics.scores import Scorecard, Value
from ontology.errors import BedsideError

if TYPE_CHECKING:
    import pandas as pd

IDENTITY = (
    "trace_id",
    "case_id",
    "base_case_id",
    "examiner_id",
    "disease_id",
    "seed",
    "termination",
    "forced_commit",
    "scorer_version",
    "kb_version",
    "params_hash",
    "layer",
)
REASONS = "null_reasons"
"""The column that holds, as a JSON object, why scores of the row have no value."""

SUFFIXES = (".csv", ".parquet")


def score_names(cards: Iterable[Scorecard]) -> list[str]:
    """Names of all scores on some cards, in order of first appearance."""
    return list(dict.fromkeys(name for card in cards for name in card.scores))


def rows(cards: Sequence[Scorecard], more: Mapping[str, Mapping[str, Value]] | None = None) -> list[dict[str, Value]]:
    """One row a card: its identity, every score's value (None: there is none), and the reasons of the nulls.

    Args:
        cards: the cards; a score that only some hold is None on the others, with the reason "not on this card".
        more: further columns by trace id, say of the case; they follow the identity.

    Raises:
        BedsideError: a score or further column has the name of another column.
    """
    names = score_names(cards)
    further = list(dict.fromkeys(name for values in (more or {}).values() for name in values))
    taken = {*IDENTITY, REASONS}
    for name in (*further, *names):
        if name in taken:
            raise BedsideError(f"two columns would be called {name!r}", "the table of scores")
        taken.add(name)
    found = []
    for card in cards:
        reasons = {}
        row: dict[str, Value] = {name: getattr(card, name) for name in IDENTITY}
        of_trace = (more or {}).get(card.trace_id, {})
        row |= {name: of_trace.get(name) for name in further}
        for name in names:
            score = card.scores.get(name)
            row[name] = None if score is None else score.value
            if row[name] is None:
                reasons[name] = "not on this card" if score is None else score.null_reason
        row[REASONS] = json.dumps(reasons, ensure_ascii=False) if reasons else None
        found.append(row)
    return found


def to_frame(cards: Sequence[Scorecard], more: Mapping[str, Mapping[str, Value]] | None = None) -> pd.DataFrame:
    """A pandas frame, one row a dialogue; see `rows` for its columns.

    Numbers are Float64 or Int64, yes-or-no boolean, labels string: types that keep a null apart from 0 and from False.
    """
    import pandas as pd

    listed = rows(cards, more)
    columns = list(listed[0]) if listed else [*IDENTITY, REASONS]
    made = {}
    for name in columns:
        kind, values = _dtype(name, listed), [row[name] for row in listed]
        if kind == "string":
            values = [None if value is None else str(value) for value in values]
        made[name] = pd.array(values, dtype=kind)
    return pd.DataFrame(made)


def to_long_frame(cards: Sequence[Scorecard]) -> pd.DataFrame:
    """A pandas frame, one row a dialogue and score: trace_id, case_id, base_case_id, examiner_id, disease_id, score, value, label,
    null_reason, params_hash. Yes is 1 and no is 0 in `value`; scores whose value is a word have it in `label`.
    """
    import pandas as pd

    ids = ("trace_id", "case_id", "base_case_id", "examiner_id", "disease_id")
    listed: list[dict[str, Any]] = []
    for card in cards:
        for name, score in card.scores.items():
            word = isinstance(score.value, str)
            row = {key: getattr(card, key) for key in ids}
            row |= {"score": name, "value": None if word or score.value is None else float(score.value)}
            row |= {"label": score.value if word else None, "null_reason": score.null_reason, "params_hash": score.params_hash}
            listed.append(row)
    types = {"value": "Float64"}
    names = [*ids, "score", "value", "label", "null_reason", "params_hash"]
    return pd.DataFrame({name: pd.array([row[name] for row in listed], dtype=types.get(name, "string")) for name in names})


def to_csv(cards: Sequence[Scorecard], more: Mapping[str, Mapping[str, Value]] | None = None) -> bytes:
    """The table as CSV (RFC 4180, UTF-8); an empty field is a null."""
    listed = rows(cards, more)
    out = io.StringIO()
    writer = csv.DictWriter(out, list(listed[0]) if listed else [*IDENTITY, REASONS])
    writer.writeheader()
    writer.writerows(listed)
    return out.getvalue().encode("utf-8", "surrogatepass")


def to_parquet(cards: Sequence[Scorecard], more: Mapping[str, Mapping[str, Value]] | None = None) -> bytes:
    """The table as Parquet, with the frame's types.

    Raises:
        BedsideError: pyarrow is not installed.
    """
    require_pyarrow("Parquet")
    out = io.BytesIO()
    to_frame(cards, more).to_parquet(out, engine="pyarrow", index=False)
    return out.getvalue()


def require_pyarrow(where: str) -> None:
    """Say in one line what is missing.

    Raises:
        BedsideError: pyarrow is not installed, or does not go with the installed numpy.
    """
    try:
        import pyarrow  # noqa: F401
    except ImportError as error:
        what = "is not installed" if isinstance(error, ModuleNotFoundError) else f"cannot be used here ({error})"
        raise BedsideError(f"Parquet needs pyarrow, which {what}", where, "install bedside[parquet], or write .csv") from None


def _dtype(name: str, listed: Sequence[Mapping[str, Value]]) -> str:
    if name in IDENTITY:
        return {"seed": "Int64", "forced_commit": "boolean"}.get(name, "string")
    kinds = {type(row[name]) for row in listed if row[name] is not None}
    if not kinds or str in kinds:
        return "string" if kinds or name == REASONS else "Float64"
    if kinds == {bool}:
        return "boolean"
    return "Int64" if kinds == {int} else "Float64"
