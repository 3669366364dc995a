"""A history that the migrations make is the one that is made at once."""

from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import inspect, text

from labtests.history.store import _engine, _migrate, _revision, _url
from labtests.history.tables import METADATA, NEWEST


def test_migrations_lead_to_the_tables(where):
    engine = _engine(_url(where))
    with engine.begin() as connection:
        _migrate(connection)
        context = MigrationContext.configure(connection, opts={"compare_type": True})
        assert compare_metadata(context, METADATA) == []
        assert _revision(connection) == NEWEST
        made = {
            name: [column["name"] for column in inspect(connection).get_columns(name)]
            for name in METADATA.tables
        }
    engine.dispose()
    assert made == {name: [c.name for c in table.c] for name, table in METADATA.tables.items()}


def test_a_row_goes_with_its_run(where):
    engine = _engine(_url(where))
    with engine.begin() as connection:
        _migrate(connection)
        connection.execute(text(
            "INSERT INTO runs VALUES (1, 'x', 'lab', 'hardware', '', '', 0, '', NULL, '[]', "
            "true, '', '', '', '', '')"
        ))  # fmt: skip
        connection.execute(text("INSERT INTO tests VALUES (1, 1, 0, 'a', '', 'pass', NULL, '')"))
        connection.execute(text("DELETE FROM runs"))
        assert connection.execute(text("SELECT count(*) FROM tests")).scalar() == 0
    engine.dispose()
