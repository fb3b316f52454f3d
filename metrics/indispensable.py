"""What a diagnosis cannot be without, and what as good as proves one (metrics.md 5.2)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from pydantic import JsonValue

from metrics.answers import Outcome, is_primary
from metrics.basis import Basis
from metrics.crediting import CREDIT_PARAMS, named
from metrics.events import Finding
from metrics.knowledge import Knowledge
from metrics.params import ScoreParams
from metrics.scores import Score
from ontology.profiles import DiseaseProfile

NO_LIST = "no sine-qua-non list of the diagnosis"
VETO_PARAMS = ("veto", *CREDIT_PARAMS)
Standing = Literal["met", "contradicted", "omitted", "unsure"]


@dataclass(frozen=True)
class Demand:
    """One thing a disease cannot be without: any one of some concepts, or what a person must be (`met` then says whether it is so)."""

    concepts: tuple[str, ...]
    words: str
    met: bool | None = None


@dataclass(frozen=True)
class Veto:
    """How the demands of the answered disease stood at the commit; `disease` None: there is no list for it."""

    disease: str | None
    demands: tuple[tuple[Demand, Standing], ...]
    omission: bool
    contradiction: bool
    vetoed: bool

    def json(self, knowledge: Knowledge) -> dict[str, JsonValue]:
        """For the components of scores."""
        rows: list[JsonValue] = [
            {"demand": demand.words, "any_of": named(demand.concepts, knowledge.vocabulary), "standing": standing}
            for demand, standing in self.demands
        ]
        return {"disease": self.disease, "demands": rows, "omission": self.omission, "contradiction": self.contradiction}


NO_VETO = Veto(None, (), False, False, False)


def demands_of(knowledge: Knowledge, disease_id: str | None, age: int, sex: str, of_case: tuple[str, ...] = ()) -> tuple[Demand, ...]:
    """The sine-qua-non list of a disease.

    Args:
        knowledge: the curated tables.
        disease_id: the disease; None if the knowledge base does not know it.
        age: completed years.
        sex: as the case gives it.
        of_case: further concepts, from the case itself.
    """
    canonical = knowledge.vocabulary.canonical
    found = []
    rows = knowledge.clinical.sine_qua_non_of(disease_id) if knowledge.clinical is not None and disease_id is not None else ()
    for row in rows:
        if row.predicate is not None:
            found.append(Demand((), row.predicate, row.met_by(age, sex)))
        else:
            concepts = tuple(dict.fromkeys(canonical(concept) for concept in row.concepts))
            found.append(Demand(concepts, " or ".join(knowledge.vocabulary.name(concept) for concept in concepts)))
    own = [Demand((canonical(concept),), knowledge.vocabulary.name(concept)) for concept in of_case]
    return tuple(dict.fromkeys([*found, *own]))


def clinical_id(knowledge: Knowledge, profile: DiseaseProfile | None, codes: tuple[str, ...]) -> str | None:
    """The id under which the curated tables know a diagnosis: its profile's, else that of the listed disease whose codes it meets."""
    if profile is not None:
        return profile.disease_id
    icd, listed = knowledge.icd, knowledge.clinical_codes
    fitting = [key for key, own in listed.items() if codes and own and icd.is_same_or_descendant(codes, own)]
    return min(fitting, key=lambda key: (icd.sdd_sym(codes, listed[key]), key), default=None)


def standing_of(demand: Demand, known: Mapping[str, Finding], here: Basis) -> Standing:
    """Whether a demand was met, given what was known.

    One concept that is present meets it; all absent contradict it; otherwise it was omitted, unless one was asked without a clear answer.
    """
    if demand.met is not None:
        return "met" if demand.met else "contradicted"
    standings = [presence(concept, known, here) for concept in demand.concepts]
    if "present" in standings:
        return "met"
    if all(standing == "absent" for standing in standings):
        return "contradicted"
    return "unsure" if "unsure" in standings else "omitted"


def presence(concept: str, known: Mapping[str, Finding], here: Basis) -> Literal["present", "absent", "unsure"] | None:
    """What is known of a concept, by itself or by what it follows from (4.2): a narrower one present, a broader one absent."""
    found = known.get(concept)
    if found is not None and found.status != "unsure":
        return found.status
    credit = here.crediting.credit
    for other, finding in known.items():
        if finding.status == "present" and other != concept and credit(other, concept, "affirmed") == 1.0:
            return "present"
        if finding.status == "absent" and other != concept and credit(other, concept, "denied") == 1.0:
            return "absent"
    return "unsure" if found is not None else None


def read_veto(here: Basis, outcome: Outcome, predicted: DiseaseProfile | None) -> Veto:
    """Judge the first answer against what it cannot be without, by what was known when it was given."""
    first = outcome.first
    if first is None:
        return NO_VETO
    knowledge, facts = here.knowledge, here.case.patient_facts
    right = is_primary(first, outcome, knowledge.icd)
    disease = here.case.ground_truth.disease_id if right else clinical_id(knowledge, predicted, first.codes)
    of_case = tuple(here.case.ground_truth.sine_qua_non) if right else ()
    demands = demands_of(knowledge, disease, facts.age, facts.sex, of_case)
    if not demands:
        return NO_VETO
    known = here.interview.known_before(here.interview.commit_turn)
    judged = tuple((demand, standing_of(demand, known, here)) for demand in demands)
    omission = any(standing == "omitted" for _, standing in judged)
    contradiction = any(standing == "contradicted" for _, standing in judged)
    return Veto(disease, judged, omission, contradiction, _vetoed(here.stamp.params, omission, contradiction))


def _vetoed(params: ScoreParams, omission: bool, contradiction: bool) -> bool:
    if params.veto == "hard":
        return omission or contradiction
    return params.veto == "contradiction_only" and contradiction


def indispensable_scores(here: Basis, outcome: Outcome, veto: Veto) -> dict[str, Score]:
    """Sine-qua-non omission and contradiction with their vetoes; pathognomonic findings missed or ignored."""
    stamp = here.stamp
    told = veto.json(here.knowledge)
    correct = outcome.first is not None and is_primary(outcome.first, outcome, here.knowledge.icd)
    scores = {"acc_valid": stamp.score(correct and not veto.vetoed, {**told, "correct": correct, "vetoed": veto.vetoed}, VETO_PARAMS)}
    if veto.disease is None:
        reason = NO_LIST if outcome.first is not None else "not applicable: no diagnosis was given"
        scores |= {name: stamp.null(reason, uses=CREDIT_PARAMS) for name in ("sqn_omission", "sqn_contradiction")}
        scores["valid"] = stamp.null(reason, uses=VETO_PARAMS)
    else:
        scores["sqn_omission"] = stamp.score(veto.omission, told, CREDIT_PARAMS)
        scores["sqn_contradiction"] = stamp.score(veto.contradiction, told, CREDIT_PARAMS)
        scores["valid"] = stamp.score(not veto.vetoed, told, VETO_PARAMS)
    return scores | _pathognomonic_scores(here, outcome)


def _pathognomonic_scores(here: Basis, outcome: Outcome) -> dict[str, Score]:
    """PG(d*) in this patient: missed if none was known at the commit; ignored if one was affirmed and the truth is not on the list."""
    stamp, case, knowledge = here.stamp, here.case, here.knowledge
    canonical = knowledge.vocabulary.canonical
    listed = [canonical(concept) for concept in case.ground_truth.pathognomonic]
    if knowledge.clinical is not None:
        listed += [canonical(row.concept) for row in knowledge.clinical.pathognomonic_of(case.ground_truth.disease_id)]
    present = {canonical(fact.concept.cui) for fact in case.patient_facts.facts if fact.status == "present" and fact.attribute is None}
    own = [concept for concept in dict.fromkeys(listed) if concept in present]
    names = ("pathognomonic_miss", "pathognomonic_ignored")
    if here.interview.commit_turn is None:
        return {name: stamp.null("not applicable: no diagnosis was given", uses=CREDIT_PARAMS) for name in names}
    if not own:
        reason = "the patient has no listed pathognomonic feature" if listed else "no pathognomonic feature of the disease is listed"
        return {name: stamp.null(reason, uses=CREDIT_PARAMS) for name in names}
    known = here.interview.known_before(here.interview.commit_turn)
    standings = {concept: presence(concept, known, here) for concept in own}
    affirmed = [concept for concept, standing in standings.items() if standing == "present"]
    told: dict[str, JsonValue] = {"features": named(own, here.concepts), "affirmed": named(affirmed, here.concepts)}
    ranked = any(is_primary(answer, outcome, knowledge.icd) for answer in outcome.answers)
    return {
        "pathognomonic_miss": stamp.score(all(standing is None for standing in standings.values()), told, CREDIT_PARAMS),
        "pathognomonic_ignored": stamp.score(bool(affirmed) and not ranked, {**told, "truth_ranked": ranked}, CREDIT_PARAMS),
    }
