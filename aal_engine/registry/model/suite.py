"""A suite and its tasks: what the operator publishes, as a table of fields and their rules."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from aal_engine.errors import Fault, InputError
from aal_engine.registry.model.agent import is_did

TASK_TYPES: Mapping[str, str] = {
    "http_probe": "GET a path on the agent's endpoint",
    "a2a_message": "POST a message to the agent, as a client agent would",
}
"""How a suite's tasks are delivered."""

KEY = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}")
MAX_NAME = 200
MAX_TEXT = 4_000
MAX_INPUT = 64 * 1024
MAX_INTERVAL = 366 * 24 * 60
MAX_TARGETS = 10_000
MAX_TASKS = 1_000
MAX_REWARD = 10**12
MAX_WEIGHT = 1_000_000.0


@dataclass(frozen=True, slots=True)
class Suite:
    """A named battery of tasks.

    `interval_minutes` None: run by hand alone. `targets` None: every active agent at home here.
    `reward` is what one passing run pays an agent, in whole units, 0 for a suite that does not pay;
    `cooldown_minutes` is the least time between two such rewards to one agent, and `daily_budget`
    the most that one agent is paid by the suite in any 24 hours.
    """

    key: str
    name: str
    description: str = ""
    task_type: str = "http_probe"
    interval_minutes: int | None = None
    targets: tuple[str, ...] | None = None
    reward: int = 0
    cooldown_minutes: int = 0
    daily_budget: int | None = None
    reputation: bool = False
    enabled: bool = False

    @property
    def pays(self) -> bool:
        """Whether the suite rewards agents for passing runs."""
        return self.reward > 0


@dataclass(frozen=True, slots=True)
class Task:
    """One scored step of a suite: what to send, and what to expect of the response."""

    name: str
    input: str
    scorer: str
    expected: str | None = None
    weight: float = 1.0
    id: int = field(default=0, compare=False)


def _text(least: int, most: int) -> Callable[[Any], str | None]:
    def rule(value: Any) -> str | None:
        if not isinstance(value, str) or not least <= len(value) <= most or "\0" in value:
            return f"not a text of {least} to {most} characters"
        return None if _encodable(value) else "holds half a character (a lone surrogate)"

    return rule


def _encodable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _integer(least: int, most: int) -> Callable[[Any], str | None]:
    def rule(value: Any) -> str | None:
        if type(value) is int and least <= value <= most:
            return None
        return f"not a whole number from {least} to {most}"

    return rule


def _optional(rule: Callable[[Any], str | None]) -> Callable[[Any], str | None]:
    return lambda value: None if value is None else rule(value)


def _flag(value: Any) -> str | None:
    return None if isinstance(value, bool) else "neither true nor false"


def is_key(value: object) -> bool:
    """Whether a value may be a suite's key.

    >>> is_key("http-basics"), is_key("HTTP basics")
    (True, False)
    """
    return isinstance(value, str) and KEY.fullmatch(value) is not None


def _key(value: Any) -> str | None:
    if is_key(value):
        return None
    return "not a key: 1 to 64 of a-z, 0-9, '.', '_', '-', beginning with a letter or digit"


def _task_type(value: Any) -> str | None:
    known = isinstance(value, str) and value in TASK_TYPES
    return None if known else f"not one of {', '.join(TASK_TYPES)}"


def _targets(value: Any) -> str | None:
    if not isinstance(value, tuple | list) or len(value) > MAX_TARGETS:
        return f"not a list of {MAX_TARGETS} DIDs at most"
    if not all(is_did(each) for each in value):
        return "holds something that is not a DID"
    return None if len(set(value)) == len(value) else "names an agent twice"


def _weight(value: Any) -> str | None:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return None if number and 0 < value <= MAX_WEIGHT else f"not a number in (0, {MAX_WEIGHT:.0f}]"


Rules = Mapping[str, Callable[[Any], str | None]]

SUITE_RULES: Rules = {
    "key": _key,
    "name": _text(1, MAX_NAME),
    "description": _text(0, MAX_TEXT),
    "task_type": _task_type,
    "interval_minutes": _optional(_integer(1, MAX_INTERVAL)),
    "targets": _optional(_targets),
    "reward": _integer(0, MAX_REWARD),
    "cooldown_minutes": _integer(0, MAX_INTERVAL),
    "daily_budget": _optional(_integer(1, MAX_REWARD)),
    "reputation": _flag,
    "enabled": _flag,
}
TASK_RULES: Rules = {
    "name": _text(1, MAX_NAME),
    "input": _text(1, MAX_INPUT),
    "scorer": _text(1, 64),
    "expected": _optional(_text(0, MAX_INPUT)),
    "weight": _weight,
}
assert set(SUITE_RULES) == {each.name for each in fields(Suite)}
assert set(TASK_RULES) == {each.name for each in fields(Task)} - {"id"}


def suite(given: Mapping[str, Any], before: Suite | None = None) -> Suite:
    """Read a suite; what is not given stays as it was before, or is the default.

    Raises:
        InputError: a field is unknown, missing or breaks its rule; every fault is told.
    """
    kept = (
        {} if before is None else {each.name: getattr(before, each.name) for each in fields(Suite)}
    )
    values = {**kept, **given}
    _check(values, SUITE_RULES, required=("key", "name"))
    if values.get("targets") is not None:
        values["targets"] = tuple(values["targets"])
    return Suite(**values)


def task(given: Mapping[str, Any]) -> Task:
    """Read a task; a numeric expectation is kept as the text that JSON writes it as.

    Raises:
        InputError: a field is unknown, missing or breaks its rule; every fault is told.
    """
    values = dict(given)
    expected = values.get("expected")
    if isinstance(expected, int | float) and not isinstance(expected, bool):
        values["expected"] = repr(expected)
    _check(values, TASK_RULES, required=("name", "input", "scorer"))
    if "weight" in values:
        values["weight"] = float(values["weight"])
    return Task(**values)


def _check(values: Mapping[str, Any], rules: Rules, *, required: tuple[str, ...]) -> None:
    faults = [Fault("missing", field=name) for name in required if name not in values]
    for name, value in values.items():
        problem = rules[name](value) if name in rules else "not a field that is known here"
        if problem is not None:
            faults.append(Fault(problem, field=name))
    if faults:
        raise InputError(faults)
