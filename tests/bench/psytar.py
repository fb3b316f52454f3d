"""`python tests/bench/psytar.py psytar_lay_phrase_to_cui.tsv`: PsyTAR's lay phrases against the vocabulary, an outside check.

Of the phrases one of whose CUIs the vocabulary knows: is that concept what we find in them? Prints shares with 95 % Wilson intervals and
the commonest misses by kind; nothing here passes or fails. Zolnoori et al. 2019, Data in Brief 24:103838 (CC BY 4.0).
"""

from __future__ import annotations

import csv
import re
import sys
from collections import Counter, defaultdict
from pathlib import Path

from metrics.statistics import wilson
from ontology.matching import matches_in
from ontology.vocabulary import HMAX, Vocabulary, bundled_vocabulary

CUI = re.compile(r"C\d{7}")
SHOWN = 12


def kind_of(phrase: str, wanted: set[str], vocabulary: Vocabulary) -> str:
    """How near what we find in a phrase is to one of its concepts."""
    found = {vocabulary.canonical(c) for match in matches_in(phrase, vocabulary) for c in (match.concept, *match.alternatives)}
    first = {vocabulary.canonical(match.concept) for match in matches_in(phrase, vocabulary)}
    if wanted & first:
        return "the concept"
    if wanted & found:
        return "among the alternatives"
    for concept in first:
        if wanted & set(vocabulary.ancestors(concept, HMAX, through_generic=True)):
            return "a narrower one"
        if any(concept in vocabulary.ancestors(w, HMAX, through_generic=True) for w in wanted):
            return "a broader one"
    return "another concept" if first else "nothing"


def main(path: Path) -> None:
    vocabulary = bundled_vocabulary()
    known = {concept for concept, _ in vocabulary.concepts()}
    kinds: Counter[str] = Counter()
    examples: dict[str, Counter[str]] = defaultdict(Counter)
    total = 0
    with path.open(encoding="utf-8", newline="") as handle:
        for row in csv.reader(handle, delimiter="\t"):
            cuis = {cui for cell in row for cui in CUI.findall(cell)}
            phrase = next((cell for cell in row if cell and not CUI.search(cell)), "")
            if not cuis or not phrase:
                continue
            total += 1
            wanted = {vocabulary.canonical(cui) for cui in cuis} & known
            if wanted:
                kind = kind_of(phrase, wanted, vocabulary)
                kinds[kind] += 1
                examples[kind][f"{phrase!r} = {vocabulary.name(sorted(wanted)[0])}"] += 1
    judged = sum(kinds.values())
    print(f"{judged} of {total} phrases have a concept that the vocabulary knows")
    for kind, count in kinds.most_common():
        interval = wilson(count, judged)
        print(f"{kind:24} {count:5} {count / judged:6.1%} ({interval.low:.1%} to {interval.high:.1%})")
        if kind != "the concept":
            print("    " + "; ".join(text for text, _ in examples[kind].most_common(SHOWN)))


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("give PsyTAR's table of lay phrases")
    main(Path(sys.argv[1]))
