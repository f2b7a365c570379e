"""A decision told to people and machines: text, Markdown, HTML, JUnit, JSON."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping

from aal_engine.decide.decision import Decision
from aal_engine.service.report.junit import junit
from aal_engine.service.report.markdown import markdown
from aal_engine.service.report.page import page
from aal_engine.service.report.text import text


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
