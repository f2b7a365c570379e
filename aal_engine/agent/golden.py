"""`aal golden`: validate, lint, show, import and compare golden sets."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from aal_engine.agent import golden_import
from aal_engine.agent.golden_view import compared, described, heading, inspected, lines, linted
from aal_engine.agent.terminal import run as run_door
from aal_engine.agent.terminal import say, tell
from aal_engine.errors import MAX_FAULTS_SHOWN, InputError
from aal_engine.service.golden import Inspected, difference, inspect_packs, open_pack

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Validate, lint, show, import and compare golden sets.",
)
app.add_typer(golden_import.app, name="import")

Format = Annotated[Literal["text", "json"], typer.Option(help="How to tell the result.")]
Packs = Annotated[list[Path], typer.Argument(help="Folders of packs.", metavar="PACK...")]

VALIDATE = """Check packs and report everything that is wrong, by file, line, case and field.

Exits with 0 if every pack can be used, warnings or not, and with 2 if one cannot.

\b
Example:
  aal golden validate golden_sets/*
"""

LINT = """Warn of what keeps a valid pack from telling a good agent from a bad one.

Points that the question itself meets, claims that the required points make, points that no passage
of the corpus has, documents that the corpus lacks, questions asked twice, a language without
tables, ids that answers cannot cite, and sets too small for the tolerance.

Exits with 0, warnings or not; with --strict, 1 if there is one. A pack that is not valid exits
with 2.

\b
Example:
  aal golden lint golden_sets/handbook --strict
"""

SHOW = """Show what a pack holds: its suites, counts, slices and digests, and the ids of its cases.

\b
Example:
  aal golden show golden_sets/handbook
"""

DIFF = """Say which cases were added, removed and changed from one pack to another.

\b
Example:
  aal golden diff old/handbook golden_sets/handbook --format json
"""


@app.command(help=VALIDATE)
def validate(packs: Packs, format: Format = "text") -> None:  # noqa: A002 the option's name
    """Check packs and report everything that is wrong."""
    found = inspect_packs(packs)
    if format == "json":
        say(_json([inspected(number, one) for number, one in enumerate(found, start=1)]))
    else:
        for number, one in enumerate(found, start=1):
            _tell_inspected(_name(number, one), one)
    if any(one.faults for one in found):
        raise typer.Exit(2)


@app.command(help=LINT)
def lint(
    pack: Annotated[Path, typer.Argument(help="Folder of a pack.")],
    corpus: Annotated[
        Path | None,
        typer.Option(
            help="The passages that answers can come from, as JSON Lines with an id and a text. "
            "Default: corpus.jsonl of the pack's folder, if it is there."
        ),
    ] = None,
    tolerance: Annotated[
        float, typer.Option(help="How far a metric may fall between releases.", min=0.001, max=1)
    ] = 0.05,
    strict: Annotated[bool, typer.Option("--strict", help="Exit with 1 on any warning.")] = False,
    format: Format = "text",  # noqa: A002 the option's name
) -> None:
    """Warn of what keeps a valid pack from telling a good agent from a bad one."""
    # Not at the top: no other command needs the rules of answers.
    from aal_engine.service.lint import lint as lint_pack

    found = lint_pack(pack, corpus=corpus, tolerance=tolerance)
    if format == "json":
        say(_json(linted(found)))
    else:
        for doubt in found.warnings:
            tell(f"warning: {doubt}")
        looked = "no corpus" if found.passages is None else f"{found.passages} passages"
        say(f"pack {found.pack}: {found.cases} cases, {looked}, {len(found.warnings)} warnings\n")
    if strict and found.warnings:
        raise typer.Exit(1)


@app.command(help=SHOW)
def show(
    pack: Annotated[Path, typer.Argument(help="Folder of a pack.")],
    text: Annotated[
        bool, typer.Option("--text", help="Print the questions too; on a terminal only.")
    ] = False,
    format: Format = "text",  # noqa: A002 the option's name
) -> None:
    """Show what a pack holds."""
    if text and not (sys.stdout.isatty() and format == "text"):
        raise InputError.at(
            "--text prints questions, which do not go into files or pipes",
            way_out="run it on a terminal, with --format text",
        )
    declared, sets = open_pack(pack)
    if format == "json":
        say(_json(described(declared, sets)))
        return
    told = [heading(declared), *(line for one in sets for line in lines(one, text))]
    say("".join(line + "\n" for line in told))


@app.command(help=DIFF)
def diff(
    before: Annotated[Path, typer.Argument(help="Folder of the older pack.")],
    after: Annotated[Path, typer.Argument(help="Folder of the newer pack.")],
    format: Format = "text",  # noqa: A002 the option's name
) -> None:
    """Say which cases were added, removed and changed."""
    found = difference(before, after)
    if format == "json":
        say(_json({one.suite: compared(one) for one in found}))
        return
    for one in found:
        say(
            f"suite {one.suite}: {len(one.added)} added, {len(one.removed)} removed, "
            f"{len(one.changed)} changed, {one.same} the same\n"
        )
        cases = [f"  + {case}" for case in one.added]
        cases += [f"  - {case}" for case in one.removed]
        cases += [f"  ~ {change.case}: {', '.join(change.fields)}" for change in one.changed]
        say("".join(line + "\n" for line in cases))


def _name(number: int, one: Inspected) -> str:
    return f"pack {number}" if one.pack is None else f"pack {one.pack.name}"


def _tell_inspected(name: str, one: Inspected) -> None:
    for fault in one.faults[:MAX_FAULTS_SHOWN]:
        tell(f"error: {name}: {fault}")
    for doubt in one.warnings[:MAX_FAULTS_SHOWN]:
        tell(f"warning: {name}: {doubt}")
    hidden = [
        f"{len(listed) - MAX_FAULTS_SHOWN} more {what}"
        for what, listed in (("errors", one.faults), ("warnings", one.warnings))
        if len(listed) > MAX_FAULTS_SHOWN
    ]
    if hidden:
        tell(f"{name}: {' and '.join(hidden)}; --format json tells them all")
    sets = ", ".join(f"{suite} {len(golden.cases)}" for suite, golden in one.sets.items())
    say(f"{name}: {'cannot be used' if one.faults else f'valid; cases of its suites: {sets}'}\n")


def _json(value: Any) -> str:
    return json.dumps(value, indent=2, sort_keys=True, ensure_ascii=False) + "\n"


def main() -> None:
    """Run `python -m aal_engine.agent.golden`."""
    run_door(app, "python -m aal_engine.agent.golden")


if __name__ == "__main__":
    main()
