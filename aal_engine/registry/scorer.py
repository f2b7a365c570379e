"""The scorers: pure functions of what was observed, that anybody can read and run again.

A response is scored by one of five rules. None of them judges, none of them can raise: a scorer
that is not known, or an expectation that makes no sense, scores 0. What an author can mend is said
when the task is saved, by `check`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

import re2

from aal_engine.errors import InputError

SCORER_VERSION: Final = "1"
"""Stands beside every result; it changes whenever one of the rules here does."""

MAX_PATTERN: Final = 1_000
"""Characters of a regular expression."""

MAX_PROGRAM: Final = 5_000
"""Instructions of a compiled expression: what RE2 may do, at most, for each byte of a text."""

_PATTERN_MEMORY: Final = 8 << 20
"""Bytes that one compiled expression may take; beyond them RE2 is slower, and linear still."""


@dataclass(frozen=True, slots=True)
class Observation:
    """What one exchange with an agent came to.

    `text` is the decoded body of an HTTP response, or the text of an A2A reply; None where the body
    is no text. `latency_ms` is rounded up to whole milliseconds. Where `error` is set the exchange
    failed, and nothing that came of it is scored.
    """

    status: int | None = None
    text: str | None = ""
    latency_ms: int | None = None
    error: str | None = None


@dataclass(frozen=True, slots=True)
class Verdict:
    """A score in [0, 1], and whether the task is passed."""

    score: float
    passed: bool


PASS: Final = Verdict(1.0, True)
FAIL: Final = Verdict(0.0, False)

Scorer = Callable[[Observation, str | None], Verdict]


def score(scorer: str, observation: Observation, expected: str | None) -> Verdict:
    """Return the verdict of a scorer by its name; a failed exchange scores 0 whatever the scorer.

    >>> score("contains", Observation(200, "the sky is blue"), "blue").passed
    True
    >>> score("contains", Observation(error="timeout"), "blue").score
    0.0
    """
    rule = SCORERS.get(scorer)
    if rule is None or observation.error is not None:
        return FAIL
    return rule(observation, expected)


def check(scorer: str, expected: str | None) -> None:
    """Check what a task that is about to be saved asks for.

    Raises:
        InputError: the scorer is not known, or its expectation can never be met.
    """
    if scorer not in SCORERS:
        raise InputError.at(f"not one of {', '.join(SCORERS)}", field="scorer")
    problem = _EXPECTATIONS[scorer](expected)
    if problem is not None:
        raise InputError.at(problem, field="expected")


def _verdict(passed: bool) -> Verdict:
    return PASS if passed else FAIL


def _status_ok(observation: Observation, expected: str | None) -> Verdict:
    return _verdict(observation.status is not None and 200 <= observation.status <= 299)


def _exact(observation: Observation, expected: str | None) -> Verdict:
    text = observation.text
    return _verdict(text is not None and expected is not None and text.strip() == expected.strip())


def _contains(observation: Observation, expected: str | None) -> Verdict:
    text = observation.text
    return _verdict(text is not None and expected is not None and "" != expected in text)


def _regex(observation: Observation, expected: str | None) -> Verdict:
    pattern = None if expected is None else _compiled(expected)
    if pattern is None or observation.text is None:
        return FAIL
    # RE2 reads UTF-8; half a character (a lone surrogate) has none there.
    return _verdict(pattern.search(observation.text.encode(errors="replace")) is not None)


def _latency_under_ms(observation: Observation, expected: str | None) -> Verdict:
    limit, latency = _milliseconds(expected), observation.latency_ms
    return _verdict(limit is not None and latency is not None and latency <= limit)


SCORERS: Final[Mapping[str, Scorer]] = {
    "status_ok": _status_ok,
    "exact": _exact,
    "contains": _contains,
    "regex": _regex,
    "latency_under_ms": _latency_under_ms,
}
"""Every scorer by its name.

`status_ok`: the status is 2xx. `exact`: the text is the expected one, white space around either
left out. `contains`: the expected text is in it. `regex`: the expected expression, in RE2 syntax,
matches somewhere in it. `latency_under_ms`: it arrived at or under so many milliseconds.
"""


READS_TEXT: Final = frozenset({"exact", "contains", "regex"})
"""The scorers that a body which is no text fails, whatever they expect of it."""


@lru_cache(maxsize=32)
def _compiled(pattern: str) -> Any | None:
    if len(pattern) > MAX_PATTERN:
        return None
    options = re2.Options()
    options.log_errors = False
    options.max_mem = _PATTERN_MEMORY
    try:
        compiled = re2.compile(pattern.encode(), options)
    except (re2.error, UnicodeEncodeError):
        return None
    return compiled if compiled.programsize <= MAX_PROGRAM else None


def _milliseconds(expected: str | None) -> float | None:
    try:
        limit = float(expected or "")
    except ValueError:
        return None
    return limit if math.isfinite(limit) and limit >= 0 else None


def _no_expectation(expected: str | None) -> str | None:
    return None if expected is None else "this scorer expects nothing: leave it out"


def _some_text(expected: str | None) -> str | None:
    return None if expected is not None else "missing"


def _some_words(expected: str | None) -> str | None:
    return None if expected else "missing or empty"


def _pattern(expected: str | None) -> str | None:
    if not expected:
        return "missing or empty"
    if len(expected) > MAX_PATTERN:
        return f"an expression of more than {MAX_PATTERN} characters"
    return None if _compiled(expected) else "not an expression in RE2 syntax, or too large a one"


def _limit(expected: str | None) -> str | None:
    return "not a number of milliseconds, 0 or more" if _milliseconds(expected) is None else None


_EXPECTATIONS: Final[Mapping[str, Callable[[str | None], str | None]]] = {
    "status_ok": _no_expectation,
    "exact": _some_text,
    "contains": _some_words,
    "regex": _pattern,
    "latency_under_ms": _limit,
}
