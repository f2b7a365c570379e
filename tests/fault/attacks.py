"""Attacks on a ledger, and what three kinds of verifier say of each.

    python tests/fault/attacks.py        print the table that stands in the README

Each attack is done to a copy of a small ledger with two checkpoints. It is verified three times:
as a bare chain, without checkpoints; with a trusted key and the ledger's own checkpoint; and with the
checkpoint that an auditor kept of the whole. Who attacks leaves the files in the state that serves
them best: without the key they put back what was signed before, with it they sign again.
"""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path

from aal_engine.decide.entry import write
from aal_engine.decide.incident import Incident
from aal_engine.decide.key import ED25519, SignerKey
from aal_engine.decide.ledger import genesis_prev
from aal_engine.decide.release import AgentKey
from aal_engine.errors import AalError
from aal_engine.service.ledger import verify
from aal_engine.store.ledger import Ledger

ORIGIN = "example.com/release-ledger"
KEY = SignerKey(ORIGIN, ED25519, bytes(32))
OTHER = SignerKey(ORIGIN, ED25519, bytes([1]) * 32)
NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)
EARLY, WHOLE = 4, 8
VERIFIERS = ("bare chain", "own checkpoint, trusted key", "auditor's pin")
SAYS = {0: "passes", 3: "found", 4: "told apart", 5: "found"}
HOLDER = "; signed again by who holds the key"

Lines = list[bytes]


def body(n: int) -> dict[str, object]:
    """Return the body of a breach."""
    incident = Incident(
        key=AgentKey("desk", "support"),
        version="1.1.0",
        since=None,
        check=f"check-{n}",
        evidence=f"{n:064x}",
        state="breach",
        value=1.0,
        limit=0.0,
        n=40,
        rate=0.25,
        observed_at="2026-05-01T12:00:00.000Z",
    )
    return incident.body()


def fill(folder: Path, numbers: Sequence[int]) -> None:
    Ledger.open(folder).append_all("breach", [body(n) for n in numbers], NOON)


def sign(folder: Path, key: SignerKey = KEY) -> None:
    ledger = Ledger.open(folder)
    ledger.sign([key], NOON, ledger.verify(strict=False))


def build(folder: Path) -> Path:
    """Make the ledger that is attacked; return a copy of its last checkpoint."""
    ledger, pin = folder / "ledger", folder / "pin"
    Ledger.init(ledger, ORIGIN, NOON, vkeys=[KEY.verifier().encode()])
    fill(ledger, range(1, EARLY))
    sign(ledger)
    fill(ledger, range(EARLY, WHOLE))
    sign(ledger)
    shutil.copy(ledger / "checkpoint", pin)
    (folder / "keys").write_text(f"log {KEY.verifier().encode()}\nquorum none\n")
    return ledger


def log(folder: Path) -> Path:
    return folder / "log/00000000.jsonl"


def lines(folder: Path) -> Lines:
    return log(folder).read_bytes().splitlines()


def put(folder: Path, new: Lines) -> None:
    log(folder).write_bytes(b"".join(line + b"\n" for line in new))


def chained(old: Lines) -> Lines:
    """Return entries that say what the old ones say, chained anew from the first on."""
    prev, new = genesis_prev(ORIGIN), []
    for seq, line in enumerate(old):
        told = json.loads(line)["rec"]
        entry = write(seq, prev, told["kind"], told["body"], datetime.fromisoformat(told["at"]))
        prev = entry.leaf.hex()
        new.append(entry.line)
    return new


def edited(old: Lines) -> Lines:
    return [*old[:3], old[3].replace(b'"n":40', b'"n":41'), *old[4:]]


def unsigned(folder: Path) -> None:
    """Take every checkpoint away."""
    (folder / "checkpoint").unlink(missing_ok=True)
    shutil.rmtree(folder / "checkpoints", ignore_errors=True)


def anew(folder: Path, key: SignerKey | None = None) -> None:
    """Write another history of as many entries, signed with a key."""
    kept = (folder / "checkpoint").read_bytes()
    shutil.rmtree(folder)
    Ledger.init(folder, ORIGIN, NOON, vkeys=[KEY.verifier().encode()])
    fill(folder, range(11, 10 + WHOLE))
    if key is None:
        (folder / "checkpoint").write_bytes(kept)
    else:
        sign(folder, key)


def rechained(folder: Path, *, again: bool = False) -> None:
    """Edit an entry and chain all that follow anew."""
    put(folder, chained(edited(lines(folder))))
    if again:
        unsigned(folder)
        sign(folder)


def another(folder: Path) -> None:
    """Put another ledger's log in the place of this one's."""
    other = folder.parent / "other"
    Ledger.init(other, "example.com/other", NOON)
    fill(other, range(1, WHOLE))
    shutil.copy(log(other), log(folder))


def cut(folder: Path, size: int) -> None:
    put(folder, lines(folder)[:size])


def cut_and_back(folder: Path) -> None:
    """Cut to the size of an earlier checkpoint, and put that in the place of the last."""
    cut(folder, EARLY)
    (folder / f"checkpoints/{WHOLE:012d}").unlink()
    shutil.copy(folder / f"checkpoints/{EARLY:012d}", folder / "checkpoint")


def cut_and_sign(folder: Path) -> None:
    cut(folder, WHOLE - 1)
    unsigned(folder)
    sign(folder)


def decided_otherwise(folder: Path) -> None:
    """Say that the first state was no breach, with an id that no longer follows, chained anew."""
    old = lines(folder)
    told = json.loads(old[3])
    told["rec"]["body"]["value"] = 0.0
    told["rec"]["body"]["check"] = "another"
    put(folder, chained([*old[:3], json.dumps(told).encode(), *old[4:]]))
    unsigned(folder)
    sign(folder)


def appended(folder: Path) -> None:
    fill(folder, [99])


def torn(folder: Path) -> None:
    with log(folder).open("ab") as file:
        file.write(b'{"prev":"')


Attack = Callable[[Path], object]
ATTACKS: dict[str, Attack] = {
    "nothing": lambda _: None,
    "an entry edited": lambda f: put(f, edited(lines(f))),
    "an entry deleted": lambda f: put(f, lines(f)[:3] + lines(f)[4:]),
    "two entries swapped": lambda f: put(
        f, [*lines(f)[:3], lines(f)[4], lines(f)[3], *lines(f)[5:]]
    ),
    "an entry inserted": lambda f: put(f, [*lines(f)[:3], lines(f)[2], *lines(f)[3:]]),
    "an entry edited, all after it chained anew": rechained,
    f"an entry edited, all after it chained anew{HOLDER}": lambda f: rechained(f, again=True),
    f"a record that contradicts itself, chained anew{HOLDER}": decided_otherwise,
    "the last entries cut off": lambda f: cut(f, WHOLE - 1),
    "cut back to an earlier checkpoint, which is put back": cut_and_back,
    f"the last entries cut off{HOLDER}": cut_and_sign,
    "written anew from the first entry": anew,
    "written anew, signed with another key": lambda f: anew(f, OTHER),
    "written anew, signed by who holds the key (equivocation)": lambda f: anew(f, KEY),
    "another ledger's entries": another,
    "every checkpoint taken away": unsigned,
    "an entry appended, not signed": appended,
    "half a line at the end": torn,
}


def code(ledger: Path, keys: Path | None = None, pin: Path | None = None) -> int:
    """Verify as `aal ledger verify` does, and return its exit code."""
    try:
        report = verify(ledger, policy=keys, checkpoint=pin)
    except AalError as error:
        return error.exit_code
    return 4 if report.audit.torn or report.uncovered else 0


def verdicts(attack: Attack) -> tuple[int, int, int]:
    """Return the exit codes of the three verifiers after an attack."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        ledger = build(folder)
        attack(ledger)
        signed = code(ledger, folder / "keys"), code(ledger, folder / "keys", folder / "pin")
        unsigned(ledger)
        return code(ledger), *signed


def table() -> list[str]:
    """Return the table's lines, in Markdown."""
    rows = [f"| attack | {' | '.join(VERIFIERS)} |", "| --- | --- | --- | --- |"]
    for name, attack in ATTACKS.items():
        said = [f"{SAYS[each]} ({each})" for each in verdicts(attack)]
        rows.append(f"| {name} | {' | '.join(said)} |")
    return rows


if __name__ == "__main__":
    print("\n".join(table()))
