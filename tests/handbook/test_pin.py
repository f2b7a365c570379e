"""The project's own ledger still starts with what was pinned of it."""

from __future__ import annotations

import shutil

from handbook import pin

from aal_engine.agent.ledger import app
from aal_engine.agent.terminal import exit_code


def verified(ledger):
    told = ["--policy", pin.KEYS, "--checkpoint", pin.PIN, "--ledger", ledger]
    return exit_code(lambda: app(["verify", *map(str, told)], standalone_mode=False))


def test_the_pinned_entries_stand_in_the_ledger():
    # Between two releases entries may follow the pin; python tests/handbook/pin.py moves it.
    assert verified(pin.LEDGER) in (0, 4)


def test_another_history_does_not_pass(tmp_path):
    shutil.copytree(pin.LEDGER, tmp_path / "ledger")
    log = tmp_path / "ledger/log/00000000.jsonl"
    log.write_bytes(log.read_bytes().splitlines(keepends=True)[0])
    assert verified(tmp_path / "ledger") == 3


def test_no_private_key_is_kept_with_it():
    assert all("PRIVATE" not in path.read_text() for path in pin.PIN.parent.iterdir())
