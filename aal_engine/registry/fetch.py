"""An agent's card, fetched from where the agent serves it, as carefully as it is examined."""

from __future__ import annotations

import asyncio

import msgspec

from aal_engine.canonical import JSON
from aal_engine.errors import RemoteError
from aal_engine.registry.card import WELL_KNOWN
from aal_engine.registry.probe.dialect import get
from aal_engine.registry.probe.fault import Failed
from aal_engine.registry.probe.line import Answer, dialled
from aal_engine.registry.probe.lookup import Resolver
from aal_engine.registry.run import Limits, reaching


async def fetch_card(
    place: str, limits: Limits, *, resolver: Resolver | None = None
) -> dict[str, JSON]:
    """Return the card that is served below a place, an http or https URL.

    Raises:
        RemoteError: the place may not be called, does not answer in time, or serves no card.
        ExamVoid: this machine could not call anybody.
        InputError: the file of certificate authorities cannot be read.
    """
    try:
        async with (
            reaching(limits, resolver=resolver) as reach,
            asyncio.timeout(limits.probe.seconds + limits.probe.lookup),
            dialled(place, reach) as line,
        ):
            answer = await line.ask(get(place, WELL_KNOWN))
    except TimeoutError:
        raise RemoteError("the card could not be fetched: timeout") from None
    except Failed as error:
        raise RemoteError(f"the card could not be fetched: {error}") from None
    return _card(answer)


def _card(answer: Answer) -> dict[str, JSON]:
    if answer.status != 200:
        raise RemoteError(f"the card could not be fetched: http_status: {answer.status}")
    try:
        value: JSON = msgspec.json.decode(answer.body)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        value = None
    if not isinstance(value, dict):
        raise RemoteError("the card could not be fetched: it is not a JSON object")
    return value
