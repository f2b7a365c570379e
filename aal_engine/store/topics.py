"""Questions in the forms in which test collections come.

Told by their content: SMART (`.I`, `.W`), TREC (`<top>` with `<num>` and `<title>`), TREC documents
(`<DOC>`, `<DOCNO>`), XML (`<topic number="1">`), JSON Lines, and id and text apart by a tab.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterator
from typing import TypeAlias

from aal_engine.store.json_text import JSONProblem, decode
from aal_engine.store.predicate import predicate
from aal_engine.store.text_file import FaultList, Source, read_whole

Topic: TypeAlias = tuple[int, str, str]
"""The line a topic starts on, its id as written, its text."""

ID_KEYS = ("_id", "id", "qid", "query_id", "topic_id", "narrative_id", "number")
TEXT_KEYS = ("text", "query", "question", "title", "topic", "narrative")

_SMART = re.compile(r"^\.I[ \t]+(\S+)[ \t]*$", re.MULTILINE)
_SMART_TEXT = re.compile(r"^\.W[ \t]*\n(.*?)(?=^\.[A-Z]\b|\Z)", re.MULTILINE | re.DOTALL)
_TOP = re.compile(r"<top>(.*?)</top>", re.DOTALL | re.IGNORECASE)
_NUM = re.compile(r"<num>\s*(?:number:)?\s*([^\s<]+)", re.IGNORECASE)
_DOC = re.compile(r"<doc>(.*?)</doc>", re.DOTALL | re.IGNORECASE)
_DOCNO = re.compile(r"<docno>\s*(\S+?)\s*</docno>", re.IGNORECASE)
_TOPIC = re.compile(
    r"""<topic\s[^>]*?(?:number|id)\s*=\s*["']([^"']+)["'][^>]*>(.*?)</topic>""",
    re.DOTALL | re.IGNORECASE,
)
_TAG = re.compile(r"<[^>]*>")


def read_topics(source: Source, faults: FaultList, *, by_position: bool = False) -> dict[str, str]:
    """Return the text of each topic under its id, or under its position from 1.

    Blanks in a row become one. A topic without text is none; one that is there twice with two texts
    is a fault.
    """
    text = (read_whole(source, faults) or "").replace("\r\n", "\n")
    topics: dict[str, str] = {}
    lines: dict[str, int] = {}
    for position, (line, written, question) in enumerate(_topics(text, faults), start=1):
        id_ = str(position) if by_position else written
        question = " ".join(question.split())
        if not predicate("case.json#/$defs/id")(id_):
            faults.add("has a topic id that cannot be a case id", line=line)
        elif question and topics.setdefault(id_, question) != question:
            faults.add(f"is the id of line {lines[id_]} too", line=line, case=id_)
        lines.setdefault(id_, line)
    if not topics and not faults.faults:
        faults.add("holds no topic in a form that is known")
    return topics


def _topics(text: str, faults: FaultList) -> Iterator[Topic]:
    start = text.lstrip()[:1]
    for begins, told_by, form in _FORMS:
        if start == begins and told_by.search(text):
            return form(text)
    return _json_lines(text, faults) if start == "{" else _tabbed(text, faults)


def _line(text: str, place: int) -> int:
    return text.count("\n", 0, place) + 1


def _smart(text: str) -> Iterator[Topic]:
    starts = list(_SMART.finditer(text))
    ends = [found.start() for found in starts[1:]] + [len(text)]
    for found, end in zip(starts, ends, strict=True):
        body = _SMART_TEXT.search(text, found.end(), end)
        yield _line(text, found.start()), found[1], body[1] if body else ""


def _tops(text: str) -> Iterator[Topic]:
    for found in _TOP.finditer(text):
        number = _NUM.search(found[1])
        question = _field(found[1], "title") or _field(found[1], "desc")
        yield _line(text, found.start()), number[1] if number else "", question


def _docs(text: str) -> Iterator[Topic]:
    for found in _DOC.finditer(text):
        number = _DOCNO.search(found[1])
        question = _TAG.sub(" ", _DOCNO.sub(" ", found[1]))
        yield _line(text, found.start()), number[1] if number else "", html.unescape(question)


def _xml(text: str) -> Iterator[Topic]:
    for found in _TOPIC.finditer(text):
        question = _field(found[2], "query") or _field(found[2], "title") or found[2]
        question = html.unescape(_TAG.sub(" ", question))
        yield _line(text, found.start()), found[1].strip(), question


def _field(text: str, tag: str) -> str:
    """Return what follows a tag up to the next one: TREC topics leave closing tags out."""
    found = re.search(rf"<{tag}>\s*(?:topic:|description:)?([^<]*)", text, re.IGNORECASE)
    return html.unescape(found[1]).strip() if found else ""


def _json_lines(text: str, faults: FaultList) -> Iterator[Topic]:
    for line, row in enumerate(text.split("\n"), start=1):
        if not row.strip():
            continue
        try:
            value = decode(row)
        except JSONProblem as problem:
            faults.add(problem.problem, line=line)
            continue
        if not isinstance(value, dict):
            faults.add("must be a mapping", line=line)
            continue
        id_ = next((value[key] for key in ID_KEYS if key in value), "")
        question = next((value[key] for key in TEXT_KEYS if isinstance(value.get(key), str)), "")
        yield line, str(id_) if isinstance(id_, str | int) else "", question


def _tabbed(text: str, faults: FaultList) -> Iterator[Topic]:
    for line, row in enumerate(text.split("\n"), start=1):
        if not row.strip():
            continue
        id_, tab, question = row.partition("\t")
        if tab:
            yield line, id_.strip(), question
        else:
            faults.add("has no tab between an id and a text", line=line)


_FORMS: tuple[tuple[str, re.Pattern[str], Callable[[str], Iterator[Topic]]], ...] = (
    (".", _SMART, _smart),
    ("<", _TOP, _tops),
    ("<", _DOC, _docs),
    ("<", _TOPIC, _xml),
)
