"""What is registered is a DID by DID Core's rule, with a card of bounded size."""

from __future__ import annotations

import pytest

from aal_engine.errors import InputError
from aal_engine.registry.model.agent import ORACLE, check_agent


@pytest.mark.parametrize(
    "wrong",
    ["", "did:web:", "did:WEB:a", "did:web:a b", "did:web:a\n", "did:web:a/b", "did:web:%zz",
     "did::a", "did:web:ä", "did:web:" + "a" * 600, ORACLE, None, 5],
)  # fmt: skip
def test_what_is_no_did_or_is_the_oracle_is_refused(wrong):
    with pytest.raises(InputError, match="did"):
        check_agent(wrong, None, None)


@pytest.mark.parametrize(
    "text", ["did:web:a", "did:key:z6Mk", "did:web:a.b%3A8080:c:d", "did:x:::y", "did:a1:-._"]
)
def test_what_did_core_allows_is_registered(text):
    check_agent(text, {}, None)


@pytest.mark.parametrize("card", [[], "x", 7, {"blob": "x" * 300_000}])
def test_a_card_that_is_none_is_refused(card):
    with pytest.raises(InputError, match="card"):
        check_agent("did:web:a", card, None)


@pytest.mark.parametrize("home", ["", 5, "x" * 600, "a\nb"])
def test_a_home_that_is_no_name_is_refused(home):
    with pytest.raises(InputError, match="home"):
        check_agent("did:web:a", None, home)
