"""The vocabulary: concepts, the phrases that mean them, equal ids, and is-a links."""

from __future__ import annotations

import os
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

from ontology.concepts import RECORD_KINDS, Attribute, ConceptRef, ConceptRow
from ontology.documents import content_hash
from ontology.errors import BedsideError
from ontology.hpo import PHENOTYPE_ROOT, HpoTerm, descendants
from ontology.sources import bundled_sources
from ontology.text import Token, phrase_key, phrase_words, tokens
from ontology.vocab.groups import Merge

if TYPE_CHECKING:
    from ontology.icd10.spelling import Speller

LAY, NAME, EXACT, OTHER = range(4)
"""Rank of a phrase's origin: our own lexicon wins over HPO's names, those over its synonyms."""

FAMILY_PHRASE = re.compile(r"^family history of (?:an? )?(.+)$")
OWN_HISTORY = ("", "history of ", "diagnosed with ", "ever had ")
"""How a person's own past disease is named: a relative's is asked for in the same words."""

LONGEST_STRETCH = 40
"""Words of overlapping phrases among which the longest is looked for."""

HMAX = 2
"""is-a links are followed this far (metrics.md 4.2)."""

NEVER_ASKED = ("HP:0001871", "HP:0001939")
"""Findings of the blood and of metabolism come from the laboratory (metrics.md 2.3)."""

VOCABULARY_VARIABLE = "BEDSIDE_VOCAB"


@dataclass(frozen=True)
class Match:
    """A phrase found in a text."""

    start: int
    end: int
    concept: str
    alternatives: tuple[str, ...]
    first_token: int
    last_token: int


@dataclass(frozen=True)
class PhraseEntry:
    """What a phrase means: the best concept, and the losers."""

    concept: str
    rank: int
    alternatives: tuple[str, ...] = ()


class Vocabulary:
    """Concepts by id and by phrase. Immutable once built."""

    def __init__(
        self,
        rows: Iterable[ConceptRow],
        hpo: Mapping[str, HpoTerm],
        hpo_version: str,
        blocked: Iterable[str] = (),
        merges: Iterable[Merge] = (),
        cut: Iterable[tuple[str, str]] = (),
        order_twins: Mapping[str, str] | None = None,
    ) -> None:
        """Build from concept rows and HPO terms.

        Args:
            rows: our own concepts; they win where they and HPO mean the same.
            hpo: live HPO terms by id.
            hpo_version: HPO's release date.
            blocked: phrases of HPO that must not be matched (too ambiguous in ordinary speech).
            cut: is-a links (child, parent) that do not hold between what our concepts mean.
            order_twins: finding → the measurement that the same words mean in an order ("take the temperature").
            merges: ids of other sources that mean a concept of these; one whose concept is not here, or whose alias is, has no effect.

        Raises:
            BedsideError: two rows with one id.
        """
        self.rows: dict[str, ConceptRow] = {}
        for row in rows:
            if row.id in self.rows:
                raise BedsideError(f"concept {row.id} is defined twice", "data/concepts")
            self.rows[row.id] = row
        self.hpo_version = hpo_version
        self._names: dict[str, str] = {}
        self._hpo_ids: dict[str, str] = {}
        self._canonical: dict[str, str] = {}
        self._parents: dict[str, tuple[str, ...]] = {}
        self._phrases: dict[tuple[str, ...], PhraseEntry] = {}
        self._plain: dict[tuple[str, ...], frozenset[str]] = {}
        self._longest: dict[tuple[str, ...], int] = {}  # by the first two words
        self._cut = frozenset(cut)
        self._order_twins = dict(order_twins or {})
        self._lay: dict[str, list[str]] = {}
        self._blocked = {phrase_key(text) for text in blocked}
        self._add_concepts(hpo)
        self._add_merges(merges)
        self._add_phrases(hpo)
        self._laboratory = frozenset(self._term_concept[term] for root in NEVER_ASKED for term in descendants(hpo, root) if term in hpo)
        self._family = self._family_links()
        self.version = self._fingerprint()

    # -- building ---------------------------------------------------------------------------------------------------

    def _add_concepts(self, hpo: Mapping[str, HpoTerm]) -> None:
        id_of_term: dict[str, str] = {row.hpo: row.id for row in self.rows.values() if row.hpo}
        for row in self.rows.values():
            self._canonical[row.id] = row.id
            self._names[row.id] = row.name
            if row.hpo:
                self._hpo_ids[row.id] = row.hpo
        for term in hpo.values():
            concept = id_of_term.get(term.hpo_id)
            if concept is None:
                # A CUI that another concept owns already names that concept, not this term.
                free = [cui for cui in term.cuis if cui not in self._canonical]
                concept = free[0] if free else "X:" + term.hpo_id.lower().replace(":", "-")
                id_of_term[term.hpo_id] = concept
                self._canonical[concept] = concept
                self._names[concept] = term.name
                self._hpo_ids[concept] = term.hpo_id
            for cui in term.cuis:
                self._canonical.setdefault(cui, concept)
        parents: dict[str, dict[str, None]] = defaultdict(dict)
        for term in hpo.values():
            for parent in term.parents:
                if parent in id_of_term:
                    parents[id_of_term[term.hpo_id]][id_of_term[parent]] = None
        for row in self.rows.values():
            for parent in row.parents:
                parents[row.id][self.canonical(parent)] = None
        self._parents = {child: tuple(p for p in found if p != child and (child, p) not in self._cut) for child, found in parents.items()}
        self._term_concept = id_of_term

    def _add_merges(self, merges: Iterable[Merge]) -> None:
        self._merged: dict[str, str] = {}
        for merge in merges:
            if merge.alias not in self._canonical and merge.concept in self._canonical:
                self._merged[merge.alias] = self._canonical[merge.alias] = self._canonical[merge.concept]

    def _add_phrases(self, hpo: Mapping[str, HpoTerm]) -> None:
        found: dict[tuple[str, ...], list[tuple[int, str]]] = defaultdict(list)
        # A single word of HPO must not match through its stem alone: "ordering" is a finding there, "order" is not.
        plain: dict[tuple[str, ...], set[str]] = defaultdict(set)
        phenotypes = descendants(hpo, PHENOTYPE_ROOT)
        every: set[str] = set()
        for row in self.rows.values():
            for text in (row.name, *row.lay):
                words = phrase_words(text)
                every.update(plain for _, plain in words)
                found[tuple(norm for norm, _ in words)].append((LAY, row.id))
        for term in hpo.values():
            if term.hpo_id not in phenotypes:
                continue
            concept = self._term_concept[term.hpo_id]
            lay = [text for text, _, layperson in term.synonyms if layperson]
            if lay:
                self._lay.setdefault(concept, []).extend(lay)
            for text, rank in [(term.name, NAME), *((t, EXACT if s == "EXACT" else OTHER) for t, s, _ in term.synonyms)]:
                words = phrase_words(text)
                every.update(singular for _, singular in words)
                key = tuple(norm for norm, _ in words)
                found[key].append((rank, concept))
                if len(words) == 1:
                    plain[key].add(words[0][1])
        self.words = frozenset(every)
        for key, candidates in found.items():
            if not key:
                continue
            ranked = sorted(set(candidates))
            rank, concept = ranked[0]
            if rank != LAY and key in self._blocked:
                continue
            others = tuple(dict.fromkeys(c for _, c in ranked if c != concept))
            self._phrases[key] = PhraseEntry(concept, rank, others)
            if rank != LAY and len(key) == 1:
                self._plain[key] = frozenset(plain[key])
            self._longest[key[:2]] = max(self._longest.get(key[:2], 0), len(key))

    def _family_links(self) -> dict[str, str]:
        """Which "family history of X" belongs to which X, read off our own phrases."""
        links: dict[str, str] = {}
        for row in self.rows.values():
            if row.kind == "family_history":
                for phrase in row.lay:
                    found = FAMILY_PHRASE.match(phrase)
                    for start in OWN_HISTORY if found else ():
                        entry = self.lookup(start + found.group(1)) if found else None
                        if entry is not None and entry.concept != row.id:
                            links.setdefault(entry.concept, row.id)
        return links

    def _fingerprint(self) -> str:
        rows = [row.model_dump(mode="json") for row in sorted(self.rows.values(), key=lambda r: r.id)]
        lexicon = [sorted(map(list, self._blocked)), sorted(map(list, self._cut)), self._order_twins]
        parts: list[object] = [self.hpo_version, rows, lexicon]
        return content_hash([*parts, sorted(self._merged.items())] if self._merged else parts)[:16]

    # -- asking -----------------------------------------------------------------------------------------------------

    def canonical(self, concept: str) -> str:
        """The one id of a concept's meaning; an unknown id is its own."""
        return self._canonical.get(concept, concept)

    def name(self, concept: str) -> str:
        """A concept's name; its id if it is unknown."""
        return self._names.get(self.canonical(concept), concept)

    def ref(self, concept: str) -> ConceptRef:
        """The reference that facts store."""
        concept = self.canonical(concept)
        return ConceptRef(cui=concept, name=self.name(concept), hpo_id=self._hpo_ids.get(concept))

    def kind(self, concept: str) -> str:
        """A concept's kind; `symptom` for plain HPO terms."""
        row = self.rows.get(self.canonical(concept))
        return row.kind if row else "symptom"

    def generic(self, concept: str) -> bool:
        """Whether a concept is too general to earn credit (metrics.md 2.3)."""
        row = self.rows.get(self.canonical(concept))
        return row.generic if row else False

    def detail(self, concept: str) -> Attribute | None:
        """The detail of a complaint that a finding is ("worse on exertion" is aggravating), None for most."""
        row = self.rows.get(concept)
        return row.detail if row is not None else None

    def as_ordered(self, concept: str) -> str:
        """What a concept's words mean in an order: the measurement, where they are also a finding's."""
        return self._order_twins.get(self.canonical(concept), concept)

    def lay_names(self, concept: str) -> tuple[str, ...]:
        """How people call a concept: our own phrases, else HPO's layperson synonyms; none if there are none."""
        concept = self.canonical(concept)
        row = self.rows.get(concept)
        return tuple(row.lay) if row else tuple(self._lay.get(concept, ()))

    def askable(self, concept: str) -> bool:
        """Whether a patient can be asked for a concept (metrics.md 2.3); our own tables decide by kind, HPO by its layperson synonyms."""
        concept = self.canonical(concept)
        row = self.rows.get(concept)
        return row.kind not in RECORD_KINDS if row else concept in self._lay and concept not in self._laboratory

    def concepts(self) -> Iterator[tuple[str, str]]:
        """(id, name) of every concept that goes by its own id."""
        return iter(self._names.items())

    def aliases(self) -> Iterator[tuple[str, str]]:
        """(id, concept) of every id that means another one's concept."""
        return ((alias, concept) for alias, concept in self._canonical.items() if alias != concept)

    def equal_ids(self, concept: str) -> tuple[str, ...]:
        """The other ids that mean a concept."""
        concept = self.canonical(concept)
        return tuple(alias for alias, owner in self._canonical.items() if owner == concept and alias != concept)

    def phrases(self) -> Iterator[tuple[str, PhraseEntry]]:
        """Every phrase in normal form, its words joined with blanks, and what it means."""
        return ((" ".join(key), entry) for key, entry in self._phrases.items())

    def impossible(self, concept: str, sex: str) -> bool:
        """Whether a concept cannot be so in a person of this sex (`F` or `M`; others: nothing is impossible)."""
        row = self.rows.get(self.canonical(concept))
        return row is not None and row.only_sex is not None and sex in ("F", "M") and sex != row.only_sex

    def family_concept(self, concept: str) -> str | None:
        """The concept "a relative has it" for a disease or finding, if there is one."""
        concept = self.canonical(concept)
        return concept if self.kind(concept) == "family_history" else self._family.get(concept)

    def parents(self, concept: str) -> tuple[str, ...]:
        """The next broader concepts of a canonical id."""
        return self._parents.get(concept, ())

    def ancestors(self, concept: str, hmax: int = HMAX, through_generic: bool = False) -> dict[str, int]:
        """Broader concepts within `hmax` is-a links, with the number of links; generic ones stop the climb unless asked for."""
        found: dict[str, int] = {}
        front = [self.canonical(concept)]
        for distance in range(1, hmax + 1):
            beyond: list[str] = []
            for here in front:
                for parent in self.parents(here):
                    if parent not in found and (through_generic or not self.generic(parent)):
                        found[parent] = distance
                        beyond.append(parent)
            front = beyond
        return found

    def find(self, text: str, within: list[Token] | None = None) -> list[Match]:
        """Phrases of a text that do not overlap: the longest first, of equal ones the leftmost; then what fits between them.

        Args:
            text: the text.
            within: its tokens, if they are known already.
        """
        words = tokens(text) if within is None else within
        found: list[Match] = []
        candidates: list[tuple[int, int, PhraseEntry]] = []
        end = 0
        for position in range(len(words) + 1):
            if candidates and position == end:  # no phrase reaches over this place
                if len(candidates) == 1:
                    found.append(_match(words, *candidates[0]))
                else:
                    found += self._longest_first(words, candidates[0][0], end)
                candidates = []
            if position < len(words):
                length, entry = self.longest_at(words, position)
                if entry is not None:
                    candidates.append((position, length, entry))
                    end = max(end, position + length)
        return found

    def _longest_first(self, words: list[Token], begin: int, end: int) -> list[Match]:
        """Phrases of a stretch in which they overlap."""
        found: list[Match] = []
        stretches = [(begin, end)]
        while stretches:
            first, last = stretches.pop()
            best, place, meaning = 0, first, None
            # A stretch is short but in text made of nothing else; there the leftmost comes first, so that time stays linear.
            for position in range(first, last if last - first <= LONGEST_STRETCH else first + 1):
                length, entry = self.longest_at(words[position : min(last, position + LONGEST_STRETCH)], 0)
                if entry is not None and length > best:
                    best, place, meaning = length, position, entry
            if meaning is None:
                stretches += [(first + 1, last)] if last - first > LONGEST_STRETCH else []
                continue
            found.append(_match(words, place, best, meaning))
            stretches += [(first, place), (place + best, last)]
        return sorted(found, key=lambda match: match.start)

    def longest_at(self, words: list[Token], position: int) -> tuple[int, PhraseEntry | None]:
        """The longest phrase that begins at a word: its number of words and its meaning; (1, None) if none does."""
        begins = tuple(word.norm for word in words[position : position + 2])
        longest = self._longest.get(begins, 1)
        norms = begins if longest <= 2 else tuple(word.norm for word in words[position : position + longest])
        for length in range(min(longest, len(norms)), 0, -1):
            key = norms[:length]
            entry = self._phrases.get(key)
            if entry is not None and (length > 1 or words[position].plain in self._plain.get(key, (words[position].plain,))):
                return length, entry
        return 1, None

    @cached_property
    def speller(self) -> Speller:
        """The words of our own phrases and HPO's, for mistyped ones; made when first needed."""
        from ontology.icd10.spelling import Speller

        return Speller(sorted(self.words))

    def lookup(self, phrase: str) -> PhraseEntry | None:
        """What exactly this phrase means."""
        return self._phrases.get(phrase_key(phrase))


def _match(words: list[Token], first: int, length: int, entry: PhraseEntry) -> Match:
    last = first + length - 1
    return Match(words[first].start, words[last].end, entry.concept, entry.alternatives, first, last)


@lru_cache(maxsize=1)
def bundled_vocabulary() -> Vocabulary:
    """Our own concepts over HPO. About a second the first time, then kept."""
    sources = bundled_sources()
    return Vocabulary(sources.rows, sources.hpo, sources.hpo_version, sources.blocked, sources.merges, sources.cut, sources.order_twins)


@lru_cache(maxsize=1)
def default_vocabulary() -> Vocabulary:
    """The vocabulary that `BEDSIDE_VOCAB` names (a built one, see ontology.vocab); without it, the bundled one.

    Raises:
        BedsideError: no vocabulary of that name was built, or it cannot be used.
    """
    chosen = os.environ.get(VOCABULARY_VARIABLE, "")
    if not chosen:
        return bundled_vocabulary()
    from ontology.vocab.index import load_vocabulary

    return load_vocabulary(chosen)
