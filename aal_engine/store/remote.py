"""Runs at addresses, as `s3://bucket/run.parquet`: whatever fsspec can open.

An address is a scheme and `://`; everything else is a path. Which schemes there are, and where
their credentials come from, is fsspec's affair: `s3` needs s3fs, `gs` gcsfs, `abfs` adlfs.
"""

from __future__ import annotations

import errno
import io
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO, cast

from aal_engine.errors import InputError, MissingExtra, file_name, shown

_ADDRESS = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)(?:::[^:/]+)*://")
_BUFFER = 2**20


def is_address(source: object) -> bool:
    """Whether a run is named by an address and not by a path.

    >>> is_address("s3://bucket/run.parquet"), is_address("runs/s3:/x"), is_address("-")
    (True, False, False)
    """
    return _ADDRESS.match(str(source)) is not None


def matching_addresses(pattern: str) -> list[str]:
    """Return the addresses that a pattern matches, in their order.

    Raises:
        InputError: none is there, or the place cannot be asked.
        MissingExtra: fsspec is not installed.
    """
    with _told(pattern):
        system, path = _fsspec().core.url_to_fs(pattern)
        found = sorted(system.unstrip_protocol(each) for each in system.glob(path))
    if not found:
        raise InputError.at("matches no file", file=pattern)
    return found


@contextmanager
def open_address(address: str) -> Iterator[BinaryIO]:
    """Give the bytes at an address to read, from any place of them, and close it after.

    Raises:
        InputError: nothing is there, or it cannot be opened.
        MissingExtra: fsspec is not installed.
    """
    with _told(address):
        opened = _fsspec().open(address, "rb").open()
    with opened:
        yield cast("BinaryIO", io.BufferedReader(_Raw(opened), _BUFFER))


class _Raw(io.RawIOBase):
    """A file of fsspec as the unbuffered file that a buffer wants; its failures are ours."""

    def __init__(self, file: Any) -> None:
        self._file = file

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return bool(self._file.seekable())

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        return int(self._file.seek(offset, whence))

    def tell(self) -> int:
        return int(self._file.tell())

    def readinto(self, buffer: Any) -> int:
        try:
            data = self._file.read(len(buffer))
        except Exception as error:
            # What a store raises quotes hosts, buckets and at times credentials.
            raise OSError(errno.EIO, f"the store failed with {type(error).__name__}") from None
        buffer[: len(data)] = data
        return len(data)


@contextmanager
def _told(address: str) -> Iterator[None]:
    try:
        yield
    except (MissingExtra, InputError):
        raise
    except FileNotFoundError:
        raise InputError.at("no such file", file=address) from None
    except PermissionError:
        raise InputError.at("may not be read", file=address) from None
    except (ImportError, ValueError):
        scheme = shown(_scheme(address))
        raise InputError.at(
            f"is at a scheme, {scheme}, that cannot be opened here",
            file=address,
            way_out=f"install the fsspec package that opens {scheme}",
        ) from None
    except Exception as error:
        raise InputError.at(
            f"cannot be opened: the store failed with {type(error).__name__}", file=address
        ) from None


def _scheme(address: str) -> str:
    found = _ADDRESS.match(address)
    return found[1] if found else file_name(address)


def _fsspec() -> Any:
    try:
        import fsspec
    except ImportError:
        raise MissingExtra("a run at an address", "remote") from None
    return fsspec
