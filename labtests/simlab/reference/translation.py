"""The parameters of a reference run as a case of this network.

HPCC's fork and ns3-rdma: no preamble and gap; byte-exact memory (cells of one byte); ACKs in the
highest priority, strict; marking when a packet leaves. Their `reserve` is one group per port, here
it is per port and priority, so the memory is larger by the seven others. No window: 32768 packets.
An ACK is a 64 B frame here (60 there).
"""

from typing import Any

from labtests.simlab.cases.form import CaseFile

PAYLOAD_BYTES, WIRE_BYTES = 952, 1000
RESERVE_GROUPS_MORE = 7
NO_WINDOW = 2**15
NO_TIMEOUT = 2**20
MARK_UNIT_BYTES = 1000
PRIORITY, CONTROL_PRIORITY = 3, 7

Run = dict[str, Any]


def case_of(name: str, run: Run, *, duration_ms: float | None = None) -> CaseFile:
    """The case of a run of HPCC's ns-3 fork. `duration_ms`: shorter, its warm-up in proportion."""
    whole_ms = float(run["duration_ms"])
    duration_ms = whole_ms if duration_ms is None else min(duration_ms, whole_ms)
    switches = run["topology"]["sw"]
    links = run["topology"]["links"]
    nodes = sorted({end for link in links for end in link[:2]})
    return CaseFile.model_validate(
        {
            "name": name,
            "duration_ms": duration_ms,
            "warmup_ms": float(run["warmup_ms"]) * duration_ms / whole_ms,
            "seed": run["seed"],
            "hosts": {f"n{n}": _nic(run, n) for n in nodes if n not in switches},
            "switches": {f"n{n}": _switch(run, n) for n in switches},
            "links": [_link(link) for link in links],
            "flows": [_flow(run, flow) for flow in run["flows"]],
            "sampling": {"queue_period_us": 1.0, "queues": [_watched(run)]},
        }
    )


def microseconds(text: str) -> float:
    """A delay as ns-3 writes it, `0.001ms`."""
    return round(float(text.removesuffix("ms")) * 1000, 6)


def gbit_per_s(text: str) -> float:
    """A rate as ns-3 writes it, `25Gbps` or `40Mb/s`."""
    if text.endswith("Mb/s"):
        return float(text.removesuffix("Mb/s")) / 1000
    return float(text.removesuffix("Gbps"))


def headroom_bytes(run: Run) -> int:
    """Per port: as printed, or 3 x rate x delay."""
    if run["headroom_override"] is not None:
        return int(run["headroom_override"])
    _, _, rate, delay, _ = run["topology"]["links"][0]
    return round(3 * gbit_per_s(rate) * 1e9 / 8 * microseconds(delay) * 1e-6)


def _link(link: list[Any]) -> dict[str, Any]:
    one, other, rate, delay, loss = link
    return {
        "between": [f"n{one}", f"n{other}"],
        "rate_gbit_per_s": gbit_per_s(rate),
        "delay_us": microseconds(delay),
        "overhead_bytes": 0,
        "loss": float(loss),
    }


def _switch(run: Run, node: int) -> dict[str, Any]:
    ports = sum(node in link[:2] for link in run["topology"]["links"])
    reserve = run["reserve_bytes_per_port"]
    memory = {
        "total_bytes": run["buffer_bytes"] + RESERVE_GROUPS_MORE * reserve * ports,
        "cell_bytes": 1,
        "alpha": float(run["alpha"]),
        "guaranteed_bytes": reserve,
        "headroom_bytes": headroom_bytes(run),
        "xoff_bytes": run["static_xoff_bytes"],
        "xon_offset_bytes": run["resume_offset_bytes"],
        "egress_limit_bytes": run["egress_tail_drop_bytes"] or run["buffer_bytes"],
    }
    curve = {
        "queues": [PRIORITY],
        "low_bytes": run["kmin"] * MARK_UNIT_BYTES,
        "high_bytes": run["kmax"] * MARK_UNIT_BYTES,
        "probability": float(run["pmax"]),
        "mark": "leaving",
    }
    return {
        "memory": memory,
        "pfc": [PRIORITY] if run["pfc"] else [],
        "ecn": [curve] if run["ecn"] else [],
        "schedule": {"discipline": "sp"},
    }


def _nic(run: Run, node: int) -> dict[str, Any]:
    rp = run["rp"]
    dcqcn = {
        "form": "off" if not run["ecn"] or node in run["dcqcn_off_hosts"] else "timers",
        "gain": float(rp["EWMA_GAIN"]),
        "alpha_period_us": float(rp["ALPHA_RESUME_INTERVAL"]),
        "cut_period_us": float(rp["RATE_DECREASE_INTERVAL"]),
        "increase_period_us": float(rp["RP_TIMER"]),
        "recovery_stages": rp["FAST_RECOVERY_TIMES"],
        "additive_gbit_per_s": gbit_per_s(rp["RATE_AI"]),
        "hyper_gbit_per_s": gbit_per_s(rp["RATE_HAI"]),
        "min_rate_gbit_per_s": gbit_per_s(rp["MIN_RATE"]),
        "clamp_target": bool(rp["CLAMP_TARGET_RATE"]),
        "cnp_interval_us": 0,
        "cnp_priority": CONTROL_PRIORITY,
        "cnp_in_order": True,
    }
    return {"pfc": [PRIORITY] if run["pfc"] else [], "dcqcn": dcqcn}


def _flow(run: Run, flow: list[Any]) -> dict[str, Any]:
    source, target, number, size, start_us = flow
    message = run["chunk_bytes"] if run["go_back_zero"] else PAYLOAD_BYTES
    return {
        "name": f"f{number}",
        "source": f"n{source}",
        "target": f"n{target}",
        "priority": PRIORITY,
        "start_us": float(start_us),
        "size_bytes": size,
        "message_bytes": message,
        "mtu_bytes": PAYLOAD_BYTES,
        "header_bytes": WIRE_BYTES - PAYLOAD_BYTES,
        "tx_depth": NO_WINDOW,
        "nack_repeat_us": run.get("nack_interval_us", 500),
        "retry_limit": NO_TIMEOUT,
        "control_priority": CONTROL_PRIORITY,
        "go_back": "message" if run["go_back_zero"] else "packet",
    }


def _watched(run: Run) -> dict[str, Any]:
    """ns-3 numbers a node's ports by its links, from 1."""
    switch, port = run["watch_queue"]["switch"], run["watch_queue"]["port"]
    ends = [link[:2] for link in run["topology"]["links"] if switch in link[:2]]
    one, other = ends[port - 1]
    return {"switch": f"n{switch}", "port": f"n{other if one == switch else one}", "queue": 3}


# -- ns3-rdma --------------------------------------------------------------------------------------


def paper_case(name: str, run: Run, *, duration_ms: float | None = None) -> CaseFile:
    """The case of a run of ns3-rdma: the paper's reaction point, real CNPs."""
    senders, delay = run["N"], f"{float(run['link_delay'].removesuffix('us')) / 1000}ms"
    links = [[0, node, run["rate"], delay, 0] for node in range(1, senders + 2)]
    unit = run["cell_bytes"] / MARK_UNIT_BYTES
    like_hpcc = {
        "seed": run["seed"],
        "duration_ms": run["duration_ms"],
        "warmup_ms": run["warmup_ms"],
        "topology": {"sw": [0], "links": links},
        "flows": [[node, 1, 98 + node, 4_000_000_000, node - 2] for node in range(2, senders + 2)],
        "ecn": run.get("ecn", True),
        "pfc": True,
        "kmin": 0,
        "kmax": 0,
        "pmax": run["pmax"],
        "rp": {
            "EWMA_GAIN": run["g"],
            "ALPHA_RESUME_INTERVAL": run["alpha_timer_us"],
            "RATE_DECREASE_INTERVAL": run["cnp_interval_us"],
            "RP_TIMER": run["rp_timer_us"],
            "FAST_RECOVERY_TIMES": run["fast_recovery"],
            "RATE_AI": run["rate_ai"],
            "RATE_HAI": run["rate_hai"],
            "MIN_RATE": "40Mb/s",
            "CLAMP_TARGET_RATE": run["clamp_target_rate"],
        },
        "buffer_bytes": 9_000_000,
        "alpha": 16,
        "static_xoff_bytes": None,
        "resume_offset_bytes": 3072,
        "reserve_bytes_per_port": 4096,
        "egress_tail_drop_bytes": None,
        "headroom_override": None,
        "dcqcn_off_hosts": [],
        "go_back_zero": False,
        "watch_queue": {"switch": 0, "port": 1},
    }
    tree = case_of(name, like_hpcc, duration_ms=duration_ms).model_dump()
    for switch in tree["switches"].values():
        for curve in switch["ecn"]:
            curve["low_bytes"] = round(run["kmin_cells"] * unit * MARK_UNIT_BYTES)
            curve["high_bytes"] = round(run["kmax_cells"] * unit * MARK_UNIT_BYTES)
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


def fat_tree_case(name: str, run: Run) -> CaseFile:
    """The case of a run of htsim: a fat tree of k = 4, flows from hosts 1..N to host 0.

    1000 B of payload and 64 B of headers; PFC by static thresholds in packets per ingress.
    """
    packet, rate, memory = 1064, run["rate_mbps"] / 1000, {"cell_bytes": 1, "guaranteed_bytes": 0}
    memory |= {"total_bytes": 2**30, "xoff_bytes": 200 * packet, "xon_offset_bytes": 100 * packet}
    memory |= {"headroom_bytes": 2**20}
    pods, names = range(4), range(2)
    pairs = [(f"h{4 * p + 2 * e + h}", f"e{p}{e}") for p in pods for e in names for h in names]
    pairs += [(f"e{p}{e}", f"a{p}{a}") for p in pods for e in names for a in names]
    pairs += [(f"a{p}{a}", f"c{2 * a + c}") for p in pods for a in names for c in names]
    devices = {name for pair in pairs for name in pair}
    return CaseFile.model_validate(
        {
            "name": name,
            "duration_ms": run["end_us"] / 1000,
            "seed": run["seed"],
            "hosts": {name: None for name in sorted(devices) if name[0] == "h"},
            "switches": {name: None for name in sorted(devices) if name[0] != "h"},
            "nic": {"pfc": [PRIORITY]},
            "switch": {
                "memory": memory,
                "pfc": [PRIORITY],
                "schedule": {"discipline": "sp"},
            },
            "links": [
                {
                    "between": list(pair),
                    "rate_gbit_per_s": rate,
                    "delay_us": float(run["hop_latency_us"]),
                    "overhead_bytes": 0,
                }
                for pair in pairs
            ],
            "flows": [
                {
                    "source": f"h{sender}",
                    "target": "h0",
                    "message_bytes": 1000,
                    "mtu_bytes": 1000,
                    "header_bytes": 64,
                    "tx_depth": NO_WINDOW,
                    "control_priority": CONTROL_PRIORITY,
                }
                for sender in range(1, run["N"] + 1)
            ],
            "sampling": {"queues": [{"switch": "e00", "port": "h0"}]},
        }
    )
