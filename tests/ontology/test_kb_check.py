"""The bundled knowledge is sound, and the check finds what is not (metrics.md 2.1, 2.2)."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from ontology import kb_check
from ontology.errors import BedsideError
from ontology.kb_check import (
    KbReport,
    basis_of,
    check_knowledge,
    ddxplus_gaps,
    exclusions,
    gap_faults,
    profile_faults,
    row_faults,
    table_rows,
    thin_profiles,
)
from ontology.profile_lookup import find_disease, ids_of, preferred_profile, same_diseases
from ontology.profiles import DiseaseProfile, Feature, ProfileHeader, ProfileSet, bundled_ddxplus_profiles, curated_profiles
from ontology.vocabulary import Vocabulary

HEADACHE, THROBBING, FEVER = "C0018681", "X:pulsating-headache", "C0015967"


@pytest.fixture(scope="module")
def report(vocabulary: Vocabulary) -> KbReport:
    return check_knowledge(vocabulary)


def feature(concept: str, frequency_class: str = "frequent", **fields: object) -> Feature:
    return Feature.model_validate({"concept": concept, "name": concept, "frequency_class": frequency_class, **fields})


def profiles(*features: Feature, icd10: str = "G43", disease: str = "migraine") -> ProfileSet:
    header = ProfileHeader(profile_set="toy", source="invented", license="Apache-2.0")
    return ProfileSet(header, [DiseaseProfile(disease_id=disease, name="Toy", icd10=[icd10], features=list(features))])


# -- what ships -------------------------------------------------------------------------------------------------------


def test_nothing_must_be_mended(report: KbReport) -> None:
    """No row without source, no contradiction."""
    assert report.unsourced == []
    assert report.contradictions == []
    assert report.sound


def test_common_and_dangerous_diseases_are_covered(report: KbReport) -> None:
    """At least 60 diseases, each with at least 8 features that a patient can be asked for."""
    assert report.counts["curated diseases"] >= 60
    assert report.counts["fewest askable features of a disease"] >= 8
    assert report.notes == []
    wanted = {"aortic-dissection", "sepsis", "ischaemic-stroke", "heart-failure", "asthma", "anaphylaxis", "lung-cancer", "gout", "malaria"}
    assert wanted <= set(curated_profiles().profiles)


def test_figures_have_a_source_of_their_own() -> None:
    """A percentage never rests on consensus."""
    wrong = [place for place, row in table_rows() if row.get("frequency") and "consensus" in (row.get("source") or "")]
    assert wrong == []


def test_nobody_has_reviewed_anything(report: KbReport) -> None:
    """Until a person does: the columns are there and empty."""
    assert report.unreviewed
    assert all(waiting == total for waiting, total in report.unreviewed.values())
    row = next(row for place, row in table_rows() if place.startswith("data/profiles/curated.csv"))
    assert {"reviewed_by", "review_date", "verdict"} <= set(row)


def test_the_report_is_plain_json(report: KbReport) -> None:
    import json

    body = json.loads(json.dumps(report.as_json()))
    assert body["sound"] is True
    assert 0 < body["cui_share"]["curated"] < 1


# -- what the check finds ---------------------------------------------------------------------------------------------


def test_excluded_beside_stated_is_found(vocabulary: Vocabulary) -> None:
    """The same concept, or a broader one that the stated one implies (7.1)."""
    assert (
        exclusions([feature(HEADACHE, "obligate"), feature(HEADACHE, "excluded")], vocabulary)[0]
        == "Headache is listed obligate and excluded"
    )
    assert "broader" in exclusions([feature(THROBBING, "occasional"), feature(HEADACHE, "excluded")], vocabulary)[0]
    assert exclusions([feature(THROBBING, "excluded"), feature(HEADACHE, "obligate")], vocabulary) == []
    assert exclusions([feature(HEADACHE), feature(HEADACHE)], vocabulary) == ["Headache is listed 2 times"]


def test_unknown_codes_and_concepts_are_found(vocabulary: Vocabulary) -> None:
    assert profile_faults(profiles(feature(HEADACHE)), vocabulary) == []
    assert "unknown ICD-10 code Q99.99" in profile_faults(profiles(feature(HEADACHE), icd10="Q99.99"), vocabulary)[0]
    assert "unknown concept X:nothing" in profile_faults(profiles(feature("X:nothing")), vocabulary)[0]


ROW = {"disease_id": "d", "concept": HEADACHE, "class": "frequent", "frequency": "", "n": "", "askable": "1"}


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"class": "often"}, "unknown class"),
        ({"class": ""}, "neither class nor frequency"),
        ({"frequency": "0.9"}, "0.9 is not frequent"),
        ({"disease_id": "other"}, "is not in"),
        ({"concept": "X:exam-heart"}, "is for the record"),
    ],
)
def test_faults_of_rows_are_found(vocabulary: Vocabulary, change: dict[str, str], problem: str) -> None:
    found = row_faults([{**ROW, **change}], [{"disease_id": "d"}], vocabulary)
    assert len(found) == 1 and problem in found[0] and "curated.csv:2" in found[0]


def test_a_good_row_has_no_fault(vocabulary: Vocabulary) -> None:
    assert row_faults([ROW, {**ROW, "frequency": "0.5", "n": "10"}], [{"disease_id": "d"}], vocabulary) == []


def test_a_thin_profile_is_told() -> None:
    assert thin_profiles(profiles(feature(HEADACHE), feature(FEVER, askable=False))) == ["migraine: only 1 askable features"]


def test_rows_without_source_are_found(vocabulary: Vocabulary, monkeypatch: pytest.MonkeyPatch) -> None:
    """By file and line."""
    rows = [("data/profiles/curated.csv:2", {"source": " "}), ("data/profiles/curated.csv:3", {"source": "a book"})]
    monkeypatch.setattr(kb_check, "table_rows", lambda: iter(rows))
    found = check_knowledge(vocabulary)
    assert found.unsourced == ["data/profiles/curated.csv:2"]
    assert not found.sound


def test_a_gap_to_ddxplus_must_be_explained(vocabulary: Vocabulary, monkeypatch: pytest.MonkeyPatch) -> None:
    """More than 40 points where DDXPlus asks for it; and an explanation without a gap is told, too."""
    monkeypatch.setattr(kb_check, "csv_rows", lambda path: [])
    same = next(s for s in same_diseases() if s.disease_id == "pulmonary-embolism")
    monkeypatch.setattr(kb_check, "same_diseases", lambda: (same,))
    ddxplus = bundled_ddxplus_profiles()
    theirs = next(f for f in ddxplus[same.ddxplus].features if f.probability > 0.9)
    near = profiles(feature(theirs.concept, "very_frequent"), disease=same.disease_id)
    far = profiles(feature(theirs.concept, "very_rare"), disease=same.disease_id)
    assert gap_faults(ddxplus_gaps(near, ddxplus, vocabulary)) == []
    (problem,) = gap_faults(ddxplus_gaps(far, ddxplus, vocabulary))
    assert "2% here" in problem and same.ddxplus in problem
    row = {
        "disease_id": same.disease_id,
        "ddxplus": same.ddxplus,
        "concept": theirs.concept,
        "concept_name": theirs.name,
        "reason": "a reason",
    }
    monkeypatch.setattr(kb_check, "csv_rows", lambda path: [row])
    assert gap_faults(ddxplus_gaps(far, ddxplus, vocabulary)) == []
    assert "there is no gap" in gap_faults(ddxplus_gaps(near, ddxplus, vocabulary))[0]


@pytest.mark.parametrize(
    ("row", "basis"),
    [
        ({"source": "HPO ORPHA:397 2025-01-16"}, "HPO's class"),
        ({"source": "Some et al., JAMA 2000", "frequency": "0.4"}, "figure of a named study"),
        ({"source": "Some et al., JAMA 2000; class only"}, "class of a named study's figure"),
        ({"source": "Some et al., JAMA 2000; class is clinical consensus, not from a cohort"}, "clinical consensus"),
    ],
)
def test_what_a_row_rests_on(row: Mapping[str, str], basis: str) -> None:
    assert basis_of(row) == basis


# -- which source speaks ----------------------------------------------------------------------------------------------


def test_links_join_profiles_that_exist() -> None:
    """Each disease once, under ids that its sources have, with the reason."""
    ours = [same.disease_id for same in same_diseases()]
    assert len(ours) == len(set(ours)) and set(ours) <= set(curated_profiles().profiles)
    theirs = [same.ddxplus for same in same_diseases() if same.ddxplus]
    assert len(theirs) == len(set(theirs)) and set(theirs) <= set(bundled_ddxplus_profiles().profiles)
    assert all(same.basis and (same.ddxplus or same.hpo) for same in same_diseases())


@pytest.mark.parametrize(
    ("disease", "source", "origin", "found"),
    [
        ("pneumonia", None, "curated", "pneumonia"),
        ("ddx-pneumonia", None, "curated", "pneumonia"),
        ("ddx-pneumonia", "ddxplus", "ddxplus", "ddx-pneumonia"),
        ("pneumonia", "ddxplus", "ddxplus", "ddx-pneumonia"),
        ("pneumonia", "starter", "curated", "pneumonia"),
        ("gca", None, "curated", "gca"),
        ("ORPHA:397", None, "curated", "gca"),
        ("ORPHA:905", None, "hpo", "ORPHA:905"),
        ("ddx-chagas", "ddxplus", "ddxplus", "ddx-chagas"),
    ],
)
def test_precedence(disease: str, source: str | None, origin: str, found: str) -> None:
    """2.2: ours before HPO; DDXPlus' counts stand for DDXPlus' cases alone (0b D2)."""
    chosen = preferred_profile(disease, source)
    assert (chosen.origin, chosen.profile.disease_id) == (origin, found)


@pytest.mark.parametrize(
    ("disease", "source"), [("ddx-chagas", None), ("ddx-chagas", "starter"), ("nonsense", None), ("ORPHA:99999999", None)]
)
def test_no_source_that_may_be_used(disease: str, source: str | None) -> None:
    """DDXPlus' synthetic counts never stand for another source's case."""
    with pytest.raises(BedsideError, match=disease):
        preferred_profile(disease, source)


def test_a_disease_is_found_by_id_name_or_part_of_it() -> None:
    assert find_disease("gca").profile.disease_id == "gca"
    assert find_disease("Giant cell ARTERITIS").profile.disease_id == "gca"
    assert find_disease("giant cell").profile.disease_id == "gca"
    assert find_disease("pneumonia").origin == "curated"
    assert find_disease("ddx-pneumonia").origin == "ddxplus"
    with pytest.raises(BedsideError, match="did you mean .*pneumothorax"):
        find_disease("pneumothorx")
    with pytest.raises(BedsideError, match="no disease"):
        find_disease("")


def test_ids_of_a_disease() -> None:
    assert ids_of("ORPHA:397").disease_id == "gca"
    assert ids_of("ddx-chagas").ddxplus == "ddx-chagas"
    assert ids_of("ORPHA:905").hpo == "ORPHA:905"
