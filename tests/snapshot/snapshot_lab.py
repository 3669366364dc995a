"""A simulated lab in this process, and snapshots of it."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from in_process import InProcessLab

from labtests.inventory import Testbed, load
from labtests.lab.lab import Lab
from labtests.recovery.snapshot import Snapshot, take
from labtests.transport.transcript import Transcript

TESTBED_FILE = Path(__file__).parents[2] / "testbeds" / "h3c-s6550-cx4.yaml"
OUT = "Twenty-FiveGigE1/0/13"


@dataclass
class Bench:
    simulated: InProcessLab
    lab: Lab
    testbed: Testbed

    def take(self) -> Snapshot:
        return take(self.lab)


@contextmanager
def open_bench(folder: Path, file: Path = TESTBED_FILE) -> Iterator[Bench]:
    described = load(file)
    with (
        InProcessLab(described, seed=1) as simulated,
        Transcript(folder / "journal.jsonl") as transcript,
        Lab.open(
            simulated.reroute(described),
            clock=simulated.clock,
            backend="simulated",
            transcript=transcript,
        ) as lab,
    ):
        yield Bench(simulated, lab, simulated.reroute(described))
