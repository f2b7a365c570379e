"""`aal ledger key|checkpoint|witness`: keys of the ledger, and what they sign."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from aal_engine.agent.terminal import say
from aal_engine.service import signing
from aal_engine.service.ledger import counted

app = typer.Typer(rich_markup_mode=None)
keys = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="Make and rotate keys.")
app.add_typer(keys, name="key")

NEW = """Make a private key in a new file, and print its public key.

Keep the file where nobody reads it who should not sign. The ledger's own key has the ledger's
origin as its name; a witness's key has a name of the witness's own.

Examples:

  aal ledger key new --name example.com/release-ledger --out ledger.key

  aal ledger key new --witness --name witness.example/w1 --out witness.key

  aal ledger key new --p256 --out export.pem
"""

ROTATE = """Let a new key take over from an old one.

An entry of the ledger names both, and both sign the checkpoint that covers it: who trusts the old
key can follow to the new one. Sign with the new key alone from then on, and destroy the old one.

Examples:

  aal ledger key rotate --key ledger.key --new new.key

  aal ledger key rotate --key ledger.key --new ml-dsa.key --stay
"""

CHECKPOINT = """Verify the ledger, then sign its size and root as its latest checkpoint.

Give it to auditors: with it and the public key, a cut or rewritten ledger shows.

Example:

  aal ledger checkpoint --key ledger.key
"""

WITNESS = """Cosign the latest checkpoint as a witness of the ledger.

A witness signs only what follows from all that it saw before, which it remembers in --state. Give
it the log's key in --policy, with `quorum none`.

Example:

  aal ledger witness --key witness.key --policy log-key.txt --state witness.json
"""

Folder = Annotated[Path, typer.Option("--ledger", help="The ledger's folder.")]
Key = Annotated[
    str,
    typer.Option(envvar="AAL_LEDGER_KEY", show_envvar=True, help="File of the private key."),
]


@keys.command(help=NEW)
def new(
    out: Annotated[Path, typer.Option(help="New file for the private key.")],
    name: Annotated[str | None, typer.Option(help="The key's name.")] = None,
    witness: Annotated[bool, typer.Option("--witness", help="A witness's key.")] = False,
    ml_dsa: Annotated[
        bool, typer.Option("--ml-dsa", help="ML-DSA-44 in place of Ed25519.")
    ] = False,
    p256: Annotated[
        bool, typer.Option("--p256", help="A key in PEM for `aal ledger export`; it has no name.")
    ] = False,
) -> None:
    """Make a key."""
    if p256:
        say(signing.new_p256_key(out))
        return
    if name is None:
        raise typer.BadParameter("a key that signs checkpoints needs --name")
    say(signing.new_key(out, name, witness=witness, ml_dsa=ml_dsa) + "\n")


@keys.command(help=ROTATE)
def rotate(
    key: Key,
    new: Annotated[
        list[str], typer.Option(help="File of a private key that takes over; repeatable.")
    ],
    stay: Annotated[
        bool, typer.Option("--stay", help="The old key stays in force beside the new.")
    ] = False,
    ledger: Folder = Path("ledger"),
) -> None:
    """Rotate keys."""
    entry, signed = signing.rotate(ledger, key, new, stay=stay, now=datetime.now(UTC))
    say(f"rotated: entry {entry.seq} of {signed.origin} says so, and all keys signed it\n")


@app.command(help=CHECKPOINT)
def checkpoint(
    key: Annotated[
        list[str],
        typer.Option(
            envvar="AAL_LEDGER_KEY",
            show_envvar=True,
            help="File of a private key; repeatable, for keys that sign side by side.",
        ),
    ],
    ledger: Folder = Path("ledger"),
) -> None:
    """Sign the ledger."""
    signed = signing.sign(ledger, key, now=datetime.now(UTC))
    say(f"signed: {counted(signed.size)} of {signed.origin}\n")


@app.command(help=WITNESS)
def witness(
    key: Key,
    policy: Annotated[Path, typer.Option(help="The log's key, as a C2SP tlog-policy.")],
    state: Annotated[Path, typer.Option(help="File that remembers what this witness saw.")],
    ledger: Folder = Path("ledger"),
) -> None:
    """Cosign the latest checkpoint."""
    seen = signing.cosign(ledger, key, policy, state, now=datetime.now(UTC))
    say(f"cosigned: {counted(seen.size)} of {seen.origin}\n")
