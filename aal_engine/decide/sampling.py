"""Which outputs are checked: a keyed hash of the output's trace id decides, never chance.

Every worker, restart and replay draws the same sample. The agent does not know the key, so it
cannot write one thing when it is watched and another when it is not.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final

from aal_engine.errors import InputError

SENSITIVITIES: Final = ("public", "internal", "confidential", "restricted")
LEVELS: Final = 4
"""Levels of autonomy, 0 to 3."""

SUGGESTED: Final[Mapping[str, tuple[float, ...]]] = MappingProxyType(
    {
        "public": (0.01, 0.02, 0.05, 0.10),
        "internal": (0.02, 0.05, 0.10, 0.25),
        "confidential": (0.05, 0.10, 0.25, 0.50),
        "restricted": (0.10, 0.25, 0.50, 1.00),
    }
)
_SPACE: Final = 2**64


@dataclass(frozen=True, slots=True)
class Sampling:
    """The share of outputs that is checked, by the data's sensitivity and the agent's autonomy.

    Each row holds the shares, above 0 and up to 1, for autonomy 0 to 3. They never fall where
    autonomy or sensitivity rise.
    """

    shares: Mapping[str, tuple[float, ...]] = field(default_factory=lambda: SUGGESTED)

    def rate(self, autonomy: int, sensitivity: str) -> float:
        """Return the share of such outputs that is checked, above 0 and up to 1.

        >>> Sampling().rate(3, "restricted"), Sampling().rate(1, "public")
        (1.0, 0.02)
        """
        return self.shares[sensitivity][autonomy]


def sampling_from(percentages: Mapping[str, list[float]]) -> Sampling:
    """Read a table of percentages; a row that is left out is the suggested one.

    Raises:
        InputError: a share falls where autonomy or sensitivity rise.
    """
    shares = {
        row: tuple(value / 100 for value in percentages[row])
        if row in percentages
        else SUGGESTED[row]
        for row in SENSITIVITIES
    }
    for place, row in enumerate(SENSITIVITIES):
        below = shares[SENSITIVITIES[place - 1]] if place else (0.0,) * LEVELS
        for level, share in enumerate(shares[row]):
            if share < below[level] or (level and share < shares[row][level - 1]):
                raise InputError.at(
                    "samples less where autonomy or sensitivity is higher",
                    field=f"monitor.sampling.{row}[{level}]",
                    way_out="rows rise from left to right, and each from the row above it",
                )
    return Sampling(MappingProxyType(shares))


def sampled(trace_id: str, salt: str, rate: float) -> bool:
    """Say whether an output is in the sample: `blake2b(trace_id, key=salt)` below `rate` * 2^64.

    A higher rate samples all that a lower one does.

    >>> sampled("trace-1", "salt", 1.0), sampled("trace-1", "salt", 0.0)
    (True, False)
    """
    return place(trace_id, salt) < rate * _SPACE


def place(trace_id: str, salt: str) -> int:
    """Return where a trace id falls under a salt, 0 to 2^64 - 1: evenly, and the same everywhere.

    A salt longer than the hash's key (64 bytes) stands for its own hash.
    """
    key = salt.encode()
    if len(key) > hashlib.blake2b.MAX_KEY_SIZE:
        key = hashlib.blake2b(key).digest()
    hashed = hashlib.blake2b(trace_id.encode("utf-8", "surrogatepass"), digest_size=8, key=key)
    return int.from_bytes(hashed.digest())
