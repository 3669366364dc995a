"""Two kinds of toy devices, told apart by what they can do only."""

from types import SimpleNamespace

from labtests.capabilities.profile import Mtu

from labtests.capabilities.device import PriorityFlowControl, RdmaDevices, Trust
from labtests.capabilities.records import PfcSetting, TrustSetting
from labtests.core.errors import CommandRejected
from labtests.inventory import Device, Endpoint, Link, Management, Port, Testbed
from labtests.lab.lab import Lab


class Toy:
    """Settings by name and port; `sent` is everything that changed something."""

    def __init__(self, transport):
        self.state, self.sent, self.reads = {}, [], 0
        self.deaf, self.refuses, self.unread = set(), set(), {}
        transport.toy = self

    def read(self, name, port, default):
        self.reads += 1
        if name in self.unread:
            raise CommandRejected("toy", name, self.unread[name], "ask somebody")
        return self.state.get((name, port), default)

    def make(self, name, port, wanted):
        self.sent.append((name, port, wanted))
        if (name, wanted) in self.refuses:
            raise CommandRejected("toy", name, "% no", "ask somebody")
        if name not in self.deaf:
            self.state[name, port] = wanted


class Pfc(Toy, PriorityFlowControl):
    def pfc(self, port):
        return self.read("pfc", port, PfcSetting(mode="off", priorities=frozenset()))

    def pfc_commands(self, port, earlier, wanted):
        return () if earlier == wanted else (f"{port} pfc {sorted(wanted.priorities)}",)

    def set_pfc(self, port, wanted):
        self.make("pfc", port, wanted)


class Switch(Pfc, Trust):
    """PFC and trust; no ECN, no scheduler, no maps."""

    def trust(self, port):
        return self.read("trust", port, TrustSetting(source="none"))

    def trust_commands(self, port, earlier, wanted):
        return () if earlier == wanted else (f"{port} trust {wanted.source}",)

    def set_trust(self, port, wanted):
        self.make("trust", port, wanted)


class Host(Switch, Mtu, RdmaDevices):
    def rdma_links(self):
        return ()

    def mtu(self, port):
        return self.read("mtu", port, 1500)

    def mtu_commands(self, port, earlier, wanted):
        return () if earlier == wanted else (f"{port} mtu {wanted}",)

    def set_mtu(self, port, wanted):
        self.make("mtu", port, wanted)


class Transport:
    closed = False

    def close(self):
        self.closed = True


def toy_lab(monkeypatch, tmp_path):
    """Two hosts on a switch; port p9 of the switch has no cable."""
    drivers = {"host": Host, "switch": Switch}
    monkeypatch.setattr(
        "labtests.lab.lab.driver_module",
        lambda platform: SimpleNamespace(Driver=drivers[platform], SESSION="toy"),
    )

    def device(name, platform, *ports):
        made = tuple(Port(device=name, interface=port) for port in ports)
        return Device(name=name, platform=platform, management=Management(host=name), ports=made)

    devices = (device("A", "host", "e0"), device("B", "host", "e0"))
    devices += (device("S", "switch", "p1", "p2", "p9"),)
    links = tuple(
        Link(
            a=Endpoint(device=host, interface="e0"),
            b=Endpoint(device="S", interface=port),
            speed_bits_per_s=25 * 10**9,
            length_m=3.0,
        )
        for host, port in (("A", "p1"), ("B", "p2"))
    )
    testbed = Testbed(name="toys", file=tmp_path / "toys.yaml", devices=devices, links=links)
    transports = {device.name: Transport() for device in devices}
    clock = SimpleNamespace(now_s=lambda: 1.0)
    lab = Lab(testbed, transports, clock=clock, backend="simulated")
    return lab, {name: transport.toy for name, transport in transports.items()}
