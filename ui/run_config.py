"""The definition of a run in a TOML file: `bedside run --config run.toml`. See docs/runs.md."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Self

from pydantic import Field, ValidationError, model_validator

from ontology.documents import Strict, problems
from ontology.errors import BedsideError
from simulator.case import PatientVector
from simulator.endpoint import Endpoint
from simulator.trace import Budget
from ui.case_choice import CaseFilter, Sample, choose_cases
from ui.console import note
from ui.wiring import DEFAULT_CONCURRENCY, Bookshelf, ExaminerFactory, ExaminerSpec, Price, RunPlan, load_cases, reference_names

LARGEST_FILE = 1_000_000


class CasesPart(Strict):
    """`[cases]`."""

    source: str | list[str] = "starter"
    filter: CaseFilter = Field(default_factory=CaseFilter)
    sample: Sample | None = None
    limit: int | None = Field(default=None, ge=1)


class EndpointPart(Strict):
    """An `[[endpoints]]` table: where models answer, and how many requests at once."""

    name: str = Field(min_length=1)
    base_url: str
    api_key_env: str | None = None
    concurrency: int = Field(default=DEFAULT_CONCURRENCY, ge=1, le=4096)
    timeout_s: float = 120.0
    max_retries: int = 5
    trusted: bool = False


class PricePart(Strict):
    """What a million tokens cost."""

    prompt: float = Field(ge=0)
    completion: float = Field(ge=0)
    currency: str = "USD"


class ExaminerPart(Strict):
    """An `[[examiners]]` table: a reference examiner by its name alone, or a model by endpoint and model."""

    name: str = Field(min_length=1)
    endpoint: str | None = None
    model: str | None = None
    revision: str | None = Field(default=None, description="of the weights, as you know it; part of the fingerprint")
    temperature: float | None = None
    top_p: float | None = None
    max_tokens: int | None = 2048
    seed: int | None = None
    system_prompt: str | None = Field(default=None, description="a Jinja2 file in place of the bundled prompt, beside the definition")
    price: PricePart | None = None

    @model_validator(mode="after")
    def _whole(self) -> Self:
        if (self.endpoint is None) != (self.model is None):
            raise ValueError(f"examiner {self.name!r}: endpoint and model belong together")
        return self


class PatientPart(Strict):
    """`[patient]`."""

    kind: Literal["embedded"] = "embedded"


class RunDefinition(Strict):
    """The whole file."""

    out: str | None = None
    profiles: str = "auto"
    seeds: list[int] = Field(default_factory=lambda: [1], min_length=1)
    repeats: int | None = Field(default=None, ge=1, description="seeds per case from the one seed given: seed, seed+1, …")
    concurrency: int = Field(default=DEFAULT_CONCURRENCY, ge=1, description="of reference examiners")
    cases: CasesPart = Field(default_factory=CasesPart)
    budget: Budget = Field(default_factory=Budget)
    patient: PatientPart = Field(default_factory=PatientPart)
    endpoints: list[EndpointPart] = Field(default_factory=list)
    examiners: list[ExaminerPart] = Field(min_length=1)

    @model_validator(mode="after")
    def _names(self) -> Self:
        for what, names in (("endpoints", [e.name for e in self.endpoints]), ("examiners", [e.name for e in self.examiners])):
            twice = next((name for name in names if names.count(name) > 1), None)
            if twice is not None:
                raise ValueError(f"two {what} are called {twice!r}")
        if len(set(self.seeds)) != len(self.seeds) or min(self.seeds) < 0:
            raise ValueError("seeds must be different and not negative")
        if self.repeats is not None and len(self.seeds) != 1:
            raise ValueError("repeats counts on from one seed; give one, or all seeds without repeats")
        known = {endpoint.name for endpoint in self.endpoints}
        for examiner in self.examiners:
            if examiner.endpoint is not None and examiner.endpoint not in known:
                raise ValueError(f"examiner {examiner.name!r}: no [[endpoints]] table is called {examiner.endpoint!r}")
            if examiner.model is not None and examiner.name in reference_names():
                raise ValueError(f"examiner {examiner.name!r} has a reference examiner's name; call the model otherwise")
        return self

    def all_seeds(self) -> list[int]:
        """The seeds of each case and examiner."""
        return self.seeds if self.repeats is None else [self.seeds[0] + number for number in range(self.repeats)]


@dataclass(frozen=True)
class RunSetup:
    """A run ready to begin."""

    plan: RunPlan
    out: Path | None
    sources: tuple[str, ...]
    """where its cases came from"""


def read_definition(path: Path) -> RunDefinition:
    """Read a definition.

    Raises:
        BedsideError: it cannot be read, is no TOML, or a field is missing, unknown or out of range.
    """
    try:
        with path.open("rb") as file:
            raw = tomllib.loads(file.read(LARGEST_FILE).decode("utf-8-sig"))
    except OSError as error:
        raise BedsideError(f"cannot be read ({error.strerror})", str(path)) from None
    except UnicodeDecodeError:
        raise BedsideError("not UTF-8 text", str(path)) from None
    except tomllib.TOMLDecodeError as error:
        raise BedsideError(f"not valid TOML: {error}", str(path)) from None
    _refuse_keys(raw, str(path))
    try:
        return RunDefinition.model_validate(raw)
    except ValidationError as error:
        raise BedsideError(f"not a valid run definition: {problems(error)}", str(path), "docs/runs.md lists all fields") from None


def _refuse_keys(raw: dict[str, Any], where: str) -> None:
    """A key in the file would be kept with it: only the name of a variable may be there."""
    for table in ("endpoints", "examiners"):
        rows = raw.get(table)
        for row in rows if isinstance(rows, list) else []:
            if isinstance(row, dict) and "api_key" in row:
                what = "a key must not be in the file"
                raise BedsideError(what, f"{where}: {table}", "put it into an environment variable and name that: api_key_env")


def setup(definition: RunDefinition, where: Path) -> RunSetup:
    """The run that a definition describes; paths in it are relative to its folder.

    Raises:
        BedsideError: a case source, an examiner, an endpoint or a prompt that is not there or not valid.
    """
    part = definition.cases
    sources = [part.source] if isinstance(part.source, str) else part.source
    sources = [_beside(where, source) for source in sources]
    cases: list[PatientVector] = [case for source in sources for case in load_cases(source)]
    cases = choose_cases(cases, part.filter, part.sample, str(where))[: part.limit]
    shelf = Bookshelf(definition.profiles if definition.profiles in ("auto", "ddxplus", "curated") else _beside(where, definition.profiles))
    shelf.check(cases)
    endpoints = {endpoint.name: endpoint for endpoint in definition.endpoints}
    specs = [_spec(examiner, endpoints, definition.concurrency, where) for examiner in definition.examiners]
    plan = RunPlan(cases, specs, definition.all_seeds(), definition.budget, shelf, ExaminerFactory(shelf, note))
    out = None if definition.out is None else where.parent / definition.out
    return RunSetup(plan, out, tuple(sources))


def _spec(examiner: ExaminerPart, endpoints: dict[str, EndpointPart], concurrency: int, where: Path) -> ExaminerSpec:
    if examiner.endpoint is None:
        name = examiner.name
        if name.startswith("script:"):
            name = "script:" + _beside(where, name.removeprefix("script:"))
        return ExaminerSpec(name, concurrency=concurrency)
    place = endpoints[examiner.endpoint]
    endpoint = Endpoint.of(
        name=examiner.name,
        base_url=place.base_url,
        model=examiner.model,
        api_key_env=place.api_key_env,
        timeout_s=place.timeout_s,
        max_retries=place.max_retries,
        trusted=place.trusted,
        max_tokens=examiner.max_tokens,
        temperature=examiner.temperature,
        top_p=examiner.top_p,
        seed=examiner.seed,
    )
    price = None if examiner.price is None else Price(examiner.price.prompt, examiner.price.completion, examiner.price.currency)
    prompt = None if examiner.system_prompt is None else _prompt(where.parent / examiner.system_prompt)
    return ExaminerSpec(examiner.name, endpoint, place.name, place.concurrency, price, prompt, examiner.revision)


def _prompt(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not UTF-8 text"
        raise BedsideError(f"cannot be read ({reason})", str(path), "system_prompt names a text file") from None


def _beside(where: Path, name: str) -> str:
    """A path as the definition's folder sees it; a bundled set's name stays."""
    found = where.parent / name
    return str(found) if found.exists() else name
