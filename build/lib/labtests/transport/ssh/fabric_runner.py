"""Fabric's `run` for a command that labtests starts on a host, journals, limits and ends
(supervision.py). Fabric keeps its options, its results and its exceptions."""

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import IO, Any

from fabric.runners import Remote
from invoke.exceptions import CommandTimedOut, UnexpectedExit
from invoke.runners import Result

from labtests.core.errors import CommandRejected, CommandTimeout, DeviceError
from labtests.core.output import clean, last_line, say, tell
from labtests.transport.commands import program
from labtests.transport.protocol import Clock, Process, Reply, Transport
from labtests.transport.ssh.becoming import refusal
from labtests.transport.ssh.shell import TIMED_OUT, Becoming

LIMIT_S = 600.0
"""The longest time of a command that was given no `timeout`."""
LATE_S = 10.0  # how long a host may take to say that it has ended a command
FIRST_LOOK_S, LONGEST_LOOK_S = 0.005, 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteSession:
    """The open session with a host: `note` writes into the transcript, `expect_lease` raises
    LeaseLost when somebody else has the lab. In a plan `planned` gives the list of what would be
    sent to it, and nothing is sent."""

    transport: Transport
    clock: Clock
    become: Becoming
    note: Callable[[str], None]
    expect_lease: Callable[[], None]
    planned: Callable[[], list[str] | None]

    @property
    def device(self) -> str:
        """Its name in the testbed."""
        return self.transport.device


class CommandFailed(CommandRejected, UnexpectedExit):
    """A command of a suite ended with another status than 0, and `warn=True` was not said."""

    def __init__(self, device: str, result: Result) -> None:
        streams = (("stderr", result.stderr), ("stdout", result.stdout))
        said = [(name, last_line(text, "")) for name, text in streams if text.strip()]
        words = "last line of {}: {!r}".format(*said[0]) if said else "it printed nothing"
        super().__init__(
            device,
            result.command,
            f"it ended with status {result.exited}; {words}",
            "run it by hand on the host; with warn=True any status is an answer",
        )
        self.result, self.reason = result, None


class CommandOverdue(CommandTimeout, CommandTimedOut):
    """A command of a suite did not end in time, and was ended."""

    def __init__(self, device: str, result: Result, timeout: float) -> None:
        super().__init__(
            device,
            result.command,
            f"it did not end within {timeout:g} s; its process group was ended",
            "run it by hand to see what it waits for, or give it longer: timeout=SECONDS",
        )
        self.result, self.reason, self.timeout = result, None, timeout  # type: ignore[assignment]


class SupervisedRunner(Remote):  # type: ignore[misc]  # Fabric has no types
    """See invoke.Runner. What the command prints is taken, without secrets, when it has ended. In a
    plan it is not sent, and answers nothing with status 0."""

    session: SuiteSession
    by_sudo = False
    _process: Process | None = None
    _status: int | None = None
    _late = False

    def start(self, command: str, shell: str, env: Mapping[str, str]) -> None:
        """It runs, under a limit that the host keeps, with the mark of the run."""
        self._expect_possible(command)
        self.session = self.context.session
        if self.opts["timeout"] is None:
            self.opts["timeout"] = LIMIT_S
        if (plan := self.session.planned()) is not None:
            plan.append(command)
            return
        self.session.expect_lease()
        variables = ("env", *(f"{name}={value}" for name, value in env.items())) if env else ()
        line = program(*variables, "sh", "-c", command)
        self._begun_s = self.session.clock.now_s()
        self._process = self.session.transport.start(line, limit_s=self.opts["timeout"])

    def wait(self) -> None:
        """Until it has ended, or its time was over and the host has not ended it."""
        if self._process is None:
            self._status = 0
            return
        clock, look_s = self.session.clock, FIRST_LOOK_S
        due_s = self._begun_s + self.opts["timeout"]
        while (status := self._process.status()) is None and clock.now_s() < due_s + LATE_S:
            clock.sleep(look_s)
            look_s = min(2 * look_s, LONGEST_LOOK_S)
        self._late = status is None or (status in TIMED_OUT and clock.now_s() >= due_s)
        self._status = status
        self.stdout.append(clean(self._process.output()))
        self.stderr.append(clean(self._process.errors()))
        for name, stream in (("stdout", "out"), ("stderr", "err")):
            printed = "".join(getattr(self, name))
            if printed and name not in self.opts["hide"]:
                self.write_our_output(self.streams[stream], printed)

    def stop(self) -> None:
        """Nothing of it is left on the host."""
        process, self._process = self._process, None
        if process is not None:
            process.close()

    def returncode(self) -> int | None:
        """Its status, None for one that could not be ended."""
        return self._status

    @property
    def timed_out(self) -> bool:
        """Whether its time was over."""
        return self._late

    def create_io_threads(self) -> tuple[dict[Any, Any], list[str], list[str]]:
        """None: nothing is typed into it, and what it prints waits in the session."""
        return {}, [], []

    def start_timer(self, timeout: float) -> None:
        """None: the host keeps the time."""

    def echo(self, command: str) -> None:
        """See invoke.Runner."""
        say(self.opts["echo_format"].format(command=command))

    def write_our_output(self, stream: IO[str], string: str) -> None:
        """The terminal is reached by the one way out (core/output.py)."""
        if stream in (sys.stdout, sys.stderr):
            (say if stream is sys.stdout else tell)(string.removesuffix("\n"))
        else:
            stream.write(string)
            stream.flush()

    def _finish(self) -> Result:
        try:
            result: Result = super()._finish()
        except CommandTimedOut as error:
            raise CommandOverdue(self.session.device, error.result, error.timeout) from None
        except UnexpectedExit as error:
            self._expect_rights(error.result)
            raise CommandFailed(self.session.device, error.result) from None
        self._expect_rights(result)
        return result

    def _expect_rights(self, result: Result) -> None:
        """What sudo has refused is not an answer of the command, whatever `warn` says."""
        if not self.by_sudo or result.exited == 0:
            return
        reply = Reply(
            device=self.session.device,
            command=result.command,
            text=result.stdout,
            errors=result.stderr,
            status=result.exited,
        )
        if error := refusal(reply, single=self.session.become == "commands"):
            raise error

    def _expect_possible(self, command: str) -> None:
        """Raises DeviceError for an option that a supervised command cannot have."""
        asked = {
            "pty=True": self.using_pty,
            "watchers": self.opts["watchers"],
            "in_stream": self.streams["in"],
            "disown=True": self.opts["disown"],
        }
        if wrong := [name for name, value in asked.items() if value]:
            raise DeviceError(
                self.context.session.device,
                command,
                f"{' and '.join(wrong)} {'are' if wrong[1:] else 'is'} not supported: commands run "
                "without a terminal or input, and end with the run",
                f"leave out {', '.join(wrong)}; `asynchronous=True` runs it beside others",
            )
