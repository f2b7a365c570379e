"""The runner's pace and limits, as the environment says them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from aal_engine.api import settings
from aal_engine.errors import InputError
from aal_engine.registry.address import Allowed, allow
from aal_engine.registry.probe.line import Bounds
from aal_engine.registry.probe.lookup import CANARY
from aal_engine.registry.run import Limits
from aal_engine.registry.runner import Pace

NUMBERS: Final[Mapping[str, tuple[float, float, float]]] = {
    "EVALS_TICK_SECONDS": (2, 0.1, 3600),
    "EVALS_PARALLEL": (16, 1, 1000),
    "EVALS_LEASE_SECONDS": (15, 2, 600),
    "EVALS_TASK_SECONDS": (10, 0.1, 600),
    "EVALS_EXAM_SECONDS": (120, 1, 3600),
    "EVALS_LAG_SECONDS": (0.25, 0.01, 60),
    "EVALS_BODY_BYTES": (1 << 20, 1, 64 << 20),
}
"""Each number's default, and the least and the most that it may be."""


def pace() -> Pace:
    """Return how the runner works here.

    Raises:
        InputError: a variable says what cannot be used; it is named.
    """
    said = {name: settings.number(name, *bounds) for name, bounds in NUMBERS.items()}
    limits = Limits(
        probe=Bounds(
            seconds=said["EVALS_TASK_SECONDS"],
            body=int(said["EVALS_BODY_BYTES"]),
            lookup=min(5.0, said["EVALS_TASK_SECONDS"]),
        ),
        exam=said["EVALS_EXAM_SECONDS"],
        lag=said["EVALS_LAG_SECONDS"],
        allowed=_allowed(),
        ca_file=settings.word("EVALS_CA_FILE"),
        canary=settings.word("EVALS_CANARY") or CANARY,
    )
    return Pace(
        tick=said["EVALS_TICK_SECONDS"],
        parallel=int(said["EVALS_PARALLEL"]),
        ttl=said["EVALS_LEASE_SECONDS"],
        fan_out=settings.flag("EVALS_FAN_OUT"),
        limits=limits,
    )


def _allowed() -> Allowed:
    networks, ports = settings.words("EVALS_ALLOW_NETWORKS"), settings.words("EVALS_ALLOW_PORTS")
    try:
        return allow(networks or (), ports)
    except InputError as error:
        said = error.faults[0]
        field = f"EVALS_ALLOW_{str(said.field).upper()}"
        raise InputError.at(said.problem, field=field, way_out=error.way_out) from None
