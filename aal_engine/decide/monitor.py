"""The online monitor's rules for one agent and pack: outputs in, incidents out. No clock, no file.

A check of a version is `ok`, in `breach` or `not_measured`. A floor breaks on its `confirm`-th hit,
a rate rule when its e-value reaches 1/alpha, each once for a stint in service. What raises, is
missing or silent is not measured: alarmed at its deadline, never a pass, never a rollback.

Counts belong to one stint of one version. What a version writes that does not serve, or wrote in
an earlier stint, is late: it is counted as such, and neither breaks the version that serves nor
keeps its silence from being heard.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any, Final, NamedTuple

from aal_engine.canonical import JSON
from aal_engine.decide.entry import stamp
from aal_engine.decide.incident import Incident
from aal_engine.decide.inspection import Finding, State
from aal_engine.decide.monitoring import Monitoring
from aal_engine.decide.release import AgentKey
from aal_engine.decide.serving import Serving
from aal_engine.decide.tally import Tally, Wrong, tally_from

MOST_VERSIONS: Final = 16
"""Versions that are watched at once where the ledger does not say which one serves."""

SAYS: Final[Mapping[Wrong, str]] = {
    "silent": "nothing was measured in time",
    "unmeasured": "too few of the outputs drawn could be measured",
}


class Stint(NamedTuple):
    """A version in service: `since` is its ledger entry, None where the ledger has none.

    `began` is in seconds since the epoch. `cleared` is the entry by which a person last cleared the
    version: what was counted before it breaks nothing any more.
    """

    version: str
    since: int | None
    began: float
    cleared: int | None = None


def stints_of(serving: Serving) -> list[Stint]:
    """Return the versions that may run by the ledger: the one that serves, and the next one."""
    stints = []
    live, pending = serving.live, serving.pending
    if live is not None and live.version is not None:
        began = datetime.fromisoformat(live.at).timestamp()
        cleared = serving.cleared.get(live.version)
        stints.append(Stint(live.version, live.since, began, cleared))
    if pending is not None and pending.version is not None:
        cleared = serving.cleared.get(pending.version)
        stints.append(Stint(pending.version, pending.seq, 0.0, cleared))
    return stints


@dataclass(frozen=True, slots=True)
class Reading:
    """What stands of one check of one version, for reading."""

    version: str
    check: str
    state: State
    measured: int
    hits: int
    unmeasured: int
    allowed: float | None
    estimate: float | None
    interval: tuple[float, float]
    e_value: float | None


class Monitor:
    """The counts of one agent and pack, by version and check.

    `checks` maps each check to the rate that it allows, None for a floor. `late` counts outputs of
    versions that do not serve.
    """

    def __init__(
        self, key: AgentKey, checks: Mapping[str, float | None], settings: Monitoring
    ) -> None:
        self.key = key
        self.settings = settings
        self.late = 0
        self._checks = checks
        self._stints: dict[str, Stint] = {}
        self._tallies: dict[str, dict[str, Tally]] = {}
        self._known = False

    def serves(self, stints: Sequence[Stint], now: float, *, known: bool = True) -> None:
        """Hear which versions serve by the ledger: one, or two while an act is pending, or none.

        The counts of a version go on while its stint does, and end with it, or where a person clears
        it. Where it is not `known` every version that shows itself is watched.
        """
        self._known = known
        if not known:
            return
        serving = {stint.version: stint for stint in stints}
        for version, stint in list(self._stints.items()):
            present = serving.get(version)
            if present is None or _counted(present) != _counted(stint):
                del self._stints[version], self._tallies[version]
        for version, stint in serving.items():
            if version not in self._stints:
                self._begin(stint, now)

    def watched(self, version: str, at: float | None, now: float) -> bool:
        """Say whether an output of a version, written at a time if that is known, is to be counted.

        If not, it is counted as late.
        """
        stint = self._stints.get(version)
        if stint is None and not self._known and len(self._stints) < MOST_VERSIONS:
            stint = Stint(version, None, now)
            self._begin(stint, now)
        early = stint is not None and stint.since is not None and at is not None
        if stint is None or (early and at is not None and at < stint.began):
            self.late += 1
            return False
        return True

    def observe(
        self, version: str, trace_id: str, findings: Sequence[Finding], rate: float, now: float
    ) -> list[Incident]:
        """Count what was found in one output, drawn at a rate, of a version that is watched."""
        incidents: list[Incident] = []
        tallies = self._tallies[version]
        for finding in findings:
            tally = tallies[finding.check]
            tally.add(finding.state, rate, now)
            if (
                finding.state == "breach"
                and tally.fired is None
                and tally.breaks(self.settings.confirm, self.settings.alpha)
            ):
                tally.fired = sha256(trace_id.encode()).hexdigest()
                incidents.append(self._incident(version, finding.check, tally, rate, now))
        return incidents

    def tick(self, now: float) -> list[Incident]:
        """Return the alarms that are due: one for each time that a check goes unmeasured."""
        incidents: list[Incident] = []
        silence = self.settings.silence.total_seconds()
        for version, tallies in self._tallies.items():
            for check, tally in tallies.items():
                before = tally.alarmed
                tally.alarmed = tally.wrong(now, silence, self.settings.measured)
                if tally.alarmed is not None and tally.alarmed != before:
                    incidents.append(self._alarm(version, check, tally, now))
        return incidents

    def readings(self, now: float) -> list[Reading]:
        """Return what stands of every check of the versions watched."""
        silence = self.settings.silence.total_seconds()
        return [
            Reading(
                version,
                check,
                _state(tally, now, silence, self.settings.measured),
                tally.measured,
                tally.hits,
                tally.unmeasured,
                tally.allowed,
                tally.estimate,
                tally.interval,
                tally.e_value,
            )
            for version, tallies in self._tallies.items()
            for check, tally in tallies.items()
        ]

    def canonical(self) -> dict[str, JSON]:
        """Return the counts as JSON: names and numbers alone."""
        return {
            "agent": self.key.agent,
            "pack": self.key.pack,
            "late": self.late,
            "versions": [
                {
                    "version": stint.version,
                    "since": stint.since,
                    "began": stint.began,
                    "cleared": stint.cleared,
                    "checks": {
                        check: tally.canonical()
                        for check, tally in self._tallies[stint.version].items()
                    },
                }
                for stint in self._stints.values()
            ],
        }

    def restore(self, value: Mapping[str, Any], now: float) -> None:
        """Take up the counts that `canonical` made.

        A check that the pack does not have any more, or with another allowed rate, begins anew.
        """
        self.late = value["late"]
        for each in value["versions"]:
            stint = Stint(each["version"], each["since"], each["began"], each.get("cleared"))
            self._begin(stint, now)
            for check, kept in each["checks"].items():
                if check in self._checks and self._checks[check] == kept["allowed"]:
                    self._tallies[stint.version][check] = tally_from(kept)

    def _begin(self, stint: Stint, now: float) -> None:
        # Silence is counted from when this monitor hears of the stint, not from when it began; a stint
        # that began beyond now was recorded by a clock that was wrong.
        self._stints[stint.version] = stint._replace(began=min(stint.began, now))
        self._tallies[stint.version] = {
            check: Tally(allowed, last=now, window=now) for check, allowed in self._checks.items()
        }

    def _incident(
        self, version: str, check: str, tally: Tally, rate: float, now: float
    ) -> Incident:
        assert tally.fired is not None
        floor = tally.allowed is None
        return Incident(
            key=self.key,
            version=version,
            since=self._stints[version].since,
            check=check,
            evidence=tally.fired,
            state="breach",
            value=float(tally.hits) if floor else tally.estimate,
            limit=float(self.settings.confirm - 1) if floor else tally.allowed,
            n=tally.measured,
            rate=rate,
            observed_at=_stamped(now),
        )

    def _alarm(self, version: str, check: str, tally: Tally, now: float) -> Incident:
        assert tally.alarmed is not None
        since = self._stints[version].since
        episode = f"{version}\0{check}\0{tally.alarmed}\0{tally.last!r}\0{tally.window!r}"
        return Incident(
            key=self.key,
            version=version,
            since=since,
            check=check,
            evidence=sha256(episode.encode()).hexdigest(),
            state="not_measured",
            value=None,
            limit=None,
            n=tally.measured,
            rate=0.0,
            observed_at=_stamped(now),
            reason=SAYS[tally.alarmed],
        )


def _counted(stint: Stint) -> tuple[int | None, int | None]:
    """Return what tells the counts of one stint from those of another."""
    return stint.since, stint.cleared


def _state(tally: Tally, now: float, silence: float, share: float) -> State:
    if tally.fired is not None:
        return "breach"
    drawn = tally.window_measured + tally.window_unmeasured
    short = drawn > 0 and tally.window_measured < share * drawn
    if not tally.measured or tally.alarmed or now - tally.last >= silence or short:
        return "not_measured"
    return "ok"


def _stamped(now: float) -> str:
    return stamp(datetime.fromtimestamp(now, UTC))
