"""A star of hosts around one switch, as small or large as a test wants it."""

from collections.abc import Callable
from dataclasses import dataclass

from labtests.network import (
    Cable,
    HostPort,
    Network,
    Nic,
    RcFlow,
    RcRequest,
    Switch,
    SwitchPort,
    TcpFlow,
    TcpRequest,
    UdpFlow,
    UdpRequest,
    Wiring,
)

NS_PER_MS = 1_000_000


def star_wiring(hosts: int, rate_bits_per_s: int, length_m: float) -> Wiring:
    return Wiring(
        cables=tuple(
            Cable(
                a=HostPort(device=f"host{i}", interface="e0", address=f"10.0.0.{i}"),
                b=SwitchPort(device="switch", interface=f"p{i}"),
                rate_bits_per_s=rate_bits_per_s,
                length_m=length_m,
            )
            for i in range(hosts)
        )
    )


@dataclass(frozen=True)
class Star:
    """Host 0 is the receiver of everything unless a test says otherwise."""

    network: Network
    hosts: int

    @property
    def switch(self) -> Switch:
        return self.network.switch("switch")

    def nic(self, host: int) -> Nic:
        return self.network.nic(f"host{host}", "e0")

    def trust_dscp(self) -> "Star":
        for i in range(self.hosts):
            self.nic(i).set_trust("dscp")
            self.switch.set_trust(f"p{i}", "dscp")
        return self

    def lossless(self, *priorities: int) -> "Star":
        chosen = frozenset(priorities or range(8))
        for i in range(self.hosts):
            self.nic(i).set_pfc(chosen)
            self.switch.set_pfc(f"p{i}", "on", chosen)
        return self

    def without_dcqcn(self) -> "Star":
        for i in range(self.hosts):
            for priority in range(8):
                self.nic(i).set_rp(priority, False)
                self.nic(i).set_np(priority, False)
        return self

    def rc(self, host: int, priority: int, to: int = 0, **more: object) -> RcFlow:
        return self.network.start_rc(
            RcRequest(
                device=f"host{host}",
                interface="e0",
                destination=f"10.0.0.{to}",
                tos=priority << 5,
                **more,  # type: ignore[arg-type]
            )
        )

    def udp(
        self, host: int, priority: int, rate: float, datagram_bytes: int = 65500, to: int = 0
    ) -> UdpFlow:
        return self.network.start_udp(
            UdpRequest(
                device=f"host{host}",
                interface="e0",
                destination=f"10.0.0.{to}",
                tos=priority << 5,
                rate_bits_per_s=rate,
                datagram_bytes=datagram_bytes,
            )
        )

    def tcp(
        self, host: int, priority: int, streams: int = 1, to: int = 0, *, ecn: bool = False
    ) -> TcpFlow:
        return self.network.start_tcp(
            TcpRequest(
                device=f"host{host}",
                interface="e0",
                destination=f"10.0.0.{to}",
                tos=priority << 5,
                streams=streams,
                ecn=ecn,
            )
        )

    def run_ms(self, duration_ms: float) -> None:
        self.network.advance_to(self.network.now_ns + round(duration_ms * NS_PER_MS))

    def goodput(self, flow: RcFlow | UdpFlow | TcpFlow, duration_ms: float) -> float:
        """Gbit/s of payload that arrives in the next `duration_ms`."""
        before = arrived(flow)
        self.run_ms(duration_ms)
        return (arrived(flow) - before) * 8 / duration_ms / 1e6


def arrived(flow: RcFlow | UdpFlow | TcpFlow) -> int:
    return flow.received_bytes if isinstance(flow, UdpFlow) else flow.delivered_bytes


Lab = Callable[..., Star]
