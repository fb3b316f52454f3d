"""A built vocabulary under the bundled one: the same questions, answered by both."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ontology.concepts import ConceptRef
from ontology.documents import content_hash
from ontology.sources import Sources
from ontology.text import Token, tokens
from ontology.vocab.store import Store, StoredConcept, StoredPhrase
from ontology.vocabulary import EXACT, PhraseEntry, Vocabulary

FINDINGS = frozenset({"T184", "T033", "T046", "T047", "T048", "T191", "T037", "T034", "T041"})
"""Semantic types of findings and diseases (metrics.md 2.4): only these may be the same as a concept of ours by their name alone."""

SYMPTOM = "T184"
KIND_OF_TYPE = {
    "T121": "medication",
    "T195": "medication",
    "T200": "medication",
    "T034": "lab",
    "T059": "lab",
    "T060": "procedure",
    "T061": "procedure",
    "T201": "vital",
}
"""Kinds by semantic type; anything else is a symptom, as plain HPO terms are."""


class LayeredVocabulary(Vocabulary):
    """Our own concepts and HPO, and below them those of a store.

    Ours win where both know a phrase or an id; of two phrases the longer one wins, wherever it comes from. An id that only the store knows
    means a concept of ours if a source calls the two synonymous, or if its preferred name is one of that concept's own phrases (CUI drift).
    """

    def __init__(self, sources: Sources, store: Store, store_version: str) -> None:
        """Lay the bundled sources over a store.

        Args:
            sources: our own concepts and HPO.
            store: the opened store.
            store_version: hash of its content; the vocabulary's version follows from both.
        """
        self._ready = False
        self._drift: dict[str, str] = {}
        self.store = store
        super().__init__(sources.rows, sources.hpo, sources.hpo_version, sources.blocked, sources.merges, sources.cut, sources.order_twins)
        self.version = content_hash([self.version, store_version])[:16]
        self._ready = True

    def canonical(self, concept: str) -> str:
        """The one id of a concept's meaning; an unknown id is its own."""
        known = self._canonical.get(concept) or self._drift.get(concept)
        if known is None:
            if not self._ready:  # while our own concepts are taken in, their phrases are not all there yet
                return concept
            known = self._drift[concept] = self._resolve(concept)
        return known

    def _resolve(self, concept: str) -> str:
        found = self.store.concept(concept)
        if found is None:
            return concept
        for same in found.same:
            if same in self._canonical:
                return self._canonical[same]
        head = self.store.concept(found.same[0]) if found.same else None
        found = head or found
        if not found.types or not FINDINGS.isdisjoint(found.types):
            ours = self._phrases.get(tuple(token.norm for token in tokens(found.name)))
            if ours is not None and ours.rank <= EXACT:
                return ours.concept
        return found.id

    @property
    def bundled_phrases(self) -> Mapping[tuple[str, ...], PhraseEntry]:
        """Our own phrases and HPO's, by their words in normal form."""
        return self._phrases

    def equal_ids(self, concept: str) -> tuple[str, ...]:
        """The other ids that mean a concept, as far as HPO, we or a source's synonymy says so; not those that merely share its name."""
        concept = self.canonical(concept)
        found = self.store.concept(concept)
        same = (other for other in found.same if other != concept) if found else ()
        return tuple(dict.fromkeys((*super().equal_ids(concept), *same)))

    def name(self, concept: str) -> str:
        """A concept's name; its id if it is unknown."""
        concept = self.canonical(concept)
        found = None if concept in self._names else self.store.concept(concept)
        return found.name if found else self._names.get(concept, concept)

    def ref(self, concept: str) -> ConceptRef:
        """The reference that facts store."""
        concept = self.canonical(concept)
        return ConceptRef(cui=concept, name=self.name(concept), hpo_id=self._hpo_ids.get(concept))

    def semantic_types(self, concept: str) -> tuple[str, ...]:
        """The semantic types that the store gives a concept."""
        found = self.store.concept(self.canonical(concept))
        return found.types if found else ()

    def kind(self, concept: str) -> str:
        """A concept's kind: ours if we know it, else by its semantic type."""
        concept = self.canonical(concept)
        if concept in self._names:
            return super().kind(concept)
        return next((KIND_OF_TYPE[tui] for tui in self.semantic_types(concept) if tui in KIND_OF_TYPE), "symptom")

    def askable(self, concept: str) -> bool:
        """Whether a patient can be asked for a concept (metrics.md 2.3): as we say, or a sign or symptom by its semantic type."""
        concept = self.canonical(concept)
        if concept in self.rows:
            return super().askable(concept)
        return super().askable(concept) or SYMPTOM in self.semantic_types(concept) and concept not in self._laboratory

    def parents(self, concept: str) -> tuple[str, ...]:
        """The next broader concepts of a canonical id, ours first."""
        own = super().parents(concept)
        found = self.store.concept(concept)
        if found is None:
            return own
        more = (self.canonical(parent) for parent in found.parents)
        return tuple(dict.fromkeys((*own, *(parent for parent in more if parent != concept))))

    def longest_at(self, words: list[Token], position: int) -> tuple[int, PhraseEntry | None]:
        """The longest phrase that begins at a word, ours or the store's; ours if both are of one length."""
        length, entry = super().longest_at(words, position)
        end = position + 12
        stored = self.store.longest([word.norm for word in words[position:end]], words[position].plain, 0)
        if stored is not None and (entry is None or stored[0] > length):
            return stored[0], self._entry(stored[1])
        return length, entry

    def lookup(self, phrase: str) -> PhraseEntry | None:
        """What exactly this phrase means; what the store makes of it is among the alternatives."""
        ours = super().lookup(phrase)
        found = self.stored(phrase) if self._ready else None
        if found is None:
            return ours
        theirs = self._entry(found)
        if ours is None:
            return theirs
        more = (c for c in (theirs.concept, *theirs.alternatives) if c != ours.concept)
        return PhraseEntry(ours.concept, ours.rank, tuple(dict.fromkeys((*ours.alternatives, *more))))

    def stored(self, phrase: str) -> StoredPhrase | None:
        """The store's own entry of a phrase."""
        return self.store.lookup([token.norm for token in tokens(phrase)])

    def _entry(self, found: StoredPhrase) -> PhraseEntry:
        concept = self.canonical(found.concept)
        others = (self.canonical(other) for other in found.others)
        return PhraseEntry(concept, found.rank, tuple(dict.fromkeys(other for other in others if other != concept)))

    def concepts(self) -> Iterator[tuple[str, str]]:
        """(id, name) of every concept that goes by its own id: ours, then the store's."""
        yield from super().concepts()
        for found in self.store.concepts():
            if found.id not in self._canonical and self._resolve(found.id) == found.id:
                yield found.id, found.name

    def aliases(self) -> Iterator[tuple[str, str]]:
        """(id, concept) of every id that means another one's concept."""
        yield from super().aliases()
        for found in self._foreign():
            concept = self._resolve(found.id)
            if concept != found.id:
                yield found.id, concept

    def _foreign(self) -> Iterator[StoredConcept]:
        return (found for found in self.store.concepts() if found.id not in self._canonical)

    def phrases(self) -> Iterator[tuple[str, PhraseEntry]]:
        """Every phrase in normal form and what it means, ours first."""
        yield from super().phrases()
        for found in self.store.phrases():
            if tuple(found.key.split(" ")) not in self._phrases:
                yield found.key, self._entry(found)
