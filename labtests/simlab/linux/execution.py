"""How a shell has things done: processes of its own kind, programs, redirected streams."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Generator
from dataclasses import dataclass, field, replace
from typing import NoReturn, Self

from labtests.simlab.linux.machine import Machine
from labtests.simlab.linux.options import NOT_HERE
from labtests.simlab.linux.processes import (
    DEATH,
    NOT_FOUND,
    SIGNAL_NUMBERS,
    Birth,
    HostProcess,
    Pause,
    Program,
    StandardStreams,
)
from labtests.simlab.linux.streams import Capture

_DEATHS = {"KILL": "Killed", "TERM": "Terminated", "HUP": "Hangup", "QUIT": "Quit"}
Steps = Program


class ShellExit(Exception):
    """`exit` was called, or as good as (`leaves`: it was not, and a prompt comes again)."""

    def __init__(self, status: int, *, leaves: bool = True) -> None:
        super().__init__(status)
        self.status, self.leaves = status, leaves


class LoopJump(Exception):
    """`break` or `continue` was called."""

    def __init__(self, *, ends: bool) -> None:
        super().__init__(ends)
        self.ends = ends


class Interrupted(Exception):
    """Ctrl-C ended what an interactive shell was doing."""


@dataclass(slots=True, kw_only=True)
class Execution(ABC):
    """A shell's state, and how it has things done."""

    host: Machine
    process: HostProcess
    name: str
    interactive: bool = False
    by_lines: bool = False  # more may follow what it runs: no command takes this shell's place
    parameters: tuple[str, ...] = ()
    status: int = 0
    last_background: int | None = None
    local: dict[str, str] = field(default_factory=dict)
    jobs: list[HostProcess] = field(default_factory=list)
    exited: bool = False
    loops: int = 0  # that are being run, one in the other
    flags: frozenset[str] = frozenset()  # of `set`: e, u, C, pipefail
    tested: int = 0  # what is being run is a test, one in the other: `set -e` does not count
    substituted: int = 0  # the status of the last `$(…)` of a command
    shell_pid: int | None = None  # $$ stays the same in subshells

    @abstractmethod
    def run(self, source: str) -> Steps:
        """All commands of a text; the last status."""

    def substitute(self, source: str) -> Generator[Pause, None, str]:
        """What a command prints, without the line ends behind it."""
        capture = Capture()
        streams = replace(self.process.streams, out=capture)
        child = self.fork(streams, lambda shell: shell.run(source), "bash")
        self.substituted = self.status = yield from self.wait_for(child)
        return capture.text.rstrip("\n")

    def resolve(self, name: str) -> str:
        """An absolute path, of a name in the present folder."""
        return self.host.tree.resolve(name, self.process.directory)

    def variables(self) -> dict[str, str]:
        """All variables."""
        return self.process.environment | self.local

    def variable(self, name: str) -> str:
        """A variable's or parameter's value; "" when it is not set."""
        return self.find(name) or ""

    def find(self, name: str) -> str | None:
        """A variable's or parameter's value; None when it is not set."""
        special = {
            "$": str(self.shell_pid or self.process.pid),
            "?": str(self.status),
            "!": "" if self.last_background is None else str(self.last_background),
            "0": self.name,
            "#": str(max(len(self.parameters) - 1, 0)),
            "@": " ".join(self.parameters[1:]),
            "*": " ".join(self.parameters[1:]),
        }
        if name.isdigit() and name != "0":
            return self.parameters[int(name)] if int(name) < len(self.parameters) else None
        return special.get(name, self.variables().get(name))

    def refuse(self, what: str) -> NoReturn:
        """This is not emulated: nothing that stands behind it is run."""
        self.complain(f"{NOT_HERE}: {what}", 1)
        raise ShellExit(2, leaves=not self.interactive)

    def complain(self, text: str, line: int) -> None:
        """Print it on stderr."""
        self.process.streams.err.write(self._complaint(text, line))

    def _complaint(self, text: str, line: int) -> str:
        """`bash: line N: text` (without the line when interactive)."""
        return f"{self.name}: {'' if self.interactive else f'line {line}: '}{text}\n"

    def fork(
        self, streams: StandardStreams, body: Callable[[Self], Steps], name: str
    ) -> HostProcess:
        """A copy of this shell in a process of its own does this."""

        def start(process: HostProcess) -> Program:
            for descriptor, source in self.process.inputs.items():
                process.open_input(descriptor, source)
            copy = replace(self, process=process, local=dict(self.local), jobs=[])
            copy.interactive, copy.by_lines, copy.loops = False, False, 0
            copy.shell_pid = self.shell_pid or self.process.pid
            return _contained(body(copy))

        return self.host.kernel.spawn(Birth.of(self.process, streams), (name,), start)

    def wait_for(self, child: HostProcess) -> Steps:
        """The child has ended; its status."""
        while child.status is None:
            yield Pause(on=(child.ended,))
            self.heed_interrupt()
        if self.interactive and child.died_of == "INT":
            raise Interrupted  # as bash leaves a loop whose command was ended so
        return child.status

    def heed_interrupt(self) -> None:
        """Raises Interrupted after Ctrl-C at an interactive shell that is busy itself."""
        if self.interactive and self.process.take_signal() is not None:
            raise Interrupted

    def replace(self, argv: tuple[str, ...], streams: StandardStreams, line: int) -> Steps:
        """`exec`: this process becomes the program."""
        tool = self.host.program(argv[0])
        if tool is None:
            self._not_found(argv[0], line, streams)
            return NOT_FOUND
        self.process.argv = argv
        self.host.redirect(self.process, streams)
        return (yield from self.host.run_tool(self.process, argv))

    def external(
        self, argv: tuple[str, ...], streams: StandardStreams, assigned: dict[str, str], line: int
    ) -> Steps:
        """A program runs in a process of its own; its status."""
        if self.host.program(argv[0]) is None:
            self._not_found(argv[0], line, streams)
            return NOT_FOUND
        environment = self.process.environment | assigned
        birth = replace(Birth.of(self.process, streams), environment=environment)
        child = self.host.kernel.spawn(birth, argv, lambda own: self.host.run_tool(own, argv))
        status = yield from self.wait_for(child)
        self._report_death(child, line)
        return status

    def _not_found(self, name: str, line: int, streams: StandardStreams) -> None:
        reason = "No such file or directory" if "/" in name else "command not found"
        streams.err.write(self._complaint(f"{name}: {reason}", line))

    def _report_death(self, child: HostProcess, line: int) -> None:
        word = _DEATHS.get(child.died_of or "")
        if word is not None and child.status == DEATH + SIGNAL_NUMBERS[child.died_of or ""]:
            if self.interactive:
                self.process.streams.err.write(f"{word}\n")
            else:
                self.complain(f"{child.pid:5} {word:<24}{child.command_line}", line)

    def within(self, streams: StandardStreams, body: Steps) -> Steps:
        """Something is done with these streams; the shell's own come back."""
        process = self.process
        if streams is process.streams:
            return (yield from body)
        streams.hold()
        process.held.append(process.streams)
        process.streams = streams
        try:
            status = yield from body
        except Exception:
            self._restore()
            raise
        self._restore()
        return status

    def _restore(self) -> None:
        self.process.streams.release()
        self.process.streams = self.process.held.pop()


def _contained(body: Steps) -> Steps:
    """`exit` ends only this process."""
    try:
        return (yield from body)
    except ShellExit as leave:
        return leave.status
