"""Reads the agent that a person names: a recorded run, or an agent.yaml."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aal_engine.canonical import JSON, digest
from aal_engine.errors import InputError, shown
from aal_engine.measure.golden import Pack
from aal_engine.store.address import (
    CONNECTIONS,
    TIMEOUT,
    Options,
    Secret,
    address_of,
    decisive,
)
from aal_engine.store.child import Child
from aal_engine.store.exchange import Exchange, check_url
from aal_engine.store.live.agent import Agent
from aal_engine.store.live.prompt import Prompt
from aal_engine.store.pace import FIRST_PAUSE, Pace
from aal_engine.store.schema import NAME, conforms
from aal_engine.store.text_file import FaultList
from aal_engine.store.yaml_text import read_yaml

NEEDED: Mapping[str, tuple[str, ...]] = {
    "chat": ("url", "model"),
    "a2a": ("url",),
    "http": ("url",),
    "command": ("command",),
    "recorded": ("run",),
    "extract": (),
}
"""What each kind of agent must be told, for every family."""

RUNS = (".jsonl", ".jsonl.gz", ".jsonl.zst", ".parquet")


@dataclass(frozen=True)
class AgentSpec:
    """What an agent.yaml says: one agent under each model family, and how to ask it."""

    kind: str
    families: Mapping[str, Options]
    prompt: Prompt
    pace: Pace
    timeout: float
    concurrency: int
    deadline: float | None
    home: Path

    def canonical(self) -> dict[str, JSON]:
        """Return what decides the answers, as JSON: no key, and nothing of how it is asked."""
        return {
            "kind": self.kind,
            "families": {name: decisive(part) for name, part in sorted(self.families.items())},
            "prompt": [self.prompt.system, self.prompt.user, self.prompt.passage],
        }

    @property
    def digest(self) -> str:
        """SHA-256 of the canonical bytes, in hexadecimal."""
        return digest(self.canonical())

    @property
    def most_tokens(self) -> int | None:
        """The tokens that one answer may have at most, where the families' parameters say so."""
        limits = [
            max(
                (
                    limit
                    for name in ("max_tokens", "max_completion_tokens")
                    if type(limit := part.get("parameters", {}).get(name)) is int
                ),
                default=None,
            )
            for part in self.families.values()
        ]
        known = [limit for limit in limits if limit is not None]
        return max(known) if known and len(known) == len(limits) else None


def read_agent(given: str, families: Sequence[str]) -> AgentSpec:
    """Return what a person means by `given`; with `families`, these of its families alone.

    Raises:
        InputError: it is no recorded run and no agent.yaml, or lacks a family.
    """
    path = Path(given)
    if given.endswith(RUNS):
        value: Options = {"kind": "recorded", "run": path.name, "families": {}}
        if not families:
            raise InputError.at(
                "a recorded run does not say which of its families to ask",
                file=path,
                way_out="name them with --families",
            )
        value = {**value, "families": {name: {} for name in families}}
    else:
        faults = FaultList(path)
        value = read_yaml(path, faults)
        faults.settle()
        conforms("agent", value, faults)
        faults.settle()
    return _spec(value, families, path)


def _spec(value: Options, families: Sequence[str], path: Path) -> AgentSpec:
    for name in families:
        if not NAME.fullmatch(name) or name not in value["families"]:
            raise InputError.at(
                f"has no family {shown(name)}",
                file=path,
                way_out="its families: " + ", ".join(map(shown, value["families"])),
            )
    shared = {
        key: item
        for key, item in value.items()
        if key not in ("kind", "families", "prompt", "deadline", "tries", "first_pause")
    }
    named = {
        name: _merged(shared, value["families"][name]) for name in families or value["families"]
    }
    _complete(value["kind"], named, path)
    told = value.get("prompt", {})
    return AgentSpec(
        value["kind"],
        named,
        Prompt(**{key: told[key] for key in ("system", "user", "passage") if key in told}),
        Pace(value.get("tries", 4), value.get("first_pause", FIRST_PAUSE)),
        value.get("timeout", TIMEOUT),
        value.get("concurrency", CONNECTIONS),
        value.get("deadline"),
        path.parent,
    )


def _complete(kind: str, families: Mapping[str, Options], path: Path) -> None:
    for family, options in families.items():
        for key in NEEDED[kind]:
            if key not in options:
                raise InputError.at(
                    f"is missing for family {shown(family)}",
                    file=path,
                    field=key,
                    way_out="give it under the family, or beside kind for all of them",
                )
        if "url" in options:
            check_url(options["url"])


def _merged(shared: Options, own: Options) -> Options:
    parameters = {**shared.get("parameters", {}), **own.get("parameters", {})}
    merged = {**shared, **own}
    return {**merged, "parameters": parameters} if parameters else merged


def check_secrets(spec: AgentSpec, secret: Secret) -> None:
    """Do nothing if every key that the families name is at hand.

    Raises:
        InputError: one is not.
    """
    for part in spec.families.values():
        if "key_from" in part:
            secret(part["key_from"])


def open_agents(spec: AgentSpec, pack: Pack, secret: Secret) -> dict[str, Agent]:
    """Return the agent of every family; nothing is sent yet. Called where an event loop runs.

    Raises:
        InputError: an option is missing, or a key is not at hand.
        MissingExtra: a library for it is not installed.
    """
    return {
        family: AGENTS[spec.kind](family, options, spec, pack, secret)
        for family, options in spec.families.items()
    }


def _chat(family: str, options: Options, spec: AgentSpec, pack: Pack, secret: Secret) -> Agent:
    from aal_engine.store.live.chat import Chat

    address = address_of({**options, "url": options["url"].rstrip("/")}, secret, spec.home)
    parameters = options.get("parameters", {})
    return Chat(Exchange(address), options["model"], parameters, spec.prompt, pack.citations)


def _a2a(family: str, options: Options, spec: AgentSpec, pack: Pack, secret: Secret) -> Agent:
    from aal_engine.store.live.a2a import A2A

    return A2A(
        address_of(options, secret, spec.home),
        spec.prompt,
        pack.citations,
        protocol=options.get("protocol"),
        binding=options.get("binding"),
    )


def _http(family: str, options: Options, spec: AgentSpec, pack: Pack, secret: Secret) -> Agent:
    from aal_engine.store.live.body import OwnHttp

    exchange = Exchange(address_of(options, secret, spec.home))
    return OwnHttp(exchange, options.get("model"), pack.citations)


def _command(family: str, options: Options, spec: AgentSpec, pack: Pack, _: Secret) -> Agent:
    from aal_engine.store.live.body import Command

    child = Child(options["command"], timeout=spec.timeout)
    return Command(child, options.get("model"), pack.citations)


def _recorded(family: str, options: Options, spec: AgentSpec, pack: Pack, _: Secret) -> Agent:
    from aal_engine.store.live.recorded import recorded

    found = recorded(spec.home / options["run"], pack.citations)
    if family not in found:
        raise InputError.at(
            f"has no output of family {shown(family)}",
            file=options["run"],
            way_out="its families: " + ", ".join(map(shown, sorted(found))),
        )
    return found[family]


def _extract(_: str, __: Options, ___: AgentSpec, pack: Pack, ____: Secret) -> Agent:
    from aal_engine.store.live.extract import Extract

    return Extract(pack.citations, pack.language)


AGENTS: Mapping[str, Callable[[str, Any, AgentSpec, Pack, Secret], Agent]] = {
    "chat": _chat,
    "a2a": _a2a,
    "http": _http,
    "command": _command,
    "recorded": _recorded,
    "extract": _extract,
}
"""Every kind of agent by the `kind` of an agent.yaml."""
