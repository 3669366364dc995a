"""Whatever is set, cut, guarded or paused meanwhile: every packet is somewhere, memory adds up."""

from collections.abc import Callable
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from network_random import MEMORY, NETWORK, Case, network_of, set_red, started
from test_network_memory_properties import check_links, check_order, check_switch

from labtests.network import (
    DeadlockDetection,
    FlowControl,
    HostPort,
    Network,
    Nic,
    PauseTimeout,
    PfcWatchdog,
    RateLimit,
    ReceiveBuffer,
    Schedule,
    Switch,
    SwitchMemory,
)

GUARDS = (
    PfcWatchdog(interval_ms=0.02, poll_ms=0.01, auto_restore_multiplier=1),
    PfcWatchdog(interval_ms=0.02, poll_ms=0.01, fixed_restore_multiplier=2, action="forward"),
    DeadlockDetection(interval_ms=0.02, precision_ms=0.01, delay_ms=0.05),
    PauseTimeout(timeout_ms=0.03, poll_ms=0.01),
    None,
)
DISCIPLINES = ("sp", "wrr", "wfq")


def storm(control: FlowControl, now_ns: int, a: int, b: int) -> None:
    control.storm(
        frozenset({a % 6, b % 6}),
        quanta=1 + a * 9000,
        period_us=1 + b * 5,
        stop_ns=now_ns + 1 + a * 20_000,
    )


def schedule(switch: Switch, port: str, a: int, b: int) -> None:
    queues = tuple((("sp", "1", "2")[(i * a + b) % 3], 1 + b) for i in range(8))
    switch.set_schedule(port, Schedule(discipline=DISCIPLINES[a % 3], queues=queues))


AT_SWITCH: dict[str, Callable[[Switch, str, int, int], None]] = {
    "guard": lambda s, p, a, b: s.guards.set(p, GUARDS[a % 5]),
    "pfc": lambda s, p, a, b: s.set_pfc(p, "on" if b % 2 else "off", frozenset({a % 6, b % 6})),
    "asymmetric": lambda s, p, a, b: s.set_asymmetric(p, bool(b % 2)),
    "headroom": lambda s, p, a, b: s.set_headroom(p, a * 20),
    "schedule": schedule,
    "limit": lambda s, p, a, b: s.set_rate_limit(p, b, RateLimit(bits_per_s=10**8 * (1 + a))),
    "no limit": lambda s, p, a, b: s.set_rate_limit(p, b, None),
}
AT_HOST: dict[str, Callable[[Nic, int, int], None]] = {
    "slow": lambda n, a, b: n.set_receive_buffer(
        ReceiveBuffer(bits_per_s=10**9 * a, buffer_bytes=5000 + b * 5000)
    ),
    "nic pfc": lambda n, a, b: n.set_pfc(frozenset({a % 6, b % 6})),
}
AT_ANY = ("cut", "restore", "storm")
UPHEAVAL = st.tuples(
    st.sampled_from([*AT_ANY, *AT_SWITCH, *AT_HOST]),
    st.integers(0, 7),
    st.integers(0, 7),
    st.integers(1, 80_000),  # ns until the next
)


def happen(network: Network, what: str, a: int, b: int) -> None:
    ends = list(network.wiring.ports())
    if what in AT_HOST:
        ends = [end for end in ends if isinstance(end, HostPort)]
    elif what in AT_SWITCH:
        ends = [end for end in ends if not isinstance(end, HostPort)]
    end = ends[(a * 3 + b) % len(ends)]
    box: Any = network.switch(end.device) if what in AT_SWITCH else None
    if isinstance(end, HostPort):
        box = network.nic(end.device, end.interface)
    if what == "cut":
        network.cut(end.device, end.interface)
    elif what == "restore":
        network.restore(end.device, end.interface)
    elif what in AT_SWITCH:
        AT_SWITCH[what](box, end.interface, a, b)
    elif what in AT_HOST:
        AT_HOST[what](box, a, b)
    else:
        control = box.flow_control if box else None
        control = control or network.switch(end.device).flow_control(end.interface)
        storm(control, network.now_ns, a, b)


def check(network: Network) -> None:
    check_links(network)
    check_order(network)
    for name in network.memory:
        check_switch(network, name)
        switch, use = network.switch(name), network.switch(name).memory_use()
        groups = [group for port in switch.ports for group in switch.group_counters(port)]
        assert all(0 <= group.pool_used_cells <= group.headroom_used_cells for group in groups)
        assert use.headroom_pool_used_cells == sum(group.pool_used_cells for group in groups)
        assert use.shared_used_cells == sum(group.shared_used_cells for group in groups)


def calm(network: Network) -> None:
    for end in network.wiring.ports():
        network.restore(end.device, end.interface)
        if isinstance(end, HostPort):
            network.nic(end.device, end.interface).set_host_rate(None)
        else:
            network.switch(end.device).guards.set(end.interface, None)


@settings(
    max_examples=20, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
@given(
    NETWORK,
    MEMORY,
    st.sets(st.integers(0, 5)),
    st.sampled_from([None, False, True]),
    st.lists(UPHEAVAL, min_size=4, max_size=25),
)
def test_the_books_are_kept_and_all_comes_to_rest(
    case: Case, memory: SwitchMemory, lossless: set[int], red: bool | None, upheaval: list
) -> None:
    network = network_of(case, memory, lossless)
    if red is not None:
        set_red(network, ecn=red)
    flows = started(network, case)
    for what, a, b, until_next_ns in upheaval:
        happen(network, what, a, b)
        network.advance_to(network.now_ns + until_next_ns)
        check(network)
    for flow in flows:
        flow.stop()
    calm(network)
    network.advance_to(network.now_ns + 2 * 10**9)
    assert network.idle
    check(network)
    for name in network.memory:
        use = network.switch(name).memory_use()
        assert use.used_cells == use.shared_used_cells == use.egress_shared_used_cells == 0
