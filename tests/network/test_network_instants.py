"""What happens at one and the same moment, and what is changed while things are under way."""

import pytest
from network_star import Star, star_wiring

from labtests.network import (
    Cable,
    GroupMemory,
    HostPort,
    Network,
    PauseTiming,
    RcRequest,
    Routing,
    SwitchMemory,
    SwitchPort,
    Tunnel,
    Wiring,
)

GIGABIT = 10**9
TIGHT = SwitchMemory(xoff_cells=16, xon_offset_cells=6)


def incast(hosts: int, memory: SwitchMemory = TIGHT, *, length_m: float = 0.5) -> Star:
    network = Network(star_wiring(hosts, 100 * GIGABIT, length_m), seed=7, memory=memory)
    return Star(network=network, hosts=hosts).trust_dscp().lossless(3, 5)


def heard(lab: Star, host: int) -> int:
    return lab.nic(host).flow_control.counters().rx_frames


def told(lab: Star, host: int) -> int:
    return lab.switch.flow_control(f"p{host}").counters().tx_frames


def test_a_packet_that_leaves_at_once_is_no_reason_for_two_frames():
    """Its group stops and may go on in the same moment: one frame says how it stands then."""
    lab = incast(2, SwitchMemory(xoff_cells=10, xon_offset_cells=0))
    lab.rc(1, 3, messages=3, mtu_bytes=4096)
    lab.run_ms(0.1)
    assert heard(lab, 1) == 48


def test_a_cut_sends_nothing_before_time_goes_on():
    lab = incast(4)
    for host in (1, 2, 3):
        for priority in (3, 5):
            lab.rc(host, priority)
    lab.run_ms(0.03)
    before = [told(lab, host) for host in (1, 2, 3)]
    assert sum(before) > 50
    lab.network.cut("host0", "e0")
    assert [told(lab, host) for host in (1, 2, 3)] == before
    lab.run_ms(0.003)
    after = [told(lab, host) for host in (1, 2, 3)]
    assert max(b - a for a, b in zip(before, after, strict=True)) == 1  # both priorities in one


def test_no_pause_crosses_a_link_that_is_cut_at_the_same_moment():
    lab = incast(4)
    for host in (1, 2, 3):
        lab.rc(host, 3)
    lab.run_ms(0.03)
    lab.switch.flow_control("p1").storm(frozenset({3}))
    lab.network.cut("host0", "e0")
    lab.network.cut("host1", "e0")
    before = heard(lab, 1)
    lab.run_ms(0.003)
    assert heard(lab, 1) == before


@pytest.mark.parametrize("ready_ns", [0, 1000], ids=["looks for a frame", "becomes ready"])
def test_a_pause_that_comes_as_the_last_one_ends_makes_one_of_two(ready_ns):
    lab = incast(2)
    lab.switch.flow_control("p1").storm(frozenset({3}), quanta=1000, period_us=5.12)
    lab.network.advance_to(ready_ns)
    lab.rc(1, 3)
    lab.network.advance_to(6_000)  # behind the first two frames
    sent = lab.nic(1).counters().tx_packets[3]
    lab.network.advance_to(90_000)
    assert lab.nic(1).counters().tx_packets[3] == sent


def test_a_stop_does_not_overtake_a_frame_that_has_not_taken_effect():
    """The response is set to 0 while an xon waits for its time; then comes a stop."""
    memory = SwitchMemory(xoff_cells=16, xon_offset_cells=6, headroom_cells=15000)
    lab = incast(2, memory, length_m=2000)
    lab.rc(1, 3, tx_depth=2000)
    nic, port = lab.nic(1).flow_control, lab.switch.flow_control("p1")
    nic.set_timing(PauseTiming(response_ns=40_000))
    port.storm(frozenset({3}), quanta=0, period_us=1000)
    lab.network.advance_to(1_000)
    port.end_storm()
    lab.network.advance_to(11_000)
    nic.set_timing(PauseTiming())
    port.storm(frozenset({3}), period_us=1000)
    lab.network.advance_to(12_000)
    port.end_storm()
    lab.network.advance_to(18_000)
    lab.nic(0).flow_control.storm(frozenset({3}))
    lab.network.advance_to(70_000)
    assert lab.nic(1).counters().tx_packets[3] > 400  # the xon, taking effect later, lets it go on


def tunnelled() -> Network:
    def host(number: int) -> HostPort:
        return HostPort(device=f"h{number}", interface="e0", address=f"10.0.0.{number}")

    def port(switch: str, number: int) -> SwitchPort:
        return SwitchPort(device=switch, interface=f"p{number}")

    pairs = (
        (host(0), port("a", 0)),
        (port("a", 1), port("m", 0)),
        (port("m", 1), port("b", 0)),
        (port("b", 1), host(1)),
        (host(2), port("b", 2)),
    )
    cables = (Cable(a=a, b=b, rate_bits_per_s=10 * GIGABIT, length_m=100) for a, b in pairs)
    routing = Routing(tunnels=(Tunnel(between=("a", "b")),))
    return Network(Wiring(cables=tuple(cables)), seed=1, routing=routing)


@pytest.mark.parametrize("after", [Routing(), Routing(tunnels=(Tunnel(between=("m", "a")),))])
def test_packets_in_a_tunnel_that_is_no_more_have_no_route_at_its_end(after):
    network = tunnelled()
    flow = network.start_rc(
        RcRequest(device="h0", interface="e0", destination="10.0.0.1", tos=0, messages=50)
    )
    network.advance_to(100_000)
    network.reroute(after)
    network.advance_to(50_000_000)
    assert network.tables.switch.used_cells.tolist() == [0, 0, 0]
    lost = network.tables.port.no_route_drops.tolist()
    assert sum(lost) == lost[5] > 0  # b's port towards m
    assert flow.delivered_bytes == 50 * 65536


def test_less_of_its_own_makes_what_a_group_holds_shared():
    lab = incast(3, SwitchMemory())
    for host in (1, 2):
        lab.rc(host, 3, messages=100)
    lab.network.advance_to(20_000)
    before = lab.switch.memory_use().shared_used_cells
    lab.switch.set_thresholds("p1", 3, GroupMemory(guaranteed_cells=0))
    assert lab.switch.memory_use().shared_used_cells > before
    lab.run_ms(20)
    assert lab.switch.memory_use().shared_used_cells == lab.switch.memory_use().used_cells == 0
