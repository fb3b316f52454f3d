"""`bedside agreement` and `bedside rank`: tables of ratings and of games."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from metrics.agreement import Ratings, gwet
from ontology.errors import BedsideError
from ui.agreement import AgreementOptions, show_agreement
from ui.cli import app
from ui.ranking import RankOptions, show_ranking

DATA = Path(__file__).parents[1] / "data"
TABLE_3: list[list[int]] = json.loads((DATA / "dyreme_tables.json").read_text(encoding="utf-8"))["table3"]
GAMES: list[list[float]] = json.loads((DATA / "arena_games.json").read_text(encoding="utf-8"))["games"]


def written(folder: Path, text: str | bytes, name: str = "table.csv") -> Path:
    """A file with that text."""
    path = folder / name
    path.write_bytes(text.encode("utf-8") if isinstance(text, str) else text)
    return path


def bedside(*arguments: str | Path) -> tuple[str, str]:
    """Standard output and standard error of a command that succeeds."""
    result = CliRunner().invoke(app, [str(argument) for argument in arguments], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.stdout, result.stderr


def found(path: Path, *options: str) -> dict[tuple[str, str], Any]:
    """Coefficients by name and weights."""
    out = json.loads(bedside("agreement", path, "--json", "--resamples", "200", *options)[0])
    return {(each["coefficient"], each["weighting"]): each for each in out["coefficients"]}


@pytest.fixture
def wide(tmp_path: Path) -> Path:
    """Table 3 with a column a rater."""
    rows = "".join(f"Q{number},{a},{b},{c}\n" for number, (a, b, c) in enumerate(TABLE_3, start=1))
    return written(tmp_path, f"item,e1,e2,e3\n{rows}", "wide.csv")


@pytest.fixture
def games(tmp_path: Path) -> Path:
    """The games of metrics.md 13."""
    rows = "".join(f"p{int(left)},p{int(right)},{score:g},{cluster}\n" for left, right, score, cluster in GAMES)
    return written(tmp_path, f"left,right,outcome,cluster\n{rows}", "games.csv")


def test_golden_table_3_from_a_file(wide: Path) -> None:
    """12: with the full scale."""
    out = found(wide, "--categories", "1,2,3,4,5")
    assert out["AC1", "nominal"]["value"] == pytest.approx(0.0199, abs=5e-5)
    assert out["AC2", "quadratic"]["value"] == pytest.approx(0.6149, abs=5e-5)
    assert out["Brennan-Prediger", "quadratic"]["value"] == pytest.approx(0.4556, abs=5e-5)
    assert out["Fleiss", "nominal"]["value"] == pytest.approx(-0.1762, abs=5e-5)
    assert {name for name, _ in out} == {"AC1", "AC2", "Brennan-Prediger", "Fleiss", "Krippendorff"}
    assert [weighting for name, weighting in out if name == "Krippendorff"] == ["nominal", "ordinal", "interval"]


def test_long_and_wide_are_one(wide: Path, tmp_path: Path) -> None:
    """The order of rows does not matter in the long form; other columns are named, not silently dropped."""
    rows = [f"Q{number},e{k},{value},x" for number, row in enumerate(TABLE_3, start=1) for k, value in enumerate(row, start=1)]
    long = written(tmp_path, "\n".join(["case,rater,rating,comment", *rows]), "long.csv")
    assert found(long, "--categories", "1,2,3,4,5") == found(wide, "--categories", "1,2,3,4,5")
    assert "not read: column comment" in bedside("agreement", long)[1]


def test_categories_seen_are_not_all_that_were_on_offer(wide: Path) -> None:
    """12: without the list, q is 4 and AC2 .2796, and it is said."""
    assert found(wide)["AC2", "quadratic"]["value"] == pytest.approx(0.2796, abs=5e-5)
    out, said = bedside("agreement", wide)
    assert "categories as rated: 2, 3, 4, 5" in said
    assert "30 subjects, 3 raters, 90 ratings, 0 missing" in out and "AC2" in out and "two raters at a time" in out


def test_words_gaps_and_other_delimiters(tmp_path: Path) -> None:
    """A semicolon file as a spreadsheet writes it: byte order mark, CRLF, blanks, gaps."""
    path = written(tmp_path, b"\xef\xbb\xbfanna;bob\r\nyes; no\r\nyes;yes\r\nNA;no\r\n;yes\r\nno;no\r\n\r\n")
    out = found(path)
    ratings = Ratings.of([["yes", "no"], ["yes", "yes"], [None, "no"], [None, "yes"], ["no", "no"]], ("no", "yes"))
    assert out["AC1", "nominal"]["value"] == pytest.approx(gwet(ratings).value)
    assert ("Cohen", "nominal") in out
    assert out["AC1", "nominal"]["n_pairable"] == 3
    ordered = found(path, "--categories", "no,maybe,yes", "--weights", "linear")
    assert ordered["AC2", "linear"]["value"] is not None
    whole = json.loads(bedside("agreement", path, "--json")[0])
    assert (whole["n_ratings"], whole["n_missing"], whole["raters"], whole["pairwise"]) == (8, 2, ["anna", "bob"], [])


def test_a_category_may_be_called_na(tmp_path: Path) -> None:
    """If the list says so, it is one."""
    path = written(tmp_path, "a,b\nNA,NA\nyes,NA\n")
    assert found(path, "--categories", "NA,yes")["AC1", "nominal"]["n_pairable"] == 2


def test_a_value_that_is_missing_says_why(tmp_path: Path) -> None:
    """In the table too."""
    path = written(tmp_path, "a,b\n1,1\n1,1\n")
    out = found(path, "--categories", "1,2")
    assert out["Fleiss", "nominal"]["value"] is None and "one category" in out["Fleiss", "nominal"]["null_reason"]
    assert "one category" in bedside("agreement", path, "--categories", "1,2")[0]


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        ("", {}, "table.csv: the file is empty"),
        ("a,b\n", {}, "there is a header but no row"),
        ("5,4\n3,3\n", {}, "table.csv:1: the first line looks like ratings"),
        ("a,b\n1,2\n1\n", {}, "table.csv:3: 1 fields, but the header names 2"),
        ("a,a\n1,2\n", {}, "table.csv:1: two columns are called a"),
        ("a,\n1,2\n", {}, "column 2 has no name"),
        ('a,b\n1,"2\n', {}, "not valid CSV"),
        (b"a,b\n\xff,1\n", {}, r"not UTF-8 \(byte 4\); save it as UTF-8"),
        ("item,a\nx,1\n", {}, "one rater agrees with nobody"),
        ("subject,rater,rating\nx,a,1\nx,a,2\n", {}, r"table.csv:3: a rates x a second time \(first on line 2\)"),
        ("subject,rater,rating\nx,a,1\n", {}, "one rater agrees with nobody"),
        ("subject,rater,rating\n,a,1\n", {}, "table.csv:2: the subject is missing"),
        ("item,a,b\nx,1,2\nx,1,2\n", {}, "table.csv:3: the subject 'x' stands on line 2 too"),
        ("a,b\n,\nNA,\n", {}, "there is no rating"),
        ("a,b\n1,1\n", {}, "all ratings are alike"),
        ("a,b\n1,7\n", {"categories": "1,2,3"}, "table.csv:2: '7' is not one of the categories 1, 2, 3"),
        ("a,b\n1,2\n", {"categories": "1"}, "--categories: give two or more"),
        ("a,b\n1,2\n", {"weights": ("cubic",)}, "--weights: no weights are called 'cubic'; known: nominal"),
        ("a,b\nyes,no\n", {"weights": ("linear",)}, "the order of the categories is not known"),
        ("a,b\n1,2\n", {"form": "tall"}, "--form: no form is called 'tall'"),
        ("a,b\n1,2\n", {"form": "long"}, "no column subject and no column rater and no column rating"),
        ("rater,judge,rating\nx,y,1\n", {}, "the columns rater and judge could both be meant"),
    ],
)
def test_mistakes_in_ratings(tmp_path: Path, text: str | bytes, options: dict[str, Any], message: str) -> None:
    """One line: where, what, how to mend."""
    with pytest.raises(BedsideError, match=message):
        show_agreement(AgreementOptions(written(tmp_path, text), **options))


def test_golden_board_from_a_file(games: Path) -> None:
    """13: strengths, ratings, clustered errors; ten clusters rank nobody."""
    out = json.loads(bedside("rank", games, "--json")[0])
    assert [player["strength"] for player in out["players"]] == pytest.approx([0.634710, -0.094582, -0.540128], abs=1e-6)
    assert [player["se"] for player in out["players"]] == pytest.approx([0.2900, 0.1886, 0.4122], abs=5e-5)
    assert [player["rank"] for player in out["players"]] == [None] * 3
    assert (out["n_games"], out["n_clusters"], out["strongly_connected"]) == (33, 10, True)
    assert out["pairs"][0]["difference"] == pytest.approx(0.7293, abs=5e-5)
    davidson = json.loads(bedside("rank", games, "--json", "--ties", "davidson", "--min-clusters", "10")[0])
    assert davidson["nu"] == pytest.approx([0.2218], abs=5e-5)
    assert [player["rank"] for player in davidson["players"]] == [1, 2, 3]


def test_a_board_reads_like_one(games: Path) -> None:
    """Rating, interval, record, and why there is no rank."""
    out, said = bedside("rank", games)
    assert "p0" in out and "1110" in out and "15–5–3" in out and "insufficient: 10 clusters" in out
    assert "p0 over p1" in out and "[0.55, 0.78]" in out
    assert said == ""


def test_outcomes_in_other_words(tmp_path: Path) -> None:
    """Words and scores mean the same; groups that cannot be compared are shown apart; games without cases are said to be."""
    words = written(tmp_path, "left,right,outcome\nx,y,left\nx,y,b\nx,y,Both_Bad\nz,x,a\n", "words.csv")
    scores = written(tmp_path, "left,right,outcome\nx,y,1\nx,y,0\nx,y,0.5\nz,x,1\n", "scores.csv")
    out, said = bedside("rank", words, "--json")
    one, two = json.loads(out), json.loads(bedside("rank", scores, "--json")[0])
    assert [player["strength"] for player in one["players"]] == [player["strength"] for player in two["players"]]
    assert (one["n_both_bad"], two["n_both_bad"]) == (1, 0)
    assert one["components"] == [["x", "y"], ["z"]]
    assert "no column cluster" in said and "2 groups of players" in said
    assert "not comparable" in bedside("rank", words)[0]
    assert json.loads(bedside("rank", words, "--json", "--ridge", "0.001")[0])["components"] == [["x", "y", "z"]]


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        ("left,outcome\na,left\n", {}, "no column right"),
        ("left,right,outcome\na,a,left\n", {}, "table.csv:2: a plays itself"),
        ("left,right,outcome\na,b,won\n", {}, "table.csv:2: the outcome 'won' is not known; known: left"),
        ("left,right,outcome\na,b,2\n", {}, "the outcome '2' is not known"),
        ("left,right,outcome,cluster\na,b,1,\n", {}, "table.csv:2: the cluster is missing"),
        ("left,right,outcome,weight\na,b,1,0\n", {}, "table.csv:2: the weight '0' is no number above 0"),
        ("left,right,outcome\na,b,tie\n", {"ties": "davidson"}, "all games are ties"),
        ("left,right,outcome\na,b,tie\n", {"ties": "third"}, "--ties: 'third' is not known; known: half, davidson"),
        ("left,right,outcome\na,b,tie\n", {"errors": "none"}, "--errors: 'none' is not known"),
    ],
)
def test_mistakes_in_games(tmp_path: Path, text: str, options: dict[str, Any], message: str) -> None:
    """One line: where, what, how to mend."""
    with pytest.raises(BedsideError, match=message):
        show_ranking(RankOptions(written(tmp_path, text), **options))


def test_equal_seeds_equal_bytes(wide: Path, games: Path) -> None:
    """Nothing but the seed decides."""
    for command in (("agreement", wide, "--json", "--resamples", "300"), ("rank", games, "--json", "--errors", "bootstrap")):
        assert bedside(*command, "--seed", "5") == bedside(*command, "--seed", "5")
        assert bedside(*command, "--seed", "5") != bedside(*command, "--seed", "6")
