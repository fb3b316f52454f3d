"""`python -m tests.bench.reference_examiners FOLDER [CASES]`: the reference examiners on DDXPlus test patients (metrics.md 0b D3).

FOLDER holds the files of a DDXPlus release. Prints a table of means, and per score how many of the cases have a value.
"""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from metrics.knowledge import Knowledge
from metrics.scorecard import score_trace
from metrics.scores import Scorecard
from ontology.profiles import ProfileSet
from simulator.build import Ward, default_ward, make_bed
from simulator.case import PatientVector
from simulator.examiners.policies import KNOWING, POLICIES
from simulator.examiners.reference import ReferenceExaminer
from simulator.profile_builder import build_profiles
from simulator.sources.ddxplus import DdxplusImporter, ImportReport
from simulator.sources.ddxplus_files import patient_files, read_release, split_of
from simulator.sources.ddxplus_tables import ddxplus_tables
from simulator.trace import Budget

SEED = 1
CASES = 200
EXAMINERS = (*POLICIES, *KNOWING)
SHOWN = (
    "questions",
    "acc_truth",
    "tig_per_question",
    "tig",
    "precision",
    "recall",
    "ses",
    "ses_ddx",
    "ndcg",
    "s_dise",
    "reliability",
    "core_coverage",
    "premature_closure",
    "anchoring_bias",
    "question_efficiency",
    "brier",
    "ddf1",
)


def release(folder: Path, ward: Ward) -> dict[str, list[PatientVector]]:
    """The patients of a release by split."""
    importer = DdxplusImporter(read_release(folder), ddxplus_tables(), ward.pool, ward.vocabulary)
    report = ImportReport()
    return {split_of(path) or "": list(importer.cases(path, report)) for path in patient_files(folder)}


def evenly(cases: Sequence[PatientVector], count: int) -> list[PatientVector]:
    """So many cases, evenly over the file."""
    return [cases[number * len(cases) // count] for number in range(min(count, len(cases)))]


def cards(cases: Sequence[PatientVector], profiles: ProfileSet, ward: Ward, names: Sequence[str] = EXAMINERS) -> Iterator[Scorecard]:
    """Play every case with every examiner, and score it."""
    knowledge = Knowledge.of(profiles, ward.vocabulary)
    model = knowledge.beliefs
    ready = {name: ReferenceExaminer(POLICIES[name](model), ward.vocabulary) for name in names if name in POLICIES}
    knowing = {
        (name, d): ReferenceExaminer(KNOWING[name](model, d), ward.vocabulary) for name in names if name in KNOWING for d in model.diseases
    }
    for name in names:
        for case in cases:
            examiner = ready[name] if name in ready else knowing[name, case.ground_truth.disease_id]
            trace = asyncio.run(make_bed(case, examiner, ward, profiles, Budget(), SEED).run())
            yield score_trace(trace, case, knowledge)


def means(found: Sequence[Scorecard]) -> dict[str, dict[str, float | None]]:
    """Mean of every numeric score by examiner; null is left out."""
    table: dict[str, dict[str, float | None]] = {}
    for name in dict.fromkeys(card.examiner_id for card in found):
        own = [card for card in found if card.examiner_id == name]
        table[name] = {}
        for metric in own[0].scores:
            values = [float(v) for c in own if isinstance(v := c.scores[metric].value, bool | int | float)]
            table[name][metric] = sum(values) / len(values) if values else None
    return table


def coverage(found: Sequence[Scorecard]) -> dict[str, float]:
    """Share of the cards on which each score has a value."""
    return {metric: sum(card.scores[metric].value is not None for card in found) / len(found) for metric in found[0].scores}


def main() -> None:
    """Print both tables."""
    folder, count = Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else CASES
    ward = default_ward()
    splits = release(folder, ward)
    profiles = build_profiles([*splits["train"], *splits["validate"]], ward.vocabulary)
    chosen = evenly(splits["test"], count)
    began = time.process_time()
    found = list(cards(chosen, profiles, ward))
    print(f"{len(found)} encounters of {len(chosen)} cases, {time.process_time() - began:.0f} s of CPU")
    table = means(found)
    width = max(map(len, SHOWN))
    print(" " * width, *(f"{name:>13}" for name in table))
    for metric in SHOWN:
        cells = ("–" if row[metric] is None else f"{row[metric]:.3f}" for row in table.values())
        print(f"{metric:<{width}}", *(f"{cell:>13}" for cell in cells))
    print("\nShare of the cases with a value, all examiners | without hasty and silent")
    asking = coverage([card for card in found if card.examiner_id not in ("hasty", "silent")])
    for metric, share in coverage(found).items():
        print(f"{metric:<28} {share:6.1%} {asking[metric]:6.1%}")


if __name__ == "__main__":
    main()
