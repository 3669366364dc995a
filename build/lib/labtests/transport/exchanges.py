"""Fewer exchanges with a device: what is asked of a shell in one round goes in one exchange.

`Exchanges` is a transport in front of another one. It counts what goes over it (`sent`), and runs
askings (asking.py). A CLI takes one question at a time. The time of an answer is when its whole
exchange had ended: nothing in it is newer.
"""

import sys
from collections.abc import Iterable, Sequence
from typing import TypeVar

from labtests.core.errors import CommandRejected, CommandTimeout, DeviceError, Unreachable
from labtests.transport.asking import Answer, Asking, Running, answered
from labtests.transport.batching import MORE_S_PER_COMMAND, Joined
from labtests.transport.commands import Command, Shell
from labtests.transport.protocol import DEFAULT_TIMEOUT_S, Process, Reply, Transport

T = TypeVar("T")


class Exchanges:
    """See transport.Transport: the same session."""

    def __init__(self, transport: Transport) -> None:
        self.device = transport.device
        self.sent = 0
        self._transport = transport
        self._most = sys.maxsize  # questions that the device manages at once
        self._usual: dict[str, tuple[Command, ...]] = {}

    def ask(self, asking: Asking[T], *occasions: str) -> T:
        """What it returns. Raises what it raises. What was asked the last time on the first of
        these occasions goes with the first round: as a rule it is the only one then."""
        running = Running(asking)
        usual = next((self._usual[o] for o in occasions if o in self._usual), ())
        if usual and running.open:
            ahead = tuple(dict.fromkeys((*running.open, *usual)))
            running.tell(zip(ahead, self.answers(ahead), strict=True))
        result = answered(running, self.answers)
        self._usual |= dict.fromkeys(occasions[:1], running.asked)
        return result

    def answers(self, commands: Sequence[Command]) -> list[Answer]:
        """To each of these, which change nothing; by a shell in one exchange. What cannot be told
        apart in the answer is asked again by itself. A device that does not manage so many at once
        is asked one by one from then on."""
        found: dict[Command, Answer] = dict(self._at_once(tuple(dict.fromkeys(commands))))
        for command in commands:
            if command not in found:
                found[command] = self._alone(command, found.values())
        return [found[command] for command in commands]

    def change(
        self, changes: Sequence[tuple[Command, ...]], then: Running[T]
    ) -> list[tuple[Reply, ...]]:
        """Send a shell the commands of all these changes as one block, which stops at the first
        failure and at whose end the first round of `then` is asked. The answers to each change;
        fewer where a command was not sent. Raises what the transport raises."""
        block = tuple(command for commands in changes for command in commands)
        asked = then.open
        questions = Joined(asked)
        reply = self.configure((*block, questions.script) if asked else block)
        said = list(reply.parts or (reply,))
        if len(said) > len(block):
            then.tell(zip(asked, questions.answers(said.pop()), strict=False))
        found = []
        for commands in changes:
            found.append(tuple(said[: len(commands)]))
            del said[: len(commands)]
        return found

    def run(self, command: Command, *, timeout_s: float = DEFAULT_TIMEOUT_S) -> Reply:
        """See Transport."""
        self.sent += 1
        return self._transport.run(command, timeout_s=timeout_s)

    def start(self, command: Command, *, limit_s: float) -> Process:
        """See Transport."""
        self.sent += 1
        return self._transport.start(command, limit_s=limit_s)

    def configure(self, commands: tuple[Command, ...]) -> Reply:
        """See Transport."""
        self.sent += 1
        return self._transport.configure(commands)

    def close(self) -> None:
        """See Transport."""
        self._transport.close()

    def _at_once(self, commands: tuple[Command, ...]) -> Iterable[tuple[Command, Answer]]:
        """Those that one exchange has answered."""
        shell = all(isinstance(command, Shell) for command in commands)
        if not shell or len(commands) < 2 or len(commands) > self._most:
            return ()
        joined = Joined(commands)
        limit_s = DEFAULT_TIMEOUT_S + MORE_S_PER_COMMAND * len(commands)
        try:
            reply = self.run(joined.script, timeout_s=limit_s)
        except Unreachable as error:
            return [(command, error) for command in commands]
        except (CommandRejected, CommandTimeout):  # each by itself tells what is wrong
            self._most = len(commands) - 1
            return ()
        return zip(commands, joined.answers(reply), strict=False)

    def _alone(self, command: Command, before: Iterable[Answer]) -> Answer:
        gone = next((each for each in before if isinstance(each, Unreachable)), None)
        if gone is not None:
            return gone
        try:
            return self.run(command)
        except DeviceError as error:
            return error
