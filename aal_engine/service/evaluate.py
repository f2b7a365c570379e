"""Score a run against a pack's suites, and write the tables and the records."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Protocol

from aal_engine.decide.entry import stamp
from aal_engine.errors import InputError, shown
from aal_engine.measure.golden import Case, GoldenSet, Pack
from aal_engine.measure.metric import Kind
from aal_engine.measure.origin import Identity
from aal_engine.measure.record import ENGINE, EvalRecord, summarise
from aal_engine.measure.retrieval.judged import Judged
from aal_engine.measure.run import Output, Run, run_of
from aal_engine.measure.score import Origin, carries, score, score_lists
from aal_engine.service.worker import Workers
from aal_engine.store.atomic import write_atomic
from aal_engine.store.folder import make_folder
from aal_engine.store.golden import load_golden, load_pack
from aal_engine.store.long_run import open_lists
from aal_engine.store.pattern import matching
from aal_engine.store.record import written
from aal_engine.store.run import RunFile, load_run
from aal_engine.store.schema import NAME
from aal_engine.store.table import FOLDER, save_table
from aal_engine.store.text_file import Source

if TYPE_CHECKING:
    import pyarrow as pa

KINDS: tuple[Kind, ...] = ("retrieval", "answers")


class Watch(Protocol):
    """Told how much there is to judge, and then how much was."""

    def total(self, rows: int) -> None:
        """Hear how many rows will be judged."""

    def seen(self, rows: int) -> None:
        """Hear that so many more rows were judged."""


@dataclass(frozen=True, slots=True)
class Evaluation:
    """What an evaluation wrote: a records file for each kind, and what its reader should know."""

    records: Mapping[Kind, tuple[EvalRecord, ...]]
    files: Mapping[Kind, Path]
    notes: tuple[str, ...]


class Lists(Protocol):
    """A run of retrieval alone that is judged where it stands, and never held."""

    @property
    def model_family(self) -> str | None:
        """The family that made it, if that is known."""

    @property
    def digest(self) -> str:
        """The digest that `Run` has for the same lists; known once it was judged."""

    @property
    def cases(self) -> AbstractSet[str]:
        """The ids of the cases that it has lists for; known once it was judged."""

    @property
    def unread(self) -> Mapping[str, int]:
        """How many rows carry each column that is not read."""

    def judge(self, cases: Sequence[Case]) -> Judged:
        """Rank the judged documents of cases in it."""


class Task(NamedTuple):
    """One table to make."""

    kind: Kind
    golden: GoldenSet
    run: Run | Lists


def evaluate(
    pack_folder: Path,
    runs: Sequence[Source] | Lists,
    out: Path,
    *,
    version: str,
    now: datetime,
    suites: Sequence[str] = (),
    family: str | None = None,
    index: Identity | None = None,
    watch: Watch | None = None,
    jobs: int | None = None,
) -> Evaluation:
    """Score the runs and write `OUT/retrieval.json`, `OUT/answers.json` and `OUT/tables/`.

    Every model family of the runs is scored on every suite that was asked for, or on all of them.
    A kind of which a family's outputs say nothing is left out, and noted. `index` is the index that
    a live run searched. Much text is judged in `jobs` processes, as many as there are cores unless
    it is given; the results are the same.

    Raises:
        InputError: an input cannot be used, or the runs and the pack have nothing in common.
        WriteError: a result could not be written; no records file was then touched.
    """
    if not NAME.fullmatch(version):
        raise InputError.at(f"{shown(version)} is not a version name", way_out="as in 1.4.0")
    pack = load_pack(pack_folder)
    golden = [load_golden(pack_folder, name) for name in chosen(pack, suites)]
    merged, unread = _read(runs, family, pack)
    tasks, notes = _planned(golden, merged)
    if watch is not None:
        watch.total(sum(len(task.golden.cases) for task in tasks))
    known = _known(pack_folder, pack, golden)
    listed = {output.case_id for run in merged if isinstance(run, Run) for output in run.outputs}
    _require_shared(listed, known, pack)
    seen = watch.seen if watch is not None else lambda _: None
    make_folder(out)
    make_folder(out / FOLDER)
    made: dict[Kind, list[EvalRecord]] = {}
    for task in tasks:
        table = _table(task, known, version, index, seen, Workers(jobs))
        save_table(table, out / FOLDER)
        made.setdefault(task.kind, []).append(summarise(table, stamp(now)))
    for kind, records in made.items():
        write_atomic(out / f"{kind}.json", written(records).encode())
    return Evaluation(
        {kind: tuple(records) for kind, records in made.items()},
        {kind: out / f"{kind}.json" for kind in made},
        (*notes, *_unread(unread)),
    )


def chosen(pack: Pack, suites: Sequence[str]) -> Sequence[str]:
    """Return the suites that are asked for, all of the pack's where none is named.

    Raises:
        InputError: the pack has no such suite.
    """
    for name in suites:
        if name not in pack.suites:
            raise InputError.at(
                f"pack {shown(pack.name)} has no suite {shown(name)}",
                way_out="its suites: " + ", ".join(map(shown, pack.suites)),
            )
    return suites or tuple(pack.suites)


def _read(
    runs: Sequence[Source] | Lists, family: str | None, pack: Pack
) -> tuple[Sequence[Run | Lists], Sequence[Mapping[str, int]]]:
    """Read the runs, or open one of retrieval alone; and count the keys that are not read."""
    if not isinstance(runs, Sequence):
        return [runs], [runs.unread]
    paths = [path for pattern in runs for path in matching(pattern)]
    lists = open_lists(paths, family)
    if lists is not None:
        return [lists], [lists.unread]
    files = [load_run(path, default_family=family, citations=pack.citations) for path in paths]
    return _merged(files), [file.unread for file in files]


def _merged(files: Sequence[RunFile]) -> list[Run]:
    """Put the files' outputs together by model family; a file may hold a part of each."""
    families: dict[str | None, list[Output]] = {}
    for file in files:
        for family, run in file.runs.items():
            families.setdefault(family, []).extend(run.outputs)
    return [
        run_of(family, outputs)
        for family, outputs in sorted(families.items(), key=lambda item: item[0] or "")
    ]


def _known(folder: Path, pack: Pack, golden: Sequence[GoldenSet]) -> AbstractSet[str]:
    """Return the ids of the cases that any suite of the pack has."""
    loaded = {suite.suite.name for suite in golden}
    others = [load_golden(folder, name) for name in pack.suites if name not in loaded]
    return {case for suite in (*golden, *others) for case in suite.by_id}


def _require_shared(cases: AbstractSet[str], known: AbstractSet[str], pack: Pack) -> None:
    if cases and not cases & known:
        raise InputError.at(
            f"none of the run's {len(cases)} cases is in pack {shown(pack.name)}",
            way_out="pass the pack that the run was made for",
        )


def _table(
    task: Task,
    known: AbstractSet[str],
    version: str,
    index: Identity | None,
    seen: Callable[[int], None],
    workers: Workers,
) -> pa.Table:
    kind, golden, run = task
    if not isinstance(run, Run):
        judged = run.judge(golden.cases)
        _require_shared(run.cases, known, golden.pack)
        foreign = len(run.cases - known)
        origin = Origin(run.model_family, run.digest, version, ENGINE, foreign, index)
        return score_lists(golden, judged, origin, seen=seen)
    foreign = sum(output.case_id not in known for output in run.outputs)
    return score(
        kind,
        golden,
        run,
        version=version,
        engine=ENGINE,
        foreign=foreign,
        index=index,
        seen=seen,
        judging=workers,
    )


def _planned(
    golden: Sequence[GoldenSet], runs: Sequence[Run | Lists]
) -> tuple[list[Task], list[str]]:
    tasks = []
    notes = []
    for run in runs:
        for kind in KINDS:
            suites = [suite for suite in golden if kind in suite.suite.kinds]
            if suites and _carries(kind, run):
                tasks += [Task(kind, suite, run) for suite in suites]
            elif suites:
                family = "" if run.model_family is None else f" of {shown(run.model_family)}"
                notes.append(f"the outputs{family} say nothing of {kind}: no {kind} record is made")
    if not tasks:
        raise InputError.at(
            "the run says nothing that the pack's suites measure",
            way_out="suites of kind retrieval read `retrieved`, suites of kind answers `answer`",
        )
    return tasks, notes


def _carries(kind: Kind, run: Run | Lists) -> bool:
    return carries(kind, run) if isinstance(run, Run) else kind == "retrieval"


def _unread(counts: Sequence[Mapping[str, int]]) -> Iterator[str]:
    for unread in counts:
        if unread:
            names = ", ".join(shown(name) for name in sorted(unread)[:8])
            yield f"keys of the run that are not read: {names}"
