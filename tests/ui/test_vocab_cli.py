"""`bedside vocab`: what it prints, its exit codes, and the stored cases and scores that a diff names."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import ontology
from ontology.concepts import ConceptRow
from ontology.sources import bundled_sources
from ontology.vocabulary import Vocabulary, bundled_vocabulary
from simulator.cases_io import write_cases
from simulator.traces_io import read_traces
from ui.vocab_diff import case_effects, score_effects
from ui.wiring import Bookshelf, starter_cases

ROOT = Path(ontology.__file__).parents[1]
ROW = "C9000001|ENG|P|L1|PF|S1|Y|A1||101||MSH|PT|101|Zorbing fever|9|N||\n"


@pytest.fixture
def release(tmp_path: Path) -> Path:
    folder = tmp_path / "2026AA" / "META"
    folder.mkdir(parents=True)
    (folder / "MRCONSO.RRF").write_text(ROW)
    (folder / "MRSTY.RRF").write_text("C9000001|T184|A2.2.2|Sign or Symptom|AT1||\n")
    return folder.parent


def _bedside(tmp_path: Path, *words: str, **more: str) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "PYTHONPATH": str(ROOT), "BEDSIDE_CACHE_DIR": str(tmp_path / "cache"), **more}
    return subprocess.run([sys.executable, "-m", "ui.cli", *words], env=env, cwd=tmp_path, capture_output=True, text=True, check=False)


def test_build_list_and_look_up(tmp_path: Path, release: Path) -> None:
    built = _bedside(tmp_path, "vocab", "build", "--umls", str(release), "--no-quickumls")
    assert built.returncode == 0, built.stderr
    assert "UMLS MRCONSO.RRF  2026AA" in built.stdout and "BEDSIDE_VOCAB=umls" in built.stdout
    assert "vocabulary: MRCONSO.RRF" in built.stderr
    listed = _bedside(tmp_path, "vocab", "list")
    assert "bundled" in listed.stdout and "umls" in listed.stdout
    looked = _bedside(tmp_path, "vocab", "lookup", "zorbing fever", "--json", BEDSIDE_VOCAB="umls")
    assert json.loads(looked.stdout)["concept"] == {"id": "C9000001", "name": "Zorbing fever"}
    assert _bedside(tmp_path, "vocab", "lookup", "zorbing qwertz").returncode == 1


def test_broken_rows_show_in_the_exit_code(tmp_path: Path, release: Path) -> None:
    with (release / "META" / "MRCONSO.RRF").open("a") as file:
        file.write(ROW[:20])
    built = _bedside(tmp_path, "vocab", "build", "--umls", str(release), "--no-quickumls", "--quiet")
    assert built.returncode == 1
    assert "MRCONSO.RRF:2" in built.stderr and built.stderr.count("\n") == 1


@pytest.mark.parametrize(
    "words, said",
    [
        (("build", "--umls", "nowhere", "--no-quickumls"), "MRCONSO.RRF is not there"),
        (("build", "--semtype", "finding"), "'finding' is no semantic type"),
        (("build", "--name", "../x", "--no-quickumls"), "cannot be the name"),
        (("lookup", "x", "--vocab", "none"), "no vocabulary 'none' was built"),
        (("diff", "none", "open"), "no vocabulary 'none' was built"),
    ],
)
def test_mistakes_are_one_line(tmp_path: Path, words: tuple[str, ...], said: str) -> None:
    done = _bedside(tmp_path, "vocab", *words)
    assert done.returncode == 2 and said in done.stderr and done.stderr.count("\n") == 1


def test_diff_says_whether_anything_differs(tmp_path: Path, release: Path) -> None:
    assert _bedside(tmp_path, "vocab", "diff", "open", "bundled").returncode == 0
    _bedside(tmp_path, "vocab", "build", "--umls", str(release), "--no-quickumls")
    cases = tmp_path / "cases.jsonl"
    write_cases(cases, starter_cases())
    differ = _bedside(tmp_path, "vocab", "diff", "bundled", "umls", "--cases", str(cases))
    assert differ.returncode == 1
    assert "concepts added: 1" in differ.stdout and "C9000001" in differ.stdout and "no case would change" in differ.stdout


def _moved(concept: str) -> Vocabulary:
    """The bundled vocabulary in which a concept of ours is called otherwise."""
    sources = bundled_sources()
    raw = [row.model_dump() for row in sources.rows]
    other = "X:moved-away"
    rows = [ConceptRow.model_validate({**row, "id": other} if row["id"] == concept else row) for row in raw]
    return Vocabulary([row for row in rows], {}, sources.hpo_version, sources.blocked)


def test_cases_and_scores_that_would_change_are_named(tmp_path: Path) -> None:
    run = tmp_path / "run"
    done = _bedside(tmp_path, "run", "--out", str(run), "--cases", "starter", "--examiner", "checklist", "--quiet")
    assert done.returncode == 0, done.stderr
    traces = list(read_traces(run))
    cases = {case.case_id: case for case in starter_cases()}
    same = bundled_vocabulary()
    assert not list(case_effects(cases.values(), same, same))
    assert not list(score_effects(traces, cases, Bookshelf(), same, same))
    case = cases[traces[0].case_id]
    lead = next(f for f in case.patient_facts.facts if f.fact_id == case.presentation.chief_complaint[0])
    changed = {effect.id for effect in case_effects([case], same, _moved(lead.concept.cui))}
    assert changed == {case.case_id}
    effects = {effect.id: effect for effect in score_effects(traces[:1], cases, Bookshelf(), same, _moved(lead.concept.cui))}
    assert set(effects) == {traces[0].trace_id}
    assert any(change.what.startswith("turn ") for change in effects[traces[0].trace_id].changes)
