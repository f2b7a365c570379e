"""`lighthouse evals run`: evaluate a pack and, if asked, gate what came of it, in one call."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from aal_engine.agent.evaluate import told
from aal_engine.agent.progress import Progress
from aal_engine.agent.terminal import coloured, say, tell
from aal_engine.agent.terminal import run as run_door
from aal_engine.errors import InputError
from aal_engine.service.clock import moment
from aal_engine.service.evaluate import evaluate
from aal_engine.service.gate import gate
from aal_engine.service.report.text import text

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Evaluations in your own deployment.",
)
evals = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="Evaluations.")
app.add_typer(evals, name="evals")


@evals.callback()
def group() -> None:
    """Run evaluations."""


RUN = """Score recorded outputs against a pack and, with --policy, gate the result.

Nothing leaves this machine: OUT holds records, tables and the decision, in numbers and names.

Exit codes: as the gate's; 0 without --policy.

\b
Example:
  lighthouse evals run --pack golden_sets/support --run run.jsonl --version 1.5.0 \\
    --out evals/1.5.0 --policy gateway-policy.yaml --baseline evals/1.4.0/decision.json
"""


@evals.command(help=RUN)
def run(
    pack: Annotated[Path, typer.Option(help="Folder of the pack, with its pack.yaml.")],
    run: Annotated[list[str], typer.Option(help="Recorded outputs; repeatable.")],
    version: Annotated[str, typer.Option(help="Version of the agent that made the run.")],
    out: Annotated[Path, typer.Option(help="Folder to write to; made if it is not there.")],
    policy: Annotated[Path | None, typer.Option(help="Gate the evaluation by this policy.")] = None,
    baseline: Annotated[
        list[Path] | None, typer.Option(help="The last released decision; see `aal gate`.")
    ] = None,
    ledger: Annotated[Path, typer.Option(help="Folder of the release ledger.")] = Path("ledger"),
    family: Annotated[
        str | None, typer.Option(help="Model family of rows that do not name one.")
    ] = None,
    at: Annotated[
        str | None, typer.Option(help="Time to record, with a zone. Default: now.")
    ] = None,
) -> None:
    """Score recorded outputs and gate the result."""
    if baseline and policy is None:
        raise InputError.at("--baseline is for the gate", way_out="pass --policy too")
    now = datetime.now(UTC) if at is None else moment(at)
    with Progress("scoring") as progress:
        done = evaluate(pack, run, out, version=version, now=now, family=family, watch=progress)
    for note in done.notes:
        tell(f"note: {note}")
    say(told(done))
    if policy is None:
        return
    current = list(done.files.values())
    gated = gate(current, baseline or [], policy, ledger, out / "decision.json", now=now)
    say("\n" + text(gated.decision, colour=coloured()))
    raise typer.Exit(0 if gated.decision.verdict == "released" else 1)


def main() -> None:
    """Run `lighthouse`."""
    run_door(app, "lighthouse")


if __name__ == "__main__":
    main()
