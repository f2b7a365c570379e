"""Cards of three generations, read; and anything else, passed over."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aal_engine.registry.card import Interface, endpoint, interface

V1 = {
    "name": "Tutor",
    "supportedInterfaces": [
        {"url": "https://a.example/grpc", "protocolBinding": "GRPC", "protocolVersion": "1.0"},
        {"url": "https://a.example/rest", "protocolBinding": "HTTP+JSON", "tenant": "t1"},
        {"url": "https://a.example/rpc", "protocolBinding": "JSONRPC", "protocolVersion": "0.3"},
    ],
}


@pytest.mark.parametrize(
    ("card", "url", "spoken"),
    [
        (V1, "https://a.example/rest",
         Interface("https://a.example/rest", "1.0", "HTTP+JSON", "t1")),
        ({"url": "https://a.example/"}, "https://a.example/",
         Interface("https://a.example/", "0.3", "JSONRPC")),
        ({"url": "https://a.example", "protocolVersion": "0.2.5"}, "https://a.example",
         Interface("https://a.example", "0.2", "JSONRPC")),
        ({"url": "https://a.example", "preferredTransport": "HTTP+JSON"}, "https://a.example",
         Interface("https://a.example", "0.3", "HTTP+JSON")),
        ({"url": "https://a.example", "preferredTransport": "GRPC", "additionalInterfaces": [
            {"url": "https://a.example/g", "transport": "GRPC"},
            {"url": "https://a.example/j", "transport": "JSONRPC"}]}, "https://a.example",
         Interface("https://a.example/j", "0.3", "JSONRPC")),
        ({**V1, "url": "https://a.example/rpc", "preferredTransport": "JSONRPC"},
         "https://a.example/rpc", Interface("https://a.example/rpc", "0.3", "JSONRPC")),
        ({**V1, "host": "a.example"}, "https://a.example",
         Interface("https://a.example/rest", "1.0", "HTTP+JSON", "t1")),
        ({**V1, "host": "b.example"}, "https://b.example",
         Interface("https://b.example", "1.0", "JSONRPC")),
        ({"host": "http://a.example:8000", "url": "https://other.example"}, "http://a.example:8000",
         Interface("http://a.example:8000", "0.3", "JSONRPC")),
        ({"supportedInterfaces": [{"url": "https://a.example", "protocolVersion": "2.1"}]},
         "https://a.example", Interface("https://a.example", "1.0", "JSONRPC")),
        ({"supportedInterfaces": [{"url": "https://a.example", "protocolBinding": "GRPC"}]},
         None, None),
        ({"name": "no address"}, None, None),
        ({"url": ""}, None, None),
        (None, None, None),
    ],
)  # fmt: skip
def test_where_an_agent_is_reached(card, url, spoken):
    assert endpoint(card) == url
    assert interface(card) == spoken


def test_a_host_does_not_take_another_host_for_its_own():
    card = {"host": "a.example", "supportedInterfaces": [{"url": "https://a.example.evil/rpc"}]}
    assert interface(card) == Interface("https://a.example", "1.0", "JSONRPC")


JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=9), inner, max_size=4)
    ),
    max_leaves=12,
)
NAMES = st.sampled_from(
    ["host", "url", "preferredTransport", "protocolVersion", "supportedInterfaces",
     "additionalInterfaces"]
)  # fmt: skip
FIELDS = st.sampled_from(["url", "protocolBinding", "transport", "protocolVersion", "tenant"])
INTERFACES = st.lists(JSON | st.dictionaries(FIELDS, JSON, max_size=5), max_size=4)


@given(st.dictionaries(NAMES, JSON | INTERFACES, max_size=6))
def test_no_card_can_raise(card):
    found = interface(card)
    assert found is None or endpoint(card) is not None
