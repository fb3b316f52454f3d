"""What a clinician reads: neutral titles before the commit; afterwards the truth, the scores in words, and nothing unescaped."""

from __future__ import annotations

import asyncio
import base64
import json
import re

import pytest

from metrics.scorecard import score_trace
from metrics.scores import Scorecard
from simulator.build import default_ward, make_bed
from simulator.case import ExaminerView, PatientVector
from simulator.examiners.scripted import ScriptedExaminer
from simulator.final_answer import render
from simulator.trace import Budget, DialogueTrace, FinalAnswer, RankedDiagnosis, Turn
from ui.web import debrief, play_html, words
from ui.web.session import Debrief, Snapshot
from ui.wiring import Bookshelf, bundled_cases, starter_cases

GCA = next(case for case in starter_cases() if case.ground_truth.disease_id == "gca")
HISTORY = [
    "Is your scalp tender?",
    "Does your jaw hurt when you chew?",
    "Any fever or weight loss?",
    "Have you lost your vision?",
    "Are you tired?",
]


def played(case: PatientVector, questions: list[str], *names: str, max_turns: int = 20) -> tuple[DialogueTrace, Scorecard]:
    shelf = Bookshelf()
    answer = FinalAnswer(ranked=[RankedDiagnosis(name=name, prob=0.5 if not at else None) for at, name in enumerate(names)])
    examiner = ScriptedExaminer([*questions, render(answer)])
    trace = asyncio.run(make_bed(case, examiner, default_ward(), shelf.profiles(case), Budget(max_turns=max_turns), 1).run())
    return trace, score_trace(trace, case, shelf.knowledge(case))


def found(case: PatientVector, questions: list[str], *names: str, notes: str = "") -> Debrief:
    trace, card = played(case, questions, *names)
    return Debrief(case, trace, card, None, notes)


def text_of(html: str) -> str:
    return " ".join(re.sub(r"<[^>]+>", " ", html).split())


def view(age: int, sex: str, setting: str | None = None) -> ExaminerView:
    return ExaminerView.model_validate(
        {"case_id": GCA.case_id, "opening_text": "x", "age": age, "sex": sex, "language": "en", "setting": setting, "redistributable": True}
    )


@pytest.mark.parametrize(
    ("age", "sex", "setting", "title"),
    [
        (74, "F", "emergency department", "Woman, 74, emergency department"),
        (18, "M", None, "Man, 18"),
        (17, "F", None, "Girl, 17"),
        (0, "M", None, "Boy, under 1"),
        (40, "unknown", None, "Person, 40"),
    ],
)
def test_a_title_says_who_and_where(age: int, sex: str, setting: str | None, title: str) -> None:
    assert words.case_label(view(age, sex, setting)) == title


def test_the_choice_of_cases_names_no_diagnosis() -> None:
    cases = bundled_cases()
    html = text_of(play_html.cases_html([("all", [case.examiner_view() for case in cases])])).lower()
    assert html.count("“") == len(cases) >= 15
    for case in cases:
        assert case.ground_truth.primary.name.lower() not in html
        for code in case.ground_truth.primary.icd10:
            assert code.lower() not in html


def test_no_cases_and_too_many_cases_say_so() -> None:
    assert "no cases here yet" in play_html.cases_html([])
    many = play_html.cases_html([("all", [view(20, "F")] * 1234)])
    assert many.count("data-case") == play_html.MOST_CASES
    assert "of 1,234" in many


def test_a_right_answer_after_a_sound_history() -> None:
    trace, card = played(GCA, HISTORY, "Giant cell arteritis")
    assert words.verdict(card)[0] == "Right"
    assert words.reliable(card)[0] == "Yes"
    points = card.scores["ses"].value
    assert isinstance(points, float)
    assert words.history(card)[0] == f"{round(points * 100)} of 100"


def test_a_right_answer_without_a_history_is_on_thin_ground() -> None:
    html = debrief.debrief_html(found(GCA, [], "Giant cell arteritis"))
    assert "You asked no clinical question." in html
    assert re.search(r'<td class="own lucky_guess"><b>Right, but on thin ground</b><span class="here">You are here', html)
    assert html.count("You are here") == 1


def test_an_early_commit_is_called_early_but_not_one_that_the_budget_forced() -> None:
    _, early = played(GCA, ["Any fever?"], "Giant cell arteritis")
    assert words.closure(early)[0] == "Yes"
    _, forced = played(GCA, ["Any fever?"], "Giant cell arteritis", max_turns=1)
    assert words.closure(forced)[0] == "No" and "turns had run out" in words.closure(forced)[1]


def test_a_second_place_a_near_miss_and_an_unknown_name_are_told_apart() -> None:
    _, second = played(GCA, [], "Migraine", "Giant cell arteritis")
    assert words.verdict(second) == (
        "2nd on your list",
        "Your first diagnosis was another kind of disease altogether; the right one is 2nd on your list.",
    )
    _, near = played(GCA, [], "M31.5")
    assert words.verdict(near)[0] == "Not found" and "close" in words.verdict(near)[1]
    _, unknown = played(GCA, [], "the vapours")
    assert "not recognised" in words.verdict(unknown)[1]


def test_what_was_asked_what_is_missing_and_what_the_patient_brought_up() -> None:
    questions = ["Is your scalp tender?", "Any fever, cough, weight loss or night sweats?", "Anything else?"]
    html = debrief.debrief_html(found(GCA, questions, "Migraine"))
    asked, missing = html.split("Missing from your history")
    assert "Scalp tenderness" in asked and "Scalp tenderness" not in missing.split("</section>")[0]
    assert "Jaw claudication" in missing
    assert re.search(r"Fatigue.{0,120}the patient brought it up", missing)
    assert "left unanswered because too much was asked at once: Night sweats" in html


def test_a_disease_without_a_profile_says_why_there_is_no_score() -> None:
    raw = GCA.model_dump(mode="json")
    raw["ground_truth"]["disease_id"] = "unheard-of"
    case = PatientVector.model_validate(raw)
    html = debrief.debrief_html(found(case, ["Any fever?"], "Giant cell arteritis"))
    assert "no profile of this disease" in html
    assert "Not scored" in html
    assert "You are here" not in html


def test_everything_a_person_or_a_case_can_write_is_escaped() -> None:
    evil = "<img src=x onerror=alert(1)>${x}{{y}}"
    raw = GCA.model_dump(mode="json")
    raw["ground_truth"]["primary"]["name"] = evil
    raw["ground_truth"]["differential"][1]["dx"]["name"] = evil
    raw["ground_truth"]["contraindicated"] = [evil]
    raw["ground_truth"]["score_points"]["critical_advice"][0]["text"] = evil
    raw["provenance"]["references"] = [evil]
    raw["provenance"]["reviewed_by"] = evil
    raw["setting"] = raw["presentation"]["opening_text"] = evil
    case = PatientVector.model_validate(raw)
    trace, card = played(case, [f"Any fever {evil}?"], evil)
    answer = FinalAnswer(ranked=[RankedDiagnosis(name=evil, icd10=evil)], tests=[evil], treatments=[evil], advice=[evil], change_mind=evil)
    trace = trace.model_copy(update={"outcome": answer})
    whole = Debrief(case, trace, card, evil, evil)
    shot = Snapshot("asking", case.examiner_view(), (Turn(idx=0, role="patient", text=evil),), 0, 20, evil)
    for html in (
        debrief.debrief_html(whole),
        debrief.transcript_section(whole, lambda _: evil),
        debrief.footer_html(whole),
        play_html.cases_html([(evil, [case.examiner_view()])]),
        play_html.bar_html(shot),
        play_html.chat_html(shot),
        play_html.note_html(evil, evil),
        play_html.review_html(answer),
    ):
        assert "<img" not in html
        assert "${" not in html and "{{" not in html
        assert "onerror=alert(1)" in html


def test_the_downloaded_trace_is_the_trace() -> None:
    whole = found(GCA, ["Any fever?"], "Migraine")
    data = re.search(r'download="(trace-[0-9a-f]+)\.json" href="data:application/json;base64,([^"]+)"', debrief.footer_html(whole))
    assert data is not None and data[1] == whole.trace.trace_id
    assert DialogueTrace.from_raw(json.loads(base64.b64decode(data[2]))) == whole.trace


def test_what_no_clinician_has_reviewed_says_so() -> None:
    assert "No clinician has reviewed" in debrief.footer_html(found(GCA, [], "Migraine"))


def test_the_turns_left_are_counted() -> None:
    def shot(asked: int, phase: str = "asking") -> Snapshot:
        return Snapshot(phase, GCA.examiner_view(), (), asked, 20, "")  # type: ignore[arg-type]

    assert "Turn 1 of 20" in play_html.bar_html(shot(0))
    assert "Turn 6 of 20" in play_html.bar_html(shot(5))
    assert "All 20 turns used" in play_html.bar_html(shot(20, "must_commit"))
    assert play_html.turn_note(shot(5)) is None
    assert play_html.turn_note(shot(18)) == "2 turns left."
    assert play_html.turn_note(shot(19)) == "One turn left."
    assert "Commit your diagnosis" in (play_html.turn_note(shot(20, "must_commit")) or "")
