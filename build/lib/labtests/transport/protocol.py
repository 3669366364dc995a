"""The seam: a command made of words (commands.py) in, text out. SSH and the simulated lab (behind
SSH) both fit it.

A `Transport` is an open session with one device. A `Clock` is the lab's time: the wall clock on
hardware, the simulated network's clock in a dry run. Nothing else differs between the two.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, Protocol

from labtests.transport.commands import Command

DEFAULT_TIMEOUT_S = 30.0
EMULATED = "labtests_simlab"
"""How the SSH server of an emulated device names itself in its identification (RFC 4253 section
4.2), so that its results are never taken for those of a real one, whoever started it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What a device answered to one command, without echo and prompt.

    `status` is the exit status; None on a CLI that has none. `time_s` is the lab's clock when the
    answer was complete. `parts` of a host's answer to several configuration lines: one for each
    line that was sent.
    """

    device: str
    command: str
    text: str
    errors: str = ""
    status: int | None = None
    time_s: float = 0.0
    parts: tuple["Reply", ...] = ()


Signal = Literal["INT", "TERM", "KILL"]


class Process(Protocol):
    """A command that goes on running on the device."""

    device: str
    command: str

    def output(self) -> str:
        """Everything it has printed on stdout so far (after a sync with the device)."""
        ...

    def errors(self) -> str:
        """Everything it has printed on stderr so far."""
        ...

    def status(self) -> int | None:
        """Its exit status, None while it runs. A process ended by signal n has status 128 + n."""
        ...

    def signal(self, name: Signal) -> None:
        """Signal the whole remote process group. Fine when it has already ended."""
        ...

    def close(self) -> None:
        """End it (INT, then TERM, then KILL, each with a grace) and free the channel. Never raises
        for a process that is gone; raises CommandTimeout when it survives KILL."""
        ...


class Transport(Protocol):
    """An open session with one device."""

    device: str

    def run(self, command: Command, *, timeout_s: float = DEFAULT_TIMEOUT_S) -> Reply:
        """Run one command to its end. A nonzero status is an answer, not an exception.

        Raises Unreachable when the session broke, CommandTimeout when it did not end in time (the
        remote process group is ended too).
        """
        ...

    def start(self, command: Command, *, limit_s: float) -> Process:
        """Start a long command and return at once. It ends by itself after `limit_s` at the latest,
        also when this side has died. A CLI session has no processes and raises CommandRejected."""
        ...

    def configure(self, commands: tuple[Command, ...]) -> Reply:
        """Send configuration lines: on a CLI inside its configuration mode, in order, as one block
        and back out; on a host one after the other, in one exchange. The reply's text is everything
        printed. A host stops at the first nonzero status."""
        ...

    def close(self) -> None:
        """End the session. Closing twice is allowed."""
        ...


class Clock(Protocol):
    """The lab's time."""

    def now_s(self) -> float:
        """Seconds since the epoch on hardware; seconds since its start in a simulated lab."""
        ...

    def sleep(self, seconds: float) -> None:
        """Let lab time pass."""
        ...


def wait_until(
    clock: Clock, condition: Callable[[], bool], *, deadline_s: float, step_s: float = 0.1
) -> bool:
    """Wait for a condition, looking every `step_s` of lab time; False when the deadline passed."""
    end_s = clock.now_s() + deadline_s
    while not condition():
        if clock.now_s() >= end_s:
            return False
        clock.sleep(step_s)
    return True
