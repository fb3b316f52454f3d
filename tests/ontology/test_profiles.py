"""Disease profiles: the table of frequency classes, and how shares become weights and probabilities (metrics.md 2.1, 2.2)."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from ontology.errors import BedsideError
from ontology.profiles import (
    CLAMP,
    LEAK,
    DiseaseProfile,
    Feature,
    ProfileHeader,
    ProfileSet,
    class_of,
    curated_profiles,
    load_profiles,
    read_profiles,
)
from ontology.versions import kb_version
from ontology.vocabulary import Vocabulary


def feature(**fields: object) -> Feature:
    return Feature.model_validate({"concept": "X:a", "name": "A", **fields})


def profile_set(*features: Feature, **header: object) -> ProfileSet:
    head = ProfileHeader.model_validate({"profile_set": "toy", "source": "invented", "license": "Apache-2.0", **header})
    return ProfileSet(head, [DiseaseProfile(disease_id="d", name="D", icd10=["A00"], features=list(features))])


@pytest.mark.parametrize(
    ("name", "weight", "probability"),
    [
        ("obligate", 1.0, 0.99),
        ("very_frequent", 0.75, 0.895),
        ("frequent", 0.5, 0.545),
        ("occasional", 0.25, 0.17),
        ("very_rare", 0.1, 0.025),
        ("excluded", 0.0, 0.005),
    ],
)
def test_the_table_of_classes(name: str, weight: float, probability: float) -> None:
    """2.1: weights for elicitation and class midpoints for Bayes are two columns, not one."""
    found = feature(frequency_class=name)
    assert (found.weight, found.probability) == (weight, probability)


@pytest.mark.parametrize(
    ("share", "n", "expected"),
    [
        (1.0, 20, "obligate"),
        (1.0, 400, "obligate"),
        (1.0, 19, "very_frequent"),
        (1.0, 1, "very_frequent"),
        (1.0, None, "very_frequent"),
        (0.999, 400, "very_frequent"),
        (0.80, None, "very_frequent"),
        (0.799, None, "frequent"),
        (0.30, None, "frequent"),
        (0.299, None, "occasional"),
        (0.05, None, "occasional"),
        (0.049, None, "very_rare"),
        (0.0001, None, "very_rare"),
        (0.0, None, "excluded"),
    ],
)
def test_classes_of_shares(share: float, n: int | None, expected: str) -> None:
    """2.1; n/n is obligate only from n = 20 on: most n/n rows of HPO rest on one or two patients (F3)."""
    assert class_of(share, n) == expected


@pytest.mark.parametrize(
    ("k", "n", "weight", "probability"),
    [
        (20, 20, 1.0, 20.5 / 21),
        (5, 5, 0.75, 5.5 / 6),
        (1, 1, 0.75, 0.75),
        (4, 5, 0.75, 4.5 / 6),
        (1, 2, 0.5, 0.5),
        (1, 100, 0.1, 1.5 / 101),
        (400, 400, 1.0, 0.995),
        (1, 1000, 0.1, 0.005),
        (0, 10, 0.0, 0.005),
        (0, 9, 0.0, LEAK),
        (0, 1, 0.0, LEAK),
    ],
)
def test_counts(k: int, n: int, weight: float, probability: float) -> None:
    """2.1: f = k/n for the weight; for Bayes (k + .5)/(n + 1), clamped; 0/n excludes from n = 10 on, and is no news before."""
    found = feature(k=k, n=n)
    assert found.fraction == k / n
    assert found.weight == weight
    assert found.probability == pytest.approx(probability)


def test_plain_frequencies_are_clamped_and_not_shrunk() -> None:
    """There is no n to shrink by."""
    assert feature(frequency=0.4).probability == 0.4
    assert feature(frequency=1.0).probability == CLAMP[1]
    assert feature(frequency=0.0).probability == CLAMP[0]
    assert feature(frequency=1.0).weight == 0.75
    assert feature(frequency=1.0, n=20).weight == 1.0


def test_a_missing_frequency_weighs_half() -> None:
    """21 % of HPO's rows have none (2.1)."""
    assert (LEAK, CLAMP) == (0.02, (0.005, 0.995))
    found = feature()
    assert (found.fraction, found.weight, found.probability) == (None, 0.5, 0.545)


def test_a_stated_class_goes_before_counts() -> None:
    """The source's own class is what it says of the feature."""
    assert feature(frequency_class="obligate", k=1, n=2).weight == 1.0


@settings(max_examples=200, deadline=None, derandomize=True)
@given(st.integers(1, 2000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_more_cases_with_it_never_weigh_less(counts: tuple[int, int]) -> None:
    """Weight and probability grow with k, and a probability is never 0 or 1."""
    k, n = counts
    here = feature(k=k, n=n)
    assert CLAMP[0] <= here.probability <= CLAMP[1]
    assert 0 <= here.weight <= 1
    if 0 < k < n:
        more = feature(k=k + 1, n=n)
        assert more.weight >= here.weight and more.probability >= here.probability


@pytest.mark.parametrize(
    "fields",
    [
        {"k": 3},
        {"k": 3, "n": 2},
        {"k": -1, "n": 2},
        {"k": 0, "n": 0},
        {"frequency": 1.2},
        {"frequency_class": "often"},
        {"concept": "headache"},
        {"concept": "C123"},
        {"unknown": 1},
    ],
)
def test_wrong_features_are_refused(fields: dict[str, object]) -> None:
    """Counts that do not add up, classes that do not exist, ids that are none."""
    with pytest.raises(ValidationError):
        feature(**fields)


# -- files ------------------------------------------------------------------------------------------------------------


def test_a_set_comes_back_from_its_lines() -> None:
    """With the same version."""
    written = profile_set(feature(k=3, n=4), feature(concept="C0000001", frequency_class="frequent"), counted_cases=["case-1"])
    read = read_profiles("\n".join(written.lines()), "a file")
    assert read.version == written.version
    assert [p.model_dump() for p in read.profiles.values()] == [p.model_dump() for p in written.profiles.values()]
    assert read.header == written.header
    assert (len(read), read["d"].name, read.get("other")) == (1, "D", None)


def test_the_version_follows_the_content() -> None:
    """A score names the knowledge it rests on."""
    versions = {
        profile_set(feature(k=3, n=4)).version,
        profile_set(feature(k=2, n=4)).version,
        profile_set(feature(k=3, n=4), reviewed_by="someone").version,
        profile_set().version,
    }
    assert len(versions) == 4
    assert profile_set(feature(k=3, n=4)).version == profile_set(feature(k=3, n=4)).version


def test_cases_that_were_counted_are_named() -> None:
    """D12: scoring a split with profiles counted on it is refused."""
    counted = profile_set(counted_cases=["case-1", "case-2"])
    assert counted.overlap(["case-0", "case-2", "case-1"]) == ["case-2", "case-1"]
    assert counted.overlap(["case-0"]) == []


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "empty profile file"),
        ("\n \n", "empty profile file"),
        ("{", "not valid JSON"),
        ("[1]", "must be a JSON object"),
        ('{"schema_version":"9.0"}', "schema_version '9.0'"),
        ('{"schema_version":"1.0","profile_set":"x","source":"x"}', "license"),
        ('{"schema_version":"1.0","profile_set":"x","source":"x","license":"x"}\n{"disease_id":"d"}', "not a valid profile"),
    ],
)
def test_broken_files_are_told_by_place(text: str, problem: str) -> None:
    """One line, with the file and where in it."""
    with pytest.raises(BedsideError, match="kb.jsonl") as caught:
        read_profiles(text, "kb.jsonl")
    assert problem in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_set_is_loaded_by_name_or_file(tmp_path: Path) -> None:
    """`ddxplus`, `curated`, or a path."""
    path = tmp_path / "own.jsonl"
    written = profile_set(feature(k=1, n=2))
    path.write_text("\n".join(written.lines()), encoding="utf-8")
    assert load_profiles(str(path)).version == written.version
    assert load_profiles("curated") is curated_profiles()
    assert load_profiles("ddxplus").header.profile_set == "ddxplus"


def test_no_such_set(tmp_path: Path) -> None:
    """The message says what may be given."""
    for name in ("nonsense", str(tmp_path)):
        with pytest.raises(BedsideError, match="ddxplus, curated, or a file") as caught:
            load_profiles(name)
        assert name in str(caught.value)


# -- the bundled ones -------------------------------------------------------------------------------------------------


def test_the_curated_set_covers_the_starter_diseases(vocabulary: Vocabulary) -> None:
    """Giant cell arteritis has HPO's classes; its header tells the vocabulary."""
    curated = curated_profiles()
    gca = curated["gca"]
    by_name = {f.name: f.frequency_class for f in gca.features}
    assert gca.icd10 == ["M31.6"]
    assert by_name["Jaw claudication"] == "frequent"
    assert by_name["Weight loss"] == by_name["Fever"] == "very_frequent"
    assert curated.header.vocabulary == vocabulary.version
    assert {"migraine", "tension-headache", "gca"} <= set(curated.profiles)


def test_the_ddxplus_set_is_counted_on_train_and_validate_only() -> None:
    """49 diseases, 686 patients; the test split may be scored (D12)."""
    counted = load_profiles("ddxplus")
    assert len(counted) == 49
    assert counted.header.counted_splits == ["train", "validate"]
    assert len(set(counted.header.counted_cases)) == sum(p.n or 0 for p in counted.profiles.values()) == 686
    for profile in counted.profiles.values():
        assert profile.n and profile.female is not None and profile.female <= profile.n == sum(profile.ages)
        assert all(f.n == profile.n and f.k is not None and 0 < f.k <= profile.n for f in profile.features)


def test_the_knowledge_version_follows_profiles_and_vocabulary(vocabulary: Vocabulary) -> None:
    """One version for all that a score rests on."""
    one, two = profile_set(feature(k=1, n=2)), profile_set(feature(k=2, n=2))
    other = Vocabulary([], {}, "none")
    assert len({kb_version(one, vocabulary), kb_version(two, vocabulary), kb_version(one, other)}) == 3
    assert kb_version(one, vocabulary) == kb_version(one, vocabulary)
