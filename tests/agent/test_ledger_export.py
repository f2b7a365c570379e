"""Exporting a decision, and checking what was exported, at the terminal."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from functools import partial

import doors
import pytest
from specimen import gate, record, released, slices

from aal_engine.decide.body import bodies
from aal_engine.store.ledger import Ledger

ORIGIN = "example.com/ledger"
NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)
ledger = partial(doors.call, "ledger")


@pytest.fixture
def folder(tmp_path):
    """A ledger with a released decision of several parts and a blocked one, and a key."""
    parts = slices(0.9, 30, *(f"slice-{n}" for n in range(300)))
    before = record(version="1.0.0", slices=parts)
    decisions = [
        released(before)[0],
        gate(record(slices=parts, counts={"forbidden_claims": 1}), before=(before,)),
    ]
    assert ledger(tmp_path, "init", "--origin", ORIGIN).returncode == 0
    for decision in decisions:
        Ledger.open(tmp_path / "ledger").append_all("decision", bodies(decision), NOW)
    public = ledger(tmp_path, "key", "new", "--p256", "--out", "key.pem").stdout
    (tmp_path / "pub.pem").write_text(public)
    return tmp_path


def exported(folder, *arguments):
    done = ledger(folder, "export", *arguments, "--key", "key.pem")
    assert done.returncode == 0, done.stderr
    (folder / "envelope").write_text(done.stdout)
    checked = ledger(folder, "check-export", "envelope", "--key", "pub.pem")
    assert checked.returncode == 0, checked.stderr
    return json.loads(checked.stdout)


def decisions(folder):
    return [e for e in Ledger.open(folder / "ledger").entries() if e.kind == "decision"]


def test_a_summary_says_what_was_decided_and_where_it_stands(folder):
    (first, *_) = decisions(folder)
    told = exported(folder, "1")
    assert told["predicateType"] == "https://slsa.dev/verification_summary/v1"
    predicate = told["predicate"]
    assert predicate["https://aal.example/ledger/v1"] == {
        "index": 1,
        "leaf": first.leaf.hex(),
        "origin": ORIGIN,
    }
    assert predicate["verificationResult"] == "PASSED"
    assert predicate["verifiedLevels"] == ["AAL_RELEASE_GATE"]
    assert predicate["policy"]["digest"] == {"sha256": first.body["policy"]}
    assert [each["uri"] for each in predicate["inputAttestations"]] == [
        "aal:record/answers/core/claude"
    ]
    assert told["subject"] == [{"digest": {"sha256": first.body["decision"]}, "name": "desk/1.0.0"}]


def test_every_part_of_a_decision_names_it(folder):
    parts = decisions(folder)[1:]
    assert len(parts) == parts[-1].body["part"][1] > 1
    told = [exported(folder, str(part.seq))["predicate"] for part in parts]
    assert all(each == told[0] for each in told)


def test_a_blocked_decision_failed(folder):
    predicate = exported(folder, str(decisions(folder)[-1].seq))["predicate"]
    assert (predicate["verificationResult"], predicate["verifiedLevels"]) == ("FAILED", ["FAILED"])


def test_the_checks_are_all_there(folder):
    parts = decisions(folder)[1:]
    told = exported(folder, "2", "--predicate", "checks")
    assert len(told["predicate"]["checks"]) == sum(len(p.body["checks"]["rows"]) for p in parts)
    assert {"check", "current", "baseline", "tolerance", "ok"} <= told["predicate"]["checks"][
        0
    ].keys()


def test_it_may_be_about_what_was_built(folder):
    told = exported(folder, "1", "--subject", f"desk.tar=sha256:{'ab' * 32}")
    assert told["subject"] == [{"digest": {"sha256": "ab" * 32}, "name": "desk.tar"}]


@pytest.mark.parametrize("subject", ["desk.tar", "=sha256:" + "ab" * 32, "desk.tar=sha256:abc"])
def test_a_subject_that_cannot_be_read_is_refused(folder, subject):
    assert ledger(folder, "export", "1", "--key", "key.pem", "--subject", subject).returncode == 2


def test_what_is_no_decision_is_not_exported(folder):
    done = ledger(folder, "export", "0", "--key", "key.pem")
    assert (done.returncode, done.stdout) == (2, "")
    assert ledger(folder, "export", "99", "--key", "key.pem").returncode == 2


def test_another_key_is_told(folder):
    exported(folder, "1")
    (folder / "pub.pem").write_text(ledger(folder, "key", "new", "--p256", "--out", "b").stdout)
    assert ledger(folder, "check-export", "envelope", "--key", "pub.pem").returncode == 5


def test_a_key_that_others_may_read_does_not_sign(folder):
    (folder / "key.pem").chmod(0o644)
    done = ledger(folder, "export", "1", "--key", "key.pem")
    assert done.returncode == 5
    assert "chmod 600 key.pem" in done.stderr


def test_a_key_for_checkpoints_needs_a_name(folder):
    assert ledger(folder, "key", "new", "--out", "c").returncode == 2
