"""One process of a client of fleet.py, and what its runs come to."""

import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from fleet_hosts import Fleet, testbed_text

CLIENTS = Path(__file__).with_name("fleet_clients.py")
LIMIT_S = 1800
FLOOR, LABTESTS = "floor: bare asyncssh", "labtests"
FABRIC = "Fabric ThreadingGroup"
Json = dict[str, Any]


def ansible_name(module: str) -> str:
    """Its row in the tables."""
    return f"Ansible, {module}"


def client(kind: str, fleet: Fleet, folder: Path) -> Json:
    """One client process; its own figures, and `total_s` from start to end."""
    testbed = folder / "testbed.yaml"
    testbed.write_text(testbed_text(fleet))
    told = {
        "ports": fleet.ports,
        "user": fleet.user,
        "key_file": str(fleet.key_file),
        "known_hosts": str(fleet.known_hosts),
        "testbed": str(testbed),
        "folder": str(folder),
    }
    file = folder / "fleet.json"
    file.write_text(json.dumps(told))
    begun = time.perf_counter()
    root = str(CLIENTS.parents[1])
    done = subprocess.run(
        [sys.executable, CLIENTS, kind, file],
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        env={**os.environ, "PYTHONPATH": root},
    )
    if done.returncode != 0:  # on stdout too: there it ends up beside the tables
        print(f"{kind} on {len(fleet.ports)} hosts ended with {done.returncode}:\n{done.stderr}")
        raise SystemExit(1)
    found: Json = json.loads(done.stdout)
    return found | {"total_s": time.perf_counter() - begun}


def median(runs: list[Json], key: str) -> float:
    return statistics.median(float(run[key]) for run in runs)


def ratio(runs: list[Json], others: list[Json], key: str = "total_s") -> float:
    """Of neighbouring runs, so that it means the same on a machine that is busy at times; what ran
    only once is held against the median of the others."""
    if len(runs) != len(others):
        return median(runs, key) / median(others, key)
    pairs = zip(runs, others, strict=True)
    return statistics.median(float(one[key] / other[key]) for one, other in pairs)


def work_ratio(runs: list[Json], others: list[Json]) -> float:
    """The same without start and imports."""
    pairs = zip(runs, others, strict=True)
    return statistics.median(sum(working(one)) / sum(working(other)) for one, other in pairs)


def working(run: Json) -> list[float]:
    return [s for part, s in run["wall_s"].items() if not part.startswith("import")]
