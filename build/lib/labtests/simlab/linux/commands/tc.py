"""tc: a host's own queues, read only: `tc -s -j qdisc show dev IF`. An mlx5 port has the root mq
and below it one fq_codel for each transmit queue (JSON as recorded with iproute2 6.1)."""

import json
from typing import Any

from labtests.simlab.linux.calls import Call, Tools
from labtests.simlab.linux.mlx5_counters import CHANNELS
from labtests.simlab.linux.options import NotEmulated, Refused
from labtests.simlab.linux.ports import NicPort

_FQ_CODEL = {
    "limit": 10240,
    "flows": 1024,
    "quantum": 1514,
    "target": 4999,
    "interval": 99999,
    "memory_limit": 33554432,
    "ecn": True,
    "drop_batch": 64,
}


def _tc(call: Call) -> str:
    *flags, interface = call.arguments or ("",)
    if flags != ["-s", "-j", "qdisc", "show", "dev"]:
        raise NotEmulated(" ".join(call.arguments))
    port = call.host.port(interface)
    if port is None:
        raise Refused(f'Cannot find device "{interface}"\n')
    return json.dumps(_rows(port), separators=(",", ":")) + "\n"


def _rows(port: NicPort) -> list[dict[str, Any]]:
    counters = port.counters()
    sent = (0, 0) if counters is None else (counters.ip_out_packets, counters.ip_out_bytes)
    root: dict[str, Any] = {"kind": "mq", "handle": "0:", "root": True, "options": {}}
    rows = [root | _counted(*sent)]
    for number in range(1, CHANNELS + 1):
        leaf = {"kind": "fq_codel", "handle": "0:", "parent": f":{number:x}", "options": _FQ_CODEL}
        rows.append(leaf | _counted(*(sent if number == 1 else (0, 0))))
    return rows


def _counted(packets: int, size_bytes: int) -> dict[str, int]:
    rest = dict.fromkeys(("drops", "overlimits", "requeues", "backlog", "qlen"), 0)
    return {"bytes": size_bytes, "packets": packets, **rest}


TOOLS: Tools = {"tc": _tc}
