"""A perftest server and the client that found it: what they share while they run."""

from dataclasses import dataclass, field

from labtests.network import RcFlow
from labtests.simlab.linux.perftest.plan import PerftestPlan
from labtests.simlab.linux.ports import NicPort
from labtests.simlab.linux.processes import HostProcess
from labtests.simlab.linux.streams import Event

REMOTE_OPERATION_ERROR = 11  # ibv_wc_status: the message did not fit the receive buffer


@dataclass(frozen=True, slots=True, kw_only=True)
class QueuePair:
    """One end of a connection."""

    number: int
    psn: int
    remote_key: int
    address: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PerftestSide:
    """One of the two programs."""

    plan: PerftestPlan
    device: str
    port: NicPort
    process: HostProcess
    pairs: tuple[QueuePair, ...]

    @property
    def address(self) -> str:
        """The NIC port's IPv4 address."""
        assert self.port.address is not None
        return self.port.address


@dataclass(slots=True, kw_only=True, eq=False)
class PerftestListener:
    """A server that waits; `met` is set when a client has come."""

    process: HostProcess
    side: PerftestSide
    meeting: "Meeting | None" = None
    met: Event = field(default_factory=Event)


@dataclass(slots=True, kw_only=True, eq=False)
class Meeting:
    """Both programs and the client's traffic. `changed` is set when one did something."""

    server: PerftestSide
    client: PerftestSide
    flow: RcFlow | None = None
    times_us: list[float] = field(default_factory=list)  # of the messages of a latency test
    start_ns: int = 0
    running: bool = False
    finished: set[str] = field(default_factory=set)  # sides that came to their end
    gone: set[str] = field(default_factory=set)  # sides that died before
    changed: Event = field(default_factory=Event)

    @property
    def hopeless(self) -> bool:
        """They never get to exchange addresses: another number of queue pairs."""
        return self.server.plan.qps != self.client.plan.qps

    @property
    def mismatched(self) -> bool:
        """They are different tests: nothing is counted."""
        return self.server.plan.tool != self.client.plan.tool

    @property
    def mtu_bytes(self) -> int:
        """The smallest of what both ask for and what their ports carry (1500: 1024)."""
        sides = (self.server, self.client)
        carried = min(side.port.roce_mtu_bytes for side in sides)
        return min(carried, *(side.plan.mtu_bytes or carried for side in sides))

    @property
    def error_status(self) -> int | None:
        """The ibv_wc_status that ended the client's queue pairs; None while all is well."""
        client, server = self.client.plan, self.server.plan
        if client.verb == "send" and client.size_bytes > server.size_bytes and not self.mismatched:
            return REMOTE_OPERATION_ERROR
        return None if self.flow is None else self.flow.error_status

    def messages(self, name: str) -> int:
        """Messages that this side ("client" or "server") has seen complete so far."""
        if self.flow is None:
            return 0
        if name == "client":
            return self.flow.messages_completed
        return self.flow.delivered_bytes // self.client.plan.size_bytes

    def leave(self, name: str) -> None:
        """This side's program is gone; its traffic stops."""
        if name not in self.finished:
            self.gone.add(name)
        if self.flow is not None and (name == "client" or name in self.gone):
            self.flow.stop()
        self.changed.set()
