"""A verifier who brings more finds all that one who brings less does, and an auditor's pin all."""

from __future__ import annotations

import pytest
from fault import attacks

HARMLESS = {"nothing", "every checkpoint taken away"}


@pytest.mark.parametrize("attack", attacks.ATTACKS)
def test_who_brings_more_finds_more(attack):
    bare, own, pin = attacks.verdicts(attacks.ATTACKS[attack])
    if bare:
        assert own
        assert pin
    assert (pin == 0) == (attack in HARMLESS)
