"""`nv show ... -o json`: what it prints of ports, queues, pauses, neighbours and the switch."""

from collections.abc import Callable
from typing import Any

from labtests.simlab.cumulus.chassis import CumulusChassis
from labtests.simlab.cumulus.model import QUEUES, Tree, applied_view
from labtests.simlab.linux.options import Refused

VERSION = "5.11.0-SIMULATED"
HEADER_BYTES = 18
ABSENT = "Error: The requested item does not exist.\n"


def settings(box: CumulusChassis, path: tuple[str, ...], told: Tree) -> Any:
    """What is at this place of a tree. Raises Refused."""
    found: Any = applied_view(box.ports, told)
    for name in path:
        if not isinstance(found, dict) or name not in found:
            raise Refused(ABSENT)
        found = found[name]
    return found


def _port(box: CumulusChassis, port: str) -> str:
    if port not in box.ports:
        raise Refused(ABSENT)
    return port


def _link(box: CumulusChassis, port: str) -> Tree:
    told = dict(settings(box, ("interface", _port(box, port), "link"), box.revisions.tree))
    rate, wrong = box.rate_bits_per_s(port), box.faults.defects.mtus.get(port)
    up = bool(rate) and "up" in told["state"]
    if wrong is not None:
        told["mtu"] = wrong - HEADER_BYTES
    if rate:
        told["speed"] = f"{rate // 10**9}G" if rate % 10**9 == 0 else f"{rate // 10**6}M"
    frames, queues = box.statistics.traffic(port), box.statistics.queues(port)
    told["stats"] = {
        **_both("bytes", frames.rx_bytes, frames.tx_bytes),
        **_both("drops", box.refused(port), sum(each.dropped_packets for each in queues)),
        **_both("errors", box.crc_errors(port), 0),
        **_both("pkts", frames.rx_packets, frames.tx_packets),
        "carrier-transitions": 2,
    }
    admin = next(iter(told["state"]))
    return {"admin-status": admin, "oper-status": "up" if up else "down", **told}


def _both(name: str, received: int, sent: int) -> Tree:
    return {f"in-{name}": received, f"out-{name}": sent}


def _counters(box: CumulusChassis, port: str) -> Tree:
    """The network tells ports apart, and not groups: all that a port refused stands at group 0."""
    hidden, queues = box.hidden(_port(box, port)), box.statistics.queues(port)
    egress = {}
    for queue, each in zip(QUEUES, queues, strict=True):
        egress[queue] = {"tx-bytes": each.forwarded_bytes, "tx-frames": each.forwarded_packets}
        egress[queue]["ecn-marked-frames"] = each.marked_packets
        if "queue-drops" not in hidden:
            egress[queue]["wred-discards"] = each.wred_dropped_packets
            tail = each.dropped_packets - each.wred_dropped_packets
            egress[queue]["tx-uc-buffer-discards"] = tail
        if f"queue-{queue}" in hidden:
            egress[queue] = {}
    words = ("rx-buffer-discards", "rx-frames", "rx-shared-buffer-discards")
    groups = {n: dict.fromkeys(words, 0) for n in QUEUES}
    groups["0"]["rx-buffer-discards"] = box.refused(port)
    pauses = {} if box.faults.missing(port, "pfc") else {
        str(n): {"rx-pause-frames": each.received, "tx-pause-frames": each.sent}
        for n, each in enumerate(box.statistics.pfc(port))
    }  # fmt: skip
    marks = sum(each.marked_packets for each in queues)
    port_stats = {
        "rx-stats": {"pause-frames": 0},
        "tx-stats": {"ecn-marked-packets": marks, "mc-buffer-discards": 0, "pause-frames": 0},
    }
    return {
        "egress-queue-stats": egress,
        "ingress-buffer-stats": groups,
        "pfc-stats": pauses,
        "port-stats": port_stats,
    }


def _lldp(box: CumulusChassis) -> Tree:
    shown: Tree = {}
    for port in box.ports:
        shown[port] = {}
        if (heard := box.lldp_neighbour(port)) is not None:
            chassis = {"chassis-id": heard.chassis, "system-name": heard.name}
            at = {"description": heard.description, "name": heard.port_id}
            shown[port]["lldp"] = {"neighbor": {heard.name: {"chassis": chassis, "port": at}}}
    return shown


def _system(box: CumulusChassis) -> Tree:
    return {"build": f"Cumulus Linux {VERSION}", "hostname": box.name, "timezone": "Etc/UTC"}


DISPLAYS: dict[tuple[str, ...], Callable[..., Tree]] = {
    ("interface", "lldp"): _lldp,
    ("interface", "<port>", "link"): _link,
    ("interface", "<port>", "counters", "qos"): _counters,
    ("system",): _system,
}


def operational(box: CumulusChassis, path: tuple[str, ...]) -> Tree:
    """What is, not what is set. Raises Refused."""
    for steps, display in DISPLAYS.items():
        named = list(zip(steps, path, strict=False))
        if len(steps) == len(path) and all(s in ("<port>", word) for s, word in named):
            return display(box, *(word for step, word in named if step == "<port>"))
    raise Refused(ABSENT)
