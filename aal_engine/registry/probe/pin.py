"""A connection pinned to the addresses that were judged."""

from __future__ import annotations

import errno
import socket
from ipaddress import ip_address

from aiohttp import AddrInfoType
from aiohttp.abc import AbstractResolver, ResolveResult

from aal_engine.registry.address import Address, Target


def judged_socket(judged: frozenset[Address], info: AddrInfoType) -> socket.socket:
    """Make a socket for an address that was judged: the last word before a connection is made."""
    family, kind, protocol, _, address = info
    if ip_address(address[0]) not in judged:
        raise OSError(errno.EACCES, "not an address that was judged")
    return socket.socket(family, kind, protocol)


class Pinned(AbstractResolver):
    """Gives the addresses that were judged, for the one host that they belong to."""

    def __init__(self, goal: Target, found: tuple[str, ...]) -> None:
        self._host = goal.host.rstrip(".")
        self._found = found

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        """Return the judged addresses; any other host is refused."""
        if host.rstrip(".").lower() != self._host:
            raise OSError(errno.EACCES, "not the agent's host")
        return [
            ResolveResult(
                hostname=host,
                host=address,
                port=port,
                family=socket.AF_INET6 if ":" in address else socket.AF_INET,
                proto=0,
                flags=socket.AI_NUMERICHOST | socket.AI_NUMERICSERV,
            )
            for address in self._found
        ]

    async def close(self) -> None:
        """Hold nothing, and close nothing."""
