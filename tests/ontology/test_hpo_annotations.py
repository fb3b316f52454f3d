"""HPO's annotation file: every notation it uses, what it holds (metrics.md 0 F3), and how rows become features (2.1)."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ontology.errors import BedsideError
from ontology.hpo_annotations import (
    COLUMNS,
    Census,
    Frequency,
    annotation_lines,
    concepts_of_terms,
    file_version,
    hpo_profiles,
    parse_frequency,
    read_annotations,
    take_census,
)
from ontology.profiles import Feature, ProfileSet, load_profiles
from ontology.vocabulary import Vocabulary

HEADACHE = "HP:0002315"


def line(term: str, frequency: str = "", qualifier: str = "", reference: str = "PMID:1", aspect: str = "P", disease: str = "OMIM:1") -> str:
    return "\t".join([disease, "A disease", qualifier, term, reference, "PCS", "", frequency, "", "", aspect, "HPO:x[2025-01-01]"])


def file(*rows: str) -> list[str]:
    return ['#description: "rare diseases"', "#version: 2025-01-16", "\t".join(COLUMNS), *rows]


def profile(vocabulary: Vocabulary, *rows: str) -> ProfileSet:
    return hpo_profiles(["OMIM:1"], vocabulary, file(*rows))


def only(vocabulary: Vocabulary, *rows: str) -> Feature:
    (feature,) = profile(vocabulary, *rows)["OMIM:1"].features
    return feature


@pytest.fixture(scope="module")
def census() -> Census:
    return take_census(annotation_lines())


# -- the frequency column ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected", "notation"),
    [
        ("7/13", Frequency(k=7, n=13), "ratio"),
        ("0/5", Frequency(k=0, n=5), "ratio"),
        ("20/20", Frequency(k=20, n=20), "ratio"),
        ("45%", Frequency(share=0.45), "percent"),
        ("32.5 %", Frequency(share=0.325), "percent"),
        ("100%", Frequency(share=1.0), "percent"),
        ("HP:0040280", Frequency(frequency_class="obligate"), "class"),
        ("HP:0040281", Frequency(frequency_class="very_frequent"), "class"),
        ("HP:0040282", Frequency(frequency_class="frequent"), "class"),
        ("HP:0040283", Frequency(frequency_class="occasional"), "class"),
        ("HP:0040284", Frequency(frequency_class="very_rare"), "class"),
        ("HP:0040285", Frequency(frequency_class="excluded"), "class"),
        ("", Frequency(), "empty"),
        ("  ", Frequency(), "empty"),
    ],
)
def test_every_notation_is_read(text: str, expected: Frequency, notation: str) -> None:
    """2.1: n/m, percent, class ids, nothing."""
    found = parse_frequency(text)
    assert found == expected
    assert found.notation == notation


@pytest.mark.parametrize("text", ["5/3", "1/0", "120%", "often", "HP:0040286", "1 of 2", "-1/3", "0.4"])
def test_anything_else_is_refused_by_place(text: str) -> None:
    """Rather than read as missing."""
    with pytest.raises(BedsideError, match="phenotype.hpoa:4") as caught:
        list(read_annotations(file(line(HEADACHE, text))))
    assert text in str(caught.value)


@pytest.mark.parametrize(
    ("rows", "problem"),
    [
        ([], "empty HPO annotation file"),
        (["# only a comment"], "empty HPO annotation file"),
        (["OMIM:1\tA disease"], "not the header"),
        (file("OMIM:1\tA disease\t\tHP:0002315"), "4 columns instead of 12"),
        (file(line(HEADACHE, qualifier="MAYBE")), "unknown qualifier"),
    ],
)
def test_a_broken_file_is_told(rows: list[str], problem: str) -> None:
    with pytest.raises(BedsideError, match=problem):
        list(read_annotations(rows))


# -- rows to features -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("frequency", "weight", "probability"),
    [
        ("20/20", 1.0, 20.5 / 21),
        ("19/19", 0.75, 19.5 / 20),
        ("1/1", 0.75, 0.75),
        ("4/10", 0.5, 4.5 / 11),
        ("0/10", 0.0, 0.005),
        ("0/3", 0.0, 0.02),
        ("85%", 0.75, 0.85),
        ("100%", 0.75, 0.995),
        ("HP:0040280", 1.0, 0.99),
        ("HP:0040284", 0.1, 0.025),
        ("HP:0040285", 0.0, 0.005),
        ("", 0.5, 0.545),
    ],
)
def test_weights_and_probabilities(vocabulary: Vocabulary, frequency: str, weight: float, probability: float) -> None:
    """2.1: n/n is obligate from n = 20 on; ratios shrink by (k + .5)/(n + 1); no frequency weighs one half."""
    found = only(vocabulary, line(HEADACHE, frequency))
    assert found.weight == weight
    assert found.probability == pytest.approx(probability)
    assert found.freq_missing == (frequency == "")


def test_not_excludes(vocabulary: Vocabulary) -> None:
    """The qualifier says that patients lack it."""
    found = only(vocabulary, line(HEADACHE, qualifier="NOT"))
    assert (found.frequency_class, found.weight, found.freq_missing) == ("excluded", 0.0, False)


def test_stated_goes_before_negated(vocabulary: Vocabulary) -> None:
    """Two papers disagree: the feature occurs."""
    found = only(vocabulary, line(HEADACHE, "2/8"), line(HEADACHE, qualifier="NOT", reference="PMID:2"))
    assert (found.k, found.n) == (2, 8)
    assert "PMID:2" not in (found.source or "")


def test_ratios_of_several_papers_are_pooled(vocabulary: Vocabulary) -> None:
    """Sums of k and n; a class beside counts adds nothing; each reference is named."""
    found = only(vocabulary, line(HEADACHE, "1/1"), line(HEADACHE, "3/19", reference="PMID:2"), line(HEADACHE, "HP:0040280"))
    assert (found.k, found.n, found.frequency_class) == (4, 20, None)
    assert found.source == "HPO OMIM:1 2025-01-16 (PMID:1, PMID:2)"


def test_the_more_frequent_of_several_classes_stands(vocabulary: Vocabulary) -> None:
    found = only(vocabulary, line(HEADACHE, "HP:0040283"), line(HEADACHE, "70%"), line(HEADACHE, ""))
    assert (found.frequency, found.frequency_class) == (0.7, None)


def test_only_phenotypes_become_features(vocabulary: Vocabulary) -> None:
    """Inheritance, onset, course and modifiers are no findings."""
    rows = [line("HP:0000006", aspect="I"), line("HP:0003577", aspect="C"), line("HP:0012825", aspect="M"), line(HEADACHE)]
    assert [f.name for f in profile(vocabulary, *rows)["OMIM:1"].features] == ["Headache"]


def test_a_term_that_has_gone_keeps_its_id(vocabulary: Vocabulary) -> None:
    """Nothing is dropped unseen."""
    found = only(vocabulary, line("HP:9999999", "1/2"))
    assert (found.concept, found.name, found.askable) == ("X:hp-9999999", "HP:9999999", False)


def test_unknown_diseases_are_told(vocabulary: Vocabulary) -> None:
    with pytest.raises(BedsideError, match="no annotations of OMIM:2"):
        hpo_profiles(["OMIM:1", "OMIM:2"], vocabulary, file(line(HEADACHE)))


@settings(max_examples=100, deadline=None, derandomize=True)
@given(st.lists(st.tuples(st.integers(0, 30), st.integers(1, 30)).map(lambda p: (min(p), max(p))), min_size=1, max_size=5))
def test_pooling_does_not_depend_on_order(ratios: list[tuple[int, int]]) -> None:
    """Papers come in no order."""
    from ontology.vocabulary import default_vocabulary

    vocabulary = default_vocabulary()
    rows = [line(HEADACHE, f"{k}/{n}", reference="PMID:1") for k, n in ratios]
    there, back = only(vocabulary, *rows), only(vocabulary, *reversed(rows))
    assert there == back
    assert (there.k, there.n) == (sum(k for k, _ in ratios), sum(n for _, n in ratios))


# -- the installed file -----------------------------------------------------------------------------------------------


def test_the_installed_file_is_the_one_that_was_measured(census: Census) -> None:
    """0 F1, F3: rows, ratios, n/n, obligate, missing; 2025-01-16."""
    assert census.version == "2025-01-16"
    assert (len(census.diseases), census.rows, census.phenotype_rows, census.negated) == (12687, 271702, 254621, 704)
    assert census.notations == {"class": 117595, "ratio": 83345, "empty": 53571, "percent": 110}
    assert census.classes["obligate"] == 645
    assert sum(census.whole.values()) == 32856
    assert sum(count for n, count in census.whole.items() if n < 5) == 25695
    assert census.whole[1] == 13625
    assert sum(count for n, count in census.whole.items() if n >= 20) == 679
    assert round(census.notations["empty"] / census.phenotype_rows, 3) == 0.210


def test_giant_cell_arteritis_is_covered(vocabulary: Vocabulary) -> None:
    """F1, F2: ORPHA:397 has 68 features, among them things that nobody can answer in a chat."""
    found = load_profiles("ORPHA:397")
    gca = found["ORPHA:397"]
    by_name = {feature.name: feature for feature in gca.features}
    assert len(gca.features) == 68
    assert by_name["Jaw claudication"].frequency_class == "frequent"
    assert by_name["Headache"].askable
    assert not by_name["Elevated erythrocyte sedimentation rate"].askable
    assert (gca.icd10, found.header.license) == ([], "HPO licence")


def test_several_diseases_are_loaded_by_their_ids() -> None:
    """In the order asked for."""
    assert list(load_profiles("ORPHA:905, OMIM:619340").profiles) == ["ORPHA:905", "OMIM:619340"]


def test_terms_of_the_file_are_known(vocabulary: Vocabulary) -> None:
    """Each phenotype term of the file is a concept of the bundled vocabulary: file and ontology are of one release."""
    known = concepts_of_terms(vocabulary)
    terms = {row.hpo_id for row in read_annotations(annotation_lines()) if row.aspect == "P"}
    assert not terms - set(known)


def test_the_release_is_read_from_the_comments() -> None:
    assert file_version(file()) == "2025-01-16"
    assert file_version(["\t".join(COLUMNS)]) == ""
