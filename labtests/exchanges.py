"""Fewer exchanges with a device: the same question is asked once, and many go in one exchange.

`Exchanges` is a transport in front of another one. Inside `with exchanges.remembered():` an answer
is kept, and a command that was answered already is not sent again; `ask_ahead` sends many commands
to a shell as one. Whatever changes the device forgets what is known of it. Outside it only passes
on and counts.
"""

import hashlib
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from labtests.transport import DEFAULT_TIMEOUT_S, Process, Reply, Transport

MORE_S_PER_COMMAND = 2.0
"""How much longer an exchange may take for each command in it."""


class Exchanges:
    """See transport.Transport: the same session. `sent` counts what went over it."""

    def __init__(self, transport: Transport) -> None:
        self.device = transport.device
        self.sent = 0
        self._transport = transport
        self._known: dict[str, Reply] | None = None

    @contextmanager
    def remembered(self) -> Iterator[None]:
        """Inside, nothing is asked twice. Scopes may nest: the outer one ends it."""
        outer = self._known
        self._known = {} if outer is None else outer
        try:
            yield
        finally:
            self._known = outer

    def ask_ahead(self, commands: Sequence[str]) -> None:
        """Ask a shell all of these, which change nothing, in one exchange. What cannot be told
        apart in the answer is asked again by whoever needs it."""
        if self._known is None:
            raise ValueError("answers are kept only inside `remembered`")
        fresh = [c for c in dict.fromkeys(commands) if c not in self._known]
        if not fresh:
            return
        mark, limit_s = _mark(fresh), DEFAULT_TIMEOUT_S + MORE_S_PER_COMMAND * len(fresh)
        self.sent += 1
        reply = self._transport.run(_script(fresh, mark), timeout_s=limit_s)
        self._known |= {answer.command: answer for answer in _answers(fresh, reply, mark)}

    def run(self, command: str, *, timeout_s: float = DEFAULT_TIMEOUT_S) -> Reply:
        """See Transport."""
        if self._known is not None and command in self._known:
            return self._known[command]
        self.sent += 1
        reply = self._transport.run(command, timeout_s=timeout_s)
        if self._known is not None:
            self._known[command] = reply
        return reply

    def start(self, command: str, *, limit_s: float) -> Process:
        """See Transport."""
        self._forget()
        return self._transport.start(command, limit_s=limit_s)

    def configure(self, commands: tuple[str, ...]) -> Reply:
        """See Transport."""
        self._forget()
        return self._transport.configure(commands)

    def close(self) -> None:
        """See Transport."""
        self._transport.close()

    def _forget(self) -> None:
        self.sent += 1
        if self._known is not None:
            self._known.clear()


def _mark(commands: Sequence[str]) -> str:
    """What no output has by accident. The same commands have the same: recordings fit again."""
    return "labtests-" + hashlib.sha256("\0".join(commands).encode()).hexdigest()[:20]


def _script(commands: Sequence[str], mark: str) -> str:
    r"""Each command in a subshell of its own, then `\nMARK STATUS\n` on stdout and on stderr."""
    told = f"s=$?; printf '\\n{mark} %s\\n' $s; printf '\\n{mark} %s\\n' $s >&2"
    return "; ".join(f"( {command} ); {told}" for command in commands)


def _answers(commands: Sequence[str], reply: Reply, mark: str) -> Iterator[Reply]:
    end = re.compile(rf"\n{mark} ([0-9]+)\n")
    texts, errors = end.split(reply.text), end.split(reply.errors)
    if len(texts) != 2 * len(commands) + 1 or len(errors) != len(texts):
        return  # cut off, or a device that does not know printf: each is asked by itself
    for number, command in enumerate(commands):
        yield Reply(
            device=reply.device,
            command=command,
            text=texts[2 * number],
            errors=errors[2 * number],
            status=int(texts[2 * number + 1]),
            time_s=reply.time_s,
        )
