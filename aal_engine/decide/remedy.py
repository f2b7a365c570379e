"""What the ledger calls for next: the answer to a breach, or a halt."""

from __future__ import annotations

from collections.abc import Sequence

from aal_engine.decide.act import Halt, HaltWhy, Rollback
from aal_engine.decide.deployment import Deployment
from aal_engine.decide.serving import Serving, fallback, halt_due


def remedy(
    serving: Serving, families: Sequence[str], deployment: Deployment
) -> Rollback | Halt | None:
    """Return the step that is due, None if none is; an act under way is left to itself.

    A version in breach is replaced by the one that passed last. With none left, or after too many
    rollbacks, the agent is halted; then a version in breach is stopped or held, as the policy says.
    """
    if serving.halt is None and halt_due(serving, deployment.rollbacks, deployment.hours):
        return _halt(serving, next(reversed(serving.answered)), "rollbacks", deployment)
    cause = serving.unanswered()
    if cause is None or cause.since is None:
        return None
    target = None
    if serving.halt is None:
        target = fallback(serving, families)
        if target is None:
            return _halt(serving, cause.id, "no_target", deployment)
    elif serving.halt.then == "hold":
        return None
    return Rollback(
        serving.key,
        target,
        cause.version,
        cause.since,
        cause.id,
        tuple(families),
        deployment.digest(),
    )


def _halt(serving: Serving, incident: str, why: HaltWhy, deployment: Deployment) -> Halt:
    version = serving.version
    if version is None and serving.pending is not None:
        version = serving.pending.version
    assert version is not None
    return Halt(serving.key, version, incident, why, deployment.on_halt)
