"""All choices that a score depends on, in one object whose hash goes with every score (metrics.md 17)."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, JsonValue, ValidationError, model_validator

from ontology.documents import content_hash, problems
from ontology.errors import BedsideError


class ScoreParams(BaseModel):
    """Parameters of the scores; the defaults are those of metrics.md 17. Immutable."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    beta: float = Field(default=1.0, gt=0, description="weight of recall against precision in SES (4.3)")
    precision: Literal["effort", "answered"] = Field(
        default="effort", description="effort: unanswered questions count against precision; answered: they do not (4.3)"
    )
    credit: Literal["truepath", "exact"] = Field(default="truepath", description="whether broader and narrower questions earn credit (4.2)")
    credit_delta: float = Field(default=0.5, ge=0, le=1, description="credit lost an is-a link that the answer does not settle (4.2)")
    hmax: int = Field(default=2, ge=0, le=10, description="is-a links across which credit is given (4.2)")
    ndcg_k: int = Field(default=10, ge=1, description="rank at which nDCG is cut (4.4)")
    missing_weight: float = Field(default=0.5, ge=0, le=1, description="weight of a feature without a frequency (2.1)")
    core_weight: float = Field(default=0.5, ge=0, le=1, description="features of this weight or more are core (5.4)")
    ddx_threshold: float = Field(default=0.01, ge=0, le=1, description="probability from which a disease counts as a candidate (4.1)")
    tau: float = Field(default=0.3, ge=0, le=1, description="SES must be greater than this to be reliable (5.1)")
    theta: float = Field(default=0.5, gt=0, le=1, description="core coverage below which a commit is premature (5.4)")
    thetas: tuple[float, ...] = Field(default=(0.3, 0.5, 0.7), description="further values of theta that are reported (5.4)")
    t_max: int = Field(default=15, ge=1, description="more ask turns than this are too many (5.5)")
    top_k: tuple[int, ...] = Field(default=(1, 3, 5), description="ranks at which hits are counted (3.1)")
    lambda_sec: float = Field(default=0.25, ge=0, le=1, description="penalty for naming a secondary diagnosis (3.3)")
    unresolved_distance: float = Field(default=1.0, ge=0, le=1, description="distance of an answer without a code, or of none (3.2)")

    @model_validator(mode="after")
    def _lists_make_sense(self) -> Self:
        if not self.top_k or any(k < 1 for k in self.top_k):
            raise ValueError("top_k needs ranks of 1 or more")
        if any(not 0 < theta <= 1 for theta in self.thetas):
            raise ValueError("thetas must be above 0 and at most 1")
        return self

    @property
    def sha(self) -> str:
        """Short hash of all parameters."""
        return content_hash(self.model_dump(mode="json"))[:16]

    def only(self, names: tuple[str, ...]) -> dict[str, JsonValue]:
        """Some of the parameters as JSON values, in the order given."""
        raw = self.model_dump(mode="json")
        return {name: raw[name] for name in names}

    def to_toml(self) -> str:
        """The parameters as a TOML file that `load_params` reads back, each with what it means."""
        raw = self.model_dump(mode="json")
        lines = []
        for name, field in type(self).model_fields.items():
            lines += [f"# {field.description}", f"{name} = {json.dumps(raw[name])}"]
        return "\n".join(lines) + "\n"


def load_params(path: Path) -> ScoreParams:
    """Read parameters from a TOML or JSON file; what the file leaves out keeps its default.

    Args:
        path: a file ending in .toml or .json.

    Raises:
        BedsideError: the file cannot be read, is malformed, or has an unknown parameter or a value out of range.
    """
    where = str(path)
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise BedsideError(f"cannot be read ({error})", where) from None
    raw = _parse(text, path.suffix.lower(), where)
    unknown = sorted(set(raw) - set(ScoreParams.model_fields))
    if unknown:
        known = ", ".join(ScoreParams.model_fields)
        raise BedsideError(f"unknown score parameter {', '.join(map(repr, unknown))}", where, f"use one of {known}")
    try:
        return ScoreParams.model_validate(raw)
    except ValidationError as error:
        raise BedsideError(f"not valid score parameters: {problems(error)}", where) from None


def _parse(text: str, suffix: str, where: str) -> dict[str, Any]:
    raw: Any
    try:
        if suffix == ".toml":
            raw = tomllib.loads(text)
        elif suffix == ".json":
            raw = json.loads(text)
        else:
            raise BedsideError(f"parameters in a {suffix or 'nameless'} file are not read", where, "use .toml or .json")
    except (ValueError, RecursionError) as error:
        raise BedsideError(f"not valid {suffix[1:].upper()} ({error})", where) from None
    if not isinstance(raw, dict):
        raise BedsideError(f"score parameters must be a table of names and values, not {type(raw).__name__}", where)
    return raw
