"""The worst encounters with their transcripts, and the list of all encounters."""

from __future__ import annotations

from collections.abc import Sequence

from metrics.derivation import Derivation, derive
from metrics.params import ScoreParams
from metrics.scores import Score, Scorecard
from ui.explain import question_in_words, running_in_words, told
from ui.report.collect import Group
from ui.report.sections import table_html
from ui.scored import Scored
from ui.web.markup import esc
from ui.web.transcript import STATES, transcript_html
from ui.web.words import CELLS, RELATIONS, why_null

SPEAKERS = {"examiner": "Examiner", "patient": "Patient", "record": "Record"}
LISTED = 1000
"""Encounters in the list; a table file has them all."""
KEY_SCORES = ("harm_index", "sdd", "ses", "precision", "recall", "core_coverage", "premature_closure", "tig", "anchoring_bias", "questions")
COLUMNS = ("acc_truth", "relation", "sdd", "ses", "cell", "premature_closure", "harm_index", "questions")


def worst_section(group: Group, params: ScoreParams) -> str:
    """The encounters to look at, each folded, the first one open."""
    parts = [legend_html()]
    for number, scored in enumerate(group.worst_first()):
        parts.append(case_html(scored, params, opened=number == 0))
    return "".join(parts)


def case_html(scored: Scored, params: ScoreParams, opened: bool = False) -> str:
    """One encounter: what was answered, the scores that matter, and the transcript with what each question was worth."""
    card, truth, outcome = scored.card, scored.case.ground_truth.primary, scored.trace.outcome
    answer = outcome.ranked[0].name if outcome is not None else "no diagnosis"
    relation = RELATIONS.get(str(value(card, "relation")), "")
    found = derive(scored.trace, scored.case, scored.knowledge, card, params)
    below = {turn.idx: notes for turn in found.turns if (notes := _notes(found, turn.idx))}
    turns = transcript_html(scored.trace.turns, scored.knowledge.vocabulary.name, SPEAKERS, below)
    cell = value(card, "cell")
    verdict = CELLS[str(cell)][0] if cell in CELLS else why_null(card.scores.get("cell"))
    scores = "".join(
        f"<div><dt>{esc(name)}</dt><dd>{score_html(card.scores[name])}</dd></div>" for name in KEY_SCORES if name in card.scores
    )
    head = f"{card.examiner_id}: {answer} for {truth.name}"
    return (
        f'<details class="case-report"{" open" if opened else ""}><summary>{esc(head)} <span class="muted">{esc(verdict)}</span></summary>'
        f"<p>Truth: <b>{esc(truth.name)}</b> ({esc(', '.join(truth.icd10))}). Answered: <b>{esc(answer)}</b>"
        f"{f', {esc(relation)}' if relation else ''}. Ended: {esc(card.termination)}. "
        f'<span class="muted">{esc(card.trace_id)}, case {esc(card.case_id)}, seed {card.seed}</span></p>'
        f'<dl class="keys">{scores}</dl>{turns}</details>'
    )


def _notes(found: Derivation, idx: int) -> str:
    turn = next(item for item in found.turns if item.idx == idx)
    lines = [question_in_words(question) for question in turn.questions]
    lines += [running_in_words(turn.running)] if turn.running is not None else []
    lines += [f"{name}: {told({k: v for k, v in row.items() if k not in ('turn', 'top')})}" for name, row in turn.details]
    lines += ["commits to a diagnosis here"] if turn.commits else []
    return f'<ul class="derivation">{"".join(f"<li>{esc(line)}</li>" for line in lines)}</ul>' if lines else ""


def score_html(score: Score) -> str:
    """A score's value, or why there is none."""
    if score.value is None:
        return f'<span class="muted">none: {esc(score.null_reason)}</span>'
    return esc(plain(score.value))


def plain(value: object) -> str:
    """A value for a table."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:.3f}" if isinstance(value, float) else str(value)


def value(card: Scorecard, name: str) -> object:
    """A score's value; None if there is none."""
    score = card.scores.get(name)
    return None if score is None else score.value


def legend_html() -> str:
    """What the shapes in a transcript mean."""
    items = "".join(
        f'<li><span class="chip m-{state.key}"><span class="g" aria-hidden="true">{state.shape}</span> {state.word}</span></li>'
        for state in STATES.values()
    )
    return f'<ul class="legend">{items}</ul>'


def list_section(cards: Sequence[Scorecard]) -> str:
    """The encounters in a table."""
    names = [name for name in COLUMNS if any(name in card.scores for card in cards[:LISTED])]
    rows = [
        [
            f"<code>{esc(card.trace_id)}</code>",
            esc(card.examiner_id),
            f"<code>{esc(card.case_id)}</code>",
            esc(card.disease_id),
            *("–" if value(card, name) is None else esc(plain(value(card, name))) for name in names),
        ]
        for card in cards[:LISTED]
    ]
    more = f"; {len(cards) - LISTED} more are in the table that bedside score --table writes" if len(cards) > LISTED else ""
    table = table_html("Encounters", ["trace", "examiner", "case", "disease", *names], rows, 4)
    return f"<details><summary>{min(len(cards), LISTED)} encounters{more}</summary>{table}</details>"
