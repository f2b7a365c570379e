"""Records, policies and releases to test with: sound by default, changed by keyword."""

from __future__ import annotations

import hashlib
from dataclasses import replace

from aal_engine.decide.body import bodies
from aal_engine.decide.decision import Decision
from aal_engine.decide.entry import Entry
from aal_engine.decide.gate import decide
from aal_engine.decide.incident import Incident
from aal_engine.decide.policy import Policy
from aal_engine.decide.question import Question
from aal_engine.decide.release import AgentKey, Release
from aal_engine.decide.replay import Replay
from aal_engine.measure.record import EvalRecord, Mean, SliceMeans

AT = "2026-01-31T09:30:00.000Z"
GOLDEN = "a" * 64
KEY = AgentKey("desk", "support")
MEANS = {
    "retrieval": {"recall@10": 0.8, "ndcg@10": 0.7},
    "answers": {"grounded": 1.0, "complete": 0.9, "forbidden_claims": 0.0},
}


def record(
    kind="answers", family="claude", version="1.1.0", *, cases=40, without=(), **changes
) -> EvalRecord:
    """A record whose floors' metrics follow from its counts."""
    counts = dict.fromkeys(
        ("attempts", "missing_outputs", "missing_attempts", "foreign_outputs"), 0
    )
    means = dict(MEANS[kind])
    if kind == "answers":
        counts |= {"invented_citations": 0, "forbidden_claims": 0}
    counts |= {"attempts": cases} | changes.pop("counts", {})
    counts["missing_attempts"] = max(counts["missing_attempts"], counts["missing_outputs"])
    if kind == "answers":
        scored = cases - counts["missing_outputs"]
        means["grounded"] = Mean(0.975 if counts["invented_citations"] else 1.0, scored)
        means["forbidden_claims"] = Mean(0.025 if counts["forbidden_claims"] else 0.0, scored)
    means |= changes.pop("metrics", {})
    fields = {
        "kind": kind,
        "pack": "support",
        "agent": "desk",
        "version": version,
        "model_family": family,
        "suite": "core",
        "golden_set": GOLDEN,
        "cases": cases,
        "run": digest(f"run of {version}"),
        "engine": "aal-engine@0",
        "scored_at": AT,
        "metrics": {
            name: value if isinstance(value, Mean) else Mean(value, cases)
            for name, value in means.items()
            if name not in without
        },
        "slices": {},
        "counts": counts,
        "rows": cases,
    } | changes
    named = "|".join(str(fields[name]) for name in ("kind", "model_family", "version", "suite"))
    return EvalRecord(**{"table": digest(named)} | fields)


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def slices(value: float, cases: int, *names: str, kind="answers") -> dict[str, SliceMeans]:
    """Slices in which `complete` has a value and the floors are clean."""
    means = {name: Mean(mean, cases) for name, mean in (MEANS[kind] | {"complete": value}).items()}
    return {name: SliceMeans(cases, means) for name in names or ("fr",)}


def policy(**changes) -> Policy:
    return replace(Policy(families=("claude",)), **changes)


def replayed(*decisions: Decision) -> Replay:
    """What a ledger that holds these decisions means."""
    replay = Replay()
    for seq, body in enumerate((b for each in decisions for b in bodies(each)), 1):
        replay(Entry(seq, "", "decision", body, AT, b"", b""))
    return replay


def released(*records: EvalRecord, **changes) -> tuple[Decision, Release]:
    """The decision that released version 1.0.0, and the ledger's knowledge of it."""
    families = tuple(sorted({r.model_family for r in records if r.kind == "answers"}))
    allowed = policy(first_release="allow", families=families or ("claude",), **changes)
    decision = decide(Question(records, None, allowed, None), at=AT, engine="aal-engine@0")
    assert decision.verdict == "released", decision.checks[0]
    return decision, replayed(decision).releases[KEY]


def gate(*current: EvalRecord, before=(), **changes) -> Decision:
    """Decide on records against a release of `before`."""
    baseline, release = released(*(before or (record(version="1.0.0"),)))
    fields = {"baseline": baseline, "policy": policy(), "release": release} | changes
    return decide(Question(current=current, **fields), at=AT, engine="aal-engine@0")


def breach(n: int = 0, **changes) -> Incident:
    """A breach of a version that the ledger never put into service."""
    fields = {
        "key": KEY,
        "version": "1.1.0",
        "since": None,
        "check": "invented_citations",
        "evidence": digest(f"output {n}"),
        "state": "breach",
        "value": 1.0,
        "limit": 0.0,
        "n": 40,
        "rate": 0.25,
        "observed_at": AT,
    }
    return Incident(**fields | changes)
