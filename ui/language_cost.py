"""`bedside language-cost`: the same policy in words and on concept ids."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from metrics.statistics import wilson
from ontology.errors import BedsideError
from ontology.icd10 import is_same_or_descendant, normalise
from ontology.vocabulary import default_vocabulary
from simulator.build import default_ward, make_bed
from simulator.case import PatientVector
from simulator.examiners.direct import play_direct
from simulator.examiners.policies import POLICIES
from simulator.trace import Budget, FinalAnswer
from ui.console import say, say_json, table
from ui.wiring import Bookshelf, ExaminerFactory, ExaminerSpec, load_cases


@dataclass
class Tally:
    """What one way of playing reached."""

    top1: int = 0
    top5: int = 0
    questions: int = 0


def measure(spec: str, examiner: str, profiles: str, seed: int, limit: int | None, max_turns: int, as_json: bool) -> int:
    """Measure; see `bedside language-cost --help`. Returns the exit code."""
    if examiner not in POLICIES:
        raise BedsideError(f"{examiner!r} is not a reference examiner", "--examiner", f"known: {', '.join(POLICIES)}")
    cases = load_cases(spec)
    if limit is not None and len(cases) > limit:
        # Evenly over the file: release files are sorted by disease in places.
        cases = [cases[number * len(cases) // limit] for number in range(limit)]
    shelf = Bookshelf(profiles)
    shelf.check(cases)
    ways = asyncio.run(_play_all(cases, examiner, shelf, seed, max_turns))
    rows = [_row(way, tally, len(cases)) for way, tally in ways.items()]
    lost = (ways["concept ids"].top1 - ways["words"].top1) / len(cases)
    if as_json:
        say_json({"n": len(cases), "examiner": examiner, "ways": {way: vars(tally) for way, tally in ways.items()}, "cost_top1": lost})
        return 0
    table(f"{examiner} on {len(cases)} cases", ["", "top 1", "95 %", "top 5", "95 %", "questions"], rows)
    say(f"language understanding costs {lost * 100:.1f} points of top-1 accuracy")
    say("(examiner and patient share our lexicon: with words of others it costs more)")
    return 0


async def _play_all(cases: list[PatientVector], examiner: str, shelf: Bookshelf, seed: int, max_turns: int) -> dict[str, Tally]:
    factory = ExaminerFactory(shelf)
    words, ids = Tally(), Tally()
    vocabulary = default_vocabulary()
    for case in cases:
        bed = make_bed(
            case, factory.make(ExaminerSpec(examiner), case), default_ward(), shelf.profiles(case), Budget(max_turns=max_turns), seed
        )
        trace = await bed.run()
        _count(words, case, trace.outcome, sum(turn.role == "examiner" for turn in trace.turns) - 1)
        direct = play_direct(case, POLICIES[examiner](shelf.model(case)), vocabulary, max_turns)
        _count(ids, case, direct.answer, len(direct.asked))
    return {"words": words, "concept ids": ids}


def _count(tally: Tally, case: PatientVector, answer: FinalAnswer | None, questions: int) -> None:
    truth = normalise(", ".join(case.ground_truth.primary.icd10)).codes
    right = [is_same_or_descendant(normalise(item.icd10 or "").codes, truth) for item in (answer.ranked if answer else [])]
    tally.top1 += bool(right and right[0])
    tally.top5 += any(right[:5])
    tally.questions += questions


def _row(way: str, tally: Tally, n: int) -> list[str]:
    one, five = wilson(tally.top1, n), wilson(tally.top5, n)
    return [
        way,
        f"{tally.top1 / n:.3f}",
        f"{one.low:.3f}–{one.high:.3f}",
        f"{tally.top5 / n:.3f}",
        f"{five.low:.3f}–{five.high:.3f}",
        f"{tally.questions / n:.2f}",
    ]
