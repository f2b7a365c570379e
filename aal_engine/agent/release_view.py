"""What `aal release` tells: the same facts as JSON and in words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import zip_longest

from aal_engine.canonical import JSON
from aal_engine.decide.act import HALTS, WHYS
from aal_engine.decide.release import AgentKey
from aal_engine.decide.serving import Serving, fallback
from aal_engine.errors import shown
from aal_engine.service.desk import ENDS, Outcome
from aal_engine.service.reconcile import Reading

_WHY = {**WHYS, **HALTS}


def outcome_told(outcome: Outcome) -> tuple[dict[str, JSON], str]:
    """Return how an act ended."""
    facts: dict[str, JSON] = {
        "outcome": outcome.ended,
        **_names(outcome.key),
        "version": outcome.version,
        "was": outcome.was,
        "entry": outcome.act,
        "why": outcome.why,
        "said": outcome.said,
    }
    return facts, _line(outcome) + "\n"


def _line(outcome: Outcome) -> str:
    change = shown(outcome.version or "nothing")
    if outcome.was is not None and outcome.was != outcome.version:
        change = f"{shown(outcome.was)} -> {change}"
    entry = "" if outcome.act is None else f" (ledger entry {outcome.act})"
    why = f": {_WHY.get(outcome.why, outcome.why)}" if outcome.why else ""
    why += f" ({shown(outcome.said)})" if outcome.said else ""
    said = outcome.ended.replace("_", " ")
    return f"{said}: {_on(outcome.key)} {change}{entry}: {ENDS[outcome.ended]}{why}"


def readings_told(outcomes: Sequence[Outcome], readings: Sequence[Reading]) -> dict[str, JSON]:
    """Return what was finished, and what each target shows beside what should serve."""
    lines = [_line(outcome) for outcome in outcomes]
    for each in readings:
        found = f"shows {shown(each.found or 'nothing')}" if each.readable else "cannot be read"
        state = "as recorded" if each.agrees else "NOT AS RECORDED"
        should = shown(each.version or "nothing")
        lines.append(f"{state}: {_on(each.key)}: {should} should serve, the target {found}")
    return {
        "finished": [outcome_told(outcome)[0] for outcome in outcomes],
        "readings": [
            {
                **_names(each.key),
                "version": each.version,
                "found": each.found,
                "readable": each.readable,
                "agrees": each.agrees,
            }
            for each in readings
        ],
        "lines": list(lines),
    }


def history(serving: Serving) -> Iterator[dict[str, JSON]]:
    """Yield a row for each stint, oldest first."""
    ends = [stint.at for stint in serving.stints[1:]]
    for stint, until in zip_longest(serving.stints, ends):
        yield {
            "since": stint.since,
            **_names(serving.key),
            "version": stint.version,
            "by": stint.by,
            "at": stint.at,
            "until": until,
        }


def serving_told(serving: Serving) -> tuple[dict[str, JSON], str]:
    """Return what the ledger says of one agent and pack."""
    live, pending, halt = serving.live, serving.pending, serving.halt
    back = fallback(serving, (), leaving=serving.version)
    passed = sorted(serving.passed.items(), key=lambda each: each[1].seq)
    facts: dict[str, JSON] = {
        **_names(serving.key),
        "version": serving.version,
        "since": None if live is None else live.since,
        "at": None if live is None else live.at,
        "under_way": None
        if pending is None
        else {
            "kind": pending.kind,
            "version": pending.version,
            "entry": pending.seq,
            "why": None if pending.failure is None else pending.failure.why,
        },
        "way_back": back,
        "released": [version for version, _ in passed],
        "quarantined": [
            {"version": version, "entry": seq, "check": _check(serving, version)}
            for version, seq in serving.quarantined.items()
        ],
        "halt": None if halt is None else {"why": halt.why, "then": halt.then},
    }
    lines = [_on(serving.key)]
    if live is None:
        lines.append("  serves       nothing yet")
    else:
        version = shown(live.version or "nothing")
        lines.append(f"  serves       {version} since {live.at} (ledger entry {live.since})")
    if pending is not None:
        why = "" if pending.failure is None else f": {WHYS[pending.failure.why]}"
        version = shown(pending.version or "nothing")
        lines.append(
            f"  under way    {pending.kind} to {version} (ledger entry {pending.seq}){why}"
        )
    if passed:
        lines.append(f"  released     {', '.join(shown(version) for version, _ in passed)}")
    lines.append(f"  way back     {shown(back or 'none')}")
    lines += [
        f"  quarantined  {shown(version)} (ledger entry {seq}): "
        f"{shown(_check(serving, version) or 'by a person, or gone')}"
        for version, seq in serving.quarantined.items()
    ]
    if halt is not None:
        lines.append(f"  HALTED       {HALTS[halt.why]}")
    return facts, "\n".join(lines) + "\n"


def _check(serving: Serving, version: str) -> str | None:
    cause = serving.causes.get(version)
    return None if cause is None else cause.check


def _names(key: AgentKey) -> dict[str, JSON]:
    return {"agent": key.agent, "pack": key.pack}


def _on(key: AgentKey) -> str:
    return f"{shown(key.agent)} on {shown(key.pack)}"
