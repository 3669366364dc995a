"""One SSH session on an emulated host: its console as streams, its first process, its end."""

from collections.abc import Callable, Generator

from labtests.simlab.face import Console, SignalName
from labtests.simlab.linux.builtins import BUILTINS
from labtests.simlab.linux.calls import Call
from labtests.simlab.linux.grammar import incomplete
from labtests.simlab.linux.machine import Machine
from labtests.simlab.linux.processes import Birth, HostProcess, Pause, Program, StandardStreams
from labtests.simlab.linux.shell import HostShell
from labtests.simlab.linux.streams import Output, TextSource

SSHD_PID = 1


class ConsoleOutput(Output):
    """A session's stdout or stderr. The session exits when nobody has them open any more."""

    def __init__(self, login: "Login", *, error: bool) -> None:
        self.terminal = login.console.pty
        self._login = login
        self._error = error

    @property
    def congested(self) -> bool:
        """See Output."""
        return self._login.console.congested and not self._login.gone

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

    def __init__(self, host: Machine, console: Console, forget: Callable[[], object]) -> None:
        self.host = host
        self.console = console
        self._forget = forget  # it has exited
        self.gone = False
        self.holders = 0
        self._source = TextSource()
        self._first: HostProcess | None = None
        self._shell: HostShell | None = None  # that takes lines
        self._typed = ""  # of a command that is not complete yet
        self._busy = False  # a shell runs something, rather than waits for a line

    def run(self, command: str) -> None:
        """An exec request: `bash -c COMMAND`. Output comes as long as a process has it open."""
        if self.console.pty:
            self._read_terminal()
        else:
            self._source.wanted = self._listen
        self._begin(
            ("bash", "-c", command), lambda call: self.host.run_tool(call.process, call.argv)
        )
        self.console.on_interrupt = lambda: self._signal("INT")
        self.console.on_signal = self._signal

    def interact(self) -> None:
        """A login shell with a prompt."""
        self._read_terminal()
        self.console.on_interrupt = self._interrupt
        self.console.on_signal = self._signal
        self._begin(("-bash",), self._prompting)

    def _read_terminal(self) -> None:
        self.console.on_line = lambda line: self._source.put(line + "\n")
        self.console.on_eof = self._source.end

    def hang_up(self) -> None:
        """The client is gone: see host.py."""
        self.gone = True
        self._source.end()
        if self.console.pty and self._first is not None:
            kernel = self.host.kernel
            for process in [*kernel.descendants(self._first), self._first]:
                kernel.deliver(process, "HUP")

    def leave_when_done(self) -> None:
        """The session exits once its first process has ended and its streams are closed."""
        status = None if self._first is None else self._first.status
        if status is not None and self.holders == 0 and not self.gone:
            self.gone = True
            self._forget()
            self.console.exit(status)
            self._source.end()  # sshd closes the pipe; a background process may read it

    def _begin(self, argv: tuple[str, ...], start: Callable[[Call], Program]) -> None:
        out, err = ConsoleOutput(self, error=False), ConsoleOutput(self, error=True)
        user = self.console.username
        home = "/root" if user == "root" else f"/home/{user}"
        birth = Birth(
            parent_pid=SSHD_PID,
            user=user,
            streams=StandardStreams(input=self._source, out=out, err=err),
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

        def program(process: HostProcess) -> Program:
            self._first = process
            return start(Call(host=self.host, process=process, argv=argv))

        self.host.kernel.spawn(birth, argv, program)

    def _listen(self) -> None:
        self.console.on_eof = self._source.end
        self.console.on_data = self._source.put

    def _prompting(self, call: Call) -> Program:
        """A shell that runs lines until `exit` or their end; on a terminal it prompts for them."""
        call.process.caught.add("INT")
        shell = self._shell = HostShell(
            host=self.host,
            builtins=BUILTINS,
            process=call.process,
            name=call.argv[0],
            interactive=self.console.pty,
            by_lines=True,
        )
        while not shell.exited:
            line = yield from self._next_line(call, shell)
            if not line:
                call.out("logout\n" if shell.interactive else "")
                return shell.status
            self._typed += line
            if incomplete(self._typed):
                continue
            command, self._typed, self._busy = self._typed, "", True
            yield from shell.run(command)
            if self.console.on_eof is not None and not self.gone:
                self._source.reopen()  # else the client will send nothing more
        return shell.status

    def _next_line(self, call: Call, shell: HostShell) -> Generator[Pause, None, str]:
        self._busy = False
        if shell.interactive:
            call.out("> " if self._typed else self._prompt(call.process))
        line = self._source.take_line()
        while line is None:
            yield Pause(on=(self._source.changed,))
            line = self._source.take_line()
        return line

    def _prompt(self, process: HostProcess) -> str:
        sign = "#" if process.user == "root" else "$"
        return f"{process.user}@{self.host.name}:{_short(process.directory)}{sign} "

    def _interrupt(self) -> None:
        shell = self._shell
        if shell is None or self.gone:
            return
        self.console.write("^C\n")
        if not self._busy:
            self._typed = ""
            self.console.write(self._prompt(shell.process))
            return
        started = self.host.kernel.descendants(shell.process)
        waited_for = [process for process in started if "INT" not in process.ignored]
        for process in waited_for or [shell.process]:
            self.host.kernel.deliver(process, "INT")

    def _signal(self, name: SignalName) -> None:
        if self._first is not None:
            for process in self.host.kernel.members(self._first.group):
                self.host.kernel.deliver(process, name)


def _short(directory: str) -> str:
    return (
        "~" + directory[5:] if directory == "/root" or directory.startswith("/root/") else directory
    )
