"""DDXPlus (Fansi Tchango et al. 2022, CC BY 4.0): release files → PatientVectors.

The world is closed: an evidence that is not listed is absent, whatever the release's `default_value` says. INITIAL_EVIDENCE opens the
encounter. The gold differential is kept. Codes are normalised, and the few wrong ones replaced with a stated reason.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

from pydantic import ValidationError

from ontology.annotator import findings
from ontology.documents import content_hash, problems
from ontology.vocabulary import Vocabulary
from simulator.case import (
    CAREGIVER_BELOW_AGE,
    CasePresentation,
    Diagnosis,
    Fact,
    GroundTruth,
    PatientFacts,
    PatientVector,
    Provenance,
    Sex,
    WeightedDiagnosis,
    opaque_case_id,
)
from simulator.pools.index import PoolIndex, choose
from simulator.pools.person import Person, fill
from simulator.sources.ddxplus_files import COLUMNS, Release, read_patients, split_of
from simulator.sources.ddxplus_tables import ConditionRow, DdxplusTables, value_of

LICENSE = "CC BY 4.0"
PIPELINE_VERSION = "1"
ICD_RELEASE = "ICD-10-CM 2026-04"
ADDITIVE = re.compile(r"\b(?:also|too|as well|another|besides|on top|other thing)\b|^(?:oh\W+)?and\b", re.IGNORECASE)
LEADING_YES = re.compile(r"^(?:yes|yeah|yep|oh yes)\b[\s,.:;–-]*", re.IGNORECASE)


@dataclass
class ImportReport:
    """What became of the rows."""

    read: int = 0
    imported: int = 0
    broken: list[str] = field(default_factory=list)
    unmapped: dict[str, int] = field(default_factory=dict)
    """evidence tokens without a row in our table, with how often; they become local concepts"""


class RowProblem(ValueError):
    """Why a row cannot become a case."""


class DdxplusImporter:
    """Turns rows into cases."""

    def __init__(self, release: Release, tables: DdxplusTables, pool: PoolIndex, vocabulary: Vocabulary, version: str = "22687585") -> None:
        """Make an importer.

        Args:
            release: the description files.
            tables: our mapping.
            pool: utterances, for the opening words.
            vocabulary: the concepts.
            version: the release's version, kept in the provenance.
        """
        self._release = release
        self._tables = tables
        self._pool = pool
        self._vocabulary = vocabulary
        self._version = version

    def cases(self, path: Path, report: ImportReport, limit: int | None = None) -> Iterator[PatientVector]:
        """Cases of a patient file, of its first `limit` rows; broken rows go into the report, with file, line and reason."""
        for number, (line, row) in enumerate(read_patients(path)):
            if limit is not None and number >= limit:
                return
            report.read += 1
            try:
                case = self.case(row, split_of(path), report)
            except RowProblem as problem:
                report.broken.append(f"{path.name}:{line}: {problem}")
            except ValidationError as error:
                report.broken.append(f"{path.name}:{line}: {problems(error)}")
            else:
                report.imported += 1
                yield case

    def case(self, row: dict[str, str], split: str | None, report: ImportReport) -> PatientVector:
        """One row as a case.

        Raises:
            RowProblem: the row is broken.
        """
        if None in row or any(row.get(column) is None for column in COLUMNS):
            raise RowProblem("wrong number of columns")
        age = self._age(row["AGE"])
        sex = self._sex(row["SEX"])
        condition = self._condition(row["PATHOLOGY"])
        tokens = self._tokens(row["EVIDENCES"])
        facts, by_evidence = self._facts(tokens, report)
        opening = by_evidence.get(row["INITIAL_EVIDENCE"])
        if opening is None:
            raise RowProblem(f"INITIAL_EVIDENCE {row['INITIAL_EVIDENCE']!r} is not among the evidences")
        facts = [f.model_copy(update={"disclosure": "opening"}) if f.fact_id == opening.fact_id else f for f in facts]
        source_id = content_hash([row[column] for column in COLUMNS])[:16]
        case_id = opaque_case_id("ddxplus", source_id)
        provenance = Provenance(
            source="ddxplus",
            source_id=source_id,
            source_version=self._version,
            split=split,
            license=LICENSE,
            redistributable=True,
            world_assumption="closed",
            hpo_release=self._vocabulary.hpo_version,
            icd_release=ICD_RELEASE,
            pipeline_version=PIPELINE_VERSION,
        )
        return PatientVector(
            case_id=case_id,
            provenance=provenance,
            ground_truth=self._truth(condition, row["DIFFERENTIAL_DIAGNOSIS"]),
            patient_facts=PatientFacts(age=age, sex=sex, facts=facts),
            presentation=CasePresentation(
                chief_complaint=[opening.fact_id], opening_text=self._opening(opening.concept.cui, Person(age, sex), case_id)
            ),
        )

    # -- parts of a row -----------------------------------------------------------------------------------------------

    def _age(self, text: str) -> int:
        if not re.fullmatch(r"\s*[0-9]{1,3}\s*", text) or int(text) > 120:
            raise RowProblem(f"AGE {text!r} is not an age")
        return int(text)

    def _sex(self, text: str) -> Sex:
        sexes: dict[str, Sex] = {"M": "M", "F": "F"}
        if text not in sexes:
            raise RowProblem(f"SEX {text!r} is neither M nor F")
        return sexes[text]

    def _condition(self, name: str) -> ConditionRow:
        if name not in self._release.conditions:
            raise RowProblem(f"PATHOLOGY {name!r} is not in release_conditions.json")
        known = self._tables.conditions.get(name)
        if known is not None:
            return known
        raw = str(self._release.conditions[name].get("icd10-id", ""))
        slug = "ddx-" + re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")
        return ConditionRow(name, slug, name, raw, _codes(raw, name), None, ())

    def _tokens(self, text: str) -> list[str]:
        tokens = _literal(text, "EVIDENCES")
        if not isinstance(tokens, list) or not all(isinstance(token, str) for token in tokens):
            raise RowProblem("EVIDENCES is not a list of tokens")
        if len(set(tokens)) != len(tokens):
            raise RowProblem("EVIDENCES names a token twice")
        return tokens

    def _facts(self, tokens: list[str], report: ImportReport) -> tuple[list[Fact], dict[str, Fact]]:
        facts: list[Fact] = []
        by_evidence: dict[str, Fact] = {}
        for token in tokens:
            evidence, _, value = token.partition("_@_")
            if evidence not in self._release.evidences:
                raise RowProblem(f"evidence {evidence!r} is not in release_evidences.json")
            for fact in self._of_token(token, evidence, value, report):
                facts.append(fact.model_copy(update={"fact_id": f"f{len(facts) + 1:02d}"}))
                if fact.status == "present" and fact.attribute is None:
                    by_evidence.setdefault(evidence, facts[-1])
        stated = {f.concept.cui for f in facts if f.attribute is None}
        for concept in dict.fromkeys(self._sites(tokens)):
            if concept not in stated:
                facts.append(self._fact(f"f{len(facts) + 1:02d}", concept, "symptom", status_source="inferred"))
        return facts, by_evidence

    def _of_token(self, token: str, evidence: str, value: str, report: ImportReport) -> list[Fact]:
        row = self._tables.evidences.get(evidence)
        detail = self._tables.details.get(evidence)
        if value and detail is not None:
            parent = self._tables.evidences.get(detail.parent)
            known = value_of(detail, value, self._tables.values)
            allowed = {str(v) for v in self._release.evidences[evidence].get("possible-values", [])}
            if known is None or parent is None or value not in allowed:
                raise RowProblem(f"value {value!r} of {evidence} is not among its possible values")
            phrase, value_class = known
            if detail.scale == "region":
                return self._travel(token, parent.concepts[0], phrase, value_class)
            return [
                self._fact(
                    "f",
                    parent.concepts[0],
                    parent.kind,
                    attribute=detail.attribute,
                    value=phrase,
                    value_class=value_class,
                    source_ref=token,
                )
            ]
        if row is not None and not value:
            volunteer = row.kind == "symptom"
            # "A or B" says that one of them is so, not which: the first is taken for it, the patient is unsure of the others.
            return [
                self._fact(
                    "f",
                    concept,
                    self._vocabulary.kind(concept),
                    status="present" if concept == row.concepts[0] else "unknown",
                    status_source="stated" if concept == row.concepts[0] else "inferred",
                    source_ref=token,
                    disclosure="volunteer" if volunteer else "on_ask",
                )
                for concept in row.concepts
            ]
        report.unmapped[token] = report.unmapped.get(token, 0) + 1
        antecedent = bool(self._release.evidences[evidence].get("is_antecedent"))
        local = "X:ddx-" + evidence.lower().replace("_", "-")
        if value:
            return [self._fact("f", local, "symptom", attribute="detail", value=value, value_class="any", source_ref=token)]
        return [self._fact("f", local, "history" if antecedent else "symptom", source_ref=token)]

    def _travel(self, token: str, concept: str, phrase: str, value_class: Any) -> list[Fact]:
        if value_class in ("no", "none"):
            return [self._fact("f", concept, "exposure", status="absent", source_ref=token)]
        return [
            self._fact("f", concept, "exposure", source_ref=token),
            self._fact("f", concept, "exposure", attribute="destination", value=phrase, value_class="any", source_ref=token),
        ]

    def _sites(self, tokens: list[str]) -> Iterator[str]:
        """Pain at a place is that place's pain: the chest pain an examiner will ask for."""
        for token in tokens:
            evidence, _, value = token.partition("_@_")
            detail = self._tables.details.get(evidence)
            if detail is not None and detail.attribute == "location" and detail.parent == "E_53":
                row = self._tables.values.get(value)
                if row is not None and row.site:
                    yield self._vocabulary.canonical(row.site)

    def _fact(self, fact_id: str, concept: str, kind: Any, **more: Any) -> Fact:
        fields: dict[str, Any] = {"status": "present", **more}
        return Fact(fact_id=fact_id, concept=self._vocabulary.ref(concept), kind=kind, **fields)

    def _truth(self, condition: ConditionRow, differential: str) -> GroundTruth:
        pairs = _literal(differential, "DIFFERENTIAL_DIAGNOSIS")
        if not isinstance(pairs, list):
            raise RowProblem("DIFFERENTIAL_DIAGNOSIS is not a list")
        items = []
        for pair in pairs:
            if not (isinstance(pair, list | tuple) and len(pair) == 2 and isinstance(pair[0], str) and isinstance(pair[1], int | float)):
                raise RowProblem("DIFFERENTIAL_DIAGNOSIS is not a list of [name, probability]")
            row = self._condition(pair[0])
            items.append(WeightedDiagnosis(dx=Diagnosis(name=row.name, icd10=list(row.icd10)), prob=float(pair[1])))
        severity = self._release.conditions[condition.condition].get("severity")
        if not isinstance(severity, int) or not 1 <= severity <= 5:
            raise RowProblem(f"severity {severity!r} of {condition.condition!r} is not 1 to 5")
        return GroundTruth(
            disease_id=condition.disease_id,
            primary=Diagnosis(name=condition.name, icd10=list(condition.icd10), aliases=list(condition.aliases)),
            differential=items,
            acuity=severity,
            acuity_scale="ddxplus_severity",
            code_note=condition.override_reason,
        )

    def _opening(self, concept: str, person: Person, case_id: str) -> str:
        third = person.age < CAREGIVER_BELOW_AGE
        rng = Random(f"opening:{case_id}")
        # "I've also had a cough" is no way to begin.
        candidates = [*self._pool.of_concept(concept, "volunteer"), *self._pool.of_concept(concept, "affirm")]
        candidates = [u for u in candidates if not ADDITIVE.search(u.text)]
        plain = [u for u in candidates if (concept, True) in findings(u.text, self._vocabulary)]
        utterance = choose(plain, third, (), rng) or choose(candidates, third, (), rng)
        utterance = utterance or choose(self._pool.of_act("affirm_other"), third, (), rng)
        if utterance is None:
            raise RowProblem(f"no words to open with for {concept}")
        said = fill(utterance.text, person, name=self._vocabulary.name(concept).lower(), value="")
        said = LEADING_YES.sub("", said)
        return said[:1].upper() + said[1:]


def _codes(raw: str, name: str) -> tuple[str, ...]:
    from ontology.icd10 import normalise

    codes = normalise(raw).codes
    if not codes:
        raise RowProblem(f"ICD-10 code {raw!r} of {name!r} is not a code")
    return tuple(codes)


def _literal(text: str, column: str) -> Any:
    try:
        return ast.literal_eval(text)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        raise RowProblem(f"{column} is not a Python literal") from None
