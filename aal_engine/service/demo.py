"""The bundled pack's three versions, led through the product from a run to a verified ledger."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from aal_engine.decide.decision import Decision
from aal_engine.service.evaluate import evaluate
from aal_engine.service.gate import gate
from aal_engine.service.ledger import checked
from aal_engine.store.bundle import bundled

TITLES = {
    "1.0.0": "A first release: the policy allows one without a baseline.",
    "1.1.0": "A version that is worse, cites what it never retrieved, and claims what is forbidden.",
    "1.1.1": "The fix, against the last release, which is still the first.",
}
BLOCKED = "1.1.0"
PACK = "golden_sets/handbook"
POLICY = "policies/handbook.yaml"


@dataclass(frozen=True, slots=True)
class Step:
    """One step: what it is, the commands that do the same by hand, and what came of it."""

    title: str
    commands: Sequence[str]
    decision: Decision | None = None
    says: str = ""


def steps(out: Path, now: datetime) -> Iterator[Step]:
    """Evaluate and gate each version in `out`, then verify the ledger; yields each step when done.

    Raises:
        InputError, LedgerError, WriteError: as the acts that it calls.
    """
    released: Path | None = None
    for version, title in TITLES.items():
        folder = out / version
        run = f"{PACK}/runs/{version}.jsonl"
        evaluate(bundled(PACK), [bundled(run)], folder, version=version, now=now)
        gated = gate(
            [folder / "retrieval.json", folder / "answers.json"],
            [] if released is None else [released],
            bundled(POLICY),
            out / "ledger",
            folder / "decision.json",
            now=now,
            reports={"html": folder / "gate.html"},
        )
        against = "" if released is None else f" --baseline {released.relative_to(out)}"
        score = f"aal evaluate --pack {PACK} --run {run} --version {version} --out {version}"
        decide = (
            f"aal gate --current {version}/retrieval.json --current {version}/answers.json"
            f"{against} --policy {POLICY} --record {version}/decision.json"
        )
        yield Step(title, (score, decide), decision=gated.decision)
        if gated.decision.verdict == "released":
            released = folder / "decision.json"
    yield Step(
        "The ledger holds its first entry and all three decisions, chained.",
        ("aal ledger verify --ledger ledger",),
        says=checked(out / "ledger"),
    )
