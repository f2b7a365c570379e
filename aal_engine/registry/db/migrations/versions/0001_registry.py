"""The registry's first schema."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None

Id = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
Name = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")

# A transfer is for ever: the database itself refuses to change or delete one.
IMMUTABLE = {
    "sqlite": [
        f"CREATE TRIGGER transfers_no_{act.lower()} BEFORE {act} ON transfers "
        "BEGIN SELECT RAISE(ABORT, 'a transfer is immutable'); END"
        for act in ("UPDATE", "DELETE")
    ],
    "postgresql": [
        (
            "CREATE FUNCTION transfers_immutable() RETURNS trigger LANGUAGE plpgsql AS "
            "$$ BEGIN RAISE EXCEPTION 'a transfer is immutable'; END $$"
        ),
        (
            "CREATE TRIGGER transfers_immutable BEFORE UPDATE OR DELETE OR TRUNCATE ON transfers "
            "FOR EACH STATEMENT EXECUTE FUNCTION transfers_immutable()"
        ),
    ],
}


def upgrade() -> None:
    """Make the tables."""
    op.create_table(
        "accounts",
        sa.Column("name", Name, nullable=False),
        sa.Column("balance", sa.BigInteger(), nullable=False),
        sa.CheckConstraint("balance >= 0 OR name = 'issuance'", name="ck_accounts_funded"),
        sa.PrimaryKeyConstraint("name", name="pk_accounts"),
    )
    op.create_table(
        "agents",
        sa.Column("id", Id, nullable=False),
        sa.Column("did", Name, nullable=False),
        sa.Column("card", sa.Text(), nullable=True),
        sa.Column("active", sa.Boolean(), nullable=False),
        sa.Column("home", sa.Text(), nullable=True),
        sa.Column("registered_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_agents"),
        sa.UniqueConstraint("did", name="uq_agents_did"),
    )
    op.create_table(
        "aggregates",
        sa.Column("suite_id", Id, autoincrement=False, nullable=False),
        sa.Column("agent_id", Id, autoincrement=False, nullable=False),
        sa.Column("did", Name, nullable=False),
        sa.Column("n", sa.BigInteger(), nullable=False),
        sa.Column("sum", sa.BigInteger(), nullable=False),
        sa.Column("mean", sa.Double(), nullable=False),
        sa.Column("last_at", sa.BigInteger(), nullable=False),
        sa.Column("pruned_n", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("pruned_sum", sa.BigInteger(), server_default="0", nullable=False),
        sa.CheckConstraint("n > 0 AND sum BETWEEN 0 AND n * 1000000", name="ck_aggregates_range"),
        sa.PrimaryKeyConstraint("suite_id", "agent_id", name="pk_aggregates"),
    )
    op.create_index(
        "ix_aggregates_rank",
        "aggregates",
        ["suite_id", sa.text("mean DESC"), sa.text("n DESC"), "did"],
    )
    op.create_table(
        "edges",
        sa.Column("source", Name, nullable=False),
        sa.Column("target", Name, nullable=False),
        sa.Column("value", sa.Double(), nullable=False),
        sa.Column("satisfied", sa.BigInteger(), nullable=False),
        sa.Column("unsatisfied", sa.BigInteger(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("source", "target", name="pk_edges"),
    )
    op.create_table(
        "leases",
        sa.Column("name", sa.String(length=64), nullable=False),
        sa.Column("holder", sa.String(length=128), nullable=False),
        sa.Column("epoch", sa.BigInteger(), nullable=False),
        sa.Column("expires", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("name", name="pk_leases"),
    )
    op.create_table(
        "results",
        sa.Column("id", Id, nullable=False),
        sa.Column("run_id", sa.String(length=32), nullable=False),
        sa.Column("suite_id", Id, nullable=False),
        sa.Column("agent_id", Id, nullable=False),
        sa.Column("task_id", Id, nullable=False),
        sa.Column("score", sa.Integer(), nullable=False),
        sa.Column("passed", sa.Boolean(), nullable=False),
        sa.Column("latency_ms", sa.Integer(), nullable=True),
        sa.Column("error", sa.Text(), nullable=True),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.CheckConstraint("score BETWEEN 0 AND 1000000", name="ck_results_score"),
        sa.PrimaryKeyConstraint("id", name="pk_results"),
        sa.UniqueConstraint(
            "run_id", "agent_id", "task_id", name="uq_results_run_id_agent_id_task_id"
        ),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_results_at", "results", ["at"], unique=False)
    op.create_index("ix_results_newest", "results", ["agent_id", "at", "id"], unique=False)
    op.create_table(
        "suites",
        sa.Column("id", Id, nullable=False),
        sa.Column("key", Name, nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("description", sa.Text(), nullable=False),
        sa.Column("task_type", sa.String(length=32), nullable=False),
        sa.Column("interval_minutes", sa.Integer(), nullable=True),
        sa.Column("targets", sa.Text(), nullable=True),
        sa.Column("reward", sa.BigInteger(), nullable=False),
        sa.Column("cooldown_minutes", sa.Integer(), nullable=False),
        sa.Column("daily_budget", sa.BigInteger(), nullable=True),
        sa.Column("reputation", sa.Boolean(), nullable=False),
        sa.Column("enabled", sa.Boolean(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("last_slot", sa.BigInteger(), nullable=True),
        sa.Column("removed_at", sa.BigInteger(), nullable=True),
        sa.PrimaryKeyConstraint("id", name="pk_suites"),
    )
    op.create_index(
        "uq_suites_key",
        "suites",
        ["key"],
        unique=True,
        sqlite_where=sa.text("removed_at IS NULL"),
        postgresql_where=sa.text("removed_at IS NULL"),
    )
    op.create_table(
        "evidence",
        sa.Column("result_id", Id, nullable=False),
        sa.Column("task", sa.LargeBinary(length=32), nullable=False),
        sa.Column("request", sa.LargeBinary(length=32), nullable=False),
        sa.Column("response", sa.LargeBinary(length=32), nullable=True),
        sa.Column("scorer_version", sa.String(length=32), nullable=False),
        sa.Column("epoch", sa.BigInteger(), nullable=True),
        sa.ForeignKeyConstraint(
            ["result_id"], ["results.id"], name="fk_evidence_result_id", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("result_id", name="pk_evidence"),
    )
    op.create_table(
        "runs",
        sa.Column("id", sa.String(length=32), nullable=False),
        sa.Column("suite_id", Id, nullable=False),
        sa.Column("slot", sa.BigInteger(), nullable=True),
        sa.Column("requested_at", sa.BigInteger(), nullable=False),
        sa.Column("finished_at", sa.BigInteger(), nullable=True),
        sa.ForeignKeyConstraint(["suite_id"], ["suites.id"], name="fk_runs_suite_id"),
        sa.PrimaryKeyConstraint("id", name="pk_runs"),
        sa.UniqueConstraint("suite_id", "slot", name="uq_runs_suite_id_slot"),
    )
    op.create_index(
        "ix_runs_open",
        "runs",
        ["suite_id"],
        unique=False,
        sqlite_where=sa.text("finished_at IS NULL"),
        postgresql_where=sa.text("finished_at IS NULL"),
    )
    op.create_table(
        "tasks",
        sa.Column("id", Id, nullable=False),
        sa.Column("suite_id", Id, nullable=False),
        sa.Column("name", Name, nullable=False),
        sa.Column("input", sa.Text(), nullable=False),
        sa.Column("scorer", sa.String(length=64), nullable=False),
        sa.Column("expected", sa.Text(), nullable=True),
        sa.Column("weight", sa.Double(), nullable=False),
        sa.ForeignKeyConstraint(
            ["suite_id"], ["suites.id"], name="fk_tasks_suite_id", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_tasks"),
        sa.UniqueConstraint("suite_id", "name", name="uq_tasks_suite_id_name"),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "transfers",
        sa.Column("id", Id, nullable=False),
        sa.Column("key", Name, nullable=False),
        sa.Column("payer", Name, nullable=False),
        sa.Column("payee", Name, nullable=False),
        sa.Column("amount", sa.BigInteger(), nullable=False),
        sa.Column("suite_id", Id, nullable=True),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.CheckConstraint("amount > 0", name="ck_transfers_amount"),
        sa.CheckConstraint("payer <> payee", name="ck_transfers_sides"),
        sa.ForeignKeyConstraint(["payee"], ["accounts.name"], name="fk_transfers_payee"),
        sa.ForeignKeyConstraint(["payer"], ["accounts.name"], name="fk_transfers_payer"),
        sa.PrimaryKeyConstraint("id", name="pk_transfers"),
        sa.UniqueConstraint("key", name="uq_transfers_key"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_transfers_payee", "transfers", ["payee", "suite_id", "at"], unique=False)
    op.create_table(
        "exams",
        sa.Column("run_id", sa.String(length=32), nullable=False),
        sa.Column("agent_id", Id, nullable=False),
        sa.Column("state", sa.String(length=8), nullable=False),
        sa.Column("queue", sa.BigInteger(), nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("until", sa.BigInteger(), nullable=True),
        sa.Column("score", sa.BigInteger(), nullable=True),
        sa.Column("reward", sa.String(length=16), nullable=True),
        sa.Column("reason", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(["agent_id"], ["agents.id"], name="fk_exams_agent_id"),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name="fk_exams_run_id"),
        sa.PrimaryKeyConstraint("run_id", "agent_id", name="pk_exams"),
    )
    op.create_index(
        "ix_exams_claimed",
        "exams",
        ["until"],
        unique=False,
        sqlite_where=sa.text("state = 'claimed'"),
        postgresql_where=sa.text("state = 'claimed'"),
    )
    op.create_index(
        "ix_exams_pending",
        "exams",
        ["queue"],
        unique=False,
        sqlite_where=sa.text("state = 'pending'"),
        postgresql_where=sa.text("state = 'pending'"),
    )
    for statement in IMMUTABLE[op.get_bind().dialect.name]:
        op.execute(statement)
