"""An exam against agents that mean ill, or well: bounded, and nothing inside is reached."""

from __future__ import annotations

import asyncio
import gzip
import json
import socket
import time
import tracemalloc

import pytest
from registry.stranger import LOOPBACK, answer, claim_of, examine, limits, stranger

from aal_engine.errors import ExamVoid, InputError
from aal_engine.registry.address import Allowed, allow
from aal_engine.registry.probe import pin
from aal_engine.registry.probe.lookup import CANARY
from aal_engine.registry.run import Limits, examiner


def http(port: int) -> dict:
    return {"url": f"http://127.0.0.1:{port}"}


async def stall(writer, request):
    await asyncio.sleep(60)


async def drip(writer, request):
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\n")
    for _ in range(20):
        writer.write(b"x")
        await writer.drain()
        await asyncio.sleep(0.5)


async def endless_headers(writer, request):
    writer.write(b"HTTP/1.1 200 OK\r\n")
    while True:
        writer.write(b"X-More: " + b"a" * 4000 + b"\r\n")
        await writer.drain()


async def endless_body(writer, request):
    writer.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
    while True:
        writer.write(b"10000\r\n" + b"x" * 65536 + b"\r\n")
        await writer.drain()


async def endless_continue(writer, request):
    while True:
        writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        await writer.drain()
        await asyncio.sleep(0.01)


async def close_half_way(writer, request):
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\nhalf")
    await writer.drain()
    writer.close()


async def no_http(writer, request):
    writer.write(b"220 mail.example ESMTP\r\n")


async def truncated_gzip(writer, request):
    packed = gzip.compress(b"pong" * 1000)[:-12]
    head = f"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: {len(packed)}\r\n\r\n"
    writer.write(head.encode() + packed)


GZIP = "Content-Encoding: gzip"


@pytest.mark.parametrize(
    ("behave", "error"),
    [
        (stall, "timeout"),
        (drip, "timeout"),
        (endless_continue, "timeout"),
        (endless_headers, "bad_http"),
        (endless_body, "too_large"),
        (close_half_way, "connection_lost: the body ended too early"),
        (no_http, "bad_http"),
        (truncated_gzip, "undecodable: the gzip data ends too early"),
        (answer(b"pong", GZIP), "undecodable: not gzip data"),
        (answer(b"pong", "Content-Encoding: br"),
         "undecodable: a content coding that was not offered"),
        (answer(b"x" * ((1 << 20) + 1)), "too_large"),
    ],
)  # fmt: skip
def test_a_hostile_agent_fails_in_time_and_the_error_says_how(behave, error):
    with stranger({"/": behave}) as agent:
        start = time.monotonic()
        [outcome] = examine(claim_of(http(agent.port), ["/"]), limits(seconds=1.5))
        assert time.monotonic() - start < 10
    assert (outcome.error, outcome.score, outcome.passed) == (error, 0.0, False)


def test_a_body_that_comes_a_byte_each_half_second_ends_at_the_deadline():
    with stranger({"/": drip}) as agent:
        start = time.monotonic()
        [outcome] = examine(claim_of(http(agent.port), ["/"]), limits(seconds=2.0))
        assert 1.9 < time.monotonic() - start < 6
    assert outcome.error == "timeout"


def test_a_bomb_is_not_unpacked():
    bomb = gzip.compress(bytes(2_000_000_000 // 4), compresslevel=1)
    assert len(bomb) > 2_000_000
    with stranger({"/": answer(bomb, GZIP)}) as agent:
        tracemalloc.start()
        [outcome] = examine(claim_of(http(agent.port), ["/"]), limits())
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    assert outcome.error == "too_large"
    assert peak < 16 << 20


def test_a_word_at_the_end_of_a_large_body_is_found_under_the_cap_and_never_beyond_it():
    body = b"x" * 5_700_000 + b"needle"
    with stranger({"/": answer(body), "/packed": answer(gzip.compress(body), GZIP)}) as agent:
        claim = claim_of(http(agent.port), ["/", "/packed"], scorer="contains", expected="needle")
        assert [o.passed for o in examine(claim, limits(body=6_000_000))] == [True, True]
        early = claim_of(http(agent.port), ["/", "/packed"], scorer="contains", expected="x")
        cut = examine(early, limits(body=5_000_000))
    assert [(o.passed, o.error) for o in cut] == [(False, "too_large")] * 2


def test_several_gzip_members_are_one_body():
    packed = gzip.compress(b"po") + gzip.compress(b"ng")
    with stranger({"/": answer(packed, GZIP)}) as agent:
        claim = claim_of(http(agent.port), ["/"], scorer="exact", expected="pong")
        [outcome] = examine(claim, limits())
    assert outcome.passed


def test_a_body_that_is_no_text_fails_what_reads_text_and_nothing_else():
    with stranger({"/": answer(b"\xff\xfe\x00 caf\xe9", "Content-Type: text/plain")}) as agent:
        card = http(agent.port)
        [read] = examine(claim_of(card, ["/"], scorer="contains", expected="caf"), limits())
        [arrived] = examine(claim_of(card, ["/"]), limits())
    assert read.error is not None
    assert read.error.startswith("undecodable")
    assert (arrived.passed, arrived.error) == (True, None)


def test_a_declared_charset_is_used():
    with stranger({"/": answer(b"caf\xe9", "Content-Type: text/plain; charset=latin-1")}) as agent:
        claim = claim_of(http(agent.port), ["/"], scorer="exact", expected="café")
        [outcome] = examine(claim, limits())
    assert outcome.passed


def test_a_redirect_is_an_answer_and_leads_nowhere():
    with stranger({"/": answer(b"inside")}) as inside:
        moved = answer(b"", f"Location: http://127.0.0.1:{inside.port}/", status="302 Found")
        with stranger({"/": moved}) as agent:
            claim = claim_of(http(agent.port), ["/"])
            [outcome] = examine(claim, limits())
    assert inside.connections == 0
    assert (outcome.passed, outcome.error) == (False, None)


@pytest.mark.parametrize(
    ("host", "why"),
    [
        ("169.254.169.254", "link-local"),
        ("[::ffff:169.254.169.254]", "link-local"),
        ("0xa9fea9fe", "unusual spelling"),
        ("127.0.0.1", "loopback"),
        ("localhost", "loopback"),
        ("127.1", "unusual spelling"),
    ],
)
def test_an_address_inside_is_refused_before_a_socket_opens(host, why, monkeypatch):
    monkeypatch.setattr(socket.socket, "connect", lambda *_: pytest.fail("a socket was opened"))
    claim = claim_of({"url": f"http://{host}/latest/meta-data"}, ["/", "/"])
    outcomes = examine(claim, limits(allowed=Allowed()))
    for outcome in outcomes:
        assert (outcome.score, outcome.passed) == (0.0, False)
        assert outcome.error is not None
        assert outcome.error.startswith("refused: ")
        assert why in outcome.error


def names(table, asked=None):
    async def resolve(host, timeout):
        if asked is not None:
            asked.append(host)
        found = table.get(host, socket.gaierror(socket.EAI_NONAME, "no such name"))
        if isinstance(found, Exception):
            raise found
        return found

    return resolve


@pytest.mark.parametrize(
    "found", [["127.0.0.1", "10.0.0.1"], ["10.0.0.1", "127.0.0.1"], ["127.0.0.1", "fd00::1"]]
)
def test_one_address_inside_among_a_names_answers_is_enough(found):
    with stranger({"/": answer(b"pong")}) as agent:
        claim = claim_of({"url": f"http://agent.example:{agent.port}"}, ["/"])
        [outcome] = examine(claim, limits(), resolver=names({"agent.example": found}))
    assert agent.connections == 0
    assert outcome.error is not None
    assert outcome.error.startswith("refused: ")


def test_a_name_is_looked_up_once_and_what_it_points_to_later_is_never_dialled():
    answers, asked = iter([["127.0.0.1"], ["127.0.0.2"], ["127.0.0.2"]]), []

    async def rebinding(host, timeout):
        asked.append(host)
        return next(answers)

    async def once(writer, request):
        await answer(b"pong", "Connection: close")(writer, request)
        await writer.drain()
        writer.close()

    with stranger({"/": once}) as agent:
        claim = claim_of({"url": f"http://agent.example:{agent.port}"}, ["/"] * 3)
        outcomes = examine(claim, limits(), resolver=rebinding)
    assert asked == ["agent.example"]
    assert [o.passed for o in outcomes] == [True] * 3
    assert agent.connections == 3
    assert all(b"Host: agent.example:" in head for head in agent.seen)


def test_a_name_with_two_families_falls_to_the_one_that_answers():
    allowed = allow(["127.0.0.0/8", "2001:db8::/32"])
    with stranger({"/": answer(b"pong")}) as agent:
        claim = claim_of({"url": f"http://agent.example:{agent.port}"}, ["/"])
        table = {"agent.example": ["2001:db8::1", "127.0.0.1"]}
        [outcome] = examine(claim, limits(allowed=allowed), resolver=names(table))
    assert outcome.passed


NO_ANSWER = socket.gaierror(socket.EAI_AGAIN, "try again")


def test_without_a_resolver_nothing_is_held_against_the_agent():
    claim = claim_of({"url": "http://agent.example"}, ["/"])
    table = {"agent.example": NO_ANSWER, CANARY: NO_ANSWER}
    with pytest.raises(ExamVoid, match="resolver"):
        examine(claim, limits(), resolver=names(table))


@pytest.mark.parametrize(
    ("found", "error"),
    [
        (NO_ANSWER, "name_unresolved"),
        (TimeoutError(), "name_unresolved"),
        (socket.gaierror(socket.EAI_NONAME, "no"), "name_unknown"),
        (["not an address"], "refused: what the name resolves to is not an address"),
    ],
)
def test_a_broken_name_is_the_agents_own_while_others_resolve(found, error):
    claim = claim_of({"url": "http://agent.example"}, ["/"])
    table = {"agent.example": found, CANARY: ["93.184.215.14"]}
    [outcome] = examine(claim, limits(), resolver=names(table))
    assert outcome.error == error


def test_no_endpoint_scores_nothing_on_every_task():
    for card in (None, {"name": "no address"}):
        outcomes = examine(claim_of(card, ["/a", "/b"]), limits())
        assert [(o.score, o.error) for o in outcomes] == [(0.0, "no_endpoint")] * 2


def test_an_agent_that_is_offline_is_not_asked_for_ever():
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        card = http(closed.getsockname()[1])
        outcomes = examine(claim_of(card, ["/"] * 5), limits())
    assert [o.error for o in outcomes] == [
        *["connection_failed: ECONNREFUSED"] * 3,
        *["unreachable: not asked any more"] * 2,
    ]


def test_an_exam_ends_however_many_tasks_stall():
    with stranger({"/": stall}) as agent:
        claim = claim_of(http(agent.port), ["/"] * 50)
        start = time.monotonic()
        outcomes = examine(claim, limits(seconds=0.5, exam=1.2))
        assert time.monotonic() - start < 8
    assert outcomes[0].error == "timeout"
    assert outcomes[-1].error == "exam_timeout"
    assert len(outcomes) == 50


def test_this_machines_own_want_of_files_is_not_the_agents_fault(monkeypatch):
    async def none_left(**_):
        raise OSError(24, "Too many open files")

    monkeypatch.setattr("aiohttp.connector.aiohappyeyeballs.start_connection", none_left)
    with pytest.raises(ExamVoid, match="EMFILE"):
        examine(claim_of(http(1024), ["/"]), limits())


def test_what_is_measured_while_the_loop_is_late_is_void():
    async def late() -> None:
        async with examiner(limits(lag=0.15), parallel=1) as examining:
            exam = asyncio.create_task(examining.examine(claim))
            while not exam.done():
                await asyncio.sleep(0.01)
                time.sleep(0.4)
            with pytest.raises(ExamVoid, match="too busy"):
                exam.result()

    async def slow(writer, request):
        await asyncio.sleep(0.2)
        await answer(b"pong")(writer, request)

    with stranger({"/": slow}) as agent:
        claim = claim_of(http(agent.port), ["/"])
        asyncio.run(late())
        assert len(agent.seen) == 3


def test_one_connection_serves_a_suite_and_dialling_is_no_latency():
    async def slow_start(host, timeout):
        await asyncio.sleep(0.7)
        return ["127.0.0.1"]

    with stranger({"/": answer(b"pong")}) as agent:
        claim = claim_of({"url": f"http://agent.example:{agent.port}"}, ["/"] * 5)
        outcomes = examine(claim, limits(), resolver=slow_start)
        assert agent.connections == 1
    assert all(o.latency_ms is not None and o.latency_ms < 600 for o in outcomes)


def test_sixty_four_exams_at_once_have_a_connection_each_and_all_are_answered():
    async def all_at_once(claim) -> list:
        async with examiner(limits(), parallel=64) as examining:
            return await asyncio.gather(*(examining.examine(claim) for _ in range(64)))

    with stranger({"/": answer(b"pong")}) as agent:
        exams = asyncio.run(all_at_once(claim_of(http(agent.port), ["/"] * 5)))
        assert agent.connections == 64
    assert all(outcome.passed for exam in exams for outcome in exam)


def test_proxies_and_credentials_of_the_environment_are_not_used(monkeypatch, tmp_path):
    netrc = tmp_path / ".netrc"
    netrc.write_text("machine 127.0.0.1 login me password hunter2\n")
    netrc.chmod(0o600)
    monkeypatch.setenv("NETRC", str(netrc))
    with stranger({}) as proxy, stranger({"/": answer(b"pong")}) as agent:
        for name in ("http_proxy", "HTTP_PROXY", "all_proxy"):
            monkeypatch.setenv(name, f"http://127.0.0.1:{proxy.port}")
        [outcome] = examine(claim_of(http(agent.port), ["/"]), limits())
    assert outcome.passed
    assert proxy.connections == 0
    assert b"authorization" not in agent.seen[0].lower()


def test_a_connection_closed_between_two_messages_is_dialled_again():
    reply = {"jsonrpc": "2.0", "result": {"message": {"parts": [{"text": "pong"}]}}}

    async def then_close(writer, request):
        body = json.dumps({**reply, "id": json.loads(request)["id"]}).encode()
        await answer(body)(writer, request)
        await writer.drain()
        writer.close()

    with stranger({"/": then_close}) as agent:
        card = {"supportedInterfaces": [{"url": f"http://127.0.0.1:{agent.port}/"}]}
        outcomes = examine(claim_of(card, ["ping"] * 3, kind="a2a_message"), limits())
        assert agent.connections == 3
    assert [outcome.passed for outcome in outcomes] == [True] * 3


def test_only_addresses_that_were_judged_can_be_dialled(monkeypatch):
    async def elsewhere(self, host, port=0, family=0):
        found = await resolve(self, host, port, family)
        return [{**each, "host": "127.0.0.2"} for each in found]

    resolve = pin.Pinned.resolve
    monkeypatch.setattr(pin.Pinned, "resolve", elsewhere)
    with stranger({"/": answer(b"pong")}) as agent:
        claim = claim_of({"url": f"http://agent.example:{agent.port}"}, ["/"])
        [outcome] = examine(claim, limits(), resolver=names({"agent.example": ["127.0.0.1"]}))
    assert agent.connections == 0
    assert outcome.error == "connection_failed: EACCES"


def test_a_path_cannot_become_another_host_or_header():
    with stranger({}) as agent:
        paths = ["//evil.example/", "/a b\r\nX-Evil: 1", "@evil.example/", "/ü?q=1#f", "x"]
        examine(claim_of(http(agent.port), paths), limits())
    lines = [head.split(b"\r\n")[0] for head in agent.seen]
    assert lines == [
        b"GET /evil.example/ HTTP/1.1",
        b"GET /a%20b%0D%0AX-Evil:%201 HTTP/1.1",
        b"GET /@evil.example/ HTTP/1.1",
        b"GET /%C3%BC?q=1%23f HTTP/1.1",
        b"GET /x HTTP/1.1",
    ]
    assert not any(b"X-Evil: 1" in head.split(b"\r\n") for head in agent.seen)


def test_an_untrusted_certificate_is_not_an_answer(authority):
    with stranger({"/": answer(b"pong")}, authority.server("agent.example")) as agent:
        card = {"url": f"https://agent.example:{agent.port}"}
        table = names({"agent.example": ["127.0.0.1"], "other.example": ["127.0.0.1"]})
        claim = claim_of(card, ["/"])
        [unknown] = examine(claim, limits(), resolver=table)
        [trusted] = examine(claim, limits(ca_file=str(authority.file)), resolver=table)
        other = claim_of({"url": f"https://other.example:{agent.port}"}, ["/"])
        [misnamed] = examine(other, limits(ca_file=str(authority.file)), resolver=table)
    assert unknown.error == misnamed.error == "tls: the certificate is not trusted"
    assert trusted.passed


def test_authorities_that_cannot_be_read_are_told(tmp_path):
    async def open_it(path) -> None:
        async with examiner(Limits(ca_file=str(path)), parallel=1):
            raise AssertionError

    (tmp_path / "ca.pem").write_text("not a certificate")
    for name in ("ca.pem", "absent.pem"):
        with pytest.raises(InputError, match=f"^{name}: ca_file: cannot be read"):
            asyncio.run(open_it(tmp_path / name))


def test_evidence_is_of_the_request_and_of_the_body():
    from hashlib import sha256

    with stranger({"/x": answer(gzip.compress(b"pong"), GZIP)}) as agent:
        first = examine(claim_of(http(agent.port), ["/x", "/absent"]), limits())
        again = examine(claim_of(http(agent.port), ["/x", "/absent"]), limits())
    assert [o.evidence for o in first] == [o.evidence for o in again]
    assert first[0].evidence.response == sha256(b"pong").hexdigest()
    wanted = {"method": "GET", "url": f"http://127.0.0.1:{agent.port}/x", "body": None}
    canonical = json.dumps(wanted, sort_keys=True, separators=(",", ":")).encode()
    assert first[0].evidence.request == sha256(canonical).hexdigest()
    assert first[0].evidence.request != first[1].evidence.request


def test_a_message_needs_a_card_that_speaks_a_binding():
    card = {"supportedInterfaces": [{"url": "https://a.example", "protocolBinding": "GRPC"}]}
    [outcome] = examine(claim_of(card, ["hello"], kind="a2a_message"), limits(allowed=LOOPBACK))
    assert outcome.error == "no_endpoint"
