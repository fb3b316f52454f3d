"""The pool that ships with Bedside: every line of data/pools, written by hand."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from pydantic import ValidationError

from ontology.documents import content_hash, problems
from ontology.errors import BedsideError
from ontology.resources import bundled_files, json_lines
from simulator.utterances import Utterance, UtterancePool


def utterance_from_line(raw: Any, place: str) -> Utterance:
    """An utterance from its short form; the id is a hash of key and text.

    Raises:
        BedsideError: the line does not fit.
    """
    if not isinstance(raw, dict):
        raise BedsideError("an utterance must be a JSON object", place)
    try:
        return Utterance.model_validate({"utt_id": "u-" + content_hash(raw)[:12], **raw})
    except ValidationError as error:
        raise BedsideError(f"not a valid utterance: {problems(error)}", place) from None


@lru_cache(maxsize=1)
def bundled_pool() -> UtterancePool:
    """All bundled utterances of English, each once."""
    found: dict[str, Utterance] = {}
    for file in bundled_files("pools", ".jsonl"):
        for place, raw in json_lines(file.read_text(encoding="utf-8"), f"data/pools/{file.name}"):
            utterance = utterance_from_line(raw, place)
            found.setdefault(utterance.utt_id, utterance)
    return UtterancePool(
        pool_id="bedside-en",
        license="Apache-2.0",
        source="written by hand for Bedside; not reviewed by a clinician",
        utterances=list(found.values()),
    )
