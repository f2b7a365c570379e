"""A card is fetched from where it is served, and from nowhere inside."""

from __future__ import annotations

import asyncio
import json

import pytest
from registry.stranger import answer, limits, stranger

from aal_engine.errors import RemoteError
from aal_engine.registry.address import Allowed
from aal_engine.registry.card import WELL_KNOWN
from aal_engine.registry.fetch import fetch_card

CARD = {"name": "Tutor", "url": "https://tutor.example"}


def fetched(behave, path="", **more):
    with stranger({f"{path}{WELL_KNOWN}": behave}) as server:
        place = f"http://127.0.0.1:{server.port}{path}"
        return asyncio.run(fetch_card(place, limits(**more)))


@pytest.mark.parametrize("path", ["", "/agents/7"])
def test_a_card_is_fetched(path):
    assert fetched(answer(json.dumps(CARD).encode()), path) == CARD


async def stall(writer, request):
    await asyncio.sleep(30)


@pytest.mark.parametrize(
    ("behave", "why"),
    [
        (answer(b"<html>"), "not a JSON object"),
        (answer(b"[]"), "not a JSON object"),
        (answer(b"[" * 1_900), "not a JSON object"),
        (answer(b"{}", status="404 Not Found"), "http_status: 404"),
        (answer(b"{}", "Location: http://169.254.169.254/", status="302 Found"),
         "http_status: 302"),
        (answer(b"x" * 3000), "too_large"),
        (stall, "timeout"),
    ],
)  # fmt: skip
def test_what_is_no_card_is_told(behave, why):
    with pytest.raises(RemoteError, match=why):
        fetched(behave, seconds=0.5, body=2000)


@pytest.mark.parametrize("place", ["http://127.0.0.1:9/", "ftp://a.example", "file:///etc/passwd"])
def test_nothing_inside_is_called(place):
    with pytest.raises(RemoteError, match="refused: "):
        asyncio.run(fetch_card(place, limits(allowed=Allowed())))
