"""What another release changes is named: concepts, ids, names, phrases, links."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from ontology.concepts import ConceptRow
from ontology.sources import bundled_sources
from ontology.vocab.build import BuildPlan, build_vocabulary
from ontology.vocab.diff import Change, compare, vocabulary_then
from ontology.vocab.explain import explain
from ontology.vocab.groups import Merge
from ontology.vocab.index import load_vocabulary
from ontology.vocabulary import Vocabulary, bundled_vocabulary


def _row(number: int, name: str, *lay: str, **more: object) -> ConceptRow:
    return ConceptRow.model_validate({"id": f"C000000{number}", "name": name, "basis": "local", "kind": "symptom", "lay": lay, **more})


OLD = [_row(1, "Cough", "tickle"), _row(2, "Wheeze"), _row(3, "Gone"), _row(4, "Pain")]
NEW = [_row(1, "Coughing"), _row(2, "Wheeze", "tickle", parents=["C0000001"]), _row(4, "Pain", "ache"), _row(5, "New")]


def test_differences_of_every_kind() -> None:
    old = Vocabulary(OLD, {}, "1", (), [Merge("C0000009", "C0000001", "r", "s"), Merge("C0000005", "C0000001", "r", "s")])
    new = Vocabulary(NEW, {}, "1", (), [Merge("C0000009", "C0000002", "r", "s")])
    diff = compare(old, new)
    assert diff.removed == [Change("C0000003", "Gone", "")]
    assert diff.added == []
    assert diff.moved == [Change("C0000005", "C0000001", "C0000005"), Change("C0000009", "C0000001", "C0000002")]
    assert diff.renamed == [Change("C0000001", "Cough", "Coughing")]
    assert diff.links_changed == [Change("C0000002", "", "C0000001")]
    assert diff.phrases_moved == [Change("tickl", "C0000001", "C0000002")]
    assert (diff.phrases_added, diff.phrases_removed) == (2, 1)  # "ache" and "new"; "gone" ("cough" and "coughing" are one phrase)
    assert not diff.empty


def test_a_vocabulary_does_not_differ_from_itself() -> None:
    diff = compare(bundled_vocabulary(), bundled_vocabulary())
    assert diff.empty and diff.old_version == diff.new_version


def test_two_builds_of_one_name_are_compared(cache: Path, make_release: Callable[..., Path]) -> None:
    row = "C9000001|ENG|P|L1|PF|S1|Y|A1||101||MSH|PT|101|Zorbing fever|9|N||"
    build_vocabulary(BuildPlan("umls", umls=make_release((row,))))
    moved = (row.replace("C9000001", "C9000002"), row.replace("Zorbing fever", "Zorbing chill"))
    build_vocabulary(BuildPlan("umls", umls=make_release(moved)))
    diff = compare(vocabulary_then("umls~1"), vocabulary_then("umls"))
    assert diff.added == [Change("C9000002", "", "Zorbing fever")]
    assert diff.renamed == [Change("C9000001", "Zorbing fever", "Zorbing chill")]
    assert diff.phrases_moved == [Change("zorb fever", "C9000001", "C9000002")]
    assert compare(vocabulary_then("bundled"), vocabulary_then("open")).empty


def test_every_bundled_merge_has_an_effect() -> None:
    """An alias that HPO or our tables know already, or a concept that is not there, would make a row of merges.csv dead."""
    sources = bundled_sources()
    plain = Vocabulary(sources.rows, sources.hpo, sources.hpo_version, sources.blocked)
    for merge in sources.merges:
        assert plain.canonical(merge.concept) == merge.concept and plain.name(merge.concept) != merge.concept, merge
        assert plain.canonical(merge.alias) == merge.alias and plain.name(merge.alias) == merge.alias, merge
        assert bundled_vocabulary().canonical(merge.alias) == merge.concept


def test_askable_and_lay_names() -> None:
    """2.3: our tables decide by kind; HPO by its layperson synonyms, never under blood or metabolism."""
    words = bundled_vocabulary()
    askable = {name: words.askable(concept) for concept, name in words.concepts()}
    assert askable["Headache"] and askable["Taking a direct oral anticoagulant"]
    sources = bundled_sources()
    ids = {concept: words.ref(concept).hpo_id for concept, _ in words.concepts()}
    layless = [c for c, _ in words.concepts() if c not in words.rows and not words.lay_names(c)]
    assert layless and not any(words.askable(concept) for concept in layless)
    metabolic = [c for c, hpo in ids.items() if hpo in ("HP:0001943", "HP:0003074") and c not in words.rows]  # hypo- and hyperglycemia
    assert metabolic and not any(words.askable(concept) for concept in metabolic)
    assert "short of breath" in words.lay_names("C0392680")
    assert len(sources.rows) == len(words.rows)


@pytest.mark.parametrize("text", ["short of breath", "Short  of breath?"])
def test_explanation_of_a_phrase(text: str) -> None:
    (found,) = explain(text, bundled_vocabulary())
    assert found.concept is not None and found.concept.id == "C0013404"
    assert found.normal_form == "short breath" and found.origin == "our own lexicon"
    assert "C0392680" in found.equal_ids and found.is_a[0][1] == 1


def test_explanation_of_a_sentence_and_of_nothing() -> None:
    text = "Is it a headache or chest pain?"
    assert [text[e.start : e.end] for e in explain(text, bundled_vocabulary())] == ["headache", "chest pain"]
    (nothing,) = explain("qwertz", bundled_vocabulary())
    assert nothing.concept is None and nothing.normal_form == "qwertz"


def test_explanation_names_the_source_of_a_release(cache: Path, make_release: Callable[..., Path]) -> None:
    build_vocabulary(BuildPlan("umls", umls=make_release()))
    words = load_vocabulary("umls")
    (found,) = explain("zorbing pyrexia", words)
    assert found.source == "SNOMEDCT_US" and found.origin == "synonym 'Zorbing pyrexia, NOS'"
    (drifted,) = explain("zorb burning", words)
    assert "of C9000008, which means C9000001" in drifted.origin
    (ours,) = explain("headache", words)
    assert ours.source == "Bedside"
