"""A Linux box that is reached by a shell, as the parts of its drivers share it."""

from typing import ClassVar, NoReturn

from labtests.capabilities.settings import Commands, Setting, T
from labtests.drivers.answers import Tool, expect_success
from labtests.drivers.parts import PlatformPart
from labtests.transport.protocol import Reply

NO_INTERFACE = "check the interface name in the testbed file against `ip link` on the host"


class HostPart(PlatformPart):
    """A part of the driver of one box."""

    def _reject(self, command: str, problem: str, remedy: str) -> NoReturn:
        raise self.reject(command, problem, remedy)

    def _interface(self, port: str) -> str:
        """A port's name, when it can be a folder below /sys/class/net and no option."""
        if not port or port.startswith(("-", ".")) or "/" in port:
            self._reject(
                f"interface {port!r}",
                "this is not a name that a Linux interface can have",
                "give the interface name as `ip link` shows it",
            )
        return port

    def _no_interface(self, command: str, port: str) -> NoReturn:
        self._reject(command, f"there is no interface {port} on this host", NO_INTERFACE)


class ShellSetting(HostPart, Setting[T]):
    """A setting that is made by commands of a shell, each of which answers, and by this `tool`."""

    tool: ClassVar[Tool]

    def accept(self, commands: Commands, replies: tuple[Reply, ...]) -> None:
        """Raises CommandRejected, ToolMissing."""
        del commands
        for reply in replies:
            expect_success(reply, self.tool)
