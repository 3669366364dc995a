"""The emulated shell: bash, as far as lab work needs it.

`sh` is bash here, as on RHEL and its kin. A lone command of `bash -c` replaces the shell, as bash
does it, so that the PID of an SSH command is the program's own.
"""

import re
from collections.abc import Callable, Generator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from labtests.simlab.linux import expansion, grammar
from labtests.simlab.linux.calls import Call
from labtests.simlab.linux.processes import (
    DEATH,
    NOT_FOUND,
    SIGNAL_NUMBERS,
    Birth,
    Pause,
    Process,
    Program,
    Streams,
)
from labtests.simlab.linux.redirection import redirected
from labtests.simlab.linux.streams import Capture, Pipe, nothing
from labtests.simlab.linux.syntax import ShellSyntax, Word
from labtests.simlab.linux.tree import FileTree

if TYPE_CHECKING:
    from labtests.simlab.linux.host import LinuxHost

_ASSIGNMENT = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)=(.*)", re.DOTALL)
_DEATHS = {"KILL": "Killed", "TERM": "Terminated", "HUP": "Hangup", "QUIT": "Quit"}
MAX_LOOPS = 100_000
Steps = Generator[Pause, None, int]


class ShellExit(Exception):
    """`exit` was called."""

    def __init__(self, status: int) -> None:
        super().__init__(status)
        self.status = status


@dataclass(slots=True, kw_only=True)
class Shell:
    """One shell: its process, variables and last status. Implements expansion.Expanding."""

    host: "LinuxHost"
    process: Process
    name: str
    interactive: bool = False
    parameters: tuple[str, ...] = ()
    status: int = 0
    last_background: int | None = None
    local: dict[str, str] = field(default_factory=dict)
    jobs: list[Process] = field(default_factory=list)
    foreground: int | None = None  # the process group that Ctrl-C reaches
    exited: bool = False

    @property
    def tree(self) -> FileTree:
        """The host's files."""
        return self.host.tree

    @property
    def directory(self) -> str:
        """The present folder."""
        return self.process.directory

    def variables(self) -> dict[str, str]:
        """All variables."""
        return self.process.environment | self.local

    def variable(self, name: str) -> str:
        """See Expanding."""
        special = {
            "$": str(self.process.pid),
            "?": str(self.status),
            "!": "" if self.last_background is None else str(self.last_background),
            "0": self.name,
            "#": str(max(len(self.parameters) - 1, 0)),
            "@": " ".join(self.parameters[1:]),
            "*": " ".join(self.parameters[1:]),
        }
        if name.isdigit() and name != "0":
            return self.parameters[int(name)] if int(name) < len(self.parameters) else ""
        return special.get(name, self.variables().get(name, ""))

    def substitute(self, source: str) -> Generator[Pause, None, str]:
        """See Expanding."""
        capture = Capture()
        streams = replace(self.process.streams, out=capture)
        child = self.fork(streams, lambda shell: shell.run(source), "bash")
        self.status = yield from self.wait_for(child)
        return capture.text.rstrip("\n")

    def complain(self, text: str, line: int) -> None:
        """Print `bash: line N: text` on stderr (without the line when interactive)."""
        where = "" if self.interactive else f"line {line}: "
        self.process.streams.err.write(f"{self.name}: {where}{text}\n")

    def run(self, source: str) -> Steps:
        """All commands of a text; the last status."""
        try:
            commands = grammar.parse(source)
        except ShellSyntax as error:
            self.complain(str(error), 1)
            self.status = 2
            return 2
        try:
            lone = None if self.interactive else _lone_command(commands)
            if lone is not None:
                return (yield from self.simple(lone, replace_shell=True))
            return (yield from self.list(commands))
        except ShellExit as leave:
            self.exited, self.status = True, leave.status
            return leave.status

    def list(self, commands: grammar.List) -> Steps:
        """A list; the status of the last command that ran."""
        for entry in commands.entries:
            if entry.condition == "&&" and self.status or entry.condition == "||" and not self.status:
                continue
            if entry.background:
                self._background(entry.pipeline)
            else:
                self.status = yield from self._pipeline(entry.pipeline)
        return self.status

    def fork(
        self,
        streams: Streams,
        body: Callable[["Shell"], Steps],
        name: str,
        *,
        group: int | None = None,
    ) -> Process:
        """A copy of this shell in a process of its own does this."""

        def start(process: Process) -> Program:
            copy = replace(self, process=process, local=dict(self.local), jobs=[])
            copy.interactive = False
            return _contained(body(copy))

        return self.host.kernel.spawn(self._birth(streams, group), (name,), start)

    def wait_for(self, child: Process) -> Steps:
        """The child has ended; its status."""
        while child.status is None:
            yield Pause(on=(child.ended,))
        return child.status

    def _birth(self, streams: Streams, group: int | None = None) -> Birth:
        if group is None and not self.interactive:  # interactive: every job has its own
            group = self.process.group
        return Birth(
            parent_pid=self.process.pid,
            user=self.process.user,
            streams=streams,
            environment=self.process.environment,
            directory=self.process.directory,
            group=group,
        )

    def _background(self, pipeline: grammar.Pipeline) -> None:
        streams = self.process.streams
        if not self.interactive:
            streams = replace(streams, input=nothing())

        def body(shell: Shell) -> Steps:
            if not self.interactive:
                shell.process.ignored |= {"INT", "QUIT"}  # as a shell without job control does
            lone = _lone_of(pipeline)
            if lone is not None:
                return (yield from shell.simple(lone, replace_shell=True))
            return (yield from shell._pipeline(pipeline))

        child = self.fork(streams, body, self.name.lstrip("-"))
        self.jobs.append(child)
        self.last_background = child.pid
        self.status = 0
        if self.interactive:
            self.process.streams.err.write(f"[{len(self.jobs)}] {child.pid}\n")

    def _pipeline(self, pipeline: grammar.Pipeline) -> Steps:
        if len(pipeline.commands) == 1:
            status = yield from self.command(pipeline.commands[0])
        else:
            status = yield from self._piped(pipeline.commands)
        return int(not status) if pipeline.negated else status

    def _piped(self, commands: tuple[grammar.Command, ...]) -> Steps:
        children: list[Process] = []
        source = self.process.streams.input
        for number, command in enumerate(commands):
            pipe = Pipe()
            last = number == len(commands) - 1
            streams = replace(
                self.process.streams,
                input=source,
                out=self.process.streams.out if last else pipe,
            )
            group = children[0].group if children else None
            children.append(self.fork(streams, _stage(command), "bash", group=group))
            source = pipe.source
        self.foreground = children[0].group
        for child in children:
            yield from self.wait_for(child)
        self.foreground = None
        return children[-1].status or 0

    def command(self, command: grammar.Command) -> Steps:
        """Any command."""
        if isinstance(command, grammar.Simple):
            return (yield from self.simple(command, replace_shell=False))
        if isinstance(command, grammar.Group):
            return (yield from self._group(command))
        if isinstance(command, grammar.If):
            return (yield from self._if(command))
        if isinstance(command, grammar.For):
            return (yield from self._for(command))
        return (yield from self._while(command))

    def _group(self, group: grammar.Group) -> Steps:
        streams = yield from redirected(self, group.redirections, 1)
        if streams is None:
            return 1
        if group.subshell:
            child = self.fork(streams, lambda shell: shell.list(group.body), "bash")
            return (yield from self.wait_for(child))
        return (yield from self._with(streams, self.list(group.body)))

    def _if(self, command: grammar.If) -> Steps:
        for test, body in command.branches:
            if (yield from self.list(test)) == 0:
                return (yield from self.list(body))
        self.status = 0
        return (yield from self.list(command.otherwise)) if command.otherwise is not None else 0

    def _for(self, command: grammar.For) -> Steps:
        self.status = 0
        for value in (yield from expansion.arguments(self, command.words)):
            self.local[command.name] = value
            yield from self.list(command.body)
        return self.status

    def _while(self, command: grammar.While) -> Steps:
        status = 0
        for _ in range(MAX_LOOPS):
            failed = yield from self.list(command.test)
            if bool(failed) is not command.until:
                break
            status = yield from self.list(command.body)
        return status

    def simple(self, command: grammar.Simple, *, replace_shell: bool) -> Steps:
        """A simple command; in place of this shell, when nothing is to follow."""
        assigned = yield from self._assignments(command.words)
        try:
            argv = yield from expansion.arguments(self, command.words[len(assigned) :])
        except ValueError as error:
            self.complain(str(error), command.line)
            return 1
        streams = yield from redirected(self, command.redirections, command.line)
        if streams is None:
            return 1
        if not argv:
            self.local |= assigned
            return 0
        builtin = self.host.builtins.get(argv[0])
        if builtin is not None:
            body = builtin(self, Call(host=self.host, process=self.process, argv=tuple(argv)))
            return (yield from self._with(streams, self._guarded(body, argv[0], command.line)))
        if replace_shell:
            self.process.environment |= assigned
            return (yield from self.replace(tuple(argv), streams, command.line))
        return (yield from self._external(tuple(argv), streams, assigned, command.line))

    def replace(self, argv: tuple[str, ...], streams: Streams, line: int) -> Steps:
        """`exec`: this process becomes the program."""
        tool = self.host.program(argv[0])
        if tool is None:
            self._not_found(argv[0], line)
            return NOT_FOUND
        self.process.argv = argv
        self._swap(streams)
        return (yield from self.host.run_tool(self.process, argv))

    def _external(
        self, argv: tuple[str, ...], streams: Streams, assigned: dict[str, str], line: int
    ) -> Steps:
        if self.host.program(argv[0]) is None:
            yield from self._with(streams, self._missing(argv[0], line))
            return NOT_FOUND
        birth = replace(
            self._birth(streams), environment=self.process.environment | assigned
        )
        child = self.host.kernel.spawn(birth, argv, lambda own: self.host.run_tool(own, argv))
        self.foreground = child.group
        status = yield from self.wait_for(child)
        self.foreground = None
        self._report_death(child, line)
        return status

    def _missing(self, name: str, line: int) -> Steps:
        self._not_found(name, line)
        return NOT_FOUND
        yield Pause()  # makes this a generator

    def _not_found(self, name: str, line: int) -> None:
        reason = "No such file or directory" if "/" in name else "command not found"
        self.complain(f"{name}: {reason}", line)

    def _report_death(self, child: Process, line: int) -> None:
        word = _DEATHS.get(child.died_of or "")
        if word is not None and child.status == DEATH + SIGNAL_NUMBERS[child.died_of or ""]:
            if self.interactive:
                self.process.streams.err.write(f"{word}\n")
            else:
                self.complain(f"{child.pid:5} {word:<24}{child.command_line}", line)

    def _assignments(self, words: tuple[Word, ...]) -> Generator[Pause, None, dict[str, str]]:
        found: dict[str, str] = {}
        for word in words:
            first = word.parts[0] if word.parts else None
            if first is None or first.quoted or first.kind != "text":
                break
            match = _ASSIGNMENT.match(first.text)
            if match is None:
                break
            rest = replace(word, parts=(replace(first, text=match[2]), *word.parts[1:]))
            found[match[1]] = yield from expansion.single(self, rest)
        return found

    def _guarded(self, body: Steps, name: str, line: int) -> Steps:
        try:
            return (yield from body)
        except BrokenPipeError:
            raise
        except OSError as error:
            self.complain(f"{name}: write error: {error.strerror}", line)
            return 1

    def _with(self, streams: Streams, body: Steps) -> Steps:
        before = self.process.streams
        self._swap(streams)
        try:
            return (yield from body)
        finally:
            self._swap(before)

    def _swap(self, streams: Streams) -> None:
        before = self.process.streams
        if before is not streams:
            streams.hold()
            self.process.streams = streams
            before.release()


def _contained(body: Steps) -> Steps:
    """`exit` ends only this process."""
    try:
        return (yield from body)
    except ShellExit as leave:
        return leave.status


def _stage(command: grammar.Command) -> Callable[[Shell], Steps]:
    def body(shell: Shell) -> Steps:
        if isinstance(command, grammar.Simple):
            return (yield from shell.simple(command, replace_shell=True))
        return (yield from shell.command(command))

    return body


def _lone_command(commands: grammar.List) -> grammar.Simple | None:
    """The last command, when it is the only one: a shell need not wait for it."""
    if len(commands.entries) != 1 or commands.entries[0].background:
        return None
    return _lone_of(commands.entries[0].pipeline)


def _lone_of(pipeline: grammar.Pipeline) -> grammar.Simple | None:
    command = pipeline.commands[0]
    if len(pipeline.commands) == 1 and not pipeline.negated and isinstance(command, grammar.Simple):
        return command
    return None
