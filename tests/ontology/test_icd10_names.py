"""Names beyond the classification's own: our synonyms, and diagnoses in the words of a report (metrics.md 3.2, rule 6)."""

from __future__ import annotations

from collections import Counter

import pytest

from ontology.icd10 import fold_name, icd_tree, name_index, normalise, overlap, resolve, synonym_table, synonyms_version
from ontology.icd10.phrases import compound, is_short_for, without_hedge, without_qualifier
from ontology.resources import bundled_rows

ROWS = bundled_rows("icd10/synonyms.csv")

OURS_AGAINST_THE_CLASSIFICATION = {
    "erythema migrans",
    "hepatitis b",
    "triple negative breast cancer",
    "lymphadenitis",
    "pyloric stenosis",
    "epidermoid cyst",
    "drowning",
}
"""Names under which ICD-10-CM lists, as an inclusion term of a special code, something else than they mean alone."""


def test_table_is_complete_and_sound() -> None:
    """At least 600 names; every one has a code that exists, a kind, a source and a licence, and comes once."""
    assert len(ROWS) >= 600
    assert list(ROWS[0]) == ["name", "code", "basis", "source", "license", "reviewed_by"]
    twice = [name for name, times in Counter(fold_name(row["name"]) for row in ROWS).items() if times > 1]
    assert twice == []
    for row in ROWS:
        assert row["code"] in icd_tree(), row
        assert row["basis"] in {"clinical name", "abbreviation", "eponym", "lay name"}
        assert row["source"] and row["license"] and row["name"] == row["name"].strip()
    assert {row["code"][0] for row in ROWS} > set("ABCDEFGHIJKLMNOPQRST")


def test_table_does_not_contradict_the_classification() -> None:
    """Where ICD-10-CM gives the name itself, ours is that code, one above or one below; titles are never overruled."""
    against = set()
    for row in ROWS:
        match = name_index().match(row["name"])
        if match is None or match.code is None:
            continue
        assert match.kind != "title", row
        between = overlap(row["code"], match.code)
        if between.extra and between.missed:
            against.add(fold_name(row["name"]))
    assert against == OURS_AGAINST_THE_CLASSIFICATION


def test_version_is_a_hash_of_names_and_codes() -> None:
    """The version is stable, and not empty."""
    assert synonyms_version() == synonyms_version()
    assert len(synonyms_version()) == 16
    assert len(synonym_table()) == len(ROWS)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("Boerhaave syndrome", "K22.3"),
        ("GCA", "M31.6"),
        ("Heart attack", "I21"),
        ("STEMI", "I21.3"),
        ("shingles", "B02"),
        ("C. difficile colitis", "A04.7"),
        ("Henoch-Schönlein purpura", "D69.0"),
        ("Haemolytic uraemic syndrome", "D59.3"),
        ("glue ear", "H65.3"),
        ("slipped disc", "M51.2"),
        ("broken hip", "S72.0"),
        ("morning sickness", "O21.0"),
        ("cradle cap", "L21.0"),
        ("PTSD", "F43.1"),
        ("TB", "A15-A19"),
    ],
)
def test_common_names(text: str, code: str) -> None:
    """Eponyms, abbreviations, lay names, British spelling."""
    assert resolve(text).codes == (code,)


@pytest.mark.parametrize(
    ("text", "code", "path"),
    [
        ("heart attack", "I21", "synonym"),
        ("Unstable angina", "I20.0", "title"),
        ("astma", "J45", "lexical:0.91"),
        ("Pyelonephritis, acute", "N10", "lexical:0.97"),
        ("I21.02", "I21.02", "code"),
        ("asthma or COPD", "", "none"),
    ],
)
def test_path_is_recorded(text: str, code: str, path: str) -> None:
    """3.2 rule 6: what decided, with the likeness where that did."""
    found = resolve(text)
    assert found.path == path
    assert ",".join(found.codes) == code


@pytest.mark.parametrize(
    ("text", "code", "step"),
    [
        ("possible pneumonia", "J18", "hedge set aside: possible"),
        ("Most likely acute MI", "I21", "hedge set aside: Most likely"),
        ("r/o appendicitis", "K37", "hedge set aside: r/o"),
        ("Diagnosis: migraine", "G43", "hedge set aside: Diagnosis"),
        ("left inguinal hernia", "K40", "qualifier set aside: left"),
        ("severe asthma", "J45", "qualifier set aside: severe"),
        ("Otitis media, left", "H66.9", "qualifier set aside: left"),
        ("active chronic hepatitis B", "B18.1", "qualifier set aside: active"),
        ("Pulmonary embolism (PE)", "I26", "name and brackets agree"),
        ("Heart failure (HFrEF)", "I50.2", "name and brackets agree"),
        ("Legg-Calvé-Perthes disease (LCPD)", "M91.1", "brackets set aside: LCPD"),
        ("Meningitis (bacterial)", "G00.9", "lexical:0.97 to 'bacterial meningitis'"),
        ("Acute pancreatitis secondary to gallstones", "K85", "cause set aside: gallstones"),
        ("Hypertension secondary to renal artery stenosis", "I15", "cause set aside: renal artery stenosis"),
        ("Anemia secondary to chronic kidney disease", "D63.1", "read as 'Anemia due to chronic kidney disease'"),
        ("GERD / acid reflux", "K21", "all alternatives are the same"),
    ],
)
def test_what_is_set_aside_is_recorded(text: str, code: str, step: str) -> None:
    """Hedges, qualifiers, brackets, causes: the code, and the step."""
    found = resolve(text)
    assert found.codes == (code,)
    assert found.steps[0] == step


def test_a_qualifier_that_may_change_the_code_leads_to_the_category() -> None:
    """Severe depression is not F32.A, depression unspecified; it is somewhere in F32."""
    assert resolve("severe depression").codes == ("F32",)
    assert resolve("STEMI (inferior)").codes == ("I21",)


@pytest.mark.parametrize(
    ("text", "candidates"),
    [
        ("pneumonia vs pulmonary embolism", ("J18", "I26")),
        ("asthma or COPD", ("J45", "J44")),
        ("viral meningitis/bacterial meningitis", ("A87", "G00.9")),
        ("Pneumonia and sepsis", ("J18", "A41.9")),
        ("pneumonia with sepsis", ("J18", "A41.9")),
        ("heart failure (pneumonia)", ("I50", "J18")),
        ("chest pain due to myocardial infarction", ("R07.9", "I21")),
        ("sepsis due to pneumonia", ("A41.9", "J18")),
        ("Cardiac infarction", ("I21", "I22")),
    ],
)
def test_no_choice_among_several(text: str, candidates: tuple[str, ...]) -> None:
    """Two conditions, or one of two: the codes are offered, none is taken."""
    found = resolve(text)
    assert (found.codes, found.candidates, found.unresolved) == ((), candidates, (text,))


@pytest.mark.parametrize(
    "text",
    [
        "no evidence of pneumonia",
        "Not pneumonia",
        "history of stroke",
        "family history of breast cancer",
        "status post appendectomy",
        "disease",
        "acute",
        "left",
        "I don't know",
        "normal",
        "patient",
        "cholera-like illness",
        "Neuropathy of unknown name",
    ],
)
def test_nothing_is_guessed(text: str) -> None:
    """What is denied, past, or no name stays unresolved."""
    found = resolve(text)
    assert (found.codes, found.path) == ((), "none")


@pytest.mark.parametrize(
    "text", ["Pyelonephritis", "Nephritis", "Meningoencephalitis", "Glomerulonephritis", "Adenomatous polyp", "Caffeine", "Anal canal"]
)
def test_terms_that_mean_a_code_only_under_its_title(text: str) -> None:
    """ICD-10-CM lists "Pyelonephritis" under N16, "… in diseases classified elsewhere": alone it means another code, or none."""
    found = resolve(text)
    assert not found.manifestation_only
    assert not {"N08", "N16", "A69.22", "D28", "F15", "K62"} & set(found.codes)


def test_callers_synonyms_go_before_ours_and_inside_phrases() -> None:
    """A case's own names are looked up as they stand, and in the parts of a compound text."""
    known = {fold_name("heart attack"): "I21.4", fold_name("Zebra fever"): "B50"}
    assert resolve("heart attack", known).codes == ("I21.4",)
    assert resolve("possible zebra fever", known).codes == ("B50",)
    assert resolve("possible zebra fever").codes == ()


def test_every_code_of_the_table_is_in_normal_form() -> None:
    """`normalise` has nothing to do with them."""
    for row in ROWS:
        found = normalise(row["code"])
        assert (found.codes, found.steps) == ((row["code"],), ()), row


def test_forms_of_phrases() -> None:
    """What the text alone tells."""
    assert without_hedge("Probable Crohn's disease?") == ("Crohn's disease", "Probable")
    assert without_hedge("gout?") == ("gout", "?")
    assert without_hedge("likely") == ("likely", "")
    assert without_qualifier("acute on chronic gout") == ("on chronic gout", "acute")
    assert without_qualifier("gout, left") == ("gout", "left")
    assert without_qualifier("acute") is None
    assert compound("gout") is None
    found = compound("gout vs. sepsis")
    assert found is not None and (found.kind, found.parts) == ("alternatives", ("gout", "sepsis"))


@pytest.mark.parametrize(
    ("short", "name", "expected"),
    [
        ("PML", "Progressive multifocal encephalopathy", True),
        ("BPPV", "Benign paroxysmal positional vertigo", True),
        ("PML", "Pneumonia", False),
        ("left", "Left hernia", False),
        ("A", "Asthma", False),
    ],
)
def test_abbreviations(short: str, name: str, expected: bool) -> None:
    """Capitals out of the name, its first letter first."""
    assert is_short_for(short, name) is expected
