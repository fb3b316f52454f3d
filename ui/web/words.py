"""Scores and cases in a clinician's words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from metrics.scores import Score, Scorecard
from simulator.case import ExaminerView
from ui.web.markup import percent

ADULT = 18
TRIAGE = {
    1: "Immediate: life at risk within minutes to hours",
    2: "Very urgent: an emergency, same day",
    3: "Urgent: cannot wait long",
    4: "Less urgent: soon",
    5: "Non-urgent: routine",
}
ORDINALS = ("1st", "2nd", "3rd", "4th", "5th")

CELLS = {
    "reliable": ("Right, for good reasons", "The diagnosis is right, and the history you took supports it."),
    "lucky_guess": ("Right, but on thin ground", "The diagnosis is right, but what you asked would hardly have told it from others."),
    "reasoned_miss": ("Wrong, after a sound history", "You asked what matters in this disease, and concluded something else."),
    "unreasoned_miss": ("Wrong, on thin ground", "The diagnosis is wrong, and the history was too thin to find the right one."),
}
RELATIONS = {
    "exact": "the same diagnosis",
    "over_specified": "the right disease, more narrowly named",
    "under_specified": "the right direction, but less specific than the true diagnosis",
    "same_subcategory": "very close: a sibling of the true diagnosis in ICD-10",
    "same_category": "close: the same disease category in ICD-10",
    "same_block": "related: the same group of diseases in ICD-10",
    "same_chapter": "far off: only the same chapter of ICD-10",
    "different_chapter": "another kind of disease altogether",
    "unresolved": "not recognised as a diagnosis",
}
WEIGHTS = ((0.75, "in most patients"), (0.5, "in many patients"), (0.25, "in some patients"), (0.0, "in few patients"))
NULLS = {
    "no clinical question was asked": "You asked no clinical question.",
    "the relevance set is empty": "This disease has no findings listed here that a patient could be asked about.",
    "not applicable: no diagnosis was given": "No diagnosis was given.",
    "no core feature": "This disease has no core findings listed here.",
}


def case_label(view: ExaminerView) -> str:
    """A neutral title: who and where, never what."""
    grown = view.age >= ADULT
    person = {"F": "Woman" if grown else "Girl", "M": "Man" if grown else "Boy"}.get(view.sex, "Person" if grown else "Child")
    age = str(view.age) if view.age else "under 1"
    return f"{person}, {age}" + (f", {view.setting}" if view.setting else "")


def how_often(weight: float) -> str:
    """A feature's weight: how often it occurs with the disease (metrics.md 2.1)."""
    return next(word for bar, word in WEIGHTS if weight >= bar)


def value_of(card: Scorecard, name: str) -> Any:
    """A score's value; None if there is none."""
    score = card.scores.get(name)
    return None if score is None else score.value


def parts_of(card: Scorecard, name: str) -> Mapping[str, Any]:
    """A score's components; empty if there are none."""
    score = card.scores.get(name)
    return {} if score is None else score.components


def why_null(score: Score | None) -> str:
    """Why a score is missing."""
    reason = score.null_reason if score is not None else None
    if reason is None:
        return "Not scored."
    if reason.removeprefix("no SES: ").startswith("no profile of"):
        return "The knowledge base has no profile of this disease, so the history cannot be scored."
    return NULLS.get(reason.removeprefix("no SES: "), f"Not scored: {reason}.")


def verdict(card: Scorecard) -> tuple[str, str]:
    """(a few words, a sentence) on the diagnosis."""
    if value_of(card, "acc_truth"):
        return "Right", "Your first diagnosis is right."
    ranked = parts_of(card, "top1").get("rank")
    close = RELATIONS.get(str(value_of(card, "relation")), "")
    if isinstance(ranked, int):
        place = ORDINALS[ranked - 1] if ranked <= len(ORDINALS) else f"{ranked}th"
        return f"{place} on your list", f"Your first diagnosis was {close}; the right one is {place} on your list."
    return "Not found", f"Your first diagnosis was {close}." if close else "The right diagnosis is not on your list."


def history(card: Scorecard) -> tuple[str, str]:
    """(points of 100, a sentence) on the questions."""
    score = card.scores.get("ses")
    if score is None or not isinstance(score.value, float):
        return "Not scored", why_null(score)
    asked, recall = value_of(card, "questions"), parts_of(card, "ses").get("recall", 0.0)
    if not asked:
        return "0 of 100", "You asked no clinical question."
    relevant = len(parts_of(card, "precision").get("relevant", []))
    return f"{round(score.value * 100)} of 100", (
        f"You covered {percent(recall)} of what is worth asking in this disease; "
        f"{relevant} of the {asked} {'thing' if asked == 1 else 'things'} you asked about "
        f"{'belongs' if relevant == 1 else 'belong'} to it."
    )


def reliable(card: Scorecard) -> tuple[str, str]:
    """(yes or no, a sentence): does the history carry the diagnosis?"""
    cell = value_of(card, "cell")
    if cell not in CELLS:
        return "Not scored", why_null(card.scores.get("cell"))
    return ("Yes" if cell == "reliable" else "No"), CELLS[cell][1]


def closure(card: Scorecard) -> tuple[str, str]:
    """(yes or no, a sentence): was the diagnosis committed too soon?"""
    score = card.scores.get("premature_closure")
    known = value_of(card, "core_coverage")
    if score is None or score.value is None or not isinstance(known, float):
        return "Not scored", why_null(score)
    bar = percent(float(score.components.get("theta", 0.5)))  # type: ignore[arg-type]
    told = f"{percent(known)} of the core history was known when you committed; less than {bar} counts as early"
    if card.forced_commit:
        return "No", f"{told}, but here the turns had run out."
    return ("Yes" if score.value else "No"), f"{told}."


def conduct(card: Scorecard) -> list[str]:
    """Remarks on how the questions were put; empty if there is nothing to say."""
    found = []
    repeats = parts_of(card, "redundancy").get("repeats", [])
    if repeats:
        names = ", ".join(str(item["name"]) for item in repeats)
        found.append(f"Asked again although already answered: {names}.")
    unanswered = parts_of(card, "precision").get("unanswered", [])
    if unanswered:
        names = ", ".join(str(item["name"]) for item in unanswered)
        found.append(f"Asked, but left unanswered because too much was asked at once: {names}.")
    leading = parts_of(card, "questions").get("leading", [])
    if leading:
        names = ", ".join(str(item["name"]) for item in leading)
        found.append(f"Stated to the patient rather than asked: {names}.")
    return found
