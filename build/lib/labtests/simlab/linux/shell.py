"""The emulated shell: bash, as far as lab work needs it.

`sh` is bash here, as on RHEL and its kin. A lone command of `bash -c` replaces the shell, as bash
does it, so that the PID of an SSH command is the program's own.
"""

import re
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from itertools import count

from labtests.simlab.linux import expansion, grammar
from labtests.simlab.linux.calls import Call
from labtests.simlab.linux.execution import Execution, Interrupted, LoopJump, ShellExit, Steps
from labtests.simlab.linux.processes import DEATH, SIGNAL_NUMBERS, HostProcess, Pause
from labtests.simlab.linux.redirection import redirected
from labtests.simlab.linux.streams import Pipe, nothing
from labtests.simlab.linux.syntax import ShellSyntax, Word

_ASSIGNMENT = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)=(.*)", re.DOTALL)
FREE_ROUNDS = 100  # of a loop, before its rounds take time
ROUND_NS = 10_000_000  # so that a busy loop leaves the other hosts their share of the machine


@dataclass(slots=True, kw_only=True)
class HostShell(Execution):
    """One shell: it runs text. `builtins` are what it does itself."""

    builtins: "Mapping[str, Builtin]"

    def run(self, source: str) -> Steps:
        """See Execution."""
        try:
            commands = grammar.parse(source)
        except ShellSyntax as error:
            self.complain(str(error), 1)
            self.status = 2
            return 2
        try:
            entries = commands.entries
            lone = _only(entries[0].pipeline) if len(entries) == 1 and not self.by_lines else None
            if isinstance(lone, grammar.Simple) and not entries[0].background:
                return (yield from self.last(lone))
            return (yield from self.list(commands))
        except ShellExit as leave:
            self.exited, self.status = leave.leaves, leave.status
            return leave.status
        except Interrupted:
            self.status = DEATH + SIGNAL_NUMBERS["INT"]
            return self.status

    def list(self, commands: grammar.List) -> Steps:
        """A list; the status of the last command that ran."""
        for number, entry in enumerate(commands.entries):
            wanted = {"": True, "&&": self.status == 0, "||": self.status != 0}
            if not wanted[entry.condition]:
                continue
            if entry.background:
                self._background(entry.pipeline)
            else:
                following = commands.entries[number + 1 : number + 2]
                tested = entry.pipeline.negated or any(each.condition for each in following)
                body = self._pipeline(entry.pipeline)
                self.status = yield from self._test(body) if tested else body
                if self.status and "e" in self.flags and not tested and not self.tested:
                    raise ShellExit(self.status)
        return self.status

    def _test(self, body: Steps) -> Steps:
        """A failure in it is an answer: it does not end a shell with `set -e`."""
        self.tested += 1
        try:
            return (yield from body)
        finally:
            self.tested -= 1

    def _background(self, pipeline: grammar.Pipeline) -> None:
        """As a shell without job control does it, at a prompt, too."""
        streams = replace(self.process.streams, input=nothing())

        def body(shell: HostShell) -> Steps:
            shell.process.ignored |= {"INT", "QUIT"}
            only = _only(pipeline)
            return (yield from shell._pipeline(pipeline) if only is None else shell.last(only))

        child = self.fork(streams, body, self.name.lstrip("-"))
        self.jobs.append(child)
        self.last_background = child.pid
        self.status = 0

    def _pipeline(self, pipeline: grammar.Pipeline) -> Steps:
        if len(pipeline.commands) == 1:
            status = yield from self.command(pipeline.commands[0])
        else:
            status = yield from self._piped(pipeline.commands)
        return int(not status) if pipeline.negated else status

    def _piped(self, commands: tuple[grammar.Command, ...]) -> Steps:
        children: list[HostProcess] = []
        source = self.process.streams.input
        for number, command in enumerate(commands):
            pipe = Pipe()
            last = number == len(commands) - 1
            streams = replace(
                self.process.streams,
                input=source,
                out=self.process.streams.out if last else pipe,
            )
            children.append(self.fork(streams, partial(_last, command), "bash"))
            source = pipe.source
        for child in children:
            yield from self.wait_for(child)
        failed = [child.status for child in children if child.status]
        return failed[-1] if failed and "pipefail" in self.flags else children[-1].status or 0

    def command(self, command: grammar.Command) -> Steps:
        """Any command."""
        if isinstance(command, grammar.Simple):
            return (yield from self.simple(command, replace_shell=False))
        if isinstance(command, grammar.CommandGroup):
            return (yield from self._group(command))
        if isinstance(command, grammar.If):
            return (yield from self._if(command))
        if isinstance(command, grammar.For):
            return (yield from self._for(command))
        return (yield from self._while(command))

    def _group(self, group: grammar.CommandGroup) -> Steps:
        streams = yield from redirected(self, group.redirections, 1)
        if streams is None:
            return 1
        if group.subshell:
            child = self.fork(streams, lambda shell: shell.list(group.body), "bash")
            return (yield from self.wait_for(child))
        return (yield from self.within(streams, self.list(group.body)))

    def last(self, command: grammar.Command) -> Steps:
        """The last thing that this process does: it becomes the program, or the subshell."""
        if isinstance(command, grammar.Simple):
            return (yield from self.simple(command, replace_shell=True))
        if not isinstance(command, grammar.CommandGroup) or not command.subshell:
            return (yield from self.command(command))
        streams = yield from redirected(self, command.redirections, 1)
        if streams is None:
            return 1
        self.host.redirect(self.process, streams)
        return (yield from self.list(command.body))

    def _if(self, command: grammar.If) -> Steps:
        for test, body in command.branches:
            if (yield from self._test(self.list(test))) == 0:
                return (yield from self.list(body))
        self.status = 0
        return (yield from self.list(command.otherwise)) if command.otherwise is not None else 0

    def _for(self, command: grammar.For) -> Steps:
        self.status = 0
        values = yield from expansion.arguments(self, command.words)
        for number, value in enumerate(values):
            self.local[command.name] = value
            if (yield from self._round(command.body, number)):
                break
        return self.status

    def _while(self, command: grammar.While) -> Steps:
        status = 0
        for number in count():
            failed = yield from self._test(self.list(command.test))
            if bool(failed) is not command.until:
                break
            ended = yield from self._round(command.body, number)
            status = self.status
            if ended:
                break
        return status

    def _round(self, body: grammar.List, number: int) -> Generator[Pause, None, bool]:
        """One round of a loop; whether it was the last."""
        if number >= FREE_ROUNDS:
            yield from self._rest(self.host.kernel.now_ns + ROUND_NS)
        self.loops += 1
        try:
            yield from self.list(body)
        except LoopJump as jump:
            self.status = 0
            return jump.ends
        finally:
            self.loops -= 1
        return False

    def _rest(self, due_ns: int) -> Generator[Pause, None, None]:
        """Until then, and as long as the client does not read what it is sent."""
        kernel = self.host.kernel
        while kernel.now_ns < due_ns or self.process.streams.out.congested:
            yield Pause(until_ns=max(due_ns, kernel.now_ns + ROUND_NS))
            self.heed_interrupt()

    def simple(self, command: grammar.Simple, *, replace_shell: bool) -> Steps:
        """A simple command; in place of this shell, when nothing is to follow."""
        self.substituted = 0
        try:
            assigned = yield from self._assignments(command.words)
            argv = yield from expansion.arguments(self, command.words[len(assigned) :])
        except ValueError as error:
            self.complain(str(error), command.line)
            return 1
        streams = yield from redirected(self, command.redirections, command.line)
        if streams is None:
            return 1
        if "IFS" in assigned and (argv[:1] != ["read"] or assigned["IFS"]):
            self.refuse("IFS, but for `IFS= read`")
        if not argv:
            self.local |= assigned
            return self.substituted
        if argv == ["exec"]:  # only its redirections, and they stay
            self.host.redirect(self.process, streams)
            return 0
        if argv[0] in self.builtins:
            call = Call(host=self.host, process=self.process, argv=tuple(argv))
            self.local |= {"IFS": ""} if "IFS" in assigned else {}  # read takes it away
            return (yield from self.within(streams, self.builtin(call, command.line)))
        if replace_shell:
            self.process.environment |= assigned
            return (yield from self.replace(tuple(argv), streams, command.line))
        return (yield from self.external(tuple(argv), streams, assigned, command.line))

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

    def builtin(self, call: Call, line: int = 1) -> Steps:
        """What the shell does itself; it says when a write has failed."""
        try:
            outcome = self.builtins[call.argv[0]](self, call)
            return outcome if isinstance(outcome, int) else (yield from outcome)
        except BrokenPipeError:
            raise
        except OSError as error:
            self.complain(f"{call.argv[0]}: write error: {error.strerror}", line)
            return 1


Builtin = Callable[[HostShell, Call], int | Steps]


def _last(command: grammar.Command, shell: HostShell) -> Steps:
    return shell.last(command)


def _only(pipeline: grammar.Pipeline) -> grammar.Command | None:
    """Its command, when it is the only one and its status counts as it is."""
    alone = len(pipeline.commands) == 1 and not pipeline.negated
    return pipeline.commands[0] if alone else None
