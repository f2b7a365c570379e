"""What the read API answers with, as its OpenAPI document says it."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

Digest = Annotated[str, Field(pattern="^[0-9a-f]{64}$")]
Verdict = Literal["released", "blocked"]


class Wire(BaseModel):
    """A JSON object with these members and no others."""

    model_config = ConfigDict(extra="forbid")


class Mean(Wire):
    """A metric's mean over the `n` cases that it applies to; null where there is none."""

    value: float | None
    n: int


class EvalRecord(Wire):
    """What one evaluation measured: one suite, one model family, one kind. Never a text."""

    id: str
    pack: str
    agent: str
    version: str
    model_family: str | None
    suite: str
    kind: Literal["retrieval", "answers"]
    passed: bool
    metrics: dict[str, Mean]
    cases: int
    scored: int
    at: str
    release: Annotated[Digest, Field(description="The decision that holds this record.")]
    verdict: Verdict
    entry: Annotated[int, Field(description="The ledger entry that holds it.")]
    record: Digest
    golden_set: Digest
    run: Digest
    engine: str


class EvalPage(Wire):
    """Eval records; `next_cursor` asks for those after, null where there are none."""

    items: list[EvalRecord]
    next_cursor: str | None


class Baseline(Wire):
    """The release that a decision was compared with."""

    model_config = ConfigDict(extra="allow")


class Release(Wire):
    """One decision of the gate."""

    id: Annotated[Digest, Field(description="The decision's digest.")]
    agent: str
    pack: str
    version: str
    verdict: Verdict
    model_families: list[str]
    decided_at: str
    at: str
    entry: int
    baseline: Baseline | None
    policy: Digest
    engine: str
    blocking: Annotated[int, Field(description="Checks that block.")]
    serving: Annotated[bool, Field(description="Whether this version serves now.")]
    quarantined: bool


class ReleasePage(Wire):
    """Decisions; `next_cursor` asks for those after, null where there are none."""

    items: list[Release]
    next_cursor: str | None


class Check(Wire):
    """One comparison: `current` must not be worse than `baseline` by more than `tolerance`."""

    check: str
    metric: str | None
    model_family: str | None
    suite: str | None
    slice: str | None
    direction: str | None
    baseline: float | None
    current: float | None
    tolerance: float | None
    ok: bool
    advisory: bool


class ReleaseDetail(Release):
    """One decision with every check, the worst first, and the records that it was made on."""

    checks: list[Check]
    evals: list[EvalRecord]


class LedgerState(Wire):
    """What a verification of the whole ledger found."""

    holds: Annotated[bool, Field(description="Whether chain, root and meaning hold.")]
    entries: int
    origin: str | None
    root: Annotated[str | None, Field(description="The Merkle root, in base64.")]
    at: Annotated[str | None, Field(description="The time of the last entry.")]
    problem: str | None
