"""Re-runs in their slots: each once, one at a time, the latest missed one caught up, lateness told.

A slot that failed is tried again after a pause until the next one is due. Whatever stops the
process, the next one finds which slot was run last.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from threading import Event, Timer
from typing import Final, Literal, TypeAlias

from aal_engine.decide.monitoring import Timetable
from aal_engine.errors import AalError, InputError
from aal_engine.service.release import open_desk
from aal_engine.service.rerun import Rerun, Source, late, rerun
from aal_engine.service.response import Responder, Tell
from aal_engine.service.slot import Slots
from aal_engine.store.golden import load_pack
from aal_engine.store.policy import load_policy
from aal_engine.store.slot import change_slots, lease, load_slots

PAUSE: Final = 30.0
"""Seconds at most between two looks at the clock, which may be set or have slept."""

RETRY: Final = timedelta(minutes=5)

State: TypeAlias = Literal["ran", "failed", "nothing", "overlap"]


@dataclass(frozen=True, slots=True)
class Step:
    """What one look at the clock led to: the slot, what was run of it, how many were left out."""

    state: State
    slot: datetime | None = None
    rerun: Rerun | None = None
    skipped: int = 0


class Schedule:
    """The re-runs of one pack. `out` has a folder for each slot, `state` what was run."""

    def __init__(
        self,
        responder: Responder,
        pack: Path,
        source: Source,
        slots: Slots,
        *,
        out: Path,
        state: Path,
        secrets: Callable[[str], str],
        clock: Callable[[], datetime],
        tell: Tell,
    ) -> None:
        self._responder, self._pack, self._source, self._slots = responder, pack, source, slots
        self._out, self._state, self._secrets = out, state, secrets
        self._clock, self._tell = clock, tell
        self._failed_at: datetime | None = None

    def step(self) -> Step:
        """Run the slot that is due, if one is and nobody else runs one.

        Raises:
            InputError: the timetable or what was kept cannot be read.
            WriteError: the state cannot be written.
        """
        now = self._clock()
        with lease(self._state) as mine:
            kept = load_slots(self._state)
            if kept.since is None:
                change_slots(self._state, since=now)
            due = self._slots.missed(now, kept.last)
            if due is None:
                return Step("nothing")
            if not mine:
                self._alarm_if_late(due.slot, now)
                return Step("overlap", due.slot)
            if self._failed_at is not None and abs(now - self._failed_at) < RETRY:
                self._alarm_if_late(due.slot, now)
                return Step("failed", due.slot)
            with self._watched(due.slot, now):
                done = self._ran(due.slot)
            if done is None:
                self._failed_at = self._clock()
                return Step("failed", due.slot)
            self._failed_at = None
            change_slots(self._state, last=due.slot, ended=self._clock())
            return Step("ran", due.slot, done, due.skipped)

    def run(self, stop: Event) -> Iterator[Step]:
        """Yield each step that was more than nothing, until it is told to stop."""
        while not stop.is_set():
            step = self.step()
            if step.state in ("ran", "failed"):
                yield step
            stop.wait(min(PAUSE, max(1.0, self._until_next())))

    def _until_next(self) -> float:
        now = self._clock()
        return (self._slots.after(now - self._slots.delay, 1)[0] - now).total_seconds()

    def _ran(self, slot: datetime) -> Rerun | None:
        try:
            return rerun(
                self._responder,
                self._pack,
                self._source,
                self._out / f"{slot:%Y-%m-%dT%H%MZ}",
                secrets=self._secrets,
                now=self._clock(),
            )
        except AalError as error:
            self._tell(f"the run of slot {slot:%Y-%m-%dT%H:%MZ} failed: {error.message}")
            return None

    @contextmanager
    def _watched(self, slot: datetime, now: datetime) -> Iterator[None]:
        """Raise the alarm of a slot at its time, also while its run goes on."""
        left = (slot + self._slots.delay + self._slots.timetable.stale - now).total_seconds()
        timer = Timer(max(left, 0.0), self._alarm_if_late, (slot, now + timedelta(seconds=left)))
        timer.daemon = True
        if left > 0:
            timer.start()
        try:
            yield
        finally:
            timer.cancel()
            if left > 0:
                timer.join()
        self._alarm_if_late(slot, self._clock())

    def _alarm_if_late(self, slot: datetime, now: datetime) -> None:
        """Raise a slot's alarm, once: it was run too late, or was not.

        Before anything was run a slot cannot be late for longer than there was a schedule.
        """
        kept = load_slots(self._state)
        began = slot + self._slots.delay
        if kept.last is None:
            began = max(began, kept.since or now)
        if now - began < self._slots.timetable.stale:
            return
        # One beyond now was alarmed by a clock that was wrong.
        if kept.alarmed is not None and slot <= kept.alarmed <= now:
            return
        self._tell(f"STALE: the run of slot {slot:%Y-%m-%dT%H:%MZ} has not ended in time")
        try:
            late(self._responder, self._pack, slot, now.astimezone(UTC))
        except AalError as error:
            self._tell(f"not recorded: {error.message}")
        change_slots(self._state, alarmed=slot)


def timetable_of(policy: Path, key: str) -> tuple[Timetable, Slots]:
    """Return a policy's timetable and its slots.

    Raises:
        InputError: the policy has no schedule, or one that cannot be read.
    """
    timetable = load_policy(policy).timetable
    if timetable is None:
        raise InputError.at(
            "has no schedule",
            file=policy,
            way_out='add one, as in schedule: {cron: "30 3 * * *", zone: Europe/Berlin}',
        )
    return timetable, Slots(timetable, key)


@contextmanager
def open_schedule(
    pack: Path,
    policy: Path,
    source: Source,
    *,
    ledger: Path,
    out: Path,
    state: Path,
    keys: Callable[[str], str],
    secrets: Callable[[str], str | None],
    tell: Tell,
) -> Iterator[Schedule]:
    """Give the schedule of a pack.

    Raises:
        InputError: the pack or the policy cannot be used.
        LedgerError: the ledger cannot be read.
    """

    def clock() -> datetime:
        return datetime.now(UTC)

    declared = load_pack(pack)
    _, slots = timetable_of(policy, f"{declared.agent}\0{declared.name}")
    desk = open_desk(ledger, load_policy(policy), secrets, clock)
    with Responder(desk, tell) as responder:
        yield Schedule(
            responder,
            pack,
            source,
            slots,
            out=out,
            state=state,
            secrets=keys,
            clock=clock,
            tell=tell,
        )
