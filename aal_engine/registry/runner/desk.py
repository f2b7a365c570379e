"""A runner's desk: the database from a loop that must not wait, and faults that end nothing."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime
from typing import Final, TypeVar

from sqlalchemy import Connection

from aal_engine.errors import AalError
from aal_engine.registry.db.database import Database

LOG: Final = logging.getLogger("aal_engine.registry")

Value = TypeVar("Value")


@dataclass(frozen=True, slots=True)
class Desk:
    """The database as a loop may use it: each act is one transaction on a thread."""

    database: Database
    threads: ThreadPoolExecutor
    clock: Callable[[], datetime]

    async def write(self, act: Callable[[Connection], Value]) -> Value:
        """Carry an act out in one transaction that is kept as a whole or not at all.

        Raises:
            RegistryUnavailable: the database does not answer.
        """

        def transaction() -> Value:
            with self.database.write() as connection:
                return act(connection)

        return await asyncio.get_running_loop().run_in_executor(self.threads, transaction)


async def guarded(what: str, act: Awaitable[object]) -> None:
    """Carry something out that may fail this time; say so, and go on."""
    try:
        await act
    except AalError as error:
        LOG.warning("%s failed: %s", what, error.message)
    except Exception as error:
        LOG.error("%s failed: %s", what, where(error))


def where(error: BaseException) -> str:
    """Return an exception's kind and place; its words may quote an agent's."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    name = type(error).__name__
    if trace is None:
        return name
    return f"{name} in {trace.tb_frame.f_code.co_name}, line {trace.tb_lineno}"
