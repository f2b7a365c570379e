"""An agent's card: where the agent is reached, and in which dialect of A2A.

Cards of three generations are read: 0.2 and 0.3 say `url`, `preferredTransport` and
`additionalInterfaces`; 1.0 says `supportedInterfaces`. A card is a stranger's word: what does not
have the shape that the protocol gives it is passed over, and nothing here can raise.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final, Literal

from aal_engine.canonical import JSON

WELL_KNOWN: Final = "/.well-known/agent-card.json"
"""Where an agent serves its card."""

MAX_URL: Final = 2048
MAX_INTERFACES: Final = 100
"""So many interfaces of a card are looked at."""

Version = Literal["0.2", "0.3", "1.0"]
Binding = Literal["JSONRPC", "HTTP+JSON"]


@dataclass(frozen=True, slots=True)
class Interface:
    """One way to an agent: an address, and what is spoken there."""

    url: str
    version: Version
    binding: Binding
    tenant: str = ""


def endpoint(card: Mapping[str, JSON] | None) -> str | None:
    """Return the URL that an agent is reached at; None where its card advertises none.

    The advertised host (`host`, or `url`) comes first, then the first supported interface.

    >>> endpoint({"host": "agents.example"})
    'https://agents.example'
    >>> endpoint({"name": "no address"}) is None
    True
    """
    if card is None:
        return None
    advertised = _url(card.get("host")) or _url(card.get("url"))
    return advertised or next((each.url for each in _listed(card)), None)


def interface(card: Mapping[str, JSON] | None) -> Interface | None:
    """Return where a message goes, and how; None where no interface is spoken here.

    It is at the endpoint, if the endpoint speaks JSON-RPC or HTTP+JSON, and otherwise the first
    interface that does. An advertised host may have its interface below it.

    >>> interface({"url": "https://a.example/rpc", "protocolVersion": "0.3.0"})
    Interface(url='https://a.example/rpc', version='0.3', binding='JSONRPC', tenant='')
    """
    if card is None:
        return None
    listed = tuple(_listed(card))
    host, url = _url(card.get("host")), _url(card.get("url"))
    if host is not None:
        below = host.rstrip("/") + "/"
        listed = tuple(each for each in listed if f"{each.url}/".startswith(below))
    elif url is not None:
        listed = tuple(each for each in listed if each.url == url) or listed
    if listed and (host is not None or url is None or listed[0].url == url):
        return listed[0]
    binding = _binding(card.get("preferredTransport"))
    if binding is None:
        return listed[0] if listed else None
    advertised = host or url
    return None if advertised is None else Interface(advertised, _card_version(card), binding)


def _listed(card: Mapping[str, JSON]) -> Iterator[Interface]:
    """Give the interfaces that are spoken here, in the card's order."""
    for name in ("supportedInterfaces", "additionalInterfaces"):
        listed = card.get(name)
        for each in listed[:MAX_INTERFACES] if isinstance(listed, list) else ():
            if not isinstance(each, Mapping):
                continue
            url = _url(each.get("url"))
            binding = _binding(each.get("protocolBinding", each.get("transport")))
            if url is None or binding is None:
                continue
            version = _version(each.get("protocolVersion"))
            if version is None:
                version = "1.0" if name == "supportedInterfaces" else _card_version(card)
            tenant = each.get("tenant")
            yield Interface(url, version, binding, tenant if isinstance(tenant, str) else "")


def _card_version(card: Mapping[str, JSON]) -> Version:
    newest: Version = "1.0" if isinstance(card.get("supportedInterfaces"), list) else "0.3"
    return _version(card.get("protocolVersion")) or newest


def _version(text: JSON) -> Version | None:
    """Return the dialect of a version: a later one is spoken to in the latest that is known."""
    if not isinstance(text, str):
        return None
    major, _, rest = text.partition(".")
    minor = rest.partition(".")[0]
    if not (major.isascii() and major.isdigit()):
        return None
    if major.lstrip("0"):
        return "1.0"
    return "0.2" if minor in ("0", "1", "2") else "0.3"


def _binding(text: JSON) -> Binding | None:
    """Return a binding that is spoken here; a card that names none means JSON-RPC."""
    if text is None or text == "JSONRPC":
        return "JSONRPC"
    return "HTTP+JSON" if text == "HTTP+JSON" else None


def _url(text: JSON) -> str | None:
    """Return an address as a URL: a bare host is reached by https."""
    if not isinstance(text, str) or not 0 < len(text) <= MAX_URL:
        return None
    return text if "://" in text else f"https://{text}"
