"""Small commands: versions and schemas."""

from __future__ import annotations

import json

from ontology.errors import BedsideError
from ui.console import say


def show_version() -> None:
    """Versions of the software and of all knowledge."""
    from metrics.scores import SCORER_VERSION
    from ontology.icd10 import icd_tree
    from ontology.profiles import bundled_ddxplus_profiles, curated_profiles
    from simulator.build import default_ward, software_version

    ward = default_ward()
    say(f"bedside {software_version()}")
    say(f"scorer {SCORER_VERSION}")
    say(f"vocabulary {ward.vocabulary.version} (HPO {ward.vocabulary.hpo_version})")
    say(f"pool {ward.pool_id} {ward.pool_sha256[:16]}")
    say(f"profiles ddxplus {bundled_ddxplus_profiles().version}, curated {curated_profiles().version}")
    say(f"icd-10 {icd_tree().table.version}")


def show_schema(name: str | None) -> None:
    """The JSON Schema of a stored document, or the list of documents."""
    from metrics.scores import Scorecard
    from ontology.profiles import ProfileHeader
    from simulator.case import ExaminerView, PatientSide, PatientVector, Sealed
    from simulator.store import RunRecord
    from simulator.trace import DialogueTrace
    from simulator.utterances import UtterancePool

    documents = {
        model.__name__: model
        for model in (PatientVector, ExaminerView, PatientSide, Sealed, UtterancePool, DialogueTrace, Scorecard, ProfileHeader, RunRecord)
    }
    if name is None:
        for known in documents:
            say(known)
        return
    if name not in documents:
        raise BedsideError(f"no document is called {name!r}", "schema", f"known: {', '.join(documents)}")
    say(json.dumps(documents[name].model_json_schema(), indent=2, ensure_ascii=False))
