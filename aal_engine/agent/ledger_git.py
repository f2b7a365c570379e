"""`aal ledger sequence|repair`: one order out of several branches."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from aal_engine.agent.terminal import say, tell
from aal_engine.service import sequence as act
from aal_engine.service.ledger import counted

app = typer.Typer(rich_markup_mode=None)

SEQUENCE = """Append what branches left in the ledger's pending folder, the oldest first.

Git merges files in `pending` without conflict, and no two appends to one log. So branches gate with
`aal gate --pending`, and the branch that owns the log runs this, then signs. A decision that was made
against a release which is not the last one any more stays in its file and is told: gate it again.

Exit codes: 0 all was appended, 3 something was refused.

Example:

  aal ledger sequence && aal ledger checkpoint --key ledger.key
"""

REPAIR = """Append the records of a fork that this ledger lacks.

Two branches have appended to one log. Take the other side's ledger, and give your own side's in
--own. Refused where a checkpoint was signed over what would have to move.

Exit codes: 0 all was appended, 3 something was refused.

Example, after a conflict in a merge:

  git checkout --theirs ledger && git worktree add ../mine my-branch

  aal ledger repair --own ../mine/ledger
"""

Folder = Annotated[Path, typer.Option("--ledger", help="The ledger's folder.")]


@app.command(help=SEQUENCE)
def sequence(ledger: Folder = Path("ledger")) -> None:
    """Append what is pending."""
    _tell(act.sequence(ledger, now=datetime.now(UTC)))


@app.command(help=REPAIR)
def repair(
    own: Annotated[Path, typer.Option(help="Folder of the ledger as your own side had it.")],
    ledger: Folder = Path("ledger"),
) -> None:
    """Append what a fork has more."""
    common, taken = act.repair(ledger, own, now=datetime.now(UTC))
    say(f"the two part after {counted(common)}\n")
    _tell(taken)


def _tell(taken: act.Taken) -> None:
    for entry in taken.entries:
        say(f"appended: entry {entry.seq}, {entry.kind}\n")
    if taken.known:
        say(f"stood in the ledger already: {taken.known}\n")
    if not (taken.entries or taken.known or taken.refused):
        say("nothing waits\n")
    for name, why in taken.refused.items():
        tell(f"refused: {name}: {why}")
    if taken.refused:
        raise typer.Exit(3)
