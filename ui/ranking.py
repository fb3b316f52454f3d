"""`bedside rank`: a board from a table of games."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, get_args

from metrics.bradley_terry import Ties
from metrics.ranking import ERRORS, Errors, Game, Options, Outcome, Ranking, rank
from ontology.errors import BedsideError
from ui.console import note, say, say_json, table
from ui.csv_table import CsvTable, number_of, read_csv_table

COLUMNS: dict[str, tuple[str, ...]] = {
    "left": ("left",),
    "right": ("right",),
    "outcome": ("outcome",),
    "cluster": ("cluster", "case", "case_id"),
    "voter": ("voter", "human", "judge"),
    "weight": ("weight",),
}
OUTCOMES: dict[str, Outcome] = {
    **dict.fromkeys(("left", "a"), "left"),
    **dict.fromkeys(("right", "b"), "right"),
    **dict.fromkeys(("tie", "draw"), "tie"),
    **dict.fromkeys(("both_bad", "both bad", "bothbad", "tie (bothbad)"), "both_bad"),
}
SCORES: dict[float, Outcome] = {1: "left", 0.5: "tie", 0: "right"}
"""The score of the left player."""
PAIRS_SHOWN = 45


@dataclass(frozen=True)
class RankOptions:
    """The options of `bedside rank`."""

    file: Path
    ties: str = "half"
    errors: str = "clustered"
    ridge: float = 0.0
    min_clusters: int = 20
    confidence: float = 0.95
    resamples: int = 1000
    seed: int = 0
    as_json: bool = False


def show_ranking(options: RankOptions) -> int:
    """Print the board; see `bedside rank --help`. Returns the exit code.

    Raises:
        BedsideError: the file or an option is wrong.
    """
    chosen = _options(options)
    source = read_csv_table(options.file)
    games, notes = read_games(source)
    try:
        ranking = rank(games, chosen)
    except ValueError as error:
        raise BedsideError(str(error), str(options.file)) from None
    result = _as_json(ranking, notes + _notes(ranking, games))
    if options.as_json:
        say_json(result)
    else:
        _print(result)
    for line in result["notes"]:
        note(line)
    return 0


def _options(options: RankOptions) -> Options:
    for value, known, name in ((options.ties, get_args(Ties), "--ties"), (options.errors, ERRORS, "--errors")):
        if value not in known:
            raise BedsideError(f"{value!r} is not known", name, f"known: {', '.join(known)}")
    ties: Ties = "davidson" if options.ties == "davidson" else "half"
    errors: Errors = next(each for each in ERRORS if each == options.errors)
    return Options(ties, errors, options.ridge, options.confidence, options.min_clusters, options.resamples, options.seed)


def read_games(source: CsvTable) -> tuple[list[Game], list[str]]:
    """Games from a table with the columns left, right, outcome and, if there are any, cluster, voter, weight.

    Returns:
        the games, and what of the table was not read.

    Raises:
        BedsideError: a column is missing, an outcome or weight is unknown, a cell is empty, or a player plays itself.
    """
    places = {name: source.column(names) for name, names in COLUMNS.items()}
    lacking = [name for name in ("left", "right", "outcome") if places[name] is None]
    if lacking:
        raise BedsideError(f"no column {' and no column '.join(lacking)}", str(source.path), "the columns are left,right,outcome[,cluster]")
    games = [_game(source, line, {name: row[place] for name, place in places.items() if place is not None}) for line, row in source.rows]
    return games, [f"not read: column {name}" for place, name in enumerate(source.columns) if place not in places.values()]


def _game(source: CsvTable, line: int, cells: dict[str, str]) -> Game:
    empty = next((name for name, cell in cells.items() if not cell), None)
    if empty is not None:
        raise BedsideError(f"the {empty} is missing", source.at(line))
    if cells["left"] == cells["right"]:
        raise BedsideError(f"{cells['left']} plays itself", source.at(line))
    number = number_of(cells["outcome"])
    outcome = OUTCOMES.get(cells["outcome"].lower()) if number is None else SCORES.get(number)
    if outcome is None:
        known = "left, right, tie, both_bad; a, b; or the left player's score 1, 0.5, 0"
        raise BedsideError(f"the outcome {cells['outcome']!r} is not known", source.at(line), f"known: {known}")
    weight = number_of(cells.get("weight", "1"))
    if weight is None or weight <= 0:
        raise BedsideError(f"the weight {cells['weight']!r} is no number above 0", source.at(line))
    return Game(cells["left"], cells["right"], outcome, cells.get("cluster"), cells.get("voter"), float(weight))


def _notes(ranking: Ranking, games: list[Game]) -> list[str]:
    notes = []
    if games[0].cluster is None:
        notes.append("no column cluster: every game counts as a case of its own; games on one case would make intervals too narrow")
    if len(ranking.components) > 1:
        notes.append(
            f"{len(ranking.components)} groups of players that no chain of wins joins both ways: ratings compare only within a group; "
            "--ridge 0.001 rates all that played each other together"
        )
    return notes


def _as_json(ranking: Ranking, notes: list[str]) -> dict[str, Any]:
    return {
        **asdict(ranking.options),
        "n_games": ranking.n_games,
        "n_clusters": ranking.n_clusters,
        "n_both_bad": ranking.n_both_bad,
        "n_between_components": ranking.n_between,
        "strongly_connected": len(ranking.components) == 1,
        "components": ranking.components,
        "nu": [ranking.nu.get(number) for number in range(len(ranking.components))],
        "players": [asdict(standing) for standing in ranking.standings],
        "pairs": [asdict(duel) for duel in ranking.duels],
        "notes": notes,
    }


def _print(result: dict[str, Any]) -> None:
    percent = f"{100 * result['confidence']:g} %"
    grouped = len(result["components"]) > 1
    rows = []
    for each in result["players"]:
        rating = "–" if each["rating"] is None else f"{each['rating']:.0f}"
        ends = "–" if each["low"] is None else f"[{each['low']:.0f}, {each['high']:.0f}]"
        place = "–" if each["rank"] is None else f"{each['rank']} ({each['rank_low']}–{each['rank_high']})"
        record = f"{each['wins']}–{each['losses']}–{each['ties']}"
        group = [str(each["component"] + 1)] if grouped else []
        rows.append([each["player"], *group, place, rating, ends, record, str(each["n_clusters"]), each["null_reason"] or ""])
    columns = ["player", *(["group"] if grouped else []), "rank", "rating", percent, "won–lost–tied", "clusters", ""]
    table(f"{result['n_games']} games; ties {result['ties']}, {result['errors']} errors", columns, rows)
    if len(result["pairs"]) > PAIRS_SHOWN:
        say(f"{len(result['pairs'])} pairs; --json lists them")
        return
    rows = []
    for pair in result["pairs"]:
        ends = "–" if pair["low"] is None else f"[{pair['low']:.2f}, {pair['high']:.2f}]"
        tie = [f"{pair['tie']:.2f}"] if pair["tie"] is not None else [] if result["ties"] == "half" else ["–"]
        rows.append([f"{pair['first']} over {pair['second']}", f"{pair['win']:.2f}", ends, *tie, str(pair["games"])])
    if rows:
        table("win probability", ["pair", "wins", percent, *(["ties"] if result["ties"] != "half" else []), "games"], rows)
