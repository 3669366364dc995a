"""The parameters of a reference run as a case of this network.

HPCC's fork and ns3-rdma: no preamble and gap; byte-exact memory (cells of one byte); ACKs in the
highest priority, strict; marking when a packet leaves. Their `reserve` is one group per port, here
it is per port and priority, so the memory is larger by the seven others. No window: 32768 packets.
An ACK is a 66 B frame here (60 there).
"""

import re
from collections.abc import Sequence
from typing import Any

from labtests.network.cases.form import CaseFile

PAYLOAD_BYTES, WIRE_BYTES = 952, 1000
RESERVE_GROUPS_MORE = 7
NO_WINDOW = 2**15
NO_TIMEOUT = 2**20
MARK_UNIT_BYTES = 1000
PRIORITY, CONTROL_PRIORITY = 3, 7

ENDLESS_BYTES = 4_000_000_000
MOST_SAMPLES = 1_000_000

Run = dict[str, Any]

RP_DEFAULTS = {
    "ALPHA_RESUME_INTERVAL": 55,
    "RATE_DECREASE_INTERVAL": 50,
    "CLAMP_TARGET_RATE": 1,
    "RP_TIMER": 55,
    "EWMA_GAIN": 1 / 256,
    "FAST_RECOVERY_TIMES": 5,
    "RATE_AI": "40Mb/s",
    "RATE_HAI": "40Mb/s",
    "MIN_RATE": "40Mb/s",
}
DEFAULTS: Run = {
    "warmup_ms": 0.0,
    "seed": 1,
    "ecn": False,
    "pfc": True,
    "kmin": 5,
    "kmax": 200,
    "pmax": 0.01,
    "rp": RP_DEFAULTS,
    "buffer_bytes": 9_000_000,
    "alpha": 0.125,
    "static_xoff_bytes": None,
    "resume_offset_bytes": 3072,
    "reserve_bytes_per_port": 4096,
    "egress_tail_drop_bytes": None,
    "headroom_override": None,
    "dcqcn_off_hosts": (),
    "go_back_zero": False,
    "chunk_bytes": 4000,
    "nack_interval_us": 500,
}
"""What a run of HPCC's fork has unless it says otherwise: the most common values."""


def case_of(name: str, run: Run, *, duration_ms: float | None = None) -> CaseFile:
    """The case of a run of HPCC's ns-3 fork. `duration_ms`: shorter, its warm-up in proportion."""
    run = DEFAULTS | run
    whole_ms = float(run["duration_ms"])
    duration_ms = whole_ms if duration_ms is None else min(duration_ms, whole_ms)
    links = run["topology"]["links"]
    nodes = sorted({end for link in links for end in link[:2]})
    switches = switches_of(run)
    return CaseFile.model_validate(
        {
            "name": name,
            "duration_ms": duration_ms,
            "warmup_ms": float(run["warmup_ms"]) * duration_ms / whole_ms,
            "seed": run["seed"],
            "hosts": {f"n{n}": _nic(run, n) for n in nodes if n not in switches},
            "switches": {f"n{n}": _switch(run, n) for n in nodes if n in switches},
            "links": [_link(link) for link in links],
            "flows": [_flow(run, number, flow) for number, flow in enumerate(run["flows"])],
            "sampling": {
                "queue_period_us": max(1.0, duration_ms * 1000 / MOST_SAMPLES),
                "queues": [_watched(run)],
            },
        }
    )


def switches_of(run: Run) -> tuple[int, ...]:
    """The switch nodes: as told, or those with more than one link."""
    told = run["topology"].get("sw")
    if told is not None:
        return tuple(told)
    ends = [end for link in run["topology"]["links"] for end in link[:2]]
    return tuple(sorted(node for node in set(ends) if ends.count(node) > 1))


def microseconds(text: str | float) -> float:
    """A delay as ns-3 writes it, `0.001ms`, `1us`, `500ns`."""
    value, unit = _quantity(str(text))
    if unit not in _MICROSECONDS:
        raise ValueError(f"not a delay, as 0.001ms: {text!r}")
    return round(value * _MICROSECONDS[unit], 6)


def gbit_per_s(text: str | float) -> float:
    """A rate as ns-3 writes it, `25Gbps` or `40Mb/s`; a bare number is bits/s."""
    value, unit = _quantity(str(text))
    scale = _GBIT.get(unit.lower().replace("b/s", "bps"))
    if scale is None:
        raise ValueError(f"not a rate, as 25Gbps: {text!r}")
    return round(value * scale, 12)


_QUANTITY = re.compile(r"([0-9.eE+-]{1,40}?)\s{0,9}([A-Za-z/]{0,20})")
_MICROSECONDS = {"s": 1e6, "ms": 1e3, "us": 1.0, "ns": 1e-3}
_GBIT = {"": 1e-9, "bps": 1e-9, "kbps": 1e-6, "mbps": 1e-3, "gbps": 1.0}


def _quantity(text: str) -> tuple[float, str]:
    found = _QUANTITY.fullmatch(text.strip())
    try:
        return (float(found[1]), found[2]) if found else (0.0, "?")
    except ValueError:
        return 0.0, "?"


def headroom_bytes(run: Run, link: Sequence[Any] | None = None) -> int:
    """Of a port on this link (the first): as printed, or 3 x rate x delay."""
    if run.get("headroom_override") is not None:
        return int(run["headroom_override"])
    _, _, rate, delay, _ = run["topology"]["links"][0] if link is None else link
    return round(3 * gbit_per_s(rate) * 1e9 / 8 * microseconds(delay) * 1e-6)


def _link(link: list[Any]) -> dict[str, Any]:
    one, other, rate, delay, loss = [*link, 0][:5]
    return {
        "between": [f"n{one}", f"n{other}"],
        "rate_gbit_per_s": gbit_per_s(rate),
        "delay_us": microseconds(delay),
        "overhead_bytes": 0,
        "loss": float(loss),
    }


def _switch(run: Run, node: int) -> dict[str, Any]:
    links = [link for link in run["topology"]["links"] if node in link[:2]]
    reserve = run["reserve_bytes_per_port"]
    memory = {
        "total_bytes": run["buffer_bytes"] + RESERVE_GROUPS_MORE * reserve * len(links),
        "cell_bytes": 1,
        "alpha": float(run["alpha"]),
        "guaranteed_bytes": reserve,
        "headroom_bytes": headroom_bytes(run, links[0]),
        "xoff_bytes": run["static_xoff_bytes"],
        "xon_offset_bytes": run["resume_offset_bytes"],
        "egress_limit_bytes": run["egress_tail_drop_bytes"] or run["buffer_bytes"],
    }
    curve = {
        "queues": [PRIORITY],
        "low_bytes": round((run["kmin"] or 0) * MARK_UNIT_BYTES),
        "high_bytes": round((run["kmax"] or 0) * MARK_UNIT_BYTES),
        "probability": float(run["pmax"] or 0),
        "mark": "leaving",
    }
    return {
        "memory": memory,
        "pfc": [PRIORITY] if run["pfc"] else [],
        "ecn": [curve] if run["ecn"] else [],
        "schedule": {"discipline": "sp"},
        "ports": _ports(run, node, links) if run["pfc"] else None,
    }


def _ports(run: Run, node: int, links: Sequence[Sequence[Any]]) -> dict[str, Any] | None:
    """The headroom of each port, when rates or delays differ."""
    sizes = {_port(link, node, links): headroom_bytes(run, link) for link in links}
    if len(set(sizes.values())) == 1:
        return None
    return {port: {"headroom_bytes": size} for port, size in sizes.items()}


def _port(link: Sequence[Any], node: int, links: Sequence[Sequence[Any]]) -> str:
    """The name of this link's port at `node`; `links` are the node's, in their order."""
    peers = [one if other == node else other for one, other, *_ in links]
    index = next(n for n, entry in enumerate(links) if entry is link)
    number = peers[: index + 1].count(peers[index])
    return f"n{peers[index]}" if number == 1 else f"n{peers[index]}#{number}"


def _nic(run: Run, node: int) -> dict[str, Any]:
    rp = RP_DEFAULTS | (run["rp"] or {})
    dcqcn = {
        "form": "off" if not run["ecn"] or node in run["dcqcn_off_hosts"] else "timers",
        "gain": float(rp["EWMA_GAIN"]),
        "alpha_period_us": float(rp["ALPHA_RESUME_INTERVAL"]),
        "cut_period_us": float(rp["RATE_DECREASE_INTERVAL"]),
        "increase_period_us": float(rp["RP_TIMER"]),
        "recovery_stages": int(rp["FAST_RECOVERY_TIMES"]),
        "additive_gbit_per_s": gbit_per_s(rp["RATE_AI"]),
        "hyper_gbit_per_s": gbit_per_s(rp["RATE_HAI"]),
        "min_rate_gbit_per_s": gbit_per_s(rp["MIN_RATE"]),
        "clamp_target": bool(rp["CLAMP_TARGET_RATE"]),
        "cnp_interval_us": 0,
        "cnp_priority": CONTROL_PRIORITY,
        "cnp_in_order": True,
    }
    return {"pfc": [PRIORITY] if run["pfc"] else [], "dcqcn": dcqcn}


def _flow(run: Run, number: int, flow: list[Any]) -> dict[str, Any]:
    source, target, _, size, start_us = flow
    message = run["chunk_bytes"] if run["go_back_zero"] else PAYLOAD_BYTES
    return {
        "name": f"f{number}-n{source}-n{target}",
        "source": f"n{source}",
        "target": f"n{target}",
        "priority": PRIORITY,
        "start_us": float(start_us),
        "size_bytes": None if size is None or size >= ENDLESS_BYTES else int(size),
        "message_bytes": message,
        "mtu_bytes": PAYLOAD_BYTES,
        "header_bytes": WIRE_BYTES - PAYLOAD_BYTES,
        "tx_depth": NO_WINDOW,
        "nack_repeat_us": int(run["nack_interval_us"]),
        "retry_limit": NO_TIMEOUT,
        "control_priority": CONTROL_PRIORITY,
        "go_back": "message" if run["go_back_zero"] else "packet",
    }


def _watched(run: Run) -> dict[str, Any]:
    """ns-3 numbers a node's ports by its links, from 1. Unless told: towards the first target."""
    links = run["topology"]["links"]
    told = run.get("watch_queue")
    if told is None:
        target = run["flows"][0][1]
        link = next(link for link in links if target in link[:2])
        switch = link[0] if link[1] == target else link[1]
        return {"switch": f"n{switch}", "port": f"n{target}", "queue": PRIORITY}
    ends = [link for link in links if told["switch"] in link[:2]]
    port = _port(ends[told["port"] - 1], told["switch"], ends)
    return {"switch": f"n{told['switch']}", "port": port, "queue": PRIORITY}
