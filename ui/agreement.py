"""`bedside agreement`: how far raters agree, from a table of ratings."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any, Literal

from metrics.agreement import Agreement, Metric, Pairwise, Ratings, brennan_prediger, cohen, fleiss, gwet, krippendorff, pairwise
from metrics.agreement_weights import WEIGHTINGS, Category, Weighting
from ontology.errors import BedsideError
from ui.console import note, say, say_json, table
from ui.csv_table import CsvTable, number_of, read_csv_table

SUBJECT = ("subject", "item", "unit", "case", "case_id", "trace_id", "question", "id")
RATER = ("rater", "annotator", "coder", "judge", "rater_id", "user")
RATING = ("rating", "category", "label", "value", "score", "code")
MISSING = ("", "na", "nan", "null")
METRICS: dict[Weighting, Metric] = {"nominal": "nominal", "ordinal": "ordinal", "quadratic": "interval"}
"""Krippendorff's distances beside the weights they correspond to."""


@dataclass(frozen=True)
class AgreementOptions:
    """The options of `bedside agreement`."""

    file: Path
    categories: str | None = None
    weights: tuple[str, ...] = ()
    form: str = "auto"
    resamples: int = 10_000
    seed: int = 0
    confidence: float = 0.95
    as_json: bool = False


@dataclass(frozen=True)
class Sheet:
    """Ratings as text, subject by subject in order of the file."""

    subjects: tuple[str, ...]
    raters: tuple[str, ...]
    cells: list[list[str]]
    lines: list[list[int]]
    """where each cell stands"""
    form: Literal["long", "wide"]
    unused: tuple[str, ...]
    """columns that were not read"""


def show_agreement(options: AgreementOptions) -> int:
    """Print the agreement; see `bedside agreement --help`. Returns the exit code.

    Raises:
        BedsideError: the file or an option is wrong.
    """
    source = read_csv_table(options.file)
    sheet = read_sheet(source, options.form)
    ratings, notes = _ratings(source, sheet, options.categories)
    weights = _weights(options.weights, ratings)
    if options.categories is None and not _numeric(ratings.categories) and weights != ("nominal",):
        raise BedsideError("the order of the categories is not known", "--weights", "list them in order with --categories")
    rest = (options.resamples, options.seed, options.confidence)
    found = [each(ratings, weighting, *rest) for weighting in weights for each in (gwet, brennan_prediger, fleiss)]
    if len(ratings.raters) == 2:
        found += [cohen(ratings, weighting, *rest) for weighting in weights]
    found += [krippendorff(ratings, METRICS[weighting], *rest) for weighting in weights if weighting in METRICS]
    pairs: list[tuple[str, Weighting, Pairwise]] = []
    if len(ratings.raters) > 2:
        for weighting in weights:
            name = "AC1" if weighting == "nominal" else "AC2"
            pairs.append(("Cohen", weighting, pairwise(ratings, partial(cohen, weighting=weighting))))
            pairs.append((name, weighting, pairwise(ratings, partial(gwet, weighting=weighting))))
    result = _as_json(ratings, sheet, found, pairs, options, notes)
    if options.as_json:
        say_json(result)
    else:
        _print(result)
    for line in notes:
        note(line)
    return 0


def read_sheet(source: CsvTable, form: str = "auto") -> Sheet:
    """Arrange a table by subject and rater.

    Args:
        source: long: columns subject, rater, rating. Wide: a column a rater, and at most one that names the subject.
        form: long, wide, or auto: long if the columns of the long form are there.

    Raises:
        BedsideError: an unknown form, a column missing, fewer than two raters, or two ratings of one subject by one rater.
    """
    if form not in ("auto", "long", "wide"):
        raise BedsideError(f"no form is called {form!r}", "--form", "known: auto, long, wide")
    rater, rating = source.column(RATER), source.column(RATING)
    if form == "long" or (form == "auto" and rater is not None and rating is not None):
        return _long(source, rater, rating)
    if all(number_of(name) is not None for name in source.columns):
        raise BedsideError("the first line looks like ratings", source.at(1), "let it name the raters, and the subject if you like")
    subject = source.column(SUBJECT)
    places = [place for place in range(len(source.columns)) if place != subject]
    if len(places) < 2:
        raise BedsideError("one rater agrees with nobody", str(source.path), "give a column a rater, or the columns subject,rater,rating")
    names = [row[subject] if subject is not None else str(number) for number, (_, row) in enumerate(source.rows, start=1)]
    seen: dict[str, int] = {}
    for name, (line, _) in zip(names, source.rows, strict=True):
        if name in seen:
            raise BedsideError(f"the subject {name!r} stands on line {seen[name]} too", source.at(line))
        seen[name] = line
    return Sheet(
        tuple(names),
        tuple(source.columns[place] for place in places),
        [[row[place] for place in places] for _, row in source.rows],
        [[line] * len(places) for line, _ in source.rows],
        "wide",
        (),
    )


def _long(source: CsvTable, rater: int | None, rating: int | None) -> Sheet:
    subject = source.column(SUBJECT)
    if subject is None or rater is None or rating is None:
        lacking = [
            name for name, place in (("subject", subject), ("rater", rater), ("rating", rating)) if place is None
        ]  # the names that are taken for each are in docs/statistics.md
        raise BedsideError(f"no column {' and no column '.join(lacking)}", str(source.path), "the long form is subject,rater,rating")
    subjects: dict[str, dict[str, tuple[str, int]]] = {}
    raters: dict[str, None] = {}
    for line, row in source.rows:
        if not row[subject] or not row[rater]:
            raise BedsideError(f"the {'rater' if row[subject] else 'subject'} is missing", source.at(line))
        cells = subjects.setdefault(row[subject], {})
        if row[rater] in cells:
            what = f"{row[rater]} rates {row[subject]} a second time (first on line {cells[row[rater]][1]})"
            raise BedsideError(what, source.at(line), "keep one of the two")
        cells[row[rater]] = row[rating], line
        raters.setdefault(row[rater])
    if len(raters) < 2:
        raise BedsideError("one rater agrees with nobody", str(source.path), "two raters at least")
    blank = ("", 0)
    return Sheet(
        tuple(subjects),
        tuple(raters),
        [[cells.get(name, blank)[0] for name in raters] for cells in subjects.values()],
        [[cells.get(name, blank)[1] for name in raters] for cells in subjects.values()],
        "long",
        tuple(name for place, name in enumerate(source.columns) if place not in (subject, rater, rating)),
    )


def _ratings(source: CsvTable, sheet: Sheet, listed: str | None) -> tuple[Ratings, list[str]]:
    """The ratings as categories, and what the user should know."""
    notes = [f"not read: column {name}" for name in sheet.unused]
    words = [cell for row in sheet.cells for cell in row if cell.lower() not in MISSING]
    if not words:
        raise BedsideError("there is no rating", str(source.path))
    categories = _listed(listed) if listed is not None else _seen(words)
    if listed is None:
        names = ", ".join(str(category) for category in categories)
        notes.append(f"categories as rated: {names}; if more were on offer, list them with --categories, for they change every coefficient")
    index: dict[object, Category] = {(category if _numeric(categories) else str(category)): category for category in categories}
    rows: list[list[Category | None]] = []
    for cells, lines in zip(sheet.cells, sheet.lines, strict=True):
        row: list[Category | None] = []
        for cell, line in zip(cells, lines, strict=True):
            key: object = number_of(cell) if _numeric(categories) else cell
            if key in index:
                row.append(index[key])
            elif cell.lower() in MISSING:
                row.append(None)
            else:
                names = ", ".join(str(category) for category in categories)
                raise BedsideError(f"{cell!r} is not one of the categories {names}", source.at(line), "mend it, or name it in --categories")
        rows.append(row)
    if len(categories) < 2:
        raise BedsideError("all ratings are alike, and no other category is known", str(source.path), "list all with --categories")
    return Ratings.of(rows, categories, sheet.raters), notes


def _listed(text: str) -> list[Category]:
    words = [word.strip() for word in text.split(",")]
    if len(words) < 2 or not all(words) or len(set(words)) < len(words):
        raise BedsideError("give two or more different categories, with commas between", "--categories")
    return _typed(words)


def _seen(words: list[str]) -> list[Category]:
    """The categories in use: numbers by size, words by the alphabet."""
    found = dict.fromkeys(_typed(list(dict.fromkeys(words))))
    return sorted(found, key=lambda category: (category, "") if isinstance(category, int | float) else (0, category))


def _typed(words: list[str]) -> list[Category]:
    """All as numbers if all are."""
    numbers = [number_of(word) for word in words]
    there: list[Category] = [number for number in numbers if number is not None]
    return there if len(there) == len(words) else list(words)


def _numeric(categories: list[Category] | tuple[Category, ...]) -> bool:
    return all(isinstance(category, int | float) for category in categories)


def _weights(names: tuple[str, ...], ratings: Ratings) -> tuple[Weighting, ...]:
    """Those asked for; without any, all if the categories are three or more numbers, else nominal."""
    if "all" in names or (not names and _numeric(ratings.categories) and len(ratings.categories) > 2):
        return WEIGHTINGS
    for name in names:
        if name not in WEIGHTINGS:
            raise BedsideError(f"no weights are called {name!r}", "--weights", f"known: {', '.join(WEIGHTINGS)}, all")
    return tuple(weighting for weighting in WEIGHTINGS if weighting in names) or ("nominal",)


def _as_json(
    ratings: Ratings,
    sheet: Sheet,
    found: list[Agreement],
    pairs: list[tuple[str, Weighting, Pairwise]],
    options: AgreementOptions,
    notes: list[str],
) -> dict[str, Any]:
    rated = int((ratings.table >= 0).sum())
    coefficients = []
    for each in found:
        row = asdict(each)
        for name in ("interval", "bootstrap"):
            ends = row.pop(name)
            prefix = "" if name == "interval" else "bootstrap_"
            row |= {f"{prefix}low": ends["low"] if ends else None, f"{prefix}high": ends["high"] if ends else None}
        coefficients.append(row)
    return {
        "form": sheet.form,
        "n_subjects": len(sheet.subjects),
        "raters": list(ratings.raters),
        "n_ratings": rated,
        "n_missing": int(ratings.table.size) - rated,
        "categories": list(ratings.categories),
        "q": len(ratings.categories),
        "categories_from": "ratings" if options.categories is None else "options",
        "confidence": options.confidence,
        "seed": options.seed,
        "resamples": options.resamples,
        "coefficients": coefficients,
        "pairwise": [
            {
                "coefficient": name,
                "weighting": weighting,
                "pairs": [{"first": one, "second": two, "value": value} for (one, two), value in each.pairs.items()],
                "mean": each.mean,
                "n_null": each.n_null,
            }
            for name, weighting, each in pairs
        ],
        "notes": notes,
    }


def _print(result: dict[str, Any]) -> None:
    say(
        f"{result['n_subjects']} subjects, {len(result['raters'])} raters, {result['n_ratings']} ratings, {result['n_missing']} missing; "
        f"categories {', '.join(str(category) for category in result['categories'])}"
    )
    percent = f"{100 * result['confidence']:g} %"
    rows = []
    for each in result["coefficients"]:
        ends = [f"[{_text(each[f'{prefix}low'])}, {_text(each[f'{prefix}high'])}]" for prefix in ("", "bootstrap_")]
        if each["value"] is None:
            rows.append([each["coefficient"], each["weighting"], "–", each["null_reason"], "", "", "", "", str(each["n_pairable"])])
            continue
        numbers = [_text(each[name]) for name in ("value", "pa", "pe", "se")]
        ends = [end if each[f"{prefix}low"] is not None else "–" for end, prefix in zip(ends, ("", "bootstrap_"), strict=True)]
        rows.append([each["coefficient"], each["weighting"], *numbers, *ends, str(each["n_pairable"])])
    columns = ["coefficient", "weights", "value", "pa", "pe", "SE", f"{percent} (t)", f"{percent} (bootstrap)", "subjects"]
    table("agreement", columns, rows, numeric_from=2)
    if result["pairwise"]:
        pairs = [(pair["first"], pair["second"]) for pair in result["pairwise"][0]["pairs"]]
        rows = [
            [each["coefficient"], each["weighting"], _text(each["mean"]), *(_text(pair["value"]) for pair in each["pairs"])]
            for each in result["pairwise"]
        ]
        table("two raters at a time", ["coefficient", "weights", "mean", *(f"{one}–{two}" for one, two in pairs)], rows, numeric_from=2)


def _text(value: float | None) -> str:
    return "–" if value is None else f"{value:.4f}"
