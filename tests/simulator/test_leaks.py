"""No word of the truth reaches the examiner before the commit but where it is licensed, and there it is counted (metrics.md 0b D5)."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from dataclasses import dataclass

import pytest

from ontology.mentions import Mention
from ontology.text import folded
from simulator.build import Ward, icd_titles, leak_guard, make_bed, safe_pool
from simulator.case import Diagnosis, GroundTruth, PatientVector
from simulator.leaks import LICENSED_KINDS, SHORTEST_TERM, TOO_COMMON, LeakGuard, truth_terms
from simulator.pools.index import PoolIndex
from simulator.protocols import Move, Situation
from simulator.trace import Budget, DialogueTrace, Player, Turn
from simulator.utterances import Utterance, UtterancePool
from ui.wiring import Bookshelf, bundled_cases, form_cases

PNEUMONIA_BEFORE = "X:pneumonia-in-past"
FEVER = "C0015967"
KINDS = {PNEUMONIA_BEFORE: "history", FEVER: "symptom", "X:test-chest-x-ray": "imaging"}


def truth(name: str, codes: Sequence[str] = (), aliases: Sequence[str] = ()) -> GroundTruth:
    return GroundTruth(
        disease_id="d", primary=Diagnosis(name=name, icd10=list(codes), aliases=list(aliases)), acuity=3, acuity_scale="curated"
    )


def guard(name: str, codes: Sequence[str] = (), aliases: Sequence[str] = ()) -> LeakGuard:
    return LeakGuard(truth_terms(truth(name, codes, aliases), icd_titles), lambda concept: KINDS.get(concept, "symptom"))


def turn(role: str, *parts: tuple[str, str]) -> Turn:
    """A turn of (concept, sentence) parts; each sentence is the surface of its mention."""
    text, mentions = "", []
    for number, (concept, sentence) in enumerate(parts):
        text += (" " if text else "") + sentence
        mentions.append(
            Mention.model_validate(
                {
                    "mention_id": f"m{number}",
                    "start": len(text) - len(sentence),
                    "end": len(text),
                    "surface": sentence,
                    "cui": concept,
                    "matcher": "pool",
                    "polarity": "present",
                    "dialogue_role": "affirmed",
                }
            )
        )
    return Turn.model_validate({"idx": 4, "role": role, "text": text, "mentions": [m.model_dump() for m in mentions]})


def classes(found: LeakGuard, made: Turn) -> list[tuple[str, str]]:
    return [(leak.leak_class, leak.surface) for leak in found.check(made)]


# -- which words -----------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "They said pneumonia.",
        "PNEUMONIA!",
        "my mum's pneumonias",
        "a chest  infection",
        "a chest-infection",
        "code J18 on the letter",
        "code j17",
        "the doctor wrote J18.",
        "viral pneumonia",
    ],
)
def test_names_aliases_and_codes_are_found_in_any_spelling(text: str) -> None:
    assert guard("Pneumonia", ["J17", "J18"], ["chest infection"]).hits(text)


@pytest.mark.parametrize("text", ["I have a fever.", "pneumoniae", "chestinfection", "chest pain and an infection", "J181", "AJ18", ""])
def test_other_words_are_not_found(text: str) -> None:
    assert guard("Pneumonia", ["J17", "J18"], ["chest infection"]).hits(text) == []


def test_british_spelling_accents_and_apostrophes_do_not_hide_a_word() -> None:
    assert guard("Pulmonary oedema").hits("pulmonary edema") == guard("Pulmonary edema").hits("Pulmonary OEDEMA") == ["pulmonary edema"]
    assert guard("Guillain-Barré syndrome").hits("the guillain barre syndrome")
    assert guard("Horton's disease").hits("Horton’s disease")


@pytest.mark.parametrize(
    ("text", "term"), [("embolisms", "embolism"), ("diseases", "disease"), ("abscesses", "abscess"), ("abscess", "abscess")]
)
def test_plurals_are_found_and_reported_under_the_term(text: str, term: str) -> None:
    found = guard("Embolism", aliases=["disease", "abscess"])
    assert found.hits(text) == [term]
    assert found.check(turn("patient", (FEVER, text)))[0].term.lower() == term


def test_titles_of_the_codes_siblings_count_and_are_bare_of_qualifiers() -> None:
    terms = truth_terms(truth("Panic attack", ["F41.0"]), icd_titles)
    assert "generalized anxiety disorder" in terms and "anxiety disorder" in terms
    assert not any(re.search(r"\b(?:unspecified|nos)\b", term) for term in terms)


def test_titles_that_are_complaints_do_not_gag_the_patient() -> None:
    terms = truth_terms(truth("Made up", ["R51.9"]), lambda diagnosis: ["Headache, unspecified", "Pain, unspecified", "Flu"])
    assert set(terms) == {"made up", "r51 9"}
    assert "headache" in TOO_COMMON and len("flu") < SHORTEST_TERM


@pytest.mark.parametrize("codes", [["ZZZ9"], ["j17, j18"], ["G44.009"], ["S22.9XXA"], ["nonsense"]])
def test_a_code_that_icd_10_cm_does_not_know_makes_no_trouble(codes: list[str]) -> None:
    assert "made up" in truth_terms(truth("Made up", codes), icd_titles)


def test_a_truth_without_words_guards_nothing() -> None:
    assert LeakGuard({}, lambda concept: "symptom").hits("anything at all") == []


# -- which class -----------------------------------------------------------------------------------------------------------------------


def test_the_truth_in_a_plain_answer_is_unlicensed() -> None:
    assert classes(guard("Pneumonia"), turn("patient", (FEVER, "Yes, it feels like pneumonia."))) == [("unlicensed", "pneumonia")]


def test_the_truth_in_a_fact_of_the_past_is_licensed_and_counted() -> None:
    assert classes(guard("Pneumonia"), turn("patient", (PNEUMONIA_BEFORE, "I had pneumonia before."))) == [("history", "pneumonia")]


def test_a_licensed_sentence_does_not_license_the_one_beside_it() -> None:
    past, now = (PNEUMONIA_BEFORE, "I had pneumonia before."), (FEVER, "This is pneumonia again.")
    assert sorted(classes(guard("Pneumonia"), turn("patient", past, now))) == [("history", "pneumonia"), ("unlicensed", "pneumonia")]
    assert sorted(classes(guard("Pneumonia"), turn("patient", now, past))) == [("history", "pneumonia"), ("unlicensed", "pneumonia")]


def test_words_outside_any_mention_are_unlicensed() -> None:
    made = Turn(idx=2, role="patient", text="They say pneumonia.")
    assert classes(guard("Pneumonia"), made) == [("unlicensed", "pneumonia")]


def test_what_the_record_says_has_a_class_of_its_own() -> None:
    made = turn("record", ("X:test-chest-x-ray", "Chest X-ray: shadow, pneumonia likely."))
    assert classes(guard("Pneumonia"), made) == [("record", "pneumonia")]
    assert classes(guard("Pneumonia"), turn("record", (PNEUMONIA_BEFORE, "pneumonia"))) == [("record", "pneumonia")]


def test_the_examiners_own_words_are_no_leak() -> None:
    assert guard("Pneumonia").check(Turn(idx=1, role="examiner", text="Is it pneumonia?")) == []


@pytest.mark.parametrize("kind", ["symptom", "sign", "lab", "imaging", "vital", "procedure", "demographic"])
def test_no_finding_of_today_is_licensed(kind: str) -> None:
    assert kind not in LICENSED_KINDS
    assert not LeakGuard({"x": "x"}, lambda concept: kind).licensed(FEVER)
    assert not LeakGuard({"x": "x"}, lambda concept: "history").licensed(None)


# -- the pool a patient gets -----------------------------------------------------------------------------------------------------------


def said(utt_id: str, text: str, concept: str | None, act: str | None = None, form: str = "direct") -> Utterance:
    polarity = "affirm" if concept else None
    return Utterance.model_validate({"utt_id": utt_id, "concept": concept, "act": act, "polarity": polarity, "form": form, "text": text})


def test_a_safe_pool_lacks_unlicensed_words_and_keeps_licensed_ones() -> None:
    pool = UtterancePool(
        pool_id="p",
        license="x",
        source="x",
        utterances=[
            said("u1", "Yes, this pneumonia is hot.", FEVER),
            said("u2", "Yes, I'm hot.", FEVER),
            said("u3", "I had pneumonia before.", PNEUMONIA_BEFORE),
            said("u4", "Hello, it's pneumonia.", None, "greet"),
            said("u5", "Hello.", None, "greet"),
        ],
    )
    index = PoolIndex([pool])
    safe = safe_pool(index, guard("Pneumonia"))
    assert [u.utt_id for u in safe.of_concept(FEVER, "affirm")] == ["u2"]
    assert [u.utt_id for u in safe.of_concept(PNEUMONIA_BEFORE, "affirm")] == ["u3"]
    assert [u.utt_id for u in safe.of_act("greet")] == ["u5"]
    assert len(index.of_concept(FEVER, "affirm")) == 2  # the pool itself is untouched


def everything(index: PoolIndex, ward: Ward) -> list[Utterance]:
    return [u for pool in ward.pool.pools for u in pool.utterances if u in _reachable(index, u)]


def _reachable(index: PoolIndex, utterance: Utterance) -> list[Utterance]:
    if utterance.act is not None:
        return index.of_act(utterance.act)
    assert utterance.concept is not None and utterance.polarity is not None
    return index.of_concept(utterance.concept, utterance.polarity, utterance.attribute, utterance.value_class)


def test_no_utterance_that_a_bundled_case_can_reach_names_its_truth(ward: Ward) -> None:
    """The leak audit of the bundled pool, by plain words: independent of the guard."""
    for case in bundled_cases():
        pool = safe_pool(ward.pool, leak_guard(case, ward.vocabulary))
        primary = case.ground_truth.primary
        words = [folded(text) for text in (primary.name, *primary.aliases, *primary.icd10)]
        pattern = re.compile(r"\b(?:" + "|".join(map(re.escape, words)) + r")\b")
        reached = everything(pool, ward)
        assert len(reached) > 3000
        for utterance in reached:
            if ward.vocabulary.kind(utterance.concept or FEVER) not in LICENSED_KINDS:
                assert not pattern.search(folded(utterance.text)), (case.case_id, utterance.text)


# -- in an encounter -------------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Asks:
    """An examiner that asks the given questions and never commits."""

    questions: tuple[str, ...]

    @property
    def player(self) -> Player:
        return Player(kind="scripted", id="asks")

    async def move(self, situation: Situation) -> Move:
        return Move(self.questions[sum(line.role == "examiner" for line in situation.lines) % len(self.questions)])


def played(case: PatientVector, ward: Ward, *questions: str) -> DialogueTrace:
    return asyncio.run(make_bed(case, Asks(questions), ward, Bookshelf().profiles(case), Budget(max_turns=len(questions)), 1).run())


def test_a_leak_in_an_encounter_stands_in_its_trace(ward: Ward) -> None:
    case = next(case for case in form_cases() if case.ground_truth.primary.name == "Pneumonia")
    assert "E_77" in {fact.source_ref for fact in case.patient_facts.facts}
    raw = case.model_dump(mode="json")
    number = len(raw["patient_facts"]["facts"]) + 1
    past = {"fact_id": f"f{number}", "concept": {"cui": _past_pneumonia(ward), "name": "x"}, "kind": "history", "status": "present"}
    raw["patient_facts"]["facts"].append(past)
    trace = played(PatientVector.from_raw(raw), ward, "Have you ever had pneumonia in the past?", "Do you have a fever?")
    assert {leak.leak_class for leak in trace.leaks} == {"history"}
    assert {leak.turn_idx for leak in trace.leaks} == {2}


def _past_pneumonia(ward: Ward) -> str:
    return next(row.id for row in ward.vocabulary.rows.values() if row.kind == "history" and "pneumonia" in row.name.lower())


def test_an_opening_that_names_the_truth_is_recorded_as_a_leak(ward: Ward) -> None:
    raw = form_cases()[0].model_dump(mode="json")
    raw["presentation"]["opening_text"] = "I have pneumonia, I am sure."
    trace = played(PatientVector.from_raw(raw), ward, "Do you have a fever?")
    assert [(leak.turn_idx, leak.leak_class) for leak in trace.leaks] == [(0, "unlicensed")]


def test_asked_for_everything_no_bundled_patient_leaks_unlicensed(ward: Ward) -> None:
    questions = [row.ask[0] for row in ward.vocabulary.rows.values() if row.ask]
    for case in bundled_cases():
        trace = played(case, ward, *questions[::4], "Do you have " + case.ground_truth.primary.name + "?", "Anything else?")
        assert [leak for leak in trace.leaks if leak.leak_class == "unlicensed"] == [], case.case_id
