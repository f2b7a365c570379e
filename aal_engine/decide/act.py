"""What the ledger records of versions going into service and out of it, step by step.

```
release     intent -> done                        a version is promoted
rollback    intent -> done                        an incident is answered: another version serves
            halt                                  automatic acts stand still until a person clears
both        failed                                the act did not show, or could not be tried
            found                                 read again, the target shows something else
            told                                  a notice went out
quarantine  -                                     a version may not serve, until it is cleared
clear       -                                     a person lifts a quarantine or a halt
```

An act is known by the number of its intent's entry, and so is the stint that it begins. A breach
(see `incident`) quarantines its version by itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from types import MappingProxyType
from typing import Any, ClassVar, Literal, TypeAlias

from aal_engine.canonical import JSON
from aal_engine.decide import field
from aal_engine.decide.deployment import Then
from aal_engine.decide.release import AgentKey

Why: TypeAlias = Literal["refused", "late", "unreadable", "unchanged", "gone"]
WHYS: Mapping[str, str] = MappingProxyType(
    {
        "refused": "the target refused the act",
        "late": "the target did not answer in time",
        "unreadable": "the target could not be read after the act",
        "unchanged": "the target was told and shows another version",
        "gone": "the target does not have the version any more",
    }
)
HaltWhy: TypeAlias = Literal["no_target", "rollbacks"]
HALTS: Mapping[str, str] = MappingProxyType(
    {
        "no_target": "no version that passed is left to roll back to",
        "rollbacks": "there were too many rollbacks in too short a time",
    }
)


@dataclass(frozen=True, slots=True)
class Promotion:
    """The intent to put a version into service, which `decision` (its digest) released.

    `was` is the version that served when this was decided, None for none; `model_families` are
    those that the policy then allowed, `policy` its digest.
    """

    READ: ClassVar[Mapping[str, field.Reader]] = {
        "version": field.text,
        "was": field.optional(field.text),
        "decision": field.digest,
        "model_families": field.texts,
        "policy": field.digest,
    }
    key: AgentKey
    version: str
    was: str | None
    decision: str
    model_families: tuple[str, ...]
    policy: str


@dataclass(frozen=True, slots=True)
class Rollback:
    """The intent to answer an incident: `version` is to serve in place of `was`.

    `version` None takes the agent out of service. `since` is the stint of `was` that is ended.
    """

    READ: ClassVar[Mapping[str, field.Reader]] = {
        "version": field.optional(field.text),
        "was": field.text,
        "since": field.whole,
        "incident": field.digest,
        "model_families": field.texts,
        "policy": field.digest,
    }
    key: AgentKey
    version: str | None
    was: str
    since: int
    incident: str
    model_families: tuple[str, ...]
    policy: str


@dataclass(frozen=True, slots=True)
class Done:
    """The act was seen to be done: the target was read and shows `version`."""

    READ: ClassVar[Mapping[str, field.Reader]] = {
        "act": field.whole,
        "version": field.optional(field.text),
    }
    key: AgentKey
    act: int
    version: str | None


@dataclass(frozen=True, slots=True)
class Failed:
    """An attempt at the act came to nothing; `found` is what the target shows, None if unknown."""

    READ: ClassVar[Mapping[str, field.Reader]] = {
        "act": field.whole,
        "version": field.optional(field.text),
        "why": field.one_of(*WHYS),
        "found": field.optional(field.text),
    }
    key: AgentKey
    act: int
    version: str | None
    why: Why
    found: str | None


@dataclass(frozen=True, slots=True)
class Found:
    """The target was read again: it shows `found`, where `version` should serve by the ledger."""

    READ: ClassVar[Mapping[str, field.Reader]] = {
        "act": field.whole,
        "version": field.optional(field.text),
        "found": field.optional(field.text),
    }
    key: AgentKey
    act: int
    version: str | None
    found: str | None


@dataclass(frozen=True, slots=True)
class Told:
    """The notice of an entry went out: the notifiers that took it, and those that did not."""

    READ: ClassVar[Mapping[str, field.Reader]] = {
        "entry": field.whole,
        "delivered": field.texts,
        "failed": field.texts,
    }
    key: AgentKey
    entry: int
    delivered: tuple[str, ...]
    failed: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Halt:
    """Automatic acts stand still, and `version` serves on or is stopped, as the policy says."""

    READ: ClassVar[Mapping[str, field.Reader]] = {
        "version": field.text,
        "incident": field.digest,
        "why": field.one_of(*HALTS),
        "then": field.one_of("hold", "stop"),
    }
    key: AgentKey
    version: str
    incident: str
    why: HaltWhy
    then: Then


@dataclass(frozen=True, slots=True)
class Quarantine:
    """A version may not serve: a person says so, or its artefact was gone (`incident`'s answer)."""

    READ: ClassVar[Mapping[str, field.Reader]] = {
        "version": field.text,
        "reason": field.text,
        "incident": field.optional(field.digest),
    }
    key: AgentKey
    version: str
    reason: str
    incident: str | None = None


@dataclass(frozen=True, slots=True)
class Clear:
    """A person lifts the quarantine of a version, or the halt where `version` is None."""

    READ: ClassVar[Mapping[str, field.Reader]] = {
        "version": field.optional(field.text),
        "reason": field.text,
    }
    key: AgentKey
    version: str | None
    reason: str


Step: TypeAlias = Promotion | Rollback | Done | Failed | Found | Told | Halt | Quarantine | Clear

SCHEMAS: Mapping[str, str] = MappingProxyType(
    {kind: f"aal/{kind}/1" for kind in ("release", "rollback", "quarantine", "clear")}
)
_OF_BOTH: Mapping[str, type[Any]] = {"done": Done, "failed": Failed, "found": Found, "told": Told}
_STEPS: Mapping[tuple[str, str | None], type[Any]] = {
    ("release", "intent"): Promotion,
    ("rollback", "intent"): Rollback,
    ("rollback", "halt"): Halt,
    **{(kind, step): made for kind in ("release", "rollback") for step, made in _OF_BOTH.items()},
    ("quarantine", None): Quarantine,
    ("clear", None): Clear,
}
_NAMES: Mapping[type[Any], str | None] = {made: step for (_, step), made in _STEPS.items()}


def body_of(kind: str, step: Step) -> dict[str, JSON]:
    """Return the body of the entry of this kind that records a step."""
    name = _NAMES[type(step)]
    told: dict[str, JSON] = {"schema": SCHEMAS[kind]}
    if name is not None:
        told["step"] = name
    told |= {"agent": step.key.agent, "pack": step.key.pack}
    for each in fields(step):
        if each.name != "key":
            value = getattr(step, each.name)
            told[each.name] = list(value) if isinstance(value, tuple) else value
    return told


def step_from(kind: str, body: Mapping[str, Any]) -> Step:
    """Read the step that an entry of this kind records.

    Raises:
        ValueError: the body is not one.
    """
    rest = dict(body)
    name = field.text(rest.pop("step")) if "step" in rest else None
    made = _STEPS.get((kind, name))
    if made is None or rest.pop("schema", None) != SCHEMAS[kind]:
        raise ValueError
    key = AgentKey(field.text(rest.pop("agent", None)), field.text(rest.pop("pack", None)))
    step: Step = made(key, **field.members(rest, made.READ))
    return step
