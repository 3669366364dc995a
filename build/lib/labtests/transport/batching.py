"""Many commands of a shell in one exchange, and the answer to each kept apart.

Each command runs in a subshell of its own; a mark that no output has by accident follows it on
stdout and on stderr, with its exit status.
"""

import hashlib
import re
from collections.abc import Sequence

from labtests.transport.commands import Shell, as_shell, in_turn, script
from labtests.transport.protocol import Reply

MORE_S_PER_COMMAND = 2.0
"""How much longer an exchange may take for each command in it."""

_MARK = re.compile(r"labtests-[0-9a-f]{20}")
_GO_ON = script("test $s -eq 0 || exit $s")
_LEAVE = script("exit $s")


class Joined:
    """Some commands as one. `stopping`: none is run after one whose status is not zero, and the
    status of the last one that was run is that of the whole."""

    def __init__(self, commands: Sequence[str], *, stopping: bool = False) -> None:
        self.commands = tuple(commands)
        # the same commands have the same mark: recordings fit again
        self._mark = "labtests-" + hashlib.sha256("\0".join(commands).encode()).hexdigest()[:20]
        self._stopping = stopping

    @classmethod
    def of(cls, text: str) -> "Joined | None":
        """The commands that a script was made of; None when it is not such a script."""
        mark = _MARK.search(text)
        if mark is None:
            return None
        stopping = text.endswith(f"; {_LEAVE}")
        found = _parted(text.removesuffix(f"; {_LEAVE}"), mark[0], stopping=stopping)
        joined = None if found is None else cls(found, stopping=stopping)
        return joined if joined is not None and joined._mark == mark[0] else None

    @property
    def script(self) -> Shell:
        r"""Each command in a subshell, then `\nMARK NUMBER STATUS\n` on stdout and on stderr."""
        parts: list[Shell] = []
        for number, command in enumerate(self.commands):
            parts += [_GO_ON] if self._stopping and parts else []
            step = script("( COMMAND )", COMMAND=as_shell(command))
            parts += [step, _told(self._mark, number)]
        return in_turn(*parts, *([_LEAVE] if self._stopping else []))

    def answers(self, reply: Reply) -> tuple[Reply, ...]:
        """The answer to each command that was run to its end, as far as they can be told apart:
        the first ones where the output was cut off, none on a device that does not know printf."""
        texts, errors = self._pieces(reply.text), self._pieces(reply.errors)
        return tuple(
            Reply(
                device=reply.device,
                command=command,
                text=text,
                errors=error,
                status=status,
                time_s=reply.time_s,
            )
            for command, (text, status), (error, _) in zip(
                self.commands, texts, errors, strict=False
            )
        )

    def _pieces(self, stream: str) -> list[tuple[str, int]]:
        """What each command printed and its status, up to the first mark that is not there."""
        found: list[tuple[str, int]] = []
        for number in range(len(self.commands)):
            end = re.search(rf"\n{self._mark} {number} ([0-9]{{1,10}})\n", stream)
            if end is None:
                break
            found.append((stream[: end.start()], int(end[1])))
            stream = stream[end.end() :]
        return found


def _told(mark: str, number: int) -> Shell:
    return script("s=$?; printf FORMAT $s; printf FORMAT $s >&2", FORMAT=rf"\n{mark} {number} %s\n")


def _parted(text: str, mark: str, *, stopping: bool) -> list[str] | None:
    """The commands of a script without its end; None when it is not such a script."""
    between = f"; {_GO_ON}; ( " if stopping else "; ( "
    commands: list[str] = []
    while text:
        start = between if commands else "( "
        command, end, rest = text.removeprefix(start).partition(f" ); {_told(mark, len(commands))}")
        if not text.startswith(start) or not end:
            return None
        commands.append(command)
        text = rest
    return commands


def block_reply(parts: tuple[Reply, ...]) -> Reply:
    """The answer to a block of lines, from the answers to those that were sent."""
    if len(parts) == 1:
        return parts[0]
    last = parts[-1]
    return Reply(
        device=last.device,
        command=last.command,
        text="".join(part.text for part in parts),
        errors="".join(part.errors for part in parts),
        status=last.status,
        time_s=last.time_s,
        parts=parts,
    )
