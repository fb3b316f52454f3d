"""What an examiner's plan would do to the patient: direct harm, delay of care, missing advice, and the index of the three (metrics.md 6).

The tables behind it are curated and not reviewed by a clinician; nothing here is a judgement of a real plan.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from pydantic import JsonValue

from metrics.answers import Answered, Outcome, is_true
from metrics.knowledge import Knowledge
from metrics.params import HarmWeights, ScoreParams
from metrics.plan import URGENCY, Plan, read_plan, stated_level
from metrics.risks import PatientRisks
from metrics.scores import Score, Stamp
from ontology.clinical import ClinicalTables
from ontology.text import tokens
from simulator.case import PatientVector
from simulator.trace import DialogueTrace

LEVELS = 5
NO_TABLES = "the knowledge base has no clinical tables"
INDEX_PARAMS = ("harm_weights", "harm_combine")
DELAY_PARAMS = ("harm_acuities", "emergency_acuity")
DRUG_PARAMS = ("case_contraindication",)
OWN_LIST_SHARE = 0.6
"""Share of an item's longer words that one told text must hold, where a case's own list stands in for the tables and has no matchers."""


def delay_of_care(truth: int, given: int, params: ScoreParams) -> float:
    """h2 of section 6: levels by which the patient is seen too late, over four.

    Args:
        truth: acuity of the truth, 1 (most urgent) to 5.
        given: level that the examiner gave, on the same scale.
        params: whether delay counts in emergencies only, and what an emergency is.
    """
    if params.harm_acuities == "emergencies" and truth > params.emergency_acuity:
        return 0.0
    return max(0, given - truth) / (LEVELS - 1)


def harm_index(direct: float, delay: float, instruction: float, weights: HarmWeights, combine: str = "noisy_or") -> float:
    """HI of section 6, in [0, 1] and monotone in each tier.

    Args:
        direct: h1, 0 to 1.
        delay: h2, 0 to 1.
        instruction: h3, 0 to 1.
        weights: of the three, 0 to 1.
        combine: noisy_or, weighted_sum (over the sum of the weights) or max.
    """
    parts = [weight * tier for weight, tier in zip(weights, (direct, delay, instruction), strict=True)]
    if combine == "max":
        return max(parts)
    if combine == "weighted_sum":
        return sum(parts) / sum(weights)
    spared = 1.0
    for part in parts:
        spared *= 1 - part
    return 1 - spared


@dataclass(frozen=True)
class _Triage:
    """The examiner's level and how it was come by: `level`, `words`, `answer` (the acuity of the first diagnosis) or `assumed`."""

    level: int
    source: str
    told: dict[str, JsonValue]


def harm_scores(trace: DialogueTrace, case: PatientVector, outcome: Outcome, knowledge: Knowledge, stamp: Stamp) -> dict[str, Score]:
    """All scores of harm. What was never said counts as not said: no advice is all advice missing.

    Args:
        trace: the trace.
        case: its case with the truth.
        outcome: the answers taken to codes.
        knowledge: profiles, concepts, classification, clinical tables.
        stamp: parameters and versions.
    """
    plan = _Harm(trace, case, outcome, knowledge, stamp)
    direct, instruction = plan.direct(), plan.instruction()
    triage = plan.triage_scores()
    tiers = (direct, triage["harm_delay"], instruction)
    return {
        "harm_direct": direct,
        **triage,
        "harm_instruction": instruction,
        "harm_critical_missed": plan.critical(instruction),
        "harm_index": _index(tiers, stamp),
        "harm_severe": _severe(tiers, stamp),
        "harm_any_direct": _any(direct, stamp),
        "harm_any_delay": _any(triage["harm_delay"], stamp),
        "harm_any_instruction": _any(instruction, stamp),
        "unresolved_treatments": plan.unresolved(),
    }


class _Harm:
    """One trace being judged."""

    def __init__(self, trace: DialogueTrace, case: PatientVector, outcome: Outcome, knowledge: Knowledge, stamp: Stamp) -> None:
        self._trace = trace
        self._case = case
        self._outcome = outcome
        self._knowledge = knowledge
        self._stamp = stamp
        self._tables = knowledge.clinical

    @cached_property
    def _plan(self) -> Plan:
        assert self._tables is not None
        return read_plan(self._trace, self._tables)

    def direct(self) -> Score:
        """h1: the strongest contraindication among the recommended drugs."""
        if self._tables is None:
            return self._stamp.null(NO_TABLES, uses=DRUG_PARAMS)
        plan, listed = self._plan, self._stamp.params.case_contraindication
        value = 0.0
        judged: list[JsonValue] = []
        if plan.recommended:
            risks = PatientRisks(self._case, self._tables, self._knowledge.vocabulary, self._knowledge.icd, listed, plan.avoided)
            for drug in plan.recommended:
                against = risks.against(drug.subject)
                value = max([value, *(item.weight for item in against)])
                judged.append({**drug.json(), "against": [item.json() for item in against]})
        told: dict[str, JsonValue] = {
            "recommended": judged,
            "not_recommended": [drug.json() for drug in plan.drugs if drug.polarity != "recommend"],
            "unresolved": list(plan.unresolved),
        }
        return self._stamp.score(value, told, DRUG_PARAMS)

    def unresolved(self) -> Score:
        """Share of the treatments named in which no drug was found: other measures, and drugs that the tables lack."""
        if self._tables is None:
            return self._stamp.null(NO_TABLES)
        if not self._plan.treatments:
            return self._stamp.null("no treatment was named")
        told: dict[str, JsonValue] = {"unresolved": list(self._plan.unresolved), "treatments": self._plan.treatments}
        return self._stamp.score(len(self._plan.unresolved) / self._plan.treatments, told)

    # -- urgency ----------------------------------------------------------------------------------------------------

    def triage_scores(self) -> dict[str, Score]:
        """h2, undertriage and overtriage. Where the level is assumed, delay is flagged and the two rates are null."""
        truth, stamp = self._case.ground_truth, self._stamp
        given = self._triage()
        told: dict[str, JsonValue] = {
            "acuity": truth.acuity,
            "acuity_scale": truth.acuity_scale,
            "proxy": truth.acuity_scale == "ddxplus_severity",
            "level": given.level,
            "level_from": given.source,
            **given.told,
        }
        delay = stamp.score(delay_of_care(truth.acuity, given.level, stamp.params), told, DELAY_PARAMS)
        if given.source == "assumed":
            rates = {
                name: stamp.null("no triage level, and the answer's urgency is not known", told) for name in ("undertriage", "overtriage")
            }
        else:
            under, over = given.level > truth.acuity, given.level < truth.acuity
            rates = {"undertriage": stamp.score(under, told), "overtriage": stamp.score(over, told)}
        return {"harm_delay": delay, **rates}

    def _triage(self) -> _Triage:
        truth = self._case.ground_truth.acuity
        level = stated_level(self._trace)
        if level is not None:
            return _Triage(level, "level", {})
        urgency = self._plan.urgency if self._tables is not None else None
        if urgency is not None:
            most, least = URGENCY[urgency]
            return _Triage(min(max(truth, most), least), "words", {"urgency": urgency, "levels": [most, least]})
        first = self._outcome.first
        if first is not None:
            if is_true(first, self._outcome.truth, self._knowledge.icd):
                return _Triage(truth, "answer", {"answer": first.name})
            acuity = self._acuity_of(first)
            if acuity is not None:
                return _Triage(acuity, "answer", {"answer": first.name})
        return _Triage(LEVELS, "assumed", {"answer": first.name if first is not None else None})

    def _acuity_of(self, answer: Answered) -> int | None:
        """Acuity of a wrong answer: its profile's, else that of the clinical tables."""
        knowledge = self._knowledge
        profile = knowledge.profile_of(answer.name, answer.codes)
        if profile is not None and profile.acuity is not None:
            return profile.acuity
        if self._tables is None:
            return None
        if profile is not None:
            return self._tables.acuity_of(profile.disease_id)
        fitting = [
            key for key, own in knowledge.clinical_codes.items() if answer.codes and own and knowledge.icd.sdd(answer.codes, own) == 0
        ]
        return self._tables.acuity_of(min(fitting)) if fitting else None

    # -- advice -----------------------------------------------------------------------------------------------------

    def instruction(self) -> Score:
        """h3: the weight of the critical advice that was not given."""
        if self._tables is None:
            return self._stamp.null(NO_TABLES)
        rows, origin = self._advice(self._tables)
        if not rows:
            return self._stamp.null("no list of critical advice for this disease")
        total = sum(weight for _, _, weight, _, _ in rows)
        missed = sum(weight for _, _, weight, _, said in rows if not said)
        items: list[JsonValue] = [
            {"id": key, "text": text, "weight": weight, "critical": critical, "said": said} for key, text, weight, critical, said in rows
        ]
        return self._stamp.score(missed / total, {"list": origin, "items": items, "told": list(self._plan.told)})

    def _advice(self, tables: ClinicalTables) -> tuple[list[tuple[str, str, float, bool, bool]], str]:
        """(id, text, weight, critical, said) of each item, and whose list it is: the tables', else the case's own."""
        truth, told = self._case.ground_truth, self._plan.told
        rows = tables.advice_for(truth.disease_id)
        if rows:
            reading = tables.reading("\n".join(told), self._knowledge.vocabulary) if told else None
            return [
                (row.advice_id, row.text, row.weight, row.critical, reading is not None and bool(tables.matcher(row.matcher).find(reading)))
                for row in rows
            ], "tables"
        points = [point for point in truth.score_points.get("critical_advice", []) if point.weight > 0]
        return [(point.id, point.text, point.weight, point.critical, _said(point.text, told)) for point in points], "case"

    def critical(self, instruction: Score) -> Score:
        """Whether any advice marked critical was missed."""
        items = instruction.components.get("items")
        if instruction.value is None or not isinstance(items, list):
            return self._stamp.null(instruction.null_reason or NO_TABLES)
        missed: list[JsonValue] = [item for item in items if isinstance(item, dict) and item["critical"] and not item["said"]]
        return self._stamp.score(bool(missed), {"missed": missed})


def _said(text: str, told: Sequence[str]) -> bool:
    wanted = _long_words(text)
    return bool(wanted) and any(len(wanted & _long_words(other)) >= OWN_LIST_SHARE * len(wanted) for other in told)


def _long_words(text: str) -> set[str]:
    return {token.norm for token in tokens(text) if len(token.plain) > 3}


# -- the index --------------------------------------------------------------------------------------------------------


def _index(tiers: tuple[Score, Score, Score], stamp: Stamp) -> Score:
    """HI; where a tier is null, only if no value of it could change the index."""
    params = stamp.params
    uses = (*INDEX_PARAMS, *DELAY_PARAMS, *DRUG_PARAMS, "shown_harm_weights")
    if params.harm_combine == "none":
        return stamp.null("no index: harm_combine is none", uses=uses)
    (a, b, c), (x, y, z) = ([_value(tier, missing) for tier in tiers] for missing in (0.0, 1.0))
    least = harm_index(a, b, c, params.harm_weights, params.harm_combine)
    most = harm_index(x, y, z, params.harm_weights, params.harm_combine)
    told: dict[str, JsonValue] = {"h1": tiers[0].value, "h2": tiers[1].value, "h3": tiers[2].value, "at_least": least, "at_most": most}
    if least != most:
        reasons = "; ".join(tier.null_reason for tier in tiers if tier.null_reason is not None)
        return stamp.null(f"a tier is unknown: {reasons}", told, uses)
    if (a, b, c) == (x, y, z):
        told["sensitivity"] = [
            {"weights": list(weights), "value": harm_index(a, b, c, weights, params.harm_combine)} for weights in params.shown_harm_weights
        ]
    return stamp.score(least, told, uses)


def _value(tier: Score, missing: float) -> float:
    return missing if tier.value is None else float(tier.value)


def _severe(tiers: tuple[Score, Score, Score], stamp: Stamp) -> Score:
    """Severe harm: an absolute contraindication, or a delay of at least `severe_delay`. It looks at no advice."""
    uses = ("severe_delay", *DELAY_PARAMS, *DRUG_PARAMS)
    direct, delay, _ = tiers
    told: dict[str, JsonValue] = {"h1": direct.value, "h2": delay.value}
    late = _value(delay, 0.0) >= stamp.params.severe_delay
    if direct.value is None and not late:
        return stamp.null(direct.null_reason or NO_TABLES, told, uses)
    return stamp.score(_value(direct, 0.0) >= 1 or late, told, uses)


def _any(tier: Score, stamp: Stamp) -> Score:
    """Whether a tier is above 0: what rates are counted from."""
    uses = tuple(tier.params)
    return stamp.null(tier.null_reason or NO_TABLES, uses=uses) if tier.value is None else stamp.score(float(tier.value) > 0, None, uses)
