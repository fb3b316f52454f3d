"""docs/metrics.md: its examples give what they print, and it names every score there is."""

from __future__ import annotations

import doctest
import re
from pathlib import Path
from typing import Any

GUIDE = Path(__file__).parents[2] / "docs" / "metrics.md"
BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)


def test_the_examples_give_what_they_print() -> None:
    """Every block, in order, in one namespace."""
    text = GUIDE.read_text(encoding="utf-8")
    blocks = BLOCK.findall(text)
    example = doctest.DocTestParser().get_doctest("\n".join(blocks), {}, "docs/metrics.md", str(GUIDE), 0)
    told: list[str] = []
    result = doctest.DocTestRunner(optionflags=doctest.REPORT_NDIFF).run(example, out=told.append)
    assert len(blocks) >= 10 and result.attempted >= 40
    assert result.failed == 0, "".join(told)


def test_every_score_is_explained(world: Any) -> None:
    """A score that users meet on a card stands in the guide, and the guide names no score that is on none."""
    card = world.score(world.golden_dialogue("A").commit(("Giant cell arteritis", "M31.6")))
    text = GUIDE.read_text(encoding="utf-8")
    named = set(re.findall(r"`([a-z0-9_.]+)`", text))
    assert sorted(set(card.scores) - named) == []
    in_tables = {name for row in re.findall(r"^\| (.*?) \|", text, re.MULTILINE) for name in re.findall(r"`([a-z0-9_.]+)`", row)}
    assert sorted(in_tables - set(card.scores)) == []
