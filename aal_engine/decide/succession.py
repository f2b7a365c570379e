"""Whether a step of a release or a rollback may follow what the ledger holds before it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Any

from aal_engine.decide.act import (
    Clear,
    Done,
    Failed,
    Found,
    Halt,
    Promotion,
    Quarantine,
    Rollback,
    Step,
    Told,
)
from aal_engine.decide.incident import Incident
from aal_engine.decide.serving import Serving, fallback
from aal_engine.errors import shown


def refusals(serving: Serving, kind: str, step: Step) -> Iterator[str]:
    """Yield why a step, recorded by an entry of this kind, cannot follow; nothing if it can."""
    yield from _RULES[type(step)](serving, step, kind)


def refusals_of_report(serving: Serving, incident: Incident) -> Iterator[str]:
    """Yield why an incident cannot be recorded; nothing if it can."""
    if incident.id in serving.incidents:
        yield "the incident is recorded already"
    stints = {(stint.version, stint.since) for stint in serving.stints}
    if serving.pending is not None:
        stints.add((serving.pending.version, serving.pending.seq))
    if incident.since is not None and (incident.version, incident.since) not in stints:
        yield f"entry {incident.since} did not put version {shown(incident.version)} into service"


def _promotion(serving: Serving, step: Promotion, _: str) -> Iterator[str]:
    passed = serving.passed.get(step.version)
    if passed is None:
        yield f"no decision of the gate released version {shown(step.version)}"
    elif passed.decision != step.decision:
        yield f"another decision released version {shown(step.version)}"
    elif not passed.families >= set(step.model_families):
        yield f"version {shown(step.version)} did not pass for every model family allowed"
    if step.version in serving.quarantined:
        yield _quarantined(serving, step.version)
    if serving.halt is not None:
        yield "the agent is halted"
    if step.was != serving.version:
        yield "another version serves than the one that was to be replaced"
    yield from _free(serving)


def _rollback(serving: Serving, step: Rollback, _: str) -> Iterator[str]:
    incident = serving.incidents.get(step.incident)
    if incident is None or not incident.breach:
        yield "there is no breach that it answers"
    elif (incident.version, incident.since) != (step.was, step.since):
        yield "the breach that it answers is of another version or stint"
    if serving.since(step.was) != step.since:
        yield f"version {shown(step.was)} does not serve, or serves in another stint"
    if step.version is None:
        if serving.halt is None or serving.halt.then != "stop":
            yield "nothing says that the agent is to be stopped"
    elif serving.halt is not None:
        yield "the agent is halted"
    elif step.version != fallback(serving, step.model_families):
        yield f"version {shown(step.version)} is not the last one that served and passed"
    yield from _free(serving)


def _free(serving: Serving) -> Iterator[str]:
    """A rollback under way is finished first, unless its target is quarantined itself by now."""
    pending = serving.pending
    if (
        pending is not None
        and pending.kind == "rollback"
        and pending.version not in serving.quarantined
    ):
        yield f"the rollback of entry {pending.seq} is not finished"


def _ends(serving: Serving, step: Done | Failed, kind: str) -> Iterator[str]:
    pending = serving.pending
    if pending is None or (pending.seq, pending.kind) != (step.act, kind):
        yield f"entry {step.act} is no act that is under way"
    elif pending.version != step.version:
        yield f"the act of entry {step.act} is about another version"


def _found(serving: Serving, step: Found, kind: str) -> Iterator[str]:
    live = serving.live
    if live is None or (live.since, live.by, live.version) != (step.act, kind, step.version):
        yield f"entry {step.act} did not put the version that serves into service"
    elif live.found == step.found:
        yield "it says what is known already"
    if serving.pending is not None:
        yield f"the act of entry {serving.pending.seq} is under way"


def _told(serving: Serving, step: Told, kind: str) -> Iterator[str]:
    notice = serving.untold.get(step.entry)
    if notice is None or notice.kind != kind:
        yield f"entry {step.entry} has no notice that was still to be told"


def _halt(serving: Serving, step: Halt, _: str) -> Iterator[str]:
    if serving.halt is not None:
        yield "the agent is halted already"
    incident = serving.incidents.get(step.incident)
    if incident is None or not incident.breach:
        yield "there is no breach that it answers"
    if serving.since(step.version) is None:
        yield f"version {shown(step.version)} does not serve"


def _quarantine(serving: Serving, step: Quarantine, _: str) -> Iterator[str]:
    if step.version in serving.quarantined:
        yield _quarantined(serving, step.version)
    if step.incident is not None and step.incident not in serving.incidents:
        yield "there is no incident that it belongs to"


def _clear(serving: Serving, step: Clear, _: str) -> Iterator[str]:
    if step.version is None:
        if serving.halt is None:
            yield "the agent is not halted"
    elif step.version not in serving.quarantined:
        yield f"version {shown(step.version)} is not quarantined"


def _quarantined(serving: Serving, version: str) -> str:
    return f"version {shown(version)} is quarantined (ledger entry {serving.quarantined[version]})"


_RULES: Mapping[type[Any], Callable[[Serving, Any, str], Iterator[str]]] = MappingProxyType(
    {
        Promotion: _promotion,
        Rollback: _rollback,
        Done: _ends,
        Failed: _ends,
        Found: _found,
        Told: _told,
        Halt: _halt,
        Quarantine: _quarantine,
        Clear: _clear,
    }
)
