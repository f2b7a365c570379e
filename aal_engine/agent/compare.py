"""`aal compare`: set evaluations against the first of them, case by case."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from aal_engine.agent.terminal import run as run_door
from aal_engine.agent.terminal import say, tell
from aal_engine.errors import shown
from aal_engine.measure.comparison import Difference
from aal_engine.service.compare import Comparison, Side, compare_evaluations

app = typer.Typer(add_completion=False, rich_markup_mode=None)

IDS_SHOWN = 8
"""Ids of moved cases that the text names; --format json names them all."""

LEAST_P = 0.0001
"""The smallest p value that the text spells out."""

HELP = """Say what differs between evaluations, how surely, and which cases moved.

Each evaluation is a folder that `aal evaluate` wrote, or one of its records files, with the tables
beside it. Every metric of the second and the further ones is set against the first, on the cases
that are the same in both: the difference, its 95% interval, a two-sided p value (McNemar's exact test
for metrics of 0 or 1, else a permutation of the differences' signs) and the ids of the cases that
moved. With more than two, p values are also adjusted by Holm's rule for their number in a metric.

Decides nothing and exits with 0; `aal gate` decides.

\b
Examples:
  aal compare evals/1.4.0 evals/1.5.0
\b
  aal compare bm25/retrieval.json dense/retrieval.json hybrid/retrieval.json --format json
\b
  aal compare evals/1.5.0 --families
"""


@app.command(help=HELP)
def compare(
    evaluations: Annotated[
        list[Path], typer.Argument(help="Folders or records files.", metavar="A B [C...]")
    ],
    families: Annotated[
        bool,
        typer.Option(
            "--families", help="Set the model families against each other, the first one first."
        ),
    ] = False,
    format: Annotated[  # noqa: A002 the option's name
        Literal["text", "json"], typer.Option(help="How to tell the result.")
    ] = "text",
) -> None:
    """Say what differs between evaluations, how surely, and which cases moved."""
    found, notes = compare_evaluations(evaluations, families=families)
    for note in notes:
        tell(f"note: {note}")
    if format == "json":
        value = {"comparisons": [_described(one) for one in found]}
        say(json.dumps(value, indent=2, sort_keys=True, ensure_ascii=False) + "\n")
    else:
        say("\n".join(_told(one, several=_several(one, found)) for one in found))


def _several(one: Comparison, found: Sequence[Comparison]) -> bool:
    """Whether further evaluations are set against the same first one, so that Holm's rule shows."""
    same = [each for each in found if (each.kind, each.suite, each.first) == _subject(one)]
    return len(same) > 1


def _subject(one: Comparison) -> tuple[str, str, Side]:
    return one.kind, one.suite, one.first


def _described(one: Comparison) -> dict[str, Any]:
    return {
        "kind": one.kind,
        "suite": one.suite,
        "first": one.first._asdict(),
        "other": one.other._asdict(),
        "cases": one.compared.cases,
        "left_out": one.compared.left_out,
        "metrics": {
            each.metric: {
                "better": each.direction,
                "first": each.first,
                "value": each.value,
                "n": each.paired.n,
                "difference": each.paired.difference,
                "interval": list(each.paired.interval),
                "test": each.paired.test,
                "p": each.paired.p,
                "detectable": each.paired.detectable,
                "p_holm": each.p_holm,
                "higher": list(each.higher),
                "lower": list(each.lower),
            }
            for each in one.compared.differences
        },
    }


def _told(one: Comparison, *, several: bool) -> str:
    left_out = f", {one.compared.left_out} left out" if one.compared.left_out else ""
    sides = f"{_side(one.first)} -> {_side(one.other)}"
    lines = [f"{one.kind} {shown(one.suite)}: {sides}, {one.compared.cases} cases{left_out}"]
    head = ("metric", "first", "other", "difference", "95% interval", "p", "detects")
    rows = [head + (("Holm",) if several else ())]
    rows += [_cells(each, several=several) for each in one.compared.differences]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for place, row in enumerate(rows):
        cells = (cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True))
        lines.append(f"  {row[0].ljust(widths[0])}  {'  '.join(cells)}")
        if place:
            lines += [f"      {moved}" for moved in _moved(one.compared.differences[place - 1])]
    return "".join(line + "\n" for line in lines)


def _cells(each: Difference, *, several: bool) -> tuple[str, ...]:
    low, high = each.paired.interval
    cells = (
        each.metric,
        f"{each.first:.4f}",
        f"{each.value:.4f}",
        f"{each.paired.difference:+.4f}",
        f"{low:+.4f} to {high:+.4f}",
        _p(each.paired.p),
        f"{each.paired.detectable:.4f}",
    )
    return (*cells, _p(each.p_holm)) if several else cells


def _p(value: float) -> str:
    return f"{value:.4f}" if value >= LEAST_P else f"<{LEAST_P}"


def _moved(each: Difference) -> list[str]:
    words = {"higher": ("better", "worse"), "lower": ("worse", "better"), "none": ("up", "down")}
    told = []
    for word, ids in zip(words[each.direction], (each.higher, each.lower), strict=True):
        if ids:
            more = ", …" if len(ids) > IDS_SHOWN else ""
            told.append(f"{len(ids)} {word}: {', '.join(map(shown, ids[:IDS_SHOWN]))}{more}")
    return told


def _side(side: Side) -> str:
    family = "" if side.model_family is None else f" {shown(side.model_family)}"
    return f"{shown(side.version)}{family} [{side.place}]"


def main() -> None:
    """Run `python -m aal_engine.agent.compare`."""
    run_door(app, "python -m aal_engine.agent.compare")


if __name__ == "__main__":
    main()
