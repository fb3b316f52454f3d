"""The order of the reference examiners on 200 DDXPlus test patients (metrics.md 0b D3); `make bench` prints the table.

Every examiner acts through text alone. Profiles are counted over train and validate, never over test (D12).
"""

from __future__ import annotations

from pathlib import Path

import pytest

from metrics.scores import Scorecard
from simulator.build import Ward
from simulator.profile_builder import build_profiles
from tests.bench.reference_examiners import CASES, EXAMINERS, cards, evenly, means, release

Table = dict[str, dict[str, float | None]]
ALWAYS = (
    "acc_truth",
    "sdd",
    "top5",
    "precision",
    "recall",
    "ses",
    "ses_ddx",
    "ndcg",
    "s_dise",
    "per",
    "tig",
    "reliability",
    "cell",
    "ddf1",
)
ASKING = (
    "tig_per_question",
    "anchoring_index",
    "anchoring_bias",
    "question_efficiency",
    "premature_closure",
    "self_coherence",
    "redundancy",
)


@pytest.fixture(scope="module")
def found(real_data: Path, ward: Ward) -> list[Scorecard]:
    """Nine examiners, the same 200 patients, one card each."""
    folder = real_data / "ddxplus"
    if not folder.is_dir():
        pytest.skip(f"no {folder}")
    splits = release(folder, ward)
    profiles = build_profiles([*splits["train"], *splits["validate"]], ward.vocabulary)
    return list(cards(evenly(splits["test"], CASES), profiles, ward))


@pytest.fixture(scope="module")
def table(found: list[Scorecard]) -> Table:
    """Means by examiner."""
    return means(found)


def mean(table: Table, examiner: str, metric: str) -> float:
    value = table[examiner][metric]
    assert value is not None, f"{examiner} has no {metric}"
    return value


def test_everyone_plays_every_case(found: list[Scorecard]) -> None:
    assert len(found) == CASES * len(EXAMINERS)
    assert len({card.trace_id for card in found}) == len(found)
    assert {card.termination for card in found} == {"examiner_committed", "budget"}


def test_truth_gain_per_question(table: Table) -> None:
    fast, checklist, random = (mean(table, name, "tig_per_question") for name in ("infogain-fast", "checklist", "random"))
    assert fast > checklist > random


def test_ses(table: Table) -> None:
    oracle, infogain, fast = (mean(table, name, "ses") for name in ("oracle", "infogain", "infogain-fast"))
    assert oracle >= 0.95 and oracle > infogain > fast > 0
    assert mean(table, "hasty", "ses") == mean(table, "silent", "ses") == 0


def test_reliability(table: Table) -> None:
    """D3 puts shotgun above hasty; D2 measures 0 for it, and so do we."""
    oracle, infogain = mean(table, "oracle", "reliability"), mean(table, "infogain", "reliability")
    middle = [mean(table, name, "reliability") for name in ("infogain-fast", "checklist")]
    assert oracle >= 0.95 and oracle > infogain > max(middle) and min(middle) > 0
    assert infogain > mean(table, "shotgun", "reliability")
    assert mean(table, "hasty", "reliability") == mean(table, "silent", "reliability") == 0


@pytest.mark.xfail(reason="D3 wants shotgun above hasty; D2 gives it a reliability of 0, as does every cap of three answers", strict=True)
def test_shotgun_is_more_reliable_than_hasty(table: Table) -> None:
    assert mean(table, "shotgun", "reliability") > mean(table, "hasty", "reliability")


def test_premature_closure(table: Table) -> None:
    hasty, infogain = mean(table, "hasty", "premature_closure"), mean(table, "infogain", "premature_closure")
    assert hasty >= 0.95 and infogain <= hasty - 0.5


def test_anchoring(table: Table, found: list[Scorecard]) -> None:
    """Only anchors that are not the truth; see the next test for the letter of 5.3."""
    assert mean(table, "anchored", "anchoring_bias") >= 0.95
    own = [card.scores["anchoring_bias"] for card in found if card.examiner_id == "infogain"]
    assert sum(score.value is True and score.components["anchor_is_truth"] is False for score in own) / len(own) <= 0.2


@pytest.mark.xfail(reason="F2 of 5.3 holds for the true disease, too: infogain asks for its leader's core after a denial", strict=True)
def test_infogain_is_seldom_flagged(table: Table) -> None:
    assert mean(table, "infogain", "anchoring_bias") <= 0.2


def test_effort_precision(table: Table) -> None:
    assert mean(table, "checklist", "precision") > mean(table, "shotgun", "precision")


def test_scores_are_seldom_null(found: list[Scorecard]) -> None:
    """How many of the cases give a value: all, of scores that need no curated list, stated differential or pressing patient."""
    for metric in ALWAYS:
        assert sum(card.scores[metric].value is not None for card in found) == len(found), metric
    asking = [card for card in found if card.examiner_id not in ("hasty", "silent")]
    for metric in ASKING:
        assert sum(card.scores[metric].value is not None for card in asking) >= 0.99 * len(asking), metric
