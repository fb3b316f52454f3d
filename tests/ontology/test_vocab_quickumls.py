"""QuickUMLS over our concepts, without any download. Needs the extra `quickumls`."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import ontology
from ontology.errors import BedsideError
from ontology.vocab import quickumls
from ontology.vocab.build import BuildPlan, build_vocabulary
from ontology.vocab.open_sources import Rows
from ontology.vocab.rrf import Name, SemanticType

ROOT = Path(ontology.__file__).parents[1]
needs_extra = pytest.mark.skipif(not quickumls.available(), reason="the extra quickumls is not installed")

NAMES = [
    Name("C1", "Chest pain", "X", preference=0),
    Name("C2", "chest pain", "X"),
    Name("C2", "Thoracic pain", "X", preference=0),
    Name("C3", "Fever", "X", preference=0),
    Name("C4", "Äußere Blutung", "X", preference=0),
    Name("C5", "Racquet", "X", preference=0),
    Name("C6", "untyped thing", "X", preference=0),
]
ROWS = Rows(names=NAMES, types=[SemanticType(cui, "T184") for cui in ("C1", "C2", "C3", "C4")] + [SemanticType("C5", "T073")])


@pytest.fixture
def matcher(tmp_path: Path) -> quickumls.QuickUmlsMatcher:
    quickumls.build_quickumls(tmp_path / "q", quickumls.surfaces_of(ROWS.names, ROWS.types))
    return quickumls.QuickUmlsMatcher(tmp_path / "q")


@needs_extra
def test_finds_with_typos_and_exact_spans(matcher: quickumls.QuickUmlsMatcher) -> None:
    text = "🙂 é: any chest pain, or feverr?"
    found = matcher.find(text)
    assert [(text[f.start : f.end], f.cui) for f in found] == [("chest pain", "C1"), ("chest pain", "C2"), ("feverr", "C3")]
    assert found[0].similarity == 1.0 > found[2].similarity > 0.7


@needs_extra
def test_accents_unwanted_types_and_concepts_without_type(matcher: quickumls.QuickUmlsMatcher) -> None:
    assert [f.cui for f in matcher.find("äußere blutung")] == ["C4"]
    assert matcher.find("a racquet") == []
    assert [f.cui for f in matcher.find("some untyped thing")] == ["C6"]
    assert matcher.find("") == [] and matcher.find("\x00 \u202e") == []


OFFLINE = """
import socket
def refuse(*_args, **_kwargs):
    raise AssertionError("a connection was tried")
socket.socket.connect = socket.create_connection = refuse
import nltk, spacy.cli
nltk.download = spacy.cli.download = refuse
from ontology.vocab.build import quickumls_index
from ontology.vocab.quickumls import QuickUmlsMatcher
print([found.cui for found in QuickUmlsMatcher(quickumls_index()).find("shortness of breath")])
"""


@needs_extra
def test_first_use_builds_the_bundled_index_without_the_network(cache: Path) -> None:
    env = {**os.environ, "PYTHONPATH": str(ROOT), "HOME": str(cache), "NLTK_DATA": ""}
    done = subprocess.run([sys.executable, "-c", OFFLINE], env=env, cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout == "['C0013404']\n"
    assert (cache / "vocab" / "open.json").is_file()


@needs_extra
def test_index_of_a_release_holds_its_names_and_ours(cache: Path, make_release: Callable[..., Path]) -> None:
    built = build_vocabulary(BuildPlan("umls", umls=make_release(), with_quickumls=True))
    assert built.manifest.totals.quickumls_terms
    found = quickumls.QuickUmlsMatcher(built.folder / quickumls.FOLDER).find("zorbing feverr and shortness of breath")
    assert {"C9000001", "C0013404"} <= {one.cui for one in found}


def test_without_the_extra_one_line_says_what_to_do(cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(quickumls, "available", lambda: False)
    for act in (
        lambda: build_vocabulary(BuildPlan("open", with_quickumls=True)),
        lambda: quickumls.build_quickumls(tmp_path, []),
        lambda: quickumls.QuickUmlsMatcher(tmp_path),
    ):
        with pytest.raises(BedsideError, match=r"not installed; pip install 'bedside\[quickumls\]'"):
            act()
