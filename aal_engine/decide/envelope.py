"""DSSE envelopes: a payload of a stated type, signed with ECDSA over P-256 and SHA-256.

The signature is over `DSSEv1 <length> <type> <length> <payload>` (PAE), so that a payload cannot be
taken for one of another type. Written are DER signatures; the raw form of two numbers is read too.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from aal_engine.canonical import JSON, canonical
from aal_engine.errors import InputError, NoTrustedKey

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ec import (
        EllipticCurvePrivateKey,
        EllipticCurvePublicKey,
    )

MAX_BYTES = 16 * 2**20

_RAW_SIGNATURE = 64


@dataclass(frozen=True, slots=True)
class Envelope:
    """A payload, its type, and signatures of which nothing is verified yet.

    Ids of keys are hints that nobody signed, so none is kept, and none is needed.
    """

    payload: bytes
    payload_type: str
    signatures: tuple[bytes, ...]

    def vouched(self, key: EllipticCurvePublicKey) -> bytes:
        """Return the payload if the key signed it.

        Raises:
            NoTrustedKey: it did not.
        """
        signed = pae(self.payload_type, self.payload)
        if not any(_holds(key, signature, signed) for signature in self.signatures):
            raise NoTrustedKey("the key did not sign this envelope")
        return self.payload


def pae(payload_type: str, payload: bytes) -> bytes:
    """Return what is signed (DSSE v1, pre-authentication encoding).

    >>> pae("http://example.com/HelloWorld", b"hello world")
    b'DSSEv1 29 http://example.com/HelloWorld 11 hello world'
    """
    kind = payload_type.encode()
    return b"DSSEv1 %d %b %d %b" % (len(kind), kind, len(payload), payload)


def seal(payload: bytes, payload_type: str, pem: bytes) -> bytes:
    """Return the bytes of an envelope, signed with a private key in PEM.

    Raises:
        NoTrustedKey: it is no private key on P-256 without a password.
    """
    from cryptography.hazmat.primitives import hashes
    from cryptography.hazmat.primitives.asymmetric import ec

    key = private_key(pem)
    signature = key.sign(pae(payload_type, payload), ec.ECDSA(hashes.SHA256()))
    told: dict[str, JSON] = {
        "payload": base64.b64encode(payload).decode(),
        "payloadType": payload_type,
        "signatures": [
            {"keyid": key_id(key.public_key()), "sig": base64.b64encode(signature).decode()}
        ],
    }
    return canonical(told) + b"\n"


def read_envelope(raw: bytes, file: str) -> Envelope:
    """Read an envelope without verifying it; `file` is its name for messages.

    Raises:
        InputError: it is none.
    """
    try:
        if len(raw) > MAX_BYTES:
            raise ValueError
        told: Any = json.loads(raw)
        if not isinstance(told["payloadType"], str) or not told["signatures"]:
            raise TypeError
        signatures = tuple(_unbase64(each["sig"]) for each in told["signatures"])
        return Envelope(_unbase64(told["payload"]), told["payloadType"], signatures)
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError):
        raise InputError.at("is not a DSSE envelope", file=file) from None


def key_id(key: EllipticCurvePublicKey) -> str:
    """Return the SHA-256 of a public key's SubjectPublicKeyInfo, in hexadecimal."""
    from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

    return hashlib.sha256(
        key.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
    ).hexdigest()


def new_private_key() -> tuple[str, str]:
    """Return a new private key on P-256 and its public key, both in PEM."""
    from cryptography.hazmat.primitives import serialization as form
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    pem = form.Encoding.PEM
    secret = key.private_bytes(pem, form.PrivateFormat.PKCS8, form.NoEncryption())
    public = key.public_key().public_bytes(pem, form.PublicFormat.SubjectPublicKeyInfo)
    return secret.decode(), public.decode()


def private_key(pem: bytes) -> EllipticCurvePrivateKey:
    """Read a private key in PEM.

    Raises:
        NoTrustedKey: it is none on P-256 without a password.
    """
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    try:
        key = load_pem_private_key(pem, None)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        key = None
    if isinstance(key, ec.EllipticCurvePrivateKey) and isinstance(key.curve, ec.SECP256R1):
        return key
    raise NoTrustedKey(
        "this is not a private key on P-256, in PEM and without a password",
        way_out="make one with: aal ledger key new --p256 --out FILE",
    )


def public_key(pem: bytes) -> EllipticCurvePublicKey:
    """Read a public key in PEM.

    Raises:
        NoTrustedKey: it is none on P-256.
    """
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.hazmat.primitives.serialization import load_pem_public_key

    try:
        key = load_pem_public_key(pem)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        key = None
    if isinstance(key, ec.EllipticCurvePublicKey) and isinstance(key.curve, ec.SECP256R1):
        return key
    raise NoTrustedKey("this is not a public key on P-256, in PEM")


def _holds(key: EllipticCurvePublicKey, signature: bytes, signed: bytes) -> bool:
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives import hashes
    from cryptography.hazmat.primitives.asymmetric import ec, utils

    forms = [signature]
    if len(signature) == _RAW_SIGNATURE:
        numbers = (int.from_bytes(signature[:32]), int.from_bytes(signature[32:]))
        forms.append(utils.encode_dss_signature(*numbers))
    for form in forms:
        try:
            key.verify(form, signed, ec.ECDSA(hashes.SHA256()))
        except InvalidSignature:
            continue
        return True
    return False


def _unbase64(text: str) -> bytes:
    """Decode base64 with either alphabet, as the format asks of readers."""
    try:
        return base64.b64decode(text.replace("-", "+").replace("_", "/"), validate=True)
    except binascii.Error:
        raise ValueError from None
