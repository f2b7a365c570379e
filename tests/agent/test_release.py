"""`aal release` at the terminal, on a real pointer file and a real command."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time

import pytest
from deployed import gated
from doors import call
from loopback import served

DOOR = (sys.executable, "-m", "aal_engine.agent.release")
POLICY = """\
model_families: {allow: [claude]}
"""


@pytest.fixture
def run(tmp_path):
    """Call the door in a folder with a ledger and a policy."""
    gated(tmp_path / "ledger", "1.9.0", "1.10.0")
    (tmp_path / "policy.yaml").write_text(POLICY)

    def ran(*arguments, **environment):
        return call("release", tmp_path, *arguments, **environment)

    return ran


def promote(run, *versions):
    for version in versions:
        done = run("promote", version, "--policy", "policy.yaml")
        assert done.returncode == 0, done.stderr


def rollback(run, *options, **environment):
    why = ["--reason", "wrong language"]
    return run("rollback", "--policy", "policy.yaml", *why, *options, **environment)


def live(folder):
    return (folder / "live/support/desk").read_text()


def test_promote_writes_the_pointer_and_says_so(run, tmp_path):
    done = run("promote", "1.9.0", "--policy", "policy.yaml")
    assert done.returncode == 0
    assert done.stdout == "promoted: desk on support 1.9.0 (ledger entry 3): the version serves\n"
    assert live(tmp_path) == "1.9.0\n"


def test_rollback_goes_back_and_tells_on_standard_error(run, tmp_path):
    promote(run, "1.9.0", "1.10.0")
    done = rollback(run)
    assert done.returncode == 0
    assert "rolled back: desk on support 1.10.0 -> 1.9.0" in done.stdout
    assert done.stderr.startswith(
        "desk on support: rolled back from 1.10.0 to 1.9.0, check by_hand"
    )
    assert live(tmp_path) == "1.9.0\n"
    assert call("ledger", tmp_path, "verify").returncode == 0


def test_json_tells_the_same(run):
    promote(run, "1.9.0", "1.10.0")
    told = json.loads(rollback(run, "--format", "json").stdout)
    assert (told["outcome"], told["version"], told["was"]) == ("rolled_back", "1.9.0", "1.10.0")
    (shown,) = json.loads(run("show", "--format", "json").stdout)
    assert shown["version"] == "1.9.0"
    assert shown["quarantined"] == [{"version": "1.10.0", "entry": 7, "check": "by_hand"}]
    assert shown["way_back"] is None
    rows = [json.loads(line) for line in run("list", "--format", "json").stdout.splitlines()]
    assert [row["version"] for row in rows] == ["1.9.0", "1.10.0", "1.9.0"]
    assert [row["by"] for row in rows] == ["release", "release", "rollback"]
    assert rows[-1]["until"] is None


def test_show_and_list_in_words(run):
    promote(run, "1.9.0", "1.10.0")
    assert "  serves       1.10.0 since 20" in run("show").stdout
    assert "  released     1.9.0, 1.10.0\n" in run("show").stdout
    assert "  way back     1.9.0\n" in run("show").stdout
    assert len(run("list").stdout.splitlines()) == 2


def test_nothing_yet_is_said(run):
    assert run("list").stderr == "no version was put into service yet\n"
    assert "  serves       nothing yet" in run("show").stdout
    assert run("show", "--agent", "nobody").stderr == "the ledger holds no released version\n"


def test_a_version_that_was_never_gated_is_refused(run, tmp_path):
    done = run("promote", "2.0.0", "--policy", "policy.yaml")
    assert done.returncode == 2
    assert "no decision of the gate released version 2.0.0" in done.stderr
    assert not (tmp_path / "live").exists()


def test_no_target_halts_and_exits_6(run):
    promote(run, "1.9.0")
    done = rollback(run)
    assert done.returncode == 6
    assert "held: desk on support" in done.stdout
    assert "HALTED, a person is needed" in done.stderr
    assert "HALTED" in run("show").stdout
    assert run("promote", "1.10.0", "--policy", "policy.yaml").returncode == 2
    assert run("clear", "--halt", "--reason", "looked into it").returncode == 0
    promote(run, "1.10.0")


def test_quarantine_and_clear(run):
    done = run("quarantine", "1.10.0", "--reason", "its index was deleted")
    assert done.stdout == "quarantined: 1.10.0 of desk on support (ledger entry 3)\n"
    assert "it serves on" not in done.stderr
    assert "is quarantined" in run("promote", "1.10.0", "--policy", "policy.yaml").stderr
    assert run("clear", "1.10.0", "--reason", "it is back").returncode == 0
    promote(run, "1.10.0")
    assert run("clear", "--reason", "what").returncode == 2
    assert run("clear", "1.9.0", "--halt", "--reason", "what").returncode == 2


@pytest.mark.parametrize("reason", ["a\nb", "x" * 300, "", " "])
def test_a_reason_is_one_short_line(run, reason):
    promote(run, "1.9.0")
    for act in (
        ["quarantine", "1.10.0"],
        ["clear", "1.10.0"],
        ["rollback", "--policy", "policy.yaml"],
    ):
        done = run(*act, "--reason", reason)
        assert done.returncode == 2
        assert "--reason: is not one line of 1 to 256 printable characters" in done.stderr
    promote(run, "1.10.0")


def test_a_version_that_is_quarantined_while_it_serves_is_said_to_serve_on(run):
    promote(run, "1.9.0", "1.10.0")
    done = run("quarantine", "1.10.0", "--reason", "its index was deleted")
    assert "it serves on; what takes it out of service is: aal release rollback" in done.stderr


def test_a_version_that_the_ledger_does_not_know_cannot_be_quarantined_by_a_slip(run):
    done = run("quarantine", "1.1O.0", "--reason", "a slip")
    assert done.returncode == 2
    assert "no released version 1.1O.0" in done.stderr


def test_a_dry_run_does_and_records_nothing(run, tmp_path):
    before = (tmp_path / "ledger/log/00000000.jsonl").read_bytes()
    done = run("promote", "1.9.0", "--policy", "policy.yaml", "--dry-run")
    assert done.returncode == 0
    assert done.stdout.startswith("planned: desk on support 1.9.0")
    assert run("promote", "9", "--policy", "policy.yaml", "--dry-run").returncode == 2
    assert rollback(run, "--dry-run").returncode == 2
    assert not (tmp_path / "live").exists()
    assert (tmp_path / "ledger/log/00000000.jsonl").read_bytes() == before
    promote(run, "1.9.0", "1.10.0")
    assert "1.10.0 -> 1.9.0" in rollback(run, "--dry-run").stdout
    assert live(tmp_path) == "1.10.0\n"


def test_check_finishes_and_compares(run, tmp_path):
    promote(run, "1.9.0", "1.10.0")
    rollback(run)
    assert run("check", "--policy", "policy.yaml").returncode == 0
    (tmp_path / "live/support/desk").write_text("1.10.0\n")
    done = run("check", "--policy", "policy.yaml")
    assert done.returncode == 6
    assert "NOT AS RECORDED: desk on support: 1.9.0 should serve, the target shows 1.10.0" in (
        done.stdout
    )
    assert "NOT AS RECORDED" in done.stderr
    again = run("check", "--policy", "policy.yaml", "--format", "json")
    assert (again.returncode, again.stderr) == (6, "")
    assert json.loads(again.stdout)["readings"][0]["found"] == "1.10.0"


def test_of_several_agents_one_has_to_be_named(run, tmp_path):
    from deployed import NOON

    from aal_engine.decide.act import Quarantine, body_of
    from aal_engine.decide.release import AgentKey
    from aal_engine.store.ledger import Ledger

    other = Quarantine(AgentKey("clerk", "support"), "1", "why")
    Ledger.open(tmp_path / "ledger").append("quarantine", body_of("quarantine", other), NOON)
    done = run("promote", "1.9.0", "--policy", "policy.yaml")
    assert done.returncode == 2
    assert "clerk on support; desk on support" in done.stderr
    assert run("promote", "1.9.0", "--policy", "policy.yaml", "--agent", "desk").returncode == 0


def test_a_command_that_lies_is_caught(run, tmp_path):
    (tmp_path / "now").write_text("1.9.0")
    (tmp_path / "policy.yaml").write_text(
        POLICY
        + "release:\n  settle: 0\n  actuator:\n    command:\n"
        + "      act: ['true', '{version}']\n      read: [cat, now]\n"
    )
    done = run("promote", "1.10.0", "--policy", "policy.yaml")
    assert done.returncode == 6
    assert "the target was told and shows another version" in done.stdout
    assert "NOT DONE, a person is needed" in done.stderr
    (tmp_path / "now").write_text("1.10.0")
    done = run("check", "--policy", "policy.yaml")
    assert done.returncode == 0
    assert "promoted: desk on support 1.10.0" in done.stdout


def test_a_program_that_is_not_there_is_named(run, tmp_path):
    (tmp_path / "policy.yaml").write_text(
        POLICY + "release: {actuator: {command: {act: [no-such-program], read: [cat, now]}}}\n"
    )
    done = run("promote", "1.9.0", "--policy", "policy.yaml")
    assert done.returncode == 6
    assert "the target refused the act (no-such-program cannot be run)" in done.stdout


def test_a_webhook_and_a_notifier_with_a_secret_of_the_environment(run, tmp_path):
    with served() as endpoint:
        (tmp_path / "policy.yaml").write_text(
            POLICY
            + "release:\n  settle: 0\n  actuator:\n    webhook:\n"
            + f"      url: {endpoint.url}/serve\n      read: {endpoint.url}/now\n"
            + "      secret_env: HOOK\n"
            + "rollback:\n  notify:\n"
            + f"    - {{url: '{endpoint.url}/notice', secret_env: HOOK, deadline: 1}}\n"
        )
        endpoint.body = b'{"version": "1.9.0"}'
        without = run("promote", "1.9.0", "--policy", "policy.yaml", HOOK="")
        assert without.returncode == 2
        assert "set HOOK before this is started" in without.stderr
        assert run("promote", "1.9.0", "--policy", "policy.yaml", HOOK="s3cret").returncode == 0
        endpoint.body = b'{"version": "1.10.0"}'
        assert run("promote", "1.10.0", "--policy", "policy.yaml", HOOK="s3cret").returncode == 0
        endpoint.body = b'{"version": "1.9.0"}'
        done = rollback(run, HOOK="s3cret")
        assert done.returncode == 0
        assert "s3cret" not in done.stdout + done.stderr
        notices = [json.loads(body) for _, path, _, body in endpoint.heard if path == "/notice"]
        assert [(n["notice"], n["version"], n["was"]) for n in notices] == [
            ("rolled_back", "1.9.0", "1.10.0")
        ]
    assert b"s3cret" not in (tmp_path / "ledger/log/00000000.jsonl").read_bytes()


def test_a_notifier_that_hangs_delays_no_rollback(run, tmp_path):
    with served() as endpoint:
        (tmp_path / "policy.yaml").write_text(
            POLICY
            + "rollback:\n  notify:\n"
            + f"    - {{url: '{endpoint.url}', secret_env: HOOK, deadline: 2}}\n"
        )
        promote_with = {"HOOK": "s"}
        for version in ("1.9.0", "1.10.0"):
            assert (
                run("promote", version, "--policy", "policy.yaml", **promote_with).returncode == 0
            )
        endpoint.pause = 60
        process = subprocess.Popen(
            [*DOOR, "rollback", "--policy", "policy.yaml", "--reason", "why"],
            cwd=tmp_path,
            env={**os.environ, "HOOK": "s"},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        while not endpoint.heard:
            assert process.poll() is None
            time.sleep(0.01)
        # The notifier hangs by now, and all is done and recorded.
        assert live(tmp_path) == "1.9.0\n"
        (shown,) = json.loads(run("show", "--format", "json").stdout)
        assert shown["version"] == "1.9.0"
        assert process.wait(30) == 0
        process.communicate()


def test_another_process_at_the_notices_changes_no_outcome(run, tmp_path, monkeypatch):
    from aal_engine.store.turn import turn

    monkeypatch.setattr("aal_engine.decide.deployment.Deployment.longest", 0.1)
    promote(run, "1.9.0", "1.10.0")
    with turn(tmp_path / "ledger", "notices", 0.0):
        done = rollback(run)
    assert done.returncode == 0
    assert "notices are still to be told" in done.stderr
    assert "rolled back from 1.10.0 to 1.9.0" in run("check", "--policy", "policy.yaml").stderr


def test_interrupted_while_a_target_takes_its_time_it_goes_on_next_time(run, tmp_path):
    (tmp_path / "policy.yaml").write_text(
        POLICY
        + "release:\n  actuator:\n    command:\n"
        + "      act: [sh, -c, 'touch called; sleep 30']\n      read: [cat, now]\n"
    )
    (tmp_path / "now").write_text("1.9.0")
    process = subprocess.Popen(
        [*DOOR, "promote", "1.9.0", "--policy", "policy.yaml"],
        cwd=tmp_path,
        stderr=subprocess.PIPE,
        text=True,
    )
    while not (tmp_path / "called").exists():
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=30)
    assert process.returncode == 130
    assert "Traceback" not in err
    done = run("check", "--policy", "policy.yaml")
    assert (done.returncode, "promoted: desk on support 1.9.0" in done.stdout) == (0, True)


BAD = {
    "two actuators": "release: {actuator: {pointer: {}, command: {act: [a], read: [b]}}}",
    "no reading": "release: {actuator: {command: {act: [a]}}}",
    "a command as text": "release: {actuator: {command: {act: kubectl apply, read: [b]}}}",
    "a password in an address": (
        "rollback: {notify: [{url: 'https://me:pass@example.com/', secret_env: HOOK}]}"
    ),
    "another scheme": "rollback: {notify: [{url: 'file:///etc/passwd', secret_env: HOOK}]}",
    "a secret in the file": "rollback: {notify: [{url: 'https://example.com/', secret: s3cret}]}",
    "a secret for a name": (
        "rollback: {notify: [{url: 'https://example.com/', secret_env: s3cret-}]}"
    ),
    "an unknown halt": "rollback: {on_halt: explode}",
    "no rollback at all": "rollback: {halt_after: {rollbacks: 0}}",
    "an answer without a version": (
        "release: {actuator: {command: {act: [a], read: [b], answer: same}}}"
    ),
}


@pytest.mark.parametrize("what", BAD)
def test_a_policy_that_cannot_be_used_is_refused_before_anything_is_done(run, tmp_path, what):
    (tmp_path / "policy.yaml").write_text(POLICY + BAD[what] + "\n")
    done = run("promote", "1.9.0", "--policy", "policy.yaml")
    assert done.returncode == 2
    assert "policy.yaml:2" in done.stderr
    assert "pass@" not in done.stderr
    assert "s3cret" not in done.stderr
    assert not (tmp_path / "live").exists()
