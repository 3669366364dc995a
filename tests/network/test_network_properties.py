"""What holds for every network: nothing appears or vanishes; the same seed gives the same."""

import dataclasses
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from network_star import Lab, Star, star_wiring

from labtests.network import Network, SwitchMemory, UdpRequest, WredCurve

REPOSITORY = Path(__file__).parents[2]


def check_memory(lab: Star) -> None:
    """The switch's memory is never negative, never above its size, and all of it is accounted."""
    tables = lab.network.tables
    ports = [2 * i + 1 for i in range(lab.hosts)]  # the switch's ends of the cables
    lanes = np.concatenate([tables.lane[8 * p : 8 * p + 8] for p in ports]).view(np.recarray)
    queues = np.concatenate([tables.queue[8 * p : 8 * p + 8] for p in ports]).view(np.recarray)
    switch = tables.switch[0]
    assert (lanes["ingress_cells"] >= 0).all()
    assert (lanes["headroom_used"] >= 0).all()
    assert (queues["cells"] >= 0).all()
    assert (queues["packets"] >= 0).all()
    charged = lanes["ingress_cells"].sum() + lanes["headroom_used"].sum()
    assert switch.used_cells == charged == queues["cells"].sum()
    shared = np.maximum(0, lanes["ingress_cells"] - lanes["guaranteed_cells"]).sum()
    assert switch.shared_used == shared <= switch.shared_cells
    assert 0 <= switch.used_cells <= switch.total_cells


def check_conservation(lab: Star) -> None:
    """Every packet that a NIC sent was forwarded or dropped, and every forwarded one received."""
    nics = [lab.nic(i).counters() for i in range(lab.hosts)]
    queues = [lab.switch.queue_counters(f"p{i}") for i in range(lab.hosts)]
    for i in range(8):
        sent = sum(nic.tx_packets[i] for nic in nics)
        forwarded = sum(port[i].forwarded_packets for port in queues)
        dropped = sum(port[i].dropped_packets for port in queues)
        assert sent == forwarded + dropped
        assert forwarded == sum(nic.rx_packets[i] for nic in nics)
        assert sum(nic.tx_bytes[i] for nic in nics) == sum(
            port[i].forwarded_bytes + port[i].dropped_bytes for port in queues
        )
    for i, nic in enumerate(nics):
        sent_pauses = tuple(c.tx_frames for c in lab.switch.pfc_counters(f"p{i}"))
        assert nic.pfc_rx_frames == sent_pauses
    marked = sum(lab.switch.drop_counters(f"p{i}").ecn_marked for i in range(lab.hosts))
    assert marked == sum(nic.np_ecn_marked for nic in nics)
    answered = sum(nic.rp_cnp_handled + nic.rp_cnp_ignored for nic in nics)
    lost_cnps = sum(port[6].dropped_packets for port in queues)
    assert answered <= sum(nic.np_cnp_sent for nic in nics) <= answered + lost_cnps
    places = [lab.switch.drop_counters(f"p{i}") for i in range(lab.hosts)]
    by_place = sum(d.input_drops + d.output_buffer_drops + d.wred_drops for d in places)
    assert by_place == sum(q.dropped_packets for port in queues for q in port)


FLOW = st.tuples(
    st.sampled_from(["rc", "read", "udp", "tcp"]),
    st.integers(0, 4),  # from
    st.integers(1, 4),  # to, as distance
    st.integers(0, 5),  # priority; 6 is the CNPs'
)
CASE = st.fixed_dictionaries(
    {
        "hosts": st.integers(2, 5),
        "seed": st.integers(0, 99),
        "rate": st.sampled_from([10, 25, 100]),
        "length_m": st.sampled_from([1, 40]),
        "memory": st.builds(
            SwitchMemory,
            total_bytes=st.sampled_from([400_000, 2_000_000]),
            alpha=st.sampled_from([1 / 8, 1.0]),
            headroom_cells=st.sampled_from([None, 0, 10]),
            xon_offset_cells=st.sampled_from([0, 48, 2200]),
            egress_limit_cells=st.sampled_from([100, 25_000]),
        ),
        "lossless": st.sets(st.integers(0, 5)),
        "red": st.sampled_from([None, False, True]),
        "rp_off": st.sets(st.integers(0, 5), max_size=2),
        "flows": st.lists(FLOW, min_size=1, max_size=6),
    }
)


def start(lab: Star, case: dict) -> list:
    flows = []
    for kind, source, distance, priority in case["flows"]:
        here = source % lab.hosts
        there = (here + 1 + distance % (lab.hosts - 1)) % lab.hosts
        if kind == "udp":
            flows.append(lab.udp(here, priority, case["rate"] * 0.9e9, to=there))
        elif kind == "tcp":
            flows.append(lab.tcp(here, priority, to=there))
        else:
            verb = "send" if kind == "rc" else "read"
            flows.append(lab.rc(here, priority, to=there, verb=verb, qps=2, nak_repeat_us=200))
    return flows


def build(case: dict) -> tuple[Star, list]:
    hosts = case["hosts"]
    wiring = star_wiring(hosts, case["rate"] * 10**9, case["length_m"])
    network = Network(wiring, seed=case["seed"], memory=case["memory"])
    lab = Star(network, hosts).trust_dscp()
    if case["lossless"]:
        lab.lossless(*case["lossless"])
    for i in range(hosts):
        for priority in case["rp_off"]:
            lab.nic(i).set_rp(priority, False)
        for queue in range(8):
            if case["red"] is not None:
                curve = WredCurve(weighting_exponent=4, ecn=case["red"])
                lab.switch.set_wred(f"p{i}", queue, curve)
    return lab, start(lab, case)


@settings(
    max_examples=60, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
@given(CASE)
def test_every_packet_is_delivered_or_dropped_and_counted_once(case: dict) -> None:
    lab, flows = build(case)
    for _ in range(8):
        lab.run_ms(0.3)
        check_memory(lab)
    for flow in flows:
        flow.stop()
    lab.run_ms(60)
    assert lab.network.idle
    check_memory(lab)
    assert lab.switch.memory_use().used_cells == 0
    check_conservation(lab)


@settings(max_examples=25, deadline=None, derandomize=True)
@given(CASE)
def test_with_headroom_by_the_rule_no_lossless_packet_is_dropped(case: dict) -> None:
    memory = dataclasses.replace(case["memory"], headroom_cells=None, total_bytes=16_000_000)
    lab, _ = build({**case, "memory": memory, "red": None})
    lab.run_ms(3)
    for i in range(lab.hosts):
        queues = lab.switch.queue_counters(f"p{i}")
        assert sum(queues[priority].dropped_packets for priority in case["lossless"]) == 0
        assert lab.switch.drop_counters(f"p{i}").input_drops == 0


def busy_lab(seed: int) -> Star:
    """A bit of everything: marks, CNPs, pauses, drops, reads, streams."""
    case = {
        "hosts": 4,
        "seed": seed,
        "rate": 10,
        "length_m": 3,
        "memory": SwitchMemory(total_bytes=400_000, egress_limit_cells=300, xon_offset_cells=48),
        "lossless": {3, 5},
        "red": True,
        "rp_off": {2},
        "flows": [
            ("rc", 1, 2, 2),
            ("rc", 2, 1, 3),
            ("udp", 3, 0, 5),
            ("udp", 2, 1, 5),
            ("tcp", 1, 2, 0),
            ("read", 0, 2, 4),
        ],
    }
    return build(case)[0]


def asymmetric_lab(seed: int) -> Star:
    """The same; ports obey what hosts say of a priority without PFC."""
    lab = busy_lab(seed)
    for i in range(lab.hosts):
        lab.switch.set_asymmetric(f"p{i}", True)
        lab.nic(i).flow_control.storm(frozenset({2}), quanta=700, period_us=50)
    return lab


def everything(lab: Star) -> str:
    nics = [lab.nic(i).counters() for i in range(lab.hosts)]
    queues = [lab.switch.queue_counters(f"p{i}") for i in range(lab.hosts)]
    pauses = [lab.switch.pfc_counters(f"p{i}") for i in range(lab.hosts)]
    rates = [float(rate).hex() for rate in lab.network.tables.flow.rate]
    averages = [float(cells).hex() for cells in lab.network.tables.queue.average_cells]
    return repr((nics, queues, pauses, rates, averages))


def test_the_same_seed_gives_the_same_to_the_last_bit_and_another_does_not() -> None:
    runs = []
    for seed in (1, 1, 2):
        lab = busy_lab(seed)
        lab.run_ms(5)
        runs.append(everything(lab))
    assert runs[0] == runs[1] != runs[2]


def test_how_time_is_cut_into_steps_does_not_matter() -> None:
    at_once, in_steps = busy_lab(1), busy_lab(1)
    at_once.run_ms(4)
    for _ in range(400):
        in_steps.run_ms(0.01)
    assert everything(at_once) == everything(in_steps)


@pytest.mark.parametrize("made", [busy_lab, asymmetric_lab])
def test_interpreted_and_compiled_runs_agree_to_the_last_bit(made: Callable[[int], Star]) -> None:
    program = (
        f"from test_network_properties import {made.__name__}, everything\n"
        f"lab = {made.__name__}(1); lab.run_ms(0.4); print(everything(lab))"
    )
    interpreted = subprocess.run(
        [sys.executable, "-W", "error", "-c", program],
        env={
            **os.environ,
            "LABTESTS_INTERPRETED": "1",
            "PYTHONPATH": os.pathsep.join([str(REPOSITORY), str(Path(__file__).parent)]),
        },
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert interpreted.stderr == ""
    lab = made(1)
    lab.run_ms(0.4)
    assert interpreted.stdout.strip() == everything(lab)
    assert lab.switch.drop_counters("p0").ecn_marked > 0
    pauses = [each for i in range(4) for each in lab.switch.pfc_counters(f"p{i}")]
    assert any(each.tx_frames for each in pauses)
    assert any(each.rx_paused_ps for each in pauses) == (made is asymmetric_lab)


def test_memory_stays_flat_while_time_passes(star: Lab) -> None:
    lab = star().lossless()
    lab.rc(1, 3)
    lab.rc(2, 3)
    lab.run_ms(50)
    rows = [len(table) for table in lab.network.tables]
    lab.run_ms(500)
    assert [len(table) for table in lab.network.tables] == rows


def test_an_idle_network_passes_an_hour_at_once(star: Lab) -> None:
    lab = star()
    assert lab.network.idle
    lab.network.advance_to(3600 * 10**9)
    assert lab.network.now_ns == 3600 * 10**9


def test_many_flows_make_the_calendar_grow_without_losing_anything(star: Lab) -> None:
    lab = star(3).lossless(3)
    early = lab.rc(1, 3)
    lab.run_ms(1)
    for _ in range(40):
        lab.rc(2, 3, messages=3)
    lab.run_ms(40)
    assert early.delivered_bytes > 0
    assert lab.network.active_flows == 1


class TestRequests:
    @pytest.mark.parametrize("destination", ["10.9.9.9", "10.0.0.1"])
    def test_an_unknown_destination_and_the_own_host_are_refused(
        self, star: Lab, destination: str
    ) -> None:
        lab = star()
        request = UdpRequest(
            device="host1",
            interface="e0",
            destination=destination,
            tos=0,
            rate_bits_per_s=1e9,
        )
        with pytest.raises(KeyError, match=destination):
            lab.network.start_udp(request)

    def test_time_does_not_run_backwards(self, star: Lab) -> None:
        lab = star()
        lab.run_ms(1)
        with pytest.raises(ValueError, match="backwards"):
            lab.network.advance_to(0)
