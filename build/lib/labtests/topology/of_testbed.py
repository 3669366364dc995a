"""The fabric of a testbed file: its switches, cables and hosts.

A testbed file says nothing of routes nor of PFC: routes are all shortest paths, for which of equal
ones a real switch takes is not known; PFC is taken for on, unless somebody knows better.
"""

from collections.abc import Iterator, Mapping
from types import MappingProxyType

from labtests.core.errors import InventoryError
from labtests.drivers import driver_module
from labtests.inventory import Endpoint, Readable, Testbed
from labtests.inventory.document import read_file
from labtests.topology.fabric import Fabric, Priorities, SwitchCable, Ways

PRIORITY = 3
"""The lossless one unless others are named."""
NOTHING: Mapping[tuple[str, str], Priorities] = MappingProxyType({})


def fabric_of(
    testbed: Testbed,
    *,
    everywhere: Priorities = frozenset({PRIORITY}),
    lossless: Mapping[tuple[str, str], Priorities] = NOTHING,
    ways: Ways = "ecmp",
) -> Fabric:
    """Of a testbed. `lossless`: priorities with PFC of single ports, by (device, interface)."""
    switches = switches_of(testbed)
    cables = tuple(
        SwitchCable(
            switches=(link.a.device, link.b.device),
            ports=(link.a.interface, link.b.interface),
            bits_per_s=link.speed_bits_per_s,
            length_m=link.length_m,
        )
        for link in testbed.links
        if link.a.device in switches and link.b.device in switches
    )
    return Fabric(
        name=testbed.name,
        switches=switches,
        cables=cables,
        hosts={str(host): switch for host, switch in _plugged(testbed, switches)},
        ways=ways,
        everywhere=everywhere,
        lossless=lossless,
        unplugged=tuple(
            f"{link.a} - {link.b}"
            for link in testbed.links
            if not {link.a.device, link.b.device} & {*switches}
        ),
    )


def switches_of(testbed: Testbed) -> tuple[str, ...]:
    """The names of its switches."""
    return tuple(
        device.name for device in testbed.devices if driver_module(device.platform).KIND == "switch"
    )


def _plugged(testbed: Testbed, switches: tuple[str, ...]) -> Iterator[tuple[Endpoint, str]]:
    for link in testbed.links:
        for host, peer in ((link.a, link.b), (link.b, link.a)):
            if host.device not in switches and peer.device in switches:
                yield host, peer.device


def expect_wired(testbed: Testbed) -> None:
    """There are switches, and every host is plugged into one. Raises InventoryError with each that
    is not, and its place."""
    switches = switches_of(testbed)
    plugged = {host.device for host, _ in _plugged(testbed, switches)}
    mistakes = read_file(Readable(testbed.file)).mistakes
    if not switches:
        mistakes.add(("devices",), "there is no switch: no buffers that could wait", key=True)
    for device in testbed.devices:
        if switches and device.name not in {*switches, *plugged}:
            problem = f"host {device.name} has no cable to a switch: add it to `links`"
            mistakes.add(("devices", device.name), problem, key=True)
    if lines := mistakes.lines():
        raise InventoryError(lines)
