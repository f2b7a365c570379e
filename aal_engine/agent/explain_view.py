"""What `aal explain` shows of an attempt, in words or JSON; the text of the answer where asked."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

from aal_engine.errors import shown
from aal_engine.measure.answer.citation import Marker
from aal_engine.measure.answer.claims import LEAST, Support
from aal_engine.measure.answer.explanation import Explanation, Mention, Sentence
from aal_engine.measure.text.markup import Span
from aal_engine.service.explain import Attempt

MOST_LINES: Final = 100
"""How many lines of one section are told in words; JSON has them all."""

LONGEST_QUOTE: Final = 160


@dataclass(frozen=True, slots=True)
class View:
    """One attempt that was answered, and whether the text of the answer may be shown."""

    attempt: Attempt
    why: Explanation
    text: bool

    def quoted(self, span: Span) -> str | None:
        """Return a stretch of the answer as it stands, or None where no text is shown."""
        answer = self.attempt.output.answer or ""
        return answer[span[0] : span[1]] if self.text else None

    def place(self, span: Span) -> str:
        """Return where a stretch stands, and in one printable line what it says."""
        where = f"{span[0]}-{span[1]}"
        quoted = self.quoted(span)
        return where if quoted is None else f'{where} "{_printable(quoted)}"'

    def cited(self, marker: Marker) -> list[str]:
        """Return the ids of the passages that a marker names."""
        passages = self.attempt.output.retrieved or ()
        return list(dict.fromkeys(passages[place].doc_id for place in marker.places))


def _printable(quoted: str) -> str:
    line = " ".join("".join(c if c.isprintable() else " " for c in quoted).split())
    half = LONGEST_QUOTE // 2
    return line if len(line) <= LONGEST_QUOTE else f"{line[:half]} … {line[-half:]}"


def told(attempt: Attempt, *, text: bool) -> list[str]:
    """Return an attempt in lines of words."""
    output = attempt.output
    family = "" if output.model_family is None else f", {shown(output.model_family)}"
    head = f"case {shown(output.case_id)}, suite {shown(attempt.suite)}{family}"
    lines = [f"{head}, attempt {output.attempt}"]
    if attempt.explanation is None:
        said = "" if output.error is None else f": {shown(output.error)}"
        return [*lines, f"  no answer{said}"]
    view = View(attempt, attempt.explanation, text)
    lines += _columns([(name, _value(value)) for name, value in attempt.values.items()])
    for title, rows in (
        ("citations", _citations(view)),
        ("required points", _points(view)),
        ("forbidden claims", _claims(view)),
        ("sentences", _sentences(view)),
    ):
        lines += _section(title, list(rows))
    return lines


def _value(value: float) -> str:
    return "n/a" if math.isnan(value) else f"{value:.4f}"


def _section(title: str, rows: Sequence[Sequence[str]]) -> list[str]:
    if not rows:
        return []
    lines = [f"  {title}", *("  " + line for line in _columns(rows[:MOST_LINES]))]
    hidden = len(rows) - MOST_LINES
    return [*lines, f"    … {hidden} more; --format json tells them all"] if hidden > 0 else lines


def _columns(rows: Sequence[Sequence[str]]) -> list[str]:
    """Lay rows out in columns; the last column is as wide as it comes."""
    widths = [max(map(len, column)) for column in zip(*(row[:-1] for row in rows), strict=True)]
    return ["  " + "  ".join((*map(str.ljust, row[:-1], widths), row[-1])).rstrip() for row in rows]


def _citations(view: View) -> Iterator[tuple[str, str]]:
    retrieved = len(view.attempt.output.retrieved or ())
    for marker in view.why.markers:
        says = []
        if cited := view.cited(marker):
            says.append(f"cites {', '.join(map(shown, cited))}")
        if marker.malformed:
            says.append("cannot be read")
        if marker.invented:
            several = f"{marker.invented} names " if marker.invented > 1 else ""
            says.append(f"{several}INVENTED: not among the passages retrieved ({retrieved})")
        yield "; ".join(says), view.place((marker.start, marker.end))
    for place in view.why.invented_beside:
        yield "INVENTED", f"citations[{place}], given beside the text"


def _points(view: View) -> Iterator[tuple[str, str, str]]:
    for point in view.why.points:
        verdict = "met" if point.met else "NOT MET"
        yield from _mentioned(f"must_mention[{point.place}]", verdict, point.mentions, view)


def _claims(view: View) -> Iterator[tuple[str, str, str]]:
    for claim in view.why.claims:
        verdict = "MADE" if claim.made else "not made"
        yield from _mentioned(f"must_not_claim[{claim.place}]", verdict, claim.mentions, view)


def _mentioned(
    field: str, verdict: str, mentions: Sequence[Mention], view: View
) -> Iterator[tuple[str, str, str]]:
    if not mentions:
        yield field, verdict, "not mentioned"
    for mention in mentions:
        yield field, verdict, f"{mention.state} at {view.place(mention.span)}"
        field = verdict = ""


def _sentences(view: View) -> Iterator[tuple[str, str, str]]:
    for sentence in view.why.sentences:
        says = _borne_out(sentence, view) if sentence.role == "claim" else ""
        yield sentence.role, says, view.place(sentence.span)


def _borne_out(sentence: Sentence, view: View) -> str:
    marked = any(
        marker.invented and sentence.span[0] <= marker.start < sentence.span[1]
        for marker in view.why.markers
    )
    if not sentence.cited and not marked:
        return "not cited" if view.why.counts.claims else "after a right abstention"
    cited = ", ".join(map(shown, sentence.cited)) or "nothing that was retrieved"
    if sentence.support is None:
        return f"cites {cited}, whose text the run lacks"
    return f"cites {cited}, support {sentence.support.share:.2f}{_weak(sentence.support, view)}"


def _weak(support: Support, view: View) -> str:
    reasons = [f"below {LEAST}"] if support.weak_overlap else []
    if support.weak_number:
        absent = ", ".join(support.numbers_absent)
        told = absent if view.text else str(len(support.numbers_absent))
        reasons.append(f"numbers that no cited passage has: {told}")
    return f" WEAK: {'; '.join(reasons)}" if reasons else ""


def described(attempt: Attempt, *, text: bool) -> dict[str, Any]:
    """Return an attempt as JSON: all that `told` says, uncut."""
    output = attempt.output
    value: dict[str, Any] = {
        "suite": attempt.suite,
        "model_family": output.model_family,
        "attempt": output.attempt,
        "error": output.error,
        "values": {
            name: None if math.isnan(each) else each for name, each in attempt.values.items()
        },
    }
    if attempt.explanation is None:
        return value
    view = View(attempt, attempt.explanation, text)
    why = attempt.explanation
    return value | {
        "counts": asdict(why.counts),
        "markers": [
            _spanned((marker.start, marker.end), view)
            | {
                "cites": view.cited(marker),
                "names": marker.names,
                "invented": marker.invented,
                "malformed": marker.malformed,
            }
            for marker in why.markers
        ],
        "invented_beside": list(why.invented_beside),
        "must_mention": [
            {"place": each.place, "met": each.met, "mentions": _mentions(each.mentions, view)}
            for each in why.points
        ],
        "must_not_claim": [
            {"place": each.place, "made": each.made, "mentions": _mentions(each.mentions, view)}
            for each in why.claims
        ],
        "sentences": [
            _spanned(each.span, view)
            | {
                "role": each.role,
                "cites": list(each.cited),
                "support": None if each.support is None else _supported(each.support, view),
            }
            for each in why.sentences
        ],
    }


def _mentions(mentions: Sequence[Mention], view: View) -> list[dict[str, Any]]:
    return [_spanned(mention.span, view) | {"state": mention.state} for mention in mentions]


def _spanned(span: Span, view: View) -> dict[str, Any]:
    quoted = view.quoted(span)
    value: dict[str, Any] = {"start": span[0], "end": span[1]}
    return value if quoted is None else value | {"text": quoted}


def _supported(support: Support, view: View) -> dict[str, Any]:
    absent = support.numbers_absent
    return {
        "share": support.share,
        "weak": support.weak,
        "numbers_absent": list(absent) if view.text else len(absent),
    }
