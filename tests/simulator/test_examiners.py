"""Reference examiners: a policy in words asks and understands what it means to, whoever the patient is and whatever concepts are called."""

from __future__ import annotations

import asyncio
import dataclasses
import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from ontology.annotator import annotate_examiner
from ontology.belief import BeliefModel
from ontology.concepts import ConceptRow
from ontology.errors import BedsideError
from ontology.hpo import hpo_folder, read_obo
from ontology.profiles import DiseaseProfile, ProfileSet, bundled_ddxplus_profiles, curated_profiles
from ontology.sources import bundled_concepts
from ontology.vocabulary import Vocabulary, default_vocabulary
from simulator.build import Ward, default_ward, make_bed
from simulator.case import PatientVector
from simulator.examiners.direct import play_direct
from simulator.examiners.policies import (
    CHECKLIST_LENGTH,
    COMMIT_AT,
    Checklist,
    Hasty,
    History,
    InfogainFast,
    Policy,
    belief_after,
    conclude,
)
from simulator.examiners.reference import ReferenceExaminer
from simulator.examiners.scripted import ScriptedExaminer, read_script
from simulator.final_answer import parse_message, render
from simulator.pools.bundled import bundled_pool
from simulator.pools.index import PoolIndex
from simulator.protocols import Abandoned, Line, Move, Situation
from simulator.trace import Budget, DialogueTrace, FinalAnswer, RankedDiagnosis
from ui.wiring import POLICIES, form_cases, starter_cases

FEVER, COUGH = "C0015967", "C0010200"


@cache
def model(name: str = "ddxplus") -> BeliefModel:
    return BeliefModel(bundled_ddxplus_profiles() if name == "ddxplus" else curated_profiles(), default_vocabulary())


@cache
def examiner(name: str) -> ReferenceExaminer:
    return ReferenceExaminer(POLICIES[name](model()), default_vocabulary())


@cache
def played(name: str, number: int, max_turns: int = 20, seed: int = 1) -> DialogueTrace:
    bed = make_bed(form_cases()[number], examiner(name), default_ward(), bundled_ddxplus_profiles(), Budget(max_turns=max_turns), seed)
    return asyncio.run(bed.run())


def asked(trace: DialogueTrace) -> list[str]:
    return [m.cui for turn in trace.turns if turn.role == "examiner" for m in turn.mentions]


def nothing_known(age: int = 40, sex: str = "F") -> History:
    return History(age, sex, (), ())


# -- policies --------------------------------------------------------------------------------------------------------------------------


def test_hasty_commits_after_the_opening() -> None:
    for number in range(len(form_cases())):
        trace = played("hasty", number)
        assert len(trace.turns) == 2 and trace.termination == "examiner_committed" and not trace.forced_commit


def test_the_checklist_asks_the_same_of_everybody_one_a_turn() -> None:
    listed = model().most_frequent(CHECKLIST_LENGTH)
    assert len(set(listed)) == CHECKLIST_LENGTH
    for number, case in enumerate(form_cases()):
        opening = {m.cui for m in played("checklist", number).turns[0].mentions}
        known = {*opening, *model().impossible(case.patient_facts.sex)}
        questions = asked(played("checklist", number))
        assert [c for c in questions if c in listed] == questions
        assert set(listed) - set(questions) <= known
        assert all(len(turn.mentions) <= 1 for turn in played("checklist", number).turns if turn.role == "examiner")


def test_the_checklist_ignores_what_it_hears() -> None:
    answers = [(concept, "affirmed") for concept in model().most_frequent(3)]
    denied = [(concept, "denied") for concept, _ in answers]
    policy = Checklist(model())
    assert policy.next_concept(History(40, "F", (), answers)) == policy.next_concept(History(40, "F", (), denied))  # type: ignore[arg-type]


def test_infogain_asks_what_tells_most() -> None:
    history = nothing_known()
    belief = belief_after(model(), history)
    gains = dict(zip(model().askable, model().expected_gains(belief), strict=True))
    chosen = InfogainFast(model()).next_concept(history)
    assert chosen is not None and gains[chosen] == pytest.approx(max(gains.values()))


def test_infogain_stops_as_soon_as_it_is_sure_and_not_before() -> None:
    for number in range(len(form_cases())):
        trace = played("infogain-fast", number)
        assert trace.outcome is not None
        first = trace.outcome.ranked[0].prob or 0
        assert first >= COMMIT_AT - 1e-6 or trace.forced_commit
        questions = asked(trace)
        assert len(questions) == len(set(questions))
        if questions:
            shorter = played("infogain-fast", number, len(questions) - 1)
            assert shorter.outcome is not None and (shorter.outcome.ranked[0].prob or 0) < COMMIT_AT


def test_a_threshold_that_is_reached_at_once_asks_nothing() -> None:
    assert InfogainFast(model(), commit_at=0.0).next_concept(nothing_known()) is None


@pytest.mark.parametrize("name", POLICIES)
def test_policies_are_pure_and_never_ask_what_is_known(name: str) -> None:
    policy: Policy = POLICIES[name](model())
    done: list[tuple[str, Any]] = []
    for _ in range(40):
        history = History(40, "M", ((FEVER, True),), done)
        concept = policy.next_concept(history)
        assert concept == policy.next_concept(history)
        if concept is None:
            return
        assert concept not in {FEVER, *(c for c, _ in done)}
        done = [*done, (concept, "unsure")]
    assert name in ("infogain-fast", "infogain", "random", "shotgun")  # the others have an end


@pytest.mark.parametrize("profiles", ["ddxplus", "curated"])
@pytest.mark.parametrize("name", ["checklist", "infogain-fast"])
@pytest.mark.parametrize("sex", ["M", "F"])
def test_nobody_is_asked_what_cannot_be(profiles: str, name: str, sex: str) -> None:
    """No man is asked whether he is pregnant, however long the examiner goes on."""
    vocabulary = default_vocabulary()
    policy: Policy = POLICIES[name](model(profiles))
    done: list[tuple[str, Any]] = []
    while (concept := policy.next_concept(History(30, sex, (), done))) is not None and len(done) < 300:
        row = vocabulary.rows.get(concept)
        assert row is None or row.only_sex in (None, sex), row
        assert not (sex == "M" and {"pregnant", "periods", "menstrual", "womb"} & set(vocabulary.name(concept).lower().split()))
        done.append((concept, "unsure"))
    assert len(done) > 10


def test_the_conclusion_is_ranked_and_sums_to_no_more_than_one() -> None:
    answer = conclude(model(), History(30, "F", ((FEVER, True),), ((COUGH, "denied"),)))
    probs = [item.prob or 0 for item in answer.ranked]
    assert len(answer.ranked) == 5 and probs == sorted(probs, reverse=True) and sum(probs) <= 1 + 1e-6
    assert answer.confidence == probs[0]
    assert (
        answer.triage_level
        == model().profiles[model().ranked(belief_after(model(), History(30, "F", ((FEVER, True),), ((COUGH, "denied"),))))[0][0]].acuity
    )


# -- words -----------------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("profiles", ["ddxplus", "curated"])
def test_every_concept_has_five_wordings_of_its_own(profiles: str) -> None:
    made = ReferenceExaminer(Hasty(model(profiles)), default_vocabulary())
    owner: dict[str, str] = {}
    for concept in model(profiles).askable:
        texts = made.wordings(concept)
        assert len(set(texts)) >= 5, concept
        for text in texts:
            assert owner.setdefault(text, concept) == concept, f"{text} asks for {owner[text]} and {concept}"


@pytest.mark.parametrize("profiles", ["ddxplus", "curated"])
def test_every_wording_is_understood_as_the_concept_it_asks_for(profiles: str, vocabulary: Vocabulary) -> None:
    made = ReferenceExaminer(Hasty(model(profiles)), vocabulary)
    for concept in model(profiles).askable:
        for text in made.wordings(concept):
            mentions = [m for m in annotate_examiner(text, vocabulary).mentions if m.dialogue_role == "asked"]
            meant = {vocabulary.canonical(c) for m in mentions for c in (m.cui, *m.alt_cuis)}
            assert concept in meant and len(mentions) == 1, (text, meant)


def test_wordings_differ_from_turn_to_turn_and_seed_to_seed() -> None:
    texts = {turn.text for seed in range(8) for turn in played("checklist", 0, 20, seed).turns[1:2]}
    assert len(texts) >= 3


@pytest.mark.parametrize("name", [name for name, policy in POLICIES.items() if policy(model()).commits and policy(model()).per_turn == 1])
def test_words_lose_nothing_against_concept_ids(name: str, ward: Ward) -> None:
    """In text or handed the facts: the same questions and the same answers in at least 95 % of the cases."""
    same = 0
    for number, case in enumerate(form_cases()):
        direct = play_direct(case, POLICIES[name](model()), ward.vocabulary, 20)
        trace = played(name, number)
        assert trace.outcome is not None
        same += trace.outcome.ranked == direct.answer.ranked and asked(trace) == [concept for concept, _ in direct.asked]
    assert same >= 0.95 * len(form_cases())


def situation(lines: list[Line], must_commit: bool = False) -> Situation:
    return Situation(form_cases()[0].examiner_view(), lines, 20 - len(lines), must_commit, 1)


def test_answers_are_read_from_the_patients_words(ward: Ward) -> None:
    made = examiner("checklist")
    ask = {c: made.wordings(c)[0] for c in (FEVER, COUGH, "C0018681")}
    lines = [
        Line("patient", "I've had a rash, but no nausea."),
        Line("examiner", ask[FEVER]),
        Line("patient", "No, not that I've noticed."),
        Line("examiner", ask[COUGH]),
        Line("patient", "Hard to say."),
        Line("examiner", ask["C0018681"]),
        Line("record", "not available"),
        Line("examiner", "Tell me a joke."),
        Line("patient", "Yes."),
    ]
    history = made.history(situation(lines))
    assert list(history.answers) == [(FEVER, "denied"), (COUGH, "unsure"), ("C0018681", "unanswered")]
    assert ("C0015230", True) in history.volunteered or ("C0015230", False) in history.volunteered


def test_a_reference_examiner_commits_when_it_must() -> None:
    move = asyncio.run(examiner("infogain-fast").move(situation([Line("patient", "I feel ill.")], must_commit=True)))
    assert parse_message(move.text).answer is not None


def test_an_examiner_has_no_memory_of_its_own() -> None:
    lines = [Line("patient", "I feel ill.")]
    moves = [asyncio.run(examiner("infogain-fast").move(situation(lines))) for _ in range(3)]
    assert len({move.text for move in moves}) == 1


def test_the_trace_names_policy_and_knowledge() -> None:
    player = examiner("infogain-fast").player
    assert (player.kind, player.id, player.revision) == ("reference", "infogain-fast", bundled_ddxplus_profiles().version)
    other = ReferenceExaminer(InfogainFast(model("curated")), default_vocabulary()).player
    assert other.revision != player.revision and other.sampling == {"profiles": "curated"}


# -- scripts ---------------------------------------------------------------------------------------------------------------------------

ANSWER = render(FinalAnswer(ranked=[RankedDiagnosis(name="Influenza")])).replace("\n", " ")


def test_a_script_is_said_in_order_without_comments_and_blank_lines(tmp_path: Path) -> None:
    path = tmp_path / "flu.txt"
    path.write_text(f"# opening\nHello.\n\n  Any fever?  \n{ANSWER}\n", encoding="utf-8")
    made = read_script(path)
    assert made.player.id == "flu" and made.player.kind == "scripted"
    trace = asyncio.run(make_bed(form_cases()[0], made, default_ward(), bundled_ddxplus_profiles(), Budget(), 1).run())
    assert [turn.text for turn in trace.turns if turn.role == "examiner"][:2] == ["Hello.", "Any fever?"]
    assert trace.termination == "examiner_committed"


def test_a_script_commits_with_its_answer_when_the_budget_ends() -> None:
    made = ScriptedExaminer(["One?", "Two?", ANSWER])
    trace = asyncio.run(make_bed(form_cases()[0], made, default_ward(), bundled_ddxplus_profiles(), Budget(max_turns=1), 1).run())
    assert (trace.termination, trace.forced_commit) == ("examiner_committed", True)


def test_a_script_that_ends_without_an_answer_is_abandoned() -> None:
    with pytest.raises(Abandoned, match="without a final answer"):
        asyncio.run(ScriptedExaminer(["Hello."]).move(situation([Line("patient", "x"), Line("examiner", "Hello."), Line("patient", "x")])))


def test_another_script_is_another_player() -> None:
    one, other = ScriptedExaminer(["a"], "s").player, ScriptedExaminer(["b"], "s").player
    assert one != other and one == ScriptedExaminer(["a"], "s").player


def _nothing(path: Path) -> Path:
    return path / "none.txt"


def _folder(path: Path) -> Path:
    return path


def _empty(path: Path) -> Path:
    (path / "e.txt").write_text("\n# only a remark\n   \n")
    return path / "e.txt"


def _latin(path: Path) -> Path:
    (path / "l.txt").write_bytes("Fièvre?".encode("latin-1"))
    return path / "l.txt"


@pytest.mark.parametrize(
    ("make", "what"),
    [(_nothing, "cannot be read (No such file"), (_folder, "cannot be read"), (_empty, "holds no message"), (_latin, "not UTF-8")],
)
def test_a_script_that_cannot_be_used_is_one_line_with_its_name(tmp_path: Path, make: Callable[[Path], Path], what: str) -> None:
    path = make(tmp_path)
    with pytest.raises(BedsideError) as raised:
        read_script(path)
    assert raised.value.line().startswith(f"{path}: {what}") and "\n" not in raised.value.line()


# -- names of concepts -----------------------------------------------------------------------------------------------------------------


def renamed(concept: str) -> str:
    """Another id that sorts alike, so that ties are broken alike."""
    if concept.startswith("X:"):
        return concept if concept.startswith("X:hp-") else "X:r-" + concept[2:]
    return f"C{int(concept[1:]) + 3_000_000:07d}"


def rename(value: Any, known: set[str]) -> Any:
    """A JSON value with every concept id in it renamed."""
    if isinstance(value, dict):
        return {key: rename(item, known) for key, item in value.items()}
    if isinstance(value, list):
        return [rename(item, known) for item in value]
    return renamed(value) if isinstance(value, str) and value in known else value


def test_renaming_every_concept_changes_neither_questions_nor_answers(ward: Ward) -> None:
    """Only text passes between the players: what a concept is called inside must not show."""
    with (hpo_folder() / "hp.obo").open(encoding="utf-8") as handle:
        version, terms = read_obo(handle)
    known = {row.id for row in bundled_concepts()} | {cui for term in terms.values() for cui in term.cuis}
    other_terms = {key: dataclasses.replace(term, cuis=[renamed(cui) for cui in term.cuis]) for key, term in terms.items()}
    rows = [ConceptRow.model_validate(rename(row.model_dump(mode="json"), known)) for row in bundled_concepts()]
    blocked = (Path(__file__).parents[2] / "data/lexicon/blocked.txt").read_text(encoding="utf-8").splitlines()
    vocabulary = Vocabulary(rows, other_terms, version, [line for line in blocked if line and not line.startswith("#")])
    pool = bundled_pool().model_validate(rename(bundled_pool().model_dump(mode="json"), known))
    old = bundled_ddxplus_profiles()
    profiles = ProfileSet(
        old.header, [DiseaseProfile.model_validate(rename(p.model_dump(mode="json"), known)) for p in old.profiles.values()]
    )
    there = Ward(vocabulary, PoolIndex([pool]), "renamed", pool.sha256())
    made = ReferenceExaminer(InfogainFast(BeliefModel(profiles, vocabulary)), vocabulary)
    for number in (0, 3, 5):
        case = PatientVector.from_raw(rename(json.loads(form_cases()[number].to_json()), known))
        trace = asyncio.run(make_bed(case, made, there, profiles, Budget(), 1).run())
        here = played("infogain-fast", number)
        assert [[(m.cui, m.dialogue_role) for m in t.mentions] for t in trace.turns] == [
            [(renamed(m.cui), m.dialogue_role) for m in t.mentions] for t in here.turns
        ]
        assert trace.outcome == here.outcome


def test_starter_cases_are_played_by_every_policy_without_trouble(ward: Ward) -> None:
    for name, policy in POLICIES.items():
        made = ReferenceExaminer(policy(model("curated")), ward.vocabulary)
        for case in starter_cases():
            trace = asyncio.run(make_bed(case, made, ward, curated_profiles(), Budget(), 1).run())
            assert trace.termination == ("examiner_committed" if policy(model("curated")).commits else "budget"), name
            assert not any(turn.notes for turn in trace.turns)


def test_a_move_is_words_only() -> None:
    assert {f.name for f in dataclasses.fields(Move)} == {"text", "usage", "notes", "snapshot"}
