"""Where the page's views stand: as paths of a server, or as files of one folder."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import blake2b
from typing import Protocol
from urllib.parse import urlencode

from aal_engine.decide.release import AgentKey


class Links(Protocol):
    """The address of each view. What `after` and `before` take asks for a further page of it."""

    @property
    def style(self) -> str:
        """The style sheet."""

    @property
    def icon(self) -> str:
        """The icon of the page's tab."""

    def agents(self, after: AgentKey | None = None) -> str:
        """Return the address of the list of agents."""

    def agent(self, key: AgentKey, before: int | None = None) -> str:
        """Return the address of one agent."""

    def decisions(self, before: int | None = None) -> str:
        """Return the address of the list of decisions."""

    def decision(self, digest: str) -> str:
        """Return the address of one decision."""

    def ledger(self, before: int | None = None) -> str:
        """Return the address of the ledger's state."""


@dataclass(frozen=True, slots=True)
class Served:
    """Addresses on a server."""

    style: str = "/static/page.css"
    icon: str = "/static/icon.svg"

    def agents(self, after: AgentKey | None = None) -> str:
        """Return the address of the list of agents."""
        return "/" if after is None else "/?" + urlencode({"agent": after[0], "pack": after[1]})

    def agent(self, key: AgentKey, before: int | None = None) -> str:
        """Return the address of one agent."""
        # In a query, as a name may hold what a path may not.
        more = {} if before is None else {"before": before}
        return "/agent?" + urlencode({"agent": key.agent, "pack": key.pack, **more})

    def decisions(self, before: int | None = None) -> str:
        """Return the address of the list of decisions."""
        return "/decisions" if before is None else f"/decisions?before={before}"

    def decision(self, digest: str) -> str:
        """Return the address of one decision."""
        return f"/decisions/{digest}"

    def ledger(self, before: int | None = None) -> str:
        """Return the address of the ledger's state."""
        return "/ledger" if before is None else f"/ledger?before={before}"


@dataclass(frozen=True, slots=True)
class Filed:
    """Names of files in one folder; a name says nothing that a file system could not take."""

    style: str = "page.css"
    icon: str = "icon.svg"

    def agents(self, after: AgentKey | None = None) -> str:
        """Return the file of the list of agents."""
        return "index.html" if after is None else f"agents-{_mark(*after)}.html"

    def agent(self, key: AgentKey, before: int | None = None) -> str:
        """Return the file of one agent."""
        more = "" if before is None else f"-{before}"
        return f"agent-{_mark(*key)}{more}.html"

    def decisions(self, before: int | None = None) -> str:
        """Return the file of the list of decisions."""
        return "decisions.html" if before is None else f"decisions-{before}.html"

    def decision(self, digest: str) -> str:
        """Return the file of one decision."""
        return f"decision-{digest if _is_digest(digest) else _mark(digest)}.html"

    def ledger(self, before: int | None = None) -> str:
        """Return the file of the ledger's state."""
        return "ledger.html" if before is None else f"ledger-{before}.html"


def _mark(*names: str) -> str:
    told = "\0".join(names).encode(errors="surrogatepass")
    return blake2b(told, digest_size=8).hexdigest()


def _is_digest(text: str) -> bool:
    return len(text) == 64 and all(c in "0123456789abcdef" for c in text)
