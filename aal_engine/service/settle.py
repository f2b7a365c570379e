"""What is due for an agent, done: one entry after the other, until nothing is.

```
intent entry -> act -> read back -> done entry
```

Each round starts from what the ledger says then. So it does not matter which process wrote the
entry before, and what one that died left half done is finished: an intent without an end is found,
the target is read, acted on only if it does not show the version yet, and the end is written.
"""

from __future__ import annotations

from dataclasses import replace

from aal_engine.canonical import JSON
from aal_engine.decide.act import Done, Failed, Quarantine, body_of
from aal_engine.decide.release import AgentKey
from aal_engine.decide.remedy import remedy
from aal_engine.decide.serving import Pending, Serving
from aal_engine.service.desk import Desk, Ended, Outcome
from aal_engine.store.actuator import carry_out
from aal_engine.store.order import Order

GONE = "its artefact is gone"


def due(desk: Desk, serving: Serving) -> bool:
    """Say whether anything is due for an agent and pack."""
    return serving.pending is not None or _remedy(desk, serving) is not None


def settle(desk: Desk, key: AgentKey, *, begin: bool = True) -> Outcome:
    """Do what is due for an agent and pack; the caller holds its turn.

    Without `begin` only a rollback under way is finished: who promotes another version answers a
    breach as well.

    Raises:
        LedgerError: the ledger is broken, or refused an entry; nothing was done without one.
    """
    outcome = Outcome("nothing", key)
    fresh = -1
    while True:
        serving = desk.book.serving(key)
        pending = serving.pending
        if pending is not None and _first(serving, pending, begin=begin):
            outcome = carried_out(desk, key, pending, again=pending.seq != fresh)
            gone = pending.version in desk.book.serving(key).quarantined
            if outcome.ended == "failed" and not gone:
                return outcome
            continue
        # Whether a halt is due is not for the caller to choose.
        entry = None
        if begin or serving.unanswered() is None:
            entry = desk.book.append("rollback", key, lambda now: _remedy(desk, now), desk.clock())
        if entry is None:
            return _ended(serving, outcome) if begin else outcome
        fresh = entry.seq


def carried_out(desk: Desk, key: AgentKey, pending: Pending, *, again: bool) -> Outcome:
    """Act, read back, and record how that ended; `again` if it may have been acted on before.

    Raises:
        LedgerError: the ledger is broken, or refused an entry.
    """
    order = Order(key, pending.version, pending.token, pending.incident)
    done = carry_out(desk.actuator, order, desk.policy.deployment.settle, again=again)
    ids = (key, pending.version, pending.was, pending.seq)
    act = Outcome("failed", *ids, done.failed, done.said)
    if done.failed is None:
        end = Done(key, pending.seq, pending.version)
        desk.book.state(pending.kind, end, desk.clock())
        return replace(act, ended=_kind_of_end(pending))
    if done.failed == "gone" and pending.incident is not None and pending.version is not None:
        gone = Quarantine(key, pending.version, GONE, pending.incident)
        desk.book.state("quarantine", gone, desk.clock())
    elif pending.failure is None:
        failed = Failed(key, pending.seq, pending.version, done.failed, done.found)
        desk.book.state(pending.kind, failed, desk.clock())
    return act


def _first(serving: Serving, pending: Pending, *, begin: bool) -> bool:
    """Say whether an act under way is finished before anything else is begun."""
    if pending.kind == "rollback":
        return pending.version not in serving.quarantined
    return begin and serving.unanswered() is None


def _remedy(desk: Desk, serving: Serving) -> dict[str, JSON] | None:
    step = remedy(serving, desk.policy.families, desk.policy.deployment)
    return None if step is None else body_of("rollback", step)


def _ended(serving: Serving, outcome: Outcome) -> Outcome:
    cause = serving.unanswered()
    if cause is None or serving.halt is None:
        return outcome
    return Outcome("held", serving.key, serving.version, cause.version, why=serving.halt.why)


def _kind_of_end(pending: Pending) -> Ended:
    if pending.version is None:
        return "stopped"
    return "promoted" if pending.kind == "release" else "rolled_back"
