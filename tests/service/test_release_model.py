"""Any sequence of acts, faults and deaths: the ledger verifies, and what must never be is not."""

from __future__ import annotations

import tempfile
from pathlib import Path

from deployed import NOON, shop
from hypothesis import given, settings
from hypothesis import strategies as st
from specimen import KEY

from aal_engine.errors import AalError
from aal_engine.service.notice import deliver
from aal_engine.service.reconcile import reconcile
from aal_engine.service.release import clear, promote, quarantine, resume, rollback
from aal_engine.store.ledger import Ledger

VERSIONS = ("1.9.0", "1.10.0", "2.0.0")


class Died(BaseException):
    """The process ends at this moment."""


def dying(shop, left):
    """Have a shop's target, or its ledger, end the process after so many calls."""

    def watched(real):
        def call(*arguments, **options):
            nonlocal left
            left -= 1
            if left < 0:
                raise Died
            return real(*arguments, **options)

        return call

    book, target = shop.desk.book, shop.target
    book._ledger.append = watched(book._ledger.append)
    return {name: watched(getattr(target, name)) for name in ("act", "read")}


versions = st.sampled_from(VERSIONS)
acts = st.one_of(
    st.tuples(st.just("promote"), versions),
    st.tuples(st.just("breach"), versions),
    st.tuples(st.just("quarantine"), versions),
    st.tuples(st.just("clear"), st.one_of(st.none(), versions)),
    st.tuples(st.just("reassert"), versions),
    st.tuples(st.sampled_from(["resume", "reconcile", "deliver"]), st.none()),
)
faults = st.sampled_from([None] * 4 + ["lies", "refused", "blind", "lost"])
deaths = st.one_of(st.none(), st.none(), st.integers(0, 7))


def do(s, act, version, n):
    if act == "promote":
        promote(s.desk, KEY, version)
    elif act == "breach":
        if s.serving.latest(version) is not None:
            rollback(s.desk, s.incident(version, evidence=f"{n:064x}"))
    elif act == "quarantine":
        quarantine(s.desk.book, KEY, version, "why", NOON)
    elif act == "clear":
        clear(s.desk.book, KEY, version, "why", NOON)
    elif act == "reassert":
        s.target.shows = version
    elif act == "resume":
        resume(s.desk)
    elif act == "reconcile":
        reconcile(s.desk)
    else:
        deliver(s.desk)


def suffer(target, fault):
    target.lies, target.blind = fault == "lies", fault == "blind"
    target.fails = "refused" if fault == "refused" else None
    target.lost = set(VERSIONS[:2]) if fault == "lost" else set()


def hold(s):
    """Hold the ledger against what must be so after any act."""
    entries = [e for e in Ledger.open(s.desk.book.folder).entries() if e.kind == "rollback"]
    intents = {e.seq: e.body for e in entries if e.body["step"] == "intent"}
    done = [intents[e.body["act"]] for e in entries if e.body["step"] == "done"]
    # A stint is ended by one rollback, and an incident answered by one.
    assert len({(body["was"], body["since"]) for body in done}) == len(done)
    assert len({body["incident"] for body in done}) == len(done)
    told = [e.body["entry"] for e in entries if e.body["step"] == "told"]
    assert len(set(told)) == len(told)


@settings(max_examples=40)
@given(st.lists(st.tuples(acts, faults, deaths), max_size=12), st.sampled_from(["hold", "stop"]))
def test_whatever_happens_the_ledger_verifies_and_what_serves_is_what_it_says(steps, on_halt):
    with tempfile.TemporaryDirectory() as folder:
        s = shop(Path(folder) / "ledger", *VERSIONS, on_halt=on_halt)
        for n, ((act, version), fault, death) in enumerate(steps):
            suffer(s.target, fault)
            process = s.again()
            kept = process.target
            try:
                if death is not None:
                    for name, watched in dying(process, death).items():
                        setattr(kept, name, watched)
                do(process, act, version, n)
            except (AalError, Died):
                pass
            finally:
                for name in ("act", "read"):
                    kept.__dict__.pop(name, None)
            hold(s)
        suffer(s.target, None)
        resume(s.desk)
        assert resume(s.desk) == [] or s.serving.halt is not None
        hold(s)
        serving = s.serving
        for reading in reconcile(s.desk):
            # Only what a desired state elsewhere put there, and that is told.
            assert reading.agrees or serving.live.found == reading.found != reading.version
        if serving.halt is None and serving.version in serving.causes:
            assert serving.causes[serving.version].since != serving.since(serving.version)
        s.verified()
