"""What may be dialled: public vectors, the operator's word, and one spelling for a host."""

from __future__ import annotations

import json
from ipaddress import ip_address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aal_engine.errors import InputError
from aal_engine.registry.address import Allowed, Target, allow, refusal, target


def refused(entry) -> bool:
    if entry["kind"] == "address":
        return refusal(entry["input"], Allowed()) is not None
    try:
        target(entry["input"], Allowed())
    except InputError:
        return True
    return False


def test_every_public_vector_is_judged_right(shared):
    vectors = json.loads((shared / "data" / "registry" / "addresses.json").read_text())
    assert len(vectors) >= 30
    assert [v["input"] for v in vectors if refused(v) != v["block"]] == []


@pytest.mark.parametrize(
    "url",
    ["http://[::ffff:169.254.169.254]/", "http://0xa9fea9fe/", "http://2852039166/",
     "http://0251.0376.0251.0376/", "http://169.254.169.254./", "http://[64:ff9b::7f00:1]/",
     "http://1.2.3.4.5/", "http://256.1.1.1/", "http://a..b/", "http://a.example:0/",
     "http://a.example:22/", "http://a.example:99999/", "http://a.example:x/", "https://-a.example/",
     "ftp://a.example/", "http://app.localhost/", "http:\\\\a.example/", "//a.example/", "a.example",
     "http://a.example/#", "http://u@a.example/", "http://a.example\n/", "http://[1.2.3.4]/",
     "http://" + "a" * 2050, "http://[::1", "https://a.example/\x7f"],
)  # fmt: skip
def test_a_url_that_is_refused_says_why_and_nothing_more(url):
    with pytest.raises(InputError) as caught:
        target(url, Allowed())
    assert "example" not in str(caught.value)


@pytest.mark.parametrize(
    ("url", "read"),
    [
        ("https://a.example", Target("https", "a.example", 443, "", None)),
        ("http://a.example:8080/x?y=1", Target("http", "a.example", 8080, "/x?y=1", None)),
        ("http://8.8.8.8/", Target("http", "8.8.8.8", 80, "/", "8.8.8.8")),
        ("https://[2606:4700::1]/", Target("https", "2606:4700::1", 443, "/", "2606:4700::1")),
        ("https://xn--bcher-kva.example/", Target("https", "xn--bcher-kva.example", 443, "/", None)),
    ],
)  # fmt: skip
def test_a_plain_url_is_read(url, read):
    assert target(url, Allowed()) == read


def test_what_the_operator_allows_comes_first():
    allowed = allow(["127.0.0.0/8", "fd00:1::/64"], ["8000-8999", "443"])
    assert target("http://localhost:8123/", allowed).literal == "127.0.0.1"
    assert refusal("fd00:1::5", allowed) is None
    assert refusal("::ffff:127.0.0.9", allowed) is None
    assert refusal("10.0.0.1", allowed) is not None
    with pytest.raises(InputError, match="port 80 is not allowed"):
        target("http://a.example/", allowed)


def test_an_operator_behind_nat64_opens_no_way_inward():
    allowed = allow(["64:ff9b::/96"])
    assert refusal("64:ff9b::808:808", allowed) is None
    assert "link-local" in str(refusal("64:ff9b::a9fe:a9fe", allowed))


@pytest.mark.parametrize(
    ("networks", "ports"),
    [(["10.0.0.1/8"], None), (["inside"], None), ([], ["0"]), ([], ["9-1"]), ([], ["70000"]),
     ([], ["http"]), ([], ["1-"]), ([], ["-1"])],
)  # fmt: skip
def test_what_the_operator_says_is_checked(networks, ports):
    with pytest.raises(InputError):
        allow(networks, ports)


@given(st.ip_addresses(v=4) | st.ip_addresses(v=6))
def test_nothing_that_python_calls_private_is_let_through(address):
    if refusal(str(address), Allowed()) is None:
        found = ip_address(str(getattr(address, "ipv4_mapped", None) or address))
        assert not (found.is_private or found.is_loopback or found.is_link_local)
        assert not (found.is_multicast or found.is_reserved or found.is_unspecified)


@given(st.text(max_size=60) | st.from_regex(r"https?://[\x20-\x7e]{0,40}"))
def test_no_url_can_do_more_than_be_refused(url):
    try:
        read = target(url, Allowed())
    except InputError:
        return
    assert read.literal is None or refusal(read.literal, Allowed()) is None
