"""The ledger's rules: what may be appended, and what each kind of tampering looks like."""

from __future__ import annotations

import json
import math
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from aal_engine.canonical import canonical
from aal_engine.decide.entry import KINDS, MAX_LINE, parse, record_of, stamp, write
from aal_engine.decide.ledger import (
    Head,
    empty,
    extend,
    genesis_body,
    genesis_prev,
    link,
    verify,
)
from aal_engine.errors import AppendRefused, ChainBroken, InputError

ORIGIN = "example.com/ledger"
NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)
MARKER = "zebra-marker"


def chain(count: int, *, origin: str = ORIGIN, start: datetime = NOON, tag: str = "a"):
    """Return the lines of a ledger with `count` entries, and the head after each."""
    heads = [empty(origin)]
    lines = []
    for place in range(count):
        kind = "decision" if place else "genesis"
        body = {"n": place, "tag": tag} if place else genesis_body(origin)
        entry = link(heads[-1], kind, body, start + timedelta(seconds=place))
        lines.append(entry.line)
        heads.append(extend(heads[-1], entry))
    return lines, heads


LINES, HEADS = chain(9)


def broken(lines, **options) -> ChainBroken:
    with pytest.raises(ChainBroken) as caught:
        verify(lines, **options)
    return caught.value


class TestLink:
    def test_a_line_has_the_documented_form(self):
        head = empty(ORIGIN)
        entry = link(head, "genesis", genesis_body(ORIGIN), NOON)
        assert entry.line == (
            b'{"prev":"' + genesis_prev(ORIGIN).encode() + b'","rec":{"at":"2026-05-01T12:00:00.'
            b'000Z","body":{"hash":"sha-256","origin":"example.com/ledger","vkeys":[]},'
            b'"kind":"genesis"},"seq":0,"v":1}'
        )

    def test_what_was_linked_reads_back_as_the_same_entry(self):
        entry = link(HEADS[3], "rollback", {"to": "1.0", "n": [1, 0.5, None, True]}, NOON)
        assert parse(entry.line, 3) == entry
        assert parse(entry.line, 3, strict=False) == entry

    @pytest.mark.parametrize("kind", KINDS[1:])
    def test_every_kind_but_genesis_may_follow(self, kind):
        assert link(HEADS[1], kind, {}, NOON).kind == kind

    @pytest.mark.parametrize(("head", "kind"), [(HEADS[0], "decision"), (HEADS[1], "genesis")])
    def test_genesis_is_first_and_only_first(self, head, kind):
        with pytest.raises(AppendRefused, match="genesis"):
            link(head, kind, {}, NOON)

    @pytest.mark.parametrize(
        ("body", "said"),
        [
            ({"a": math.nan}, r"body\.a: is not a finite number"),
            ({"a": [0, math.inf]}, r"body\.a\[1\]: is not a finite number"),
            ({"a": 2**54}, r"body\.a: is an integer beyond 2\^53 - 1"),
            ({"a": 1e20}, r"body\.a is beyond 2\^53 - 1"),
            ({"a": [1, -1e300]}, r"body\.a\[1\] is beyond 2\^53 - 1"),
            ({"a": {"b": "e\u0301"}}, r"body\.a\.b is not in Unicode normal form C"),
            ({"a": "two\nlines"}, r"body\.a is not one printable line"),
            ({"a": "nul\0"}, r"body\.a is not one printable line"),
            ({"a": "\x7f"}, r"body\.a is not one printable line"),
            ({"a": "\ud800"}, r"body\.a: holds half a surrogate pair"),
            ({"a": "x" * 257}, r"body\.a is longer than 256 characters"),
            ({"e\u0301": 1}, r"body has a key that is not a plain name"),
            ({"x" * 257: 1}, r"body has a key that is not a plain name"),
            ({"a": [{3: 1}]}, r"body\.a\[0\]: has a key that is not a string"),
            ({"a": {1}}, r"body\.a: is a set"),
        ],
    )
    def test_what_may_not_be_written_is_refused_by_field(self, body, said):
        with pytest.raises(AppendRefused, match=said):
            link(HEADS[1], "decision", body, NOON)

    def test_a_text_is_refused_and_not_shown(self):
        with pytest.raises(AppendRefused) as caught:
            link(HEADS[1], "decision", {"why": f"{MARKER} " * 30}, NOON)
        assert MARKER not in str(caught.value)

    def test_a_key_is_no_way_to_show_a_text(self):
        with pytest.raises(AppendRefused) as caught:
            link(HEADS[1], "decision", {f"{MARKER} " * 30: 1}, NOON)
        assert MARKER not in str(caught.value)

    def test_names_beyond_ascii_may_be_written(self):
        entry = link(HEADS[1], "decision", {"agent": "agé-助手"}, NOON)
        assert parse(entry.line, 1).body == {"agent": "agé-助手"}

    def test_a_line_longer_than_its_limit_is_refused(self):
        body = {"n": ["x" * 250] * 300}
        with pytest.raises(AppendRefused, match=f"a line holds {MAX_LINE:,}"):
            link(HEADS[1], "decision", body, NOON)

    def test_endless_nesting_is_refused(self):
        body: dict[str, object] = {}
        for _ in range(120):
            body = {"a": body}
        with pytest.raises(AppendRefused, match="nested too deeply"):
            link(HEADS[1], "decision", body, NOON)

    def test_an_unknown_kind_is_refused(self):
        with pytest.raises(AppendRefused, match="knows no kind"):
            link(HEADS[1], "promotion", {}, NOON)

    @pytest.mark.parametrize("origin", ["", "two words", "a+b", "tab\t", "x" * 201, "a\u00a0b"])
    def test_an_origin_that_no_signature_could_name_is_refused(self, origin):
        with pytest.raises(AppendRefused, match="origin"):
            empty(origin)

    @given(
        st.recursive(
            st.none()
            | st.booleans()
            | st.integers(-(2**53) + 1, 2**53 - 1)
            | st.floats(-1e15, 1e15)
            | st.text(max_size=20),
            lambda inner: (
                st.lists(inner, max_size=4)
                | st.dictionaries(st.text(max_size=8), inner, max_size=4)
            ),
            max_leaves=12,
        )
    )
    def test_what_is_accepted_verifies_and_the_rest_is_refused(self, value):
        try:
            entry = link(HEADS[1], "decision", {"value": value}, NOON)
        except AppendRefused:
            return
        assert verify([LINES[0], entry.line]).size == 2


class TestStamp:
    def test_times_are_written_in_utc_and_cut_to_milliseconds(self):
        east = timezone(timedelta(hours=5, minutes=30))
        assert stamp(datetime(2026, 1, 1, 2, 0, 0, 999_999, east)) == "2025-12-31T20:30:00.999Z"

    def test_a_time_without_a_zone_is_refused(self):
        with pytest.raises(AppendRefused, match="time zone"):
            stamp(datetime(2026, 1, 1))


class TestVerify:
    @pytest.mark.parametrize("strict", [True, False])
    def test_a_whole_chain_gives_its_head(self, strict):
        assert verify(LINES, strict=strict) == HEADS[9]

    @pytest.mark.parametrize("size", range(1, 9))
    def test_what_follows_a_trusted_head_verifies_alone(self, size):
        assert verify(LINES[size:], trusted=HEADS[size]) == HEADS[9]

    def test_nothing_new_leaves_the_trusted_head(self):
        assert verify([], trusted=HEADS[4]) == HEADS[4]

    def test_an_empty_log_is_no_ledger(self):
        assert broken([]).seq == 0

    def test_a_ledger_of_another_origin_is_refused(self):
        assert broken(LINES, trusted=empty("example.com/other")).seq == 0

    def test_meaning_hears_every_entry_in_order(self):
        heard = []
        verify(LINES, strict=False, meaning=heard.append)
        assert [entry.body["n"] for entry in heard[1:]] == list(range(1, 9))
        assert heard == [parse(line, seq) for seq, line in enumerate(LINES)]

    def test_meaning_may_break_the_chain(self):
        def refuse(entry):
            if entry.seq == 4:
                raise ChainBroken(entry.seq, "does not follow")

        assert broken(LINES, meaning=refuse).seq == 4

    def test_a_clock_that_went_backwards_is_noticed_and_not_held_against_it(self):
        first = link(HEADS[9], "decision", {}, NOON - timedelta(days=1))
        then = link(extend(HEADS[9], first), "decision", {}, NOON)
        told = []
        head = verify([*LINES, first.line, then.line], notice=lambda *what: told.append(what))
        assert head.size == 11
        assert told == [(9, "is dated before the entry it follows")]

    @pytest.mark.parametrize(("back", "told"), [(10_000, 0), (10_001, 1)])
    def test_who_waited_for_a_turn_is_no_clock_that_went_backwards(self, back, told):
        """An entry has the time at which its writer began to wait, up to ten seconds before."""
        last = link(HEADS[9], "decision", {}, NOON)
        late = link(extend(HEADS[9], last), "decision", {}, NOON - timedelta(milliseconds=back))
        found = []
        verify([*LINES, last.line, late.line], notice=lambda *what: found.append(what))
        assert len(found) == told


class TestPins:
    def test_a_pin_that_holds_changes_nothing(self):
        assert verify(LINES, pins={5: HEADS[5].root, 9: HEADS[9].root}) == HEADS[9]

    def test_a_cut_tail_shows_only_against_a_pin(self):
        assert verify(LINES[:6]) == HEADS[6]
        error = broken(LINES[:6], pins={9: HEADS[9].root})
        assert (error.seq, "once had 9 entries" in error.why) == (6, True)

    def test_a_ledger_written_anew_shows_only_against_a_pin(self):
        other, heads = chain(9, tag="b")
        assert verify(other) == heads[9]
        assert "written anew" in broken(other, pins={5: HEADS[5].root}).why

    def test_a_pin_at_the_trusted_head_is_held_too(self):
        assert broken(LINES[4:], trusted=HEADS[4], pins={4: HEADS[5].root}).seq == 3


def _edited(line: bytes, **members: object) -> bytes:
    outer = json.loads(line)
    outer["rec"]["body"].update(members)
    return canonical(outer)


def _rechained(lines: list[bytes], start: int) -> list[bytes]:
    """Chain the lines from a place on to what stands before them now."""
    done = lines[:start]
    head = verify(done) if done else None
    for line in lines[start:]:
        outer = json.loads(line)
        outer["prev"] = head.leaf.hex()
        outer["seq"] = head.size
        done.append(canonical(outer))
        head = verify(done)
    return done


@pytest.mark.parametrize("strict", [True, False])
class TestTampering:
    """Rows of the attack table that a chain shows by itself."""

    @pytest.mark.parametrize("place", range(8))
    def test_an_edited_entry_is_named(self, strict, place):
        members = {"tag": "b"} if place else {"hash": "sha-512"}
        lines = [*LINES[:place], _edited(LINES[place], **members), *LINES[place + 1 :]]
        assert broken(lines, strict=strict).seq == place

    @pytest.mark.parametrize("place", range(8))
    def test_a_deleted_entry_is_named(self, strict, place):
        assert broken(LINES[:place] + LINES[place + 1 :], strict=strict).seq == place

    @pytest.mark.parametrize("place", range(8))
    def test_two_entries_swapped_are_named(self, strict, place):
        lines = [*LINES[:place], LINES[place + 1], LINES[place], *LINES[place + 2 :]]
        assert broken(lines, strict=strict).seq == place

    @pytest.mark.parametrize("place", range(9))
    def test_an_entry_twice_is_named(self, strict, place):
        lines = [*LINES[: place + 1], *LINES[place:]]
        assert broken(lines, strict=strict).seq == place + 1

    def test_an_inserted_entry_that_fits_its_place_is_shown_by_the_next(self, strict):
        forged = link(HEADS[4], "decision", {"n": "forged"}, NOON).line
        assert broken([*LINES[:4], forged, *LINES[4:]], strict=strict).seq == 5

    def test_a_renumbered_entry_is_named(self, strict):
        lines = [*LINES[:4], LINES[4].replace(b'"seq":4', b'"seq":5'), *LINES[5:]]
        assert broken(lines, strict=strict).seq == 4

    def test_a_changed_prev_is_named(self, strict):
        lines = list(LINES)
        lines[4] = lines[4].replace(lines[4][9:20], b"00000000000")
        assert broken(lines, strict=strict).seq == 4

    def test_entries_of_another_ledger_do_not_chain(self, strict):
        other, _ = chain(9, origin="example.com/other")
        assert broken([*LINES[:4], *other[4:]], strict=strict).seq in {3, 4}

    def test_a_chain_made_again_from_an_edit_on_shows_only_against_a_pin(self, strict):
        lines = [*LINES[:4], _edited(LINES[4], tag="b"), *LINES[5:]]
        lines = _rechained(lines, 5)
        assert verify(lines, strict=strict).size == 9
        assert broken(lines, strict=strict, pins={9: HEADS[9].root}).seq == 8

    @pytest.mark.parametrize(
        ("name", "damage"),
        [
            ("carriage return", lambda line: line + b"\r"),
            ("byte order mark", lambda line: b"\xef\xbb\xbf" + line),
            ("nul bytes", lambda line: line + b"\0" * 16),
            ("all nul", lambda line: b"\0" * len(line)),
            ("empty line", lambda line: b""),
            ("spaces", lambda line: line + b" "),
            ("half a line", lambda line: line[: len(line) // 2]),
            ("a second value", lambda line: line + line),
            ("not JSON", lambda line: b"x" * 300),
            ("not UTF-8", lambda line: line[:-30] + b"\xff" * 30),
            ("nested", lambda line: b"[" * 60_000),
            ("too long", lambda line: line + b" " * MAX_LINE),
        ],
    )
    def test_a_damaged_line_is_named(self, strict, name, damage):
        lines = [*LINES[:4], damage(LINES[4]), *LINES[5:]]
        assert broken(lines, strict=strict).seq == 4, name


@pytest.mark.parametrize(
    ("why", "before", "after"),
    [
        ("a member twice", b'"tag":"a"', b'"tag":"a","tag":"a"'),
        ("another value twice", b'"n":4,', b'"n":3,"n":4,'),
        ("a space", b'"n":4', b'"n": 4'),
        ("an unsorted member", b'"n":4,"tag":"a"', b'"tag":"a","n":4'),
        ("an escape that is not needed", b'"tag":"a"', b'"tag":"\\u0061"'),
        ("a number spelled otherwise", b'"n":4,', b'"n":4.0,'),
        ("a number with an exponent", b'"n":4,', b'"n":4e0,'),
        ("a small number spelled otherwise", b'"n":4,', b'"n":1e-6,'),
        ("a large number spelled otherwise", b'"n":4,', b'"n":1e22,'),
        ("minus nothing", b'"n":4,', b'"n":-0,'),
        ("an integer too large", b'"n":4,', b'"n":9007199254740992,'),
        ("an integer too small", b'"n":4,', b'"n":[-9007199254740992],'),
        ("a second integer too large", b'"n":4,', b'"n":[1,9007199254740992],'),
        ("not a number", b'"n":4,', b'"n":NaN,'),
        ("infinity", b'"n":4,', b'"n":-Infinity,'),
        ("infinity in digits", b'"n":4,', b'"n":1e999,'),
        ("text not in NFC", b'"tag":"a"', b'"tag":"e\xcc\x81"'),
        ("half a surrogate pair", b'"tag":"a"', b'"tag":"\\ud800"'),
        ("an unknown kind", b'"kind":"decision"', b'"kind":"decisiom"'),
        ("a second genesis", b'"kind":"decision"', b'"kind":"genesis"'),
        ("a time that is none", b"2026-05-01T12:00:04.000Z", b"2026-02-30T12:00:04.000Z"),
        ("a time in another form", b"2026-05-01T12:00:04.000Z", b"2026-05-01 12:00:04.000Z"),
        ("a body that is a list", b'{"n":4,"tag":"a"}', b"[1]"),
        ("another version", b'"v":1}', b'"v":2}'),
        ("a version that is true", b'"v":1}', b'"v":true}'),
        ("one member more", b'"v":1}', b'"v":1,"w":1}'),
    ],
)
def test_strict_verification_reads_the_line_and_not_its_hash_alone(why, before, after):
    # The last line: nothing after it shows that its bytes are others.
    line = LINES[4].replace(before, after)
    assert line != LINES[4]
    error = broken([*LINES[:4], line])
    assert error.seq == 4, why
    assert error.why


@pytest.mark.parametrize("number", ["1e-7", "1.5e-10", "1e+21", "0.000001", "1e+300", "0.1", "-5"])
def test_strict_verification_accepts_each_canonical_spelling(number):
    line = LINES[4].replace(b'"n":4,', f'"n":{number},'.encode())
    if number == "1e+21":
        assert canonical(1e21).decode() == number
    assert parse(line, 4).body["n"] == float(number)


@given(
    st.dictionaries(
        st.text(max_size=6),
        st.floats(allow_nan=False, allow_infinity=False)
        | st.integers(-(2**70), 2**70)
        | st.text(max_size=6),
        max_size=4,
    ),
    st.booleans(),
)
def test_the_quick_way_to_read_a_line_and_the_plain_one_agree(body, ascii_only):
    # What json writes is often not canonical; both ways must come to the same verdict on it.
    outer = {"prev": "0" * 64, "rec": {"at": stamp(NOON), "body": body, "kind": "key"}}
    line = json.dumps(
        {**outer, "seq": 4, "v": 1}, separators=(",", ":"), sort_keys=True, ensure_ascii=ascii_only
    ).encode(errors="surrogatepass")
    try:
        expected = canonical(json.loads(line)) == line
    except (ValueError, InputError):
        expected = False
    try:
        parse(line, 4)
        accepted = True
    except ChainBroken as error:
        accepted = "normal form" in error.why
    assert accepted == expected


def test_a_record_is_the_same_wherever_and_whenever_it_stands():
    one = link(HEADS[1], "breach", {"a": [1, "rec"]}, NOON)
    other = link(HEADS[8], "breach", {"a": [1, "rec"]}, NOON + timedelta(days=1))
    assert (
        record_of(one.line)
        == record_of(other.line)
        == canonical({"body": {"a": [1, "rec"]}, "kind": "breach"})
    )
    assert record_of(link(HEADS[1], "clear", {"a": [1, "rec"]}, NOON).line) != record_of(one.line)


def test_the_head_of_a_longer_ledger_is_the_root_over_its_lines():
    _, heads = chain(64)
    assert isinstance(heads[64], Head)
    assert len(heads[64].edge) == 1
    assert len(heads[63].edge) == 6


@given(
    st.from_regex(r"-?[0-9]{1,3}(\.[0-9]{1,3}|[0-9]{12,18}(\.[0-9]{1,3})?)?", fullmatch=True)
    | st.from_regex(r"-?[0-9]{1,20}(\.[0-9]{1,20})?([eE][+-]?[0-9]{1,3})?", fullmatch=True)
    | st.floats(allow_nan=False, allow_infinity=False).map(repr)
)
@example("1.0")
@example("1e16")
@example("1e-5")
@example("9007199254740993")
@example("-0")
def test_a_line_is_accepted_with_a_number_exactly_where_it_is_spelled_as_rfc_8785_does(number):
    line = write(7, "0" * 64, "breach", {"n": 4, "at": [0.5]}, NOON).line
    line = line.replace(b"0.5", number.encode())
    try:
        lawful = canonical(json.loads(line)) == line
    except (ValueError, InputError):
        lawful = False
    try:
        accepted = parse(line, 7).line == line
    except ChainBroken:
        accepted = False
    assert accepted == lawful
