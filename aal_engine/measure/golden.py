"""Golden sets: what a good agent must find, mention, and never claim."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha256
from typing import Literal, TypeAlias

from aal_engine.canonical import JSON, canonical, digest
from aal_engine.measure.metric import Kind
from aal_engine.measure.point import Claim, Point

Expect: TypeAlias = Literal["answer", "abstain", "nothing"]
CitationMode: TypeAlias = Literal["index", "id", "link"]


@dataclass(frozen=True, slots=True)
class Case:
    """One question or task, and what a good agent does with it.

    `relevant` grades documents: above 0 is relevant, 0 and below is judged and not relevant.
    `expect` is `answer`, `abstain` (a good agent says that it does not know) or `nothing` (no
    document is relevant; the answer is judged as any other).
    """

    id: str
    question: str = field(repr=False)
    relevant: Mapping[str, int] = field(default_factory=dict)
    must_mention: tuple[Point, ...] = ()
    must_not_claim: tuple[Claim, ...] = ()
    expect: Expect = "answer"
    slices: tuple[str, ...] = ()

    def canonical(self) -> dict[str, JSON]:
        """Return the case as JSON with every default spelled out and sets in order."""
        return {
            "expect": self.expect,
            "id": self.id,
            "must_mention": [point.canonical() for point in self.must_mention],
            "must_not_claim": [claim.canonical() for claim in self.must_not_claim],
            "question": self.question,
            "relevant": dict(sorted(self.relevant.items())),
            "slices": sorted(self.slices),
        }

    def digest(self) -> str:
        """Return the SHA-256 of the case's canonical bytes, in hexadecimal."""
        return digest(self.canonical())


@dataclass(frozen=True, slots=True)
class CitationStyle:
    """How a pack's agent names its sources.

    `index`: markers are positions in the retrieved list, counted from `base` (0 or 1).
    `id`: markers are passage or document ids. `link`: as `index`, and every link is a citation too,
    so that one to an address that was not retrieved is invented; so it is where ids are addresses.
    Structured citations of a run are read in all of them.
    """

    mode: CitationMode = "index"
    base: int = 1


@dataclass(frozen=True, slots=True)
class Suite:
    """One file of cases in a pack, the kinds of evaluation it serves and the metrics it asks for."""

    name: str
    file: str
    kinds: tuple[Kind, ...]
    metrics: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Pack:
    """What `pack.yaml` declares: the agent, its autonomy and data, its citations, its suites."""

    name: str
    agent: str
    autonomy: int
    sensitivity: str
    citations: CitationStyle
    language: str
    stop_rules: tuple[Mapping[str, JSON], ...]
    suites: Mapping[str, Suite]


@dataclass(frozen=True)
class GoldenSet:
    """The cases of one suite of one pack, in id order."""

    pack: Pack
    suite: Suite
    cases: tuple[Case, ...]

    @cached_property
    def _written(self) -> tuple[bytes, ...]:
        return tuple(canonical(case.canonical()) for case in self.cases)

    @cached_property
    def digest(self) -> str:
        """SHA-256 over the canonical bytes of the cases in id order, in hexadecimal.

        The order, format and comments of the files do not change it.
        """
        return sha256(b"[" + b",".join(self._written) + b"]").hexdigest()

    @cached_property
    def case_digests(self) -> tuple[str, ...]:
        """The digest of each case, as `Case.digest` takes it."""
        return tuple(sha256(written).hexdigest() for written in self._written)

    @cached_property
    def by_id(self) -> Mapping[str, Case]:
        """The cases under their ids."""
        return {case.id: case for case in self.cases}
