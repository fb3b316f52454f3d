"""Disease profiles: how often each feature occurs with each disease (metrics.md 2.1, 2.2)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import ClassVar, Literal, Self, cast

from pydantic import Field, ValidationError, model_validator

from ontology.concepts import ConceptId, Kind
from ontology.documents import Document, Strict, content_hash, problems
from ontology.errors import BedsideError
from ontology.resources import bundled_rows, bundled_text, json_lines
from ontology.vocabulary import Vocabulary, default_vocabulary

Sex = Literal["F", "M"]
FrequencyClass = Literal["obligate", "very_frequent", "frequent", "occasional", "very_rare", "excluded"]

CLASS_WEIGHT: dict[str, float] = {
    "obligate": 1.0,
    "very_frequent": 0.75,
    "frequent": 0.5,
    "occasional": 0.25,
    "very_rare": 0.1,
    "excluded": 0.0,
}
CLASS_PROBABILITY: dict[str, float] = {
    "obligate": 0.99,
    "very_frequent": 0.895,
    "frequent": 0.545,
    "occasional": 0.17,
    "very_rare": 0.025,
    "excluded": 0.005,
}
LEAK = 0.02
"""Probability of a feature that a disease's profile does not list."""
CLAMP = (0.005, 0.995)
OBLIGATE_N = 20
"""n/n counts as obligate only from this n on (metrics.md F3)."""
EXCLUDED_N = 10
"""0/n counts as excluded only from this n on (metrics.md 2.1)."""
MISSING_WEIGHT = 0.5
HPO_DISEASES = re.compile(r"(?:(?:OMIM|ORPHA|DECIPHER):\d+)(?:\s*,\s*(?:OMIM|ORPHA|DECIPHER):\d+)*")
"""Ids of diseases in HPO's annotation file, with commas between them."""
AGE_BANDS = (0, 2, 8, 18, 30, 45, 60, 75)
"""Lower ends of the age bands that priors are counted in, in years."""


class Feature(Strict):
    """A feature of a disease: counted (k of n), or a class or frequency from a source."""

    concept: ConceptId
    name: str
    kind: Kind = "symptom"
    k: int | None = Field(default=None, ge=0)
    n: int | None = Field(default=None, ge=1)
    frequency: float | None = Field(default=None, ge=0, le=1)
    frequency_class: FrequencyClass | None = None
    askable: bool = True
    source: str | None = None

    @model_validator(mode="after")
    def _counts(self) -> Self:
        if self.k is not None and (self.n is None or self.k > self.n):
            raise ValueError(f"feature {self.concept}: k of n does not add up")
        return self

    @property
    def fraction(self) -> float | None:
        """Observed share, if there is one."""
        if self.k is not None and self.n is not None:
            return self.k / self.n
        return self.frequency

    @property
    def freq_missing(self) -> bool:
        """Whether the source says that the disease has it, but not how often (metrics.md 2.1)."""
        return self.frequency_class is None and self.fraction is None

    @property
    def weight(self) -> float:
        """SES weight (metrics.md 2.1)."""
        if self.frequency_class is not None:
            return CLASS_WEIGHT[self.frequency_class]
        share = self.fraction
        if share is None:
            return MISSING_WEIGHT
        return CLASS_WEIGHT[class_of(share, self.n)]

    @property
    def probability(self) -> float:
        """P(feature | disease) for Bayes, shrunk and clamped (metrics.md 2.1)."""
        if self.k is not None and self.n is not None:
            if self.k == 0:
                return CLASS_PROBABILITY["excluded"] if self.n >= EXCLUDED_N else LEAK
            value = (self.k + 0.5) / (self.n + 1)
        elif self.frequency is not None:
            value = self.frequency
        else:
            value = CLASS_PROBABILITY[self.frequency_class or "frequent"]
        return min(max(value, CLAMP[0]), CLAMP[1])


def class_of(share: float, n: int | None) -> FrequencyClass:
    """HPO's class of an observed share; obligate needs n ≥ 20 (metrics.md 2.1)."""
    if share <= 0:
        return "excluded"
    if share >= 1 and n is not None and n >= OBLIGATE_N:
        return "obligate"
    if share >= 0.8:
        return "very_frequent"
    if share >= 0.3:
        return "frequent"
    return "occasional" if share >= 0.05 else "very_rare"


class DiseaseProfile(Strict):
    """A disease with its features."""

    disease_id: str
    name: str
    icd10: list[str] = Field(description="empty where the source gives no code: HPO's diseases")
    acuity: int | None = Field(default=None, ge=1, le=5)
    n: int | None = Field(default=None, description="patients counted")
    female: int | None = None
    only_sex: Literal["F", "M"] | None = Field(default=None, description="does not occur in the other sex")
    min_age: int | None = Field(default=None, description="hardly ever occurs below this age, in years")
    max_age: int | None = Field(default=None, description="hardly ever occurs above this age, in years")
    ages: list[int] = Field(default_factory=list, description="patients by AGE_BANDS")
    features: list[Feature]


class ProfileHeader(Document):
    """First line of a profile file."""

    versions: ClassVar[tuple[str, ...]] = ("1.0",)
    schema_version: Literal["1.0"] = "1.0"
    profile_set: str
    source: str
    license: str
    vocabulary: str | None = Field(default=None, description="version of the vocabulary that named the concepts")
    counted_splits: list[str] = Field(default_factory=list)
    counted_sources: list[str] = Field(default_factory=list)
    counted_cases: list[str] = Field(default_factory=list, description="opaque ids of the cases that were counted (D12)")
    reviewed_by: str | None = None


class ProfileSet:
    """Profiles that are compared with one another: one knowledge base."""

    def __init__(self, header: ProfileHeader, profiles: Iterable[DiseaseProfile]) -> None:
        self.header = header
        self.profiles: dict[str, DiseaseProfile] = {profile.disease_id: profile for profile in profiles}
        parts = [profile.model_dump(mode="json") for profile in self.profiles.values()]
        self.version = content_hash([header.model_dump(mode="json"), parts])[:16]

    def __len__(self) -> int:
        return len(self.profiles)

    def __getitem__(self, disease_id: str) -> DiseaseProfile:
        return self.profiles[disease_id]

    def get(self, disease_id: str) -> DiseaseProfile | None:
        """A profile, None if the set has none of that id."""
        return self.profiles.get(disease_id)

    def overlap(self, case_ids: Iterable[str]) -> list[str]:
        """Those of the cases that the profiles were counted on."""
        counted = set(self.header.counted_cases)
        return [case_id for case_id in case_ids if case_id in counted]

    def counted_on(self, case_ids: Iterable[str], source: str, split: str | None) -> bool:
        """Whether the profiles were counted on one of these cases, or on their split (D12: scoring them is refused).

        Args:
            case_ids: the case, and the one it derives from.
            source: its source.
            split: its split, None if it has none.
        """
        if self.overlap(case_ids):
            return True
        return split is not None and source in self.header.counted_sources and split in self.header.counted_splits

    def lines(self) -> Iterator[str]:
        """The file's lines."""
        yield self.header.model_dump_json()
        for profile in self.profiles.values():
            yield profile.model_dump_json(exclude_none=True)


def read_profiles(text: str, where: str) -> ProfileSet:
    """Parse a profile file: a header line, then a disease a line.

    Raises:
        BedsideError: a line is malformed, or the schema version unknown.
    """
    rows = list(json_lines(text, where))
    if not rows:
        raise BedsideError("empty profile file", where)
    header = ProfileHeader.from_raw(rows[0][1], rows[0][0])
    profiles = []
    for place, raw in rows[1:]:
        try:
            profiles.append(DiseaseProfile.model_validate(raw))
        except ValidationError as error:
            raise BedsideError(f"not a valid profile: {problems(error)}", place) from None
    return ProfileSet(header, profiles)


def load_profiles(name: str) -> ProfileSet:
    """A bundled set by name (`ddxplus`, `curated`), diseases of HPO by their ids (`ORPHA:397,OMIM:143100`), or a file.

    Raises:
        BedsideError: no such set, disease or file.
    """
    if name == "curated":
        return curated_profiles()
    if name == "ddxplus":
        return bundled_ddxplus_profiles()
    if HPO_DISEASES.fullmatch(name):
        from ontology.hpo_annotations import hpo_profiles

        return hpo_profiles([part.strip() for part in name.split(",")], default_vocabulary())
    path = Path(name)
    try:
        return read_profiles(path.read_text(encoding="utf-8"), str(path))
    except UnicodeDecodeError:
        raise BedsideError("not UTF-8 text", str(path), "give a file written by `bedside profiles build`") from None
    except OSError as error:
        raise BedsideError(
            f"cannot be read ({error.strerror})", str(path), "give ddxplus, curated, or a file written by `bedside profiles build`"
        ) from None


@lru_cache(maxsize=1)
def bundled_ddxplus_profiles() -> ProfileSet:
    """Counted over the train and validate samples of DDXPlus; aggregate counts only, CC BY 4.0."""
    return read_profiles(bundled_text("profiles/ddxplus.jsonl"), "data/profiles/ddxplus.jsonl")


@lru_cache(maxsize=1)
def curated_profiles() -> ProfileSet:
    """Common and dangerous diseases, written by us with a citation a row; no clinician has reviewed them."""
    vocabulary = default_vocabulary()
    meta = {row["disease_id"]: row for row in bundled_rows("profiles/curated_meta.csv")}
    features: dict[str, list[Feature]] = {disease: [] for disease in meta}
    for row in bundled_rows("profiles/curated.csv"):
        features[row["disease_id"]].append(_curated_feature(row, vocabulary))
    header = ProfileHeader(
        profile_set="curated",
        source="compiled by Bedside; a citation a row in data/profiles/curated.csv",
        license="Apache-2.0; HPO rows under the HPO licence",
        vocabulary=vocabulary.version,
    )
    profiles = [_curated_profile(row, features[disease]) for disease, row in meta.items()]
    return ProfileSet(header, profiles)


def _curated_profile(row: Mapping[str, str], features: list[Feature]) -> DiseaseProfile:
    return DiseaseProfile(
        disease_id=row["disease_id"],
        name=row["name"],
        icd10=row["icd10"].split("|"),
        acuity=int(row["acuity"]),
        only_sex=cast(Sex, row["only_sex"] or None),
        min_age=int(row["min_age"]) if row["min_age"] else None,
        max_age=int(row["max_age"]) if row.get("max_age") else None,
        features=features,
    )


def _curated_feature(row: Mapping[str, str], vocabulary: Vocabulary) -> Feature:
    concept = vocabulary.ref(row["concept"])
    return Feature.model_validate(
        {
            "concept": concept.cui,
            "name": concept.name,
            "kind": vocabulary.kind(concept.cui),
            "n": int(row["n"]) if row["n"] else None,
            "frequency": float(row["frequency"]) if row["frequency"] else None,
            "frequency_class": row["class"] or None,
            "askable": row["askable"].strip().lower() in ("", "1", "true", "yes"),
            "source": row["source"],
        }
    )
