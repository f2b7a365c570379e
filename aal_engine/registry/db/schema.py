"""The tables; times are whole milliseconds since 1970, scores whole millionths."""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    Double,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
    UniqueConstraint,
    text,
)

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "ck": "ck_%(table_name)s_%(constraint_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        "pk": "pk_%(table_name)s",
    }
)

# SQLite gives numbers by itself to INTEGER keys alone, and its INTEGER has 64 bits anyway.
Id = BigInteger().with_variant(Integer(), "sqlite")

# Names are compared byte by byte on both: a server's language must not move the leaderboard.
Name = Text().with_variant(Text(collation="C"), "postgresql")

agents = Table(
    "agents",
    metadata,
    Column("id", Id, primary_key=True),
    Column("did", Name, nullable=False, unique=True),
    Column("card", Text),
    Column("active", Boolean, nullable=False),
    Column("home", Text),
    Column("registered_at", BigInteger, nullable=False),
)

suites = Table(
    "suites",
    metadata,
    Column("id", Id, primary_key=True),
    Column("key", Name, nullable=False),
    Column("name", Text, nullable=False),
    Column("description", Text, nullable=False),
    Column("task_type", String(32), nullable=False),
    Column("interval_minutes", Integer),
    Column("targets", Text),
    Column("reward", BigInteger, nullable=False),
    Column("cooldown_minutes", Integer, nullable=False),
    Column("daily_budget", BigInteger),
    Column("reputation", Boolean, nullable=False),
    Column("enabled", Boolean, nullable=False),
    Column("created_at", BigInteger, nullable=False),
    Column("last_slot", BigInteger),
    # A removed suite's row stays, so that its results keep their suite's name; its key is free.
    Column("removed_at", BigInteger),
    Index(
        "uq_suites_key",
        "key",
        unique=True,
        sqlite_where=text("removed_at IS NULL"),
        postgresql_where=text("removed_at IS NULL"),
    ),
)

tasks = Table(
    "tasks",
    metadata,
    Column("id", Id, primary_key=True),
    Column("suite_id", Id, ForeignKey("suites.id", ondelete="CASCADE"), nullable=False),
    Column("name", Name, nullable=False),
    Column("input", Text, nullable=False),
    Column("scorer", String(64), nullable=False),
    Column("expected", Text),
    Column("weight", Double, nullable=False),
    UniqueConstraint("suite_id", "name"),
    sqlite_autoincrement=True,  # A result names its task's number for ever: none is given again.
)

runs = Table(
    "runs",
    metadata,
    Column("id", String(32), primary_key=True),
    Column("suite_id", Id, ForeignKey("suites.id"), nullable=False),
    Column("slot", BigInteger),
    Column("requested_at", BigInteger, nullable=False),
    Column("finished_at", BigInteger),
    # Of a run that was asked for by hand the slot is NULL, which is equal to no other.
    UniqueConstraint("suite_id", "slot"),
    Index(
        "ix_runs_open",
        "suite_id",
        sqlite_where=text("finished_at IS NULL"),
        postgresql_where=text("finished_at IS NULL"),
    ),
)

exams = Table(
    "exams",
    metadata,
    Column("run_id", String(32), ForeignKey("runs.id"), primary_key=True),
    Column("agent_id", Id, ForeignKey("agents.id"), primary_key=True),
    Column("state", String(8), nullable=False),
    Column("queue", BigInteger, nullable=False),
    Column("attempt", Integer, nullable=False),
    Column("until", BigInteger),
    Column("score", BigInteger),
    Column("reward", String(16)),
    Column("reason", Text),
    Index(
        "ix_exams_pending",
        "queue",
        sqlite_where=text("state = 'pending'"),
        postgresql_where=text("state = 'pending'"),
    ),
    Index(
        "ix_exams_claimed",
        "until",
        sqlite_where=text("state = 'claimed'"),
        postgresql_where=text("state = 'claimed'"),
    ),
)

results = Table(
    "results",
    metadata,
    Column("id", Id, primary_key=True),
    Column("run_id", String(32), nullable=False),
    Column("suite_id", Id, nullable=False),
    Column("agent_id", Id, nullable=False),
    Column("task_id", Id, nullable=False),
    Column("score", Integer, nullable=False),
    Column("passed", Boolean, nullable=False),
    Column("latency_ms", Integer),
    Column("error", Text),
    Column("at", BigInteger, nullable=False),
    CheckConstraint("score BETWEEN 0 AND 1000000", name="score"),
    UniqueConstraint("run_id", "agent_id", "task_id"),
    Index("ix_results_newest", "agent_id", "at", "id"),
    Index("ix_results_at", "at"),
    sqlite_autoincrement=True,
)

evidence = Table(
    "evidence",
    metadata,
    Column("result_id", Id, ForeignKey("results.id", ondelete="CASCADE"), primary_key=True),
    Column("task", LargeBinary(32), nullable=False),
    Column("request", LargeBinary(32), nullable=False),
    Column("response", LargeBinary(32)),
    Column("scorer_version", String(32), nullable=False),
    Column("epoch", BigInteger),
)

aggregates = Table(
    "aggregates",
    metadata,
    Column("suite_id", Id, primary_key=True, autoincrement=False),
    Column("agent_id", Id, primary_key=True, autoincrement=False),
    Column("did", Name, nullable=False),
    Column("n", BigInteger, nullable=False),
    Column("sum", BigInteger, nullable=False),
    Column("mean", Double, nullable=False),
    Column("last_at", BigInteger, nullable=False),
    # What retention took from the rows: with it, the aggregate can always be held against them.
    Column("pruned_n", BigInteger, nullable=False, server_default="0"),
    Column("pruned_sum", BigInteger, nullable=False, server_default="0"),
    CheckConstraint("n > 0 AND sum BETWEEN 0 AND n * 1000000", name="range"),
)
Index(
    "ix_aggregates_rank",
    aggregates.c.suite_id,
    aggregates.c.mean.desc(),
    aggregates.c.n.desc(),
    aggregates.c.did,
)

leases = Table(
    "leases",
    metadata,
    Column("name", String(64), primary_key=True),
    Column("holder", String(128), nullable=False),
    Column("epoch", BigInteger, nullable=False),
    Column("expires", BigInteger, nullable=False),
)

edges = Table(
    "edges",
    metadata,
    Column("source", Name, primary_key=True),
    Column("target", Name, primary_key=True),
    Column("value", Double, nullable=False),
    Column("satisfied", BigInteger, nullable=False),
    Column("unsatisfied", BigInteger, nullable=False),
    Column("updated_at", BigInteger, nullable=False),
)

accounts = Table(
    "accounts",
    metadata,
    Column("name", Name, primary_key=True),
    Column("balance", BigInteger, nullable=False),
    CheckConstraint("balance >= 0 OR name = 'issuance'", name="funded"),
)

transfers = Table(
    "transfers",
    metadata,
    Column("id", Id, primary_key=True),
    Column("key", Name, nullable=False, unique=True),
    Column("payer", Name, ForeignKey("accounts.name"), nullable=False),
    Column("payee", Name, ForeignKey("accounts.name"), nullable=False),
    Column("amount", BigInteger, nullable=False),
    Column("suite_id", Id),
    Column("at", BigInteger, nullable=False),
    CheckConstraint("amount > 0", name="amount"),
    CheckConstraint("payer <> payee", name="sides"),
    Index("ix_transfers_payee", "payee", "suite_id", "at"),
    sqlite_autoincrement=True,
)
