"""The registry's wing of the app: its public record, its operator's surface, and its runner."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from aal_engine.api import settings
from aal_engine.api.admin import operator
from aal_engine.api.app import Wing
from aal_engine.api.pace import pace
from aal_engine.api.registry import public
from aal_engine.errors import AalError
from aal_engine.registry import runner
from aal_engine.registry.office import Office, open_office


def registry_office() -> Office | None:
    """Return the registry that the environment describes.

    Raises:
        AalError: the environment says what cannot be, or evals are enabled and the registry's
            database is not prepared or does not answer.
    """
    return opened(settings.evals_database(), enabled=settings.evals_enabled())


def registry_wing(office: Office | None) -> Wing:
    """Return a registry's wing, which closes it in the end; it runs where evals are enabled.

    Raises:
        InputError: the environment says what cannot be.
    """
    how = pace()

    @asynccontextmanager
    async def running() -> AsyncIterator[None]:
        if office is None:
            yield
            return
        try:
            async with runner.running(office, how):
                yield
        finally:
            office.close()

    return Wing([public(office), operator(office, settings.evals_admin_token())], running)


def opened(database: str, *, enabled: bool) -> Office | None:
    """Open the registry; None where evals are not enabled and there is none to be opened.

    With the gate down a database is of use to the operator alone, who prepares suites: that it is
    not there must not keep the server from answering that nothing is published.
    """
    try:
        return open_office(database, enabled=enabled)
    except AalError:
        if enabled:
            raise
        return None
