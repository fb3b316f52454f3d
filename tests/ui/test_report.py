"""`bedside report`: one file that needs nothing, runs nothing, escapes everything, and shows whatever scores there are."""

from __future__ import annotations

import json
import re
import shutil
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from metrics.scores import Score
from ontology.documents import content_hash
from simulator.cases_io import write_cases
from ui import cli
from ui.report.collect import Fidelity, collect, mean_by_place
from ui.report.page import page_html
from ui.report.sections import calibration_bins
from ui.report.svg import Line, Span, histogram, intervals, line_chart, spread, stacked
from ui.scored import ScoredRun
from ui.wiring import form_cases

EVIL = '</span><script>alert("x")</script><img src=x onerror=alert(1)>&<b>'


def call(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    monkeypatch.setattr("sys.argv", ["bedside", *arguments])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    return int(ended.value.code or 0)


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run folder of two examiners on four cases."""
    folder = tmp_path_factory.mktemp("played") / "r"
    run = ["run", "--cases", "ddxplus-form", "--limit", "4", "--quiet", "--out", str(folder)]
    with pytest.MonkeyPatch.context() as patch:
        assert call(patch, *run, "--examiner", "hasty", "--examiner", "checklist") == 0
    return folder


@pytest.fixture(scope="module")
def page(played: Path) -> str:
    run = ScoredRun(played)
    return page_html(run, collect(run, 2))


class Tags(HTMLParser):
    """Counts elements, keeps every attribute, and holds that elements are closed in order."""

    VOID = ("meta", "br", "img", "input", "hr", "link")

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: Counter[str] = Counter()
        self.attributes: list[tuple[str, str, str]] = []
        self.text: list[str] = []
        self.open: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags[tag] += 1
        self.attributes += [(tag, name, value or "") for name, value in attrs]
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags[tag] += 1
        self.attributes += [(tag, name, value or "") for name, value in attrs]

    def handle_endtag(self, tag: str) -> None:
        assert self.open and self.open[-1] == tag, (tag, self.open[-5:])
        self.open.pop()

    def handle_data(self, data: str) -> None:
        self.text.append(data)


def test_the_page_is_whole_and_needs_nothing(page: str) -> None:
    """Well nested; no script, no frame, nothing that is loaded, no handler; a policy that forbids it all the same."""
    found = Tags(page)
    assert found.open == []
    assert not set(found.tags) & {"script", "iframe", "object", "embed", "link", "img", "form", "base"}
    assert not [name for _, name, _ in found.attributes if name.startswith("on") or name in ("src", "srcset", "action", "data")]
    assert {value[:1] for _, name, value in found.attributes if name == "href"} <= {"#"}
    assert "http:" not in page and "https:" not in page and "@import" not in page and "url(" not in page
    policy = next(value for tag, name, value in found.attributes if tag == "meta" and value.startswith("default-src"))
    assert "'none'" in policy and "script" not in policy
    assert ("meta", "name", "viewport") in found.attributes


def test_every_part_is_there(page: str) -> None:
    for part in (
        "Headline scores",
        "Answer and questioning",
        "Reliability curve",
        "Belief and anchoring",
        "Harm",
        "Calibration",
        "Patient fidelity",
        "Distributions",
        "All scores",
        "Worst encounters",
        "How answers stand to the truth in ICD-10",
    ):
        assert part in page, part


def test_charts_are_told_in_words(page: str) -> None:
    """Each is an image with a name that holds its numbers; the marks in transcripts have words, too."""
    charts = re.findall(r'<svg class="chart"[^>]*>', page)
    assert len(charts) >= 10
    for chart in charts:
        assert 'role="img"' in chart
        label = re.search(r'aria-label="([^"]*)"', chart)
        assert label is not None and re.search(r"\d", label[1])


def test_equal_runs_make_equal_pages(played: Path, page: str) -> None:
    run = ScoredRun(played)
    assert page_html(run, collect(run, 2)) == page


def test_numbers_on_the_page_are_those_of_the_cards(played: Path, page: str) -> None:
    cards = [scored.card for scored in ScoredRun(played) if scored.card.examiner_id == "checklist"]
    mean = sum(float(card.scores["ses"].value or 0) for card in cards) / len(cards)
    assert f"{mean:.3f}<span" in page
    text = "".join(Tags(page).text)
    for name in cards[0].scores:
        assert name in text or isinstance(cards[0].scores[name].value, str)


def edited(played: Path, folder: Path, change: Any) -> Path:
    """A copy of the run whose traces another hand changed and sealed again."""
    shutil.copytree(played, folder)
    lines = []
    for line in (folder / "traces.jsonl").read_text(encoding="utf-8").splitlines():
        raw = json.loads(line)
        raw.pop("sealed_sha256")
        change(raw)
        lines.append(json.dumps({**raw, "sealed_sha256": content_hash(raw)}, ensure_ascii=False))
    (folder / "traces.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return folder


def poison(raw: dict[str, Any]) -> None:
    """Put markup wherever a trace can carry words of somebody else."""
    raw["examiner"]["id"] = EVIL
    raw["patient"]["id"] = EVIL
    raw["termination_detail"] = EVIL
    raw["outcome"]["ranked"][0]["name"] = EVIL
    raw["outcome"]["confidence"] = 0.7
    for turn in raw["turns"]:
        turn["text"] += EVIL
        turn["notes"] = [{"code": EVIL, "detail": EVIL}]
    raw["leaks"] = [{"turn_idx": 0, "leak_class": "history", "surface": EVIL, "term": EVIL}]


def test_words_of_others_never_become_markup(played: Path, tmp_path: Path) -> None:
    """A script in a patient's words, an examiner's name or an answer is shown, not run."""
    cases = [case.model_copy(update={"title": EVIL}, deep=True) for case in form_cases()[:4]]
    for case in cases:
        case.ground_truth.primary.name = EVIL
    hashes = {case.case_id: case.sha256() for case in cases}
    write_cases(tmp_path / "c.jsonl", cases)

    def change(raw: dict[str, Any]) -> None:
        poison(raw)
        raw["case_sha256"] = hashes[raw["case_id"]]

    run = ScoredRun(edited(played, tmp_path / EVIL.replace("/", "_"), change), str(tmp_path / "c.jsonl"))
    page = page_html(run, collect(run, 3))
    assert run.n == 8
    found = Tags(page)
    assert found.open == [] and not found.tags["script"] and not found.tags["img"]
    assert not [name for _, name, _ in found.attributes if name.startswith("on")]
    assert '<script>alert("x")</script>' in "".join(found.text)


def test_scores_nobody_knew_of_show(played: Path) -> None:
    """Harm by name, timelines by their parts: whatever a scorecard holds."""

    class Richer(ScoredRun):
        def __iter__(self) -> Any:
            for scored in super().__iter__():
                common: dict[str, Any] = {"params_hash": "x", "kb_version": scored.card.kb_version}
                questions = [{"turn": 1, "name": "Fever", "belief_in_truth": 0.4}, {"turn": 3, "name": "Cough", "belief_in_truth": 0.8}]
                more = {
                    "harm_index": Score(value=0.4, **common),
                    "undertriage": Score(value=None, null_reason="no level was given", **common),
                    "brand_new": Score(value=7.25, **common),
                    "tig": Score(value=1.0, components={"questions": questions, "belief_in_truth_at_opening": 0.2}, **common),  # type: ignore[dict-item]
                }
                card = scored.card.model_copy(update={"scores": {**scored.card.scores, **more}})
                yield type(scored)(scored.trace, scored.case, scored.knowledge, card)

    run = Richer(played)
    groups = collect(run, 1)
    page = page_html(run, groups)
    assert groups[0].encounters[0].belief == (0.2, 0.4, 0.8)
    assert "brand_new" in page and "7.250" in page
    assert "harm index" in page and "undertriage" in page and "no level was given" in page
    assert "Belief in the true disease: these scorecards" not in page and "1 → 0.40" in page
    assert "tig: Fever (belief in truth 0.4)" in page


def test_parts_without_scores_say_so(page: str) -> None:
    text = "".join(Tags(page).text)
    for part, what in (("Belief in the true disease", "tig"), ("Anchoring", "anchoring_index"), ("harm", "harm")):
        shown = any(what in name for name in re.findall(r'<th scope="row">([a-z_0-9.]+)</th>', page))
        assert shown or f"{part}" in text and "these scorecards hold no" in text


# -- the command ----------------------------------------------------------------------------------------------------


def test_the_command_writes_one_file(
    played: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert call(monkeypatch, "report", str(played), "--out", "sub/report.html", "--worst", "1") == 0
    assert "sub/report.html: 8 encounters" in capsys.readouterr().out
    assert [path.name for path in Path("sub").iterdir()] == ["report.html"]
    assert Path("sub/report.html").read_text(encoding="utf-8").startswith("<!doctype html>")


def test_wrong_traces_are_named_in_the_report(
    played: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    shutil.copytree(played, "r")
    text = Path("r/traces.jsonl").read_text().splitlines()
    Path("r/traces.jsonl").write_text("\n".join(["{broken", *text[1:]]) + "\n")
    assert call(monkeypatch, "report", "r", "--out", "report.html") == 4
    assert "1 of 8 traces could not be scored (not a trace 1)" in capsys.readouterr().err
    page = Path("report.html").read_text(encoding="utf-8")
    assert "1 traces could not be scored and are left out: not a trace 1." in page and "r/traces.jsonl:1" in page


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["gone", "--out", "r.html"], ["gone: no such file or folder"]),
        (["RUN", "--out", "r.pdf"], ["r.pdf: a report is an HTML file", "name it .html"]),
        (["RUN", "--out", "/dev/null/r.html"], ["/dev/null/r.html: cannot be written"]),
        (["RUN", "--out", "r.html", "--cases", "starter"], ["is not in starter"]),
        (["RUN"], ["Missing option '--out'"]),
        (["RUN", "--out", "r.html", "--worst", "-1"], ["--worst"]),
    ],
)
def test_mistakes_are_one_line(
    played: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    words: list[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert call(monkeypatch, "report", *(str(played) if word == "RUN" else word for word in arguments)) == 2
    printed = capsys.readouterr()
    assert printed.out == "" and printed.err.count("\n") == 1 and "Traceback" not in printed.err
    for word in words:
        assert word in printed.err
    assert not list(tmp_path.iterdir())


# -- what the parts count -------------------------------------------------------------------------------------------


def test_fidelity_counts_answers_against_facts(played: Path) -> None:
    """The embedded patient never contradicts a fact; one turned answer is seen."""
    run = ScoredRun(played)
    scored = next(item for item in run if item.card.examiner_id == "checklist")
    true = Fidelity()
    true.add(scored.trace, scored.case)
    assert true.against_fact == 0 and true.from_fact > 0 and true.answered == true.asked > 0
    raw = scored.trace.model_dump(mode="json")
    facts = {fact.fact_id: fact for fact in scored.case.patient_facts.facts}
    said = next(
        mention
        for turn in raw["turns"]
        for mention in turn["mentions"]
        if mention["dialogue_role"] == "affirmed" and mention["fact_id"] and facts[mention["fact_id"]].attribute is None
    )
    said["dialogue_role"] = "denied"
    false = Fidelity()
    false.add(type(scored.trace).model_validate(raw), scored.case)
    assert false.against_fact == 1 and false.from_fact == true.from_fact


def test_worst_encounters_come_first(played: Path) -> None:
    """Wrong answers before right ones, distant before near; at most so many of each examiner; none if none are wanted."""
    run = ScoredRun(played)
    group = collect(run, 2)[0]
    shown = group.worst_first()
    assert Counter(scored.card.examiner_id for scored in shown) == {"hasty": 2, "checklist": 2}
    keys = [(scored.card.scores["acc_truth"].value, -float(scored.card.scores["sdd"].value or 0)) for scored in shown]
    assert keys == sorted(keys)
    rest = [card for card in group.cards if card.examiner_id == "hasty"]
    worst = min(float(s.card.scores["sdd"].value or 0) for s in shown if s.card.examiner_id == "hasty")
    assert sum(float(card.scores["sdd"].value or 0) > worst for card in rest) <= 2
    assert collect(run, 0)[0].worst_first() == []


def test_means_along_dialogues_of_unequal_length() -> None:
    assert mean_by_place([(0.2, 0.4), (0.6,), (), (None, 0.8)]) == [(0, pytest.approx(0.4), 2), (1, pytest.approx(0.6), 2)]


def test_calibration_by_tenths() -> None:
    """7.4: width-10 bins; 1.0 belongs to the last."""
    found = calibration_bins([(0.95, True), (1.0, False), (0.05, False), (0.91, True)])
    assert found == [(pytest.approx(0.05), 0.0, 1), (pytest.approx(2.86 / 3), pytest.approx(2 / 3), 3)]


def test_charts_hold_their_numbers() -> None:
    assert spread([0.0, 0.05, 0.5, 1.0, 1.0], 0, 1, 10) == [2, 0, 0, 0, 0, 1, 0, 0, 0, 2]
    assert spread([3.0, 3.0], 3, 3, 4) == [2, 0, 0, 0]
    for chart in (
        histogram("<t>", [0.5], 0, 1),
        histogram("<t>", [], 0, 1),
        line_chart("<t>", [Line("<n>", [(0, 0.5), (1, 2.0)]), Line("empty", [])], "<x>", "<y>", (0, 1)),
        line_chart("<t>", [Line("<n>", [(0, 0.5)])], "x", "y", (0, 0), diagonal=True, dots=True),
        stacked("<t>", [("<n>", [("<a>", 3), ("b", 0)]), ("none", [])]),
        intervals("<t>", [Span("<n>", 0.5, 0.4, 0.6), Span("none", None)]),
    ):
        found = Tags(chart)
        assert found.open == [] and set(found.tags) <= {"svg", "title", "line", "polyline", "text", "rect", "circle", "ul", "li", "span"}
        assert "nan" not in chart.lower() and "&lt;t&gt;" in chart
        for _, name, value in found.attributes:
            if name in ("width", "height"):
                assert float(value) >= 0
