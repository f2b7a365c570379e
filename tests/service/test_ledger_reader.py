"""Pages of a ledger, as its readers get them."""

from __future__ import annotations

from datetime import UTC, datetime
from threading import Thread

import pytest

from aal_engine.service.ledger_reader import Filters, LedgerReader
from aal_engine.store.ledger import Ledger

NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)


def body(n, part=(1, 1)):
    records = [
        {
            "kind": "answers",
            "suite": "core",
            "model_family": family,
            "passed": True,
            "record": f"r{n}{family}",
        }
        for family in ("claude", "gpt")
    ]
    return {
        "agent": "desk",
        "pack": "handbook",
        "version": f"1.{n}.0",
        "verdict": "released",
        "decision": f"d{n}",
        "part": list(part),
        "records": records,
    }


@pytest.fixture
def ledger(tmp_path):
    Ledger.init(tmp_path / "ledger", "example.com/ledger", NOON)
    return Ledger.open(tmp_path / "ledger")


@pytest.fixture
def reader(ledger, tmp_path):
    ledger.append_all("decision", [body(1), body(2, (1, 2)), body(2, (2, 2)), body(3)], NOON)
    return LedgerReader(tmp_path / "ledger")


def test_a_page_after_the_other_lists_every_decision_once(reader):
    first = reader.decisions(limit=2)
    rest = reader.decisions(before=first[-1].key)
    assert [(d.seq, len(d.parts), d.parts[0]["version"]) for d in first + rest] == [
        (4, 1, "1.3.0"),
        (3, 2, "1.2.0"),
        (1, 1, "1.1.0"),
    ]
    assert reader.decisions(before=rest[-1].key) == []


def test_evals_by_family_page_by_page(reader):
    asked = Filters(pack="handbook", family="gpt")
    found = []
    while page := reader.evals(asked, before=found[-1].key if found else None, limit=1):
        found += page
    assert [(e.decided, e.seq, e.version, e.record["record"]) for e in found] == [
        (4, 4, "1.3.0", "r3gpt"),
        (3, 3, "1.2.0", "r2gpt"),
        (3, 2, "1.2.0", "r2gpt"),
        (1, 1, "1.1.0", "r1gpt"),
    ]


def test_one_record_and_one_decision_by_digest(reader):
    (record,) = reader.evals(Filters(record="r1claude"))
    assert (record.agent, record.decision, record.verdict) == ("desk", "d1", "released")
    assert [d.seq for d in reader.decisions(Filters(decision="d1"))] == [1]


def test_what_is_appended_is_seen_at_once(reader, ledger):
    assert reader.head().size == 5
    ledger.append("release", {"agent": "desk", "version": "1.3.0"}, NOON)
    assert [e.kind for e in reader.entries(Filters(kinds=("release",)))] == ["release"]
    assert reader.head().size == 6


def test_threads_share_a_reader(reader, ledger):
    seen = []

    def read():
        seen.extend(len(reader.evals()) for _ in range(20))

    threads = [Thread(target=read) for _ in range(4)]
    for thread in threads:
        thread.start()
    for n in range(10, 20):
        ledger.append("decision", body(n), NOON)
    for thread in threads:
        thread.join()
    assert len(seen) == 80
    assert set(seen) <= set(range(8, 30, 2))
