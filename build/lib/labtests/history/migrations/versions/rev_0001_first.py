"""The first form: runs, tests, verdicts, facts, phases."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def _of(table: str) -> tuple[sa.Column[int], ...]:
    return (
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column(
            "of",
            sa.Integer,
            sa.ForeignKey(f"{table}.id", ondelete="CASCADE"),
            nullable=False,
            index=True,
        ),
        sa.Column("position", sa.Integer, nullable=False),
    )


def upgrade() -> None:
    """From nothing."""
    op.create_table(
        "runs",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("identity", sa.String(64), nullable=False, unique=True),
        sa.Column("testbed", sa.Text, nullable=False),
        sa.Column("backend", sa.String(16), nullable=False),
        sa.Column("started", sa.String(32), nullable=False),
        sa.Column("ended", sa.String(32), nullable=False),
        sa.Column("exit_code", sa.Integer, nullable=False),
        sa.Column("problem", sa.Text, nullable=False),
        sa.Column("seed", sa.Text),
        sa.Column("faults", sa.Text, nullable=False),
        sa.Column("whole", sa.Boolean, nullable=False),
        sa.Column("commit_of_suites", sa.Text, nullable=False),
        sa.Column("labtests_version", sa.Text, nullable=False),
        sa.Column("command_line", sa.Text, nullable=False),
        sa.Column("folder", sa.Text, nullable=False),
        sa.Column("state", sa.LargeBinary, nullable=False),
    )
    op.create_index("runs_of_a_lab", "runs", ["testbed", "backend", "started"])
    op.create_table(
        "tests",
        *_of("runs"),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("title", sa.Text, nullable=False),
        sa.Column("outcome", sa.String(16), nullable=False),
        sa.Column("duration_s", sa.Double),
        sa.Column("error", sa.Text, nullable=False),
    )
    op.create_table(
        "verdicts",
        *_of("tests"),
        sa.Column("question", sa.Text, nullable=False),
        sa.Column("phase", sa.Text, nullable=False),
        sa.Column("role", sa.String(16), nullable=False),
        sa.Column("outcome", sa.String(16), nullable=False),
        sa.Column("as_expected", sa.Boolean, nullable=False),
        sa.Column("because", sa.Text, nullable=False),
    )
    op.create_table(
        "facts",
        *_of("verdicts"),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("measured", sa.Double),
        sa.Column("bound", sa.Text, nullable=False),
        sa.Column("margin", sa.Double),
        sa.Column("unit", sa.Text, nullable=False),
        sa.Column("note", sa.Text, nullable=False),
    )
    op.create_table(
        "phases",
        *_of("tests"),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("kind", sa.String(16), nullable=False),
        sa.Column("counters", sa.LargeBinary, nullable=False),
        sa.Column("settings", sa.LargeBinary, nullable=False),
    )


def downgrade() -> None:
    """To nothing."""
    for table in ("phases", "facts", "verdicts", "tests", "runs"):
        op.drop_table(table)
