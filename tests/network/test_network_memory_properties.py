"""Random small networks of several switches: every packet is somewhere, memory adds up, order."""

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from network_random import (
    GBIT,
    MEMORY,
    NETWORK,
    NS_PER_US,
    Case,
    cables_of,
    network_of,
    set_red,
    started,
)
from network_star import Star, star_wiring

from labtests.core.headroom import HeadroomLink, headroom_bound_cells
from labtests.network import Network, PauseTiming, SwitchMemory
from labtests.network.tables import NONE, UDP_FRAGMENT

NS_PER_M = 5
ROCE_HEADER_BYTES = 62
FULL_FRAME_BYTES = 1518
SMALLEST_ON_WIRE_BYTES = 84


# -- what always holds -----------------------------------------------------------------------------


def check_links(network: Network) -> None:
    """What one end sent the other has received, or it is lost, or on the cable that can hold it."""
    for cable in network.wiring.cables:
        for end, other in ((cable.a, cable.b), (cable.b, cable.a)):
            sender = network.port_counters(end.device, end.interface)
            receiver = network.port_counters(other.device, other.interface)
            lost = network.lost_on_wire(end.device, end.interface)
            under_way = sender.tx_packets - receiver.rx_packets - lost
            delay_bytes = cable.length_m * NS_PER_M * cable.rate_bits_per_s / 8e9
            assert 0 <= under_way <= delay_bytes / SMALLEST_ON_WIRE_BYTES + 2


def check_switch(network: Network, name: str) -> None:
    """Every packet that came in went out, was dropped in one place, or is queued."""
    switch, use = network.switch(name), network.switch(name).memory_use()
    queues = [queue for port in switch.ports for queue in switch.queue_counters(port)]
    traffic = [switch.port_counters(port) for port in switch.ports]
    drops = [switch.drop_counters(port) for port in switch.ports]
    dropped = sum(queue.dropped_packets for queue in queues)
    lost_way = sum(drop.ttl_drops + drop.no_route_drops for drop in drops)
    arrived, sent = sum(t.rx_packets for t in traffic), sum(t.tx_packets for t in traffic)
    assert arrived == sent + dropped + lost_way + sum(queue.length_packets for queue in queues)
    places = sum(d.input_drops + d.output_buffer_drops + d.wred_drops for d in drops)
    assert dropped == places + sum(d.link_down_drops + d.watchdog_drops for d in drops)
    assert use.used_cells == sum(queue.length_cells for queue in queues) <= use.peak_used_cells
    assert use.peak_used_cells <= use.total_cells
    guaranteed = network.memory[name].egress_guaranteed_cells
    assert all(0 <= queue.lossy_cells <= queue.length_cells for queue in queues)
    if network.memory[name].egress_alpha is not None:
        lossy = sum(max(0, queue.lossy_cells - guaranteed) for queue in queues)
        assert use.egress_shared_used_cells == lossy <= use.egress_shared_cells


def check_groups(network: Network, name: str) -> None:
    """What the groups hold adds up to what the switch says is taken, part by part."""
    switch, use = network.switch(name), network.switch(name).memory_use()
    memory = network.memory[name]
    shared = headroom = pool = guaranteed = 0
    for port in switch.ports:
        for priority, group in enumerate(switch.group_counters(port)):
            lane = network.tables.lane[network.queue_row(name, port, priority)]
            assert 0 <= group.shared_used_cells <= group.peak_shared_cells <= use.shared_cells
            assert 0 <= group.pool_used_cells <= group.headroom_used_cells
            assert group.headroom_used_cells <= group.peak_headroom_cells
            assert group.headroom_used_cells - group.pool_used_cells <= lane.headroom_cells
            assert group.lossless or group.headroom_used_cells == group.headroom_drops == 0
            own = int(lane.ingress_cells) - group.shared_used_cells
            assert 0 <= own <= (memory.group(priority).guaranteed_cells or 0)
            shared += group.shared_used_cells
            headroom += group.headroom_used_cells
            pool += group.pool_used_cells
            guaranteed += own
    assert use.shared_used_cells == shared <= use.shared_cells
    assert use.headroom_pool_used_cells == pool <= use.peak_headroom_pool_cells
    assert use.peak_headroom_pool_cells <= use.headroom_pool_cells
    assert use.used_cells == shared + headroom + guaranteed


def check_order(network: Network) -> None:
    """In every queue of a switch the fragments of a UDP flow stand in the order they were sent."""
    t = network.tables
    for name in network.memory:
        for port in network.switch(name).ports:
            for queue in range(8):
                latest: dict[int, tuple[int, int]] = {}
                k = int(t.queue[network.queue_row(name, port, queue)].head)
                while k != NONE:
                    packet = t.packet[k]
                    number = (int(packet.psn), int(packet.part))
                    if packet.kind == UDP_FRAGMENT:
                        assert latest.get(int(packet.flow), (-1, 0)) < number
                        latest[int(packet.flow)] = number
                    k = int(packet.next)


def check(network: Network) -> None:
    check_links(network)
    check_order(network)
    for name in network.memory:
        check_switch(network, name)
        check_groups(network, name)


@settings(
    max_examples=50, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
@given(
    NETWORK,
    MEMORY,
    st.sets(st.integers(0, 5)),
    st.sampled_from([None, False, True]),
    st.booleans(),
)
def test_at_any_moment_every_packet_is_somewhere_and_the_memory_adds_up(
    case: Case, memory: SwitchMemory, lossless: set[int], red: bool | None, cut: bool
) -> None:
    network = network_of(case, memory, lossless)
    if red is not None:
        set_red(network, ecn=red)
    flows = started(network, case)
    for number, moment_us in enumerate(case["moments_us"]):
        network.advance_to(network.now_ns + moment_us * NS_PER_US)
        check(network)
        if cut and number in (1, 2):
            (network.cut if number == 1 else network.restore)("h0", "e0")
            check(network)
    for flow in flows:
        flow.stop()
    network.advance_to(network.now_ns + 2 * 10**9)
    assert network.idle
    check(network)
    for name in network.memory:
        use = network.switch(name).memory_use()
        assert use.used_cells == use.egress_shared_used_cells == 0


# -- headroom --------------------------------------------------------------------------------------


def out_of_order(network: Network, hosts: int) -> int:
    nics = [network.nic(f"h{number}", "e0").counters() for number in range(hosts)]
    return sum(nic.out_of_sequence + nic.ip_reasm_fails for nic in nics)


@settings(
    max_examples=30, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
@given(NETWORK, st.sampled_from([0, 400, 2000]), st.booleans())
def test_with_headroom_by_the_bound_nothing_lossless_is_dropped_and_all_stays_in_order(
    case: Case, response_ns: int, pooled: bool
) -> None:
    """Frames of all sizes from 64 B on, in any direction, over several switches."""
    cables = tuple(cables_of(case))
    need = max(
        headroom_bound_cells(
            HeadroomLink(
                rate_bits_per_s=cable.rate_bits_per_s,
                delay_s=cable.length_m / 2e8,
                response_s=response_ns * 1e-9,
            ),
            FULL_FRAME_BYTES,
            smallest_bytes=64,
        )
        for cable in cables
    )
    groups = 8 * 2 * len(cables)  # of which those at hosts are none of a switch
    memory = SwitchMemory(
        total_bytes=208 * (groups * (need + 8) + 800),
        xon_offset_cells=20,
        headroom_cells=0 if pooled else need,
        headroom_pool_cells=groups * need if pooled else 0,
        headroom_pool_limit_cells=need,
    )
    network = network_of(case, memory, set(range(8)))
    timing = PauseTiming(response_ns=response_ns)
    for number in range(len(case["hosts"])):
        network.nic(f"h{number}", "e0").flow_control.set_timing(timing)
    for name in network.memory:
        for port in network.switch(name).ports:
            network.switch(name).flow_control(port).set_timing(timing)
    started(network, case)
    network.advance_to(1_500_000)
    check(network)
    for name in network.memory:
        switch = network.switch(name)
        for port in switch.ports:
            assert sum(queue.dropped_packets for queue in switch.queue_counters(port)) == 0
            assert all(g.peak_headroom_cells <= need for g in switch.group_counters(port))
    assert out_of_order(network, len(case["hosts"])) == 0


INCAST = st.fixed_dictionaries(
    {
        "senders": st.integers(4, 7),
        "rate": st.sampled_from([25, 100]),
        "length_m": st.sampled_from([100, 400]),
        "mtu": st.sampled_from([256, 1024, 4096]),
        "response_ns": st.sampled_from([0, 700]),
        "seed": st.integers(0, 9),
    }
)


def incast(case: Case, share: float) -> tuple[Star, int]:
    """All send to host 0, frames of one size; headroom is this share of the bound, in cells."""
    senders, rate = case["senders"], case["rate"] * GBIT
    hop = HeadroomLink(
        rate_bits_per_s=rate,
        delay_s=case["length_m"] / 2e8,
        response_s=case["response_ns"] * 1e-9,
    )
    bound = headroom_bound_cells(hop, case["mtu"] + ROCE_HEADER_BYTES)
    headroom = int(share * bound)
    memory = SwitchMemory(
        total_bytes=208 * ((senders + 1) * (8 * 8 + headroom) + 2000),
        headroom_cells=headroom,
        xon_offset_cells=40,
    )
    wiring = star_wiring(senders + 1, rate, case["length_m"])
    lab = Star(Network(wiring, seed=case["seed"], memory=memory), senders + 1).trust_dscp()
    lab.without_dcqcn().lossless(3)
    for host in range(1, senders + 1):
        lab.nic(host).flow_control.set_timing(PauseTiming(response_ns=case["response_ns"]))
        lab.rc(host, 3, mtu_bytes=case["mtu"], tx_depth=2**12)
    lab.run_ms(1)
    return lab, bound


@settings(max_examples=15, deadline=None, derandomize=True)
@given(INCAST)
def test_frames_of_one_size_never_need_more_than_the_bound(case: Case) -> None:
    lab, bound = incast(case, 1.0)
    groups = [lab.switch.group_counters(f"p{i}")[3] for i in range(lab.hosts)]
    assert sum(group.headroom_drops + group.buffer_drops for group in groups) == 0
    assert bound / 2 < max(group.peak_headroom_cells for group in groups) <= bound


@settings(max_examples=15, deadline=None, derandomize=True)
@given(INCAST, st.floats(0, 0.5))
def test_headroom_of_half_the_bound_or_less_drops_under_pressure(case: Case, share: float) -> None:
    lab, _ = incast(case, share)
    groups = [lab.switch.group_counters(f"p{i}")[3] for i in range(lab.hosts)]
    assert sum(group.headroom_drops for group in groups) > 0
    assert sum(group.buffer_drops for group in groups) == 0
