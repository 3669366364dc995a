"""How any device suffers the faults of losses.py: bad cables, and people who give commands."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Protocol

from labtests.inventory import Endpoint, Testbed
from labtests.network import Network, Script
from labtests.simlab.face import Console, Face
from labtests.simlab.faults import DeviceFaults, Met, UnknownFault
from labtests.simlab.losses import Fault, Losses
from labtests.simlab.routes import Routes
from labtests.simlab.timeline import Timeline

NS_PER_MS = 1_000_000
COUNTED = ("fcs", "symbol", "fec", "nothing")
OF_HOSTS: Mapping[str, Mapping[str, int]] = {
    "symbol": {"rx_symbol_err_phy": 1, "rx_errors": 1},
    "fec": {"rx_pcs_symbol_err_phy": 1, "rx_corrected_bits_phy": 1000},
}
"""Counters of mlx5 that grow, and by how much a frame: FEC corrects many bits beside each block
that it cannot (how many is chosen)."""


class Unheard(Console):
    """A console that nobody looks at, of somebody who may do everything."""

    username, pty, width, height = "root", False, 80, 24
    congested = False
    on_line = on_key = on_question = on_data = on_eof = None
    on_interrupt = on_suspend = on_signal = None
    status = 0

    def write(self, text: str) -> None:
        """See Console."""

    def write_error(self, text: str) -> None:
        """See Console."""

    def exit(self, status: int) -> None:
        """See Console."""
        self.status = status


class CabledLab(Protocol):
    """The lab that it happens in."""

    testbed: Testbed
    network: Network
    timeline: Timeline
    routes: Routes
    faults: dict[str, DeviceFaults]
    devices: Mapping[str, Face]

    def pull(self, end: Endpoint, out: bool) -> None:
        """The cable is out at this end, and back again."""


class Mischief:
    """What may happen to one device. Its faults know of it from now on."""

    def __init__(self, lab: CabledLab, name: str) -> None:
        self._lab, self._name = lab, name
        self._bad: set[str] = set()  # ports whose cable loses frames
        losses = self._losses
        losses.acts |= {
            "lossy-cable": self._lose,
            "carrier-flap": self._flap,
            "somebody": self._command,
            "polarised-hash": self._polarise,
        }
        losses.on_heal.append(self._heal)

    @property
    def _losses(self) -> Losses:
        return self._lab.faults[self._name].losses

    def _plugged(self, fault: Fault) -> str:
        port = str(fault["port"])
        if not any((end.device, end.interface) == (self._name, port) for end in self._ends()):
            raise UnknownFault(f"{self._name} has no cable in {port!r}")
        return port

    def _ends(self) -> Any:
        return (end for link in self._lab.testbed.links for end in (link.a, link.b))

    def _lose(self, fault: Fault) -> Met:
        port, counted = self._plugged(fault), fault.get("counted", COUNTED[0])
        host = self._host_port(port)
        if counted not in COUNTED or (counted in OF_HOSTS and host is None):
            raise UnknownFault(f"errors of {self._name} {port} are not counted as {counted!r}")
        network = self._lab.network
        sender = network.opposite(self._name, port)
        before = network.lost_on_wire(*sender)

        def lost() -> int:
            return network.lost_on_wire(*sender) - before

        for name, each in OF_HOSTS.get(counted, {}).items():
            self._losses.grow(port, name, partial(_times, each, lost))
        if "frames" in fault:
            script = Script(
                damage="corrupted" if counted == "fcs" else "lost",
                last=int(fault["frames"]),
                from_ns=self._lab.timeline.now_ns,
            )
            network.impair(*sender, script)
        else:
            self._bad.add(port)
            network.damage_randomly(
                self._name, port, int(fault["per_million"]), corrupting=counted == "fcs"
            )
        damaged = self._damaged(port)
        return lambda: "" if lost() or self._damaged(port) > damaged else "no frame came by"

    def _damaged(self, port: str) -> int:
        """Frames that have come to this port with a wrong CRC."""
        if (host := self._host_port(port)) is not None:
            return int(host.counters().rx_crc_errors)
        return self._lab.network.switch(self._name).drop_counters(port).crc_errors

    def _flap(self, fault: Fault) -> None:
        port = self._plugged(fault)
        down_ns = round(float(fault["milliseconds"]) * NS_PER_MS)
        self._lab.pull(Endpoint(device=self._name, interface=port), out=True)
        for name in ("link_down_events_phy", "carrier_down_count"):
            self._losses.grow(port, name, lambda: 1)
        self._losses.grow(port, "carrier_changes", lambda: 1)
        began_ns = self._lab.timeline.now_ns
        self._lab.timeline.after(down_ns, partial(self._plug_in, port, began_ns))

    def _plug_in(self, port: str, since_ns: int) -> None:
        host = self._host_port(port)
        if host is not None:
            lost = host.programs.lose_written(since_ns)
            self._losses.grow(port, "tx_dropped", lambda: lost)
        for name in ("carrier_up_count", "carrier_changes"):
            self._losses.grow(port, name, lambda: 1)
        self._lab.pull(Endpoint(device=self._name, interface=port), out=False)

    def _host_port(self, port: str) -> Any:
        """The NIC, if this is one."""
        address = next(
            p.address for p in self._lab.testbed.device(self._name).ports if p.interface == port
        )
        return None if address is None else self._lab.network.nic(self._name, port)

    def _command(self, fault: Fault) -> Met:
        nobody, happened = Unheard(), self._lab.faults[self._name].happened
        before = happened["refused"]
        self._lab.devices[self._name].execute(str(fault["command"]), nobody)
        refused = happened["refused"] > before
        return lambda: "the device refused it" if refused or nobody.status else ""

    def _polarise(self, fault: Fault) -> Met:
        routes, name = self._lab.routes, self._name
        routes.polarised.add(name)
        routes.follow()
        return lambda: "" if name in routes.choices else "it has no two ways to anybody"

    def _heal(self) -> None:
        if self._name in self._lab.routes.polarised:
            self._lab.routes.polarised.discard(self._name)
            self._lab.routes.follow()
        for port in self._bad:
            self._lab.network.damage_randomly(self._name, port, 0, corrupting=False)
        self._bad.clear()


def _times(each: int, lost: Callable[[], int]) -> int:
    return each * lost()
