"""The monitor's wing of the HTTP app: outputs and traces that are sent to it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager

from fastapi.concurrency import run_in_threadpool

from aal_engine.api import otlp, outputs
from aal_engine.api.app import Wing
from aal_engine.api.body import MOST, Bodies
from aal_engine.api.route import bearer, called_by
from aal_engine.service.intake import Intake
from aal_engine.service.monitor import OnlineMonitor


def wing(monitor: OnlineMonitor, token: str | None, hosts: Collection[str]) -> Wing:
    """Return the wing that feeds a monitor; with a token, who sends it alone may feed and look.

    Without one, who calls it by one of these hosts' names.
    """
    intake = Intake(monitor)
    bodies = Bodies()
    needs = (
        called_by(hosts, unset="call 127.0.0.1, or set AAL_INTAKE_TOKEN and send it")
        if token is None
        else bearer(token, unset="")
    )

    @asynccontextmanager
    async def running() -> AsyncIterator[None]:
        intake.start()
        try:
            yield
        finally:
            await run_in_threadpool(intake.close)

    return Wing(
        routers=[outputs.router(intake, bodies, needs), otlp.router(intake, bodies, needs)],
        running=running,
        bodies={outputs.PATH: MOST, otlp.PATH: MOST},
    )
