"""`python tests/bench/knowledge.py FOLDER`: how good the disease profiles are; figures for people to read, nothing passes or fails.

FOLDER holds `health_knowledge_graph/` (Rotmensch et al., Sci Rep 2017;7:5994) and `ddxplus/` (Fansi Tchango et al., NeurIPS 2022).

1. Our curated profiles against the knowledge graph: for diseases that both know, do they rank the features of a disease alike?
2. Profiles counted over the train and validate patients against the test patients: calibration of P(feature | disease) by bin.
3. The belief model on the test patients with all evidence given: accuracy, log score.
4. Expected information gain over all questions: milliseconds a turn.
"""

from __future__ import annotations

import re
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from metrics.statistics import bootstrap_mean, wilson
from ontology.belief import BeliefModel
from ontology.concepts import RECORD_KINDS
from ontology.profiles import LEAK, ProfileSet, curated_profiles, load_profiles
from ontology.vocabulary import Vocabulary, default_vocabulary
from simulator.build import default_ward
from simulator.case import PatientVector
from simulator.sources.ddxplus import DdxplusImporter, ImportReport
from simulator.sources.ddxplus_files import patient_files, read_release
from simulator.sources.ddxplus_tables import ddxplus_tables

SEED = 7
SHOWN = 20
MIN_SHARED = 5
"""Shared features below which ranks say nothing."""
BINS = (0.0, 0.03, 0.1, 0.3, 0.5, 0.7, 0.9, 1.01)
REPEATS = 200
EDGE = re.compile(r"\s*([^,()]+(?:\([^)]*\))?) \((\d*\.\d+)\)")

SAME = {
    # the graph's name: ours; only where both mean one disease
    "acid reflux": "gerd", "anaphylaxis": "anaphylaxis", "appendicitis": "appendicitis", "asthma": "asthma",
    "atrial fibrillation": "atrial-fibrillation", "bipolar disorder": "bipolar-mania", "brain tumor": "brain-tumour",
    "bronchitis": "acute-bronchitis", "celiac disease": "coeliac-disease", "cellulitis": "cellulitis",
    "cholecystitis": "cholecystitis", "chronic obstructive pulmonary disease": "copd-exacerbation", "colon cancer": "colorectal-cancer",
    "common cold": "common-cold", "congestive heart failure": "heart-failure", "crohn's disease": "crohns-ileitis",
    "deep vein thrombosis": "deep-vein-thrombosis", "diverticulitis": "diverticulitis", "ectopic pregnancy": "ectopic-pregnancy",
    "endometriosis": "endometriosis", "fibromyalgia": "fibromyalgia", "gout": "gout", "heart attack": "acute-coronary-syndrome",
    "hepatitis a": "hepatitis-a", "hyperthyroidism": "hyperthyroidism", "hypoglycemia": "hypoglycaemia", "hyponatremia": "hyponatraemia",
    "hypothyroidism": "hypothyroidism", "iron deficiency anemia": "iron-deficiency-anaemia",
    "irritable bowel syndrome": "irritable-bowel-syndrome", "kidney infection": "pyelonephritis", "kidney stone": "renal-colic",
    "lung cancer": "lung-cancer", "lupus": "systemic-lupus", "lyme disease": "lyme-disease", "major depression": "major-depression",
    "middle ear infection": "otitis-media", "migraine": "migraine", "mono": "infectious-mononucleosis",
    "multiple sclerosis": "multiple-sclerosis", "myasthenia gravis": "myasthenia-gravis", "osteoarthritis": "knee-osteoarthritis",
    "pancreatitis": "acute-pancreatitis", "parkinson's disease": "parkinson", "pneumonia": "pneumonia", "pneumothorax": "pneumothorax",
    "pulmonary embolism": "pulmonary-embolism", "rheumatoid arthritis": "rheumatoid-arthritis", "sciatica": "sciatica",
    "sepsis": "sepsis", "shingles": "shingles", "sinusitis": "acute-sinusitis", "stomach flu": "gastroenteritis",
    "stomach ulcer": "peptic-ulcer", "strep throat": "strep-throat", "stroke": "ischaemic-stroke", "tension headache": "tension-headache",
    "type 2 diabetes": "type-2-diabetes", "ulcerative colitis": "ulcerative-colitis", "urinary tract infection": "cystitis",
}  # fmt: skip


@dataclass(frozen=True)
class Disagreement:
    """A feature whose place among a disease's features differs; places as shares of the list, 0 the most frequent."""

    disease: str
    concept: str
    ours: float
    theirs: float
    place: float
    their_place: float

    @property
    def size(self) -> float:
        return abs(self.place - self.their_place)


def graph(path: Path) -> dict[str, dict[str, float]]:
    """Disease → symptom → weight. The file has old-Mac line ends."""
    lines = path.read_bytes().decode("utf-8").replace("\r\n", "\n").replace("\r", "\n").split("\n")
    found = {}
    for line in lines[1:]:
        name, _, symptoms = line.partition(",")
        if name.strip():
            found[name.strip().strip('"')] = {m.group(1).strip(): float(m.group(2)) for m in EDGE.finditer(symptoms)}
    return found


def ranks(values: Sequence[float]) -> np.ndarray:
    """Mean ranks, 1 the smallest."""
    array = np.asarray(values, dtype=float)
    return np.array([(array < value).sum() + ((array == value).sum() + 1) / 2 for value in array])


def spearman(one: Sequence[float], other: Sequence[float]) -> float | None:
    """Rank correlation with ties; None where a side does not vary."""
    a, b = ranks(one), ranks(other)
    if a.std() == 0 or b.std() == 0:
        return None
    return float(np.corrcoef(a, b)[0, 1])


def mean_text(values: Sequence[float]) -> str:
    """A mean with its bootstrap interval."""
    interval = bootstrap_mean(values, seed=SEED)
    return f"{np.mean(values):.3f} ({interval.low:.3f} to {interval.high:.3f})" if interval else f"{np.mean(values):.3f}"


def in_concepts(symptoms: dict[str, float], vocabulary: Vocabulary, missed: Counter[str]) -> dict[str, float]:
    """The graph's symptoms as our concepts; the largest weight of those that are one concept."""
    found: dict[str, float] = {}
    for text, weight in symptoms.items():
        entry = vocabulary.lookup(text)
        if entry is None:
            missed[text] += 1
        elif not vocabulary.generic(entry.concept) and vocabulary.kind(entry.concept) not in RECORD_KINDS:
            found[entry.concept] = max(found.get(entry.concept, 0.0), weight)
    return found


def against_graph(path: Path) -> None:
    vocabulary, curated = default_vocabulary(), curated_profiles()
    theirs = graph(path)
    print(f"1. Knowledge graph: {len(theirs)} diseases, {sum(map(len, theirs.values())):,} edges")
    missed: Counter[str] = Counter()
    known = {name: in_concepts(symptoms, vocabulary, missed) for name, symptoms in theirs.items()}
    edges = sum(map(len, theirs.values()))
    print(
        f"   edges whose symptom is a phrase here: {1 - sum(missed.values()) / edges:.1%}; commonest that are not: {missed.most_common(12)}"
    )
    agreement, covered, worst, rows = [], [], [], []
    for name, ours_id in SAME.items():
        profile = curated.get(ours_id)
        if profile is None or name not in known:
            continue
        ours = {
            vocabulary.canonical(f.concept): f.probability
            for f in profile.features
            if f.kind not in RECORD_KINDS and not vocabulary.generic(f.concept)
        }
        shared = sorted(set(ours) & set(known[name]))
        covered.append(len(shared) / max(1, len(known[name])))
        if len(shared) < MIN_SHARED:
            continue
        mine, other = [ours[c] for c in shared], [known[name][c] for c in shared]
        rho = spearman(mine, other)
        if rho is None:
            continue
        agreement.append(rho)
        rows.append((rho, name, len(shared)))
        count = len(shared)
        for concept, place, their_place in zip(shared, ranks([-v for v in mine]), ranks([-v for v in other]), strict=True):
            places = (float((place - 1) / (count - 1)), float((their_place - 1) / (count - 1)))
            worst.append(Disagreement(ours_id, concept, ours[concept], known[name][concept], *places))
    print(
        f"   {len(covered)} diseases that both know; {np.mean(covered):.0%} of the graph's known features of a disease are in our profile"
    )
    print(
        f"   Spearman over shared features, {len(agreement)} diseases with at least {MIN_SHARED}: "
        f"mean {mean_text(agreement)}, median {np.median(agreement):.2f}"
    )
    print("   by disease: " + "; ".join(f"{name} {rho:.2f} ({count})" for rho, name, count in sorted(rows, reverse=True)))
    print(f"   the {SHOWN} worst disagreements (place among the shared features, 0 = most frequent):")
    for one in sorted(worst, key=lambda d: (-d.size, d.disease, d.concept))[:SHOWN]:
        name = vocabulary.name(one.concept)
        print(f"     {one.disease:<26} {name:<34} ours {one.ours:.2f} at {one.place:.2f}, graph {one.theirs:.3f} at {one.their_place:.2f}")


def present(case: PatientVector, vocabulary: Vocabulary) -> set[str]:
    facts = case.patient_facts.facts
    return {vocabulary.canonical(f.concept.cui) for f in facts if f.status == "present" and f.attribute is None and f.askable}


def calibration(cases: Sequence[PatientVector], counted: ProfileSet, vocabulary: Vocabulary) -> None:
    """P(feature | disease) of the counted profiles against shares among the test patients, over all pairs."""
    features = sorted({vocabulary.canonical(f.concept) for p in counted.profiles.values() for f in p.features})
    total: Counter[str] = Counter()
    seen: dict[str, Counter[str]] = defaultdict(Counter)
    for case in cases:
        total[case.ground_truth.disease_id] += 1
        seen[case.ground_truth.disease_id].update(present(case, vocabulary))
    print(f"2. P(feature | disease) from {sum(p.n or 0 for p in counted.profiles.values())} patients against {len(cases)} test patients")
    binned: dict[int, list[tuple[float, int, int]]] = defaultdict(list)
    for disease, n in total.items():
        own = {vocabulary.canonical(f.concept): f.probability for f in counted[disease].features}
        for concept in features:
            p = own.get(concept, LEAK)
            binned[max(i for i, low in enumerate(BINS) if p >= low)].append((p, seen[disease][concept], n))
    error = weight = 0.0
    for index in sorted(binned):
        pairs = binned[index]
        n = sum(size for _, _, size in pairs)
        said = sum(p * size for p, _, size in pairs) / n
        interval = wilson(sum(k for _, k, _ in pairs), n)
        observed = sum(k for _, k, _ in pairs) / n
        error, weight = error + n * abs(said - observed), weight + n
        between = f"({interval.low:.3f} to {interval.high:.3f})"
        print(
            f"   [{BINS[index]:.2f}, {min(1, BINS[index + 1]):.2f}) {len(pairs):>6,} pairs: "
            f"said {said:.3f}, observed {observed:.3f} {between}"
        )
    print(f"   expected calibration error {error / weight:.4f}")


def all_evidence(cases: Sequence[PatientVector], counted: ProfileSet, vocabulary: Vocabulary) -> None:
    """Every askable feature answered; and, for comparison, only what is present."""
    model = BeliefModel(counted, vocabulary)
    for title, with_absent in (("all evidence, present and absent", True), ("present only", False)):
        right, top3, surprise = [], [], []
        for case in cases:
            here = present(case, vocabulary)
            implied = here | {above for concept in here for above in vocabulary.ancestors(concept)}
            belief = model.prior(case.patient_facts.age, case.patient_facts.sex)
            for concept in model.askable:
                if concept in implied:
                    belief = model.update(belief, concept, "affirmed")
                elif with_absent:
                    belief = model.update(belief, concept, "denied")
            truth = case.ground_truth.disease_id
            order = [disease for disease, _ in model.ranked(belief)]
            right.append(float(order[0] == truth))
            top3.append(float(truth in order[:3]))
            surprise.append(-float(np.log2(max(belief[model.diseases.index(truth)], 1e-12))))
        print(
            f"   {title}: accuracy {mean_text(right)}, among the first three {np.mean(top3):.3f}, "
            f"log score {np.mean(surprise):.3f} bits (median {np.median(surprise):.3f}; chance {np.log2(len(model.diseases)):.2f})"
        )


def gains(sets: Iterable[tuple[str, ProfileSet]], vocabulary: Vocabulary) -> None:
    print("4. Expected information gain over all questions")
    for name, profiles in sets:
        model = BeliefModel(profiles, vocabulary)
        belief = model.prior(40, "F")
        model.expected_gains(belief)
        began = time.process_time()
        for _ in range(REPEATS):
            model.expected_gains(belief)
        each = 1000 * (time.process_time() - began) / REPEATS
        print(f"   {name}: {len(model.diseases)} diseases, {len(model.askable)} questions: {each:.2f} ms of CPU a turn")


def main() -> None:
    folder = Path(sys.argv[1])
    vocabulary, ward = default_vocabulary(), default_ward()
    against_graph(folder / "health_knowledge_graph" / "DerivedKnowledgeGraph_final.csv")
    report = ImportReport()
    importer = DdxplusImporter(read_release(folder / "ddxplus"), ddxplus_tables(), ward.pool, vocabulary)
    every = [case for path in patient_files(folder / "ddxplus") for case in importer.cases(path, report)]
    test = [case for case in every if case.provenance.split == "test"]
    counted = load_profiles("ddxplus")
    calibration(test, counted, vocabulary)
    print(f"3. Belief model on {len(test)} test patients")
    all_evidence(test, counted, vocabulary)
    curated = curated_profiles()
    hundred = ProfileSet(curated.header, list(curated.profiles.values())[:100])
    gains((("curated, 100 diseases", hundred), ("curated", curated), ("ddxplus", counted)), vocabulary)


if __name__ == "__main__":
    main()
