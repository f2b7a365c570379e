"""The registry's record over MCP: as over HTTP, and empty where evals are not enabled."""

from __future__ import annotations

import asyncio

import pytest
from mcp import Client
from registry.scene import NOW_MS, did, examine, put_agents, put_suite

from aal_engine.api.mcp import mcp_server
from aal_engine.registry import read
from aal_engine.registry.office import Office
from aal_engine.service.results import Results

EMPTY = [("leaderboard", {}), ("agent_record", {"did": did(0)})]


def asked(office, tmp_path, *calls):
    async def talk():
        async with Client(mcp_server(Results(tmp_path / "none"), office)) as client:
            return [await client.call_tool(name, given) for name, given in calls]

    answers = asyncio.run(talk())
    assert not any(answer.is_error for answer in answers)
    return [answer.structured_content["items"] for answer in answers]


@pytest.fixture
def examined(office):
    put_agents(office.database, 2)
    suite_id = put_suite(office.database)
    for n in range(4):
        examine(office.database, suite_id, [1, n % 2], NOW_MS + n)
    return office


def test_they_return_what_the_registry_holds(examined, tmp_path):
    board, one, none, record, unknown, hostile = asked(
        examined,
        tmp_path,
        ("leaderboard", {"suite": "basics"}),
        ("leaderboard", {"limit": 1}),
        ("leaderboard", {"suite": "a\x00b"}),
        ("agent_record", {"did": did(1), "limit": 3}),
        ("agent_record", {"did": "did:web:nobody"}),
        ("agent_record", {"did": "\x00'; --"}),
    )
    assert [(row["did"], row["mean"], row["runs"]) for row in board] == [
        (did(0), 0.75, 8),
        (did(1), 0.75, 8),
    ]
    assert [row["did"] for row in one] == [did(0)]
    assert record == read.results(examined, did(1), limit=3)
    assert none == unknown == hostile == []


def test_they_are_empty_while_evals_are_not_enabled(examined, tmp_path):
    assert asked(Office(examined.database, enabled=False), tmp_path, *EMPTY) == [[], []]
    assert asked(None, tmp_path, *EMPTY) == [[], []]
