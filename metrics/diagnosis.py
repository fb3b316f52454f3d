"""Was the diagnosis right, and if not, how far off (metrics.md 3)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from pydantic import JsonValue

from metrics.knowledge import Icd, Knowledge
from metrics.scores import Score, Stamp
from ontology.errors import BedsideError
from ontology.icd10 import Comparison, Resolution
from simulator.case import Diagnosis, PatientVector
from simulator.trace import DialogueTrace, RankedDiagnosis

EXHAUSTED = "no diagnosis was given"
LEVELS: tuple[tuple[str, Literal["category", "block", "chapter"]], ...] = (
    ("acc_cat3", "category"),
    ("acc_block", "block"),
    ("acc_chapter", "chapter"),
)
DISTANCES = ("sdd", "sdd_sym", "sdd_jaccard", "sdd_ic", "sdd_directional")
FAR = ("unresolved_distance",)


@dataclass(frozen=True)
class Answered:
    """One answer of the ranked list, taken to codes.

    `route` says by what: `code` or `name`, then how it was read. No codes: unresolved. `flags` holds what a reader should know:
    several_codes (only the first counts), name_disagrees (its name reads as another code, which is not counted), code_unreadable,
    manifestation_only, duplicate_merged.
    """

    name: str
    given: str | None
    prob: float | None
    codes: tuple[str, ...]
    route: str
    steps: tuple[str, ...]
    flags: tuple[str, ...]

    def json(self) -> dict[str, JsonValue]:
        """For the components of scores."""
        return {
            "name": self.name,
            "given_code": self.given,
            "prob": self.prob,
            "codes": list(self.codes),
            "route": self.route,
            "steps": list(self.steps),
            "flags": list(self.flags),
        }


@dataclass(frozen=True)
class Outcome:
    """The truth's codes and the ranked answers, equal ones merged; no answer: exhausted."""

    truth: tuple[str, ...]
    secondary: tuple[tuple[str, tuple[str, ...]], ...]
    answers: tuple[Answered, ...]

    @property
    def first(self) -> Answered | None:
        """The first answer."""
        return self.answers[0] if self.answers else None


def read_outcome(trace: DialogueTrace, case: PatientVector, knowledge: Knowledge) -> Outcome:
    """Take the truth and all answers to codes.

    Raises:
        BedsideError: none of the truth's codes is an ICD-10 code.
    """
    truth = case.ground_truth
    known = synonyms(case, knowledge)
    ranked = trace.outcome.ranked if trace.outcome is not None else []
    answers = [resolve_answer(item, known, knowledge.icd) for item in ranked]
    codes = truth_codes(truth.primary, knowledge.icd)
    if not codes:
        raise BedsideError(f"the true diagnosis has no readable ICD-10 code in {truth.primary.icd10}", case.case_id)
    secondary = tuple((other.name, truth_codes(other, knowledge.icd)) for other in truth.secondary)
    return Outcome(codes, secondary, merged(answers, knowledge.icd))


def truth_codes(diagnosis: Diagnosis, icd: Icd) -> tuple[str, ...]:
    """The codes of a true diagnosis in normal form."""
    return icd.normalise(", ".join(diagnosis.icd10)).codes


def synonyms(case: PatientVector, knowledge: Knowledge) -> dict[str, str]:
    """Names that stand for codes: those of the profile set, and over them those of the case's truth and differential."""
    truth = case.ground_truth
    profiles = [((profile.name,), profile.icd10) for profile in knowledge.profiles.profiles.values()]
    listed = [*(item.dx for item in truth.differential), *truth.secondary, truth.primary]
    of_case = [((dx.name, *dx.aliases), dx.icd10) for dx in listed]
    fold = knowledge.icd.fold_name
    return {fold(name): ", ".join(codes) for names, codes in [*profiles, *of_case] if codes for name in names if fold(name)}


def resolve_answer(item: RankedDiagnosis, known: Mapping[str, str], icd: Icd) -> Answered:
    """Take one answer to codes: by its code if that can be read, else by its name (3.2).

    Args:
        item: the answer as the examiner gave it.
        known: names with their codes, see `synonyms`.
        icd: the classification.
    """
    by_name = icd.resolve(item.name, known)
    by_code = icd.resolve(item.icd10, known) if item.icd10 and item.icd10.strip() else None
    flags: list[str] = []
    if by_code is not None and by_code.codes:
        source, found = "code", by_code
        if by_name.codes and not _agree(by_name.codes, by_code.codes, icd):
            flags.append("name_disagrees")
    else:
        source, found = "name", by_name
        if by_code is not None:
            flags.append("code_unreadable")
    of_ours = by_name.method == "synonym" and set(by_name.codes) == set(found.codes)
    codes = found.codes if of_ours else _one_diagnosis(found, icd)
    if codes != found.codes:
        flags.append("several_codes")
    if found.manifestation_only:
        flags.append("manifestation_only")
    return Answered(item.name, item.icd10, item.prob, codes, f"{source}:{found.method}", found.steps, tuple(flags))


def _agree(one: Sequence[str], other: Sequence[str], icd: Icd) -> bool:
    """Whether one is the other or a kind of it."""
    return icd.is_same_or_descendant(one, other) or icd.is_same_or_descendant(other, one)


def _one_diagnosis(found: Resolution, icd: Icd) -> tuple[str, ...]:
    """The codes that may stand for one answer: an etiology with its manifestations.

    A list of unrelated codes in one answer would be a hedge, since the nearest would count (3.2 rule 8 is about pairs): only the first is
    kept. Lists that come from our own synonyms are the knowledge base's, and stay.
    """
    if found.method not in ("code", "embedded_code") or len(found.codes) < 2:
        return found.codes
    causes = [code for code in found.codes if not icd.is_manifestation(code)]
    return found.codes if len(causes) <= 1 else (causes[0],)


def merged(answers: Iterable[Answered], icd: Icd) -> tuple[Answered, ...]:
    """Answers without repetition (3.1).

    Of those with equal codes, or of unresolved ones with equal names, the first stays, with their probabilities summed.
    """
    found: dict[tuple[str, ...], Answered] = {}
    for answer in answers:
        key = tuple(sorted(answer.codes)) or ("", icd.fold_name(answer.name))
        first = found.get(key)
        if first is None:
            found[key] = answer
            continue
        probs = [p for p in (first.prob, answer.prob) if p is not None]
        flags = first.flags if "duplicate_merged" in first.flags else (*first.flags, "duplicate_merged")
        prob = sum(probs) if probs else None
        found[key] = Answered(first.name, first.given, prob, first.codes, first.route, first.steps, flags)
    return tuple(found.values())


# -- scores ---------------------------------------------------------------------------------------------------------


def diagnosis_scores(outcome: Outcome, knowledge: Knowledge, stamp: Stamp) -> dict[str, Score]:
    """All scores of the answer. Without one, accuracies are false and distances as far as can be."""
    return {
        **_accuracy_scores(outcome, knowledge.icd, stamp),
        **_rank_scores(outcome, knowledge.icd, stamp),
        **_distance_scores(outcome, knowledge.icd, stamp),
        **_secondary_scores(outcome, knowledge.icd, stamp),
    }


def is_true(answer: Answered, truth: Sequence[str], icd: Icd) -> bool:
    """acc_truth of 3.1: the truth or something below it."""
    return bool(answer.codes) and icd.is_same_or_descendant(answer.codes, truth)


def _told(outcome: Outcome, whole: bool = False) -> dict[str, JsonValue]:
    """Truth and first answer; `whole` adds how the answer became a code."""
    first = outcome.first
    answer: JsonValue = None
    if first is not None:
        answer = first.json() if whole else {"name": first.name, "codes": list(first.codes), "flags": list(first.flags)}
    return {"truth": list(outcome.truth), "answer": answer, "exhausted": first is None}


def _accuracy_scores(outcome: Outcome, icd: Icd, stamp: Stamp) -> dict[str, Score]:
    told, first = _told(outcome), outcome.first
    relation = icd.compare(first.codes, outcome.truth).relation if first else None
    scores = {
        "acc_exact": stamp.score(relation == "exact", told),
        "acc_truth": stamp.score(first is not None and is_true(first, outcome.truth, icd), _told(outcome, whole=True)),
        "relation": stamp.null(EXHAUSTED, told) if relation is None else stamp.score(relation, told),
        "unresolved": stamp.null(EXHAUSTED, told) if first is None else stamp.score(not first.codes, told),
    }
    for name, level in LEVELS:
        scores[name] = stamp.score(first is not None and icd.same_at(level, first.codes, outcome.truth), told)
    return scores


def _rank_scores(outcome: Outcome, icd: Icd, stamp: Stamp) -> dict[str, Score]:
    hits = [rank for rank, answer in enumerate(outcome.answers, start=1) if is_true(answer, outcome.truth, icd)]
    told: dict[str, JsonValue] = {
        "rank": hits[0] if hits else None,
        "answers": [{"name": answer.name, "codes": list(answer.codes), "prob": answer.prob} for answer in outcome.answers],
        "truth": list(outcome.truth),
        "exhausted": not outcome.answers,
    }
    found = {k: bool(hits) and hits[0] <= k for k in stamp.params.top_k}
    scores = {f"top{k}": stamp.score(hit, told, ("top_k",)) for k, hit in found.items()}
    shares: dict[str, JsonValue] = {f"top{k}": hit for k, hit in found.items()}
    scores["challenge"] = stamp.score(sum(found.values()) / len(found), shares, ("top_k",))
    return scores


def _distance_scores(outcome: Outcome, icd: Icd, stamp: Stamp) -> dict[str, Score]:
    told, first = _told(outcome), outcome.first
    far = stamp.params.unresolved_distance
    between = icd.compare(first.codes, outcome.truth) if first and first.codes else None
    told |= _between(between)
    scores = {}
    for name in DISTANCES:
        scores[name] = stamp.score(far if between is None else float(getattr(between, name)), told, FAR)
    if between is None:
        reason = EXHAUSTED if first is None else "the answer has no ICD-10 code"
        scores["sdd_resolved"] = stamp.null(reason, told)
    else:
        scores["sdd_resolved"] = stamp.score(between.sdd, told)
    each = [icd.sdd(answer.codes, outcome.truth) if answer.codes else far for answer in outcome.answers]
    listed: list[JsonValue] = [
        {"name": answer.name, "codes": list(answer.codes), "prob": answer.prob, "sdd": value}
        for answer, value in zip(outcome.answers, each, strict=True)
    ]
    ranks: dict[str, JsonValue] = {"answers": listed, "truth": list(outcome.truth), "exhausted": first is None}
    for k in stamp.params.top_k:
        if k > 1:
            scores[f"sdd_best_of_{k}"] = stamp.score(min(each[:k], default=far), ranks, ("top_k", *FAR))
    scores["sdd_expected"] = _expected(outcome, each, ranks, stamp)
    return scores


def _between(between: Comparison | None) -> dict[str, JsonValue]:
    """Where prediction and truth part, for the reader."""
    if between is None or between.pair is None or between.overlap is None:
        return {"relation": "unresolved"}
    shared, extra, missed = between.overlap
    return {
        "relation": between.relation,
        "nearest_pair": list(between.pair),
        "shared_levels": shared,
        "levels_beyond": extra,
        "levels_missed": missed,
    }


def _expected(outcome: Outcome, each: Sequence[float], ranks: dict[str, JsonValue], stamp: Stamp) -> Score:
    """Expected distance under the stated probabilities; what they leave over counts as farthest, more than 1 is scaled down (3.3)."""
    far = stamp.params.unresolved_distance
    if not outcome.answers:
        return stamp.score(far, ranks, FAR)
    probs = [answer.prob for answer in outcome.answers]
    if all(prob is None for prob in probs):
        return stamp.null("no probabilities were given", ranks, FAR)
    mass = sum(prob or 0.0 for prob in probs)
    scale = 1 / mass if mass > 1 else 1.0
    value = sum((prob or 0.0) * scale * distance for prob, distance in zip(probs, each, strict=True))
    left = max(0.0, 1.0 - mass)
    return stamp.score(value + left * far, {**ranks, "mass": mass, "scaled": mass > 1}, FAR)


def _secondary_scores(outcome: Outcome, icd: Icd, stamp: Stamp) -> dict[str, Score]:
    """The case's other diagnoses: a hit is consistent, never primary; the distance carries a penalty (3.1, 3.3)."""
    told, first = _told(outcome), outcome.first
    far, penalty = stamp.params.unresolved_distance, stamp.params.lambda_sec
    uses = ("lambda_sec", *FAR)
    others = [(name, codes) for name, codes in outcome.secondary if codes]
    told |= {"secondary": [{"name": name, "codes": list(codes)} for name, codes in others]}
    if first is None or not first.codes:
        case_score = stamp.score(far, told, uses)
    else:
        value, via = icd.sdd(first.codes, outcome.truth), "primary"
        for name, codes in others:
            distance = penalty + (1 - penalty) * icd.sdd(first.codes, codes)
            if distance < value:
                value, via = distance, name
        case_score = stamp.score(value, {**told, "via": via}, uses)
    if not others:
        return {"sdd_case": case_score, "secondary_hit": stamp.null("the case has no secondary diagnosis", told)}
    hit = first is not None and any(is_true(first, codes, icd) for _, codes in others)
    return {"sdd_case": case_score, "secondary_hit": stamp.score(hit, told)}
