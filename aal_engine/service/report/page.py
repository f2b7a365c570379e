"""The report as one HTML file: no script, no font, no image, nothing fetched."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from aal_engine.decide.decision import Decision
from aal_engine.service.chart import picture
from aal_engine.service.report.row import Row, headline, row, underpowered
from aal_engine.service.trend import Family

_NUMBERS = ("Baseline", "Current", "Change", "Tolerance", "n")
_POLICY = "default-src 'none'; style-src 'unsafe-inline'"
_STYLE = """
:root { color-scheme: light dark; --line: #8884; --bad: #b3261e; --good: #1a7f37; --soft: #8a6d00; }
@media (prefers-color-scheme: dark) { :root { --bad: #ff8a80; --good: #7ee787; --soft: #e3b341; } }
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 78rem; padding: 0 1rem; }
h1 { font-size: 1.35rem; line-height: 1.3; } h2 { font-size: 1.05rem; margin-top: 2rem; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
th, td { text-align: left; vertical-align: top; padding: .35rem .6rem; border-bottom: 1px solid var(--line); }
th { font-weight: 600; white-space: nowrap; } td.n { text-align: right; white-space: nowrap; }
td small { display: block; opacity: .75; }
.BLOCK { color: var(--bad); font-weight: 700; } .ok { color: var(--good); } .warn { color: var(--soft); }
td.n, th.n { text-align: right; }
@media (max-width: 44rem) {
  thead { display: none; } tr { display: block; border-bottom: 2px solid var(--line); padding: .5rem 0; }
  td { display: block; border: 0; padding: .1rem 0; } td.n { text-align: left; white-space: normal; }
  td.n:empty, td:empty { display: none; }
  td[data-label]:not(:empty)::before { content: attr(data-label) ": "; opacity: .75; }
}
.charts { display: grid; grid-template-columns: repeat(auto-fill, minmax(17rem, 1fr)); gap: 1.2rem 1.6rem; }
h3 { font-size: 1rem; } figure { margin: 0; } figcaption { font-weight: 600; } figcaption small { font-weight: 400; }
.chart { display: block; width: 100%; height: auto; --accent: #0a58ca; --ground: #fff; }
@media (prefers-color-scheme: dark) { .chart { --accent: #86b8ff; --ground: #121212; } }
.chart text { font-size: 11px; fill: currentColor; opacity: .8; } .chart .last { font-weight: 600; opacity: 1; }
.chart .grid { stroke: var(--line); } .chart .band { fill: var(--accent); opacity: .14; }
.chart .line { fill: none; stroke: var(--accent); stroke-width: 2; stroke-linejoin: round; }
.chart .dot { fill: var(--accent); stroke: var(--ground); stroke-width: 1.5; }
.chart .blocked { fill: var(--ground); stroke: var(--bad); stroke-width: 2; }
.chart .rollback { stroke: var(--bad); stroke-width: 1.5; stroke-dasharray: 3 3; }
.chart .promoted { fill: currentColor; opacity: .6; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .15rem 1rem; }
dt { opacity: .75; } dd { margin: 0; overflow-wrap: anywhere; }
"""


def page(decision: Decision, trend: Sequence[Family] = ()) -> str:
    """Return the report as a whole HTML document, with the metrics' history where there is one."""
    rows = [row(check) for check in decision.checks]
    failing = [line for line in rows if line.mark != "ok"]
    holding = [line for line in rows if line.mark == "ok"]
    mark = "BLOCK" if decision.verdict == "blocked" else "ok"
    notes = list(decision.notes)
    if weak := underpowered(decision):
        notes.append(
            f"{weak} comparisons are underpowered: the golden set is small for the tolerance"
        )
    facts = {
        "model families": ", ".join(decision.families),
        "baseline": decision.baseline.version if decision.baseline else "none: first release",
        "decided": decision.decided_at,
        "engine": decision.engine,
        "policy": decision.policy,
        "decision": decision.digest,
    }
    return "\n".join(
        [
            "<!doctype html>",
            '<html lang="en"><head><meta charset="utf-8">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">',
            f"<title>{escape(headline(decision))}</title>",
            f"<style>{_STYLE}</style></head><body><main>",
            f'<h1 class="{mark}">{escape(headline(decision))}</h1>',
            *_section("What blocks" if mark == "BLOCK" else "Warnings", failing),
            *_section("What holds, closest to its limit first", holding),
            *_history(trend),
            *([f"<h2>Notes</h2><ul>{_items(notes)}</ul>"] if notes else []),
            "<h2>Decision</h2><dl>",
            *(f"<dt>{escape(name)}</dt><dd>{escape(told)}</dd>" for name, told in facts.items()),
            "</dl></main></body></html>\n",
        ]
    )


def _history(trend: Sequence[Family]) -> list[str]:
    parts = ["<h2>History</h2>"] if trend else []
    for family in trend:
        parts.append(f'<h3>{escape(family.name or "Retrieval")}</h3><div class="charts">')
        parts += [
            f"<figure><figcaption>{escape(each.metric)} <small>{escape(suite)}</small>"
            f"</figcaption>{picture(each)}</figure>"
            for suite, each in family.series
        ]
        parts.append("</div>")
    return parts


def _items(notes: Sequence[str]) -> str:
    return "".join(f"<li>{escape(note)}</li>" for note in notes)


def _section(title: str, rows: Sequence[Row]) -> list[str]:
    if not rows:
        return []
    head = "".join(f'<th scope="col">{name}</th>' for name in ("", "Check", "Metric", "Where"))
    head += "".join(f'<th scope="col" class="n">{name}</th>' for name in _NUMBERS)
    return [
        f"<h2>{title}</h2>",
        f'<div class="scroll" tabindex="0" role="region" aria-label="{title}"><table>',
        f"<thead><tr>{head}</tr></thead><tbody>",
        *(_line(line) for line in rows),
        "</tbody></table></div>",
    ]


def _line(line: Row) -> str:
    told = "".join(
        f"<small>{escape(part)}</small>" for part in (line.says, line.statistics) if part
    )
    numbers = (line.baseline, line.current, line.change, line.tolerance, line.n)
    return (
        f'<tr><td class="{line.mark}">{line.mark}</td><td>{escape(line.check)}{told}</td>'
        f'<td data-label="Metric">{escape(line.metric)}</td>'
        f'<td data-label="Where">{escape(line.where)}</td>'
        + "".join(
            f'<td class="n" data-label="{name}">{escape(cell)}</td>'
            for name, cell in zip(_NUMBERS, numbers, strict=True)
        )
        + "</tr>"
    )
