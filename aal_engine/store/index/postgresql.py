"""PostgreSQL: its full-text search, or vectors where the extension pgvector is there."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from aal_engine.errors import InputError, MissingExtra, RemoteError, shown
from aal_engine.measure.origin import Identity
from aal_engine.store.index.embedder import Embedder
from aal_engine.store.index.hit import Hit, ordered
from aal_engine.store.index.tantivy import STEMMERS

_WORD = re.compile(r"\w+")

LENGTH = 1
"""ts_rank's normalisation: by one plus the logarithm of the document's length."""

DISTANCES: Mapping[str, tuple[str, str]] = {
    "cosine": ("<=>", "1 - ({distance})"),
    "l2": ("<->", "-({distance})"),
    "inner": ("<#>", "-({distance})"),
}
"""pgvector's operators, and the score, the greater the nearer, that a distance amounts to."""

COLUMNS = ("doc_id", "text", "title")


class PostgreSQL:
    """One table of passages, read in a session that can write nothing."""

    def __init__(
        self,
        dsn: str,
        options: Mapping[str, Any],
        query: Callable[[Mapping[str, Any]], tuple[Any, str]],
        prepare: Callable[[Sequence[str]], list[Any]],
        model: str,
    ) -> None:
        self._name: str = options["name"]
        self._table: str = options["table"]
        self._model = model
        self._connection = _connected(dsn, options)
        self._query, self._columns = query(options), ["id", *_columns(options)]
        self._prepare = prepare

    def search(self, queries: Sequence[str], k: int) -> list[list[Hit]]:
        """Return up to k rows for each query.

        Raises:
            RemoteError: the database refused or did not answer.
        """
        statement, key = self._query
        found = []
        for value in self._prepare(queries):
            rows = self._rows(statement, {key: value, "k": k}) if value else []
            found.append([dict(zip(("score", *self._columns), row, strict=True)) for row in rows])
        return ordered(self._name, found, len(queries), k)

    def identity(self) -> Identity:
        """Say which table this is and how many rows it has, counted."""
        from psycopg import sql

        counted = self._rows(
            sql.SQL("SELECT count(*) FROM {}").format(sql.Identifier(*self._table.split("."))), {}
        )
        return Identity(self._name, int(counted[0][0]), self._model)

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()

    def _rows(self, statement: Any, values: Mapping[str, Any]) -> list[Any]:
        import psycopg

        try:
            return list(self._connection.execute(statement, values).fetchall())
        except psycopg.Error as error:
            raise RemoteError(
                f"the index {shown(self._name)} was not searched: PostgreSQL says "
                f"{error.sqlstate or type(error).__name__}"
            ) from None


def _connected(dsn: str, options: Mapping[str, Any]) -> Any:
    try:
        import psycopg
    except ImportError:
        raise MissingExtra("an index in PostgreSQL", "postgresql") from None
    wait = options.get("timeout", 60)
    try:
        connection = psycopg.connect(dsn, autocommit=True, connect_timeout=max(1, int(wait)))
        connection.execute("SET default_transaction_read_only = on")
        connection.execute(f"SET statement_timeout = {int(wait * 1000)}")
    except psycopg.Error as error:
        # The library's words name the host, the user and the database.
        raise RemoteError(
            f"PostgreSQL was not reached: {error.sqlstate or type(error).__name__}"
        ) from None
    return connection


def _columns(options: Mapping[str, Any]) -> list[str]:
    return [name for name in COLUMNS if name in options]


def full_text(dsn: str, options: Mapping[str, Any]) -> PostgreSQL:
    """Return full-text search: any word of the question, ranked by ts_rank.

    Raises:
        InputError: PostgreSQL has no text search configuration for the language.
        RemoteError: the database cannot be reached.
    """
    language = options.get("language", "en")
    if language not in STEMMERS:
        raise InputError.at("has no text search configuration", field="language")
    configuration = STEMMERS[language]
    return PostgreSQL(dsn, options, _ranked(configuration), _words, f"postgresql/{configuration}")


def _words(queries: Sequence[str]) -> list[str]:
    # Words alone: nothing of a question is read as an operator.
    return [" | ".join(_WORD.findall(query)) for query in queries]


def _ranked(configuration: str) -> Callable[[Mapping[str, Any]], tuple[Any, str]]:
    def query(options: Mapping[str, Any]) -> tuple[Any, str]:
        from psycopg import sql

        if "search" in options:
            document: Any = sql.Identifier(options["search"])
        else:
            texts = [options[name] for name in ("title", "text") if name in options]
            document = sql.SQL("to_tsvector({}::regconfig, concat_ws(' ', {}))").format(
                sql.Literal(configuration), sql.SQL(", ").join(map(sql.Identifier, texts))
            )
        statement = sql.SQL(
            "SELECT ts_rank({document}, asked, {length}) AS score, {columns} "
            "FROM {table}, to_tsquery({configuration}::regconfig, %(words)s) AS asked "
            "WHERE {document} @@ asked "
            'ORDER BY score DESC, {id}::text COLLATE "C" DESC LIMIT %(k)s'
        ).format(
            document=document,
            length=sql.Literal(LENGTH),
            configuration=sql.Literal(configuration),
            **_named(options),
        )
        return statement, "words"

    return query


def nearest(dsn: str, options: Mapping[str, Any], embedder: Embedder) -> PostgreSQL:
    """Return vector search by pgvector, over an index of the table if it has one.

    Raises:
        RemoteError: the database cannot be reached.
    """

    def vectors(queries: Sequence[str]) -> list[str]:
        return [f"[{','.join(map(repr, row))}]" for row in embedder.embed(queries).tolist()]

    return PostgreSQL(dsn, options, _near, vectors, embedder.model)


def _near(options: Mapping[str, Any]) -> tuple[Any, str]:
    from psycopg import sql

    operator, score = DISTANCES[options.get("distance", "cosine")]
    distance = sql.SQL("{column} {operator} %(vector)s::vector").format(
        column=sql.Identifier(options["embedding"]), operator=sql.SQL(operator)
    )
    statement = sql.SQL(
        "SELECT {score}, {columns} FROM {table} ORDER BY {distance} LIMIT %(k)s"
    ).format(score=sql.SQL(score).format(distance=distance), distance=distance, **_named(options))
    return statement, "vector"


def _named(options: Mapping[str, Any]) -> dict[str, Any]:
    from psycopg import sql

    key = sql.Identifier(options["id"])
    named = [sql.Identifier(options[name]) for name in _columns(options)]
    return {
        "columns": sql.SQL(", ").join([key, *named]),
        "table": sql.Identifier(*options["table"].split(".")),
        "id": key,
    }
