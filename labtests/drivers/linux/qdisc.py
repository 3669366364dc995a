"""What a host's own port queue (its root qdisc) dropped: `tc -s -j qdisc show dev IF`.

A sender that drops before the wire explains packets that no switch has seen. The root counts for
all below it (Linux, net/sched: qdisc_tree_reduce_backlog; mq adds up its children), a netem that
loses on purpose too (Linux 6.12: 76 at a netem, 76 at the tbf above it).
"""

from typing import Any

from labtests.capabilities import counters as c
from labtests.capabilities.readings import Reading
from labtests.core.errors import CommandRejected, ToolMissing
from labtests.core.trusted_files import json_of
from labtests.drivers.answers import Tool, expect_success
from labtests.drivers.parsing import READ_AGAIN, refuse
from labtests.drivers.readings import Answered
from labtests.transport.commands import Shell, program
from labtests.transport.protocol import Reply

TC = Tool(install="install the package iproute2 (iproute-tc on RHEL) on this host")

_COUNTED = {
    "packets": (c.QDISC_SENT_PACKETS, "packets"),
    "drops": (c.QDISC_DROPPED_PACKETS, "packets"),
    "requeues": (c.QDISC_REQUEUED_PACKETS, "packets"),
    "backlog": (c.QDISC_BACKLOG_BYTES, "bytes"),
}
NETEM = "netem"
"""Delays, loses, doubles or reorders packets on purpose (tc-netem(8))."""
_NO_QUEUE = "noqueue"  # a virtual port that hands packets on at once: it counts nothing


def qdisc_command(interface: str) -> Shell:
    """Reads it."""
    return program("tc", "-s", "-j", "qdisc", "show", "dev", interface)


def parse_tc_qdiscs(reply: Reply) -> tuple[dict[str, Any], ...]:
    """`tc -s -j qdisc show dev IF`: every qdisc, as tc gives it."""
    expect_success(reply, TC)
    try:
        found = json_of(reply.text)
    except ValueError as error:
        refuse(reply, f"this is not JSON, or not all of it: {error}", READ_AGAIN)
    if not isinstance(found, list) or not all(isinstance(q, dict) and "kind" in q for q in found):
        refuse(reply, "this is not a list of qdiscs")
    return tuple(found)


def qdisc_readings(reply: Reply, port: str) -> tuple[Reading, ...]:
    """Scope "port": what the root qdisc sent, dropped, requeued and holds; None with the reason
    where tc does not tell."""
    root, why = _root(reply)
    return tuple(
        Answered(reply, port).reading(
            counter,
            None if why else _number(reply, root, word),
            f"tc qdisc {root.get('kind', 'root')} {word}",
            why,
        )
        for word, counter in _COUNTED.items()
    )


def netem_in(reply: Reply) -> tuple[str, ...]:
    """The handle of each netem of a port, wherever it hangs; none where tc does not tell."""
    try:
        return tuple(str(q.get("handle")) for q in parse_tc_qdiscs(reply) if q["kind"] == NETEM)
    except (ToolMissing, CommandRejected):
        return ()


def netem_sentence(port: str, handles: tuple[str, ...]) -> str:
    """That packets are lost, doubled or delayed there on purpose; "" where no netem is."""
    if not handles:
        return ""
    return (
        f"netem {', '.join(handles)} at {port} delays, loses, doubles or reorders packets on "
        f"purpose, and what it doubles is in no counter: `tc qdisc show dev {port}`"
    )


def _root(reply: Reply) -> tuple[dict[str, Any], str]:
    try:
        roots = [qdisc for qdisc in parse_tc_qdiscs(reply) if qdisc.get("root")]
    except (ToolMissing, CommandRejected) as error:  # no tc, one without JSON, no right to ask
        return {}, error.problem
    if len(roots) != 1:
        return {}, f"tc shows {len(roots)} root qdiscs"
    if roots[0]["kind"] == _NO_QUEUE:
        return roots[0], "this port has no queue (qdisc noqueue)"
    return roots[0], ""


def _number(reply: Reply, qdisc: dict[str, Any], word: str) -> int:
    value = qdisc.get(word)
    if type(value) is not int or value < 0:  # bool is an int to isinstance
        refuse(reply, f"{word} should be a whole number, not {value!r}")
    return value
