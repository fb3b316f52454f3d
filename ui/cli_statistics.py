"""The `bedside agreement` and `bedside rank` commands; see ui.cli."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ui.cli_vocab import JsonOption

SeedOption = Annotated[int, typer.Option("--seed", min=0, help="of the bootstrap")]
ConfidenceOption = Annotated[float, typer.Option("--confidence", min=0.5, max=0.9999, help="coverage of the intervals")]


def agreement(
    file: Annotated[Path, typer.Argument(help="CSV: columns subject,rater,rating, or one column a rater", metavar="RATINGS.csv")],
    categories: Annotated[
        str | None, typer.Option("--categories", help="all that were on offer, in order, e.g. 1,2,3,4,5; default: those in the file")
    ] = None,
    weights: Annotated[
        list[str] | None,
        typer.Option("--weights", help="nominal, linear, ordinal, quadratic, radical or all; repeatable; default: all for numbers"),
    ] = None,
    form: Annotated[str, typer.Option("--form", help="long, wide, or auto: long if there is a column rater and one rating")] = "auto",
    resamples: Annotated[int, typer.Option("--resamples", min=0, help="of the subjects, for the bootstrap interval; 0: none")] = 10_000,
    seed: SeedOption = 0,
    confidence: ConfidenceOption = 0.95,
    as_json: JsonOption = False,
) -> None:
    """Say how far raters agree: Gwet AC1 and AC2, Brennan-Prediger, Fleiss, Cohen, Krippendorff, with intervals."""
    from ui.agreement import AgreementOptions, show_agreement

    raise typer.Exit(show_agreement(AgreementOptions(file, categories, tuple(weights or ()), form, resamples, seed, confidence, as_json)))


def rank(
    file: Annotated[Path, typer.Argument(help="CSV: columns left,right,outcome[,cluster][,voter][,weight]", metavar="GAMES.csv")],
    ties: Annotated[str, typer.Option("--ties", help="half: half a win for each; davidson: modelled")] = "half",
    errors: Annotated[str, typer.Option("--errors", help="clustered, robust (each game by itself), model, or bootstrap")] = "clustered",
    ridge: Annotated[float, typer.Option("--ridge", min=0, help="above 0: rate together also players that lost or won everything")] = 0.0,
    min_clusters: Annotated[int, typer.Option("--min-clusters", min=2, help="clusters a player needs for a rank")] = 20,
    confidence: ConfidenceOption = 0.95,
    resamples: Annotated[int, typer.Option("--resamples", min=2, help="of --errors bootstrap")] = 1000,
    seed: SeedOption = 0,
    as_json: JsonOption = False,
) -> None:
    """Rank players from games, with intervals of ratings and ranks, and how often one would beat another."""
    from ui.ranking import RankOptions, show_ranking

    raise typer.Exit(show_ranking(RankOptions(file, ties, errors, ridge, min_clusters, confidence, resamples, seed, as_json)))
