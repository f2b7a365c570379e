"""What is sent in each dialect, and every way in which a reply is no answer."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from registry.stranger import answer, claim_of, examine, limits, stranger

from aal_engine.registry.card import Interface
from aal_engine.registry.probe.dialect import Reply, ask_after, get, read, send

RPC = Interface("https://a.example/rpc", "1.0", "JSONRPC")
REST = Interface("https://a.example/rest", "1.0", "HTTP+JSON")
OLD = Interface("https://a.example/rpc", "0.3", "JSONRPC")
OLD_REST = Interface("https://a.example", "0.3", "HTTP+JSON")


def test_what_is_sent_in_each_dialect():
    new = {"messageId": "m", "role": "ROLE_USER", "parts": [{"text": "hello"}]}
    request = send(RPC, "hello", "m")
    assert request.headers["A2A-Version"] == "1.0"
    assert (request.method, request.url) == ("POST", "https://a.example/rpc")
    assert request.body == {
        "jsonrpc": "2.0", "id": "m", "method": "SendMessage", "params": {"message": new}
    }  # fmt: skip
    request = send(REST, "hello", "m")
    assert (request.url, request.body) == ("https://a.example/rest/message:send", {"message": new})

    old = {
        "kind": "message", "messageId": "m", "role": "user",
        "parts": [{"kind": "text", "text": "hello"}],
    }  # fmt: skip
    request = send(OLD, "hello", "m")
    assert "A2A-Version" not in request.headers
    assert request.body == {
        "jsonrpc": "2.0", "id": "m", "method": "message/send", "params": {"message": old}
    }  # fmt: skip
    assert send(OLD_REST, "hello", "m").url == "https://a.example/v1/message:send"


def test_a_tenant_is_named_where_the_binding_has_a_place_for_it():
    body = send(Interface("https://a.example", "1.0", "JSONRPC", "t/1"), "x", "m").body
    assert body["params"]["tenant"] == "t/1"
    rest = Interface("https://a.example", "1.0", "HTTP+JSON", "t/1")
    assert send(rest, "x", "m").url == "https://a.example/t%2F1/message:send"


@pytest.mark.parametrize(
    ("interface", "method", "url"),
    [
        (RPC, "GetTask", "https://a.example/rpc"),
        (OLD, "tasks/get", "https://a.example/rpc"),
        (REST, None, "https://a.example/rest/tasks/..%2Fx"),
        (OLD_REST, None, "https://a.example/v1/tasks/..%2Fx"),
    ],
)
def test_a_task_is_asked_after(interface, method, url):
    request = ask_after(interface, "../x", "m")
    assert request.url == url
    assert (None if request.body is None else request.body["method"]) == method


def rpc(result) -> dict:
    return {"jsonrpc": "2.0", "id": "m", "result": result}


DONE = {"id": "t", "status": {"state": "TASK_STATE_COMPLETED"}}
SAID = {"parts": [{"text": "one"}, {"data": {"n": 1}}, {"text": "two"}]}


@pytest.mark.parametrize(
    ("interface", "value", "reply"),
    [
        (RPC, rpc({"message": SAID}), Reply("one\ntwo")),
        (REST, {"message": SAID}, Reply("one\ntwo")),
        (OLD, rpc({"kind": "message", **SAID}), Reply("one\ntwo")),
        (OLD_REST, {"message": {"content": [{"text": "one"}]}}, Reply("one")),
        (RPC, rpc({"task": {**DONE, "artifacts": [SAID, SAID]}}), Reply("one\ntwo\none\ntwo")),
        (RPC, rpc({"task": {"status": {**DONE["status"], "message": SAID}}}), Reply("one\ntwo")),
        (RPC, rpc({"task": DONE}), Reply("")),
        (RPC, rpc({"task": {"id": "t", "status": {"state": "TASK_STATE_WORKING"}}}),
         Reply(pending="t")),
        (OLD, rpc({"kind": "task", "id": "t", "status": {"state": "submitted"}}),
         Reply(pending="t")),
        (OLD, rpc({"kind": "task", "status": {"state": "working"}}),
         Reply(error="not_a2a: a task without an id")),
        (OLD, rpc({"kind": "task", "status": {"state": "auth-required"}}),
         Reply(error="task_auth_required")),
        (RPC, rpc({"task": {"status": {"state": "TASK_STATE_CANCELED"}}}),
         Reply(error="task_canceled")),
        (RPC, rpc({"task": {"status": {"state": "TASK_STATE_DREAMING"}}}),
         Reply(error="not_a2a: a state that the protocol does not have")),
        (RPC, rpc({"task": {"status": "done"}}), Reply(error="not_a2a: a task without a state")),
        (RPC, rpc({"message": {"parts": "one"}}), Reply(error="not_a2a: a message without parts")),
        (RPC, rpc({"kind": "message", **SAID}),
         Reply(error="not_a2a: neither a message nor a task")),
        (OLD, rpc({"message": SAID}), Reply(error="not_a2a: neither a message nor a task")),
        (RPC, rpc(None), Reply(error="not_a2a: no result")),
        (RPC, {"jsonrpc": "2.0", "id": "m"}, Reply(error="not_a2a: no result")),
        (RPC, {**rpc({"message": SAID}), "id": "n"},
         Reply(error="not_a2a: the reply to another request")),
        (RPC, {**rpc({"message": SAID}), "jsonrpc": "1.0"},
         Reply(error="not_a2a: not JSON-RPC 2.0")),
        (RPC, {"jsonrpc": "2.0", "id": "m", "error": {"code": -32601, "message": "no secret"}},
         Reply(error="rpc_error: -32601")),
        (RPC, {"jsonrpc": "2.0", "id": None, "error": {"code": "x"}}, Reply(error="rpc_error")),
        (RPC, [rpc({})], Reply(error="not_a2a: not an object")),
    ],
)  # fmt: skip
def test_a_reply_is_read(interface, value, reply):
    assert read(interface, json.dumps(value).encode(), "m") == reply


@pytest.mark.parametrize(
    "body",
    [b"<html>200</html>", b"", b"[" * 100_000, b'{"a":' * 50_000, b"\xff", b'{"jsonrpc": NaN}',
     b'"\\ud800"'],
)  # fmt: skip
def test_what_is_no_json_is_no_answer(body):
    assert read(RPC, body, "m").error == "not_a2a: not JSON"


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["task", "message", "kind", "status", "state", "parts", "artifacts",
                             "text", "id", "error", "code"]),
            inner,
            max_size=4,
        )
    ),
    max_leaves=14,
)  # fmt: skip


@given(st.sampled_from([RPC, REST, OLD, OLD_REST]), JSON, st.booleans())
def test_no_reply_can_raise_or_be_text_and_error_at_once(interface, value, task):
    for each in (value, rpc(value)):
        reply = read(interface, json.dumps(each).encode(), "m", task=task)
        assert sum([reply.text != "", reply.pending is not None, reply.error is not None]) <= 1


def test_a_path_stays_on_the_endpoint():
    assert get("https://a.example", "health").url == "https://a.example/health"
    assert get("https://a.example/x", "//b.example").url == "https://a.example/x/b.example"


def test_a_task_is_polled_until_it_ends_and_its_last_reply_is_the_evidence():
    from hashlib import sha256

    states = iter(["TASK_STATE_SUBMITTED", "TASK_STATE_WORKING", "TASK_STATE_COMPLETED"])
    sent: list[bytes] = []

    async def agent(writer, request):
        state, asked = next(states), json.loads(request)
        task = {"id": "t/1", "status": {"state": state}, "artifacts": [SAID]}
        result = {"task": task} if asked["method"] == "SendMessage" else task
        sent.append(json.dumps({**rpc(result), "id": asked["id"]}).encode())
        await answer(sent[-1])(writer, request)

    with stranger({"/rpc": agent}) as server:
        card = {"supportedInterfaces": [{"url": f"http://127.0.0.1:{server.port}/rpc"}]}
        claim = claim_of(card, ["go"], scorer="exact", expected="one\ntwo", kind="a2a_message")
        [outcome] = examine(claim, limits())
        assert server.connections == 1
    assert outcome.passed
    assert outcome.latency_ms is not None
    assert outcome.latency_ms >= 150
    assert outcome.evidence.response == sha256(sent[-1]).hexdigest()


def test_a_task_that_works_for_ever_fails_at_the_deadline():
    working = {"id": "t", "status": {"state": "TASK_STATE_WORKING"}}

    async def agent(writer, request):
        asked = json.loads(request)
        result = {"task": working} if asked["method"] == "SendMessage" else working
        await answer(json.dumps({**rpc(result), "id": asked["id"]}).encode())(writer, request)

    with stranger({"/rpc": agent}) as server:
        card = {"supportedInterfaces": [{"url": f"http://127.0.0.1:{server.port}/rpc"}]}
        [outcome] = examine(claim_of(card, ["go"], kind="a2a_message"), limits(seconds=0.8))
    assert (outcome.error, outcome.passed) == ("timeout", False)


@pytest.mark.parametrize(
    ("behave", "error"),
    [
        (answer(b"<html>fine</html>", "Content-Type: text/html"), "not_a2a: not JSON"),
        (answer(b"[" * 200_000), "not_a2a: not JSON"),
        (answer(b"{}", status="404 Not Found"), "http_status: 404"),
        (answer(b"", "Location: http://127.0.0.1:1/", status="307 Temporary Redirect"),
         "http_status: 307"),
        (answer(json.dumps({**rpc({"message": SAID}), "id": 7}).encode()),
         "not_a2a: the reply to another request"),
    ],
)  # fmt: skip
def test_what_answers_200_and_is_no_agent_fails(behave, error):
    with stranger({"/rpc": behave}) as server:
        card = {"supportedInterfaces": [{"url": f"http://127.0.0.1:{server.port}/rpc"}]}
        [outcome] = examine(claim_of(card, ["go"], kind="a2a_message"), limits())
    assert (outcome.error, outcome.score, outcome.passed) == (error, 0.0, False)
