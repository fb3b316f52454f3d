"""`bedside runs list|show|reindex|merge|delete`: run folders and their index."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ontology.errors import BedsideError
from ui.console import note, say, say_json, table

if TYPE_CHECKING:
    from simulator.index.runs import RunIndex, ScoreRow

EXIT_DUPLICATES = 4
NAMED = 20
SHORT_HASH = 12


@contextmanager
def opened(database: str | None) -> Iterator[RunIndex]:
    """The index, closed afterwards."""
    from simulator.index.database import default_url
    from simulator.index.runs import RunIndex

    index = RunIndex(database or default_url(), read_scores)
    try:
        yield index
    finally:
        index.close()


def read_scores(file: Path) -> Iterator[ScoreRow]:
    """The scores of a file of scorecards as plain rows; a scorecard that is there twice counts once.

    Raises:
        BedsideError: with `file:line`, a line that is no scorecard.
    """
    from metrics.scores import Scorecard
    from simulator.index.runs import ScoreRow

    seen: set[tuple[str, ...]] = set()
    with file.open("rb") as lines:
        for number, line in enumerate(lines, 1):
            if not line.strip():
                continue
            card = Scorecard.from_json(line, f"{file}:{number}")
            for name, score in card.scores.items():
                key = (card.trace_sha256, name, score.layer, score.params_hash, score.kb_version, score.scorer_version)
                if key in seen:
                    continue
                seen.add(key)
                is_number = isinstance(score.value, int | float)  # true and false count as 1 and 0, so that their mean is a rate
                number_of = float(score.value) if is_number else None  # type: ignore[arg-type]
                yield ScoreRow(
                    card.trace_sha256,
                    name,
                    number_of,
                    None if is_number or score.value is None else str(score.value),
                    score.null_reason,
                    score.layer,
                    score.params_hash,
                    score.kb_version,
                    score.scorer_version,
                )


def list_runs(roots: Sequence[Path], database: str | None, as_json: bool) -> None:
    """All runs in the index, after those at or below the folders given were brought up to date."""
    with opened(database) as index:
        for folder in _folders(roots, must_exist=False):
            try:
                index.refresh(folder)
            except BedsideError as error:
                note(error.line())
        lines = index.runs()
    if as_json:
        for line in lines:
            say_json({**vars(line), "present": _present(line.path)})
        return
    rows = [
        [
            line.path if _present(line.path) else f"{line.path} (gone)",
            line.created_at,
            line.fingerprint_sha256[:SHORT_HASH],
            *(str(count) for count in (line.finished, line.broken, line.examiners, line.cases)),
        ]
        for line in lines
    ]
    table("runs", ["folder", "begun", "settings", "finished", "broken", "examiners", "cases"], rows, numeric_from=3)


def show_run(folder: Path, database: str | None, as_json: bool) -> None:
    """One run: its settings, what each examiner's encounters came to, and mean scores where there are some."""
    with opened(database) as index:
        run_id = index.refresh(folder).run_id
        run = index.run(run_id)
        endings = index.endings(run_id)
        due = index.still_due(run_id)
        means = index.score_means(run_id)
    if as_json:
        say_json({**run, "endings": endings, "still_due": due, "scores": means})
        return
    say(f"{run['path']}, begun {run['created_at']}, settings {run['fingerprint_sha256'][:SHORT_HASH]}")
    for name, value in run["fingerprint"].items():
        say(f"  {name}: {_brief(name, value)}")
    if run["duplicates"]:
        say(f"{run['duplicates']} further traces with an id already seen were left out")
    if due:
        say(f"{due} encounters broke and are due again: start the run once more")
    sums = ("leaks", "requests", "prompt_tokens", "completion_tokens")
    rows = [
        [
            e["examiner_id"],
            e["termination"],
            str(e["encounters"]),
            f"{e['turns']:.1f}",
            *("–" if e[s] is None else f"{e[s]:,}" for s in sums),
        ]
        for e in endings
    ]
    table("encounters", ["examiner", "ending", "count", "mean turns", "leaks", "requests", "prompt tokens", "completion tokens"], rows, 2)
    if means:
        rows = [
            [m["examiner_id"], m["name"], m["layer"], m["kb_version"], m["params_hash"][:SHORT_HASH]]
            + [f"{m['mean']:.3f}", str(m["n"]), str(m["nulls"])]
            for m in means
        ]
        table(
            "mean scores; intervals: bedside score", ["examiner", "score", "layer", "knowledge", "parameters", "mean", "n", "null"], rows, 5
        )


def reindex(roots: Sequence[Path], database: str | None, as_json: bool) -> None:
    """Make the index again from the run folders given and those it knows."""
    with opened(database) as index:
        known = [Path(line.path) for line in index.runs() if _present(line.path)]
        folders = list(dict.fromkeys(path.resolve() for path in [*_folders(roots, must_exist=True), *known]))
        done, gone = index.reindex(folders)
    if as_json:
        say_json({"runs": {str(path): each.new for path, each in zip(folders, done, strict=True)}, "dropped": gone})
        return
    for path, each in zip(folders, done, strict=True):
        say(f"{path}: {each.new} encounters")
    for lost in gone:
        say(f"{lost}: gone, dropped from the index; annotations and votes on its traces stay")
    say(f"{len(done)} runs indexed")


def merge_runs(sources: Sequence[Path], out: Path, as_json: bool) -> int:
    """Join runs; returns the exit code: 4 if two sources hold different traces of one encounter."""
    from simulator.run_folders import merge

    if len(dict.fromkeys(path.resolve() for path in sources)) < 2:
        raise BedsideError("merging takes two different run folders or more", "bedside runs merge")
    report = merge(sources, out)
    if as_json:
        say_json(vars(report))
    else:
        _name("the same trace again, left out", report.same)
        _name("another trace of an encounter that is there already, left out", report.differing)
        _name("a record cut short, left out", report.torn)
        say(f"{report.finished} encounters in {out}" + (f", {report.broken} broken and due again" if report.broken else ""))
    return EXIT_DUPLICATES if report.differing else 0


def delete_run(folder: Path, database: str | None, yes: bool, as_json: bool) -> int:
    """Delete a run folder and its rows; asks first unless told not to. Returns the exit code."""
    from simulator.run_folders import remove
    from simulator.store import read_record

    read_record(folder)
    with opened(database) as index:
        if not yes:
            if not sys.stdin.isatty():
                raise BedsideError("deleting cannot be undone, and there is no terminal to ask at", str(folder), "give --yes")
            sys.stderr.write(f"delete {folder} and its traces for good? [y/N] ")
            if sys.stdin.readline().strip().lower() not in ("y", "yes"):
                note("nothing was deleted")
                return 1
        place = folder.resolve()
        left = remove(folder)
        index.forget(place)
    if as_json:
        say_json({"deleted": str(place), "left": left})
    else:
        say(f"{folder}: deleted" + (f"; not ours, left there: {', '.join(left)}" if left else ""))
    return 0


def _folders(roots: Sequence[Path], must_exist: bool) -> list[Path]:
    from simulator.run_folders import find_run_folders

    out: list[Path] = []
    for root in roots:
        if not root.is_dir():
            raise BedsideError("no such folder", str(root))
        found = list(find_run_folders(root))
        if must_exist and not found:
            raise BedsideError("no run folder at or below it", str(root), "give a folder that `bedside run --out` made")
        out += found
    return out


def _present(path: str) -> bool:
    from simulator.traces_io import RUN_FILE

    return (Path(path) / RUN_FILE).exists()


def _brief(name: str, value: Any) -> str:
    if name in ("examiners", "patients"):
        return ", ".join(sorted({str(player["id"]) for player in value}))
    if isinstance(value, dict):
        return ", ".join(f"{key} {part}" for key, part in value.items())
    return ", ".join(str(part) for part in value) if isinstance(value, list) else str(value)


def _name(what: str, places: Sequence[str]) -> None:
    for place in places[:NAMED]:
        note(f"{place}: {what}")
    if len(places) > NAMED:
        note(f"and {len(places) - NAMED} more: {what}")
