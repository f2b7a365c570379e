"""`aal registry` does what its help says, and tells what is wrong in a line."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from doors import call

DID = "did:web:tutor.example"
CARD = {"name": "Tutor", "supportedInterfaces": [{"url": "https://tutor.example/a2a"}]}
SUITE = """\
key: http-basics
name: HTTP basics
task_type: http_probe
interval_minutes: 30
reward: 5
tasks:
  - {name: alive, input: /health, scorer: status_ok}
  - {name: quick, input: /health, scorer: latency_under_ms, expected: 500, weight: 2}
"""


def registry(folder, *arguments, **environment):
    environment = {"EVALS_ENABLED": "", "EVALS_DATABASE": "", **environment}
    return call("registry", folder, *arguments, **environment)


@pytest.fixture
def folder(tmp_path):
    assert registry(tmp_path, "init").returncode == 0
    (tmp_path / "card.json").write_text(json.dumps(CARD))
    (tmp_path / "suite.yaml").write_text(SUITE)
    return tmp_path


def test_from_nothing_to_a_queued_run(folder):
    assert registry(folder, "init").returncode == 0
    done = registry(folder, "agent", "register", DID, "--card", "card.json")
    assert done.stdout == f"registered: {DID}\n"
    done = registry(folder, "suite", "put", "suite.yaml")
    assert done.stdout == "http-basics  disabled  tasks 2  next run by hand\n"
    done = registry(folder, "run", "now", "http-basics")
    assert done.returncode == 2
    assert "EVALS_ENABLED" in done.stderr
    done = registry(folder, "run", "now", "http-basics", EVALS_ENABLED="true")
    run_id = done.stdout.strip()
    state = registry(folder, "run", "show", run_id, "--format", "json")
    assert json.loads(state.stdout)["exams"] == {"pending": 1}
    told = registry(folder, "run", "show", run_id).stdout
    assert told.endswith("finished not yet\n     1  pending: waits to be claimed\n")


def test_lists_for_people_and_programs(folder):
    assert registry(folder, "agent", "list").stderr == "none\n"
    registry(folder, "agent", "register", DID, "--card", "card.json")
    registry(folder, "agent", "register", "did:web:far.example", "--home", "far.example")
    registry(folder, "agent", "deactivate", DID)
    assert registry(folder, "agent", "list").stdout == (
        f"did:web:far.example  active  no card  mirror of far.example\n{DID}  inactive\n"
    )
    rows = json.loads(registry(folder, "agent", "list", "--format", "json").stdout)
    assert rows[1]["card"] == CARD
    registry(folder, "suite", "put", "suite.yaml")
    (row,) = json.loads(registry(folder, "suite", "list", "--format", "json").stdout)
    assert (row["key"], row["tasks"], row["pays"]) == ("http-basics", 2, True)
    assert registry(folder, "suite", "remove", "http-basics").stdout == "removed\n"
    assert registry(folder, "suite", "list").stdout == ""


def test_treasury_audit_rebuild_and_prune(folder):
    for _ in range(2):
        done = registry(folder, "fund", "100", "--key", "opening")
        assert done.stdout == "the treasury holds 100 units\n"
    assert registry(folder, "audit").stdout.startswith("sound: ")
    assert registry(folder, "rebuild").stdout == "every standing was what the results say\n"
    assert registry(folder, "prune", "--older-than-days", "30").stdout.startswith("deleted 0 ")


def test_an_audit_that_finds_something_exits_with_3(folder):
    import sqlite3

    registry(folder, "fund", "100", "--key", "opening")
    with sqlite3.connect(folder / "registry.db") as connection:
        connection.execute("UPDATE accounts SET balance = 101 WHERE name = 'treasury'")
    connection.close()
    done = registry(folder, "audit")
    assert done.returncode == 3
    assert "the accounts add up to 1, not to 0" in done.stdout


def test_trust_with_edges_from_a_file(folder):
    (folder / "edges.csv").write_text("source,target,value\ndid:web:a,did:web:b,3\n")
    done = registry(
        folder, "trust", "--edges", "edges.csv", "--pretrusted", "did:web:a=1", "--restart", "0.1"
    )
    assert done.stdout == "0.526315789  did:web:a\n0.473684211  did:web:b\n"
    oracle = "did:theprotocol:eval-oracle"
    assert registry(folder, "trust", "--top", "1").stdout == f"1.000000000  {oracle}\n"


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("agent", "register", "tutor"), "not a DID"),
        (("agent", "register", DID, "--card", "missing.json"), "missing.json: no such file"),
        (("agent", "register", DID, "--card", "suite.yaml"), "card"),
        (("agent", "deactivate", DID), "no agent is registered"),
        (("suite", "put", "card.json"), "not a field that is known here"),
        (("suite", "remove", "nothing"), "no such suite"),
        (("run", "now", "nothing"), "no such suite"),
        (("run", "show", "feed"), "no such run"),
        (("fund", "0", "--key", "k"), "amount"),
        (("trust", "--pretrusted", "did:web:a"), "pretrusted"),
        (("trust", "--pretrusted", "did:web:a=x"), "DID=WEIGHT"),
        (("trust", "--restart", "0"), "restart"),
        (("trust", "--edges", "card.json"), "card.json:1: not source,target,value"),
        (("audit", "--database", "typo.db"), "aal registry init"),
        (("audit", "--database", "mysql://keeper:hunter2@host/x"), "not a database"),
        (("init", "--database", "nowhere/registry.db"), "does not answer"),
    ],
)
def test_what_cannot_be_is_told(folder, arguments, told):
    if told == "card":
        (folder / "suite.yaml").write_text("blob: '" + "x" * 300_000 + "'\n")
    done = registry(folder, *arguments)
    assert done.returncode == 2
    assert told in done.stderr
    assert "hunter2" not in done.stderr
    assert str(folder) not in done.stderr


def test_evals_enabled_is_on_or_off_and_nothing_else(folder):
    done = registry(folder, "audit", EVALS_ENABLED="perhaps")
    assert done.returncode == 2
    assert "EVALS_ENABLED: neither on nor off" in done.stderr


def test_without_the_extra_one_line_names_it(folder):
    code = (
        "import sys; sys.modules['sqlalchemy'] = None; sys.argv = ['aal', 'registry', 'audit'];"
        "from aal_engine.agent.cli import main; main()"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert "pip install 'aal-engine[registry]'" in done.stderr
