"""Pause storms of the receiver while traffic runs."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from labtests.capabilities.flows import StormResult
from labtests.core.output import lines_said, told
from labtests.experiment.roles import Role
from labtests.transport.protocol import Clock, Process, Transport, wait_until
from labtests.workloads import PauseStorm
from labtests.workloads.streams import Processes

END_DEADLINE_S = 10.0
"""So much later than its frames take, a storm may end."""
NOT_FOUND = 127


@dataclass
class ReceiverStorm:
    """Storms of one host, begun one after the other as they are due."""

    storm: PauseStorm
    role: Role
    processes: Processes
    transport: Transport
    clock: Clock
    running: list[Process] = field(default_factory=list)
    due_s: float = 0.0
    begun_s: list[float] = field(default_factory=list)
    ended_s: dict[int, float] = field(default_factory=dict)

    def begin(self, now_s: float) -> None:
        """The next one, if it is due; and which have ended is seen."""
        self._look()
        if len(self.running) < self.storm.times and now_s >= self.due_s:
            command = self.storm.command(self.role.nic.interface)
            self.begun_s.append(self.clock.now_s())
            self.running.append(self.processes.start(self.transport, command))
            self.due_s = now_s + self.storm.every_s

    def _look(self) -> None:
        for number, process in enumerate(self.running):
            if number not in self.ended_s and process.status() is not None:
                self.ended_s[number] = self.clock.now_s()

    def result(self) -> StormResult:
        """Waits for the end of the last."""
        because = next(filter(None, self._problems()), "")
        self._look()
        return StormResult(
            switch=self.role.switch.device,
            switch_port=self.role.switch.interface,
            priority=self.storm.priority,
            lasting_ms=self.storm.lasting_ms,
            times=self.storm.times,
            frames=self.storm.frames,
            form=self.storm.form,
            spans_s=tuple((self.begun_s[n], end_s) for n, end_s in sorted(self.ended_s.items())),
            because=because,
        )

    def _problems(self) -> Iterator[str]:
        if (begun := len(self.running)) < self.storm.times:
            yield f"the traffic was over when {begun} of {self.storm.times} storms had begun"
        for process in self.running:
            yield self._problem(process)

    def _problem(self, process: Process) -> str:
        tool = f"mausezahn on {self.role.name}"
        if not wait_until(
            self.clock, lambda: process.status() is not None, deadline_s=END_DEADLINE_S
        ):
            return f"{tool} did not end in {END_DEADLINE_S:g} s"
        if process.status() == NOT_FOUND:
            return f"{self.role.name} has no mausezahn: install it there (package mausezahn)"
        said = "; ".join(lines_said(process.errors())[-2:]) or "it said nothing"
        ending = f"{tool} ended with status {process.status()}: {said}"
        return told(ending) if process.status() else ""


@contextmanager
def storming(
    storm: PauseStorm | None, role: Role, transport: Transport, clock: Clock
) -> Iterator[ReceiverStorm | None]:
    """Nothing of it runs any more when the block is left. None: nobody storms."""
    if storm is None:
        yield None
        return
    with Processes(clock, limit_s=storm.every_s + END_DEADLINE_S + 60.0) as processes:
        yield ReceiverStorm(
            storm=storm, role=role, processes=processes, transport=transport, clock=clock
        )
