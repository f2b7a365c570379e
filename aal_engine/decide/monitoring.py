"""The policy's `monitor` and `schedule`: how closely a version in service is watched, and when.

Neither decides on a release, so neither is part of the policy's digest.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Final

from aal_engine.decide.sampling import Sampling, sampling_from

DEFAULT_ALPHA: Final = 0.05
DEFAULT_SILENCE: Final = timedelta(hours=1)
DEFAULT_MEASURED: Final = 0.5
DEFAULT_STALE: Final = timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class Monitoring:
    """How outputs are watched.

    `salt` keys the draw of the sample. A floor breaks on its `confirm`-th confirmed hit. `alpha` is
    the alert budget: the probability, for each rate rule of each version, that it ever fires
    although the rate is allowed. A check of which nothing was measured for `silence`, or of less
    than the share `measured` of the outputs drawn in that time, is alarmed as not measured.
    """

    salt: str = ""
    sampling: Sampling = field(default_factory=Sampling)
    confirm: int = 1
    alpha: float = DEFAULT_ALPHA
    silence: timedelta = DEFAULT_SILENCE
    measured: float = DEFAULT_MEASURED


@dataclass(frozen=True, slots=True)
class Timetable:
    """When the golden set is run again: a cron expression of five fields, in a zone.

    A run starts up to `jitter` after its slot; one that has not ended `stale` after it is alarmed.
    """

    cron: str
    zone: str = "UTC"
    jitter: timedelta = timedelta(0)
    stale: timedelta = DEFAULT_STALE


def monitoring_from(value: Mapping[str, Any]) -> Monitoring:
    """Read what the policy's schema has accepted under `monitor`.

    Raises:
        InputError: the sampling table falls where it must rise.
    """
    silence = value.get("silence_minutes")
    return Monitoring(
        salt=value.get("salt", ""),
        sampling=sampling_from(value.get("sampling", {})),
        confirm=value.get("confirm", 1),
        alpha=value.get("alert_budget", DEFAULT_ALPHA),
        silence=DEFAULT_SILENCE if silence is None else timedelta(minutes=silence),
        measured=value.get("measured_share", DEFAULT_MEASURED),
    )


def timetable_from(value: Mapping[str, Any]) -> Timetable:
    """Read what the policy's schema has accepted under `schedule`."""
    stale = value.get("stale_minutes")
    return Timetable(
        cron=" ".join(value["cron"].split()),
        zone=value.get("zone", "UTC"),
        jitter=timedelta(minutes=value.get("jitter_minutes", 0)),
        stale=DEFAULT_STALE if stale is None else timedelta(minutes=stale),
    )
