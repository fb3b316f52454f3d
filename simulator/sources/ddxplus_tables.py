"""Our mapping of DDXPlus' evidences, values and conditions (data/ddxplus)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import cast

from ontology.concepts import Attribute, Kind
from ontology.errors import BedsideError
from ontology.resources import bundled_files, bundled_rows
from simulator.case import ValueClass

SCALE = tuple(str(number) for number in range(11))
LOW, MID = 3, 6
"""Upper ends of "low" and "mid" on the release's 0–10 scales."""


@dataclass(frozen=True)
class EvidenceRow:
    """A binary evidence: the concepts it asks for, the primary one first."""

    evidence: str
    concepts: tuple[str, ...]
    kind: Kind
    antecedent: bool


@dataclass(frozen=True)
class DetailRow:
    """A valued evidence: a detail of its parent evidence."""

    evidence: str
    parent: str
    attribute: Attribute
    scale: str


@dataclass(frozen=True)
class ValueRow:
    """A value: how a patient says it, and the site-specific pain that pain at this place is."""

    value: str
    meaning: str
    phrase: str
    site: str | None


@dataclass(frozen=True)
class ConditionRow:
    """A condition with its codes after overrides."""

    condition: str
    disease_id: str
    name: str
    raw_icd10: str
    icd10: tuple[str, ...]
    override_reason: str | None
    aliases: tuple[str, ...]


@dataclass(frozen=True)
class DdxplusTables:
    """All tables."""

    evidences: dict[str, EvidenceRow]
    details: dict[str, DetailRow]
    values: dict[str, ValueRow]
    conditions: dict[str, ConditionRow]


@lru_cache(maxsize=1)
def ddxplus_tables() -> DdxplusTables:
    """Read the bundled tables.

    Raises:
        BedsideError: an evidence is mapped twice.
    """
    evidences: dict[str, EvidenceRow] = {}
    for file in bundled_files("ddxplus", ".csv"):
        if file.name.startswith("ddx_"):
            for row in bundled_rows(f"ddxplus/{file.name}"):
                if row["evidence"] in evidences:
                    raise BedsideError(f"{row['evidence']} is mapped twice", f"data/ddxplus/{file.name}")
                evidences[row["evidence"]] = EvidenceRow(
                    row["evidence"], tuple(row["concepts"].split("|")), cast(Kind, row["kind"]), row["antecedent"] == "1"
                )
    details = {
        row["evidence"]: DetailRow(row["evidence"], row["parent"], cast(Attribute, row["attribute"]), row["scale"])
        for row in bundled_rows("ddxplus/attributes.csv")
    }
    values = {
        row["value"]: ValueRow(row["value"], row["meaning"], row["phrase"], row["site"] or None)
        for row in bundled_rows("ddxplus/values.csv")
    }
    return DdxplusTables(evidences, details, values, _conditions())


def _conditions() -> dict[str, ConditionRow]:
    return {
        row["condition"]: ConditionRow(
            row["condition"],
            row["disease_id"],
            row["name"],
            row["raw_icd10"],
            tuple(row["icd10"].split("|")),
            row["override_reason"] or None,
            tuple(part for part in row["aliases"].split("|") if part),
        )
        for row in bundled_rows("ddxplus/conditions.csv")
    }


def value_of(detail: DetailRow, token_value: str, values: dict[str, ValueRow]) -> tuple[str, ValueClass] | None:
    """(phrase, value class) of a value token, None if the value is unknown."""
    if detail.scale == "0-10":
        if token_value not in SCALE:
            return None
        number = int(token_value)
        grade: ValueClass = "none" if number == 0 else "low" if number <= LOW else "mid" if number <= MID else "high"
        return token_value, grade
    row = values.get(token_value)
    if row is None:
        return None
    if row.value in ("V_123", "V_11"):
        return row.phrase, "none"
    if row.value == "V_10":
        return row.phrase, "no"
    if row.value == "V_12":
        return row.phrase, "yes"
    return row.phrase, "any"
