"""Diagnoses as people write them: codes, names with codes, names (metrics.md 3.2, rule 6)."""

from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from ontology.icd10 import fold_name, name_index, resolve, sdd


@pytest.mark.parametrize(
    ("text", "codes", "method"),
    [
        ("i21.02", "I21.02", "code"),
        ("j17, j18", "J17 J18", "code"),
        ("ICD-10: I21.02", "I21.02", "code"),
        ("ICD-10-CM code I21.02", "I21.02", "code"),
        ("Pneumonia (J18.9)", "J18.9", "embedded_code"),
        ("Pneumonia, cause unclear (J17, J18)", "J17 J18", "embedded_code"),
        ("ST elevation MI (LAD) [I21.02]", "I21.02", "embedded_code"),
        ("STEMI (ICD-10-CM: I2102)", "I21.02", "embedded_code"),
        ("rib fracture (S22.39XA)", "S22.39", "embedded_code"),
        ("I21.02 - STEMI", "I21.02", "embedded_code"),
        ("I21.02: STEMI of the LAD", "I21.02", "embedded_code"),
        ("B20 with wasting", "B20", "embedded_code"),
        ("low blood count - D64.9", "D64.9", "embedded_code"),
        ("Unstable angina", "I20.0", "title"),
        ("unstable  ANGINA.", "I20.0", "title"),
        ("Perforation of oesophagus", "K22.3", "title"),
        ("Guillain-Barré syndrome", "G61.0", "title"),
        ("Anaemia, unspecified", "D64.9", "title"),
        ("Anaemia", "D64.9", "variant"),
        ("Crohn disease", "K50", "variant"),
        ("Crohn’s disease", "K50", "variant"),
        ("Systemic lupus erythematosus", "M32", "title"),
        ("β-thalassaemia", "D56.1", "title"),
        ("Carcinoid syndrome", "E34.0", "title"),
        ("Diabetes mellitus", "E08-E13", "title"),
        ("Glaucoma", "H40", "title"),
        ("Malignant neuroendocrine tumours", "C7A", "title"),
        ("SLE", "M32.9", "variant"),
    ],
)
def test_routes(text: str, codes: str, method: str) -> None:
    """3.2 rule 6: the codes, and the way that led to them."""
    found = resolve(text)
    assert found.codes == tuple(codes.split()) == tuple(found)
    assert found.method == method
    assert found.unresolved == ()


@pytest.mark.parametrize(
    ("text", "code", "method"),
    [
        ("Nontransmural myocardial infarction NOS", "I21.4", "inclusion_term"),
        ("Nontransmural myocardial infarction", "I21.4", "variant"),
        ("Bornholm disease", "B33.0", "inclusion_term"),
        ("Diabetes NOS", "E11", "includes"),
        ("Anaphylactic shock due to adverse food reaction", "T78.0", "who_title"),
    ],
)
def test_names_beyond_the_titles(text: str, code: str, method: str) -> None:
    """3.2 rule 6: inclusion terms, their variants, "includes" notes, WHO titles."""
    found = resolve(text)
    assert (found.codes, found.method) == ((code,), method)


NOWHERE = [
    "Boerhaave",
    "Diabetic retinopathy",
    "",
    "B24",
    "E. coli (O157)",
    "E. coli, O157",
    "foo (IV)",
    "CKD (3)",
]


@pytest.mark.parametrize("text", NOWHERE)
def test_unresolved(text: str) -> None:
    """3.2 rule 7: no such name, or a code without a valid prefix; nothing is guessed."""
    found = resolve(text)
    assert (found.codes, found.method, found.unresolved) == ((), "none", (text,))
    assert sdd(found, "K22.3") == 1.0


def test_name_of_several_codes_is_not_chosen() -> None:
    """Two codes far apart have this name: both are offered, neither is taken."""
    found = resolve("Cardiac infarction")
    assert (found.codes, found.candidates) == ((), ("I21", "I22"))


def test_name_of_nested_codes_is_the_upper_one() -> None:
    """K50 and K50.9 and K50.90 can all be called Crohn's disease: the name says no more than K50."""
    found = resolve("Crohn's disease")
    assert found.codes == ("K50",)
    assert found.steps == ("variant of K50, K50.9, K50.90",)


def test_code_beats_name_and_the_disagreement_is_recorded() -> None:
    """F5: DDXPlus codes SLE as M34, which is systemic sclerosis."""
    found = resolve("Systemic lupus erythematosus (M34)")
    assert found.codes == ("M34",)
    assert found.steps == ("code in the text: M34", "the name alone reads as M32")
    assert resolve("Systemic lupus erythematosus (M32)").steps == ("code in the text: M32",)


SYNONYMS = {"Boerhaave": "k22.3", "Asthma": "J45.9", "PNA": "j17, j18"}


def test_callers_synonyms_go_first() -> None:
    """3.2 rule 6: the exact synonym table stands before the classification's names."""
    synonyms = {fold_name(name): code for name, code in SYNONYMS.items()}
    assert resolve("Boerhaave").codes == ()
    found = resolve("BOERHAAVE’s", synonyms)
    assert (found.codes, found.method, found.steps[0]) == (("K22.3",), "synonym", "synonym of k22.3")
    assert resolve("Asthma", synonyms).codes == ("J45.9",)
    assert resolve("pna", synonyms).codes == ("J17", "J18")
    assert resolve("J45", synonyms).method == "code"
    assert resolve("odd", {"odd": "nonsense"}).codes == ()


def test_codes_beside_other_words() -> None:
    """A list with a code and something unknown gives the code and reports the rest."""
    found = resolve("J18.9, gibberish; J20")
    assert (found.codes, found.method, found.unresolved) == (("J18.9", "J20"), "code", ("gibberish",))


def test_manifestation_is_reported() -> None:
    """3.2 rule 8: a name can lead to a lone manifestation code, too."""
    assert resolve("Pneumonia in diseases classified elsewhere").manifestation_only
    assert not resolve("Unstable angina").manifestation_only


def test_keep_extension() -> None:
    """3.2 rule 4, ALT: also for a code beside a name."""
    assert resolve("rib fracture (S22.39XA)", keep_extension=True).codes == ("S22.39XA",)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Haemorrhoids", "hemorrhoids"),
        ("Diarrhoea of foetus", "DIARRHEA of fetus"),
        ("Tumours", "tumors"),
        ("behavioural", "behavioral"),
        ("localised fibres", "localized fibers"),
        ("leucocyte sulphate", "leukocyte sulfate"),
        ("Ménière's disease", "Meniere disease"),
        ("Chagas’ disease", "Chagas disease"),
        ("tension-type, headache", "tension type headache"),
        ("α-mannosidosis", "alpha mannosidosis"),
    ],
)
def test_folding(one: str, other: str) -> None:
    """Case, accents, punctuation, possessives, British and American spelling."""
    assert fold_name(one) == fold_name(other) != ""


def test_folding_keeps_apart() -> None:
    """Folding must not make different names equal."""
    names = ["disease", "diseases", "exercise", "hour", "tour", "type 1", "type 2", "beta", "alpha"]
    assert len({fold_name(name) for name in names}) == len(names)


NAMES = st.deferred(lambda: st.sampled_from(sorted(name_index().names())))


@settings(deadline=None)
@given(NAMES)
def test_every_name_of_the_index_is_found(name: str) -> None:
    """A name in the index leads to its code, or to the candidates it cannot choose among."""
    match = name_index().match(name)
    assert match is not None and match.candidates
    assert match.name == name
    assert bool(match.code) or len(match.candidates) > 1


@settings(deadline=None)
@example("AOE")
@given(st.text(max_size=40) | st.text("IJE1029.-*XA ,/()[]:'’sour", max_size=14))
def test_any_text_is_resolved_or_reported(text: str) -> None:
    """Nothing raises, nothing is lost; folding a folded name changes nothing."""
    found = resolve(text)
    assert found.codes or found.unresolved == (text,)
    assert fold_name(fold_name(text)) == fold_name(text)
