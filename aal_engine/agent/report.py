"""`aal report`: what the ledger says, as files."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from aal_engine.agent.progress import Progress
from aal_engine.agent.terminal import run as run_door
from aal_engine.agent.terminal import say
from aal_engine.errors import MissingExtra, file_name
from aal_engine.service.files import write_all
from aal_engine.service.results import Results

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Tell what the ledger says, as files.",
)

SITE = """Write the page 'Evaluations and releases' as files that open from disk.

They are what `aal serve` shows: agents, each metric's history, every decision, the ledger's state.
Nothing is fetched from elsewhere. Files of an earlier export are written over; others stay.

\b
Example:
  aal report site public/ --ledger ledger
"""


@app.callback()
def report() -> None:
    """Tell what the ledger says, as files."""


@app.command(help=SITE)
def site(
    folder: Annotated[Path, typer.Argument(help="Folder to write; made where it is missing.")],
    ledger: Annotated[Path, typer.Option(help="Folder of the release ledger.")] = Path("ledger"),
) -> None:
    """Write the page as files."""
    try:
        from aal_engine.api.site import site as files
    except ImportError:
        raise MissingExtra("the page", "serve") from None
    results = Results(ledger)
    head = results.head()
    with Progress("writing the page") as progress:
        progress.total(0 if head is None else head.size)
        count = write_all(folder, files(results), progress.seen)
    say(f"written: {count} files in {file_name(folder)}; open {file_name(folder)}/index.html\n")


def main() -> None:
    """Run `python -m aal_engine.agent.report`."""
    run_door(app, "python -m aal_engine.agent.report")


if __name__ == "__main__":
    main()
