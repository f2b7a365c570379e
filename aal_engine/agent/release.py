"""`aal release`: put versions into service, roll them back, and say which one serves."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Literal, NoReturn

import typer

from aal_engine.agent.release_view import history, outcome_told, readings_told, serving_told
from aal_engine.agent.terminal import run as run_door
from aal_engine.agent.terminal import say, tell
from aal_engine.api.settings import secret
from aal_engine.canonical import JSON
from aal_engine.decide.release import AgentKey
from aal_engine.decide.serving import Serving
from aal_engine.errors import AalError, InputError, shown
from aal_engine.service import release as act
from aal_engine.service.book import Book
from aal_engine.service.clock import moment
from aal_engine.service.desk import NEED_A_PERSON
from aal_engine.service.notice import deliver
from aal_engine.service.reconcile import reconcile

PERSON_NEEDED = 6

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Put versions into service, roll them back, and say which one serves.",
)

Folder = Annotated[Path, typer.Option("--ledger", help="The ledger's folder.")]
PolicyFile = Annotated[Path, typer.Option("--policy", help="The policy, a YAML file.")]
Agent = Annotated[
    str | None, typer.Option(help="The agent; may be left out where the ledger knows one alone.")
]
Pack = Annotated[str | None, typer.Option(help="The pack, likewise.")]
Reason = Annotated[str, typer.Option(help="Why, in one line; it stands in the ledger.")]
DryRun = Annotated[
    bool, typer.Option("--dry-run", help="Say what would be done; do and record nothing.")
]
At = Annotated[str | None, typer.Option(help="Time to record, with a zone. Default: now.")]
Format = Annotated[Literal["text", "json"], typer.Option(help="How to tell the result.")]

PROMOTE = """Put a version that the gate released into service.

Refused without a released decision for every model family of the policy, for a version that is
quarantined, and while the agent is halted.

Exit codes: 0 the version serves, 2 refused, 3 the ledger, 6 the target does not show it.

Example:

  aal release promote 1.5.0 --policy gateway-policy.yaml
"""

ROLLBACK = """Roll the version that serves back to the one that served and passed before it.

The version is quarantined. Without a version to go back to the agent is halted, as the policy says.

Exit codes: 0 rolled back, 2 refused, 3 the ledger, 6 halted or not shown by the target.

Example:

  aal release rollback --policy gateway-policy.yaml --reason "answers in the wrong language"
"""

CHECK = """Finish what is under way, answer breaches, and hold what serves against the ledger.

What a process that died left half done is finished. A target that shows another version than the
ledger says, such as one that a desired state elsewhere put back, is told and recorded. Run it as
often as you like; the monitor does it by itself.

Exit codes: 0 all is as recorded, 3 the ledger, 6 a person is needed.

Example:

  aal release check --policy gateway-policy.yaml
"""

LIST = """List which version served when, oldest first.

Example:

  aal release list --format json
"""

SHOW = """Show which version serves, what is under way, quarantined or halted, and the way back.

Example:

  aal release show --agent support-desk
"""

QUARANTINE = """Keep a version from being put into service, until it is cleared.

One that serves already serves on: `aal release rollback` takes it out.

Example:

  aal release quarantine 1.5.0 --reason "its index was deleted"
"""

CLEAR = """Lift the quarantine of a version, or with --halt the halt of the agent.

This is the way out after a breach whose cause is mended outside the version.

Examples:

  aal release clear 1.5.0 --reason "the index was rebuilt"

  aal release clear --halt --reason "looked into it"
"""


@app.command(help=PROMOTE)
def promote(
    version: Annotated[str, typer.Argument(help="The version to serve.")],
    policy: PolicyFile,
    agent: Agent = None,
    pack: Pack = None,
    ledger: Folder = Path("ledger"),
    instead_of: Annotated[
        str | None, typer.Option(help="Only if this version serves at that moment.")
    ] = None,
    dry_run: DryRun = False,
    at: At = None,
    format: Format = "text",  # noqa: A002 the option's name
) -> None:
    """Put a version into service."""
    desk = act.open_desk(ledger, policy, secret, _clock(at))
    key = _key(desk.book, agent, pack)
    if dry_run:
        _end(act.planned(desk, key, version), format)
    outcome = act.promote(desk, key, version, instead_of=instead_of)
    _tell_notices(desk)
    _end(outcome, format, halted=desk.book.serving(key).halt is not None)


@app.command(help=ROLLBACK)
def rollback(
    policy: PolicyFile,
    reason: Reason,
    agent: Agent = None,
    pack: Pack = None,
    ledger: Folder = Path("ledger"),
    dry_run: DryRun = False,
    at: At = None,
    format: Format = "text",  # noqa: A002 the option's name
) -> None:
    """Roll back."""
    desk = act.open_desk(ledger, policy, secret, _clock(at))
    key = _key(desk.book, agent, pack)
    if dry_run:
        _end(act.planned(desk, key, None), format)
    outcome = act.rollback(desk, act.by_hand(desk.book.serving(key), reason, desk.clock()))
    _tell_notices(desk)
    _end(outcome, format, halted=desk.book.serving(key).halt is not None)


@app.command(help=CHECK)
def check(
    policy: PolicyFile,
    ledger: Folder = Path("ledger"),
    at: At = None,
    format: Format = "text",  # noqa: A002 the option's name
) -> None:
    """Finish, answer and compare."""
    desk = act.open_desk(ledger, policy, secret, _clock(at))
    outcomes = act.resume(desk)
    readings = reconcile(desk)
    _tell_notices(desk)
    told = readings_told(outcomes, readings)
    say(_json(told) if format == "json" else _lines(told["lines"]))
    halted = any(serving.halt is not None for serving in desk.book.replay().serving.values())
    ill = halted or any(each.ended in NEED_A_PERSON for each in outcomes)
    if ill or not all(reading.agrees for reading in readings):
        raise typer.Exit(PERSON_NEEDED)


@app.command("list", help=LIST)
def list_(
    agent: Agent = None,
    pack: Pack = None,
    ledger: Folder = Path("ledger"),
    format: Format = "text",  # noqa: A002 the option's name
) -> None:
    """List stints."""
    rows = [row for serving in _all(Book(ledger), agent, pack) for row in history(serving)]
    if format == "json":
        say("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows))
    elif rows:
        say("".join(_row(row) for row in rows))
    else:
        tell("no version was put into service yet")


@app.command(help=SHOW)
def show(
    agent: Agent = None,
    pack: Pack = None,
    ledger: Folder = Path("ledger"),
    format: Format = "text",  # noqa: A002 the option's name
) -> None:
    """Show what serves."""
    told = [serving_told(serving) for serving in _all(Book(ledger), agent, pack)]
    if format == "json":
        say(_json([facts for facts, _ in told]))
    elif told:
        say("\n".join(text for _, text in told))
    else:
        tell("the ledger holds no released version")


@app.command(help=QUARANTINE)
def quarantine(
    version: Annotated[str, typer.Argument(help="The version.")],
    reason: Reason,
    agent: Agent = None,
    pack: Pack = None,
    ledger: Folder = Path("ledger"),
    at: At = None,
) -> None:
    """Quarantine a version."""
    book = Book(ledger)
    key = _key(book, agent, pack)
    seq = act.quarantine(book, key, version, reason, _clock(at)())
    say(f"quarantined: {shown(version)} of {_named(key)} (ledger entry {seq})\n")
    if book.serving(key).version == version:
        tell("note: it serves on; what takes it out of service is: aal release rollback")


@app.command(help=CLEAR)
def clear(
    reason: Reason,
    version: Annotated[str | None, typer.Argument(help="The version.")] = None,
    halt: Annotated[bool, typer.Option("--halt", help="Lift the halt of the agent.")] = False,
    agent: Agent = None,
    pack: Pack = None,
    ledger: Folder = Path("ledger"),
    at: At = None,
) -> None:
    """Lift a quarantine or a halt."""
    if halt == (version is not None):
        raise InputError.at("name a version to clear, or pass --halt")
    book = Book(ledger)
    key = _key(book, agent, pack)
    seq = act.clear(book, key, version, reason, _clock(at)())
    what = "the halt" if version is None else shown(version)
    say(f"cleared: {what} of {_named(key)} (ledger entry {seq})\n")


def _tell_notices(desk: act.Desk) -> None:
    """Tell the notices that are due; what was done stands whether they can be told or not."""
    try:
        deliver(desk)
    except AalError as error:
        tell(f"note: notices are still to be told, by the next call: {error.message}")


def _clock(at: str | None) -> Callable[[], datetime]:
    if at is None:
        return lambda: datetime.now(UTC)
    fixed = moment(at)
    return lambda: fixed


def _all(book: Book, agent: str | None, pack: str | None) -> list[Serving]:
    return [
        serving
        for key, serving in sorted(book.replay().serving.items())
        if agent in (None, key.agent) and pack in (None, key.pack)
    ]


def _key(book: Book, agent: str | None, pack: str | None) -> AgentKey:
    found = _all(book, agent, pack)
    if len(found) == 1:
        return found[0].key
    if not found:
        raise InputError.at(
            "the ledger holds no released version of this agent and pack",
            way_out="gate one first: aal gate",
        )
    raise InputError.at(
        f"the ledger knows {len(found)} agents and packs: name one with --agent and --pack",
        way_out="; ".join(_named(serving.key) for serving in found[:5]),
    )


def _named(key: AgentKey) -> str:
    return f"{shown(key.agent)} on {shown(key.pack)}"


def _end(outcome: act.Outcome, format: str, *, halted: bool = False) -> NoReturn:  # noqa: A002
    facts, text = outcome_told(outcome)
    say(_json(facts) if format == "json" else text)
    raise typer.Exit(PERSON_NEEDED if halted or outcome.ended in NEED_A_PERSON else 0)


def _row(row: dict[str, JSON]) -> str:
    until = row["until"] or "now"
    return (
        f"{row['since']:>6}  {row['agent']} on {row['pack']}  {row['version'] or '-'}  "
        f"{row['by']}  {row['at']} to {until}\n"
    )


def _lines(lines: JSON) -> str:
    assert isinstance(lines, list)
    return "".join(f"{line}\n" for line in lines)


def _json(told: JSON) -> str:
    return json.dumps(told, indent=2, ensure_ascii=False) + "\n"


def main() -> None:
    """Run `python -m aal_engine.agent.release`."""
    run_door(app, "python -m aal_engine.agent.release")


if __name__ == "__main__":
    main()
