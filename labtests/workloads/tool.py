"""What a program needs to be to make a flow: a module of its own, and nothing else of labtests.

A suite may bring one: `incast.flows(pattern, MyTool(tos=...))`. docs/suites.md has an example.
"""

from typing import Protocol, Self

from labtests.capabilities.flows import FlowResult
from labtests.transport.commands import Shell
from labtests.workloads.attempt import Attempt, Party


class FlowTool(Protocol):
    """One flow's program: command lines of both ends, and what their output proves. Frozen."""

    @property
    def name(self) -> str:
        """The program."""
        ...

    @property
    def tos(self) -> int:
        """The TOS byte of the data."""
        ...

    @property
    def port(self) -> int:
        """Where its server listens; two flows to one server differ in it."""
        ...

    @property
    def of_rdma(self) -> bool:
        """Whether it needs RDMA devices; then its server listens with the connection manager."""
        ...

    @property
    def pulls(self) -> bool:
        """Whether the client gets the data: then it runs on the receiver (RDMA read)."""
        ...

    @property
    def probes(self) -> bool:
        """Whether it is no load: its messages are few, and what it tells are times."""
        ...

    @property
    def offered_bits_per_s(self) -> float | None:
        """What it is asked to send; None: as fast as it can."""
        ...

    @property
    def first_report_s(self) -> float:
        """So long after its start its first figures come."""
        ...

    @property
    def ends_after_s(self) -> float | None:
        """Its own duration; None: until it is ended."""
        ...

    def of_flow(self, number: int, *, seconds: float, row_every_s: int) -> Self:
        """The same for one of several flows: with a port of its own, for so long."""
        ...

    def shares(self) -> tuple["FlowTool", ...]:
        """What the processes are asked that one flow takes; as a rule one process, itself."""
        ...

    def server_command(self, server: Party, *, rdma: str | None) -> Shell | None:
        """What the end that waits is started with; None: nothing has to wait."""
        ...

    def client_command(self, server: Party, *, rdma: str | None) -> Shell:
        """What the end that connects, and prints the figures, is started with."""
        ...

    def is_ready(self, server_output: str) -> bool:
        """The server waits for its client."""
        ...

    def is_running(self, client_output: str, server_output: str) -> bool:
        """The client sends."""
        ...

    def may_retry(self, attempt: Attempt) -> bool:
        """It never connected, in words that another try may not meet."""
        ...

    def judge(self, blank: FlowResult, attempt: Attempt) -> FlowResult:
        """COMPLETE only with figures that prove traffic, and with nothing against it."""
        ...
