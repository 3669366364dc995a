"""What one try of a client and its server showed: raw evidence, for the tool to judge."""

from dataclasses import dataclass

from labtests.transport.protocol import Reply, Transport


@dataclass(frozen=True, slots=True, kw_only=True)
class Party:
    """One end of a stream: an open session, the IPv4 address of its data port, its RDMA device."""

    name: str
    transport: Transport
    address: str
    rdma: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """Everything seen of one client and its server, times on the lab's clock.

    `client.errors` is what the client had printed on stderr before it was ended by us, so that our
    own signal is never taken for its complaint. `status` of either is None while it ran.
    """

    client: Reply
    server: Reply
    running_s: float | None  # when the client was first seen to send; None = never
    ended_s: float  # when it had ended, or was ended by us
    ended_by_us: bool
    silent_s: float | None = None  # for how long it had printed nothing when it was ended by us
    pause_s: float = 0.0  # for how long it printed nothing before it went on: at least so long

    @property
    def server_left_early(self) -> bool:
        """The server had ended although its client still ran until we ended it."""
        return self.ended_by_us and self.server.status is not None


def signal_of(status: int) -> str:
    """In brackets, which signal a status above 128 stands for (shell convention), or that it is the
    one of timeout(1)."""
    if status == 124:
        return " (ended by its time limit)"
    names = {130: "INT", 134: "ABRT", 137: "KILL", 139: "SEGV", 143: "TERM"}
    return f" (ended by SIG{names[status]})" if status in names else ""
