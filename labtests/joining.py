"""Many commands of a shell in one exchange, and the answer to each kept apart.

Each command runs in a subshell of its own; a mark that no output has by accident follows it on
stdout and on stderr, with its exit status.
"""

import hashlib
import re
from collections.abc import Sequence

from labtests.transport import Reply

MORE_S_PER_COMMAND = 2.0
"""How much longer an exchange may take for each command in it."""

_MARK = re.compile(r"labtests-[0-9a-f]{20}")
_GO_ON = "; test $s -eq 0 || exit $s"


class Joined:
    """Some commands as one. `stopping`: none is run after one whose status is not zero, and the
    status of the last one that was run is that of the whole."""

    def __init__(self, commands: Sequence[str], *, stopping: bool = False) -> None:
        self.commands = tuple(commands)
        # the same commands have the same mark: recordings fit again
        self._mark = "labtests-" + hashlib.sha256("\0".join(commands).encode()).hexdigest()[:20]
        self._stopping = stopping

    @classmethod
    def of(cls, script: str) -> "Joined | None":
        """The commands that a script was made of; None when it is no such script."""
        mark = _MARK.search(script)
        if mark is None:
            return None
        commands: list[str] = []
        rest = script
        while rest:
            told = f" ); {_told(mark[0], len(commands))}"
            command, found, rest = rest.partition(told)
            if not found:
                break
            commands.append(command.removeprefix(_GO_ON).removeprefix("; ").removeprefix("( "))
        made = (cls(commands, stopping=stopping) for stopping in (False, True))
        return next((joined for joined in made if joined.script == script), None)

    @property
    def script(self) -> str:
        r"""Each command in a subshell, then `\nMARK NUMBER STATUS\n` on stdout and on stderr."""
        steps = [f"( {c} ); {_told(self._mark, number)}" for number, c in enumerate(self.commands)]
        if not self._stopping:
            return "; ".join(steps)
        return f"{_GO_ON}; ".join(steps) + "; exit $s"

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
            end = re.search(rf"\n{self._mark} {number} ([0-9]+)\n", stream)
            if end is None:
                break
            found.append((stream[: end.start()], int(end[1])))
            stream = stream[end.end() :]
        return found


def _told(mark: str, number: int) -> str:
    words = f"printf '\\n{mark} {number} %s\\n' $s"
    return f"s=$?; {words}; {words} >&2"


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
