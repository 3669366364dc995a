"""The tables of the history. Dates are ISO 8601 in UTC, so their order as texts is their order.

What only a comparison of two runs asks for (counters, settings, the lab's state) is kept whole, as
compressed JSON: a run has some ten thousand of them.

A change here needs a migration beside it; a test holds the two equal.
"""

from sqlalchemy import (
    Boolean,
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
)
from sqlalchemy.schema import SchemaItem

NEWEST = "0001"
"""The revision that `METADATA` is."""

METADATA = MetaData()


def _of(table: str) -> tuple[SchemaItem, ...]:
    """The number of a row, the row that it belongs to, and its place there."""
    return (
        Column("id", Integer, primary_key=True),
        Column(
            "of", Integer, ForeignKey(f"{table}.id", ondelete="CASCADE"), nullable=False, index=True
        ),
        Column("position", Integer, nullable=False),
    )


RUNS = Table(
    "runs",
    METADATA,
    Column("id", Integer, primary_key=True),
    Column("identity", String(64), nullable=False, unique=True),
    Column("testbed", Text, nullable=False),
    Column("backend", String(16), nullable=False),
    Column("started", String(32), nullable=False),
    Column("ended", String(32), nullable=False),
    Column("exit_code", Integer, nullable=False),
    Column("problem", Text, nullable=False),
    Column("seed", Text),
    Column("faults", Text, nullable=False),
    Column("whole", Boolean, nullable=False),
    Column("commit_of_suites", Text, nullable=False),
    Column("labtests_version", Text, nullable=False),
    Column("command_line", Text, nullable=False),
    Column("folder", Text, nullable=False),
    Column("state", LargeBinary, nullable=False),
)
Index("runs_of_a_lab", RUNS.c.testbed, RUNS.c.backend, RUNS.c.started)

TESTS = Table(
    "tests",
    METADATA,
    *_of("runs"),
    Column("name", Text, nullable=False),
    Column("title", Text, nullable=False),
    Column("outcome", String(16), nullable=False),
    Column("duration_s", Double),
    Column("error", Text, nullable=False),
)

VERDICTS = Table(
    "verdicts",
    METADATA,
    *_of("tests"),
    Column("question", Text, nullable=False),
    Column("phase", Text, nullable=False),
    Column("role", String(16), nullable=False),
    Column("outcome", String(16), nullable=False),
    Column("as_expected", Boolean, nullable=False),
    Column("because", Text, nullable=False),
)

FACTS = Table(
    "facts",
    METADATA,
    *_of("verdicts"),
    Column("name", Text, nullable=False),
    Column("measured", Double),
    Column("bound", Text, nullable=False),
    Column("margin", Double),
    Column("unit", Text, nullable=False),
    Column("note", Text, nullable=False),
)

PHASES = Table(
    "phases",
    METADATA,
    *_of("tests"),
    Column("name", Text, nullable=False),
    Column("kind", String(16), nullable=False),
    Column("counters", LargeBinary, nullable=False),
    Column("settings", LargeBinary, nullable=False),
)
