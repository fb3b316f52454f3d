"""From names and options to the objects of an encounter."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from importlib.metadata import PackageNotFoundError, version

from ontology.profiles import ProfileSet
from ontology.versions import kb_version
from ontology.vocabulary import Vocabulary, default_vocabulary
from simulator.case import Diagnosis, PatientVector
from simulator.encounter import Clock, Setting, run_encounter, trace_id_of
from simulator.leaks import LeakGuard, truth_terms
from simulator.patients import EmbeddedPatient
from simulator.pools import PoolIndex, bundled_pool
from simulator.protocols import Examiner, TurnObserver
from simulator.trace import Budget, DialogueTrace
from simulator.utterances import Utterance


@lru_cache(maxsize=1)
def software_version() -> str:
    """The installed version of Bedside."""
    try:
        return version("bedside")
    except PackageNotFoundError:
        return "0+unknown"


@dataclass(frozen=True)
class Ward:
    """What all encounters of a run share: vocabulary, pool and their versions."""

    vocabulary: Vocabulary
    pool: PoolIndex
    pool_id: str
    pool_sha256: str

    def kb_version(self, profiles: ProfileSet) -> str:
        """The version of all knowledge that a score rests on."""
        return kb_version(profiles, self.vocabulary)


@lru_cache(maxsize=1)
def default_ward() -> Ward:
    """The bundled vocabulary and pool."""
    pool = bundled_pool()
    return Ward(default_vocabulary(), PoolIndex([pool]), pool.pool_id, pool.sha256())


def icd_titles(diagnosis: Diagnosis) -> Iterable[str]:
    """Titles of a diagnosis' codes and of their siblings (metrics.md 0b D5)."""
    from ontology.icd10 import icd_tree, normalise

    tree = icd_tree()
    for code in normalise(", ".join(diagnosis.icd10)).codes:
        lineage = tree.lineage(code)
        yield lineage[-1].title
        if len(lineage) > 1:
            parent = lineage[-2]
            yield from (tree.title(sibling) for sibling in tree.children(parent.code, parent.level))


def leak_guard(case: PatientVector, vocabulary: Vocabulary) -> LeakGuard:
    """The guard of a case's truth."""
    return LeakGuard(truth_terms(case.ground_truth, icd_titles), vocabulary.kind)


def safe_pool(pool: PoolIndex, guard: LeakGuard) -> PoolIndex:
    """The pool without utterances that would give this case's truth away unlicensed."""

    def leaks(utterance: Utterance) -> bool:
        return not guard.licensed(utterance.concept) and bool(guard.hits(utterance.text))

    return pool.without(leaks)


@dataclass(frozen=True)
class Bed:
    """One encounter, built and ready to be run."""

    case: PatientVector
    examiner: Examiner
    patient: EmbeddedPatient
    setting: Setting
    vocabulary: Vocabulary
    guard: LeakGuard

    @cached_property
    def trace_id(self) -> str:
        """The id its trace will have."""
        return trace_id_of(self.case, self.examiner, self.patient, self.setting)

    async def run(self, observer: TurnObserver | None = None, clock: Clock | None = None) -> DialogueTrace:
        """Play it."""
        return await run_encounter(self.case, self.examiner, self.patient, self.setting, self.vocabulary, self.guard, observer, clock)


def make_bed(case: PatientVector, examiner: Examiner, ward: Ward, profiles: ProfileSet, budget: Budget, seed: int) -> Bed:
    """Put an examiner before a case with the embedded patient."""
    guard = leak_guard(case, ward.vocabulary)
    patient = EmbeddedPatient(case.patient_side(), safe_pool(ward.pool, guard), ward.vocabulary, budget.max_concepts_per_turn)
    setting = Setting(
        budget=budget,
        seed=seed,
        kb_version=ward.kb_version(profiles),
        pool_id=ward.pool_id,
        pool_sha256=ward.pool_sha256,
        software_version=software_version(),
    )
    return Bed(case, examiner, patient, setting, ward.vocabulary, guard)
