"""`aal registry`: the registry's operator: database, agents, suites, runs, trust, treasury."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from aal_engine.agent.terminal import run as run_door
from aal_engine.agent.terminal import say, tell
from aal_engine.errors import Conflict, InputError, file_name

if TYPE_CHECKING:
    from aal_engine.registry.office import Office

WRONG = 3
"""What `audit` exits with where something is wrong."""


def _group(text: str) -> typer.Typer:
    return typer.Typer(add_completion=False, no_args_is_help=True, rich_markup_mode=None, help=text)


app = _group("Keep the registry: agents, suites, runs, trust and treasury.")
agent_app = _group("Register agents, and take them out of the suites' targets.")
suite_app = _group("Write suites from files, and list and remove them.")
run_app = _group("Queue a run by hand, and see how far one is.")
app.add_typer(agent_app, name="agent")
app.add_typer(suite_app, name="suite")
app.add_typer(run_app, name="run")

Database = Annotated[
    str | None,
    typer.Option(
        "--database",
        help="File or postgresql:// URL. Default: EVALS_DATABASE, else registry.db.",
    ),
]
Format = Annotated[Literal["text", "json"], typer.Option(help="How to tell the result.")]

INIT = """Make the registry's database, or bring it to this version; what it holds is kept.

Examples:

  aal registry init

  aal registry init --database postgresql://registry@db.internal/evals
"""

REGISTER = """Register an agent, or give a registered one another card; it is active after that.

Without a card it has no endpoint, and scores 0 on every task.

Example:

  aal registry agent register did:web:tutor.example --card agent-card.json
"""

PUT = """Create a suite, or update the one of the same key, from a JSON or YAML file.

The file holds the suite's fields, and under `tasks` exactly the tasks that it is to have. A new
suite is disabled unless the file says `enabled: true`.

Example:

  aal registry suite put http-basics.yaml
"""

NOW = """Queue a run of a suite for the runner, enabled or not, and print the run's id.

Evals must be enabled (EVALS_ENABLED=true); the runner is part of `aal serve`.

Example:

  aal registry run now http-basics
"""

RUNNER = """Run the runner by itself, until Ctrl-C or SIGTERM: examine what is due or asked for.

`aal serve` carries one; beside it, this is another, and one of all of them leads. Evals must be
enabled (EVALS_ENABLED=true). On PostgreSQL EVALS_FAN_OUT=true lets all of them examine at once.

Example:

  aal registry runner
"""

TRUST = """Compute EigenTrust over all edges as they are now, and print the most trusted.

The oracle did:theprotocol:eval-oracle speaks for the suites whose reputation signal is on. It is
pre-trusted unless you name others with --pretrusted, and then it moves nothing unless you name it
too. A file of --edges holds lines of `source,target,value`, which are set before.

Examples:

  aal registry trust --top 20

  aal registry trust --edges ratings.csv --pretrusted did:theprotocol:eval-oracle=1 \\
    --pretrusted did:web:founder.example=3
"""

FUND = """Put units into the treasury that pays rewards, once for each key.

Example:

  aal registry fund 10000 --key opening-2026
"""

AUDIT = f"""Hold the treasury against its transfers, and every standing against the results.

Exit code {WRONG} where something is wrong.

Example:

  aal registry audit
"""

REBUILD = """Make every standing what the results say, and tell what was wrong.

Example:

  aal registry rebuild
"""

PRUNE = """Delete results older than some days. The leaderboard keeps what they came to.

Example:

  aal registry prune --older-than-days 400
"""


@contextmanager
def _office(database: str | None, *, prepare: bool = False) -> Iterator[Office]:
    from aal_engine.api import settings
    from aal_engine.registry.office import open_office

    office = open_office(
        database or settings.evals_database(), enabled=settings.evals_enabled(), prepare=prepare
    )
    try:
        yield office
    finally:
        office.close()


def _now() -> datetime:
    return datetime.now(UTC)


def _show(rows: list[dict[str, Any]], format: str, line: Callable[[dict[str, Any]], str]) -> None:  # noqa: A002
    if format == "json":
        say(json.dumps(rows, indent=2, ensure_ascii=False) + "\n")
    elif rows:
        say("".join(line(row) + "\n" for row in rows))
    else:
        tell("none")


@app.command(help=INIT)
def init(database: Database = None) -> None:
    """Prepare the database."""
    with _office(database, prepare=True):
        say("ready: the registry's database has this version's schema\n")


@agent_app.command("register", help=REGISTER)
def register(
    did: Annotated[str, typer.Argument(help="The agent's DID.")],
    card: Annotated[Path | None, typer.Option(help="File of its agent card (JSON).")] = None,
    home: Annotated[
        str | None, typer.Option(help="Registry that it is mirrored from; it is never examined.")
    ] = None,
    database: Database = None,
) -> None:
    """Register an agent."""
    from aal_engine.registry import admin
    from aal_engine.service.document import read_object

    document = None if card is None else read_object(card)
    with _office(database) as office:
        admin.register(office, did, document, home=home, now=_now())
    say(f"registered: {did}\n")


@agent_app.command("deactivate")
def deactivate(
    did: Annotated[str, typer.Argument(help="The agent's DID.")], database: Database = None
) -> None:
    """Take an agent out of all targets; its record stays."""
    from aal_engine.registry import admin

    with _office(database) as office:
        admin.deactivate(office, did)
    say(f"deactivated: {did}\n")


@agent_app.command("list")
def agents(
    database: Database = None,
    after: Annotated[str, typer.Option(help="Show those after this DID.")] = "",
    limit: Annotated[int, typer.Option(min=1, max=10_000)] = 1_000,
    format: Format = "text",  # noqa: A002 the option's name
) -> None:
    """List registered agents by DID."""
    from aal_engine.registry import admin

    with _office(database) as office:
        rows = [asdict(each) for each in admin.agents(office, after=after, limit=limit)]
    _show(rows, format, _agent_line)


def _agent_line(row: dict[str, Any]) -> str:
    state = "active" if row["active"] else "inactive"
    card = "" if row["card"] is not None else "  no card"
    return f"{row['did']}  {state}{card}" + (f"  mirror of {row['home']}" if row["home"] else "")


@suite_app.command("put", help=PUT)
def put(
    file: Annotated[Path, typer.Argument(help="The suite, in JSON or YAML.")],
    database: Database = None,
) -> None:
    """Create or update a suite."""
    from aal_engine.registry import admin
    from aal_engine.service.document import read_object

    fields = read_object(file)
    tasks = fields.pop("tasks", None)
    if tasks is not None and not (
        isinstance(tasks, list) and all(isinstance(each, dict) for each in tasks)
    ):
        raise InputError.at("not a list of tasks", file=file_name(file), field="tasks")
    with _office(database) as office:
        row = admin.put_suite(office, fields, tasks=tasks, now=_now())
    say(f"{_suite_line(row)}\n")


@suite_app.command("list")
def suites(
    database: Database = None,
    format: Format = "text",  # noqa: A002 the option's name
) -> None:
    """List every suite, enabled or not, with its tasks' count and its next scheduled run."""
    from aal_engine.registry import admin

    with _office(database) as office:
        _show(admin.suites(office, now=_now()), format, _suite_line)


def _suite_line(row: dict[str, Any]) -> str:
    state = "enabled" if row["enabled"] else "disabled"
    return (
        f"{row['key']}  {state}  tasks {row['tasks']}  next run {row['next_run_at'] or 'by hand'}"
    )


@suite_app.command("remove")
def remove(
    key: Annotated[str, typer.Argument(help="The suite's key.")], database: Database = None
) -> None:
    """Remove a suite and its tasks; its results stay on the record."""
    from aal_engine.registry import admin

    with _office(database) as office:
        admin.remove_suite(office, admin.suite_number(office, key), now=_now())
    say("removed\n")


@run_app.command("now", help=NOW)
def run_now(
    key: Annotated[str, typer.Argument(help="The suite's key.")], database: Database = None
) -> None:
    """Queue a run."""
    from aal_engine.registry import admin

    with _office(database) as office:
        say(admin.run_now(office, admin.suite_number(office, key), now=_now()) + "\n")


@run_app.command("show")
def show(
    run_id: Annotated[str, typer.Argument(help="The run's id.")], database: Database = None
) -> None:
    """Show how far a run is, in JSON."""
    from aal_engine.registry import admin

    with _office(database) as office:
        say(json.dumps(admin.run_state(office, run_id), indent=2) + "\n")


@app.command(help=TRUST)
def trust(
    database: Database = None,
    edges: Annotated[Path | None, typer.Option(help="Edges to set before.")] = None,
    pretrusted: Annotated[
        list[str] | None, typer.Option(help="DID=WEIGHT; repeatable. Default: the oracle alone.")
    ] = None,
    restart: Annotated[float, typer.Option(help="Share of trust from the pre-trusted.")] = 0.15,
    top: Annotated[int, typer.Option(min=1, help="Print so many.")] = 10,
    format: Format = "text",  # noqa: A002 the option's name
) -> None:
    """Compute EigenTrust."""
    from aal_engine.registry import admin
    from aal_engine.registry.trust import PRETRUSTED
    from aal_engine.service.ratings import read_ratings

    weights = dict(map(_weight, pretrusted)) if pretrusted else PRETRUSTED
    with _office(database) as office:
        if edges is not None:
            count = admin.rate(office, read_ratings(edges), now=_now())
            tell(f"{count} edges set")
        found = admin.standing_in_trust(office, weights, restart)
    ranked = sorted(
        zip(found.peers, found.scores.tolist(), strict=True), key=lambda p: (-p[1], p[0])
    )
    rows = [{"did": did, "trust": score} for did, score in ranked[:top]]
    _show(rows, format, lambda row: f"{row['trust']:.9f}  {row['did']}")


def _weight(text: str) -> tuple[str, float]:
    did, separator, weight = text.rpartition("=")
    try:
        return did, float(weight) if separator else float("nan")
    except ValueError:
        raise typer.BadParameter("write --pretrusted DID=WEIGHT") from None


@app.command(help=FUND)
def fund(
    units: Annotated[int, typer.Argument(help="Whole units.")],
    key: Annotated[str, typer.Option(help="Name of this transfer; a second one moves nothing.")],
    database: Database = None,
) -> None:
    """Fund the treasury."""
    from aal_engine.registry import admin

    with _office(database) as office:
        say(f"the treasury holds {admin.fund(office, key, units, now=_now())} units\n")


@app.command(help=AUDIT)
def audit(database: Database = None) -> None:
    """Audit treasury and standings."""
    from aal_engine.registry import admin

    with _office(database) as office:
        wrong = admin.audit(office)
    for each in wrong:
        say(each + "\n")
    if wrong:
        raise typer.Exit(WRONG)
    say("sound: the accounts add up to 0 and follow from their transfers, standings from results\n")


@app.command(help=REBUILD)
def rebuild(database: Database = None) -> None:
    """Rebuild standings."""
    from aal_engine.registry import admin

    with _office(database) as office:
        wrong = admin.rebuild(office)
    for each in wrong:
        say(f"mended: {each}\n")
    if not wrong:
        say("every standing was what the results say\n")


@app.command(help=PRUNE)
def prune(
    older_than_days: Annotated[int, typer.Option(min=1, max=36_500, help="Keep so many days.")],
    database: Database = None,
) -> None:
    """Delete old results."""
    from aal_engine.registry import admin

    with _office(database) as office:
        deleted = admin.prune(office, before=_now() - timedelta(days=older_than_days))
    say(f"deleted {deleted} results; standings are as they were\n")


@app.command(help=RUNNER)
def runner(database: Database = None) -> None:
    """Run the runner."""
    import asyncio
    import logging
    import signal

    from aal_engine.api.pace import pace
    from aal_engine.registry.runner import Tally, serve

    async def until_stopped(office: Office) -> Tally:
        stop = asyncio.Event()
        for number in (signal.SIGINT, signal.SIGTERM):
            asyncio.get_running_loop().add_signal_handler(number, stop.set)
        return await serve(office, pace(), stop=stop)

    logging.basicConfig(format="%(asctime)s %(message)s")
    logging.getLogger("aal_engine.registry").setLevel(logging.INFO)
    with _office(database) as office:
        if not office.enabled:
            raise Conflict("evals are not enabled", way_out="set EVALS_ENABLED=true")
        done = asyncio.run(until_stopped(office))
    say(f"stopped: {done.recorded} exams recorded, {done.void} void, {done.stale} left to others\n")


def main() -> None:
    """Run `python -m aal_engine.agent.registry`."""
    run_door(app, "python -m aal_engine.agent.registry")


if __name__ == "__main__":
    main()
