"""Open sources as rows of a release: HPO and our own concepts; files of Mondo, the Disease Ontology or any other OBO ontology."""

from __future__ import annotations

import csv
import gzip
import io
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from ontology.concepts import Kind
from ontology.errors import BedsideError
from ontology.hpo import PHENOTYPE_ROOT, HpoTerm, descendants, read_obo
from ontology.sources import Sources
from ontology.vocab.rrf import IsA, Name, SemanticType, consolidated_row, relation_row, semantic_row
from ontology.vocabulary import Vocabulary

OURS, HPO = "BEDSIDE", "HPO"
FINDING, DISEASE, SIGN_OR_SYMPTOM = "T033", "T047", "T184"
TYPE_OF_KIND: dict[Kind, str] = {
    "symptom": SIGN_OR_SYMPTOM,
    "medication": "T121",
    "vital": "T201",
    "lab": "T034",
    "imaging": "T060",
    "procedure": "T060",
    "history": DISEASE,
}
CUI_REFERENCE = re.compile(r"(?:UMLS|UMLS_CUI):(C\d{7})")
SET_VERSION = re.compile(r"#\s*mapping_set_version:.*?(\d{4}-\d{2}-\d{2})")
XREF_HEADER = ["id", "label", "xref"]


@dataclass
class Rows:
    """Rows of a source, ready for a store."""

    version: str = "unknown"
    names: list[Name] = field(default_factory=list)
    types: list[SemanticType] = field(default_factory=list)
    links: list[IsA] = field(default_factory=list)


def bundled_rows(sources: Sources, vocabulary: Vocabulary) -> Rows:
    """HPO's phenotypes and our own concepts as rows, each under the id that the vocabulary gives it.

    Args:
        sources: the concepts and terms.
        vocabulary: the vocabulary made of them.
    """
    rows = Rows(sources.hpo_version)
    concept_of: dict[str, str] = {vocabulary.ref(concept).hpo_id or "": concept for concept, _ in vocabulary.concepts()}
    for row in sources.rows:
        rows.names.append(Name(row.id, row.name, OURS, code=row.id, preference=0))
        rows.names.extend(Name(row.id, text, OURS, term_type="SY", code=row.id) for text in row.lay)
        rows.types.append(SemanticType(row.id, TYPE_OF_KIND.get(row.kind, FINDING)))
    ours = {row.id for row in sources.rows}
    for term in sorted(descendants(sources.hpo, PHENOTYPE_ROOT)):
        concept = concept_of.get(term)
        found = sources.hpo.get(term)
        if concept is None or found is None:
            continue
        rows.names.append(Name(concept, found.name, HPO, code=term, preference=3 if concept in ours else 0))
        rows.names.extend(Name(concept, text, HPO, term_type="ET" if lay else "SY", code=term) for text, _, lay in found.synonyms)
        if concept not in ours:
            rows.types.append(SemanticType(concept, SIGN_OR_SYMPTOM if vocabulary.askable(concept) else FINDING))
    for concept, _ in vocabulary.concepts():
        rows.links.extend(IsA(concept, parent, HPO) for parent in vocabulary.parents(concept))
    return rows


def write_release(folder: Path, rows: Rows) -> None:
    """Write rows as MRCONSO.RRF, MRSTY.RRF and MRREL.RRF, for tools that read nothing else.

    Raises:
        BedsideError: the folder cannot be written.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, lines in (
            ("MRCONSO.RRF", (consolidated_row(row, number) for number, row in enumerate(rows.names, 1))),
            ("MRSTY.RRF", (semantic_row(row, number) for number, row in enumerate(rows.types, 1))),
            ("MRREL.RRF", (relation_row(row, number) for number, row in enumerate(rows.links, 1))),
        ):
            with (folder / name).open("w", encoding="utf-8", newline="\n") as out:
                out.writelines(lines)
    except OSError as error:
        raise BedsideError(f"cannot be written ({error.strerror})", str(folder)) from None


def read_ontology(path: Path) -> Rows:
    """Names, types and is-a links of an ontology file, plain or gzip.

    Args:
        path: an `.obo` file (Mondo, Disease Ontology, Symptom Ontology, …), a mapping file `.sssom.tsv` (Mondo's exact matches with UMLS),
            or the Disease Ontology's table of cross-references (`.tsv` with the columns id, label, xref).

    Returns:
        rows under CUIs where the file names one for the term, else under local ids.

    Raises:
        BedsideError: the file cannot be read, is of another kind, or says nothing of use.
    """
    name = path.name.removesuffix(".gz")
    try:
        raw = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
        text = raw.decode("utf-8-sig")
    except (OSError, EOFError, UnicodeDecodeError) as error:
        raise BedsideError(f"cannot be read ({getattr(error, 'strerror', None) or error})", str(path)) from None
    if name.endswith(".obo"):
        rows = _obo(text)
    elif name.endswith(".tsv"):
        rows = _table(text, str(path))
    else:
        raise BedsideError("not a kind of ontology file that is known here", str(path), "give an .obo or a .tsv file")
    if not rows.names:
        raise BedsideError("holds no term with a name", str(path), "give an OBO file or a table of UMLS mappings")
    return rows


def _obo(text: str) -> Rows:
    version, terms = read_obo(io.StringIO(text), prefix="")
    rows = Rows(version or "unknown")
    for term in terms.values():
        if term.name:
            concept = _concept(term)
            preferred = Name(concept, term.name, _source(term.hpo_id), code=term.hpo_id, preference=0)
            rows.names.append(preferred)
            synonyms = (text for text, scope, _ in term.synonyms if scope == "EXACT")
            rows.names.extend(Name(concept, synonym, preferred.source, term_type="SY", code=term.hpo_id) for synonym in synonyms)
            rows.types.append(SemanticType(concept, SIGN_OR_SYMPTOM if preferred.source == "SYMP" else DISEASE))
            above = (terms[parent] for parent in term.parents if parent in terms)
            rows.links.extend(IsA(concept, _concept(parent), preferred.source) for parent in above)
    return rows


def _concept(term: HpoTerm) -> str:
    return term.cuis[0] if term.cuis else local_id(term.hpo_id)


def local_id(term: str) -> str:
    """The local concept id of a term that has no CUI."""
    return "X:" + re.sub(r"[^a-z0-9_-]", "-", term.lower())


def _source(term: str) -> str:
    return term.partition(":")[0].upper()


def _table(text: str, where: str) -> Rows:
    comments = [line for line in text.splitlines() if line.startswith("#")]
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    table = csv.reader(lines, delimiter="\t")
    header = next(table, [])
    versions = (SET_VERSION.match(line) for line in comments)
    rows = Rows(next((found.group(1) for found in versions if found), "unknown"))
    if header == XREF_HEADER:
        _take(rows, ((row[0], row[1], row[2]) for row in table if len(row) == 3))
    elif header[:4] == ["subject_id", "subject_label", "predicate_id", "object_id"]:
        _take(rows, ((row[0], row[1], row[3]) for row in table if len(row) > 3 and row[2] == "skos:exactMatch"))
    else:
        raise BedsideError("a table with other columns than are known here", f"{where}:1", "give an SSSOM mapping, or id, label, xref")
    return rows


def _take(rows: Rows, table: Iterable[tuple[str, str, str]]) -> None:
    """Terms with a CUI; of several CUIs a term's first names it."""
    for term, label, reference in _first_of_each(table):
        rows.names.append(Name(reference, label, _source(term), code=term, preference=0))
        rows.types.append(SemanticType(reference, DISEASE))


def _first_of_each(table: Iterable[tuple[str, str, str]]) -> Iterator[tuple[str, str, str]]:
    seen: set[str] = set()
    for term, label, reference in table:
        found = CUI_REFERENCE.fullmatch(reference)
        if found and label and term not in seen:
            seen.add(term)
            yield term, label, found.group(1)
