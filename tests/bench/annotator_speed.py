"""`python tests/bench/annotator_speed.py DIALOGUES.jsonl [SAMPLE]`: our annotator against stock medspaCy with QuickUMLS over our phrases.

DIALOGUES is a file of CRAFT-MD dialogues. All examiner turns go through ours, SAMPLE of them (default 2,000) through the stock recipe:
medspaCy's tokenizer, PyRuSH sentences, QuickUMLS and ConText on every turn. Without the extra `quickumls` only ours is measured.
Prints CPU seconds, so that other work on the machine does not show; nothing here passes or fails.
"""

from __future__ import annotations

import json
import random
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ontology.annotator import annotate_examiner
from ontology.matching import matches_in
from ontology.text import sentences, tokens
from ontology.vocab import quickumls
from ontology.vocabulary import Vocabulary, bundled_vocabulary

SHOWN = 12
SEED = 7
BLOCK = 100
LOAD = """
import resource, time
began = time.process_time()
from ontology.vocabulary import bundled_vocabulary
from ontology.annotator import annotate_examiner
words = bundled_vocabulary()
loaded = time.process_time() - began
annotate_examiner("Do you have chest pain or a hedache?", words)
used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
print(f"index and rules loaded in {loaded:.2f} s of CPU, first turn after {time.process_time() - began:.2f} s, {used:.0f} MB at most")
"""


def examiner_turns(path: Path) -> Iterator[str]:
    for line in path.read_text(encoding="utf-8").splitlines():
        yield from (message["content"] for message in json.loads(line)["messages"] if message["role"] == "examiner")


def load_figures() -> None:
    print(subprocess.run([sys.executable, "-c", LOAD], check=True, capture_output=True, text=True).stdout.strip())


def our_speed(turns: list[str], vocabulary: Vocabulary) -> None:
    """Turns a CPU second, the second time through all of them; no annotation is cached, words' normal forms are."""
    for pass_name in ("first pass", "warm"):
        began = time.process_time()
        mentions = acts = 0
        for turn in turns:
            found = annotate_examiner(turn, vocabulary)
            mentions += len(found.mentions)
            acts += len(found.acts)
        rate = len(turns) / (time.process_time() - began)
        print(f"ours, {pass_name}: {rate:,.0f} turns a CPU second ({acts:,} acts, {mentions:,} mentions in {len(turns):,} turns)")


@dataclass(frozen=True)
class Sentence:
    """A sentence with what the two recipes found in it: (concept, start, end, similarity)."""

    text: str
    ours: list[tuple[str, int, int]]
    stock: list[tuple[str, int, int, float]]


def stock_pipeline(folder: Path) -> Any:
    import medspacy
    from loguru import logger

    logger.disable("PyRuSH")
    quickumls.QuickUmlsMatcher(folder)  # puts the stop words where NLTK looks, instead of a download
    enable = ["medspacy_tokenizer", "medspacy_pyrush"]
    pipeline = medspacy.load(medspacy_enable=enable)
    config = {"quickumls_fp": str(folder), "accepted_semtypes": list(quickumls.ACCEPTED)}
    pipeline.add_pipe("medspacy_quickumls", config=config)
    pipeline.add_pipe("medspacy_context")
    return pipeline


def side_by_side(pipeline: Any, turns: list[str], vocabulary: Vocabulary) -> list[Any]:
    """Both recipes over the same turns, by turns, so that what else the machine does meets both alike; what the stock recipe found."""
    for turn in turns[:BLOCK]:
        pipeline(turn)
    docs: list[Any] = []
    ours = stock = 0.0
    for first in range(0, len(turns), BLOCK):
        block = turns[first : first + BLOCK]
        began = time.process_time()
        for turn in block:
            annotate_examiner(turn, vocabulary)
        between = time.process_time()
        docs += [pipeline(turn) for turn in block]
        ours += between - began
        stock += time.process_time() - between
    fast, slow = len(turns) / ours, len(turns) / stock
    print(f"over {len(turns):,} turns: ours {fast:,.0f}, stock {slow:,.0f} turns a CPU second, {fast / slow:.1f} times as fast")
    return docs


def sentences_of(turns: list[str], docs: list[Any], vocabulary: Vocabulary) -> list[Sentence]:
    found = []
    for turn, doc in zip(turns, docs, strict=True):
        spans = [
            (vocabulary.canonical(ent.label_), ent.start_char, ent.end_char, max(m.similarity for m in ent._.umls_matches))
            for ent in doc.ents
        ]
        for start, end in sentences(turn):
            text = turn[start:end]
            ours = [(vocabulary.canonical(m.concept), m.start, m.end) for m in matches_in(text, vocabulary)]
            stock = [(c, a - start, b - start, s) for c, a, b, s in spans if start <= a < end]
            found.append(Sentence(text, ours, stock))
    return found


def concepts(found: list[Any]) -> set[str]:
    return {one[0] for one in found}


def overlaps(a: tuple[int, int], b: tuple[int, int]) -> bool:
    return a[0] < b[1] and b[0] < a[1]


def only_stock(sentence: Sentence, concept: str, start: int, end: int, similarity: float, vocabulary: Vocabulary) -> str:
    """Why the stock recipe has a concept that ours has not."""
    near = [m for m in sentence.ours if overlaps((start, end), (m[1], m[2]))]
    if any(concept in vocabulary.ancestors(m[0], 6, through_generic=True) for m in near):
        return "stock has a broader concept where ours has a narrower one"
    if any(m[0] in vocabulary.ancestors(concept, 6, through_generic=True) for m in near):
        return "stock has a narrower concept where ours has a broader one"
    if near:
        return "both have something at this place, unrelated"
    if similarity == 1.0:
        return "the phrase is in the index letter by letter; ours does not take it (blocked, or only as another word form)"
    return f"approximate, similarity below {'0.8' if similarity < 0.8 else '1.0'}; ours has nothing here"


def only_ours(sentence: Sentence, start: int, end: int) -> str:
    """Why ours has a concept that the stock recipe has not."""
    if any(overlaps((start, end), (m[1], m[2])) for m in sentence.ours if (m[1], m[2]) != (start, end)):
        return "coordination: the words are shared with another finding"
    if any(overlaps((start, end), (m[1], m[2])) for m in sentence.stock):
        return "stock has something else at this place"
    words = sentence.text[start:end].split()
    return "stock has nothing here: " + ("a phrase" if len(words) > 1 else "a single word")


def compare(found: list[Sentence], vocabulary: Vocabulary) -> None:
    same = sum(concepts(s.ours) == concepts(s.stock) for s in found)
    either = [s for s in found if s.ours or s.stock]
    both = sum(concepts(s.ours) == concepts(s.stock) for s in either)
    print(
        f"same canonical concepts as stock: {same / len(found):.1%} of {len(found):,} sentences, {both / len(either):.1%} of those with any"
    )
    kinds: dict[str, Counter[str]] = {}
    for s in found:
        for concept, start, end, similarity in s.stock:
            if concept not in concepts(s.ours):
                kind = "only stock: " + only_stock(s, concept, start, end, similarity, vocabulary)
                kinds.setdefault(kind, Counter())[f"{s.text[start:end]!r} = {vocabulary.name(concept)}"] += 1
        for concept, start, end in s.ours:
            if concept not in concepts(s.stock):
                kind = "only ours: " + only_ours(s, start, end)
                kinds.setdefault(kind, Counter())[f"{s.text[start:end]!r} = {vocabulary.name(concept)}"] += 1
    for kind, examples in sorted(kinds.items(), key=lambda item: -item[1].total()):
        print(f"{examples.total():>6}  {kind}")
        print("        " + "; ".join(f"{example} ({count})" for example, count in examples.most_common(SHOWN)))


def thresholds(found: list[Sentence], vocabulary: Vocabulary) -> None:
    """How much QuickUMLS, run on every sentence after ours, would change if only its nearer matches counted."""
    print("with QuickUMLS' matches from a similarity on:")
    for least in (0.7, 0.8, 0.9, 1.0):
        same = added = 0
        for s in found:
            near = [one for one in s.stock if one[3] >= least]
            same += concepts(near) == concepts(s.ours)
            added += any(adds_to(s, one) for one in near)
        share, changed = same / len(found), added / len(found)
        print(
            f"  {least}: {share:.1%} of sentences have the same concepts; beside ours it adds some to {changed:.1%}, "
            f"so {1 - changed:.1%} stay"
        )


def adds_to(sentence: Sentence, one: tuple[str, int, int, float]) -> bool:
    """Whether a match of the stock recipe is new and lies where ours has nothing."""
    free = not any(overlaps((one[1], one[2]), (m[1], m[2])) for m in sentence.ours)
    return free and one[0] not in concepts(sentence.ours)


def stop_words() -> frozenset[str]:
    from spacy.lang.en.stop_words import STOP_WORDS

    return frozenset(STOP_WORDS)


def gates(found: list[Sentence], vocabulary: Vocabulary) -> None:
    """How many sentences a fallback to QuickUMLS would reach, and what it would add there, under several conditions."""
    from spellchecker import SpellChecker

    english = frozenset(SpellChecker(language="en", distance=1).word_frequency.words())
    ignored = stop_words()
    rows: dict[str, tuple[int, int]] = {}

    def count(name: str, reached: bool, adds: bool) -> None:
        before = rows.get(name, (0, 0))
        rows[name] = (before[0] + reached, before[1] + (reached and adds))

    for s in found:
        adds = any(adds_to(s, one) for one in s.stock)
        bare = [w for w in tokens(s.text) if not any(overlaps((w.start, w.end), (m[1], m[2])) for m in s.ours)]
        content = [w for w in bare if len(w.plain) > 3 and w.plain.isalpha() and s.text[w.start : w.end].lower() not in ignored]
        count("every sentence", True, adds)
        count("nothing found by ours", not s.ours, adds)
        count("a content word outside all findings", bool(content), adds)
        count("… that occurs in some phrase", any(w.plain in vocabulary.words for w in content), adds)
        count(
            "… that is neither English nor in a phrase",
            any(w.plain not in vocabulary.words and w.plain not in english for w in content),
            adds,
        )
    print("a fallback to QuickUMLS would reach, and add a concept where ours has nothing:")
    for name, (reached, adding) in rows.items():
        print(f"  {name}: {reached / len(found):.1%} of sentences reached, {adding / len(found):.2%} get a concept")


def main(path: Path, sample: int) -> None:
    load_figures()
    vocabulary = bundled_vocabulary()
    turns = list(examiner_turns(path))
    our_speed(turns, vocabulary)
    if not quickumls.available():
        print("the extra quickumls is not installed: nothing to compare with")
        return
    from ontology.vocab.build import quickumls_index

    began = time.process_time()
    pipeline = stock_pipeline(quickumls_index())
    print(f"stock pipeline loaded in {time.process_time() - began:.1f} s of CPU")
    chosen = random.Random(SEED).sample(turns, min(sample, len(turns)))
    found = sentences_of(chosen, side_by_side(pipeline, chosen, vocabulary), vocabulary)
    compare(found, vocabulary)
    thresholds(found, vocabulary)
    gates(found, vocabulary)


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 2_000)
