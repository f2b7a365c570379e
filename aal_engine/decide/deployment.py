"""The policy's part about what comes after the gate: how versions are put into service."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, TypeAlias

from aal_engine.canonical import JSON, digest

Then: TypeAlias = Literal["hold", "stop"]


@dataclass(frozen=True, slots=True)
class Pointer:
    """A file that holds the version to serve, one for each agent and pack, below `folder`.

    `artifacts`, if given, is the path that a version must have to be served, with `{agent}`,
    `{pack}` and `{version}` filled in. Relative paths start where the ledger's folder stands.
    """

    folder: str = "live"
    artifacts: str | None = None


@dataclass(frozen=True, slots=True)
class Command:
    """Programs that put a version into service and say which one is, as lists of arguments.

    `{agent}`, `{pack}` and `{version}` are filled in; no shell reads them. `answer` is what `read`
    prints. `stop` takes the agent out of service. `deadline` is in seconds, for each call.
    """

    act: tuple[str, ...]
    read: tuple[str, ...]
    stop: tuple[str, ...] | None = None
    answer: str = "{version}"
    deadline: float = 30.0


@dataclass(frozen=True, slots=True)
class Webhook:
    """An address that is told, in signed requests; `read` is asked which version serves.

    `secret_env` names the environment variable of the secret. `deadline` is in seconds.
    """

    url: str
    secret_env: str
    read: str | None = None
    deadline: float = 10.0


Actuator: TypeAlias = Pointer | Command | Webhook


@dataclass(frozen=True, slots=True)
class Deployment:
    """How versions are put into service, when rollbacks halt, and who hears of it.

    `settle` is how long the actuator may take to show what it was told, in seconds. `rollbacks` within
    `hours` halt automatic acts. `on_halt` says what becomes of a version in breach that nothing
    can replace: it is held in service, or the agent is stopped.
    """

    actuator: Actuator = field(default_factory=Pointer)
    settle: float = 30.0
    on_halt: Then = "hold"
    rollbacks: int = 2
    hours: float = 24.0
    notify: tuple[Webhook, ...] = ()

    @property
    def longest(self) -> float:
        """How long one act may take in all, in seconds: acted, shown, and read once more."""
        deadline = 5.0 if isinstance(self.actuator, Pointer) else 3 * self.actuator.deadline
        return deadline + self.settle

    def canonical(self) -> dict[str, JSON]:
        """Return it as JSON with every default spelled out."""
        told: dict[str, JSON] = asdict(self)
        return {**told, "actuator": {type(self.actuator).__name__.lower(): asdict(self.actuator)}}

    def digest(self) -> str:
        """Return the SHA-256 of its canonical bytes, in hexadecimal."""
        return digest(self.canonical())


_ACTUATORS: Mapping[str, type[Any]] = {"pointer": Pointer, "command": Command, "webhook": Webhook}


def deployment_from(release: Mapping[str, Any], rollback: Mapping[str, Any]) -> Deployment:
    """Read the policy's `release` and `rollback`, which its schema has accepted."""
    told: dict[str, Any] = {}
    for name, value in release.get("actuator", {}).items():
        told["actuator"] = _ACTUATORS[name](**_tuples(value))
    if "settle" in release:
        told["settle"] = float(release["settle"])
    if "on_halt" in rollback:
        told["on_halt"] = rollback["on_halt"]
    told |= rollback.get("halt_after", {})
    if "notify" in rollback:
        told["notify"] = tuple(Webhook(**each) for each in rollback["notify"])
    return Deployment(**told)


def _tuples(value: Mapping[str, Any]) -> dict[str, Any]:
    return {k: tuple(item) if isinstance(item, list) else item for k, item in value.items()}
