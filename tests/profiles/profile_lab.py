"""Two kinds of toy devices, told apart by what they can do only."""

from types import SimpleNamespace

from toys import ToyBox, ToySetting, platform, toy_driver

from labtests.capabilities.device import RdmaDevices
from labtests.capabilities.records import PfcSetting, TrustSetting
from labtests.capabilities.settings import MTU, PFC, TRUST
from labtests.inventory import Device, Endpoint, Link, Management, Port, Testbed
from labtests.lab.lab import Lab
from labtests.transport.asking import known

OFF = PfcSetting(mode="off", priorities=frozenset())


class Links(RdmaDevices):
    def rdma_links(self):
        return known(())


def settings_of(box, kind):
    """PFC and trust; a host has an MTU too. No ECN, no scheduler, no maps."""
    yield ToySetting(box, PFC, OFF, lambda wanted: sorted(wanted.priorities))
    yield ToySetting(box, TRUST, TrustSetting(source="none"), lambda wanted: wanted.source)
    if kind == "host":
        yield ToySetting(box, MTU, 1500, str)


def toy_lab(monkeypatch, tmp_path):
    """Two hosts on a switch; port p9 of the switch has no cable."""
    boxes = {name: ToyBox(name) for name in "ABS"}

    def module(kind):
        parts = (Links(),) if kind == "host" else ()

        def driver_of(device, ports=()):
            return toy_driver(boxes[device], *settings_of(boxes[device], kind), parts=parts)

        return platform(driver_of, kind)

    for place in ("labtests.lab.lab", "labtests.profile.wanted"):
        monkeypatch.setattr(f"{place}.driver_module", module)

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
    clock = SimpleNamespace(now_s=lambda: 1.0)
    return Lab(testbed, boxes, clock=clock, backend="simulated"), boxes
