"""`aal schedule`: run the golden set again against the version in service, as the policy says."""

from __future__ import annotations

import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Annotated, Literal

import typer

from aal_engine.agent.terminal import run as run_door
from aal_engine.agent.terminal import say, tell, told_to_stop
from aal_engine.api.settings import key, secret
from aal_engine.errors import InputError, shown
from aal_engine.service.rerun import Source
from aal_engine.service.schedule import Step, open_schedule, timetable_of
from aal_engine.service.unit import UNITS

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Run the golden set again against the version in service, as the policy's schedule says.",
)

Pack = Annotated[Path, typer.Option(help="Folder of the pack, with its pack.yaml.")]
Policy = Annotated[Path, typer.Option(help="The policy, with its schedule.")]
Ledger = Annotated[Path, typer.Option(help="Folder of the release ledger.")]
Out = Annotated[Path, typer.Option(help="Folder with a folder of results for each slot.")]
State = Annotated[Path, typer.Option(help="Folder that holds which slots were run.")]
Index = Annotated[str | None, typer.Option(help="Your index, as `lighthouse evals run` has it.")]
Agent = Annotated[str | None, typer.Option(help="Your agent, as `lighthouse evals run` has it.")]
Families = Annotated[
    list[str] | None, typer.Option(help="Model families to ask, by commas; repeatable.")
]
Runs = Annotated[
    list[str] | None, typer.Option("--run", help="Outputs recorded anew for each run; repeatable.")
]
K = Annotated[int, typer.Option(min=1, max=1000, help="Passages to retrieve for each question.")]

RUN = """Run each slot of the policy's schedule, until Ctrl-C or SIGTERM; with --once what is due now.

The version in service is evaluated, and every metric held against its own release with the gate's
tolerance. A floor that breaks or a metric that fell is a breach: it goes to the ledger, and the last
version that passed is put back. What cannot be measured is alarmed, and rolls nothing back. A slot is
run once; of several that were missed the latest is; while one runs, no other starts.

Exit codes: 0 nothing is in breach, 1 --once found a breach, 2 the call or an input cannot be used or
the run failed, 3 the ledger cannot be used.

\b
Example:
  aal schedule run --pack golden_sets/support --policy gateway-policy.yaml \\
    --index index.yaml --agent agent.yaml
"""


NEXT = """Tell the next slots of the policy's schedule.

Example:

  aal schedule next --policy gateway-policy.yaml
"""

PRINT = """Print what runs this schedule by cron, systemd or Kubernetes; nothing is installed.

Example:

  aal schedule units systemd --pack golden_sets/support --policy gateway-policy.yaml
"""


@app.command(help=RUN)
def run(
    pack: Pack,
    policy: Policy,
    ledger: Ledger = Path("ledger"),
    index: Index = None,
    agent: Agent = None,
    families: Families = None,
    recorded: Runs = None,
    k: K = 10,
    out: Out = Path("evals/scheduled"),
    state: State = Path("schedule"),
    once: Annotated[bool, typer.Option("--once", help="Run what is due, and stop.")] = False,
) -> None:
    """Run each slot of the policy's schedule."""
    source = _source(index, agent, families, recorded, k)
    opened = open_schedule(
        pack,
        policy,
        source,
        ledger=ledger,
        out=out,
        state=state,
        keys=key,
        secrets=secret,
        tell=_log,
    )
    with told_to_stop() as stop, opened as schedule:
        if not once:
            for step in schedule.run(stop):
                say(_told(step))
            return
        step = schedule.step()
        say(_told(step))
    broke = step.rerun is not None and step.rerun.broke
    raise typer.Exit(2 if step.state == "failed" else int(broke))


@app.command("next", help=NEXT)
def upcoming(
    policy: Policy,
    count: Annotated[int, typer.Option(min=1, max=1000, help="How many slots to tell.")] = 5,
) -> None:
    """Tell the next slots of the policy's schedule."""
    timetable, slots = timetable_of(policy, "")
    say(f"{timetable.cron} in {timetable.zone}\n")
    for slot in slots.after(datetime.now(UTC), count):
        say(f"  {slot:%Y-%m-%dT%H:%M:%SZ}\n")
    if timetable.jitter > timedelta(0):
        say(
            f"  each up to {timetable.jitter.total_seconds() / 60:g} minutes later, by the pack's name\n"
        )


@app.command(help=PRINT)
def units(
    kind: Annotated[Literal["cron", "systemd", "kubernetes"], typer.Argument(help="Which one.")],
    pack: Pack,
    policy: Policy,
    ledger: Ledger = Path("ledger"),
    index: Index = None,
    agent: Agent = None,
    families: Families = None,
    recorded: Runs = None,
    k: K = 10,
    out: Out = Path("evals/scheduled"),
    state: State = Path("schedule"),
) -> None:
    """Print what runs this schedule by cron, systemd or Kubernetes; nothing is installed."""
    _source(index, agent, families, recorded, k)
    timetable, _ = timetable_of(policy, "")
    words = [*_program(), "schedule", "run", "--once"]
    named = {"pack": pack, "policy": policy, "ledger": ledger, "index": index, "agent": agent,
             "out": out, "state": state, "k": k}  # fmt: skip
    for name, value in named.items():
        words += [] if value is None else [f"--{name}", str(value)]
    for name, values in (("families", families), ("run", recorded)):
        words += [word for value in values or () for word in (f"--{name}", value)]
    say(UNITS[kind](words, timetable, Path.cwd()))


def _program() -> list[str]:
    here = Path(sys.executable).with_name("aal")
    return [str(here)] if here.exists() else [sys.executable, "-m", "aal_engine.agent.cli"]


def _source(
    index: str | None,
    agent: str | None,
    families: list[str] | None,
    recorded: list[str] | None,
    k: int,
) -> Source:
    if bool(recorded) == bool(index or agent):
        raise InputError.at("pass --index and --agent, or --run", way_out="see --help")
    named = tuple(name for part in families or () for name in part.split(",") if name)
    return Source(index, agent, named, tuple(recorded or ()), k)


def _log(line: str) -> None:
    tell(f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ} {line}")


def _told(step: Step) -> str:
    if step.slot is None:
        return "nothing is due\n"
    slot = f"slot {step.slot:%Y-%m-%dT%H:%MZ}"
    if step.rerun is None:
        return f"{slot}: {'another process runs it' if step.state == 'overlap' else 'failed'}\n"
    left = f", {step.skipped} before it left out" if step.skipped else ""
    head = f"{slot}{left}: version {shown(step.rerun.version)}, {len(step.rerun.records)} records"
    lines = [head + ("" if step.rerun.answered else ": as at its release")]
    for incident, outcome in step.rerun.answered:
        ended = "not measured" if outcome is None else outcome.ended.replace("_", " ")
        seen = (
            incident.reason
            if incident.value is None
            else f"{incident.value:.4f}, limit {incident.limit:.4f}"
        )
        lines.append(f"  {shown(incident.check)}: {seen}: {ended}")
    return "\n".join(lines) + "\n"


def main() -> None:
    """Run `python -m aal_engine.agent.schedule`."""
    run_door(app, "python -m aal_engine.agent.schedule")


if __name__ == "__main__":
    main()
