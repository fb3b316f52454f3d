"""What a report needs of a run, gathered in one pass: lean cards, a few series, what the patient did, and the worst encounters."""

from __future__ import annotations

import heapq
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from metrics.scores import Scorecard
from simulator.case import PatientVector
from simulator.trace import DialogueTrace
from ui.scored import LeanCards, Scored, ScoredRun

AGREES = {"affirmed": "present", "denied": "absent", "unsure": "unknown"}
"""What a fact must say for an answer of the patient to be true to it."""


@dataclass
class Fidelity:
    """What one kind of patient did, counted over its encounters."""

    encounters: int = 0
    asked: int = 0
    answered: int = 0
    capped_turns: int = 0
    from_fact: int = 0
    against_fact: int = 0
    without_fact: int = 0
    volunteered: int = 0
    volunteered_without_fact: int = 0
    utterances: int = 0
    patient_errors: int = 0
    leaks: Counter[str] = field(default_factory=Counter)
    notes: Counter[str] = field(default_factory=Counter)

    def add(self, trace: DialogueTrace, case: PatientVector) -> None:
        """Count an encounter."""
        facts = {fact.fact_id: fact for fact in case.patient_facts.facts}
        self.encounters += 1
        self.patient_errors += trace.termination == "patient_error"
        self.leaks.update(leak.leak_class for leak in trace.leaks)
        asked: set[str] = set()
        answered: set[str] = set()
        for turn in trace.turns:
            if turn.role == "examiner":
                asked |= {mention.mention_id for mention in turn.mentions if mention.dialogue_role == "asked"}
                continue
            self.capped_turns += turn.truncated_answer
            self.notes.update(note.code for note in turn.notes)
            for mention in turn.mentions:
                fact = facts.get(mention.fact_id or "")
                self.utterances += mention.utt_id is not None
                if mention.dialogue_role == "volunteered":
                    self.volunteered += 1
                    self.volunteered_without_fact += fact is None
                elif mention.dialogue_role in AGREES:
                    answered.add(mention.links_to or "")
                    if fact is None:
                        self.without_fact += 1
                    elif fact.attribute is None:
                        self.from_fact += 1
                        self.against_fact += fact.status != AGREES[mention.dialogue_role]
        self.asked += len(asked)
        self.answered += len(asked & answered)


@dataclass(frozen=True)
class Encounter:
    """What charts need of one encounter beside its scores."""

    examiner_id: str
    confidence: float | None
    correct: bool | None
    curve: tuple[tuple[float, bool], ...]
    belief: tuple[float, ...]
    anchor: tuple[float | None, ...]


@dataclass
class Group:
    """The encounters that were scored by one knowledge base."""

    version: str
    profile_set: str
    cards: list[Scorecard] = field(default_factory=list)
    encounters: list[Encounter] = field(default_factory=list)
    fidelity: dict[str, Fidelity] = field(default_factory=lambda: defaultdict(Fidelity))
    worst: dict[str, list[tuple[tuple[float, ...], str, Scored]]] = field(default_factory=lambda: defaultdict(list))

    def examiners(self) -> list[str]:
        """Ids of the examiners, in order."""
        return sorted({card.examiner_id for card in self.cards})

    def worst_first(self) -> list[Scored]:
        """The encounters to look at, the worst first."""
        every = [item for items in self.worst.values() for item in items]
        return [scored for _, _, scored in sorted(every, key=lambda item: (tuple(-part for part in item[0]), item[1]))]


def collect(run: ScoredRun, worst: int) -> list[Group]:
    """Score a run and gather what its report shows.

    Args:
        run: the run.
        worst: how many of each examiner's worst encounters to keep whole.

    Raises:
        BedsideError: nothing in it can be scored.
    """
    keeper = LeanCards()
    groups: dict[str, Group] = {}
    for scored in run:
        version = scored.card.kb_version
        group = groups.setdefault(version, Group(version, scored.knowledge.profiles.header.profile_set))
        group.cards.append(keeper.lean(scored.card))
        group.encounters.append(_encounter(scored))
        group.fidelity[f"{scored.trace.patient.id} ({scored.trace.patient.kind})"].add(scored.trace, scored.case)
        if worst and any(score.value is not None for score in scored.card.scores.values()):
            heap = group.worst[scored.card.examiner_id]
            item = (badness(scored.card), scored.card.trace_id, scored)
            if len(heap) < worst:
                heapq.heappush(heap, item)
            elif item[:2] > heap[0][:2]:
                heapq.heapreplace(heap, item)
    return sorted(groups.values(), key=lambda group: group.profile_set)


def badness(card: Scorecard) -> tuple[float, ...]:
    """What makes an encounter worth looking at: harm first, then a wrong answer, its distance, and a thin history."""
    return (
        number(card, "harm_index", 0.0),
        1.0 - number(card, "acc_truth", 1.0),
        number(card, "sdd", 0.0),
        1.0 - number(card, "ses", 1.0),
    )


def number(card: Scorecard, name: str, otherwise: float) -> float:
    """A score as a number; what to take where there is none."""
    score = card.scores.get(name)
    return otherwise if score is None or score.value is None or isinstance(score.value, str) else float(score.value)


def _encounter(scored: Scored) -> Encounter:
    card, outcome = scored.card, scored.trace.outcome
    right = card.scores["acc_truth"].value if "acc_truth" in card.scores else None
    correct = right if isinstance(right, bool) else None
    belief = _series(_rows(card, "tig", "questions"), "belief_in_truth")
    opening = _parts(card, "tig").get("belief_in_truth_at_opening")
    before = [float(opening)] if isinstance(opening, int | float) else []
    return Encounter(
        examiner_id=card.examiner_id,
        confidence=outcome.confidence if outcome is not None and correct is not None else None,
        correct=correct,
        curve=_curve(card),
        belief=tuple([*before, *(value for value in belief if value is not None)]),
        anchor=tuple(_series(_rows(card, "anchoring_index", "by_question"), "share_of_anchor")),
    )


def _parts(card: Scorecard, name: str) -> dict[str, Any]:
    score = card.scores.get(name)
    return {} if score is None else dict(score.components)


def _rows(card: Scorecard, name: str, part: str) -> list[dict[str, Any]]:
    rows = _parts(card, name).get(part)
    return [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []


def _series(rows: Sequence[dict[str, Any]], name: str) -> list[float | None]:
    values = [row.get(name) for row in rows]
    return [float(value) if isinstance(value, int | float) else None for value in values]


def _curve(card: Scorecard) -> tuple[tuple[float, bool], ...]:
    points = _parts(card, "reliability_curve").get("curve")
    if not isinstance(points, list):
        return ()
    return tuple((float(point[0]), bool(point[1])) for point in points)


def mean_by_place(series: Iterable[Sequence[float | None]]) -> list[tuple[int, float, int]]:
    """(place, mean, n) over series of unequal length: at each place, the mean of those that reach it."""
    columns: dict[int, list[float]] = defaultdict(list)
    for values in series:
        for place, value in enumerate(values):
            if value is not None:
                columns[place].append(value)
    return [(place, sum(found) / len(found), len(found)) for place, found in sorted(columns.items())]
