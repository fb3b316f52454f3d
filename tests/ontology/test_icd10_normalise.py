"""Codes as people write them (metrics.md 3.2)."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ontology.icd10 import icd_tree, is_manifestation, normalise, sdd, sdd_sym

DDXPLUS = {
    "J93": "J93",
    "g44.009": "G44.009",
    "K22.3": "K22.3",
    "S22.9": "S22.9",
    "K21": "K21",
    "B20": "B20",
    "D64.9": "D64.9",
    "J02.9": "J02.9",
    "K40": "K40",
    "G70.0": "G70.0",
    "A37": "A37",
    "T78.0": "T78.0",
    "J05.1": "J05.1",
    "G61.0": "G61.0",
    "J04.0": "J04.0",
    "J05.0": "J05.0",
    "I47.1": "I47.1",
    "I48.91": "I48.91",
    "J47": "J47",
    "J30": "J30",
    "B57": "B57",
    "T61.1": "T61.1",
    "I51.4": "I51.4",
    "J38.5": "J38.5",
    "G24.02": "G24.02",
    "R60.0": "R60.0",
    "M34": "M34",
    "a15": "A15",
    "I20.0": "I20.0",
    "I20.9": "I20.9",
    "a98.4": "A98.4",
    "H66.90": "H66.90",
    "f41": "F41",
    "J45": "J45",
    "j40": "J40",
    "j44.1": "J44.1",
    "i26": "I26",
    "j06.9": "J06.9",
    "j11.1": "J11.1",
    "j17, j18": "J17 J18",
    "j01": "J01",
    "j32": "J32",
    "j21": "J21",
    "c34": "C34",
    "I21": "I21",
    "d86": "D86",
    "c25": "C25",
    "J81.0": "J81.0",
    "I30": "I30",
}
"""The 49 raw gold codes of DDXPlus (F5)."""


@pytest.mark.parametrize("raw", DDXPLUS)
def test_ddxplus_codes(raw: str) -> None:
    """15: all 49 codes normalise, none unresolved, none cut."""
    found = normalise(raw)
    assert found.codes == tuple(DDXPLUS[raw].split())
    assert found.unresolved == ()
    assert set(found.statuses.values()) == {"exact"}
    assert not found.manifestation_only


def test_ddxplus_dirt() -> None:
    """F5: 49 codes, 16 of them in lower case, one a list."""
    assert len(DDXPLUS) == 49
    assert sum(raw != raw.upper() for raw in DDXPLUS) == 16
    assert [raw for raw in DDXPLUS if len(normalise(raw).codes) > 1] == ["j17, j18"]


@pytest.mark.parametrize(
    ("raw", "codes", "status", "extension"),
    [
        ("i21.02", "I21.02", "exact", ""),
        ("I21.02 ", "I21.02", "exact", ""),
        (" i 21 . 02", "I21.02", "exact", ""),
        ("I2102", "I21.02", "exact", ""),
        ("I21.02.", "I21.02", "exact", ""),
        ("E11.-", "E11", "exact", ""),
        ("E11-", "E11", "exact", ""),
        ("A17.0†", "A17.0", "exact", ""),
        ("A17.0+", "A17.0", "exact", ""),
        ("G44.2!#", "G44.2", "exact", ""),
        ("C7A", "C7A", "exact", ""),
        ("qa00131", "QA0.0131", "exact", ""),
        ("S22.9XXA", "S22.9", "exact", "A"),
        ("s2239xd", "S22.39", "exact", "D"),
        ("T36.0X1A", "T36.0X1", "exact", "A"),
        ("T07.XXXA", "T07", "exact", "A"),
        ("E11.3211", "E11.321", "exact", "1"),
        ("S22.39X", "S22.39", "truncated", ""),
        ("S22.39XZ", "S22.39", "truncated", ""),
        ("S22.39XAB", "S22.39", "truncated", "A"),
        ("J18.99", "J18.9", "truncated", ""),
        ("J18.8X", "J18.8", "truncated", ""),
        ("H36.0", "H36", "who_truncated", ""),
        ("h360", "H36", "who_truncated", ""),
        ("H36.05", "H36", "truncated", ""),
        ("9", "9", "exact", ""),
        ("I20-I25", "I20-I25", "exact", ""),
        ("i20–i25", "I20-I25", "exact", ""),
        ("IX", "9", "who_mapped", ""),
        ("XIX", "19", "who_mapped", ""),
        ("XIV", "14", "who_mapped", ""),
        ("I30-I52", "I30-I5A", "who_mapped", ""),
        ("B20-B24", "B20", "who_mapped", ""),
        ("C00-C75", "2", "who_mapped", ""),
        ("I21-I22", "I20-I25", "truncated", ""),
    ],
)
def test_rules_for_one_code(raw: str, codes: str, status: str, extension: str) -> None:
    """3.2 rules 1, 3, 4 and 5, and the mapping of WHO chapters and blocks into the CM tree."""
    found = normalise(raw)
    assert found.codes == (codes,)
    assert found.statuses == {codes: status}
    assert found.extensions == ({codes: extension} if extension else {})
    assert found.unresolved == ()


@pytest.mark.parametrize(
    ("raw", "status"),
    [
        ("Pneumonia", "not_a_code"),
        ("", "not_a_code"),
        (" \n", "not_a_code"),
        ("B12", "unresolved"),
        ("H1N1", "unresolved"),
        ("B24", "unresolved"),
        ("A00-I99", "unresolved"),
        ("O157 infection", "not_a_code"),
        ("23", "not_a_code"),
        ("0", "not_a_code"),
    ],
)
def test_what_is_no_code(raw: str, status: str) -> None:
    """3.2 rule 7: no code, no guess; the distance is 1 and the item is reported."""
    found = normalise(raw)
    assert found.codes == ()
    assert [item.status for item in found.items] == [status]
    assert found.unresolved == (raw.strip(),)
    assert not found.manifestation_only
    assert sdd(found, "I21.02") == 1.0


@pytest.mark.parametrize(
    ("raw", "codes", "unresolved"),
    [
        ("J17,J18", ("J17", "J18"), ()),
        ("J17;J18/J20", ("J17", "J18", "J20"), ()),
        ("J17\nJ18", ("J17", "J18"), ()),
        ("J17 J18", ("J17", "J18"), ()),
        ("A17.0† G01*", ("A17.0", "G01"), ()),
        ("J18.9, j189 , J18.9", ("J18.9",), ()),
        ("J18.9, pneumonia", ("J18.9",), ("pneumonia",)),
        ("J18.9,,", ("J18.9",), ()),
        ("3, 4", (), ("3", "4")),
        ("type I/II", (), ("type I", "II")),
    ],
)
def test_lists(raw: str, codes: tuple[str, ...], unresolved: tuple[str, ...]) -> None:
    """3.2 rule 2; a chapter number counts only where it stands alone."""
    found = normalise(raw)
    assert found.codes == codes == tuple(found)
    assert found.unresolved == unresolved


def test_category_beats_block() -> None:
    """3.2 rule 3: for the 39 names that are both."""
    assert normalise("b20").codes == ("B20",)
    assert icd_tree().node("B20").level == "category"


def test_keep_extension() -> None:
    """3.2 rule 4, ALT: the extended code stays and lies below its leaf."""
    kept = normalise("s22.9xxa", keep_extension=True)
    assert kept.codes == ("S22.9XXA",)
    assert kept.extensions == {}
    assert sdd_sym(kept, "S22.9") == pytest.approx(1 / 9)
    assert sdd_sym(kept, normalise("S22.9XXD", keep_extension=True)) == pytest.approx(0.2)
    assert normalise("S22.39XAB", keep_extension=True).codes == ("S22.39XA",)


@pytest.mark.parametrize(
    ("raw", "alone"),
    [
        ("J17", True),
        ("J17*", True),
        ("D63.8*", True),
        ("A18.0*", True),
        ("H36.0", True),
        ("F02.80", True),
        ("J17, G01", True),
        ("J17, J18", False),
        ("A78, J17*", False),
        ("J18", False),
        ("B95.3", False),
        ("R99", False),
    ],
)
def test_manifestation_only(raw: str, alone: bool) -> None:
    """3.2 rule 8: a lone asterisk or "in diseases classified elsewhere" code is flagged; a pair is not."""
    assert normalise(raw).manifestation_only is alone


def test_manifestation_is_inherited() -> None:
    """3.2 rule 8: H36.811 names no "classified elsewhere" itself, its category does."""
    assert "classified elsewhere" not in icd_tree().title("H36.811")
    assert is_manifestation("H36.811")


def test_worked_sets() -> None:
    """3.2: truth {J17, J18} and J18.9 give .1429; {E11.3, H36} and E11.311 give .2000."""
    assert round(sdd_sym(normalise("J18.9"), normalise("j17, j18")), 4) == 0.1429
    assert sdd(normalise("J18.9"), normalise("j17, j18")) == 0.0
    assert round(sdd_sym(normalise("E11.3, H36"), normalise("E11.311")), 4) == 0.2
    assert round(sdd(normalise("E11.3, H36.0"), normalise("E11.311")), 4) == 0.2


def test_steps_tell_what_was_done() -> None:
    """3.2: every change is recorded."""
    assert normalise("s22 39xd").steps == (
        "s22 39xd: blanks dropped",
        "s22 39xd: upper-cased",
        "s22 39xd: dot inserted",
        "s22 39xd: extension D taken off",
    )
    assert normalise("I21.02").steps == ()
    steps = ("split into 2 items", "J17*: mark dropped", "J18.99: cut to J18.9")
    assert normalise("J17*, J18.99").steps == steps


def _below_blocks() -> list[str]:
    """Categories and subcategories."""
    return [code for code in icd_tree().table.codes if icd_tree().node(code).depth >= 3]


CODES = st.deferred(lambda: st.sampled_from(_below_blocks()))


@settings(deadline=None)
@given(CODES, st.booleans(), st.booleans(), st.sampled_from(["", " ", "†", "*", "+"]))
def test_any_spelling_of_a_code_is_the_code(code: str, lower: bool, dotted: bool, mark: str) -> None:
    """3.2 rules 1 and 3, on random categories and subcategories."""
    raw = code if dotted else code.replace(".", "")
    found = normalise((raw.lower() if lower else raw) + mark)
    assert found.codes == (code,)
    assert found.statuses == {code: "exact"}
    assert normalise(found.codes[0]).steps == ()


@settings(deadline=None)
@given(st.text(max_size=30) | st.text("IJE1029.-*XA ,/", max_size=12))
def test_any_text_gives_known_codes_or_is_reported(text: str) -> None:
    """3.2 rule 7: nothing raises, nothing is lost, every code is in the tree."""
    for keep in (False, True):
        found = normalise(text, keep)
        for code in found:
            assert normalise(code, keep).codes == (code,)
            assert icd_tree().path(code)
        assert found.codes or found.unresolved
