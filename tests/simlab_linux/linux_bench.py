"""A lab of emulated hosts on a fluid network: no packets, so that tests are about the hosts."""

import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

from labtests.inventory import Device, Endpoint, Link, Management, Port, Testbed, Vlan
from labtests.network import NicCounters, RcRequest, TcpRequest, UdpRequest
from labtests.network.settings import NP_DEFAULTS, RP_DEFAULTS
from labtests.simlab import lab as lab_module

GBIT = 10**9
TRANSCRIPTS = Path(__file__).parents[1] / "transcripts" / "linux-face"
NAMES = ("ServerA", "ServerB", "ServerC")
INTERFACE = "enp3s0f0np0"


class FluidNic:
    """Settings as on the real Nic; counters that a test may set."""

    def __init__(self) -> None:
        self.pfc: frozenset[int] = frozenset()
        self.trust = "pcp"
        self.dscp_map = tuple(dscp >> 3 for dscp in range(64))
        self.rp_enabled = self.np_enabled = frozenset(range(8))
        self.dcqcn_rp, self.dcqcn_np = dict(RP_DEFAULTS), dict(NP_DEFAULTS)
        eights = dict.fromkeys(
            ("rx_packets", "tx_packets", "rx_bytes", "tx_bytes", "pfc_rx_frames", "pfc_tx_frames"),
            (0,) * 8,
        )
        eights |= dict.fromkeys(("pfc_rx_pause_us", "pfc_rx_transitions"), (0,) * 8)
        required = [
            field.name
            for field in NicCounters.__dataclass_fields__.values()
            if field.name not in eights and field.default.__class__.__name__ == "_MISSING_TYPE"
        ]
        self.values: dict[str, Any] = {**eights, **dict.fromkeys(required, 0)}

    def counters(self) -> NicCounters:
        return NicCounters(**self.values)

    def set_pfc(self, priorities: frozenset[int]) -> None:
        self.pfc = priorities

    def set_random_gap(self, share: float) -> None:
        self.random_gap = share

    def set_trust(self, trust: str) -> None:
        self.trust = trust

    def set_dscp(self, dscp: int, priority: int) -> None:
        entries = list(self.dscp_map)
        entries[dscp] = priority
        self.dscp_map = tuple(entries)

    def set_rp(self, priority: int, enabled: bool) -> None:
        self.rp_enabled = (self.rp_enabled - {priority}) | ({priority} if enabled else set())

    def set_np(self, priority: int, enabled: bool) -> None:
        self.np_enabled = (self.np_enabled - {priority}) | ({priority} if enabled else set())

    def set_dcqcn(self, side: str, name: str, value: int) -> None:
        (self.dcqcn_rp if side == "roce_rp" else self.dcqcn_np)[name] = value


class FluidFlow:
    """Carries bits at a constant rate until it is stopped."""

    def __init__(self, request: Any, rate_bits_per_s: float) -> None:
        self.request = request
        self.rate_bits_per_s = rate_bits_per_s
        self.bits = 0.0
        self.stopped = False
        self.error_status: int | None = None
        self.loss = 0.0

    def advance(self, duration_ns: int) -> None:
        if not self.stopped:
            self.bits += self.rate_bits_per_s * duration_ns / 1e9

    def stop(self) -> None:
        self.stopped = True

    @property
    def done(self) -> bool:
        return self.stopped

    @property
    def delivered_bytes(self) -> int:
        return round(self.sent_bytes * (1 - self.loss))

    @property
    def sent_bytes(self) -> int:
        size = self._unit
        return int(self.bits / 8 + 1e-6) // size * size

    @property
    def _unit(self) -> int:
        return int(
            getattr(self.request, "message_bytes", getattr(self.request, "datagram_bytes", 1448))
        )

    @property
    def messages_completed(self) -> int:
        limit = getattr(self.request, "messages", None)
        count = self.sent_bytes // self._unit
        return count if limit is None else min(count, limit * self.request.qps)

    sent_datagrams = property(lambda self: self.sent_bytes // self._unit)
    received_datagrams = property(lambda self: round(self.sent_datagrams * (1 - self.loss)))
    received_bytes = property(lambda self: self.received_datagrams * self._unit)
    lost_datagrams = property(lambda self: self.sent_datagrams - self.received_datagrams)
    under_way_datagrams = 0
    acked_bytes = property(lambda self: self.sent_bytes)
    retransmits = 0


class FluidNetwork:
    """The facade of the packet network with flows of constant rates."""

    RATE_BITS_PER_S = 9.26 * GBIT

    def __init__(self, wiring: Any, *, seed: int, memory: Any = None) -> None:
        self.now_ns = 0
        self.nics = {
            (end.device, end.interface): FluidNic()
            for cable in wiring.cables
            for end in (cable.a, cable.b)
            if hasattr(end, "address")
        }
        self.flows: list[FluidFlow] = []

    def nic(self, device: str, interface: str) -> FluidNic:
        return self.nics[device, interface]

    def advance_to(self, time_ns: int) -> None:
        for flow in self.flows:
            flow.advance(time_ns - self.now_ns)
        self.now_ns = time_ns

    def start_rc(self, request: RcRequest) -> FluidFlow:
        return self._start(request, self.RATE_BITS_PER_S)

    def start_udp(self, request: UdpRequest) -> FluidFlow:
        return self._start(request, min(request.rate_bits_per_s, 9.5 * GBIT))

    def start_tcp(self, request: TcpRequest) -> FluidFlow:
        return self._start(request, 9.4 * GBIT)

    def _start(self, request: Any, rate_bits_per_s: float) -> FluidFlow:
        flow = FluidFlow(request, rate_bits_per_s)
        self.flows.append(flow)
        return flow


class FakeConsole:
    """An SSH session as the face sees it."""

    def __init__(self, *, pty: bool = False, username: str = "root") -> None:
        self.pty, self.username = pty, username
        self.width, self.height = 80, 24
        self.congested = False
        self.out = self.err = ""
        self.status: int | None = None
        self.on_line: Any = None
        self.on_key: Any = None
        self.on_data: Any = None
        self.on_eof: Any = None
        self.on_interrupt: Any = None
        self.on_signal: Any = None

    def write(self, text: str) -> None:
        self.out += text

    def write_error(self, text: str) -> None:
        if self.pty:
            self.out += text
        else:
            self.err += text

    def exit(self, status: int) -> None:
        assert self.status is None, "exited twice"
        self.status = status


class Hands:
    """A lab and what one does with it."""

    def __init__(self, lab: lab_module.SimulatedLab) -> None:
        self.lab = lab

    def run(self, command: str, device: str = "ServerA", **console: Any) -> FakeConsole:
        session = FakeConsole(**console)
        self.lab.devices[device].execute(command, session)
        return session

    def output(self, command: str, device: str = "ServerA") -> str:
        session = self.run(command, device)
        assert (session.status, session.err) == (0, ""), (session.status, session.err)
        return session.out

    def advance(self, seconds: float) -> None:
        self.lab.advance(round(seconds * 1e9))

    def nic(self, device: str = "ServerA") -> FluidNic:
        nic: Any = self.lab.network.nic(device, INTERFACE)
        return nic  # type: ignore[no-any-return]


def three_servers(*, unplugged: bool = False, vlan: Vlan | None = None) -> Testbed:
    """ServerA, B, C on one switch at 10 Gb/s; each may have a second port without a cable."""
    hosts = []
    for number, name in enumerate(NAMES):
        port = Port(
            device=name,
            interface=INTERFACE,
            rdma="mlx5_0",
            address=f"192.168.10.1{number}",
            prefix_length=24,
            vlan=vlan,
        )
        spare = Port(device=name, interface="enp3s0f1np1")
        hosts.append(
            Device(
                name=name,
                platform="connectx",
                management=Management(host="server.example", user="root"),
                ports=(port, spare) if unplugged else (port,),
            )
        )
    switch_ports = tuple(Port(device="Switch", interface=f"WGE1/0/{n}") for n in range(len(NAMES)))
    switch = Device(
        name="Switch",
        platform="comware",
        management=Management(host="switch.example"),
        ports=switch_ports,
    )
    links = tuple(
        Link(
            a=Endpoint(device=name, interface=INTERFACE),
            b=port.endpoint,
            speed_bits_per_s=10 * GBIT,
            length_m=3,
        )
        for name, port in zip(NAMES, switch_ports, strict=True)
    )
    return Testbed(name="three", file=Path("three.yaml"), devices=(*hosts, switch), links=links)


def without_switch_face(device: Device, real: Callable[[Device], Any]) -> Any:
    if device.platform == "comware":
        face = types.SimpleNamespace(user="admin")
        return types.SimpleNamespace(KIND="switch", face=lambda lab, device: face)
    return real(device)


def transcript(name: str) -> str:
    """A recording without its header: lines `$ command` and `# source` come first."""
    lines = (TRANSCRIPTS / f"{name}.txt").read_text("utf-8").splitlines(keepends=True)
    while lines and lines[0].startswith(("$ ", "# ")):
        lines.pop(0)
    return "".join(lines)
