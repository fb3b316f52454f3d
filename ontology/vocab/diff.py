"""What another vocabulary would change: concepts, the ids that mean them, and the phrases that are recognised."""

from __future__ import annotations

from dataclasses import dataclass, field

from ontology.vocab.index import BUNDLED_NAMES, built_names, open_index, snapshot, vocabulary_of
from ontology.vocabulary import Vocabulary, bundled_vocabulary


@dataclass(frozen=True, order=True)
class Change:
    """Something with another meaning or name: what it is, what it was and what it becomes ("" for nothing)."""

    what: str
    before: str
    after: str


@dataclass
class VocabularyDiff:
    """The differences of two vocabularies, each list sorted.

    Attributes:
        added: ids of new concepts, with their names.
        removed: ids of concepts that are gone, with their names.
        moved: ids that mean another concept.
        renamed: concepts with another name.
        phrases_moved: phrases that mean another concept.
        phrases_added: number of phrases that were not recognised before.
        phrases_removed: number of phrases that are not recognised any more.
        links_changed: concepts that both have, with other broader concepts.
    """

    old_version: str
    new_version: str
    added: list[Change] = field(default_factory=list)
    removed: list[Change] = field(default_factory=list)
    moved: list[Change] = field(default_factory=list)
    renamed: list[Change] = field(default_factory=list)
    phrases_moved: list[Change] = field(default_factory=list)
    phrases_added: int = 0
    phrases_removed: int = 0
    links_changed: list[Change] = field(default_factory=list)

    @property
    def empty(self) -> bool:
        """Whether nothing that matters to a score differs."""
        lists = (self.added, self.removed, self.moved, self.renamed, self.phrases_moved, self.links_changed)
        return not any(lists) and not self.phrases_added and not self.phrases_removed


def vocabulary_then(spec: str) -> Vocabulary:
    """A vocabulary with the bundled concepts of the time when it was built; `bundled`, and an `open` that was never built: those of now.

    Raises:
        BedsideError: there is no such build, or it is damaged.
    """
    if spec in BUNDLED_NAMES and spec not in built_names():
        return bundled_vocabulary()
    index = open_index(spec)
    return vocabulary_of(index, snapshot(index))


def compare(old: Vocabulary, new: Vocabulary) -> VocabularyDiff:
    """Compare two vocabularies; with two UMLS releases this takes about a minute and a gigabyte."""
    diff = VocabularyDiff(old.version, new.version)
    before, after = dict(old.concepts()), dict(new.concepts())
    for concept in sorted(before.keys() - after.keys()):
        now = new.canonical(concept)
        if now == concept:
            diff.removed.append(Change(concept, before[concept], ""))
        else:
            diff.moved.append(Change(concept, concept, now))
    for concept in sorted(after.keys() - before.keys()):
        then = old.canonical(concept)
        if then == concept:
            diff.added.append(Change(concept, "", after[concept]))
        else:
            diff.moved.append(Change(concept, then, concept))
    for concept in sorted(before.keys() & after.keys()):
        if before[concept] != after[concept]:
            diff.renamed.append(Change(concept, before[concept], after[concept]))
        above, now_above = sorted(old.parents(concept)), sorted(new.parents(concept))
        if above != now_above:
            diff.links_changed.append(Change(concept, " ".join(above), " ".join(now_above)))
    _aliases(diff, old, new)
    _phrases(diff, old, new)
    return diff


def _aliases(diff: VocabularyDiff, old: Vocabulary, new: Vocabulary) -> None:
    known = {change.what for change in diff.moved}
    ids = {alias for alias, _ in old.aliases()} | {alias for alias, _ in new.aliases()}
    for alias in ids - known:
        then, now = old.canonical(alias), new.canonical(alias)
        if then != now:
            diff.moved.append(Change(alias, then, now))
    diff.moved.sort()


def _phrases(diff: VocabularyDiff, old: Vocabulary, new: Vocabulary) -> None:
    before = {phrase: entry.concept for phrase, entry in old.phrases()}
    for phrase, entry in new.phrases():
        then = before.pop(phrase, None)
        if then is None:
            diff.phrases_added += 1
        elif then != entry.concept:
            diff.phrases_moved.append(Change(phrase, then, entry.concept))
    diff.phrases_removed = len(before)
    diff.phrases_moved.sort()
