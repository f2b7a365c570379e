"""Signing, witnessing, proving and auditing a ledger at the terminal."""

from __future__ import annotations

import base64
import hashlib
import shutil
from datetime import UTC, datetime
from pathlib import Path

import pytest
from specimen import breach, gate, record, released

from aal_engine.agent.ledger import app
from aal_engine.agent.terminal import exit_code
from aal_engine.decide.body import bodies
from aal_engine.decide.key import signer_key
from aal_engine.store.ledger import Ledger

NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)
ORIGIN = "example.com/ledger"


class Auditor:
    """A ledger with a key, a witness, and policies that trust them."""

    def __init__(self, folder: Path, capsys) -> None:
        self.folder = folder
        self.capsys = capsys
        self.ledger = folder / "ledger"
        Ledger.init(self.ledger, ORIGIN, NOON)
        log = self.run("key", "new", "--name", ORIGIN, "--out", folder / "log.key")[1]
        seer = self.run(
            "key", "new", "--witness", "--name", "w.example", "--out", folder / "w.key"
        )[1]
        (folder / "policy").write_text(f"log {log}quorum none\n")
        (folder / "strict").write_text(f"log {log}witness W {seer}quorum W\n")

    def run(self, *arguments):
        code = exit_code(lambda: app([str(each) for each in arguments], standalone_mode=False))
        return code, *self.capsys.readouterr()

    def act(self, command, *options):
        return self.run(command, *options, "--ledger", self.ledger)

    def verify(self, *options, policy="policy"):
        return self.act("verify", "--policy", self.folder / policy, *options)

    def append(self, n: int) -> None:
        ledger = Ledger.open(self.ledger)
        # The ledger takes no incident twice.
        other = breach(n, check=f"check-{len(ledger.leaves())}")
        ledger.append("breach", other.body(), NOON)

    def sign(self):
        return self.act("checkpoint", "--key", self.folder / "log.key")

    def witness(self):
        return self.act(
            "witness",
            "--key",
            self.folder / "w.key",
            "--policy",
            self.folder / "policy",
            "--state",
            self.folder / "w.json",
        )


@pytest.fixture
def auditor(tmp_path, capsys):
    return Auditor(tmp_path, capsys)


def test_an_unsigned_ledger_does_not_pass_with_a_key(auditor):
    code, out, err = auditor.verify()
    assert (code, out) == (5, "")
    assert "not signed" in err


def test_a_signed_ledger_passes_with_its_key(auditor):
    auditor.append(1)
    assert auditor.sign()[0] == 0
    code, out, _ = auditor.verify()
    assert code == 0
    assert "trusted keys vouch for the first 2 entries" in out
    assert "does not show" not in out
    assert (auditor.ledger / "checkpoints/000000000002").read_bytes() == (
        auditor.ledger / "checkpoint"
    ).read_bytes()


def test_entries_after_the_checkpoint_are_told_apart(auditor):
    auditor.sign()
    auditor.append(1)
    code, out, _ = auditor.verify()
    assert code == 4
    assert "no signed checkpoint covers the last 1 entry" in out


def test_another_key_of_the_same_name_is_not_trusted(auditor):
    auditor.run("key", "new", "--name", ORIGIN, "--out", auditor.folder / "other.key")
    auditor.act("checkpoint", "--key", auditor.folder / "other.key")
    assert auditor.verify()[0] == 5


def test_a_key_of_another_name_may_not_sign(auditor):
    code, _, err = auditor.act("checkpoint", "--key", auditor.folder / "w.key")
    assert code == 3
    assert ORIGIN in err


def test_the_key_may_stand_in_the_environment(auditor, monkeypatch):
    monkeypatch.setenv("AAL_LEDGER_KEY", (auditor.folder / "log.key").read_text().strip())
    assert auditor.act("checkpoint")[0] == 0
    assert auditor.verify()[0] == 0


def test_a_key_file_that_others_may_read_is_refused(auditor):
    (auditor.folder / "log.key").chmod(0o644)
    code, _, err = auditor.sign()
    assert code == 5
    assert "chmod 600 log.key" in err


@pytest.mark.parametrize("options", [["--name", ORIGIN], ["--p256"]])
def test_a_key_is_not_written_among_the_ledgers_files(auditor, options):
    for out in (auditor.ledger / "new.key", auditor.ledger / "log/new.key"):
        code, _, err = auditor.run("key", "new", *options, "--out", out)
        assert code == 2
        assert "among a ledger's files" in err
        assert not out.exists()


def test_a_key_is_never_written_over(auditor):
    before = (auditor.folder / "log.key").read_bytes()
    assert auditor.run("key", "new", "--name", ORIGIN, "--out", auditor.folder / "log.key")[0] == 2
    assert (auditor.folder / "log.key").read_bytes() == before


def test_two_keys_sign_side_by_side_while_one_takes_over_from_the_other(auditor):
    new = auditor.run(
        "key", "new", "--ml-dsa", "--name", ORIGIN, "--out", auditor.folder / "new.key"
    )[1]
    (auditor.folder / "newer").write_text(f"log {new}quorum none\n")
    keys = ["--key", auditor.folder / "log.key", "--key", auditor.folder / "new.key"]
    assert auditor.act("checkpoint", *keys)[0] == 0
    assert [auditor.verify(policy=each)[0] for each in ("policy", "newer")] == [0, 0]


class TestRotation:
    @pytest.fixture
    def rotated(self, auditor):
        auditor.sign()
        self.new = auditor.run("key", "new", "--name", ORIGIN, "--out", auditor.folder / "new.key")
        (auditor.folder / "newer").write_text(f"log {self.new[1]}quorum none\n")
        assert self._rotate(auditor)[0] == 0
        return auditor

    def _rotate(self, auditor, *options):
        old, new = auditor.folder / "log.key", auditor.folder / "new.key"
        return auditor.act("key", "rotate", "--key", old, "--new", new, *options)

    def _sign_with_new(self, auditor):
        auditor.append(1)
        return auditor.act("checkpoint", "--key", auditor.folder / "new.key")

    def test_both_keys_vouch_for_the_change(self, rotated):
        (entry,) = [e for e in Ledger.open(rotated.ledger).entries() if e.kind == "key"]
        assert entry.body["added"] == [self.new[1].strip()]
        code, out, _ = rotated.verify()
        assert code == 0
        assert f"followed by {self.new[1].strip()}" in out
        assert rotated.verify(policy="newer")[0] == 0

    def test_who_trusts_the_old_key_follows_to_the_new_one(self, rotated):
        self._sign_with_new(rotated)
        code, out, _ = rotated.verify()
        assert (code, "vouch for the first 3 entries" in out) == (0, True)

    def test_a_key_that_the_old_one_did_not_vouch_for_is_not_followed(self, rotated):
        shutil.rmtree(rotated.ledger / "checkpoints")
        self._sign_with_new(rotated)
        assert rotated.verify()[0] == 5

    def test_a_state_remembers_whom_was_followed(self, rotated):
        state = ["--state", rotated.folder / "state.json"]
        assert rotated.verify(*state)[0] == 0
        shutil.rmtree(rotated.ledger / "checkpoints")
        self._sign_with_new(rotated)
        code, out, _ = rotated.verify(*state)
        assert (code, out.count("followed by")) == (0, 1)
        other = rotated.run("key", "new", "--name", ORIGIN, "--out", rotated.folder / "other.key")
        (rotated.folder / "other").write_text(f"log {other[1]}quorum none\n")
        assert rotated.verify(*state, policy="other")[0] == 5

    def test_the_old_key_signs_nothing_more(self, rotated):
        rotated.append(1)
        code, _, err = rotated.sign()
        assert code == 3
        assert "none of them" in err

    def test_what_a_retired_key_signed_all_the_same_is_not_trusted(self, rotated):
        rotated.append(1)
        ledger = Ledger.open(rotated.ledger)
        old = signer_key((rotated.folder / "log.key").read_text())
        ledger.sign([old], NOON, ledger.verify())
        code, _, err = rotated.verify()
        assert code == 5
        assert "entry 1 retired the key" in err

    def test_who_steals_a_key_that_was_retired_brings_no_other_in(self, rotated):
        state = ["--state", rotated.folder / "state.json"]
        rotated.verify(*state)
        thief = rotated.run("key", "new", "--name", ORIGIN, "--out", rotated.folder / "thief")[1]
        ledger = Ledger.open(rotated.ledger)
        change = {"added": [thief.strip()], "retired": [self.new[1].strip()]}
        ledger.append("key", change, NOON)
        keys = [signer_key((rotated.folder / name).read_text()) for name in ("log.key", "thief")]
        ledger.sign(keys, NOON, ledger.verify())
        both = (rotated.folder / "policy").read_text() + f"log {self.new[1]}"
        (rotated.folder / "both").write_text(both)
        assert [rotated.verify(policy=each)[0] for each in ("policy", "both", "newer")] == [5] * 3
        assert rotated.verify(*state)[0] == 5

    def test_a_key_that_the_policy_lists_is_not_told_again(self, rotated):
        both = (rotated.folder / "policy").read_text() + f"log {self.new[1]}"
        (rotated.folder / "both").write_text(both)
        state = ["--state", rotated.folder / "state.json"]
        assert rotated.verify(*state)[1].count("was followed by") == 1
        code, out, _ = rotated.verify(*state, policy="both")
        assert (code, "was followed by" in out) == (0, False)
        for _ in range(2):
            self._rotate_on(rotated)
            assert rotated.verify(*state)[1].count("add it to your policy") == self.rotations

    rotations = 1

    def _rotate_on(self, auditor):
        """Let another key take over from the last one."""
        self.rotations += 1
        old, new = (auditor.folder / f"key{self.rotations + n}" for n in (0, 1))
        if self.rotations == 2:
            shutil.copy(auditor.folder / "new.key", old)
        auditor.run("key", "new", "--name", ORIGIN, "--out", new)
        assert auditor.act("key", "rotate", "--key", old, "--new", new)[0] == 0

    def test_a_key_that_was_retired_does_not_come_back(self, rotated):
        old, new = rotated.folder / "log.key", rotated.folder / "new.key"
        code, _, err = rotated.act("key", "rotate", "--key", new, "--new", old)
        assert (code, "was retired" in err) == (3, True)

    def test_one_that_was_cut_off_is_finished_by_the_same_call(self, rotated):
        (rotated.ledger / "checkpoints/000000000002").unlink()
        shutil.copy(rotated.ledger / "checkpoints/000000000001", rotated.ledger / "checkpoint")
        assert rotated.verify()[0] == 4
        assert self._rotate(rotated)[0] == 0
        assert Ledger.open(rotated.ledger).verify().size == 2
        assert rotated.verify(policy="newer")[0] == 0

    def test_the_old_key_may_stay(self, auditor):
        new = auditor.run("key", "new", "--ml-dsa", "--name", ORIGIN, "--out", auditor.folder / "m")
        stay = ["--key", auditor.folder / "log.key", "--new", auditor.folder / "m", "--stay"]
        assert auditor.act("key", "rotate", *stay)[0] == 0
        auditor.append(1)
        assert auditor.sign()[0] == 0
        assert auditor.verify()[0] == 0
        assert f"followed by {new[1].strip()}" in auditor.verify()[1]

    def test_a_key_of_another_name_takes_nothing_over(self, auditor):
        keys = ["--key", auditor.folder / "log.key", "--new", auditor.folder / "w.key"]
        code, _, err = auditor.act("key", "rotate", *keys)
        assert code == 3
        assert ORIGIN in err
        assert Ledger.open(auditor.ledger).verify().size == 1

    def test_keys_that_the_first_entry_names_alone_may_sign(self, auditor):
        shutil.rmtree(auditor.ledger)
        auditor.act("init", "--origin", ORIGIN, "--key", auditor.folder / "log.key")
        auditor.run("key", "new", "--name", ORIGIN, "--out", auditor.folder / "new.key")
        assert auditor.act("checkpoint", "--key", auditor.folder / "new.key")[0] == 3
        assert auditor.sign()[0] == 0
        assert auditor.verify()[0] == 0


class TestNewOrigin:
    def test_its_first_entry_holds_the_last_checkpoint_of_the_ledger_before(self, auditor):
        auditor.append(1)
        after = ["--ledger", auditor.folder / "next", "--after", auditor.ledger]
        code, _, err = auditor.run("init", "--origin", "example.com/next", *after)
        assert (code, "no checkpoint covers the whole" in err) == (5, True)
        auditor.sign()
        assert auditor.run("init", "--origin", "example.com/next", *after)[0] == 0
        same = ["--ledger", auditor.folder / "same", "--after", auditor.ledger]
        assert auditor.run("init", "--origin", ORIGIN, *same)[0] == 3
        genesis = next(Ledger.open(auditor.folder / "next").entries())
        raw = (auditor.ledger / "checkpoint").read_bytes()
        head = Ledger.open(auditor.ledger).verify()
        assert genesis.body["previous"] == {
            "origin": ORIGIN,
            "size": 2,
            "root": base64.b64encode(head.root).decode(),
            "checkpoint": hashlib.sha256(raw).hexdigest(),
        }


def test_a_checkpoint_of_which_a_byte_changed(auditor):
    auditor.append(1)
    auditor.sign()
    raw = bytearray((auditor.ledger / "checkpoint").read_bytes())
    raw[len(ORIGIN) + 5] ^= 1
    (auditor.ledger / "checkpoint").write_bytes(raw)
    assert auditor.act("verify")[0] == 3
    assert auditor.verify()[0] == 3


class TestState:
    def _audit(self, auditor):
        return auditor.act("verify", "--state", auditor.folder / "state.json")

    def test_only_what_is_new_is_read(self, auditor):
        assert self._audit(auditor)[0] == 0
        auditor.append(1)
        code, out, _ = self._audit(auditor)
        assert code == 0
        assert "read from entry 1 on" in out
        assert "each entry follows from those before it" in out

    def test_what_is_new_is_held_against_what_was_known(self, auditor):
        known = bodies(released(record(version="1.0.0"))[0])
        later = bodies(gate(record(), before=(record(version="1.0.0"),)))
        ledger = Ledger.open(auditor.ledger)
        ledger.append_all("decision", known, NOON)
        self._audit(auditor)
        ledger.append_all("decision", later, NOON)
        assert self._audit(auditor)[0] == 0
        ledger.append_all("decision", later, NOON)
        code, _, err = self._audit(auditor)
        assert code == 3
        assert "entry 3: a decision whose meaning does not hold" in err

    def test_a_state_without_meaning_is_told_and_not_passed_over(self, auditor):
        state = ["--state", auditor.folder / "state.json"]
        assert auditor.act("verify", "--no-meaning", *state)[0] == 0
        code, _, err = self._audit(auditor)
        assert code == 2
        assert "left meaning out" in err
        assert auditor.act("verify", "--no-meaning", *state)[0] == 0

    def test_a_state_without_canonical_form_is_told_and_not_passed_over(self, auditor):
        state = ["--state", auditor.folder / "state.json"]
        assert self._audit(auditor)[0] == 0
        auditor.append(1)
        assert auditor.act("verify", "--fast", *state)[0] == 0
        code, _, err = self._audit(auditor)
        assert (code, "left the canonical form of lines out" in err) == (2, True)
        assert auditor.act("verify", "--fast", *state)[0] == 0

    def test_a_checkpoint_of_another_history_below_the_state_shows(self, auditor):
        shutil.copytree(auditor.ledger, auditor.folder / "fork")
        for n in range(3):
            auditor.append(n)
        auditor.sign()
        state = ["--state", auditor.folder / "state.json"]
        assert auditor.verify(*state)[0] == 0
        here, auditor.ledger = auditor.ledger, auditor.folder / "fork"
        auditor.append(7)
        auditor.sign()
        shutil.copy(auditor.ledger / "checkpoint", here / "checkpoint")
        auditor.ledger = here
        code, _, err = auditor.verify(*state)
        assert (code, "two histories were signed" in err) == (3, True)
        path = here / "log/00000000.jsonl"
        path.write_bytes(path.read_bytes().replace(b"check-1", b"check-9"))
        assert auditor.verify(*state)[0] == 3

    def test_an_earlier_checkpoint_of_the_same_history_covers_what_it_did(self, auditor):
        auditor.sign()
        auditor.append(1)
        state = ["--state", auditor.folder / "state.json"]
        assert [auditor.verify(*state)[0] for _ in range(2)] == [4, 4]

    def test_a_cut_below_the_state_shows(self, auditor):
        auditor.append(1)
        self._audit(auditor)
        path = auditor.ledger / "log/00000000.jsonl"
        path.write_bytes(path.read_bytes().splitlines(keepends=True)[0])
        code, _, err = self._audit(auditor)
        assert code == 3
        assert "once had 2 entries" in err

    def test_another_ledger_in_its_place_shows(self, auditor):
        self._audit(auditor)
        shutil.rmtree(auditor.ledger)
        Ledger.init(auditor.ledger, ORIGIN, datetime(2026, 6, 1, tzinfo=UTC))
        assert self._audit(auditor)[0] == 3

    @pytest.mark.parametrize(
        "text", ["", "{}", "[]", "[" * 100_000, '{"format": "aal-ledger-state/3"}']
    )
    def test_what_is_no_state_is_refused(self, auditor, text):
        (auditor.folder / "state.json").write_text(text)
        assert self._audit(auditor)[0] == 2

    def test_a_checkpoint_older_than_the_state_is_refused_and_not_passed_over(self, auditor):
        auditor.sign()
        shutil.copy(auditor.ledger / "checkpoint", auditor.folder / "pin")
        auditor.append(1)
        self._audit(auditor)
        pin = ["--checkpoint", auditor.folder / "pin", "--state", auditor.folder / "state.json"]
        assert auditor.act("verify", *pin)[0] == 2


class TestWitness:
    def test_its_cosignature_reaches_the_quorum(self, auditor):
        auditor.sign()
        assert auditor.verify(policy="strict")[0] == 5
        assert auditor.witness()[0] == 0
        assert auditor.verify(policy="strict")[0] == 0

    def test_signing_the_same_size_again_keeps_it(self, auditor):
        auditor.sign()
        auditor.witness()
        auditor.sign()
        assert auditor.verify(policy="strict")[0] == 0

    def test_it_signs_no_ledger_that_was_written_anew(self, auditor):
        auditor.sign()
        auditor.witness()
        shutil.rmtree(auditor.ledger)
        Ledger.init(auditor.ledger, ORIGIN, datetime(2026, 6, 1, tzinfo=UTC))
        auditor.sign()
        assert auditor.witness()[0] == 3
        assert auditor.verify(policy="strict")[0] == 5

    def test_it_signs_nothing_that_the_log_did_not(self, auditor):
        assert auditor.witness()[0] == 5
        auditor.sign()
        auditor.append(1)
        assert auditor.witness()[0] == 3

    def test_a_checkpoint_kept_before_it_was_witnessed_is_a_pin_all_the_same(self, auditor):
        auditor.sign()
        pin = auditor.folder / "pin"
        shutil.copy(auditor.ledger / "checkpoint", pin)
        assert auditor.verify("--checkpoint", pin, policy="strict")[0] == 5
        auditor.witness()
        assert auditor.verify("--checkpoint", pin, policy="strict")[0] == 0
        (auditor.ledger / "checkpoint").unlink()
        assert auditor.verify("--checkpoint", pin, policy="strict")[0] == 5

    def test_the_ledgers_own_key_is_no_witness(self, auditor):
        auditor.sign()
        told = ["--key", auditor.folder / "log.key", "--policy", auditor.folder / "policy"]
        code, _, err = auditor.act("witness", *told, "--state", auditor.folder / "w.json")
        assert code == 3
        assert "not as a witness" in err


class TestProof:
    @pytest.fixture
    def proof(self, auditor):
        for n in range(6):
            auditor.append(n)
        auditor.sign()
        code, out, _ = auditor.act("prove", "3")
        assert code == 0
        (auditor.folder / "proof").write_text(out)
        (auditor.folder / "entry").write_bytes(list(Ledger.open(auditor.ledger).lines())[3] + b"\n")
        return auditor

    def _check(self, auditor, *options):
        entry = ["--entry", auditor.folder / "entry"]
        return auditor.run("check-proof", auditor.folder / "proof", *entry, *options)

    def test_it_is_checked_without_the_ledger(self, proof):
        shutil.rmtree(proof.ledger)
        code, out, _ = self._check(proof, "--policy", proof.folder / "policy")
        assert (code, out) == (0, f"the entry is in the ledger {ORIGIN} of 7 entries\n")

    def test_against_a_root_that_nobody_vouches_for_it_proves_nothing_alone(self, proof):
        code, _, err = self._check(proof)
        assert code == 5
        assert "proves nothing alone" in err

    def test_another_entry_is_refused(self, proof):
        (proof.folder / "entry").write_bytes(next(iter(Ledger.open(proof.ledger).lines())))
        assert self._check(proof, "--policy", proof.folder / "policy")[0] == 3

    @pytest.mark.parametrize("change", [lambda b: b"\xef\xbb\xbf" + b, lambda b: b[:-1] + b"\r\n"])
    def test_the_entry_is_held_to_the_byte(self, proof, change):
        path = proof.folder / "entry"
        path.write_bytes(change(path.read_bytes()))
        assert self._check(proof, "--policy", proof.folder / "policy")[0] == 3

    def test_what_no_checkpoint_covers_has_no_proof(self, proof):
        proof.append(9)
        assert proof.act("prove", "7")[0] == 2

    def test_an_unsigned_ledger_has_no_proofs(self, auditor):
        assert auditor.act("prove", "0")[0] == 5

    @pytest.mark.parametrize("change", [("index 3", "index 03"), ("proof@v1", "proof@v2")])
    def test_a_malformed_proof_is_refused(self, proof, change):
        path = proof.folder / "proof"
        path.write_text(path.read_text().replace(*change))
        assert self._check(proof, "--policy", proof.folder / "policy")[0] == 5


class TestConsistency:
    @pytest.fixture
    def grown(self, auditor):
        for size in (3, 7):
            while Ledger.open(auditor.ledger).verify().size < size:
                auditor.append(1)
            auditor.sign()
            shutil.copy(auditor.ledger / "checkpoint", auditor.folder / f"at-{size}")
        code, out, _ = auditor.act("consistency", "3")
        assert code == 0
        (auditor.folder / "proof").write_text(out)
        return auditor

    def _check(self, auditor, old="at-3", new="at-7", policy=("--policy", "policy")):
        told = ["--old", auditor.folder / old, "--new", auditor.folder / new]
        told += [policy[0], auditor.folder / policy[1]] if policy else []
        return auditor.run("check-consistency", auditor.folder / "proof", *told)

    def test_it_is_checked_without_the_ledger(self, grown):
        shutil.rmtree(grown.ledger)
        code, out, _ = self._check(grown)
        assert code == 0
        assert out == f"the ledger {ORIGIN} of 7 entries starts with the 3 that it had\n"

    def test_without_a_policy_it_proves_nothing_alone(self, grown):
        assert self._check(grown, policy=())[0] == 5

    def test_a_ledger_written_anew_in_between_shows(self, grown):
        shutil.rmtree(grown.ledger)
        Ledger.init(grown.ledger, ORIGIN, NOON)
        for n in range(6):
            grown.append(10 + n)
        grown.sign()
        (grown.folder / "proof").write_text(grown.act("consistency", "3")[1])
        shutil.copy(grown.ledger / "checkpoint", grown.folder / "at-7")
        assert self._check(grown)[0] == 3

    def test_a_file_that_is_no_proof_is_refused(self, grown):
        (grown.folder / "proof").write_text("abc\n")
        assert self._check(grown)[0] == 2

    @pytest.mark.parametrize("size", ["0", "8"])
    def test_what_no_checkpoint_covers_has_no_proof(self, grown, size):
        assert grown.act("consistency", size)[0] == 2


def test_a_pin_that_is_no_checkpoint_is_named(auditor):
    auditor.sign()
    code, _, err = auditor.verify("--checkpoint", auditor.folder / "policy")
    assert (code, "policy: is not a signed checkpoint" in err) == (2, True)


def test_a_kept_checkpoint_that_was_changed_shows(auditor):
    auditor.sign()
    auditor.append(1)
    auditor.sign()
    (auditor.ledger / "checkpoints/000000000001").write_bytes(
        (auditor.ledger / "checkpoints/000000000002").read_bytes()
    )
    code, _, err = auditor.verify()
    assert code == 3
    assert "checkpoints/000000000001 was changed" in err
