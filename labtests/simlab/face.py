"""What an emulated device is to the SSH server in front of it, and what it talks through.

All calls, in both directions, happen in the lab's event loop at the timeline's present. A command
that needs no simulated time prints and exits before `execute` (or `on_line`) returns: the server
answers no later packet of that connection before, so a client that has its answer has the output.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal, Protocol, runtime_checkable

from labtests.simlab.tree import FileTree

Kind = Literal["host", "switch"]
SignalName = Literal["INT", "TERM", "KILL", "HUP", "QUIT", "USR1", "USR2"]


class Console(Protocol):
    """One SSH session channel: an exec request or an interactive shell.

    The face sets the `on_…` callbacks it wants; input that came earlier is kept for them.
    """

    username: str
    pty: bool
    width: int
    height: int

    @property
    def congested(self) -> bool:
        """Whether the client reads more slowly than it is written to."""
        ...

    on_line: Callable[[str], None] | None
    """Line mode: each line typed, without its end. With a pty the console echoes and rubs out."""
    on_key: Callable[[str], None] | None
    """Key mode: when set, characters come here one at a time, neither echoed nor edited."""
    on_question: Callable[[str], str] | None
    """With a pty: a typed `?`, with the line so far; what is printed below it, which ends with the
    prompt, or "" for an ordinary key. None: it is always one."""
    on_data: Callable[[str], None] | None
    """Raw mode, for stdin without a pty: text as it arrives. Wins over `on_line`."""
    on_eof: Callable[[], None] | None
    """The client will send nothing more (Ctrl-D on an empty line with a pty)."""
    on_interrupt: Callable[[], None] | None
    """Ctrl-C with a pty, an SSH break, or the SSH signal INT."""
    on_suspend: Callable[[], None] | None
    """Ctrl-Z with a pty."""
    on_signal: Callable[[SignalName], None] | None
    """Any other SSH signal. Without it they are ignored."""

    def write(self, text: str) -> None:
        r"""Print on stdout. `\n` becomes `\r\n` on a pty. Nothing happens after the exit."""
        ...

    def write_error(self, text: str) -> None:
        """Print on stderr (which is stdout on a pty)."""
        ...

    def exit(self, status: int) -> None:
        """End the session with this status. A second call does nothing."""
        ...


@runtime_checkable
class Forwarding(Protocol):
    """A switch whose lossless groups have headroom."""

    def expect_frames(self, frame_bytes: int) -> None:
        """From now on frames up to this length come, and find room."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Announced:
    """What a device says of one of its ports by LLDP; `chassis` is a MAC, four digits a group."""

    chassis: str
    port_id_type: str
    port_id: str
    description: str
    name: str

    def with_colons(self) -> "Announced":
        """With MAC addresses as lldpd prints them."""
        return replace(self, chassis=_colons(self.chassis), port_id=_colons(self.port_id))


def _colons(text: str) -> str:
    """A MAC address in pairs of digits; anything else as it is."""
    digits = re.sub("[-:.]", "", text).lower()
    is_mac = re.fullmatch("[0-9a-f]{12}", digits) is not None
    return ":".join(digits[n : n + 2] for n in range(0, 12, 2)) if is_mac else text


class Face(Protocol):
    """One emulated device."""

    user: str
    """The management user; the SSH server lets this user (and root) in."""
    files: FileTree | None
    """What SFTP serves; None where there is no SFTP."""

    def execute(self, command: str, console: Console) -> None:
        """An SSH exec request. Ends with `console.exit`, now or at a later simulated time."""
        ...

    def shell(self, console: Console) -> None:
        """An interactive session: prints banner and prompt, then answers lines."""
        ...

    def hang_up(self, console: Console) -> None:
        """The client is gone without an exit: what depended on it ends, as after a SIGHUP."""
        ...
