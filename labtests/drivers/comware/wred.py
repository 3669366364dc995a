"""WRED tables, which is where Comware keeps ECN marking, and which port applies which.

A port that applies no table drops at the tail and marks nothing. A table has one curve per queue
and packet colour. Without a policer every packet is green, so the green curve is the one read; a
table with other yellow and red curves is read the same, and is never rewritten by labtests.
Limits are in the device's own unit (cells or packets, by model).
"""

import re
from dataclasses import dataclass

from labtests.capabilities.records import WredQueue
from labtests.drivers.comware.names import printed_port
from labtests.drivers.comware.values import exactly
from labtests.drivers.parsing import matches, refuse, whole_lines
from labtests.transport.protocol import Reply

_INTERFACE = re.compile(r"^\s*Interface:\s*(?P<name>\S(?:.*\S)?)\s*$")
_CURRENT = re.compile(r"^\s*Current WRED configuration:\s*$")
_APPLIED = re.compile(r"^\s*Applied WRED table name:\s*(?P<table>\S+)\s*$")
_BY_PRECEDENCE = re.compile(r"^\s*(?:Exponent:\s|Pre\s+Low\s)")

_TABLE = re.compile(r"^\s*Table name:\s*(?P<name>\S+)\s*$")
_TYPE = re.compile(r"^\s*Table type:\s*(?P<type>\S(?:.*\S)?)\s*$")
_HEADER = re.compile(
    r"^\s*QID\s+gmin\s+gmax\s+gprob\s+ymin\s+ymax\s+yprob\s+rmin\s+rmax\s+rprob\s+exponent\s+ECN\s*$"
)
_ROW = re.compile(
    r"^\s*(?P<queue>[0-7])\s+(?P<low>\S+)\s+(?P<high>\S+)\s+(?P<percent>\S+)"
    r"(?:\s+\S+){6}\s+(?P<exponent>\S+)\s+(?P<ecn>[YN])\s*$"
)
_QUEUES = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class WredTable:
    """A queue-based WRED table: its name and the green curve of each of its eight queues."""

    name: str
    queues: tuple[WredQueue, ...]


def parse_qos_wred_interface(reply: Reply) -> dict[str, str]:
    """Port (full name) -> the table it applies. WRED by IP precedence (routers) is refused."""
    applied: dict[str, str] = {}
    port: str | None = None
    for match in matches(reply, _INTERFACE, _CURRENT, _APPLIED, _BY_PRECEDENCE):
        if match.re is _BY_PRECEDENCE:
            refuse(reply, f"{port} has WRED by IP precedence, which is no queue table")
        if match.re is _INTERFACE:
            _expect_table(reply, applied, port)
            port = printed_port(reply, match["name"])
        elif match.re is _APPLIED:
            if port is None or port in applied:
                refuse(reply, f"a table that belongs to no port: {match.group()!r}")
            applied[port] = match["table"]
    _expect_table(reply, applied, port)
    if not applied:
        refuse(reply, "there is no port in it")
    return applied


def _expect_table(reply: Reply, applied: dict[str, str], port: str | None) -> None:
    if port is not None and port not in applied:
        refuse(reply, f"{port} has no line `Applied WRED table name`")


def parse_qos_wred_table(reply: Reply) -> tuple[WredTable, ...]:
    """Every table, with all its eight queues; fewer were cut off and are refused."""
    tables: list[tuple[str, list[WredQueue]]] = []
    for match in matches(reply, _TABLE, _TYPE, _HEADER, _ROW):
        if match.re is _TABLE:
            tables.append((match["name"], []))
        elif not tables:
            refuse(reply, f"{match.group()!r} belongs to no table")
        elif match.re is _ROW:
            tables[-1][1].append(_queue(reply, match))
        elif match.re is _TYPE and match["type"] != "Queue based WRED":
            refuse(reply, f"table type {match['type']!r} is unrecognised")
    if not tables:
        refuse(reply, "there is no table in it")
    return tuple(_complete(reply, name, queues) for name, queues in tables)


def shows_wred_table(reply: Reply, name: str) -> bool:
    """Whether this answer has the table. What a switch says when there is none is not recorded."""
    return any((m := _TABLE.match(line)) and m["name"] == name for line in whole_lines(reply))


def _complete(reply: Reply, name: str, queues: list[WredQueue]) -> WredTable:
    if [q.queue for q in queues] != list(range(_QUEUES)):
        refuse(reply, f"table {name!r} should have queues 0..7, not {len(queues)} rows")
    return WredTable(name=name, queues=tuple(queues))


def _queue(reply: Reply, match: re.Match[str]) -> WredQueue:
    return WredQueue(
        queue=int(match["queue"]),
        low_limit=exactly(reply, match["low"], "gmin"),
        high_limit=exactly(reply, match["high"], "gmax"),
        drop_probability_percent=exactly(reply, match["percent"], "gprob"),
        weighting_exponent=exactly(reply, match["exponent"], "exponent"),
        ecn=match["ecn"] == "Y",
    )
