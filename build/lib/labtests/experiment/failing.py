"""Links that fail while traffic runs: ports that are shut, and opened again, as any setting is."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from labtests.capabilities.records import PortState
from labtests.capabilities.settings import PORT_STATE
from labtests.inventory import Endpoint
from labtests.lab.lab import Lab
from labtests.measure.evidence import LinkFailure


@dataclass(frozen=True, slots=True, kw_only=True)
class Failing:
    """These ports go down so long after the start of the traffic, and up after so long again."""

    ports: tuple[Endpoint, ...]
    after_s: float
    lasting_s: float


@dataclass(slots=True)
class FailingLinks:
    """The failure of one phase, as it goes."""

    lab: Lab
    failing: Failing
    began_s: float | None = None
    shut_s: float | None = None
    open_s: float | None = None

    def step(self, now_s: float) -> None:
        """What is due."""
        if self.began_s is None:
            self.began_s = now_s
        since_s, failing = now_s - self.began_s, self.failing
        if self.shut_s is None:
            if since_s >= failing.after_s:
                self._tell("down")
                self.shut_s = self.lab.clock.now_s()
        elif self.open_s is None and since_s >= failing.after_s + failing.lasting_s:
            self._tell("up")
            self.open_s = self.lab.clock.now_s()

    def _tell(self, state: PortState) -> None:
        for port in self.failing.ports:
            self.lab.change(port, PORT_STATE, state)

    def result(self) -> LinkFailure:
        """What came of it."""
        ports = tuple((port.device, port.interface) for port in self.failing.ports)
        return LinkFailure(ports=ports, shut_s=self.shut_s, open_s=self.open_s)


@contextmanager
def failing_links(lab: Lab, failing: Failing | None) -> Iterator[FailingLinks | None]:
    """All ports are as before when the block is left. None: no link fails."""
    if failing is None:
        yield None
        return
    with lab.restoring():
        yield FailingLinks(lab, failing)
