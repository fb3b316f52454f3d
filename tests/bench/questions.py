"""`python tests/bench/questions.py [LABELLED.jsonl ...] [--kinds] [--errors [N]]`: the examiner's annotator on labelled questions.

Scores our own three sets, each part by itself (tests/ontology/test_question_labels.py says how they differ), and the files given, which
have the same record form. Every figure has a 95 % bootstrap interval over questions. `--kinds` counts the errors by kind and quotes no
question, so that whoever tunes the rules can be told what fails and not which words; `--errors` lists the N worst questions of each set
(30). Turns before the question (`previous`) are read where a record has them. Nothing here passes or fails.

Rules of the figures, after the shared set's README and the docstring of its scoring script:

- asked: F1 over distinct CUIs. Equal CUIs, or CUIs of one HPO term, count 1, direct is-a neighbours 1/2, one to one, whole credits first.
  A guess that matches nothing and lies on a surface labelled without a CUI is not counted.
- span: F1 of asked spans with or without a CUI, one to one in order of the labels, at an intersection over union of at least 1/2.
- role: of the labelled spans that a mention matches so, the share whose matching mentions all have the label's role.
- attribute: share of the attribute questions (other than "associated") whose guessed attributes are the labelled one and no other.
- silent: share of the questions that are only non-clinical with no mention asked.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

from metrics.statistics import bootstrap_mean
from ontology.attributes import STANDARD
from ontology.batch import DialogueTurn, annotate_many
from ontology.dialogue import PastTurn
from ontology.hpo import HpoTerm, hpo_folder, read_obo
from ontology.mentions import Mention
from ontology.vocabulary import Vocabulary, bundled_vocabulary

DATA = Path(__file__).parents[1] / "data"
OUR_SETS = ("questions_nonclinical.jsonl", "questions_attributes.jsonl", "questions_asked.jsonl")
FIGURES = ("asked", "span", "role", "attribute", "silent")
SEED = 11
SHOWN = 30
NEAR = Fraction(1, 2)

Question = dict[str, Any]
Span = tuple[int, int]


@dataclass
class Tally:
    """One question's part of each figure (gained, possible), and what went wrong: its kind and the words."""

    question: Question
    parts: dict[str, tuple[float, int]] = field(default_factory=dict)
    errors: list[tuple[str, str]] = field(default_factory=list)


class Terms:
    """Which CUIs mean one HPO term, and which terms are one is-a link apart."""

    def __init__(self, terms: dict[str, HpoTerm]) -> None:
        self._terms_of: dict[str, set[str]] = {}
        self._parents = {term.hpo_id: set(term.parents) for term in terms.values()}
        for term in terms.values():
            for cui in term.cuis:
                self._terms_of.setdefault(cui, set()).add(term.hpo_id)

    def credit(self, gold: str, guess: str) -> float:
        """1 for one meaning, 1/2 for a direct neighbour, else 0."""
        ours, theirs = self._terms_of.get(gold, set()), self._terms_of.get(guess, set())
        if gold == guess or ours & theirs:
            return 1.0
        linked = any(b in self._parents[a] or a in self._parents[b] for a in ours for b in theirs)
        return 0.5 if linked else 0.0


def places(text: str, surface: str) -> list[Span]:
    """Where a surface stands; occurrences do not overlap."""
    found, start = [], text.find(surface)
    while start >= 0:
        found.append((start, start + len(surface)))
        start = text.find(surface, start + len(surface))
    return found


def nearness(mention: Mention, where: Iterable[Span]) -> Fraction:
    """Highest intersection over union, in code points, of a mention with one of several spans."""
    best = Fraction(0)
    for start, end in where:
        common = min(end, mention.end) - max(start, mention.start)
        if common > 0:
            best = max(best, Fraction(common, max(end, mention.end) - min(start, mention.start)))
    return best


def judge(question: Question, mentions: list[Mention], terms: Terms, vocabulary: Vocabulary) -> Tally:
    """All figures of one question."""
    tally = Tally(question)
    asked = [mention for mention in mentions if mention.dialogue_role == "asked"]
    _judge_concepts(tally, asked, terms, vocabulary)
    _judge_spans(tally, asked)
    _judge_roles(tally, mentions)
    wanted = question["attribute"]
    guessed = {STANDARD.get(m.attribute, m.attribute) for m in mentions if m.attribute}
    if wanted not in (None, "associated"):
        tally.parts["attribute"] = (float(guessed == {wanted}), 1)
        if guessed != {wanted}:
            kind = "several details" if len(guessed) > 1 else "another detail" if guessed else "no detail"
            tally.errors.append((kind, f"attribute {wanted}, guessed {', '.join(sorted(guessed)) or 'none'}"))
    if question["kind"] == ["nonclinical"]:
        tally.parts["silent"] = (float(not asked), 1)
    return tally


def _judge_concepts(tally: Tally, asked: list[Mention], terms: Terms, vocabulary: Vocabulary) -> None:
    text, labels = tally.question["question"], tally.question["asked"]
    gold = list(dict.fromkeys(label["cui"] for label in labels if label["cui"]))
    left: dict[str, Mention] = {}
    for mention in asked:
        if mention.cui.startswith("C"):
            left.setdefault(mention.cui, mention)
    gained, matched = 0.0, 0
    for credit in (1.0, 0.5):
        for cui in list(gold):
            guess = next((g for g in left if terms.credit(cui, g) == credit), None)
            if guess is not None:
                gold.remove(cui)
                if credit < 1:
                    tally.errors.append(("neighbour concept", f"{vocabulary.name(guess)} for its neighbour {vocabulary.name(cui)}"))
                del left[guess]
                gained += credit
                matched += 1
    open_places = [place for label in labels if not label["cui"] for place in places(text, label["surface"])]
    extra = [cui for cui, mention in left.items() if not nearness(mention, open_places)]
    tally.parts["asked"] = (2 * gained, 2 * matched + len(gold) + len(extra))
    for cui in gold:
        where = [place for label in labels if label["cui"] == cui for place in places(text, label["surface"])]
        kind = "another concept in its place" if any(nearness(mention, where) for mention in asked) else "missed concept"
        tally.errors.append((kind, f"missed {vocabulary.name(cui)}"))
    tally.errors += [("extra concept", f"extra {vocabulary.name(cui)} ({left[cui].surface!r})") for cui in extra]


def _judge_spans(tally: Tally, asked: list[Mention]) -> None:
    text, labels = tally.question["question"], tally.question["asked"]
    free, hits = list(asked), 0
    for label in labels:
        where = places(text, label["surface"])
        best = max(free, key=lambda mention: nearness(mention, where), default=None)  # noqa: B023
        if best is not None and nearness(best, where) >= NEAR:
            hits += 1
            free.remove(best)
        else:
            kind = "span too long or short" if best is not None and nearness(best, where) else "missed span"
            tally.errors.append((kind, f"no span at {label['surface']!r}"))
    tally.errors += [("span too many", f"span too many {mention.surface!r}") for mention in free]
    tally.parts["span"] = (2.0 * hits, len(labels) + len(asked))


def _judge_roles(tally: Tally, mentions: list[Mention]) -> None:
    right = judged = 0
    for role in ("asked", "stated"):
        for label in tally.question[role]:
            where = places(tally.question["question"], label["surface"])
            near = [mention for mention in mentions if nearness(mention, where) >= NEAR]
            judged += bool(near)
            if near and all(mention.dialogue_role == role for mention in near):
                right += 1
            elif near:
                tally.errors.append((f"role of what is {role}", f"{label['surface']!r} is {role}"))
    tally.parts["role"] = (float(right), judged)


def figure(tallies: list[Tally], name: str) -> str:
    """A ratio of sums over questions with its interval: each question is a cluster of as many equal values as it can gain."""
    values: list[float] = []
    clusters: list[int] = []
    for number, tally in enumerate(tallies):
        gained, possible = tally.parts.get(name, (0.0, 0))
        values += [gained / possible] * possible if possible else []
        clusters += [number] * possible
    if not values:
        return f"{name:10}      -"
    interval = bootstrap_mean(values, SEED, clusters)
    ends = f"({interval.low:.3f} to {interval.high:.3f})" if interval else "(no interval)"
    return f"{name:10} {sum(values) / len(values):.4f} {ends}, {len(set(clusters))} questions"


def report(name: str, tallies: list[Tally], kinds: bool, shown: int) -> None:
    print(f"{name}: {len(tallies)} questions")
    for label in FIGURES:
        print(f"  {figure(tallies, label)}")
    if kinds:
        counted = Counter(kind for tally in tallies for kind, _ in tally.errors)
        print("  errors: " + (", ".join(f"{kind} {count}" for kind, count in counted.most_common()) or "none"))
    worst = sorted((tally for tally in tallies if tally.errors), key=lambda tally: -len(tally.errors))[:shown]
    for tally in worst:
        print(f"    {tally.question['id']}: {tally.question['question']}\n        {'; '.join(words for _, words in tally.errors)}")


def turn(question: Question) -> DialogueTurn:
    """The question as an examiner's turn, after the turns that its record says came before."""
    before = tuple(PastTurn(past["role"], past["text"]) for past in question.get("previous", []))
    return DialogueTurn(question["question"], "examiner", before)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("labelled", nargs="*", type=Path)
    parser.add_argument("--kinds", action="store_true")
    parser.add_argument("--errors", nargs="?", type=int, const=SHOWN, default=0)
    options = parser.parse_args()
    vocabulary = bundled_vocabulary()
    with (hpo_folder() / "hp.obo").open(encoding="utf-8") as handle:
        terms = Terms(read_obo(handle)[1])
    for path in (*options.labelled, *(DATA / name for name in OUR_SETS)):
        questions = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
        annotations = annotate_many([turn(question) for question in questions], vocabulary)
        read = [judge(q, found.mentions, terms, vocabulary) for q, found in zip(questions, annotations, strict=True)]
        halves = sorted({q["src"] for q in questions}) if path.parent == DATA else []
        for half in halves or [""]:
            part = [tally for tally in read if not half or tally.question["src"] == half]
            report(f"{path.name} {half}".rstrip(), part, options.kinds, options.errors)


if __name__ == "__main__":
    main()
