"""Sums of counters that have to be the same, as the verdicts have added them up."""

import re
from dataclasses import dataclass

from labtests.report.runs import Json, entries, number
from labtests.report.text import plain, short_ports

_FIGURE = re.compile(r"(?<![\w/.])\d{1,100}(?![\w/.])")  # int() takes 4300 digits


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerRow:
    """Two sums of one phase, and what is in one of them and not in the other."""

    phase: str
    what: str
    left: int
    right: int
    of: str

    @property
    def astray(self) -> int:
        """0 where they are the same."""
        return self.left - self.right


def ledger_of(test: Json) -> list[LedgerRow]:
    """Each sum of a phase once; those that say their figures, and say them rightly."""
    found: dict[tuple[str, str], LedgerRow] = {}
    for verdict in entries(test.get("verdicts")):
        phase = str(verdict.get("phase") or "")
        for fact in entries(verdict.get("facts")):
            row = _row(phase, str(fact.get("name") or ""), str(fact.get("note") or ""))
            if row is not None and abs(row.astray) == abs(number(fact.get("measured")) or 0):
                found.setdefault((phase, row.what), row)
    order = [str(each.get("name")) for each in reversed(entries(test.get("phases")))]
    return sorted(found.values(), key=lambda row: (row.phase not in order, _at(order, row.phase)))


def _at(order: list[str], phase: str) -> int:
    return order.index(phase) if phase in order else 0


def _row(phase: str, name: str, note: str) -> LedgerRow | None:
    sides = note.split("; ")
    if " = " not in name or len(sides) != 2:
        return None
    left, right = map(_sum, sides)
    if left is None or right is None:
        return None
    what = name if left == right else name.replace(" = ", " \u2260 ")
    return LedgerRow(phase=phase, what=str(plain(short_ports(what))), left=left, right=right,
                     of=short_ports("; ".join(map(_names, sides))))  # fmt: skip


def _sum(side: str) -> int | None:
    """`A + B = 7` is 7, and so is `sent 4 + dropped 3`."""
    figures = [int(each) for each in _FIGURE.findall(side.rpartition(" = ")[2])]
    return sum(figures) if figures else None


def _names(side: str) -> str:
    return str(plain(re.sub(r" = \d+$", "", side)))
