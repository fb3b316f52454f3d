"""`bedside vocab diff`: what another vocabulary would change in concepts, stored cases and scores."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from metrics.knowledge import Knowledge
from metrics.scorecard import score_trace
from ontology.errors import BedsideError
from ontology.vocab.diff import Change, VocabularyDiff, compare, vocabulary_then
from ontology.vocabulary import Vocabulary
from simulator.case import PatientVector
from simulator.trace import DialogueTrace
from simulator.traces_io import read_traces
from ui.console import note, say, say_json, table
from ui.wiring import Bookshelf, bundled_cases, load_cases


@dataclass(frozen=True)
class Effect:
    """What would change in a stored case or in the scores of a stored trace."""

    id: str
    changes: tuple[Change, ...]


def case_effects(cases: Iterable[PatientVector], old: Vocabulary, new: Vocabulary) -> Iterator[Effect]:
    """Cases whose facts would mean something else, or whose opening words would be read otherwise."""
    for case in cases:
        changes = []
        for fact in case.patient_facts.facts:
            then, now = old.canonical(fact.concept.cui), new.canonical(fact.concept.cui)
            if then != now:
                changes.append(Change(f"fact {fact.fact_id}", then, now))
            elif old.ancestors(then) != new.ancestors(now):
                changes.append(Change(f"is-a of {then}", " ".join(sorted(old.ancestors(then))), " ".join(sorted(new.ancestors(now)))))
        read, read_now = _read(case.presentation.opening_text, old), _read(case.presentation.opening_text, new)
        if read != read_now:
            changes.append(Change("opening words", read, read_now))
        if changes:
            yield Effect(case.case_id, tuple(changes))


def _read(text: str, vocabulary: Vocabulary) -> str:
    return " ".join(match.concept for match in vocabulary.find(text))


def score_effects(
    traces: Iterable[DialogueTrace], cases: dict[str, PatientVector], shelf: Bookshelf, old: Vocabulary, new: Vocabulary
) -> Iterator[Effect]:
    """Traces of which a score would change, or a turn would be read otherwise.

    Scores are of the mentions that the trace holds; turns that would be read otherwise matter to encounters that are yet to be played.

    Raises:
        BedsideError: a trace's case is not among the cases, or cannot be scored.
    """
    for trace in traces:
        case = cases.get(trace.case_id)
        if case is None:
            raise BedsideError(f"the case {trace.case_id} of a trace is not among the cases", "--cases", "give the cases of that run")
        profiles = shelf.profiles(case)
        before = score_trace(trace, case, Knowledge.of(profiles, old)).scores
        after = score_trace(trace, case, Knowledge.of(profiles, new)).scores
        changes = [
            Change(name, str(before[name].value), str(after[name].value)) for name in before if before[name].value != after[name].value
        ]
        for turn in trace.turns:
            read, read_now = _read(turn.text, old), _read(turn.text, new)
            if read != read_now:
                changes.append(Change(f"turn {turn.idx}", read, read_now))
        if changes:
            yield Effect(trace.trace_id, tuple(changes))


def show_diff(old_spec: str, new_spec: str, cases_spec: str | None, traces: Path | None, profiles: str, limit: int, as_json: bool) -> int:
    """Compare two vocabularies; see `bedside vocab diff --help`. The exit code is 1 if they differ, 0 if not."""
    old, new = vocabulary_then(old_spec), vocabulary_then(new_spec)
    diff = compare(old, new)
    cases = load_cases(cases_spec) if cases_spec else []
    of_cases = list(case_effects(cases, old, new))
    of_scores: list[Effect] = []
    if traces is not None:
        known = {case.case_id: case for case in (*bundled_cases(), *cases)}
        reader = read_traces(traces)
        of_scores = list(score_effects(reader, known, Bookshelf(profiles), old, new))
        for line in reader.warnings:
            note(line)
    if as_json:
        say_json({**asdict(diff), "cases": [asdict(e) for e in of_cases], "traces": [asdict(e) for e in of_scores]})
    else:
        _show(diff, limit)
        _show_effects("cases that would change", of_cases, limit)
        _show_effects("traces that would change", of_scores, limit)
        if cases_spec and not of_cases:
            say("no case would change")
        if traces is not None and not of_scores:
            say("no score would change")
    return 0 if diff.empty else 1


def _show(diff: VocabularyDiff, limit: int) -> None:
    say(f"{diff.old_version} → {diff.new_version}")
    if diff.empty:
        say("no difference")
        return
    for title, changes in (
        ("concepts added", diff.added),
        ("concepts removed", diff.removed),
        ("ids that mean another concept", diff.moved),
        ("concepts renamed", diff.renamed),
        ("other broader concepts", diff.links_changed),
        ("phrases that mean another concept", diff.phrases_moved),
    ):
        if changes:
            rows = [[change.what, change.before, change.after] for change in changes[:limit]]
            say(f"{title}: {len(changes):,}" + (f", {limit} shown" if len(changes) > limit else ""))
            table("", ["", "before", "after"], rows, 3)
    say(f"phrases: {diff.phrases_added:,} added, {diff.phrases_removed:,} removed")


def _show_effects(title: str, effects: list[Effect], limit: int) -> None:
    if effects:
        rows = [[effect.id, change.what, change.before, change.after] for effect in effects[:limit] for change in effect.changes[:limit]]
        say(f"{title}: {len(effects):,}")
        table("", ["", "what", "before", "after"], rows, numeric_from=4)
