"""What the bundled knowledge covers, and what of it must be mended: the facts behind `bedside kb check`."""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field

from ontology.belief import BeliefModel
from ontology.concepts import RECORD_KINDS
from ontology.icd10 import normalise
from ontology.profile_lookup import SAME_DISEASE, same_diseases
from ontology.profiles import CLASS_WEIGHT, Feature, ProfileSet, bundled_ddxplus_profiles, class_of, curated_profiles
from ontology.resources import bundled, bundled_files, bundled_rows
from ontology.vocabulary import Vocabulary

MIN_ASKABLE = 8
"""Askable features a curated disease needs."""
GAP = 0.40
"""Difference between our frequency and DDXPlus' that must be explained."""
FREQUENT = 0.30
CURATED = "profiles/curated.csv"
META = "profiles/curated_meta.csv"
GAPS = "profiles/ddxplus_gaps.csv"
SOURCE_COLUMNS = ("source", "acuity_source", "citation", "basis", "reason")
"""Where a table names its sources; of those it has, the first counts."""
FIRST_HAND = ("class is clinical consensus", "clinical consensus", "clinical knowledge", "not verified")

Row = Mapping[str, str | None]


@dataclass
class KbReport:
    """The state of the bundled knowledge. What is in `unsourced` or `contradictions` must be mended."""

    versions: dict[str, str] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)
    basis: dict[str, int] = field(default_factory=dict)
    """Curated rows by what their frequency rests on."""
    cui_share: dict[str, float] = field(default_factory=dict)
    unsourced: list[str] = field(default_factory=list)
    contradictions: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    unreviewed: dict[str, tuple[int, int]] = field(default_factory=dict)
    """Table → rows without a verdict of a named reviewer, and rows."""

    @property
    def sound(self) -> bool:
        """Whether nothing must be mended."""
        return not self.unsourced and not self.contradictions

    def as_json(self) -> dict[str, object]:
        """All of it, for machines."""
        return {**asdict(self), "sound": self.sound}


def check_knowledge(vocabulary: Vocabulary) -> KbReport:
    """Check the bundled profiles and tables.

    Args:
        vocabulary: the bundled one, or a built one.
    """
    report = KbReport()
    curated, ddxplus = curated_profiles(), bundled_ddxplus_profiles()
    report.versions = {"vocabulary": vocabulary.version, "curated": curated.version, "ddxplus": ddxplus.version}
    _count(report, curated, ddxplus, vocabulary)
    for place, row in table_rows():
        if not any((row.get(column) or "").strip() for column in SOURCE_COLUMNS):
            report.unsourced.append(place)
    report.unreviewed = review_state()
    for profiles in (curated, ddxplus):
        report.contradictions += profile_faults(profiles, vocabulary)
    report.contradictions += row_faults(bundled_rows(CURATED), bundled_rows(META), vocabulary)
    gaps = ddxplus_gaps(curated, ddxplus, vocabulary)
    report.counts["gaps to DDXPlus over 40 points, explained"] = sum(gap.reason != "" for gap in gaps)
    report.contradictions += gap_faults(gaps)
    report.notes = thin_profiles(curated)
    return report


def _count(report: KbReport, curated: ProfileSet, ddxplus: ProfileSet, vocabulary: Vocabulary) -> None:
    rows = bundled_rows(CURATED)
    features = [feature for profile in curated.profiles.values() for feature in profile.features]
    report.counts = {
        "curated diseases": len(curated),
        "curated rows": len(rows),
        "curated askable features": sum(feature.askable for feature in features),
        "fewest askable features of a disease": min(sum(f.askable for f in p.features) for p in curated.profiles.values()),
        "DDXPlus conditions": len(ddxplus),
        "DDXPlus features": sum(len(profile.features) for profile in ddxplus.profiles.values()),
        "diseases of more than one source": len(same_diseases()),
    }
    report.basis = dict(Counter(basis_of(row) for row in rows))
    for name, profiles in (("curated", curated), ("ddxplus", ddxplus)):
        askable = {vocabulary.canonical(f.concept) for p in profiles.profiles.values() for f in p.features if f.askable}
        report.cui_share[name] = sum(concept.startswith("C") for concept in askable) / max(1, len(askable))


def basis_of(row: Row) -> str:
    """What a curated row's frequency rests on: a figure, a class of a named source, HPO, or consensus."""
    source = row.get("source") or ""
    if source.startswith("HPO "):
        return "HPO's class"
    if row.get("frequency"):
        return "figure of a named study"
    return "clinical consensus" if any(mark in source for mark in FIRST_HAND) else "class of a named study's figure"


def table_rows() -> Iterator[tuple[str, Row]]:
    """(place, row) of every bundled table that must name its sources: profiles, clinical tables, concepts and terms."""
    tables = [CURATED, META, SAME_DISEASE, GAPS, *(f"clinical/{name}" for name in clinical_tables())]
    for path in tables:
        for number, row in enumerate(csv_rows(path), start=2):
            yield f"data/{path}:{number}", row
    for folder in ("concepts", "terms"):
        for file in bundled_files(folder, ".jsonl"):
            for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), start=1):
                if line.strip():
                    raw = json.loads(line)
                    yield (
                        f"data/{folder}/{file.name}:{number}",
                        {"source": raw.get("source") or raw.get("basis"), "reviewed_by": raw.get("reviewed_by")},
                    )


def csv_rows(path: str) -> list[dict[str, str]]:
    """Rows of a bundled CSV file."""
    return list(csv.DictReader(io.StringIO(bundled(path).read_text(encoding="utf-8"))))


def clinical_tables() -> list[str]:
    """Names of the clinical tables that are there."""
    return [file.name for file in bundled_files("clinical", ".csv")] if bundled("").joinpath("clinical").is_dir() else []


def review_state() -> dict[str, tuple[int, int]]:
    """Table → (rows that no named person has given a verdict on, rows). Review is a person's: empty columns say that nobody did it."""
    waiting: Counter[str] = Counter()
    total: Counter[str] = Counter()
    for place, row in table_rows():
        table = place.rpartition(":")[0].removeprefix("data/")
        table = table.rpartition("/")[0] if table.endswith(".jsonl") else table
        total[table] += 1
        waiting[table] += not ((row.get("reviewed_by") or "").strip() and (row.get("verdict") or "reviewed").strip())
    return {table: (waiting[table], count) for table, count in total.items()}


def profile_faults(profiles: ProfileSet, vocabulary: Vocabulary) -> list[str]:
    """Unknown codes and concepts, concepts twice, and features that exclude what a narrower one asserts."""
    found = []
    name = profiles.header.profile_set
    for profile in profiles.profiles.values():
        where = f"{name} {profile.disease_id}"
        bad = [code for code in profile.icd10 if tuple(normalise(code).codes) != (code,)]
        found += [f"{where}: unknown ICD-10 code {code}" for code in bad]
        found += [f"{where}: unknown concept {f.concept}" for f in profile.features if vocabulary.name(f.concept) == f.concept]
        found += [f"{where}: {problem}" for problem in exclusions(profile.features, vocabulary)]
    return found


def exclusions(features: Iterable[Feature], vocabulary: Vocabulary) -> list[str]:
    """A concept stated twice, or excluded while it or a narrower concept is stated; presence of the narrower implies the broader (7.1)."""
    found = []
    listed = [(vocabulary.canonical(feature.concept), feature) for feature in features]
    excluded = {concept: feature.name for concept, feature in listed if feature.weight == 0}
    for concept, count in Counter(concept for concept, _ in listed).items():
        if count > 1:
            kinds = "obligate and excluded" if concept in excluded else f"{count} times"
            found.append(f"{vocabulary.name(concept)} is listed {kinds}")
    for concept, feature in listed:
        broader = [excluded[above] for above in vocabulary.ancestors(concept) if above in excluded]
        if feature.weight > 0 and broader:
            found.append(f"{feature.name} is stated, but the broader {broader[0]} excluded")
    return found


def row_faults(rows: Iterable[Row], meta: Iterable[Row], vocabulary: Vocabulary) -> list[str]:
    """What is wrong in the curated tables as they are written: class against frequency, names, diseases, askable against kind."""
    diseases = {row["disease_id"] for row in meta}
    found = []
    for number, row in enumerate(rows, start=2):
        where = f"data/{CURATED}:{number}"
        stated, share = row.get("class") or "", row.get("frequency") or ""
        if row["disease_id"] not in diseases:
            found.append(f"{where}: {row['disease_id']} is not in {META}")
        if not stated and not share:
            found.append(f"{where}: neither class nor frequency")
        if stated and stated not in CLASS_WEIGHT:
            found.append(f"{where}: unknown class {stated!r}")
        elif stated and share and stated != class_of(float(share), int(row.get("n") or 0) or None):
            found.append(f"{where}: {share} is not {stated}")
        concept = vocabulary.canonical(row["concept"] or "")
        if row.get("askable") == "1" and vocabulary.kind(concept) in RECORD_KINDS:
            found.append(f"{where}: {vocabulary.name(concept)} is for the record, not askable")
    return found


def thin_profiles(curated: ProfileSet) -> list[str]:
    """Diseases with too few features that can be asked for."""
    counts = {key: sum(f.askable for f in profile.features) for key, profile in curated.profiles.items()}
    return [f"{key}: only {count} askable features" for key, count in counts.items() if count < MIN_ASKABLE]


@dataclass(frozen=True)
class Gap:
    """A feature of which we and DDXPlus say very different things; `reason` is empty where nobody has said why."""

    disease_id: str
    ddxplus: str
    concept: str
    name: str
    ours: float
    theirs: float | None
    """None: an explanation without a gap."""
    reason: str


def ddxplus_gaps(curated: ProfileSet, ddxplus: ProfileSet, vocabulary: Vocabulary) -> list[Gap]:
    """Features of ours that are frequent here or there and differ by more than 40 points, where DDXPlus asks for them at all.

    Probabilities are those of the belief model, so that a narrower feature counts for a broader one (metrics.md 4.2, 7.1).
    """
    reasons = {(row["disease_id"], row["concept"]): row for row in csv_rows(GAPS)}
    ours, theirs = BeliefModel(curated, vocabulary), BeliefModel(ddxplus, vocabulary)
    known = {c for c in theirs.concepts if not vocabulary.generic(c)}
    found = []
    for same in same_diseases():
        profile = curated.get(same.disease_id)
        if profile is None or same.ddxplus not in ddxplus.profiles:
            continue
        for feature in profile.features:
            concept = vocabulary.canonical(feature.concept)
            if not feature.askable or concept not in known:
                continue
            here, there = ours.probability(concept, same.disease_id), theirs.probability(concept, same.ddxplus)
            if abs(here - there) > GAP and max(here, there) >= FREQUENT:
                reason = reasons.pop((same.disease_id, concept), {}).get("reason", "")
                found.append(Gap(same.disease_id, same.ddxplus, concept, feature.name, here, there, reason))
    found += [
        Gap(row["disease_id"], row["ddxplus"], row["concept"], row["concept_name"], 0.0, None, row["reason"]) for row in reasons.values()
    ]
    return found


def gap_faults(gaps: Iterable[Gap]) -> list[str]:
    """Gaps that nobody has explained, and explanations of none."""
    found = []
    for gap in gaps:
        where = f"{gap.disease_id} {gap.name} ({gap.concept})"
        if gap.theirs is None:
            found.append(f"{where}: explained in data/{GAPS}, but there is no gap")
        elif not gap.reason:
            found.append(f"{where}: {gap.ours:.0%} here, {gap.theirs:.0%} in {gap.ddxplus}; explain it in data/{GAPS} or mend it")
    return found
