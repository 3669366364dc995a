"""The database of a history: SQLite by default, PostgreSQL by URL.

    LABTESTS_HISTORY=postgresql://user@host/database    (password: PGPASSWORD or ~/.pgpass)
    LABTESTS_HISTORY=/srv/nights/history.sqlite
    LABTESTS_HISTORY=off

Several runners may enter runs at once: a run is one transaction, its identity is unique, and who
finds an older form migrates it alone (an advisory lock, or SQLite's own).
"""

import importlib
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlalchemy import (
    URL,
    Column,
    Connection,
    Engine,
    Select,
    Table,
    create_engine,
    event,
    insert,
    inspect,
    make_url,
    select,
    text,
)
from sqlalchemy.exc import ArgumentError, IntegrityError, SQLAlchemyError

from labtests.core.errors import LabError
from labtests.core.output import used
from labtests.core.private_files import reserve
from labtests.history.records import KeptRun, KeptTest, KeptVerdict, is_ahead, packed
from labtests.history.rows import (
    HistoryUnusable,
    NoHistory,
    kept_fact,
    kept_figure,
    kept_phase,
    kept_run,
    kept_test,
    kept_verdict,
    plain,
)
from labtests.history.tables import FACTS, METADATA, NEWEST, PHASES, RUNS, TESTS, VERDICTS

VARIABLE = "LABTESTS_HISTORY"
FILE = "history.sqlite"
OFF = "off"
_WAITS_S = 30  # for another runner that is writing
_ANSWERS_WITHIN_S = 4  # a server that is there
_REACHED = {
    "connect_timeout": _ANSWERS_WITHIN_S,
    "tcp_user_timeout": _WAITS_S * 1000,
    "keepalives_idle": _WAITS_S // 3,
    "keepalives_interval": _WAITS_S // 6,
    "keepalives_count": 4,
}
"""libpq's own waiting for a server that is not there any more has next to no end."""
_LIMITS = f"""
    SET LOCAL lock_timeout = '{_WAITS_S}s';
    SET LOCAL idle_in_transaction_session_timeout = '{2 * _WAITS_S}s'
"""
"""PostgreSQL's has none for somebody's lock, which a runner that froze while it wrote may hold."""
_MIGRATING = 0x6C61_6274  # a number of ours for PostgreSQL's advisory locks


@dataclass(frozen=True, slots=True)
class KeptSummary:
    """A line of `labtests history list`."""

    number: int
    run: KeptRun


@contextmanager
def _said(where: str) -> Iterator[None]:
    try:
        yield
    except (SQLAlchemyError, OSError) as error:
        first = (str(getattr(error, "orig", None) or error).splitlines() or [""])[0]
        raise HistoryUnusable(
            f"history {where}: {first}\n  remedy: look at {VARIABLE}, at the server or the file; "
            f"{VARIABLE}={OFF} goes on without"
        ) from error


class History:
    """An open history. Use as a context manager."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self.where = engine.url.render_as_string(hide_password=True)

    @classmethod
    def open(cls, where: str, *, makes: bool = True) -> "History":
        """A file's path, or a URL. Brought up to date where need be; a file that is not there is
        made, unless who asks only wants to read. Raises HistoryUnusable, NotPrivate."""
        if where == OFF:
            raise HistoryUnusable(
                f"the history is off ({VARIABLE}={OFF})\n  remedy: unset it, or name one: "
                "--history FILE"
            )
        file = _file_of(where)
        if not makes and file is not None and not file.exists():
            raise NoHistory(
                f"{where}: there is no history\n  remedy: a run makes it when it ends, as does "
                f"labtests history import FOLDER; --history or {VARIABLE} name another one"
            )
        url = _url(where)
        with _said(url.render_as_string(hide_password=True)):
            engine = _engine(url)
            try:
                _bring_up_to_date(engine)
            except BaseException:
                engine.dispose()
                raise
        return cls(engine)

    def __enter__(self) -> "History":
        return self

    def __exit__(self, *_: object) -> None:
        self._engine.dispose()

    @contextmanager
    def _begun(self) -> Iterator[Connection]:
        with _said(self.where), self._engine.begin() as connection:
            yield connection

    def enter(self, run: KeptRun) -> bool:
        """Keep a run. False when it was there. Raises HistoryUnusable."""
        try:
            with self._begun() as connection:
                _write(connection, run)
        except HistoryUnusable as error:
            if isinstance(error.__cause__, IntegrityError) and self._has(run.identity):
                return False
            raise
        return True

    def _has(self, identity: str) -> bool:
        with self._begun() as connection:
            found = connection.execute(select(RUNS.c.id).where(RUNS.c.identity == identity))
            return found.first() is not None

    def summaries(
        self, *, testbed: str = "", backend: str = "", most: int | None = None
    ) -> list[KeptSummary]:
        """Runs with the outcomes of their tests, newest first; nothing else of them."""
        known = select(RUNS.c.id, RUNS.c.started).order_by(RUNS.c.id)
        if testbed:
            known = known.where(RUNS.c.testbed == testbed)
        if backend:
            known = known.where(RUNS.c.backend == backend)
        with self._begun() as connection:
            newest = _newest_first(connection.execute(known))[:most]
            rows = {row["id"]: row for row in _some(connection, select(RUNS), RUNS.c.id, newest)}
            tests = _children(connection, select(TESTS), TESTS, newest)
        return [
            KeptSummary(number, kept_run(rows[number], map(kept_test, tests.get(number, ()))))
            for number in newest
        ]

    def whole(self, number: int) -> KeptRun:
        """All that is kept of a run. Raises HistoryUnusable, LabError."""
        with self._begun() as connection:
            row = connection.execute(select(RUNS).where(RUNS.c.id == number)).mappings().first()
            if row is None:
                raise LabError(f"{self.where} has no run {number}")
            return kept_run(row, _tests(connection, number))

    def labs(
        self, *, testbed: str = "", backend: str = ""
    ) -> dict[tuple[str, str], list[KeptSummary]]:
        """Runs by lab and backend, newest first: what was simulated is never held against
        hardware."""
        found: dict[tuple[str, str], list[KeptSummary]] = {}
        for each in self.summaries(testbed=testbed, backend=backend):
            found.setdefault((each.run.testbed, each.run.backend), []).append(each)
        return dict(sorted(found.items()))

    def margins(
        self, *, testbed: str, backend: str, runs: Sequence[int] | None = None
    ) -> list[dict[str, Any]]:
        """Every fact of main verdicts that has a number, oldest run first, of these runs or all:
        `run`, `test`, `phase`, `question`, `fact`, `measured`, `margin`, `unit`."""
        known = select(RUNS.c.id, RUNS.c.started).order_by(RUNS.c.id)
        known = known.where(RUNS.c.testbed == testbed, RUNS.c.backend == backend)
        with self._begun() as connection:
            found = _newest_first(connection.execute(known.where(RUNS.c.faults == "[]")))
            oldest_first = [each for each in reversed(found) if runs is None or each in runs]
            rows = _some(connection, _FIGURES, RUNS.c.id, oldest_first)
            place = {number: at for at, number in enumerate(oldest_first)}
            figures = [kept_figure(row) for row in rows]
        return sorted(figures, key=lambda row: place[row["run"]])


_FIGURES = (
    select(
        RUNS.c.id.label("run"),
        TESTS.c.name.label("test"),
        *(VERDICTS.c[name] for name in ("question", "phase")),
        FACTS.c.id,
        FACTS.c.name.label("fact"),
        *(FACTS.c[name] for name in ("measured", "margin", "unit")),
    )
    .join_from(RUNS, TESTS, TESTS.c.of == RUNS.c.id)
    .join(VERDICTS, VERDICTS.c.of == TESTS.c.id)
    .join(FACTS, FACTS.c.of == VERDICTS.c.id)
    .where(VERDICTS.c.role == "main", FACTS.c.measured.is_not(None))
    .order_by(RUNS.c.id, TESTS.c.position, VERDICTS.c.position, FACTS.c.id)
)


def _newest_first(rows: Iterable[Any]) -> list[int]:
    """Numbers of runs, of rows in the order in which they were entered. A run that began later than
    now, by a clock that was wrong, is no newer than it was entered."""
    latest, order = "", []
    for run, started in rows:
        if isinstance(started, str) and not is_ahead(started):
            latest = max(latest, started)
            order.append((started, run))
        else:
            order.append((latest, run))
    return [run for _, run in sorted(order, reverse=True)]


_IN_SQLITE = "sqlite:///"


def _file_of(where: str) -> Path | None:
    """Of SQLite's; None: a URL of something else. Raises HistoryUnusable."""
    if "://" not in where:
        return Path(where).expanduser()
    if not where.startswith(_IN_SQLITE) or where == _IN_SQLITE:
        return None
    if "?" in where:  # `mode=memory` would keep nothing of what is entered
        raise HistoryUnusable(
            f"{VARIABLE}={where}: a file of SQLite has no options\n  remedy: its path alone"
        )
    return Path(where.removeprefix(_IN_SQLITE))


def _url(where: str) -> URL:
    if (file := _file_of(where)) is not None:
        return URL.create("sqlite", database=str(reserve(file)))
    try:
        url = make_url(where)
    except (ArgumentError, ValueError) as error:
        raise HistoryUnusable(
            f"{VARIABLE} is no URL that a database has\n  remedy: a file, or postgresql://host/name"
        ) from error
    if "password" in url.query:
        raise HistoryUnusable(
            f"a password does not stand in {VARIABLE}\n  remedy: PGPASSWORD, or ~/.pgpass"
        )
    if url.password:
        used(url.password)
    if url.drivername in ("postgres", "postgresql"):
        return url.set(drivername="postgresql+psycopg")
    raise HistoryUnusable(
        f"a history is kept in SQLite or PostgreSQL, not in {url.drivername!r}\n"
        f"  remedy: {VARIABLE}=FILE or {VARIABLE}=postgresql://host/name"
    )


def _engine(url: URL) -> Engine:
    if url.get_backend_name() != "sqlite":
        reached = {name: value for name, value in _REACHED.items() if name not in url.query}
        engine = create_engine(url, connect_args=reached, pool_pre_ping=True)  # it may restart
        event.listen(engine, "begin", lambda connection: connection.exec_driver_sql(_LIMITS))
        return engine
    engine = create_engine(url, connect_args={"timeout": _WAITS_S})

    def connected(connection: Any, _: object) -> None:
        connection.isolation_level = None  # transactions begin where we say so
        connection.execute("PRAGMA foreign_keys = ON")

    def begun(connection: Connection) -> None:
        connection.exec_driver_sql("BEGIN IMMEDIATE")

    event.listen(engine, "connect", connected)
    event.listen(engine, "begin", begun)
    return engine


def _bring_up_to_date(engine: Engine) -> None:
    with engine.begin() as connection:
        if connection.dialect.name == "postgresql":
            connection.execute(text(f"SELECT pg_advisory_xact_lock({_MIGRATING})"))
        known = inspect(connection).get_table_names()
        if "alembic_version" not in known:
            _expect_empty(known, engine)
            _make(connection)
            return
        if _revision(connection) != NEWEST:
            _migrate(connection)


def _revision(connection: Connection) -> str:
    return str(connection.execute(text("SELECT version_num FROM alembic_version")).scalar())


def _expect_empty(known: Sequence[str], engine: Engine) -> None:
    if taken := set(known) & set(METADATA.tables):
        raise HistoryUnusable(
            f"{engine.url.render_as_string(hide_password=True)} has tables of somebody else "
            f"({', '.join(sorted(taken))})\n  remedy: a database of its own"
        )


def _make(connection: Connection) -> None:
    """A new one: at once, and as the migrations would have made it (a test holds that)."""
    METADATA.create_all(connection)
    connection.execute(
        text("CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL PRIMARY KEY)")
    )
    connection.execute(text("INSERT INTO alembic_version VALUES (:it)"), {"it": NEWEST})


def _migrate(connection: Connection) -> None:
    command = importlib.import_module("alembic.command")  # half a second, once in a release
    config = importlib.import_module("alembic.config").Config()
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations"))
    config.set_main_option("path_separator", "os")
    config.attributes["connection"] = connection
    try:
        command.upgrade(config, "head")
    except importlib.import_module("alembic.util").CommandError as error:
        raise HistoryUnusable(
            f"the history was made by a newer labtests ({_revision(connection)})\n"
            "  remedy: use that labtests, or another history"
        ) from error


def _write(connection: Connection, run: KeptRun) -> None:
    number = _inserted(connection, RUNS, {
        **{name: getattr(run, name) for name in plain(RUNS) if name != "state"},
        "state": packed(run.state),
    })  # fmt: skip
    for place, test in enumerate(run.tests):
        row = {name: getattr(test, name) for name in plain(TESTS)}
        of_test = _inserted(connection, TESTS, {"of": number, "position": place, **row})
        _write_test(connection, of_test, test)


def _write_test(connection: Connection, of_test: int, test: KeptTest) -> None:
    for place, verdict in enumerate(test.verdicts):
        row = {name: getattr(verdict, name) for name in plain(VERDICTS)}
        of_verdict = _inserted(connection, VERDICTS, {"of": of_test, "position": place, **row})
        facts = [
            {"of": of_verdict, "position": at, **{n: getattr(fact, n) for n in plain(FACTS)}}
            for at, fact in enumerate(verdict.facts)
        ]
        if facts:
            connection.execute(insert(FACTS), facts)
    phases = [
        {"of": of_test, "position": at, "name": phase.name, "kind": phase.kind,
         "counters": packed(phase.counters), "settings": packed(phase.settings)}
        for at, phase in enumerate(test.phases)
    ]  # fmt: skip
    if phases:
        connection.execute(insert(PHASES), phases)


def _inserted(connection: Connection, table: Table, row: dict[str, Any]) -> int:
    made = connection.execute(insert(table).values(row)).inserted_primary_key
    assert made is not None
    return int(made[0])


def _some(
    connection: Connection, asked: Select[Any], column: Column[Any], among: Sequence[int]
) -> Iterator[Any]:
    """Rows that have one of these numbers there."""
    for first in range(0, len(among), 500):  # SQLite takes so many parameters
        part = asked.where(column.in_(among[first : first + 500]))
        yield from connection.execute(part).mappings()


def _children(
    connection: Connection, asked: Select[Any], table: Table, of: Sequence[int]
) -> dict[int, list[Any]]:
    """Rows by what they belong to, in order."""
    found: dict[int, list[Any]] = {}
    for row in _some(connection, asked.order_by(table.c.position), table.c.of, of):
        found.setdefault(row["of"], []).append(row)
    return found


def _tests(connection: Connection, number: int) -> tuple[KeptTest, ...]:
    tests = _children(connection, select(TESTS), TESTS, [number]).get(number, [])
    of_tests = [row["id"] for row in tests]
    verdicts = _children(connection, select(VERDICTS), VERDICTS, of_tests)
    of_verdicts = [row["id"] for rows in verdicts.values() for row in rows]
    facts = _children(connection, select(FACTS), FACTS, of_verdicts)
    phases = _children(connection, select(PHASES), PHASES, of_tests)

    def judged(row: Any) -> KeptVerdict:
        return kept_verdict(row, tuple(map(kept_fact, facts.get(row["id"], ()))))

    return tuple(
        kept_test(row, tuple(map(judged, verdicts.get(row["id"], ()))),
                  tuple(map(kept_phase, phases.get(row["id"], ()))))
        for row in tests
    )  # fmt: skip


def asked() -> str | None:
    """Where the environment says that the history is: a file, a URL, or `off`; None: nothing."""
    return os.environ.get(VARIABLE) or None
