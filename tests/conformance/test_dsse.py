"""Envelopes against the published vector, the golden ledger and an independent implementation."""

from __future__ import annotations

import base64
import json

import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
    load_pem_private_key,
)
from securesystemslib import dsse, signer

from aal_engine.canonical import canonical
from aal_engine.decide.attestation import PAYLOAD_TYPE, Attested, Evidence
from aal_engine.decide.entry import parse
from aal_engine.decide.envelope import new_private_key, pae, public_key, read_envelope, seal
from aal_engine.errors import InputError, NoTrustedKey

PAYLOAD = b'{"_type":"https://in-toto.io/Statement/v1"}'


@pytest.fixture(scope="module")
def vector(shared):
    return json.loads((shared / "data/ledger/dsse-vector.json").read_text())


@pytest.fixture(scope="module")
def golden(shared):
    return shared / "data/ledger/golden-ledger"


@pytest.fixture(scope="module")
def pair():
    secret, public = new_private_key()
    return secret.encode(), public.encode()


def test_the_published_vector_is_read(vector):
    payload = base64.b64decode(vector["payload"])
    assert pae(vector["payloadType"], payload).decode() == vector["pae"]
    numbers = ec.EllipticCurvePublicNumbers(
        *(int(vector["ecdsa_p256"][axis]) for axis in "xy"), ec.SECP256R1()
    )
    told = {**vector, "signatures": [{"sig": vector["sig_raw_rs"]}]}
    envelope = read_envelope(json.dumps(told).encode(), "vector")
    assert envelope.vouched(numbers.public_key()) == payload


class TestGolden:
    def envelope(self, golden):
        return read_envelope((golden / "entry-6.vsa.dsse.json").read_bytes(), "entry-6")

    def test_its_envelope_is_signed_by_its_key(self, golden):
        key = public_key((golden / "dsse.pub.pem").read_bytes())
        statement = json.loads(self.envelope(golden).vouched(key))
        assert statement["predicate"]["verificationResult"] == "PASSED"

    def test_its_statement_is_written_again_byte_for_byte(self, golden):
        """Its bodies are illustrations, so their members are named here; the rest is ours."""
        line = (golden / "log/00000000.jsonl").read_bytes().splitlines()[6]
        entry, told = parse(line, 6), self.envelope(golden).payload
        body = entry.body
        (subject,) = json.loads(told)["subject"]
        attested = Attested(
            subject=f"{body['agent']}/{body['version']}",
            sha256=subject["digest"]["sha256"],
            agent=body["agent"],
            version=body["version"],
            passed=body["allowed"],
            at=entry.at,
            policy=Evidence("aal:policy/release", body["policy_digest"].removeprefix("sha256:")),
            evidence=tuple(
                Evidence(f"aal:evidence/{e['name']}", e["digest"].removeprefix("sha256:"))
                for e in body["evidence"]
            ),
            engine="0.0.0",
            origin="aal.example/acme/release-ledger",
            index=6,
            leaf=entry.leaf.hex(),
        )
        assert canonical(attested.summary()) == told


class TestAgainstSecuresystemslib:
    def test_it_verifies_what_is_written_here(self, pair):
        envelope = dsse.Envelope.from_dict(json.loads(seal(PAYLOAD, PAYLOAD_TYPE, pair[0])))
        (keyid,) = envelope.signatures
        key = signer.SSlibKey.from_crypto(public_key(pair[1]), keyid=keyid)
        assert envelope.verify([key], 1)
        assert envelope.payload == PAYLOAD

    def test_what_it_writes_is_read_here(self, pair):
        envelope = dsse.Envelope(PAYLOAD, PAYLOAD_TYPE, {})
        envelope.sign(signer.CryptoSigner(load_pem_private_key(pair[0], None)))
        raw = json.dumps(envelope.to_dict()).encode()
        assert read_envelope(raw, "theirs").vouched(public_key(pair[1])) == PAYLOAD


def changed(raw, **members):
    return json.dumps({**json.loads(raw), **members}).encode()


class TestEnvelope:
    def test_without_a_keyid_it_is_read(self, pair):
        told = json.loads(seal(PAYLOAD, PAYLOAD_TYPE, pair[0]))
        del told["signatures"][0]["keyid"]
        raw = json.dumps(told).encode()
        assert read_envelope(raw, "x").vouched(public_key(pair[1])) == PAYLOAD

    def test_one_good_signature_among_others_is_enough(self, pair):
        told = json.loads(seal(PAYLOAD, PAYLOAD_TYPE, pair[0]))
        told["signatures"].insert(0, {"keyid": "other", "sig": "AAAA"})
        raw = json.dumps(told).encode()
        assert read_envelope(raw, "x").vouched(public_key(pair[1])) == PAYLOAD

    def test_either_alphabet_of_base64_is_read(self, pair):
        payload = bytes(range(256))
        raw = seal(payload, PAYLOAD_TYPE, pair[0])
        safe = base64.urlsafe_b64encode(payload).decode()
        assert read_envelope(changed(raw, payload=safe), "x").vouched(public_key(pair[1]))

    @pytest.mark.parametrize(
        "change",
        [
            {"payload": base64.b64encode(b"{}").decode()},
            {"payloadType": "application/json"},
            {"signatures": [{"sig": "AAAA"}]},
            {"signatures": [{"sig": base64.b64encode(bytes(64)).decode()}]},
        ],
        ids=["payload", "type", "signature", "raw signature"],
    )
    def test_what_was_changed_is_not_vouched_for(self, pair, change):
        raw = changed(seal(PAYLOAD, PAYLOAD_TYPE, pair[0]), **change)
        with pytest.raises(NoTrustedKey):
            read_envelope(raw, "x").vouched(public_key(pair[1]))

    @pytest.mark.parametrize(
        "raw",
        [
            b"",
            b"[]",
            b"{}",
            b"[" * 100_000,
            b'{"payload":"","payloadType":7,"signatures":[{"sig":""}]}',
            b'{"payload":"","payloadType":"x","signatures":[]}',
            b'{"payload":"","payloadType":"x","signatures":["sig"]}',
            b'{"payload":"","payloadType":"x","signatures":[{"sig":7}]}',
            b'{"payload":"!","payloadType":"x","signatures":[{"sig":""}]}',
        ],
        ids=range(9),
    )
    def test_what_is_no_envelope_is_refused(self, raw):
        with pytest.raises(InputError, match="x: is not a DSSE envelope"):
            read_envelope(raw, "x")

    def test_only_keys_on_p256_are_taken(self, pair):
        other = ec.generate_private_key(ec.SECP384R1())
        private = other.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
        public = other.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
        for pem in (private, b"", b"-----BEGIN PRIVATE KEY-----", pair[1]):
            with pytest.raises(NoTrustedKey):
                seal(PAYLOAD, PAYLOAD_TYPE, pem)
        for pem in (public, b"", pair[0]):
            with pytest.raises(NoTrustedKey):
                public_key(pem)
