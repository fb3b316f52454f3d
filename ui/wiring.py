"""Where encounters, knowledge and scores meet: from names on the command line or the page to objects."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator, Sequence
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
from simulator.batch import Job, Lane
from simulator.build import Bed, default_ward, make_bed
from simulator.case import PatientVector
from simulator.cases_io import read_cases
from simulator.endpoint import Endpoint
from simulator.examiners.policies import KNOWING, POLICIES, Policy
from simulator.examiners.reference import ReferenceExaminer
from simulator.examiners.scripted import read_script
from simulator.protocols import Examiner, TurnObserver
from simulator.throttle import Throttle
from simulator.trace import Budget, DialogueTrace

if TYPE_CHECKING:
    from simulator.chat import ChatClient
    from simulator.response_cache import ResponseCache

BUNDLED_CASES = ("starter", "ddxplus-form")
DEFAULT_CONCURRENCY = 8
REFERENCE_LANE = "reference examiners"
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
class Price:
    """What a million tokens of a model cost."""

    prompt: float
    completion: float
    currency: str = "USD"

    def of(self, prompt_tokens: float, completion_tokens: float) -> float:
        """What so many tokens cost."""
        return (prompt_tokens * self.prompt + completion_tokens * self.completion) / 1e6


@dataclass(frozen=True)
class ExaminerSpec:
    """An examiner as the user named it: a policy, `script:FILE`, or a model with an endpoint.

    Models with the same `lane` share an endpoint: its places, its throttle and its breaker.
    """

    name: str
    endpoint: Endpoint | None = None
    lane: str = REFERENCE_LANE
    concurrency: int = DEFAULT_CONCURRENCY
    price: Price | None = None
    system_prompt: str | None = None
    revision: str | None = None

    @property
    def label(self) -> str:
        """How results name it; a script's is told by the script itself."""
        return self.endpoint.name if self.endpoint is not None else self.name


def reference_names() -> tuple[str, ...]:
    """Examiners that need no model, by name."""
    return (*POLICIES, *KNOWING)


class ExaminerFactory:
    """Builds examiners; a policy's knowledge depends on the case, everything else is shared."""

    def __init__(self, shelf: Bookshelf, tell: Callable[[str], None] | None = None) -> None:
        self._shelf = shelf
        self._ready: dict[tuple[str, str], Examiner] = {}
        self._clients: list[ChatClient] = []
        self._tell = tell
        self.throttles: dict[str, Throttle] = {}
        """by lane"""
        self.cache: ResponseCache | None = None
        """for all model examiners; to be set before the first is made, closed with them"""

    async def aclose(self) -> None:
        """Close the connections of model examiners."""
        for client in self._clients:
            await client.aclose()
        if self.cache is not None:
            self.cache.close()

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

            throttle = self.throttles.setdefault(spec.lane, Throttle(spec.concurrency))
            client = ChatClient(spec.endpoint, throttle=throttle, tell=self._tell, cache=self.cache, revision=spec.revision)
            self._clients.append(client)
            return ModelExaminer(client, spec.system_prompt, spec.revision)
        known = ", ".join([*reference_names(), "script:FILE", "model"])
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

    def lanes(self) -> list[Lane]:
        """The run's encounters by the endpoint that serves them."""
        by_lane: dict[str, list[ExaminerSpec]] = {}
        for spec in self.examiners:
            by_lane.setdefault(spec.lane, []).append(spec)
        return [Lane(name, self._jobs(specs), specs[0].concurrency) for name, specs in by_lane.items()]

    def _jobs(self, specs: Sequence[ExaminerSpec]) -> Iterator[Job]:
        for case in self.cases:
            for spec in specs:
                for seed in self.seeds:
                    bed = self.bed(case, spec, seed)
                    yield Job(bed.trace_id, bed.examiner.player.id, _Play(self, case, spec, seed, bed))

    def bed(self, case: PatientVector, spec: ExaminerSpec, seed: int) -> Bed:
        """One encounter, built."""
        return make_bed(case, self.factory.make(spec, case), default_ward(), self.shelf.profiles(case), self.budget, seed)

    def size(self) -> int:
        """How many encounters."""
        return len(self.cases) * len(self.examiners) * len(self.seeds)


@dataclass
class _Play:
    """Plays an encounter; between two tries it holds no more than how to build it again."""

    plan: RunPlan
    case: PatientVector
    spec: ExaminerSpec
    seed: int
    bed: Bed | None

    async def __call__(self, observer: TurnObserver) -> DialogueTrace:
        # Reference examiners wait for nothing: without this an interrupt would be heard only after the last encounter.
        await asyncio.sleep(0)
        bed, self.bed = self.bed or self.plan.bed(self.case, self.spec, self.seed), None
        return await bed.run(observer)
