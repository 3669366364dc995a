"""Messages between those who receive them and the one who reads them: bounded, in bytes."""

import threading
from collections import Counter, deque
from typing import NamedTuple

MOST_BYTES = 64 * 2**20


class Message(NamedTuple):
    """As it came: of which device, when (seconds since 1970), and its bytes."""

    device: str
    arrived_s: float
    content: bytes


class Inbox:
    """What is full takes nothing more, and says how much it has refused. Nobody waits to put."""

    def __init__(self, most_bytes: int = MOST_BYTES) -> None:
        self._most_bytes = most_bytes
        self._held: deque[Message] = deque()
        self._bytes = 0
        self._dropped: Counter[str] = Counter()
        self._changed = threading.Condition()

    def put(self, message: Message) -> None:
        """It is held, or counted as dropped."""
        with self._changed:
            if self._bytes + len(message.content) > self._most_bytes:
                self._dropped[message.device] += 1
                return
            self._bytes += len(message.content)
            self._held.append(message)
            if len(self._held) == 1:
                self._changed.notify()

    def take(self, timeout_s: float) -> tuple[list[Message], dict[str, int]]:
        """All that is held, in order, and how many were dropped by device since the last time."""
        with self._changed:
            if not self._held:
                self._changed.wait(timeout_s)
            taken, self._held, self._bytes = list(self._held), deque(), 0
            dropped, self._dropped = dict(self._dropped), Counter()
        return taken, dropped

    @property
    def empty(self) -> bool:
        """Whether all has been taken."""
        with self._changed:
            return not self._held
