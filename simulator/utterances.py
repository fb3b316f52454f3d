"""Utterances: the only words a patient may speak, keyed by concept or act (metrics.md 0b D9, D10)."""

from __future__ import annotations

import re
from typing import Literal, Self

from pydantic import Field, JsonValue, model_validator

from ontology.concepts import Attribute, ConceptId
from ontology.documents import Document, Strict
from simulator.case import Style, ValueClass

Polarity = Literal["affirm", "deny", "unsure", "volunteer"]
Form = Literal["precise", "colloquial", "direct", "third_party"]

MAX_WORDS = 60
SLOT = re.compile(r"\{([A-Za-z_]*)\}")
PERSON_SLOTS = frozenset({"he", "He", "him", "his", "His", "has", "is", "does", "was"})
VALUE_SLOTS = frozenset({"value", "name"})
ACT_SLOTS = frozenset({"age", "sex_word"})
SLOTS = PERSON_SLOTS | VALUE_SLOTS | ACT_SLOTS


class Generator(Strict):
    """Who wrote an utterance; pools mix, so each utterance says so."""

    kind: Literal["handwritten", "template", "model"] = "handwritten"
    model: str | None = None
    revision: str | None = None
    template_sha256: str | None = None
    sampling: dict[str, JsonValue] = Field(default_factory=dict)
    guard_version: str | None = None
    seed: int | None = None


class Utterance(Strict):
    """A sentence of the pool. Exactly one of `concept` and `act` is set; slots such as `{value}` are filled from the fact."""

    utt_id: str
    concept: ConceptId | None = None
    act: str | None = None
    attribute: Attribute | None = None
    value_class: ValueClass | None = None
    polarity: Polarity | None = None
    form: Form
    style: Style | None = None
    language: str = "en"
    text: str = Field(min_length=1)
    generator: Generator = Generator()
    validated_by: str | None = None

    @model_validator(mode="after")
    def _key(self) -> Self:
        if (self.concept is None) == (self.act is None):
            raise ValueError("an utterance is keyed by a concept or by an act, not both")
        if self.concept is not None and self.polarity is None:
            raise ValueError("an utterance of a concept needs a polarity")
        if len(self.text.split()) > MAX_WORDS:
            raise ValueError(f"more than {MAX_WORDS} words")
        unknown = {slot for slot in SLOT.findall(self.text)} - SLOTS
        if unknown:
            raise ValueError(f"unknown slots {sorted(unknown)}")
        return self


class UtterancePool(Document):
    """Utterances of one language, generic (`case_id` null) or of one case."""

    schema_version: Literal["1.0"] = "1.0"
    pool_id: str
    case_id: str | None = None
    language: str = "en"
    license: str
    source: str
    reviewed_by: str | None = None
    utterances: list[Utterance]

    @model_validator(mode="after")
    def _unique(self) -> Self:
        if len({u.utt_id for u in self.utterances}) != len(self.utterances):
            raise ValueError("utterance ids are not unique")
        return self
