"""Distances between diagnoses (metrics.md 3.1, 3.3 and 3.4)."""

from __future__ import annotations

import timeit
from collections.abc import Callable
from itertools import combinations
from statistics import mean, median

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from ontology.errors import BedsideError
from ontology.icd10 import (
    Codes,
    IcMethod,
    best_of,
    compare,
    d_jaccard_ic,
    d_lin,
    d_path,
    d_resnik,
    d_tversky,
    expected_sdd,
    icd_tree,
    is_same_or_descendant,
    normalise,
    overlap,
    relation,
    same_at,
    sdd,
    sdd_case,
    sdd_jaccard,
    sdd_sym,
)

Distance = Callable[[Codes, Codes], float]

PAIRS = """
    I21.02 I21.02 exact 5 0 0 0 0.0000 0.0000 0.0000 0.0000 0.0000 0.0000 0.0000
    I21.0 I21.02 under_specified 4 0 1 1 0.1111 0.1111 0.2000 0.0688 0.1288 0.0305 0.1111
    I21.02 I21.0 over_specified 4 1 0 1 0.0000 0.1111 0.2000 0.0688 0.1288 0.0305 0.1111
    I21 I21.02 under_specified 3 0 2 2 0.2500 0.2500 0.4000 0.1551 0.2686 0.1249 0.2500
    9 I21.02 under_specified 1 0 4 4 0.6667 0.6667 0.8000 0.5349 0.6970 0.6202 0.6667
    I21.01 I21.02 same_subcategory 4 1 1 2 0.2000 0.2000 0.3333 0.1288 0.2282 0.0592 0.2727
    I21.4 I21.02 same_category 3 1 2 3 0.3333 0.3333 0.5000 0.2686 0.4234 0.2202 0.4000
    I22.0 I21.02 same_block 2 2 3 5 0.5556 0.5556 0.7143 0.4449 0.6158 0.4850 0.6364
    I20.0 I21.02 same_block 2 2 3 5 0.5556 0.5556 0.7143 0.4449 0.6158 0.4850 0.6364
    I26.99 I21.02 same_chapter 1 4 4 8 0.8000 0.8000 0.8889 0.6970 0.8214 0.7656 0.8571
    J18.9 I21.02 different_chapter 0 4 5 9 1.0000 1.0000 1.0000 1.0000 1.0000 1.0000 1.0000
    G44.209 M31.6 different_chapter 0 6 4 10 1.0000 1.0000 1.0000 1.0000 1.0000 1.0000 1.0000
    G43.909 M31.6 different_chapter 0 6 4 10 1.0000 1.0000 1.0000 1.0000 1.0000 1.0000 1.0000
    G43.909 G44.209 same_block 2 4 4 8 0.6667 0.6667 0.8000 0.5324 0.6949 0.5673 0.7500
    M31.5 M31.6 same_category 3 1 1 2 0.2500 0.2500 0.4000 0.2576 0.4097 0.2184 0.3333
    D64.3 D50.9 same_chapter 1 3 3 6 0.7500 0.7500 0.8571 0.5588 0.7170 0.6447 0.8182
    D50.0 D50.9 same_category 3 1 1 2 0.2500 0.2500 0.4000 0.1495 0.2602 0.0943 0.3333
    L25.9 J18.9 different_chapter 0 4 4 8 1.0000 1.0000 1.0000 1.0000 1.0000 1.0000 1.0000
    J02.9 B08.4 different_chapter 0 4 4 8 1.0000 1.0000 1.0000 1.0000 1.0000 1.0000 1.0000
    H04.329 H10.9 same_chapter 1 5 3 8 0.8000 0.8000 0.8889 0.7508 0.8577 0.8049 0.8667
    A48.1 J18.9 different_chapter 0 4 4 8 1.0000 1.0000 1.0000 1.0000 1.0000 1.0000 1.0000
    J12.82 U07.1 different_chapter 0 5 4 9 1.0000 1.0000 1.0000 1.0000 1.0000 1.0000 1.0000
    K21.9 K21.00 same_category 3 1 2 3 0.3333 0.3333 0.5000 0.1495 0.2602 0.0730 0.4000
    E11.9 E11.311 same_category 3 1 3 4 0.4000 0.4000 0.5714 0.3879 0.5590 0.3776 0.4545
    E10.9 E11.9 same_block 2 2 2 4 0.5000 0.5000 0.6667 0.5369 0.6986 0.5785 0.6000
    S22.39XD S22.39XA exact 5 0 0 0 0.0000 0.0000 0.0000 0.0000 0.0000 0.0000 0.0000
    S22.9XXA S22.39XA same_category 3 1 2 3 0.3333 0.3333 0.5000 0.3987 0.5701 0.4007 0.4000
    T61.1 T61.11 under_specified 4 0 1 1 0.1111 0.1111 0.2000 0.0808 0.1495 0.0419 0.1111
    C7A.00 C7B.00 same_chapter 1 4 4 8 0.8000 0.8000 0.8889 0.7151 0.8339 0.7795 0.8571
    J93 J93.83 under_specified 3 0 2 2 0.2500 0.2500 0.4000 0.1198 0.2140 0.0829 0.2500
"""
"""The worked pairs: pred, truth, relation, I, x, y, path, sdd, 1-WP, 1-Jaccard, 1-Lin (Seco), J-IC (Seco),
J-IC (Sanchez), Tversky."""

ROWS = [line.split() for line in PAIRS.strip().splitlines()]

DDXPLUS = (
    "J93 G44.009 K22.3 S22.9 K21 B20 D64.9 J02.9 K40 G70.0 A37 T78.0 J05.1 G61.0 J04.0 J05.0 I47.1 I48.91 "
    "J47 J30 B57 T61.1 I51.4 J38.5 G24.02 R60.0 M34 A15 I20.0 I20.9 A98.4 H66.90 F41 J45 J40 J44.1 I26 J06.9 "
    "J11.1 J17,J18 J01 J32 J21 C34 I21 D86 C25 J81.0 I30"
).split()


def test_there_are_thirty_pairs() -> None:
    """3.4: the table is complete."""
    assert len(ROWS) == 30
    assert {len(row) for row in ROWS} == {14}


@pytest.mark.parametrize("row", ROWS, ids=lambda row: "-".join(row[:2]))
def test_worked_pairs(row: list[str]) -> None:
    """3.4: all columns, to four decimals."""
    pred, truth = normalise(row[0]), normalise(row[1])
    found = compare(pred, truth)
    assert found.relation == relation(pred, truth) == row[2]
    assert found.overlap is not None
    assert [str(number) for number in (*found.overlap, found.path)] == row[3:7]
    values = (
        found.sdd,
        found.sdd_sym,
        found.sdd_jaccard,
        found.sdd_ic,
        d_jaccard_ic(pred, truth),
        d_jaccard_ic(pred, truth, "sanchez"),
        found.sdd_directional,
    )
    assert [f"{value:.4f}" for value in values] == row[7:]
    assert (found.sdd, found.sdd_sym, found.sdd_jaccard) == (
        sdd(pred, truth),
        sdd_sym(pred, truth),
        sdd_jaccard(pred, truth),
    )
    assert (found.path, found.sdd_ic, found.sdd_directional) == (
        d_path(pred, truth),
        d_lin(pred, truth),
        d_tversky(pred, truth),
    )


def test_sle_override() -> None:
    """3.4: M32.9 against the raw DDXPlus code M34, and against M32, to which the override leads (F5)."""
    raw, mended = compare("M32.9", "M34"), compare("M32.9", "M32")
    assert (round(raw.sdd_sym, 4), raw.relation) == (0.4286, "same_block")
    assert (round(mended.sdd_sym, 4), mended.sdd, mended.relation) == (0.1429, 0.0, "over_specified")


@pytest.mark.parametrize(
    ("pred", "value", "via", "full_credit"),
    [
        ("I50.9", 0.25, "secondary", 0.0),
        ("I50.22", 0.5, "secondary", 0.3333),
        ("I21.4", 0.3333, "primary", 0.3333),
    ],
)
def test_secondary_diagnoses(pred: str, value: float, via: str, full_credit: float) -> None:
    """3.3: t0 = I21.02, T2 = {I50.9}, lambda .25; ALT lambda 0."""
    found = sdd_case(pred, "I21.02", ["I50.9"])
    assert (round(found.value, 4), found.via) == (value, via)
    assert round(sdd_case(pred, "I21.02", ["I50.9"], penalty=0.0).value, 4) == full_credit
    assert sdd_case(pred, "I21.02").value == sdd(pred, "I21.02")


def test_secondary_never_beats_an_equal_primary() -> None:
    """3.3: the minimum; on a tie the primary diagnosis is named, and an unresolved answer stays at 1."""
    assert sdd_case("I21.02", "I21.02", ["I21.02"]).via == "primary"
    assert sdd_case((), "I21.02", ["I50.9"]) == sdd_case((), "I21.02")
    assert sdd_case((), "I21.02").value == 1.0
    with pytest.raises(ValueError, match="penalty"):
        sdd_case("I21.02", "I21.02", penalty=1.5)


def test_ranked_answers() -> None:
    """3.3: {I21.4: .6, I20.0: .3, J18.9: .1} against I21.02."""
    answers = [("I21.4", 0.6), ("I20.0", 0.3), ("J18.9", 0.1)]
    assert round(expected_sdd(answers, "I21.02"), 4) == 0.4667
    assert round(best_of([code for code, _ in answers], "I21.02"), 4) == 0.3333
    assert round(best_of(["I21.4"], "I21.02"), 4) == 0.3333
    assert expected_sdd([("I21.02", 0.4)], "I21.02") == pytest.approx(0.6)
    assert expected_sdd([], "I21.02") == best_of([], "I21.02") == 1.0
    with pytest.raises(ValueError, match="more than 1"):
        expected_sdd([("I21.02", 0.6), ("I21.4", 0.6)], "I21.02")
    with pytest.raises(ValueError, match="negative"):
        expected_sdd([("I21.02", -0.1)], "I21.02")


def test_known_limits() -> None:
    """3.3: code distance is not clinical closeness."""
    assert sdd("A48.1", "J18.9") == 1.0
    assert sdd("J12.82", "U07.1") == 1.0
    assert round(sdd("I20.0", "I21.02"), 4) == 0.5556


def test_sets_take_the_nearest_pair() -> None:
    """3.2 rule 8: min over pairs, for every distance; the relation is that of the nearest pair."""
    found = compare(("E11.3", "H36"), "E11.311")
    assert (round(found.sdd, 4), found.pair, found.relation) == (0.2, ("E11.3", "E11.311"), "under_specified")
    found = compare("J18.9", normalise("j17, j18"))
    assert (round(found.sdd_sym, 4), found.sdd, found.pair) == (0.1429, 0.0, ("J18.9", "J18"))
    assert compare(("J18.9", "J18"), "J18").relation == "exact"
    assert d_path(("I21.02", "J18.9"), ("J18", "A48.1")) == 1
    assert is_same_or_descendant(("I21.02", "J18.9"), ("J18", "A48.1"))
    assert same_at("category", ("I21.02", "J18.9"), ("J18", "A48.1"))


def test_unresolved_is_at_distance_one() -> None:
    """3.2 rule 7: on either side, in every distance."""
    for pred, truth in (((), "I21.02"), ("I21.02", ()), ((), ())):
        found = compare(pred, truth)
        assert (found.relation, found.pair, found.overlap, found.path) == ("unresolved", None, None, None)
        assert {found.sdd, found.sdd_sym, found.sdd_jaccard, found.sdd_ic, found.sdd_directional} == {1.0}
        assert relation(pred, truth) == "unresolved"
        assert d_resnik(pred, truth) == d_jaccard_ic(pred, truth) == 1.0
        assert not is_same_or_descendant(pred, truth)
        assert not same_at("chapter", pred, truth)


def test_unknown_codes_are_refused() -> None:
    """Codes must be in normal form; a typing error must not pass for a wrong diagnosis."""
    with pytest.raises(BedsideError, match="normalise it first"):
        sdd("i21.02", "I21.02")
    with pytest.raises(BedsideError):
        compare(["I21.02"], ["B24"])


def test_equality_at_a_level() -> None:
    """3.1: acc_cat3, acc_block, acc_chapter; a code above the level is never equal at it."""
    assert same_at("category", "I21.4", "I21.02")
    assert not same_at("category", "I20.0", "I21.02")
    assert same_at("block", "I20.0", "I21.02")
    assert not same_at("block", "I26.99", "I21.02")
    assert same_at("chapter", "I26.99", "I21.02")
    assert not same_at("chapter", "J18.9", "I21.02")
    assert not same_at("category", "I20-I25", "I20-I25")
    assert same_at("block", "I20-I25", "I21.02")
    assert not same_at("block", "9", "I21.02")
    assert not same_at("block", "C7A.00", "C7B.00")


def test_same_or_descendant() -> None:
    """3.1 acc_truth: a finer answer satisfies a header, a coarser one does not."""
    assert is_same_or_descendant("I21.02", "I21.02")
    assert is_same_or_descendant("I21.02", "I21")
    assert not is_same_or_descendant("I21", "I21.02")
    assert not is_same_or_descendant("I21.4", "I21.02")


def test_chance_level() -> None:
    """3.3: over the 1,176 pairs of the 49 DDXPlus conditions."""
    pairs = list(combinations([normalise(raw).codes for raw in DDXPLUS], 2))
    values = [sdd_sym(*pair) for pair in pairs]
    assert len(values) == 1176
    assert (round(mean(values), 4), median(values), min(values)) == (0.9417, 1.0, 0.25)
    assert round(sum(value == 1.0 for value in values) / len(values), 3) == 0.826
    assert round(mean(sdd_jaccard(*pair) for pair in pairs), 4) == 0.9639
    assert round(mean(d_lin(*pair) for pair in pairs), 4) == 0.9157


def test_longest_path() -> None:
    """3.3: codes of depth 7 in different chapters are 14 edges apart (the table there says 12)."""
    assert max(icd_tree().depths) == 7
    assert d_path("C44.1021", "QA0.0131") == 14


def test_resnik() -> None:
    """3.3: of a code to itself 1 - IC, so 0 only for leaves; across chapters 1."""
    assert d_resnik("I21.02", "I21.02") == 0.0
    assert d_resnik("I21", "I21") == 1.0 - icd_tree().information("I21") > 0.0
    assert d_resnik("I21.4", "I21.02") == d_resnik("I21", "I21")
    assert d_resnik("J18.9", "I21.02") == 1.0


def test_tversky_parameters() -> None:
    """3.3: gamma weighs over-specification, alpha commission, beta omission; (1, 1, 1) is 1 - Jaccard."""
    assert d_tversky("I21.02", "I21.0", gamma=1.0) == sdd_jaccard("I21.02", "I21.0")
    assert d_tversky("I21.02", "I21.0", gamma=0.0) == 0.0
    assert d_tversky("I21.4", "I21.02", 1.0, 1.0, 1.0) == sdd_jaccard("I21.4", "I21.02")
    assert d_tversky("I21.0", "I21.02", beta=0.0) == 0.0


def test_distances_take_microseconds() -> None:
    """Scoring thousands of answers must not wait for the tree; best of five against a busy machine."""
    sdd("I21.4", "I21.02")
    assert min(timeit.repeat(lambda: sdd("I21.4", "I21.02"), number=2000, repeat=5)) / 2000 < 10e-6


CODES = st.deferred(lambda: st.sampled_from(icd_tree().table.codes))
SPREAD = st.sampled_from([0, 0, 1, 2, 5, 20, 100, 1000, 47188])
PROPERTY = settings(deadline=None)
METRICS: list[Distance] = [sdd_sym, sdd_jaccard]
ALL: list[Distance] = [sdd, sdd_sym, sdd_jaccard, d_lin, d_jaccard_ic, d_resnik, d_tversky]


@st.composite
def near(draw: st.DrawFn, count: int) -> list[str]:
    """Codes that are often relatives: far ones tell little about a tree of 22 chapters."""
    codes = icd_tree().table.codes
    start = draw(st.integers(0, len(codes) - 1))
    steps = [draw(st.integers(-1, 1)) * draw(SPREAD) for _ in range(count)]
    return [codes[(start + step) % len(codes)] for step in steps]


@pytest.mark.parametrize("distance", ALL, ids=lambda distance: distance.__name__)
@PROPERTY
@given(pair=near(2))
def test_range(distance: Distance, pair: list[str]) -> None:
    """3.3: 0 <= d <= 1."""
    assert 0.0 <= distance(*pair) <= 1.0


METHODS: list[IcMethod] = ["seco", "sanchez"]


@pytest.mark.parametrize("method", METHODS)
@PROPERTY
@given(pair=near(2))
def test_information_distances_in_both_kinds(method: IcMethod, pair: list[str]) -> None:
    """3.3: range, identity and symmetry of the IC-weighted distances; Jaccard is 2d/(1+d) of Lin."""
    one, other = pair
    for distance in (d_lin, d_jaccard_ic):
        value = distance(one, other, method)
        assert 0.0 <= value <= 1.0
        assert (value == 0.0) == (one == other)
        assert value == pytest.approx(distance(other, one, method))
    lin = d_lin(one, other, method)
    assert d_jaccard_ic(one, other, method) == pytest.approx(2 * lin / (1 + lin))


@pytest.mark.parametrize("distance", [*METRICS, d_lin, d_tversky], ids=lambda distance: distance.__name__)
@PROPERTY
@given(pair=near(2))
def test_identity(distance: Distance, pair: list[str]) -> None:
    """3.3: 0 for a code and itself, and only then."""
    assert (distance(*pair) == 0.0) == (pair[0] == pair[1])
    assert distance(pair[0], pair[0]) == 0.0


@pytest.mark.parametrize("distance", [*METRICS, d_lin, d_resnik], ids=lambda distance: distance.__name__)
@PROPERTY
@given(pair=near(2))
def test_symmetry(distance: Distance, pair: list[str]) -> None:
    """3.3: d(a, b) = d(b, a)."""
    assert distance(*pair) == pytest.approx(distance(*reversed(pair)))


@pytest.mark.parametrize("distance", METRICS, ids=lambda distance: distance.__name__)
@PROPERTY
@given(triple=near(3))
def test_triangle(distance: Distance, triple: list[str]) -> None:
    """3.3: d(a, c) <= d(a, b) + d(b, c), for 1-WP on this tree and for 1-Jaccard always."""
    one, two, three = triple
    assert distance(one, three) <= distance(one, two) + distance(two, three) + 1e-12


@PROPERTY
@given(pair=near(2))
def test_formulas_by_sets(pair: list[str]) -> None:
    """3.3: I, x and y are sizes of sets of ancestors-or-self, by a way of counting of its own."""
    mine, theirs = ({node.id for node in icd_tree().lineage(code)} for code in pair)
    shared, extra, missed = len(mine & theirs), len(mine - theirs), len(theirs - mine)
    assert overlap(*pair) == (shared, extra, missed)
    assert d_path(*pair) == extra + missed
    assert sdd_sym(*pair) == pytest.approx(1 - 2 * shared / (len(mine) + len(theirs)))
    assert sdd_jaccard(*pair) == pytest.approx(1 - shared / len(mine | theirs))
    assert sdd(*pair) == (0.0 if theirs <= mine else sdd_sym(*pair))
    assert is_same_or_descendant(*pair) == (theirs <= mine) == (sdd(*pair) == 0.0)


@PROPERTY
@given(pair=near(2))
def test_saying_less_beats_saying_something_wrong(pair: list[str]) -> None:
    """3.3, monotone specificity: of the predictions with one lca, the lca itself is strictly nearest."""
    pred, truth = pair
    common = icd_tree().common(pair)
    assume(common is not None)
    assert common is not None
    stop = icd_tree().table.codes[icd_tree().path(pred)[common.depth - 1]]
    assume(len(icd_tree().path(stop)) == common.depth < len(icd_tree().path(pred)))
    for distance in (sdd_sym, sdd_jaccard, d_tversky):
        assert distance(stop, truth) < distance(pred, truth)
    assert sdd(stop, truth) <= sdd(pred, truth)


@PROPERTY
@given(pred=st.lists(CODES, max_size=3), truth=st.lists(CODES, max_size=3))
def test_sets_are_the_minimum(pred: list[str], truth: list[str]) -> None:
    """3.2 rule 8: against the definition."""
    for distance in ALL:
        expected = min((distance(one, other) for one in pred for other in truth), default=1.0)
        assert distance(pred, truth) == expected
