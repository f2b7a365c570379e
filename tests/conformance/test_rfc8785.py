"""RFC 8785 vectors: the reference inputs and outputs, and parsers' differences."""

from __future__ import annotations

import hashlib
import json
import math
import re
import struct
from collections.abc import Iterator

import pytest

from aal_engine.canonical import canonical
from aal_engine.errors import InputError

NAMES = ["arrays", "french", "structures", "unicode", "values", "weird"]

# Appendix B of RFC 8785: IEEE 754 bits and how the number is written.
NUMBERS = {
    "0000000000000000": "0",
    "8000000000000000": "0",
    "0000000000000001": "5e-324",
    "8000000000000001": "-5e-324",
    "7fefffffffffffff": "1.7976931348623157e+308",
    "ffefffffffffffff": "-1.7976931348623157e+308",
    "4340000000000000": "9007199254740992",
    "c340000000000000": "-9007199254740992",
    "4430000000000000": "295147905179352830000",
    "44b52d02c7e14af5": "9.999999999999997e+22",
    "44b52d02c7e14af6": "1e+23",
    "44b52d02c7e14af7": "1.0000000000000001e+23",
    "444b1ae4d6e2ef4e": "999999999999999700000",
    "444b1ae4d6e2ef4f": "999999999999999900000",
    "444b1ae4d6e2ef50": "1e+21",
    "3eb0c6f7a0b5ed8c": "9.999999999999997e-7",
    "3eb0c6f7a0b5ed8d": "0.000001",
    "41b3de4355555553": "333333333.3333332",
    "41b3de4355555554": "333333333.33333325",
    "41b3de4355555555": "333333333.3333333",
    "41b3de4355555556": "333333333.3333334",
    "41b3de4355555557": "333333333.33333343",
    "becbf647612f3696": "-0.0000033333333333333333",
    "43143ff3c1cb0959": "1424953923781206.2",
}


@pytest.mark.parametrize("name", NAMES)
def test_reference_input_gives_reference_output(shared, name):
    folder = shared / "data/ledger/rfc8785"
    value = json.loads((folder / f"input/{name}.json").read_text("utf-8"))
    expected = bytes.fromhex((folder / f"outhex/{name}.txt").read_text())
    assert canonical(value) == expected
    assert (folder / f"output/{name}.json").read_bytes() == expected


@pytest.mark.parametrize(("bits", "text"), NUMBERS.items())
def test_numbers_of_appendix_b(bits, text):
    (number,) = struct.unpack(">d", bytes.fromhex(bits))
    assert canonical(number) == text.encode()


@pytest.mark.parametrize("bits", ["7fffffffffffffff", "7ff0000000000000", "fff0000000000000"])
def test_appendix_b_refuses_nan_and_infinities(bits):
    (number,) = struct.unpack(">d", bytes.fromhex(bits))
    with pytest.raises(InputError, match="finite"):
        canonical(number)


def _generated(static: list[int], count: int) -> Iterator[float]:
    """Yield the numbers of the reference's generator: chosen, consecutive, then hashed ones."""
    bits = [*static, *(0x0010000000000000 + i for i in range(2_000))]
    yield from (struct.unpack(">d", struct.pack(">Q", value))[0] for value in bits[:count])
    count -= len(bits)
    block = bytes(32)
    while count > 0:
        block = hashlib.sha256(block).digest()
        for number in struct.unpack("<4d", block):
            if number != 0 and math.isfinite(number) and count > 0:
                count -= 1
                yield number


@pytest.mark.parametrize("count", [1_000, 10_000, 100_000])
def test_generated_numbers_hash_as_the_reference_says(shared, count):
    text = (shared / "data/ledger/rfc8785/README.es6numbers.md").read_text("utf-8")
    static = [int(digits, 16) for digits in re.findall(r"0x([0-9a-f]{16})n[,\n]", text)]
    expected = re.search(rf"\| ([0-9a-f]{{64}}) \| {count} ", text)[1]
    lines = hashlib.sha256()
    for number in _generated(static, count):
        (bits,) = struct.unpack(">Q", struct.pack(">d", number))
        lines.update(f"{bits:x},".encode() + canonical(number) + b"\n")
    assert lines.hexdigest() == expected


def test_parsers_differences_read_the_same_or_are_refused(shared):
    folder = shared / "data/ledger/jsontestsuite/test_transform"
    seen = 0
    for path in sorted(folder.glob("*.json")):
        try:
            value = json.loads(path.read_bytes().decode())
            text = canonical(value)
        except (ValueError, InputError):
            continue
        seen += 1
        assert canonical(json.loads(text)) == text, path.name
    assert seen > 10
