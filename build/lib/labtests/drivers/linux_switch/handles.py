"""Names of qdiscs and classes: `1:`, `1:10`, hexadecimal (tc(8), HANDLES)."""

import re
from dataclasses import dataclass

from labtests.drivers.parsing import refuse
from labtests.transport.protocol import Reply

_WRITTEN = re.compile(r"([0-9a-f]{1,4})?:([0-9a-f]{1,4})?")


@dataclass(frozen=True, slots=True, order=True)
class Handle:
    """Major and minor number; the minor number of a qdisc is 0."""

    major: int
    minor: int = 0

    def __str__(self) -> str:
        return f"{self.major:x}:{self.minor:x}" if self.minor else f"{self.major:x}:"


def handle(reply: Reply, written: object, what: str) -> Handle:
    """A handle as tc prints it; an absent number is 0."""
    match = _WRITTEN.fullmatch(written) if isinstance(written, str) else None
    if match is None:
        refuse(reply, f"{what} should be a handle like 1:10, not {written!r}")
    return Handle(int(match[1] or "0", 16), int(match[2] or "0", 16))
