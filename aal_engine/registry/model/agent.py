"""An agent: its DID, its card, whether it is examined here, and where it is at home."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from aal_engine.canonical import JSON, canonical
from aal_engine.errors import InputError

MAX_DID = 512
MAX_HOME = 512
MAX_CARD = 256 * 1024
"""Bytes of a card in canonical JSON."""

ORACLE = "did:theprotocol:eval-oracle"
"""The registry's own voice in the trust graph; no agent may take this name."""

# DID Core 1.0, section 3.1, in one reading: ASCII, one line, no empty last part.
_CHARACTER = r"(?:[A-Za-z0-9._-]|%[0-9A-Fa-f]{2})"
DID = re.compile(rf"did:[a-z0-9]{{1,64}}:(?:{_CHARACTER}*:)*{_CHARACTER}+")


@dataclass(frozen=True, slots=True)
class Agent:
    """One registered agent.

    `home` is None for an agent that is at home on this registry, and otherwise names the registry
    that it is mirrored from; a mirror is never examined here. `card` is None where none is known.
    """

    id: int
    did: str
    card: Mapping[str, JSON] | None
    active: bool
    home: str | None
    registered_at: int

    @property
    def examinable(self) -> bool:
        """Whether suites may be fired at it."""
        return self.active and self.home is None


def is_did(text: object) -> bool:
    """Whether a text is a DID by the registry's rule: DID Core's syntax, 512 characters at most.

    >>> is_did("did:web:agents.example:tutor"), is_did("did:web:"), is_did("tutor")
    (True, False, False)
    """
    return isinstance(text, str) and len(text) <= MAX_DID and DID.fullmatch(text) is not None


def check_did(did: object) -> str:
    """Return a DID.

    Raises:
        InputError: it is none.
    """
    if isinstance(did, str) and is_did(did):
        return did
    raise InputError.at(
        "not a DID",
        field="did",
        way_out="write did:METHOD:NAME, of letters, digits, '.', '_', '-', ':' and %XX",
    )


def check_agent(did: object, card: object, home: object) -> None:
    """Check what is about to be registered.

    Raises:
        InputError: the DID is none or the oracle's own, the card is no JSON object or too large, or
            the home is no name.
    """
    if check_did(did) == ORACLE:
        raise InputError.at("this name is the registry's own", field="did")
    if card is not None and not isinstance(card, dict):
        raise InputError.at("not a JSON object", field="card")
    if card is not None and len(canonical(card)) > MAX_CARD:
        raise InputError.at(f"larger than {MAX_CARD} bytes", field="card")
    if home is not None and not (
        isinstance(home, str) and 0 < len(home) <= MAX_HOME and home.isprintable()
    ):
        raise InputError.at(f"not a name of 1 to {MAX_HOME} characters", field="home")
