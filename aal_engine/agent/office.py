"""What the commands of `aal registry` share: the database's option, the office, and lists."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from aal_engine.agent.terminal import say, tell

if TYPE_CHECKING:
    from aal_engine.registry.office import Office

Database = Annotated[
    str | None,
    typer.Option(
        "--database",
        help="File or postgresql:// URL. Default: EVALS_DATABASE, else registry.db.",
    ),
]
Format = Annotated[Literal["text", "json"], typer.Option(help="How to tell the result.")]


def group(text: str) -> typer.Typer:
    """Return a group of commands."""
    return typer.Typer(add_completion=False, no_args_is_help=True, rich_markup_mode=None, help=text)


@contextmanager
def office_on(database: str | None, *, prepare: bool = False) -> Iterator[Office]:
    """Open the registry on a database, or on the one that the environment names."""
    from aal_engine.api import settings
    from aal_engine.registry.office import open_office

    office = open_office(
        database or settings.evals_database(), enabled=settings.evals_enabled(), prepare=prepare
    )
    try:
        yield office
    finally:
        office.close()


def now() -> datetime:
    """Return the time."""
    return datetime.now(UTC)


def show_rows(
    rows: list[dict[str, Any]], line: Callable[[dict[str, Any]], str], *, as_json: bool
) -> None:
    """Say rows as lines for people, or as JSON."""
    if as_json:
        say(json.dumps(rows, indent=2, ensure_ascii=False) + "\n")
    elif rows:
        say("".join(line(row) + "\n" for row in rows))
    else:
        tell("none")
