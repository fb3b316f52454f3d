"""What must hold between the clinical tables, the vocabulary, ICD-10-CM and the lists of diseases."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from ontology.clinical import ClinicalTables
from ontology.clinical_rows import CLASS_PREFIX, HEADINGS, Advice, Point
from ontology.icd10 import icd_tree
from ontology.resources import bundled_rows
from ontology.text import phrase_key
from ontology.vocabulary import Vocabulary
from ontology.wordings import Matcher

POINTS_A_HEADING = 3
MEDICINES = frozenset({"medication"})


def known_diseases(tables: ClinicalTables) -> set[str]:
    """Ids of the DDXPlus conditions, of the curated profiles and of data/clinical/diseases.csv."""
    conditions = {row["disease_id"] for row in bundled_rows("ddxplus/conditions.csv")}
    return conditions | {row["disease_id"] for row in bundled_rows("profiles/curated_meta.csv")} | set(tables.diseases)


def clinical_problems(tables: ClinicalTables, vocabulary: Vocabulary) -> list[str]:
    """What is wrong in the tables, a line each; empty if nothing is.

    Unknown diseases, concepts, codes, drugs; a disease without its nine points or its advice; a matcher that does not find its own text.
    """
    found = [*_unknown_diseases(tables), *_unknown_concepts(tables, vocabulary), *_unknown_codes(tables), *_medicines(tables, vocabulary)]
    found += _shared_names(tables)
    return [*found, *_incomplete(tables), *_deaf_matchers(tables, vocabulary), *_contradictions(tables)]


def _unknown_diseases(tables: ClinicalTables) -> Iterator[str]:
    known = known_diseases(tables)
    lists: Iterable[tuple[str, Iterable[str]]] = (
        ("critical_advice", (row.disease_id for row in tables.advice)),
        ("score_points", (row.disease_id for row in tables.points)),
        ("sine_qua_non", (row.disease_id for row in tables.sine_qua_non)),
        ("pathognomonic", (row.disease_id for row in tables.pathognomonic)),
        ("acuity", tables.acuities),
        ("contraindications", (name for row in tables.contraindications for name in row.diseases)),
        ("diseases", (row.same_as for row in tables.diseases.values() if row.same_as)),
    )
    for table, listed in lists:
        names = set(listed)
        for name in sorted(names - known):
            yield f"{table}: no disease is called {name!r}"
        if table != "diseases":
            for name in sorted(name for name in names if tables.disease(name) != name):
                yield f"{table}: {name!r} is the same as {tables.disease(name)!r}; its rows stand there"


def _shared_names(tables: ClinicalTables) -> Iterator[str]:
    owners: dict[tuple[str, ...], str] = {}
    named = [(drug.ingredient, (drug.ingredient, *drug.names)) for drug in tables.drugs.values()]
    named += [(CLASS_PREFIX + row.drug_class, row.names) for row in tables.classes.values()]
    for owner, names in named:
        for name in names:
            first = owners.setdefault(phrase_key(name), owner)
            if first != owner:
                yield f"drugs: {name!r} means {first} and {owner}"


def _unknown_concepts(tables: ClinicalTables, vocabulary: Vocabulary) -> Iterator[str]:
    diseases = known_diseases(tables)
    named: list[tuple[str, str]] = [("contraindications", c) for row in tables.contraindications for c in row.concepts]
    named += [("drugs", c) for row in tables.drugs.values() for c in row.concepts]
    named += [("drug_classes", c) for row in tables.classes.values() for c in row.concepts]
    named += [("sine_qua_non", c) for row in tables.sine_qua_non for c in row.concepts]
    named += [("pathognomonic", row.concept) for row in tables.pathognomonic]
    named += [("red_flags", c) for row in tables.red_flags for c in (row.about, row.concept) if c not in diseases]
    named += [("rumors", row.concept) for row in tables.rumors]
    named += [(f"matcher {m.written!r}", p.text) for m in _matchers(tables) for p in m.parts() if p.kind == "concept"]
    for table, concept in dict.fromkeys(named):
        if vocabulary.canonical(concept) != concept:
            yield f"{table}: {concept} goes by {vocabulary.canonical(concept)}"
        elif vocabulary.name(concept) == concept:
            yield f"{table}: unknown concept {concept}"


def _matchers(tables: ClinicalTables) -> Iterator[Matcher]:
    yield from tables.matchers.values()
    yield from tables.wordings.values()


def _unknown_codes(tables: ClinicalTables) -> Iterator[str]:
    tree = icd_tree()
    named = [("contraindications", code) for row in tables.contraindications for code in row.icd10]
    named += [("diseases", code) for row in tables.diseases.values() for code in row.icd10]
    for table, code in dict.fromkeys(named):
        if code not in tree:
            yield f"{table}: {code} is no code of ICD-10-CM"


def _medicines(tables: ClinicalTables, vocabulary: Vocabulary) -> Iterator[str]:
    for name, drug in tables.drugs.items():
        entry = vocabulary.lookup(name)
        means = entry.concept if entry is not None and vocabulary.kind(entry.concept) in MEDICINES else None
        if means is not None and means not in drug.concepts:
            yield f"drugs: {name} is {means} in the vocabulary, but not here"
    for owner, concepts in [*((n, d.concepts) for n, d in tables.drugs.items()), *((n, c.concepts) for n, c in tables.classes.items())]:
        for concept in concepts:
            if vocabulary.kind(concept) not in MEDICINES:
                yield f"drugs: {concept} of {owner} is no medicine but a {vocabulary.kind(concept)}"
    known = {*tables.drugs, *tables.classes}
    for matcher in _matchers(tables):
        for part in matcher.parts():
            if part.kind == "drug" and part.text not in known:
                yield f"matcher {matcher.written!r}: no drug is called {part.text!r}"


def _incomplete(tables: ClinicalTables) -> Iterator[str]:
    named = {row["disease_id"] for row in bundled_rows("ddxplus/conditions.csv")}
    listed = {row.disease_id for row in tables.points} | {row.disease_id for row in tables.advice}
    for disease in sorted(named | listed | set(tables.diseases)):
        counts = Counter(point.heading for point in tables.points_for(disease))
        if any(counts[heading] != POINTS_A_HEADING for heading in HEADINGS):
            yield f"score_points: {disease} has {dict(counts)}, not 3 of each heading"
        if not tables.advice_for(disease):
            yield f"critical_advice: nothing for {disease}"
    for disease in sorted(named):
        if tables.acuity_of(disease) is None:
            yield f"acuity: nothing for {disease}"


def _deaf_matchers(tables: ClinicalTables, vocabulary: Vocabulary) -> Iterator[str]:
    rows: tuple[Advice | Point, ...] = (*tables.advice, *tables.points)
    for row in rows:
        if not tables.matcher(row.matcher).find(tables.reading(row.text, vocabulary)):
            yield f"{row.disease_id}: the matcher {row.matcher!r} does not find {row.text!r}"
    for rumor in tables.rumors:
        matcher = tables.matcher(rumor.matcher)
        if not matcher.find(tables.reading(rumor.fact, vocabulary)):
            yield f"{rumor.rumor_id}: the matcher does not find the fact {rumor.fact!r}"
        if matcher.find(tables.reading(rumor.rumor, vocabulary)):
            yield f"{rumor.rumor_id}: the matcher finds the rumor {rumor.rumor!r}"


def _contradictions(tables: ClinicalTables) -> Iterator[str]:
    meta = {row["disease_id"]: row for row in bundled_rows("profiles/curated_meta.csv")}
    for name, row in tables.diseases.items():
        if name in meta:
            theirs = {code[:3] for code in meta[name]["icd10"].split("|")}
            if theirs.isdisjoint(code[:3] for code in row.icd10):
                yield f"diseases: {name} is {'|'.join(row.icd10)} here and {meta[name]['icd10']} in the curated profiles"
