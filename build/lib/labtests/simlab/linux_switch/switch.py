"""One emulated Linux switch: the shell of a Linux box, bridged ports, and the queues of each."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from hashlib import sha256

from labtests.inventory import Device, LinuxLab
from labtests.linuxlab.layout import switch_queues
from labtests.linuxlab.plan import BoxPort
from labtests.simlab.faults import UnknownFault
from labtests.simlab.lab import SimulatedLab
from labtests.simlab.linux import toolbox
from labtests.simlab.linux.calls import Tools
from labtests.simlab.linux.host import LinuxHost
from labtests.simlab.linux.options import NotEmulated
from labtests.simlab.linux.ports import NicPort
from labtests.simlab.linux.sysfs import CARRIER, STATISTICS
from labtests.simlab.linux_switch.arguments import Words
from labtests.simlab.linux_switch.binding import PortPlan, carry_out, classify, planned
from labtests.simlab.linux_switch.counting import QUEUES, Counting
from labtests.simlab.linux_switch.nodes import UNNAMED, PortTree, QdiscNode
from labtests.simlab.linux_switch.sysfs import populate
from labtests.simlab.linux_switch.tool import alter, tc
from labtests.simlab.losses import Fault
from labtests.simlab.refreshing import NOTHING, ShownCounters

BRIDGE = "br0"
_DEFAULT_LAB = LinuxLab(runner_address="", prefix_length=24)


class BridgePort(NicPort):
    """A port of the bridge. It has no NIC: its packets are counted by the network's switch."""

    __slots__ = ()

    @property
    def up(self) -> bool:
        """Whether there is a cable."""
        return self.speed_mbit_per_s >= 0


class LinuxSwitch(LinuxHost):
    """The switch: `trees` are its ports' queues, by interface."""

    def __init__(self, lab: SimulatedLab, device: Device) -> None:
        self.lab = lab
        self.network = lab.network.switch(device.name)
        self.shown = ShownCounters(self.network, lab.timeline, lab.faults[device.name].losses)
        super().__init__(lab, device)
        self.counting = Counting(self.shown, self.faults)
        self.trees: dict[str, PortTree] = {}
        self._plans: dict[str, PortPlan] = {}
        self.running = False
        self._map: tuple[int, ...] | None = None  # unless it is that of labtests linuxlab
        self.faults.on_loss.append(self.network.drop_randomly)
        self.faults.lost = lambda port, queue: (
            self.network.queue_counters(port)[queue].dropped_packets
        )
        self._boot()

    def make_ports(self, device: Device) -> tuple[NicPort, ...]:
        """See Machine."""
        settings = self.lab.testbed.linux_lab or _DEFAULT_LAB
        found = []
        for index, port in enumerate(device.ports):
            link = self.lab.testbed.link_of(port.endpoint)
            found.append(
                BridgePort(
                    index=index,
                    interface=port.interface,
                    rdma="",
                    address=None,
                    prefix_length=0,
                    mac=_mac(device.name, port.interface),
                    nic=None,
                    speed_mbit_per_s=link.speed_bits_per_s // 1_000_000 if link else -1,
                    faults=self.lab.faults[device.name],
                    mtu_bytes=settings.mtu_bytes,
                    attached=f"qdisc {'htb' if link else 'noqueue'} master {BRIDGE}",
                )
            )
        return tuple(found)

    def install(self) -> Tools:
        """See LinuxHost."""
        return {**toolbox.OF_ANY_BOX, "tc": partial(tc, self)}

    def populate(self) -> None:
        """See LinuxHost."""
        populate(self, self.shown)

    def hinder(self) -> None:
        """See LinuxHost: it has no NIC and runs no traffic."""
        self.faults.losses.acts["growing-counter"] = self._grow

    def _grow(self, fault: Fault) -> None:
        port, counter, by = str(fault["port"]), str(fault["counter"]), int(fault["by"])
        if self.port(port) is None or counter not in (*STATISTICS, *CARRIER):
            raise UnknownFault(f"{self.name} has no {port!r} with statistics/{counter}")
        self.faults.losses.grow(port, counter, lambda: by)

    @contextmanager
    def changing(self, interface: str) -> Iterator[PortTree]:
        """A copy of a port's tree, which takes its place, and effect, when the block ends without
        an error. Raises NotEmulated for what the network can not do; then nothing changes."""
        tree = self.trees[interface].copy()
        yield tree
        if not self.running:
            self.trees[interface] = tree
            return
        plan = planned(tree, self._rate_of(interface))
        if plan.dscp_map != self._plans[interface].dscp_map:
            raise NotEmulated("a classification that differs from port to port")
        if self.faults.lies:
            return
        carry_out(self.network, interface, plan, self._plans[interface])
        self.trees[interface], self._plans[interface] = tree, plan

    def _boot(self) -> None:
        """Ports get their queues, as `labtests linuxlab` makes them."""
        self.running = False
        settings = self.lab.testbed.linux_lab or _DEFAULT_LAB
        for port in self.ports:
            self.trees[port.interface] = PortTree()
            if port.interface not in self.network.ports:
                self.trees[port.interface].qdiscs.append(_noqueue())
                continue
            rate = self._rate_of(port.interface)
            plugged = BoxPort(interface=port.interface, mac=port.mac, rate_bits_per_s=rate)
            for line in self._lines(plugged, settings):
                self._do(port.interface, line)
            plan = planned(self.trees[port.interface], rate)
            carry_out(self.network, port.interface, plan, None)
            self.network.set_trust(port.interface, "dscp")
            classify(self.network, plan.dscp_map)
            self._plans[port.interface] = plan
        self.running = True

    def set_map(self, classes: tuple[int, ...]) -> None:
        """See LinuxHost: its filters are others from the start."""
        self._map = classes
        self._boot()

    def _lines(self, port: BoxPort, settings: LinuxLab) -> Iterator[str]:
        for line in switch_queues(port, settings, red=True):
            if self._map is None or not line.startswith("filter "):
                yield line
        for dscp, queue in enumerate(self._map or ()):
            yield (
                f"filter add dev {port.interface} parent 1: protocol ip prio 1 u32 "
                f"match ip dsfield {dscp << 2:#04x} 0xfc flowid 1:1{queue}"
            )

    def _do(self, interface: str, line: str) -> None:
        """A line of the boot script: `qdisc add dev IF ...`."""
        name, verb, _, _, *words = line.split()
        with self.changing(interface) as tree:
            alter(self, (interface, name, verb), tree, Words(words))

    def _rate_of(self, interface: str) -> int:
        device = self.lab.testbed.device(self.name)
        port = next(each for each in device.ports if each.interface == interface)
        link = self.lab.testbed.link_of(port.endpoint)
        assert link is not None, f"{interface} has no cable"
        return link.speed_bits_per_s

    def _reset_counters(self) -> None:
        for interface, tree in self.trees.items():
            for each in tree.qdiscs:
                each.born = self.counting.now(interface)

    def _lose_everything(self) -> None:
        super()._lose_everything()
        self._boot()


def _noqueue() -> QdiscNode:
    return QdiscNode(kind="noqueue", handle=UNNAMED, parent=None, made=0, born=(NOTHING,) * QUEUES)


def _mac(device: str, interface: str) -> str:
    """Locally administered, the same at every start."""
    digest = sha256(f"{device} {interface}".encode()).hexdigest()
    return ":".join(["02", *(digest[at : at + 2] for at in range(0, 10, 2))])
