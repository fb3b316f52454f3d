"""What is found in a turn: mentions of concepts with code-point spans, and dialogue acts."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, JsonValue

from ontology.concepts import Attribute, ConceptId
from ontology.documents import Strict

Answer = Literal["affirmed", "denied", "unsure", "unanswered"]
"""The one vocabulary of answers (metrics.md 0b D9)."""

DialogueRole = Literal["asked", "affirmed", "denied", "unsure", "volunteered", "stated"]

ActType = Literal[
    "ask",
    "answer",
    "volunteer",
    "state",
    "diagnose",
    "advise",
    "treat",
    "order_test",
    "triage",
    "empathy",
    "meta",
    "close",
]


class Mention(Strict):
    """A stretch of a turn's text that means a concept; `text[start:end] == surface` in code points."""

    mention_id: str
    start: int = Field(ge=0)
    end: int = Field(ge=0)
    surface: str
    cui: ConceptId
    alt_cuis: list[ConceptId] = Field(default_factory=list)
    score: float = Field(default=1.0, ge=0, le=1)
    matcher: Literal["quickumls", "lexicon", "llm", "pool", "human", "id"]
    attribute: Attribute | None = None
    polarity: Literal["present", "absent", "unknown", "queried"]
    certainty: Literal["certain", "uncertain"] = "certain"
    temporality: Literal["current", "historical", "hypothetical"] = "current"
    experiencer: Literal["patient", "family", "other"] = "patient"
    dialogue_role: DialogueRole
    links_to: str | None = Field(default=None, description="the asked mention this one answers")
    fact_id: str | None = None
    utt_id: str | None = None


class Act(Strict):
    """A dialogue act; `mentions` are ids of mentions of the same turn."""

    act_id: str
    type: ActType
    mentions: list[str] = Field(default_factory=list)
    open_ended: bool = False
    payload: dict[str, JsonValue] = Field(default_factory=dict)
