"""Private keys in files that their owner alone may read."""

from __future__ import annotations

import os
from pathlib import Path

from aal_engine.decide.key import SEED_BYTES, SignerKey, signer_key
from aal_engine.errors import NoTrustedKey, WriteError, file_name
from aal_engine.store.text_file import read_text


def new_key(path: Path, name: str, kind: int) -> SignerKey:
    """Make a key and write it to a new file, mode 0600.

    Raises:
        WriteError: there is such a file already, or it cannot be written.
    """
    key = SignerKey(name, kind, os.urandom(SEED_BYTES))
    write_secret(path, f"{key.encode()}\n")
    return key


def write_secret(path: Path, text: str) -> None:
    """Write a new file that its owner alone may read.

    Raises:
        WriteError: there is such a file already, or it cannot be written.
    """
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        with os.fdopen(os.open(path, flags, 0o600), "w") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
    except FileExistsError:
        raise WriteError(
            f"{file_name(path)} is there already, and a key that is lost cannot be made again",
            way_out="name a new file",
        ) from None
    except OSError as error:
        raise WriteError(f"{file_name(path)} was not written: {error.strerror}") from None


def load_key(source: str) -> SignerKey:
    """Return the key in a file, or the one that `source` itself spells out.

    Raises:
        InputError: the file cannot be read.
        NoTrustedKey: it is no private key, or others may read the file.
    """
    if source.startswith("PRIVATE+KEY+"):
        return signer_key(source)
    return signer_key(read_secret(Path(source)))


def read_secret(path: Path) -> str:
    """Return the text of a file that its owner alone may read.

    Raises:
        InputError: the file cannot be read.
        NoTrustedKey: others may read it.
    """
    text = read_text(path)
    if path.stat().st_mode & 0o077:
        raise NoTrustedKey(
            f"{file_name(path)} may be read by others than its owner",
            way_out=f"chmod 600 {file_name(path)}; if anybody may have read it, rotate the key",
        )
    return text
