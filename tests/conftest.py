"""What all tests share: a cache of their own, the bundled knowledge, and where the real data lie."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

import pytest

from ontology.vocabulary import Vocabulary, default_vocabulary
from simulator.build import Ward, default_ward

ROOT = Path(__file__).parents[1]
CACHE_VARIABLE = "BEDSIDE_CACHE_DIR"
_CACHE = pytest.StashKey[Path]()


def pytest_configure(config: pytest.Config) -> None:
    """Give the session an empty cache before anything reads one; subprocesses of tests inherit it."""
    folder = Path(tempfile.mkdtemp(prefix="bedside-test-cache-"))
    config.stash[_CACHE] = folder
    os.environ[CACHE_VARIABLE] = str(folder)


def pytest_unconfigure(config: pytest.Config) -> None:
    """Leave nothing behind."""
    shutil.rmtree(config.stash[_CACHE], ignore_errors=True)
    os.environ.pop(CACHE_VARIABLE, None)


@pytest.fixture(scope="session")
def vocabulary() -> Vocabulary:
    """The bundled vocabulary."""
    return default_vocabulary()


@pytest.fixture(scope="session")
def ward() -> Ward:
    """The bundled vocabulary and pool, as all encounters use them."""
    return default_ward()


@pytest.fixture(scope="session")
def real_data() -> Path:
    """The folder of downloaded data sets: BEDSIDE_REAL_DATA, else shared/data beside the checkout.

    Where it is missing, tests skip; with BEDSIDE_REQUIRE_REAL_DATA=1 they fail instead.
    """
    chosen = os.environ.get("BEDSIDE_REAL_DATA")
    folder = Path(chosen) if chosen else ROOT.parent / "shared" / "data"
    if folder.is_dir():
        return folder
    reason = f"no real data at {folder} (set BEDSIDE_REAL_DATA)"
    if os.environ.get("BEDSIDE_REQUIRE_REAL_DATA") == "1":
        pytest.fail(reason)
    pytest.skip(reason)
