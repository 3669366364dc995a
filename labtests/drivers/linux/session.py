"""The open shell of a host, as the parts of the driver share it."""

from typing import NoReturn

from labtests.capabilities.device import Commands
from labtests.core.errors import CommandRejected
from labtests.transport.commands import Shell
from labtests.transport.protocol import Reply, Transport

NO_INTERFACE = "check the interface name in the testbed file against `ip link` on the host"


class HostSession:
    """A Linux host behind an open session. Keeps nothing but the session."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def _run(self, command: Shell) -> Reply:
        """Ask something that changes nothing."""
        return self._transport.run(command)

    def _change(self, commands: Commands) -> tuple[Reply, ...]:
        """Change something, in one exchange that stops at the first failure; the answer to each
        command that was sent."""
        if not commands:
            return ()
        reply = self._transport.configure(commands)
        return reply.parts or (reply,)

    def _reject(self, command: str, problem: str, remedy: str) -> NoReturn:
        raise CommandRejected(self._transport.device, command, problem, remedy)

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
