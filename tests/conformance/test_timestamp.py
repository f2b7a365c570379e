"""Time stamps: published responses of an authority, and one that openssl answers as here."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from datetime import UTC, datetime
from unittest import mock

import pytest
from specimen import breach

from aal_engine.agent.ledger import app
from aal_engine.agent.terminal import exit_code
from aal_engine.decide.key import ED25519, SignerKey
from aal_engine.decide.timestamp import stamped
from aal_engine.errors import InputError, MissingExtra, NoTrustedKey
from aal_engine.store.ledger import Ledger

NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)
ORIGIN = "example.com/ledger"
KEY = SignerKey(ORIGIN, ED25519, bytes(32))
OPENSSL = shutil.which("openssl")

CONFIG = """
[tsa]
serial = serial
crypto_device = builtin
signer_digest = sha256
default_policy = 1.2.3.4.1
digests = sha256, sha512
[leaf]
basicConstraints = CA:FALSE
extendedKeyUsage = critical, timeStamping
[root]
basicConstraints = critical, CA:TRUE
[req]
distinguished_name = name
[name]
"""


class TestPublished:
    @pytest.fixture
    def folder(self, shared):
        return shared / "data/ledger/rfc3161/test_tsa"

    @pytest.fixture
    def chain(self, folder):
        return (folder / "ts_chain.pem").read_bytes()

    @pytest.mark.parametrize("name", ["response.tsr", "response-injected-certs.tsr"])
    def test_a_stamp_over_this_text(self, folder, chain, name):
        when = stamped((folder / name).read_bytes(), "hello", chain, name)
        assert when == datetime(2024, 10, 8, 15, 40, 32, tzinfo=UTC)

    @pytest.mark.parametrize("name", ["response.tsr", "other_response.tsr"])
    def test_a_stamp_over_another_text(self, folder, chain, name):
        with pytest.raises(NoTrustedKey):
            stamped((folder / name).read_bytes(), "goodbye", chain, name)

    def test_certificates_of_another_authority(self, folder, chain):
        root = chain[chain.rindex(b"-----BEGIN") :]
        with pytest.raises(NoTrustedKey):
            stamped((folder / "response.tsr").read_bytes(), "hello", root, "response.tsr")

    @pytest.mark.parametrize("place", [20, 120, 400, -300, -20])
    def test_a_response_of_which_a_byte_changed(self, folder, chain, place):
        raw = bytearray((folder / "response.tsr").read_bytes())
        raw[place] ^= 1
        with pytest.raises((NoTrustedKey, InputError)):
            stamped(bytes(raw), "hello", chain, "response.tsr")

    @pytest.mark.parametrize("raw", [b"", b"0", b"\x30\x03\x02\x01\x00", bytes(2_000_000)])
    def test_what_is_no_response(self, chain, raw):
        with pytest.raises(InputError, match="is not a response"):
            stamped(raw, "hello", chain, "response.tsr")

    @pytest.mark.parametrize("some", ["", "leaf alone"])
    def test_what_is_no_root(self, folder, chain, some):
        pem = chain[: chain.index(b"-----BEGIN", 1)] if some else b""
        with pytest.raises(InputError, match="--chain"):
            stamped((folder / "response.tsr").read_bytes(), "hello", pem, "response.tsr")


def test_without_the_library_the_extra_is_named():
    with (
        mock.patch.dict(sys.modules, {"rfc3161_client": None}),
        pytest.raises(MissingExtra, match="time stamps") as caught,
    ):
        stamped(b"", "", b"", "")
    assert "aal-engine[timestamp]" in str(caught.value)


@pytest.mark.skipif(OPENSSL is None, reason="openssl is not installed")
class TestAuthority:
    def openssl(self, *arguments):
        environment = {**os.environ, "OPENSSL_CONF": str(self.folder / "config")}
        done = subprocess.run(
            [OPENSSL, *arguments], cwd=self.folder, env=environment, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr

    @pytest.fixture(autouse=True)
    def authority(self, tmp_path):
        """An authority with a root and a certificate to stamp with, and a signed ledger."""
        self.folder, self.ledger = tmp_path, tmp_path / "ledger"
        (tmp_path / "config").write_text(CONFIG)
        (tmp_path / "serial").write_text("01\n")
        new = ["req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]
        root = ["-x509", "-subj", "/CN=Root", "-extensions", "root", "-days", "99"]
        self.openssl(*new, *root, "-keyout", "root.key", "-out", "root.pem")
        self.openssl(*new, "-subj", "/CN=Stamps", "-keyout", "leaf.key", "-out", "leaf.csr")
        signed = ["-CA", "root.pem", "-CAkey", "root.key", "-extfile", "config"]
        signed += ["-extensions", "leaf", "-days", "99", "-set_serial", "7"]
        self.openssl("x509", "-req", "-in", "leaf.csr", *signed, "-out", "leaf.pem")
        Ledger.init(self.ledger, ORIGIN, NOON)
        self.sign()

    def sign(self):
        ledger = Ledger.open(self.ledger)
        ledger.sign([KEY], NOON, ledger.verify())

    def answer(self):
        made = ["-config", "config", "-section", "tsa", "-signer", "leaf.pem", "-inkey", "leaf.key"]
        asked = ["-queryfile", "request", "-out", "response"]
        self.openssl("ts", "-reply", *made, *asked)

    def run(self, capfdbinary, command, *arguments):
        told = ["timestamp", command, *map(str, arguments), "--ledger", str(self.ledger)]
        code = exit_code(lambda: app(told, standalone_mode=False))
        sys.stdout.flush()
        return code, *capfdbinary.readouterr()

    def test_asked_answered_kept_and_checked(self, capfdbinary):
        code, out, _ = self.run(capfdbinary, "request")
        assert code == 0
        (self.folder / "request").write_bytes(out)
        self.answer()
        Ledger.open(self.ledger).append("breach", breach(1).body(), NOON)
        self.sign()
        chain = ["--chain", self.folder / "root.pem"]
        code, out, _ = self.run(capfdbinary, "keep", self.folder / "response", *chain)
        assert code == 0
        assert out.startswith(b"the checkpoint of 1 entry existed by 20")
        assert (self.ledger / "checkpoints/000000000001.tsr").is_file()
        assert self.run(capfdbinary, "check", *chain) == (0, out, b"")
        assert Ledger.open(self.ledger).verify().size == 2

        (self.ledger / "checkpoints/000000000001.tsr").rename(
            self.ledger / "checkpoints/000000000002.tsr"
        )
        assert self.run(capfdbinary, "check", *chain)[0] == 5

    def test_a_stamp_over_another_ledger_is_not_kept(self, capfdbinary):
        (self.folder / "request").write_bytes(self.run(capfdbinary, "request")[1])
        self.answer()
        shutil.rmtree(self.ledger)
        Ledger.init(self.ledger, ORIGIN, datetime(2027, 1, 1, tzinfo=UTC))
        self.sign()
        chain = ["--chain", self.folder / "root.pem"]
        assert self.run(capfdbinary, "keep", self.folder / "response", *chain)[0] == 5
        assert self.run(capfdbinary, "check", *chain)[0] == 2
