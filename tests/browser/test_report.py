"""The report in a real browser: it asks nobody for anything, runs nothing, and fits a phone.

Screenshots go to the folder that BEDSIDE_SCREENSHOTS names, else to a temporary one.
"""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from ontology.documents import content_hash
from ui.report.collect import collect
from ui.report.page import page_html
from ui.runs import RunOptions, run_cases
from ui.scored import ScoredRun

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
playwright_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
if CHROMIUM is None and os.environ.get("BEDSIDE_REQUIRE_BROWSER") == "1":
    raise RuntimeError("no Chromium on the path, and BEDSIDE_REQUIRE_BROWSER=1")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on the path")

EVIL = '<script>window.ran = true</script><img src="x" onerror="window.ran = true">'


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report of a run in which every turn and every examiner's name carries a script."""
    folder = tmp_path_factory.mktemp("report")
    options = RunOptions(out=folder / "r", cases="ddxplus-form", examiners=("hasty", "checklist"), limit=4, quiet=True)
    assert run_cases(options) == 0
    lines = []
    for line in (folder / "r" / "traces.jsonl").read_text(encoding="utf-8").splitlines():
        raw: dict[str, Any] = json.loads(line)
        raw.pop("sealed_sha256")
        raw["examiner"]["id"] += EVIL
        for turn in raw["turns"]:
            turn["text"] += EVIL
        lines.append(json.dumps({**raw, "sealed_sha256": content_hash(raw)}))
    (folder / "r" / "traces.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    run = ScoredRun(folder / "r")
    page = folder / "report.html"
    page.write_text(page_html(run, collect(run, 2)), encoding="utf-8")
    return page


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (375, "dark")])
def test_it_opens_alone_and_fits(report: Path, tmp_path: Path, width: int, scheme: str) -> None:
    with playwright_api.sync_playwright() as play:
        browser = play.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": width, "height": 800}, color_scheme=scheme)
        asked: list[str] = []
        page.on("request", lambda request: asked.append(request.url))
        page.goto(report.as_uri())
        page.evaluate("document.querySelectorAll('details').forEach(part => part.open = true)")
        assert asked == [report.as_uri()]
        assert page.evaluate("window.ran") is None
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert page.get_by_role("img").count() >= 10
        assert page.get_by_text("<script>window.ran = true</script>").count() > 0
        for name in ("Headlines", "Worst encounters"):
            assert page.get_by_role("heading", name=name).is_visible()
        shots = Path(os.environ.get("BEDSIDE_SCREENSHOTS") or tmp_path)
        page.screenshot(path=shots / f"report-{width}.png", full_page=True)
        browser.close()
