"""Records, policies and releases to test with: sound by default, changed by keyword."""

from __future__ import annotations

from dataclasses import replace

from aal_engine.decide.decision import Decision
from aal_engine.decide.gate import decide
from aal_engine.decide.policy import Policy
from aal_engine.decide.question import Question
from aal_engine.decide.release import AgentKey, Release
from aal_engine.measure.record import EvalRecord, Mean

AT = "2026-01-31T09:30:00.000Z"
GOLDEN = "a" * 64


def record(kind="answers", family="claude", version="1.1.0", *, cases=40, **changes) -> EvalRecord:
    metrics = changes.pop("metrics", None) or (
        {"recall@10": 0.8, "ndcg@10": 0.7} if kind == "retrieval" else {"complete": 0.9}
    )
    counts = {
        "attempts": cases,
        "missing_outputs": 0,
        "missing_attempts": 0,
        "foreign_outputs": 0,
    }
    if kind == "answers":
        counts |= {"invented_citations": 0, "forbidden_claims": 0}
    counts |= changes.pop("counts", {})
    return EvalRecord(
        **{
            "kind": kind,
            "pack": "support",
            "agent": "desk",
            "version": version,
            "model_family": family,
            "suite": "core",
            "golden_set": GOLDEN,
            "cases": cases,
            "run": "b" * 64,
            "engine": "aal-engine@0",
            "scored_at": AT,
            "metrics": {
                name: value if isinstance(value, Mean) else Mean(value, cases)
                for name, value in metrics.items()
            },
            "slices": {},
            "counts": counts,
            "table": "c" * 64,
            "rows": cases,
        }
        | changes
    )


def policy(**changes) -> Policy:
    return replace(Policy(families=("claude",)), **changes)


def released(*records: EvalRecord) -> tuple[Decision, Release]:
    """The decision that released version 1.0.0, and the ledger's knowledge of it."""
    question = Question(records, None, policy(first_release="allow"), None)
    decision = decide(question, at=AT, engine="aal-engine@0")
    assert decision.verdict == "released", decision.checks[0]
    release = Release(AgentKey("desk", "support"), "1.0.0", decision.digest, 3)
    return decision, release


def gate(*current: EvalRecord, before=(), **changes) -> Decision:
    """Decide on records against a release of `before`."""
    before = before or (record(version="1.0.0"),)
    baseline, release = released(*before)
    fields = {"baseline": baseline, "policy": policy(), "release": release} | changes
    return decide(Question(current=current, **fields), at=AT, engine="aal-engine@0")
