"""Common clinical names, abbreviations, eponyms and lay names that ICD-10-CM itself does not give (metrics.md 3.2, rule 6).

The table holds only what the classification's own names do not already say, and leaves out names with several meanings.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from ontology.documents import content_hash
from ontology.icd10.names import fold_name
from ontology.resources import bundled_rows

TABLE = "icd10/synonyms.csv"


@dataclass(frozen=True, slots=True)
class Synonym:
    """A name with the least specific code that it means; `basis` is the kind of name."""

    name: str
    code: str
    basis: str


@cache
def synonym_table() -> dict[str, Synonym]:
    """The bundled synonyms by folded name."""
    rows = (Synonym(row["name"], row["code"], row["basis"]) for row in bundled_rows(TABLE))
    return {fold_name(row.name): row for row in rows}


@cache
def synonyms_version() -> str:
    """A hash of names and codes: a changed table can change scores."""
    return content_hash(sorted([key, row.code] for key, row in synonym_table().items()))[:16]
