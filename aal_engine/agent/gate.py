"""`aal gate`: turn an evaluation into one decision, recorded in the ledger."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from aal_engine.agent.terminal import coloured, say, tell
from aal_engine.agent.terminal import run as run_door
from aal_engine.api.settings import job_summary
from aal_engine.errors import InputError, file_name, shown
from aal_engine.service.clock import moment
from aal_engine.service.gate import Gated
from aal_engine.service.gate import gate as act
from aal_engine.service.report import REPORTS
from aal_engine.service.report import told as told_of
from aal_engine.service.report.text import text as as_text

app = typer.Typer(add_completion=False, rich_markup_mode=None)

HELP = """Turn an evaluation into one decision that a release can be held to.

Compares every metric with the last release, holds the two floors, asks for evidence of every model
family that the policy allows, appends the decision to the ledger and writes it to --record.

Exit codes: 0 released, 1 blocked, 2 the call or an input cannot be used, 3 the ledger is broken or
refused the decision.

\b
Examples:
  python -m aal_engine.agent.gate --current retrieval.json --current answers.json \\
    --baseline last-release.json --policy gateway-policy.yaml --record decision.json
\b
  aal gate --current answers.json --policy policy.yaml --record decision.json \\
    --format text --format markdown=gate.md --format junit=gate.xml
"""


@app.command(help=HELP)
def gate(
    current: Annotated[
        list[Path], typer.Option(help="Records of the version to release; repeatable.")
    ],
    policy: Annotated[Path, typer.Option(help="The policy, a YAML file.")],
    record: Annotated[Path, typer.Option(help="Where to write the decision.")],
    baseline: Annotated[
        list[Path] | None,
        typer.Option(
            help="The last released decision, or records of the released version scored again; "
            "repeatable. Left out for a first release."
        ),
    ] = None,
    ledger: Annotated[
        Path, typer.Option(help="Folder of the release ledger; made on first use.")
    ] = Path("ledger"),
    tables: Annotated[
        list[Path] | None,
        typer.Option(
            help="Folder with per-case tables, beside those next to the records; repeatable."
        ),
    ] = None,
    unchanged_cases: Annotated[
        bool,
        typer.Option(
            "--unchanged-cases",
            help="Where the golden set changed, compare on the cases that did not.",
        ),
    ] = False,
    dry_run: Annotated[
        bool,
        typer.Option("--dry-run", help="Decide and tell, but append nothing and write nothing."),
    ] = False,
    pending: Annotated[
        bool,
        typer.Option(
            "--pending",
            help="Append nothing: leave the decision in the ledger's pending folder, for a branch "
            "that must not append (see `aal ledger sequence`).",
        ),
    ] = False,
    at: Annotated[
        str | None, typer.Option(help="Time to record, with a zone. Default: now.")
    ] = None,
    format: Annotated[  # noqa: A002 the option's name
        list[str] | None,
        typer.Option(
            metavar="FORMAT[=FILE]",
            help="How to tell the decision: text, json, markdown, junit, html; with =FILE to a "
            "file, else to standard output. Repeatable. Default: text.",
        ),
    ] = None,
) -> None:
    """Turn an evaluation into one decision that a release can be held to."""
    told, reports = _formats(format or ["text"])
    gated = act(
        current,
        baseline or [],
        policy,
        ledger,
        record,
        now=datetime.now(UTC) if at is None else moment(at),
        tables=tables or [],
        reports=reports,
        unchanged_cases=unchanged_cases,
        dry_run=dry_run,
        pending=pending and not dry_run,
    )
    for name in told:
        if name != "text":
            say(told_of(name, gated.decision, gated.trend()))
        else:
            say(as_text(gated.decision, colour=coloured()))
            say(
                _pending(gated, record)
                if pending and not dry_run
                else _where(gated, record, ledger, dry_run=dry_run)
            )
    if not dry_run:
        _summarise(gated)
    raise typer.Exit(0 if gated.decision.verdict == "released" else 1)


def _formats(asked: list[str]) -> tuple[list[str], dict[str, Path]]:
    """Split the formats into those for standard output and those with a file."""
    told: list[str] = []
    files: dict[str, Path] = {}
    for item in asked:
        name, _, path = item.partition("=")
        if name not in REPORTS or (not path and "=" in item):
            raise InputError.at(
                f"{shown(item)} is no format",
                way_out="text, json, markdown, junit, html, or NAME=FILE",
            )
        if path and name in files:
            raise InputError.at(f"format {name} is given two files; give it one")
        if path:
            files[name] = Path(path)
        else:
            told.append(name)
    return told, files


def _pending(gated: Gated, record: Path) -> str:
    if gated.seq is not None:
        return f"The decision stands already in the ledger as entry {gated.seq}.\n"
    stands = "waits already" if gated.known else "waits"
    return f"The decision {stands} to be put into the ledger, and is in {file_name(record)}.\n"


def _where(gated: Gated, record: Path, ledger: Path, *, dry_run: bool) -> str:
    if dry_run:
        known = f" The decision stands already as entry {gated.seq}." if gated.known else ""
        return f"A dry run: nothing was appended to the ledger, and nothing written.{known}\n"
    stands = "stands already" if gated.known else "is"
    begun = f" A new ledger was begun in {file_name(ledger)}." if gated.started else ""
    return (
        f"The decision {stands} in the ledger as entry {gated.seq}, "
        f"and in {file_name(record)}.{begun}\n"
    )


def _summarise(gated: Gated) -> None:
    """Append the report to the CI job's summary, where there is one; it decides nothing."""
    path = job_summary()
    if path is None:
        return
    try:
        with path.open("a", encoding="utf-8") as summary:
            summary.write(REPORTS["markdown"](gated.decision))
    except OSError:
        tell("note: the job summary could not be written")


def main() -> None:
    """Run `python -m aal_engine.agent.gate`."""
    run_door(app, "python -m aal_engine.agent.gate")


if __name__ == "__main__":
    main()
