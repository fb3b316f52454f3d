"""A sealed trace as one flat row: what the index keeps and tables of encounters show. The text stays in the trace."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def encounter_row(raw: Mapping[str, Any]) -> dict[str, Any]:
    """The columns of an encounter.

    Args:
        raw: a trace as parsed JSON whose seal has been verified; validating it by the model again would take longer than all the rest.
    """
    ranked = (raw.get("outcome") or {}).get("ranked") or [{}]
    usage = raw.get("usage") or {}
    return {
        "trace_id": raw["trace_id"],
        "trace_sha256": raw["sealed_sha256"],
        "case_id": raw["case_id"],
        "case_sha256": raw["case_sha256"],
        "match_id": raw.get("match_id"),
        "examiner_kind": raw["examiner"]["kind"],
        "examiner_id": _storable(raw["examiner"]["id"]),
        "examiner_model": _storable(raw["examiner"].get("model")),
        "patient_id": _storable(raw["patient"]["id"]),
        "seed": str(raw["seed"]),
        "termination": raw["termination"],
        "forced_commit": raw.get("forced_commit", False),
        "examiner_turns": sum(turn["role"] == "examiner" for turn in raw["turns"]),
        "leaks": len(raw.get("leaks") or []),
        "top_diagnosis": _storable(ranked[0].get("name")),
        "top_icd10": _storable(ranked[0].get("icd10")),
        "prompt_tokens": usage.get("prompt_tokens"),
        "completion_tokens": usage.get("completion_tokens"),
        "requests": usage.get("requests", 0),
        "kb_version": raw["kb_version"],
        "software_version": raw["software_version"],
        "started_at": raw["started_at"],
        "finished_at": raw["finished_at"],
    }


def _storable(text: str | None) -> str | None:
    """Text as a database takes it: PostgreSQL stores no NUL, and neither stores half a surrogate pair."""
    return None if text is None else text.replace("\0", "\ufffd").encode("utf-8", "replace").decode()
