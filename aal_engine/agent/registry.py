"""`aal registry`: the registry's operator: database, agents, suites, runs, trust, treasury."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from aal_engine.agent.office import Database, Format, group, now, office_on, show_rows
from aal_engine.agent.registry_catalog import agent_app, run_app, suite_app
from aal_engine.agent.terminal import run as run_door
from aal_engine.agent.terminal import say, tell
from aal_engine.errors import Conflict

if TYPE_CHECKING:
    from aal_engine.registry.office import Office

WRONG = 3
"""What `audit` exits with where something is wrong."""


app = group("Keep the registry: agents, suites, runs, trust and treasury.")
app.add_typer(agent_app, name="agent")
app.add_typer(suite_app, name="suite")
app.add_typer(run_app, name="run")

INIT = """Make the registry's database, or bring it to this version; what it holds is kept.

Examples:

  aal registry init

  aal registry init --database postgresql://registry@db.internal/evals
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


@app.command(help=INIT)
def init(database: Database = None) -> None:
    """Prepare the database."""
    with office_on(database, prepare=True):
        say("ready: the registry's database has this version's schema\n")


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
    with office_on(database) as office:
        if edges is not None:
            count = admin.rate(office, read_ratings(edges), now=now())
            tell(f"{count} edges set")
        found = admin.standing_in_trust(office, weights, restart)
    ranked = sorted(
        zip(found.peers, found.scores.tolist(), strict=True), key=lambda p: (-p[1], p[0])
    )
    rows = [{"did": did, "trust": score} for did, score in ranked[:top]]
    show_rows(rows, lambda row: f"{row['trust']:.9f}  {row['did']}", as_json=format == "json")


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

    with office_on(database) as office:
        say(f"the treasury holds {admin.fund(office, key, units, now=now())} units\n")


@app.command(help=AUDIT)
def audit(database: Database = None) -> None:
    """Audit treasury and standings."""
    from aal_engine.registry import admin

    with office_on(database) as office:
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

    with office_on(database) as office:
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

    with office_on(database) as office:
        deleted = admin.prune(office, before=now() - timedelta(days=older_than_days))
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
    with office_on(database) as office:
        if not office.enabled:
            raise Conflict("evals are not enabled", way_out="set EVALS_ENABLED=true")
        done = asyncio.run(until_stopped(office))
    say(f"stopped: {done.recorded} exams recorded, {done.void} void, {done.stale} left to others\n")


def main() -> None:
    """Run `python -m aal_engine.agent.registry`."""
    run_door(app, "python -m aal_engine.agent.registry")


if __name__ == "__main__":
    main()
