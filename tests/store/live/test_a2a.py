"""A2A against agents of the official SDK, and against what no SDK would send."""

from __future__ import annotations

import asyncio

import pytest
from live_agents import a2a_serving, cited_sentence, serving

from aal_engine.errors import InputError
from aal_engine.measure.golden import CitationStyle
from aal_engine.measure.run import Passage
from aal_engine.store.exchange import Address
from aal_engine.store.failure import Failure
from aal_engine.store.live.a2a import A2A, interface_of, read_result
from aal_engine.store.live.agent import Question, Reply
from aal_engine.store.live.prompt import Prompt

PASSAGES = (Passage("d1", None, 2.0, "Refunds take 30 days. Then no more.", "Refunds"),)
QUESTION = Question("c1", 1, "f", "How long do refunds take?", PASSAGES)


def ask(url: str, *, timeout: float = 10, **options: str) -> Reply:
    async def asked() -> Reply:
        agent = A2A(Address(url, timeout=timeout), Prompt(), CitationStyle(), **options)
        try:
            return await agent.ask(QUESTION)
        finally:
            await agent.close()

    return asyncio.run(asked())


@pytest.mark.parametrize("rest", [False, True], ids=["json-rpc", "rest"])
def test_against_the_sdk_1_0_by_its_card_and_0_3_by_name(rest):
    with a2a_serving(rest=rest, delay=0.2) as url:
        assert ask(url).answer == "Refunds take 30 days [1]."
        path, binding = ("/rest", "HTTP+JSON") if rest else ("/rpc", "JSONRPC")
        old = ask(url + path, protocol="0.3", binding=binding)
        assert old.answer == "Refunds take 30 days [1]."


def test_a_task_that_fails_is_refused_and_one_that_never_ends_is_slow():
    with a2a_serving(state="failed") as url, pytest.raises(Failure) as failed:
        ask(url)
    assert failed.value.word == "refused"
    with a2a_serving(delay=5) as url, pytest.raises(Failure) as slow:
        ask(url, timeout=0.5)
    assert slow.value.word == "timeout"


def test_a_task_is_asked_for_until_it_ends():
    polls = []

    def behaviour(handler, body):
        if body["method"] == "message/send":
            result = {"kind": "task", "id": "t1", "status": {"state": "working"}}
        else:
            polls.append(body["params"]["id"])
            state = "completed" if len(polls) > 1 else "working"
            parts = [
                {"kind": "text", "text": "Done [1]."},
                {"kind": "data", "data": {"citations": [1]}},
            ]
            result = {"kind": "task", "id": "t1", "status": {"state": state},
                      "artifacts": [{"parts": parts}]}  # fmt: skip
        handler.reply({"jsonrpc": "2.0", "id": body["id"], "result": result})

    with serving(behaviour) as server:
        reply = ask(server.url, protocol="0.3")
    assert (reply.answer, reply.citations, polls) == ("Done [1].", (1,), ["t1", "t1"])


def test_an_error_of_json_rpc_comes_with_status_200_and_is_an_error():
    def behaviour(handler, body):
        handler.reply({"jsonrpc": "2.0", "id": 1, "error": {"code": -32603, "message": "secret"}})

    with serving(behaviour) as server, pytest.raises(Failure) as failed:
        ask(server.url, protocol="1.0")
    assert failed.value.word == "refused"
    assert failed.value.detail == "JSON-RPC error -32603" and failed.value.retry


def test_a_request_that_is_wrong_is_not_sent_again():
    for error in ({"code": -32601}, {"code": -32602, "message": "Qx"}):
        reply = {"jsonrpc": "2.0", "id": 1, "error": error}
        with (
            serving(lambda handler, _, reply=reply: handler.reply(reply)) as server,
            pytest.raises(Failure) as failed,
        ):
            ask(server.url, protocol="0.3")
        assert not failed.value.retry


@pytest.mark.parametrize(
    "result",
    [
        {},
        {"parts": []},
        {"parts": "text"},
        {"parts": [{"data": {}}]},
        {"status": {"state": "TASK_STATE_COMPLETED"}, "artifacts": [{"parts": [7]}]},
        {"parts": [{"text": "x"}, {"data": {"retrieved": [{"no": "id"}]}}]},
        {"parts": [{"text": "x"}, {"data": {"citations": [{}]}}]},
    ],
)
def test_garbage_is_unreadable(result):
    with pytest.raises(Failure) as failed:
        read_result(result)
    assert failed.value.word == "unreadable"


@pytest.mark.parametrize("state", ["failed", "rejected", "canceled", "input-required"])
def test_a_task_that_did_not_complete_is_no_answer(state):
    named = "TASK_STATE_" + state.upper().replace("-", "_")
    for written in (state, named):
        with pytest.raises(Failure) as failed:
            read_result({"status": {"state": written}, "artifacts": [{"parts": [{"text": "x"}]}]})
        assert failed.value.word == "refused"


CARDS = {
    "1.0": ({"supportedInterfaces": [{"url": "http://h/a", "protocolBinding": "JSONRPC",
                                      "protocolVersion": "1.0"}]}, ("http://h/a", "1.0", "JSONRPC")),
    "grpc first": ({"supportedInterfaces": [
        {"url": "http://h/g", "protocolBinding": "GRPC", "protocolVersion": "1.0"},
        {"url": "http://h/r", "protocolBinding": "HTTP+JSON", "protocolVersion": "1.0"}]},
        ("http://h/r", "1.0", "HTTP+JSON")),
    "0.3": ({"url": "http://h/x", "protocolVersion": "0.3.0", "preferredTransport": "HTTP+JSON"},
            ("http://h/x", "0.3", "HTTP+JSON")),
    "no version": ({"url": "http://h:80/x"}, ("http://h:80/x", "0.3", "JSONRPC")),
    "additional": ({"url": "http://h/g", "preferredTransport": "GRPC", "additionalInterfaces": [
        {"url": "http://h/j", "transport": "JSONRPC"}]}, ("http://h/j", "0.3", "JSONRPC")),
}  # fmt: skip


@pytest.mark.parametrize("name", CARDS)
def test_an_interface_is_found_on_a_card(name):
    card, expected = CARDS[name]
    found = interface_of(card, "http://h")
    assert (found.url, found.protocol, found.binding) == expected


@pytest.mark.parametrize(
    "card",
    [
        None,
        {},
        {"url": "http://elsewhere/x"},
        {"url": "https://h/x"},
        {"url": "http://h:81/x"},
        {"url": "http://h:99999/x"},
        {"supportedInterfaces": [{"url": "http://h/", "protocolVersion": "9.0"}]},
    ],
)
def test_a_card_that_leads_elsewhere_or_nowhere_is_refused(card):
    with pytest.raises(InputError):
        interface_of(card, "http://h")


def test_the_helper_cites_what_it_was_shown():
    assert cited_sentence("[1] T\nOne. Two.\n\n[2] U\nThree!") == "One [1]."
    assert cited_sentence("[1] T\nOne. Two.\n\n[2] U\nThree!", 1) == "Three [2]."


@pytest.mark.parametrize("binding", [["JSONRPC"], {"JSONRPC": 1}, 7])
def test_a_card_whose_binding_is_no_text_offers_nothing(binding):
    one = {"url": "http://h/", "protocolBinding": binding, "protocolVersion": "1.0"}
    with pytest.raises(InputError, match="has no interface"):
        interface_of({"supportedInterfaces": [one]}, "http://h")


@pytest.mark.parametrize("artifacts", [5, True, "text", {"a": 1}])
def test_artifacts_that_are_no_list_hold_no_text(artifacts):
    with pytest.raises(Failure) as failure:
        read_result({"status": {"state": "completed"}, "artifacts": artifacts})
    assert failure.value.word == "unreadable"
