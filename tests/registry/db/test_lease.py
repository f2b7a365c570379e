"""One leads at a time, by the database's clock, and an epoch is never given twice."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from time import sleep

import pytest

from aal_engine.errors import StaleClaim
from aal_engine.registry.db import lease

NAME = lease.LEADER


def acquire(database, holder, ttl_ms=60_000):
    with database.write() as connection:
        return lease.acquire(connection, NAME, holder, ttl_ms)


def test_the_first_leads_and_the_second_waits(database):
    first = acquire(database, "one")
    assert (first.holder, first.epoch) == ("one", 1)
    assert acquire(database, "two") is None
    assert acquire(database, "one") is None  # Another life of one is another holder.


def test_an_expired_lease_is_taken_with_a_higher_epoch(database):
    acquire(database, "one", ttl_ms=1)
    sleep(0.01)
    assert acquire(database, "two").epoch == 2


def test_of_many_that_ask_at_once_one_leads(database):
    acquire(database, "before", ttl_ms=1)
    sleep(0.01)
    with ThreadPoolExecutor(6) as pool:
        taken = list(pool.map(lambda n: acquire(database, str(n)), range(6)))
    (leader,) = [each for each in taken if each is not None]
    assert leader.epoch == 2
    with database.read() as connection:
        held = lease.holder(connection, NAME)
    assert (held.holder, held.epoch) == (leader.holder, 2)
    assert 0 < held.ttl_ms <= 60_000


def test_a_renewed_lease_is_kept_even_when_it_had_expired_untaken(database):
    mine = acquire(database, "one", ttl_ms=30)
    sleep(0.05)
    with database.read() as connection:
        assert lease.holder(connection, NAME) is None
    with database.write() as connection:
        assert lease.renew(connection, mine)
        lease.check(connection, mine)


def test_who_was_overtaken_neither_renews_nor_writes(database):
    old = acquire(database, "one", ttl_ms=1)
    sleep(0.01)
    new = acquire(database, "two")
    with database.write() as connection:
        assert not lease.renew(connection, old)
        lease.release(connection, old)  # It is not its own to give back.
        lease.check(connection, new)
        with pytest.raises(StaleClaim):
            lease.check(connection, old)


def test_a_lease_that_was_given_back_is_free_at_once(database):
    mine = acquire(database, "one")
    with database.write() as connection:
        lease.release(connection, mine)
    assert acquire(database, "two").epoch == 2


def test_no_lease_is_no_holder(database):
    with database.read() as connection:
        assert lease.holder(connection, NAME) is None
