"""`bedside compare` and `bedside sensitivity`: two examiners on the same cases, and all of them under other parameters."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import JsonValue

from metrics.comparison import Comparison, Paired, Side, by_examiner, compare
from metrics.scores import Scorecard
from metrics.sensitivity import Sensitivity, Setting, sensitivity, variants
from metrics.strata import STRATA, strata_of
from ontology.errors import BedsideError
from ui.console import note, say, say_json, table
from ui.scored import LeanCards, open_run
from ui.scoring import EXIT_INCOMPLETE

TEST_NAMES = {"mcnemar_exact": "McNemar, exact", "sign_flip": "sign flip"}
SIGNIFICANT = 0.05
FEW_CASES = 20
PROGRESS_EVERY = 500


@dataclass(frozen=True)
class CompareOptions:
    """The options of `bedside compare`."""

    first: Path
    second: Path
    first_examiner: str | None = None
    second_examiner: str | None = None
    cases: str | None = None
    profiles: str = "auto"
    params: Path | None = None
    metrics: tuple[str, ...] = ()
    by: tuple[str, ...] = ()
    seed: int = 0
    everything: bool = False
    as_json: bool = False


def compare_runs(options: CompareOptions) -> int:
    """Compare; see `bedside compare --help`. Returns the exit code: 0, or 4 if traces were left out because they are wrong.

    Raises:
        BedsideError: a file that is missing or malformed, an examiner that is not there or not named, nothing to compare.
    """
    for name in options.by:
        if name not in STRATA:
            raise BedsideError(f"no stratum {name!r}", "--by", f"known: {', '.join(STRATA)}")
    runs = {path: _read(path, options) for path in dict.fromkeys((options.first, options.second))}
    first = _side(runs[options.first], options.first, options.first_examiner, "--examiner-a")
    second = _side(runs[options.second], options.second, options.second_examiner, "--examiner-b")
    wanted = options.by or STRATA
    strata = {case: {name: groups[name] for name in wanted} for run in runs.values() for case, groups in run.strata.items()}
    found = compare(first, second, strata, options.metrics or None, options.seed)
    if options.as_json:
        say_json(found.model_dump(mode="json"))
    else:
        show_comparison(found, options.everything)
    return EXIT_INCOMPLETE if any(run.faults for run in runs.values()) else 0


@dataclass(frozen=True)
class _Read:
    """A run's lean cards, the strata of its cases, and how many of its traces are wrong."""

    cards: list[Scorecard]
    strata: dict[str, dict[str, str]]
    faults: int


def _read(path: Path, options: CompareOptions) -> _Read:
    run = open_run(path, options.cases, options.profiles, options.params)
    keeper, cards = LeanCards(), []
    strata: dict[str, dict[str, str]] = {}
    for scored in run:
        cards.append(keeper.lean(scored.card))
        if scored.case.case_id not in strata:
            strata[scored.case.case_id] = strata_of(scored.case, scored.knowledge)
    run.tell_faults()
    return _Read(cards, strata, len(run.faults))


def _side(run: _Read, path: Path, wanted: str | None, option: str) -> Side:
    """One examiner's cards.

    Raises:
        BedsideError: the run has no such examiner, or several and none was named.
    """
    sides = by_examiner(run.cards)
    if wanted is not None and wanted not in sides:
        raise BedsideError(f"no encounter of the examiner {wanted!r}", str(path), f"{option} is one of {', '.join(sides)}")
    if wanted is None and len(sides) > 1:
        raise BedsideError(f"holds several examiners: {', '.join(sides)}", str(path), f"name one with {option}")
    return sides[wanted] if wanted is not None else next(iter(sides.values()))


def show_comparison(found: Comparison, everything: bool) -> None:
    """A comparison as tables."""
    first, second = _names(found)
    cases = f"{found.n_cases} cases that both met; {found.n_first_only} only {first}, {found.n_second_only} only {second}"
    say(f"A = {first}, B = {second}; {cases}")
    if found.n_cases < FEW_CASES:
        note(f"fewer than {FEW_CASES} cases: intervals are rough, and no difference may be seen where there is one")
    _show_list("paired differences; p corrected by Holm over these metrics", found.confirmatory)
    if everything:
        _show_list("all other metrics, exploratory; p corrected by Benjamini and Hochberg", found.exploratory)
    elif found.exploratory:
        say(f"{len(found.exploratory)} further metrics, exploratory: --all")
    if found.strata:
        _show_strata(found)


def _names(found: Comparison) -> tuple[str, str]:
    if found.first_name != found.second_name:
        return found.first_name, found.second_name
    return f"{found.first_name} of the first run", f"{found.second_name} of the second run"


def _show_list(title: str, items: Sequence[Paired]) -> None:
    rows = [
        [
            item.metric,
            str(item.n) + (f" ({item.n_null} null)" if item.n_null else ""),
            _number(item.first),
            _number(item.second),
            _signed(item.difference) + (f" [{_signed(item.low)}, {_signed(item.high)}]" if item.low is not None else ""),
            _effect(item),
            TEST_NAMES[item.test] if item.test else "–",
            p_in_words(item.p),
            p_in_words(item.p_corrected),
        ]
        for item in items
    ]
    table(title, ["metric", "cases", "A", "B", "A − B [95 %]", "effect", "test", "p", "p corrected"], rows)


def _show_strata(found: Comparison) -> None:
    metrics = [item.metric for item in found.confirmatory]
    cells: dict[tuple[str, str], dict[str, Paired]] = defaultdict(dict)
    for item in found.strata:
        cells[item.stratum or "", item.group or ""][item.metric] = item
    rows = []
    for (stratum, group), row in cells.items():
        marks = [_signed(row[name].difference) + _star(row[name]) if name in row else "–" for name in metrics]
        rows.append([stratum, group, str(max(item.n for item in row.values())), *marks])
    title = f"A − B by group, exploratory; * p < {SIGNIFICANT} after Benjamini and Hochberg over this table; all numbers with --json"
    table(title, ["stratum", "group", "cases", *metrics], rows, numeric_from=2)


def _star(item: Paired) -> str:
    return "*" if item.p_corrected is not None and item.p_corrected < SIGNIFICANT else ""


def _effect(item: Paired) -> str:
    if item.effect is None or item.effect_name is None:
        return "–"
    counts = f" ({item.only_first}:{item.only_second})" if item.only_first is not None else ""
    return f"{'OR' if item.only_first is not None else 'd_z'} {item.effect:.2f}{counts}"


def p_in_words(p: float | None) -> str:
    """A p value to three digits; never 0."""
    if p is None:
        return "–"
    return "< 0.001" if p < 0.001 else f"{p:.3f}"


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"


def _signed(value: float | None) -> str:
    return "–" if value is None else f"{value:+.3f}"


# -- sensitivity ----------------------------------------------------------------------------------------------------


def show_sensitivity(
    traces: Path, cases: str | None, profiles: str, params_file: Path | None, vary: Sequence[str], everything: bool, as_json: bool
) -> int:
    """Score a run under many parameters and print how ranks change; see `bedside sensitivity --help`. Returns the exit code.

    Raises:
        BedsideError: a file that is missing or malformed, an unknown parameter or a value out of range.
    """
    run = open_run(traces, cases, profiles, params_file)
    chosen = variants(run.params, parsed_grid(vary) if vary else None)
    keeper = LeanCards()
    reference: dict[str, list[Scorecard]] = defaultdict(list)
    varied: dict[str, list[list[Scorecard]]] = defaultdict(lambda: [[] for _ in chosen])
    sets: dict[str, str] = {}
    for number, scored in enumerate(run, start=1):
        version = scored.card.kb_version
        sets[version] = scored.knowledge.profiles.header.profile_set
        reference[version].append(keeper.lean(scored.card))
        for variant, cards in zip(chosen, varied[version], strict=True):
            same = variant.params.sha == run.params.sha
            cards.append(keeper.lean(scored.card if same else run.score(scored.trace, variant.params)))
        if number % PROGRESS_EVERY == 0:
            note(f"{number} traces under {len(chosen)} sets of parameters")
    run.tell_faults()
    for version, cards in reference.items():
        found = sensitivity(cards, zip(chosen, varied[version], strict=True))
        if as_json:
            say_json({"profiles": sets[version], "kb_version": version, **found.model_dump(mode="json")})
        else:
            _show_settings(found, sets[version], everything)
    return EXIT_INCOMPLETE if run.faults else 0


def parsed_grid(vary: Sequence[str]) -> dict[str, list[JsonValue]]:
    """NAME=VALUE,VALUE … as a grid; a value is JSON, or a bare word.

    Raises:
        BedsideError: no name, or no values.
    """
    grid: dict[str, list[JsonValue]] = {}
    for text in vary:
        name, _, values = text.partition("=")
        if not name.strip() or not values.strip():
            raise BedsideError(f"{text!r} is not NAME=VALUE,VALUE", "--vary", "for example --vary tau=0.2,0.3,0.4")
        grid.setdefault(name.strip(), []).extend(_values(values))
    return grid


def _values(text: str) -> list[JsonValue]:
    try:
        found: list[JsonValue] = json.loads(f"[{text}]")
        return found
    except ValueError:
        return [part.strip() for part in text.split(",")]


def _show_settings(found: Sensitivity, profile_set: str, everything: bool) -> None:
    moved = [item for item in found.settings if item.moved]
    shown = found.settings if everything else moved
    examiners = sorted({standing.examiner_id for item in found.settings for standing in item.standings})
    say(
        f"{found.n_traces} traces, {profile_set} profiles: {len(found.settings)} pairs of a metric and a changed parameter, "
        f"{len(moved)} change a rank; {found.metrics_untouched} scores depend on none of them"
    )
    if not shown:
        say("no rank changes" + ("" if everything else "; all settings: --all"))
        return
    rows = [[item.metric, f"{item.parameter} = {_value(item)}", *_places(item, examiners)] for item in shown]
    table(
        "rank (mean); ▲▼ places gained or lost against the reference, marked †", ["metric", "parameter", *examiners], rows, numeric_from=2
    )


def _value(item: Setting) -> str:
    return json.dumps(item.value) + (" †" if item.is_reference else "")


def _places(item: Setting, examiners: Sequence[str]) -> list[str]:
    by_id = {standing.examiner_id: standing for standing in item.standings}
    found = []
    for examiner in examiners:
        standing = by_id.get(examiner)
        if standing is None or standing.rank is None or standing.mean is None:
            found.append("–")
            continue
        change = standing.change or 0
        arrow = "" if change == 0 else f" {'▲' if change > 0 else '▼'}{abs(change)}"
        found.append(f"{standing.rank} ({standing.mean:.3f}){arrow}")
    return found
