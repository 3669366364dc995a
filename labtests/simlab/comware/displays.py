"""What the `display` commands print, from values. Every form is that of a recording; the source is
named where it is used. Where a recording's blanks were lost, those here are the manual's or ours.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from labtests.network import PortDrops, Schedule
from labtests.simlab.comware.configuration import WredTable
from labtests.simlab.comware.interfaces import short_name
from labtests.simlab.comware.parameters import QUEUE_NAMES, priority_list
from labtests.simlab.comware.statistics import Pfc, Queue

PfcColumns = Literal["old", "new"]
"""old: S6550XE-56HF-HI of document 000. new: S6550X-HI R1116, S9825."""


def lines(*texts: str) -> str:
    """Each text as a line."""
    return "".join(f"{text}\n" for text in texts)


# -- queue statistics ------------------------------------------------------------------------------


def queue_statistics(
    port: str, queues: Sequence[Queue], hidden: frozenset[str] = frozenset()
) -> str:
    """`display qos queue-statistics interface … outbound`: words of document 000, indents of the
    command reference. `hidden` names what has disappeared: "queue-drops", "queue-0", …"""
    shown = [
        f"Interface: {port}",
        " Direction: outbound",
        f" Forwarded: {sum(q.forwarded_packets for q in queues)} packets, "
        f"{sum(q.forwarded_bytes for q in queues)} bytes",
        f" Dropped: {sum(q.dropped_packets for q in queues)} packets, "
        f"{sum(q.dropped_bytes for q in queues)} bytes",
    ]
    for number, queue in enumerate(queues):
        if f"queue-{number}" not in hidden:
            shown += _queue_block(number, queue)
    if "queue-drops" in hidden:
        shown = [line for line in shown if "Dropped:" not in line]
    return lines(*shown)


def _queue_block(number: int, queue: Queue) -> list[str]:
    return [
        f" Queue {number}",
        f"  Forwarded: {queue.forwarded_packets} packets, {queue.forwarded_bytes} bytes, "
        f"{queue.packets_per_s} pps, {queue.bits_per_s} bps",
        f"  Dropped: {queue.dropped_packets} packets, {queue.dropped_bytes} bytes",
        f"  Current queue length: {queue.length} packets",
    ]


# -- PFC -------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class PfcRows:
    """PFC of one port. `counts` is empty while no frame was counted."""

    port: str
    mode: Literal["off", "on", "auto"]
    operational: bool
    priorities: frozenset[int]
    counts: Mapping[int, Pfc]


_OLD_MODES = {"off": "Off", "on": "On", "auto": "Auto"}
_NEW_MODES = {"off": "Disabled", "on": "Enabled", "auto": "Auto"}


def pfc_old(rows: Iterable[PfcRows]) -> str:
    """`display priority-flow-control interface`: the columns of document 000, which end with Sent;
    the widths of the S6812 command reference, which has two more."""
    shown = [
        "Conf -- Configured mode   Ne -- Negotiated mode   P -- Priority",
        "Interface     Conf Ne  Dot1pList   P Recv       Sent",
    ]
    for row in rows:
        begin = (
            f"{short_name(row.port):<14}{_OLD_MODES[row.mode]:<5}"
            f"{'On' if row.operational else 'Off':<4}{priority_list(row.priorities):<12}"
        )
        counts = [f"{p} {pfc.received:<11}{pfc.sent}" for p, pfc in row.counts.items()]
        shown += [(begin + count).rstrip() for count in counts or [""]]
    return lines(*shown)


_RULER = "-" * 99


def pfc_new(rows: Iterable[PfcRows]) -> str:
    """The same on S6550X-HI (command reference) and as a public HPE collector matches it."""
    shown = [
        "Interface                        AdminMode  OperMode  Dot1pList   Prio  Recv       "
        "Send       Inpps      Outpps",
        _RULER,
    ]
    for row in rows:
        operative = "Enabled" if row.operational else "Disabled"
        begin = (
            f"{short_name(row.port):<33}{_NEW_MODES[row.mode]:<11}{operative:<10}"
            f"{priority_list(row.priorities):<12}"
        )
        counts = [
            f"{p:<6}{pfc.received:<11}{pfc.sent:<11}{pfc.received_per_s:<11}{pfc.sent_per_s}"
            for p, pfc in row.counts.items()
        ]
        shown += [(begin + count).rstrip() for count in counts or [""]]
    return lines(*shown)


PFC_FORMS = {"old": pfc_old, "new": pfc_new}


# -- drops -----------------------------------------------------------------------------------------


def packet_drop_summary(drops: PortDrops, hidden: frozenset[str] = frozenset()) -> str:
    """`display packet-drop summary` (white paper, document 002, blanks verbatim)."""
    return _drops("All interfaces:", "   ", drops, hidden)


def packet_drop(port: str, drops: PortDrops, hidden: frozenset[str] = frozenset()) -> str:
    """`display packet-drop interface …`: two blanks, as a public HPE collector expects them."""
    return _drops(f"{port}:", "  ", drops, hidden)


def _drops(title: str, indent: str, drops: PortDrops, hidden: frozenset[str]) -> str:
    shown = [
        f"{indent}Packets dropped due to Fast Filter Processor (FFP): 0",
        f"{indent}Packets dropped due to STP non-forwarding state: 0",
        f"{indent}Packets dropped due to insufficient data buffer. "
        f"Input dropped: {drops.input_drops} Output dropped: {drops.output_buffer_drops}",
        f"{indent}Packets of ECN marked: {drops.ecn_marked}",
        f"{indent}Packets of WRED dropped: {drops.wred_drops}",
    ]
    return lines(title, *(shown[:2] if "packet-drop" in hidden else shown))


# -- QoS settings (command reference) -------------------------------------------------------------


def qos_trust(port: str, trust: str, override: bool) -> str:
    """`display qos trust interface …`. The word for no trust is from memory."""
    return lines(
        f"Interface: {port}",
        " Port priority trust information",
        "  Port priority:0",
        f"  Port priority trust type: {trust},  Override: {'enable' if override else 'disable'}",
    )


def wred_interface(port: str, table: str) -> str:
    """`display qos wred interface …` of a port that applies a table."""
    return lines(
        f"Interface: {port}",
        " Current WRED configuration:",
        f" Applied WRED table name: {table}",
    )


_WRED_HEADER = "QID   gmin  gmax  gprob  ymin  ymax  yprob  rmin  rmax  rprob  exponent  ECN"


def wred_table(table: WredTable) -> str:
    """`display qos wred table name …`."""
    shown = [
        f"Table name: {table.name}",
        "Table type: Queue based WRED",
        _WRED_HEADER,
        "-" * len(_WRED_HEADER),
    ]
    for number, queue in enumerate(table.queues):
        curves = "".join(f"{low:<6}{high:<6}{percent:<7}" for low, high, percent in queue.colours)
        shown.append(f"{number:<6}{curves}{queue.exponent:<10}{'Y' if queue.ecn else 'N'}")
    return lines(*shown)


def map_table(name: str, values: Sequence[int]) -> str:
    """`display qos map-table …`."""
    rows = [f"{value:>4}    :  {export:>3}" for value, export in enumerate(values)]
    return lines(f"MAP-TABLE NAME: {name}   TYPE: pre-define", "IMPORT  :  EXPORT", *rows)


def schedule(port: str, current: Schedule) -> str:
    """`display qos queue sp|wrr|wfq interface …` of a port that is served so."""
    form = {"sp": _strict_priority, "wrr": _round_robin, "wfq": _fair_queuing}
    return lines(f"Interface: {port}", *form[current.discipline](current))


def _strict_priority(current: Schedule) -> list[str]:
    return [" Output queue: Strict Priority queuing"]


def _unit(current: Schedule) -> str:
    return "Weight" if current.unit == "weight" else "Byte count"


def _round_robin(current: Schedule) -> list[str]:
    shown = [
        " Output queue: Weighted Round Robin queuing",
        f" Queue ID        Queue    name      Group           {_unit(current)}",
        f" {'-' * 56}",
    ]
    for number, (group, weight) in enumerate(current.queues):
        value = "N/A" if group == "sp" else str(weight)
        shown.append(f" {number:<16}{QUEUE_NAMES[number]:<16}{group:<16}{value}")
    return shown


def _fair_queuing(current: Schedule) -> list[str]:
    shown = [
        " Output queue: Hardware Weighted Fair Queuing",
        f" Queue ID        Queue name      Group           {_unit(current):<16}Min Bandwidth",
        f" {'-' * 77}",
    ]
    for number, (group, weight) in enumerate(current.queues):
        value = "N/A" if group == "sp" else str(weight)
        shown.append(f" {number:<16}{QUEUE_NAMES[number]:<16}{group:<16}{value:<16}64")
    return shown
