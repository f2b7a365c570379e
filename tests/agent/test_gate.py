"""The gate's door, as a release pipeline calls it."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path
from unittest import mock
from xml.etree import ElementTree as ET

import doors
import pytest
from specimen import breach, record

from aal_engine.errors import WriteError
from aal_engine.store.ledger import Ledger
from aal_engine.store.record import written

POLICY = "model_families:\n  allow: [claude]\nfirst_release: allow\n"
VERBATIM = [
    "--current",
    "retrieval.json",
    "--current",
    "answers.json",
    "--baseline",
    "last-release.json",
    "--policy",
    "gateway-policy.yaml",
    "--record",
    "decision.json",
]
FIRST = [
    *("--current", "retrieval.json", "--current", "answers.json"),
    *("--policy", "gateway-policy.yaml", "--record", "last-release.json"),
]


call = partial(doors.call, "gate")


def give(folder: Path, version: str = "1.1.0", **changes) -> None:
    """Write the records of a version, its answers changed."""
    (folder / "retrieval.json").write_text(written([record("retrieval", None, version)]))
    (folder / "answers.json").write_text(written([record(version=version, **changes)]))


@pytest.fixture
def released(tmp_path: Path) -> Path:
    """A folder in which version 1.0.0 was released."""
    (tmp_path / "gateway-policy.yaml").write_text(POLICY)
    give(tmp_path, "1.0.0")
    done = call(tmp_path, *FIRST, "--at", "2026-01-31T09:30:00Z")
    assert done.returncode == 0, done.stderr
    return tmp_path


def ledger_lines(folder: Path) -> list[dict]:
    (log,) = (folder / "ledger" / "log").glob("*.jsonl")
    return [json.loads(line) for line in log.read_text().splitlines()]


def test_the_documented_command_releases(released):
    give(released)
    done = subprocess.run(
        [sys.executable, "-m", "aal_engine.agent.gate", *VERBATIM],
        cwd=released,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("RELEASED: desk 1.1.0 on support against 1.0.0")
    decision = json.loads((released / "decision.json").read_text())
    assert decision["verdict"] == "released"
    entries = ledger_lines(released)
    assert [entry["rec"]["kind"] for entry in entries] == ["genesis", "decision", "decision"]
    assert entries[2]["rec"]["body"]["verdict"] == "released"
    assert len(entries[2]["rec"]["body"]["checks"]["rows"]) == len(decision["checks"])


def test_the_documented_command_blocks(released):
    give(released, metrics={"complete": 0.99}, counts={"forbidden_claims": 1})
    done = call(released, *VERBATIM)
    assert done.returncode == 1
    assert done.stdout.startswith("BLOCKED: desk 1.1.0")
    assert "forbidden claims" in done.stdout
    assert json.loads((released / "decision.json").read_text())["verdict"] == "blocked"
    assert ledger_lines(released)[-1]["rec"]["body"]["verdict"] == "blocked"


def test_same_inputs_give_the_same_bytes(released, tmp_path_factory):
    other = tmp_path_factory.mktemp("other")
    (other / "gateway-policy.yaml").write_text(POLICY)
    give(other, "1.0.0")
    call(other, *FIRST, "--at", "2026-01-31T09:30:00Z")
    for folder in (released, other):
        give(folder)
        assert call(folder, *VERBATIM, "--at", "2026-02-01T09:30:00+01:00").returncode == 0
    for name in ("last-release.json", "decision.json", "ledger/log/00000000.jsonl"):
        assert (released / name).read_bytes() == (other / name).read_bytes()


@pytest.mark.parametrize("floor", [0, 1])
def test_the_same_gate_run_twice_is_one_decision(released, floor):
    give(released, counts={"forbidden_claims": floor})
    assert call(released, *VERBATIM).returncode == floor
    written_first = (released / "decision.json").read_bytes()
    (released / "decision.json").unlink()
    again = call(released, *VERBATIM)
    assert again.returncode == floor
    assert "stands already in the ledger as entry 2" in again.stdout
    assert (released / "decision.json").read_bytes() == written_first
    assert len(ledger_lines(released)) == 3


def test_a_decision_blocked_for_its_baseline_is_made_anew_when_that_is_mended(released):
    give(released)
    assert call(released, *VERBATIM[:4], *VERBATIM[6:]).returncode == 1
    assert call(released, *VERBATIM).returncode == 0
    # Now 1.1.0 is the last release, and the old baseline is no longer one.
    give(released, "1.2.0")
    assert call(released, *VERBATIM).returncode == 1


def test_a_changed_baseline_is_refused(released):
    give(released, metrics={"complete": 0.5})
    path = released / "last-release.json"
    path.write_text(path.read_text().replace('"value": 0.9', '"value": 0.4'))
    done = call(released, *VERBATIM)
    assert done.returncode == 1
    assert "not the last released decision" in done.stdout


def test_a_verdict_that_was_edited_is_refused(released):
    give(released, counts={"forbidden_claims": 1})
    call(released, *VERBATIM)
    path = released / "decision.json"
    path.write_text(path.read_text().replace('"verdict": "blocked"', '"verdict": "released"'))
    done = call(released, *VERBATIM[:5], "decision.json", *VERBATIM[6:8], "--record", "next.json")
    assert done.returncode == 2
    assert "was changed after the gate wrote it" in done.stderr
    assert not (released / "next.json").exists()


def test_reports_go_to_their_files(released):
    give(released, counts={"forbidden_claims": 1})
    formats = ("markdown=gate.md", "junit=gate.xml", "html=gate.html", "json")
    done = call(released, *VERBATIM, *(part for f in formats for part in ("--format", f)))
    assert done.returncode == 1
    assert json.loads(done.stdout) == json.loads((released / "decision.json").read_text())
    suite = ET.parse(released / "gate.xml").getroot()[0]
    assert int(suite.attrib["failures"]) == len(suite.findall("testcase/failure")) == 2
    assert "forbidden claims" in (released / "gate.md").read_text()
    assert "Content-Security-Policy" in (released / "gate.html").read_text()


def test_a_ci_systems_job_summary_gets_the_report(released):
    give(released)
    summary = released / "summary.md"
    summary.write_text("before\n")
    assert call(released, *VERBATIM, GITHUB_STEP_SUMMARY=str(summary)).returncode == 0
    assert summary.read_text().startswith("before\n## RELEASED: `desk`")


def test_no_colour_without_a_terminal(released):
    give(released)
    assert "\x1b" not in call(released, *VERBATIM).stdout


BAD = {
    "missing": (lambda f: (f / "answers.json").unlink(), "answers.json: no such file"),
    "half": (
        lambda f: (f / "answers.json").write_text('{"schema": "aal/rec'),
        "answers.json:1: ends before its JSON value is complete",
    ),
    "empty": (lambda f: (f / "answers.json").write_text(""), "answers.json"),
    "no records": (lambda f: (f / "answers.json").write_text("{}"), "holds no records"),
    "unknown key": (
        lambda f: edit(f / "answers.json", '"run":', '"question": "MARKER-q", "run":'),
        "question: is not a known key",
    ),
    "text for a number": (
        lambda f: edit(f / "answers.json", '"value": 0.9', '"value": "MARKER-v"'),
        "must be a number",
    ),
    "passed by hand": (
        lambda f: edit(f / "answers.json", '"passed": true', '"passed": false'),
        "does not follow from its own numbers",
    ),
    "unheard of metric": (
        lambda f: edit(f / "answers.json", '"complete"', '"finished"'),
        "is not a metric of this engine",
    ),
    "folder": (
        lambda f: ((f / "answers.json").unlink(), (f / "answers.json").mkdir()),
        "answers.json: is a folder",
    ),
    "policy with a floor": (
        lambda f: (f / "gateway-policy.yaml").write_text(POLICY + "invented_citations: 3\n"),
        "gateway-policy.yaml:4: invented_citations: names a floor",
    ),
    "policy with a floor's tolerance": (
        lambda f: (f / "gateway-policy.yaml").write_text(POLICY + "tolerances:\n  grounded: 0.5\n"),
        "gateway-policy.yaml:5: tolerances.grounded: names a floor",
    ),
    "policy without families": (
        lambda f: (f / "gateway-policy.yaml").write_text("tolerance: 0.05\n"),
        "model_families: is missing",
    ),
    "policy that allows nobody": (
        lambda f: (f / "gateway-policy.yaml").write_text("model_families: {allow: []}\n"),
        "model_families.allow: must not be empty",
    ),
    "policy with a typing error": (
        lambda f: (f / "gateway-policy.yaml").write_text(POLICY + "tolerence: 0.05\n"),
        "did you mean tolerance?",
    ),
    "bomb": (
        lambda f: (f / "gateway-policy.yaml").write_text(
            "a: &a [x, x, x, x, x, x, x, x, x]\n"
            + "".join(
                f"{b}: &{b} [{', '.join([f'*{a}'] * 9)}]\n"
                for a, b in zip("abcdefgh", "bcdefghi", strict=True)
            )
        ),
        "gateway-policy.yaml",
    ),
    "record over an input": (
        lambda f: (f / "decision.json").symlink_to("answers.json"),
        "decision.json: is there and is no plain file",
    ),
    "no answers measured": (
        lambda f: edit(f / "answers.json", '"grounded"', '"point_recall"'),
        "metrics.grounded: is missing",
    ),
    "floor counts of retrieval": (
        lambda f: edit(
            f / "retrieval.json", '"foreign_outputs"', '"invented_citations": 3, "foreign_outputs"'
        ),
        "counts: has a key that is not a count of retrieval",
    ),
    "an agent's name that only looks the same": (
        lambda f: edit(f / "answers.json", '"desk"', '"d\u0435sk"'),
        "agent: must be a name: an ASCII letter",
    ),
    "a table under a digest's name that is none": (
        lambda f: (
            (f / "tables").mkdir(),
            (f / "tables" / f"a-{record().table[:16]}.parquet").write_text("MARKER"),
        ),
        ".parquet: is not a readable Parquet file",
    ),
}


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))


@pytest.mark.parametrize("fault", BAD)
def test_an_input_that_cannot_be_used_is_told_and_nothing_is_written(released, fault):
    give(released)
    break_it, told = BAD[fault]
    break_it(released)
    before = ledger_lines(released)
    done = call(released, *VERBATIM)
    assert done.returncode == 2, done.stdout + done.stderr
    assert told in done.stderr
    assert "MARKER" not in done.stderr + done.stdout
    assert str(released) not in done.stderr
    assert "Traceback" not in done.stderr
    assert not (released / "decision.json").is_file() or fault == "record over an input"
    assert ledger_lines(released) == before


def test_a_call_without_its_options_is_a_usage_error(tmp_path):
    done = call(tmp_path, "--current", "a.json")
    assert done.returncode == 2
    assert "Missing option" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("--format", "pdf"), "pdf is no format"),
        (("--format", "html="), "is no format"),
        (("--at", "yesterday"), "is not a time with a zone"),
        (("--at", "2026-01-31T09:30:00"), "is not a time with a zone"),
        (("--record", "ledger"), "is there and is no plain file"),
        (("--record", "ledger/log/00000000.jsonl"), "stands among the ledger's"),
        (("--record", "ledger/checkpoint"), "stands among the ledger's"),
        (("--record", "x" * 300), "cannot be written: File name too long"),
        (("--format", "html=decision.json"), "is an input or another output"),
        (("--format", "html=a.html", "--format", "html=b.html"), "is given two files"),
        (("--tables", "nowhere"), "nowhere: no such folder"),
        (("--at", "0001-01-01T00:00:00+14:00"), "is not a time with a zone"),
    ],
)
def test_options_that_cannot_be_used(released, arguments, told):
    give(released)
    done = call(released, *VERBATIM, *arguments)
    assert (done.returncode, told in done.stderr) == (2, True), done.stderr


def test_a_broken_ledger_refuses(released):
    give(released)
    log = released / "ledger" / "log" / "00000000.jsonl"
    log.write_bytes(log.read_bytes().replace(b'"verdict":"released"', b'"verdict":"blocked"'))
    done = call(released, *VERBATIM)
    assert done.returncode == 3
    assert "ledger entry" in done.stderr
    assert not (released / "decision.json").exists()


def test_a_ledger_that_is_a_file_is_refused(released, tmp_path):
    give(released)
    (released / "elsewhere").write_text("")
    assert call(released, *VERBATIM, "--ledger", "elsewhere").returncode == 3


def test_a_record_that_cannot_be_written_says_where_the_decision_stands(released):
    give(released)

    def refuse(path: Path, data: bytes) -> None:
        raise WriteError(f"{path.name} was not written: No space left on device")

    with mock.patch("aal_engine.service.gate.write_atomic", refuse):
        done = call(released, *VERBATIM)
    assert done.returncode == 2
    assert "the decision, released, stands in the ledger as entry 2" in done.stderr
    assert call(released, *VERBATIM).returncode == 0
    assert len(ledger_lines(released)) == 3


OUTPUTS = {
    "closed": (">&-", {}),
    "full": (">/dev/full", {}),
    "closed, both": (">&- 2>&-", {}),
    "ASCII": (">out.txt", {"PYTHONIOENCODING": "ascii"}),
    "no locale": (">out.txt", {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}),
    "a summary that cannot be written": (
        ">out.txt 2>/dev/full",
        {"GITHUB_STEP_SUMMARY": "nowhere/summary.md"},
    ),
}


@pytest.mark.parametrize("output", OUTPUTS)
def test_where_the_report_goes_changes_nothing_of_the_verdict(released, output):
    give(released)
    redirection, environment = OUTPUTS[output]
    command = shlex.join([sys.executable, "-m", "aal_engine.agent.gate", *VERBATIM])
    done = subprocess.run(
        ["/bin/sh", "-c", f"{command} {redirection}"],
        cwd=released,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads((released / "decision.json").read_text())["verdict"] == "released"


@pytest.mark.parametrize("floor", [0, 1])
def test_a_dry_run_decides_and_writes_nothing(released, floor):
    give(released, counts={"forbidden_claims": floor})
    before = {path: path.read_bytes() for path in released.rglob("*") if path.is_file()}
    done = call(released, *VERBATIM, "--dry-run", "--format", "text", "--format", "html=g.html")
    assert done.returncode == floor
    assert "A dry run" in done.stdout
    assert {p: p.read_bytes() for p in released.rglob("*") if p.is_file()} == before


def test_a_dry_run_of_what_was_decided_claims_no_record(released):
    give(released)
    call(released, *VERBATIM)
    done = call(released, *VERBATIM[:-1], "again.json", "--dry-run")
    assert "nothing written. The decision stands already as entry 2." in done.stdout
    assert "again.json" not in done.stdout


def test_the_folder_of_a_record_is_made(released):
    give(released)
    done = call(released, *VERBATIM[:-1], "releases/1.1.0/decision.json")
    assert done.returncode == 0
    assert (released / "releases" / "1.1.0" / "decision.json").is_file()


def test_a_new_ledger_is_told(tmp_path):
    (tmp_path / "gateway-policy.yaml").write_text(POLICY)
    give(tmp_path, "1.0.0")
    assert "A new ledger was begun in ledgr." in call(tmp_path, *FIRST, "--ledger", "ledgr").stdout


def test_a_name_that_differs_in_case_is_asked_about(released):
    for kind, named in (("retrieval", record("retrieval", None)), ("answers", record())):
        (released / f"{kind}.json").write_text(written([replace(named, agent="Desk")]))
    done = call(released, *FIRST[:-1], "decision.json")
    assert done.returncode == 1
    assert "the ledger holds releases of desk on support" in done.stdout


def test_somebody_else_appends_while_the_gate_decides(released):
    give(released)
    first = Ledger.append_all
    calls = []

    def late(ledger, kind, bodies, at, **options):
        calls.append(1)
        if len(calls) == 1:
            first(Ledger.open(released / "ledger"), "breach", [breach(version="0.9.0").body()], at)
        return first(ledger, kind, bodies, at, **options)

    with mock.patch.object(Ledger, "append_all", late):
        done = call(released, *VERBATIM)
    assert done.returncode == 0, done.stderr
    assert [entry["rec"]["kind"] for entry in ledger_lines(released)][-2:] == ["breach", "decision"]


def test_two_gates_at_once_release_one(released):
    give(released)
    command = [sys.executable, "-m", "aal_engine.agent.gate"]
    versions = ("1.1.0", "1.2.0", "1.3.0")
    for version in versions:
        home = released / version
        home.mkdir()
        give(home, version)
    running = [
        subprocess.Popen(
            [
                *command,
                *("--current", f"{version}/retrieval.json", "--current", f"{version}/answers.json"),
                *VERBATIM[4:8],
                *("--record", f"{version}/decision.json"),
            ],
            cwd=released,
            stdout=subprocess.DEVNULL,
        )
        for version in versions
    ]
    assert sorted(process.wait() for process in running) == [0, 1, 1]
    assert doors.call("ledger", released, "verify").returncode == 0


def test_one_file_may_hold_records_of_both_kinds(released):
    both = [record("retrieval", None, "1.1.0"), record()]
    (released / "both.json").write_text(written(both))
    done = call(released, "--current", "both.json", *VERBATIM[4:])
    assert done.returncode == 0, done.stdout


def test_a_release_for_one_family_does_not_speak_for_another(released):
    (released / "gateway-policy.yaml").write_text(POLICY.replace("claude", "claude, gpt"))
    give(released)
    done = call(released, *VERBATIM)
    assert done.returncode == 1
    (released / "answers.json").write_text(written([record(), record(family="gpt")]))
    assert call(released, *VERBATIM).returncode == 0
