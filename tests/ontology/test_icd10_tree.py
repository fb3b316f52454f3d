"""The stripped tree and the traps of the library (metrics.md 3.2 and 3.3)."""

from __future__ import annotations

import importlib
from collections import Counter
from typing import Any

import pytest

from ontology.errors import BedsideError
from ontology.icd10 import icd_tree

PHANTOMS = "C00-C96 C00-C75 M00-M25 M40-M54 M60-M79 M80-M94 T07-T88 T20-T32 V00-X58 V00-V99 W00-X58 Y62-Y84".split()


def test_size() -> None:
    """3.3: 47,188 nodes, 36,343 leaves, chapter 1, block 2, category 3."""
    tree = icd_tree()
    assert len(tree) == 47188
    assert sum(size == 1 for size in tree.sizes) == 36343
    depths = Counter(tree.depths)
    assert (depths[1], depths[2], depths[3]) == (22, 285, 1918)
    chapter_19 = tree.table.codes.index("19")
    assert tree.sizes[chapter_19] == 13356


def test_lineage_carries_the_level() -> None:
    """3.3: I21.02 has depth 5, its ancestors are chapter, block, category and subcategory."""
    lineage = icd_tree().lineage("I21.02")
    assert [node.id for node in lineage] == [
        "chapter:9",
        "block:I20-I25",
        "category:I21",
        "subcategory:I21.0",
        "subcategory:I21.02",
    ]
    assert [node.depth for node in lineage] == [1, 2, 3, 4, 5]
    assert icd_tree().title("I21") == "Acute myocardial infarction"


def test_single_category_block_is_another_node() -> None:
    """3.2: get_ancestors('C7A') of the library is ['C7A', '2']: block and category share the name."""
    tree = icd_tree()
    assert [node.id for node in tree.lineage("C7A")] == ["chapter:2", "block:C7A", "category:C7A"]
    assert tree.node("C7A").level == "category"
    assert tree.node("C7A", "block").depth == 2
    assert tree.children("C7A", "block") == ("C7A",)
    assert "C7A.0" in tree.children("C7A")
    shared = [code for code, count in Counter(tree.table.codes).items() if count > 1]
    assert len(shared) == 39
    assert {"C7A", "D3A", "B20", "C50", "R99"} <= set(shared)
    assert {tree.node(code).level for code in shared} == {"category"}


@pytest.mark.parametrize("block", PHANTOMS)
def test_phantom_blocks_are_dropped(block: str) -> None:
    """3.2: twelve super-blocks without children."""
    assert block not in icd_tree()


def test_extension_does_not_hide_a_leaf() -> None:
    """3.2: is_leaf('S22.39') of the library is False because of extensions."""
    tree = icd_tree()
    assert tree.node("S22.39").leaf
    assert tree.children("S22.39") == ()
    assert not tree.node("S22.3").leaf
    assert tree.split_extension("S22.39XA") == ("S22.39", "A")
    assert tree.split_extension("S22.39XZ") is None
    assert tree.split_extension("T36.0X1A") == ("T36.0X1", "A")
    assert tree.split_extension("T07.XXXA") == ("T07", "A")
    assert "S22.39XA" not in tree


def test_extended_code_is_a_node_below_its_leaf() -> None:
    """3.2 ALT keep_extension: one level deeper, each letter another node."""
    tree = icd_tree()
    node = tree.lineage("S22.9XXA")[-1]
    assert (node.id, node.level, node.depth) == ("extended:S22.9XXA", "extended", 5)
    assert tree.path("S22.9XXA")[:-1] == tree.path("S22.9")
    assert tree.path("S22.9XXA") != tree.path("S22.9XXD")
    assert tree.lineage("T07.XXXA")[-1].code == "T07.XXXA"
    assert tree.information("S22.9XXA", "sanchez") == tree.information("S22.9", "sanchez") < 1.0


def test_unknown_code_is_refused() -> None:
    """A code that is not in normal form is an error, not a distance."""
    for code in ("i21.02", "I2102", "I21.02 ", "B24", "", "C00-C96"):
        with pytest.raises(BedsideError, match="not an ICD-10-CM code"):
            icd_tree().path(code)
    with pytest.raises(BedsideError, match="no chapter"):
        icd_tree().node("I21", "chapter")


def test_common_ancestor() -> None:
    """The lowest node above all codes; none across chapters."""
    tree = icd_tree()
    found = tree.common(["I21.02", "I21.4"])
    assert found is not None and found.id == "category:I21"
    assert tree.common(["I21.02", "J18.9"]) is None


def test_information_content() -> None:
    """3.3: Seco gives a leaf 1 and falls towards the chapters; both kinds stay in 0..1."""
    tree = icd_tree()
    assert tree.information("I21.02") == 1.0
    assert tree.information_at(()) == 0.0
    way = [tree.information(code) for code in ("9", "I21", "I21.0", "I21.02")]
    assert way == sorted(set(way)) and way[0] > 0.0
    values = [tree.information(code, "sanchez") for code in ("9", "I21", "I21.0", "I21.02", "C44.1021")]
    assert values == sorted(set(values)) and values[0] > 0.0 and values[-1] == 1.0


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_whole_tree_agrees_with_the_library() -> None:
    """3.2: the path of every code is what the library gives; extensions go back to their leaf."""
    library: Any = importlib.import_module("simple_icd_10_cm")
    tree = icd_tree()
    extended = 0
    for code in library.get_all_codes():
        if library.is_category_or_subcategory(code):
            expected = [*reversed(library.get_ancestors(code)), code]
            if library.is_extended_subcategory(code):
                extended += 1
                assert tree.split_extension(code) == (library.get_parent(code), code[-1])
                expected.pop()
                code = expected[-1]
            assert [tree.table.codes[number] for number in tree.path(code)] == expected
    assert extended == 51305
