"""Signed requests: what receivers verify, deadlines that hold, answers that are bounded."""

from __future__ import annotations

import json
import time
from datetime import UTC, datetime

import pytest
from loopback import served

from aal_engine.decide.deployment import Webhook
from aal_engine.decide.release import AgentKey
from aal_engine.errors import ActFailed, InputError
from aal_engine.store.notifier import Message, WebhookNotifier
from aal_engine.store.order import Order
from aal_engine.store.webhook import Sender, WebhookActuator, secret_of, signature

KEY = AgentKey("desk", "support")
SECRET = b"not so secret"


def noon() -> datetime:
    return datetime(2026, 5, 1, 12, tzinfo=UTC)


@pytest.fixture
def endpoint():
    with served() as made:
        yield made


def actuator(endpoint, deadline=5.0) -> WebhookActuator:
    asked = Webhook(endpoint.url + "/act", "HOOK", endpoint.url + "/{pack}/{agent}", deadline)
    return WebhookActuator(asked, SECRET, noon)


def failure(act) -> ActFailed:
    with pytest.raises(ActFailed) as told:
        act()
    return told.value


def test_the_published_vector_of_standard_webhooks():
    asked = Webhook("https://example.com", "HOOK")
    secret = secret_of(asked, {"HOOK": "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"}.get)
    signed = signature(secret, "msg_p5jXN8AQM9LWM0D4loKWxJek", 1614265330, b'{"test": 2432232314}')
    assert signed == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="


def test_a_secret_that_is_missing_or_garbled_is_told_by_its_name_alone():
    asked = Webhook("https://example.com", "HOOK")
    with pytest.raises(InputError, match="HOOK: the secret of a webhook is not in the environment"):
        secret_of(asked, {}.get)
    with pytest.raises(InputError) as told:
        secret_of(asked, {"HOOK": "whsec_§§§"}.get)
    assert "§" not in str(told.value)


def test_an_order_is_signed_and_idempotent(endpoint):
    actuator(endpoint).act(Order(KEY, "1.0.0", "t" * 64, "i" * 64))
    ((method, path, headers, body),) = endpoint.heard
    assert (method, path) == ("POST", "/act")
    assert json.loads(body) == {
        "act": "serve",
        "agent": "desk",
        "pack": "support",
        "version": "1.0.0",
        "incident": "i" * 64,
    }
    assert headers["idempotency-key"] == headers["webhook-id"] == "t" * 64
    stamp = int(noon().timestamp())
    assert headers["webhook-timestamp"] == str(stamp)
    assert headers["webhook-signature"] == signature(SECRET, "t" * 64, stamp, body)


def test_a_stop_says_so(endpoint):
    actuator(endpoint).act(Order(KEY, None, "token"))
    assert json.loads(endpoint.heard[0][3])["act"] == "stop"


def test_it_reads_which_version_serves(endpoint):
    endpoint.body = b'{"version": "1.0.0", "more": [1]}'
    assert actuator(endpoint).read(KEY) == "1.0.0"
    assert endpoint.heard[0][:2] == ("GET", "/support/desk")
    endpoint.body = b'{"version": null}'
    assert actuator(endpoint).read(KEY) is None


@pytest.mark.parametrize(
    "body",
    [b"", b"[]", b'"1.0.0"', b'{"version": 1}', b"{}", b'{"version": "a\\nb"}', b"[" * 60_000],
)
def test_what_names_no_version_is_not_taken_for_one(endpoint, body):
    endpoint.body = body
    assert failure(lambda: actuator(endpoint).read(KEY)).why == "unreadable"


@pytest.mark.parametrize(
    ("status", "why"), [(404, "gone"), (410, "gone"), (500, "refused"), (302, "refused")]
)
def test_what_statuses_say(endpoint, status, why):
    endpoint.status = status
    endpoint.headers = {"location": endpoint.url + "/elsewhere"}
    assert failure(lambda: actuator(endpoint).act(Order(KEY, "1.0.0", "token"))).why == why
    assert len(endpoint.heard) == 1


def test_an_answer_without_end_is_refused(endpoint):
    endpoint.body = b"x" * 200_000
    assert failure(lambda: actuator(endpoint).read(KEY)).why == "refused"


@pytest.mark.parametrize(("pause", "drip"), [(30.0, 0.0), (0.0, 0.1)])
def test_the_deadline_holds_for_a_slow_answer(endpoint, pause, drip):
    endpoint.pause, endpoint.drip, endpoint.body = pause, drip, b"x" * 1_000
    began = time.monotonic()
    act = actuator(endpoint, deadline=0.5).act
    assert failure(lambda: act(Order(KEY, "1.0.0", "token"))).why == "late"
    assert time.monotonic() - began < 3


def test_nobody_listens(endpoint):
    asked = Webhook("http://127.0.0.1:9/", "HOOK", "http://127.0.0.1:9/", 5.0)
    made = WebhookActuator(asked, SECRET, noon)
    assert failure(lambda: made.act(Order(KEY, "1.0.0", "token"))).why == "refused"


class TestNotifier:
    MESSAGE = Message("a line", {"notice": "halted"}, "token")

    def notifier(self, endpoint, deadline=3.0):
        return WebhookNotifier("webhook 1", endpoint.url, Sender(SECRET, deadline, noon))

    def test_it_posts_the_body(self, endpoint):
        self.notifier(endpoint).send(self.MESSAGE)
        assert endpoint.heard[0][3] == b'{"notice":"halted"}'

    def test_it_tries_again_under_the_same_key(self, endpoint):
        endpoint.first = [503, 429]
        self.notifier(endpoint).send(self.MESSAGE)
        assert [headers["idempotency-key"] for _, _, headers, _ in endpoint.heard] == ["token"] * 3

    def test_it_gives_up_at_its_deadline(self, endpoint):
        endpoint.status = 503
        began = time.monotonic()
        failure(lambda: self.notifier(endpoint, 0.5).send(self.MESSAGE))
        assert time.monotonic() - began < 3


def test_a_secret_is_in_no_repr():
    assert "my own" not in repr(Sender(b"my own", 1.0, noon))
