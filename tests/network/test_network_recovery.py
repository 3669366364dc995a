"""Selective repeat delivers every byte once, in order, whatever is lost or overtaken; packet delays
are those of the wire."""

from typing import Any

import pytest
from network_star import star_wiring

from labtests.network import Cable, HostPort, Network, RcRequest, Routing, SwitchPort, Wiring

SENDER = {"device": "host1", "interface": "e0", "destination": "10.0.0.0", "tos": 3 << 5}
GBIT = 10**9


def sent(per_million: int, size: int, seed: int = 1, **more: Any) -> Any:
    network = Network(star_wiring(2, 25 * GBIT, 5), seed=seed)
    for host in ("host0", "host1"):
        network.damage_randomly(host, "e0", per_million, corrupting=False)
    given = {"recovery": "selective", "nak_repeat_us": 30, "timeout_exponent": 6} | more
    flow = network.start_rc(RcRequest(**SENDER, size_bytes=size, **given))
    network.advance_to(500_000_000)
    return flow


@pytest.mark.parametrize("per_million", [0, 1_000, 30_000, 200_000])
@pytest.mark.parametrize("size", [1, 1500, 70_001, 6_000_000])
@pytest.mark.parametrize("message", [65536, 10_000_000])
def test_every_byte_arrives_whatever_is_lost(per_million: int, size: int, message: int) -> None:
    flow = sent(per_million, size, message_bytes=message)
    assert flow.done
    assert flow.error_status is None
    assert flow.delivered_bytes == size
    assert flow.messages_completed == -(-size // message)


def test_only_what_was_lost_is_sent_again() -> None:
    packets = 20_000_000 / 1024
    for per_million in (1_000, 10_000):
        again = sent(per_million, 20_000_000, verb="write").retransmitted_packets
        share = per_million / 1e6
        assert again == pytest.approx(packets * share, abs=5 * (packets * share) ** 0.5)
    back = sent(10_000, 20_000_000, recovery="go-back-n").retransmitted_packets
    assert back > 3 * again


def test_a_flow_has_a_window_no_longer_than_itself() -> None:
    network = Network(star_wiring(2, 25 * GBIT, 5), seed=1)
    network.damage_randomly("host1", "e0", 50_000, corrupting=False)
    sizes = [1, 1024, 1025, 4095 * 1024, 4096 * 1024, 6_000_000] * 10
    flows = [
        network.start_rc(
            RcRequest(**SENDER, size_bytes=size, recovery="selective", nak_repeat_us=30)
        )
        for size in sizes
    ]
    assert len(network.tables.segment) <= 2 * sum(min(-(-n // 1024) + 1, 4096) for n in sizes)
    network.advance_to(500_000_000)
    assert [flow.delivered_bytes for flow in flows] == sizes


@pytest.mark.parametrize("verb", ["send", "write"])
def test_acks_may_come_often(verb: Any) -> None:
    flow = sent(10_000, 3_000_000, verb=verb, ack_every_packets=4)
    assert flow.delivered_bytes == 3_000_000


def test_what_cannot_be_is_refused() -> None:
    for more in ({"verb": "read"}, {"go_back": "message"}):
        with pytest.raises(ValueError, match="selective repeat is for send and write"):
            RcRequest(**SENDER, recovery="selective", **more)  # type: ignore[arg-type]


def two_ways(ways: Any) -> Network:
    """host1 - s1 = (m1 | m2) = s2 - host0; the way through m2 is longer."""
    ends = [
        (("host1", "10.0.0.1"), "s1", 5.0),
        (("host0", "10.0.0.0"), "s2", 5.0),
    ]
    cables = [
        Cable(
            a=HostPort(device=host, interface="e0", address=address),
            b=SwitchPort(device=switch, interface=host),
            rate_bits_per_s=25 * GBIT,
            length_m=length,
        )
        for (host, address), switch, length in ends
    ]
    for middle, length in (("m1", 5.0), ("m2", 300.0)):
        for switch in ("s1", "s2"):
            cables.append(
                Cable(
                    a=SwitchPort(device=switch, interface=middle),
                    b=SwitchPort(device=middle, interface=switch),
                    rate_bits_per_s=25 * GBIT,
                    length_m=length,
                )
            )
    return Network(Wiring(cables=tuple(cables)), seed=1, routing=Routing(ways=ways))


@pytest.mark.parametrize(
    ("recovery", "reorder", "again"),
    [("go-back-n", 0, True), ("selective", 0, True), ("selective", 64, False)],
)
def test_sprayed_packets_overtake_each_other(recovery: Any, reorder: int, again: bool) -> None:
    network = two_ways("spray")
    flow = network.start_rc(
        RcRequest(**SENDER, size_bytes=2_000_000, recovery=recovery, reorder_packets=reorder)
    )
    network.advance_to(200_000_000)
    used = [network.switch(name).port_counters("s2").tx_packets for name in ("m1", "m2")]
    assert min(used) > 0.4 * sum(used)
    assert flow.delivered_bytes == 2_000_000
    assert (flow.retransmitted_packets > 0) == again


def test_sprayed_packets_leave_out_a_link_that_is_down() -> None:
    network = two_ways("spray")
    network.cut("s1", "m1")
    flow = network.start_rc(
        RcRequest(**SENDER, size_bytes=500_000, recovery="selective", reorder_packets=64)
    )
    network.advance_to(100_000_000)
    assert flow.delivered_bytes == 500_000
    assert network.switch("m1").port_counters("s2").tx_packets == 0


def test_delays_are_those_of_the_wire() -> None:
    network = Network(star_wiring(2, 25 * GBIT, 100), seed=1)
    network.count_delays()
    network.start_rc(RcRequest(**SENDER, size_bytes=1024 * 64))
    network.advance_to(50_000_000)
    there, back = network.delays(0), network.delays(0, round_trips=True)
    assert there is not None
    assert back is not None
    frame_us, ack_us = 1106 * 8 / 25e3, 86 * 8 / 25e3
    one_way_us = 2 * (frame_us + 0.5)
    assert there.packets == 64
    assert there.longest_us == pytest.approx(one_way_us, abs=1e-6)
    assert there.mean_us == pytest.approx(one_way_us, abs=1e-3)
    assert there.percentiles_us["50"] == pytest.approx(one_way_us, rel=0.01)
    assert back.packets == 1
    assert back.longest_us == pytest.approx(one_way_us + 2 * (ack_us + 0.5), abs=1e-6)
    assert network.delays(5) is None
