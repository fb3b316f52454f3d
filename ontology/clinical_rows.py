"""Rows of the clinical tables (data/clinical): what each column means, and what must hold of a row by itself (metrics.md 2.2)."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable
from typing import Any, Literal, Self, TypeVar, get_args, get_origin

from pydantic import ConfigDict, Field, ValidationError, model_validator

from ontology.concepts import ConceptId
from ontology.documents import Strict, problems
from ontology.errors import BedsideError

CLASS_PREFIX = "class:"
"""Begins the name of a class of drugs where an ingredient may stand as well."""

PREDICATE = re.compile(r"(?:age)(?P<sign>>=|<)(?P<years>\d{1,3})|sex=(?P<sex>[FM])")
"""What a sine qua non may demand beside concepts: `age>=50`, `age<2` (completed years), `sex=F`."""

Strength = Literal["absolute", "relative"]
AgainstKind = Literal["condition", "allergy", "drug", "pregnancy", "age"]
Heading = Literal["evidence", "treatment", "lifestyle"]
HEADINGS: tuple[Heading, ...] = get_args(Heading)


class Row(Strict):
    """What every row carries. Cells that hold several values part them with `|`; an empty cell is no value."""

    model_config = ConfigDict(frozen=True)

    source: str = Field(min_length=3, description="guideline, label or textbook that says so; the words are ours")
    license: str = Field(min_length=3, description="of our text")
    reviewed_by: str | None = Field(description="clinician who read the row; none yet")
    review_date: str | None = Field(description="when, as YYYY-MM-DD")
    verdict: Literal["accepted", "rejected"] | None = Field(description="what the reviewer decided")

    @model_validator(mode="before")
    @classmethod
    def _cells(cls, raw: Any) -> Any:
        if not isinstance(raw, dict):
            return raw
        made: dict[str, Any] = {}
        for name, value in raw.items():
            field = cls.model_fields.get(name)
            several = field is not None and get_origin(field.annotation) is tuple
            if isinstance(value, str):
                value = tuple(part.strip() for part in value.split("|") if part.strip()) if several else (value.strip() or None)
            made[name] = value
        return made

    @model_validator(mode="after")
    def _reviewed_wholly(self) -> Self:
        if len({bool(self.reviewed_by), bool(self.review_date), bool(self.verdict)}) > 1:
            raise ValueError("reviewed_by, review_date and verdict go together")
        return self


class Disease(Row):
    """A disease of these tables that data/ddxplus/conditions.csv does not name, or another id of one."""

    disease_id: str = Field(min_length=1)
    name: str = Field(min_length=1)
    icd10: tuple[str, ...] = Field(min_length=1)
    same_as: str | None = Field(description="the id whose rows hold for it")


class Drug(Row):
    """An ingredient, its classes and the names that mean it."""

    ingredient: str = Field(min_length=2)
    classes: tuple[str, ...] = Field(min_length=1)
    names: tuple[str, ...] = Field(description="brand names and synonyms")
    concepts: tuple[ConceptId, ...] = Field(description="concepts of the vocabulary that mean its use")


class DrugClass(Row):
    """A class of drugs, the names that mean it and the concepts that mean its use."""

    drug_class: str = Field(min_length=2)
    names: tuple[str, ...]
    concepts: tuple[ConceptId, ...]


class Contraindication(Row):
    """What speaks against an ingredient (or, as `class:…`, against all of a class).

    A condition holds if the patient has one of `concepts` (or a narrower one), a code that begins with one of `icd10`, or one of
    `diseases` as the true diagnosis; an allergy if the patient is allergic to one of `concepts` or to one of `drugs`; a drug if the patient
    takes one of `drugs`; pregnancy in the weeks `from_week` to `to_week`, both included (neither: any week); age in completed years from
    `from_age` on and below `below_age`.
    """

    ingredient: str = Field(min_length=2)
    kind: AgainstKind
    against: str = Field(min_length=2, description="in words")
    concepts: tuple[ConceptId, ...] = ()
    icd10: tuple[str, ...] = ()
    diseases: tuple[str, ...] = ()
    drugs: tuple[str, ...] = ()
    from_week: int | None = Field(default=None, ge=0, le=42)
    to_week: int | None = Field(default=None, ge=0, le=42)
    from_age: int | None = Field(default=None, ge=0, le=120)
    below_age: int | None = Field(default=None, ge=1, le=120)
    strength: Strength
    reason: str = Field(min_length=3)

    @model_validator(mode="after")
    def _says_when(self) -> Self:
        finding = bool(self.concepts or self.icd10 or self.diseases)
        weeks = self.from_week is not None or self.to_week is not None
        ages = self.from_age is not None or self.below_age is not None
        fits = {
            "condition": finding and not (self.drugs and not finding),
            "allergy": bool(self.concepts or self.drugs),
            "drug": bool(self.drugs) and not finding,
            "pregnancy": not finding and (self.from_week is None) == (self.to_week is None),
            "age": ages and not finding,
        }[self.kind]
        if not fits or weeks and self.kind != "pregnancy" or ages and self.kind != "age":
            raise ValueError(f"the cells do not say when a contraindication of the kind {self.kind!r} holds")
        if weeks and (self.from_week or 0) > (self.to_week or 0) or self.from_age is not None and self.from_age >= (self.below_age or 121):
            raise ValueError("the range is empty")
        return self

    def in_week(self, week: int | None) -> bool:
        """Whether it holds in a week of pregnancy; an unknown week counts as any."""
        if self.kind != "pregnancy":
            return False
        return self.from_week is None or self.to_week is None or week is None or self.from_week <= week <= self.to_week

    def at_age(self, age: int) -> bool:
        """Whether it holds at an age in completed years."""
        if self.kind != "age":
            return False
        return (self.from_age is None or age >= self.from_age) and (self.below_age is None or age < self.below_age)


class Advice(Row):
    """What the examiner must tell the patient with a disease (metrics.md 6, h3)."""

    disease_id: str
    advice_id: str = Field(pattern=r"^a\d+$")
    text: str = Field(min_length=10)
    matcher: str = Field(min_length=2)
    weight: float = Field(gt=0)
    critical: bool


class Point(Row):
    """One of the nine points of a good answer on a disease (metrics.md 8, 9.1 step 7)."""

    disease_id: str
    heading: Heading
    point_id: str = Field(pattern=r"^[etl][123]$")
    text: str = Field(min_length=10)
    matcher: str = Field(min_length=2)


class SineQuaNon(Row):
    """What a disease cannot be without: one of the concepts, or a predicate over age or sex (metrics.md 5.2)."""

    disease_id: str
    concepts: tuple[ConceptId, ...]
    predicate: str | None
    why: str = Field(min_length=5)

    @model_validator(mode="after")
    def _one_demand(self) -> Self:
        if bool(self.concepts) == (self.predicate is not None):
            raise ValueError("either concepts or a predicate")
        if self.predicate is not None and PREDICATE.fullmatch(self.predicate) is None:
            raise ValueError(f"unknown predicate {self.predicate!r}; known: age>=N, age<N, sex=F, sex=M")
        return self

    def met_by(self, age: int, sex: str) -> bool:
        """Whether the predicate holds; True where concepts are demanded instead."""
        found = PREDICATE.fullmatch(self.predicate or "")
        if found is None:
            return True
        if found["sex"]:
            return sex not in ("F", "M") or sex == found["sex"]
        return age >= int(found["years"]) if found["sign"] == ">=" else age < int(found["years"])


class Pathognomonic(Row):
    """A feature that as good as proves a disease (metrics.md 5.2)."""

    disease_id: str
    concept: ConceptId
    why: str = Field(min_length=5)


class RedFlag(Row):
    """A feature that makes a complaint or a disease dangerous."""

    about: str = Field(min_length=2, description="a complaint's concept, or a disease")
    concept: ConceptId
    why: str = Field(min_length=5)


class Acuity(Row):
    """How urgent a disease is, 1 (life-threatening) to 5 (routine), where data/profiles/curated_meta.csv does not say it."""

    disease_id: str
    acuity: int = Field(ge=1, le=5)


class Rumor(Row):
    """A common false belief about a symptom or disease, and the fact that contradicts it (metrics.md 9.1 step 4)."""

    rumor_id: str = Field(pattern=r"^r\d{3}$")
    concept: ConceptId
    rumor: str = Field(min_length=10)
    fact: str = Field(min_length=10)
    matcher: str = Field(min_length=2, description="what an answer that supports the fact says")
    rationality: Literal[1]

    @model_validator(mode="before")
    @classmethod
    def _number(cls, raw: Any) -> Any:
        return {**raw, "rationality": 1} if isinstance(raw, dict) and raw.get("rationality") == "1" else raw


class Wording(Row):
    """A matcher that several rows share, by name."""

    wording: str = Field(pattern=r"^[a-z\-]+$")
    matcher: str = Field(min_length=2)


T = TypeVar("T", bound=Row)
Placed = list[tuple[str, T]]
"""Rows with the file and line each stands on."""


def read_rows(text: str, where: str, model: type[T], check: Callable[[T, str], None] | None = None) -> Placed[T]:
    """Read a table.

    Args:
        text: CSV with a header that names the columns of the model.
        where: the file's name, for messages.
        model: what a row is.
        check: called with each row and its place; raises what is wrong with it.

    Raises:
        BedsideError: a column is missing or unknown, or a row is not well-formed; the message names file and line.
    """
    reader = csv.DictReader(io.StringIO(text), strict=True)
    rows: Placed[T] = []
    try:
        columns = set(reader.fieldnames or ())
        wrong = columns.symmetric_difference(model.model_fields)
        if wrong:
            raise BedsideError(
                f"missing or unknown columns: {', '.join(sorted(wrong))}", where, f"the columns are {', '.join(model.model_fields)}"
            )
        for raw in reader:
            place = f"{where}:{reader.line_num}"
            if None in raw or None in raw.values():
                raise BedsideError("not as many cells as the header has", place)
            try:
                row = model.model_validate(raw)
            except ValidationError as error:
                raise BedsideError(f"not a valid row: {problems(error)}", place) from None
            if check is not None:
                check(row, place)
            rows.append((place, row))
    except csv.Error as error:
        raise BedsideError(f"not valid CSV ({error})", f"{where}:{reader.line_num}") from None
    return rows


def write_rows(rows: list[T], model: type[T]) -> str:
    """The CSV text of rows, which `read_rows` reads back."""
    out = io.StringIO()
    writer = csv.DictWriter(out, list(model.model_fields), lineterminator="\n")
    writer.writeheader()
    for row in rows:
        writer.writerow({name: _cell(value) for name, value in row.model_dump().items()})
    return out.getvalue()


def _cell(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, tuple):
        return "|".join(value)
    if isinstance(value, bool):
        return "1" if value else "0"
    return f"{value:g}" if isinstance(value, float) else str(value)
