"""Six runner processes, stopped and continued at random: once is once, and a sum stays zero."""

from __future__ import annotations

import pytest
from fault.runners import AGENTS, doubled, soak

SECONDS = 8.0


def check(database, soaked) -> None:
    assert doubled(database) == {"slots": 0, "rewards": 0, "results": 0}
    done = soaked.states["done"]
    assert soaked.results == 2 * done
    assert soaked.rewards == done
    assert soaked.audits > 5
    assert soaked.stopped > 3
    assert soaked.runs >= 3
    assert done >= AGENTS
    # A commit whose answer came too late is on the record, and its runner does not know.
    assert soaked.tallies["recorded"] <= done
    assert soaked.tallies["queued"] <= soaked.runs


@pytest.mark.slow
def test_one_leader_among_runners_stopped_and_continued_at_random(database, url):
    check(database, soak(database, url, seconds=SECONDS))


@pytest.mark.slow
@pytest.mark.parametrize("url", ["postgresql"], indirect=True)
def test_runners_that_share_the_work_stopped_and_continued_at_random(database, url):
    check(database, soak(database, url, seconds=SECONDS, fan_out=True))
