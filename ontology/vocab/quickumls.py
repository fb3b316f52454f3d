"""A QuickUMLS index, built and loaded without any download.

QuickUMLS' own installer and its class download a spaCy model and NLTK's stop words. Here its lower-level writers are used, the stop words
are spaCy's, written where NLTK looks for them, and the matcher is the spaCy component on a blank pipeline. Needs the extra `quickumls`; the
package is `medspacy_quickumls`, never PyPI's `quickumls`, which owns the same module name.
"""

from __future__ import annotations

import importlib
import importlib.util
import itertools
import pickle
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ontology.errors import BedsideError
from ontology.vocab.rrf import Name, SemanticType

FOLDER = "quickumls"
SIMSTRING, SEMTYPES, STOPWORDS = "umls-simstring.db", "cui-semtypes.db", "nltk_data"
PER_COMMIT = 50_000
UNKNOWN_TYPE = "T033"
"""QuickUMLS drops a concept without semantic type; UMLS has a few, and they are findings as far as we can tell."""

ACCEPTED = ("T184", "T033", "T046", "T047", "T048", "T191", "T037", "T034", "T041", "T121", "T060", "T201")
"""metrics.md 2.4, and what our own concepts of procedures and measurements have."""

Surface = tuple[str, str, tuple[str, ...], bool]
"""A name in the form QuickUMLS looks up (`folded`), its CUI, the CUI's semantic types, whether it is preferred."""


def available() -> bool:
    """Whether the extra is installed."""
    return all(importlib.util.find_spec(name) is not None for name in ("spacy", "quickumls", "pysimstring", "nltk"))


def _need() -> None:
    if not available():
        raise BedsideError("QuickUMLS is not installed", "extra quickumls", "pip install 'bedside[quickumls]'")


def build_quickumls(folder: Path, surfaces: Iterable[Surface]) -> int:
    """Write a QuickUMLS index.

    Args:
        folder: a folder to make.
        surfaces: names sorted by name, so that one name's concepts come together and each is written once.

    Returns:
        how many different names it holds.

    Raises:
        BedsideError: the extra is not installed.
    """
    _need()
    toolbox: Any = importlib.import_module("quickumls.toolbox")
    for part in (SIMSTRING, SEMTYPES):
        (folder / part).mkdir(parents=True)
    for flag, content in (("lowercase.flag", ""), ("language.flag", "ENG"), ("database_backend.flag", "unqlite")):
        (folder / flag).write_text(content, encoding="utf-8")
    _write_stop_words(folder / STOPWORDS)
    terms = toolbox.SimstringDBWriter(str(folder / SIMSTRING))
    concepts = toolbox.CuiSemTypesDB(str(folder / SEMTYPES), database_backend="unqlite")
    count = 0
    typed: set[str] = set()
    for term, group in itertools.groupby(surfaces, key=lambda surface: surface[0]):
        preferred: dict[str, bool] = {}
        for _, cui, types, best in group:
            preferred[cui] = best or preferred.get(cui, False)
            if cui not in typed:
                typed.add(cui)
                concepts.semtypes_db_put(cui.encode(), pickle.dumps(set(types) or {UNKNOWN_TYPE}))
        terms.insert(term)
        concepts.cui_db_put(term.encode(), pickle.dumps({(cui, int(best)) for cui, best in preferred.items()}))
        count += 1
        if count % PER_COMMIT == 0:  # UnQLite holds all that is not committed in memory
            concepts.cui_db.commit()
            concepts.semtypes_db.commit()
    for database in (concepts.cui_db, concepts.semtypes_db):
        database.close()
    terms.db.close()
    return count


def folded(name: str) -> str:
    """A name as QuickUMLS looks it up in an index made with its `lowercase` flag."""
    return unicodedata.normalize("NFKD", name.lower())


def surfaces_of(names: Iterable[Name], types: Iterable[SemanticType]) -> list[Surface]:
    """Names in the order in which an index is built."""
    found: dict[str, set[str]] = {}
    for row in types:
        found.setdefault(row.cui, set()).add(row.tui)
    return sorted({(folded(n.text), n.cui, tuple(sorted(found.get(n.cui, ()))), n.preference == 0) for n in names})


def _write_stop_words(folder: Path) -> None:
    stop_words: Any = importlib.import_module("spacy.lang.en.stop_words")
    words = folder / "corpora" / "stopwords" / "english"
    words.parent.mkdir(parents=True)
    words.write_text("\n".join(sorted(stop_words.STOP_WORDS)) + "\n", encoding="utf-8")


@dataclass(frozen=True)
class Found:
    """A concept that QuickUMLS found: code-point span, id, similarity from 0 to 1, semantic types."""

    start: int
    end: int
    cui: str
    similarity: float
    types: tuple[str, ...]


class QuickUmlsMatcher:
    """QuickUMLS as the only component of a blank English pipeline."""

    def __init__(self, folder: Path, threshold: float = 0.7, window: int = 5) -> None:
        """Load an index.

        Args:
            folder: the `quickumls` folder of a built vocabulary.
            threshold: least Jaccard similarity over letter trigrams.
            window: longest phrase in tokens.

        Raises:
            BedsideError: the extra is not installed, or there is no such index.
        """
        _need()
        if not (folder / "database_backend.flag").is_file():
            raise BedsideError("holds no QuickUMLS index", str(folder), "bedside vocab build")
        nltk: Any = importlib.import_module("nltk")
        spacy: Any = importlib.import_module("spacy")
        importlib.import_module("quickumls.spacy_component")
        stop_words = str((folder / STOPWORDS).absolute())
        # NLTK looks through its folders in order: ours must come first, or it might find another list, or none and download.
        nltk.data.path[:] = [stop_words, *(place for place in nltk.data.path if place != stop_words)]
        self.pipeline: Any = spacy.blank("en")
        self.pipeline.add_pipe("sentencizer")
        settings = {"quickumls_fp": str(folder), "threshold": threshold, "window": window, "result_type": "group"}
        self.pipeline.add_pipe("medspacy_quickumls", config={**settings, "accepted_semtypes": list(ACCEPTED)})
        self._matcher: Any = self.pipeline.get_pipe("medspacy_quickumls").quickumls

    def find(self, text: str) -> list[Found]:
        """All concepts of a text, the best of each span first; spans do not overlap."""
        doc = self.pipeline.make_doc(text)
        found = []
        for span in self._matcher._match(doc):
            for match in span:
                types = tuple(sorted(match["semtypes"]))
                found.append(Found(int(match["start"]), int(match["end"]), str(match["cui"]), float(match["similarity"]), types))
        return sorted(found, key=lambda one: (one.start, one.end, -one.similarity, one.cui))
