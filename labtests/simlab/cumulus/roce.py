"""What RoCE mode shows, and the memory that a port uses, moving with the network.

How RoCE mode looks in lossy mode is not recorded. Chosen: a port's use of a pool is that of its
groups or queues together. Of what came in only drops are told apart: the network counts ports.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from labtests.simlab.cumulus.chassis import CELL_BYTES, CumulusChassis, mapped, profiles_of
from labtests.simlab.cumulus.model import QUEUES, Tree, in_force
from labtests.simlab.cumulus.tables import sized
from labtests.simlab.screens import render

_SCREENS = Path(__file__).parent / "screens"
_OF_PORTS = tuple(("qos", *each.split()) for each in ("roce status", "roce counters",
                  "buffer egress-traffic-class", "buffer ingress-priority-group"))  # fmt: skip
_TRUST = {"both": "pcp,dscp", "l3": "dscp", "l2": "pcp", "port": "port"}


def screened(box: CumulusChassis, path: tuple[str, ...]) -> str:
    """What a path shows as text alone, "" for others: of RoCE mode where it is on."""
    port, at = (path[1], path[2:]) if path[:1] == ("interface",) and len(path) > 1 else ("", path)
    whole = in_force(box.ports, box.revisions.tree)
    known = at in _OF_PORTS if port in box.ports else path == ("qos", "roce")
    if not known or ("roce" in at and whole["qos"]["roce"]["enable"] != "on"):
        return ""
    found, pools = profiles_of(whole, port), whole["qos"]["traffic-pool"]
    told = found["egress-queue-mapping"]["switch-priority"]
    queue_of, dscps = [told[n]["traffic-class"] for n in QUEUES], mapped(found["mapping"])
    own = sorted(map(int, pools.get("roce-lossless", {}).get("switch-priority", {})))
    return render(
        _SCREENS, "-".join(at[1:]), sized=sized, listed=_listed, cell=CELL_BYTES, pools=pools,
        curves=found["congestion-control"].get("traffic-class", {}), pfc=found["pfc"], own=own,
        mode=whole["qos"]["roce"].get("mode"), trust=_TRUST[found["mapping"]["trust"]], map=dscps,
        dscps=[_listed(d for d in range(64) if dscps[d] == n) for n in range(8)],
        rest=[n for n in range(8) if n not in own], queue_of=queue_of,
        scheduler=found["egress-scheduler"].get("traffic-class", {}),
        queues_of=lambda priorities: sorted({queue_of[n] for n in priorities}),
        total=box.network.memory_use().total_cells * CELL_BYTES, **(_of(box, port) if port else {}),
    )  # fmt: skip


def _of(box: CumulusChassis, port: str) -> Tree:
    there = port in box.network.ports
    return {
        "queues": box.statistics.queues(port),
        "live": box.shown.queue_counters(port),
        "pauses": box.statistics.pfc(port),
        "groups": box.network.group_counters(port) if there else (),
        "thresholds": box.network.pause_cells(port) if there else (),
        "room": box.headroom_cells(port),
        "hidden": "queue-drops" in box.hidden(port),
    }


def _listed(numbers: Iterable[Any]) -> str:
    return ",".join(map(str, numbers)) or "-"
