"""Why a phrase means what it means."""

from __future__ import annotations

from dataclasses import dataclass

from ontology.text import phrase_key
from ontology.vocab.layered import LayeredVocabulary
from ontology.vocabulary import EXACT, LAY, NAME, Vocabulary

OURS = {LAY: "our own lexicon", NAME: "name in HPO", EXACT: "exact synonym in HPO"}
THEIRS = {1: "preferred name", 2: "synonym", 3: "abbreviation"}


@dataclass(frozen=True)
class Named:
    """A concept with its name."""

    id: str
    name: str


@dataclass(frozen=True)
class Explanation:
    """What a phrase means, and why.

    Attributes:
        phrase: as given.
        normal_form: the words by which it is looked up.
        start: where it begins in the text that was asked about, in code points.
        end: where it ends.
        concept: what it means; None: nothing.
        kind: the concept's kind.
        generic: too general to earn credit.
        askable: whether a patient can be asked for it.
        origin: what gives the phrase this meaning.
        source: the vocabulary that names it so.
        alternatives: what else it could mean, and lost.
        equal_ids: ids that mean the same concept.
        is_a: broader concepts with the number of links.
        lay_names: how people call it.
    """

    phrase: str
    normal_form: str
    start: int
    end: int
    concept: Named | None = None
    kind: str = ""
    generic: bool = False
    askable: bool = False
    origin: str = ""
    source: str = ""
    alternatives: tuple[Named, ...] = ()
    equal_ids: tuple[str, ...] = ()
    is_a: tuple[tuple[Named, int], ...] = ()
    lay_names: tuple[str, ...] = ()


def explain(text: str, vocabulary: Vocabulary) -> list[Explanation]:
    """Explain a phrase; if it means nothing as a whole, each phrase that is found in it.

    Args:
        text: a phrase or a sentence.
        vocabulary: the vocabulary to ask.

    Returns:
        at least one explanation; a single one without a concept if nothing is recognised.
    """
    if vocabulary.lookup(text) is not None:
        return [_explained(text, 0, len(text), vocabulary)]
    found = [_explained(text[m.start : m.end], m.start, m.end, vocabulary) for m in vocabulary.find(text)]
    return found or [Explanation(text, " ".join(phrase_key(text)), 0, len(text))]


def _explained(phrase: str, start: int, end: int, vocabulary: Vocabulary) -> Explanation:
    key = " ".join(phrase_key(phrase))
    entry = vocabulary.lookup(phrase)
    if entry is None:
        return Explanation(phrase, key, start, end)
    concept = entry.concept
    origin, source = OURS.get(entry.rank, "other synonym in HPO"), "Bedside" if entry.rank == LAY else "HPO"
    if isinstance(vocabulary, LayeredVocabulary) and tuple(key.split(" ")) not in vocabulary.bundled_phrases:
        stored = vocabulary.stored(phrase)
        if stored is not None:
            origin, source = f"{THEIRS[stored.rank]} {stored.text!r}", stored.source
            if stored.concept != concept:
                origin += f" of {stored.concept}, which means {concept}"
    return Explanation(
        phrase,
        key,
        start,
        end,
        Named(concept, vocabulary.name(concept)),
        vocabulary.kind(concept),
        vocabulary.generic(concept),
        vocabulary.askable(concept),
        origin,
        source,
        tuple(Named(other, vocabulary.name(other)) for other in entry.alternatives),
        vocabulary.equal_ids(concept),
        tuple(
            (Named(above, vocabulary.name(above)), links) for above, links in vocabulary.ancestors(concept, through_generic=True).items()
        ),
        vocabulary.lay_names(concept)[:8],
    )
