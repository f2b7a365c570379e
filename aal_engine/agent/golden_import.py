"""`aal golden import`: make packs from public test collections."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from aal_engine.agent.terminal import say, tell
from aal_engine.service.golden import (
    Declaration,
    Grade,
    Imported,
    import_beir,
    import_nuggets,
    import_trec,
    reversed_grades,
)

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Make a pack from a public test collection.",
)

TREC = """Make a pack of kind retrieval from TREC qrels and topics.

Topics may be in TREC, SMART or XML form, JSON Lines, or id and text apart by a tab. Topics that
nothing judges are left out.

\b
Examples:
  aal golden import trec --qrels qrels.txt --topics topics.tsv --out golden_sets/mine
  aal golden import trec --qrels cranqrel --topics cran.qry --qrels-number position \\
      --reverse-grades 4 --out golden_sets/cranfield
"""

BEIR = """Make a pack of kind retrieval from a BEIR folder with queries.jsonl and qrels/SPLIT.tsv.

\b
Example:
  aal golden import beir scifact --split test --out golden_sets/scifact
"""

NUGGETS = """Make a pack of kind answers from the nuggets of a TREC RAG track.

Vital nuggets become required points, each a phrase to be found as it stands: edit them into the
words, numbers and dates that matter. With qrels the pack is of kind retrieval too.

\b
Example:
  aal golden import nuggets --nuggets nuggets.jsonl --topics topics.tsv --out golden_sets/rag
"""


Out = Annotated[Path, typer.Option(help="Folder of the new pack; must not be there yet.")]
Name = Annotated[str | None, typer.Option(help="Name of the pack. Default: that of its folder.")]
Agent = Annotated[str | None, typer.Option(help="Agent that it is for. Default: the pack's name.")]
Autonomy = Annotated[int, typer.Option(min=0, max=3, help="Autonomy of the agent, 0 to 3.")]
Sensitivity = Annotated[
    Literal["public", "internal", "confidential", "restricted"],
    typer.Option(help="Sensitivity of the data it sees."),
]
Language = Annotated[str, typer.Option(help="Language of the answers.")]
Reverse = Annotated[
    int | None,
    typer.Option(
        min=1,
        max=1000,
        metavar="MAX",
        help="The grades run from 1, the best, to MAX: turn them round. Others become 0.",
    ),
]


@app.command(help=TREC)
def trec(
    qrels: Annotated[Path, typer.Option(help="Judgments: query, iteration, document, grade.")],
    topics: Annotated[Path, typer.Option(help="The queries' texts.")],
    out: Out,
    qrels_number: Annotated[
        Literal["id", "position"],
        typer.Option(help="What the qrels call a query: its id, or its place in the topics' file."),
    ] = "id",
    reverse_grades: Reverse = None,
    name: Name = None,
    agent: Agent = None,
    autonomy: Autonomy = 0,
    sensitivity: Sensitivity = "internal",
    language: Language = "en",
) -> None:
    """Make a pack from TREC qrels and topics."""
    declaration = _declaration(out, name, agent, autonomy, sensitivity, language)
    by_position = qrels_number == "position"
    _tell_imported(
        import_trec(
            out,
            declaration,
            qrels=qrels,
            topics=topics,
            grade=_grade(reverse_grades),
            by_position=by_position,
        )
    )


@app.command(help=BEIR)
def beir(
    folder: Annotated[Path, typer.Argument(help="Folder of the data set.")],
    out: Out,
    split: Annotated[str, typer.Option(help="Part of the data set.")] = "test",
    reverse_grades: Reverse = None,
    name: Name = None,
    agent: Agent = None,
    autonomy: Autonomy = 0,
    sensitivity: Sensitivity = "internal",
    language: Language = "en",
) -> None:
    """Make a pack from a BEIR folder."""
    declaration = _declaration(out, name, agent, autonomy, sensitivity, language)
    grade = _grade(reverse_grades)
    _tell_imported(import_beir(out, declaration, folder=folder, split=split, grade=grade))


@app.command(help=NUGGETS)
def nuggets(
    nuggets: Annotated[Path, typer.Option(help="JSON Lines with qid and nuggets.")],
    out: Out,
    topics: Annotated[
        Path | None, typer.Option(help="The queries' texts, where the nuggets hold none.")
    ] = None,
    qrels: Annotated[
        Path | None, typer.Option(help="Judgments, for a pack of kind retrieval too.")
    ] = None,
    name: Name = None,
    agent: Agent = None,
    autonomy: Autonomy = 0,
    sensitivity: Sensitivity = "internal",
    language: Language = "en",
) -> None:
    """Make a pack from the nuggets of a TREC RAG track."""
    declaration = _declaration(out, name, agent, autonomy, sensitivity, language)
    _tell_imported(import_nuggets(out, declaration, nuggets=nuggets, topics=topics, qrels=qrels))


def _declaration(
    out: Path, name: str | None, agent: str | None, autonomy: int, sensitivity: str, language: str
) -> Declaration:
    name = name or out.name
    return Declaration(name, agent or name, autonomy, sensitivity, language)


def _grade(best: int | None) -> Grade:
    return int if best is None else reversed_grades(best)


def _tell_imported(made: Imported) -> None:
    golden = made.golden
    say(f"made pack {golden.pack.name}: {len(golden.cases)} cases, digest {golden.digest}\n")
    if made.left_out:
        tell(f"note: {made.left_out} topics that nothing judges were left out")
