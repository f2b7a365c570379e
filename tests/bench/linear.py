"""How the time of the text rules grows with the length of nasty texts.

    python tests/bench/linear.py

Prints, for each text, the CPU seconds on 25,000 and on 200,000 characters and their ratio: 8 is
linear, 64 quadratic.
"""

from __future__ import annotations

import time

from aal_engine.measure.answer.counts import judge_answer
from aal_engine.measure.golden import Case, CitationStyle
from aal_engine.measure.point import parse_claim, parse_point
from aal_engine.measure.run import Output, Passage

PIECES = (
    *("a b ", "not a ", "[1] a. ", "30 days ", "is a myth ", "“a ", "`", "`a``b", "| a | b\n"),
    *(
        "<!--",
        "&nbsp",
        "2½ ",
        "[1",
        "[1,",
        "【",
        "[a](",
        "http://",
        "1. ",
        "**a** ",
        "- a\n",
        "~~~\n",
        "<sup>1",
        "(a,",
    ),
)
CASE = Case(
    "c",
    "?",
    must_mention=(parse_point("30 days"), parse_point({"number": 5, "unit": "USD"})),
    must_not_claim=(parse_claim({"phrase": "a b", "negation": "allow"}),),
)
PASSAGES = tuple(Passage(f"d{n}", text="30 days for a refund") for n in range(3))


def seconds(piece: str, length: int) -> float:
    """Return the least CPU time of three that judging so much of a text takes."""
    output = Output("c", answer=(piece * length)[:length], retrieved=PASSAGES)
    best = float("inf")
    for _ in range(3):
        start = time.process_time()
        judge_answer(CASE, output, CitationStyle(), "en")
        best = min(best, time.process_time() - start)
    return best


def main() -> None:
    """Measure and print."""
    for piece in PIECES:
        short, long = seconds(piece, 25_000), seconds(piece, 200_000)
        print(f"{piece!r:<12} {short:.3f} s  {long:.3f} s  {long / short:.1f}x")


if __name__ == "__main__":
    main()
