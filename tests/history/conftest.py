"""The history of a test: in a file, and in a real PostgreSQL server where one is installed."""

from collections.abc import Iterator
from pathlib import Path

import postgresql
import pytest
from sqlalchemy import create_engine, text


@pytest.fixture(scope="session")
def pg_server() -> Iterator[str]:
    if postgresql.programs() is None or postgresql.account() is None:
        pytest.skip("no PostgreSQL server is installed here, or its account cannot look itself up")
    with postgresql.server() as url:
        yield url


@pytest.fixture(params=["sqlite", "postgresql"])
def where(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A history that is not there yet."""
    if request.param == "sqlite":
        return str(tmp_path / "history.sqlite")
    pattern: str = request.getfixturevalue("pg_server")
    return new_database(pattern, tmp_path)


def new_database(pattern: str, tmp_path: Path) -> str:
    name = "t" + "".join(letter for letter in tmp_path.name.lower() if letter.isalnum())[-40:]
    engine = create_engine(
        pattern.format("postgres").replace("postgresql:", "postgresql+psycopg:"),
        isolation_level="AUTOCOMMIT",
    )
    with engine.connect() as connection:
        connection.execute(text(f"DROP DATABASE IF EXISTS {name}"))
        connection.execute(text(f"CREATE DATABASE {name}"))
    engine.dispose()
    return pattern.format(name)
