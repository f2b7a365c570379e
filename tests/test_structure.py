"""The floors of the package hold, and its doors stay light."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
HEAVY = (
    "pandas",
    "pyarrow.dataset",
    "sqlite3",
    "sqlalchemy",
    "fastapi",
    "uvicorn",
    "httpx",
    "aiohttp",
    "asyncio",
    "tantivy",
    "lancedb",
    "qdrant_client",
    "psycopg",
    "onnxruntime",
    "tokenizers",
    "a2a",
    "duckdb",
    "polars",
    "ir_measures",
    "pytrec_eval",
)


def test_import_contracts_hold():
    done = subprocess.run(
        [Path(sys.executable).with_name("lint-imports"), "--no-cache"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize(
    ("door", "more"),
    [
        ("gate", ("jsonschema", "re2", "snowballstemmer", "cryptography", "rich.console")),
        ("evaluate", ("cryptography", "rich.console")),
        ("lighthouse", ("rich.console",)),
    ],
)
def test_a_door_imports_no_server_index_or_database_library(door, more):
    code = (
        f"import sys, aal_engine.agent.{door}; "
        f"print(*[name for name in {(*HEAVY, *more)!r} if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


def test_the_top_level_holds_what_it_should():
    listed = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if listed.returncode != 0:
        pytest.skip("not a git checkout")
    top = {path.split("/")[0] for path in listed.stdout.splitlines()}
    assert top == {
        ".ci",
        ".gitignore",
        "CHANGELOG.md",
        "LICENSE",
        "README.md",
        "aal_engine",
        "golden_sets",
        "ledger",
        "policies",
        "pyproject.toml",
        "tests",
    }
