"""A simulated lab in this process, in front of which the suites of this repository run, with
something that goes wrong at a chosen moment."""

import importlib.util
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType

from in_process import InProcessLab
from typed import typed

from labtests.capabilities.records import PfcSetting
from labtests.capabilities.settings import PFC
from labtests.experiment import SIMULATED, Class, Incast
from labtests.inventory import load
from labtests.lab.lab import Lab
from labtests.transport.transcript import Transcript
from labtests.verdicts import lossless, paused

ROOT = Path(__file__).parents[2]
TESTBED_FILE = ROOT / "testbeds" / "h3c-s6550-cx4.yaml"
SOFT_ROCE = "suites/test_rdma_ecn.py"  # skipped on the story's lab of ConnectX NICs
TOLD = tuple(
    f"suites/test_{name}.py"
    for name in (
        *("below_bottleneck", "overload", "scheduling"),
        *("s1_pfc", "s2_dcqcn", "s3_reaction_point", "latency"),
    )
)
"""What whole runs are told by: each kind of load, change and control. `make run` has all suites."""
ELSEWHERE = tuple(
    sorted({str(file.relative_to(ROOT)) for file in (ROOT / "suites").glob("test_*.py")} - {*TOLD})
)
SUITE_TESTS = sum((ROOT / file).read_text().count("\ndef test_") for file in TOLD)
NS_PER_S = 1_000_000_000
SWITCH, OUT = "S6550", "Twenty-FiveGigE1/0/13"  # the bottleneck
S1 = ("test_s1_pfc", "test_pfc_holds_a_udp_incast_without_loss")
S2 = ("test_s2_dcqcn", "test_dcqcn_slows_an_rdma_incast_without_loss")
EVERY = frozenset(range(8))
PFC_ON = PfcSetting(mode="on", priorities=EVERY)
PFC_OFF = PfcSetting(mode="off", priorities=frozenset())
SHORT_S = 3  # one second of all senders together: enough to drop, or not


def suite(name: str) -> ModuleType:
    """A module of suites/, as it is."""
    spec = importlib.util.spec_from_file_location(f"suites_{name}", ROOT / "suites" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@dataclass
class Bench:
    """An open lab. `when(text, act)`: the first time that the progress says so, `act` happens."""

    simulated: InProcessLab
    lab: Lab
    transcript: Path
    said: list[str] = field(default_factory=list)
    due: list[tuple[str, Callable[[], None]]] = field(default_factory=list)

    def incast(self, *, lab_seconds: float = 5, with_controls: bool = True) -> Incast:
        return Incast(
            lab=self.lab,
            pace=SIMULATED.lasting(lab_seconds),
            with_controls=with_controls,
            progress=self.hear,
        )

    def run(self, which: tuple[str, str], **settings) -> Incast:
        """A test of suites/ to its end; what it changed is put back. Raises what it raises."""
        module, name = which
        incast = self.incast(**settings)
        with self.lab.restoring():
            getattr(suite(module), name)(incast)
        return incast

    def lose_nothing(self, *, controls: bool = True) -> Incast:
        """The heart of S1, in short: a control that drops, an experiment that must not."""
        incast = self.incast(lab_seconds=SHORT_S, with_controls=controls)
        traffic = incast.udp(
            Class(tos=0x60, offered_share=0.78), Class(tos=0xA0, offered_share=0.515)
        )
        with self.lab.restoring():
            incast.trust_dscp()
            for number, sender in enumerate(incast.senders):
                own = frozenset({5} if number else {3})
                incast.set(sender.nic, PFC, PfcSetting(mode="on", priorities=own))
            incast.pfc_at_switch(PFC_OFF)
            incast.prove_counters("PFC off", traffic, queues={3, 5})
            incast.pfc_at_switch(PFC_ON)
            seen = incast.run("PFC on", traffic)
            incast.judge(lossless(seen, {3, 5}, controls=incast.controls), paused(seen))
        return incast

    def hear(self, text: str) -> None:
        self.said.append(text)
        for entry in tuple(self.due):
            if entry[0] in text:
                self.due.remove(entry)
                entry[1]()

    def when(self, text: str, act: Callable[[], None]) -> None:
        self.due.append((text, act))

    def fault_when(self, text: str, after_s: float = 0.0, **fault) -> None:
        """A fault, so many simulated seconds after the progress has said so."""

        def inject() -> None:
            timeline = self.simulated.lab.timeline
            due_ns = timeline.now_ns + round(after_s * NS_PER_S)
            timeline.at(due_ns, lambda: self.simulated.lab.inject(fault))

        self.when(text, inject if after_s else lambda: self.simulated.fault(**fault))

    def settings(self, *, but: str = "") -> dict[str, str]:
        """Everything that can be set on the lab's devices, raw, and the tools that still run."""
        found = {}
        for device in self.lab.testbed.devices:
            if device.name == but:
                continue
            run = self.lab.transports[device.name].run
            if device.platform == "comware":
                for command in ("display current-configuration", "display qos wred table"):
                    found[f"{device.name} {command}"] = run(typed(command)).text
                continue
            for port in device.ports:
                name = port.interface
                for command in (
                    f"mlnx_qos -i {name}",
                    f"grep -r . /sys/class/net/{name}/ecn",
                    "ps -eo args",
                ):
                    found[f"{device.name} {command}"] = run(typed(command)).text
        return found


@contextmanager
def open_bench(folder: Path, *, seed: int = 1, file: Path = TESTBED_FILE) -> Iterator[Bench]:
    """The lab of the first testbed, or of this one, open."""
    described = load(file)
    with (
        InProcessLab(described, seed=seed) as simulated,
        Transcript(folder / "journal.jsonl") as transcript,
        Lab.open(
            simulated.reroute(described),
            clock=simulated.clock,
            backend="simulated",
            transcript=transcript,
        ) as lab,
    ):
        yield Bench(simulated, lab, transcript.path)
