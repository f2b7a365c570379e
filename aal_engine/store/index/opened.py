"""Opens the index that a person names: a corpus, `module:attribute`, a URL, or an index.yaml."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from aal_engine.errors import InputError
from aal_engine.store.address import TIMEOUT, Options, Secret, address_of
from aal_engine.store.corpus import load_corpus
from aal_engine.store.exchange import Exchange
from aal_engine.store.index.hit import Index
from aal_engine.store.pace import Pace
from aal_engine.store.schema import conforms
from aal_engine.store.text_file import FaultList
from aal_engine.store.yaml_text import read_yaml

_PYTHON = re.compile(r"[A-Za-z_][A-Za-z0-9_.]*:[A-Za-z_][A-Za-z0-9_.]*")
_PASSWORD = re.compile(r"password\s*=|://[^/@\s]*:[^/@\s]*@", re.IGNORECASE)
_CORPUS = (".jsonl", ".jsonl.gz", ".jsonl.zst", ".ndjson")


def read_index(given: str) -> tuple[Options, Path]:
    """Return what a person means by `given`, and the folder that its paths start from.

    Raises:
        InputError: it is no corpus, no `module:attribute`, no URL and no index.yaml.
    """
    if given.startswith(("http://", "https://")):
        return {"kind": "http", "url": given}, Path()
    if given.endswith(_CORPUS):
        return {"kind": "tantivy", "passages": given}, Path()
    if _PYTHON.fullmatch(given) and not Path(given).exists():
        return {"kind": "python", "target": given}, Path()
    path = Path(given)
    faults = FaultList(path)
    value = read_yaml(path, faults)
    faults.settle()
    conforms("index", value, faults)
    faults.settle()
    return value, path.parent


@contextmanager
def open_index(options: Options, home: Path, secret: Secret) -> Iterator[Index]:
    """Open an index for as long as the block lasts.

    Raises:
        InputError: the options contradict each other, or name what is not there.
        MissingExtra: the back end's library is not installed.
        RemoteError: the back end cannot be reached.
    """
    index = OPENERS[options["kind"]](options, home, secret)
    with ExitStack() as opened:
        if hasattr(index, "close"):
            opened.callback(index.close)
        yield index


def _pace(options: Options) -> Pace:
    return Pace(options.get("tries", 4))


def _exchange(options: Options, home: Path, secret: Secret) -> Callable[[], Exchange]:
    address = address_of(options, secret, home)
    return lambda: Exchange(address)


def _embedder(options: Options, home: Path, secret: Secret) -> Any:
    from aal_engine.store.index.embedder import embedder_of

    return embedder_of(
        options["embed"], home, lambda embed: Exchange(address_of(embed, secret, home))
    )


def _tantivy(options: Options, home: Path, _: Secret) -> Index:
    from aal_engine.store.index.tantivy import open_tantivy, tantivy_of

    if ("passages" in options) == ("folder" in options):
        raise InputError.at("needs passages to index, or a folder that holds an index")
    if "passages" in options:
        return tantivy_of(load_corpus(home / options["passages"]), options.get("language", "en"))
    if "name" not in options:
        raise InputError.at("is missing: it names the index in the record", field="name")
    return open_tantivy(home / options["folder"], options)


def _fused(options: Options, home: Path, secret: Secret) -> Index:
    from aal_engine.store.index.fused import Dense, Fused
    from aal_engine.store.index.tantivy import tantivy_of

    corpus = load_corpus(home / options["passages"])
    embedder = _embedder(options, home, secret)
    return Fused([tantivy_of(corpus, options.get("language", "en")), Dense(corpus, embedder)])


def _python(options: Options, _: Path, __: Secret) -> Index:
    from aal_engine.store.index.python import open_python

    return open_python(options["target"], options.get("options"))


def _http(options: Options, home: Path, secret: Secret) -> Index:
    from aal_engine.store.index.wire import over_http

    name = options.get("name", "http")
    return over_http(name, _exchange(options, home, secret), _pace(options))


def _command(options: Options, _: Path, __: Secret) -> Index:
    from aal_engine.store.index.wire import over_child

    name = options.get("name", "command")
    timeout = options.get("timeout", TIMEOUT)
    return over_child(name, options["command"], _pace(options), timeout)


def _dsn(options: Options, secret: Secret) -> str:
    if ("dsn" in options) == ("dsn_from" in options):
        raise InputError.at("needs dsn, or dsn_from with the name of an environment variable")
    if "dsn_from" in options:
        return secret(options["dsn_from"])
    if _PASSWORD.search(options["dsn"]):
        raise InputError.at(
            "holds a password",
            field="dsn",
            way_out="put the whole into an environment variable and name it under dsn_from",
        )
    dsn: str = options["dsn"]
    return dsn


def _postgresql(options: Options, _: Path, secret: Secret) -> Index:
    from aal_engine.store.index.postgresql import full_text

    return full_text(_dsn(options, secret), options)


def _pgvector(options: Options, home: Path, secret: Secret) -> Index:
    from aal_engine.store.index.postgresql import nearest

    return nearest(_dsn(options, secret), options, _embedder(options, home, secret))


def _qdrant(options: Options, home: Path, secret: Secret) -> Index:
    from aal_engine.store.index.qdrant import Qdrant

    key = secret(options["key_from"]) if "key_from" in options else None
    return Qdrant(home, options, _embedder(options, home, secret), key)


def _lancedb(options: Options, home: Path, secret: Secret) -> Index:
    from aal_engine.store.index.lancedb import LanceDB

    embedder = _embedder(options, home, secret) if "embed" in options else None
    return LanceDB(home, options, embedder)


def _opensearch(options: Options, home: Path, secret: Secret) -> Index:
    from aal_engine.store.index.opensearch import OpenSearch

    return OpenSearch(_exchange(options, home, secret), options, _pace(options))


OPENERS: Mapping[str, Callable[[Options, Path, Secret], Index]] = {
    "tantivy": _tantivy,
    "fused": _fused,
    "python": _python,
    "command": _command,
    "http": _http,
    "postgresql": _postgresql,
    "pgvector": _pgvector,
    "qdrant": _qdrant,
    "lancedb": _lancedb,
    "opensearch": _opensearch,
    "elasticsearch": _opensearch,
}
"""Every back end by the `kind` of an index.yaml."""
