"""The counters of a net device: /sys/class/net/IF/statistics (Linux, Documentation/ABI/testing/
sysfs-class-net-statistics), and whatever its driver adds in `ethtool -S`.

The kernel's names are the neutral names of counters.py. The kernel does not see what a NIC moves by
RDMA, so where the driver counts at the wire (`..._phy`), that is what is read.
"""

import re
from collections.abc import Iterable
from dataclasses import replace

from labtests.capabilities import counters as c
from labtests.capabilities.readings import Reading
from labtests.core.errors import ToolMissing
from labtests.drivers.linux.ethtool import AT_THE_WIRE, unit_of
from labtests.drivers.linux.session import HostPart
from labtests.drivers.linux.sysfs import those_readable
from labtests.drivers.parsing import refuse, whole_number
from labtests.drivers.readings import Answered
from labtests.transport.asking import Asking, ask
from labtests.transport.commands import Shell, program, script
from labtests.transport.protocol import Reply

_FILE = re.compile(r"^/sys/class/net/[^/]+/(?:statistics/)?(\w+)$")
_ALWAYS = (c.RX_PACKETS, c.TX_PACKETS, c.RX_BYTES, c.TX_BYTES)
_WIRE_WORDS = {f"{name}_phy": (name, unit_of(name)) for name in _ALWAYS} | AT_THE_WIRE
_RING = re.compile(r"^(?:qos_|ptp_)?(?:rx|tx|ch|cq)[0-9]+_|^[rt]x_queue_[0-9]+_|^\[[0-9]+\]")
_NO_COUNTERS = frozenset({"peer_ifindex"})  # veth: the number of the other end
_IN_PACKETS = re.compile(r"^(?:[rt]x_(?:dropped|compressed|nohandler|\w*errors)|multicast)$")
# beside the folder, and not on every kernel: since Linux 4.16 and 3.15
_OF_THE_CARRIER = {"carrier_down_count": c.LINK_DOWNS, "carrier_changes": c.CARRIER_CHANGES}

ERRORS = (
    c.RX_ERRORS,
    c.RX_CRC_ERRORS,
    c.RX_FRAME_ERRORS,
    c.TX_ERRORS,
    c.TX_CARRIER_ERRORS,
    c.LINK_DOWNS,
)
"""What a bad cable, plug or port does, as a kernel counts it."""
_DROPS = (
    c.NET_RX_DROPPED,
    c.NET_TX_DROPPED,
    c.RX_MISSED_ERRORS,
    c.RX_FIFO_ERRORS,
    c.RX_OVERRUNS,
    c.TX_FIFO_ERRORS,
    c.TX_ABORTED_ERRORS,
)
_LOSSES = tuple(name for name in (*ERRORS, *_DROPS) if name != c.LINK_DOWNS)


class PortStatistics(HostPart):
    """What the kernel counts on a port."""

    def _net_statistics(self, port: str) -> Asking[tuple[Reply, dict[str, int]]]:
        reply = yield from ask(statistics_command(self._interface(port)))
        own = parse_net_statistics(reply)
        if not own:
            self._no_interface(reply.command, port)
        return reply, own

    def _kernel_counters(self, port: str) -> Asking[tuple[Reading, ...]]:
        """What is beside a driver's or a queue's own counters; None where it cannot be read."""
        reply = yield from ask(statistics_command(self._interface(port)))
        try:
            own = parse_net_statistics(reply)
        except ToolMissing:
            own = {}
        return kernel_readings(reply, port, own)


def statistics_command(interface: str) -> Shell:
    """Reads all of it."""
    folder = f"/sys/class/net/{interface}"
    carrier = [f"{folder}/{name}" for name in _OF_THE_CARRIER]
    return script("grep -s -H . FOLDER/statistics/* CARRIER", FOLDER=folder, CARRIER=carrier)


def driver_command(interface: str) -> Shell:
    """Reads what its driver counts."""
    return program("ethtool", "-S", interface)


def parse_net_statistics(reply: Reply) -> dict[str, int]:
    """Name -> value; empty when there is no such interface."""
    found: dict[str, int] = {}
    for path, text in those_readable(reply).items():
        match = _FILE.match(path)
        if match is None:
            refuse(reply, f"{path} is not a counter of an interface")
        found[match[1]] = whole_number(reply, text, match[1])
    if found and (lacking := [name for name in _ALWAYS if name not in found]):
        refuse(reply, f"{lacking[0]} is missing")
    return found


def kernel_readings(reply: Reply, port: str, own: dict[str, int]) -> tuple[Reading, ...]:
    """The kernel's counters. Each that can mean a loss is there: None where it is not counted."""
    names = [name for name in own if name not in _OF_THE_CARRIER]
    names += [name for name in _LOSSES if name not in own]
    told = {name: (f"statistics {name}", own.get(name)) for name in names}
    told |= {name: (file, own.get(file)) for file, name in _OF_THE_CARRIER.items()}
    return tuple(_reading(reply, port, name, each) for name, each in told.items())


def net_readings(
    reply: Reply, port: str, own: dict[str, int], more: tuple[Reply, dict[str, int]] | None
) -> tuple[Reading, ...]:
    """The kernel's counters, then those of the driver (`more`: answer and values of ethtool) but
    for single rings. Of two that have one name, the one at the wire, else the kernel's."""
    found = {reading.counter: reading for reading in kernel_readings(reply, port, own)}
    if more is None:
        return tuple(found.values())
    answer, extra = more
    for word, value in extra.items():
        told = (f"ethtool -S {word}", value)
        if word in _WIRE_WORDS:
            name, unit = _WIRE_WORDS[word]
            found[name] = replace(_reading(answer, port, name, told), unit=unit)
        elif word not in found and word not in _NO_COUNTERS and not _RING.match(word):
            found[word] = _reading(answer, port, word, told)
    return tuple(found.values())


def error_readings(readings: Iterable[Reading]) -> tuple[Reading, ...]:
    """What a bad cable, plug or port does, and how often the link went down where that is told."""
    return tuple(
        each
        for each in readings
        if each.counter in ERRORS and (each.value is not None or each.counter != c.LINK_DOWNS)
    )


def _reading(reply: Reply, port: str, name: str, told: tuple[str, int | None]) -> Reading:
    source, value = told
    unit = "packets" if _IN_PACKETS.match(name) else unit_of(name)
    return Answered(reply, port).reading((name, unit), value, source, f"there is no {source}")
