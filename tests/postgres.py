"""A PostgreSQL cluster that lives as long as the tests: fresh databases on a unix socket."""

from __future__ import annotations

import getpass
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path

import pytest

DISTRIBUTED = Path("/usr/lib/postgresql")
START = 60.0
"""Seconds that a busy machine may take to start the server."""


def programs() -> Path | None:
    """Return the folder of the newest installed server's programs."""
    found = [folder for folder in DISTRIBUTED.glob("*/bin") if (folder / "initdb").exists()]
    found.sort(key=lambda folder: float(folder.parent.name))
    if found:
        return found[-1]
    on_path = shutil.which("initdb")
    return Path(on_path).resolve().parent if on_path else None


def _unprivileged() -> str:
    """Return the user who runs the server: it refuses to be run by root."""
    if os.geteuid() != 0:
        return getpass.getuser()
    known = {entry.pw_name for entry in pwd.getpwall()}
    return "postgres" if "postgres" in known else "nobody"


@dataclass
class Cluster:
    """One server process and its folder; `database()` makes an empty database."""

    folder: Path
    programs: Path
    user: str = field(default_factory=_unprivileged)
    server: subprocess.Popen[bytes] | None = None
    numbers: Iterator[int] = field(default_factory=count)

    def create(self) -> None:
        """Make the folder's data directory; nothing of it need survive the machine."""
        if os.geteuid() == 0:
            shutil.chown(self.folder, self.user)
        self._call("initdb", "-D", self.folder / "data", "-U", "postgres", "-A", "trust",
                   "-E", "UTF8", "--locale=C", "--no-sync")  # fmt: skip

    def start(self) -> None:
        """Start the server and wait until it answers."""
        settings = {
            "listen_addresses": "",
            "unix_socket_directories": self.folder,
            "fsync": "off",
            "shared_buffers": "32MB",
            "max_connections": "100",
        }
        options = [part for name, value in settings.items() for part in ("-c", f"{name}={value}")]
        with (self.folder / "log").open("ab") as log:
            self.server = subprocess.Popen(
                [self.programs / "postgres", "-D", self.folder / "data", *options],
                stdout=log,
                stderr=log,
                **self._dropped(),
            )
        until = time.monotonic() + START
        while not self._answers():
            if self.server.poll() is not None or time.monotonic() > until:
                log_text = (self.folder / "log").read_text(errors="replace")
                raise RuntimeError(f"the PostgreSQL server did not start:\n{log_text[-2000:]}")
            time.sleep(0.05)

    def stop(self) -> None:
        """Stop the server as a crash would: nobody waits, and a start recovers what was committed."""
        if self.server is not None and self.server.poll() is None:
            self.server.send_signal(signal.SIGQUIT)
            self.server.wait(timeout=START)
        self.server = None

    def database(self) -> str:
        """Make an empty database and return its SQLAlchemy URL.

        Each holds some hundred files: where many tests need one, let them empty one in turn.
        """
        return f"postgresql+psycopg://postgres@/{self._new()}?host={self.folder}"

    def conninfo(self) -> str:
        """Make an empty database and return its libpq connection string."""
        return f"host={self.folder} user=postgres dbname={self._new()}"

    def _new(self) -> str:
        name = f"trial_{next(self.numbers)}"
        self._call("createdb", "-h", self.folder, "-U", "postgres", name)
        return name

    def _answers(self) -> bool:
        ready = [self.programs / "pg_isready", "-q", "-h", self.folder, "-U", "postgres"]
        return subprocess.run(ready, check=False).returncode == 0

    def _call(self, program: str, *arguments: object) -> None:
        done = subprocess.run(
            [self.programs / program, *map(str, arguments)],
            capture_output=True,
            text=True,
            check=False,
            **self._dropped(),
        )
        if done.returncode != 0:
            raise RuntimeError(f"{program} failed:\n{done.stderr}")

    def _dropped(self) -> dict[str, object]:
        environment = {"PATH": os.environ["PATH"], "LC_ALL": "C"}
        if os.geteuid() != 0:
            return {"cwd": self.folder, "env": environment}
        entry = pwd.getpwnam(self.user)
        return {
            "cwd": self.folder,
            "env": environment,
            "user": entry.pw_uid,
            "group": entry.pw_gid,
            "extra_groups": [],
        }


@contextmanager
def running(found: Path | None = None) -> Iterator[Cluster]:
    """Run a cluster, of the programs in a folder or the newest, and leave nothing of it behind."""
    found = found or programs()
    if found is None:
        raise FileNotFoundError("no PostgreSQL server is installed")
    # Below /tmp: the name of a unix socket holds about 100 bytes, and any user must reach it.
    folder = Path(tempfile.mkdtemp(prefix="aal-pg-", dir="/tmp"))
    cluster = Cluster(folder, found)
    try:
        cluster.create()
        cluster.start()
        yield cluster
    finally:
        cluster.stop()
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="session")
def postgres() -> Iterator[Cluster]:
    """A running cluster; tests that need it skip where no PostgreSQL server is installed."""
    if programs() is None:
        pytest.skip("no PostgreSQL server is installed")
    with running() as cluster:
        yield cluster
