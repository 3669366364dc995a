"""The small networks that closed forms are checked on."""

from collections.abc import Mapping, Sequence
from typing import Any

from labtests.network.cases import CaseFile


def linked(
    links: Mapping[str, float],
    flows: Sequence[Mapping[str, Any]],
    /,
    *,
    cable: Mapping[str, Any],
    **more: Any,
) -> CaseFile:
    """A case of links `a-b`: Gbit/s; names that begin with h or r are hosts, others switches.

    `more`: other keys of the case file, or other values of these.
    """
    names = dict.fromkeys(name for link in links for name in link.split("-"))
    tree: dict[str, Any] = {
        "name": "theory",
        "duration_ms": 20,
        "hosts": {name: None for name in names if name[0] in "hr"},
        "switches": {name: None for name in names if name[0] not in "hr"},
        "links": [
            {"between": link.split("-"), "rate_gbit_per_s": float(rate), **cable}
            for link, rate in links.items()
        ],
        "flows": list(flows),
    }
    return CaseFile.model_validate(tree | more)


def star(gigabit: int, flows: Sequence[Mapping[str, Any]], **more: Any) -> CaseFile:
    """Three senders, a receiver and a switch as delivered, 3 m of cable."""
    switch = {"pfc": list(range(8))} | more.pop("switch", {})
    return linked(
        {f"{host}-s1": gigabit for host in ("receiver", "h1", "h2", "h3")},
        [{"target": "receiver", **flow} for flow in flows],
        cable={"length_m": 3.0},
        **({"warmup_ms": 5, "nic": {"pfc": list(range(8))}, "switch": switch} | more),
    )
