"""A run of retrieval alone in a Spark frame, judged where its rows are.

The frame has a row for each case: its id, a list of document ids and a list of scores. No row needs
another, so nothing is shuffled; golden judgments go out to the rows, and of each case the ranks of
its judged documents come back.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import partial
from typing import TYPE_CHECKING, Final

from aal_engine.errors import InputError
from aal_engine.measure.golden import Case
from aal_engine.measure.retrieval.columns import Columns
from aal_engine.measure.retrieval.judged import Judged, Qrels
from aal_engine.measure.retrieval.list_digest import lists_digest
from aal_engine.measure.retrieval.lists import gathered, placed
from aal_engine.store.json_text import named
from aal_engine.store.predicate import predicate
from aal_engine.store.run import check_family

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_PLACED: Final = (
    "`case` string, retrieved bigint, ties bigint, grades array<bigint>, ranks array<bigint>, "
    "digest string, fault string"
)
"""`aal_engine.measure.retrieval.lists.PLACED` as Spark writes it."""


class SparkRun:
    """A frame of ranked lists; its digest and its cases are known once it was judged.

    Raises:
        InputError: the frame has not the columns, or the family is not a name.
    """

    def __init__(
        self, frame: DataFrame, model_family: str | None, columns: Columns | None = None
    ) -> None:
        check_family(model_family)
        if not hasattr(frame, "toArrow"):
            raise InputError.at("the frame is of a Spark before 4.0", way_out="install pyspark 4")
        names = columns or Columns()
        read = [names.query, names.doc, str(names.score)]
        for name in read:
            if frame.columns.count(name) != 1:
                raise InputError.at(
                    "is not among the frame's columns, or is there twice", field=name
                )
        self.model_family = model_family
        self.unread: Mapping[str, int] = {
            named(name): 1 for name in frame.columns if name not in read
        }
        self._frame = frame.select(*read)
        self._columns = names
        self._digests: Mapping[str, str] | None = None

    @property
    def digest(self) -> str:
        """The digest that `Run` has for the same lists."""
        assert self._digests is not None
        return lists_digest(self.model_family, self._digests)

    @property
    def cases(self) -> AbstractSet[str]:
        """The ids of the cases that the frame has lists for."""
        assert self._digests is not None
        return self._digests.keys()

    def judge(self, cases: Sequence[Case]) -> Judged:
        """Rank the judged documents of cases in the frame, in one pass over its rows.

        Raises:
            InputError: a row cannot be used, a list has a document twice or a score that is not a
                finite number, or a case is there twice; whether it is among `cases` or not.
        """
        qrels: dict[str, Qrels] = {case.id: dict(case.relevant) for case in cases}
        found = self._frame.mapInArrow(partial(placed, qrels=qrels, columns=self._columns), _PLACED)
        judged, self._digests = gathered(list(qrels), list(qrels.values()), found.toArrow())
        usable = predicate("case.json#/$defs/id")
        if not all(map(usable, self._digests)):
            raise InputError.at(
                "has a query id that cannot be a case id", field=self._columns.query
            )
        return judged
