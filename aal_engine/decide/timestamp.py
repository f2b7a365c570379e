"""RFC 3161 time-stamp tokens over a checkpoint: a third party's word that it existed by then.

A token is over the note's text (origin, size, root) and verified offline, against certificates of
the time-stamping authority that the verifier brings. Needs the extra `timestamp`.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from aal_engine.errors import InputError, MissingExtra, NoTrustedKey

MAX_BYTES = 1_000_000


def stamped(response: bytes, text: str, chain: bytes, file: str) -> datetime:
    """Return the time that an authority put on a text; `file` is the response's name for messages.

    `chain` are certificates in PEM: the authority's root, and what stands between it and the one
    that signed, where the response does not carry that. They count at the time of the stamp.

    Raises:
        MissingExtra: the library for it is not installed.
        InputError: the response or the certificates cannot be read.
        NoTrustedKey: the token is not over this text, or those certificates do not vouch for it.
    """
    client = _client()
    verifier = _verifier(client, chain)
    try:
        if len(response) > MAX_BYTES:
            raise ValueError
        found = client.decode_timestamp_response(response)
        when: datetime = found.tst_info.gen_time
    except ValueError:
        raise InputError.at("is not a response of a time-stamping authority", file=file) from None
    try:
        verifier.verify_message(found, text.encode())
    except (client.VerificationError, ValueError):
        raise NoTrustedKey(
            f"{file}: no certificate that you trust vouches for this time stamp of this checkpoint",
            way_out="is it over another checkpoint, or by another authority?",
        ) from None
    return when.replace(tzinfo=UTC) if when.tzinfo is None else when.astimezone(UTC)


def request(text: str) -> bytes:
    """Return the DER bytes of a request to stamp a text: its SHA-256 leaves, and a nonce.

    Raises:
        MissingExtra: the library for it is not installed.
    """
    builder = _client().TimestampRequestBuilder()
    asked: bytes = builder.data(text.encode()).build().as_bytes()
    return asked


def _verifier(client: Any, chain: bytes) -> Any:
    from cryptography import x509

    try:
        certificates = x509.load_pem_x509_certificates(chain)
    except ValueError:
        raise InputError.at("holds no certificates in PEM", field="--chain") from None
    builder = client.VerifierBuilder()
    try:
        for certificate in dict.fromkeys(certificates):
            if not _is_authority(certificate):
                builder = builder.tsa_certificate(certificate)
            elif certificate.issuer == certificate.subject:
                builder = builder.add_root_certificate(certificate)
            else:
                builder = builder.add_intermediate_certificate(certificate)
        return builder.build()
    except ValueError:
        raise InputError.at(
            "holds no certificate of a root, or several that stamp", field="--chain"
        ) from None


def _is_authority(certificate: Any) -> bool:
    """Say whether a certificate may vouch for others; else it is the one that stamps."""
    from cryptography import x509

    try:
        return bool(certificate.extensions.get_extension_for_class(x509.BasicConstraints).value.ca)
    except (x509.ExtensionNotFound, ValueError):
        return False


def _client() -> Any:
    try:
        import rfc3161_client
    except ImportError:
        raise MissingExtra("time stamps", "timestamp") from None
    return rfc3161_client
