"""`lighthouse evals run`: evaluate a pack and, if asked, gate what came of it, in one call."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from aal_engine.agent.evaluate import as_json, told
from aal_engine.agent.live_view import told_estimate, told_totals
from aal_engine.agent.progress import Progress
from aal_engine.agent.terminal import coloured, say, tell
from aal_engine.agent.terminal import run as run_door
from aal_engine.api.settings import key
from aal_engine.errors import InputError, shown
from aal_engine.service.clock import moment
from aal_engine.service.evaluate import Evaluation, evaluate
from aal_engine.service.gate import gate
from aal_engine.service.report.text import text

if TYPE_CHECKING:
    from aal_engine.canonical import JSON
    from aal_engine.measure.origin import Identity
    from aal_engine.service.cost import Totals
    from aal_engine.service.live import Job

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


RUN = """Evaluate a pack against your own index and agent, and, with --policy, gate the result.

Every question is searched in --index, asked of --agent as each of --families with the passages
that were found, and scored. A run that was interrupted goes on where it stopped when the same
command is called again. --run scores recorded outputs instead.

OUT holds records, tables and the decision, in numbers and names. OUT/work holds your passages and
your agent's answers: it is your own, and nothing else has them.

Keys come from the environment variables that index.yaml and agent.yaml name.

Exit codes: as the gate's; 0 without --policy.

\b
Examples:
  lighthouse evals run --pack golden_sets/support --index index.yaml --agent agent.yaml \\
    --families claude,gpt --version 1.5.0 --out evals/1.5.0 --policy gateway-policy.yaml \\
    --baseline evals/1.4.0/decision.json
  lighthouse evals run --pack golden_sets/support --run run.jsonl --version 1.5.0 \\
    --out evals/1.5.0
"""


@evals.command(help=RUN)
def run(
    pack: Annotated[Path, typer.Option(help="Folder of the pack, with its pack.yaml.")],
    version: Annotated[str, typer.Option(help="Version of the agent that is evaluated.")],
    out: Annotated[Path, typer.Option(help="Folder to write to; made if it is not there.")],
    index: Annotated[
        str | None,
        typer.Option(
            help="Your index: passages in JSON Lines (searched by tantivy), module:attribute, "
            "a URL, or an index.yaml."
        ),
    ] = None,
    agent: Annotated[
        str | None, typer.Option(help="Your agent: an agent.yaml, or a recorded run.")
    ] = None,
    families: Annotated[
        list[str] | None,
        typer.Option(help="Model families to ask, by commas; repeatable. Default: all it names."),
    ] = None,
    run: Annotated[
        list[str] | None, typer.Option(help="Recorded outputs to score; repeatable.")
    ] = None,
    suite: Annotated[
        list[str] | None, typer.Option(help="Suite to evaluate; repeatable. Default: all.")
    ] = None,
    k: Annotated[int, typer.Option(help="Passages to retrieve for each question.")] = 10,
    attempts: Annotated[int, typer.Option(min=1, max=100, help="Times to ask each question.")] = 1,
    slot: Annotated[
        str | None,
        typer.Option(
            help="Name of this run among scheduled ones: results stand in OUT/SLOT, and a slot "
            "that is finished is not asked again."
        ),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what would be asked and what it may cost.")
    ] = False,
    restart: Annotated[
        bool, typer.Option("--restart", help="Ask everything anew, whatever is finished.")
    ] = False,
    retry_failed: Annotated[
        bool, typer.Option("--retry-failed", help="Ask again what ended in an error.")
    ] = False,
    policy: Annotated[Path | None, typer.Option(help="Gate the evaluation by this policy.")] = None,
    baseline: Annotated[
        list[Path] | None, typer.Option(help="The last released decision; see `aal gate`.")
    ] = None,
    ledger: Annotated[Path, typer.Option(help="Folder of the release ledger.")] = Path("ledger"),
    family: Annotated[
        str | None, typer.Option(help="Model family of recorded rows that do not name one.")
    ] = None,
    at: Annotated[
        str | None, typer.Option(help="Time to record, with a zone. Default: now.")
    ] = None,
    format: Annotated[  # noqa: A002 the option's name
        Literal["text", "json"], typer.Option(help="How to tell the result.")
    ] = "text",
) -> None:
    """Evaluate a pack and gate the result."""
    if baseline and policy is None:
        raise InputError.at("--baseline is for the gate", way_out="pass --policy too")
    if run and (index or agent or dry_run):
        raise InputError.at("--run is recorded already: there is nothing to search or to ask")
    now = datetime.now(UTC) if at is None else moment(at)
    place = out if slot is None else out / _slot(slot)
    asked = _Asked(list(run or ()), now)
    if not run:
        from aal_engine.service.live import Job

        named = tuple(name for part in families or () for name in part.split(",") if name)
        job = Job(pack, version, index, agent, named, tuple(suite or ()), k, attempts)
        if dry_run:
            _tell_estimate(job, place, format)
            return
        asked = _live(job, place, now, restart=restart, retry_failed=retry_failed)
    with Progress("scoring") as progress:
        done = evaluate(
            pack,
            asked.runs,
            place,
            version=version,
            now=asked.begun,
            suites=suite or (),
            family=family,
            index=asked.index,
            watch=progress,
        )
    for note in done.notes:
        tell(f"note: {note}")
    if format == "text":
        say(told(done) + told_totals(asked.totals))
    if policy is None:
        if format == "json":
            say(_json(done, asked.totals))
        return
    current = list(done.files.values())
    gated = gate(current, baseline or [], policy, ledger, place / "decision.json", now=now)
    if format == "json":
        say(_json(done, asked.totals, gated.decision.canonical()))
    else:
        say("\n" + text(gated.decision, colour=coloured()))
    raise typer.Exit(0 if gated.decision.verdict == "released" else 1)


@dataclass(frozen=True, slots=True)
class _Asked:
    """The run files to score, the time to record, and what a live run knows beside."""

    runs: list[str]
    begun: datetime
    index: Identity | None = None
    totals: Totals | None = None


def _slot(name: str) -> str:
    if not name.replace("-", "").replace("_", "").replace(":", "").replace(".", "").isalnum() or (
        name.startswith(".") or not name.isascii()
    ):
        raise InputError.at(
            f"{shown(name)} is no name of a slot",
            field="slot",
            way_out="letters, digits and - _ : . as in 2026-01-31T09:30Z",
        )
    return name


def _live(job: Job, place: Path, now: datetime, *, restart: bool, retry_failed: bool) -> _Asked:
    # Not at the top: scoring recorded outputs needs none of it.
    from aal_engine.service.cost import totals
    from aal_engine.service.live import live, plan

    with Progress("asking") as progress:
        done = live(
            plan(job),
            place,
            now=now,
            secret=key,
            restart=restart,
            retry_failed=retry_failed,
            watch=progress,
        )
    for note in done.notes:
        tell(f"note: {note}")
    if done.answered and not done.asked_now:
        tell("note: everything was asked before; nothing was asked now")
    spent = totals(done.answered) if done.answered else None
    return _Asked([str(done.run)], done.begun_at, done.index, spent)


def _tell_estimate(job: Job, place: Path, format: str) -> None:  # noqa: A002 the option's name
    from aal_engine.service.cost import estimate
    from aal_engine.service.live import plan

    found = estimate(plan(job), place, key)
    if format == "json":
        say(json.dumps({"estimate": found.canonical()}, indent=2, sort_keys=True) + "\n")
    else:
        say(told_estimate(found))


def _json(done: Evaluation, spent: Totals | None, decision: JSON = None) -> str:
    return (
        json.dumps(
            {
                **as_json(done),
                "totals": None if spent is None else spent.canonical(),
                "decision": decision,
            },
            indent=2,
            sort_keys=True,
            ensure_ascii=False,
        )
        + "\n"
    )


def main() -> None:
    """Run `lighthouse`."""
    run_door(app, "lighthouse")


if __name__ == "__main__":
    main()
