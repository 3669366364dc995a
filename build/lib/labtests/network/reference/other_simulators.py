"""The parameters of runs of ns3-rdma and of htsim as cases of this network."""

import re
from typing import Any

from labtests.network.cases.form import CaseFile
from labtests.network.reference.hpcc import (
    CONTROL_PRIORITY,
    NO_WINDOW,
    PAYLOAD_BYTES,
    PRIORITY,
    Run,
    case_of,
)

# -- ns3-rdma --------------------------------------------------------------------------------------


PAPER_DEFAULTS: Run = {
    "ecn": True,
    "warmup_ms": 0,
    "seed": 1,
    "cell_bytes": 1030,
    "wire_bytes": 984,
    "cnp_interval_us": 50,
    "alpha_timer_us": 55,
    "rp_timer_us": 55,
    "byte_counter": 10_000_000,
    "g": 1 / 256,
    "rate_ai": "40Mb/s",
    "rate_hai": "40Mb/s",
    "min_rate": "40Mb/s",
    "fast_recovery": 5,
    "clamp_target_rate": True,
}


_OF_PAPER = {
    "EWMA_GAIN": "g",
    "ALPHA_RESUME_INTERVAL": "alpha_timer_us",
    "RATE_DECREASE_INTERVAL": "cnp_interval_us",
    "RP_TIMER": "rp_timer_us",
    "FAST_RECOVERY_TIMES": "fast_recovery",
    "RATE_AI": "rate_ai",
    "RATE_HAI": "rate_hai",
    "MIN_RATE": "min_rate",
    "CLAMP_TARGET_RATE": "clamp_target_rate",
}
"""Parameters of the reaction point by HPCC's names and by those of ns3-rdma."""


def paper_case(name: str, run: Run, *, duration_ms: float | None = None) -> CaseFile:
    """The case of a run of ns3-rdma: the paper's reaction point, real CNPs."""
    run = PAPER_DEFAULTS | run
    senders, same = run["N"], ("seed", "duration_ms", "warmup_ms", "ecn", "pmax")
    links = [[0, node, run["rate"], run["link_delay"], 0] for node in range(1, senders + 2)]
    like_hpcc = {
        **{name: run[name] for name in same},
        "topology": {"sw": [0], "links": links},
        "flows": [[node, 1, 98 + node, 4_000_000_000, node - 2] for node in range(2, senders + 2)],
        "pfc": True,
        "kmin": 0,
        "kmax": 0,
        "rp": {name: run[told] for name, told in _OF_PAPER.items()},
        "alpha": 16,
        "watch_queue": {"switch": 0, "port": 1},
    }
    tree = case_of(name, like_hpcc, duration_ms=duration_ms).model_dump()
    for switch in tree["switches"].values():
        for curve in switch["ecn"]:
            curve["low_bytes"] = round(run["kmin_cells"] * run["cell_bytes"])
            curve["high_bytes"] = round(run["kmax_cells"] * run["cell_bytes"])
    for host in tree["hosts"].values():
        host["dcqcn"] |= {
            "form": "paper",
            "byte_counter_bytes": run["byte_counter"],
            "cnp_interval_us": run["cnp_interval_us"],
            "cnp_in_order": False,
            "cnp_polled": True,
        }
    for flow in tree["flows"]:
        flow["header_bytes"] = run["wire_bytes"] - PAYLOAD_BYTES
    return CaseFile.model_validate(tree)


# -- htsim -----------------------------------------------------------------------------------------


FAT_TREE = re.compile(r"\bk\s*=\s*(\d+)")
PACKETS = re.compile(r"\b(xoff|xon)\s*=\s*(\d+)")
HTSIM_HEADER_BYTES = 64


def packets_of(run: Run) -> dict[str, int]:
    """The thresholds of an ingress: `xoff` and `xon` in packets."""
    told = {name: int(number) for name, number in PACKETS.findall(str(run.get("queue", "")))}
    return {"xoff": 200, "xon": 100} | told


def tree_ports(run: Run) -> int:
    """k: the ports of each switch of the fat tree."""
    told = FAT_TREE.search(str(run.get("topology", "")))
    return int(told[1]) if told else 4


def fat_tree_links(ports: int) -> list[tuple[str, str]]:
    """The links of a three-tier fat tree of switches with so many ports (Al-Fares et al. 2008).

    Hosts h0.., edges e<pod>-<n>, aggregation a<pod>-<n>, cores c<n>.
    """
    pods, half = range(ports), range(ports // 2)
    size = ports // 2
    pairs = [
        (f"h{(p * size + e) * size + h}", f"e{p}-{e}") for p in pods for e in half for h in half
    ]
    pairs += [(f"e{p}-{e}", f"a{p}-{a}") for p in pods for e in half for a in half]
    return pairs + [(f"a{p}-{a}", f"c{size * a + c}") for p in pods for a in half for c in half]


def _routes(switch: str, ports: int) -> dict[str, Any] | None:
    """Edges take turns in their way to h0, so that every merge has flows from all its ports."""
    if switch[0] != "e" or switch == "e0-0":
        return None
    pod, edge = map(int, switch[1:].split("-"))
    turn = (pod * (ports // 2) + edge) % (ports // 2)
    return {"routes": [{"to": "h0", "via": f"a{pod}-{turn}"}]}


def _static_memory(run: Run, packet_bytes: int) -> dict[str, int]:
    limits = packets_of(run)
    return {
        "cell_bytes": 1,
        "guaranteed_bytes": 0,
        "total_bytes": 2**34,
        "xoff_bytes": limits["xoff"] * packet_bytes,
        "xon_offset_bytes": (limits["xoff"] - limits["xon"]) * packet_bytes,
        "headroom_bytes": 2**20,
    }


def fat_tree_case(name: str, run: Run, *, duration_ms: float | None = None) -> CaseFile:
    """The case of a run of htsim: a fat tree (k = 4 unless told), flows from hosts 1..N to host 0.

    1000 B of payload and 64 B of headers; PFC by static thresholds in packets per ingress.
    """
    payload, ports = int(run.get("mtu", 1000)), tree_ports(run)
    pairs = fat_tree_links(ports)
    devices = sorted({name for pair in pairs for name in pair})
    whole_ms = run["end_us"] / 1000
    link = {
        "rate_gbit_per_s": float(run["rate_mbps"]) / 1000,
        "delay_us": float(run["hop_latency_us"]),
        "overhead_bytes": 0,
    }
    flow = {
        "target": "h0",
        "message_bytes": payload,
        "mtu_bytes": payload,
        "header_bytes": HTSIM_HEADER_BYTES,
        "tx_depth": NO_WINDOW,
        "control_priority": CONTROL_PRIORITY,
    }
    return CaseFile.model_validate(
        {
            "name": name,
            "duration_ms": whole_ms if duration_ms is None else min(duration_ms, whole_ms),
            "seed": run.get("seed", 1),
            "hosts": {name: None for name in devices if name[0] == "h"},
            "switches": {name: _routes(name, ports) for name in devices if name[0] != "h"},
            "nic": {"pfc": [PRIORITY]},
            "switch": {
                "memory": _static_memory(run, payload + HTSIM_HEADER_BYTES),
                "pfc": [PRIORITY],
                "schedule": {"discipline": "sp"},
            },
            "links": [{"between": list(pair), **link} for pair in pairs],
            "flows": [{"source": f"h{n}", **flow} for n in range(1, run["N"] + 1)],
            "sampling": {"queues": [{"switch": "e0-0", "port": "h0"}]},
        }
    )
