"""`aal ledger` at the terminal: what it says, and what it exits with."""

from __future__ import annotations

import base64
import json
import shutil
from datetime import UTC, datetime

import pytest

from aal_engine.agent.ledger import EXITS, app
from aal_engine.agent.terminal import exit_code
from aal_engine.decide.act import Clear, Quarantine, body_of
from aal_engine.decide.release import AgentKey
from aal_engine.store.ledger import Ledger

NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)
DESK = AgentKey("desk", "handbook")


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "ledger"


@pytest.fixture
def run(capsys, folder):
    """Run the door on the folder; returns the exit code, standard output and standard error."""

    def ran(*arguments):
        code = exit_code(lambda: app([*arguments, "--ledger", str(folder)], standalone_mode=False))
        return code, *capsys.readouterr()

    return ran


@pytest.fixture
def ledger(folder):
    Ledger.init(folder, "example.com/ledger", NOON)
    ledger = Ledger.open(folder)
    for kind, step in (
        ("quarantine", Quarantine(DESK, "1.1.0", "index was stale")),
        ("clear", Clear(DESK, "1.1.0", "index was rebuilt")),
    ):
        ledger.append(kind, body_of(kind, step), NOON)
    return ledger


def damage(folder, before: bytes, after: bytes) -> None:
    path = folder / "log/00000000.jsonl"
    path.write_bytes(path.read_bytes().replace(before, after))


class TestInit:
    def test_it_starts_a_ledger(self, run, folder):
        code, out, err = run("init", "--origin", "example.com/x", "--at", "2026-05-01T12:00:00Z")
        assert (code, err) == (0, "")
        assert out == "started: ledger holds its first entry, of 2026-05-01T12:00:00.000Z\n"
        assert Ledger.open(folder).verify().origin == "example.com/x"

    def test_the_second_is_told(self, run, ledger):
        code, out, err = run("init")
        assert (code, out) == (3, "")
        assert "holds a ledger already" in err
        assert "aal ledger show" in err

    @pytest.mark.parametrize("at", ["yesterday", "2026-05-01T12:00:00"])
    def test_a_time_that_is_not_clear_is_refused(self, run, folder, at):
        assert run("init", "--at", at)[0] == 2
        assert not folder.exists()


class TestVerify:
    def test_a_whole_ledger(self, run, ledger):
        code, out, err = run("verify")
        assert (code, err) == (0, "")
        assert "verified: 3 entries of example.com/ledger" in out
        assert base64.b64encode(ledger.verify().root).decode() in out

    def test_it_says_what_a_bare_chain_cannot_show(self, run, ledger):
        _, out, _ = run("verify")
        assert "cut off" in out
        assert "written anew" in out

    def test_json_tells_the_same(self, run, ledger):
        code, out, _ = run("verify", "--format", "json")
        assert code == 0
        assert json.loads(out) == {
            "outcome": "verified",
            "origin": "example.com/ledger",
            "size": 3,
            "root": base64.b64encode(ledger.verify().root).decode(),
            "at": "2026-05-01T12:00:00.000Z",
            "covered": None,
            "since": 0,
            "followed": [],
            "torn": 0,
            "warnings": [],
        }

    def test_an_edited_entry_is_named(self, run, ledger, folder):
        damage(folder, b'"handbook"', b'"handbooc"')
        code, out, err = run("verify")
        assert (code, out) == (3, "")
        assert "ledger entry 1" in err

    def test_json_tells_of_a_break_too(self, run, ledger, folder):
        damage(folder, b'"handbook"', b'"handbooc"')
        code, out, _ = run("verify", "--format", "json")
        told = json.loads(out)
        assert (code, told["outcome"], told["entry"]) == (3, "broken", 1)

    def test_a_torn_tail_has_an_exit_code_of_its_own(self, run, ledger, folder):
        with (folder / "log/00000000.jsonl").open("ab") as file:
            file.write(b'{"prev"')
        code, out, _ = run("verify")
        assert code == 4
        assert "torn tail: 7 bytes" in out
        assert json.loads(run("verify", "--format", "json")[1])["outcome"] == "torn"

    def test_fast_leaves_out_the_form_of_lines_and_the_default_does_not(self, run, ledger, folder):
        damage(folder, b'"index was rebuilt"', b'"index was \\u0072ebuilt"')
        assert run("verify")[0] == 3
        assert run("verify", "--fast", "--no-meaning")[0] == 0

    def test_meaning_can_be_left_out(self, run, folder, shared):
        shutil.copytree(shared / "data/ledger/golden-ledger", folder)
        assert run("verify")[0] == 3
        code, out, _ = run("verify", "--no-meaning")
        assert code == 0
        assert "SMwd0W/189dbDZBIypsXSM4Sbkdsf8/zA+qDHj+VubA=" in out

    def test_no_ledger_names_the_way_out(self, run):
        code, _, err = run("verify")
        assert code == 3
        assert "aal ledger init --ledger ledger" in err

    def test_help_lists_every_exit_code(self, run, capsys):
        _, out, _ = run("verify", "--help")
        told = " ".join(out.split())
        for code, what in EXITS.items():
            assert f"{code} {what}" in told


class TestShow:
    def test_a_row_for_each_entry(self, run, ledger):
        code, out, _ = run("show")
        assert code == 0
        assert out.splitlines() == [
            "     0  2026-05-01T12:00:00.000Z  genesis     example.com/ledger",
            "     1  2026-05-01T12:00:00.000Z  quarantine  desk handbook 1.1.0 index was stale",
            "     2  2026-05-01T12:00:00.000Z  clear       desk handbook 1.1.0 index was rebuilt",
        ]

    def test_kinds_and_last_narrow_it(self, run, ledger):
        ledger.append("quarantine", {"agent": "desk"}, NOON)
        out = run("show", "--kind", "quarantine", "--kind", "clear", "--last", "2")[1]
        assert [line.split()[0] for line in out.splitlines()] == ["2", "3"]

    @pytest.mark.parametrize(
        ("asked", "found"),
        [
            (["--agent", "desk"], ["1", "2"]),
            (["--agent", "nobody"], []),
            (["--pack", "handbook", "--version", "1.1.0", "--last", "1"], ["2"]),
            (["--family", "gpt"], []),
            (["--decision", "0" * 64], []),
        ],
    )
    def test_what_it_is_about_narrows_it(self, run, ledger, asked, found):
        code, out, _ = run("show", *asked)
        assert (code, [line.split()[0] for line in out.splitlines()]) == (0, found)

    def test_json_is_one_line_an_entry(self, run, ledger):
        out = run("show", "--format", "json", "--last", "1")[1]
        told = json.loads(out)
        (entry,) = list(ledger.entries())[2:]
        assert told == {
            "seq": 2,
            "at": entry.at,
            "kind": "clear",
            "body": entry.body,
            "leaf": entry.leaf.hex(),
        }

    def test_an_unknown_kind_is_refused_with_the_known_ones(self, run, ledger):
        code, _, err = run("show", "--kind", "promotion")
        assert code == 2
        assert "quarantine" in err

    def test_nothing_to_show_is_said(self, run, ledger):
        code, out, err = run("show", "--kind", "rollback")
        assert (code, out, err) == (0, "", "no such entries\n")

    def test_a_broken_chain_is_not_shown(self, run, ledger, folder):
        damage(folder, b'"handbook"', b'"handbooc"')
        code, out, _ = run("show")
        assert (code, out) == (3, "")
