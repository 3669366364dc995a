"""`nv show`: what it prints of ports, queues, QoS, pauses, neighbours and the switch."""

from collections.abc import Callable, Mapping
from typing import Any

from labtests.simlab.cumulus.chassis import CumulusChassis, profiles_of
from labtests.simlab.cumulus.model import QUEUES, Tree, applied_view, in_force
from labtests.simlab.cumulus.tables import printed, valued
from labtests.simlab.linux.options import NotEmulated, Refused
from labtests.simlab.screens import ruled

VERSION = "5.11.0-SIMULATED"
HEADER_BYTES = 18
ABSENT = "Error: The requested item does not exist.\n"


def settings(box: CumulusChassis, path: tuple[str, ...], told: Tree) -> Any:
    """What is at this place of a tree. Raises Refused."""
    return _below(applied_view(box.ports, told), path)


def _below(found: Any, path: tuple[str, ...]) -> Any:
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
    told["stats"] = {
        **_both("bytes", frames.rx_bytes, frames.tx_bytes),
        **_both("drops", box.refused(port), box.dropped_out(port)),
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
        if (found := box.lldp_neighbour(port)) is not None:
            heard = found.with_colons()
            chassis = {"chassis-id": heard.chassis, "system-name": heard.name}
            at = {"description": heard.description, "name": heard.port_id}
            shown[port]["lldp"] = {"neighbor": {heard.name: {"chassis": chassis, "port": at}}}
    return shown


def _system(box: CumulusChassis) -> Tree:
    return {"build": f"Cumulus Linux {VERSION}", "hostname": box.name, "timezone": "Etc/UTC"}


def _qos(box: CumulusChassis, port: str) -> Tree:
    """Of a port: what the profile that it applies makes of it."""
    whole = in_force(box.ports, box.revisions.tree)
    found = profiles_of(whole, _port(box, port))
    lossless = found["pfc"].get("switch-priority")
    found["pfc"] = found["pfc"] if lossless else dict.fromkeys(("rx", "tx"), "disable")
    tags = {n: {"switch-priority": int(n)} for n in QUEUES}
    told = found["mapping"]
    found["mapping"] = {"dscp": {}, **told, "pcp": {**tags, **told.get("pcp", {})}}
    state = whole["interface"][port].get("qos", {}).get("pfc-watchdog", {}).get("state", "disable")
    status = {
        str(n): {"status": "DEADLOCK" if shut else "OK", "deadlock-count": count}
        for n, (shut, count) in enumerate(box.guarded(port))
    }
    return {**found, "pfc-watchdog": {"state": f"{state}d", "status": status}}


BEYOND = {("qos", each) for each in ("buffer", "link-pause", "remark", "roce")}
DISPLAYS: dict[tuple[str, ...], Callable[..., Tree]] = {
    ("interface", "lldp"): _lldp,
    ("interface", "<port>", "link"): _link,
    ("interface", "<port>", "counters", "qos"): _counters,
    ("interface", "<port>", "qos"): _qos,
    ("system",): _system,
}


def operational(box: CumulusChassis, path: tuple[str, ...]) -> Any:
    """What is, not what is set. Raises Refused, NotEmulated."""
    if path[2:4] in BEYOND:
        raise NotEmulated(f"nv show {' '.join(path)}")
    for steps, display in DISPLAYS.items():
        named = list(zip(steps, path, strict=False))
        if len(steps) <= len(path) and all(s in ("<port>", word) for s, word in named):
            shown = display(box, *(word for step, word in named if step == "<port>"))
            return _below(shown, path[len(steps) :])
    if path[:1] == ("qos",):
        return _below(in_force(box.ports, box.revisions.tree), path)
    raise Refused(ABSENT)


def _interfaces(box: CumulusChassis) -> str:
    """As in the user guide."""
    heads = ("Interface", "MTU", "Speed", "State", "Remote Host", "Remote Port", "Type", "Summary")
    rows = []
    for port in box.ports:
        link, heard = _link(box, port), box.lldp_neighbour(port)
        peer = ("", "") if heard is None else (heard.name, heard.with_colons().port_id)
        told = (link["mtu"], link["speed"], link["oper-status"])
        rows.append((f"+ {port}", *told, *peer, "swp", ""))
    return "".join(f"{line.rstrip()}\n" for line in ruled(heads, rows))


def table(box: CumulusChassis, path: tuple[str, ...], options: Mapping[str, str]) -> str:
    """The same for people: QoS of a port, and its parts. Raises Refused, NotEmulated."""
    if path == ("interface",) and not options:
        return _interfaces(box)
    at = path[2:] if path[:1] == ("interface",) else path
    if at == ("qos",) != path and not options:
        rows: list[tuple[str, str, str]] = []
        for name, each in settings(box, path, box.revisions.tree).items():
            rows += [(name, "", ""), *((f"  {leaf}", "", word) for leaf, word in each.items())]
        return valued(rows)
    if options or at[:1] not in (("qos",), ("counters",)) or len(at) < 2:
        raise NotEmulated(f"nv show {' '.join(path)}, but for -o json")
    shown = operational(box, path)
    profile = path[0] == "qos" and at[1] not in ("pfc-watchdog", "roce")
    if profile and len(at) == 2:
        raise NotEmulated(f"nv show {' '.join(path)}, but for -o json")
    try:
        told = settings(box, path, box.revisions.tree)
    except Refused:
        told = {}
    if "state" in told:
        told = {"state": shown["state"]}
    feature = "counters" if at[0] == "counters" else at[1]
    return printed(feature, at[2 + profile :], shown, told)
