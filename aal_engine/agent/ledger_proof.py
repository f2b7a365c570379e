"""`aal ledger prove|check-proof|consistency|check-consistency`: proofs that need no ledger to check."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from aal_engine.agent.terminal import say, tell
from aal_engine.service import proof as act
from aal_engine.service.ledger import counted

app = typer.Typer(rich_markup_mode=None)

PROVE = """Write the proof that an entry is in the ledger, to ship with a release (C2SP tlog-proof).

Example:

  aal ledger prove 7 > release-1.6.6.tlog-proof
"""

CHECK_PROOF = """Check a proof against the line of an entry, without the ledger.

Example:

  aal ledger check-proof release-1.6.6.tlog-proof --entry entry.json --policy keys.txt
"""

CONSISTENCY = """Write the proof that the latest checkpoint's ledger starts with its first SIZE entries.

One base64 hash a line (RFC 6962, section 2.1.2); none where nothing was added.

Example:

  aal ledger consistency 5 > since-5.txt
"""

CHECK_CONSISTENCY = """Check that between two checkpoints entries were added, and nothing else.

It needs the two checkpoints and the proof, not the ledger.

Example:

  aal ledger check-consistency since-5.txt --old kept --new latest --policy keys.txt
"""

EXPORT = """Write a decision as an in-toto statement in a DSSE envelope, signed with ECDSA P-256.

`--predicate summary` is a SLSA verification summary: passed or not, under which policy, on which
evidence, and where the ledger holds it. `--predicate checks` holds every check with its numbers. With
--subject the statement is about what you built of the version, such as an image, else about the
decision itself. SEQ is the number of any entry of the decision.

Examples:

  aal ledger key new --p256 --out export.pem > export.pub.pem

  aal ledger export 7 --key export.pem --subject desk.tar=sha256:HEX > desk.vsa.dsse.json
"""

CHECK_EXPORT = """Check a DSSE envelope, and write the statement in it.

Example:

  aal ledger check-export desk.vsa.dsse.json --key export.pub.pem
"""

UNVOUCHED = (
    "this proves nothing alone: without --policy nobody vouches for that ledger's root, "
    "and anybody can make one that fits"
)

Folder = Annotated[Path, typer.Option("--ledger", help="The ledger's folder.")]
Policy = Annotated[Path | None, typer.Option(help="Keys that you trust.")]


@app.command(help=PROVE)
def prove(
    seq: Annotated[int, typer.Argument(help="The entry's number.")],
    ledger: Folder = Path("ledger"),
) -> None:
    """Write an inclusion proof."""
    say(act.inclusion(ledger, seq).decode())


@app.command("check-proof", help=CHECK_PROOF)
def check_proof(
    proof: Annotated[Path, typer.Argument(help="The proof.")],
    entry: Annotated[Path, typer.Option(help="File with the entry's line, as the log holds it.")],
    policy: Policy = None,
) -> None:
    """Check an inclusion proof."""
    stated = act.check_inclusion(proof, entry, policy)
    say(f"the entry is in the ledger {stated.origin} of {counted(stated.size)}\n")
    _require_vouched(policy)


@app.command(help=CONSISTENCY)
def consistency(
    size: Annotated[int, typer.Argument(help="How many entries the ledger had.")],
    ledger: Folder = Path("ledger"),
) -> None:
    """Write a consistency proof."""
    say(act.consistency(ledger, size))


@app.command("check-consistency", help=CHECK_CONSISTENCY)
def check_consistency(
    proof: Annotated[Path, typer.Argument(help="The proof.")],
    old: Annotated[Path, typer.Option(help="The checkpoint from before.")],
    new: Annotated[Path, typer.Option(help="The checkpoint of now.")],
    policy: Policy = None,
) -> None:
    """Check a consistency proof."""
    first, second = act.check_consistency(proof, old, new, policy)
    say(
        f"the ledger {second.origin} of {counted(second.size)} starts with "
        f"the {first.size} that it had\n"
    )
    _require_vouched(policy)


@app.command(help=EXPORT)
def export(
    seq: Annotated[int, typer.Argument(help="The entry's number.")],
    key: Annotated[Path, typer.Option(help="File of a private key on P-256, in PEM.")],
    predicate: Annotated[
        Literal["summary", "checks"], typer.Option(help="What the statement tells.")
    ] = "summary",
    subject: Annotated[
        str | None, typer.Option(help="What it is about, as NAME=sha256:HEX.")
    ] = None,
    ledger: Folder = Path("ledger"),
) -> None:
    """Write a decision for others."""
    say(act.export(ledger, seq, key, predicate=predicate, subject=subject).decode())


@app.command("check-export", help=CHECK_EXPORT)
def check_export(
    envelope: Annotated[Path, typer.Argument(help="The envelope.")],
    key: Annotated[Path, typer.Option(help="File of the public key, in PEM.")],
) -> None:
    """Check an envelope."""
    say(act.check_export(envelope, key))


def _require_vouched(policy: Path | None) -> None:
    if policy is None:
        tell(UNVOUCHED)
        raise typer.Exit(5)
