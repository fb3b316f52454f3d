"""Against the findings this patient has, not those of the disease in general: PSR, PSP, PAR, PAP, PER, PEP (metrics.md 4.1 and 4.3)."""

from __future__ import annotations

from pydantic import JsonValue

from metrics.basis import Basis
from metrics.crediting import ANTECEDENT_KINDS, CREDIT_PARAMS, SYMPTOM_KINDS, Relevant, asked_pairs, cover, named
from metrics.order import NO_FINDING, elicitable
from metrics.scores import Score
from metrics.shares import f_beta

EVERY: frozenset[str] = frozenset()
PARTS: tuple[tuple[str, str, frozenset[str]], ...] = (
    ("ps", "symptom", SYMPTOM_KINDS),
    ("pa", "antecedent", ANTECEDENT_KINDS),
    ("pe", "finding", EVERY),
)
"""Prefix of the scores (DDXPlus' names), what they are of, and the kinds; none: all."""


def case_scores(here: Basis) -> dict[str, Score]:
    """Recall, precision and F1 of the questions against the patient's own findings, unweighted; for symptoms, antecedents and all.

    Precision counts every clinical concept asked of the kind, unanswered ones included, as effort precision does.
    """
    concepts, stamp = here.concepts, here.stamp
    findings = elicitable(here.case, here.interview.chief_complaint, concepts)
    scores: dict[str, Score] = {}
    for prefix, what, kinds in PARTS:
        names = (f"{prefix}r", f"{prefix}p", f"{prefix}f1")
        own = tuple(
            Relevant(concept, concepts.name(concept), concepts.kind(concept), 1.0)
            for concept in findings
            if not kinds or concepts.kind(concept) in kinds
        )
        if not own:
            reason = NO_FINDING if not findings else f"the case has no {what} to elicit beyond the chief complaint"
            scores |= {name: stamp.null(reason, uses=CREDIT_PARAMS) for name in names}
            continue
        events = [event for event in here.interview.events if not kinds or concepts.kind(event.concept) in kinds]
        coverage = cover(asked_pairs(events), own, here.crediting)
        recall, precision = coverage.recall(weighted=False), coverage.precision()
        told: dict[str, JsonValue] = {
            "found": named((c for c, (value, _) in coverage.covered.items() if value > 0), concepts),
            "missed": named((c for c, (value, _) in coverage.covered.items() if value == 0), concepts),
            "asked": len(coverage.matched),
        }
        values = (recall, precision, f_beta(precision, recall))
        scores |= {name: stamp.score(value, told, CREDIT_PARAMS) for name, value in zip(names, values, strict=True)}
    return scores
