"""`aal evaluate`: score a run against a pack's golden sets."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Literal

import typer

from aal_engine.agent.progress import Progress
from aal_engine.agent.terminal import run as run_door
from aal_engine.agent.terminal import say, tell
from aal_engine.canonical import JSON
from aal_engine.measure.origin import FAILURE_COUNTS
from aal_engine.measure.record import EvalRecord
from aal_engine.service.clock import moment
from aal_engine.service.evaluate import Evaluation
from aal_engine.service.evaluate import evaluate as act

app = typer.Typer(add_completion=False, rich_markup_mode=None)

HELP = """Score recorded outputs against a pack's golden sets.

Writes OUT/retrieval.json and OUT/answers.json, the records that the gate reads, and under
OUT/tables one Parquet file a record: case ids and numbers. No file holds the text of a question or
an answer.

\b
Example:
  aal evaluate --pack golden_sets/handbook --run run.jsonl \\
    --version 1.4.0 --out evals/1.4.0
"""


@app.command(help=HELP)
def evaluate(
    pack: Annotated[Path, typer.Option(help="Folder of the pack, with its pack.yaml.")],
    run: Annotated[
        list[str],
        typer.Option(
            help="What the agent retrieved and wrote: JSON Lines, Parquet, a TREC run or a TREC RAG "
            "answer file; - for standard input. A quoted pattern names several files, and an address "
            "as s3://bucket/run.parquet one in a store. Repeatable."
        ),
    ],
    version: Annotated[str, typer.Option(help="Version of the agent that made the run.")],
    out: Annotated[Path, typer.Option(help="Folder to write to; made if it is not there.")],
    suite: Annotated[
        list[str] | None, typer.Option(help="Suite to score; repeatable. Default: all.")
    ] = None,
    family: Annotated[
        str | None, typer.Option(help="Model family of rows that do not name one.")
    ] = None,
    at: Annotated[
        str | None, typer.Option(help="Time to record, with a zone. Default: now.")
    ] = None,
    jobs: Annotated[
        int | None,
        typer.Option(
            min=1, help="Processes that judge answers. Default: one a core, where it is worth it."
        ),
    ] = None,
    format: Annotated[  # noqa: A002 the option's name
        Literal["text", "json"], typer.Option(help="How to tell the result.")
    ] = "text",
) -> None:
    """Score recorded outputs against a pack's golden sets."""
    with Progress("scoring") as progress:
        done = act(
            pack,
            run,
            out,
            version=version,
            now=datetime.now(UTC) if at is None else moment(at),
            suites=suite or (),
            family=family,
            watch=progress,
            jobs=jobs,
        )
    for note in done.notes:
        tell(f"note: {note}")
    say(told(done) if format == "text" else _written(as_json(done)))


def as_json(done: Evaluation) -> dict[str, JSON]:
    """Return what was measured, as JSON."""
    return {"records": [record.canonical() for part in done.records.values() for record in part]}


def _written(value: JSON) -> str:
    return json.dumps(value, indent=2, sort_keys=True, ensure_ascii=False) + "\n"


def told(done: Evaluation) -> str:
    """Return what was measured, in words."""
    lines = []
    for kind, records in done.records.items():
        noun = "record" if len(records) == 1 else "records"
        lines.append(f"{kind}: {done.files[kind].name}, {len(records)} {noun}")
        for record in records:
            lines += [f"  {_subject(record)}", *(f"    {line}" for line in _numbers(record))]
    return "\n".join(lines) + "\n"


def _subject(record: EvalRecord) -> str:
    verdict = "passed" if record.passed else "did not pass"
    family = "" if record.model_family is None else f" {record.model_family}"
    return f"{record.suite}{family}: {record.scored} of {record.cases} cases, {verdict}"


def _numbers(record: EvalRecord) -> list[str]:
    lines = [
        f"{name:<20} {'n/a' if mean.value is None else format(mean.value, '.4f'):>8}  n = {mean.n}"
        for name, mean in record.metrics.items()
    ]
    noted = (
        *("missing_outputs", "foreign_outputs", *FAILURE_COUNTS),
        *("invented_citations", "malformed_citations", "forbidden_claims"),
    )
    lines += [f"{name}: {record.counts[name]}" for name in noted if record.counts.get(name)]
    return lines


def main() -> None:
    """Run `python -m aal_engine.agent.evaluate`."""
    run_door(app, "python -m aal_engine.agent.evaluate")


if __name__ == "__main__":
    main()
