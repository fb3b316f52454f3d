"""MRCONSO, MRSTY and MRREL are read as UMLS' reference manual says, row by row, and what is broken is named with its line."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path

import pytest

from ontology.errors import BedsideError
from ontology.vocab.rrf import (
    Choice,
    IsA,
    Name,
    Report,
    Same,
    SemanticType,
    consolidated_row,
    find_file,
    read_names,
    read_relations,
    read_semantic_types,
    relation_row,
    release_version,
    semantic_row,
    source_versions,
)

ReleaseMaker = Callable[..., Path]
GOOD = "C9000001|ENG|P|L1|PF|S1|Y|A1||101||SNOMEDCT_US|PT|101|Zorbing fever|9|N||"


def _names(release: Path, choice: Choice | None = None, report: Report | None = None) -> list[Name]:
    return list(read_names(release / "META" / "MRCONSO.RRF", choice or Choice(), report or Report()))


def test_names_carry_source_and_preference(make_release: ReleaseMaker) -> None:
    first, second, *_ = _names(make_release())
    assert first == Name("C9000001", "Zorbing fever (disorder)", "SNOMEDCT_US", "ENG", "PT", "101", 0)
    assert second.preference > first.preference  # TS=P, STT=PF, ISPREF=Y names the concept


def test_suppressed_rows_are_left_out_and_counted(make_release: ReleaseMaker) -> None:
    """SUPPRESS other than N: obsolete (O), suppressed by an editor (E) or for its term type (Y)."""
    report = Report()
    assert "Old zorbing name" not in {name.text for name in _names(make_release(), None, report)}
    assert report.suppressed == 1
    editors = tuple(GOOD.replace("|N||", f"|{mark}||") for mark in "OEY")
    report = Report()
    assert _names(make_release(editors, folder="2026AB/META"), None, report) == []
    assert report.suppressed == 3


def test_languages_and_sources_are_selectable(make_release: ReleaseMaker) -> None:
    release = make_release()
    assert all(name.language == "ENG" for name in _names(release))
    assert [n.text for n in _names(release, Choice(languages=frozenset({"SPA"})))] == ["fiebre de zorbing"]
    assert {n.source for n in _names(release, Choice(frozenset(), frozenset({"MDR", "SCTSPA"})))} == {"MDR", "SCTSPA"}


def test_relation_is_what_the_second_concept_is_to_the_first(make_release: ReleaseMaker) -> None:
    """PAR: the second is a parent; CHD: the second is a child; part-of, suppressed rows and loops are no is-a."""
    links = list(read_relations(make_release() / "META" / "MRREL.RRF", Choice(), Report()))
    assert links == [
        IsA("C9000001", "C9000002", "SNOMEDCT_US"),
        IsA("C9000009", "C9000002", "SNOMEDCT_US"),
        Same("C9000001", "C9000008", "MDR"),
        IsA("C9000002", "C0000001", "MSH"),
    ]


@pytest.mark.parametrize("relation, label, kept", [("RB", "isa", True), ("RB", "", False), ("RO", "isa", False), ("CHD", "part_of", False)])
def test_only_is_a_counts(make_release: ReleaseMaker, relation: str, label: str, kept: bool) -> None:
    row = f"C9000001|A1|SCUI|{relation}|C9000002|A4|SCUI|{label}|R1||MSH|MSH|||N||"
    found = list(read_relations(make_release(links=(row,)) / "META" / "MRREL.RRF", Choice(), Report()))
    assert bool(found) is kept


@pytest.mark.parametrize(
    "row, problem",
    [
        ("C9000001|ENG|P|L1|PF|S1|Y", "7 columns where 18 belong"),
        (GOOD + "more|", "19 columns where 18 belong"),
        (GOOD.rstrip("|"), "columns where 18 belong"),
        (GOOD.replace("C9000001", "C90001"), "no concept id, or no name"),
        (GOOD.replace("Zorbing fever", "  "), "no concept id, or no name"),
    ],
)
def test_broken_row_is_counted_with_its_line_or_is_an_error(make_release: ReleaseMaker, row: str, problem: str) -> None:
    release = make_release((GOOD, row, GOOD))
    report = Report()
    assert len(_names(release, None, report)) == 2
    assert report.broken == 1 and report.rows == 3
    assert "MRCONSO.RRF:2" in report.places[0] and problem in report.places[0]
    with pytest.raises(BedsideError, match=r"MRCONSO\.RRF:2"):
        _names(release, None, Report(strict=True))


def test_torn_last_row_is_said_to_be_cut_short(make_release: ReleaseMaker) -> None:
    release = make_release((GOOD,))
    path = release / "META" / "MRCONSO.RRF"
    path.write_bytes(path.read_bytes() + GOOD.encode()[:40])
    report = Report()
    assert len(_names(release, None, report)) == 1
    assert "MRCONSO.RRF:2" in report.places[0] and "cut short" in report.places[0]


def test_bytes_that_are_no_utf8_break_one_row_only(make_release: ReleaseMaker) -> None:
    release = make_release((GOOD, GOOD, GOOD))
    path = release / "META" / "MRCONSO.RRF"
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(lines[0] + lines[1].replace(b"fever", b"f\xffver") + lines[2])
    report = Report()
    assert len(_names(release, None, report)) == 2
    assert "not UTF-8" in report.places[0]


def test_line_separators_inside_a_name_do_not_end_its_row(make_release: ReleaseMaker) -> None:
    """UMLS names hold characters that `str.splitlines` takes for line ends."""
    report = Report()
    (name,) = _names(make_release((GOOD.replace("Zorbing fever", "Zorbing\u2028fe\x0bver\x85"),)), None, report)
    assert name.text.startswith("Zorbing\u2028") and report.broken == 0


def test_gzip_is_read_and_a_truncated_one_is_named(make_release: ReleaseMaker) -> None:
    release = make_release()
    plain = release / "META" / "MRCONSO.RRF"
    before = _names(release)
    packed = plain.with_name("MRCONSO.RRF.gz")
    packed.write_bytes(gzip.compress(plain.read_bytes()))
    plain.unlink()
    assert find_file(release, "MRCONSO.RRF") == packed
    assert list(read_names(packed, Choice(), Report())) == before
    packed.write_bytes(packed.read_bytes()[:-20])
    with pytest.raises(BedsideError, match=r"MRCONSO\.RRF\.gz:\d+: .*truncated"):
        list(read_names(packed, Choice(), Report()))


def test_semantic_types_and_their_broken_rows(make_release: ReleaseMaker) -> None:
    release = make_release(types=("C9000001|T184|A2.2.2|Sign or Symptom|AT1||", "C9000001|Finding|A|B|AT2||"))
    report = Report()
    assert list(read_semantic_types(release / "META" / "MRSTY.RRF", report)) == [SemanticType("C9000001", "T184")]
    assert "MRSTY.RRF:2" in report.places[0]


def test_version_comes_from_release_dat_else_from_the_folder(make_release: ReleaseMaker) -> None:
    release = make_release()
    assert release_version(release) == "2026AA"
    (release / "META" / "release.dat").write_text("umls.release.name=2025AB\numls.release.date=20251101\n")
    assert release_version(release) == "2025AB"
    assert release_version(release / "META") == "2025AB"


def test_source_versions_come_from_the_current_rows_of_mrsab(make_release: ReleaseMaker) -> None:
    release = make_release()
    assert source_versions(release) == {}
    row = ["C1", "C2", "MSH2026_2026_02_01", "MSH", *[""] * 17, "Y", "Y", "", ""]
    old = ["C1", "C3", "MSH2025", "MSH", *[""] * 17, "N", "N", "", ""]
    (release / "META" / "MRSAB.RRF").write_text("".join("|".join(parts) + "|\n" for parts in (row, old)))
    assert source_versions(release) == {"MSH": "MSH2026_2026_02_01"}


def test_rows_that_bedside_writes_are_read_back(make_release: ReleaseMaker) -> None:
    names = [Name("X:local-one", "a | b", "BEDSIDE", preference=0), Name("C9000001", "é", "HPO", term_type="SY", code="HP:1")]
    links = [IsA("C9000001", "X:local-one", "HPO"), Same("C9000001", "C9000002", "HPO")]
    release = make_release(
        tuple(consolidated_row(name, n).strip() for n, name in enumerate(names)),
        (semantic_row(SemanticType("X:local-one", "T033"), 1).strip(),),
        tuple(relation_row(link, n).strip() for n, link in enumerate(links)),
    )
    read = _names(release, None, Report(strict=True))
    assert [(n.cui, n.text, n.source) for n in read] == [("X:local-one", "a   b", "BEDSIDE"), ("C9000001", "é", "HPO")]
    assert read[0].preference == 0 < read[1].preference
    assert list(read_semantic_types(release / "META" / "MRSTY.RRF", Report(strict=True))) == [SemanticType("X:local-one", "T033")]
    assert list(read_relations(release / "META" / "MRREL.RRF", Choice(), Report(strict=True))) == links
