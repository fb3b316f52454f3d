"""The cached tables: built once, and whole whatever happens to the file (metrics.md 3.2, "Import costs")."""

from __future__ import annotations

import json
import logging
import os
import subprocess
import sys
import time
import zlib
from pathlib import Path
from typing import Any

import pytest

import ontology
from ontology.icd10 import cache_folder, load_cm_table, load_who_table, table

ROOT = Path(ontology.__file__).parents[1]
COLUMNS: dict[str, Any] = {
    "codes": ["9", "I20-I25", "I21"],
    "parents": [-1, 0, 1],
    "titles": ["Circulatory", "Ischemic", "Infarction"],
    "extensions": ["", "", ""],
    "inclusions": {"2": ["cardiac infarction"]},
    "includes": {},
}


@pytest.fixture
def builds(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Replaces the slow build by a small one; the list grows by one per build."""
    done: list[int] = []

    def build() -> dict[str, Any]:
        done.append(1)
        return COLUMNS

    monkeypatch.setattr(table, "_build_cm", build)
    return done


def _only_file(folder: Path) -> Path:
    (path,) = folder.iterdir()
    return path


def _python(code: str, folder: Path) -> subprocess.Popen[str]:
    env = {**os.environ, "PYTHONPATH": str(ROOT), "BEDSIDE_CACHE_DIR": str(folder)}
    command = [sys.executable, "-c", code]
    return subprocess.Popen(command, env=env, cwd=ROOT, stdout=subprocess.PIPE, text=True)


def test_second_load_reads_one_versioned_file(tmp_path: Path, builds: list[int]) -> None:
    """3.2: the parent table is cached; its name carries the version of the library."""
    first = load_cm_table(tmp_path)
    assert load_cm_table(tmp_path) == first
    assert builds == [1]
    assert first.version in _only_file(tmp_path).name
    assert first.inclusions == {2: ["cardiac infarction"]}


def test_folder_comes_from_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, builds: list[int]) -> None:
    """BEDSIDE_CACHE_DIR goes before the user's cache folder; folders in between are made."""
    monkeypatch.setenv("BEDSIDE_CACHE_DIR", str(tmp_path / "a" / "b"))
    assert cache_folder() == tmp_path / "a" / "b"
    load_cm_table()
    assert _only_file(tmp_path / "a" / "b").is_file()
    monkeypatch.setenv("BEDSIDE_CACHE_DIR", "")
    assert "bedside" in str(cache_folder())


def _stored(**changes: Any) -> bytes:
    library = {"format": table.FORMAT, "library": "simple-icd-10-cm", "version": "1.5.0"}
    return zlib.compress(json.dumps({**library, "columns": COLUMNS, **changes}).encode())


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(b"", id="empty"),
        pytest.param(b"not compressed", id="garbage"),
        pytest.param(zlib.compress(b"{"), id="not-json"),
        pytest.param(zlib.compress(b"[1]"), id="not-an-object"),
        pytest.param(_stored()[:-9], id="cut-short"),
        pytest.param(_stored(format=0), id="other-format"),
        pytest.param(_stored(columns={**COLUMNS, "titles": ["one"]}), id="unequal-columns"),
        pytest.param(_stored(columns={**COLUMNS, "parents": [-1, 0, 7]}), id="parent-after-child"),
        pytest.param(_stored(columns={"codes": ["9"]}), id="missing-column"),
        pytest.param(_stored(columns={**COLUMNS, "codes": []}), id="no-codes"),
    ],
)
def test_damaged_file_is_built_again(tmp_path: Path, builds: list[int], caplog: pytest.LogCaptureFixture, content: bytes) -> None:
    """3.2: a damaged cache is noticed, reported and replaced."""
    good = load_cm_table(tmp_path)
    path = _only_file(tmp_path)
    path.write_bytes(content)
    with caplog.at_level(logging.WARNING):
        assert load_cm_table(tmp_path) == good
    assert "damaged" in caplog.text
    assert len(builds) == 2
    caplog.clear()
    assert load_cm_table(tmp_path) == good
    assert len(builds) == 2 and not caplog.text


def test_unwritable_folder_keeps_the_table_in_memory(tmp_path: Path, builds: list[int], caplog: pytest.LogCaptureFixture) -> None:
    """A file where the folder should be: works for root too, whom permissions do not stop."""
    blocker = tmp_path / "blocker"
    blocker.write_text("")
    assert load_cm_table(blocker).codes == COLUMNS["codes"]
    assert load_cm_table(blocker / "below").codes == COLUMNS["codes"]
    assert caplog.text.count("memory only") == 2
    assert blocker.read_text() == ""


def test_read_only_folder_keeps_the_table_in_memory(tmp_path: Path, builds: list[int], caplog: pytest.LogCaptureFixture) -> None:
    """A folder without write permission costs the build, nothing else."""
    tmp_path.chmod(0o500)
    try:
        if os.access(tmp_path, os.W_OK):
            pytest.skip("this user may write everywhere")
        assert load_cm_table(tmp_path).codes == COLUMNS["codes"]
    finally:
        tmp_path.chmod(0o700)
    assert "memory only" in caplog.text
    assert not list(tmp_path.iterdir())


def test_failed_replace_leaves_nothing_behind(
    tmp_path: Path, builds: list[int], caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A write that fails at its last step leaves neither a partial nor a temporary file."""

    def fail(*_: object) -> None:
        raise PermissionError("read-only file system")

    monkeypatch.setattr(os, "replace", fail)
    assert load_cm_table(tmp_path).codes == COLUMNS["codes"]
    assert "read-only file system" in caplog.text
    assert not list(tmp_path.iterdir())


def test_two_processes_build_at_the_same_time(tmp_path: Path) -> None:
    """Both end with the whole table, and nobody ever sees half a file."""
    code = "from ontology.icd10 import icd_tree; import sys; sys.stdout.write(str(len(icd_tree())))"
    processes = [_python(code, tmp_path) for _ in range(2)]
    while any(process.poll() is None for process in processes):
        for path in tmp_path.glob("*.z"):
            json.loads(zlib.decompress(path.read_bytes()))
        time.sleep(0.01)
    assert [process.communicate()[0] for process in processes] == ["47188", "47188"]
    assert [process.returncode for process in processes] == [0, 0]
    assert _only_file(tmp_path).suffix == ".z"


def test_cached_load_never_imports_the_library() -> None:
    """3.2: the library's import costs seconds; once the table is cached, nothing needs it."""
    load_cm_table()
    code = (
        "import sys\n"
        "from ontology.icd10 import normalise, sdd\n"
        "sdd(normalise('i21.4'), normalise('I2102'))\n"
        "sys.stdout.write(str(sorted({'simple_icd_10', 'simple_icd_10_cm'} & set(sys.modules))))"
    )
    assert _python(code, cache_folder()).communicate()[0] == "[]"


def test_who_table_has_codes_and_titles() -> None:
    """3.2: WHO chapters are Roman numerals, WHO blocks differ from those of CM."""
    who = load_who_table()
    assert len(who.titles) == 12542
    assert who.titles["H36.0"] == "Diabetic retinopathy"
    assert {"IX", "I30-I52"} <= set(who.titles)
    assert "I30-I5A" not in who.titles
