"""Questions, answers and what is known when: rules E1 to E9 of metrics.md 1."""

from __future__ import annotations

from typing import Any

from metrics.events import Interview, read_interview
from simulator.trace import Turn

GCA = ("Giant cell arteritis", "M31.6")


def read(world: Any, dialogue: Any) -> Interview:
    return read_interview(dialogue.commit(GCA), world.case, world.vocabulary)


def keys(world: Any, concepts: Any) -> list[str]:
    back = {concept: key for key, concept in world.ids.items()}
    return [back.get(concept, concept) for concept in concepts]


def known(world: Any, interview: Interview, before: int | None = None) -> dict[str, tuple[str, str]]:
    found = interview.known_before(before)
    return {key: (item.status, item.source) for key, item in zip(keys(world, found), found.values(), strict=True)}


def test_only_questions_make_events(world: Any) -> None:
    """E1: stating a finding, ordering a test or a remark asks nothing."""
    interview = read(world, world.start().state("photophobia").order("esr").remark())
    assert interview.events == ()
    assert interview.ask_turns == ()
    assert interview.examiner_turns == 4


def test_a_confirmed_statement_is_known_not_asked(world: Any) -> None:
    """16: a leading statement earns no credit; what the patient confirms is known, and the leading is on record."""
    interview = read(world, world.start().state("jaw_claudication", confirmed=True))
    assert interview.asked == ()
    assert known(world, interview)["jaw_claudication"] == ("present", "volunteered")
    assert keys(world, interview.leading) == ["jaw_claudication"]


def test_compound_question_is_several_events_in_text_order(world: Any) -> None:
    """E3: they share the turn."""
    interview = read(world, world.start().ask(("fever", "affirmed"), ("fatigue", "denied"), ("nausea", None)))
    assert keys(world, [event.concept for event in interview.events]) == ["fever", "fatigue", "nausea"]
    assert {event.turn_idx for event in interview.events} == {1}
    assert [event.answer for event in interview.events] == ["affirmed", "denied", "unanswered"]
    assert keys(world, interview.answered) == ["fever", "fatigue"]


def test_text_order_not_list_order(world: Any) -> None:
    """E3: order inside the turn is that of the words, however the mentions are listed."""
    trace = world.start().ask(("fever", "affirmed"), ("fatigue", "denied")).commit(GCA)
    raw = trace.model_dump(mode="json")["turns"]
    raw[1]["mentions"].reverse()
    raw[1]["acts"][0]["mentions"].reverse()
    interview = read_interview(world.rebuilt(trace, raw), world.case, world.vocabulary)
    assert keys(world, interview.asked) == ["fever", "fatigue"]


def test_repeats(world: Any) -> None:
    """E5: asked and answered with yes or no, asking again is a repeat; after unsure or no answer it is not."""
    first = [("fever", "affirmed"), ("fatigue", "denied"), ("nausea", "unsure"), ("vomiting", None)]
    interview = read(world, world.start().ask(*first).ask(*first))
    assert keys(world, [event.concept for event in interview.repeats]) == ["fever", "fatigue"]
    assert keys(world, [event.concept for event in interview.events]) == ["fever", "fatigue", "nausea", "vomiting", "nausea", "vomiting"]
    assert keys(world, interview.asked) == ["fever", "fatigue", "nausea", "vomiting"]


def test_two_wordings_in_one_turn_are_one_question(world: Any) -> None:
    """E5: neither a repeat nor a second event; the answer to either counts."""
    interview = read(world, world.start().ask(("fever", None), ("fever", "affirmed")))
    assert [(event.answer, event.start) for event in interview.events] == [("affirmed", 0)]
    assert interview.repeats == ()


def test_presence_is_settled_by_a_detail(world: Any) -> None:
    """E5, E6: who says since when it has been there has said that it is there."""
    interview = read(world, world.start().ask(("fever", "affirmed", "onset")).ask(("fever", "affirmed")))
    assert [event.attribute for event in interview.events] == ["onset"]
    assert keys(world, [event.concept for event in interview.repeats]) == ["fever"]


def test_details_are_questions_of_their_own(world: Any) -> None:
    """E6: keyed (concept, attribute)."""
    interview = read(world, world.start().ask(("fever", "affirmed")).ask(("fever", "unsure", "onset")).ask(("fever", "affirmed", "onset")))
    found = [(event.attribute, event.answer) for event in interview.events]
    assert found == [(None, "affirmed"), ("onset", "unsure"), ("onset", "affirmed")]
    assert len(interview.asked) == 1


def test_denied_detail_does_not_deny_the_finding(world: Any) -> None:
    """4.2: "it does not spread" says nothing against the fever; "no fever" as answer to "since when?" does."""
    spread = read(world, world.start().ask(("fever", "denied", "radiation", {"fact_id": "radiation"})))
    assert (spread.events[0].answer, spread.events[0].presence) == ("denied", "unsure")
    none = read(world, world.start().ask(("nausea", "denied", "onset")))
    assert (none.events[0].answer, none.events[0].presence) == ("denied", "denied")


def test_chief_complaint(world: Any) -> None:
    """E6: asking whether it is there is a repeat, asking a detail of it is not counted."""
    since = ("headache", "affirmed", "onset")
    interview = read(world, world.start().ask(("headache", "affirmed")).ask(since).ask(since))
    assert interview.events == ()
    assert [reason for _, reason in interview.excluded] == ["chief_complaint"]
    assert [event.attribute for event in interview.repeats] == [None, "onset"]
    assert known(world, interview, 1) == {"headache": ("present", "chief_complaint")}


def test_chief_complaint_comes_from_the_case(world: Any) -> None:
    """E6: also where nothing was recognised in the opening words."""
    dialogue = world.start()
    dialogue.turns[0].update(mentions=[], acts=[])
    interview = read(world, dialogue.ask(("headache", "affirmed")))
    assert len(interview.repeats) == 1
    assert interview.chief_complaint == (world.id("headache"),)


def test_what_was_volunteered_need_not_be_asked(world: Any) -> None:
    """E6, E7: an open question makes no event; what comes back is known, and asking it is a repeat."""
    interview = read(world, world.start().open_question("fever").ask(("fever", "affirmed")).ask(("fever", "affirmed", "onset")))
    assert len(interview.ask_turns) == 3
    assert keys(world, [event.concept for event in interview.repeats]) == ["fever"]
    assert [event.attribute for event in interview.events] == ["onset"]
    assert known(world, interview, 3)["fever"] == ("present", "volunteered")


def test_answers_come_from_links_only(world: Any) -> None:
    """E8: a yes without a link answers nothing that was asked; it is volunteered."""
    trace = world.start().ask(("fever", "affirmed"), ("fatigue", "affirmed")).commit(GCA)
    raw = trace.model_dump(mode="json")["turns"]
    raw[2]["mentions"][1]["links_to"] = None
    interview = read_interview(world.rebuilt(trace, raw), world.case, world.vocabulary)
    assert [event.answer for event in interview.events] == ["affirmed", "unanswered"]
    assert known(world, interview)["fatigue"] == ("present", "volunteered")


def test_narrower_answer_makes_both_known(world: Any) -> None:
    """4.2: asked about the eyes, the patient tells of lost sight; the question remains the one that was put."""
    cui = {"cui": world.id("visual_loss")}
    interview = read(world, world.start().ask(("visual_impairment", "affirmed", None, cui)))
    assert keys(world, interview.asked) == ["visual_impairment"]
    found = known(world, interview)
    assert found["visual_impairment"] == found["visual_loss"] == ("present", "answered")


def test_what_is_not_counted(world: Any) -> None:
    """E9, D6: labs, signs, age and relatives' health are no questions of elicitation."""
    asked = world.start().ask(("esr", "affirmed"), ("tenderness", "affirmed"), ("age", "affirmed"), ("fever", "denied"))
    interview = read(world, asked.ask_of_relative("fever"))
    assert keys(world, interview.asked) == ["fever"]
    assert [reason for _, reason in interview.excluded] == ["record", "record", "demographic", "other_person"]
    assert interview.turn_concepts == ((world.id("fever"),), ())


def test_record_results_are_known(world: Any) -> None:
    """D6: an ordered test is evidence, not a question."""
    interview = read(world, world.start().order("esr"))
    assert interview.asked == ()
    assert known(world, interview)["esr"] == ("present", "record")


def test_known_grows_turn_by_turn(world: Any) -> None:
    """1: Known at the end of a turn; a definite answer replaces an unsure one and then stands."""
    interview = read(world, world.start().ask(("fever", "unsure")).ask(("fever", "affirmed")).ask(("fatigue", "denied")))
    assert known(world, interview, 1) == {"headache": ("present", "chief_complaint")}
    assert known(world, interview, 3)["fever"] == ("unsure", "answered")
    assert known(world, interview, 5)["fever"] == ("present", "answered")
    assert known(world, interview)["fatigue"] == ("absent", "answered")


def test_unanswered_is_not_known(world: Any) -> None:
    """1: asked without an answer, nothing is known."""
    assert "fever" not in known(world, read(world, world.start().ask(("fever", None))))


def test_equal_concepts_are_one(world: Any) -> None:
    """2.4: another id of the same meaning is the same question."""

    class Twin:
        """The vocabulary, with a second id for fever."""

        def __getattr__(self, name: str) -> Any:
            return getattr(world.vocabulary, name)

        def canonical(self, concept: str) -> str:
            return world.id("fever") if concept == "C9999999" else world.vocabulary.canonical(concept)

    trace = world.start().ask(("C9999999", "affirmed")).ask(("fever", "affirmed")).commit(GCA)
    interview = read_interview(trace, world.case, Twin())  # type: ignore[arg-type]
    assert keys(world, interview.asked) == ["fever"]
    assert len(interview.repeats) == 1


def test_commit_turn(world: Any) -> None:
    """5.4: the first diagnose act that is final, counted among the examiner's turns from 1."""
    interview = read(world, world.start().ask(("fever", "affirmed")).remark())
    assert (interview.commit_turn, interview.commit_number) == (4, 3)
    open_end = read_interview(world.start().ask(("fever", "affirmed")).seal(), world.case, world.vocabulary)
    assert open_end.commit_turn is None


def test_other_ids_change_nothing(world: Any) -> None:
    """Architecture: ids of mentions and acts carry no meaning."""
    trace = world.golden_dialogue("A").commit(GCA)
    raw = trace.model_dump(mode="json")["turns"]
    for turn in raw:
        for mention in turn["mentions"]:
            mention["mention_id"] = "x-" + mention["mention_id"][::-1]
            mention["links_to"] = mention["links_to"] and "x-" + mention["links_to"][::-1]
        for act in turn["acts"]:
            act["act_id"] = "y-" + act["act_id"]
            act["mentions"] = ["x-" + mention_id[::-1] for mention_id in act["mentions"]]
    renamed = world.rebuilt(trace, [Turn.model_validate(turn) for turn in raw], trace_id="trace-other")
    assert world.values(renamed) == world.values(trace)
