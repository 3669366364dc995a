"""Networks of any form, written as `h1-s1`: hosts begin with h, ports have the far end's name."""

from dataclasses import replace
from typing import Any

from labtests.network import (
    Cable,
    HostPort,
    Network,
    RcFlow,
    RcRequest,
    Routing,
    SwitchPort,
    UdpFlow,
    UdpRequest,
    Wiring,
)

GBIT = 1_000_000_000
NS_PER_MS = 1_000_000


def cable(link: str, gigabit: int = 100) -> Cable:
    """`h1-s1`: names with h are hosts; `h3` has 10.0.0.3. Ports are named by the far end."""
    here, there = link.split("-")

    def end(name: str, other: str) -> HostPort | SwitchPort:
        if name.startswith("h"):
            return HostPort(device=name, interface="e0", address=f"10.0.0.{name[1:]}")
        return SwitchPort(device=name, interface=other)

    rate = gigabit * GBIT
    return Cable(a=end(here, there), b=end(there, here), rate_bits_per_s=rate, length_m=5)


def wired(*links: str, routing: Routing | None = None, seed: int = 1) -> Network:
    """`a-b` each."""
    cables = tuple(cable(link) for link in links)
    network = Network(Wiring(cables=cables), seed=seed, routing=routing)
    network.start_jitter_ps = 0
    return network


def udp(network: Network, source: str, target: str, **more: Any) -> UdpFlow:
    request = UdpRequest(
        device=source,
        interface="e0",
        destination=f"10.0.0.{target[1:]}",
        tos=0,
        rate_bits_per_s=GBIT,
        datagram_bytes=1000,
    )
    return network.start_udp(replace(request, **more))


def rc(network: Network, source: str, target: str, **more: Any) -> RcFlow:
    request = RcRequest(device=source, interface="e0", destination=f"10.0.0.{target[1:]}", tos=0)
    return network.start_rc(replace(request, **more))
