"""The report for a pull request or a job summary."""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import quote

from aal_engine.decide.decision import Decision
from aal_engine.service.report.row import Row, headline, row, underpowered

_COLUMNS = (
    *("", "check", "metric", "where", "baseline", "current"),
    *("change", "tolerance", "n", "says"),
)


def markdown(decision: Decision, picture: str | None = None) -> str:
    """Return the report as GitHub-flavoured Markdown; what holds is folded away.

    `picture` is the name of the file beside it that shows the metrics' history.
    """
    rows = [row(check) for check in decision.checks]
    failing = [line for line in rows if line.mark != "ok"]
    holding = [line for line in rows if line.mark == "ok"]
    lines = [f"## {headline(decision, _code)}", ""]
    if failing:
        lines += [*_table(failing), ""]
    if holding:
        lines += [
            "<details>",
            f"<summary>{len(holding)} checks hold</summary>",
            "",
            *_table(holding),
            "",
            "</details>",
            "",
        ]
    if picture is not None:
        lines += [f"![Each metric over the last decisions](<{quote(picture)}>)", ""]
    lines += [f"- {_escaped(note)}" for note in decision.notes]
    if weak := underpowered(decision):
        lines.append(f"- {weak} comparisons are underpowered for their tolerance")
    lines += ["", f"Decided {decision.decided_at}, decision `{decision.digest}`."]
    return "\n".join(lines) + "\n"


def _table(rows: Sequence[Row]) -> list[str]:
    lines = ["| " + " | ".join(_COLUMNS) + " |", "|" + " --- |" * len(_COLUMNS)]
    for line in rows:
        says = "; ".join(filter(None, (line.says, line.statistics)))
        cells = (
            line.mark,
            line.check,
            _code(line.metric),
            _code(line.where),
            line.baseline,
            line.current,
            _escaped(line.change),
            line.tolerance,
            line.n,
            _escaped(says),
        )
        lines.append("| " + " | ".join(cells) + " |")
    return lines


def _code(name: str) -> str:
    # Names hold no backtick; within code nothing is a link or a mention.
    return f"`{name}`" if name else ""


def _escaped(told: str) -> str:
    told = told.replace("@", "@\u200b").replace("://", ":\u200b//")
    for mark in "\\`*_[]<>|#":
        told = told.replace(mark, "\\" + mark)
    return told
