"""A decision told to people and machines: text, Markdown, HTML, JUnit, JSON."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from aal_engine.decide.decision import Decision
from aal_engine.service.chart import standing
from aal_engine.service.report.junit import junit
from aal_engine.service.report.markdown import markdown
from aal_engine.service.report.page import page
from aal_engine.service.report.text import text
from aal_engine.service.trend import Family


def as_json(decision: Decision) -> str:
    """Return the decision as it is recorded, indented, with a final line feed."""
    return json.dumps(decision.canonical(), indent=2, ensure_ascii=False, sort_keys=True) + "\n"


REPORTS: Mapping[str, Callable[[Decision], str]] = {
    "text": text,
    "json": as_json,
    "markdown": markdown,
    "junit": junit,
    "html": page,
}

PICTURE = ".svg"
"""The ending of the picture beside a Markdown report, which cannot hold one."""


def told(name: str, decision: Decision, trend: Sequence[Family]) -> str:
    """Return a report for a stream, with the metrics' history where the form can hold it."""
    return page(decision, trend) if name == "html" else REPORTS[name](decision)


def told_in_files(
    name: str, decision: Decision, trend: Sequence[Family], path: Path
) -> dict[Path, str]:
    """Return a report's files and their texts."""
    if name != "markdown" or not trend:
        return {path: told(name, decision, trend)}
    beside = path.with_suffix(PICTURE)
    series = [
        (f"{family.name or 'retrieval'} · {suite} · {each.metric}", each)
        for family in trend
        for suite, each in family.series
    ]
    return {path: markdown(decision, beside.name), beside: standing(series)}


def files_of(reports: Mapping[str, Path]) -> Iterator[Path]:
    """Yield all files that reports may write."""
    for name, path in reports.items():
        yield path
        if name == "markdown" and path.suffix != PICTURE:
            yield path.with_suffix(PICTURE)
