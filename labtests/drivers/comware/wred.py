"""WRED tables, which is where Comware keeps ECN marking, and which port applies which.

A port that applies no table drops at the tail and marks nothing. A table has one curve per queue
and packet colour. Without a policer every packet is green, so the green curve is the one read; a
table with other yellow and red curves is read the same, and is never rewritten by labtests.
Limits are in the device's own unit (cells or packets, by model).
"""

from dataclasses import dataclass

from labtests.capabilities.records import WredQueue
from labtests.drivers.comware.values import COMWARE, line, many, record
from labtests.drivers.displays import read
from labtests.drivers.parsing import whole_lines
from labtests.transport.protocol import Reply


@dataclass(frozen=True, slots=True, kw_only=True)
class WredTable:
    """A queue-based WRED table: its name and the green curve of each of its eight queues."""

    name: str
    queues: tuple[WredQueue, ...]


_BY_PRECEDENCE = "{above} has WRED by IP precedence, which is no queue table"  # routers
_PORT = record(
    "Interface: <interface:port>",
    many("Current WRED configuration:"),
    many("(Exponent: |Pre Low ).*", refused=_BY_PRECEDENCE),
    line("Applied WRED table name: <table>"),
    make=lambda interface, table: (interface, table),
    order="unique",
)
_NAME = COMWARE.shape("Table name: <name>")
_TABLE = record(
    _NAME.text,
    line("Table type: Queue based WRED"),
    line("QID gmin gmax gprob ymin ymax yprob rmin rmax rprob exponent ECN"),
    record(
        "<queue:0-7> <low_limit:number> <high_limit:number> <drop_probability_percent:number>"
        r"( \S+){6} <weighting_exponent:number> <ecn:yes>",
        make=WredQueue,
        into="queues",
        times=(8, 8),
        order="from 0",
    ),
    make=WredTable,
)


def parse_qos_wred_interface(reply: Reply) -> dict[str, str]:
    """Port (full name) -> the table it applies. WRED by IP precedence is refused."""
    return dict(read(reply, _PORT))


def parse_qos_wred_table(reply: Reply) -> tuple[WredTable, ...]:
    """Every table, with all its eight queues; fewer were cut off and are refused."""
    return read(reply, _TABLE)


def shows_wred_table(reply: Reply, name: str) -> bool:
    """Whether this answer has the table. What a switch says when there is none is not recorded."""
    shown = (_NAME.pattern.fullmatch(line.strip()) for line in whole_lines(reply))
    return any(match is not None and match["name"] == name for match in shown)
