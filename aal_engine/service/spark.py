"""Score a run that a Spark cluster holds, with the tables and records of a local run."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from aal_engine.measure.retrieval.columns import Columns
from aal_engine.service.evaluate import Evaluation, evaluate
from aal_engine.store.spark_run import SparkRun

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def evaluate_frame(
    pack_folder: Path,
    frame: DataFrame,
    out: Path,
    *,
    version: str,
    now: datetime,
    suites: Sequence[str] = (),
    family: str | None = None,
    columns: Columns | None = None,
) -> Evaluation:
    """Score ranked lists in a Spark frame as `evaluate` scores a file of the same rows.

    The frame has a row for each case: `query_id`, and under `doc_id` and `score` lists of one
    length; `columns` gives them other names. The rows are judged where they are, without a shuffle,
    in a pass for each suite; the ranks of the judged documents alone come back, and the tables and
    records are those of a local run, byte for byte. This package must be installed on the workers.

    Raises:
        InputError: as `evaluate`; or a case is in the frame twice.
        WriteError: a result could not be written; no records file was then touched.
    """
    run = SparkRun(frame, family, columns)
    return evaluate(pack_folder, run, out, version=version, now=now, suites=suites, family=family)
