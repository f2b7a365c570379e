"""`aal demo`: the whole path on the bundled pack, in a folder of its own."""

from __future__ import annotations

import shlex
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from aal_engine.agent.terminal import coloured, say
from aal_engine.agent.terminal import run as run_door
from aal_engine.errors import InputError
from aal_engine.service.demo import BLOCKED, Step, steps
from aal_engine.service.report.text import text

app = typer.Typer(add_completion=False, rich_markup_mode=None)

HELP = """Show the whole path, with nothing but this install.

Takes the bundled handbook agent, whose outputs are recorded in three versions and three model
families: scores them, gates each version against the last release, blocks the bad one and shows
why, releases the good one, and verifies the ledger. Everything is written to --out.

Example:

  aal demo --out /tmp/aal-demo
"""


@app.command(help=HELP)
def demo(
    out: Annotated[Path, typer.Option(help="Folder to write to; must be new or empty.")] = Path(
        "aal-demo"
    ),
) -> None:
    """Show the whole path, with nothing but this install."""
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise InputError.at(
            "is there already and is not empty", file=out, way_out="pass --out with a new folder"
        )
    colour = coloured()
    for place, step in enumerate(steps(out, datetime.now(UTC)), 1):
        say(_told(place, step, colour=colour))
    say(_afterwards(out))


def _told(place: int, step: Step, *, colour: bool) -> str:
    shown = "\n".join(f"  $ {line}" for line in step.commands)
    told = (
        step.says
        if step.decision is None
        else text(step.decision, colour=colour, blocking=8, holding=3)
    )
    indented = "".join(f"    {line}\n" if line else "\n" for line in told.splitlines())
    return f"{place}. {step.title}\n{shown}\n\n{indented}\n"


def _afterwards(out: Path) -> str:
    folder = shlex.quote(str(out))
    return (
        "Next:\n"
        f"  aal ledger show --ledger {folder}/ledger   what was decided, and when\n"
        f"  {folder}/{BLOCKED}/gate.html   the blocked version's report, for a browser\n"
        f"  aal serve --ledger {folder}/ledger   the page of it all; needs the extra serve\n"
        "  aal golden validate YOUR_PACK   check a golden set of your own\n"
        "  The README's ten-minute path leads from here to your own data.\n"
    )


def main() -> None:
    """Run `python -m aal_engine.agent.demo`."""
    run_door(app, "python -m aal_engine.agent.demo")


if __name__ == "__main__":
    main()
