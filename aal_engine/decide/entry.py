"""One line of the release ledger: its bytes, what may be written, how it is read back.

```
{"prev":"<64 hex>","rec":{"at":"<24 chars>","body":{...},"kind":"..."},"seq":7,"v":1}
```

RFC 8785 puts the members in this order, so `prev` and `at` stand at the same offsets in every line.
`prev` is the hash of the line before, which is also that line's leaf in the Merkle tree.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache
from typing import Any, Literal, TypeAlias, cast, get_args

from aal_engine.canonical import JSON, MAX_INTEGER, canonical, plain, plainly_spelled
from aal_engine.decide.merkle import leaf_hash
from aal_engine.errors import AppendRefused, ChainBroken, InputError, shown

Kind: TypeAlias = Literal[
    "genesis", "decision", "release", "rollback", "breach", "quarantine", "clear", "key"
]

KINDS: tuple[str, ...] = get_args(Kind)
VERSION = 1
MAX_LINE = 65_535
MAX_TEXT = 256
MAX_VKEY = 2_200

PREV = slice(9, 73)
AT = slice(88, 112)
FRAME = ((slice(0, 9), b'{"prev":"'), (slice(73, 88), b'","rec":{"at":"'))

_OUTER = frozenset({"prev", "rec", "seq", "v"})
_RECORD = frozenset({"at", "body", "kind"})
_VKEY = re.compile(r"[^\s+]+\+[0-9a-f]{8}\+[A-Za-z0-9+/]+={0,2}")
_HEX = re.compile(r"[0-9a-f]{64}")
_AT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry: its place, the hash it is chained to, what it records, and its stored bytes.

    `prev` is 64 hexadecimal digits, `at` a UTC time to the millisecond, `line` the bytes without
    the line feed, `leaf` their RFC 6962 leaf hash (32 bytes).
    """

    seq: int
    prev: str
    kind: Kind
    body: Mapping[str, JSON]
    at: str
    line: bytes = field(repr=False)
    leaf: bytes = field(repr=False)


def stamp(at: datetime) -> str:
    """Return a time as entries hold it: UTC, to the millisecond.

    Raises:
        AppendRefused: the time has no zone.

    >>> stamp(datetime(2026, 1, 2, 3, 4, 5, 678901, tzinfo=UTC))
    '2026-01-02T03:04:05.678Z'
    """
    if at.tzinfo is None:
        raise AppendRefused("the time of an entry needs a time zone")
    return at.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def write(seq: int, prev: str, kind: str, body: Mapping[str, JSON], at: datetime) -> Entry:
    """Return the entry and its line.

    Raises:
        AppendRefused: an unknown kind, a number that JSON readers do not agree on, a string that
            is not NFC, not printable, of several lines or longer than 256 characters (a ledger
            holds names, numbers and digests, never a question or an answer), or a line longer
            than 65,535 bytes.
    """
    if kind not in KINDS:
        raise AppendRefused(f"the ledger knows no kind of entry by that name; it knows {KINDS}")
    when = stamp(at)
    record: dict[str, JSON] = {"at": when, "body": body, "kind": kind}
    try:
        whole: JSON = {"prev": prev, "rec": record, "seq": seq, "v": VERSION}
        quick = plain(whole)
        line = canonical(whole) if quick is None else quick
    except InputError as error:
        raise AppendRefused(f"an entry of kind {kind} cannot be written: {error}") from None
    fault = None if quick and _surely_lawful(quick) else _fault(body, "body")
    if fault is not None:
        raise AppendRefused(f"an entry of kind {kind} cannot be written: {fault}")
    if len(line) > MAX_LINE:
        raise AppendRefused(
            f"an entry of kind {kind} takes {len(line):,} bytes; a line holds {MAX_LINE:,}",
            way_out="record digests of large parts instead of the parts themselves",
        )
    return Entry(seq, prev, cast("Kind", kind), body, when, line, leaf_hash(line))


def record_of(line: bytes) -> bytes:
    """Return the canonical bytes of a line's body and kind: what happened, not when or where.

    Two lines with equal parts record the same thing.
    """
    return b"{" + line[AT.stop + 2 : line.rindex(b',"seq":')]


def _surely_lawful(line: bytes) -> bool:
    """Say whether a plain line surely holds no text that `_fault` would refuse. Nearly every is so.

    Without escapes a quote starts or ends a string, so a string that is too long has no quote in
    as many bytes.
    """
    if b"\\" in line or b"\x7f" in line:
        return False
    start = 0
    while start + MAX_TEXT < len(line):
        quote = line.rfind(b'"', start, start + MAX_TEXT + 1)
        if quote < 0:
            return False
        start = quote + 1
    return True


def _fault(value: object, path: str) -> str | None:
    """Say what may not be written and where, or None. Texts are never shown."""
    if isinstance(value, dict):
        if any(_text_fault(key) for key in value):
            return f"{shown(path)} has a key that is not a plain name"
        parts = [(f"{path}.{key}", item) for key, item in value.items()]
    elif isinstance(value, list | tuple):
        parts = [(f"{path}[{place}]", item) for place, item in enumerate(value)]
    elif isinstance(value, str):
        problem = _text_fault(value)
        return None if problem is None else f"{shown(path)} {problem}"
    elif isinstance(value, float) and abs(value) > MAX_INTEGER:
        return f"{shown(path)} is beyond 2^53 - 1, where numbers have gaps"
    else:
        return None
    faults = (_fault(item, place) for place, item in parts)
    return next(filter(None, faults), None)


def _text_fault(text: str) -> str | None:
    if len(text) > MAX_TEXT and (len(text) > MAX_VKEY or not _VKEY.fullmatch(text)):
        return f"is longer than {MAX_TEXT} characters; a ledger holds names, not texts"
    if text.isascii():
        return None if text.isprintable() else "is not one printable line"
    if not text.isprintable():
        return "is not one printable line"
    if not unicodedata.is_normalized("NFC", text):
        return "is not in Unicode normal form C"
    return None


def parse(line: bytes, seq: int, *, strict: bool = True, leaf: bytes | None = None) -> Entry:
    """Return the entry that stands at place `seq`; `leaf` is its hash where that is at hand.

    `strict` also requires that the line is the RFC 8785 form of what it says: no repeated keys, no
    other spelling of a number or a string, finite numbers, NFC text, members and kinds known here.

    Raises:
        ChainBroken: the line is not such an entry; it says which rule.
    """
    if len(line) > MAX_LINE:
        raise ChainBroken(seq, f"is longer than {MAX_LINE:,} bytes")
    outer = _decoded(line) if strict else None
    if outer is None:
        outer = _loads(line, seq)
        if strict:
            _require_canonical(outer, line, seq)
    problem = _shape_fault(outer)
    if problem is not None:
        raise ChainBroken(seq, problem)
    if outer["seq"] != seq:
        raise ChainBroken(
            seq,
            f"stands at place {seq} and calls itself {outer['seq']}: "
            "entries were removed, inserted or moved",
        )
    record = outer["rec"]
    kind, body, at = record["kind"], record["body"], record["at"]
    return Entry(seq, outer["prev"], kind, body, at, line, leaf or leaf_hash(line))


class _Unlawful(ValueError):
    """A JSON text that parses, but that two readers may read differently."""


def _decoded(line: bytes) -> Any | None:
    """Return what the line says if it is surely in canonical form, or None if that is not sure.

    Encoding again what was decoded yields the same bytes only where nothing is repeated, unsorted
    or spelled in another way.
    """
    decode, encode, failed = _codec()
    if not plainly_spelled(line):
        return None
    try:
        outer = decode(line)
        return outer if encode(outer) == line else None
    except (failed, RecursionError):
        return None


@cache
def _codec() -> tuple[Callable[[bytes], Any], Callable[[Any], bytes], type[Exception]]:
    # Not at the top: its import takes longer than a whole check of a small ledger without it.
    import msgspec

    decoder, encoder = msgspec.json.Decoder(), msgspec.json.Encoder(order="sorted")
    return decoder.decode, encoder.encode, msgspec.MsgspecError


def _loads(line: bytes, seq: int) -> Any:
    try:
        text = line.decode()
        return json.loads(text, object_pairs_hook=_object, parse_constant=_constant)
    except UnicodeDecodeError:
        why = "is not UTF-8"
    except _Unlawful as unlawful:
        why = str(unlawful)
    except (ValueError, RecursionError):
        why = "is not one JSON value"
    raise ChainBroken(seq, why)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise _Unlawful("names a member twice")
    return members


def _constant(_: str) -> None:
    raise _Unlawful("holds a number that is not finite")


def _require_canonical(outer: Any, line: bytes, seq: int) -> None:
    try:
        same = canonical(outer) == line
    except InputError as error:
        raise ChainBroken(seq, f"has a value that {error.faults[0].problem}") from None
    if not same:
        raise ChainBroken(seq, "is not in canonical form (RFC 8785)")
    if not unicodedata.is_normalized("NFC", line.decode()):
        raise ChainBroken(seq, "holds text that is not in Unicode normal form C")


def _shape_fault(outer: Any) -> str | None:
    if not isinstance(outer, dict) or outer.keys() != _OUTER:
        return "is not an object of prev, rec, seq and v"
    if outer["v"] is not VERSION:
        return "is of a format version that this program does not know"
    if not isinstance(outer["prev"], str) or not _HEX.fullmatch(outer["prev"]):
        return "has a prev that is not 64 hexadecimal digits"
    if not isinstance(outer["seq"], int) or isinstance(outer["seq"], bool):
        return "has a seq that is not an integer"
    record = outer["rec"]
    if not isinstance(record, dict) or record.keys() != _RECORD:
        return "has a rec that is not an object of at, body and kind"
    if record["kind"] not in KINDS:
        return "is of an unknown kind"
    if not isinstance(record["body"], dict):
        return "has a body that is not an object"
    if not isinstance(record["at"], str) or not _is_time(record["at"]):
        return "has a time that is not YYYY-MM-DDTHH:MM:SS.mmmZ"
    return None


def _is_time(text: str) -> bool:
    if not _AT.fullmatch(text):
        return False
    try:
        datetime.fromisoformat(text)
    except ValueError:
        return False
    return True
