"""Building, opening and using a vocabulary of a release: the same questions are answered as by the bundled one, ours first."""

from __future__ import annotations

import gzip
import json
import logging
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

import ontology
from ontology.annotator import annotate_examiner
from ontology.batch import DialogueTurn, TurnReader
from ontology.dialogue import PastTurn
from ontology.errors import BedsideError
from ontology.sources import bundled_sources
from ontology.vocab import index as index_module
from ontology.vocab.build import BuildPlan, build_vocabulary
from ontology.vocab.index import Index, builds_of, built_names, load_vocabulary, open_index, snapshot
from ontology.vocab.layered import LayeredVocabulary
from ontology.vocab.open_sources import bundled_rows, read_ontology, write_release
from ontology.vocab.rrf import Choice, Report, read_names
from ontology.vocabulary import Vocabulary, bundled_vocabulary, default_vocabulary

ROOT = Path(ontology.__file__).parents[1]
ReleaseMaker = Callable[..., Path]


@pytest.fixture
def built(cache: Path, make_release: ReleaseMaker) -> LayeredVocabulary:
    """The tiny release, over the bundled vocabulary."""
    build_vocabulary(BuildPlan("umls", umls=make_release()))
    vocabulary = load_vocabulary("umls")
    assert isinstance(vocabulary, LayeredVocabulary)
    return vocabulary


def _only(vocabulary: Vocabulary, text: str) -> list[str]:
    return [match.concept for match in vocabulary.find(text)]


def test_phrases_of_the_release_are_found_beside_ours(built: LayeredVocabulary) -> None:
    text = "Do you have zorbing pyrexia, or a headache?"
    matches = built.find(text)
    assert [(text[m.start : m.end], m.concept) for m in matches] == [("zorbing pyrexia", "C9000001"), ("headache", "C0018681")]


def test_the_annotator_reads_what_only_the_release_knows(built: LayeredVocabulary) -> None:
    for text, concept, polarity in (
        ("Do you have zorbing pyrexia?", "C9000001", "queried"),
        ("And a pyrexia that is zorbing, or any zorb fever?", "C9000001", "queried"),
    ):
        mentions = annotate_examiner(text, built).mentions
        assert (concept, "asked", polarity) in [(m.cui, m.dialogue_role, m.polarity) for m in mentions], text
    asked = DialogueTurn("No zorbing pyrexia, only a headache.", "patient", (PastTurn("examiner", "How are you?"),))
    found = {m.cui: m.polarity for m in TurnReader(built).read(asked).mentions}
    assert found == {"C9000001": "absent", "C0018681": "present"}


def test_ours_wins_where_both_know_a_phrase_and_the_longer_phrase_wins_wherever_it_comes_from(built: LayeredVocabulary) -> None:
    entry = built.lookup("shortness of breath")
    assert entry is not None and entry.concept == "C0013404"
    assert _only(built, "fever") == ["C0015967"]
    assert _only(built, "zorb fever") == ["C9000001"]
    assert _only(built, "fever zorbing chronic") == ["C0015967"]  # the release's longer phrase is not there as a whole


def test_synonymous_ids_mean_one_concept(built: LayeredVocabulary) -> None:
    """MRREL SY: C9000008 is C9000001 in another source."""
    assert built.canonical("C9000008") == built.canonical("C9000001") == "C9000001"
    assert built.equal_ids("C9000001") == ("C9000008",)


def test_an_id_whose_name_is_ours_means_our_concept(built: LayeredVocabulary) -> None:
    """2.4, CUI drift: another id for "Dyspnea", and a phrase that only the release has for it."""
    assert built.canonical("C9000007") == "C0013404"
    assert _only(built, "any zorbish breathing") == ["C0013404"]
    assert built.name("C9000007") == built.name("C0013404") == bundled_vocabulary().name("C0013404")


def test_is_a_goes_up_and_comes_from_both(built: LayeredVocabulary) -> None:
    assert built.ancestors("C9000001") == {"C9000002": 1}
    assert built.ancestors("C0018681") == bundled_vocabulary().ancestors("C0018681")


def test_kind_and_askable_follow_the_semantic_type(built: LayeredVocabulary) -> None:
    assert built.kind("C9000004") == "medication" and built.kind("C9000001") == "symptom"
    assert built.askable("C9000001") and not built.askable("C9000002")
    assert built.kind("X:heavy-alcohol-use") == bundled_vocabulary().kind("X:heavy-alcohol-use")


def test_names_without_tag_unwanted_and_everyday_concepts(built: LayeredVocabulary) -> None:
    assert built.name("C9000001") == "Zorbing fever" and built.ref("C9000001").cui == "C9000001"
    assert built.lookup("zorbing racquet") is None  # a manufactured object
    assert _only(built, "do you feel well today") == _only(bundled_vocabulary(), "do you feel well today")
    assert _only(built, "an untyped zorb finding") == ["C9000006"]  # no row in MRSTY
    assert built.lookup("old zorbing name") is None  # suppressed
    assert built.lookup("fiebre de zorbing") is None


def test_all_that_is_listed_is_asked_the_same_way(built: LayeredVocabulary) -> None:
    """concepts, aliases and phrases say the same as canonical, name and lookup; unknown ids stand for themselves."""
    concepts = dict(built.concepts())
    theirs = concepts.keys() - dict(bundled_vocabulary().concepts()).keys()
    assert theirs == {"C9000001", "C9000002", "C9000003", "C9000004", "C9000006", "C9000009"}
    assert all(built.canonical(cui) == cui and built.name(cui) == name for cui, name in concepts.items())
    assert all(built.canonical(alias) == concept != alias for alias, concept in built.aliases())
    phrases = dict(built.phrases())
    assert phrases["zorb pyrexia"].concept == "C9000001" and "today" not in phrases
    assert built.canonical("C8888888") == "C8888888" == built.name("C8888888")


def test_bundled_phrases_keep_their_meaning(built: LayeredVocabulary) -> None:
    asks = [ask for row in built.rows.values() for ask in row.ask]
    assert [_only(built, ask) for ask in asks] == [_only(bundled_vocabulary(), ask) for ask in asks]


def test_environment_selects_a_vocabulary(built: LayeredVocabulary, monkeypatch: pytest.MonkeyPatch) -> None:
    assert default_vocabulary() is bundled_vocabulary()
    default_vocabulary.cache_clear()
    monkeypatch.setenv("BEDSIDE_VOCAB", "umls")
    assert default_vocabulary().version == built.version != bundled_vocabulary().version
    default_vocabulary.cache_clear()
    monkeypatch.setenv("BEDSIDE_VOCAB", "nothing-like-it")
    with pytest.raises(BedsideError, match="no vocabulary 'nothing-like-it' was built.*umls"):
        default_vocabulary()


def test_manifest_records_sources_versions_and_what_was_left_out(cache: Path, make_release: ReleaseMaker) -> None:
    names = ("torn|row", GOOD, GOOD.replace("|N||", "|O||"))
    manifest = build_vocabulary(BuildPlan("umls", umls=make_release(names))).manifest
    record = next(source for source in manifest.sources if source.name == "UMLS MRCONSO.RRF")
    assert (record.version, record.rows, record.kept, record.suppressed, record.broken) == ("2026AA", 3, 1, 1, 1)
    assert "MRCONSO.RRF:1" in record.broken_at[0]
    assert manifest.languages == ["ENG"] and "T184" in manifest.semantic_types
    assert set(manifest.files) == {"concepts.sqlite", "phrases.bin", "bundled.json.gz"}


GOOD = "C9000001|ENG|P|L1|PF|S1|Y|A1||101||MSH|PT|101|Zorbing fever|9|N||"


def test_strict_build_stops_and_leaves_nothing(cache: Path, make_release: ReleaseMaker) -> None:
    with pytest.raises(BedsideError, match=r"MRCONSO\.RRF:2"):
        build_vocabulary(BuildPlan("umls", umls=make_release((GOOD, "torn|row")), strict=True))
    assert built_names() == []
    assert [file.name for file in (cache / "vocab").iterdir()] == [".umls.lock"]


def test_release_without_files_or_names_is_named(cache: Path, tmp_path: Path, make_release: ReleaseMaker) -> None:
    with pytest.raises(BedsideError, match=r"MRCONSO\.RRF is not there"):
        build_vocabulary(BuildPlan("umls", umls=tmp_path))
    release = make_release()
    with pytest.raises(BedsideError, match="no name is left"):
        build_vocabulary(BuildPlan("umls", umls=release, choice=Choice(frozenset({"FIN"}))))
    (release / "META" / "MRREL.RRF").unlink()
    build_vocabulary(BuildPlan("umls", umls=release))
    assert load_vocabulary("umls").ancestors("C9000001") == {}


@pytest.mark.parametrize("name", ["../x", "", "Ä", "bundled", ".x"])
def test_name_of_a_vocabulary_is_a_file_name(cache: Path, name: str) -> None:
    with pytest.raises(BedsideError, match="cannot be the name"):
        build_vocabulary(BuildPlan(name))


def test_kb_version_follows_the_content_not_the_time_or_place(
    cache: Path, make_release: ReleaseMaker, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = build_vocabulary(BuildPlan("umls", umls=make_release()))
    monkeypatch.setenv("BEDSIDE_CACHE_DIR", str(cache / "elsewhere"))
    second = build_vocabulary(BuildPlan("other", umls=make_release(folder="2026AA-copy/META")))
    assert first.manifest.kb_version == second.manifest.kb_version and first.folder != second.folder
    third = build_vocabulary(BuildPlan("other", umls=make_release((GOOD,))))
    assert third.manifest.kb_version != first.manifest.kb_version


def test_an_unchanged_release_is_not_built_again(cache: Path, make_release: ReleaseMaker, monkeypatch: pytest.MonkeyPatch) -> None:
    builds = _counted(monkeypatch)
    plan = BuildPlan("umls", umls=make_release())
    first = build_vocabulary(plan)
    assert build_vocabulary(plan).manifest == first.manifest and len(builds) == 1
    build_vocabulary(plan, force=True)
    assert len(builds) == 2
    build_vocabulary(BuildPlan("umls", umls=plan.umls, choice=Choice(sources=frozenset({"MSH"}))))
    assert len(builds) == 3
    make_release((GOOD,))
    build_vocabulary(plan)
    assert len(builds) == 4


def _counted(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    builds: list[str] = []
    build = index_module._build

    def counted(root: Path, name: str, fill: index_module.Fill) -> Index:
        builds.append(name)
        return build(root, name, fill)

    monkeypatch.setattr(index_module, "_build", counted)
    return builds


def _damage_store(folder: Path) -> None:
    path = folder / "concepts.sqlite"
    raw = bytearray(path.read_bytes())
    raw[len(raw) // 2] ^= 1
    path.write_bytes(raw)


def _damage_manifest(folder: Path) -> None:
    (folder / "manifest.json").write_text('{"schema_version": "1.0", "format":')


def _other_format(folder: Path) -> None:
    path = folder / "manifest.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "format": 0}))


def _other_rules(folder: Path) -> None:
    path = folder / "manifest.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "normaliser": "0" * 16}))


@pytest.mark.parametrize(
    "damage",
    [
        _damage_store,
        _damage_manifest,
        _other_format,
        _other_rules,
        lambda folder: (folder / "phrases.bin").unlink(),
        lambda folder: shutil.rmtree(folder),
        lambda folder: (folder.parent / "umls.json").write_text("[]"),
    ],
)
def test_what_does_not_fit_its_manifest_is_refused_and_built_again(
    cache: Path, make_release: ReleaseMaker, damage: Callable[[Path], object]
) -> None:
    plan = BuildPlan("umls", umls=make_release())
    good = build_vocabulary(plan)
    damage(good.folder)
    with pytest.raises(BedsideError):
        load_vocabulary("umls")
    again = build_vocabulary(plan)
    assert again.manifest.files == good.manifest.files
    assert _only(load_vocabulary("umls"), "zorb fever") == ["C9000001"]


def test_the_build_before_is_kept_and_older_ones_and_rests_go(cache: Path, make_release: ReleaseMaker) -> None:
    rows = [GOOD, GOOD.replace("fever", "chill"), GOOD.replace("fever", "shake")]
    folders = [build_vocabulary(BuildPlan("umls", umls=make_release((row,)))).folder for row in rows[:1]]
    (cache / "vocab" / ".umls.1-00000000.tmp").mkdir()
    folders += [build_vocabulary(BuildPlan("umls", umls=make_release((row,)))).folder for row in rows[1:]]
    assert builds_of("umls") == folders[1:]
    assert open_index("umls~1").folder == folders[1] and open_index("umls").folder == folders[2]
    assert not list((cache / "vocab").glob(".*.tmp"))


BUILDER = """
import sys, time, pathlib
from ontology.vocab import build, index
make = index._build
def slow(root, name, fill):
    print("building", flush=True)
    time.sleep(1)
    return make(root, name, fill)
index._build = slow
found = build.build_vocabulary(build.BuildPlan("umls", umls=pathlib.Path(sys.argv[1])))
print(found.manifest.kb_version, found.manifest.built_at)
"""


def test_of_two_processes_one_builds_and_the_other_waits(cache: Path, make_release: ReleaseMaker) -> None:
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", BUILDER, str(make_release())]
    both = [subprocess.Popen(command, env=env, cwd=ROOT, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    said = [process.communicate()[0].splitlines() for process in both]
    assert [process.returncode for process in both] == [0, 0]
    assert sum(lines.count("building") for lines in said) == 1
    assert said[0][-1] == said[1][-1]


def test_cache_that_cannot_be_written_gives_a_line_and_a_temporary_vocabulary(
    cache: Path, make_release: ReleaseMaker, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """A file where the folder should be: works for root too, whom permissions do not stop."""
    cache.write_text("")
    monkeypatch.setattr(tempfile, "tempdir", str(make_release().parent))
    plan = BuildPlan("umls", umls=make_release())
    with pytest.raises(BedsideError, match="cannot be written.*BEDSIDE_CACHE_DIR"):
        build_vocabulary(plan)
    with caplog.at_level(logging.WARNING):
        built = build_vocabulary(plan, temporary_allowed=True)
    assert built.temporary and "lasts for this process only" in caplog.text and caplog.text.count("\n") == 1
    assert _only(load_vocabulary(str(built.folder)), "zorb fever") == ["C9000001"]


def test_bundled_concepts_of_the_time_of_building_are_kept(cache: Path) -> None:
    then = snapshot(build_vocabulary(BuildPlan("open")))
    now = bundled_sources()
    assert then == now
    assert load_vocabulary("open") is load_vocabulary("bundled") is bundled_vocabulary()


def test_bundled_sources_as_a_release(tmp_path: Path) -> None:
    """HPO and our rows in MRCONSO's own form: nothing is lost on the way, and a preferred name names each concept."""
    rows = bundled_rows(bundled_sources(), bundled_vocabulary())
    write_release(tmp_path, rows)
    report = Report(strict=True)
    read = list(read_names(tmp_path / "MRCONSO.RRF", Choice(), report))
    assert len(read) == len(rows.names) and report.broken == 0
    named = {name.cui for name in read if name.preference == 0}
    assert named == {name.cui for name in read}
    assert ("C0013404", "short of breath") in {(name.cui, name.text) for name in read}


OBO = """format-version: 1.2
data-version: releases/2026-07-30/doid.obo

[Term]
id: DOID:1
name: zorbing disease
synonym: "zorb sickness" EXACT []
synonym: "sport sickness" BROAD []
xref: UMLS_CUI:C9000002
is_a: DOID:2 {source="x"} ! illness

[Term]
id: DOID:2
name: sphere-borne illness

[Term]
id: DOID:3
name: gone
is_obsolete: true
"""
SSSOM = """# mapping_set_version: https://example.org/releases/2026-08-04/m.tsv
subject_id\tsubject_label\tpredicate_id\tobject_id\tobject_label\tmapping_justification
MONDO:1\tzorbing syndrome\tskos:exactMatch\tUMLS:C9000010\tx\ty
MONDO:1\tzorbing syndrome\tskos:exactMatch\tUMLS:C9000011\tx\ty
MONDO:2\tbroad thing\tskos:broadMatch\tUMLS:C9000012\tx\ty
"""
XREFS = 'id\tlabel\txref\n"DOID:9"\t"zorb ""itch"""\t"MESH:D1"\n"DOID:9"\t"zorb ""itch"""\t"UMLS_CUI:C9000013"\n'


def test_open_ontologies_are_built_in(cache: Path, tmp_path: Path) -> None:
    (tmp_path / "doid.obo").write_text(OBO)
    (tmp_path / "mondo.sssom.tsv.gz").write_bytes(gzip.compress(SSSOM.encode()))
    (tmp_path / "xrefs.tsv").write_text(XREFS)
    files = tuple(tmp_path / name for name in ("doid.obo", "mondo.sssom.tsv.gz", "xrefs.tsv"))
    manifest = build_vocabulary(BuildPlan("diseases", ontologies=files)).manifest
    assert [(source.name, source.version) for source in manifest.sources[1:]] == [
        ("DOID", "2026-07-30"),
        ("MONDO", "2026-08-04"),
        ("DOID", "unknown"),
    ]
    words = load_vocabulary("diseases")
    assert _only(words, "zorb sickness") == ["C9000002"] and words.lookup("sport sickness") is None and words.lookup("gone") is None
    assert words.ancestors("C9000002") == {"X:doid-2": 1}
    assert _only(words, "zorbing syndrome or zorb itch") == ["C9000010", "C9000013"]


@pytest.mark.parametrize("name, text", [("a.obo", "x"), ("a.tsv", "a\tb\n"), ("a.owl", "<x/>"), ("none.obo", None)])
def test_files_that_are_no_ontologies_are_named(tmp_path: Path, name: str, text: str | None) -> None:
    if text is not None:
        (tmp_path / name).write_text(text)
    with pytest.raises(BedsideError, match=name):
        read_ontology(tmp_path / name)
