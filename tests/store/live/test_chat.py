"""Chat completions, and the exchange under them, against a real server on loopback."""

from __future__ import annotations

import asyncio
import gzip
import json
import time

import pytest
from live_agents import chat, closed_port, completion, serving

from aal_engine.errors import InputError
from aal_engine.measure.golden import CitationStyle
from aal_engine.measure.run import Passage
from aal_engine.store.exchange import MASK, MAX_REPLY, Address, Exchange
from aal_engine.store.failure import Failure
from aal_engine.store.live.agent import Question, Reply
from aal_engine.store.live.chat import Chat, read_completion
from aal_engine.store.live.prompt import Prompt

PASSAGES = (
    Passage("d1", None, 2.0, "Refunds take 30 days.", "Refunds"),
    Passage("d2", None, 1.0, "Cards are refunded first.", "Cards"),
)
KEY = "sk-Qx-planted-Zw"


def ask(url: str, model: str = "second", timeout: float = 10, **options) -> Reply:
    async def asked() -> Reply:
        async with Exchange(Address(url, timeout=timeout, **options)) as exchange:
            agent = Chat(exchange, model, {"temperature": 0}, Prompt(), CitationStyle())
            return await agent.ask(Question("c1", 1, "f", "How long?", PASSAGES))

    return asyncio.run(asked())


def failing(behaviour, **options) -> Failure:
    with serving(behaviour) as server, pytest.raises(Failure) as failed:
        ask(server.url, **options)
    return failed.value


def test_a_model_is_asked_and_cites():
    with serving(chat) as server:
        headers = {"Authorization": f"Bearer {KEY}"}
        reply = ask(f"{server.url}/v1", headers=headers, secrets=(KEY,))
    assert reply.answer == "Cards are refunded first [2]."
    assert reply.tokens_in > 0 and reply.tokens_out > 0
    [sent] = server.seen
    assert sent["temperature"] == 0 and sent["stream"] is False
    assert [message["role"] for message in sent["messages"]] == ["system", "user"]
    assert server.keys == [f"Bearer {KEY}"]


def test_a_dead_agent_is_unreachable():
    with pytest.raises(Failure) as failed:
        ask(f"http://127.0.0.1:{closed_port()}")
    assert failed.value.word == "unreachable" and failed.value.retry


def test_a_connection_that_breaks_off_is_unreachable():
    def behaviour(handler, body):
        handler.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{")
        handler.close_connection = True

    assert failing(behaviour).word == "unreachable"


def test_a_byte_now_and_then_does_not_hold_the_deadline_off():
    def behaviour(handler, body):
        handler.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n")
        for _ in range(100):
            handler.wfile.write(b" ")
            handler.wfile.flush()
            time.sleep(0.05)

    began = time.monotonic()
    assert failing(behaviour, timeout=0.5).word == "timeout"
    assert time.monotonic() - began < 4


@pytest.mark.parametrize(
    ("status", "retry", "fatal"),
    [(400, False, False), (401, False, True), (403, False, True), (404, False, False),
     (429, True, False), (500, True, False), (503, True, False), (302, False, False)],
)  # fmt: skip
def test_a_status_is_refused(status, retry, fatal):
    failure = failing(
        lambda handler, body: handler.reply({}, status, Retry_After="7", Location="http://x/")
    )
    assert (failure.word, failure.detail) == ("refused", f"HTTP {status}")
    assert (failure.retry, failure.fatal, failure.after) == (retry, fatal, 7.0)


GARBAGE = {
    "html": b"<html>It works!</html>",
    "nothing": b"",
    "half": b'{"choices": [{"message": {"content": "x"',
    "a list": b"[]",
    "not utf-8": b'{"a": "\xff"}',
    "no choices": b'{"choices": []}',
    "a key twice": b'{"choices": 1, "choices": 2}',
    "deep": b"[" * 10_000,
    "null": json.dumps(completion(None)).encode(),
    "a surrogate": b'{"choices": [{"message": {"content": "\\ud800"}}]}',
}


@pytest.mark.parametrize("name", GARBAGE)
def test_garbage_is_unreadable(name):
    failure = failing(lambda handler, body: handler.reply(GARBAGE[name]))
    assert failure.word == "unreadable" and not failure.retry


def test_a_reply_beyond_all_bounds_is_unreadable():
    failure = failing(lambda handler, body: handler.reply(b" " * (MAX_REPLY + 1)))
    assert failure.word == "unreadable"


def test_a_compressed_reply_is_not_unpacked():
    packed = gzip.compress(b" " * 2**20)
    failure = failing(lambda handler, body: handler.reply(packed, Content_Encoding="gzip"))
    assert failure.word == "unreadable"


def test_a_key_that_an_agent_repeats_stays_out_of_the_answer():
    with serving(lambda handler, body: handler.reply(completion(f"My key is {KEY}."))) as server:
        reply = ask(server.url, secrets=(KEY,))
    assert reply.answer == f"My key is {MASK}."


def test_a_key_that_is_a_word_is_no_secret_and_is_left_where_it_stands():
    with serving(lambda handler, body: handler.reply(completion("There are none."))) as server:
        assert ask(server.url, secrets=("none",)).answer == "There are none."


def test_an_error_may_come_with_status_200():
    with pytest.raises(Failure) as failed:
        read_completion({"error": {"message": "Qx"}})
    assert failed.value.word == "refused" and "Qx" not in failed.value.detail


def test_a_proxy_s_password_is_refused_too():
    with pytest.raises(InputError, match="proxy"):
        ask("http://127.0.0.1:1", proxy="http://u:p@127.0.0.1:2")


@pytest.mark.parametrize(
    "url",
    [
        "",
        "ftp://h/",
        "http://",
        "h:8000",
        "http://u:p@h/",
        "http://[::1",
        "http://h:x/",
        "http://h:0/",
        "http://a b/",
    ],
)
def test_a_url_that_cannot_be_used_or_holds_a_secret(url):
    with pytest.raises(InputError) as refused:
        ask(url)
    assert "u:p" not in str(refused.value)


def test_parts_of_text_and_a_refusal_are_text():
    parts = [{"type": "text", "text": "One"}, {"type": "image"}, {"type": "text", "text": " two"}]
    assert read_completion({"choices": [{"message": {"content": parts}}]}).answer == "One two"
    refusal = {"content": None, "refusal": "I cannot say."}
    assert read_completion({"choices": [{"message": refusal}]}).answer == "I cannot say."


@pytest.mark.parametrize("usage", [None, [], {"prompt_tokens": -1}, {"prompt_tokens": "7"}])
def test_a_count_of_tokens_that_is_none(usage):
    reply = read_completion({"choices": [{"message": {"content": "x"}}], "usage": usage})
    assert reply.tokens_in is None
