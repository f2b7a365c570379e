from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from deployed import gated
from specimen import KEY
from typer.testing import CliRunner

from aal_engine.agent.schedule import app
from aal_engine.decide.monitoring import Timetable
from aal_engine.service.unit import UNITS
from aal_engine.store.yaml_text import FaultList, decode_yaml

POLICY = """\
model_families: {allow: [claude]}
schedule: {cron: "30 3 * * *", zone: Europe/Berlin, jitter_minutes: 10, stale_minutes: 45}
"""
PACK = """\
name: support
agent: desk
autonomy: 1
sensitivity: internal
suites: {core: {file: core.jsonl}}
"""


@pytest.fixture
def place(tmp_path, monkeypatch):
    (tmp_path / "pack").mkdir()
    (tmp_path / "pack" / "pack.yaml").write_text(PACK)
    case = {"id": "c", "question": "How?", "relevant": {"d1": 1}}
    (tmp_path / "pack" / "core.jsonl").write_text(json.dumps(case) + "\n")
    (tmp_path / "policy.yaml").write_text(POLICY)
    (tmp_path / "run.jsonl").write_text('{"id": "c", "model_family": "claude", "retrieved": []}\n')
    monkeypatch.chdir(tmp_path)
    return tmp_path


ASKED = ("--pack", "pack", "--policy", "policy.yaml", "--run", "run.jsonl")


def call(*arguments):
    return CliRunner().invoke(app, arguments)


def test_a_run_without_a_version_in_service_fails_and_says_so(place):
    gated(place / "ledger", "1.0.0")
    done = call("run", "--once", *ASKED)
    assert done.exit_code == 2
    assert "failed: no version of desk is in service" in done.stderr


def test_a_slot_that_was_run_is_not_run_again(place):
    from datetime import UTC, datetime

    from aal_engine.service.release import open_desk, promote
    from aal_engine.store.policy import load_policy

    gated(place / "ledger", "1.0.0")
    rules = load_policy(place / "policy.yaml")
    promote(
        open_desk(place / "ledger", rules, lambda _: None, lambda: datetime.now(UTC)), KEY, "1.0.0"
    )
    done = call("run", "--once", *ASKED)
    # The ledger of the test was made from other records: none of them has a counterpart.
    assert (done.exit_code, "not measured" in done.stdout) == (0, True)
    assert call("run", "--once", *ASKED).stdout == "nothing is due\n"


def test_the_next_slots_are_told(place):
    told = call("next", "--policy", "policy.yaml", "--count", "3").stdout.splitlines()
    assert told[0] == "30 3 * * * in Europe/Berlin"
    assert len(told) == 5
    assert "up to 10 minutes later" in told[-1]


def test_a_policy_without_a_schedule_is_told(place):
    (place / "policy.yaml").write_text("model_families: {allow: [claude]}\n")
    assert "policy.yaml: has no schedule" in str(call("next", "--policy", "policy.yaml").exception)


@pytest.mark.parametrize("more", [(), ("--run", "r.jsonl", "--index", "i.jsonl")])
def test_either_live_or_recorded(place, more):
    done = call("run", "--pack", "pack", "--policy", "policy.yaml", *more)
    assert "pass --index and --agent, or --run" in str(done.exception)


def test_the_printed_command_is_one_that_this_door_knows(place):
    told = call("units", "cron", *ASKED, "--families", "claude,gpt").stdout
    assert told.startswith("# 30 3 * * *, Europe/Berlin\n*/5 * * * * cd ")
    assert told.endswith(" > /dev/null\n")
    command = told.split(" && ", 1)[1]
    assert "schedule run --once --pack pack --policy policy.yaml" in command
    gated(place / "ledger", "1.0.0")
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=False)
    assert "no version of desk is in service" in done.stderr


ODD = ("aal", "--pack", 'my pack\'s "50%"', "--out", "$HOME")


def test_cron_ends_a_command_at_no_percent_sign():
    told = UNITS["cron"](ODD, Timetable("0 3 * * *"), Path("/srv/a b"))
    assert told.splitlines()[1].replace("\\%", "").count("%") == 0
    shown = told.splitlines()[1].split(" && ", 1)[1].removesuffix(" > /dev/null")
    shown = shown.replace("\\%", "%").replace("aal ", "", 1)
    printed = subprocess.run(
        ["sh", "-c", f"printf '%s\\n' {shown}"], capture_output=True, text=True, check=True
    )
    assert printed.stdout.splitlines() == list(ODD[1:])


def test_systemds_unit_quotes_what_systemd_reads():
    told = UNITS["systemd"](ODD, Timetable("0 3 * * *"), Path("/srv/a b"))
    assert 'WorkingDirectory="/srv/a b"' in told
    assert 'ExecStart=aal --pack "my pack\'s \\"50%%\\"" --out $$HOME' in told
    assert "Persistent=true" in told


def test_the_cron_job_is_yaml_and_forbids_overlap():
    timetable = Timetable("0 3 * * *", "Asia/Tokyo")
    told = UNITS["kubernetes"](ODD, timetable, Path("/srv/a b"))
    spec = decode_yaml(told, FaultList("x.yaml"))["spec"]
    assert (spec["schedule"], spec["concurrencyPolicy"]) == ("*/5 * * * *", "Forbid")
    container = spec["jobTemplate"]["spec"]["template"]["spec"]["containers"][0]
    assert (tuple(container["command"]), container["workingDir"]) == (ODD, "/srv/a b")


def test_without_its_extra_it_names_it(place):
    code = (
        "import sys; sys.modules['cronsim'] = None\n"
        "from aal_engine.agent.schedule import main\n"
        "sys.argv = ['x', 'next', '--policy', 'policy.yaml']\nmain()"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "pip install 'aal-engine[schedule]'" in done.stderr
