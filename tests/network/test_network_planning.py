"""Planned packets (planning.py) change no figure: two networks in step, one without plans."""

from collections.abc import Callable
from itertools import pairwise
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from network_pairs import eventful, expect_in_step
from network_star import Lab, Star, star_wiring

from labtests.network import (
    Network,
    PauseTiming,
    ReactionPoint,
    ReceiveBuffer,
    SwitchMemory,
    WredCurve,
)

GIGA = 10**9


def with_flows(lab: Star) -> Star:
    """DCQCN, and a flow from each host to the first."""
    lab.lossless(3)
    for host in range(1, lab.hosts):
        lab.switch.set_wred(f"p{host}", 3, WredCurve(ecn=True))
        lab.rc(host, 3, message_bytes=(65536, 16000, 1 << 20)[host % 3])
    lab.switch.set_wred("p0", 3, WredCurve(ecn=True))
    return lab


def storm(lab: Star, host: int, number: int) -> None:
    pauses = lab.switch.flow_control(f"p{host}")
    pauses.storm(frozenset([3]), quanta=number, stop_ns=lab.network.now_ns + 9_000)


def cut(lab: Star, host: int, number: int) -> None:
    (lab.network.cut if number % 2 else lab.network.restore)(f"host{host}", "e0")


HAPPENINGS: dict[str, Callable[[Star, int, int], Any]] = {
    "go": lambda lab, host, number: None,
    "two flows": lambda lab, host, number: lab.rc(host, 3, messages=20),
    "receives": lambda lab, host, number: lab.rc(0, 3, to=host, message_bytes=9000, messages=9),
    "read": lambda lab, host, number: lab.rc(0, 3, to=host, verb="read", messages=9),
    "tcp": lambda lab, host, number: lab.tcp(host, 2),
    "time": lambda lab, host, number: lab.nic(host).set_dcqcn(
        "roce_rp", "rpg_time_reset", 1 + number
    ),
    "bytes": lambda lab, host, number: lab.nic(host).set_dcqcn(
        "roce_rp", "rpg_byte_reset", 1 + 10 * number
    ),
    "form": lambda lab, host, number: lab.nic(host).set_reaction_point(ReactionPoint(form="paper")),
    "gap": lambda lab, host, number: lab.nic(host).set_random_gap(number % 2 / 20),
    "response": lambda lab, host, number: lab.nic(host).flow_control.set_timing(
        PauseTiming(response_ns=number)
    ),
    "pfc": lambda lab, host, number: lab.nic(host).set_pfc(frozenset([3] if number % 2 else [])),
    "program": lambda lab, host, number: lab.nic(host).programs.hold(
        lab.network.now_ns + 300 * number
    ),
    "slow": lambda lab, host, number: lab.nic(0).set_receive_buffer(
        ReceiveBuffer(bits_per_s=(1 + number) * GIGA, buffer_bytes=40_000)
    ),
    "storm": storm,
    "cut": cut,
}
STEP = st.tuples(
    st.sampled_from(sorted(HAPPENINGS)),
    st.integers(0, 60),
    st.one_of(st.integers(1, 3_000), st.integers(1, 150_000)),  # ns until the next step
)
MEMORY = st.builds(
    SwitchMemory,
    total_bytes=st.sampled_from([400_000, 4_000_000]),
    xoff_cells=st.sampled_from([None, 8, 100]),
)


@settings(
    max_examples=60, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
@given(MEMORY, st.integers(3, 12), st.sampled_from([3, 900]), st.lists(STEP, max_size=16))
def test_plans_change_nothing_at_any_moment(
    memory: SwitchMemory, hosts: int, length_m: float, steps: list[Any]
) -> None:
    wiring = star_wiring(hosts, 100 * GIGA, length_m)
    pair = [Star(Network(wiring, seed=1, memory=memory), hosts).trust_dscp() for _ in range(2)]
    eventful(pair[1].network)
    for lab in pair:
        with_flows(lab).run_ms(0.3)
    for what, number, ns in steps:
        for lab in pair:
            HAPPENINGS[what](lab, 1 + number % (hosts - 1), number)
            lab.network.advance_to(lab.network.now_ns + ns)
        expect_in_step(*(lab.network for lab in pair))


def slots_woken(lab: Star) -> int:
    """In half a millisecond of flows at their paces. The network forgets the number at times."""
    with_flows(lab).run_ms(10)
    clock = lab.network.tables.clock
    numbers = []
    for _ in range(20):
        lab.run_ms(0.025)
        numbers.append(int(clock[0].woken))
    return sum(max(0, later - number) for number, later in pairwise(numbers))


def test_paced_flows_wake_fewer_slots(star: Lab) -> None:
    """So the comparison above is worth something."""
    labs = [star(9, rate_bits_per_s=100 * GIGA) for _ in range(2)]
    labs[1].network.tables.port.plans[:] = 0
    planned, unplanned = (slots_woken(lab) for lab in labs)
    assert 0 < planned < 0.8 * unplanned
