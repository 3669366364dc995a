"""The ports of a Linux switch themselves: links, errors, versions, clock; as on any Linux box."""

from dataclasses import replace

from labtests.capabilities.device import Versions
from labtests.capabilities.facts import LinkFacts, PortTelemetry
from labtests.capabilities.readings import Reading
from labtests.drivers.linux.host import IPROUTE2, KERNEL, versions_of
from labtests.drivers.linux.links import Cables
from labtests.transport.asking import Asking

FRAME_BEYOND_IP_BYTES = 22
"""A bridge passes frames of MTU + Ethernet header 14 + VLAN tag 4 (Linux, is_skb_forwardable), and
the checksum 4 that it does not count."""


class Ports(Cables, PortTelemetry, Versions):
    """LinkState, LinkErrors, PortTelemetry, OwnClock by ip, sysfs, ethtool, date; Versions."""

    def port_counters(self, port: str) -> Asking[tuple[Reading, ...]]:
        """Of its net device: what it counts is in no queue."""
        return self._kernel_counters(port)

    def link(self, port: str) -> Asking[LinkFacts]:
        """As of any port; its MTU limits the frames that pass."""
        facts = yield from super().link(port)
        frame_bytes = None if facts.mtu_bytes is None else facts.mtu_bytes + FRAME_BEYOND_IP_BYTES
        return replace(facts, mtu_bytes=None, frame_bytes=frame_bytes)

    def versions(self) -> Asking[dict[str, str]]:
        """Of the kernel, whose queues these are, and of tc."""
        return versions_of({"kernel": KERNEL, "iproute2": IPROUTE2})
