"""What an examiner answered, taken to codes: by code, by name, or by concept (metrics.md 3.1 and 3.2)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from pydantic import JsonValue

from metrics.knowledge import Icd, Knowledge
from ontology.errors import BedsideError
from ontology.icd10 import Resolution
from simulator.case import Diagnosis, PatientVector
from simulator.trace import DialogueTrace, RankedDiagnosis


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
    cui: str | None = None

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
            "concept": self.cui,
        }


@dataclass(frozen=True)
class Outcome:
    """The truth's codes and the ranked answers, equal ones merged; no answer: exhausted."""

    truth: tuple[str, ...]
    secondary: tuple[tuple[str, tuple[str, ...]], ...]
    answers: tuple[Answered, ...]
    cui: str | None = None

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
    cui = None if truth.primary.cui is None else knowledge.vocabulary.canonical(truth.primary.cui)
    codes = truth_codes(truth.primary, knowledge.icd)
    answers = [_with_concept(resolve_answer(item, known, knowledge.icd), knowledge, cui, codes) for item in ranked]
    if not codes:
        raise BedsideError(f"the true diagnosis has no readable ICD-10 code in {truth.primary.icd10}", case.case_id)
    secondary = tuple((other.name, truth_codes(other, knowledge.icd)) for other in truth.secondary)
    return Outcome(codes, secondary, merged(answers, knowledge.icd), cui)


def _with_concept(answer: Answered, knowledge: Knowledge, cui: str | None, truth: tuple[str, ...]) -> Answered:
    """The answer with the concept its name means; one without a code that means the truth's own concept gets the truth's codes."""
    entry = knowledge.vocabulary.lookup(answer.name)
    if entry is None or entry.alternatives or "name_disagrees" in answer.flags:
        return answer
    concept = knowledge.vocabulary.canonical(entry.concept)
    if not answer.codes and cui is not None and concept == cui:
        return replace(answer, cui=concept, codes=truth, route="name:concept", steps=(*answer.steps, f"{answer.name!r} means {concept}"))
    return replace(answer, cui=concept)


def is_true(answer: Answered, truth: Sequence[str], icd: Icd) -> bool:
    """Whether an answer's code is a code of the truth or below it."""
    return bool(answer.codes) and icd.is_same_or_descendant(answer.codes, truth)


def is_primary(answer: Answered, outcome: Outcome, icd: Icd) -> bool:
    """acc_truth of 3.1: the true diagnosis or something below it by code, or the same concept."""
    return is_true(answer, outcome.truth, icd) or (answer.cui is not None and answer.cui == outcome.cui)


def truth_codes(diagnosis: Diagnosis, icd: Icd) -> tuple[str, ...]:
    """The codes of a true diagnosis in normal form."""
    return icd.normalise(", ".join(diagnosis.icd10)).codes


def synonyms(case: PatientVector, knowledge: Knowledge) -> dict[str, str]:
    """Names that stand for codes: those of the profile set, and over them those of the case's truth and differential."""
    truth = case.ground_truth
    listed = [*(item.dx for item in truth.differential), *truth.secondary, truth.primary]
    of_case = [((dx.name, *dx.aliases), dx.icd10) for dx in listed]
    fold = knowledge.icd.fold_name
    named = {fold(name): ", ".join(codes) for names, codes in of_case if codes for name in names if fold(name)}
    return {**knowledge.profile_synonyms, **named}


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
        found[key] = replace(first, prob=prob, flags=flags)
    return tuple(found.values())
