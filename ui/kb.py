"""`bedside kb`: the state of the bundled knowledge, and a disease's profile for people to read."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from ontology.concepts import RECORD_KINDS
from ontology.kb_check import META, KbReport, check_knowledge, clinical_tables, csv_rows
from ontology.profile_lookup import Found, SameDisease, find_disease, ids_of
from ontology.profiles import Feature, class_of
from ontology.vocabulary import Vocabulary, default_vocabulary
from ui.console import say, say_json, table

PROBLEMS_SHOWN = 30
NOT_REVIEWED = "Not reviewed by a clinician."
CLASS_TEXT = {
    "obligate": "obligate (100 %)",
    "very_frequent": "very frequent (80-99 %)",
    "frequent": "frequent (30-79 %)",
    "occasional": "occasional (5-29 %)",
    "very_rare": "very rare (1-4 %)",
    "excluded": "excluded (0 %)",
    "": "frequency not stated",
}
SYMPTOM_KINDS = ("symptom",)


def check(hpo: bool, as_json: bool) -> int:
    """Print the state of the knowledge; 1 if something must be mended."""
    report = check_knowledge(default_vocabulary())
    census = hpo_census() if hpo else {}
    if as_json:
        say_json({**report.as_json(), **({"hpo": census} if hpo else {})})
        return 0 if report.sound else 1
    say(", ".join(f"{name} {version}" for name, version in report.versions.items()))
    for name, count in report.counts.items():
        say(f"  {count:>7,}  {name}")
    say("Curated rows rest on")
    for name, count in sorted(report.basis.items(), key=lambda item: -item[1]):
        say(f"  {count:>7,}  {name}")
    for name, share in report.cui_share.items():
        say(f"Askable concepts of {name} with a UMLS CUI: {share:.1%}")
    for name, value in census.items():
        say(f"HPO {name}: {value:,}" if isinstance(value, int) else f"HPO {name}: {value}")
    _unreviewed(report)
    _listing("Rows without source", report.unsourced)
    _listing("Contradictions", report.contradictions)
    _listing("To look at", report.notes)
    say("Nothing must be mended." if report.sound else "Mend what is listed under rows without source and contradictions.")
    return 0 if report.sound else 1


def hpo_census() -> dict[str, Any]:
    """Counts over the whole annotation file (metrics.md F3)."""
    from ontology.hpo_annotations import annotation_lines, take_census

    found = take_census(annotation_lines())
    return {
        "annotations": found.version,
        "diseases": len(found.diseases),
        "phenotype rows": found.phenotype_rows,
        "negated rows": found.negated,
        **{f"rows with {name} frequency": count for name, count in found.notations.items()},
        "obligate rows": found.classes["obligate"],
    }


def _unreviewed(report: KbReport) -> None:
    rows = [[name, f"{waiting:,}", f"{total:,}"] for name, (waiting, total) in sorted(report.unreviewed.items())]
    table("Not reviewed by a clinician", ["table", "waiting", "of"], rows)


def _listing(title: str, lines: Sequence[str]) -> None:
    say(f"{title}: {len(lines)}")
    for line in lines[:PROBLEMS_SHOWN]:
        say(f"  {line}")
    if len(lines) > PROBLEMS_SHOWN:
        say(f"  … and {len(lines) - PROBLEMS_SHOWN} more (--json lists all)")


def show(disease: str, as_json: bool) -> None:
    """Print a disease's profile.

    Raises:
        BedsideError: there is no such disease.
    """
    found = find_disease(disease)
    vocabulary = default_vocabulary()
    ids = ids_of(found.profile.disease_id)
    told = clinical_lines(ids, vocabulary)
    note = next((row["prior_note"] for row in csv_rows(META) if found.origin == "curated" and row["disease_id"] == ids.disease_id), "")
    if as_json:
        body = {**found.profile.model_dump(mode="json", exclude_none=True), "origin": found.origin, "prior_note": note}
        say_json({**body, "icd10_titles": icd_titles(found.profile.icd10), **told})
        return
    _heading(found, ids, note)
    for title, lines in told.items():
        if lines:
            say(f"{title.replace('_', ' ').capitalize()}:")
            for line in lines:
                say(f"  {line}")
    features = found.profile.features
    groups = {
        "Symptoms": [f for f in features if f.askable and f.kind in SYMPTOM_KINDS],
        "Antecedents, exposures and medicines": [f for f in features if f.askable and f.kind not in (*SYMPTOM_KINDS, *RECORD_KINDS)],
        "Not asked of patients": [f for f in features if not f.askable or f.kind in RECORD_KINDS],
    }
    for title, group in groups.items():
        if group:
            table(f"{title} ({len(group)})", ["how often", "", "feature", "concept", "source"], feature_rows(group, found), numeric_from=9)
    say(NOT_REVIEWED)


def _heading(found: Found, ids: SameDisease, note: str) -> None:
    profile = found.profile
    say(f"{profile.name} ({profile.disease_id}; {found.origin})")
    for code, title in icd_titles(profile.icd10).items():
        say(f"  ICD-10-CM    {code} {title}")
    if profile.acuity is not None:
        say(f"  Acuity       {profile.acuity} (1 most urgent, 5 routine)")
    if note:
        say(f"  Prior        {note}")
    if profile.n:
        say(f"  Counted      over {profile.n} patients, {profile.female} female")
    limits = [*([{"F": "women only", "M": "men only"}[profile.only_sex]] if profile.only_sex else [])]
    limits += [f"hardly ever below {profile.min_age} years"] if profile.min_age else []
    limits += [f"hardly ever above {profile.max_age} years"] if profile.max_age else []
    if limits:
        say(f"  Limits       {'; '.join(limits)}")
    others = [one for one in (ids.disease_id, ids.ddxplus, ids.hpo) if one and one != profile.disease_id]
    if others:
        say(f"  Elsewhere    {', '.join(others)}")


def icd_titles(codes: Iterable[str]) -> dict[str, str]:
    """Code → its title in ICD-10-CM."""
    from ontology.icd10 import icd_tree

    tree = icd_tree()
    return {code: tree.node(code).title for code in codes}


def feature_class(feature: Feature) -> str:
    """HPO's class of a feature; empty where no frequency is stated."""
    if feature.frequency_class is not None:
        return feature.frequency_class
    return "" if feature.fraction is None else class_of(feature.fraction, feature.n)


def feature_rows(features: Iterable[Feature], found: Found) -> list[list[str]]:
    """Rows of a table, the most frequent class first."""
    order = list(CLASS_TEXT)
    ranked = sorted(features, key=lambda f: (order.index(feature_class(f)), -f.probability, f.name))
    source = f"DDXPlus, {found.profile.n} patients" if found.origin == "ddxplus" else ""
    return [[CLASS_TEXT[feature_class(f)], _figure(f), f.name, f.concept, f.source or source] for f in ranked]


def _figure(feature: Feature) -> str:
    if feature.fraction is None:
        return ""
    count = f" ({feature.k}/{feature.n})" if feature.k is not None else f" (n {feature.n})" if feature.n is not None else ""
    return f"{100 * feature.fraction:.0f} %{count}"


def clinical_lines(ids: SameDisease, vocabulary: Vocabulary) -> dict[str, list[str]]:
    """Red flags, sine qua non and pathognomonic findings of a disease under any of its ids, from the clinical tables that are there."""
    known = {one for one in (ids.disease_id, ids.ddxplus, ids.hpo) if one}
    tables = {"red_flags": "about", "sine_qua_non": "disease_id", "pathognomonic": "disease_id"}
    found: dict[str, list[str]] = {}
    for name, key in tables.items():
        rows = csv_rows(f"clinical/{name}.csv") if f"{name}.csv" in clinical_tables() else []
        found[name] = [_told(row, vocabulary) for row in rows if row.get(key) in known]
    return found


def _told(row: dict[str, str], vocabulary: Vocabulary) -> str:
    concepts = (row.get("concept") or row.get("concepts") or "").split("|")
    names = " or ".join(vocabulary.name(concept) for concept in concepts if concept)
    what = " and ".join(part for part in (names, row.get("predicate") or "") if part)
    return f"{what}: {row.get('why', '')} ({row.get('source', '')})"
