"""Several branches and one ledger, in real git repositories."""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
from datetime import UTC, datetime
from functools import partial

import doors
import pytest
from specimen import breach, record

from aal_engine.decide.key import ED25519
from aal_engine.store.key_file import new_key
from aal_engine.store.ledger import Ledger
from aal_engine.store.record import written

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")

POLICY = "model_families:\n  allow: [claude]\nfirst_release: allow\n"
ORIGIN = "localhost/release-ledger"
NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)

ledger = partial(doors.call, "ledger")


def gate(folder, version, *options, baseline="1.0.0.json", **changes):
    """Gate a version, which leaves its decision in VERSION.json."""
    (folder / "retrieval").write_text(written([record("retrieval", None, version)]))
    (folder / "answers").write_text(written([record(version=version, **changes)]))
    told = ["--current", "retrieval", "--current", "answers", "--policy", "policy.yaml"]
    told += ["--record", f"{version}.json", *options]
    if baseline:
        told += ["--baseline", baseline]
    return doors.call("gate", folder, *told)


def git(folder, *arguments, code=0):
    settings = ["-c", "user.name=t", "-c", "user.email=t@localhost", "-c", "commit.gpgsign=false"]
    done = subprocess.run(
        ["git", *settings, *arguments], cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout


def commit(folder, message):
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", message)


@pytest.fixture
def repository(tmp_path):
    """A repository whose ledger holds the release of 1.0.0."""
    folder = tmp_path / "repository"
    folder.mkdir()
    git(folder, "init", "-q", "-b", "main")
    (folder / ".gitignore").write_text("retrieval\nanswers\n")
    (folder / "policy.yaml").write_text(POLICY)
    done = gate(folder, "1.0.0", baseline=None)
    assert done.returncode == 0, done.stderr
    commit(folder, "release 1.0.0")
    return folder


def versions(folder):
    """Return what the ledger's decisions are about, in order."""
    entries = Ledger.open(folder / "ledger").entries()
    return [e.body["version"] for e in entries if e.kind == "decision"]


class TestPending:
    def on_branches(self, repository):
        for version, worse in (("1.1.0", 0), ("1.2.0", 1)):
            git(repository, "checkout", "-q", "-b", version, "main")
            done = gate(repository, version, "--pending", counts={"forbidden_claims": worse})
            assert done.returncode == worse, done.stderr
            assert "waits to be put into the ledger" in done.stdout
            assert versions(repository) == ["1.0.0"]
            commit(repository, f"gate {version}")
        git(repository, "checkout", "-q", "main")

    def test_branches_merge_and_the_protected_one_puts_them_in_order(self, repository):
        self.on_branches(repository)
        git(repository, "merge", "-q", "1.2.0")
        git(repository, "merge", "-q", "--no-edit", "1.1.0")
        assert len(list((repository / "ledger/pending").iterdir())) == 2
        done = ledger(repository, "sequence")
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout == "appended: entry 2, decision\nappended: entry 3, decision\n"
        assert versions(repository) == ["1.0.0", "1.1.0", "1.2.0"]
        assert list((repository / "ledger/pending").iterdir()) == []
        assert ledger(repository, "verify").returncode == 0
        assert ledger(repository, "sequence").stdout == "nothing waits\n"

    def test_a_file_is_named_by_the_hash_of_its_bytes(self, repository):
        assert gate(repository, "1.1.0", "--pending").returncode == 0
        (file,) = (repository / "ledger/pending").iterdir()
        raw = file.read_bytes()
        assert file.name == f"{hashlib.sha256(raw).hexdigest()}.json"
        assert json.loads(raw).keys() == {"at", "bodies", "kind"}
        assert b"\n" not in raw

    def test_the_same_gate_run_twice_is_one_file(self, repository):
        gate(repository, "1.1.0", "--pending")
        again = gate(repository, "1.1.0", "--pending")
        assert "waits already" in again.stdout
        assert len(list((repository / "ledger/pending").iterdir())) == 1
        assert ledger(repository, "sequence").returncode == 0
        assert "stands already in the ledger" in gate(repository, "1.1.0", "--pending").stdout

    def test_a_decision_on_a_release_that_is_not_the_last_any_more_is_told(self, repository):
        gate(repository, "1.1.0", "--pending")
        gate(repository, "1.2.0", "--pending")
        done = ledger(repository, "sequence")
        assert done.returncode == 3
        assert "its baseline is not the release before it" in done.stderr
        assert versions(repository) == ["1.0.0", "1.1.0"]
        (left,) = (repository / "ledger/pending").iterdir()
        assert json.loads(left.read_bytes())["bodies"][0]["version"] == "1.2.0"

    def test_what_was_appended_before_a_crash_is_not_appended_again(self, repository):
        gate(repository, "1.1.0", "--pending")
        (file,) = (repository / "ledger/pending").iterdir()
        raw = file.read_bytes()
        ledger(repository, "sequence")
        file.write_bytes(raw)
        assert ledger(repository, "sequence").stdout == "stood in the ledger already: 1\n"
        assert versions(repository) == ["1.0.0", "1.1.0"]
        assert not file.exists()

    @pytest.mark.parametrize(
        "change", [lambda raw: raw.replace(b"1.1.0", b"1.1.1"), lambda raw: raw + b"\n"]
    )
    def test_a_file_that_was_changed_stops_it_before_anything_is_appended(self, repository, change):
        gate(repository, "1.1.0", "--pending")
        (file,) = (repository / "ledger/pending").iterdir()
        file.write_bytes(change(file.read_bytes()))
        done = ledger(repository, "sequence")
        assert done.returncode == 2
        assert "is not what its name says" in done.stderr
        assert versions(repository) == ["1.0.0"]

    @pytest.mark.parametrize(
        "raw",
        [
            b"",
            b"[]",
            b'{"at":"2026-05-01T12:00:00.000Z","bodies":[],"kind":"clear"}',
            b'{"at":"2026-05-01T12:00:00.000Z","bodies":["text"],"kind":"clear"}',
            b'{"at":"2026-05-01T12:00:00.000Z","bodies":[{}],"kind":"genesis"}',
            b'{"at":"2026-05-01T12:00:00.000Z","bodies":[{}],"kind":"clear" }',
            b'{"at":"2026-05-01T12:00:00.000Z","bodies":[{"a":1,"a":1}],"kind":"clear"}',
            b'{"at":"noon","bodies":[{}],"kind":"clear"}',
            b"[" * 100_000,
        ],
        ids=range(9),
    )
    def test_a_file_that_holds_no_records_is_refused(self, repository, raw):
        (repository / "ledger/pending").mkdir()
        name = f"{hashlib.sha256(raw).hexdigest()}.json"
        (repository / "ledger/pending" / name).write_bytes(raw)
        done = ledger(repository, "sequence")
        assert done.returncode == 2
        assert "holds no records" in done.stderr


class TestFork:
    @pytest.fixture
    def forked(self, repository, tmp_path):
        """Two branches that both appended; the conflict is met on main."""
        git(repository, "checkout", "-q", "-b", "mine", "main")
        gate(repository, "1.2.0", counts={"forbidden_claims": 1})
        commit(repository, "gate 1.2.0")
        git(repository, "checkout", "-q", "main")
        gate(repository, "1.1.0")
        commit(repository, "gate 1.1.0")
        git(repository, "worktree", "add", "-q", str(tmp_path / "mine"), "mine")
        return repository

    def repaired(self, forked):
        return ledger(forked, "repair", "--own", str(forked.parent / "mine/ledger"))

    def test_git_merges_no_log_by_itself(self, forked):
        git(forked, "merge", "mine", code=1)
        assert ledger(forked, "verify").returncode == 0
        assert versions(forked) == ["1.0.0", "1.1.0"]

    def test_a_union_of_two_logs_is_found(self, forked):
        (forked / "ledger/.gitattributes").write_text("log/*.jsonl merge=union\n")
        commit(forked, "merge lines")
        git(forked, "merge", "-q", "--no-edit", "mine")
        done = ledger(forked, "verify")
        assert done.returncode == 3
        assert "entry 3" in done.stderr

    def test_own_records_are_appended_after_the_others(self, forked):
        done = self.repaired(forked)
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout == "the two part after 2 entries\nappended: entry 3, decision\n"
        assert versions(forked) == ["1.0.0", "1.1.0", "1.2.0"]
        assert ledger(forked, "verify").returncode == 0
        assert "stood in the ledger already: 1" in self.repaired(forked).stdout

    def test_nothing_moves_that_was_signed(self, forked, tmp_path):
        own = Ledger.open(tmp_path / "mine/ledger")
        key = new_key(tmp_path / "key", ORIGIN, ED25519)
        head = own.verify()
        own.sign([key], NOON, head)
        done = self.repaired(forked)
        assert done.returncode == 3
        assert "a checkpoint over 3 entries of the fork was signed" in done.stderr
        assert versions(forked) == ["1.0.0", "1.1.0"]

    def test_a_checkpoint_before_the_fork_hinders_nothing(self, repository, tmp_path):
        key = new_key(tmp_path / "key", ORIGIN, ED25519)
        both = Ledger.open(repository / "ledger")
        both.sign([key], NOON, both.verify())
        shutil.copytree(repository / "ledger", tmp_path / "mine")
        gate(repository, "1.1.0")
        Ledger.open(tmp_path / "mine").append("breach", breach(1).body(), NOON)
        assert ledger(repository, "repair", "--own", str(tmp_path / "mine")).returncode == 0

    def test_another_ledger_is_no_fork(self, repository, tmp_path):
        Ledger.init(tmp_path / "other", "example.com/other", NOON)
        done = ledger(repository, "repair", "--own", str(tmp_path / "other"))
        assert done.returncode == 3
        Ledger.init(tmp_path / "same", ORIGIN, NOON)
        done = ledger(repository, "repair", "--own", str(tmp_path / "same"))
        assert "no entry in common" in done.stderr
