"""Which cases of a source a run plays: a filter, then a sample that keeps the strata's shares."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from random import Random
from typing import Literal, Self

from pydantic import Field, model_validator

from ontology.documents import Strict
from ontology.errors import BedsideError
from simulator.case import PatientVector, Sex

Stratum = Literal["disease", "source", "split", "sex", "age", "difficulty", "setting"]
AGE_BANDS = (8, 18, 40, 65)
"""Lower ends of the bands above the first: patients below 8 speak through a caregiver (metrics.md 0b D11), the rest by convention."""


class CaseFilter(Strict):
    """Conditions that a case must meet, all of them; a list names what is allowed."""

    ids: list[str] | None = None
    sources: list[str] | None = None
    splits: list[str] | None = None
    diseases: list[str] | None = None
    sex: list[Sex] | None = None
    age_from: int | None = Field(default=None, ge=0)
    age_to: int | None = Field(default=None, ge=0)
    difficulty: list[Literal["easy", "medium", "hard"]] | None = None
    tags: list[str] | None = Field(default=None, description="a case with any of these")
    redistributable: bool | None = None

    def admits(self, case: PatientVector) -> bool:
        """Whether a case meets all conditions."""
        lists: list[tuple[Sequence[object] | None, object]] = [
            (self.ids, case.case_id),
            (self.sources, case.provenance.source),
            (self.splits, case.provenance.split),
            (self.diseases, case.ground_truth.disease_id),
            (self.sex, case.patient_facts.sex),
            (self.difficulty, case.difficulty),
        ]
        age = case.patient_facts.age
        return (
            all(allowed is None or value in allowed for allowed, value in lists)
            and (self.age_from is None or age >= self.age_from)
            and (self.age_to is None or age <= self.age_to)
            and (self.tags is None or not set(self.tags).isdisjoint(case.tags))
            and (self.redistributable is None or case.provenance.redistributable == self.redistributable)
        )


class Sample(Strict):
    """How many cases, by which strata: `size` in all, shares kept, or `per_stratum` of each."""

    size: int | None = Field(default=None, ge=1)
    per_stratum: int | None = Field(default=None, ge=1)
    by: list[Stratum] = Field(default_factory=list)
    seed: int = Field(default=1, ge=0)

    @model_validator(mode="after")
    def _one_size(self) -> Self:
        if (self.size is None) == (self.per_stratum is None):
            raise ValueError("give either size or per_stratum")
        if self.per_stratum is not None and not self.by:
            raise ValueError("per_stratum needs strata (by)")
        return self


def choose_cases(cases: Sequence[PatientVector], conditions: CaseFilter, sample: Sample | None, where: str) -> list[PatientVector]:
    """The cases that a run plays, in the order of their source.

    Args:
        cases: of the source.
        conditions: the filter.
        sample: of those that pass; None: all.
        where: what to name in an error.

    Raises:
        BedsideError: no case passes, an id that the filter names is not there, or fewer pass than the sample takes.
    """
    missing = set(conditions.ids or ()) - {case.case_id for case in cases}
    if missing:
        raise BedsideError(f"no case is called {min(missing)!r}", f"{where}: cases.filter.ids")
    found = [case for case in cases if conditions.admits(case)]
    if not found:
        raise BedsideError(f"none of {len(cases)} cases passes the filter", f"{where}: cases.filter")
    return found if sample is None else _sampled(found, sample, where)


def _sampled(cases: Sequence[PatientVector], sample: Sample, where: str) -> list[PatientVector]:
    strata: dict[tuple[str, ...], list[PatientVector]] = defaultdict(list)
    for case in cases:
        strata[tuple(STRATA[name](case) for name in sample.by)].append(case)
    if sample.size is not None:
        if sample.size > len(cases):
            what = f"a sample of {sample.size} was asked for, and {len(cases)} cases pass the filter"
            raise BedsideError(what, f"{where}: cases.sample.size")
        counts = shares({key: len(members) for key, members in strata.items()}, sample.size)
    else:
        counts = {key: min(sample.per_stratum or 0, len(members)) for key, members in strata.items()}
    chosen: set[str] = set()
    for key, members in strata.items():
        # by id, so that the order of the file does not matter; by stratum, so that one stratum's members do not move another's
        ids = sorted({case.case_id for case in members})
        chosen.update(Random(f"{sample.seed}:{key}").sample(ids, min(counts[key], len(ids))))
    return [case for case in cases if case.case_id in chosen]


def shares(sizes: Mapping[tuple[str, ...], int], total: int) -> dict[tuple[str, ...], int]:
    """How many of each stratum, in proportion, by largest remainders (Hamilton's method); ties go by name."""
    everything = sum(sizes.values())
    counts = {key: total * size // everything for key, size in sizes.items()}
    by_remainder = sorted(sizes, key=lambda key: (-(total * sizes[key] % everything), key))
    for key in by_remainder[: total - sum(counts.values())]:
        counts[key] += 1
    return counts


def _age_band(case: PatientVector) -> str:
    return str(sum(case.patient_facts.age >= lower for lower in AGE_BANDS))


STRATA: Mapping[Stratum, Callable[[PatientVector], str]] = {
    "disease": lambda case: case.ground_truth.disease_id,
    "source": lambda case: case.provenance.source,
    "split": lambda case: case.provenance.split or "",
    "sex": lambda case: case.patient_facts.sex,
    "age": _age_band,
    "difficulty": lambda case: case.difficulty or "",
    "setting": lambda case: case.setting or "",
}
