"""A session with a Linux host: commands over SSH, each on a channel of its own.

What is sent (COMMAND is what the caller asked for; `sudo -n ` comes first where the testbed says
`become: true`, and with `become: commands` inside COMMAND before what only root may do: see
commands.py):

    run      timeout -k 2 SECONDS sh -c 'COMMAND'
    configure  the same; several lines are one COMMAND that stops at the first failure (batching.py)
    start    sh -c '... echo $$; exec timeout -k 2 SECONDS COMMAND'     (supervision.py)
    signal   kill -s INT -- -PID      and kill -s 0 -- -PID to see whether the group is gone

The first COMMAND on a host carries a question about its login. A host whose login shell prints,
whose PATH has no sbin or whose locale is not C gets some words before each COMMAND
(surroundings.py).

`timeout` runs on the host, leads a process group and ends the whole group, also when the connection
or this program has died. What was started ends with the connection, within seconds.
"""

import math
import os
import re
from dataclasses import dataclass, replace
from typing import Literal, NoReturn

import paramiko

from labtests.core.clock import WallClock
from labtests.core.errors import CommandRejected, CommandTimeout, LoginUnusable
from labtests.core.output import excerpt, last_line, lines_said
from labtests.transport.batching import MORE_S_PER_COMMAND, Joined, block_reply
from labtests.transport.commands import SUDO, Command, Shell, as_shell, program
from labtests.transport.protocol import DEFAULT_TIMEOUT_S, Clock, Reply
from labtests.transport.ssh.becoming import refusal, unknown
from labtests.transport.ssh.line import SshLine
from labtests.transport.ssh.process import ShellProcess
from labtests.transport.ssh.streams import OUTPUT_LIMIT_BYTES, WINDOW_BYTES, Streams, TooMuchOutput
from labtests.transport.ssh.supervision import KILL_AFTER_S, Heart, supervised
from labtests.transport.ssh.surroundings import Opening, Surroundings
from labtests.transport.ssh.wire import Unanswered, end_input

Becoming = bool | Literal["commands"]
"""See inventory.Management.become."""
LATE_S = 5  # how long to wait for a host to say that it has ended a command
BLOCK_WITHIN_S = DEFAULT_TIMEOUT_S  # configuration lines, and more for each of them
START_WITHIN_S = 15  # a login shell may read a long ~/.bashrc for every command
NOTHING = program("true")
STEP_S = 0.02  # simulated time between two looks at a command that still runs
LOOK_EVERY_S = 0.2  # wall time; news end the wait earlier
BUSY_LAB_ANSWERS_WITHIN_S = 300.0  # a simulated lab answers when it has advanced as far as asked

_PROCESS_ID = r"(?!1$)[1-9][0-9]{0,9}"  # as a group, 0 and 1 stand for all processes there are
TIMED_OUT = frozenset({124, 137})  # of timeout(1): after TERM, after KILL
_FAILED = (OSError, EOFError, paramiko.SSHException)


class ShellTransport:
    """See transport.Transport. Any number of threads may use it at once."""

    def __init__(
        self, line: SshLine, *, clock: Clock, become: Becoming = False, run: str = ""
    ) -> None:
        self.device = line.device
        self.clock = clock
        self.line = line
        self._wall = isinstance(clock, WallClock)
        if not self._wall:
            line.wire.answer_within_s = BUSY_LAB_ANSWERS_WITHIN_S
        self._sudo = tuple(SUDO.split()) if become is True else ()  # before everything
        self._single = become == "commands"  # before the programs that only root may run
        self._run_tag = run or f"process-{os.getpid()}"
        self._heart = Heart()
        self._around: Surroundings | None = None  # until the first answer
        self._login_s = float(START_WITHIN_S)  # how long the login shell takes for each command

    # -- what a Transport does -------------------------------------------------------------

    def run(self, command: Command, *, timeout_s: float = DEFAULT_TIMEOUT_S) -> Reply:
        """See Transport."""
        limit_s = max(math.ceil(timeout_s), 1)
        answer = self._answer(command, limit_s)
        if answer.late:
            self._timed_out(answer.reply, limit_s, answer.ended)
        self._expect_rights(answer.reply)
        return answer.reply

    def start(self, command: Command, *, limit_s: float) -> ShellProcess:
        """See Transport. `command` is one program with its arguments; wrap a script in `sh -c`."""
        seconds = max(math.ceil(limit_s), 1)
        script = supervised(
            self._sent(command), seconds=seconds, run=self._run_tag, beats=self._wall
        )
        around = self._surroundings()
        line = program(*self._sudo, "sh", "-c", around.around(script))
        streams = self.execute(line, command, lasting=True, mark=around.mark)
        deadline_s = self.clock.now_s() + START_WITHIN_S
        while "\n" not in streams.output() and not streams.ended:
            if self.clock.now_s() > deadline_s:
                streams.close()
                self._no_pid(self._reply(command, streams))
            self.let_pass(streams, command)
        first_line = streams.output().partition("\n")[0]
        if not re.fullmatch(_PROCESS_ID, first_line):
            streams.close()
            self._no_pid(self._reply(command, streams))
        return ShellProcess(self, streams, command=command, pid=int(first_line))

    def configure(self, commands: tuple[Command, ...]) -> Reply:
        """See Transport. The reply's command is the last one sent, whose status it has. Raises what
        `run` raises, naming the line that was under way."""
        if not commands:
            return Reply(
                device=self.device, command="", text="", status=0, time_s=self.clock.now_s()
            )
        if len(commands) == 1:
            return self.run(commands[0])
        joined = Joined(commands, stopping=True)
        limit_s = math.ceil(BLOCK_WITHIN_S + MORE_S_PER_COMMAND * len(commands))
        answer = self._answer(joined.script, limit_s)
        parts = joined.answers(answer.reply)
        under_way = replace(answer.reply, command=commands[min(len(parts), len(commands) - 1)])
        if answer.late:
            self._timed_out(under_way, limit_s, answer.ended)
        self._expect_rights(under_way)
        if not parts or (len(parts) < len(commands) and parts[-1].status == 0):
            self._cut_off(under_way)
        return block_reply(parts)

    def close(self) -> None:
        """See Transport."""
        self.line.close()

    # -- channels, for this class and for ShellProcess -------------------------------------------

    def execute(
        self, line: Shell, command: str, *, lasting: bool = False, mark: str = ""
    ) -> Streams:
        """The line as it is, running on a channel of its own; `command` is what errors name. A
        `lasting` one is told by its stdin that we live; that of any other ends at once, so that
        nothing can wait for input for ever. What comes before a `mark` is not its output."""
        try:
            channel = self.line.wire.open_session(window_size=WINDOW_BYTES)
            streams = Streams(channel, mark=mark, lasting=lasting)
            self._ask(channel, line, command)
            if not lasting:
                end_input(channel)
            elif self._wall:
                self._heart.keep(channel)
        except _FAILED as error:
            raise self.line.broken(command, error) from error
        if not self._wall:
            self.sync(command)  # what needs no simulated time has ended by now
        self.drain(streams, command)
        return streams

    def _ask(self, channel: paramiko.Channel, line: Shell, command: str) -> None:
        try:
            channel.exec_command(line)
        except Unanswered as error:
            channel.close()
            raise CommandTimeout(
                self.device,
                command,
                f"{error} whether the host runs it",
                "log in by hand: is the host out of processes or memory, does a disk or a PAM "
                "module hang?",
            ) from error

    def quick(self, command: Shell) -> Reply:
        """A command that does not wait for anything, with `sudo -n` where needed. A host's shell
        has every tool that it needs: under sudo, too, `kill` is the shell's own."""
        around = self._surroundings()
        script = around.around(command)
        line = command
        if self._sudo or script != line:
            line = program(*self._sudo, "sh", "-c", script)
        with self.execute(line, command, mark=around.mark) as streams:
            deadline_s = self.clock.now_s() + LATE_S + self._login_s
            if not self.await_end(streams, command, deadline_s):
                raise CommandTimeout(
                    self.device,
                    command,
                    f"it did not end within {LATE_S} s",
                    "is the host out of memory or processes?",
                )
            reply = self._reply(command, streams)
        self._expect_rights(reply)
        return reply

    def await_end(self, streams: Streams, command: str, deadline_s: float) -> bool:
        """Wait for the end of a command; False when the deadline (lab time) passes before."""
        while not streams.ended:
            if self.clock.now_s() > deadline_s:
                return False
            self.let_pass(streams, command)
        self.drain(streams, command)
        return True

    def let_pass(self, streams: Streams, command: str) -> None:
        """A little lab time passes; with the wall clock it ends as soon as there are news."""
        if self._wall:
            streams.hear(LOOK_EVERY_S)
        else:
            self.clock.sleep(STEP_S)
            self.sync(command)
        self.drain(streams, command)

    def sync(self, command: str) -> None:
        """Everything the host had sent is here. Raises Unreachable."""
        limit_s = self.line.wire.answer_within_s
        if not self.line.wire.round_trip(limit_s):
            gone = not self.line.wire.is_active()
            raise self.line.broken(command, "" if gone else f"no answer within {limit_s:g} s")

    def drain(self, streams: Streams, command: str) -> None:
        """Take what has arrived. Raises Unreachable when the session broke."""
        try:
            streams.drain()
        except TooMuchOutput as error:
            streams.close()
            raise CommandRejected(
                self.device,
                command,
                f"it printed more than {OUTPUT_LIMIT_BYTES // 2**20} MiB",
                "send its output to a file on the host",
            ) from error
        if streams.lost:
            raise self.line.broken(command)

    # -- answers ---------------------------------------------------------------------------------

    def _sent(self, command: Command) -> Shell:
        """As it is run by this login. Raises TypeError for a text that was not made of words."""
        made = as_shell(command)
        return made.by_sudo if self._single else made

    def _answer(self, command: Command, limit_s: int) -> "_ShellAnswer":
        around, begun_s = self._around, self.clock.now_s()
        if around is None:
            return self._first_answer(command, limit_s)
        line = self._limited(around.around(self._sent(command)), limit_s)
        with self.execute(line, command, mark=around.mark) as streams:
            return self._end_of(streams, command, begun_s, limit_s)

    def _first_answer(self, command: Command, limit_s: int) -> "_ShellAnswer":
        """The same, and what the login shell adds to commands. Raises LoginUnusable."""
        opening, begun_s = Opening(), self.clock.now_s()
        line = self._limited(opening.around(self._sent(command)), limit_s)
        with self.execute(line, command) as streams:
            while not streams.ended and not opening.asked_in(streams.output()):
                if self.clock.now_s() > begun_s + START_WITHIN_S:
                    break
                self.let_pass(streams, command)
            login_s = self.clock.now_s() - begun_s
            answer = self._end_of(streams, command, begun_s, limit_s)
        found = opening.answered(answer.reply.text, answer.reply.errors)
        if found is not None:
            self._around, self._login_s = found.surroundings, login_s
            reply = replace(answer.reply, text=found.text, errors=found.errors)
            return replace(answer, reply=reply)
        if not answer.late:
            self._unusable(answer.reply, ran=opening.asked_in(answer.reply.text))
        return answer

    def _limited(self, script: str, limit_s: int) -> Shell:
        return program(*self._sudo, "timeout", "-k", KILL_AFTER_S, limit_s, "sh", "-c", script)

    def _end_of(
        self, streams: Streams, command: str, begun_s: float, limit_s: int
    ) -> "_ShellAnswer":
        late_s = KILL_AFTER_S + LATE_S + self._login_s
        ended = self.await_end(streams, command, begun_s + limit_s + late_s)
        reply = self._reply(command, streams)
        overdue = reply.time_s - begun_s >= limit_s
        late = not ended or (reply.status in TIMED_OUT and overdue)
        return _ShellAnswer(reply=reply, ended=ended, late=late)

    def _surroundings(self) -> Surroundings:
        """What the login adds to commands; asked with one that does nothing if need be."""
        if self._around is None:
            self.run(NOTHING)
        return self._around or Surroundings()

    def _reply(self, command: str, streams: Streams) -> Reply:
        return Reply(
            device=self.device,
            command=command,
            text=streams.output(),
            errors=streams.errors(),
            status=streams.status,
            time_s=self.clock.now_s(),
        )

    def _timed_out(self, reply: Reply, limit_s: int, ended: bool) -> NoReturn:
        fate = (
            "its process group on the host was ended"
            if ended
            else "and the host did not confirm that it ended it (`timeout -k` was asked to)"
        )
        raise CommandTimeout(
            self.device,
            reply.command,
            f"it did not end within {limit_s} s; {fate}",
            "run it by hand to see what it waits for",
        )

    def _expect_rights(self, reply: Reply) -> None:
        by_sudo = self._sudo or self._single
        if by_sudo and reply.status != 0 and (error := refusal(reply, single=self._single)):
            raise error

    def _unusable(self, reply: Reply, *, ran: bool) -> NoReturn:
        """The first command's answer makes no sense; `ran`: the command's turn had come."""
        by_hand = replace(reply, command=NOTHING)  # it shows the same
        if self._sudo and reply.status != 0:
            error = refusal(by_hand) or (None if ran else unknown(by_hand))
            if error:
                raise LoginUnusable(self.device, error.command, error.problem, error.remedy)
        said = [*lines_said(reply.text or reply.errors), "nothing"]
        raise LoginUnusable(
            self.device,
            program(*self._sudo, NOTHING),
            f"it ended with status {reply.status} and printed {said[0]!r}",
            "the login shell must run commands and print nothing after them: look at what "
            "~/.bashrc and /etc/bash.bashrc do when the shell is not interactive",
        )

    def _cut_off(self, reply: Reply) -> NoReturn:
        said = last_line(reply.errors, "nothing")
        raise CommandRejected(
            self.device,
            reply.command,
            f"the shell ended before it said what became of it; last line of stderr: {said!r}",
            "run it by hand on the host to see what it does to the shell",
        )

    def _no_pid(self, reply: Reply) -> NoReturn:
        self._expect_rights(reply)
        said = [*lines_said(reply.errors or reply.text), "nothing"]
        raise CommandRejected(
            self.device,
            reply.command,
            f"it was not started: the host said {excerpt(said[0], 80)!r} instead of a process id",
            "the login shell must run `sh -c` and print nothing of its own",
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class _ShellAnswer:
    """What came back. `late`: the time was over; `ended`: the host says that it has ended."""

    reply: Reply
    ended: bool
    late: bool
