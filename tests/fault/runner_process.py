"""One runner in a process of its own; to be killed, stopped and continued at any moment.

`python runner_process.py URL BEGAN SPEED FAN_OUT`: the runner's clock starts at BEGAN (seconds since
1970) and goes SPEED times as fast; leases and claims are on the database's own. It says when it
is ready, ends on SIGTERM and prints its tally.
"""

from __future__ import annotations

import asyncio
import json
import signal
import sys
import time
from dataclasses import asdict
from datetime import UTC, datetime

from aal_engine.registry.address import allow
from aal_engine.registry.office import open_office
from aal_engine.registry.probe.line import Bounds
from aal_engine.registry.run import Limits
from aal_engine.registry.runner import Pace, serve

TTL = 1.0


async def main(url: str, began: float, speed: float, fan_out: bool) -> None:
    stop = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
    print("ready", flush=True)
    limits = Limits(Bounds(seconds=2.0), exam=5.0, lag=0.5, allowed=allow(["127.0.0.0/8"]))
    pace = Pace(tick=0.1, parallel=6, ttl=TTL, grace=1.0, fan_out=fan_out, limits=limits)

    def clock() -> datetime:
        return datetime.fromtimestamp(began + (time.time() - began) * speed, UTC)

    tally = await serve(open_office(url, enabled=True), pace, stop=stop, clock=clock)
    print(json.dumps(asdict(tally)))


if __name__ == "__main__":
    url, began, speed, fan_out = sys.argv[1:]
    asyncio.run(main(url, float(began), float(speed), fan_out == "True"))
