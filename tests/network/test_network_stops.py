"""Stops that are no events (stops.py) change no figure: two incasts in step, one of which has an
event for each frame. Both live by pauses; what happens between is decided at random."""

from collections.abc import Callable
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from network_pairs import eventful, expect_in_step
from network_star import Star, star_wiring

from labtests.network import Network, PauseTiming, Script, SwitchMemory
from labtests.network.events import COUNTED_SLOTS
from labtests.network.tables import NEVER, NONE, PAUSE

HOSTS = 12
GIGABIT = 10**9
MEMORY = SwitchMemory(xoff_cells=16, xon_offset_cells=6)


def incast(length_m: float, qps: int) -> Star:
    """So many to one, with thresholds at which each packet is stopped."""
    lab = Star(
        network=Network(star_wiring(HOSTS, 100 * GIGABIT, length_m), seed=7, memory=MEMORY),
        hosts=HOSTS,
    )
    lab.trust_dscp().lossless(3, 5)
    for host in range(1, HOSTS):
        lab.rc(host, 3 if host % 3 else 5, qps=qps)
    return lab


def storm(lab: Star, host: int) -> None:
    until_ns = lab.network.now_ns + 2_000
    lab.switch.flow_control(f"p{host}").storm(frozenset({3}), stop_ns=until_ns)


LOST = Script(damage="lost", every=3, frames="pause")
HAPPENS: dict[str, Callable[[Star, int], Any]] = {
    "nothing": lambda lab, host: None,
    "slow to obey": lambda lab, host: lab.nic(host).flow_control.set_timing(
        PauseTiming(response_ns=300)
    ),
    "short pauses": lambda lab, host: lab.switch.flow_control(f"p{host}").set_timing(
        PauseTiming(quanta=200)
    ),
    "cut": lambda lab, host: lab.network.cut(f"host{host}", "e0"),
    "restored": lambda lab, host: lab.network.restore(f"host{host}", "e0"),
    "pauses lost": lambda lab, host: lab.network.impair("switch", f"p{host}", LOST),
    "PFC off": lambda lab, host: lab.nic(host).set_pfc(frozenset({5})),
    "one more flow": lambda lab, host: lab.rc(host, 3, messages=3),
    "storm": storm,
}
STEPS = st.lists(
    st.tuples(
        st.sampled_from(["nothing"] * 3 + list(HAPPENS)),
        st.integers(1, HOSTS - 1),
        st.integers(1, 9_000),
    ),
    min_size=4,
    max_size=20,
)


def pauses_heard(lab: Star) -> int:
    """By all ports: one half tells to stop, the other to go on."""
    return int(lab.network.tables.lane.pfc_rx_frames.sum())


@settings(
    max_examples=40, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
@given(STEPS, st.sampled_from([0.5, 3.0, 100.0]), st.sampled_from([1, 3]))
def test_stops_change_nothing_at_any_moment(steps: Any, length_m: float, qps: int) -> None:
    pair = [incast(length_m, qps) for _ in range(2)]
    eventful(pair[1].network)
    for lab in pair:
        lab.run_ms(0.05)
    assert pauses_heard(pair[0]) > 50
    for what, host, ns in steps:
        for lab in pair:
            HAPPENS[what](lab, host)
            lab.network.advance_to(lab.network.now_ns + ns)
        expect_in_step(*(lab.network for lab in pair))


def test_a_stop_wakes_nobody() -> None:
    """So the comparison above is worth something: without it each stop is an event."""
    pair = [incast(0.5, 1) for _ in range(2)]
    for lab in pair:
        lab.network.tables.port.plans[:] = 0
        lab.network.tables.port.silence[1] = 0  # to the receiver: only stops are silent now
    eventful(pair[1].network)
    for lab in pair:
        lab.run_ms(0.02)
    fewer, more = (int(lab.network.tables.clock[0].woken) for lab in pair)
    pauses = pauses_heard(pair[0])
    assert more < COUNTED_SLOTS  # else it has begun to count again
    assert 0.4 * pauses < more - fewer <= 0.5 * pauses + HOSTS


def test_who_looks_finds_what_is_only_told_as_a_frame() -> None:
    """100 m of cable: 495 ns, in which 12 hosts are stopped and let go on by turns."""
    lab = incast(100.0, 1)
    lab.run_ms(0.05)
    under_way = [0, 0]  # that let go on, that stop
    for _ in range(100):
        lab.network.advance_to(lab.network.now_ns + 50)
        tables = lab.network.tables
        assert set(tables.port.stop_at) == {NEVER}
        assert set(tables.port.going) == {NONE}
        heads = [int(k) for k in tables.port.wire_head if k != NONE]
        frames = [tables.packet[k] for k in heads if int(tables.packet[k].kind) == PAUSE]
        for frame in frames:
            under_way[int(frame.part > 0)] += 1
    assert min(under_way) > 10
