"""Time stamps over a ledger's checkpoints: asked for, kept, checked."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

from aal_engine.decide.note import parse
from aal_engine.decide.timestamp import MAX_BYTES, request, stamped
from aal_engine.errors import InputError, NoTrustedKey, file_name
from aal_engine.service.ledger import verify
from aal_engine.store.ledger import Ledger
from aal_engine.store.text_file import open_input, read_text


def ask(folder: Path) -> bytes:
    """Return a request to stamp the latest checkpoint, for an authority; nothing is sent.

    Raises:
        LedgerError: the ledger is broken, or nothing is signed.
        MissingExtra: the library for it is not installed.
    """
    verify(folder)
    raw = Ledger.open(folder).checkpoint()
    if raw is None:
        raise _unsigned()
    return request(parse(raw).text)


def keep(folder: Path, response: Path, chain: Path) -> tuple[int, datetime]:
    """Keep an authority's response beside the checkpoint that it stamps; return size and time.

    Raises:
        LedgerError: the ledger is broken, or no checkpoint of it is the one that was stamped.
        InputError: the response or the certificates cannot be read.
        MissingExtra: the library for it is not installed.
    """
    verify(folder)
    ledger = Ledger.open(folder)
    with open_input(response) as file:
        raw = file.read(MAX_BYTES + 1)
    trusted = read_text(chain).encode()
    refused = _unsigned()
    for size, note in sorted(ledger.checkpoints(0).items(), reverse=True):
        try:
            when = stamped(raw, parse(note).text, trusted, file_name(response))
        except NoTrustedKey as error:
            refused = error
        else:
            ledger.stamp(size, raw)
            return size, when
    raise refused


def check(folder: Path, chain: Path) -> list[tuple[int, datetime]]:
    """Return the size and the time of each checkpoint that was stamped, the oldest first.

    Raises:
        LedgerError: the ledger is broken, or those certificates do not vouch for a stamp.
        InputError: nothing was stamped, or the certificates cannot be read.
        MissingExtra: the library for it is not installed.
    """
    verify(folder)
    ledger = Ledger.open(folder)
    notes, trusted = ledger.checkpoints(0), read_text(chain).encode()
    found = sorted(ledger.stamps().items())
    if not found:
        raise InputError.at("has no time stamps", file=folder)
    told = []
    for size, raw in found:
        if size not in notes:
            raise NoTrustedKey(f"{size:012d}.tsr stamps a checkpoint that is not there")
        told.append((size, stamped(raw, parse(notes[size]).text, trusted, f"{size:012d}.tsr")))
    return told


def _unsigned() -> NoTrustedKey:
    return NoTrustedKey(
        "nothing is signed that could be stamped",
        way_out="sign the ledger first: aal ledger checkpoint --key FILE",
    )
