"""/sys and /proc of an emulated Linux switch: what its kernel has, and what its ports count."""

from collections.abc import Callable, Mapping
from functools import partial

from labtests.simlab.linux.machine import Machine
from labtests.simlab.linux.ports import NicPort
from labtests.simlab.linux.sysfs import add_interface, populate_system
from labtests.simlab.linux_switch.counting import FCS_BYTES
from labtests.simlab.refreshing import ShownCounters
from labtests.simlab.tree import File

MODULES = ("sch_red", "sch_netem", "cls_u32", "sch_htb", "bridge", "veth")
_VETH_MBIT_PER_S = 10_000  # what the driver veth claims for any cable


def populate(box: Machine, network: ShownCounters) -> None:
    """The box's tree has all its files."""
    populate_system(box)
    modules = "".join(f"{name} 16384 1 - Live 0x0000000000000000\n" for name in MODULES)
    box.tree.add("/proc/modules", File(read=lambda: modules))
    for port in box.ports:
        constants = {"speed": str(_VETH_MBIT_PER_S), "brport/port_no": f"{port.index + 1:#x}"}
        add_interface(box, port, constants, partial(_statistic, network, port))


def _statistic(network: ShownCounters, port: NicPort, name: str) -> Callable[[], str]:
    def read() -> str:
        grown = port.faults.losses.grown(port.interface, name)
        return f"{_counted(network, port.interface).get(name, 0) + grown}\n"

    return read


def _counted(network: ShownCounters, interface: str) -> Mapping[str, int]:
    """Those of the net device that move. What its queues drop is counted in none of them."""
    frames, errors = network.port_counters(interface), network.drop_counters(interface).crc_errors
    return {
        "rx_packets": frames.rx_packets,
        "rx_bytes": frames.rx_bytes - FCS_BYTES * frames.rx_packets,
        "tx_packets": frames.tx_packets,
        "tx_bytes": frames.tx_bytes - FCS_BYTES * frames.tx_packets,
        "rx_errors": errors,
        "rx_crc_errors": errors,
    }
