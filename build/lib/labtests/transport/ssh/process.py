"""A command that goes on running on a Linux host."""

from typing import Protocol

from labtests.core.errors import CommandRejected, CommandTimeout
from labtests.transport.commands import Shell, program, script
from labtests.transport.protocol import Clock, Reply, Signal, wait_until
from labtests.transport.ssh.streams import Streams

LAST_WORDS_S = 2.0  # for the exit status of a group that is gone to arrive
GRACES_S: tuple[tuple[Signal, float], ...] = (("INT", 2.0), ("TERM", 2.0), ("KILL", 2.0))
"""How long (lab time) a process group may take to end after each signal."""


class Launcher(Protocol):
    """The session that started the process."""

    device: str
    clock: Clock

    def quick(self, command: Shell) -> Reply:
        """A command that does not wait for anything."""
        ...

    def await_end(self, streams: Streams, command: str, deadline_s: float) -> bool:
        """Wait for the end of a command; False when the deadline (lab time) passes before."""
        ...

    def sync(self, command: str) -> None:
        """Everything the host had sent is here. Raises Unreachable."""
        ...

    def drain(self, streams: Streams, command: str) -> None:
        """Take what has arrived. Raises Unreachable when the session broke."""
        ...


class ShellProcess:
    """See transport.Process. `pid` is its process id on the host, and that of its group."""

    def __init__(self, shell: Launcher, streams: Streams, *, command: str, pid: int) -> None:
        self.device, self.command, self.pid = shell.device, command, pid
        self._shell, self._streams = shell, streams
        self._gone = False

    def output(self) -> str:
        """See Process."""
        self._refresh()
        return self._streams.output().partition("\n")[2]  # the first line is the process id

    def errors(self) -> str:
        """See Process."""
        self._refresh()
        return self._streams.errors()

    def status(self) -> int | None:
        """See Process."""
        self._refresh()
        return self._streams.status if self._streams.ended else None

    def signal(self, name: Signal) -> None:
        """See Process."""
        if self._gone:
            return
        line = program("kill", "-s", name, "--", -self.pid)
        reply = self._shell.quick(line)
        if reply.status != 0 and "not permitted" in reply.errors:
            raise CommandRejected(
                self.device,
                line,
                reply.errors.strip(),
                "log in as the user the process runs as, or say `become: true` in the testbed file",
            )

    def close(self) -> None:
        """See Process. Afterwards no process of its group is left on the host."""
        if self._gone:
            return
        try:
            self._end_group()
            self._gone = True
            deadline_s = self._shell.clock.now_s() + LAST_WORDS_S
            self._shell.await_end(self._streams, self.command, deadline_s)
        finally:
            self._streams.close()

    def _end_group(self) -> None:
        for name, grace_s in GRACES_S:
            if not self._alive():
                return
            self.signal(name)
            if wait_until(self._shell.clock, self._ended, deadline_s=grace_s, step_s=0.05):
                return
        raise CommandTimeout(
            self.device,
            self.command,
            f"process group {self.pid} survived KILL",
            f"look at `ps -o pid,stat,wchan,args -g {self.pid}` on the host: state D is a driver "
            "that hangs, and only a reboot ends it",
        )

    def _ended(self) -> bool:
        return not self._alive()

    def _alive(self) -> bool:
        """Raises CommandRejected where the host does not say: silence is no proof of its end.

        Behind a sudo without a terminal of its own the group begins only with timeout(1); until
        then its leader is asked for.
        """
        line = script("kill -s 0 -- GROUP || kill -s 0 PID", GROUP=-self.pid, PID=self.pid)
        reply = self._shell.quick(line)
        if reply.status == 0 or "not permitted" in reply.errors:
            return True
        if "no such process" in reply.errors.lower():
            return False
        said = reply.errors.strip() or f"status {reply.status} and no output"
        raise CommandRejected(
            self.device,
            line,
            f"it does not tell whether the process group still runs: {said}",
            f"look at `ps -o pid,stat,args -g {self.pid}` on the host, and why `kill` fails there",
        )

    def _refresh(self) -> None:
        if self._gone:
            return
        if not self._streams.ended:
            self._shell.sync(self.command)
        self._shell.drain(self._streams, self.command)
