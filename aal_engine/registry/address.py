"""Which addresses the registry may call: strangers advertise them, and some point inward.

What may be dialled is judged twice, here and without a socket: the URL as it is written, and each
address that its name resolves to. A host has one spelling: a number in hexadecimal, in octal, in
one piece or in short form is refused, and so is every name that is not plain ASCII, because
programs disagree about what such hosts mean. An address is public or it is refused, by the special
purpose registries of IANA (RFC 6890) as they stand in the tables below, which every version of
Python reads alike; what the operator allows comes before the tables.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from ipaddress import (
    IPv4Address,
    IPv4Network,
    IPv6Address,
    IPv6Network,
    ip_address,
    ip_network,
)
from typing import Final
from urllib.parse import SplitResult, urlsplit

from aal_engine.errors import InputError

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network

MAX_URL: Final = 2048
MAX_HOST: Final = 253
SCHEMES: Final = {"http": 80, "https": 443}
LOOPBACK: Final = "127.0.0.1"

_REFUSED: Final[tuple[tuple[Network, str], ...]] = tuple(
    (ip_network(network), why)
    for network, why in (
        ("0.0.0.0/8", "this host"),
        ("10.0.0.0/8", "private"),
        ("100.64.0.0/10", "shared address space"),
        ("127.0.0.0/8", "loopback"),
        ("168.63.129.16/32", "a cloud's own services"),
        ("169.254.0.0/16", "link-local"),
        ("172.16.0.0/12", "private"),
        ("192.0.0.0/24", "protocol assignments"),
        ("192.0.2.0/24", "documentation"),
        ("192.88.99.0/24", "6to4 relays"),
        ("192.168.0.0/16", "private"),
        ("198.18.0.0/15", "benchmarking"),
        ("198.51.100.0/24", "documentation"),
        ("203.0.113.0/24", "documentation"),
        ("224.0.0.0/4", "multicast"),
        ("240.0.0.0/4", "reserved"),
        ("2001::/23", "protocol assignments"),
        ("2001:db8::/32", "documentation"),
        ("2002::/16", "6to4"),
        ("3ffe::/16", "reserved"),
        ("3fff::/20", "documentation"),
    )
)
_GLOBAL_UNICAST: Final = IPv6Network("2000::/3")
"""All of IPv6 that is assigned to be routed; everything outside is refused."""
_NAT64: Final = IPv6Network("64:ff9b::/96")

_LABEL: Final = re.compile(r"[A-Za-z0-9_](?:[A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?")
_QUAD: Final = re.compile(r"(?:0|[1-9][0-9]{0,2})(?:\.(?:0|[1-9][0-9]{0,2})){3}")
_NUMERIC: Final = re.compile(r"[0-9]+|0[xX][0-9A-Fa-f]*")
_VISIBLE: Final = re.compile(r"[\x21-\x7e]+")


@dataclass(frozen=True, slots=True)
class Allowed:
    """What the operator lets the registry call: networks beside the public ones, and ports."""

    networks: tuple[Network, ...] = ()
    ports: tuple[tuple[int, int], ...] = ((80, 80), (443, 443), (1024, 65535))

    def port(self, number: int) -> bool:
        """Whether a port may be dialled."""
        return any(first <= number <= last for first, last in self.ports)


@dataclass(frozen=True, slots=True)
class Target:
    """A URL that may be dialled, if its addresses may; `literal` is its address, if it has one."""

    scheme: str
    host: str
    port: int
    path: str
    literal: str | None


def allow(networks: Iterable[str] = (), ports: Iterable[str] | None = None) -> Allowed:
    """Read the operator's words: networks as CIDR, ports as `443` or `8000-8999`.

    Raises:
        InputError: a word is neither.

    >>> allow(["10.1.0.0/16"], ["443", "8000-8999"]).port(8080)
    True
    """
    try:
        opened = tuple(ip_network(word.strip()) for word in networks)
    except ValueError:
        raise InputError.at(
            "not a network", field="networks", way_out="write 10.1.0.0/16 or fd00:1::/64"
        ) from None
    if ports is None:
        return Allowed(opened)
    return Allowed(opened, tuple(_range(word.strip()) for word in ports))


def _range(word: str) -> tuple[int, int]:
    first, dash, last = word.partition("-")
    numbers = first, last if dash else first
    if not all(each.isascii() and each.isdigit() and len(each) <= 5 for each in numbers):
        raise InputError.at("not a port", field="ports", way_out="write 443 or 8000-8999")
    low, high = (int(each) for each in numbers)
    if not 0 < low <= high <= 65535:
        raise InputError.at("not a port from 1 to 65535", field="ports")
    return low, high


def target(url: str, allowed: Allowed) -> Target:
    """Read a URL that a stranger advertises, and refuse it where it can be told already.

    Raises:
        InputError: it is not an http or https URL in plain spelling, its port is not allowed, or
            its host is an address that may not be called; the message says why.

    >>> target("https://agents.example/a2a", Allowed()).port
    443
    """
    if len(url) > MAX_URL or _VISIBLE.fullmatch(url) is None or "\\" in url:
        raise _refused("it is not a URL of visible ASCII characters")
    try:
        parts = urlsplit(url)
        number = parts.port
    except ValueError:
        raise _refused("it is not a URL") from None
    if parts.scheme not in SCHEMES:
        raise _refused("it is neither http nor https")
    if "@" in parts.netloc:
        raise _refused("it names a user")
    if parts.fragment or url.endswith("#"):
        raise _refused("it has a fragment")
    host, literal = _host(parts)
    port = SCHEMES[parts.scheme] if number is None else number
    if not allowed.port(port):
        raise _refused(f"port {port} is not allowed")
    if literal is not None and (why := refusal(literal, allowed)) is not None:
        raise _refused(why)
    query = f"?{parts.query}" if parts.query else ""
    return Target(parts.scheme, host, port, f"{parts.path}{query}", literal)


def _refused(why: str) -> InputError:
    return InputError.at(why, field="url")


def _host(parts: SplitResult) -> tuple[str, str | None]:
    """Return a URL's host, and the address that it is, where it is one."""
    host = parts.hostname or ""
    if parts.netloc.startswith("["):
        try:
            return host, str(IPv6Address(host if "%" not in host else ""))
        except ValueError:
            raise _refused("its host is not an IPv6 address") from None
    if _QUAD.fullmatch(host) is not None:
        try:
            return host, str(IPv4Address(host))
        except ValueError:
            raise _refused("its host is not an IPv4 address") from None
    labels = host.removesuffix(".").split(".")
    if len(host) > MAX_HOST or not all(_LABEL.fullmatch(label) for label in labels):
        raise _refused("its host is not a name")
    if _NUMERIC.fullmatch(labels[-1]) is not None:
        raise _refused("its host is a number in an unusual spelling")
    # RFC 6761, section 6.3: such a name is the loopback, whatever a resolver says.
    return host, LOOPBACK if labels[-1] == "localhost" else None


def refusal(address: str, allowed: Allowed) -> str | None:
    """Return why an address may not be dialled, None where it may.

    >>> refusal("169.254.169.254", Allowed())
    '169.254.169.254 is not public: link-local'
    >>> refusal("8.8.8.8", Allowed()) is None
    True
    """
    try:
        found = ip_address(address)
    except ValueError:
        return "what the name resolves to is not an address"
    if isinstance(found, IPv6Address) and found.ipv4_mapped is not None:
        found = found.ipv4_mapped
    if found in _NAT64:
        # An operator behind NAT64 allows it; the IPv4 address that it leads to is judged all the same.
        inner = refusal(str(IPv4Address(int(found) & 0xFFFFFFFF)), allowed)
        if inner is not None:
            return inner
    if any(found in network for network in allowed.networks):
        return None
    for network, why in _REFUSED:
        if found in network:
            return f"{found} is not public: {why}"
    if isinstance(found, IPv6Address) and found not in _GLOBAL_UNICAST:
        return f"{found} is not public: not global unicast"
    return None
