"""The small network that most closed forms are checked on."""

from collections.abc import Mapping, Sequence
from typing import Any

from labtests.network.cases import CaseFile


def star(gigabit: int, flows: Sequence[Mapping[str, Any]], **more: Any) -> CaseFile:
    """Three senders, a receiver and a switch as delivered, 3 m of cable."""
    hosts = ("receiver", "h1", "h2", "h3")
    tree: dict[str, Any] = {
        "name": "theory",
        "duration_ms": 20,
        "warmup_ms": 5,
        "hosts": dict.fromkeys(hosts),
        "switches": {"s1": None},
        "links": [
            {"between": [host, "s1"], "rate_gbit_per_s": float(gigabit), "length_m": 3.0}
            for host in hosts
        ],
        "nic": {"pfc": list(range(8))},
        "switch": {"pfc": list(range(8))},
        "flows": [{"target": "receiver", **flow} for flow in flows],
    }
    tree["switch"] |= more.pop("switch", {})
    return CaseFile.model_validate(tree | more)
