"""A simulated lab in front of which suites of this repository run, while something goes wrong."""

import importlib.util
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

from in_process import InProcessLab
from typed import typed

from labtests.experiment import SIMULATED, Incast, NotPassed
from labtests.experiment.refresh import measure
from labtests.inventory import load
from labtests.lab.lab import Lab
from labtests.measure.evidence import Evidence, Refresh
from labtests.transport.transcript import Transcript
from labtests.verdicts import Outcome

ROOT = Path(__file__).parents[2]
NS_PER_S = 1_000_000_000
Fault = dict[str, Any]


class Remembering(Incast):
    """A control that was right once, in this lab, is not run again: what it saw is judged anew.

    Rows are about phases in which something goes wrong; their controls are the same for all. A row
    about a control has none that is remembered.
    """

    controls_seen: dict[str, Evidence]

    def control(self, name: str, traffic: Any, red: Any, because: Any) -> None:
        remembered = self.controls_seen.get(name)
        if remembered is None or not self.with_controls:
            super().control(name, traffic, red, because)
            if self.controls and all(judged.as_expected for judged in self.judged):
                self.controls_seen[name] = self.controls[-1]
            return
        real, self._phase = self._phase, lambda *_, **__: remembered  # type: ignore[method-assign]
        try:
            super().control(name, traffic, red, because)
        finally:
            self._phase = real  # type: ignore[method-assign]


@dataclass
class Ended:
    """How a suite ended, in the words that a user reads."""

    outcome: Outcome
    words: str
    incast: Incast


@dataclass
class Bench:
    """An open lab. Faults come when the progress says something, and heal when the suite ends."""

    simulated: InProcessLab
    lab: Lab
    controls_seen: dict[str, dict[str, Evidence]] = field(default_factory=dict)
    due: list[tuple[str, Callable[[], None]]] = field(default_factory=list)
    said: list[str] = field(default_factory=list)
    _refresh: list[Refresh] = field(default_factory=list)
    _losing: list[Fault] = field(default_factory=list)

    def run(self, suite: str, test: str, *, anew: bool = False, lab_seconds: float = 5) -> Ended:
        """A test of suites/ to its end; what it changed is put back. `anew`: nothing that earlier
        runs found out is taken for granted."""
        incast = Remembering(
            lab=self.lab,
            pace=SIMULATED.lasting(lab_seconds),
            progress=self.hear,
            measured=None if anew else self._measured,
        )
        known = self.controls_seen.setdefault(f"{suite} {test}", {})
        incast.controls_seen = {} if anew else known
        try:
            with self.lab.restoring():
                getattr(_module(suite), test)(incast)
        except NotPassed as error:
            return Ended(error.outcome, str(error), incast)
        finally:
            self.due.clear()
        return Ended(Outcome.PASS, "", incast)

    def _measured(self, anew: bool) -> Refresh:
        if anew or not self._refresh:
            self._refresh.insert(0, measure(self.lab, Incast(lab=self.lab, pace=SIMULATED).roles))
        return self._refresh[0]

    def hear(self, text: str) -> None:
        self.said.append(text)
        for entry in tuple(self.due):
            if entry[0] in text:
                self.due.remove(entry)
                entry[1]()

    def fault_when(self, text: str, after_s: float, fault: Fault) -> None:
        """The fault, so many simulated seconds after the progress has said so."""
        if fault["kind"] == "drop-packets":
            self._losing.append(fault)

        def inject() -> None:
            timeline = self.simulated.lab.timeline
            due_ns = timeline.now_ns + round(after_s * NS_PER_S)
            timeline.at(due_ns, lambda: self.simulated.lab.inject(fault))

        now = lambda: self.simulated.fault(**fault)  # noqa: E731
        self.due.append((text, inject if after_s else now))

    def heal(self) -> None:
        """Nothing is wrong any more; what counters show of it stays."""
        while self._losing:
            self.simulated.fault(**{**self._losing.pop(), "per_million": 0})
        for device in self.lab.testbed.devices:
            self.simulated.fault(kind="heal", device=device.name)
            self.simulated.lab.faults[device.name].dead_counters.clear()
            if device.platform in ("connectx", "linux"):
                self.simulated.fault(
                    kind="background", device=device.name, to="", tos=0, mbit_per_s=0
                )

    def settings(self) -> dict[str, str]:
        """Everything that can be set on the lab's devices, raw, and the tools that still run."""
        found = {}
        for device in self.lab.testbed.devices:
            for command in _showing(device.platform, [port.interface for port in device.ports]):
                found[f"{device.name} {command}"] = self.shown(device.name, command)
        return found

    def shown(self, device: str, command: str) -> str:
        """What a device prints."""
        return self.lab.transports[device].run(typed(command)).text


def _showing(platform: str, ports: list[str]) -> list[str]:
    if platform == "comware":
        return ["display current-configuration", "display qos wred table"]
    if platform == "cumulus":
        return [f"nv show {what} --applied -o json" for what in ("qos", "interface")]
    if platform == "onyx":
        return ["show running-config | exclude Generated"]
    if platform == "linux-switch":
        return [f"tc {what} show dev {port}" for port in ports for what in ("qdisc", "filter")]
    of_nics = [f"mlnx_qos -i {port}; grep -r . /sys/class/net/{port}/ecn" for port in ports]
    # a session's first command has questions about the host around it, which ps would show
    return ["true", *(of_nics if platform == "connectx" else []), "ps -eo args"]


def _module(name: str) -> ModuleType:
    """A module of suites/, as it is."""
    spec = importlib.util.spec_from_file_location(f"suites_{name}", ROOT / "suites" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@contextmanager
def open_bench(testbed: str, folder: Path, *, seed: int = 1) -> Iterator[Bench]:
    """The lab of a testbed of this repository, open."""
    described = load(ROOT / "testbeds" / f"{testbed}.yaml")
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
        yield Bench(simulated, lab)
