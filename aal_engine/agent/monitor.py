"""`aal monitor`: watch the outputs of an agent in service, and roll back a version in breach."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Literal

import typer

from aal_engine.agent.terminal import run as run_door
from aal_engine.agent.terminal import say, tell, told_to_stop
from aal_engine.api.settings import secret
from aal_engine.errors import InputError, shown
from aal_engine.service.monitor import OnlineMonitor
from aal_engine.service.watch import open_monitor, status, watch

app = typer.Typer(add_completion=False, rich_markup_mode=None)

HELP = """Watch the outputs of an agent in service.

Draws a sample as the policy says, checks each output drawn in code (citations of passages that were
never retrieved, the pack's stop rules), records a breach in the ledger and rolls back to the last
version that passed. Reads a log file with its rotated siblings, a folder of logs, or - for standard
input; --state holds how far it was read and what was counted: numbers and names, never a text.

Exit codes: 0 no check is in breach, 1 one is, or was and its version was rolled back, 2 the call or an
input cannot be used, 3 the ledger cannot be used.

\b
Examples:
  aal monitor logs/outputs.jsonl --pack golden_sets/support --policy gateway-policy.yaml --follow
\b
  aal monitor outputs.jsonl --pack golden_sets/support --policy gateway-policy.yaml --once --dry-run
"""


@app.command(help=HELP)
def monitor(
    outputs: Annotated[Path, typer.Argument(help="Log file, folder of logs, or -.")],
    pack: Annotated[Path, typer.Option(help="Folder of the pack, with its pack.yaml.")],
    policy: Annotated[Path, typer.Option(help="The policy, a YAML file.")],
    ledger: Annotated[Path, typer.Option(help="Folder of the release ledger.")] = Path("ledger"),
    state: Annotated[
        Path, typer.Option(help="Folder of the monitor's memory; made on first use.")
    ] = Path("monitor"),
    once: Annotated[
        bool, typer.Option("--once/--follow", help="Read to the end and stop, or go on for good.")
    ] = False,
    dry_run: Annotated[
        bool,
        typer.Option(
            "--dry-run", help="Check and tell, but keep and record nothing and roll nothing back."
        ),
    ] = False,
    format: Annotated[  # noqa: A002 the option's name
        Literal["text", "json"], typer.Option(help="How to tell what stands at the end.")
    ] = "text",
) -> None:
    """Watch the outputs of an agent in service."""
    if str(outputs) == "-" and not once:
        raise InputError.at("standard input has an end", way_out="pass --once with -")
    opened = open_monitor(
        pack,
        policy,
        ledger=None if dry_run else ledger,
        state=None if dry_run else state,
        secrets=secret,
        tell=_log,
    )
    with told_to_stop() as stop, opened as watched:
        watch(watched, outputs, stop, once=once)
        say(json.dumps(status(watched)) + "\n" if format == "json" else _text(watched))
        broken = any(reading.state == "breach" for reading in watched.readings())
    # A version that was rolled back is watched no more, and what it broke is still to be told.
    raise typer.Exit(int(broken or watched.broke))


def _log(line: str) -> None:
    tell(f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ} {line}")


def _text(watched: OnlineMonitor) -> str:
    totals = watched.totals
    head = (
        f"{shown(watched.key.agent)} on {shown(watched.key.pack)}: {totals.lines} lines, "
        f"{totals.drawn} drawn and checked, {totals.duplicates} counted before, "
        f"{totals.late} late, {totals.foreign} of others, {totals.unreadable} unreadable"
    )
    lines = [head]
    for reading in watched.readings():
        low, high = reading.interval
        rate = (
            "" if reading.estimate is None else f"  {reading.estimate:.4f} [{low:.4f}, {high:.4f}]"
        )
        allowed = "floor" if reading.allowed is None else f"allowed {reading.allowed:g}"
        evidence = "" if reading.e_value is None else f", e-value {reading.e_value:.3g}"
        lines.append(
            f"  {reading.state.replace('_', ' '):<12}  {shown(reading.version)}  "
            f"{shown(reading.check)}  {reading.hits} of {reading.measured}{rate}  "
            f"({allowed}{evidence}; {reading.unmeasured} not measured)"
        )
    return "\n".join(lines) + "\n"


def main() -> None:
    """Run `python -m aal_engine.agent.monitor`."""
    run_door(app, "python -m aal_engine.agent.monitor")


if __name__ == "__main__":
    main()
