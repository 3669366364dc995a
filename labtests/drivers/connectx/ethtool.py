"""`ethtool -S IF` of an mlx5 port.

Names and meanings: Linux kernel, Documentation/networking/device_drivers/ethernet/mellanox/mlx5/
counters.rst. Values are cumulative since the driver was loaded. The pause counters of a priority
exist only while PFC is enabled on it: a missing name means "not enabled", never 0.
"""

import re

from labtests.capabilities import counters as c
from labtests.capabilities.readings import Reading
from labtests.drivers.linux.ethtool import AT_THE_WIRE, parse_ethtool_statistics, unit_of
from labtests.drivers.parsing import incomplete, refuse
from labtests.drivers.readings import Answered
from labtests.transport.protocol import Reply

PRIORITIES = range(8)

# Per priority, with {p} for its number: device's word -> neutral name and unit.
_PER_PRIORITY = {
    "rx_prio{p}_packets": (c.RX_PACKETS, "packets"),
    "tx_prio{p}_packets": (c.TX_PACKETS, "packets"),
    "rx_prio{p}_bytes": (c.RX_BYTES, "bytes"),
    "tx_prio{p}_bytes": (c.TX_BYTES, "bytes"),
    "rx_prio{p}_discards": (c.RX_DISCARDED_PACKETS, "packets"),
}
_PFC = {
    "rx_prio{p}_pause": (c.PFC_RX_FRAMES, "frames"),
    "tx_prio{p}_pause": (c.PFC_TX_FRAMES, "frames"),
    "rx_prio{p}_pause_duration": (c.PFC_RX_PAUSE_US, "us"),
    "tx_prio{p}_pause_duration": (c.PFC_TX_PAUSE_US, "us"),
    "rx_prio{p}_pause_transition": (c.PFC_RX_TRANSITIONS, "events"),
}
# Only where several hosts share the NIC: elsewhere these are not there, and cannot lose anything.
_SHARED = {
    "rx_prio{p}_buf_discard": (c.RX_BUFFER_DISCARDED_PACKETS, "packets"),
    "rx_prio{p}_cong_discard": (c.RX_CONGESTION_DISCARDED_PACKETS, "packets"),
}
_PER_PORT = AT_THE_WIRE | {
    "rx_discards_phy": (c.NIC_RX_DISCARDED_PACKETS, "packets"),
    "tx_discards_phy": (c.NIC_TX_DISCARDED_PACKETS, "packets"),
    "rx_out_of_buffer": (c.NIC_OUT_OF_BUFFER_PACKETS, "packets"),
    "rx_oversize_pkts_phy": (c.RX_OVERSIZE_PACKETS, "packets"),
    "rx_undersize_pkts_phy": (c.RX_UNDERSIZE_PACKETS, "packets"),
    "rx_fragments_phy": (c.RX_FRAGMENTS, "packets"),
    "rx_jabbers_phy": (c.RX_JABBERS, "packets"),
    "rx_buff_alloc_err": (c.NIC_RX_ALLOCATION_ERRORS, "packets"),
    "rx_wqe_err": (c.NIC_RX_DESCRIPTOR_ERRORS, "packets"),
    "tx_queue_dropped": (c.NIC_TX_QUEUE_DROPPED, "packets"),
    "rx_pause_ctrl_phy": (c.PAUSE_RX_FRAMES, "frames"),
    "tx_pause_ctrl_phy": (c.PAUSE_TX_FRAMES, "frames"),
    "tx_pause_storm_warning_events": (c.PAUSE_STORM_WARNINGS, "events"),
    "tx_pause_storm_error_events": (c.PAUSE_STORM_ERRORS, "events"),
}
_ALWAYS = ("rx_prio{p}_packets", "tx_prio{p}_packets", "rx_prio{p}_bytes", "tx_prio{p}_bytes")

_PRIORITY_NAME = re.compile(r"^([rt]x)_prio([0-7])_(\w+)$")
_AFTER_PAUSE = "module_unplug"  # of the group that the driver prints after those of priorities
_RING = re.compile(r"^(?:qos_|ptp_)?(?:rx|tx|ch|cq)[0-9]+_")


def nic_readings(reply: Reply, port: str) -> tuple[Reading, ...]:
    """Every counter of an mlx5 port: by priority, then of the port.

    Counters that counters.py has no name for keep the device's word. Left out are those of single
    rings (rx0_…, tx3_…, ch2_…): the driver sums them under the name without a number.
    """
    statistics = _mlx5_statistics(reply)
    made = _priority_readings(reply, port, statistics, _PER_PRIORITY)
    made += pause_readings(reply, port, statistics)
    shared = _priority_readings(reply, port, statistics, _SHARED)
    made += [reading for reading in shared if reading.value is not None]
    for name, (counter, unit) in _PER_PORT.items():
        made.append(_reading(reply, port, name, (counter, unit, None), statistics))
    known = {reading.source.removeprefix("ethtool -S ") for reading in made}
    for name in statistics:
        if name not in known and not _RING.match(name):
            made.append(_reading(reply, port, name, _named_by_the_device(name), statistics))
    return tuple(made)


def pfc_readings(reply: Reply, port: str) -> tuple[Reading, ...]:
    """The five PFC counters of each of the eight priorities; None where PFC is not enabled."""
    return tuple(pause_readings(reply, port, _mlx5_statistics(reply)))


def pause_readings(reply: Reply, port: str, statistics: dict[str, int]) -> list[Reading]:
    """As pfc_readings, from statistics that have been read already."""
    return _priority_readings(reply, port, statistics, _PFC)


def _mlx5_statistics(reply: Reply) -> dict[str, int]:
    # Every mlx5 physical function shows all 32 of these. Another vendor's port, a virtual function,
    # an output that is filtered or cut does not, and must not look like "PFC is not enabled".
    statistics = parse_ethtool_statistics(reply)
    needed = [name.format(p=p) for p in PRIORITIES for name in _ALWAYS]
    lacking = [name for name in needed if name not in statistics]
    if len(lacking) == len(needed):
        refuse(
            reply,
            f"these are not the counters of an mlx5 physical port (no {needed[0]})",
            "name the physical port of a ConnectX in the testbed file; a NIC of another vendor "
            "needs a driver of its own under labtests/drivers",
        )
    if lacking:
        incomplete(reply, f"{lacking[0]} is missing")
    return statistics


def _priority_readings(
    reply: Reply, port: str, statistics: dict[str, int], table: dict[str, tuple[str, str]]
) -> list[Reading]:
    return [
        _reading(reply, port, name.format(p=p), (counter, unit, p), statistics)
        for p in PRIORITIES
        for name, (counter, unit) in table.items()
    ]


def _reading(
    reply: Reply,
    port: str,
    name: str,
    meaning: tuple[str, str, int | None],
    statistics: dict[str, int],
) -> Reading:
    counter, unit, priority = meaning
    at = Answered(reply, port, "port" if priority is None else "priority", priority)
    missing = "" if name in statistics else _why_missing(name, statistics)
    return at.reading((counter, unit), statistics.get(name), f"ethtool -S {name}", missing)


def _why_missing(name: str, statistics: dict[str, int]) -> str:
    match = _PRIORITY_NAME.match(name)
    if match is None or not match[3].startswith("pause"):
        return f"ethtool shows no {name}"
    siblings = [f"{side}_prio{match[2]}_pause" for side in ("rx", "tx")]
    if any(sibling in statistics for sibling in siblings):
        return f"PFC is enabled on priority {match[2]}, but ethtool shows no {name}"
    if _AFTER_PAUSE not in statistics:
        return f"ethtool shows no {name}, nor anything that comes after it: the answer may be cut"
    why = f"PFC is not enabled on priority {match[2]} (ethtool shows no {name})"
    if "rx_global_pause" in statistics:
        why += "; the port uses global pause (802.3x) instead"
    return why


def _named_by_the_device(name: str) -> tuple[str, str, int | None]:
    match = _PRIORITY_NAME.match(name)
    if match:
        return f"{match[1]}_prio_{match[3]}", unit_of(name), int(match[2])
    return name, unit_of(name), None
