"""How long it takes to look for cyclic buffer dependencies (docs/topology.md).

    python benchmarks/topology.py

Clos networks of three tiers (k = 4 to 28: 20 to 980 switches), leaves with two spines, a ring, a
torus: as they are, with all failures of one and two links or switches, and while routes change;
seconds, and how each was done.
"""

import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests/topology"))

from networks import clos, leaf_spine, ring, torus

from labtests.topology.convergence import settling
from labtests.topology.dependencies import routed
from labtests.topology.failures import Surveyor

NETWORKS = (
    clos(4),
    clos(8),
    clos(8, ways="up-down"),
    leaf_spine(98, 2),
    ring(20),
    torus(10),
    clos(16),
    clos(28),
    clos(28, ways="up-down"),
    leaf_spine(998, 2),
)


def main() -> None:
    """A line for each network and question."""
    print(
        f"{'network':<12} {'routes':<8} {'switches':>8} {'cables':>7}  {'what':<10} {'s':>7}  how"
    )
    for network in NETWORKS:
        surveyor = Surveyor(fabric=network)
        begin = time.perf_counter()
        cycles = routed(network).dependencies.cycles()
        shown(network, "as it is", begin, f"{len(cycles)} cycles")
        for count in (1, 2):
            begin = time.perf_counter()
            found = surveyor.survey(count)
            how = f"{found.sets} {found.how}: {found.looked} looked at, {found.broken} broken"
            shown(network, f"{count} failed", begin, how)
        begin = time.perf_counter()
        changes = settling(network)
        how = "sampled" if changes.sampled else "all"
        how = f"{changes.changes} {how}: {changes.looked} looked at, {changes.broken} broken"
        shown(network, "changes", begin, how)


def shown(network: object, what: str, begin: float, how: str) -> None:
    """One line."""
    seconds = time.perf_counter() - begin
    size = f"{len(network.switches):>8} {len(network.cables):>7}"
    print(
        f"{network.name:<12} {network.ways:<8} {size}  {what:<10} {seconds:>7.1f}  {how}",
        flush=True,
    )


if __name__ == "__main__":
    main()
