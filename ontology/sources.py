"""What a vocabulary is made of: our own concept rows, HPO's terms, and the lists that mend both."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from pydantic import ValidationError

from ontology.concepts import ConceptRow
from ontology.documents import problems
from ontology.errors import BedsideError
from ontology.hpo import HpoTerm, hpo_folder, read_obo
from ontology.resources import bundled_files, bundled_rows, bundled_text, json_lines
from ontology.vocab.groups import Merge, read_merges


@dataclass(frozen=True)
class Sources:
    """What a vocabulary is made of.

    Attributes:
        rows: our own concepts; they win where they and HPO mean the same.
        hpo: live HPO terms by id.
        hpo_version: HPO's release date.
        blocked: phrases of HPO that must not be matched (too ambiguous in ordinary speech).
        merges: ids of other sources that mean a concept of ours.
        cut: is-a links that do not hold between what our concepts mean.
        order_twins: finding → the measurement that the same words mean in an order.
    """

    rows: tuple[ConceptRow, ...]
    hpo: Mapping[str, HpoTerm]
    hpo_version: str
    blocked: tuple[str, ...] = ()
    merges: tuple[Merge, ...] = ()
    cut: tuple[tuple[str, str], ...] = ()
    order_twins: Mapping[str, str] = field(default_factory=dict)


def bundled_concepts() -> list[ConceptRow]:
    """All rows of data/concepts (with questions and utterances) and of data/terms (only recognised).

    Raises:
        BedsideError: a row is not valid.
    """
    rows = []
    for folder in ("concepts", "terms"):
        for file in bundled_files(folder, ".jsonl"):
            for place, raw in json_lines(file.read_text(encoding="utf-8"), f"data/{folder}/{file.name}"):
                try:
                    rows.append(ConceptRow.model_validate(raw))
                except ValidationError as error:
                    raise BedsideError(f"not a valid concept row: {problems(error)}", place) from None
    return rows


def bundled_sources() -> Sources:
    """Our own concepts and HPO, as installed.

    Raises:
        BedsideError: a file is missing or a row is not valid.
    """
    with (hpo_folder() / "hp.obo").open(encoding="utf-8") as handle:
        version, terms = read_obo(handle)
    blocked = [line for line in bundled_text("lexicon/blocked.txt").splitlines() if line and not line.startswith("#")]
    merges = read_merges(bundled_text("lexicon/merges.csv"), "data/lexicon/merges.csv")
    cut = tuple((row["child"], row["parent"]) for row in bundled_rows("lexicon/cut_links.csv"))
    twins = {row["said"]: row["ordered"] for row in bundled_rows("lexicon/order_twins.csv")}
    return Sources(tuple(bundled_concepts()), terms, version, tuple(blocked), tuple(merges), cut, twins)
