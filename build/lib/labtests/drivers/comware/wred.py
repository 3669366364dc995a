"""WRED tables, which is where Comware keeps ECN marking, and which port applies which.

A port that applies no table drops at the tail and marks nothing. A table has one curve per queue
and packet colour. Without a policer every packet is green, so the green curve is the one read; a
table with other yellow and red curves is read the same, and is never rewritten by labtests.
Limits are in the device's own unit (cells or packets, by model).
"""

from labtests.capabilities.records import WredQueue
from labtests.drivers.comware.configuration import ConfigSection
from labtests.drivers.comware.values import COMWARE, many, record
from labtests.drivers.displays import PortDisplay, read
from labtests.drivers.parsing import refuse, whole_lines
from labtests.transport.protocol import Reply

_BY_PRECEDENCE = "{above} has WRED by IP precedence, which is not a queue table"  # routers
APPLIED: PortDisplay[str] = PortDisplay(
    command="display qos wred interface <port>",
    shows=record(
        "Interface: <interface:port>",
        many("Current WRED configuration:"),
        many("(Exponent: |Pre Low ).*", refused=_BY_PRECEDENCE),
        COMWARE.line("Applied WRED table name: <table>"),
        make=lambda interface, table: (interface, table),
        order="unique",
    ),
)
_NAME = COMWARE.shape("Table name: <name>")
_TABLE = record(
    _NAME.text,
    COMWARE.line("Table type: Queue based WRED"),
    COMWARE.line("QID gmin gmax gprob ymin ymax yprob rmin rmax rprob exponent ECN"),
    record(
        "<queue:0-7> <low_limit:number> <high_limit:number> <drop_probability_percent:number>"
        r"( \S+){6} <weighting_exponent:number> <ecn:yes>",
        make=WredQueue,
        into="queues",
        times=(8, 8),
        order="from 0",
    ),
    make=lambda name, queues: (name, queues),
    order="unique",
)
_APPLY = COMWARE.shape("qos wred apply( <table>)?")
DEFAULT_TABLE = ""
"""What `applied_wred_table` says of `qos wred apply` without a name."""


def parse_qos_wred_table(reply: Reply) -> dict[str, tuple[WredQueue, ...]]:
    """By name, every table: the green curve of each of its eight queues; fewer were cut off and are
    refused."""
    return dict(read(reply, _TABLE))


def shows_wred_table(reply: Reply, name: str) -> bool:
    """Whether this answer has the table. What a switch says when there is none is not recorded."""
    shown = (_NAME.pattern.fullmatch(line.strip()) for line in whole_lines(reply))
    return any(match is not None and match["name"] == name for match in shown)


def applied_wred_table(reply: Reply, section: ConfigSection) -> str | None:
    """The WRED table this port applies; DEFAULT_TABLE for the unnamed one, None for none.

    Newer models can hold a port's own curves (`qos wred queue 3 ecn` in interface view). Those are
    refused: they have no name by which they could be put back.
    """
    own = [line for line in section.lines if line.startswith("qos wred queue ")]
    if own:
        refuse(
            reply,
            f"{section.interface} has WRED parameters of its own: {own[0]!r}",
            "move them into a table (`qos wred queue table NAME`) and apply that to the port",
        )
    applied = section.each(reply, _APPLY)
    return applied[-1].get("table", DEFAULT_TABLE) if applied else None
