"""`aal registry agent|suite|run`: who is examined, by what, and how far a run is."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from aal_engine.agent.office import Database, Format, group, now, office_on, show_rows
from aal_engine.agent.terminal import say
from aal_engine.errors import InputError, file_name

agent_app = group("Register agents, and take them out of the suites' targets.")
suite_app = group("Write suites from files, and list and remove them.")
run_app = group("Queue a run by hand, and see how far one is.")

REGISTER = """Register an agent, or give a registered one another card; it is active after that.

Without a card it has no endpoint, and scores 0 on every task. --fetch takes the card from
/.well-known/agent-card.json of a place, as carefully as agents are examined.

Examples:

  aal registry agent register did:web:tutor.example --card agent-card.json

  aal registry agent register did:web:tutor.example --fetch https://tutor.example
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


DEACTIVATE = """Take an agent out of all targets; its record stays.

Example:

  aal registry agent deactivate did:web:tutor.example
"""

AGENTS = """List registered agents by DID.

Example:

  aal registry agent list --format json
"""

SUITES = """List every suite, enabled or not, with its tasks' count and its next scheduled run.

Example:

  aal registry suite list --format json
"""

REMOVE = """Remove a suite and its tasks; its results stay on the record.

Example:

  aal registry suite remove http-basics
"""

STATE = """Show how far a run is: its exams, one an agent, and what became of its rewards.

Example:

  aal registry run show RUN_ID --format json
"""


@agent_app.command("register", help=REGISTER)
def register(
    did: Annotated[str, typer.Argument(help="The agent's DID.")],
    card: Annotated[Path | None, typer.Option(help="File of its agent card (JSON).")] = None,
    fetch: Annotated[
        str | None, typer.Option(metavar="URL", help="Place that serves its agent card.")
    ] = None,
    home: Annotated[
        str | None, typer.Option(help="Registry that it is mirrored from; it is never examined.")
    ] = None,
    database: Database = None,
) -> None:
    """Register an agent."""
    from aal_engine.registry import admin
    from aal_engine.service.document import read_object

    if card is not None and fetch is not None:
        raise InputError.at("give --card or --fetch, not both", field="--fetch")
    document = None if card is None else read_object(card)
    with office_on(database) as office:
        if fetch is not None:
            document = _fetched(fetch)
        admin.register(office, did, document, home=home, now=now())
    say(f"registered: {did}\n")


def _fetched(place: str) -> Any:
    import asyncio

    from aal_engine.api.pace import pace
    from aal_engine.registry.fetch import fetch_card

    return asyncio.run(fetch_card(place, pace().limits))


@agent_app.command("deactivate", help=DEACTIVATE)
def deactivate(
    did: Annotated[str, typer.Argument(help="The agent's DID.")], database: Database = None
) -> None:
    """Take an agent out of all targets; its record stays."""
    from aal_engine.registry import admin

    with office_on(database) as office:
        admin.deactivate(office, did)
    say(f"deactivated: {did}\n")


@agent_app.command("list", help=AGENTS)
def agents(
    database: Database = None,
    after: Annotated[str, typer.Option(help="Show those after this DID.")] = "",
    limit: Annotated[int, typer.Option(min=1, max=10_000, help="The most agents to list.")] = 1_000,
    format: Format = "text",  # noqa: A002 the option's name
) -> None:
    """List registered agents by DID."""
    from aal_engine.registry import admin

    with office_on(database) as office:
        rows = [asdict(each) for each in admin.agents(office, after=after, limit=limit)]
    show_rows(rows, _agent_line, as_json=format == "json")


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
    with office_on(database) as office:
        row = admin.put_suite(office, fields, tasks=tasks, now=now())
    say(f"{_suite_line(row)}\n")


@suite_app.command("list", help=SUITES)
def suites(
    database: Database = None,
    format: Format = "text",  # noqa: A002 the option's name
) -> None:
    """List every suite, enabled or not, with its tasks' count and its next scheduled run."""
    from aal_engine.registry import admin

    with office_on(database) as office:
        show_rows(admin.suites(office, now=now()), _suite_line, as_json=format == "json")


def _suite_line(row: dict[str, Any]) -> str:
    state = "enabled" if row["enabled"] else "disabled"
    return (
        f"{row['key']}  {state}  tasks {row['tasks']}  next run {row['next_run_at'] or 'by hand'}"
    )


@suite_app.command("remove", help=REMOVE)
def remove(
    key: Annotated[str, typer.Argument(help="The suite's key.")], database: Database = None
) -> None:
    """Remove a suite and its tasks; its results stay on the record."""
    from aal_engine.registry import admin

    with office_on(database) as office:
        admin.remove_suite(office, admin.suite_number(office, key), now=now())
    say("removed\n")


@run_app.command("now", help=NOW)
def run_now(
    key: Annotated[str, typer.Argument(help="The suite's key.")], database: Database = None
) -> None:
    """Queue a run."""
    from aal_engine.registry import admin

    with office_on(database) as office:
        say(admin.run_now(office, admin.suite_number(office, key), now=now()) + "\n")


@run_app.command("show", help=STATE)
def show(
    run_id: Annotated[str, typer.Argument(help="The run's id.")],
    database: Database = None,
    format: Format = "text",  # noqa: A002 the option's name
) -> None:
    """Show how far a run is: its exams, one an agent, and what became of its rewards."""
    from aal_engine.registry import admin
    from aal_engine.registry.model.run import STATES
    from aal_engine.registry.treasury import REWARDS

    with office_on(database) as office:
        state = admin.run_state(office, run_id)
    if format == "json":
        say(json.dumps(state, indent=2) + "\n")
        return
    say(f"requested {state['requested_at']}, finished {state['finished_at'] or 'not yet'}\n")
    for told, words in ((state["exams"], STATES), (state["rewards"], REWARDS)):
        for name, count in told.items():
            say(f"{count:>6}  {name}: {words[name]}\n")
