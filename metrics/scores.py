"""A score, the scorecard of one trace, and the stamp that every score of a card carries (metrics.md 14)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, Self

from pydantic import Field, JsonValue, model_validator

from metrics.params import ScoreParams
from ontology.documents import Document, Strict, content_hash
from simulator.trace import TerminationReason

SCORER_VERSION = "2.0"
"""Raise this whenever a change of code changes any score of an unchanged trace."""

Layer = Literal["machine", "adjudicated"]
"""Whose mentions were scored: the machine's, or those that people corrected."""

Value = bool | int | float | str | None
Components = Mapping[str, JsonValue]


class Score(Strict):
    """One number (or label) with what it was made of. Null always has a reason, and is never 0."""

    value: Value
    null_reason: str | None = None
    components: dict[str, JsonValue] = Field(default_factory=dict, description="enough to explain the value in words")
    params: dict[str, JsonValue] = Field(default_factory=dict, description="the parameters this score depends on, no others")
    params_hash: str = Field(description="hash of `params`: equal hashes, comparable scores")
    kb_version: str
    scorer_version: str = SCORER_VERSION
    layer: Layer = "machine"

    @model_validator(mode="after")
    def _null_has_a_reason(self) -> Self:
        if (self.value is None) != (self.null_reason is not None):
            raise ValueError("a score has either a value or a reason why it has none")
        return self


class Scorecard(Document):
    """All scores of one trace."""

    schema_version: Literal["1.0"] = "1.0"
    trace_id: str
    trace_sha256: str = Field(description="the seal of the trace that was scored")
    case_id: str
    base_case_id: str = Field(description="the case this one is a variant of, else its own id: the unit of statistics")
    examiner_id: str
    disease_id: str
    seed: int
    termination: TerminationReason
    forced_commit: bool = False
    scorer_version: str = SCORER_VERSION
    kb_version: str
    params_hash: str = Field(description="hash of all parameters")
    layer: Layer = "machine"
    scores: dict[str, Score]


@dataclass(frozen=True)
class Stamp:
    """What all scores of a card share."""

    params: ScoreParams
    kb_version: str
    layer: Layer = "machine"

    def score(self, value: bool | int | float | str, components: Components | None = None, uses: tuple[str, ...] = ()) -> Score:
        """A score with a value.

        Args:
            value: the value.
            components: what it was made of.
            uses: names of the parameters it depends on.
        """
        return self._make(value, None, components, uses)

    def null(self, reason: str, components: Components | None = None, uses: tuple[str, ...] = ()) -> Score:
        """A score without a value, and why."""
        return self._make(None, reason, components, uses)

    def _make(self, value: Value, reason: str | None, components: Components | None, uses: tuple[str, ...]) -> Score:
        blank = _blank_score(self.params, self.kb_version, self.layer, uses)
        # A copy is not validated again: all that reaches here is typed, and a card holds more than a hundred scores.
        own = {"value": value, "null_reason": reason, "components": dict(components or {}), "params": dict(blank.params)}
        return blank.model_copy(update=own)


@lru_cache(maxsize=64)
def params_hash(params: ScoreParams) -> str:
    """The hash of all parameters; every card bears it."""
    return params.sha


@lru_cache(maxsize=1024)
def _blank_score(params: ScoreParams, kb_version: str, layer: Layer, uses: tuple[str, ...]) -> Score:
    """A score without a value, of some parameters and their hash; every card asks for the same ones."""
    chosen = params.only(uses)
    digest = content_hash(chosen)[:16]
    return Score(value=None, null_reason="not made", params=chosen, params_hash=digest, kb_version=kb_version, layer=layer)
