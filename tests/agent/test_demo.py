"""The demo leads through the whole path."""

from __future__ import annotations

import json
import shlex

import doors

from aal_engine.service.demo import BLOCKED, TITLES
from aal_engine.store.bundle import bundled


def test_the_demo_blocks_the_bad_version_and_releases_the_fix(tmp_path):
    done = doors.call("demo", tmp_path)
    assert done.returncode == 0, done.stderr
    verdicts = {
        version: json.loads((tmp_path / "aal-demo" / version / "decision.json").read_text())
        for version in TITLES
    }
    assert {version for version, d in verdicts.items() if d["verdict"] == "blocked"} == {BLOCKED}
    broken = {check["check"] for check in verdicts[BLOCKED]["checks"] if not check["ok"]}
    assert {"invented_citations", "forbidden_claims", "regression"} <= broken
    assert "verified: 4 entries" in done.stdout
    assert "Next:" in done.stdout


def test_the_commands_it_tells_do_the_same(tmp_path):
    """Typed by hand beside the bundled files, every command ends as the demo says."""
    done = doors.call("demo", tmp_path)
    for name in ("golden_sets", "policies"):
        (tmp_path / name).symlink_to(bundled(name))
    codes = []
    for line in done.stdout.splitlines():
        if line.startswith("  $ aal "):
            _, _, door, *arguments = shlex.split(line)
            codes.append((door, doors.call(door, tmp_path, *arguments).returncode))
    assert codes == [
        ("evaluate", 0),
        ("gate", 0),
        ("evaluate", 0),
        ("gate", 1),
        ("evaluate", 0),
        ("gate", 0),
        ("ledger", 0),
    ]


def test_a_folder_that_holds_something_is_left_alone(tmp_path):
    (tmp_path / "aal-demo").mkdir()
    (tmp_path / "aal-demo" / "mine").write_text("kept")
    done = doors.call("demo", tmp_path)
    assert done.returncode == 2
    assert "not empty" in done.stderr
    assert [path.name for path in (tmp_path / "aal-demo").iterdir()] == ["mine"]
