"""DialogueTrace: everything needed to recompute every score, sealed by a hash when its encounter ends."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import Field, JsonValue, model_validator

from ontology.documents import Document, Strict, content_hash
from ontology.mentions import Act, Mention

TerminationReason = Literal["examiner_committed", "budget", "examiner_error", "patient_error", "infrastructure_error", "abandoned"]
"""metrics.md 0b D4; only the first two are scored."""

SCORED_REASONS: frozenset[str] = frozenset({"examiner_committed", "budget"})

LeakClass = Literal["unlicensed", "history", "record", "trap"]

CLOCK_FIELDS = ("started_at", "finished_at", "sealed_sha256")
TURN_CLOCK_FIELDS = ("latency_ms",)


class Player(Strict):
    """Who plays a role, and with which settings."""

    kind: Literal["model", "human", "scripted", "reference", "embedded"]
    id: str
    model: str | None = None
    revision: str | None = None
    endpoint: str | None = Field(default=None, description="host of the endpoint, never a key")
    prompt_sha256: str | None = None
    sampling: dict[str, JsonValue] = Field(default_factory=dict)


class Budget(Strict):
    """How long an encounter may last."""

    max_turns: int = Field(default=20, ge=0, description="examiner turns before the final answer is due")
    max_concepts_per_turn: int = Field(default=3, ge=1, description="metrics.md E4")


class Usage(Strict):
    """Tokens as the endpoint counted them; null where it did not say."""

    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    requests: int = 0


class ProtocolNote(Strict):
    """Something irregular in an examiner's or patient's message, kept for the reader."""

    code: str
    detail: str | None = None


class Turn(Strict):
    """One message. `text` is what the other side saw."""

    idx: int = Field(ge=0)
    role: Literal["examiner", "patient", "record"]
    text: str
    acts: list[Act] = Field(default_factory=list)
    mentions: list[Mention] = Field(default_factory=list)
    latency_ms: int | None = None
    truncated_answer: bool = Field(default=False, description="more was asked than the cap of E4 answers")
    usage: Usage | None = None
    notes: list[ProtocolNote] = Field(default_factory=list)

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        ids = set()
        for mention in self.mentions:
            if mention.start > mention.end or self.text[mention.start : mention.end] != mention.surface:
                raise ValueError(f"turn {self.idx}: mention {mention.mention_id} does not match its span")
            if mention.dialogue_role in ("asked", "stated") and self.role != "examiner":
                raise ValueError(f"turn {self.idx}: only an examiner asks or states")
            ids.add(mention.mention_id)
        for act in self.acts:
            if not ids.issuperset(act.mentions):
                raise ValueError(f"turn {self.idx}: act {act.act_id} names a mention of another turn")
        return self


class RankedDiagnosis(Strict):
    """One entry of an answer; `icd10` as the examiner gave it."""

    name: str
    icd10: str | None = None
    prob: float | None = Field(default=None, ge=0, le=1)


class Snapshot(Strict):
    """A differential stated before the commit."""

    after_turn: int
    items: list[RankedDiagnosis]
    source: Literal["inline", "probe"] = "inline"


class FinalAnswer(Strict):
    """The structured answer that ends an encounter."""

    ranked: list[RankedDiagnosis] = Field(min_length=1, description="most likely first")
    confidence: float | None = Field(default=None, ge=0, le=1)
    triage_level: int | None = Field(default=None, ge=1, le=5, description="1 immediate … 5 non-urgent")
    tests: list[str] = Field(default_factory=list)
    treatments: list[str] = Field(default_factory=list)
    advice: list[str] = Field(default_factory=list)
    change_mind: str | None = Field(default=None, description="what would change the examiner's mind")


class LeakRecord(Strict):
    """A word of the truth that reached the examiner before the commit (metrics.md 0b D5)."""

    turn_idx: int
    leak_class: LeakClass
    surface: str
    term: str


class DialogueTrace(Document):
    """One encounter, from the opening to the commit. Scores and human annotations are stand-off, never in here (D8)."""

    schema_version: Literal["1.0"] = "1.0"
    trace_id: str
    case_id: str
    case_sha256: str
    pool_id: str
    pool_sha256: str
    match_id: str | None = None
    examiner: Player
    patient: Player
    budget: Budget
    seed: int
    kb_version: str
    software_version: str
    started_at: str
    finished_at: str
    turns: list[Turn]
    snapshots: list[Snapshot] = Field(default_factory=list)
    outcome: FinalAnswer | None = None
    forced_commit: bool = Field(default=False, description="the answer was demanded because the budget ended")
    termination: TerminationReason
    termination_detail: str | None = None
    leaks: list[LeakRecord] = Field(default_factory=list)
    usage: Usage = Usage()
    sealed_sha256: str | None = None

    @model_validator(mode="after")
    def _links_resolve(self) -> Self:
        seen: set[str] = set()
        for position, turn in enumerate(self.turns):
            if turn.idx != position:
                raise ValueError(f"turn {position} carries index {turn.idx}")
            for mention in turn.mentions:
                if mention.mention_id in seen:
                    raise ValueError(f"mention id {mention.mention_id} is used twice")
                if mention.links_to is not None and mention.links_to not in seen:
                    raise ValueError(f"mention {mention.mention_id} links to unknown {mention.links_to}")
                seen.add(mention.mention_id)
        if self.termination == "examiner_committed" and self.outcome is None:
            raise ValueError("committed without a final answer")
        return self

    def content_sha256(self) -> str:
        """Hash of the sealed content: all but the seal itself."""
        return content_hash(self.model_dump(mode="json", exclude={"sealed_sha256"}))

    def sealed(self) -> DialogueTrace:
        """A copy that carries its seal."""
        return self.model_copy(update={"sealed_sha256": self.content_sha256()})

    def seal_is_intact(self) -> bool:
        """Whether the trace is sealed and unchanged since."""
        return self.sealed_sha256 is not None and self.sealed_sha256 == self.content_sha256()

    def without_clock(self) -> dict[str, JsonValue]:
        """The trace as JSON without clock fields: equal for equal seeds."""
        raw = self.model_dump(mode="json", exclude=set(CLOCK_FIELDS))
        for turn in raw["turns"]:
            for field in TURN_CLOCK_FIELDS:
                turn.pop(field, None)
        return raw
