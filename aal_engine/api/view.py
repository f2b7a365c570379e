"""The page 'Evaluations and releases': what each of its views shows, and its HTML.

Names come from a ledger that others wrote to: templates escape all of them.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from aal_engine.api.link import Links
from aal_engine.decide.checkpoint import parse_text
from aal_engine.decide.entry import Entry
from aal_engine.decide.merkle import inclusion_proof
from aal_engine.decide.note import parse
from aal_engine.decide.release import AgentKey
from aal_engine.errors import AalError, NotFound
from aal_engine.measure.metric import METRICS, metric
from aal_engine.registry import read
from aal_engine.registry.office import Office
from aal_engine.service import history as acts
from aal_engine.service.chart import Series, picture, told
from aal_engine.service.ledger_reader import Decided, Filters
from aal_engine.service.report.row import row
from aal_engine.service.results import Results

STATIC = Path(__file__).with_name("static")
FILES: Mapping[str, str] = {"page.css": "text/css", "icon.svg": "image/svg+xml"}
"""What the views refer to, by its name in `STATIC`, and its media type."""

AGENTS = 12
DECISIONS = 50
ENTRIES = 100
LEADERS = 100
RESULTS = 100

_TOLD = ("origin", "agent", "pack", "version", "verdict", "step", "check", "reason")
"""Members of an entry's body that its row shows, where they are there."""


@dataclass(frozen=True, slots=True)
class Measured:
    """What one suite measured: a row for each metric, a value for each model family."""

    suite: str
    kind: str
    families: tuple[str, ...]
    cases: tuple[str, ...]
    passed: tuple[bool, ...]
    rows: tuple[tuple[str, tuple[str, ...]], ...]


@dataclass(frozen=True, slots=True)
class Shown:
    """A view's HTML, and what asks for the page of it that follows, None where none does."""

    html: str
    more: Any = None


class View:
    """Renders the views of one ledger's record, and of a registry's where there is one."""

    def __init__(self, results: Results, links: Links, office: Office | None = None) -> None:
        self._results = results
        self._links = links
        self._office = office if office is not None and office.enabled else None
        self._templates = Environment(
            loader=FileSystemLoader(Path(__file__).with_name("templates")),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        self._templates.filters |= {"moment": moment, "picture": _picture, "told": told}

    def agents(self, after: AgentKey | None = None) -> Shown:
        """Return the list of agents: what serves, and the last decisions.

        Raises:
            LedgerError: the ledger is broken or cannot be read.
        """
        reader = self._results.reader()
        found = [] if reader is None else acts.summaries(reader, after=after, limit=AGENTS + 1)
        shown = found[:AGENTS]
        more = shown[-1].key if len(found) > AGENTS else None
        return self._shown(
            "agents",
            more,
            agents=shown,
            older=None if more is None else self._links.agents(more),
            first=after is None,
        )

    def agent(self, key: AgentKey, before: int | None = None) -> Shown:
        """Return one agent's record: its metrics over time, and its decisions.

        Raises:
            NotFound: it has no decision.
            LedgerError: as `agents`.
        """
        reader = self._results.reader()
        found = None if reader is None else acts.history(reader, key, before=before)
        if found is None or not found.decisions:
            raise NotFound("this agent has no decision on this pack")
        older = None if found.before is None else self._links.agent(key, found.before)
        return self._shown("agent", found.before, history=found, older=older, first=before is None)

    def decisions(self, before: int | None = None) -> Shown:
        """Return the list of decisions, the newest first.

        Raises:
            LedgerError: as `agents`.
        """
        reader = self._results.reader()
        found = (
            []
            if reader is None
            else acts.decided(reader, Filters(), before=before, limit=DECISIONS + 1)
        )
        shown = found[:DECISIONS]
        more = shown[-1].key if len(found) > DECISIONS else None
        older = None if more is None else self._links.decisions(more)
        return self._shown("decisions", more, decisions=shown, older=older, first=before is None)

    def decision(self, digest: str) -> Shown:
        """Return one decision with every check, what was measured, and its place in the ledger.

        Raises:
            NotFound: there is none by this digest.
            LedgerError: as `agents`.
        """
        reader = self._results.reader()
        asked = Filters(decision=digest)
        found = [] if reader is None else acts.decided(reader, asked, limit=1)
        if reader is None or not found:
            raise NotFound("there is no such decision")
        decided = found[0]
        checks = acts.checks_of(decided)
        head, leaves = reader.tree()
        return self._shown(
            "decision",
            decided=decided,
            first=decided.parts[0],
            key=AgentKey(decided.parts[0]["agent"], decided.parts[0]["pack"]),
            blocking=sum(check.blocks for check in checks),
            rows=[row(check) for check in checks],
            measured=acts.read(decided.seq, lambda: _measured(decided)),
            head=head,
            root=_base64(head.root),
            leaf=leaves[decided.seq].hex(),
            path=[each.hex() for each in inclusion_proof(leaves, decided.seq)],
        )

    def ledger(self, before: int | None = None) -> Shown:
        """Return the ledger's state and its entries, the newest first.

        Raises:
            LedgerError: as `agents`.
        """
        reader = self._results.reader()
        head = None if reader is None else reader.head()
        found = [] if reader is None else reader.entries(before=before, limit=ENTRIES + 1)
        shown = found[:ENTRIES]
        more = shown[-1].seq if len(found) > ENTRIES else None
        return self._shown(
            "ledger",
            more,
            head=head,
            root="" if head is None else _base64(head.root),
            signed=self._signed(),
            entries=[(entry, _line(entry)) for entry in shown],
            older=None if more is None else self._links.ledger(more),
            first=before is None,
        )

    def leaderboard(self, suite: str, now: datetime) -> Shown:
        """Return the registry's agents by mean score, in one suite or (empty) in all.

        Raises:
            NotFound: there is no registry here.
            RegistryUnavailable: its database does not answer.
        """
        office = self._registry()
        rows = read.leaderboard(office, key=suite or None, limit=LEADERS, now=now)
        suites = [each["key"] for each in read.catalog(office)]
        return self._shown("leaderboard", rows=rows, suites=suites, suite=suite)

    def record(self, did: str) -> Shown:
        """Return the last results of one of the registry's agents.

        Raises:
            NotFound: there is no registry here, or it has no result of the agent.
            RegistryUnavailable: its database does not answer.
        """
        rows = read.results(self._registry(), did, limit=RESULTS)
        if not rows:
            raise NotFound("this registry has no result of such an agent")
        return self._shown("record", rows=rows, did=did)

    def _registry(self) -> Office:
        if self._office is None:
            raise NotFound("evals are not published here")
        return self._office

    def problem(self, error: AalError) -> Shown:
        """Return the view that tells of a failure."""
        return self._shown("problem", error=error)

    def _signed(self) -> int | None:
        """Return how many entries the latest checkpoint states, whoever signed it."""
        raw = self._results.checkpoint()
        return None if raw is None else parse_text(parse(raw).text).size

    def _shown(self, name: str, more: Any = None, **told: Any) -> Shown:
        template = self._templates.get_template(f"{name}.html")
        told |= {"links": self._links, "here": name, "registry": self._office is not None}
        return Shown(template.render(told), more)


def moment(at: str) -> Markup:
    """Return a time of the ledger as people read it: UTC, to the minute.

    >>> moment("2026-05-01T12:34:56.789Z")
    Markup('<time datetime="2026-05-01T12:34:56.789Z">2026-05-01 12:34</time>')
    """
    return Markup('<time datetime="{}">{}</time>').format(at, at[:16].replace("T", " "))


def _picture(series: Series) -> Markup:
    return Markup(picture(series))  # noqa: S704 it escapes the names in it


def _base64(root: bytes) -> str:
    return base64.b64encode(root).decode()


def _line(entry: Entry) -> str:
    return " ".join(str(entry.body[n]) for n in _TOLD if isinstance(entry.body.get(n), str))


def _measured(decided: Decided) -> list[Measured]:
    records = [record for part in decided.parts for record in part["records"]]
    records.sort(key=lambda r: (r["suite"], r["kind"] != "answers", r["model_family"] or ""))
    groups = groupby(records, key=lambda record: (record["suite"], record["kind"]))
    return [_table(suite, kind, list(each)) for (suite, kind), each in groups]


def _table(suite: str, kind: str, records: Sequence[Mapping[str, Any]]) -> Measured:
    known = {name for record in records for name in record["metrics"]}
    names = sorted(known, key=lambda name: (list(METRICS).index(metric(name).stem), name))
    return Measured(
        suite,
        kind,
        tuple(record["model_family"] or "no model" for record in records),
        tuple(
            f"{record['scored']} of {record['cases']}"
            if record["scored"] != record["cases"]
            else f"{record['cases']}"
            for record in records
        ),
        tuple(record["passed"] is True for record in records),
        tuple((name, tuple(_value(record, name) for record in records)) for name in names),
    )


def _value(record: Mapping[str, Any], name: str) -> str:
    value, _ = record["metrics"].get(name, (None, 0))
    return "–" if value is None else f"{value:.4f}"
