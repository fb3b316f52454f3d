"""Contraindications from files that a user has: MED-RT's XML and openFDA's drug labels, as rows of data/clinical/contraindications.csv.

MED-RT (US Veterans Health Administration, public): `<association>` elements named `CI_with` lead from an ingredient of RxNorm to a
disease of MeSH. openFDA (CC0): JSON with `results`, one drug label each, whose `contraindications` are the label's own sentences.
What could not be read or recognised is counted by reason, with examples; nothing is left out silently.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from ontology.clinical import ClinicalTables
from ontology.clinical_rows import CLASS_PREFIX, AgainstKind, Contraindication, Strength
from ontology.concepts import RECORD_KINDS
from ontology.documents import content_hash
from ontology.errors import BedsideError
from ontology.icd10 import resolve
from ontology.text import sentences
from ontology.vocabulary import Vocabulary
from ontology.wordings import Span

EXAMPLES = 5
QUOTED = 160
"""Characters of a label's sentence that a row keeps."""

CI_WITH = "CI_with"
OPENFDA_LICENSE = "CC0-1.0"
MEDRT_LICENSE = "public (US Veterans Health Administration)"
PREGNANCY = frozenset({"pregnancy", "pregnant women"})
ALLERGIES = frozenset({"hypersensitivity", "drug hypersensitivity", "hypersensitivity, immediate"})
NO_FINDINGS = frozenset({"medication", "allergy", "social", "exposure", "demographic", "family_history"}) | RECORD_KINDS

HEADING = re.compile(r"^\s*(?:\d+(?:\.\d+)?\s+)?CONTRAINDICATIONS?\s*:?\s*", re.IGNORECASE)
BULLET = re.compile(r"\s*[•●▪◦]\s*|\s+(?=\(\s*\d\.\d+\s*\))")
ALLERGIC = re.compile(r"\b(?:hypersensitiv|allerg|anaphyla|intoleran)", re.IGNORECASE)
PROHIBITS = re.compile(
    r"\b(?:do not (?:use|give|administer|take|prescribe)|(?:should|must) not be (?:used|given|administered|taken)|"
    r"should not (?:use|take|receive)|not (?:indicated|recommended))\b",
    re.IGNORECASE,
)
"""In a section of contraindications these say what "contraindicated" says."""
PREGNANT = re.compile(r"\bpregnan(?:t|cy)\b", re.IGNORECASE)
YOUNGER = re.compile(
    r"\b(?:under|below|less than|younger than)(?: the age of)? (\d{1,2}) years|\bchildren (?:under|below|younger than) (\d{1,2})\b",
    re.IGNORECASE,
)


@dataclass
class ImportReport:
    """What an import read and what it left out.

    Attributes:
        read: associations or labels looked at.
        left_out: reason → number.
        examples: reason → a few names.
        release: the source's release, if it states one.
    """

    read: int = 0
    left_out: Counter[str] = field(default_factory=Counter)
    examples: dict[str, list[str]] = field(default_factory=dict)
    release: str | None = None

    def skip(self, reason: str, example: str) -> None:
        """Count what is left out."""
        self.left_out[reason] += 1
        kept = self.examples.setdefault(reason, [])
        if len(kept) < EXAMPLES and example not in kept:
            kept.append(example)


class _Builder:
    """Rows without repeats."""

    def __init__(self, tables: ClinicalTables, vocabulary: Vocabulary) -> None:
        self.tables = tables
        self.vocabulary = vocabulary
        self.rows: dict[tuple[str, str, str], Contraindication] = {}

    def ingredient(self, name: str) -> str:
        """Our name of an ingredient, else the source's in lower case."""
        found = self.tables.find_drug(name)
        if len(found) == 1 and found[0].ingredient and found[0].surface.strip().lower() == name.strip().lower():
            return found[0].ingredient
        return name.strip().lower()

    def add(self, ingredient: str, kind: AgainstKind, against: str, source: str, license_: str, **cells: Any) -> None:
        """Add a row, unless the same was added."""
        row = Contraindication.model_validate(
            {
                "ingredient": ingredient,
                "kind": kind,
                "against": against,
                "source": source,
                "license": license_,
                "reviewed_by": None,
                "review_date": None,
                "verdict": None,
                **cells,
            }
        )
        self.rows.setdefault((ingredient, kind, against), row)

    def disease(self, name: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Concepts and codes of a disease by its name; MeSH's inverted names are turned ("Hypertension, Pulmonary")."""
        head, comma, tail = name.partition(", ")
        for wording in (name, f"{tail} {head}") if comma else (name,):
            entry = self.vocabulary.lookup(wording)
            resolved = resolve(wording)
            codes = resolved.codes if resolved.likeness is None else ()
            concepts = (entry.concept,) if entry is not None and self.vocabulary.kind(entry.concept) not in NO_FINDINGS else ()
            if concepts or codes:
                return concepts, codes
        return (), ()


# -- MED-RT -------------------------------------------------------------------------------------------------------------


def read_medrt(
    path: Path, tables: ClinicalTables, vocabulary: Vocabulary, strength: Strength = "absolute"
) -> tuple[list[Contraindication], ImportReport]:
    """The `CI_with` associations of a MED-RT release.

    Args:
        path: the XML file (Core_MEDRT_…_XML.xml).
        tables: know our names of ingredients.
        vocabulary: knows diseases by name.
        strength: of every row; MED-RT does not grade contraindications.

    Raises:
        BedsideError: not XML, not MED-RT, or not readable.
    """
    builder, report = _Builder(tables, vocabulary), ImportReport()
    for association in _associations(path, report):
        if association.get("name") != CI_WITH:
            continue
        report.read += 1
        source_name, target = association.get("from_name", ""), association.get("to_name", "")
        if association.get("from_namespace") != "RxNorm":
            report.skip("not from an ingredient of RxNorm", source_name)
        elif not source_name or not target:
            report.skip("a name is missing", source_name or target)
        else:
            _medrt_row(builder, report, association, strength)
    if not report.read:
        raise BedsideError(f"no association is called {CI_WITH}", str(path), "give MED-RT's XML release, Core_MEDRT_…_XML.xml")
    return list(builder.rows.values()), report


def _medrt_row(builder: _Builder, report: ImportReport, association: dict[str, str], strength: Strength) -> None:
    ingredient, target = builder.ingredient(association["from_name"]), association["to_name"]
    source = f"MED-RT {report.release or '(release not stated)'}: CI_with, RxNorm {association.get('from_code', '?')} to {target}"
    cells: dict[str, Any] = {"strength": strength, "reason": f"contraindicated with {target.lower()}"}
    if target.lower() in PREGNANCY:
        builder.add(ingredient, "pregnancy", "pregnancy", source, MEDRT_LICENSE, **cells)
        return
    if target.lower() in ALLERGIES:
        builder.add(ingredient, "allergy", f"{ingredient} allergy", source, MEDRT_LICENSE, drugs=(ingredient,), **cells)
        return
    concepts, codes = builder.disease(target)
    if concepts or codes:
        builder.add(ingredient, "condition", target.lower(), source, MEDRT_LICENSE, concepts=concepts, icd10=codes, **cells)
    else:
        report.skip("disease without a concept or code of ours", target)


def _associations(path: Path, report: ImportReport) -> Iterator[dict[str, str]]:
    """The direct children of each `<association>`, name → text; memory stays small."""
    try:
        with path.open("rb") as handle:
            parsed = ElementTree.iterparse(handle, events=("start", "end"))
            _, root = next(parsed)
            if root.tag != "terminology":
                raise BedsideError(f"the root element is <{root.tag}>, not <terminology>", str(path), "give MED-RT's XML release")
            for event, element in parsed:
                if event != "end":
                    continue
                if element.tag == "version" and report.release is None:
                    report.release = (element.text or "").strip() or None
                if element.tag == "association":
                    yield {child.tag: (child.text or "").strip() for child in reversed(element)}
                    root.clear()
                elif element.tag in ("concept", "term"):
                    root.clear()
    except (ElementTree.ParseError, StopIteration) as error:
        raise BedsideError(f"not well-formed XML ({error})", str(path)) from None
    except OSError as error:
        raise BedsideError(f"cannot be read ({error.strerror})", str(path)) from None


# -- openFDA ------------------------------------------------------------------------------------------------------------


def read_openfda(paths: Iterable[Path], tables: ClinicalTables, vocabulary: Vocabulary) -> tuple[list[Contraindication], ImportReport]:
    """The contraindications of openFDA drug labels, as far as our phrases recognise them.

    Args:
        paths: JSON files of the drug label endpoint or its bulk download (unpacked).
        tables: know drugs by name.
        vocabulary: knows diseases by name.

    Raises:
        BedsideError: a file is not JSON with `results`, or not readable.
    """
    builder, report = _Builder(tables, vocabulary), ImportReport()
    for path in paths:
        for label in _labels(path):
            report.read += 1
            _read_label(builder, report, label)
    return list(builder.rows.values()), report


def _labels(path: Path) -> list[dict[str, Any]]:
    try:
        raw = json.loads(path.read_text(encoding="utf-8"))
    except UnicodeDecodeError:
        raise BedsideError("not UTF-8 text", str(path), "unpack the download first") from None
    except ValueError as error:
        raise BedsideError(f"not valid JSON ({error})", str(path)) from None
    except OSError as error:
        raise BedsideError(f"cannot be read ({error.strerror})", str(path)) from None
    results = raw.get("results") if isinstance(raw, dict) else None
    if not isinstance(results, list) or not all(isinstance(label, dict) for label in results):
        raise BedsideError("no list of labels called 'results'", str(path), "give a file of openFDA's drug/label endpoint")
    return results


def _texts(value: object) -> list[str]:
    return [text for text in value if isinstance(text, str)] if isinstance(value, list) else []


def _read_label(builder: _Builder, report: ImportReport, label: dict[str, Any]) -> None:
    openfda = label.get("openfda") if isinstance(label.get("openfda"), dict) else {}
    names = _texts(openfda.get("generic_name")) or _texts(openfda.get("substance_name")) if isinstance(openfda, dict) else []
    title = str(label.get("set_id") or label.get("id") or content_hash(label)[:12])
    sections = _texts(label.get("contraindications"))
    if not sections:
        report.skip("label without a section of contraindications", names[0] if names else title)
        return
    found = {m.ingredient for name in names for m in builder.tables.find_drug(name) if m.ingredient}
    if len(found) != 1:
        report.skip(
            "label of several ingredients" if found else "label of an ingredient that drugs.csv does not name", ", ".join(names) or title
        )
        return
    ingredient = found.pop()
    source = f"openFDA drug label {title}, effective {label.get('effective_time', 'date not stated')}, contraindications"
    for section in sections:
        for sentence in _sentences(section):
            _read_sentence(builder, report, ingredient, sentence, source)


def _sentences(section: str) -> Iterator[str]:
    for piece in BULLET.split(HEADING.sub("", section)):
        for start, end in sentences(piece or ""):
            if any(letter.isalpha() for letter in piece[start:end]):
                yield piece[start:end].strip()


def _read_sentence(builder: _Builder, report: ImportReport, ingredient: str, sentence: str, source: str) -> None:
    """Rows of one sentence; one that adds nothing is counted."""
    before = len(builder.rows)
    reason = sentence if len(sentence) <= QUOTED else sentence[: QUOTED - 1].rstrip() + "…"
    sentence = PROHIBITS.sub("contraindicated", sentence)
    reading = builder.tables.reading(sentence, builder.vocabulary)

    def add(kind: AgainstKind, against: str, **cells: Any) -> None:
        builder.add(ingredient, kind, against, source, OPENFDA_LICENSE, strength="absolute", reason=reason, **cells)

    def stands(span: Span) -> bool:
        number = next((n for n, (a, b, _) in enumerate(reading.sentences) if a <= span[0] and span[1] <= b), None)
        return number is not None and not reading.negated(span, number)

    found = (m.subject for m in builder.tables.find_drug(sentence) if stands((m.start, m.end)))
    others = tuple(dict.fromkeys(name for name in found if name != ingredient))
    if ALLERGIC.search(sentence):
        for name in (ingredient, *others):
            add("allergy", f"{_plain(name)} allergy", drugs=(name,))
    else:
        for name in others:
            add("drug", _plain(name), drugs=(name,))
        for concept in _conditions(builder.vocabulary, sentence, stands):
            add("condition", builder.vocabulary.name(concept).lower(), concepts=(concept,))
    pregnant = PREGNANT.search(sentence)
    if pregnant is not None and stands(pregnant.span()):
        add("pregnancy", "pregnancy")
    for young in YOUNGER.finditer(sentence):
        years = int(young.group(1) or young.group(2))
        if years and stands(young.span()):
            add("age", f"under {years} years", below_age=years)
    if len(builder.rows) == before:
        report.skip("sentence in which nothing new was recognised", reason)


def _conditions(vocabulary: Vocabulary, sentence: str, stands: Callable[[Span], bool]) -> Iterator[str]:
    """Concepts of findings and diseases that a sentence names and does not negate; pregnancy has rows of its own kind."""
    for match in vocabulary.find(sentence):
        told = vocabulary.kind(match.concept) in NO_FINDINGS or vocabulary.generic(match.concept)
        if not told and stands((match.start, match.end)) and not PREGNANT.search(sentence[match.start : match.end]):
            yield match.concept


def _plain(subject: str) -> str:
    return subject.removeprefix(CLASS_PREFIX).replace("-", " ") if subject.startswith(CLASS_PREFIX) else subject
