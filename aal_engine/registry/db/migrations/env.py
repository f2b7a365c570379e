"""Runs the schema's migrations on the connection that it is handed."""

from alembic import context

from aal_engine.registry.db.schema import metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    transactional_ddl=True,
)
with context.begin_transaction():
    context.run_migrations()
