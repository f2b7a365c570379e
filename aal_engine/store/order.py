"""What an actuator is ordered to do."""

from __future__ import annotations

from dataclasses import dataclass

from aal_engine.decide.release import AgentKey
from aal_engine.errors import ActFailed
from aal_engine.store.schema import NAME


@dataclass(frozen=True, slots=True)
class Order:
    """Serve `version`, or nothing where it is None. `token` is the same for the same act."""

    key: AgentKey
    version: str | None
    token: str
    incident: str | None = None


def filled(template: str, key: AgentKey, version: str | None) -> str:
    """Fill `{agent}`, `{pack}` and `{version}` into a template; every other brace stays.

    Raises:
        ActFailed: a name is none that a policy or a record could have held.
    """
    require_names(key, version)
    for name, value in (("agent", key.agent), ("pack", key.pack), ("version", version or "")):
        template = template.replace("{" + name + "}", value)
    return template


def require_names(key: AgentKey, version: str | None = None) -> None:
    """Do nothing if an agent, a pack and a version have names as records have them.

    Raises:
        ActFailed: one has another, which may lead out of a folder or be read as an option.
    """
    for name, value in (("agent", key.agent), ("pack", key.pack), ("version", version or "")):
        if value and not NAME.match(value):
            raise ActFailed("refused", f"the {name} has a name that is not handed on")


def answered(text: str) -> str | None:
    """Return the one line that an actuator shows, None where it shows nothing.

    Raises:
        ActFailed: it shows several lines, or a longer one than a version has.
    """
    line = text.strip()
    if len(line) > 256 or not line.isprintable():
        raise ActFailed("unreadable", "the actuator shows something that is no version")
    return line or None
