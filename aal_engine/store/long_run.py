"""Runs of retrieval alone of any length: read as often as it takes, never held.

Their rows go by in batches, in memory that does not grow with their number. Where a row cannot be
used the files are read again, row by row, by the readers that know lines: they hold no list but
those of the cases under suspicion.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import ExitStack, closing

import numpy as np
import pyarrow as pa

from aal_engine.errors import InputError
from aal_engine.measure.golden import Case
from aal_engine.measure.retrieval.columns import Columns, parts
from aal_engine.measure.retrieval.judged import Judged, Qrels
from aal_engine.measure.retrieval.list_digest import ListDigest, lists_digest
from aal_engine.measure.retrieval.lists import again
from aal_engine.measure.retrieval.reading import judge_columns
from aal_engine.store.list_file import ListFile, list_file
from aal_engine.store.predicate import predicate
from aal_engine.store.read_ahead import read_ahead
from aal_engine.store.run import check_family
from aal_engine.store.text_file import Source

_COLUMNS = Columns()


class LongRun:
    """A run of retrieval alone, in one file or several; its family may be None, as in `Run`.

    Its digest and its cases are known once `judge` has read all rows.
    """

    def __init__(self, files: Sequence[ListFile], model_family: str | None) -> None:
        self.model_family = model_family
        self._files = files
        self._lists: ListDigest | None = None

    @property
    def digest(self) -> str:
        """The digest that `Run` has for the same lists."""
        assert self._lists is not None
        return lists_digest(self.model_family, self._lists.digests())

    @property
    def cases(self) -> AbstractSet[str]:
        """The ids of the cases that the run has rows for."""
        assert self._lists is not None
        return self._lists.cases

    @property
    def unread(self) -> Mapping[str, int]:
        """How many rows carry each column that is not read."""
        return sum((Counter(file.unread) for file in self._files), Counter())

    def judge(self, cases: Sequence[Case]) -> Judged:
        """Rank the judged documents of cases in the run.

        Raises:
            InputError: a row cannot be used, a case lists a document twice, whether it is among
                `cases` or not, or two files have rows of the same case.
        """
        fresh = self._lists is None
        ids = [case.id for case in cases]
        judged = self._judged(ids, [case.relevant for case in cases])
        if fresh:
            others = sorted(set(self.cases).difference(ids))
            if others:
                self._judged(others, [{}] * len(others))
        return judged

    def _judged(self, ids: Sequence[str], qrels: Sequence[Qrels]) -> Judged:
        twice: set[str] = set()
        try:
            with ExitStack() as opened:

                def read() -> Iterator[pa.RecordBatch]:
                    return opened.enter_context(closing(read_ahead(self._batches(twice))))

                judged, _ = judge_columns(ids, qrels, read)
        except InputError as error:
            refused = error
        else:
            if twice:
                raise InputError(again(case) for case in sorted(twice))
            return judged
        self._tell({fault.case for fault in refused.faults if fault.case is not None})
        raise refused

    def _batches(self, twice: set[str]) -> Iterator[pa.RecordBatch]:
        """Read all files; the first time the rows are digested, and checked on their own.

        The ids of cases that a second file has go to `twice`.
        """
        if self._lists is not None:
            for file in self._files:
                yield from file.batches()
            return
        lists = ListDigest()
        usable = predicate("case.json#/$defs/id")
        for file in self._files:
            earlier = set(lists.cases)
            for batch in read_ahead(file.batches()):
                bounds, cases, docs, scores = parts(batch, _COLUMNS, 0)
                if not np.isfinite(scores).all():
                    raise InputError.at("has a score that is not a finite number", file=file.path)
                lists.add(cases, bounds, docs, scores)
                twice.update(earlier.intersection(cases))
                yield batch
            if not all(map(usable, lists.cases - earlier)):
                raise InputError.at("has a query id that cannot be a case id", file=file.path)
        self._lists = lists

    def _tell(self, suspects: Collection[str]) -> None:
        """Raise InputError with what is wrong in the files, if reading row by row finds it."""
        found: Counter[str] = Counter()
        for file in self._files:
            found.update(file.check(suspects))
        twice = sorted(case for case, files in found.items() if files > 1)
        if twice:
            raise InputError(map(again, twice))


def open_lists(sources: Sequence[Source], default_family: str | None) -> LongRun | None:
    """Return the run that these files make if all are of retrieval alone, else None.

    Such are regular files: TREC runs, plain or compressed, and Parquet with a row for each
    retrieved document, scored. Their rows are of `default_family`.

    Raises:
        InputError: the family is not a name.
    """
    check_family(default_family)
    files = [file for source in sources if (file := list_file(source)) is not None]
    return LongRun(files, default_family) if files and len(files) == len(sources) else None
