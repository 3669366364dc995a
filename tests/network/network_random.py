"""Random small networks: switches in a chain, hosts at any of them, traffic of every kind."""

from collections.abc import Iterator
from typing import Any

from hypothesis import strategies as st

from labtests.network import (
    Cable,
    GroupMemory,
    HostPort,
    Network,
    RcFlow,
    RcRequest,
    Routing,
    SwitchMemory,
    SwitchPort,
    TcpFlow,
    TcpRequest,
    UdpFlow,
    UdpRequest,
    Wiring,
    WredCurve,
)

GBIT = 10**9
NS_PER_US = 1000
Case = dict[str, Any]
Flow = RcFlow | UdpFlow | TcpFlow

RATES = st.sampled_from([10, 25, 100])
LENGTHS = st.sampled_from([1, 60, 300])
LINK = st.tuples(RATES, LENGTHS)
FLOW = st.tuples(
    st.sampled_from(["send", "read", "udp", "tcp"]),
    st.integers(0, 4),  # from
    st.integers(1, 4),  # to, as distance
    st.integers(0, 5),  # priority; 6 is the CNPs'
)
MEMORY = st.builds(
    SwitchMemory,
    total_bytes=st.sampled_from([300_000, 1_000_000]),
    alpha=st.sampled_from([1 / 8, 1.0, 8.0]),
    headroom_cells=st.sampled_from([None, 0, 10]),
    headroom_pool_cells=st.sampled_from([0, 60, 400]),
    headroom_pool_limit_cells=st.sampled_from([None, 40]),
    xoff_cells=st.sampled_from([None, None, 300]),
    xon_offset_cells=st.sampled_from([0, 48]),
    egress_limit_cells=st.sampled_from([100, 25_000]),
    egress_alpha=st.sampled_from([None, 0.25, 2.0]),
    egress_shared_cells=st.sampled_from([None, 500]),
    priorities=st.dictionaries(
        st.integers(0, 5),
        st.builds(
            GroupMemory,
            alpha=st.sampled_from([None, 0.5]),
            xoff_cells=st.sampled_from([None, 100]),
            guaranteed_cells=st.sampled_from([None, 0, 30]),
            headroom_cells=st.sampled_from([None, 20]),
        ),
        max_size=2,
    ),
)
NETWORK = st.fixed_dictionaries(
    {
        "seed": st.integers(0, 99),
        "hosts": st.lists(st.tuples(st.integers(0, 2), LINK), min_size=2, max_size=5),
        "trunks": st.lists(st.lists(LINK, min_size=1, max_size=2), max_size=2),
        "ways": st.sampled_from(["shortest", "ecmp"]),
        "flows": st.lists(FLOW, min_size=1, max_size=6),
        "moments_us": st.lists(st.integers(1, 400), min_size=3, max_size=6),
    }
)


def cables_of(case: Case) -> Iterator[Cable]:
    """Switches in a chain, one or two cables between neighbours; each host at one of them."""
    switches = len(case["trunks"]) + 1
    for number, (place, link) in enumerate(case["hosts"]):
        here = HostPort(device=f"h{number}", interface="e0", address=f"10.0.0.{number}")
        there = SwitchPort(device=f"s{place % switches}", interface=f"h{number}")
        yield _cable(here, there, link)
    for number, trunk in enumerate(case["trunks"]):
        for n, link in enumerate(trunk):
            here_port = SwitchPort(device=f"s{number}", interface=f"up{n}")
            there_port = SwitchPort(device=f"s{number + 1}", interface=f"down{n}")
            yield _cable(here_port, there_port, link)


def _cable(a: HostPort | SwitchPort, b: SwitchPort, link: tuple[int, int]) -> Cable:
    return Cable(a=a, b=b, rate_bits_per_s=link[0] * GBIT, length_m=link[1])


def network_of(case: Case, memory: SwitchMemory, lossless: set[int]) -> Network:
    network = Network(
        Wiring(cables=tuple(cables_of(case))),
        seed=case["seed"],
        memory=memory,
        routing=Routing(ways=case["ways"]),
    )
    for number in range(len(case["hosts"])):
        network.nic(f"h{number}", "e0").set_trust("dscp")
        network.nic(f"h{number}", "e0").set_pfc(frozenset(lossless))
    for name in network.memory:
        for port in network.switch(name).ports:
            network.switch(name).set_trust(port, "dscp")
            network.switch(name).set_pfc(port, "on" if lossless else "off", frozenset(lossless))
    return network


def started(network: Network, case: Case) -> list[Flow]:
    hosts, flows = len(case["hosts"]), []
    for kind, source, distance, priority in case["flows"]:
        here = source % hosts
        ends = {
            "device": f"h{here}",
            "interface": "e0",
            "destination": f"10.0.0.{(here + 1 + distance % (hosts - 1)) % hosts}",
            "tos": priority << 5,
        }
        flow: Flow
        if kind == "udp":
            rate = case["hosts"][here][1][0] * 0.9e9
            flow = network.start_udp(UdpRequest(**ends, rate_bits_per_s=rate))
        elif kind == "tcp":
            flow = network.start_tcp(TcpRequest(**ends))
        else:
            flow = network.start_rc(RcRequest(**ends, verb=kind, qps=2, nak_repeat_us=200))
        flows.append(flow)
    return flows


def set_red(network: Network, *, ecn: bool) -> None:
    curve = WredCurve(low_limit=20, high_limit=200, weighting_exponent=2, ecn=ecn)
    for name in network.memory:
        for port in network.switch(name).ports:
            for queue in range(8):
                network.switch(name).set_wred(port, queue, curve)
