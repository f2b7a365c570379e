"""What a server sends is bounded, and brings no key into anybody's files."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from live_agents import serving

from aal_engine.errors import InputError
from aal_engine.store.exchange import Address, Exchange

KEY = 'sk-0123456789/a"b'
SPELLINGS = {
    "plain": KEY.replace('"', '\\"'),
    "slash": KEY.replace("/", "\\/").replace('"', '\\"'),
    "points": "".join(f"\\u{ord(char):04x}" for char in KEY),
}


def post(url: str, *secrets: str) -> Any:
    async def posted() -> Any:
        async with Exchange(Address(url, secrets=secrets, timeout=10)) as exchange:
            return await exchange.post({})

    return asyncio.run(posted())


@pytest.mark.parametrize("spelling", SPELLINGS.values(), ids=SPELLINGS)
def test_a_key_is_masked_however_json_spells_it(spelling):
    raw = f'{{"answer": "it is {spelling}", "more": [{{"text": "{spelling}!"}}, 1]}}'
    with serving(lambda handler, _: handler.reply(raw.encode())) as server:
        assert post(server.url, KEY) == {"answer": "it is [key]", "more": [{"text": "[key]!"}, 1]}


def test_a_word_that_serves_as_a_key_is_left_alone():
    with serving(lambda handler, _: handler.reply({"answer": "none"})) as server:
        assert post(server.url, "none") == {"answer": "none"}


@pytest.mark.parametrize("field", ["url", "proxy"])
def test_a_host_that_is_no_name_is_told_of_the_field(field):
    given = {"url": "http://127.0.0.1/", field: "http://xn--/"}
    with pytest.raises(InputError, match=f"^{field}: is not an http or https URL"):
        Exchange(Address(**given))
