"""Alembic's way into the migrations: always with the connection that the history has open."""

from alembic import context

from labtests.history.tables import METADATA

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=METADATA,
    render_as_batch=True,
)
with context.begin_transaction():
    context.run_migrations()
