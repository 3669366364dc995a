"""The network of a testbed file as a case: its hosts, switches and cables, as the packet network
has them. No device is asked."""

from pathlib import Path
from typing import Any

from labtests.inventory import load
from labtests.topology.of_testbed import expect_wired, switches_of

DURATION_MS, WARMUP_MS = 10.0, 5.0


def case_tree(file: Path) -> dict[str, Any]:
    """The tree of a case. Raises InventoryError for a mistake of the file."""
    testbed = load(file)
    expect_wired(testbed)
    switches = switches_of(testbed)
    hosts = [str(device.name) for device in testbed.devices if device.name not in switches]
    links = [
        {
            "between": [str(link.a.device), str(link.b.device)],
            "rate_gbit_per_s": link.speed_bits_per_s / 1e9,
            "length_m": float(link.length_m),
        }
        for link in testbed.links
    ]
    return {
        "name": str(testbed.name),
        "duration_ms": DURATION_MS,
        "warmup_ms": WARMUP_MS,
        "routing": "ecmp",
        "nic": {"pfc": [3], "random_gap": 0.0002, "dcqcn": {"cnp_priority": 6}},
        "switch": {
            "pfc": [3],
            "memory": {"xon_offset_bytes": 20480},
            "ecn": [{"queues": [3], "low_bytes": 100000, "high_bytes": 400000, "probability": 0.2}],
        },
        "hosts": dict.fromkeys(hosts),
        "switches": {str(name): None for name in switches},
        "links": links,
        "flows": [{"source": hosts[0], "target": hosts[1]}],
    }
