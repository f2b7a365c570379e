"""`aal`: every door under one name, each loaded only when it is called."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Any, NoReturn

import typer
from typer.core import TyperGroup

import aal_engine
from aal_engine.agent.terminal import exit_code

DOORS = {
    "compare": "Say what differs between evaluations, how surely, and which cases moved.",
    "demo": "Show the whole path on the bundled pack: evaluate, gate, block, release, verify.",
    "evaluate": "Score a run against a pack's golden sets.",
    "explain": "Show what decided the verdicts on one case: the one door that shows text.",
    "gate": "Turn an evaluation into one decision, recorded in the ledger.",
    "golden": "Validate, lint, show, import and compare golden sets.",
    "ledger": "Start, verify and read the release ledger.",
    "mcp": "Serve evaluations, releases and the ledger as MCP tools on standard input and output.",
    "monitor": "Watch the outputs of an agent in service, and roll back a version in breach.",
    "registry": "Keep the registry of agents: suites, runs, trust and treasury.",
    "release": "Put versions into service, roll them back, and say which one serves.",
    "report": "Write the page 'Evaluations and releases' as files.",
    "schedule": "Run the golden set again against the version in service, in slots.",
    "serve": "Serve evaluations, releases and the registry over HTTP.",
}


class Doors(TyperGroup):
    """A group that imports a door only when its command is called or its help is asked for."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Name the doors."""
        return list(DOORS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Load one door."""
        if cmd_name not in DOORS:
            return None
        door: Any = import_module(f"aal_engine.agent.{cmd_name}")
        command = typer.main.get_command(door.app)
        command.name = cmd_name
        return command

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """List the doors without loading them."""
        with formatter.section("Commands"):
            formatter.write_dl(list(DOORS.items()))


app = typer.Typer(
    cls=Doors,
    no_args_is_help=True,
    rich_markup_mode=None,
    add_completion=True,
    help="The release gate for agents that retrieve and answer.",
)


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"aal-engine {aal_engine.__version__}")
        raise typer.Exit


@app.callback()
def root(
    version: bool = typer.Option(
        False, "--version", callback=_version, is_eager=True, help="Print the version."
    ),
) -> None:
    """The release gate for agents that retrieve and answer."""


def main() -> NoReturn:
    """Run `aal`."""
    sys.exit(exit_code(lambda: app(prog_name="aal", standalone_mode=False)))


if __name__ == "__main__":
    main()
