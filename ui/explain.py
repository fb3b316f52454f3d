"""`bedside score --explain`: how a dialogue's scores came about, turn by turn, in words."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from metrics.derivation import Derivation, QuestionStep, RunningScore, TurnStep, derive
from metrics.scores import Score
from simulator.trace import DialogueTrace
from ui.console import say, say_json
from ui.play import find_trace
from ui.scored import ScoredRun

SPEAKERS = {"examiner": "examiner", "patient": "patient", "record": "record"}
STANDINGS = {
    "repeat": "asked before and answered: a repeat, earns nothing, counts as redundancy",
    "chief_complaint": "a detail of the complaint: neither credited nor counted",
    "record": "a matter for the record, not for the patient: not counted",
    "demographic": "age and the like: not counted",
    "other_person": "about somebody else: not counted",
}
FORMULAS = {
    "acc_exact": "the first answer has the very code of the truth",
    "acc_truth": "the first answer is the truth or a kind of it",
    "sdd": "distance in ICD-10 between the first answer and the truth; 0 is right, 1 is nothing in common",
    "challenge": "mean of the hits at the ranks",
    "precision": "credit earned by the questions over the number of concepts asked, unanswered ones included",
    "precision_answered": "credit earned by the questions over the number of concepts that were answered",
    "recall": "covered weight of the disease's features over all their weight",
    "recall_unweighted": "covered features over all features",
    "ses": "harmonic mean of precision and recall (at beta 1)",
    "ndcg": "gains of the questions, later ones discounted, over those of the best order",
    "s_dise": "mean relevance of the ask turns, times how near their number is to that of the findings there were",
    "reliability": "right, and SES above tau",
    "reliability_graded": "SES if reliable, else 0",
    "reliability_curve": "share of the thresholds 0, 0.1 … 1 at which it would be reliable",
    "cell": "where answer and questioning meet",
    "core_coverage": "covered weight of the core features known at the commit, over all of it",
    "premature_closure": "committed before enough of the core was known, and not because the turns ran out",
    "closure_deficit": "how far core coverage stayed below theta, as a share of theta",
    "redundancy": "repeats over all questions",
}
HIDDEN = frozenset({"concept", "by", "for", "mention_id"})
"""Parts of a row that only a machine reads."""
NAMES_SHOWN = 12


def explain_trace(run: ScoredRun, wanted: str, as_json: bool) -> int:
    """Explain the scores of one trace of a run. Returns the exit code.

    Raises:
        BedsideError: there is no such trace, or it cannot be scored.
    """
    trace = find_trace(run.source, wanted, tolerant=True)
    derivation = derivation_of(run, trace)
    if as_json:
        say_json(asdict(derivation) | {"card": derivation.card.model_dump(mode="json")})
        return 0
    for line in in_words(derivation):
        say(line)
    return 0


def derivation_of(run: ScoredRun, trace: DialogueTrace) -> Derivation:
    """The derivation of a trace of a run."""
    case = run.case_of(trace)
    return derive(trace, case, run.knowledge(case), run.score(trace, run.params), run.params)


def in_words(found: Derivation) -> Iterator[str]:
    """The derivation, line by line."""
    card = found.card
    yield f"{card.trace_id}  examiner {card.examiner_id}  case {card.case_id}  disease {card.disease_id}  ended: {card.termination}"
    yield f"scorer {card.scorer_version}, knowledge {card.kb_version}, parameters {card.params_hash}, layer {card.layer}"
    if found.missing is not None:
        yield f"questions cannot be credited: {found.missing}"
    else:
        yield f"features of the disease that a patient can be asked for weigh {found.total_weight:g} together"
    for turn in found.turns:
        yield ""
        yield from turn_in_words(turn)
    yield ""
    yield "scores"
    before = None
    for name, score in card.scores.items():
        yield from score_in_words(name, score, before)
        before = score


def turn_in_words(turn: TurnStep) -> Iterator[str]:
    """A turn: what was said, what it was worth, and the scores so far."""
    yield f"{turn.idx:>3} {SPEAKERS[turn.role]}: {' '.join(turn.text.split())}"
    if turn.commits:
        yield "      commits to a diagnosis here"
    for question in turn.questions:
        yield "      " + question_in_words(question)
    for name, status, source in turn.learnt:
        yield f"      {name}: {status} ({source}); known, but not asked: earns no credit"
    if turn.running is not None:
        yield "      " + running_in_words(turn.running)
    for name, row in turn.details:
        yield f"      {name}: {told(row)}"


def question_in_words(question: QuestionStep) -> str:
    """What a question was worth."""
    detail = f", {question.attribute}" if question.attribute else ""
    head = f"asked {question.name}{detail}, {question.answer}:"
    if question.standing != "counted":
        return f"{head} {STANDINGS.get(question.standing, question.standing)}"
    if question.credit is None:
        return f"{head} counted, but there is nothing to credit it against"
    if question.credit == 0:
        why = "left unanswered" if question.answer == "unanswered" else "no feature of this disease"
        return f"{head} {why}; credit 0, it lowers precision"
    share = f"adds {question.recall or 0:.4f} to recall"
    via = "" if question.serves == question.name else f" through {question.serves}"
    gain = "" if question.gain is None else f"; gain {question.gain:g} in nDCG"
    return f"{head} credit {question.credit:g}{via}, a feature of weight {question.weight:g} ({share}){gain}"


def running_in_words(running: RunningScore) -> str:
    """The scores after a turn."""
    return f"so far: {running.asked} asked, precision {running.precision:.4f}, recall {running.recall:.4f}, SES {running.ses:.4f}"


def score_in_words(name: str, score: Score, before: Score | None = None) -> Iterator[str]:
    """A score, what it means, and what it was made of; what it shares with the score before it is not said twice."""
    meaning = f"  ({FORMULAS[name]})" if name in FORMULAS else ""
    if score.value is None:
        yield f"  {name}: none, because {score.null_reason}{meaning}"
    else:
        yield f"  {name} = {_short(score.value)}{meaning}"
    if score.components:
        same = before is not None and before.components == score.components
        yield "      from the same" if same else f"      from {told(score.components)}"
    if score.params:
        same = before is not None and before.params == score.params
        yield "      with the same parameters" if same else f"      with {told(score.params)}"


def told(parts: Any) -> str:
    """Components of a score as words."""
    if isinstance(parts, dict):
        if "name" in parts:
            rest = {key: value for key, value in parts.items() if key != "name" and key not in HIDDEN}
            return f"{parts['name']}" + (f" ({told(rest)})" if rest else "")
        shown = [f"{key.replace('_', ' ')} {told(value)}" for key, value in parts.items() if key not in HIDDEN]
        return ", ".join(shown) or "nothing"
    if isinstance(parts, list):
        if not parts:
            return "none"
        more = f"; and {len(parts) - NAMES_SHOWN} more" if len(parts) > NAMES_SHOWN else ""
        return "[" + "; ".join(told(item) for item in parts[:NAMES_SHOWN]) + more + "]"
    return _short(parts)


def _short(value: Any) -> str:
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:.4f}".rstrip("0").rstrip(".") if isinstance(value, float) else str(value)
