"""The actuator that is a file: it holds the version to serve, and is replaced as a whole.

`FOLDER/PACK/AGENT` holds the version and a line feed; an empty file says that nothing is to serve.
"""

from __future__ import annotations

from pathlib import Path
from urllib.parse import quote

from aal_engine.decide.deployment import Pointer
from aal_engine.decide.release import AgentKey
from aal_engine.errors import ActFailed, WriteError, shown
from aal_engine.store.atomic import write_atomic
from aal_engine.store.folder import make_folder
from aal_engine.store.order import Order, answered, filled, require_names

_MAX = 4_096


class PointerActuator:
    """Writes and reads pointer files."""

    def __init__(self, asked: Pointer, base: Path) -> None:
        self._folder = base / asked.folder
        self._artifacts = None if asked.artifacts is None else str(base / asked.artifacts)

    def path(self, key: AgentKey) -> Path:
        """Return the file of an agent and pack; a slash in a name is written as `%2F`.

        Raises:
            ActFailed: a name is none that a policy or a record could have held, such as `..`.
        """
        require_names(key)
        return self._folder / quote(key.pack, safe="@+:") / quote(key.agent, safe="@+:")

    def act(self, order: Order) -> None:
        """Write the version.

        Raises:
            ActFailed: the file cannot be written, or the version's artefact is gone.
        """
        version = order.version
        if version is not None and self._artifacts is not None:
            _require(filled(self._artifacts, order.key, version), version)
        path = self.path(order.key)
        try:
            make_folder(path.parent)
            write_atomic(path, b"" if version is None else f"{version}\n".encode())
        except WriteError as error:
            raise ActFailed("refused", error.message) from None

    def read(self, key: AgentKey) -> str | None:
        """Return the version that the file holds; None where it is empty or not there.

        Raises:
            ActFailed: it cannot be read, or holds something else.
        """
        try:
            with self.path(key).open("rb") as file:
                text = file.read(_MAX + 1).decode()
        except FileNotFoundError:
            return None
        except (OSError, UnicodeDecodeError):
            raise ActFailed("unreadable", "the pointer file cannot be read") from None
        return answered(text)


def _require(artefact: str, version: str) -> None:
    """Tell an artefact that is gone, for good, from one that cannot be looked at now."""
    try:
        Path(artefact).stat()
    except (FileNotFoundError, NotADirectoryError):
        raise ActFailed("gone", f"the artefact of version {shown(version)} is gone") from None
    except (OSError, ValueError):
        raise ActFailed("refused", f"the artefact of {shown(version)} cannot be seen") from None
