"""Compiling the packet network ahead of time, so that the first dry run need not wait for it."""

from labtests.simlab.network import Cable, HostPort, Network, SwitchPort, UdpRequest, Wiring


def warm() -> None:
    """The compiled network is in the on-disk cache (some seconds the first time, then none)."""
    ends = [
        (HostPort(device=name, interface="eth0", address=f"192.0.2.{number}"), f"port{number}")
        for number, name in enumerate(("sender", "receiver"), start=1)
    ]
    cables = tuple(
        Cable(
            a=host,
            b=SwitchPort(device="switch", interface=port),
            rate_bits_per_s=10_000_000_000,
            length_m=1.0,
        )
        for host, port in ends
    )
    network = Network(Wiring(cables=cables), seed=1)
    flow = UdpRequest(
        device="sender",
        interface="eth0",
        destination="192.0.2.2",
        tos=0,
        rate_bits_per_s=1_000_000_000,
    )
    network.start_udp(flow).stop()
    network.advance_to(1_000)
