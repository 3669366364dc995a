"""The counters of a net device: /sys/class/net/IF/statistics (Linux, Documentation/ABI/testing/
sysfs-class-net-statistics), and whatever its driver adds in `ethtool -S`.

`rx_packets`, `tx_packets`, `rx_bytes` and `tx_bytes` are the neutral names of counters.py. The
kernel does not see what a NIC moves by RDMA, so where the driver counts at the wire (`..._phy`),
that is what these four are.
"""

import re

from labtests import counters as c
from labtests.drivers.linux.ethtool import unit_of
from labtests.drivers.linux.session import HostSession
from labtests.drivers.linux.sysfs import those_readable
from labtests.reading import refuse, whole_number
from labtests.records import Reading
from labtests.transport import Reply

_FILE = re.compile(r"^/sys/class/net/[^/]+/(?:statistics/)?(\w+)$")
_ALWAYS = (c.RX_PACKETS, c.TX_PACKETS, c.RX_BYTES, c.TX_BYTES)
_AT_THE_WIRE = {name: f"{name}_phy" for name in _ALWAYS}
_RING = re.compile(r"^(?:qos_|ptp_)?(?:rx|tx|ch|cq)[0-9]+_|^[rt]x_queue_[0-9]+_|^\[[0-9]+\]")
_NO_COUNTERS = frozenset({"peer_ifindex"})  # veth: the number of the other end
_IN_PACKETS = re.compile(r"^(?:[rt]x_(?:dropped|compressed|nohandler)|multicast)$")

ERRORS = ("rx_errors", "rx_crc_errors", "rx_frame_errors", "tx_errors", "tx_carrier_errors")
LINK_DOWN = "carrier_down_count"  # Linux 4.16; beside the folder, and not on every kernel


class PortCounters(HostSession):
    """What the kernel counts on a port."""

    def _net_statistics(self, port: str) -> tuple[Reply, dict[str, int]]:
        reply = self._run(statistics_command(self._interface(port)))
        own = parse_net_statistics(reply)
        if not own:
            self._no_interface(reply.command, port)
        return reply, own


def statistics_command(interface: str) -> str:
    """Reads all of it, of an interface that is safe in a shell."""
    folder = f"/sys/class/net/{interface}"
    return f"grep -s -H . {folder}/statistics/* {folder}/{LINK_DOWN}"


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


def net_readings(
    reply: Reply, port: str, own: dict[str, int], more: tuple[Reply, dict[str, int]] | None
) -> tuple[Reading, ...]:
    """The kernel's counters, then those of the driver (`more`: answer and values of ethtool) but
    for single rings. Of two that have one name, the kernel's."""
    found = {name: _reading(reply, port, name, (f"statistics {name}", own[name])) for name in own}
    if more is None:
        return tuple(found.values())
    answer, extra = more
    for name, value in extra.items():
        if name not in found and name not in _NO_COUNTERS and not _RING.match(name):
            found[name] = _reading(answer, port, name, (f"ethtool -S {name}", value))
    for name, wire in _AT_THE_WIRE.items():
        if wire in extra:
            found[name] = _reading(answer, port, name, (f"ethtool -S {wire}", extra[wire]))
    return tuple(found.values())


def error_readings(reply: Reply, port: str, own: dict[str, int]) -> tuple[Reading, ...]:
    """What a bad cable, plug or port does, and how often the link went down where that is told."""
    names = [*ERRORS, LINK_DOWN] if LINK_DOWN in own else ERRORS
    return tuple(
        _reading(reply, port, name, (f"statistics {name}", own.get(name))) for name in names
    )


def _reading(reply: Reply, port: str, name: str, told: tuple[str, int | None]) -> Reading:
    source, value = told
    return Reading(
        device=reply.device,
        port=port,
        scope="port",
        index=None,
        counter=name,
        unit="packets" if _IN_PACKETS.match(name) else unit_of(name),
        value=value,
        time_s=reply.time_s,
        source=source,
        missing="" if value is not None else f"there is no {source}",
    )
