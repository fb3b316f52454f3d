"""Many turns: in order, the same with several processes, from a cache that is never wrong."""

from __future__ import annotations

import logging
import os
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import ontology
from ontology.annotation import Annotation
from ontology.annotation_cache import AnnotationCache, AnnotationStore, packed, unpacked
from ontology.annotator import annotate_examiner
from ontology.batch import CHUNK, annotate_many, rules_version, turn_key
from ontology.dialogue import DialogueTurn, PastTurn, TurnReader
from ontology.errors import BedsideError
from ontology.vocabulary import Vocabulary

ROOT = Path(ontology.__file__).parents[1]
QUESTIONS = [
    "Do you have chest pain or a cough?",
    "",
    "When did the headache start?",
    "Tell me about your mother’s diabetes. 🙂",
    "How long does it last?",
    "Let's check your blood pressure.",
    "Thank you.",
]


def turns(count: int) -> list[DialogueTurn]:
    return [DialogueTurn(f"{QUESTIONS[n % len(QUESTIONS)]}{' ' * (n // len(QUESTIONS))}") for n in range(count)]


@pytest.fixture
def store(tmp_path: Path) -> AnnotationStore:
    return AnnotationStore(tmp_path / "new" / "annotations.sqlite")


def test_one_annotation_a_turn_in_order_as_annotate_examiner_makes_it(vocabulary: Vocabulary) -> None:
    made = list(annotate_many([DialogueTurn(text) for text in QUESTIONS], vocabulary))
    assert made == [annotate_examiner(text, vocabulary) if text else Annotation() for text in QUESTIONS]


def test_nothing_is_read_ahead_with_one_worker(vocabulary: Vocabulary) -> None:
    taken = []

    def given() -> Iterator[DialogueTurn]:
        for number in range(10):
            taken.append(number)
            yield DialogueTurn("Any pain?")

    made = annotate_many(given(), vocabulary)
    next(made)
    assert taken == [0]


def test_several_processes_give_the_same_in_the_same_order_and_share_the_cache(vocabulary: Vocabulary, store: AnnotationStore) -> None:
    many = turns(3 * CHUNK + 3)
    alone = list(annotate_many(many, vocabulary))
    with AnnotationCache(store) as cache:
        assert list(annotate_many(many, "bundled", 2, cache)) == alone
        assert cache.hits == 0
    with AnnotationCache(AnnotationStore(store.path)) as cache:
        assert list(annotate_many(many, "bundled", 2, cache)) == alone
        assert cache.misses == 0


def test_equal_turns_get_annotations_of_their_own(vocabulary: Vocabulary) -> None:
    with AnnotationCache() as cache:
        first, second = annotate_many([DialogueTurn("Any pain?")] * 2, vocabulary, 1, cache)
    first.acts.clear()
    assert second.acts


def test_a_reader_that_stops_early_leaves_no_process_behind(vocabulary: Vocabulary) -> None:
    made = annotate_many(turns(8 * CHUNK), "bundled", 2)
    assert next(made).mentions
    made.close()  # type: ignore[attr-defined]


def test_several_processes_need_a_name(vocabulary: Vocabulary) -> None:
    own = Vocabulary(vocabulary.rows.values(), {}, "none")
    with pytest.raises(BedsideError, match="need a vocabulary's name"):
        next(annotate_many(turns(CHUNK + 1), own, 2))
    assert len(list(annotate_many(turns(CHUNK), own, 2))) == CHUNK  # few turns never leave this process
    with pytest.raises(BedsideError, match="0 is no number"):
        annotate_many([], vocabulary, 0)
    with pytest.raises(BedsideError, match="nosuch"):
        next(annotate_many(turns(1), "nosuch"))


def test_half_a_surrogate_pair_is_named(vocabulary: Vocabulary) -> None:
    with pytest.raises(BedsideError, match="surrogate"):
        next(annotate_many([DialogueTurn("chest \ud83d pain?")], vocabulary))
    with pytest.raises(BedsideError, match="surrogate"):
        next(annotate_many([DialogueTurn("pain?", previous=(PastTurn("patient", "\udc00"),))], vocabulary))


# -- the key ----------------------------------------------------------------------------------------------------------


def test_the_key_follows_all_that_an_annotation_depends_on(monkeypatch: pytest.MonkeyPatch) -> None:
    plain = DialogueTurn("Does it spread?")
    others = [
        DialogueTurn("Does it spread"),
        DialogueTurn("Does it spread?", "patient"),
        DialogueTurn("Does it spread?", previous=(PastTurn("examiner", "Any pain?"),)),
        DialogueTurn("Does it spread?", previous=(PastTurn("patient", "Any pain?"),)),
        DialogueTurn("Does it spread?", for_child=True),
    ]
    keys = [turn_key(turn, "v1") for turn in [plain, *others]] + [turn_key(plain, "v2")]
    monkeypatch.setattr("ontology.batch.ANNOTATOR_VERSION", "other")
    rules_version.cache_clear()
    keys.append(turn_key(plain, "v1"))
    rules_version.cache_clear()
    assert len(set(keys)) == len(keys)


def test_packing_keeps_everything_but_the_words(vocabulary: Vocabulary) -> None:
    text = "Does your mother have diabetes, and how bad is the chest’s pain? 🙂 Do you have chest pain?"
    made = annotate_examiner(text, vocabulary, 4)
    data = packed(made)
    assert unpacked(data, text) == made
    assert b"chest" not in data and b"surface" not in data
    for broken in (b"", b"[]", b"[[],[{}]]", b"{}", b'[[],[{"start":0,"end":3}]]', b"\xff"):
        with pytest.raises(ValueError):
            unpacked(broken, text)


# -- the cache --------------------------------------------------------------------------------------------------------


def test_the_last_used_stay_in_memory() -> None:
    cache = AnnotationCache(entries=2)
    cache.put({b"a": b"1", b"b": b"2"})
    assert cache.get([b"a"]) == {b"a": b"1"}
    cache.put({b"c": b"3"})
    assert cache.get([b"a", b"b", b"c"]) == {b"a": b"1", b"c": b"3"}
    assert (cache.hits, cache.misses) == (3, 1)


def test_a_store_keeps_what_was_put_and_replaces_whole_entries(store: AnnotationStore) -> None:
    store.put({b"a": b"1", b"b": b"2"})
    store.put({b"a": b"3"})
    store.close()
    again = AnnotationStore(store.path)
    assert again.get([b"a", b"b", b"c"]) == {b"a": b"3", b"b": b"2"}
    again.close()


def test_a_damaged_entry_is_made_again(vocabulary: Vocabulary, store: AnnotationStore) -> None:
    turn = DialogueTurn("Any chest pain?")
    store.put({turn_key(turn, vocabulary.version): b"[[],[{}]]"})
    with AnnotationCache(store) as cache:
        (made,) = annotate_many([turn], vocabulary, 1, cache)
    assert made == annotate_examiner(turn.text, vocabulary)
    again = AnnotationStore(store.path)
    assert again.get([turn_key(turn, vocabulary.version)]) == {turn_key(turn, vocabulary.version): packed(made)}
    again.close()


def test_a_cache_that_cannot_be_used_costs_one_line_and_no_annotation(
    vocabulary: Vocabulary, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").write_text("")
    (tmp_path / "noise.sqlite").write_bytes(b"no database " * 1000)
    read_only = tmp_path / "read-only.sqlite"
    sqlite3.connect(read_only).close()
    for path in (tmp_path / "file" / "annotations.sqlite", tmp_path / "noise.sqlite"):
        caplog.clear()
        with caplog.at_level(logging.WARNING), AnnotationCache(AnnotationStore(path)) as cache:
            assert len(list(annotate_many(turns(40), vocabulary, 1, cache))) == 40
        assert [record.message.split(":")[0] for record in caplog.records] == ["annotations are not cached"]
        assert str(path) in caplog.text


def test_a_read_only_cache_is_not_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    """SQLite itself opens the file for reading only: permissions do not bind the user who may do anything."""
    path = tmp_path / "annotations.sqlite"
    first = AnnotationStore(path)
    first.put({b"a": b"1"})
    first.close()
    connect = sqlite3.connect
    monkeypatch.setattr(sqlite3, "connect", lambda file, **more: connect(f"{Path(file).as_uri()}?mode=ro", uri=True, **more))
    with caplog.at_level(logging.WARNING):
        second = AnnotationStore(path)
        second.put({b"b": b"2"})
        assert second.get([b"b"]) == {}
        second.put({b"c": b"3"})
    assert caplog.text.count("annotations are not cached") == 1 and "readonly" in caplog.text


def test_a_file_that_has_grown_too_large_loses_its_oldest_half(store: AnnotationStore, monkeypatch: pytest.MonkeyPatch) -> None:
    store.put({bytes([n]): b"x" * 100 for n in range(100)})
    store.close()
    monkeypatch.setattr("ontology.annotation_cache.LARGEST_FILE", 4096)
    again = AnnotationStore(store.path)
    kept = again.get(bytes([n]) for n in range(100))
    again.close()
    assert set(kept) == {bytes([n]) for n in range(50, 100)} or set(kept) == {bytes([n]) for n in range(49, 100)}


WRITER = """
import sys
from pathlib import Path
from ontology.annotation_cache import AnnotationStore
store = AnnotationStore(Path(sys.argv[1]))
own = sys.argv[2].encode()
for n in range(200):
    store.put({own + str(n).encode(): own, b"shared" + str(n).encode(): own})
    found = store.get([own + str(n).encode(), b"shared" + str(n).encode()])
    assert found[own + str(n).encode()] == own and found[b"shared" + str(n).encode()] in (b"p", b"q", b"r"), found
store.close()
"""


def test_several_processes_write_one_file(store: AnnotationStore) -> None:
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    names = "pqr"
    writers = [subprocess.Popen([sys.executable, "-c", WRITER, str(store.path), name], env=env, stderr=subprocess.PIPE) for name in names]
    for writer in writers:
        _, errors = writer.communicate(timeout=120)
        assert writer.returncode == 0 and not errors, errors.decode()
    keys = [name.encode() + str(n).encode() for name in names for n in range(200)]
    assert store.get(keys) == {key: key[:1] for key in keys}
    store.close()


# -- earlier turns ----------------------------------------------------------------------------------------------------


def it_means(vocabulary: Vocabulary, *said: str) -> str:
    """What "it" is in "Does it spread?" after these turns, of the examiner first and then in turn."""
    previous = tuple(PastTurn("examiner" if n % 2 == 0 else "patient", text) for n, text in enumerate(said))
    (mention,) = TurnReader(vocabulary).read(DialogueTurn("Does it spread?", previous=previous)).mentions
    assert mention.attribute == "radiation" and mention.mention_id.startswith(f"t{len(said)}m")
    return vocabulary.name(mention.cui)


def test_a_dialogue_is_read_as_well_turn_by_turn_as_from_its_middle(vocabulary: Vocabulary) -> None:
    said = ["Do you have chest pain?", "Yes.", "Does it spread?", "No.", "Any nausea?", "No.", "How bad is it?", "Awful."] * 3
    past = [PastTurn("examiner" if n % 2 == 0 else "patient", text) for n, text in enumerate(said)]
    running = TurnReader(vocabulary)
    for number, turn in enumerate(past):
        given = DialogueTurn(turn.text, turn.role, tuple(past[:number]))
        assert running.read(given) == TurnReader(vocabulary).read(given)


@pytest.mark.parametrize(
    ("said", "name"),
    [
        ([], "Presenting complaint"),
        (["Do you have chest pain?", "Yes."], "Chest pain"),
        (["Do you have chest pain?", "Yes.", "Any fever?", "No."], "Chest pain"),
        (["What brings you in?", "I have a bad headache."], "Headache"),
        (["Do you have chest pain?", "No, but I do have a headache."], "Headache"),
        (["Do you have chest pain?", "Yes, for two days.", "How bad is it?", "No idea."], "Chest pain"),
    ],
)
def test_what_it_means_after_a_dialogue(vocabulary: Vocabulary, said: list[str], name: str) -> None:
    assert it_means(vocabulary, *said) == name
