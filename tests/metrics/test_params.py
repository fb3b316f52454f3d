"""The parameters: defaults of metrics.md 17, files, and the hash."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from metrics.params import ScoreParams, load_params
from metrics.scorecard import score_trace
from ontology.errors import BedsideError
from ontology.profiles import Feature, ProfileSet


def test_defaults() -> None:
    """17: the register of choices."""
    params = ScoreParams()
    assert (params.beta, params.precision, params.credit, params.credit_delta, params.hmax) == (1, "effort", "truepath", 0.5, 2)
    assert (params.missing_weight, params.t_max, params.ndcg_k, params.tau) == (0.5, 15, 10, 0.3)
    assert (params.theta, params.core_weight, params.thetas) == (0.5, 0.5, (0.3, 0.5, 0.7))
    assert (params.lambda_sec, params.unresolved_distance, params.top_k) == (0.25, 1, (1, 3, 5))


@pytest.mark.parametrize(("name", "text"), [("p.toml", "beta = 2\ntop_k = [1, 2]\n"), ("p.json", '{"beta": 2, "top_k": [1, 2]}')])
def test_files(tmp_path: Path, name: str, text: str) -> None:
    """What a file leaves out keeps its default; 2 and 2.0 are one value with one hash."""
    (tmp_path / name).write_text(text, encoding="utf-8")
    found = load_params(tmp_path / name)
    assert found == ScoreParams(beta=2.0, top_k=(1, 2))
    assert found.sha == ScoreParams(beta=2.0, top_k=(1, 2)).sha != ScoreParams().sha


def test_printed_parameters_read_back(tmp_path: Path) -> None:
    """What is printed is a file that means the same, with a word on every parameter."""
    params = ScoreParams(tau=0.4, credit="exact", thetas=(0.2,))
    text = params.to_toml()
    (tmp_path / "p.toml").write_text(text, encoding="utf-8")
    assert load_params(tmp_path / "p.toml") == params
    assert text.count("# ") == len(ScoreParams.model_fields)
    assert "None" not in text


@pytest.mark.parametrize(
    ("name", "text", "what"),
    [
        ("p.toml", "betta = 2", "unknown score parameter 'betta'"),
        ("p.json", '{"beta": -1}', "beta"),
        ("p.json", '{"top_k": [0]}', "top_k"),
        ("p.json", '{"thetas": [0]}', "thetas"),
        ("p.json", '{"credit": "fuzzy"}', "credit"),
        ("p.json", "[1]", "must be a table"),
        ("p.json", "{", "not valid JSON"),
        ("p.toml", "beta = ", "not valid TOML"),
        ("p.yaml", "beta: 2", "use .toml or .json"),
    ],
)
def test_bad_files_give_one_line(tmp_path: Path, name: str, text: str, what: str) -> None:
    """A user's mistake names the file, the mistake and the cure."""
    (tmp_path / name).write_text(text, encoding="utf-8")
    with pytest.raises(BedsideError) as caught:
        load_params(tmp_path / name)
    assert what in str(caught.value)
    assert name in str(caught.value)
    assert "\n" not in str(caught.value)


def test_missing_file(tmp_path: Path) -> None:
    """No traceback for a wrong path."""
    with pytest.raises(BedsideError, match="cannot be read"):
        load_params(tmp_path / "none.toml")


def test_parameters_are_frozen() -> None:
    """Nothing changes under a score."""
    with pytest.raises(ValidationError):
        ScoreParams().tau = 0.9  # type: ignore[misc]


CHANGES: list[dict[str, Any]] = [
    {"beta": 2.0},
    {"precision": "answered"},
    {"credit": "exact"},
    {"credit_delta": 0.9},
    {"hmax": 1},
    {"ndcg_k": 2},
    {"ndcg_discount": "turn"},
    {"ndcg_discount": "exponential"},
    {"s_dise_cost": "one_sided"},
    {"s_dise_cost": "exponential"},
    {"s_dise_relevance": "weighted"},
    {"askable": "all"},
    {"closure": "all"},
    {"closure": "ddx"},
    {"closure": "belief"},
    {"reliability_score": "s_dise"},
    {"ndcg_gamma": 0.5},
    {"closure_belief": 1.0},
    {"veto": "soft"},
    {"veto": "contradiction_only"},
    {"sdd_headline": "symmetric"},
    {"sdd_headline": "jaccard"},
    {"sdd_headline": "ic"},
    {"sdd_headline": "directional"},
    {"ic_method": "sanchez"},
    {"anchor_restricted": 0.95},
    {"anchor_altcov": 0.0},
    {"anchor_perseveration": 1.0},
    {"anchor_window": 1},
    {"anchor_bf": 0.01},
    {"anchor_questions": 40},
    {"anchor_flag": "wrong"},
    {"anchor_feature": 0.6},
    {"anchor_candidates": 2},
    {"missing_weight": 0.1},
    {"core_weight": 0.1},
    {"ddx_threshold": 0.45},
    {"tau": 0.9},
    {"theta": 0.9},
    {"t_max": 1},
    {"lambda_sec": 0.9},
    {"unresolved_distance": 0.5},
]


BASE: dict[str, dict[str, Any]] = {
    "ndcg_gamma": {"ndcg_discount": "exponential"},
    "closure_belief": {"closure": "belief"},
    "reliability_score": {"veto": "soft"},
}
"""What has to be chosen before a parameter means anything."""


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: "-".join(map(str, *change.items())))
def test_a_score_lists_every_parameter_it_depends_on(world: Any, change: dict[str, Any]) -> None:
    """14: no score changes by a parameter that it does not name, and every parameter changes something."""
    case = world.new_case(
        7,
        secondary=[{"name": "Migraine", "icd10": ["G43"]}],
        differential=[{"dx": {"name": "Migraine", "icd10": ["G43"]}, "prob": 0.4}, {"dx": {"name": "x", "icd10": ["G44.2"]}, "prob": 0.6}],
        sine_qua_non=[world.id("diplopia")],
    )
    (name,) = change
    base = BASE.get(name, {})
    knowledge = _with_a_bare_feature(world)
    traces = [
        world.golden_dialogue_on(case, "A").ask(("nausea", None), ("phonophobia", "denied")).commit(("Migraine", "G43.9"), seed=1),
        world.golden_dialogue_on(case, "A").commit(("Giant cell arteritis", "M31.6", 0.5), ("???", None, 0.3), seed=2),
        world.start(case).ask(("abn_vision", "affirmed")).ask(("anorexia", "affirmed")).commit(("???", None), seed=3),
        world.golden_dialogue_on(case, "B").commit(("Migraine", "G43.9"), seed=4),
        world.golden_dialogue_on(case, "A").ask(("anorexia", "denied"), ("myalgia", "denied")).commit(("Migraine", "G43.9"), seed=6),
        world.golden_dialogue_on(case, "B").ask(("fever", "denied")).ask(("X:junk-2", "denied")).commit(("Cluster", "G44.0"), seed=5),
    ]
    changed = set()
    for trace in traces:
        before = score_trace(trace, case, knowledge, ScoreParams(**base)).scores
        after = score_trace(trace, case, knowledge, ScoreParams(**base, **change)).scores
        for metric in before.keys() & after.keys():
            assert set(after[metric].params) == set(before[metric].params)
            if after[metric].value != before[metric].value:
                changed.add(metric)
                assert name in before[metric].params, f"{metric} changes with {name} and does not say so"
            if name in before[metric].params:
                assert after[metric].params_hash != before[metric].params_hash
            else:
                assert after[metric].params_hash == before[metric].params_hash
    assert changed


def _with_a_bare_feature(world: Any) -> Any:
    """The profiles with a feature that has no frequency, two links below a concept that is asked, and one that nobody is asked for."""
    bare = [
        Feature(concept=world.id("visual_loss"), name="Visual loss"),
        Feature(concept=world.id("nausea"), name="Nausea", frequency_class="frequent", askable=False),
    ]
    profiles = [profile.model_copy(update={"features": [*profile.features, *bare]}) for profile in world.profiles.profiles.values()]
    return world.knowing(ProfileSet(world.profiles.header, profiles))
