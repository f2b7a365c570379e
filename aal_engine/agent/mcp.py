"""`aal mcp`: evaluations, releases and the registry as tools, over standard input and output."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Annotated

import typer

from aal_engine.agent.terminal import run as run_door
from aal_engine.errors import MissingExtra
from aal_engine.service.results import Results

app = typer.Typer(add_completion=False, rich_markup_mode=None)

HELP = """Serve MCP tools on standard input and output.

They are evals, releases and ledger_verify, and leaderboard and agent_record of the registry that
EVALS_DATABASE names, which are empty unless EVALS_ENABLED=true. All of them read, and none has the
text of a question or an answer. `aal serve` has the same tools over streamable HTTP at /mcp.

\b
Example, in an MCP client's configuration:
  {"mcpServers": {"aal-engine": {"command": "aal", "args": ["mcp", "--ledger", "/srv/ledger"]}}}
"""


@app.command(help=HELP)
def mcp(
    ledger: Annotated[Path, typer.Option(help="Folder of the release ledger.")] = Path("ledger"),
) -> None:
    """Serve the MCP tools on standard input and output."""
    try:
        from aal_engine.api.mcp import mcp_server
        from aal_engine.api.office import registry_office
    except ImportError:
        raise MissingExtra("the MCP server", "serve") from None
    office = registry_office()
    try:
        asyncio.run(mcp_server(Results(ledger), office).run_stdio_async())
    finally:
        if office is not None:
            office.close()


def main() -> None:
    """Run `python -m aal_engine.agent.mcp`."""
    run_door(app, "python -m aal_engine.agent.mcp")


if __name__ == "__main__":
    main()
