"""What the scores of elicitation and reasoning start from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from metrics.crediting import CREDIT_PARAMS, Crediting, Relevant, features_of
from metrics.events import Interview
from metrics.knowledge import Concepts, Knowledge
from metrics.scores import Stamp
from ontology.profiles import DiseaseProfile
from simulator.case import PatientVector

SET_PARAMS = (*CREDIT_PARAMS, "missing_weight", "askable")
NO_QUESTIONS = "no clinical question was asked"
NO_FEATURES = "the relevance set is empty"


@dataclass(frozen=True)
class Basis:
    """What all scores of this family start from; `profile` is the truth's, None if the knowledge base has none."""

    interview: Interview
    case: PatientVector
    knowledge: Knowledge
    stamp: Stamp
    crediting: Crediting
    profile: DiseaseProfile | None
    relevant: tuple[Relevant, ...]
    max_turns: int | None = None

    @property
    def concepts(self) -> Concepts:
        """The vocabulary."""
        return self.knowledge.vocabulary

    def relevance(self, profile: DiseaseProfile) -> tuple[Relevant, ...]:
        """R_d of a disease, without this case's chief complaint (`relevance_set`)."""
        return _relevance(profile, self.interview, self.knowledge, self.stamp)

    @property
    def missing(self) -> str:
        """Why there is no relevance set."""
        return f"no profile of {self.case.ground_truth.disease_id}" if self.profile is None else NO_FEATURES


@dataclass(frozen=True)
class Candidates:
    """Diseases worth asking about beside the truth, and where they come from: the case's differential, or the belief at the opening."""

    profiles: tuple[DiseaseProfile, ...] = ()
    source: Literal["differential", "belief"] = "differential"


def with_candidates(here: Basis, live: Candidates) -> tuple[Relevant, ...]:
    """R_ddx: the features of the truth and of all candidates, each once with its largest weight."""
    found = {item.concept: item for item in here.relevant}
    for profile in live.profiles:
        for item in here.relevance(profile):
            if item.concept not in found or found[item.concept].weight < item.weight:
                found[item.concept] = item
    return tuple(sorted(found.values(), key=lambda item: (-item.weight, item.concept)))


def basis(interview: Interview, case: PatientVector, knowledge: Knowledge, stamp: Stamp, max_turns: int | None = None) -> Basis:
    """Look up the truth's profile and its relevance set; `max_turns` is the examiner's budget."""
    profile = knowledge.profiles.get(case.ground_truth.disease_id)
    relevant: tuple[Relevant, ...] = ()
    if profile is not None:
        relevant = _relevance(profile, interview, knowledge, stamp)
    crediting = Crediting(knowledge.vocabulary, stamp.params, knowledge.links(stamp.params.hmax))
    return Basis(interview, case, knowledge, stamp, crediting, profile, relevant, max_turns)


def _relevance(profile: DiseaseProfile, interview: Interview, knowledge: Knowledge, stamp: Stamp) -> tuple[Relevant, ...]:
    known = set(interview.chief_complaint)
    every = knowledge.derived(
        ("features", profile.disease_id, stamp.params), profile, lambda: features_of(profile, knowledge.vocabulary, stamp.params)
    )
    return tuple(item for item in every if item.concept not in known)
