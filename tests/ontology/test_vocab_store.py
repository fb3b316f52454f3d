"""The phrase table and the store: what goes in comes out, whatever the order, and nothing else does."""

from __future__ import annotations

import random
import threading
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ontology.errors import BedsideError
from ontology.text import tokens
from ontology.vocab.groups import Groups, claims, read_merges
from ontology.vocab.phrases import PhraseTable, PhraseTableWriter
from ontology.vocab.rrf import IsA, Name, Same, SemanticType
from ontology.vocab.store import PREFERRED, Store, StoreBuilder, spoken

PHRASES = st.lists(st.lists(st.sampled_from("ab cd é 0x ß".split()), min_size=1, max_size=4).map(tuple), max_size=30, unique=True)


def _table(path: Path, phrases: list[tuple[str, ...]]) -> PhraseTable:
    writer = PhraseTableWriter()
    for number, words in enumerate(sorted(phrases, key=lambda words: " ".join(words).encode()), 1):
        writer.add(words, number)
    writer.write(path)
    return PhraseTable(path)


@settings(max_examples=60, deadline=None)
@given(PHRASES, st.lists(st.sampled_from("ab cd é 0x ß zz".split()), max_size=8))
def test_table_knows_exactly_its_phrases(tmp_path_factory: pytest.TempPathFactory, phrases: list[tuple[str, ...]], text: list[str]) -> None:
    ordered = sorted(phrases, key=lambda words: " ".join(words).encode())
    with _table(tmp_path_factory.mktemp("table") / "p.bin", phrases) as table:
        for number, words in enumerate(ordered, 1):
            assert table.entry(words) == number
        for start in range(len(text)):
            expected = [(len(w), ordered.index(w) + 1) for w in sorted(ordered, key=len) if tuple(text[start : start + len(w)]) == w]
            assert table.walk(text, start) == expected
        assert table.entry([]) is None and table.entry(["zz"]) is None


def test_a_mere_beginning_is_no_phrase(tmp_path: Path) -> None:
    with _table(tmp_path / "p.bin", [("chest", "pain", "at", "rest")]) as table:
        assert table.entry(["chest", "pain"]) is None
        assert table.walk(["chest", "pain"], 0) == []


@pytest.mark.parametrize("damage", [b"", b"BEDSPHR1", b"x" * 100])
def test_a_damaged_table_is_refused(tmp_path: Path, damage: bytes) -> None:
    path = tmp_path / "p.bin"
    path.write_bytes(damage)
    with pytest.raises(BedsideError, match="build the vocabulary again"):
        PhraseTable(path)


def test_a_table_cut_short_is_refused(tmp_path: Path) -> None:
    _table(tmp_path / "p.bin", [("a",), ("b",)]).close()
    path = tmp_path / "p.bin"
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(BedsideError, match="cut short"):
        PhraseTable(path)


NAMES = [
    Name("C1", "Zorbing fever (disorder)", "MSH", preference=0),
    Name("C1", "fever, zorbing", "MSH", term_type="SY"),
    Name("C2", "zorbing fevers", "MDR", term_type="SY"),
    Name("C2", "Sphere sickness", "MDR", preference=0),
    Name("C3", "ZF", "MSH", term_type="ACR"),
    Name("C4", "Today", "CHV", preference=0),
    Name("C5", "123", "CHV", preference=0),
    Name("C6", "Ordering", "CHV", preference=0),
]


def _build(folder: Path, names: list[Name], types: list[SemanticType] | None = None, links: list[IsA | Same] | None = None) -> str:
    folder.mkdir()
    builder = StoreBuilder(folder, {"T184"}, ["today"])
    builder.add_types(types or [])
    builder.add_names(names)
    builder.add_relations(links or [])
    counts = builder.finish()
    builder.close()
    assert sorted(file.name for file in folder.iterdir()) == ["concepts.sqlite", "phrases.bin"]
    return counts.content_sha256


def _find(store: Store, text: str) -> str | None:
    found = store.lookup([token.norm for token in tokens(text)])
    return found.concept if found else None


def test_preferred_names_win_and_losers_are_kept(tmp_path: Path) -> None:
    _build(tmp_path / "s", NAMES)
    store = Store(tmp_path / "s")
    found = store.lookup([token.norm for token in tokens("zorbing fever")])
    assert found is not None
    assert (found.concept, found.rank, found.others, found.source) == ("C1", PREFERRED, ("C2",), "MSH")
    assert _find(store, "Zorbing Fevers") == "C1"


def test_everyday_words_and_numbers_name_concepts_but_are_not_matched(tmp_path: Path) -> None:
    _build(tmp_path / "s", NAMES)
    store = Store(tmp_path / "s")
    assert _find(store, "today") is None and _find(store, "123") is None
    concept = store.concept("C4")
    assert concept is not None and concept.name == "Today"


def test_a_single_word_matches_in_its_own_form_only(tmp_path: Path) -> None:
    _build(tmp_path / "s", NAMES)
    store = Store(tmp_path / "s")
    assert store.longest(["order"], "order", 0) is None
    found = store.longest(["order"], "ordering", 0)
    assert found is not None and found[1].concept == "C6"


def test_unwanted_types_are_left_out_and_a_concept_without_type_is_kept(tmp_path: Path) -> None:
    _build(tmp_path / "s", NAMES, [SemanticType("C1", "T047"), SemanticType("C2", "T047"), SemanticType("C2", "T184")])
    store = Store(tmp_path / "s")
    assert store.concept("C1") is None
    assert _find(store, "zorbing fever") == "C2"
    kept = store.concept("C3")
    assert kept is not None and kept.types == ()


def test_links_join_known_concepts_only(tmp_path: Path) -> None:
    links: list[IsA | Same] = [IsA("C1", "C2"), IsA("C1", "C2"), IsA("C1", "C999"), IsA("C1", "C1"), Same("C3", "C2"), Same("C2", "C999")]
    _build(tmp_path / "s", NAMES, [], links)
    store = Store(tmp_path / "s")
    one, two, three = (store.concept(cui) for cui in ("C1", "C2", "C3"))
    assert one is not None and two is not None and three is not None
    assert one.parents == ("C2",) and one.same == ()
    assert two.same == three.same == ("C2", "C3")


def test_content_hash_does_not_depend_on_the_order_of_rows(tmp_path: Path) -> None:
    shuffled = NAMES[:]
    random.Random(1).shuffle(shuffled)
    first = _build(tmp_path / "a", NAMES)
    assert _build(tmp_path / "b", shuffled) == first
    assert _build(tmp_path / "c", NAMES[:-1]) != first


def test_threads_share_a_store(tmp_path: Path) -> None:
    _build(tmp_path / "s", NAMES)
    store = Store(tmp_path / "s")
    found: list[str | None] = []
    threads = [threading.Thread(target=lambda: found.append(_find(store, "sphere sickness"))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == ["C2"] * 4


@pytest.mark.parametrize(
    "written, said",
    [
        ("Dyspnea (finding)", "Dyspnea"),
        ("Otitis media, NOS", "Otitis media"),
        ("Rash NOS (disorder)", "Rash"),
        ("Pain (left)", "Pain (left)"),
    ],
)
def test_what_only_vocabularies_write_is_taken_off(written: str, said: str) -> None:
    assert spoken(written) == said


@given(st.lists(st.tuples(st.integers(0, 12), st.integers(0, 12)), max_size=30))
def test_groups_are_an_equivalence(pairs: list[tuple[int, int]]) -> None:
    """2.4: union-find; every joined pair has one head, and heads do not depend on who asks."""
    groups: Groups[int] = Groups()
    for a, b in pairs:
        groups.join(a, b)
    assert all(groups.find(a) == groups.find(b) for a, b in pairs)
    for head, members in groups.sets().items():
        assert all(groups.find(member) == head for member in members)
        assert len(members) == len(set(members)) > 1


def test_the_first_named_head_stays() -> None:
    groups: Groups[str] = Groups()
    for one, other in pairwise("abcd"):
        groups.join(one, other)
    groups.join("x", "d")
    assert {groups.find(item) for item in "abcdx"} == {"x"}


def test_a_cui_of_several_terms_joins_none_of_them_together() -> None:
    """2.4: 127 CUIs serve several terms; the terms stay apart."""
    found = claims({"HP:1": ["C1", "C2"], "HP:2": ["C2", "C3"]})
    assert found.groups.find("C2") == found.groups.find("HP:1")
    assert found.groups.find("HP:1") != found.groups.find("HP:2")
    assert found.contested == {"C2": ("HP:1", "HP:2")}


@pytest.mark.parametrize(
    "text, problem",
    [
        ("a,b\n", "columns must be"),
        ("alias,concept,reason,source\nC1,C2,,x\n", ":2.*reason"),
        ("alias,concept,reason,source\nC1,C2\n", ":2"),
    ],
)
def test_a_broken_table_of_merges_is_named(text: str, problem: str) -> None:
    with pytest.raises(BedsideError, match=problem):
        read_merges(text, "merges.csv")


def test_an_alias_has_one_concept() -> None:
    with pytest.raises(BedsideError, match="merges.csv:3.*twice"):
        read_merges("alias,concept,reason,source\nC1,C2,r,s\nC1,C3,r,s\n", "merges.csv")
