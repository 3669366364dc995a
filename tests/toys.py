"""Devices that live in memory, for tests of the lab itself: some settings, one line each."""

from types import SimpleNamespace
from typing import Any

from labtests.capabilities.driver import Driver
from labtests.capabilities.settings import Kind, Setting
from labtests.core.errors import CommandRejected
from labtests.transport.asking import Asking
from labtests.transport.commands import CliLine
from labtests.transport.protocol import Reply


class ToyBox:
    """A session with a device that remembers. `sent` has every line; `made` what came of it.

    `deaf`: settings that are accepted and not made; `refuses`: values by setting; `unread`: why a
    setting cannot be read; `at_made` is called in the middle of a change, with port and value."""

    def __init__(self, device: str = "sw") -> None:
        self.device = device
        self.values: dict[tuple[str, str], Any] = {}
        self.sent: list[str] = []
        self.made: list[tuple[str, str, Any]] = []
        self.deaf: set[str] = set()
        self.refuses: set[tuple[str, Any]] = set()
        self.unread: dict[str, str] = {}
        self.reads = self.closed = 0
        self.meant: dict[str, tuple[str, str, Any]] = {}
        self.at_made = lambda port, wanted: None

    def configure(self, commands: tuple[str, ...]) -> Reply:
        for command in commands:
            name, port, wanted = self.meant[command]
            self.sent.append(command)
            self.made.append((name, port, wanted))
            if (name, wanted) in self.refuses or (port, wanted) in self.refuses:
                raise CommandRejected(self.device, command, "% no", "ask somebody")
            if name not in self.deaf:
                self.values[name, port] = wanted
            self.at_made(port, wanted)
        return Reply(device=self.device, command=commands[0], text="")

    def close(self) -> None:
        self.closed += 1


class ToySetting(Setting[Any]):
    """One setting of a box; `default` where it was never made, `says` the words of its line."""

    def __init__(self, box: ToyBox, kind: Kind[Any], default: Any, says: Any) -> None:
        self.box, self.kind, self.default, self.says = box, kind, default, says  # type: ignore[misc]

    def read(self, port: str) -> Asking[Any]:
        yield from ()
        self.box.reads += 1
        name = self.kind.name
        if name in self.box.unread:
            raise CommandRejected("toy", name, self.box.unread[name], "ask somebody")
        return self.box.values.get((name, port), self.default)

    def commands(self, port: str, earlier: Any, wanted: Any, around: Any) -> tuple[Any, ...]:
        if earlier == wanted:
            return ()
        line: CliLine = str.__new__(CliLine, f"{port} {self.kind.name} {self.says(wanted)}")
        self.box.meant[line] = (self.kind.name, port, wanted)
        return (line,)

    def accept(self, commands: Any, replies: Any) -> None:
        """A box refuses by itself."""


def platform(driver_of: Any, kind: str = "switch") -> Any:
    """A module of a platform, as labtests.drivers has them."""
    return SimpleNamespace(SESSION="toy", KIND=kind, driver_of=driver_of)


def toy_driver(box: ToyBox, *settings: ToySetting, parts: tuple[object, ...] = ()) -> Driver:
    return Driver(box.device, settings, parts)
