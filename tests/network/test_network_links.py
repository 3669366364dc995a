"""Links: exact times at any rate, loss and corruption by script, VXLAN tunnels, down and up."""

from fractions import Fraction

import pytest
from network_wired import GBIT, NS_PER_MS, rc, udp, wired

from labtests.network import (
    Cable,
    HostPort,
    Network,
    Routing,
    Script,
    Tunnel,
    UdpRequest,
    Wiring,
    WredCurve,
)

NS_PER_US = 1000
RATES = (1, 2.5, 5, 10, 25, 40, 50, 100, 200, 400, 800)
LINE = ("h1-s1", "s1-h2")


def pair(rate_bits_per_s: int) -> Network:
    """Two hosts and a cable."""
    ends = [HostPort(device=f"h{n}", interface="e0", address=f"10.0.0.{n}") for n in (1, 2)]
    cable = Cable(a=ends[0], b=ends[1], rate_bits_per_s=rate_bits_per_s, length_m=0)
    network = Network(Wiring(cables=(cable,)), seed=1)
    network.start_jitter_ps = 0
    return network


@pytest.mark.parametrize("gigabit", [*RATES, 30, 56, 3.3, 99.999])
def test_frames_back_to_back_take_their_exact_time(gigabit: float) -> None:
    rate = round(gigabit * GBIT)
    network = pair(rate)
    network.start_udp(
        UdpRequest(
            device="h1",
            interface="e0",
            destination="10.0.0.2",
            tos=0,
            rate_bits_per_s=2 * rate,
            datagram_bytes=1472,
            send_queue_datagrams=2**16,
        )
    )
    for time_us in (50, 333, 1000):
        network.advance_to(time_us * NS_PER_US)
        port = network.tables.port[0]
        frame_ps = Fraction(1538 * 8 * 10**12, rate)
        begun = time_us * 10**6 // frame_ps + 1
        assert network.port_counters("h1", "e0").tx_packets == begun
        assert int(port.busy_until) == begun * frame_ps // 1


def test_a_rate_that_no_link_has_is_refused() -> None:
    with pytest.raises(ValueError, match="not a rate of 1M to 8T"):
        pair(999_999)


# -- scripts -------------------------------------------------------------------------------------


@pytest.mark.parametrize("damage", ["lost", "corrupted"])
def test_exactly_the_frames_of_the_script_are_hit(damage: str) -> None:
    network = wired(*LINE)
    for number in (3, 7):
        script = Script(damage=damage, frames="data", first=number, last=number)  # type: ignore[arg-type]
        network.impair("s1", "h2", script)
    flow = udp(network, "h1", "h2")
    network.advance_to(NS_PER_MS // 10)
    flow.stop()
    network.advance_to(NS_PER_MS)
    assert flow.sent_datagrams > 10
    assert flow.lost_datagrams == 2
    lost, corrupted = (2, 0) if damage == "lost" else (0, 2)
    assert network.lost_on_wire("s1", "h2") == lost
    assert network.nic("h2", "e0").counters().rx_crc_errors == corrupted
    assert network.switch("s1").drop_counters("h1").crc_errors == 0


def test_a_switch_counts_corrupted_frames_and_does_not_forward_them() -> None:
    network = wired(*LINE)
    network.impair("h1", "e0", Script(damage="corrupted", first=2, every=2))
    flow = udp(network, "h1", "h2")
    network.advance_to(NS_PER_MS)
    flow.stop()
    network.advance_to(2 * NS_PER_MS)
    counters = network.switch("s1").port_counters("h1")
    assert network.switch("s1").drop_counters("h1").crc_errors == flow.sent_datagrams // 2
    assert counters.rx_packets == flow.received_datagrams == -(-flow.sent_datagrams // 2)


def test_a_script_lasts_from_one_time_to_another() -> None:
    network = wired(*LINE)
    network.impair("s1", "h2", Script(from_ns=100_000, until_ns=180_000))
    flow = udp(network, "h1", "h2")  # one datagram in 8 us
    network.advance_to(NS_PER_MS)
    flow.stop()
    network.advance_to(2 * NS_PER_MS)
    assert flow.lost_datagrams == 10


@pytest.mark.parametrize(("frames", "resent"), [("data", True), ("control", False)])
def test_a_lost_data_packet_is_sent_again_and_a_lost_ack_is_not(frames: str, resent: bool) -> None:
    network = wired(*LINE)
    sender = ("h1", "e0") if frames == "data" else ("h2", "e0")
    network.impair(*sender, Script(frames=frames, first=5, last=5))  # type: ignore[arg-type]
    flow = rc(network, "h1", "h2", message_bytes=4096, messages=50)
    network.advance_to(NS_PER_MS)
    assert flow.messages_completed == 50
    assert (flow.retransmitted_packets > 0) is resent
    assert network.nic("h1", "e0").counters().packet_seq_err == int(resent)


@pytest.mark.parametrize(
    "values", [{"first": 0}, {"first": 3, "last": 2}, {"every": 0}, {"from_ns": 5, "until_ns": 5}]
)
def test_a_script_that_cannot_be_is_refused(values: dict[str, int]) -> None:
    with pytest.raises(ValueError, match=r"frames are counted|lasts some time"):
        Script(**values)  # type: ignore[arg-type]


# -- tunnels -------------------------------------------------------------------------------------

CHAIN = ("h1-s1", "h3-s1", "s1-s2", "s2-s3", "s3-h2")


def tunnelled(**copies: bool) -> Network:
    """h1 and h3 send to h2 through a tunnel from s1 to s3; s2 marks on its way to s3."""
    routing = Routing(tunnels=(Tunnel(between=("s1", "s3"), **copies),))
    network = wired(*CHAIN, routing=routing)
    for name in ("s1", "s2", "s3"):
        for port in network.switch(name).ports:
            network.switch(name).set_trust(port, "dscp")
    for host in ("h1", "h2", "h3"):
        network.nic(host, "e0").set_trust("dscp")
    return network


def marking(network: Network) -> None:
    """Every packet that is in s2's queues towards s3 is picked."""
    for queue in range(8):
        curve = WredCurve(low_limit=0, high_limit=0, weighting_exponent=0, ecn=True)
        network.switch("s2").set_wred("s3", queue, curve)


def test_a_tunnel_adds_50_bytes_between_its_ends_only() -> None:
    network = tunnelled()
    flow = rc(network, "h1", "h2", message_bytes=1024, messages=100)
    network.advance_to(NS_PER_MS)
    assert flow.messages_completed == 100
    sizes = {
        (switch, port): counters.rx_bytes // counters.rx_packets
        for switch, port in (("s1", "h1"), ("s2", "s1"), ("s3", "s2"), ("s3", "h2"), ("s2", "s3"))
        if (counters := network.switch(switch).port_counters(port))
    }
    assert sizes == {
        ("s1", "h1"): 1086,
        ("s2", "s1"): 1136,
        ("s3", "s2"): 1136,
        ("s3", "h2"): 66,
        ("s2", "s3"): 116,
    }
    assert sum(network.nic("h2", "e0").counters().rx_bytes) == 100 * 1086


def test_class_and_marks_survive_a_tunnel() -> None:
    network = tunnelled()
    marking(network)
    flow = rc(network, "h1", "h2", tos=3 << 5, message_bytes=1024, messages=100)
    network.advance_to(20 * NS_PER_MS)
    assert flow.messages_completed == 100
    queues = network.switch("s2").queue_counters("s3")
    assert [queue.forwarded_packets for queue in queues] == [0, 0, 0, 100, 0, 0, 0, 0]
    assert queues[3].marked_packets == network.nic("h2", "e0").counters().np_ecn_marked == 100


@pytest.mark.parametrize(
    ("left_out", "queue", "marked", "dropped", "seen"),
    [
        ("copy_dscp", 0, True, False, True),
        ("copy_ecn", 3, False, True, False),
        ("copy_back", 3, True, False, False),
    ],
)
def test_what_is_not_copied_does_harm(
    left_out: str, queue: int, marked: bool, dropped: bool, seen: bool
) -> None:
    network = tunnelled(**{left_out: False})
    marking(network)
    rc(network, "h1", "h2", tos=3 << 5, message_bytes=1024, messages=20)
    network.advance_to(NS_PER_MS)
    counters = network.switch("s2").queue_counters("s3")[queue]
    assert (counters.marked_packets > 0) is marked
    assert (counters.wred_dropped_packets > 0) is dropped
    assert (network.nic("h2", "e0").counters().np_ecn_marked > 0) is seen


def test_ecmp_inside_a_tunnel_goes_by_the_inner_flow() -> None:
    routing = Routing(ways="ecmp", tunnels=(Tunnel(between=("s1", "s3")),))
    network = wired("h1-s1", "s1-s2", "s2-s3", "s1-s4", "s4-s3", "s3-h2", routing=routing)
    flow = rc(network, "h1", "h2", qps=64, message_bytes=4096, messages=1)
    network.advance_to(NS_PER_MS)
    assert flow.messages_completed == 64
    ways = [network.switch(name).port_counters("s1").rx_packets for name in ("s2", "s4")]
    assert sum(ways) == 64 * 4
    assert min(ways) > 16 * 4
    assert all(packets % 4 == 0 for packets in ways)


@pytest.mark.parametrize("between", [("s1", "s1"), ("s1", "h2")])
def test_a_tunnel_is_between_two_switches(between: tuple[str, str]) -> None:
    with pytest.raises(ValueError, match="a tunnel is between two switches"):
        wired(*LINE, routing=Routing(tunnels=(Tunnel(between=between),)))
