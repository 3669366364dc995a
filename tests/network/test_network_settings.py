"""Each setting reads back as it was written, and decides what packets do."""

import pytest
from network_star import Lab

from labtests.network import (
    Cable,
    HostPort,
    Network,
    RcRequest,
    Schedule,
    SwitchPort,
    Wiring,
    WredCurve,
)
from labtests.network.pausing import hold


def test_nic_settings_read_back(star: Lab) -> None:
    nic = star().nic(1)
    nic.set_pfc(frozenset({3, 5}))
    nic.set_trust("pcp")
    nic.set_dscp(24, 1)
    nic.set_rp(2, False)
    nic.set_np(7, False)
    nic.set_dcqcn("roce_rp", "rpg_ai_rate", 17)
    nic.set_dcqcn("roce_np", "cnp_dscp", 46)
    assert nic.pfc == {3, 5}
    assert nic.trust == "pcp"
    assert nic.dscp_map[24] == 1
    assert nic.dscp_map[25] == 3
    assert nic.rp_enabled == {0, 1, 3, 4, 5, 6, 7}
    assert nic.np_enabled == {0, 1, 2, 3, 4, 5, 6}
    assert nic.dcqcn_rp["rpg_ai_rate"] == 17
    assert nic.dcqcn_np["cnp_dscp"] == 46


@pytest.mark.parametrize(
    ("call", "arguments"),
    [
        ("set_pfc", (frozenset({8}),)),
        ("set_trust", ("vlan",)),
        ("set_dscp", (64, 0)),
        ("set_dscp", (0, 8)),
        ("set_rp", (9, True)),
        ("set_np", (-1, True)),
        ("set_dcqcn", ("roce_rp", "rpg_ai_rate", -1)),
        ("set_dcqcn", ("roce_np", "cnp_dscp", 64)),
        ("set_dcqcn", ("roce_np", "cnp_802p_prio", 8)),
    ],
)
def test_a_nic_refuses_what_it_does_not_have(star: Lab, call: str, arguments: tuple) -> None:
    nic = star().nic(1)
    with pytest.raises(ValueError, match=r"\S"):
        getattr(nic, call)(*arguments)


def test_an_unknown_dcqcn_parameter_is_a_key_error(star: Lab) -> None:
    with pytest.raises(KeyError, match="rpg_warp"):
        star().nic(1).set_dcqcn("roce_rp", "rpg_warp", 1)


def test_switch_settings_read_back(star: Lab) -> None:
    switch = star().switch
    assert switch.pfc("p0") == ("off", frozenset())
    switch.set_pfc("p0", "on", frozenset({3}))
    switch.set_dscp_dot1p(46, 4)
    switch.set_dot1p_lp(4, 2)
    curve = WredCurve(low_limit=5, high_limit=9, ecn=True)
    switch.set_wred("p0", 4, curve)
    schedule = Schedule(queues=(("sp", 1), *(("2", 3),) * 7))
    switch.set_schedule("p0", schedule)
    assert switch.pfc("p0") == ("on", frozenset({3}))
    assert switch.trust("p0") == "dscp"
    assert switch.dscp_dot1p[46] == 4
    assert switch.dot1p_lp[4] == 2
    assert switch.wred("p0") == (None, None, None, None, curve, None, None, None)
    switch.set_wred("p0", 4, None)
    assert switch.wred("p0") == (None,) * 8
    assert switch.schedule("p0") == schedule
    assert switch.schedule("p1") == Schedule()
    switch.set_pfc("p0", "on", frozenset({3}))
    shared = switch.memory_use().shared_cells
    switch.set_headroom("p0", 0)
    assert switch.memory_use().shared_cells > shared


def test_an_unknown_port_is_a_key_error_for_every_reader(star: Lab) -> None:
    switch = star().switch
    for reader in ("pfc", "trust", "wred", "schedule", "queue_counters", "drop_counters"):
        with pytest.raises(KeyError, match="p9"):
            getattr(switch, reader)("p9")


def test_pfc_needs_a_port_that_trusts_something(star: Lab) -> None:
    switch = star().switch
    switch.set_pfc("p0", "on", frozenset({3}))
    assert switch.pfc_operational("p0")
    switch.set_trust("p0", "none")
    assert not switch.pfc_operational("p0")
    assert switch.pfc_working("p0") == frozenset()
    switch.set_trust("p0", "dot1p")
    assert switch.pfc_working("p0") == {3}


@pytest.mark.parametrize("trust", ["none", "dot1p"])
def test_untagged_packets_go_to_queue_0_where_dscp_is_not_trusted(star: Lab, trust: str) -> None:
    lab = star()
    lab.switch.set_trust("p1", trust)
    lab.rc(1, 3, messages=2)
    lab.run_ms(2)
    queues = lab.switch.queue_counters("p0")
    assert queues[0].forwarded_packets == 128
    assert queues[3].forwarded_packets == 0


def test_a_nic_that_trusts_pcp_sends_everything_with_priority_0(star: Lab) -> None:
    lab = star()
    lab.nic(1).set_trust("pcp")
    lab.rc(1, 3, messages=2)
    lab.run_ms(2)
    assert lab.nic(1).counters().tx_packets[:4] == (128, 0, 0, 0)
    assert lab.nic(0).counters().rx_packets[3] == 128


def test_the_switch_maps_dscp_to_dot1p_to_queue(star: Lab) -> None:
    lab = star()
    lab.switch.set_dscp_dot1p(24, 4)
    lab.switch.set_dot1p_lp(4, 1)
    lab.rc(1, 3, messages=2)
    lab.run_ms(2)
    assert lab.switch.queue_counters("p0")[1].forwarded_packets == 128


def test_a_pause_follows_the_map_to_the_queue_it_stops(star: Lab) -> None:
    # dot1p 4 -> queue 1 on the switch; the receiver's pause of priority 4 must stop queue 1
    lab = star().without_dcqcn().lossless()
    lab.switch.set_dscp_dot1p(24, 4)
    lab.switch.set_dot1p_lp(4, 1)
    lab.rc(1, 3)
    lab.run_ms(1)
    before = lab.switch.queue_counters("p0")[1].forwarded_packets
    hold(lab.network.state, 1, 4, 10**9)
    lab.run_ms(0.9)
    assert lab.switch.queue_counters("p0")[1].forwarded_packets <= before + 1


@pytest.mark.parametrize(
    "mistake",
    [
        {"tos": 256},
        {"message_bytes": 0},
        {"mtu_bytes": 0},
        {"tx_depth": 0},
        {"qps": 0},
    ],
)
def test_a_request_that_no_program_could_make_is_refused(mistake: dict[str, int]) -> None:
    good = {"device": "h", "interface": "e0", "destination": "10.0.0.1", "tos": 96}
    with pytest.raises(ValueError, match=r"is not"):
        RcRequest(**{**good, **mistake})


@pytest.mark.parametrize(
    "mistake",
    [
        {"low_limit": 9, "high_limit": 8},
        {"probability_percent": 101},
        {"weighting_exponent": 16},
        {"low_limit": -1},
    ],
)
def test_a_curve_that_no_switch_takes_is_refused(mistake: dict[str, int]) -> None:
    with pytest.raises(ValueError, match=r"is not"):
        WredCurve(**mistake)


class TestWiring:
    def test_a_port_with_two_cables_and_an_address_used_twice_are_refused(self) -> None:
        def cable(host: str, port: str, address: str) -> Cable:
            return Cable(
                a=HostPort(device=host, interface="e0", address=address),
                b=SwitchPort(device="s", interface=port),
                rate_bits_per_s=10**10,
                length_m=1,
            )

        with pytest.raises(ValueError, match="s p0 has two cables"):
            Wiring(cables=(cable("a", "p0", "1.1.1.1"), cable("b", "p0", "1.1.1.2")))
        with pytest.raises(ValueError, match="used twice"):
            Wiring(cables=(cable("a", "p0", "1.1.1.1"), cable("b", "p1", "1.1.1.1")))

    def test_packets_cross_a_chain_of_switches_and_pauses_go_hop_by_hop(self) -> None:
        # h0, h1 -- s0 -- s1 -- h2, 10G to the hosts, 10G between the switches
        def host(i: int) -> HostPort:
            return HostPort(device=f"h{i}", interface="e0", address=f"10.0.0.{i}")

        def switch(name: str, port: int) -> SwitchPort:
            return SwitchPort(device=name, interface=f"p{port}")

        ends = [
            (host(0), switch("s0", 0)),
            (host(1), switch("s0", 1)),
            (switch("s0", 2), switch("s1", 0)),
            (host(2), switch("s1", 1)),
            (host(3), switch("s1", 2)),
        ]
        cables = tuple(Cable(a=a, b=b, rate_bits_per_s=10**10, length_m=3) for a, b in ends)
        network = Network(Wiring(cables=cables), seed=1)
        lossless = frozenset({3})
        for name, ports in (("s0", 3), ("s1", 3)):
            for port in range(ports):
                network.switch(name).set_trust(f"p{port}", "dscp")
                network.switch(name).set_pfc(f"p{port}", "on", lossless)
        for i in range(4):
            network.nic(f"h{i}", "e0").set_trust("dscp")
            network.nic(f"h{i}", "e0").set_pfc(lossless)
            for priority in range(8):
                network.nic(f"h{i}", "e0").set_rp(priority, False)
        flows = [
            network.start_rc(
                RcRequest(device=sender, interface="e0", destination="10.0.0.2", tos=96)
            )
            for sender in ("h0", "h1", "h3")
        ]
        network.advance_to(60_000_000)
        before = [flow.delivered_bytes for flow in flows]
        network.advance_to(160_000_000)
        rates = [(f.delivered_bytes - b) * 8 / 1e8 for f, b in zip(flows, before, strict=True)]
        # formulas §5: each paused ingress port gets an equal share: 1/4, 1/4 and 1/2
        assert rates == pytest.approx([9.26 / 4, 9.26 / 4, 9.26 / 2], rel=0.03)
        dropped = sum(
            queue.dropped_packets
            for name in ("s0", "s1")
            for port in range(3)
            for queue in network.switch(name).queue_counters(f"p{port}")
        )
        assert dropped == 0
        assert network.switch("s0").pfc_counters("p2")[3].rx_frames > 0
        assert network.nic("h0", "e0").counters().pfc_rx_frames[3] > 0
