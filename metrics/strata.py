"""Groups of cases within which examiners are compared: by source, urgency, frequency, patient, style, trap, and kind of twin."""

from __future__ import annotations

from metrics.knowledge import Knowledge
from ontology.profiles import ProfileSet
from simulator.case import PatientVector

STRATA = ("source", "acuity", "frequency", "sex", "age", "style", "trap", "twin")

AGES = ((18, "0-17"), (40, "18-39"), (65, "40-64"))
OLDEST = "65 and over"
THIRDS = ("frequent third of diseases", "middle third of diseases", "rare third of diseases")
NOT_COUNTED = "not counted"


def strata_of(case: PatientVector, knowledge: Knowledge) -> dict[str, str]:
    """The group of a case in every stratum of `STRATA`.

    `frequency` is the third of the profile set's diseases that the true one falls into, by the patients counted in it; sets that were not
    counted say nothing of it. `trap` says whether a misleading fact was put into the case, `twin` whether it is a variant of another case.

    Args:
        case: the case.
        knowledge: the knowledge its scores rest on.
    """
    facts, style = case.patient_facts.facts, case.presentation.style
    trapped = any(fact.distractor or fact.status_source == "trap" for fact in facts)
    words = "plain" if style is None else f"{style.medical_knowledge} knowledge, {style.clarity} clarity, {style.communication}"
    return {
        "source": case.provenance.source,
        "acuity": f"{case.ground_truth.acuity} ({case.ground_truth.acuity_scale})",
        "frequency": frequency_of(case.ground_truth.disease_id, knowledge.profiles),
        "sex": case.patient_facts.sex,
        "age": next((name for below, name in AGES if case.patient_facts.age < below), OLDEST),
        "style": words,
        "trap": "trap" if trapped else "no trap",
        "twin": "variant" if case.provenance.derived_from else "base case",
    }


def frequency_of(disease_id: str, profiles: ProfileSet) -> str:
    """The third of a profile set's diseases, by patients counted, that a disease falls into."""
    counts = sorted(((profile.n, key) for key, profile in profiles.profiles.items() if profile.n), reverse=True)
    order = [key for _, key in counts]
    if disease_id not in order:
        return NOT_COUNTED
    return THIRDS[min(2, 3 * order.index(disease_id) // len(order))]
