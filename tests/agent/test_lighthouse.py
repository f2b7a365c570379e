"""One call that evaluates and gates."""

from __future__ import annotations

import json

import doors
import pytest

from aal_engine.store.bundle import bundled

PACK = bundled("golden_sets/handbook")
POLICY = bundled("policies/handbook.yaml")


def run(folder, version, *more):
    recorded = PACK / "runs" / f"{version}.jsonl"
    arguments = ("--pack", PACK, "--run", recorded, "--version", version, "--out", version)
    return doors.call("lighthouse", folder, "evals", "run", *map(str, arguments), *more)


def test_without_a_policy_it_measures(tmp_path):
    done = run(tmp_path, "1.0.0")
    assert done.returncode == 0, done.stderr
    assert {path.name for path in (tmp_path / "1.0.0").iterdir()} == {
        "answers.json",
        "retrieval.json",
        "tables",
    }
    assert not (tmp_path / "ledger").exists()


@pytest.mark.parametrize(("version", "code"), [("1.1.0", 1), ("1.1.1", 0)])
def test_with_a_policy_it_gates(tmp_path, version, code):
    policy = ("--policy", str(POLICY))
    assert run(tmp_path, "1.0.0", *policy).returncode == 0
    done = run(tmp_path, version, *policy, "--baseline", "1.0.0/decision.json")
    assert done.returncode == code, done.stderr
    decision = json.loads((tmp_path / version / "decision.json").read_text())
    assert decision["verdict"] == ["released", "blocked"][code]


def test_a_baseline_without_a_policy_is_refused(tmp_path):
    done = run(tmp_path, "1.0.0", "--baseline", "x.json")
    assert done.returncode == 2
    assert "pass --policy too" in done.stderr
