"""`aal explain`: which marker, point, claim or sentence decided a case's verdicts."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated, Literal

import typer

from aal_engine.agent.explain_view import described, told
from aal_engine.agent.terminal import run as run_door
from aal_engine.agent.terminal import say, tell
from aal_engine.service.explain import explain as act

app = typer.Typer(add_completion=False, rich_markup_mode=None)

HELP = """Show what decided each verdict on one case: markers, points, claims, sentences.

This is the one door that shows the text of answers: on a terminal, to you, from local files. It
writes nothing. In a pipe or a CI log it tells places and ids alone, unless --text is given.
Places are characters of the answer, from 0, the end not included.

\b
Examples:
  aal explain refund-017 --run run.jsonl --pack golden_sets/support
  aal explain refund-017 --run run.jsonl --format json --text
"""


@app.command(help=HELP)
def explain(
    case: Annotated[str, typer.Argument(help="Id of the case.", metavar="CASE")],
    run: Annotated[
        list[Path],
        typer.Option(help="What the agent retrieved and wrote, as `aal evaluate` reads it."),
    ],
    pack: Annotated[
        Path | None,
        typer.Option(
            help="Folder of the pack. Default: the one in ./golden_sets that has the case."
        ),
    ] = None,
    family: Annotated[
        str | None, typer.Option(help="Model family of rows that do not name one.")
    ] = None,
    text: Annotated[
        bool | None,
        typer.Option(
            "--text/--no-text", help="Show what the answer says. Default: only on a terminal."
        ),
    ] = None,
    format: Annotated[  # noqa: A002 the option's name
        Literal["text", "json"], typer.Option(help="How to tell it.")
    ] = "text",
) -> None:
    """Show what decided each verdict on one case."""
    attempts = act(case, run, pack=pack, family=family)
    shows = sys.stdout.isatty() if text is None else text
    if format == "json":
        value = {"case": case, "attempts": [described(each, text=shows) for each in attempts]}
        say(json.dumps(value, indent=2, ensure_ascii=False) + "\n")
        return
    say("\n".join("".join(line + "\n" for line in told(each, text=shows)) for each in attempts))
    if text is None and not shows:
        tell("note: not on a terminal, so places are told without their text; --text shows it")


def main() -> None:
    """Run `python -m aal_engine.agent.explain`."""
    run_door(app, "python -m aal_engine.agent.explain")


if __name__ == "__main__":
    main()
