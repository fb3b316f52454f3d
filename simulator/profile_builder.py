"""`bedside profiles build`: count features over cases (metrics.md 2.2); aggregate counts, never rows."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable

from ontology.belief import age_band
from ontology.concepts import RECORD_KINDS
from ontology.errors import BedsideError
from ontology.profiles import AGE_BANDS, DiseaseProfile, Feature, ProfileHeader, ProfileSet
from ontology.vocabulary import Vocabulary
from simulator.case import PatientVector


def build_profiles(cases: Iterable[PatientVector], vocabulary: Vocabulary, profile_set: str = "counted") -> ProfileSet:
    """Count how often each finding occurs with each disease.

    Args:
        cases: closed-world cases; in an open world "not listed" is not "absent".
        vocabulary: names the concepts.
        profile_set: the set's name.

    Returns:
        profiles with k of n for every feature, sex and age bands; the header names the counted cases, so that scoring them is refused
        (D12).

    Raises:
        BedsideError: an open-world case, or no case at all.
    """
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    first: dict[str, PatientVector] = {}
    totals: Counter[str] = Counter()
    females: Counter[str] = Counter()
    ages: dict[str, list[int]] = defaultdict(lambda: [0] * len(AGE_BANDS))
    counted: list[str] = []
    splits: set[str] = set()
    licenses: set[str] = set()
    sources: set[str] = set()
    for case in cases:
        if case.provenance.world_assumption != "closed":
            raise BedsideError("frequencies cannot be counted over an open-world case", case.case_id, "leave such cases out")
        disease = case.ground_truth.disease_id
        first.setdefault(disease, case)
        totals[disease] += 1
        females[disease] += case.patient_facts.sex == "F"
        ages[disease][age_band(case.patient_facts.age)] += 1
        counts[disease].update(_present(case, vocabulary))
        counted.append(case.case_id)
        splits.add(case.provenance.split or "unknown")
        licenses.add(case.provenance.license)
        sources.add(case.provenance.source)
    if not counted:
        raise BedsideError("no case to count over")
    header = ProfileHeader(
        profile_set=profile_set,
        source=f"aggregate counts over {len(counted)} cases of {', '.join(sorted(sources))} ({', '.join(sorted(splits))})",
        license="; ".join(sorted(licenses)),
        vocabulary=vocabulary.version,
        counted_splits=sorted(splits),
        counted_sources=sorted(sources),
        counted_cases=sorted(counted),
    )
    profiles = [
        _profile(first[disease], totals[disease], females[disease], ages[disease], counts[disease], vocabulary) for disease in sorted(first)
    ]
    return ProfileSet(header, profiles)


def _present(case: PatientVector, vocabulary: Vocabulary) -> set[str]:
    return {
        vocabulary.canonical(fact.concept.cui)
        for fact in case.patient_facts.facts
        if fact.status == "present" and fact.attribute is None and fact.kind not in RECORD_KINDS and fact.askable
    }


def _profile(case: PatientVector, total: int, female: int, ages: list[int], counts: Counter[str], vocabulary: Vocabulary) -> DiseaseProfile:
    features = [
        Feature.model_validate({"concept": concept, "name": vocabulary.name(concept), "kind": vocabulary.kind(concept), "k": k, "n": total})
        for concept, k in sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    ]
    truth = case.ground_truth
    return DiseaseProfile(
        disease_id=truth.disease_id,
        name=truth.primary.name,
        icd10=truth.primary.icd10,
        acuity=truth.acuity,
        n=total,
        female=female,
        ages=ages,
        features=features,
    )
