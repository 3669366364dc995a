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
    frames = box.statistics.traffic(port)
    lost = sum(each.dropped_packets for each in box.statistics.queues(port))
    told["stats"] = {
        "carrier-transitions": 2,
        "in-bytes": frames.rx_bytes,
        "in-drops": box.refused(port),
        "in-errors": box.crc_errors(port),
        "in-pkts": frames.rx_packets,
        "out-bytes": frames.tx_bytes,
        "out-drops": lost,
        "out-errors": 0,
        "out-pkts": frames.tx_packets,
    }
    admin = next(iter(told["state"]))
    return {"admin-status": admin, "oper-status": "up" if up else "down", **told}


def _counters(box: CumulusChassis, port: str) -> Tree:
    """The network tells ports apart, and not groups: all that a port refused stands at group 0."""
    hidden, queues = box.hidden(_port(box, port)), box.statistics.queues(port)
    egress = {}
    for queue, each in zip(QUEUES, queues, strict=True):
        counted = {
            "ecn-marked-frames": each.marked_packets,
            "tx-bytes": each.forwarded_bytes,
            "tx-frames": each.forwarded_packets,
        }
        if "queue-drops" not in hidden:
            tail = each.dropped_packets - each.wred_dropped_packets
            lost = {"tx-uc-buffer-discards": tail, "wred-discards": each.wred_dropped_packets}
            counted |= lost
        egress[queue] = {} if f"queue-{queue}" in hidden else counted
    refused = {"0": box.refused(port)}
    groups = {
        n: {"rx-buffer-discards": refused.get(n, 0), "rx-frames": 0, "rx-shared-buffer-discards": 0}
        for n in QUEUES
    }
    pauses = {} if box.faults.missing(port, "pfc") else _pauses(box, port)
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


def _pauses(box: CumulusChassis, port: str) -> Tree:
    return {
        str(priority): {
            "rx-pause-duration": 0,
            "rx-pause-frames": each.received,
            "tx-pause-duration": 0,
            "tx-pause-frames": each.sent,
        }
        for priority, each in enumerate(box.statistics.pfc(port))
    }


def _lldp(box: CumulusChassis) -> Tree:
    shown: Tree = {}
    for port in box.ports:
        heard = box.lldp_neighbour(port)
        of_port: Tree = {} if heard is None else {
            "lldp": {
                "neighbor": {
                    heard.name: {
                        "chassis": {"chassis-id": heard.chassis, "system-name": heard.name},
                        "port": {"description": heard.description, "name": heard.port_id},
                    }
                }
            }
        }  # fmt: skip
        shown[port] = of_port
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
