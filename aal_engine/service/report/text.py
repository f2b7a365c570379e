"""The report for a terminal: plain columns, worst first, coloured only where asked."""

from __future__ import annotations

from collections.abc import Sequence

from aal_engine.decide.decision import Decision
from aal_engine.service.report.row import Row, headline, row, underpowered

MOST_BLOCKING = 20
MOST_HOLDING = 8

_COLOURS = {"BLOCK": "\x1b[31;1m", "warn": "\x1b[33m", "ok": "\x1b[32m"}
_PLAIN = "\x1b[0m"


def text(
    decision: Decision,
    *,
    colour: bool = False,
    blocking: int = MOST_BLOCKING,
    holding: int = MOST_HOLDING,
) -> str:
    """Return the report: the verdict, what blocks, and the checks that came closest to it.

    At most `blocking` of those that block are told, and where none does, `holding` of the others.
    """
    rows = [row(check) for check in decision.checks]
    failing = [line for line in rows if line.mark == "BLOCK"]
    rest = [line for line in rows if line.mark != "BLOCK"]
    lines = [_painted(headline(decision), "BLOCK" if failing else "ok", colour)]
    if failing:
        lines += ["", *_laid_out(failing[:blocking], colour)]
        lines += _more(len(failing) - blocking, "block")
    told = [] if failing else [line for line in rest if line.change.endswith("worse")]
    if told:
        lines += ["", "closest to blocking:", *_laid_out(told[:holding], colour)]
    if told or failing:
        lines += _more(len(rest) - min(len(told), holding), "do not block")
    lines += [f"note: {note}" for note in decision.notes]
    if weak := underpowered(decision):
        lines.append(
            f"note: {weak} comparisons are underpowered: this golden set is too small to see a "
            "drop of the tolerance reliably"
        )
    return "\n".join(lines) + "\n"


def _more(count: int, verb: str) -> list[str]:
    return [f"  … {count} more checks {verb}"] if count > 0 else []


def _laid_out(rows: Sequence[Row], colour: bool) -> list[str]:
    widths = [
        max(len(cell) for cell in column)
        for column in zip(*(_cells(line) for line in rows), strict=True)
    ]
    lines = []
    for line in rows:
        mark, *cells = (cell.ljust(width) for cell, width in zip(_cells(line), widths, strict=True))
        lines.append("  " + _painted(mark, line.mark, colour) + "  " + "  ".join(cells).rstrip())
        lines += [f"         {told}" for told in (line.says, line.statistics) if told]
    return lines


def _cells(line: Row) -> tuple[str, str, str, str]:
    numbers = ""
    if line.change:
        cases = f", n = {line.n}" if line.n else ""
        limit = f"(tolerance {line.tolerance}{cases})"
        numbers = f"{line.baseline} -> {line.current}  {line.change} {limit}"
    elif line.current:
        limit = line.baseline or line.tolerance
        numbers = (
            f"{line.current} of {limit}" if line.baseline else f"{line.current}, limit {limit}"
        )
    named = f"{line.metric} {line.check}".strip()
    return line.mark, named, line.where, numbers


def _painted(told: str, mark: str, colour: bool) -> str:
    return f"{_COLOURS[mark]}{told}{_PLAIN}" if colour else told
