"""The clinical tables: drugs, contraindications, critical advice, score points, red flags, rumors (metrics.md 2.2, 5.2, 6, 8, 9.1).

All of it was written by Bedside with a source a row, and no clinician has reviewed it.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Protocol

from ontology.clinical_rows import (
    CLASS_PREFIX,
    Acuity,
    Advice,
    Contraindication,
    Disease,
    Drug,
    DrugClass,
    Heading,
    Pathognomonic,
    Placed,
    Point,
    RedFlag,
    Rumor,
    SineQuaNon,
    T,
    Wording,
    read_rows,
)
from ontology.concepts import ConceptRow
from ontology.documents import content_hash
from ontology.errors import BedsideError
from ontology.resources import bundled_files, bundled_rows, bundled_text
from ontology.text import folded
from ontology.vocabulary import Match, Vocabulary
from ontology.wordings import Matcher, Reading

FOLDER = "clinical"


class Phrases(Protocol):
    """What matchers need of a vocabulary: the concepts that a text names, and what is broader than a concept."""

    def find(self, text: str) -> Sequence[Match]:
        """Phrases of a text."""
        ...

    def ancestors(self, concept: str) -> Mapping[str, int]:
        """Broader concepts with their distance."""
        ...


@dataclass(frozen=True, slots=True)
class DrugMention:
    """A drug, or a class of drugs, that a text names.

    Attributes:
        start, end: code points.
        surface: the words.
        ingredient: None if only a class is named.
        classes: the ingredient's classes; or the class that is named, then those that all of its ingredients belong to.
    """

    start: int
    end: int
    surface: str
    ingredient: str | None
    classes: tuple[str, ...]

    @property
    def subject(self) -> str:
        """What contraindications are looked up by: the ingredient, or `class:…`."""
        return self.ingredient if self.ingredient is not None else CLASS_PREFIX + self.classes[0]


@dataclass(frozen=True)
class ClinicalTables:
    """All tables, read and checked. Immutable."""

    version: str
    drugs: Mapping[str, Drug]
    classes: Mapping[str, DrugClass]
    diseases: Mapping[str, Disease]
    contraindications: tuple[Contraindication, ...]
    advice: tuple[Advice, ...]
    points: tuple[Point, ...]
    sine_qua_non: tuple[SineQuaNon, ...]
    pathognomonic: tuple[Pathognomonic, ...]
    red_flags: tuple[RedFlag, ...]
    acuities: Mapping[str, int]
    rumors: tuple[Rumor, ...]
    wordings: Mapping[str, Matcher]
    matchers: Mapping[str, Matcher]

    # -- diseases ---------------------------------------------------------------------------------------------------

    def disease(self, disease_id: str) -> str:
        """The id under which a disease's rows stand: its own, or that of the disease it is the same as."""
        known = self.diseases.get(disease_id)
        return known.same_as if known is not None and known.same_as else disease_id

    def advice_for(self, disease_id: str) -> tuple[Advice, ...]:
        """What must be told to the patient with a disease; empty if no list was written."""
        own = self.disease(disease_id)
        return tuple(row for row in self.advice if row.disease_id == own)

    def points_for(self, disease_id: str, heading: Heading | None = None) -> tuple[Point, ...]:
        """The score points of a disease, of one heading or all: nine, or none if no list was written."""
        own = self.disease(disease_id)
        return tuple(row for row in self.points if row.disease_id == own and heading in (None, row.heading))

    def sine_qua_non_of(self, disease_id: str) -> tuple[SineQuaNon, ...]:
        """What a disease cannot be without."""
        own = self.disease(disease_id)
        return tuple(row for row in self.sine_qua_non if row.disease_id == own)

    def pathognomonic_of(self, disease_id: str) -> tuple[Pathognomonic, ...]:
        """Features that as good as prove a disease."""
        own = self.disease(disease_id)
        return tuple(row for row in self.pathognomonic if row.disease_id == own)

    def red_flags_of(self, about: str) -> tuple[RedFlag, ...]:
        """What makes a complaint (a concept) or a disease dangerous."""
        own = self.disease(about)
        return tuple(row for row in self.red_flags if row.about == own)

    def acuity_of(self, disease_id: str) -> int | None:
        """How urgent a disease is, 1 to 5 on the scale of the curated profiles, which go before data/clinical/acuity.csv."""
        curated = _curated_acuity()
        own = self.disease(disease_id)
        same = [key for key, row in self.diseases.items() if row.same_as == own]
        found = (curated.get(key) for key in (disease_id, own, *same))
        return next((level for level in found if level is not None), self.acuities.get(own))

    def rumors_about(self, concept: str) -> tuple[Rumor, ...]:
        """Common false beliefs about a symptom or disease, by its canonical id."""
        return tuple(row for row in self.rumors if row.concept == concept)

    # -- drugs ------------------------------------------------------------------------------------------------------

    def contraindications_for(self, subject: str) -> tuple[Contraindication, ...]:
        """What speaks against an ingredient, by its own rows and those of its classes; or against a class (`class:…`).

        Allergy to the ingredient itself speaks against every ingredient and has no rows. An unknown ingredient has none either.
        """
        subjects = {subject, *(CLASS_PREFIX + name for name in self.classes_of(subject))}
        return tuple(row for row in self.contraindications if row.ingredient in subjects)

    def classes_of(self, subject: str) -> tuple[str, ...]:
        """The classes of an ingredient; for a class (`class:…`) itself and those that all of its ingredients belong to."""
        if not subject.startswith(CLASS_PREFIX):
            drug = self.drugs.get(subject)
            return drug.classes if drug is not None else ()
        name = subject[len(CLASS_PREFIX) :]
        members = [drug.classes for drug in self.drugs.values() if name in drug.classes]
        return (name, *(other for other in (members[0] if members else ()) if other != name and all(other in own for own in members)))

    def members(self, subject: str) -> tuple[str, ...]:
        """The ingredients that `class:…` stands for; an ingredient stands for itself."""
        if not subject.startswith(CLASS_PREFIX):
            return (subject,)
        return tuple(name for name, drug in self.drugs.items() if subject[len(CLASS_PREFIX) :] in drug.classes)

    def find_drug(self, text: str) -> tuple[DrugMention, ...]:
        """The drugs and classes of drugs that a text names, in its order; the longest name where several overlap."""
        mentions = []
        for match in self._lexicon.find(text):
            subject = self._subjects[match.concept]
            ingredient = None if subject.startswith(CLASS_PREFIX) else subject
            mentions.append(DrugMention(match.start, match.end, text[match.start : match.end], ingredient, self.classes_of(subject)))
        return tuple(mentions)

    def with_contraindications(self, rows: Iterable[Contraindication]) -> ClinicalTables:
        """The same tables with further contraindications, e.g. from a file of `bedside kb import-medrt`."""
        more = (*self.contraindications, *rows)
        version = content_hash([self.version, [row.model_dump(mode="json") for row in more[len(self.contraindications) :]]])[:16]
        return replace(self, contraindications=more, version=version)

    @cached_property
    def subjects_of(self) -> Mapping[str, tuple[str, ...]]:
        """What a concept says is taken: the classes that have it, else the one ingredient that has it; nothing where several do."""
        classes: dict[str, list[str]] = defaultdict(list)
        ingredients: dict[str, list[str]] = defaultdict(list)
        for name, drug_class in self.classes.items():
            for concept in drug_class.concepts:
                classes[concept].append(CLASS_PREFIX + name)
        for name, drug in self.drugs.items():
            for concept in drug.concepts:
                ingredients[concept].append(name)
        alone = {concept: names for concept, names in ingredients.items() if len(names) == 1}
        return {concept: tuple(names) for concept, names in {**alone, **classes}.items()}

    @cached_property
    def _subjects(self) -> dict[str, str]:
        subjects = [*self.drugs, *(CLASS_PREFIX + name for name in self.classes)]
        return {_lexicon_id(subject): subject for subject in subjects}

    @cached_property
    def _lexicon(self) -> Vocabulary:
        rows = [_lexicon_row(name, name, drug.names) for name, drug in self.drugs.items()]
        for name, drug_class in self.classes.items():
            if drug_class.names:
                rows.append(_lexicon_row(CLASS_PREFIX + name, drug_class.names[0], drug_class.names[1:]))
        return Vocabulary(rows, {}, "")

    # -- free text --------------------------------------------------------------------------------------------------

    def matcher(self, written: str) -> Matcher:
        """The matcher of a row of these tables, or one newly written in the same language.

        Raises:
            BedsideError: a new one cannot be read.
        """
        return self.matchers.get(written) or Matcher.parse(written, self.wordings, "matcher")

    def reading(self, text: str, vocabulary: Phrases) -> Reading:
        """A text made ready for `Matcher.find`.

        Args:
            text: the text, e.g. all that an examiner said.
            vocabulary: recognises the concepts that matchers name.
        """

        def drugs(plain: str) -> list[tuple[int, int, frozenset[str]]]:
            return [(m.start, m.end, frozenset({*m.classes, m.ingredient or ""})) for m in self.find_drug(plain)]

        def concepts(plain: str) -> list[tuple[int, int, frozenset[str]]]:
            return [(m.start, m.end, frozenset({m.concept, *vocabulary.ancestors(m.concept)})) for m in vocabulary.find(plain)]

        return Reading(text, drugs, concepts)


def _lexicon_id(subject: str) -> str:
    return "X:" + re.sub(r"[^a-z0-9]+", "-", folded(subject))


def _lexicon_row(subject: str, name: str, names: Iterable[str]) -> ConceptRow:
    return ConceptRow(id=_lexicon_id(subject), name=name, basis="local", kind="medication", lay=list(names))


# -- reading ------------------------------------------------------------------------------------------------------------


def read_contraindications(text: str, where: str) -> list[Contraindication]:
    """Rows of a file in the form of data/clinical/contraindications.csv, e.g. one that an importer wrote.

    Raises:
        BedsideError: a row is not well-formed; the message names file and line.
    """
    return _values(read_rows(text, where, Contraindication))


@lru_cache(maxsize=1)
def clinical_version() -> str:
    """Changes with any character of the tables."""
    return content_hash([[file.name, file.read_text(encoding="utf-8")] for file in bundled_files(FOLDER, ".csv")])[:16]


@lru_cache(maxsize=1)
def clinical_tables() -> ClinicalTables:
    """The bundled tables.

    Raises:
        BedsideError: a row is not well-formed, given twice, or names an unknown class, ingredient or wording; the message says where.
    """
    classes = _unique(_table("drug_classes", DrugClass), lambda row: row.drug_class)
    drugs = _unique(_table("drugs", Drug, _known_classes(classes)), lambda row: row.ingredient)
    diseases = _unique(_table("diseases", Disease), lambda row: row.disease_id)
    wordings = _wordings(_table("wordings", Wording))
    subjects = {*drugs, *(CLASS_PREFIX + name for name in classes)}

    def known_subjects(row: Contraindication, place: str) -> None:
        for subject in (row.ingredient, *row.drugs):
            if subject not in subjects:
                raise BedsideError(f"unknown ingredient or class {subject!r}", place, "see drugs.csv and drug_classes.csv")

    matchers: dict[str, Matcher] = {}

    def readable(row: Advice | Point | Rumor, place: str) -> None:
        matchers[row.matcher] = Matcher.parse(row.matcher, wordings, place)

    advice = _table("critical_advice", Advice, readable)
    points = _table("score_points", Point, readable)
    rumors = _table("rumors", Rumor, readable)
    acuities = _unique(_table("acuity", Acuity), lambda row: row.disease_id)
    _unique(advice, lambda row: (row.disease_id, row.advice_id))
    _unique(points, lambda row: (row.disease_id, row.heading, row.point_id))
    _unique(rumors, lambda row: row.rumor_id)
    contraindications = _table("contraindications", Contraindication, known_subjects)
    _unique(contraindications, lambda row: (row.ingredient, row.kind, row.against))
    return ClinicalTables(
        version=clinical_version(),
        drugs=drugs,
        classes=classes,
        diseases=diseases,
        contraindications=tuple(_values(contraindications)),
        advice=tuple(_values(advice)),
        points=tuple(_values(points)),
        sine_qua_non=tuple(_values(_table("sine_qua_non", SineQuaNon))),
        pathognomonic=tuple(_values(_table("pathognomonic", Pathognomonic))),
        red_flags=tuple(_values(_table("red_flags", RedFlag))),
        acuities={name: row.acuity for name, row in acuities.items()},
        rumors=tuple(_values(rumors)),
        wordings=wordings,
        matchers=matchers,
    )


def _table(name: str, model: type[T], check: Callable[[T, str], None] | None = None) -> Placed[T]:
    return read_rows(bundled_text(f"{FOLDER}/{name}.csv"), f"data/{FOLDER}/{name}.csv", model, check)


def _values(rows: Placed[T]) -> list[T]:
    return [row for _, row in rows]


def _unique(rows: Placed[T], key: Callable[[T], object]) -> dict[str, T]:
    """Rows by key.

    Raises:
        BedsideError: a key is given twice.
    """
    found: dict[str, T] = {}
    places: dict[str, list[str]] = defaultdict(list)
    for place, row in rows:
        name = str(key(row))
        found[name] = row
        places[name].append(place)
        if len(places[name]) > 1:
            raise BedsideError(f"{name} is given before, in {places[name][0]}", place)
    return found


def _known_classes(classes: Mapping[str, DrugClass]) -> Callable[[Drug, str], None]:
    def check(row: Drug, place: str) -> None:
        for name in row.classes:
            if name not in classes:
                raise BedsideError(f"unknown class {name!r}", place, "see drug_classes.csv")

    return check


def _wordings(rows: Placed[Wording]) -> dict[str, Matcher]:
    """Wordings in the order of the file; each may use those before it."""
    found: dict[str, Matcher] = {}
    for place, row in rows:
        found[row.wording] = Matcher.parse(row.matcher, found, place)
    return found


@lru_cache(maxsize=1)
def _curated_acuity() -> dict[str, int]:
    return {row["disease_id"]: int(row["acuity"]) for row in bundled_rows("profiles/curated_meta.csv") if row["acuity"]}
