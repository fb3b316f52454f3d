"""`python tests/bench/psytar.py psytar_lay_phrase_to_cui.tsv`: PsyTAR's lay phrases against the vocabulary, an outside check.

Of the phrases one of whose CUIs the vocabulary knows: is that concept what we find in them? Shares have 95 % bootstrap intervals over
reviews (the phrases of one patient are alike); what is not found exactly is told by kind, with the commonest examples. The table gives no
sentences, only their numbers, so a phrase is read by itself. Nothing here passes or fails.
Zolnoori et al. 2019, Data in Brief 24:103838 (CC BY 4.0).
"""

from __future__ import annotations

import csv
import sys
from collections import Counter, defaultdict
from dataclasses import dataclass
from pathlib import Path

from spellchecker import SpellChecker

from metrics.statistics import bootstrap_mean
from ontology.matching import CONJUNCTIONS, matches_in
from ontology.text import Token, phrase_key, tokens
from ontology.vocabulary import HMAX, Match, Vocabulary, bundled_vocabulary

SEED = 11
SHOWN = 12
SHORTEST_TYPO = 5
OUTCOMES = ("the concept", "a direct neighbour", "another concept", "nothing")
KINDS = {
    "ambiguous": "the concept is an alternative, or all the words are another concept's phrase",
    "we find a narrower one": f"at most {HMAX} is-a links",
    "we find a broader one": f"at most {HMAX} is-a links",
    "coordination": "all words of a phrase of the concept are there, with a conjunction among them",
    "word order or gap": "all words of a phrase of the concept are there",
    "another form": "a one-word phrase of HPO in another form, which its stem alone does not stand for (weak, weakness)",
    "typing error": "all words are there, but one that is no English word is a letter away, or two words are run together",
    "not in the lexicon": "the rest: no phrase of the concept has these words",
}

Key = tuple[str, ...]


@dataclass(frozen=True)
class Row:
    """A labelled phrase: the concepts wanted and the review it is from."""

    phrase: str
    wanted: frozenset[str]
    review: str


@dataclass(frozen=True)
class Verdict:
    """How near we come, and the kind of error; None where the concept is found."""

    outcome: str
    kind: str | None


class Judge:
    """Compares what is found in a phrase with what is wanted."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self.vocabulary = vocabulary
        self.known = {concept for concept, _ in vocabulary.concepts()}
        self._english = SpellChecker(language="en", distance=1).word_frequency
        self._phrases: dict[str, list[Key]] = defaultdict(list)
        for text, entry in vocabulary.phrases():
            for concept in (entry.concept, *entry.alternatives):
                self._phrases[vocabulary.canonical(concept)].append(tuple(text.split()))

    def verdict(self, row: Row) -> Verdict:
        canonical = self.vocabulary.canonical
        matches = matches_in(row.phrase, self.vocabulary)
        found = {canonical(match.concept) for match in matches}
        if row.wanted & found:
            return Verdict("the concept", None)
        near = any(self._links(a, b) == 1 or self._links(b, a) == 1 for a in row.wanted for b in found)
        outcome = "a direct neighbour" if near else "another concept" if found else "nothing"
        return Verdict(outcome, self._kind(row, matches, found))

    def _links(self, narrow: str, broad: str) -> int | None:
        return self.vocabulary.ancestors(narrow, HMAX, through_generic=True).get(broad)

    def _kind(self, row: Row, matches: list[Match], found: set[str]) -> str:
        canonical = self.vocabulary.canonical
        if row.wanted & {canonical(other) for match in matches for other in match.alternatives}:
            return "ambiguous"
        if any(self._links(ours, theirs) for ours in found for theirs in row.wanted):
            return "we find a narrower one"
        if any(self._links(theirs, ours) for ours in found for theirs in row.wanted):
            return "we find a broader one"
        key = phrase_key(row.phrase)
        if found and self.vocabulary.lookup(row.phrase) is not None:
            return "ambiguous"
        phrases = [phrase for concept in sorted(row.wanted) for phrase in self._phrases[concept]]
        if any(len(phrase) == 1 and phrase[0] in key for phrase in phrases):
            return "another form"
        if any(set(phrase) <= set(key) for phrase in phrases):
            return "coordination" if CONJUNCTIONS & set(key) or "/" in row.phrase else "word order or gap"
        unknown = [token for token in tokens(row.phrase) if token.plain not in self._english]
        if any(_misspelt(phrase, set(key), unknown) for phrase in phrases):
            return "typing error"
        return "not in the lexicon"


def _misspelt(phrase: Key, key: set[str], unknown: list[Token]) -> bool:
    """Whether the words of a phrase are there, save one that differs by a letter or two that have lost their blank."""
    missing = [word for word in phrase if word not in key]
    if len(missing) == 2 and any("".join(missing) in (word.norm, word.plain) for word in unknown):
        return True
    return len(missing) == 1 and len(missing[0]) >= SHORTEST_TYPO and any(_one_slip(missing[0], word.norm) for word in unknown)


def _one_slip(a: str, b: str) -> bool:
    """Whether two different words become equal by one letter put in, left out, replaced, or two neighbours swapped."""
    short, long = sorted((a, b), key=len)
    if a == b or len(long) - len(short) > 1:
        return False
    at = next((i for i, (x, y) in enumerate(zip(short, long, strict=False)) if x != y), len(short))
    if len(short) < len(long):
        return short[at:] == long[at + 1 :]
    swapped = short[:at] + short[at + 1 : at + 2] + short[at] + short[at + 2 :]
    return short[at + 1 :] == long[at + 1 :] or swapped == long


def read(path: Path, judge: Judge) -> tuple[int, list[Row]]:
    """The number of labelled phrases, and those with a concept that the vocabulary knows."""
    rows: list[Row] = []
    total = 0
    with path.open(encoding="utf-8", newline="") as handle:
        for line in csv.DictReader(handle, delimiter="\t"):
            total += 1
            cuis = line["cui"].replace("/", " ").replace(",", " ").split()
            wanted = {judge.vocabulary.canonical(cui) for cui in cuis} & judge.known
            if wanted and line["phrase"].strip():
                rows.append(Row(line["phrase"].strip(), frozenset(wanted), line["drug_id"]))
    return total, rows


def share(label: str, hits: list[bool], reviews: list[str]) -> str:
    interval = bootstrap_mean([float(hit) for hit in hits], SEED, reviews)
    ends = f"({interval.low:.1%} to {interval.high:.1%})" if interval else ""
    return f"{label:24} {sum(hits):5} {sum(hits) / len(hits):6.1%} {ends}"


def main(path: Path) -> None:
    judge = Judge(bundled_vocabulary())
    total, rows = read(path, judge)
    verdicts = [judge.verdict(row) for row in rows]
    reviews = [row.review for row in rows]
    print(f"{len(rows)} of {total} phrases, from {len(set(reviews))} reviews, have a concept that the vocabulary knows")
    for outcome in OUTCOMES:
        print(share(outcome, [verdict.outcome == outcome for verdict in verdicts], reviews))
    distinct = {(row.phrase.casefold(), row.wanted): verdict for row, verdict in zip(rows, verdicts, strict=True)}
    right = sum(verdict.kind is None for verdict in distinct.values())
    print(f"of {len(distinct)} different phrases {right / len(distinct):.1%} have the concept")
    examples: dict[str, Counter[str]] = defaultdict(Counter)
    for row, verdict in zip(rows, verdicts, strict=True):
        if verdict.kind is not None:
            found = dict.fromkeys(judge.vocabulary.name(m.concept) for m in matches_in(row.phrase, judge.vocabulary))
            wanted = " or ".join(sorted(judge.vocabulary.name(concept) for concept in row.wanted))
            examples[verdict.kind][f"{row.phrase!r} = {wanted}, found {', '.join(found) or 'nothing'}"] += 1
    print("\nerrors by kind")
    for kind, meaning in KINDS.items():
        print(share(kind, [verdict.kind == kind for verdict in verdicts], reviews) + f"  ({meaning})")
        for text, count in examples[kind].most_common(SHOWN):
            print(f"    {count:3} {text}")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("give PsyTAR's table of lay phrases")
    main(Path(sys.argv[1]))
