"""What a live run took, and what one would take."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from aal_engine.canonical import JSON
from aal_engine.measure.origin import Identity
from aal_engine.measure.run import Passage
from aal_engine.service.live import Plan
from aal_engine.store.address import Secret
from aal_engine.store.index.opened import open_index
from aal_engine.store.live.answered import Answered
from aal_engine.store.live.journal import finished
from aal_engine.store.live.prompt import asked
from aal_engine.store.live.spec import check_secrets

CHARACTERS_A_TOKEN = 4
"""A rule of thumb for English text; other languages and code take more tokens."""

UNCOUNTED = frozenset(("recorded", "extract"))
"""Kinds of agent that ask no model."""

SAMPLED = 20
"""Cases that are searched to see how long prompts will be."""


@dataclass(frozen=True, slots=True)
class Totals:
    """A run in numbers: seconds are the agent's, tokens None where no reply counted them."""

    answers: int
    failures: Mapping[str, int]
    retries: int
    seconds: float
    median: float | None
    p95: float | None
    tokens_in: int | None
    tokens_out: int | None

    def canonical(self) -> dict[str, JSON]:
        """Return the totals as JSON."""
        return {
            "answers": self.answers,
            "failures": dict(self.failures),
            "retries": self.retries,
            "seconds": self.seconds,
            "median_seconds": self.median,
            "p95_seconds": self.p95,
            "tokens_in": self.tokens_in,
            "tokens_out": self.tokens_out,
        }


def totals(answered: Iterable[Answered]) -> Totals:
    """Add up what every answer of a run took, whenever it was asked."""
    rows = list(answered)
    failures = Counter(one.output.error for one in rows if one.output.error is not None)
    took = sorted(one.latency_ms / 1000 for one in rows if one.latency_ms is not None)
    return Totals(
        len(rows) - sum(failures.values()),
        dict(sorted(failures.items())),
        sum(one.tries - 1 for one in rows),
        round(sum(took), 3),
        _rank(took, 0.5),
        _rank(took, 0.95),
        _sum(one.tokens_in for one in rows),
        _sum(one.tokens_out for one in rows),
    )


def _rank(ordered: list[float], share: float) -> float | None:
    """Return the value below or at which `share` of the values lie (nearest rank)."""
    if not ordered:
        return None
    return round(ordered[min(len(ordered) - 1, int(share * len(ordered)))], 3)


def _sum(counts: Iterable[int | None]) -> int | None:
    known = [count for count in counts if count is not None]
    return sum(known) if known else None


@dataclass(frozen=True, slots=True)
class Estimate:
    """What a plan would do: nothing of it was asked of the agent.

    `tokens_in` is estimated from the length of sampled prompts, None where no model is asked;
    `tokens_out` is the most that the agent's parameters allow, None where they do not say.
    """

    cases: int
    families: tuple[str, ...]
    attempts: int
    requests: int
    finished: int
    searches: int
    index: Identity | None
    sampled: int
    characters: int
    tokens_in: int | None
    tokens_out: int | None

    def canonical(self) -> dict[str, JSON]:
        """Return the estimate as JSON."""
        return {
            "cases": self.cases,
            "model_families": list(self.families),
            "attempts": self.attempts,
            "requests": self.requests,
            "finished": self.finished,
            "searches": self.searches,
            "index": None if self.index is None else self.index.canonical(),
            "sampled": self.sampled,
            "characters_a_prompt": self.characters,
            "estimated_tokens_in": self.tokens_in,
            "most_tokens_out": self.tokens_out,
        }


def estimate(planned: Plan, out: Path, secret: Secret) -> Estimate:
    """Say what a plan would take: a few questions are searched, none is asked, nothing is written.

    Raises:
        InputError: an input cannot be used, or a key is not at hand.
        RemoteError: the index did not answer.
    """
    spec = planned.agent
    if spec is not None:
        check_secrets(spec, secret)
    step = max(1, len(planned.cases) // SAMPLED)
    sample = planned.cases[::step][:SAMPLED]
    retrieved: list[tuple[Passage, ...] | None] = [None] * len(sample)
    identity = None
    if planned.index is not None:
        with open_index(*planned.index, secret) as index:
            identity = index.identity()
            found = index.search([case.question for case in sample], planned.job.k)
            retrieved = [tuple(hit.passage() for hit in hits) for hits in found]
    characters = 0
    if spec is not None and spec.kind not in UNCOUNTED:
        lengths = [
            sum(map(len, asked(spec.prompt, case.question, passages, planned.pack.citations)))
            for case, passages in zip(sample, retrieved, strict=True)
        ]
        characters = sum(lengths) // len(lengths)
    families = () if spec is None else tuple(spec.families)
    every = planned.asked
    done = min(every, finished(out, planned.digest))
    most = None if spec is None else spec.most_tokens
    return Estimate(
        len(planned.cases),
        families,
        planned.job.attempts,
        every - done,
        done,
        0 if planned.index is None else len(planned.cases),
        identity,
        len(sample),
        characters,
        (every - done) * characters // CHARACTERS_A_TOKEN if characters else None,
        None if most is None else (every - done) * most,
    )
