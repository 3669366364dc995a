"""What a log has of one thing: messages that are understood, and lines that nobody here knows.

Only lines about that thing are read. A message that was cut, or wrapped over several lines, is no
message: each part of it that is about the thing is kept as it is.
"""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

from labtests.capabilities.readings import DeviceLog, Message
from labtests.core.output import told
from labtests.drivers.displays.names import Names
from labtests.drivers.displays.shapes import Unfit
from labtests.drivers.parsing import refuse
from labtests.transport.protocol import Reply

_MOST_LINES = 4096  # about one thing; all of a log buffer are 1024
M = TypeVar("M", bound=Message)


@dataclass(frozen=True, slots=True, kw_only=True)
class LogOf(Generic[M]):
    """Lines `about` something; a whole line of the log, whose groups are given to `reads`; lines
    that are somebody's words and not the device's are `passed` over."""

    about: re.Pattern[str]
    entry: re.Pattern[str]
    reads: Callable[[re.Match[str]], M | None]
    passed: Callable[[re.Match[str]], bool] = lambda entry: False

    def read(self, reply: Reply, texts: Iterable[str], *, noted: int, kept: int) -> DeviceLog[M]:
        """Of so many messages that there were, so many are still there. Raises UnreadableOutput."""
        about = [text for text in texts if self.about.search(text)]
        if len(about) > _MOST_LINES:
            refuse(reply, f"it has {len(about)} lines about one thing, and no log has")
        found, unread, entries = list[M](), list[str](), 0
        for text in about:
            entry = self.entry.fullmatch(text)
            message = None if entry is None else self._read(entry)
            entries += entry is not None
            if message is not None:
                found.append(message)
            elif entry is None or not self.passed(entry):
                unread.append(told(text.strip()))
        if entries > kept:
            refuse(reply, f"it has more messages than the {kept} it says")
        return DeviceLog(
            device=reply.device,
            noted=noted,
            kept=kept,
            messages=tuple(found),
            unread=tuple(unread),
        )

    def _read(self, entry: re.Match[str]) -> M | None:
        try:
            return self.reads(entry)
        except Unfit:
            return None


def of_testbed(log: DeviceLog[M], names: Names, ports: Iterable[str]) -> DeviceLog[M]:
    """With the names that ports have in the testbed file, where they may be abbreviated."""
    asked = {names.full(port): port for port in ports}
    messages = tuple(replace(each, port=asked.get(each.port, each.port)) for each in log.messages)
    return replace(log, messages=messages)
