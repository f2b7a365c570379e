"""The retrieval metrics by name.

A name is a stem of the table `RETRIEVAL`, and behind it the cutoff or the persistence that the
metric takes: `recall@10`, `mrr`, `mrr@10`, `rbp@0.95`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import Literal, TypeAlias

from aal_engine.errors import InputError, shown
from aal_engine.measure.retrieval import ranking
from aal_engine.measure.retrieval.judged import FloatArray, Judged

Parameter: TypeAlias = Literal["none", "cutoff", "optional cutoff", "persistence"]


@dataclass(frozen=True, slots=True)
class RetrievalMetric:
    """A kernel of `ranking`, the parameter that its name may carry and the range of its values."""

    kernel: Callable[..., FloatArray]
    parameter: Parameter
    range: tuple[float, float] = (0.0, 1.0)


RETRIEVAL: Mapping[str, RetrievalMetric] = MappingProxyType(
    {
        "best_first": RetrievalMetric(ranking.best_first, "none"),
        "bpref": RetrievalMetric(ranking.bpref, "none"),
        "err": RetrievalMetric(ranking.err, "cutoff"),
        "hole": RetrievalMetric(ranking.hole, "cutoff"),
        "judged": RetrievalMetric(ranking.judged_share, "cutoff"),
        "map": RetrievalMetric(ranking.average_precision, "optional cutoff"),
        "mrr": RetrievalMetric(ranking.reciprocal_rank, "optional cutoff"),
        "ndcg": RetrievalMetric(ranking.ndcg, "optional cutoff"),
        "ndcg_exp": RetrievalMetric(ranking.ndcg_exp, "optional cutoff"),
        "precision": RetrievalMetric(ranking.precision, "cutoff"),
        "r_precision": RetrievalMetric(ranking.r_precision, "none"),
        "rbp": RetrievalMetric(ranking.rbp, "persistence"),
        "recall": RetrievalMetric(ranking.recall, "cutoff"),
        "success": RetrievalMetric(ranking.success, "cutoff"),
    }
)


@dataclass(frozen=True, slots=True)
class _Suffix:
    """How a parameter is written behind a stem, read, and told to people."""

    pattern: re.Pattern[str]
    read: Callable[[str], int | float]
    shown: str
    rule: str


_CUTOFF = r"@([1-9][0-9]{0,8})"
_CUTOFF_RULE = "k is a whole number from 1 to 999999999 without leading zeros"

_SUFFIX: Mapping[Parameter, _Suffix] = {
    "none": _Suffix(re.compile("()"), int, "", "it takes nothing behind its name"),
    "cutoff": _Suffix(re.compile(_CUTOFF), int, "@k", _CUTOFF_RULE),
    "optional cutoff": _Suffix(re.compile(f"(?:{_CUTOFF})?"), int, "[@k]", _CUTOFF_RULE),
    "persistence": _Suffix(
        re.compile(r"(?:@(0\.[0-9]{0,5}[1-9]))?"),
        float,
        "[@p]",
        "p is the persistence, between 0 and 1, as 0.95 without trailing zeros; left out it is 0.8",
    ),
}


def parse(name: str) -> tuple[str, int | float | None]:
    """Split a metric's name into its stem and its parameter, None where the name carries none.

    Raises:
        InputError: no metric has this stem, or its parameter is missing or malformed.

    >>> parse("ndcg@10"), parse("map"), parse("rbp@0.95")
    (('ndcg', 10), ('map', None), ('rbp', 0.95))
    """
    stem = re.split("[@.]", name, maxsplit=1)[0]
    metric = RETRIEVAL.get(stem)
    if metric is None:
        raise InputError.at(
            f"there is no retrieval metric {shown(name)}", way_out=f"there are {_forms()}"
        )
    suffix = _SUFFIX[metric.parameter]
    written = suffix.pattern.fullmatch(name, len(stem))
    if written is None:
        raise InputError.at(
            f"the retrieval metric {shown(name)} is not written as {stem}{suffix.shown}",
            way_out=suffix.rule,
        )
    return stem, suffix.read(written[1]) if written[1] else None


def retrieval_metric(name: str) -> Callable[[Judged], FloatArray]:
    """Return the function that computes a metric, one value per query, by the metric's name.

    Raises:
        InputError: as `parse`.
    """
    stem, parameter = parse(name)
    kernel = RETRIEVAL[stem].kernel
    if parameter is None:
        return kernel
    keyword = "p" if RETRIEVAL[stem].parameter == "persistence" else "k"
    return partial(kernel, **{keyword: parameter})


def _forms() -> str:
    return ", ".join(stem + _SUFFIX[metric.parameter].shown for stem, metric in RETRIEVAL.items())
