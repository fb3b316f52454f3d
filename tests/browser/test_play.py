"""A person plays a case in a real browser, with the keyboard alone, from the choice of the case to the debrief.

Screenshots go to the folder that BEDSIDE_SCREENSHOTS names, else to a temporary one.
"""

from __future__ import annotations

import base64
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from simulator.traces_io import read_traces

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
playwright_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
if CHROMIUM is None and os.environ.get("BEDSIDE_REQUIRE_BROWSER") == "1":
    raise RuntimeError("no Chromium on the path, and BEDSIDE_REQUIRE_BROWSER=1")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on the path")

READY_S = 120


@dataclass
class Served:
    """The page under way."""

    address: str
    kept: Path


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    kept = tmp_path_factory.mktemp("played")
    command = [sys.executable, "-c", "from ui.cli import main; main()", "ui", "--port", str(port), "--save", str(kept)]
    log = (kept / "log").open("w+b")
    server = subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT)
    address = f"http://127.0.0.1:{port}/"
    try:
        deadline = time.monotonic() + READY_S
        while not answers(address):
            assert server.poll() is None and time.monotonic() < deadline, (kept / "log").read_text(encoding="utf-8")
            time.sleep(0.2)
        yield Served(address, kept)
    finally:
        server.terminate()
        server.wait(20)
        log.close()


def answers(address: str) -> bool:
    try:
        with urllib.request.urlopen(address, timeout=READY_S) as answer:
            return bool(answer.status == 200)
    except OSError:
        return False


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with playwright_api.sync_playwright() as api:
        # no sandbox: the tests may run as root in a container, and open our own page only
        running = api.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield running
        running.close()


@dataclass
class Visit:
    """A page with what went wrong on it."""

    page: Any
    strangers: list[str] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)


@pytest.fixture
def visit(served: Served, browser: Any) -> Iterator[Visit]:
    context = browser.new_context(viewport={"width": 1280, "height": 860}, accept_downloads=True)
    found = Visit(context.new_page())
    own = (served.address, "data:", "blob:")
    context.on("request", lambda request: None if request.url.startswith(own) else found.strangers.append(request.url))
    context.on("console", lambda message: found.complaints.append(message.text) if message.type in ("error", "warning") else None)
    context.on("weberror", lambda error: found.complaints.append(str(error.error)))
    found.page.goto(served.address)
    yield found
    context.close()
    assert found.strangers == []
    assert found.complaints == []


@pytest.fixture(scope="module")
def shots(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = Path(os.environ.get("BEDSIDE_SCREENSHOTS") or tmp_path_factory.mktemp("screenshots"))
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def focused(page: Any, element: str) -> None:
    """Wait until the keyboard is on an element: where a step should leave it."""
    page.wait_for_function("id => document.activeElement?.closest('[id=\"' + id + '\"]') !== null", arg=element)


def tab_to(page: Any, element: str) -> None:
    """Walk with the tab key."""
    for _ in range(60):
        if page.evaluate("id => document.activeElement?.closest('[id=\"' + id + '\"]') !== null", element):
            return
        page.keyboard.press("Tab")
    pytest.fail(f"the tab key never reaches {element}")


def ask(page: Any, words: str) -> None:
    turns = page.locator("#chat .turn")
    before = turns.count()
    focused(page, "ask")
    page.keyboard.type(words)
    page.keyboard.press("Enter")
    page.wait_for_function("least => document.querySelectorAll('#chat .turn').length >= least", arg=before + 2)
    page.wait_for_function("() => document.querySelector('#ask textarea').value === ''")


def choose(page: Any, who: str) -> None:
    # A pattern minds case and the beginning of a word: "Man, 19" is no "Woman, 19".
    page.locator(".case", has_text=re.compile(rf"\b{who}")).focus()
    page.keyboard.press("Enter")
    page.wait_for_selector("#chat .turn")
    focused(page, "ask")


def no_sideways_scroll(page: Any) -> bool:
    return bool(page.evaluate("() => document.documentElement.scrollWidth <= window.innerWidth"))


def test_a_case_is_played_with_the_keyboard_from_the_choice_to_the_debrief(visit: Visit, served: Served, shots: Path) -> None:
    page = visit.page
    page.wait_for_selector(".case")
    assert "Simulated patient. Research and education only; not medical advice." in page.inner_text("header.top")
    assert "Woman, 74, general practice" in page.inner_text("#cards")
    assert "arteritis" not in page.content().lower()
    page.screenshot(path=shots / "1-choose.png", full_page=True)

    choose(page, "Woman, 74")
    assert page.inner_text("#turn") == "Turn 1 of 20"
    ask(page, "Is your scalp tender when you brush your hair?")
    ask(page, "Does your jaw hurt when you chew?")
    ask(page, "Any fever, weight loss or change in your vision?")
    ask(page, "Is <img src=x onerror=alert(1)> ${7*7} {{7*7}} light a problem for you? 🙂")
    assert page.inner_text("#turn") == "Turn 5 of 20"
    assert "<img src=x onerror=alert(1)> ${7*7} {{7*7}}" in page.inner_text("#chat")
    assert page.locator("#chat img").count() == 0
    tab_to(page, "vitals")
    page.keyboard.press("Enter")
    page.wait_for_function("() => document.querySelector('#chat').innerText.includes('148/82')")
    focused(page, "ask")
    tab_to(page, "examine")
    page.keyboard.press("Enter")
    page.wait_for_function("() => document.querySelector('#ask textarea').value === 'Examine the '")
    ask(page, "temples")
    assert "Temporal artery examination" in page.inner_text("#chat")
    tab_to(page, "notes")
    page.keyboard.type("jaw claudication")
    page.screenshot(path=shots / "2-play.png")
    assert "arteritis" not in page.content().lower()

    commit(page, shots)
    debrief(page, served, shots)


def commit(page: Any, shots: Path) -> None:
    tab_to(page, "to-commit")
    page.keyboard.press("Enter")
    page.wait_for_selector("#dx-0 input")
    focused(page, "dx-0")
    tab_to(page, "review")
    page.keyboard.press("Enter")
    page.wait_for_function("() => document.querySelector('#form-note').innerText.includes('at least one diagnosis')")
    page.locator("#dx-0 input").focus()
    page.keyboard.type("giant cell")
    page.wait_for_selector("#names-0 option[value='Giant cell arteritis']", state="attached")
    assert page.get_attribute("#dx-0 input", "list") == "names-0"
    page.keyboard.type(" arteritis")
    page.wait_for_function("() => document.querySelector('#reading-0').innerText.includes('Read as M31.6')")
    tab_to(page, "prob-0")
    page.keyboard.type("70")
    tab_to(page, "add")
    page.keyboard.press("Enter")
    focused(page, "dx-1")
    page.keyboard.type("the vapours")
    page.wait_for_function("() => document.querySelector('#reading-1').innerText.includes('Not recognised')")
    tab_to(page, "triage")
    page.keyboard.press("Space")
    page.keyboard.press("ArrowDown")
    tab_to(page, "tests")
    page.keyboard.type("ESR\nCRP")
    page.screenshot(path=shots / "3-form.png", full_page=True)
    tab_to(page, "review")
    page.keyboard.press("Enter")
    focused(page, "review-title")
    summary = page.inner_text("#summary")
    for words in ("Giant cell arteritis", "M31.6", "70", "the vapours", "not recognised", "Very urgent", "ESR", "CRP", "no way back"):
        assert words in summary
    page.screenshot(path=shots / "4-review.png", full_page=True)
    tab_to(page, "final")
    page.keyboard.press("Enter")


def debrief(page: Any, served: Served, shots: Path) -> None:
    page.wait_for_selector("#truth")
    focused(page, "truth")
    text = page.inner_text("#debrief")
    told = ("Giant cell arteritis", "Your first diagnosis is right.", "You are here", "Missing from your history", "jaw claudication")
    for words in told:
        assert words in text
    assert page.locator(".dialogue.marked mark.m-present").count() > 0
    page.screenshot(path=shots / "5-debrief.png", full_page=True)

    kept = list(read_traces(served.kept))
    assert [trace.termination for trace in kept] == ["examiner_committed"]
    data = page.get_attribute("#download", "href").partition("base64,")[2]
    assert json.loads(base64.b64decode(data)) == json.loads(kept[0].to_json())
    with page.expect_download() as downloading:
        page.locator("#download").focus()
        page.keyboard.press("Enter")
    assert downloading.value.suggested_filename == f"{kept[0].trace_id}.json"

    page.reload()
    page.wait_for_selector("#truth")
    assert page.locator("#ask").count() == 0
    page.set_viewport_size({"width": 375, "height": 740})
    assert no_sideways_scroll(page)
    page.screenshot(path=shots / "6-debrief-375.png", full_page=True)
    tab_to(page, "next")
    page.keyboard.press("Enter")
    page.wait_for_selector(".case")


def test_a_page_that_is_loaded_again_goes_on_where_it_was(visit: Visit) -> None:
    page = visit.page
    page.wait_for_selector(".case")
    choose(page, "Man, 19, emergency")
    ask(page, "Have you been sick?")
    ask(page, "Any fever?")
    page.locator("#notes textarea").fill("vomiting")
    page.click("#to-commit")
    page.locator("#dx-0 input").fill("Acute appendicitis")
    page.wait_for_function("() => document.querySelector('#reading-0').innerText.includes('K35')")
    page.wait_for_timeout(500)  # the notes and the draft travel to the server
    page.reload()
    page.wait_for_selector("#chat .turn")
    assert page.inner_text("#note") == "Welcome back: turn 3."
    assert page.locator("#chat .turn").count() >= 5
    assert page.input_value("#notes textarea") == "vomiting"
    page.click("#to-commit")
    page.wait_for_selector("#dx-0 input")
    assert page.input_value("#dx-0 input") == "Acute appendicitis"


def test_two_visitors_do_not_meet(visit: Visit, served: Served, browser: Any) -> None:
    page = visit.page
    other_context = browser.new_context()
    other = other_context.new_page()
    other.goto(served.address)
    for one, who in ((page, "Man, 19, emergency"), (other, "Woman, 74")):
        one.wait_for_selector(".case")
        choose(one, who)
    ask(page, "Have you been sick?")
    ask(other, "Does your jaw hurt?")
    assert "jaw" not in page.inner_text("#chat") and "sick?" not in other.inner_text("#chat")
    other_context.close()


def test_a_phone_shows_every_step_without_sideways_scroll(visit: Visit, shots: Path) -> None:
    page = visit.page
    page.set_viewport_size({"width": 375, "height": 740})
    page.wait_for_selector(".case")
    assert no_sideways_scroll(page)
    page.screenshot(path=shots / "7-choose-375.png", full_page=True)
    choose(page, "Woman, 41")
    ask(page, "x" * 300)
    assert no_sideways_scroll(page)
    page.screenshot(path=shots / "8-play-375.png", full_page=True)
    page.click("#to-commit")
    page.wait_for_selector("#dx-0 input")
    assert no_sideways_scroll(page)
    page.screenshot(path=shots / "9-form-375.png", full_page=True)


def test_empty_words_and_leaving(visit: Visit) -> None:
    page = visit.page
    page.wait_for_selector(".case")
    choose(page, "Man, 19, emergency")
    page.keyboard.press("Enter")
    page.wait_for_function("() => document.querySelector('#note').innerText.includes('Type a question first')")
    assert page.inner_text("#turn") == "Turn 1 of 20"
    page.click("#leave")
    focused(page, "leave-no")
    page.keyboard.press("Enter")
    focused(page, "ask")
    page.click("#leave")
    page.click("#leave-yes")
    page.wait_for_selector(".case")
    page.reload()
    page.wait_for_selector(".case")
    assert page.locator("#chat").count() == 0
