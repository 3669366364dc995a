"""Rows of the history as records. A row may have what labtests writes nowhere: SQLite takes any
value for any column, and anybody may write into a database; that is told with its place."""

from collections.abc import Iterable
from functools import cache
from typing import Any

from sqlalchemy import Table

from labtests.core.errors import LabError
from labtests.core.output import quoted_excerpt
from labtests.history.records import (
    KeptFact,
    KeptPhase,
    KeptRun,
    KeptTest,
    KeptVerdict,
    unpacked,
)
from labtests.history.tables import FACTS, PHASES, RUNS, TESTS, VERDICTS
from labtests.report.runs import number


class HistoryUnusable(LabError):
    """The history cannot be opened, read or written; the text names it, without a password."""


class NoHistory(HistoryUnusable):
    """Nothing has been entered yet: the file is not there."""


@cache
def plain(table: Table) -> tuple[str, ...]:
    """Columns that a record has under the same name."""
    return tuple(column.name for column in table.c if column.name not in ("id", "of", "position"))


@cache
def _kinds(table: Table) -> dict[str, type | tuple[type, ...]]:
    """What each of them holds."""
    none = {name: (type(None),) if table.c[name].nullable else () for name in plain(table)}
    return {name: (table.c[name].type.python_type, *none[name]) for name in plain(table)}


def kept_run(row: Any, tests: Iterable[KeptTest]) -> KeptRun:
    """Of a row of RUNS."""
    state = _unpacked(RUNS, row, "state", str)
    return KeptRun(**{**_kept(RUNS, row), "state": state}, tests=tuple(tests))


def kept_test(
    row: Any, verdicts: tuple[KeptVerdict, ...] = (), phases: tuple[KeptPhase, ...] = ()
) -> KeptTest:
    """Of a row of TESTS."""
    return KeptTest(**_kept(TESTS, row), verdicts=verdicts, phases=phases)


def kept_verdict(row: Any, facts: tuple[KeptFact, ...]) -> KeptVerdict:
    """Of a row of VERDICTS."""
    return KeptVerdict(**_kept(VERDICTS, row), facts=facts)


def kept_fact(row: Any) -> KeptFact:
    """Of a row of FACTS."""
    return KeptFact(**_kept(FACTS, row))


def kept_phase(row: Any) -> KeptPhase:
    """Of a row of PHASES."""
    counters = _unpacked(PHASES, row, "counters", int | None) or {}
    settings = _unpacked(PHASES, row, "settings", str) or {}
    return KeptPhase(**{**_kept(PHASES, row), "counters": counters, "settings": settings})


def kept_figure(row: Any) -> dict[str, Any]:
    """Of a row that History.margins has asked for."""
    kinds = _kinds(FACTS)
    for name in ("measured", "margin", "unit"):
        _expect(FACTS, row, name, kinds[name])
    return dict(row)


def _kept(table: Table, row: Any) -> dict[str, Any]:
    return {name: _expect(table, row, name, kind) for name, kind in _kinds(table).items()}


def _expect(table: Table, row: Any, name: str, kinds: Any) -> Any:
    value = row[name]
    if not isinstance(value, kinds) or (isinstance(value, float) and number(value) is None):
        raise _odd(table, row, name, quoted_excerpt(value))
    return value


def _unpacked(table: Table, row: Any, name: str, kind: Any) -> Any:
    try:
        return unpacked(row[name], kind)
    except (TypeError, ValueError) as error:
        raise _odd(table, row, name, quoted_excerpt(str(error))) from error


def _odd(table: Table, row: Any, name: str, what: str) -> HistoryUnusable:
    return HistoryUnusable(
        f"the history has a row that labtests has not written: table {table.name}, id {row['id']}, "
        f"column {name}: {what}\n  remedy: a copy of the history, or delete that row by hand"
    )
