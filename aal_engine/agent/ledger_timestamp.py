"""`aal ledger timestamp`: an authority's word that a checkpoint existed by a time (RFC 3161)."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from aal_engine.agent.terminal import say
from aal_engine.decide.entry import stamp
from aal_engine.service import timestamp as act
from aal_engine.service.ledger import counted

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Time stamps over checkpoints (RFC 3161); needs the extra `timestamp`.",
)

REQUEST = """Write a request to stamp the latest checkpoint. Nothing is sent: that is for you to do.

Example:

  aal ledger timestamp request > request.tsq

  curl -H "Content-Type: application/timestamp-query" --data-binary @request.tsq URL > response.tsr
"""

KEEP = """Check an authority's response, and keep it beside the checkpoint that it stamps.

Example:

  aal ledger timestamp keep response.tsr --chain authority.pem
"""

CHECK = """Check every time stamp of the ledger, offline.

Example:

  aal ledger timestamp check --chain authority.pem
"""

Folder = Annotated[Path, typer.Option("--ledger", help="The ledger's folder.")]
Chain = Annotated[
    Path,
    typer.Option(
        help="Certificates that you trust, in PEM: the authority's root, and those between."
    ),
]


@app.command(help=REQUEST)
def request(ledger: Folder = Path("ledger")) -> None:
    """Write a request."""
    sys.stdout.buffer.write(act.ask(ledger))


@app.command(help=KEEP)
def keep(
    response: Annotated[Path, typer.Argument(help="The authority's response.")],
    chain: Chain,
    ledger: Folder = Path("ledger"),
) -> None:
    """Keep a response."""
    size, when = act.keep(ledger, response, chain)
    say(f"the checkpoint of {counted(size)} existed by {stamp(when)}\n")


@app.command(help=CHECK)
def check(chain: Chain, ledger: Folder = Path("ledger")) -> None:
    """Check all time stamps."""
    for size, when in act.check(ledger, chain):
        say(f"the checkpoint of {counted(size)} existed by {stamp(when)}\n")
