"""The clinical tables (metrics.md 2.2, 5.2, 6, 8, 9.1): what is said of a row here holds for every row."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

import ontology.clinical
from ontology.clinical import ClinicalTables, clinical_tables, read_contraindications
from ontology.clinical_check import clinical_problems, known_diseases
from ontology.clinical_rows import HEADINGS, Contraindication, Row, SineQuaNon, read_rows, write_rows
from ontology.errors import BedsideError
from ontology.icd10 import same_at
from ontology.profiles import load_profiles
from ontology.resources import bundled_rows, bundled_text
from ontology.versions import kb_version
from ontology.vocabulary import Vocabulary
from simulator.cases_io import read_cases
from simulator.sources.ddxplus_tables import ddxplus_tables

TABLES = clinical_tables()
CONDITIONS = sorted(row.disease_id for row in ddxplus_tables().conditions.values())
STARTER = sorted((Path(ontology.clinical.__file__).parents[1] / "data" / "cases" / "starter").glob("*.json"))
META = {"source": "a test", "license": "Apache-2.0", "reviewed_by": None, "review_date": None, "verdict": None}
SOURCE = re.compile(
    r"\d{4}|\b(?:NICE|BNF|NHS|FDA|WHO|MHRA|UKHSA|FSRH|GINA|GOLD|EPOS|CDC|EMA|EAU|SmPC)\b|Royal College|British Heart Foundation|"
    r"Diabetes UK|general clinical knowledge; not verified|International Classification of Headache Disorders"
)
"""Years of guidelines and papers, publishers, or the admission that there is none."""


def rows_of_every_table() -> list[tuple[str, Row]]:
    """All rows, with the table's name."""
    tables: dict[str, tuple[Row, ...]] = {
        "drugs": tuple(TABLES.drugs.values()),
        "classes": tuple(TABLES.classes.values()),
        "diseases": tuple(TABLES.diseases.values()),
        "contraindications": TABLES.contraindications,
        "advice": TABLES.advice,
        "points": TABLES.points,
        "sine_qua_non": TABLES.sine_qua_non,
        "pathognomonic": TABLES.pathognomonic,
        "red_flags": TABLES.red_flags,
        "rumors": TABLES.rumors,
    }
    return [(name, row) for name, rows in tables.items() for row in rows]


def said(written: str, text: str, vocabulary: Vocabulary, tables: ClinicalTables = TABLES) -> bool:
    return bool(tables.matcher(written).find(tables.reading(text, vocabulary)))


# -- the bundled rows -------------------------------------------------------------------------------------------------


def test_nothing_is_wrong_between_the_tables(vocabulary: Vocabulary) -> None:
    """Known diseases, concepts, codes, drugs; nine points and advice for each disease; matchers that find their own text."""
    assert not clinical_problems(TABLES, vocabulary)


def test_every_row_is_sourced_and_unreviewed() -> None:
    """A source that names a guideline, label, paper or says that there is none; Apache-2.0; no clinician has reviewed it."""
    for name, row in rows_of_every_table():
        assert row.license == "Apache-2.0", row
        assert (row.reviewed_by, row.review_date, row.verdict) == (None, None, None), row
        if name in ("contraindications", "advice", "points", "sine_qua_non", "pathognomonic", "red_flags", "rumors"):
            assert SOURCE.search(row.source), f"{name}: {row.source}"


@pytest.mark.parametrize("disease", CONDITIONS)
def test_every_condition_has_nine_points_advice_and_acuity(disease: str) -> None:
    """metrics.md 9.1 step 7: exactly three points each for evidence, treatment and lifestyle; section 6: critical advice."""
    assert len(CONDITIONS) == 49
    assert Counter(point.heading for point in TABLES.points_for(disease)) == dict.fromkeys(HEADINGS, 3)
    assert [point.point_id for heading in HEADINGS for point in TABLES.points_for(disease, heading)] == [
        f"{heading[0]}{number}" for heading in HEADINGS for number in (1, 2, 3)
    ]
    assert any(row.critical for row in TABLES.advice_for(disease))
    assert TABLES.acuity_of(disease) in range(1, 6)


def test_the_tables_are_as_large_as_issue_4_wants() -> None:
    """150 contraindications of 60 ingredients, 150 ingredients, 60 rumors."""
    assert len(TABLES.drugs) >= 150
    assert len(TABLES.contraindications) >= 150
    assert len({name for row in TABLES.contraindications for name in TABLES.members(row.ingredient)}) >= 60
    assert len(TABLES.rumors) >= 60
    assert {row.kind for row in TABLES.contraindications} == {"condition", "allergy", "drug", "pregnancy", "age"}


@pytest.mark.parametrize("path", STARTER, ids=lambda path: path.stem)
def test_starter_cases_are_covered(path: Path) -> None:
    """Their diseases have points and advice, and what they call contraindicated is found as one drug."""
    (case,) = read_cases(path)
    truth = case.ground_truth
    assert len(TABLES.points_for(truth.disease_id)) == 9 and TABLES.advice_for(truth.disease_id)
    for name in truth.contraindicated:
        found = TABLES.find_drug(name)
        assert [mention.surface for mention in found] == [name]


def test_points_of_a_disease_are_told_apart(vocabulary: Vocabulary) -> None:
    """A point's matcher finds few of the other eight points of its disease, and few points of other diseases (5 % and 5 % when written)."""
    readings = {id(point): TABLES.reading(point.text, vocabulary) for point in TABLES.points}
    within, across = Counter[bool](), Counter[bool]()
    for point in TABLES.points:
        matcher = TABLES.matcher(point.matcher)
        for other in TABLES.points[:: 1 if point.heading == "treatment" else 5]:
            if other is not point:
                same = other.disease_id == point.disease_id
                (within if same else across)[bool(matcher.find(readings[id(other)]))] += 1
    assert within[True] < 0.08 * within.total()
    assert across[True] < 0.05 * across.total()


def test_rumors_are_beliefs_not_diagnoses() -> None:
    """A rumor never says what this patient's complaint comes from (9.1 step 4); all wordings differ."""
    for row in TABLES.rumors:
        assert not re.search(r"\bI (?:have|think I have)|\byou have\b", row.rumor), row.rumor
        assert row.rationality == 1
    assert len({row.rumor for row in TABLES.rumors}) == len(TABLES.rumors)


def test_diseases_that_share_rows_share_a_block() -> None:
    """`same_as` joins what ICD-10-CM puts into one block."""
    conditions = {row["disease_id"]: row for row in bundled_rows("ddxplus/conditions.csv")}
    for name, row in TABLES.diseases.items():
        if row.same_as in conditions:
            assert same_at("block", row.icd10, conditions[row.same_as]["icd10"].split("|")), name


def test_no_second_copy_of_an_acuity() -> None:
    """What the curated profiles say of a disease stands there alone."""
    curated = {row["disease_id"]: int(row["acuity"]) for row in bundled_rows("profiles/curated_meta.csv")}
    for name, level in curated.items():
        assert TABLES.acuity_of(name) == level
        assert name not in TABLES.acuities


# -- golden look-ups --------------------------------------------------------------------------------------------------

GOLDEN_CONTRAINDICATIONS = [
    ("amoxicillin", "allergy", "X:penicillin-allergy", "absolute"),
    ("co-amoxiclav", "allergy", "X:penicillin-allergy", "absolute"),
    ("ibuprofen", "condition", "C0030920", "absolute"),
    ("ibuprofen", "condition", "C1561643", "relative"),
    ("ibuprofen", "drug", "class:anticoagulant", "absolute"),
    ("propranolol", "condition", "C0004096", "absolute"),
    ("glyceryl trinitrate", "drug", "class:pde5-inhibitor", "absolute"),
    ("sildenafil", "drug", "class:nitrate", "absolute"),
    ("sumatriptan", "condition", "C0027051", "absolute"),
    ("metformin", "condition", "N18.4", "absolute"),
    ("alteplase", "condition", "I61", "absolute"),
    ("bendroflumethiazide", "condition", "E87.1", "absolute"),
    ("indapamide", "condition", "M10", "relative"),
    ("codeine", "condition", "X:breastfeeding", "absolute"),
    ("ciprofloxacin", "condition", "G70.0", "relative"),
    ("ciprofloxacin", "condition", "I45.81", "relative"),
    ("metoclopramide", "condition", "X:parkinsons-disease", "absolute"),
    ("digoxin", "drug", "amiodarone", "relative"),
    ("methotrexate", "drug", "class:nsaid", ""),
]


@pytest.mark.parametrize(("drug", "kind", "against", "strength"), GOLDEN_CONTRAINDICATIONS)
def test_golden_contraindications(drug: str, kind: str, against: str, strength: str) -> None:
    """What any formulary says; the last line is a rule that stands with the other drug alone."""
    found = [
        row.strength
        for row in TABLES.contraindications_for(drug)
        if row.kind == kind and against in (*row.concepts, *row.icd10, *row.drugs)
    ]
    assert found == ([strength] if strength else [])


@pytest.mark.parametrize(
    ("drug", "week", "strengths"),
    [
        ("ramipril", 8, ["absolute"]),
        ("naproxen", 30, ["absolute"]),
        ("naproxen", 24, ["relative"]),
        ("naproxen", 10, []),
        ("naproxen", None, ["absolute", "relative"]),
        ("doxycycline", 20, ["absolute"]),
        ("paracetamol", 30, []),
        ("valproate", 5, ["absolute"]),
    ],
)
def test_golden_pregnancy(drug: str, week: int | None, strengths: list[str]) -> None:
    """By week; where the week is unknown any row counts."""
    assert [row.strength for row in TABLES.contraindications_for(drug) if row.in_week(week)] == strengths


@pytest.mark.parametrize(
    ("drug", "age", "strengths"),
    [
        ("aspirin", 15, ["absolute"]),
        ("aspirin", 16, []),
        ("doxycycline", 7, ["absolute"]),
        ("doxycycline", 9, ["relative"]),
        ("doxycycline", 12, []),
        ("codeine", 11, ["absolute"]),
        ("amitriptyline", 80, ["relative"]),
    ],
)
def test_golden_ages(drug: str, age: int, strengths: list[str]) -> None:
    """In completed years; the lower bound belongs to the range, the upper does not."""
    assert [row.strength for row in TABLES.contraindications_for(drug) if row.at_age(age)] == strengths


def test_a_class_has_the_rows_of_what_all_its_members_are() -> None:
    """ "Start a thiazide" meets the rows of the class; an unknown name has none."""
    assert {row.against for row in TABLES.contraindications_for("class:thiazide")} >= {"hyponatraemia", "gout"}
    assert set(TABLES.members("class:penicillin")) >= {"amoxicillin", "flucloxacillin"}
    assert TABLES.contraindications_for("zorbamine") == ()
    assert TABLES.classes_of("class:penicillin") == ("penicillin", "beta-lactam", "antibiotic")


def test_golden_sine_qua_non() -> None:
    """metrics.md 5.2: age ≥ 50 for giant cell arteritis, met without a question."""
    (row,) = TABLES.sine_qua_non_of("gca")
    assert (row.predicate, row.met_by(50, "F"), row.met_by(49, "F")) == ("age>=50", True, False)
    (infant,) = TABLES.sine_qua_non_of("ddx-bronchiolitis")
    assert infant.met_by(1, "M") and not infant.met_by(2, "M")
    sexes = [row for row in TABLES.sine_qua_non_of("testicular-torsion") if row.predicate == "sex=M"]
    assert sexes[0].met_by(15, "M") and sexes[0].met_by(15, "unknown") and not sexes[0].met_by(15, "F")


def test_rows_of_a_disease_hold_for_its_other_ids() -> None:
    """A curated profile and a DDXPlus condition that mean one disease have one list."""
    assert TABLES.advice_for("pulmonary-embolism") == TABLES.advice_for("ddx-pulmonary-embolism") != ()
    assert TABLES.advice_for("no-such-disease") == () == TABLES.points_for("no-such-disease")
    assert {"gca", "ddx-sle", "croup"} <= known_diseases(TABLES)


# -- drugs in text ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("subject", [*TABLES.drugs, *(f"class:{name}" for name in TABLES.classes)])
def test_every_name_of_a_drug_is_found(subject: str) -> None:
    """Alone, in capitals and in a sentence, as that drug or class and nothing else."""
    drug_class = TABLES.classes.get(subject.removeprefix("class:")) if subject.startswith("class:") else None
    names = drug_class.names if drug_class else (subject, *TABLES.drugs[subject].names)
    for name in names:
        for text in (name, name.upper(), f"Please take {name}, twice a day."):
            found = TABLES.find_drug(text)
            assert [mention.subject for mention in found] == [subject], f"{text!r}: {found}"
            assert text[found[0].start : found[0].end] == found[0].surface
            assert found[0].surface.lower() == name.lower()


def test_drugs_are_found_where_they_stand() -> None:
    """The longest name wins; classes are mentions of their own."""
    text = "Take co-amoxiclav (amoxicillin and clavulanate) with food, no NSAIDs, and St John’s wort never."
    assert [(m.surface, m.subject) for m in TABLES.find_drug(text)] == [
        ("co-amoxiclav", "co-amoxiclav"),
        ("amoxicillin and clavulanate", "co-amoxiclav"),
        ("NSAIDs", "class:nsaid"),
        ("St John’s wort", "St John's wort"),
    ]
    assert TABLES.find_drug("Rest, drink enough water and come back on Monday if you feel worse.") == ()


# -- matchers ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("written", "text", "found"),
    [
        ("call+ambulance", "Call an ambulance.", True),
        ("call+ambulance", "Call me. An ambulance is not needed.", False),
        ("rest", "You must not rest.", False),
        ("rest", "Do not work, rest.", True),
        ("@nsaid", "Take some Nurofen.", True),
        ("@nsaid", "Avoid ibuprofen.", False),
        ("avoid+@nsaid", "Avoid ibuprofen.", True),
        ("avoid+@nsaid", "Ibuprofen is fine, avoid tea.", False),
        ("$no+@nsaid", "Please do not take any ibuprofen.", True),
        ("$emergency", "Do not hesitate to call 999.", True),
        ("$emergency", "Go straight to A&E.", True),
        ("$emergency", "There is no need for an ambulance.", False),
        ("$smoking", "It would help to stop smoking.", True),
        ("$smoking", "You smoke.", False),
        ("urolog*", "I will ask the urologist.", True),
        ("#C0013404", "It makes you short of breath.", True),
        ("#C0013404", "You have no shortness of breath.", False),
        ("fluid;water", "Drink water", True),
    ],
)
def test_the_language_of_matchers(vocabulary: Vocabulary, written: str, text: str, found: bool) -> None:
    """Alternatives, conjunctions within a sentence, drugs, concepts, shared wordings, beginnings of words, negation."""
    assert said(written, text, vocabulary) == found


def test_matches_are_spans_of_the_text(vocabulary: Vocabulary) -> None:
    """Code points of the text, one span a sentence."""
    text = "Well. Take paracetamol – and rest!\nThen take more paracetamol."
    spans = TABLES.matcher("take+@paracetamol").find(TABLES.reading(text, vocabulary))
    assert [text[a:b] for a, b in spans] == ["Take paracetamol", "take more paracetamol"]


@pytest.mark.parametrize("written", ["", "a", "rest;", "rest+", "$nothing", "…"])
def test_matchers_that_say_nothing_are_refused(written: str) -> None:
    """With a line that names the file."""
    with pytest.raises(BedsideError, match=r"^matcher: "):
        TABLES.matcher(written)


# -- reading ----------------------------------------------------------------------------------------------------------


def contraindication(**cells: object) -> dict[str, object]:
    return {
        "ingredient": "ibuprofen",
        "kind": "condition",
        "against": "ulcer",
        "strength": "absolute",
        "reason": "bleeding",
        **META,
        **cells,
    }


@pytest.mark.parametrize(
    ("cells", "wrong"),
    [
        ({}, "do not say when"),
        ({"concepts": "C0030920", "from_age": 3}, "do not say when"),
        ({"kind": "pregnancy", "from_week": 30}, "do not say when"),
        ({"kind": "pregnancy", "from_week": 30, "to_week": 20}, "range is empty"),
        ({"kind": "age"}, "do not say when"),
        ({"kind": "age", "from_age": 16, "below_age": 16}, "range is empty"),
        ({"kind": "drug", "concepts": "C0030920"}, "do not say when"),
        ({"concepts": "ulcer"}, "concepts"),
        ({"concepts": "C0030920", "strength": "maybe"}, "strength"),
        ({"concepts": "C0030920", "source": ""}, "source"),
        ({"concepts": "C0030920", "reviewed_by": "A. Doctor"}, "go together"),
    ],
)
def test_broken_rows_are_named(cells: dict[str, object], wrong: str) -> None:
    """With file and line."""
    columns = list(Contraindication.model_fields)
    row = {**contraindication(), **cells}
    text = "\n".join([",".join(columns), ",".join(str(row.get(name) or "") for name in columns)])
    with pytest.raises(BedsideError, match=rf"^mine\.csv:2: .*{wrong}"):
        read_contraindications(text, "mine.csv")


@pytest.mark.parametrize(
    ("text", "wrong"),
    [("", "columns"), ("ingredient,colour\n", "columns"), ("{header}\nibuprofen\n", "cells"), ('{header}\n"open\n', "CSV")],
)
def test_broken_tables_are_named(text: str, wrong: str) -> None:
    """A header that does not fit, a short row, an open quotation."""
    header = ",".join(Contraindication.model_fields)
    with pytest.raises(BedsideError, match=rf"^mine\.csv.*{wrong}"):
        read_contraindications(text.replace("{header}", header), "mine.csv")


@pytest.mark.parametrize(
    ("table", "old", "new", "wrong"),
    [
        ("drugs", "penicillin|beta-lactam", "zorbamycin|beta-lactam", r"drugs\.csv:\d+: unknown class 'zorbamycin'"),
        (
            "contraindications",
            "class:penicillin,allergy",
            "class:zorb,allergy",
            r"contraindications\.csv:\d+: unknown ingredient or class 'class:zorb'",
        ),
        ("score_points", "$emergency", "$zorbing", r"no wording is called 'zorbing'"),
        ("critical_advice", "ddx-gerd,a2", "ddx-gerd,a1", r"critical_advice\.csv:\d+: .*given before"),
    ],
)
def test_broken_bundled_tables_are_named(monkeypatch: pytest.MonkeyPatch, table: str, old: str, new: str, wrong: str) -> None:
    """File and line, as for a user's file."""

    def changed(path: str, package: str = "data") -> str:
        text = bundled_text(path, package)
        if path == f"clinical/{table}.csv":
            assert old in text or table == "score_points"
            return text.replace(old, new) if old in text else text.replace("$", "$zorbing;$", 1)
        return text

    monkeypatch.setattr(ontology.clinical, "bundled_text", changed)
    with pytest.raises(BedsideError, match=wrong):
        clinical_tables.__wrapped__()


def test_tables_survive_being_written() -> None:
    """What `write_rows` writes, `read_rows` reads back."""
    rows = list(TABLES.contraindications)
    assert read_contraindications(write_rows(rows, Contraindication), "back.csv") == rows
    demands = list(TABLES.sine_qua_non)
    assert [row for _, row in read_rows(write_rows(demands, SineQuaNon), "back.csv", SineQuaNon)] == demands


def test_further_contraindications_are_found_and_change_the_version() -> None:
    """A user's file beside ours."""
    row = Contraindication.model_validate(contraindication(ingredient="amoxicillin", concepts=("C0030920",)))
    more = TABLES.with_contraindications([row])
    assert row in more.contraindications_for("amoxicillin") and row not in TABLES.contraindications_for("amoxicillin")
    assert more.version != TABLES.version


def test_the_knowledge_version_changes_with_the_tables(vocabulary: Vocabulary, monkeypatch: pytest.MonkeyPatch) -> None:
    """Scores of other advice or contraindications are not comparable."""
    profiles = load_profiles("curated")
    before = kb_version(profiles, vocabulary)
    assert kb_version(profiles, vocabulary) == before
    monkeypatch.setattr("ontology.versions.clinical_version", lambda: "other")
    assert kb_version(profiles, vocabulary) != before
