"""Keys that sign checkpoints: named, of three kinds, as C2SP signed-note and tlog-cosignature say.

| type | signs | with |
|---|---|---|
| 0x01 | the note's text | Ed25519 |
| 0x04 | a witness's statement of the time, and the text | Ed25519 |
| 0x06 | a statement of the time, and the checkpoint's origin, size and root | ML-DSA-44 |
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import struct
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from aal_engine.errors import NoTrustedKey, shown

ED25519 = 0x01
COSIGNATURE = 0x04
ML_DSA_44 = 0x06
SEED_BYTES = 32

_SECRET = "PRIVATE+KEY+"  # noqa: S105 the mark of a private key's file, not one


@dataclass(frozen=True, slots=True)
class VerifierKey:
    """A public key under its name."""

    name: str
    kind: int
    public: bytes

    @property
    def key_id(self) -> bytes:
        """The first 4 bytes of SHA-256(name, line feed, type, key)."""
        hashed = self.name.encode() + b"\n" + bytes([self.kind]) + self.public
        return hashlib.sha256(hashed).digest()[:4]

    def encode(self) -> str:
        """Return the key as a vkey: `name+id+base64(type and key)`."""
        key = base64.b64encode(bytes([self.kind]) + self.public).decode()
        return f"{self.name}+{self.key_id.hex()}+{key}"

    def verifies(self, text: str, data: bytes) -> bool:
        """Say whether this key wrote these signature bytes for a note's text."""
        kind = KINDS[self.kind]
        seconds = None
        if kind.timed:
            if len(data) < 8:
                return False
            (seconds,) = struct.unpack(">Q", data[:8])
            data = data[8:]
        message = kind.message(self.name, text, seconds or 0)
        return message is not None and kind.holds(self.public, data, message)


@dataclass(frozen=True, slots=True)
class SignerKey:
    """A private key under its name; `seed` is 32 bytes and is shown by nothing."""

    name: str
    kind: int
    seed: bytes = field(repr=False)

    def verifier(self) -> VerifierKey:
        """Return the public key."""
        return VerifierKey(self.name, self.kind, KINDS[self.kind].public(self.seed))

    def encode(self) -> str:
        """Return the key as its file holds it: a secret."""
        key = base64.b64encode(bytes([self.kind]) + self.seed).decode()
        return f"{_SECRET}{self.name}+{self.verifier().key_id.hex()}+{key}"

    def signature(self, text: str, seconds: int) -> bytes:
        """Return signature bytes for a note's text; cosignatures hold the time.

        Raises:
            NoTrustedKey: a key of this kind signs checkpoints alone, and the text is none.
        """
        kind = KINDS[self.kind]
        message = kind.message(self.name, text, seconds)
        if message is None:
            raise NoTrustedKey("a key of this kind signs checkpoints, and this is none")
        return (struct.pack(">Q", seconds) if kind.timed else b"") + kind.sign(self.seed, message)


def verifier_key(vkey: str) -> VerifierKey:
    """Read a vkey.

    Raises:
        NoTrustedKey: it is not one, its id is not that of its key, or its type is unknown here.
    """
    name, _, rest = vkey.partition("+")
    told, _, text = rest.partition("+")
    raw = unbase64(text)
    if not is_name(name) or not raw or raw[0] not in KINDS or len(raw) != KINDS[raw[0]].size + 1:
        raise NoTrustedKey(f"{shown(name)} is not a public key of a kind that is known here")
    key = VerifierKey(name, raw[0], raw[1:])
    if key.key_id.hex() != told:
        raise NoTrustedKey(f"{shown(name)}: the id of this public key is not that of its bytes")
    return key


def signer_key(text: str) -> SignerKey:
    """Read a private key; what is wrong with it is told without any of it.

    Raises:
        NoTrustedKey: it is not a private key in this form.
    """
    name, _, rest = text.strip().removeprefix(_SECRET).partition("+")
    told, _, encoded = rest.partition("+")
    raw = unbase64(encoded)
    if (
        text.startswith(_SECRET)
        and is_name(name)
        and len(raw) == SEED_BYTES + 1
        and raw[0] in KINDS
    ):
        key = SignerKey(name, raw[0], raw[1:])
        if key.verifier().key_id.hex() == told:
            return key
    raise NoTrustedKey(
        "this is not a private key that a ledger is signed with",
        way_out="make one with: aal ledger key new --name NAME --out FILE",
    )


def is_name(name: str) -> bool:
    """Say whether a key can have this name: not empty, no spaces, no plus sign."""
    return bool(name) and name.isprintable() and not any(c.isspace() or c == "+" for c in name)


def unbase64(text: str) -> bytes:
    """Decode standard base64 with its padding; anything else gives no bytes."""
    try:
        raw = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return b""
    return raw if base64.b64encode(raw).decode() == text else b""


@dataclass(frozen=True, slots=True)
class _Kind:
    """What one type of key signs, and with what. `size` is that of a public key, in bytes."""

    size: int
    timed: bool
    message: Callable[[str, str, int], bytes | None]
    public: Callable[[bytes], bytes]
    sign: Callable[[bytes, bytes], bytes]
    holds: Callable[[bytes, bytes, bytes], bool]


def _whole_text(_name: str, text: str, _seconds: int) -> bytes:
    return text.encode()


def _statement(_name: str, text: str, seconds: int) -> bytes:
    return f"cosignature/v1\ntime {seconds}\n{text}".encode()


def _subtree(name: str, text: str, seconds: int) -> bytes | None:
    origin, _, rest = text.partition("\n")
    size, _, rest = rest.partition("\n")
    root = unbase64(rest.partition("\n")[0])
    names = name.encode(), origin.encode()
    if len(root) != 32 or not size.isdecimal() or not all(0 < len(each) < 256 for each in names):
        return None
    return b"".join(
        (
            b"subtree/v1\n\0",
            bytes([len(names[0])]) + names[0],
            struct.pack(">Q", seconds),
            bytes([len(names[1])]) + names[1],
            struct.pack(">QQ", 0, int(size)),
            root,
        )
    )


# The imports stand where they are needed: nothing that only reads or appends entries signs, and
# ML-DSA came to the library late.


def _ed25519_private(seed: bytes) -> Any:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    return Ed25519PrivateKey.from_private_bytes(seed)


def _ed25519_public(public: bytes) -> Any:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    return Ed25519PublicKey.from_public_bytes(public)


def _ml_dsa_private(seed: bytes) -> Any:
    try:
        from cryptography.hazmat.primitives.asymmetric.mldsa import MLDSA44PrivateKey
    except ImportError:
        raise _too_old() from None
    return MLDSA44PrivateKey.from_seed_bytes(seed)


def _ml_dsa_public(public: bytes) -> Any:
    try:
        from cryptography.hazmat.primitives.asymmetric.mldsa import MLDSA44PublicKey
    except ImportError:
        raise _too_old() from None
    return MLDSA44PublicKey.from_public_bytes(public)


def _too_old() -> NoTrustedKey:
    return NoTrustedKey(
        "the installed cryptography library knows no ML-DSA-44",
        way_out="pip install --upgrade cryptography",
    )


def _algorithm(
    size: int,
    timed: bool,
    message: Callable[[str, str, int], bytes | None],
    private: Callable[[bytes], Any],
    public: Callable[[bytes], Any],
) -> _Kind:
    def holds(key: bytes, signature: bytes, signed: bytes) -> bool:
        from cryptography.exceptions import InvalidSignature

        try:
            public(key).verify(signature, signed)
        except InvalidSignature:
            return False
        return True

    return _Kind(
        size,
        timed,
        message,
        lambda seed: bytes(private(seed).public_key().public_bytes_raw()),
        lambda seed, signed: bytes(private(seed).sign(signed)),
        holds,
    )


KINDS = {
    ED25519: _algorithm(32, False, _whole_text, _ed25519_private, _ed25519_public),
    COSIGNATURE: _algorithm(32, True, _statement, _ed25519_private, _ed25519_public),
    ML_DSA_44: _algorithm(1312, True, _subtree, _ml_dsa_private, _ml_dsa_public),
}
