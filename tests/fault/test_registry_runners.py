"""Six runner processes, stopped and continued at random: once is once, and a sum stays zero."""

from __future__ import annotations

import pytest
from fault.runners import AGENTS, doubled, soak

SECONDS = 12.0


@pytest.mark.slow
@pytest.mark.parametrize("fan_out", [False, True], ids=["one leader", "fanned out"])
def test_runners_stopped_and_continued_at_random(database, url, fan_out):
    soaked = soak(database, url, seconds=SECONDS, fan_out=fan_out)
    assert doubled(database) == {"slots": 0, "rewards": 0, "results": 0}
    done = soaked.states["done"]
    assert soaked.results == 2 * done
    assert soaked.rewards == done
    assert soaked.audits > 10
    assert soaked.stopped > 5
    assert soaked.runs >= 4
    assert done >= 2 * AGENTS
    # A commit whose answer came too late is on the record, and its runner does not know.
    assert soaked.tallies["recorded"] <= done
    assert soaked.tallies["queued"] <= soaked.runs
