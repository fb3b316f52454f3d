"""Search by name: the order of hits, and what does not matter when typing (metrics.md 3.2, rule 6)."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ontology.icd10 import fold_name, icd_tree, search, synonym_table
from ontology.icd10.search import LONGEST, SCORES, search_index
from ontology.icd10.spelling import Speller, likeness, slips, stems


@pytest.mark.parametrize(
    ("query", "code", "path"),
    [
        ("Unstable angina", "I20.0", "exact"),
        ("unstable  ANGINA.", "I20.0", "exact"),
        ("Bornholm disease", "B33.0", "exact"),
        ("heart attack", "I21", "synonym"),
        ("MI", "I21", "synonym"),
        ("Lou Gehrig's disease", "G12.21", "synonym"),
        ("heart att", "I21", "prefix"),
        ("oesophageal canc", "C15", "prefix"),
        ("arthritis rheumatoid", "M06.9", "words"),
        ("pnuemonia", "J18", "fuzzy"),
        ("Guillan Barre", "G61.0", "fuzzy"),
        ("lacunar infract", "I63.81", "fuzzy"),
        ("i2102", "I21.02", "code"),
        ("G61", "G61", "code"),
    ],
)
def test_first_hit(query: str, code: str, path: str) -> None:
    """Exact names, synonyms, beginnings, all words, nearly all words; and codes."""
    first = search(query)[0]
    assert (first.code, first.path) == (code, path)
    assert first.title == icd_tree().title(code)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("oedema of the lung", "edema of lung"),
        ("tumour of the brain", "brain tumors"),
        ("haemorrhoids", "hemorrhoid"),
        ("type II diabetes", "diabetes type 2"),
        ("Ménière", "meniere"),
    ],
)
def test_spelling_number_and_order_do_not_matter(one: str, other: str) -> None:
    """The same words in another dress find the same codes."""
    assert {hit.code for hit in search(one)} & {hit.code for hit in search(other)}


def test_better_paths_come_first() -> None:
    """Scores never rise down the list, one code comes once, and never more come than were asked for."""
    for query in ("stroke", "diab", "acute appendicitis", "fracture of", "s", "pnuemonia", "B20"):
        hits = search(query, 8)
        assert 0 < len(hits) <= 8
        assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
        assert len({hit.code for hit in hits}) == len(hits)
        assert all(hit.score <= SCORES[hit.path] for hit in hits)


def test_diseases_come_before_external_causes() -> None:
    """Who types "drow" looks for a disease, not for how the accident came about."""
    codes = [hit.code for hit in search("drown", 5)]
    assert codes[0] == "T75.1"


@pytest.mark.parametrize("query", ["", "  ", "?", "xyzzy", "of the", "x" * (LONGEST + 1), "\x00", "🙂"])
def test_nothing_is_found(query: str) -> None:
    """No name is like this."""
    assert search(query) == []


def test_same_hits_every_time() -> None:
    """Search is deterministic, and a longer list begins with the shorter one."""
    for query in ("pneum", "chronic", "diabetes"):
        assert search(query, 6) == search(query, 6)
        assert [hit.code for hit in search(query, 3)] == [hit.code for hit in search(query, 6)][:3]


SYNONYMS = st.deferred(lambda: st.sampled_from(sorted(synonym_table().values(), key=lambda row: row.name)))


@settings(deadline=None)
@given(SYNONYMS)
def test_every_synonym_is_found_first_or_equal(row: object) -> None:
    """A synonym typed out finds its code at the top, with no better score beside it."""
    name, code = row.name, row.code  # type: ignore[attr-defined]
    hits = search(name, 5)
    assert code in [hit.code for hit in hits]
    assert hits[0].score <= 1.0 and next(hit for hit in hits if hit.code == code).score >= SCORES["synonym"]


@settings(deadline=None)
@given(st.text(max_size=60) | st.text("abcdefghi ()-,'0123", max_size=30))
def test_any_text_is_searched(text: str) -> None:
    """Nothing raises; all codes that come back exist."""
    for hit in search(text, 5):
        assert hit.code in icd_tree()
        assert 0.0 < hit.score <= 1.0


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("Guillan-Barre syndrom", "G61.0"),
        ("astma", "J45"),
        ("apendicitis", "K37"),
        ("Pyelonephritis, acute", "N10"),
        ("diabetes mellitus type ii", "E11"),
        ("burnout", "Z73.0"),
    ],
)
def test_nearest(text: str, code: str) -> None:
    """Typing errors in unknown words, word order, Roman numbers and blanks."""
    found = search_index().nearest(text)
    assert found is not None
    assert found.codes == (code,)
    assert 0.9 < found.score < 1.0


@pytest.mark.parametrize("text", ["arteritis of", "hypotension", "nephritis", "hepatitis A", "hepatitis B"])
def test_known_words_are_not_corrected(text: str) -> None:
    """Arteritis is no misspelt arthritis; a and b are not filling words here."""
    found = search_index().nearest(text)
    assert found is not None
    for word in stems(text):
        assert word in stems(found.matched) or word in fold_name(found.matched)


def test_equally_near_names_are_not_chosen_among() -> None:
    """Arteritis or arthritis: both are offered."""
    found = search_index().nearest("artritis")
    assert found is not None
    assert len(found.codes) > 1


@pytest.mark.parametrize(
    ("one", "other", "distance"), [("astma", "asthma", 1), ("pnuemonia", "pneumonia", 1), ("abc", "abc", 0), ("abcd", "wxyz", None)]
)
def test_slips(one: str, other: str, distance: int | None) -> None:
    """A letter too few, two exchanged, none, too many."""
    assert slips(one, other, 2) == slips(other, one, 2) == distance


def test_likeness() -> None:
    """2 M / T: astma has 5 of asthma's 6 letters in order."""
    assert likeness("astma", "asthma") == pytest.approx(10 / 11)
    assert likeness("", "a") == 0.0
    assert likeness("a", "a") == likeness("", "") == 1.0


def test_speller_leaves_short_words_and_numbers_alone() -> None:
    """Four letters are too few to guess from."""
    speller = Speller(["asthma", "goiter", "b12"])
    assert speller.nearest("astma") == [("asthma", 1)]
    assert speller.nearest("gout") == speller.nearest("b13") == []
