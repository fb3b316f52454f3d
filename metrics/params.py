"""All choices that a score depends on, in one object whose hash goes with every score (metrics.md 17)."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, JsonValue, ValidationError, model_validator

from ontology.documents import content_hash, problems
from ontology.errors import BedsideError

Share = Annotated[float, Field(ge=0, le=1)]
HarmWeights = tuple[Share, Share, Share]


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
    askable: Literal["askable", "all"] = Field(default="askable", description="whether features that nobody can answer in talk count (2.3)")
    ndcg_k: int = Field(default=10, ge=1, description="rank at which nDCG is cut, if neither the budget nor the features are fewer (4.4)")
    ndcg_discount: Literal["event", "turn", "exponential"] = Field(
        default="event", description="what lowers a later gain: the log of the question's rank, of its turn's, or gamma to the rank (4.4)"
    )
    ndcg_gamma: float = Field(default=0.9, gt=0, le=1, description="gamma of the exponential discount (4.4)")
    s_dise_cost: Literal["symmetric", "one_sided", "exponential"] = Field(
        default="symmetric", description="cost of the number of turns in S_dise; one_sided and exponential forgive haste (4.5)"
    )
    s_dise_relevance: Literal["credit", "weighted"] = Field(
        default="credit", description="whether a turn's relevance in S_dise is weighed by the feature's frequency (4.5)"
    )
    missing_weight: float = Field(default=0.5, ge=0, le=1, description="weight of a feature without a frequency (2.1)")
    core_weight: float = Field(default=0.5, ge=0, le=1, description="features of this weight or more are core (5.4)")
    ddx_threshold: float = Field(default=0.01, ge=0, le=1, description="probability from which a disease counts as a candidate (4.1)")
    tau: float = Field(default=0.3, ge=0, le=1, description="SES must be greater than this to be reliable (5.1)")
    theta: float = Field(default=0.5, gt=0, le=1, description="core coverage below which a commit is premature (5.4)")
    thetas: tuple[float, ...] = Field(default=(0.3, 0.5, 0.7), description="further values of theta that are reported (5.4)")
    closure: Literal["core", "all", "ddx", "belief"] = Field(
        default="core",
        description="what closure looks at: core features of the truth, all, the core of all candidates, or the belief (5.4)",
    )
    closure_belief: float = Field(default=0.5, gt=0, le=1, description="belief in the leader below which a commit is premature (5.4)")
    reliability_score: Literal["ses", "s_dise"] = Field(default="ses", description="what must pass tau to be reliable (5.1)")
    t_max: int = Field(default=15, ge=1, description="more ask turns than this are too many (5.5)")
    top_k: tuple[int, ...] = Field(default=(1, 3, 5), description="ranks at which hits are counted (3.1)")
    veto: Literal["hard", "contradiction_only", "soft"] = Field(
        default="hard",
        description="what undoes an answer: sine-qua-non omission or contradiction, contradiction alone, nothing (5.2)",
    )
    anchor_restricted: float = Field(default=0.7, ge=0, le=1, description="restriction from which questions keep to the anchor (5.3)")
    anchor_altcov: float = Field(default=0.3, ge=0, le=1, description="coverage of alternatives up to which they do (5.3)")
    anchor_perseveration: float = Field(default=0.5, ge=0, le=1, description="share of the next questions from which it perseverates (5.3)")
    anchor_window: int = Field(default=3, ge=1, description="questions looked at after a contradiction (5.3)")
    anchor_flag: Literal["any", "wrong"] = Field(
        default="any", description="whether perseveration is a bias whatever the anchor, or only with one that is not the truth (5.3)"
    )
    anchor_bf: float = Field(default=1 / 3, gt=0, le=1, description="Bayes factor from which down an answer contradicts the anchor (5.3)")
    anchor_questions: int = Field(default=4, ge=1, description="fewer questions than this are never called anchored (5.3)")
    anchor_feature: float = Field(default=0.05, gt=0, le=1, description="frequency from which a feature is a disease's own (5.3)")
    anchor_candidates: int = Field(default=20, ge=2, description="candidates at most (5.3)")
    sdd_headline: Literal["descendant", "symmetric", "jaccard", "ic", "directional"] = Field(
        default="descendant", description="the distance called sdd; descendant: 0 for the truth and all below it, else symmetric (3.3)"
    )
    ic_method: Literal["seco", "sanchez"] = Field(default="seco", description="information content of sdd_ic and the like (3.3)")
    lambda_sec: float = Field(default=0.25, ge=0, le=1, description="penalty for naming a secondary diagnosis (3.3)")
    unresolved_distance: float = Field(default=1.0, ge=0, le=1, description="distance of an answer without a code, or of none (3.2)")
    harm_weights: HarmWeights = Field(default=(1.0, 0.75, 0.4), description="weights of direct harm, delay and missing advice (6)")
    harm_combine: Literal["noisy_or", "weighted_sum", "max", "none"] = Field(
        default="noisy_or", description="how the three tiers make one index; none: no index (6)"
    )
    harm_acuities: Literal["emergencies", "all"] = Field(
        default="emergencies", description="whether delay counts in emergencies only, or at every acuity (6)"
    )
    emergency_acuity: int = Field(default=2, ge=1, le=5, description="a truth of this acuity or a lower number is an emergency (6)")
    severe_delay: float = Field(default=0.75, gt=0, le=1, description="delay from which harm is severe (6)")
    case_contraindication: float = Field(
        default=1.0, ge=0, le=1, description="weight of a drug that the case itself lists as contraindicated, not saying how strongly (6)"
    )
    shown_harm_weights: tuple[HarmWeights, ...] = Field(
        default=((1.0, 0.75, 0.4), (1.0, 1.0, 1.0), (1.0, 0.5, 0.2)), description="weights under which the index is also shown (6, 17)"
    )

    @model_validator(mode="after")
    def _lists_make_sense(self) -> Self:
        if not self.top_k or any(k < 1 for k in self.top_k):
            raise ValueError("top_k needs ranks of 1 or more")
        if any(not 0 < theta <= 1 for theta in self.thetas):
            raise ValueError("thetas must be above 0 and at most 1")
        if any(not sum(weights) for weights in (self.harm_weights, *self.shown_harm_weights)):
            raise ValueError("harm weights need one above 0")
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
