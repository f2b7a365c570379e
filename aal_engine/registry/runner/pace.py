"""How a runner works, and what it has done."""

from __future__ import annotations

from dataclasses import dataclass, field

from aal_engine.registry.run import Limits


@dataclass(frozen=True, slots=True)
class Pace:
    """How a runner works; times are seconds.

    `tick`: between two looks for what is due or was asked for. `parallel`: exams at once. `ttl`: for
    so long a lease and a claim are given. `grace`: what exams in flight are given at a stop.
    """

    tick: float = 2.0
    parallel: int = 16
    ttl: float = 15.0
    grace: float = 10.0
    fan_out: bool = False
    limits: Limits = field(default_factory=Limits)


@dataclass(slots=True)
class Tally:
    """What one runner has done: `led` times leading, runs queued, and what exams came to.

    `stale` are exams that another runner took over, or that the runner dropped in time for that.
    """

    led: int = 0
    queued: int = 0
    recorded: int = 0
    paid: int = 0
    void: int = 0
    stale: int = 0
