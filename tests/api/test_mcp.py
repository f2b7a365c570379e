"""The MCP tools, through a real client: in process, over HTTP and over standard input and output."""

from __future__ import annotations

import asyncio
import re
import subprocess
import sys
from contextlib import contextmanager

import pytest
from api.scene import Scene
from mcp import Client, StdioServerParameters

from aal_engine.api.mcp import mcp_server
from aal_engine.service.results import Results


@pytest.fixture
def scene(tmp_path):
    scene = Scene(tmp_path / "ledger")
    scene.decide("1.0.0")
    scene.decide("1.1.0", worse=True)
    return scene


def asked(server, *calls):
    """Call tools through a client, and return the tools and the results."""

    async def talk():
        async with Client(server) as client:
            tools = (await client.list_tools()).tools
            return tools, [await client.call_tool(name, given) for name, given in calls]

    return asyncio.run(talk())


def test_the_tools_read_only_and_say_what_they_return(scene):
    tools, _ = asked(mcp_server(Results(scene.folder)))
    assert {tool.name for tool in tools} == {
        "evals", "releases", "ledger_verify", "leaderboard", "agent_record",
    }  # fmt: skip
    for tool in tools:
        assert tool.annotations.read_only_hint
        assert not tool.annotations.destructive_hint
        assert tool.output_schema["type"] == "object"
        assert tool.input_schema["additionalProperties"] is False
        assert tool.description


def test_they_return_what_the_ledger_holds(scene):
    _, (evals, releases, blocked, verified) = asked(
        mcp_server(Results(scene.folder)),
        ("evals", {"pack": "support", "family": "gpt", "passed": False}),
        ("releases", {}),
        ("releases", {"verdict": "blocked", "since": "2026-05-01T00:00:00Z"}),
        ("ledger_verify", {}),
    )
    assert [each["version"] for each in evals.structured_content["items"]] == ["1.1.0"]
    assert [each["version"] for each in releases.structured_content["items"]] == ["1.0.0"]
    assert [each["version"] for each in blocked.structured_content["items"]] == ["1.1.0"]
    assert verified.structured_content["holds"] is True
    assert verified.structured_content["entries"] == 3


def test_a_cursor_goes_on(scene):
    server = mcp_server(Results(scene.folder))
    found, cursor = [], None
    while True:
        given = {"limit": 3} | ({} if cursor is None else {"cursor": cursor})
        _, (page,) = asked(server, ("evals", given))
        found += [each["id"] for each in page.structured_content["items"]]
        cursor = page.structured_content["next_cursor"]
        if cursor is None:
            break
    assert len(found) == len(set(found)) == 8


@pytest.mark.parametrize(
    ("tool", "given"),
    [
        ("evals", {"paek": "support"}),
        ("evals", {"limit": 0}),
        ("evals", {"limit": 100_000}),
        ("evals", {"cursor": "x"}),
        ("evals", {"since": "2026-05-01"}),
        ("releases", {"verdict": "perhaps"}),
        ("ledger_verify", {"folder": "/etc"}),
        ("leaderboard", {"limit": 101}),
        ("agent_record", {}),
        ("agent_record", {"did": "did:web:a", "limit": 0}),
    ],
)
def test_what_they_do_not_take_is_refused(scene, tool, given):
    _, (refused,) = asked(mcp_server(Results(scene.folder)), (tool, given))
    assert refused.is_error
    assert str(scene.folder) not in str(refused.content)


def test_where_there_is_no_ledger_there_is_nothing(tmp_path):
    _, (evals, verified) = asked(
        mcp_server(Results(tmp_path / "none")), ("evals", {}), ("ledger_verify", {})
    )
    assert evals.structured_content == {"items": [], "next_cursor": None}
    assert verified.structured_content["entries"] == 0


def test_a_broken_ledger_is_told_as_broken(scene):
    (log,) = (scene.folder / "log").glob("*.jsonl")
    log.write_bytes(log.read_bytes().replace(b'"released"', b'"blocked"', 1))
    _, (verified,) = asked(mcp_server(Results(scene.folder)), ("ledger_verify", {}))
    assert verified.structured_content["holds"] is False
    assert "ledger entry 1" in verified.structured_content["problem"]


def test_over_standard_input_and_output(scene):
    command = ["-m", "aal_engine.agent.mcp", "--ledger", str(scene.folder)]
    server = StdioServerParameters(command=sys.executable, args=command)
    tools, (evals,) = asked(server, ("evals", {"limit": 1}))
    assert len(tools) == 5
    assert len(evals.structured_content["items"]) == 1


@contextmanager
def served(folder, **environment):
    command = ["-m", "aal_engine.agent.serve", "--port", "0", "--ledger", str(folder)]
    process = subprocess.Popen(
        [sys.executable, *command], stderr=subprocess.PIPE, text=True, env=environment or None
    )
    try:
        yield re.search(r"http://127\.0\.0\.1:\d+", process.stderr.readline())[0]
    finally:
        process.terminate()
        process.communicate(timeout=20)


def test_over_http(scene):
    with served(scene.folder) as address:
        tools, (evals, verified) = asked(
            f"{address}/mcp", ("evals", {"limit": 1}), ("ledger_verify", {})
        )
    assert len(tools) == 5
    assert len(evals.structured_content["items"]) == 1
    assert verified.structured_content["holds"] is True
