"""One SSH session on an emulated host: its console as streams, its first process, its end."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from labtests.simlab.face import Console, SignalName
from labtests.simlab.linux.calls import Call
from labtests.simlab.linux.processes import Birth, Pause, Process, Program, Streams
from labtests.simlab.linux.shell import Shell
from labtests.simlab.linux.streams import Source

if TYPE_CHECKING:
    from labtests.simlab.linux.host import LinuxHost

SSHD_PID = 1


class ConsoleOutput:
    """A session's stdout or stderr. The session exits when nobody has them open any more."""

    def __init__(self, login: "Login", *, error: bool) -> None:
        self.terminal = login.console.pty
        self._login = login
        self._error = error

    def write(self, text: str) -> None:
        """See Output. Raises BrokenPipeError when the client is gone."""
        if self._login.gone:
            raise BrokenPipeError
        if self._error:
            self._login.console.write_error(text)
        else:
            self._login.console.write(text)

    def hold(self) -> None:
        """See Output."""
        self._login.holders += 1

    def release(self) -> None:
        """See Output."""
        self._login.holders -= 1
        self._login.leave_when_done()


class Login:
    """A session, with or without a terminal."""

    def __init__(self, host: "LinuxHost", console: Console) -> None:
        self.host = host
        self.console = console
        self.gone = False
        self.holders = 0
        self._source = Source()
        self._first: Process | None = None
        self._shell: Shell | None = None

    def run(self, command: str) -> None:
        """An exec request: `bash -c COMMAND`. Output comes as long as a process has it open."""
        self._source.wanted = self._listen
        self._begin(
            ("bash", "-c", command), lambda call: self.host.run_tool(call.process, call.argv)
        )
        self.console.on_interrupt = lambda: self._signal("INT")
        self.console.on_signal = self._signal

    def interact(self) -> None:
        """A login shell with a prompt."""
        self.console.on_line = lambda line: self._source.put(line + "\n")
        self.console.on_eof = self._source.end
        self.console.on_interrupt = self._interrupt
        self.console.on_signal = self._signal
        self._begin(("-bash",), self._prompting)

    def hang_up(self) -> None:
        """The client is gone: see host.py."""
        self.gone = True
        self._source.end()
        if self._shell is not None and self._first is not None:
            kernel = self.host.kernel
            for process in [*self._jobs(), self._first]:
                kernel.deliver(process, "HUP")

    def leave_when_done(self) -> None:
        """The session exits once its first process has ended and its streams are closed."""
        status = None if self._first is None else self._first.status
        if status is not None and self.holders == 0 and not self.gone:
            self.gone = True
            self.host.forget(self.console)
            self.console.exit(status)

    def _begin(self, argv: tuple[str, ...], start: Callable[[Call], Program]) -> None:
        out, err = ConsoleOutput(self, error=False), ConsoleOutput(self, error=True)
        user = self.console.username
        home = "/root" if user == "root" else f"/home/{user}"
        birth = Birth(
            parent_pid=SSHD_PID,
            user=user,
            streams=Streams(input=self._source, out=out, err=err),
            environment={
                "HOME": home,
                "USER": user,
                "LOGNAME": user,
                "SHELL": "/bin/bash",
                "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin",
                "LANG": "C.UTF-8",
            },
            directory=home if self.host.tree.is_folder(home) else "/root",
        )

        def program(process: Process) -> Program:
            self._first = process
            return start(Call(host=self.host, process=process, argv=argv))

        self.host.kernel.spawn(birth, argv, program)

    def _listen(self) -> None:
        self.console.on_eof = self._source.end
        self.console.on_data = self._source.put

    def _prompting(self, call: Call) -> Program:
        shell = Shell(host=self.host, process=call.process, name="-bash", interactive=True)
        self._shell = shell
        while True:
            sign = "#" if call.process.user == "root" else "$"
            call.out(
                f"{call.process.user}@{self.host.name}:{_short(call.process.directory)}{sign} "
            )
            line = self._source.take_line()
            while line is None:
                yield Pause(on=(self._source.changed,))
                line = self._source.take_line()
            if not line:
                call.out("logout\n")
                return shell.status
            yield from shell.run(line)
            if shell.exited:
                return shell.status

    def _interrupt(self) -> None:
        shell, first = self._shell, self._first
        if shell is None or first is None or self.gone:
            return
        self.console.write("^C\n")
        jobs = self._jobs() if shell.foreground is not None else []
        if not jobs:
            sign = "#" if first.user == "root" else "$"
            where = _short(first.directory)
            self.console.write(f"{first.user}@{self.host.name}:{where}{sign} ")
        for process in jobs:
            self.host.kernel.deliver(process, "INT")

    def _jobs(self) -> list[Process]:
        shell = self._shell
        if shell is None or shell.foreground is None:
            return []
        return self.host.kernel.members(shell.foreground)

    def _signal(self, name: SignalName) -> None:
        if self._first is not None:
            for process in self.host.kernel.members(self._first.group):
                self.host.kernel.deliver(process, name)


def _short(directory: str) -> str:
    return (
        "~" + directory[5:] if directory == "/root" or directory.startswith("/root/") else directory
    )
