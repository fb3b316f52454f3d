"""The bundled content: concepts, questions, utterances, profiles, starter cases. What is said of a row here holds for every row."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from ontology.annotation import family_concept_of
from ontology.annotator import annotate_examiner, findings, read_answer
from ontology.concepts import RECORD_KINDS
from ontology.hpo import HpoTerm, hpo_folder, read_obo
from ontology.icd10 import normalise
from ontology.mentions import Answer
from ontology.profiles import CLASS_WEIGHT, class_of, load_profiles
from ontology.resources import bundled_files, bundled_rows
from ontology.text import folded, phrase_key
from ontology.vocabulary import Vocabulary
from simulator.build import Ward, icd_titles, leak_guard, safe_pool
from simulator.case import Diagnosis, GroundTruth, PatientVector, Sex, is_record_fact
from simulator.leaks import LeakGuard, truth_terms
from simulator.pools import Person, PoolIndex, fill
from simulator.pools.index import choose
from simulator.sources.ddxplus_tables import ConditionRow, ddxplus_tables, value_of
from simulator.utterances import Polarity, Utterance

FORM_EVIDENCES = Path(__file__).parents[1] / "data" / "ddxplus_form" / "release_evidences.json"
TABLES = ddxplus_tables()
SEXES: tuple[Sex, ...] = ("F", "M", "unknown")
PERSONS = [Person(age, sex) for sex in SEXES for age in (0, 5, 40)]
MEANS: dict[str, Answer] = {"affirm": "affirmed", "volunteer": "affirmed", "deny": "denied", "unsure": "unsure"}
SHARE_OF_ASKS = 0.98
MIN_ASKS = 5


@pytest.fixture(scope="module")
def terms() -> dict[str, HpoTerm]:
    with (hpo_folder() / "hp.obo").open(encoding="utf-8") as handle:
        return read_obo(handle)[1]


@pytest.fixture(scope="module")
def utterances(ward: Ward) -> list[Utterance]:
    return [u for pool in ward.pool.pools for u in pool.utterances]


def said(utterance: Utterance, person: Person) -> str:
    return fill(utterance.text, person, name="chest pain", value="three days")


# -- concepts ---------------------------------------------------------------------------------------------------------


def test_concepts_stand_where_they_say(vocabulary: Vocabulary, terms: dict[str, HpoTerm]) -> None:
    """An HPO id is a live term; a CUI is one of that term's; an id of our own stands where the term has none."""
    wrong = []
    for row in vocabulary.rows.values():
        term = terms.get(row.hpo or "")
        if row.hpo is not None and term is None:
            wrong.append(f"{row.id}: {row.hpo} is no live term")
        elif row.id.startswith("C") and (term is None or row.id not in term.cuis):
            wrong.append(f"{row.id} is no CUI of {row.hpo}")
        elif row.id.startswith("X:") and term is not None and term.cuis:
            wrong.append(f"{row.id}: {row.hpo} has the CUI {term.cuis[0]}")
    assert not wrong, "\n".join(wrong)


def test_the_basis_of_a_concept_is_true(vocabulary: Vocabulary, terms: dict[str, HpoTerm]) -> None:
    """Named as HPO names it, as one of its synonyms does, mapped by us, or of our own making."""
    wrong = []
    for row in vocabulary.rows.values():
        term = terms.get(row.hpo or "")
        key = phrase_key(row.name)
        basis = {row.basis}
        if term is None:
            basis = {"local"}
        elif key == phrase_key(term.name):
            basis = {"hpo-name"}
        elif row.basis == "hpo-synonym" and key not in {phrase_key(text) for text, _, _ in term.synonyms}:
            basis = {"hpo-mapped"}
        elif row.basis in ("local", "hpo-name"):
            basis = {"hpo-mapped"}
        if row.basis not in basis:
            wrong.append(f"{row.id} {row.name}: {row.basis}, but {basis}")
    assert not wrong, "\n".join(wrong)


def test_no_two_concepts_share_a_term_or_a_name(vocabulary: Vocabulary) -> None:
    """One meaning, one concept."""
    by_term, by_name = defaultdict(list), defaultdict(list)
    for row in vocabulary.rows.values():
        by_name[folded(row.name)].append(row.id)
        if row.hpo:
            by_term[row.hpo].append(row.id)
    assert not {key: ids for key, ids in (*by_term.items(), *by_name.items()) if len(ids) > 1}


def test_parents_are_known(vocabulary: Vocabulary) -> None:
    """Ours or HPO's."""
    for row in vocabulary.rows.values():
        for parent in row.parents:
            assert vocabulary.name(parent) != parent, f"{row.id}: unknown parent {parent}"
            assert vocabulary.canonical(parent) != row.id


def test_every_concept_has_phrases_and_questions(vocabulary: Vocabulary) -> None:
    """At least five ways to ask, none twice; phrases that say something. What is only recognised (data/terms) has no questions."""
    spoken = [row for row in vocabulary.rows.values() if row.ask]
    few = [f"{row.id}: {len(set(row.ask))} ways to ask" for row in spoken if len({folded(a) for a in row.ask}) < MIN_ASKS]
    for folder, asks in (("concepts", True), ("terms", False)):
        rows = [json.loads(line) for file in bundled_files(folder, ".jsonl") for line in file.read_text(encoding="utf-8").splitlines()]
        assert rows and all(bool(row["ask"]) == asks for row in rows), folder
    assert not few, "\n".join(few)
    twice = [row.id for row in vocabulary.rows.values() if len({folded(a) for a in row.ask}) != len(row.ask)]
    assert not twice
    blank = [f"{row.id}: {phrase!r}" for row in vocabulary.rows.values() for phrase in (row.name, *row.lay) if not phrase_key(phrase)]
    assert not blank


def test_no_phrase_of_a_recognised_term_is_anothers(vocabulary: Vocabulary) -> None:
    """What a patient has words for is never hidden by what is only recognised (data/terms)."""
    owners: dict[tuple[str, ...], set[str]] = defaultdict(set)
    for row in vocabulary.rows.values():
        for phrase in row.lay:
            owners[phrase_key(phrase)].add(row.id)
    terms = {row.id for row in vocabulary.rows.values() if not row.ask}
    shared = {" ".join(key): sorted(ids) for key, ids in owners.items() if len(ids) > 1 and ids & terms}
    assert not shared, shared


def test_questions_ask_for_their_concept(vocabulary: Vocabulary) -> None:
    """For exactly their concept, and for its presence, in 98 of 100 at least; nearly all in each concept."""
    missed: dict[str, list[str]] = defaultdict(list)
    total = 0
    for row in vocabulary.rows.values():
        for question in row.ask:
            total += 1
            found = annotate_examiner(question, vocabulary)
            mentions = [m for m in found.mentions if m.dialogue_role == "asked"]
            asked = {(family_concept_of(m, vocabulary) or m.cui, m.attribute) for m in mentions}
            # "Is it worse at night?" asks for a finding and for a detail of the complaint: whichever the patient has is told.
            both = vocabulary.detail(row.id) is not None and len(mentions) == 1 and row.id in (mentions[0].cui, *mentions[0].alt_cuis)
            if asked != {(row.id, None)} and not both:
                missed[row.id].append(f"{row.name}: {question!r} asks {sorted((vocabulary.name(c), a or '') for c, a in asked)}")
    misses = [line for lines in missed.values() for line in lines]
    assert len(misses) <= (1 - SHARE_OF_ASKS) * total, "\n".join(misses)
    assert not [lines for lines in missed.values() if len(lines) > 1], "\n".join(misses)


def test_record_concepts_are_ordered_and_others_asked(vocabulary: Vocabulary) -> None:
    """0b D6: what the record answers is never put to the patient."""
    wrong = []
    for row in vocabulary.rows.values():
        for question in row.ask:
            kinds = {act.type for act in annotate_examiner(question, vocabulary).acts if act.mentions and act.type != "state"}
            if kinds != ({"order_test"} if row.kind in RECORD_KINDS else {"ask"}):
                wrong.append(f"{row.name} ({row.kind}): {question!r} is {sorted(kinds)}")
    assert not wrong, "\n".join(wrong)


# -- utterances -------------------------------------------------------------------------------------------------------


def test_utterances_speak_of_known_concepts(vocabulary: Vocabulary, utterances: list[Utterance]) -> None:
    """And of what a patient can be asked: the record has no voice of its own."""
    unknown = sorted({u.concept for u in utterances if u.concept and u.concept not in vocabulary.rows})
    assert not unknown
    assert not [u.text for u in utterances if u.concept and vocabulary.kind(u.concept) in RECORD_KINDS]


@pytest.mark.parametrize("polarity", ["affirm", "deny"])
def test_every_ddxplus_concept_can_be_affirmed_and_denied(ward: Ward, polarity: Polarity) -> None:
    """By the patient and by a caregiver."""
    concepts = {c for row in TABLES.evidences.values() for c in row.concepts} | {row.site for row in TABLES.values.values() if row.site}
    assert len(concepts) > 250
    dumb = []
    for concept in sorted(concepts):
        assert concept in ward.vocabulary.rows, concept
        found = ward.pool.of_concept(concept, polarity)
        dumb += [f"{concept} third party: {third}" for third in (False, True) if not any((u.form == "third_party") == third for u in found)]
    assert not dumb, "\n".join(dumb)


def test_every_act_has_both_voices(ward: Ward, utterances: list[Utterance]) -> None:
    """A child's mother can greet, too."""
    acts = {u.act for u in utterances if u.act}
    assert {"affirm_other", "deny_other", "unsure_other", "detail_other", "no_attribute", "nothing_else", "not_understood"} <= acts
    for act in acts:
        assert {u.form == "third_party" for u in ward.pool.of_act(act)} == {True, False}, act


def test_answers_say_what_they_are_filed_under(utterances: list[Utterance]) -> None:
    """`read_answer` hears the polarity of every utterance on presence, whoever speaks of whom."""
    wrong = []
    for utterance in utterances:
        if utterance.concept is None or utterance.attribute is not None:
            continue
        heard = {read_answer(said(utterance, person)) for person in PERSONS}
        if heard != {MEANS[utterance.polarity or ""]}:
            wrong.append(f"{utterance.concept} {utterance.polarity}: heard {sorted(heard)}: {utterance.text}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize(("act", "answer"), [("affirm_other", "affirmed"), ("deny_other", "denied"), ("unsure_other", "unsure")])
def test_stand_ins_say_what_they_stand_for(ward: Ward, act: str, answer: str) -> None:
    """Where a concept has no words of its own."""
    for utterance in ward.pool.of_act(act):
        assert {read_answer(said(utterance, person)) for person in PERSONS} == {answer}, utterance.text


def test_openings_tell_their_finding(ward: Ward, utterances: list[Utterance]) -> None:
    """What is volunteered is never heard as denied, nor the other way round."""
    wrong = []
    for utterance in utterances:
        if utterance.concept is None or utterance.attribute is not None or utterance.polarity == "unsure":
            continue
        present = dict(findings(said(utterance, Person(40, "F")), ward.vocabulary)).get(utterance.concept)
        if utterance.polarity in ("affirm", "volunteer") and present is False:
            wrong.append(f"{utterance.concept} {utterance.polarity}: {utterance.text}")
    assert not wrong, "\n".join(wrong)


def test_slots_fill_for_everyone(utterances: list[Utterance]) -> None:
    """Women, men and people of whom it is not said; babies, children, adults: no slot is left, and the verb fits."""
    wrong = []
    for utterance in utterances:
        for person in PERSONS:
            text = said(utterance, person)
            singular = r"\b(?:they|They) (?:has|is|was|does|says|gets|feels)\b|\b(?:he|she|He|She) (?:have|are|were|do)\b"
            if re.search(r"[{}]", text) or re.search(singular, text) or not text[:1].isupper():
                wrong.append(f"{person}: {text}")
    assert not wrong, "\n".join(wrong)


def test_only_caregivers_speak_of_someone_else(utterances: list[Utterance]) -> None:
    """A slot for the patient's pronoun stands in third-party words alone."""
    wrong = [u.text for u in utterances if u.form != "third_party" and re.search(r"\{(?:he|He|him|his|His)\}", u.text)]
    assert not wrong, "\n".join(wrong)


def guard_of(condition: ConditionRow, vocabulary: Vocabulary) -> LeakGuard:
    primary = Diagnosis(name=condition.name, icd10=list(condition.icd10), aliases=list(condition.aliases))
    truth = GroundTruth(disease_id=condition.disease_id, primary=primary, acuity=3, acuity_scale="curated")
    return LeakGuard(truth_terms(truth, icd_titles), vocabulary.kind)


def test_no_answer_names_a_disease(ward: Ward, utterances: list[Utterance]) -> None:
    """0b D5: as each of the 49 conditions' guards sees it; only facts of the past may name one."""
    assert len(TABLES.conditions) == 49
    leaks = []
    for condition in TABLES.conditions.values():
        guard = guard_of(condition, ward.vocabulary)
        assert guard.hits(f"I have {condition.name}, I think"), condition.name
        leaks += [f"{condition.name}: {u.text}" for u in utterances if not guard.licensed(u.concept) and guard.hits(u.text)]
    assert not leaks, "\n".join(leaks)


def producible() -> Iterator[tuple[str, str, str]]:
    """(concept, attribute, value class) that the importer makes of the release's values."""
    evidences = json.loads(FORM_EVIDENCES.read_text(encoding="utf-8"))
    for detail in TABLES.details.values():
        concept = TABLES.evidences[detail.parent].concepts[0]
        values = [str(value) for value in evidences[detail.evidence]["possible-values"]]
        assert values, detail.evidence
        for value in values:
            known = value_of(detail, value, TABLES.values)
            assert known is not None, f"{detail.evidence}_@_{value}"
            if detail.scale != "region":
                yield concept, detail.attribute, known[1]
            elif known[1] not in ("no", "none"):
                yield concept, detail.attribute, "any"


def test_every_detail_that_ddxplus_has_can_be_told(ward: Ward) -> None:
    """In both voices, in words of the detail itself."""
    keys = sorted(set(producible()))
    assert len(keys) > 30
    dumb = []
    for concept, attribute, value_class in keys:
        polarity: Polarity = "deny" if value_class in ("none", "no") else "affirm"
        found = ward.pool.of_concept(concept, polarity, attribute, value_class)  # type: ignore[arg-type]
        dumb += [
            f"{concept} {attribute} {value_class} third party: {t}"
            for t in (False, True)
            if not any((u.form == "third_party") == t for u in found)
        ]
    assert not dumb, "\n".join(dumb)


# -- tables and profiles ----------------------------------------------------------------------------------------------


def test_the_ddxplus_tables_agree_with_the_vocabulary(vocabulary: Vocabulary) -> None:
    """The first concept of a row is of the row's kind; sites are concepts; parents of details are rows."""
    for row in TABLES.evidences.values():
        assert vocabulary.kind(row.concepts[0]) == row.kind, row.evidence
        assert all(concept in vocabulary.rows for concept in row.concepts), row.evidence
    for value in TABLES.values.values():
        assert value.site is None or value.site in vocabulary.rows, value.value
        assert value.phrase, value.value
    assert all(detail.parent in TABLES.evidences for detail in TABLES.details.values())
    assert len({row.disease_id for row in TABLES.conditions.values()}) == len(TABLES.conditions)


def test_curated_rows_are_sourced_and_sound(vocabulary: Vocabulary) -> None:
    """A citation and a licence a row; a class or a frequency; a known concept, once a disease; a disease of the list."""
    diseases = {row["disease_id"]: row for row in bundled_rows("profiles/curated_meta.csv")}
    seen = set()
    for row in bundled_rows("profiles/curated.csv"):
        place = f"{row['disease_id']} {row['concept']}"
        assert row["source"].strip() and row["license"].strip(), place
        assert row["class"] or row["frequency"], place
        assert not row["class"] or row["class"] in CLASS_WEIGHT, place
        if row["frequency"]:
            share = float(row["frequency"])
            assert 0 <= share <= 1, place
            assert row["class"] in ("", class_of(share, int(row["n"]) if row["n"] else None)), place
        assert row["askable"] in ("0", "1"), place
        assert vocabulary.name(row["concept"]) == row["concept_name"], place
        assert (row["disease_name"], row["icd10"]) == (diseases[row["disease_id"]]["name"], diseases[row["disease_id"]]["icd10"]), place
        key = (row["disease_id"], vocabulary.canonical(row["concept"]))
        assert key not in seen, place
        seen.add(key)
    assert {disease for disease, _ in seen} == set(diseases)
    for disease, row in diseases.items():
        assert 1 <= int(row["acuity"]) <= 5 and row["acuity_source"].strip(), disease


@pytest.mark.parametrize("name", ["curated", "ddxplus"])
def test_profiles_speak_of_known_concepts(vocabulary: Vocabulary, name: str) -> None:
    """By their canonical ids and names, so that questions and features meet."""
    for profile in load_profiles(name).profiles.values():
        assert profile.features, profile.disease_id
        assert len({f.concept for f in profile.features}) == len(profile.features), profile.disease_id
        for feature in profile.features:
            assert vocabulary.canonical(feature.concept) == feature.concept, f"{profile.disease_id} {feature.concept}"
            assert vocabulary.name(feature.concept) == feature.name, f"{profile.disease_id} {feature.concept}"


def test_profile_codes_are_codes() -> None:
    """Every code of every profile and condition is one of ICD-10-CM as it stands."""
    codes = {code for name in ("curated", "ddxplus") for p in load_profiles(name).profiles.values() for code in p.icd10}
    codes |= {code for row in TABLES.conditions.values() for code in row.icd10}
    assert not [code for code in sorted(codes) if normalise(code).codes not in ([code], (code,))]


# -- starter cases ----------------------------------------------------------------------------------------------------

STARTER = {file.name: file.read_text(encoding="utf-8") for file in bundled_files("cases/starter", ".json")}


@pytest.fixture(scope="module", params=sorted(STARTER))
def case(request: pytest.FixtureRequest) -> PatientVector:
    return PatientVector.from_json(STARTER[request.param], request.param)


def test_starter_facts_are_of_known_concepts(vocabulary: Vocabulary, case: PatientVector) -> None:
    """Named and kinded as the vocabulary has them; the chief complaint is told at the opening."""
    facts = {fact.fact_id: fact for fact in case.patient_facts.facts}
    for fact in facts.values():
        assert fact.concept == vocabulary.ref(fact.concept.cui), fact.fact_id
        assert fact.concept.cui in vocabulary.rows, fact.fact_id
        assert fact.kind == vocabulary.kind(fact.concept.cui), fact.fact_id
        assert not vocabulary.impossible(fact.concept.cui, case.patient_facts.sex) or fact.status != "present", fact.fact_id
    told = dict(findings(case.presentation.opening_text, vocabulary))
    complaints = [vocabulary.canonical(facts[fact_id].concept.cui) for fact_id in case.presentation.chief_complaint]
    assert any(told.get(complaint) for complaint in complaints), "the opening does not tell the chief complaint"
    assert all(present for concept, present in told.items() if concept in complaints)


def test_starter_facts_have_words(ward: Ward, case: PatientVector) -> None:
    """Each fact that the patient answers for, in the voice of this case, from the pool that is safe for it."""
    pool: PoolIndex = safe_pool(ward.pool, leak_guard(case, ward.vocabulary))
    caregiver = case.patient_side().caregiver_speaks
    of_status: dict[str, Polarity] = {"present": "affirm", "absent": "deny", "unknown": "unsure"}
    dumb = []
    for fact in case.patient_facts.facts:
        if is_record_fact(fact):
            continue
        polarity = of_status[fact.status]
        if fact.attribute is not None:
            polarity = "deny" if fact.value_class in ("none", "no") else "affirm"
        found = pool.of_concept(fact.concept.cui, polarity, fact.attribute, fact.value_class or ("any" if fact.attribute else None))
        if polarity != "unsure" and choose(found, caregiver, (), Random(0)) is None:
            dumb.append(f"{fact.fact_id} {fact.concept.name} {fact.attribute} {fact.value_class} {polarity}")
    assert not dumb, "\n".join(dumb)


def test_starter_cases_give_nothing_away(ward: Ward, case: PatientVector) -> None:
    """0b D5: neither the opening nor the title nor a value that the patient tells; and the id is opaque."""
    guard = leak_guard(case, ward.vocabulary)
    assert guard.hits(f"Is it {case.ground_truth.primary.name}?")
    assert guard.hits(case.presentation.opening_text) == []
    assert guard.hits(" ".join([case.title or "", case.setting or "", *case.tags])) == []
    leaks = [
        f"{fact.fact_id}: {fact.value}"
        for fact in case.patient_facts.facts
        if fact.value and not guard.licensed(fact.concept.cui) and not is_record_fact(fact) and guard.hits(fact.value)
    ]
    assert not leaks, "\n".join(leaks)


def test_starter_cases_say_what_they_are(case: PatientVector) -> None:
    """Written by us, free to share, with their literature; the disease has a profile, its code among the truth's."""
    provenance = case.provenance
    assert provenance.redistributable and provenance.license == "Apache-2.0" and provenance.references
    profile = load_profiles("curated").get(case.ground_truth.disease_id)
    assert profile is not None
    assert set(case.ground_truth.primary.icd10) & set(profile.icd10)
    assert sum(item.prob for item in case.ground_truth.differential) <= 1 + 1e-9
    sine_qua_non = set(case.ground_truth.sine_qua_non)
    present = {fact.concept.cui for fact in case.patient_facts.facts if fact.status == "present" and fact.attribute is None}
    assert sine_qua_non <= present, "a sine qua non that this patient does not have"


# -- not ours ---------------------------------------------------------------------------------------------------------


def test_no_sentence_of_ddxplus_is_ours(ward: Ward, utterances: list[Utterance], real_data: Path) -> None:
    """Questions and words were written for Bedside; the release's own sentences are not among them."""
    evidences = json.loads((real_data / "ddxplus" / "release_evidences.json").read_text(encoding="utf-8"))
    theirs = {folded(row["question_en"]) for row in evidences.values()}
    assert len(theirs) > 200
    ours = [text for row in ward.vocabulary.rows.values() for text in row.ask] + [u.text for u in utterances]
    copied = [text for text in ours if any(sentence in folded(text) for sentence in theirs)]
    assert not copied, "\n".join(copied)
