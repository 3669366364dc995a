"""How long many flows with starts of their own take: 128 hosts, N flows of 10 kB, N and 10 N.

    python benchmarks/network_flows.py [N]

Wall seconds, packets, and microseconds of wall time a packet: the last one does not grow with N.
"""

import random
import sys
import time

from labtests.network.cases import CaseFile, run

HOSTS = 128
SIZE_BYTES = 10_000
LINK_GBIT_PER_S = 100.0
LOAD = 0.3


def case_of(flows: int) -> CaseFile:
    """One switch; sources, targets and starts are random, the load of each host is the same."""
    chosen = random.Random(1)
    names = [f"h{n}" for n in range(HOSTS)]
    each_us = SIZE_BYTES * 8 / (LINK_GBIT_PER_S * 1000) / LOAD / HOSTS
    pairs = [chosen.sample(names, 2) for _ in range(flows)]
    return CaseFile.model_validate(
        {
            "name": "many-flows",
            "duration_ms": flows * each_us / 1000 + 1,
            "hosts": dict.fromkeys(names),
            "switches": {"s": None},
            "nic": {"pfc": [3]},
            "switch": {"pfc": [3], "memory": {"total_bytes": 64_000_000}},
            "links": [
                {"between": [name, "s"], "rate_gbit_per_s": LINK_GBIT_PER_S, "length_m": 5.0}
                for name in names
            ],
            "flows": [
                {
                    "source": source,
                    "target": target,
                    "size_bytes": SIZE_BYTES,
                    "start_us": chosen.uniform(0, flows * each_us),
                }
                for source, target in pairs
            ],
        }
    )


def main() -> None:
    most = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    run(case_of(100))  # compiled
    for flows in (most, 10 * most):
        case = case_of(flows)
        begun_s = time.perf_counter()
        figures = run(case)
        taken_s = time.perf_counter() - begun_s
        packets = sum(-(-flow.delivered_bytes // 1024) for flow in figures.flows)
        done = sum(flow.completion_us is not None for flow in figures.flows)
        print(
            f"{flows:7} flows, {done} done, {packets} packets: {taken_s:6.1f} s, "
            f"{1e6 * taken_s / packets:.1f} us a packet",
            flush=True,
        )


if __name__ == "__main__":
    main()
