"""What determines a run's results, as its run folder stores it."""

from __future__ import annotations

from collections.abc import Iterable

from pydantic import JsonValue

from ontology.documents import content_hash
from simulator.trace import Budget, Player


def fingerprint(
    *,
    software_version: str,
    case_hashes: Iterable[str],
    pool_sha256: str,
    kb_version: str,
    examiners: Iterable[Player],
    patients: Iterable[Player],
    budget: Budget,
    seeds: Iterable[int],
) -> dict[str, JsonValue]:
    """All that determines a run, as its run folder stores it; the order of cases, players and seeds does not matter.

    Args:
        software_version: of Bedside.
        case_hashes: `PatientVector.sha256()` of every case; consumed.
        pool_sha256: of the utterances in use.
        kb_version: of the disease profiles.
        examiners: as the traces name them.
        patients: as the traces name them.
        budget: of every encounter.
        seeds: one encounter each, for every case and examiner.
    """
    hashes = sorted(case_hashes)
    return {
        "software_version": software_version,
        "cases": {"count": len(hashes), "sha256": content_hash(hashes)},
        "pool_sha256": pool_sha256,
        "kb_version": kb_version,
        "examiners": _players(examiners),
        "patients": _players(patients),
        "budget": budget.model_dump(mode="json"),
        "seeds": [*sorted(seeds)],
    }


def _players(players: Iterable[Player]) -> list[JsonValue]:
    return [*sorted((player.model_dump(mode="json") for player in players), key=lambda raw: (raw["id"], content_hash(raw)))]
