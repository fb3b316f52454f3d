"""Where encounters, knowledge and scores meet: from names on the command line or the page to objects."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from metrics.knowledge import Knowledge
from ontology.belief import BeliefModel
from ontology.errors import BedsideError
from ontology.profiles import ProfileSet, load_profiles
from ontology.resources import bundled, bundled_files
from ontology.vocabulary import default_vocabulary
from simulator.batch import Job
from simulator.build import Bed, Ward, default_ward, make_bed
from simulator.case import PatientVector
from simulator.cases_io import read_cases
from simulator.endpoint import Endpoint
from simulator.examiners.policies import KNOWING, POLICIES, Policy
from simulator.examiners.reference import ReferenceExaminer
from simulator.examiners.scripted import read_script
from simulator.protocols import Examiner, TurnObserver
from simulator.trace import Budget, DialogueTrace

if TYPE_CHECKING:
    from simulator.chat import ChatClient

BUNDLED_CASES = ("starter", "ddxplus-form")
AUTO = "auto"


@lru_cache(maxsize=1)
def starter_cases() -> tuple[PatientVector, ...]:
    """The cases written by us."""
    return tuple(PatientVector.from_json(file.read_text(encoding="utf-8"), file.name) for file in bundled_files("cases/starter", ".json"))


@lru_cache(maxsize=1)
def form_cases() -> tuple[PatientVector, ...]:
    """Invented patients in the form of a DDXPlus release, through the importer."""
    from importlib.resources import as_file

    from simulator.sources.ddxplus import DdxplusImporter, ImportReport
    from simulator.sources.ddxplus_files import patient_files, read_release
    from simulator.sources.ddxplus_tables import ddxplus_tables

    ward = default_ward()
    report = ImportReport()
    with as_file(bundled("ddxplus_form")) as folder:
        importer = DdxplusImporter(read_release(folder), ddxplus_tables(), ward.pool, ward.vocabulary, "form-1")
        cases = tuple(case for path in patient_files(folder) for case in importer.cases(path, report))
    if report.broken:
        raise BedsideError("a bundled case is broken: " + report.broken[0], "data/ddxplus_form", "install Bedside again")
    return cases


def load_cases(spec: str) -> list[PatientVector]:
    """Cases by the name of a bundled set, or from a file or folder.

    Raises:
        BedsideError: no such set or file, a broken case, or none at all.
    """
    if spec == "starter":
        return list(starter_cases())
    if spec == "ddxplus-form":
        return list(form_cases())
    if not Path(spec).exists():
        raise BedsideError("no such file, folder or bundled set", spec, f"bundled sets: {', '.join(BUNDLED_CASES)}")
    cases = list(read_cases(spec))
    if not cases:
        raise BedsideError("holds no case", spec)
    return cases


def bundled_cases() -> list[PatientVector]:
    """All cases that ship."""
    return [*starter_cases(), *form_cases()]


def profile_name(case: PatientVector) -> str:
    """The bundled profile set that knows a case's disease: DDXPlus' counts for its cases, our table for the others (metrics.md 2.2)."""
    return "ddxplus" if case.provenance.source == "ddxplus" else "curated"


@dataclass(frozen=True)
class Bookshelf:
    """Profile sets by choice: one for all cases, or each case's own."""

    choice: str = AUTO

    def profiles(self, case: PatientVector) -> ProfileSet:
        """The profile set of a case."""
        return _profiles(profile_name(case) if self.choice == AUTO else self.choice)

    def knowledge(self, case: PatientVector) -> Knowledge:
        """The knowledge that scores of a case rest on."""
        return _knowledge(profile_name(case) if self.choice == AUTO else self.choice)

    def model(self, case: PatientVector) -> BeliefModel:
        """The belief model of a case's profile set."""
        return _model(profile_name(case) if self.choice == AUTO else self.choice)

    def check(self, cases: Iterable[PatientVector]) -> None:
        """Refuse to score cases that the profiles were counted on (D12).

        Raises:
            BedsideError: there is an overlap.
        """
        for case in cases:
            profiles = self.profiles(case)
            ids = [case.case_id, *([case.provenance.derived_from] if case.provenance.derived_from else [])]
            if profiles.counted_on(ids, case.provenance.source, case.provenance.split):
                raise BedsideError(
                    f"the profiles {profiles.header.profile_set!r} were counted on this very case or on its split",
                    case.case_id,
                    "count profiles on another split: bedside profiles build --help",
                )


@lru_cache(maxsize=8)
def _profiles(name: str) -> ProfileSet:
    return load_profiles(name)


@lru_cache(maxsize=8)
def _knowledge(name: str) -> Knowledge:
    return Knowledge.of(_profiles(name), default_vocabulary())


@lru_cache(maxsize=8)
def _model(name: str) -> BeliefModel:
    return BeliefModel(_profiles(name), default_vocabulary())


@dataclass(frozen=True)
class ExaminerSpec:
    """An examiner as the user named it: a policy, `script:FILE`, or `model` with an endpoint."""

    name: str
    endpoint: Endpoint | None = None


class ExaminerFactory:
    """Builds examiners; a policy's knowledge depends on the case, everything else is shared."""

    def __init__(self, shelf: Bookshelf) -> None:
        self._shelf = shelf
        self._ready: dict[tuple[str, str], Examiner] = {}
        self._clients: list[ChatClient] = []

    async def aclose(self) -> None:
        """Close the connections of model examiners."""
        for client in self._clients:
            await client.aclose()

    def make(self, spec: ExaminerSpec, case: PatientVector) -> Examiner:
        """The examiner for a case.

        Raises:
            BedsideError: no examiner of that name.
        """
        version = self._shelf.profiles(case).version
        known = {**dict.fromkeys(POLICIES, version), **dict.fromkeys(KNOWING, f"{version}:{case.ground_truth.disease_id}")}
        key = (spec.name, known.get(spec.name, ""))
        if key not in self._ready:
            self._ready[key] = self._build(spec, case)
        return self._ready[key]

    def _build(self, spec: ExaminerSpec, case: PatientVector) -> Examiner:
        if spec.name in POLICIES:
            return ReferenceExaminer(POLICIES[spec.name](self._shelf.model(case)), default_vocabulary())
        if spec.name in KNOWING:
            return ReferenceExaminer(self._knowing(spec.name, case), default_vocabulary())
        if spec.name.startswith("script:"):
            return read_script(Path(spec.name.removeprefix("script:")))
        if spec.endpoint is not None:
            from simulator.chat import ChatClient
            from simulator.examiners.model import ModelExaminer

            client = ChatClient(spec.endpoint)
            self._clients.append(client)
            return ModelExaminer(client)
        known = ", ".join([*POLICIES, *KNOWING, "script:FILE", "model"])
        raise BedsideError(f"no examiner is called {spec.name!r}", "--examiner", f"known: {known}")

    def _knowing(self, name: str, case: PatientVector) -> Policy:
        model, truth = self._shelf.model(case), case.ground_truth.disease_id
        if truth not in model.diseases:
            raise BedsideError(f"the profiles do not know {truth!r}, which {name} has to be told", case.case_id, "choose other profiles")
        return KNOWING[name](model, truth)


@dataclass(frozen=True)
class RunPlan:
    """A run: every case with every examiner and every seed."""

    cases: Sequence[PatientVector]
    examiners: Sequence[ExaminerSpec]
    seeds: Sequence[int]
    budget: Budget
    shelf: Bookshelf
    factory: ExaminerFactory

    def beds(self) -> Iterator[Bed]:
        """Every encounter, built."""
        ward: Ward = default_ward()
        for case in self.cases:
            for spec in self.examiners:
                for seed in self.seeds:
                    yield make_bed(case, self.factory.make(spec, case), ward, self.shelf.profiles(case), self.budget, seed)

    def jobs(self) -> Iterator[Job]:
        """Every encounter as a job of the batch engine."""
        for bed in self.beds():
            yield Job(bed.trace_id, bed.examiner.player.id, _play(bed))

    def size(self) -> int:
        """How many encounters."""
        return len(self.cases) * len(self.examiners) * len(self.seeds)


def _play(bed: Bed) -> Callable[[TurnObserver], Awaitable[DialogueTrace]]:
    async def play(observer: TurnObserver) -> DialogueTrace:
        # Reference examiners wait for nothing: without this an interrupt would be heard only after the last encounter.
        await asyncio.sleep(0)
        return await bed.run(observer)

    return play
